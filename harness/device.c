#include "harness/device.h"

#include "base/cpu.h"
#include "kernels/cuda_sim.h"
#include <stdlib.h>

static const char *always_available(void) {
    return NULL;
}

/* Nothing is queued, but a launch may have gone wrong: threads that missed each other at a barrier. */
static kerf_status sim_synchronise(kerf_error *error) {
    const char *const fault = kerf_sim_fault();
    return fault ? kerf_fail(error, KERF_ERROR_DEVICE, "%s", fault) : KERF_OK;
}

static const kerf_device cpu = {.kind = KERF_DEVICE_CPU, .unavailable = always_available};
static const kerf_device cuda_sim = {
    .kind = KERF_DEVICE_CUDA_SIM, .unavailable = always_available, .synchronise = sim_synchronise};

#if KERF_HAVE_NVCC
#define CUDA kerf_device_cuda
#else
/* Its rows have their own reason; this is for a plug-in's rows. */
static const char *cuda_not_built(void) {
    return "built without nvcc";
}
static const kerf_device no_cuda = {.kind = KERF_DEVICE_CUDA, .unavailable = cuda_not_built};
#define CUDA no_cuda
#endif

const kerf_device *kerf_device_get(kerf_device_kind kind) {
    switch (kind) {
    case KERF_DEVICE_CUDA:
        return &CUDA;
    case KERF_DEVICE_CUDA_SIM:
        return &cuda_sim;
    case KERF_DEVICE_CPU:
        break;
    }
    return &cpu;
}

static const struct {
    uint64_t mask;
    const char *name;
} isa_names[] = {{KERF_ISA_AVX2, "AVX2"}, {KERF_ISA_AVX512, "AVX-512"}, {KERF_ISA_NEON, "NEON"}};

const char *kerf_row_unavailable(const kerf_row *row, uint64_t isa, kerf_text *memory) {
    if (row->missing)
        return row->missing;
    const uint64_t lacking = row->isa_mask & ~isa;
    if (!lacking)
        return kerf_device_get(row->device)->unavailable();
    const char *separator = "needs ";
    for (size_t i = 0; i < sizeof isa_names / sizeof *isa_names; ++i) {
        if (!(lacking & isa_names[i].mask))
            continue;
        kerf_text_printf(memory, "%s%s", separator, isa_names[i].name);
        separator = " and ";
    }
    if (*separator == 'n')
        kerf_text_printf(memory, "needs instruction set 0x%llx", (unsigned long long)lacking);
    kerf_text_printf(memory, ", %s",
                     getenv("KERF_ISA") ? "KERF_ISA or this processor does not allow it" : "this processor has none");
    return memory->data;
}
