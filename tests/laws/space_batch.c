/* Laws of space_to_batch and batch_to_space, whatever the implementation: the definition as pad, reshape, transpose and
 * reshape; each undoes the other; axes with block 1 may be merged away. On random problems, through the C entries. */
#include "base/rng.h"
#include "kernels/batch_to_space/batch_to_space.h"
#include "kernels/space_to_batch/space_to_batch.h"
#include "tests/catch_shim.h"

#include <stdlib.h>
#include <string.h>

extern const kerf_test kerf_tests_laws_space_batch[];

enum { MOST = 1 << 14, N_PROBLEMS = 300 };

typedef struct moves {
    kerf_strided space, batch; /* packed */
    int n_blocks;
    int64_t block[KERF_MAX_RANK], margins[2 * KERF_MAX_RANK];
    int32_t from[MOST], batched[MOST], expected[MOST], back[MOST];
} moves;

static int64_t count_of(const kerf_strided *at) {
    int64_t count = 0;
    return kerf_strided_count(at, &count) ? count : INT64_MAX;
}

/* Up to five axes of up to 6 elements, each padded by up to 3 and then up to a multiple of its block. */
static void draw(moves *m, kerf_rng *rng) {
    do {
        m->space = (kerf_strided){.rank = 2 + (int)kerf_rng_below(rng, 4)};
        m->n_blocks = 1 + (int)kerf_rng_below(rng, (uint64_t)m->space.rank - 1);
        for (int axis = 0; axis < m->space.rank; ++axis)
            m->space.dims[axis] = 1 + (int64_t)kerf_rng_below(rng, 6);
        m->batch = m->space;
        for (int k = 0; k < m->n_blocks; ++k) {
            const int64_t block = 1 + (int64_t)kerf_rng_below(rng, 4);
            const int64_t before = (int64_t)kerf_rng_below(rng, 4), size = m->space.dims[k + 1];
            int64_t after = (int64_t)kerf_rng_below(rng, 4);
            after += (block - (size + before + after) % block) % block;
            m->block[k] = block;
            m->margins[2 * k] = before;
            m->margins[2 * k + 1] = after;
            m->batch.dims[0] *= block;
            m->batch.dims[k + 1] = (size + before + after) / block;
        }
        kerf_strided_pack(&m->space);
        kerf_strided_pack(&m->batch);
    } while (count_of(&m->batch) > MOST || count_of(&m->space) > MOST);
    for (int64_t i = 0; i < count_of(&m->space); ++i)
        m->from[i] = (int32_t)i + 1;
}

static kerf_space_batch_args args_of(const moves *m, const kerf_strided *x_at, const void *x, const kerf_strided *y_at,
                                     void *y) {
    return (kerf_space_batch_args){.bytes = sizeof(kerf_space_batch_args),
                                   .dtype = KERF_I32,
                                   .request = {.block_shape = m->block,
                                               .n_block_shape = m->n_blocks,
                                               .margins = m->margins,
                                               .n_margins = 2 * m->n_blocks,
                                               .pad_value = -7},
                                   .x = x,
                                   .y = y,
                                   .x_at = *x_at,
                                   .y_at = *y_at};
}

/* Pads into `back`, then reads it as [batch, P1, b1, .., PM, bM, rest] in the order [b1..bM, batch, P1..PM, rest]. */
static void transpose(moves *m) {
    kerf_strided padded = m->space;
    for (int k = 0; k < m->n_blocks; ++k)
        padded.dims[k + 1] += m->margins[2 * k] + m->margins[2 * k + 1];
    kerf_strided_pack(&padded);
    for (int64_t i = 0; i < count_of(&padded); ++i)
        m->back[i] = -7;
    for (kerf_walk walk = kerf_walk_begin(&m->space); !walk.done; kerf_walk_next(&walk)) {
        int64_t at = 0;
        for (int axis = 0; axis < padded.rank; ++axis) {
            const bool blocked = axis > 0 && axis <= m->n_blocks;
            at += (walk.index[axis] + (blocked ? m->margins[2 * (axis - 1)] : 0)) * padded.strides[axis];
        }
        m->back[at] = m->from[walk.offset];
    }
    kerf_strided view = {0};
    for (int k = 0; k < m->n_blocks; ++k) {
        view.dims[view.rank] = m->block[k];
        view.strides[view.rank++] = padded.strides[k + 1];
    }
    for (int axis = 0; axis < padded.rank; ++axis) {
        const int64_t block = axis > 0 && axis <= m->n_blocks ? m->block[axis - 1] : 1;
        view.dims[view.rank] = padded.dims[axis] / block;
        view.strides[view.rank++] = padded.strides[axis] * block;
    }
    for (kerf_walk walk = kerf_walk_begin(&view); !walk.done; kerf_walk_next(&walk))
        m->expected[walk.number] = m->back[walk.offset];
}

