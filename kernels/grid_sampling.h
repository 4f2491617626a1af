/* What grid_sampler and grid_sampler_grad share: attributes, shapes, refusals, fills. The mathematics is in the headers
 * of the two. */
#ifndef KERF_KERNELS_GRID_SAMPLING_H
#define KERF_KERNELS_GRID_SAMPLING_H

#include "kernels/kernel.h"
#include "kernels/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kerf_interpolation { KERF_BILINEAR, KERF_NEAREST, KERF_BICUBIC } kerf_interpolation;
typedef enum kerf_padding { KERF_PAD_ZEROS, KERF_PAD_BORDER, KERF_PAD_REFLECTION } kerf_padding;
typedef enum kerf_corners { KERF_CORNERS_OUTSIDE, KERF_CORNERS_ALIGNED } kerf_corners; /* align_corners false, true */
typedef enum kerf_accumulate { KERF_ACCUMULATE_F32, KERF_ACCUMULATE_STORAGE } kerf_accumulate;

/* problem->self of both ops; the case's attributes carry the same numbers. */
typedef struct kerf_grid_sampler_modes {
    kerf_interpolation interpolation;
    kerf_padding padding;
    kerf_corners corners;
    kerf_accumulate accumulate;
} kerf_grid_sampler_modes;

/* An operand of the plain C entries. */
typedef struct kerf_tensor {
    void *data; /* address of element (0,...,0); inputs are only read; NULL in an output: not wanted */
    kerf_strided at;
} kerf_tensor;

/* ---- the parts of the two op objects -------------------------------------------------------------------------------
 */

/* The extents that a case names, in that order, and the one that is always 2. */
enum {
    KERF_SAMPLING_N,
    KERF_SAMPLING_C,
    KERF_SAMPLING_H,
    KERF_SAMPLING_W,
    KERF_SAMPLING_HO,
    KERF_SAMPLING_WO,
    KERF_SAMPLING_N_DIMS
};
#define KERF_SAMPLING_TWO        KERF_SAMPLING_N_DIMS
#define KERF_SAMPLING_RANK       4
#define KERF_SAMPLING_MOST_IN    3
#define KERF_SAMPLING_MOST_OUT   2
#define KERF_SAMPLING_MOST_ATTRS 4

typedef struct kerf_sampling_shape {
    const char *name;
    kerf_channels channels;
    int dim[KERF_SAMPLING_RANK];
    uint64_t largest_whole; /* of an input's values in the fill `exact` */
} kerf_sampling_shape;

/* What one op is made of. */
typedef struct kerf_sampling_op {
    const char *name;
    int n_in, n_out, x, grid; /* which inputs are the image and the points; the grid comes last */
    const kerf_sampling_shape *in, *out;
    const char *outputs; /* in words */
} kerf_sampling_op;

extern const kerf_attr_spec kerf_sampling_interpolation_mode, kerf_sampling_padding_mode, kerf_sampling_align_corners;
extern const char *const kerf_sampling_dims[KERF_SAMPLING_N_DIMS + 1], *const kerf_sampling_fills[];
#define KERF_SAMPLING_N_DTYPES 4
extern const kerf_dtype kerf_sampling_dtypes[KERF_SAMPLING_N_DTYPES];

/* kerf_op.describe: the modes are those of the attributes in the order of kerf_grid_sampler_modes; an op may lack the
 * last. */
kerf_status kerf_sampling_describe(const kerf_sampling_op *op, const kerf_case *c, kerf_arena *arena,
                                   kerf_problem *problem, kerf_error *error);

/* The rules on shapes, types, strides and overlap, for describe() and for the C entry: operands as they stand in the
 * problem. KERF_ERROR_USAGE with one line. */
kerf_status kerf_sampling_check(const kerf_sampling_op *op, const kerf_problem *problem, kerf_error *error);

/* In the order of the fills. */
enum {
    KERF_SAMPLING_EXACT,
    KERF_SAMPLING_UNIFORM,
    KERF_SAMPLING_SMOOTH,
    KERF_SAMPLING_IDENTITY,
    KERF_SAMPLING_ONE_CELL,
    KERF_SAMPLING_OUT_OF_RANGE,
    KERF_SAMPLING_KINKS,
    KERF_SAMPLING_NON_FINITE
};

/* kerf_op.fill: all inputs in their order. */
void kerf_sampling_fill(const kerf_sampling_op *op, const kerf_problem *problem, kerf_rng *rng, void *const in[]);
void kerf_sampling_fill_points(const kerf_sampling_op *op, const kerf_problem *problem, kerf_rng *rng, void *grid);

#ifdef __cplusplus
}
#endif

#endif
