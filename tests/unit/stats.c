#include "harness/stats.h"
#include "tests/catch_shim.h"

#include <math.h>
#include <stdint.h>

static void median_of_odd_and_even(void) {
    double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2}, one[] = {7};
    REQUIRE(kerf_median(odd, 3) == 2);
    REQUIRE(odd[0] == 1 && odd[1] == 2 && odd[2] == 3);
    REQUIRE(kerf_median(even, 4) == 2.5);
    REQUIRE(kerf_median(one, 1) == 7);
}

/* Middle of two huge values must not overflow on the way. */
static void median_of_huge_values(void) {
    double values[] = {1.5e308, 1.7e308};
    REQUIRE(fabs(kerf_median(values, 2) / 1.6e308 - 1) < 1e-15);
}

static void six_values_give_the_extremes(void) {
    double values[] = {5, 3, 9, 1, 7, 2}, covered;
    const kerf_interval interval = kerf_median_interval(values, 6, 0.95, &covered);
    REQUIRE(interval.low == 1 && interval.high == 9 && interval.middle == 4);
    REQUIRE(fabs(covered - 0.96875) < 1e-15);
}

static void few_values_give_the_extremes_and_say_so(void) {
    double five[] = {5, 4, 3, 2, 1}, one[] = {8}, covered;
    kerf_interval interval = kerf_median_interval(five, 5, 0.95, &covered);
    REQUIRE(interval.low == 1 && interval.high == 5);
    REQUIRE(fabs(covered - 0.9375) < 1e-15);
    interval = kerf_median_interval(one, 1, 0.95, &covered);
    REQUIRE(interval.low == 8 && interval.middle == 8 && interval.high == 8);
    REQUIRE(covered == 0);
}

/* Each value lies above the true median or below it, all 2^n patterns alike: an interval from the l-th smallest to the
 * l-th largest misses it where fewer than l lie on one side. */
static double covered_by_counting(int n, int rank) {
    int inside = 0;
    for (unsigned pattern = 0; pattern < 1u << n; ++pattern) {
        const int below = __builtin_popcount(pattern);
        inside += below >= rank && n - below >= rank;
    }
    return (double)inside / (double)(1u << n);
}

static void agrees_with_counting_all_patterns(void) {
    /* Some are reached exactly by some n. */
    static const double confidences[] = {0.375, 0.5, 0.625, 0.8, 0.95, 0.96875, 0.99};
    for (int n = 1; n <= 16; ++n) {
        for (int c = 0; c < 7; ++c) {
            double values[16], covered;
            for (int i = 0; i < n; ++i)
                values[i] = i + 1;
            const kerf_interval interval = kerf_median_interval(values, n, confidences[c], &covered);
            const int rank = (int)interval.low;
            REQUIRE_MESSAGE(interval.high == n + 1 - rank, "n %d: [%g, %g]", n, interval.low, interval.high);
            REQUIRE_MESSAGE(fabs(covered - covered_by_counting(n, rank)) < 1e-14, "n %d rank %d: %.17g", n, rank,
                            covered);
            REQUIRE_MESSAGE(rank == 1 || covered >= confidences[c] - 1e-14, "n %d: %g", n, covered);
            if (2 * (rank + 1) <= n)
                REQUIRE_MESSAGE(covered_by_counting(n, rank + 1) < confidences[c], "n %d: rank %d is not the narrowest",
                                n, rank);
        }
    }
}

/* With 4001 values the binomial is normal to three digits: half the width in ranks is 1.96 sqrt(n) / 2. */
static void many_values_neither_overflow_nor_underflow(void) {
    enum { N = 4001 };
    static double values[N];
    double covered;
    for (int i = 0; i < N; ++i)
        values[i] = N - i;
    const kerf_interval interval = kerf_median_interval(values, N, 0.95, &covered);
    REQUIRE(interval.middle == 2001);
    REQUIRE(covered >= 0.95 && covered < 0.952);
    REQUIRE(fabs((interval.high - interval.low) / 2 - 0.98 * sqrt(N)) <= 1.5);
}

const kerf_test kerf_tests_unit_stats[] = {
    {"stats: median of odd and even counts", "[unit][stats]", median_of_odd_and_even, __FILE__, __LINE__},
    {"stats: median of huge values", "[unit][stats]", median_of_huge_values, __FILE__, __LINE__},
    {"stats: six values give the extremes at 96.875 %", "[unit][stats]", six_values_give_the_extremes, __FILE__,
     __LINE__},
    {"stats: few values give the extremes and say so", "[unit][stats]", few_values_give_the_extremes_and_say_so,
     __FILE__, __LINE__},
    {"stats: interval agrees with counting all patterns", "[unit][stats]", agrees_with_counting_all_patterns, __FILE__,
     __LINE__},
    {"stats: interval of thousands of values", "[unit][stats]", many_values_neither_overflow_nor_underflow, __FILE__,
     __LINE__},
    {0},
};
