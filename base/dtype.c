#include "base/dtype.h"

#include <math.h>
#include <string.h>

typedef struct dtype_facts {
    const char *name;
    size_t bytes;
    double unit_roundoff, tiniest;
} dtype_facts;

static const dtype_facts facts[KERF_N_DTYPES] = {
    [KERF_F16] = {"f16", 2, 0x1p-11, 0x1p-24},
    [KERF_BF16] = {"bf16", 2, 0x1p-8, 0x1p-133},
    [KERF_F32] = {"f32", 4, 0x1p-24, 0x1p-149},
    [KERF_F64] = {"f64", 8, 0x1p-53, 0x1p-1074},
    [KERF_I8] = {"i8", 1, 0, 1},
    [KERF_U8] = {"u8", 1, 0, 1},
    [KERF_I32] = {"i32", 4, 0, 1},
    [KERF_I64] = {"i64", 8, 0, 1},
    [KERF_OPAQUE1] = {"opaque1", 1, 0, 0},
    [KERF_OPAQUE2] = {"opaque2", 2, 0, 0},
    [KERF_OPAQUE4] = {"opaque4", 4, 0, 0},
    [KERF_OPAQUE8] = {"opaque8", 8, 0, 0},
    [KERF_OPAQUE16] = {"opaque16", 16, 0, 0},
};

size_t kerf_dtype_bytes(kerf_dtype dtype) {
    return facts[dtype].bytes;
}

const char *kerf_dtype_name(kerf_dtype dtype) {
    return facts[dtype].name;
}

bool kerf_dtype_parse(const char *name, kerf_dtype *dtype) {
    for (int i = 0; i < KERF_N_DTYPES; ++i) {
        if (strcmp(facts[i].name, name) == 0) {
            *dtype = (kerf_dtype)i;
            return true;
        }
    }
    return false;
}

kerf_class kerf_dtype_class(kerf_dtype dtype) {
    return dtype == KERF_F64 ? KERF_CLASS_REAL64 : KERF_CLASS_REAL32;
}

double kerf_dtype_unit_roundoff(kerf_dtype dtype) {
    return facts[dtype].unit_roundoff;
}

double kerf_dtype_tiniest(kerf_dtype dtype) {
    return facts[dtype].tiniest;
}

float kerf_f16_to_f32(uint16_t bits) {
    const uint32_t sign = (uint32_t)(bits & 0x8000) << 16;
    const uint32_t exponent = (bits >> 10) & 0x1f;
    const uint32_t fraction = bits & 0x3ff;
    float magnitude;
    uint32_t word;
    if (exponent == 0) {
        magnitude = (float)fraction * 0x1p-24f;
        memcpy(&word, &magnitude, sizeof word);
    } else {
        const uint32_t wide_exponent = exponent == 0x1f ? 0xff : exponent + 127 - 15;
        word = wide_exponent << 23 | fraction << 13;
    }
    word |= sign;
    memcpy(&magnitude, &word, sizeof magnitude);
    return magnitude;
}

float kerf_bf16_to_f32(uint16_t bits) {
    const uint32_t word = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

/* A binary format of 16 bits with `fraction_bits`; the exponent takes the rest. One rounding, to nearest even. */
static uint16_t narrowed(double value, int fraction_bits) {
    const int exponent_bits = 15 - fraction_bits;
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const uint16_t infinity = (uint16_t)(((1u << exponent_bits) - 1) << fraction_bits);
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    const uint16_t sign = (uint16_t)(word >> 63 << 15);
    if (isnan(value))
        return (uint16_t)(sign | infinity | 1u << (fraction_bits - 1));
    const double magnitude = fabs(value);
    if (magnitude == 0)
        return sign;
    /* The last number that rounds down to the largest finite one lies half a step above it. */
    const double overflow = ldexp(2.0 - ldexp(1.0, -fraction_bits - 1), bias);
    if (magnitude >= overflow)
        return (uint16_t)(sign | infinity);
    int exponent;
    frexp(magnitude, &exponent);
    const int smallest_exponent = 1 - bias;
    exponent = exponent - 1 < smallest_exponent ? smallest_exponent : exponent - 1;
    /* In units of the last place the value is below 2^53, and nearbyint rounds half to even. A carry out of the
     * fraction runs into the exponent field, which is what rounding up to the next power of two means. */
    const double units = nearbyint(ldexp(magnitude, fraction_bits - exponent));
    const uint32_t magnitude_bits = ((uint32_t)(exponent - smallest_exponent) << fraction_bits) + (uint32_t)units;
    return (uint16_t)(sign | magnitude_bits);
}

uint16_t kerf_f16_from_f64(double value) {
    return narrowed(value, 10);
}

uint16_t kerf_bf16_from_f64(double value) {
    return narrowed(value, 7);
}

uint16_t kerf_f16_from_f32(float value) {
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    const uint32_t magnitude = word & 0x7fffffff;
    if (magnitude < 0x38800000 || magnitude >= 0x477ff000) /* subnormal, overflowing or not finite */
        return narrowed((double)value, 10);
    const uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1) - ((127u - 15u) << 23);
    return (uint16_t)((word >> 31 << 15) | rounded >> 13);
}

uint16_t kerf_bf16_from_f32(float value) {
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    if ((word & 0x7fffffff) > 0x7f800000)
        return (uint16_t)((word >> 16 & 0x8000) | 0x7fc0);
    return (uint16_t)((word + 0x7fff + (word >> 16 & 1)) >> 16);
}

double kerf_dtype_load(kerf_dtype dtype, const void *element) {
    switch (dtype) {
    case KERF_F16:
        return (double)kerf_f16_to_f32(*(const uint16_t *)element);
    case KERF_BF16:
        return (double)kerf_bf16_to_f32(*(const uint16_t *)element);
    case KERF_F32:
        return (double)*(const float *)element;
    case KERF_F64:
        return *(const double *)element;
    default:
        return NAN;
    }
}

void kerf_dtype_store(kerf_dtype dtype, void *element, double value) {
    switch (dtype) {
    case KERF_F16:
        *(uint16_t *)element = kerf_f16_from_f64(value);
        break;
    case KERF_BF16:
        *(uint16_t *)element = kerf_bf16_from_f64(value);
        break;
    case KERF_F32:
        *(float *)element = (float)value;
        break;
    case KERF_F64:
        *(double *)element = value;
        break;
    default:
        break;
    }
}
