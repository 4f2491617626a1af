/* Element types. f16 and bf16 are stored as uint16_t and converted here; every conversion rounds once, to nearest even.
 */
#ifndef KERF_BASE_DTYPE_H
#define KERF_BASE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kerf_dtype {
    KERF_F16,
    KERF_BF16,
    KERF_F32,
    KERF_F64,
    KERF_I8,
    KERF_U8,
    KERF_I32,
    KERF_I64,
    KERF_OPAQUE1, /* elements that are only moved, of 1, 2, 4, 8 and 16 bytes */
    KERF_OPAQUE2,
    KERF_OPAQUE4,
    KERF_OPAQUE8,
    KERF_OPAQUE16,
    KERF_N_DTYPES
} kerf_dtype;

/* Each variant file is compiled once per element class; the class says in which type it computes. */
typedef enum kerf_class {
    KERF_CLASS_REAL32, /* f16, bf16, f32: coordinates, weights and sums in float */
    KERF_CLASS_REAL64, /* f64 */
    KERF_N_CLASSES
} kerf_class;

size_t kerf_dtype_bytes(kerf_dtype dtype);
const char *kerf_dtype_name(kerf_dtype dtype);
bool kerf_dtype_parse(const char *name, kerf_dtype *dtype);
kerf_class kerf_dtype_class(kerf_dtype dtype); /* real types only */

float kerf_f16_to_f32(uint16_t bits);
float kerf_bf16_to_f32(uint16_t bits);
uint16_t kerf_f16_from_f64(double value); /* also right for a float argument: the widening is exact */
uint16_t kerf_bf16_from_f64(double value);
uint16_t kerf_f16_from_f32(float value);
uint16_t kerf_bf16_from_f32(float value);

/* Any real type as a double (exact), and back (one rounding). */
double kerf_dtype_load(kerf_dtype dtype, const void *element);
void kerf_dtype_store(kerf_dtype dtype, void *element, double value);

/* Unit roundoff u of a real type: 2^-11, 2^-8, 2^-24, 2^-53; and its smallest positive subnormal. */
double kerf_dtype_unit_roundoff(kerf_dtype dtype);
double kerf_dtype_tiniest(kerf_dtype dtype);

#ifdef __cplusplus
}
#endif

#endif
