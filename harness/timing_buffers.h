/* The memory of a case while it is timed: inputs, filled once and changed a little before each sample, and for each row
 * outputs and scratch of its own. */
#ifndef KERF_HARNESS_TIMING_BUFFERS_H
#define KERF_HARNESS_TIMING_BUFFERS_H

#include "kernels/registry.h"

/* One mapping; `data` is where element (0,...,0) of an operand lies, on a multiple of 64 bytes. */
typedef struct kerf_timing_block {
    void *map;
    size_t map_bytes;
    unsigned char *data;
} kerf_timing_block;

typedef struct kerf_timing_inputs {
    kerf_problem problem;
    kerf_dtype dtype;
    kerf_timing_block block[KERF_MAX_OPERANDS];
    const void *in[KERF_MAX_OPERANDS];
    uint64_t seed, step; /* of the changes; how many were made since the fill */
} kerf_timing_inputs;

typedef struct kerf_timing_row {
    const kerf_timing_inputs *inputs;
    const kerf_variant *variant;
    const kerf_config *config; /* NULL: the defaults */
    kerf_timing_block block[KERF_MAX_OPERANDS], scratch, packed;
    size_t scratch_bytes, packed_bytes;
    double touched_bytes; /* operands, scratch and packed memory, each byte once */
    void *out[KERF_MAX_OPERANDS];
    kerf_launch launch;
} kerf_timing_row;

/* Maps and fills the inputs of the case. Each block begins at another offset within a page, drawn from `offsets`: what
 * depends on how buffers lie to each other then differs between processes and shows as noise. The problem lives in the
 * arena. On failure nothing is left open. */
kerf_status kerf_timing_inputs_open(const kerf_case *c, kerf_rng *offsets, kerf_arena *arena,
                                    kerf_timing_inputs *inputs, kerf_error *error);
void kerf_timing_inputs_close(kerf_timing_inputs *inputs);

/* Makes the inputs those of this step. From one step to the next a few elements of each input that neither steers nor
 * was packed ahead change their sign (of types without a sign: their lowest bit), which is as much work as before.
 * Each change undoes itself, so every step can be reached again. */
void kerf_timing_inputs_go_to(kerf_timing_inputs *inputs, uint64_t step);

/* Memory like the operand's, to be given back by kerf_timing_block_unmap. */
kerf_status kerf_timing_operand_map(const kerf_operand *operand, kerf_rng *offsets, kerf_timing_block *block,
                                    kerf_error *error);
void kerf_timing_block_unmap(kerf_timing_block *block);

/* Maps what the row needs and packs what it packs ahead. The row must be available on this machine. `row` is pointed to
 * by its own launch and must not move. */
kerf_status kerf_timing_row_open(const kerf_row *from, const kerf_config *config, const kerf_timing_inputs *inputs,
                                 const kerf_team *team, kerf_rng *offsets, kerf_timing_row *row, kerf_error *error);
void kerf_timing_row_close(kerf_timing_row *row);

/* Drops all that a call of the row touches from all caches. */
void kerf_timing_row_evict(const kerf_timing_row *row);

#endif
