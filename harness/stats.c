#include "harness/stats.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double middle_of_sorted(const double *values, int n) {
    return n % 2 ? values[n / 2] : 0.5 * values[n / 2 - 1] + 0.5 * values[n / 2];
}

double kerf_median(double *values, int n) {
    qsort(values, (size_t)n, sizeof values[0], by_value);
    return middle_of_sorted(values, n);
}

/* The number of values below the true median is binomial (n, 1/2), so the l-th smallest and l-th largest value enclose
 * it with probability sum_{k=l}^{n-l} C(n, k) / 2^n. Terms are held relative to the central one: nothing overflows, and
 * what underflows is far too small to count. */
static int lower_rank(int n, double confidence, double *covered) {
    const double rounding = 1e-12; /* a confidence that is reached exactly shall count as reached */
    const int centre = n / 2;
    double total = 0, term = 1;
    for (int k = centre; k >= 0; term *= k / (double)(n - k + 1), --k)
        total += 2 * k == n ? term : 2 * term; /* C(n, k) = C(n, n - k) */
    double inside = 0;
    int rank = 1;
    term = 1;
    for (int k = centre; k >= 1; term *= k / (double)(n - k + 1), --k) {
        inside += 2 * k == n ? term : 2 * term;
        rank = k;
        if (inside / total + rounding >= confidence)
            break;
    }
    *covered = inside / total;
    return rank;
}

kerf_interval kerf_median_interval(double *values, int n, double confidence, double *covered) {
    const double middle = kerf_median(values, n);
    const int rank = lower_rank(n, confidence, covered);
    return (kerf_interval){.middle = middle, .low = values[rank - 1], .high = values[n - rank]};
}
