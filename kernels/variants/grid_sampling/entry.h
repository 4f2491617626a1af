/* What the plain C entries of grid_sampler and grid_sampler_grad share: the arguments as a problem on the stack, its
 * checks, and the first row that this machine supports. */
#ifndef KERF_GRID_SAMPLING_ENTRY_H
#define KERF_GRID_SAMPLING_ENTRY_H

#include "kernels/entry.h"
#include "kernels/grid_sampling.h"

typedef struct sampling_call {
    kerf_operand in[KERF_SAMPLING_MOST_IN], out[KERF_SAMPLING_MOST_OUT];
    const kerf_operand *in_at[KERF_SAMPLING_MOST_IN], *out_at[KERF_SAMPLING_MOST_OUT];
    const void *in_data[KERF_SAMPLING_MOST_IN];
    void *out_data[KERF_SAMPLING_MOST_OUT];
    kerf_problem problem;
    const kerf_variant *variant;
    kerf_memory memory;
} sampling_call;

static inline void open_call(sampling_call *call, const kerf_op *op, const kerf_grid_sampler_modes *modes) {
    *call = (sampling_call){.problem = {.bytes = sizeof(kerf_problem), .op = op, .self = modes}};
    call->problem.in = call->in_at;
    call->problem.out = call->out_at;
}

static inline void add_input(sampling_call *call, const char *name, const kerf_tensor *tensor, kerf_dtype dtype) {
    const int i = call->problem.n_in++;
    call->in[i] = kerf_entry_operand(name, KERF_IN, &tensor->at, dtype);
    call->in_at[i] = &call->in[i];
    call->in_data[i] = tensor->data;
}

static inline void add_output(sampling_call *call, const char *name, const kerf_strided *at, void *data, bool wanted,
                              kerf_dtype dtype) {
    const int i = call->problem.n_out++;
    call->out[i] = kerf_entry_operand(name, KERF_OUT, at, dtype);
    call->out_at[i] = &call->out[i];
    call->out_data[i] = data;
    if (wanted)
        call->problem.want |= UINT64_C(1) << i;
}

static inline kerf_status check_memory(const sampling_call *call, kerf_error *error) {
    for (int i = 0; i < call->problem.n_in; ++i)
        KERF_TRY(kerf_entry_check_data(&call->in[i], call->in_data[i], error));
    for (int i = 0; i < call->problem.n_out; ++i) {
        if (!(call->problem.want >> i & 1))
            continue;
        KERF_TRY(kerf_entry_check_data(&call->out[i], call->out_data[i], error));
        for (int k = 0; k < call->problem.n_in; ++k)
            KERF_TRY(kerf_entry_check_share(&call->out[i], call->out_data[i], &call->in[k], call->in_data[k], error));
        for (int k = 0; k < i; ++k)
            if (call->problem.want >> k & 1)
                KERF_TRY(
                    kerf_entry_check_share(&call->out[i], call->out_data[i], &call->out[k], call->out_data[k], error));
    }
    return KERF_OK;
}

/* Operands are there and checked as such; finds what will run, and what it needs. */
static inline kerf_status choose_call(sampling_call *call, const kerf_row *const rows[], const kerf_team *team,
                                      kerf_error *error) {
    KERF_TRY(check_memory(call, error));
    KERF_TRY(kerf_entry_check_team(team, error));
    KERF_TRY(kerf_entry_choose(rows, &call->problem, &call->variant, error));
    if (call->variant->memory)
        call->memory = call->variant->memory(&call->problem, NULL);
    return KERF_OK;
}

static inline kerf_status run_call(const sampling_call *call, const kerf_team *team, void *scratch,
                                   size_t scratch_bytes, kerf_error *error) {
    const size_t needed = call->memory.scratch_bytes;
    const size_t alignment = call->memory.alignment > 1 ? call->memory.alignment : 1;
    if (needed > 0 && (!scratch || scratch_bytes < needed))
        return kerf_fail(error, KERF_ERROR_USAGE, "scratch of %zu bytes, but %zu are needed (kerf_%s_memory)",
                         scratch ? scratch_bytes : 0, needed, call->problem.op->name);
    if (needed > 0 && (uintptr_t)scratch % alignment != 0)
        return kerf_fail(error, KERF_ERROR_USAGE, "scratch at %p must be aligned to %zu bytes", scratch, alignment);
    if (call->problem.want == 0)
        return KERF_OK;
    const kerf_launch launch = {.bytes = sizeof launch,
                                .problem = &call->problem,
                                .in = call->in_data,
                                .out = call->out_data,
                                .scratch = scratch,
                                .team = team};
    return call->variant->run(&launch);
}

#endif