static bool move_there(moves *m, kerf_error *error) {
    const kerf_space_batch_args there = args_of(m, &m->space, m->from, &m->batch, m->batched);
    return kerf_space_to_batch(&there, error) == KERF_OK;
}

static void definition_is_a_transposition(void) {
    static moves m;
    kerf_rng rng = kerf_rng_seeded(1, 0);
    kerf_error error = {""};
    for (int i = 0; i < N_PROBLEMS; ++i) {
        draw(&m, &rng);
        REQUIRE_MESSAGE(move_there(&m, &error), "problem %d: %s", i, error.message);
        transpose(&m);
        REQUIRE_MESSAGE(memcmp(m.batched, m.expected, (size_t)count_of(&m.batch) * sizeof *m.batched) == 0,
                        "problem %d", i);
    }
}

static void each_undoes_the_other(void) {
    static moves m;
    kerf_rng rng = kerf_rng_seeded(2, 0);
    kerf_error error = {""};
    for (int i = 0; i < N_PROBLEMS; ++i) {
        draw(&m, &rng);
        REQUIRE_MESSAGE(move_there(&m, &error), "problem %d: %s", i, error.message);
        kerf_space_batch_args back = args_of(&m, &m.batch, m.batched, &m.space, m.back);
        REQUIRE_MESSAGE(kerf_batch_to_space(&back, &error) == KERF_OK, "problem %d: %s", i, error.message);
        REQUIRE_MESSAGE(memcmp(m.back, m.from, (size_t)count_of(&m.space) * sizeof *m.back) == 0, "problem %d", i);
    }
}

/* [N, S1, S2, D] with block 1, b and 1 is [N, S1, S2 D] with block 1, b where the last is left out, and the first joins
 * the batch only where that keeps the order: with one image. */
static void blocks_of_one_may_be_left_out(void) {
    static moves m;
    static int32_t merged[MOST];
    kerf_rng rng = kerf_rng_seeded(3, 0);
    kerf_error error = {""};
    for (int i = 0; i < N_PROBLEMS; ++i) {
        const int64_t n = 1 + (int64_t)kerf_rng_below(&rng, 3), s = 1 + (int64_t)kerf_rng_below(&rng, 5);
        const int64_t d = 1 + (int64_t)kerf_rng_below(&rng, 4), e = 1 + (int64_t)kerf_rng_below(&rng, 3);
        const int64_t b = 2 + (int64_t)kerf_rng_below(&rng, 3);
        m = (moves){.n_blocks = 3, .block = {b, 1, 1}};
        m.space = (kerf_strided){.rank = 4, .dims = {n, s * b, d, e}};
        m.batch = (kerf_strided){.rank = 4, .dims = {n * b, s, d, e}};
        kerf_strided_pack(&m.space);
        kerf_strided_pack(&m.batch);
        for (int64_t k = 0; k < count_of(&m.space); ++k)
            m.from[k] = (int32_t)kerf_rng_next(&rng);
        REQUIRE_MESSAGE(move_there(&m, &error), "problem %d: %s", i, error.message);
        memcpy(merged, m.batched, sizeof merged);
        m.n_blocks = 1;
        m.space = (kerf_strided){.rank = 3, .dims = {n, s * b, d * e}};
        m.batch = (kerf_strided){.rank = 3, .dims = {n * b, s, d * e}};
        kerf_strided_pack(&m.space);
        kerf_strided_pack(&m.batch);
        REQUIRE_MESSAGE(move_there(&m, &error), "problem %d: %s", i, error.message);
        REQUIRE_MESSAGE(memcmp(merged, m.batched, (size_t)count_of(&m.batch) * sizeof *merged) == 0, "problem %d", i);
    }
}

const kerf_test kerf_tests_laws_space_batch[] = {
    {"space batch law: the definition is pad reshape transpose reshape", "[laws][space_batch]",
     definition_is_a_transposition, __FILE__, __LINE__},
    {"space batch law: each undoes the other", "[laws][space_batch]", each_undoes_the_other, __FILE__, __LINE__},
    {"space batch law: blocks of one may be left out", "[laws][space_batch]", blocks_of_one_may_be_left_out, __FILE__,
     __LINE__},
    {0},
};
