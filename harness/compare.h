/* Holds one output against what the oracle expects. */
#ifndef KERF_HARNESS_COMPARE_H
#define KERF_HARNESS_COMPARE_H

#include "kernels/registry.h"

typedef struct kerf_comparison {
    const char
        *check;   /* "" where every element is right, else that of the first wrong one: "class", "value" or "bits" */
    double ratio; /* largest distance to [lo, hi] / slack; infinite where slack is 0 or the class is wrong */
    int64_t n_bad;
    int64_t worst; /* the element with the largest ratio, the first wrong one among equals; 0 if n_elements is 0 */
    double got, lo, hi, slack; /* of that element; NaN where elements are only moved */
} kerf_comparison;

/* `packed` holds the elements in row-major order. KERF_EXPECT_NOTHING accepts everything. */
kerf_comparison kerf_compare_output(const kerf_expect *expect, kerf_dtype dtype, const void *packed);

/* How far element `i` is from right: at most 1 is right, NaN never comes. `element` is one element of the type. */
double kerf_compare_element(const kerf_expect *expect, kerf_dtype dtype, int64_t i, const void *element);

/* The values that element `i` of a bound may have are [*low, *high], rounding to `dtype` included. */
void kerf_compare_accepted(const kerf_expect *expect, kerf_dtype dtype, int64_t i, double *low, double *high);

#endif
