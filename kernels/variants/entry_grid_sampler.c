#include "kernels/grid_sampler/grid_sampler.h"
#include "kernels/variants/grid_sampling/entry.h"

extern const kerf_row *const kerf_rows_grid_sampler[];

static kerf_status prepare_call(const kerf_grid_sampler_args *args, sampling_call *call, kerf_error *error) {
    if (args->bytes != sizeof *args)
        return kerf_fail(error, KERF_ERROR_USAGE, "args->bytes is %u: it must be sizeof(kerf_grid_sampler_args), %zu",
                         args->bytes, sizeof *args);
    if (args->modes.accumulate != KERF_ACCUMULATE_F32)
        return kerf_fail(error, KERF_ERROR_USAGE, "accumulate mode %d: grid_sampler takes KERF_ACCUMULATE_F32, %d",
                         (int)args->modes.accumulate, (int)KERF_ACCUMULATE_F32);
    open_call(call, &kerf_op_grid_sampler, &args->modes);
    add_input(call, "x", &args->x, args->dtype);
    add_input(call, "grid", &args->grid, args->dtype);
    add_output(call, "y", &args->y.at, args->y.data, true, args->dtype);
    KERF_TRY(kerf_grid_sampler_check(&call->problem, error));
    return choose_call(call, kerf_rows_grid_sampler, args->team, error);
}

kerf_status kerf_grid_sampler_memory(const kerf_grid_sampler_args *args, kerf_memory *memory, kerf_error *error) {
    sampling_call call;
    KERF_TRY(prepare_call(args, &call, error));
    *memory = call.memory;
    return KERF_OK;
}

kerf_status kerf_grid_sampler(const kerf_grid_sampler_args *args, kerf_error *error) {
    sampling_call call;
    KERF_TRY(prepare_call(args, &call, error));
    return run_call(&call, args->team, args->scratch, args->scratch_bytes, error);
}
