#include "kernels/grid_sampler_grad/grid_sampler_grad.h"
#include "kernels/variants/grid_sampling/entry.h"

extern const kerf_row *const kerf_rows_grid_sampler_grad[];

/* What an output that is not wanted says of its shape is not looked at: it gets the shape of its input. */
static void add_gradient(sampling_call *call, const char *name, const kerf_tensor *tensor, const kerf_tensor *twin,
                         kerf_dtype dtype) {
    add_output(call, name, tensor->data ? &tensor->at : &twin->at, tensor->data, tensor->data != NULL, dtype);
}

static kerf_status prepare_call(const kerf_grid_sampler_grad_args *args, sampling_call *call, kerf_error *error) {
    if (args->bytes != sizeof *args)
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "args->bytes is %u: it must be sizeof(kerf_grid_sampler_grad_args), %zu", args->bytes,
                         sizeof *args);
    open_call(call, &kerf_op_grid_sampler_grad, &args->modes);
    add_input(call, "grad", &args->grad, args->dtype);
    add_input(call, "x", &args->x, args->dtype);
    add_input(call, "grid", &args->grid, args->dtype);
    add_gradient(call, "dx", &args->dx, &args->x, args->dtype);
    add_gradient(call, "dgrid", &args->dgrid, &args->grid, args->dtype);
    KERF_TRY(kerf_grid_sampler_grad_check(&call->problem, error));
    return choose_call(call, kerf_rows_grid_sampler_grad, args->team, error);
}

kerf_status kerf_grid_sampler_grad_memory(const kerf_grid_sampler_grad_args *args, kerf_memory *memory,
                                          kerf_error *error) {
    sampling_call call;
    KERF_TRY(prepare_call(args, &call, error));
    *memory = call.memory;
    return KERF_OK;
}

kerf_status kerf_grid_sampler_grad(const kerf_grid_sampler_grad_args *args, kerf_error *error) {
    sampling_call call;
    KERF_TRY(prepare_call(args, &call, error));
    return run_call(&call, args->team, args->scratch, args->scratch_bytes, error);
}
