/* The working type of an object. CMake compiles each variant file once per element class, with KERF_CLASS set to the
 * class: float works on f16, bf16 and f32 elements, double on f64. */
#ifndef KERF_KERNELS_REAL_H
#define KERF_KERNELS_REAL_H

#include "base/dtype.h"
#include <math.h>
#include <string.h>

#ifndef KERF_CLASS
#error "KERF_CLASS is the element class that this object is compiled for: 0 (real32) or 1 (real64)"
#endif

#if KERF_CLASS == 0
typedef float kerf_real;
#define KERF_REAL(name) name##f /* KERF_REAL(floor) is floorf */
#else
typedef double kerf_real;
#define KERF_REAL(name) name
#endif

/* Keeps a value from being contracted into a later fused operation: a coordinate is rounded where the formula says so,
 * and the cell and the weights then come from the same number. */
static inline kerf_real kerf_settled(kerf_real value) {
#if defined(__x86_64__)
    __asm__("" : "+x"(value));
#elif defined(__aarch64__)
    __asm__("" : "+w"(value));
#endif
    return value;
}

static inline kerf_real kerf_real_load(kerf_dtype dtype, const void *data, int64_t offset) {
#if KERF_CLASS == 0
    if (dtype == KERF_F16)
        return kerf_f16_to_f32(((const uint16_t *)data)[offset]);
    if (dtype == KERF_BF16)
        return kerf_bf16_to_f32(((const uint16_t *)data)[offset]);
#else
    (void)dtype;
#endif
    return ((const kerf_real *)data)[offset];
}

static inline void kerf_real_store(kerf_dtype dtype, void *data, int64_t offset, kerf_real value) {
#if KERF_CLASS == 0
    if (dtype == KERF_F16)
        ((uint16_t *)data)[offset] = kerf_f16_from_f32(value);
    else if (dtype == KERF_BF16)
        ((uint16_t *)data)[offset] = kerf_bf16_from_f32(value);
    else
#else
    (void)dtype;
#endif
        ((kerf_real *)data)[offset] = value;
}

#endif
