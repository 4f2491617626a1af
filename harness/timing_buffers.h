/* The memory of a case while it is timed: some sets of inputs, filled once and changed a little before each call, and
 * for each row outputs and scratch of its own. */
#ifndef KERF_HARNESS_TIMING_BUFFERS_H
#define KERF_HARNESS_TIMING_BUFFERS_H

#include "kernels/registry.h"

/* One mapping; `data` is where element (0,...,0) of an operand lies, on a multiple of 64 bytes. */
typedef struct kerf_timing_block {
    void *map;
    size_t map_bytes;
    unsigned char *data;
} kerf_timing_block;

/* Sets of inputs, and of outputs for each row, in which calls rotate from round to round. */
#define KERF_TIMING_SETS  3
#define KERF_TIMING_FLIPS 21
#define KERF_TIMING_CALLS (UINT32_C(1) << (KERF_TIMING_FLIPS - 1)) /* the most of a sample */

/* Inverts some bits of an element: its sign, or the lowest bit of what has none. */
typedef struct kerf_timing_flip {
    unsigned char *at, bits;
} kerf_timing_flip;

typedef struct kerf_timing_set {
    kerf_timing_block block[KERF_MAX_OPERANDS];
    const void *in[KERF_MAX_OPERANDS];
    uint64_t step;  /* how often the content has changed since the fill */
    uint32_t ahead; /* calls that are to come until the content is that of the step */
    kerf_timing_flip flip[KERF_TIMING_FLIPS];
    unsigned char spare; /* flipped where no input may change */
} kerf_timing_set;

typedef struct kerf_timing_inputs {
    kerf_problem problem;
    kerf_dtype dtype;
    uint64_t seed; /* of the changes */
    int n_sets;
    kerf_timing_set set[KERF_TIMING_SETS]; /* equal at equal steps */
} kerf_timing_inputs;

typedef struct kerf_timing_row {
    const kerf_timing_inputs *inputs;
    const kerf_variant *variant;
    const kerf_config *config; /* NULL: the defaults */
    kerf_timing_block block[KERF_TIMING_SETS][KERF_MAX_OPERANDS], scratch, packed;
    size_t scratch_bytes, packed_bytes;
    double touched_bytes; /* by one call: operands, scratch and packed memory, each byte once */
    void *out[KERF_TIMING_SETS][KERF_MAX_OPERANDS];
    int at; /* the set that the launch points to */
    kerf_launch launch;
} kerf_timing_row;

/* Maps and fills the inputs of the case that `n_rows` rows are to share, in fewer sets where the memory for all rows
 * would be much, and in one for 0 rows. Each block begins at another offset within a page, drawn from `offsets`: what
 * depends on how buffers lie to each other then differs between processes and shows as noise. The problem lives in the
 * arena. The inputs must not move. On failure nothing is left open. */
kerf_status kerf_timing_inputs_open(const kerf_case *c, int n_rows, kerf_rng *offsets, kerf_arena *arena,
                                    kerf_timing_inputs *inputs, kerf_error *error);
void kerf_timing_inputs_close(kerf_timing_inputs *inputs);

/* Gives the set that belongs to this step the inputs of the step, and returns its number. From one step to the next a
 * few elements of each input that was not packed ahead change, to as much work as before: their sign (of types without
 * one their lowest bit), and where the values steer what is done, pairs of elements change places. Each change undoes
 * itself, so every step can be reached again. */
int kerf_timing_inputs_go_to(kerf_timing_inputs *inputs, uint64_t step);

/* The next `calls` calls, at most 2^KERF_TIMING_FLIPS, get inputs that all differ, the last one those of the step: each
 * is followed by kerf_timing_set_called, which changes one element. Fewer may be made. */
void kerf_timing_set_begin(kerf_timing_set *set, uint32_t calls);

static inline void kerf_timing_flip_once(const kerf_timing_flip *flip) {
    *flip->at ^= flip->bits;
}

/* The states of a batch are a Gray code, which ends with none of the elements changed. This is timed: it must cost
 * nothing. */
static inline void kerf_timing_set_called(kerf_timing_set *set) {
    if (set->ahead > 0)
        kerf_timing_flip_once(&set->flip[__builtin_ctz(set->ahead--)]);
}

/* Memory like the operand's, to be given back by kerf_timing_block_unmap. */
kerf_status kerf_timing_operand_map(const kerf_operand *operand, kerf_rng *offsets, kerf_timing_block *block,
                                    kerf_error *error);
void kerf_timing_block_unmap(kerf_timing_block *block);

/* Maps what the row needs and packs what it packs ahead. The row must be available on this machine. `row` is pointed to
 * by its own launch and must not move. */
kerf_status kerf_timing_row_open(const kerf_row *from, const kerf_config *config, const kerf_timing_inputs *inputs,
                                 const kerf_team *team, kerf_rng *offsets, kerf_timing_row *row, kerf_error *error);
void kerf_timing_row_close(kerf_timing_row *row);

/* Calls of the row use this set from now on. */
void kerf_timing_row_use(kerf_timing_row *row, int set);

/* Drops all that a call of the row touches, with the set it uses, from all caches. */
void kerf_timing_row_evict(const kerf_timing_row *row);

#endif
