/* What the processor can do, and how many of it there are. */
#ifndef KERF_BASE_CPU_H
#define KERF_BASE_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KERF_ISA_AVX2   UINT64_C(1) /* AVX2, FMA and F16C */
#define KERF_ISA_AVX512 UINT64_C(2) /* F, BW, DQ, VL */
#define KERF_ISA_NEON   UINT64_C(4) /* Advanced SIMD of AArch64 */

/* The instruction sets that processor and system support. The environment variable KERF_ISA, a list such as `avx2` or
 * `none`, takes sets away (never adds), so that one machine can be tried as a smaller one. */
uint64_t kerf_cpu_isa(void);
bool kerf_cpu_isa_is_known(void);   /* whether KERF_ISA is not set, or names nothing else than instruction sets */
int kerf_cpu_count(void);           /* processors this process may run on, at least 1 */
const char *kerf_cpu_model(void);   /* text of the system, "unknown" if there is none */
size_t kerf_memory_available(void); /* bytes that can be taken now without swapping */

#ifdef __cplusplus
}
#endif

#endif
