/* The rows of one op, compiled once per op with KERF_OP set to its name, KERF_VARIANTS_DEF to its table. The lines of
 * variants.def are read twice: to declare the objects that CMake builds from the same lines, and to list them. A row
 * that this build cannot have is listed with the reason. */
#include "base/cpu.h"
#include "kernels/registry.h"

#define JOIN_(a, b)           a##b
#define JOIN(a, b)            JOIN_(a, b)
#define SYMBOL(object, class) JOIN(JOIN(JOIN(kerf_variant_, KERF_OP), _), object##_##class)
#define ROWS                  JOIN(kerf_rows_, KERF_OP)

#if defined(__x86_64__)
#define ON_X86(there, missing) there
#else
#define ON_X86(there, missing) missing
#endif
#if defined(__aarch64__)
#define ON_ARM(there, missing) there
#else
#define ON_ARM(there, missing) missing
#endif
#if KERF_HAVE_NVCC
#define ON_CUDA(there, missing) there
#else
#define ON_CUDA(there, missing) missing
#endif

#define DECLARE(object)   extern const kerf_variant SYMBOL(object, 0), SYMBOL(object, 1);
#define KERF_SCALAR(name) DECLARE(name)
#define KERF_SIMD(name)                                                                                                \
    ON_X86(DECLARE(name##_avx512) DECLARE(name##_avx2), )                                                              \
    ON_ARM(DECLARE(name##_neon), )
#define KERF_CUDA(name) DECLARE(name##_cuda_sim) ON_CUDA(DECLARE(name##_cuda), )
#include KERF_VARIANTS_DEF
#undef KERF_SCALAR
#undef KERF_SIMD
#undef KERF_CUDA

#define ROW(row_name, isa_name, mask, device_kind, ...)                                                                \
    &(const kerf_row){.bytes = sizeof(kerf_row),                                                                       \
                      .name = #row_name,                                                                               \
                      .isa = isa_name,                                                                                 \
                      .isa_mask = mask,                                                                                \
                      .device = device_kind,                                                                           \
                      __VA_ARGS__},
#define BUILT(object)     .variant = {&SYMBOL(object, 0), &SYMBOL(object, 1)}
#define MISSING(reason)   .missing = reason
#define KERF_SCALAR(name) ROW(name, "", 0, KERF_DEVICE_CPU, BUILT(name))
#define KERF_SIMD(name)                                                                                                \
    ROW(name, "avx512", KERF_ISA_AVX512, KERF_DEVICE_CPU,                                                              \
        ON_X86(BUILT(name##_avx512), MISSING("needs an x86-64 build")))                                                \
    ROW(name, "avx2", KERF_ISA_AVX2, KERF_DEVICE_CPU, ON_X86(BUILT(name##_avx2), MISSING("needs an x86-64 build")))    \
    ROW(name, "neon", KERF_ISA_NEON, KERF_DEVICE_CPU, ON_ARM(BUILT(name##_neon), MISSING("needs an AArch64 build")))
#define KERF_CUDA(name)                                                                                                \
    ROW(name, "", 0, KERF_DEVICE_CUDA, ON_CUDA(BUILT(name##_cuda), MISSING(KERF_NO_NVCC)))                             \
    ROW(name, "", 0, KERF_DEVICE_CUDA_SIM, BUILT(name##_cuda_sim))

extern const kerf_row *const ROWS[];
const kerf_row *const ROWS[] = {
#include KERF_VARIANTS_DEF
    NULL,
};
