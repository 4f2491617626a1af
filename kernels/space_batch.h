/* What space_to_batch and batch_to_space share: attributes, shapes, refusals. The mathematics is in space_to_batch.h.
 */
#ifndef KERF_KERNELS_SPACE_BATCH_H
#define KERF_KERNELS_SPACE_BATCH_H

#include "kernels/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KERF_SPACE_BATCH_BLOCKS (KERF_MAX_RANK - 1) /* most block axes */

typedef enum kerf_space_batch_way { KERF_SPACE_TO_BATCH, KERF_BATCH_TO_SPACE } kerf_space_batch_way;

/* problem->self of both ops. Block axis k is axis k + 1 of the operands. */
typedef struct kerf_space_batch {
    kerf_space_batch_way way;
    int n_blocks;
    int64_t block[KERF_SPACE_BATCH_BLOCKS];
    int64_t before[KERF_SPACE_BATCH_BLOCKS], after[KERF_SPACE_BATCH_BLOCKS]; /* paddings, or crops */
    unsigned char pad[16]; /* the element that padding consists of, in the element type; space_to_batch only */
} kerf_space_batch;

/* Attributes as a caller gives them, not looked at yet; both lists may change while they are read. */
typedef struct kerf_space_batch_request {
    kerf_space_batch_way way;
    const int64_t *block_shape;
    int n_block_shape;
    const int64_t *margins; /* paddings or crops: before and after of each block axis; NULL: all 0 */
    int n_margins;
    int64_t block_size;     /* the legacy form: of both block axes of rank 4; 0: block_shape counts */
    int64_t pad_value;      /* turned into the element type; opaque elements: its low bytes, sign-extended */
    bool tensorflow_limits; /* also refuse what TensorFlow's kernels refuse */
} kerf_space_batch_request;

/* Copies and checks the request for an input of these dims and type, and gives the shape of the output.
 * KERF_ERROR_USAGE with one line that names the axis and the values. */
kerf_status kerf_space_batch_resolve(const kerf_space_batch_request *request, kerf_dtype dtype,
                                     const kerf_strided *input, kerf_space_batch *resolved, kerf_strided *output,
                                     kerf_error *error);

/* The parts of the two op objects. */
extern const kerf_attr_spec *const kerf_space_to_batch_attrs[], *const kerf_batch_to_space_attrs[];
extern const char *const kerf_space_batch_fills[];
#define KERF_SPACE_BATCH_DTYPES KERF_N_DTYPES /* all types */
extern const kerf_dtype kerf_space_batch_dtypes[KERF_SPACE_BATCH_DTYPES];
kerf_status kerf_space_batch_describe(const kerf_case *c, kerf_space_batch_way way, kerf_arena *arena,
                                      kerf_problem *problem, kerf_error *error);
void kerf_space_batch_fill(const kerf_problem *problem, kerf_rng *rng, void *const in[]);
kerf_work kerf_space_batch_work(const kerf_problem *problem, const void *const in[]);

/* ---- plain C entry of both ops: kerf_space_to_batch() and kerf_batch_to_space() ------------------------------------
 */

typedef struct kerf_space_batch_args {
    uint32_t bytes; /* sizeof the struct */
    kerf_dtype dtype;
    kerf_space_batch_request request; /* request.way is set by the function that is called */
    const void *x;                    /* address of element (0,...,0) */
    void *y;
    kerf_strided x_at, y_at; /* any strides; y_at.dims as kerf_space_batch_resolve says */
    const kerf_team *team;   /* NULL: one rank */
} kerf_space_batch_args;

#ifdef __cplusplus
}
#endif

#endif
