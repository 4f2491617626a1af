#include "harness/compare.h"

#include <math.h>
#include <string.h>

static bool is_narrow(kerf_dtype dtype) {
    return dtype == KERF_F16 || dtype == KERF_BF16;
}

static double rounded(kerf_dtype dtype, double value) {
    return dtype == KERF_F16 ? (double)kerf_f16_to_f32(kerf_f16_from_f64(value))
                             : (double)kerf_bf16_to_f32(kerf_bf16_from_f64(value));
}

/* The magnitude with this code; the code of infinity stands for the power of two that would follow the largest finite
 * number, which is what decides where overflow begins. */
static double narrow_magnitude(kerf_dtype dtype, int code) {
    const int fraction_bits = dtype == KERF_F16 ? 10 : 7;
    const int smallest_exponent = dtype == KERF_F16 ? -24 : -133; /* of the last place of subnormal numbers */
    const int field = code >> fraction_bits, one = 1 << fraction_bits;
    const int fraction = code & (one - 1);
    return field == 0 ? ldexp(fraction, smallest_exponent) : ldexp(one + fraction, smallest_exponent + field - 1);
}

/* All numbers that round to the f16 or bf16 number `value`: [*low, *high]. */
static void preimage(kerf_dtype dtype, double value, double *low, double *high) {
    const int infinity = dtype == KERF_F16 ? 0x7c00 : 0x7f80;
    const int code = (dtype == KERF_F16 ? kerf_f16_from_f64(value) : kerf_bf16_from_f64(value)) & 0x7fff;
    const double here = narrow_magnitude(dtype, code);
    const double above = code == infinity ? INFINITY : (here + narrow_magnitude(dtype, code + 1)) / 2;
    const double below = code == 0 ? -above : (here + narrow_magnitude(dtype, code - 1)) / 2;
    *low = value < 0 ? -above : below;
    *high = value < 0 ? -below : above;
}

/* Distance of [low, high] to [lo, hi] in units of the slack. */
static double distance_ratio(double low, double high, double lo, double hi, double slack) {
    const double distance = low > hi ? low - hi : high < lo ? lo - high : 0;
    return distance == 0 ? 0 : distance / slack;
}

static double narrow_ratio(kerf_dtype dtype, double got, double lo, double hi, double slack) {
    double low, high;
    preimage(dtype, got, &low, &high);
    const double ratio = distance_ratio(low, high, lo, hi, slack);
    const bool right = got >= rounded(dtype, lo - slack) && got <= rounded(dtype, hi + slack);
    /* On a tie the preimage's border belongs to the neighbour: the rounded bounds decide, the ratio follows. */
    if (right)
        return ratio <= 1 ? ratio : 1;
    return ratio > 1 ? ratio : nextafter(1, 2);
}

/* Infinity is what everything from here on rounds to. */
static double overflow_ratio(kerf_dtype dtype, double got, double lo, double hi, double slack) {
    if (dtype == KERF_F64)
        return INFINITY;
    const double begin = 0x1.ffffffp127;
    return got > 0 ? distance_ratio(begin, INFINITY, lo, hi, slack) : distance_ratio(-INFINITY, -begin, lo, hi, slack);
}

static double bound_ratio(kerf_dtype dtype, double got, double lo, double hi, double slack) {
    if (slack == INFINITY)
        return 0;
    if (isnan(lo))
        return isnan(got) ? 0 : INFINITY;
    if (got >= lo && got <= hi)
        return 0;
    if (isnan(got) || !(slack >= 0))
        return INFINITY;
    if (is_narrow(dtype))
        return narrow_ratio(dtype, got, lo, hi, slack);
    return isinf(got) ? overflow_ratio(dtype, got, lo, hi, slack) : distance_ratio(got, got, lo, hi, slack);
}

double kerf_compare_element(const kerf_expect *expect, kerf_dtype dtype, int64_t i, const void *element) {
    const size_t bytes = kerf_dtype_bytes(dtype);
    switch (expect->kind) {
    case KERF_EXPECT_NOTHING:
        return 0;
    case KERF_EXPECT_BITS:
        return memcmp((const char *)expect->bits + (size_t)i * bytes, element, bytes) == 0 ? 0 : INFINITY;
    case KERF_EXPECT_BOUND:
        break;
    }
    const double got = kerf_dtype_load(dtype, element);
    return bound_ratio(dtype, got, expect->lo[i], expect->hi[i], expect->slack[i]);
}

void kerf_compare_accepted(const kerf_expect *expect, kerf_dtype dtype, int64_t i, double *low, double *high) {
    *low = expect->lo[i] - expect->slack[i];
    *high = expect->hi[i] + expect->slack[i];
    if (is_narrow(dtype)) {
        *low = rounded(dtype, *low);
        *high = rounded(dtype, *high);
    }
}

/* NaN, a finite number and each infinity are classes of their own. */
static bool same_class(double got, double lo, double hi) {
    if (isnan(got) || isnan(lo))
        return isnan(got) && isnan(lo);
    if (isinf(got))
        return got == lo || got == hi;
    return !(isinf(lo) && lo == hi);
}

static const char *check_of(const kerf_expect *expect, double got, int64_t i) {
    if (expect->kind == KERF_EXPECT_BITS)
        return "bits";
    return same_class(got, expect->lo[i], expect->hi[i]) ? "value" : "class";
}

kerf_comparison kerf_compare_output(const kerf_expect *expect, kerf_dtype dtype, const void *packed) {
    kerf_comparison result = {.check = "", .ratio = -1, .got = NAN, .lo = NAN, .hi = NAN, .slack = NAN};
    const int64_t n = expect->kind == KERF_EXPECT_NOTHING ? 0 : expect->n_elements;
    const char *element = packed;
    for (int64_t i = 0; i < n; ++i, element += kerf_dtype_bytes(dtype)) {
        const double ratio = kerf_compare_element(expect, dtype, i, element);
        const bool wrong = !(ratio <= 1);
        if (wrong && result.n_bad++ == 0)
            result.check = check_of(expect, kerf_dtype_load(dtype, element), i);
        if (!(ratio <= result.ratio)) {
            result.ratio = ratio;
            result.worst = i;
        }
    }
    if (n == 0) {
        result.ratio = 0;
        return result;
    }
    result.got = kerf_dtype_load(dtype, (const char *)packed + (size_t)result.worst * kerf_dtype_bytes(dtype));
    if (expect->kind == KERF_EXPECT_BOUND) {
        result.lo = expect->lo[result.worst];
        result.hi = expect->hi[result.worst];
        result.slack = expect->slack[result.worst];
    }
    return result;
}
