/* Lower bounds of work, from the grid as it is: samples that leave the image need nothing but their coordinates. */
#ifndef KERF_KERNELS_GRID_SAMPLING_WORK_H
#define KERF_KERNELS_GRID_SAMPLING_WORK_H

#include "kernels/grid_sampling.h"

/* What is done with the taps: KERF_COUNT_READS: the pixels are needed whose weight is not 0; those with a slope are. */
enum { KERF_COUNT_WEIGHTS = 1, KERF_COUNT_SLOPES = 2, KERF_COUNT_READS = 4 };

typedef struct kerf_sampling_counts {
    double coordinates;                /* that decide which samples are dropped, and where the others lie */
    double samples;                    /* with a tap that counts */
    double taps_weighted, taps_sloped; /* whose weight, or whose slope, is not 0 */
    double pixels;                     /* needed; each once */
} kerf_sampling_counts;

kerf_sampling_counts kerf_sampling_count(const kerf_operand *x, const kerf_operand *grid, const void *points,
                                         const kerf_grid_sampler_modes *modes, unsigned what);

/* Memory elements. */
double kerf_sampling_unique(const kerf_strided *at);
/* By how many the memory elements of an operand are fewer than its indices, the axis `but` left aside. */
double kerf_sampling_sharing(const kerf_strided *at, int but);

#endif
