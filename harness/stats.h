/* Order statistics without assumptions on the distribution. */
#ifndef KERF_HARNESS_STATS_H
#define KERF_HARNESS_STATS_H

typedef struct kerf_interval {
    double middle, low, high;
} kerf_interval;

/* Sorts `values` (n >= 1, none NaN). */
double kerf_median(double *values, int n);

/* Median and the narrowest pair of order statistics around it that covers the true median with at least `confidence` by
 * the binomial distribution (David and Nagaraja, Order Statistics, 7.1); the extremes where n is too small for that.
 * *covered is the confidence that was reached. Sorts `values`. */
kerf_interval kerf_median_interval(double *values, int n, double confidence, double *covered);

#endif
