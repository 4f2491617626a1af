/* The plain C entry of grid_sampler_grad: describes the arguments as a problem on the stack, checks them, and runs the
 * first row that this machine supports. */
#include "kernels/entry.h"
#include "kernels/grid_sampler_grad/grid_sampler_grad.h"

extern const kerf_row *const kerf_rows_grid_sampler_grad[];

typedef struct grad_call {
    kerf_operand in[KERF_GSG_N_IN], out[KERF_GSG_N_OUT];
    const kerf_operand *in_at[KERF_GSG_N_IN], *out_at[KERF_GSG_N_OUT];
    const void *in_data[KERF_GSG_N_IN];
    void *out_data[KERF_GSG_N_OUT];
    kerf_problem problem;
    const kerf_variant *variant;
    kerf_memory memory;
} grad_call;

static void add_input(grad_call *call, int i, const char *name, const kerf_tensor *tensor, kerf_dtype dtype) {
    call->in[i] = kerf_entry_operand(name, KERF_IN, &tensor->at, dtype);
    call->in_at[i] = &call->in[i];
    call->in_data[i] = tensor->data;
}

/* What an output that is not wanted says of its shape is not looked at: it gets the shape of its input. */
static void add_output(grad_call *call, int i, const char *name, const kerf_tensor *tensor, const kerf_tensor *twin,
                       kerf_dtype dtype) {
    call->out[i] = kerf_entry_operand(name, KERF_OUT, tensor->data ? &tensor->at : &twin->at, dtype);
    call->out_at[i] = &call->out[i];
    call->out_data[i] = tensor->data;
    if (tensor->data)
        call->problem.want |= UINT64_C(1) << i;
}

static kerf_status check_memory(const grad_call *call, kerf_error *error) {
    for (int i = 0; i < KERF_GSG_N_IN; ++i)
        KERF_TRY(kerf_entry_check_data(&call->in[i], call->in_data[i], error));
    for (int i = 0; i < KERF_GSG_N_OUT; ++i) {
        if (!call->out_data[i])
            continue;
        KERF_TRY(kerf_entry_check_data(&call->out[i], call->out_data[i], error));
        for (int k = 0; k < KERF_GSG_N_IN; ++k)
            KERF_TRY(kerf_entry_check_share(&call->out[i], call->out_data[i], &call->in[k], call->in_data[k], error));
        for (int k = 0; k < i; ++k)
            if (call->out_data[k])
                KERF_TRY(
                    kerf_entry_check_share(&call->out[i], call->out_data[i], &call->out[k], call->out_data[k], error));
    }
    return KERF_OK;
}

static kerf_status prepare_call(const kerf_grid_sampler_grad_args *args, grad_call *call, kerf_error *error) {
    if (args->bytes != sizeof *args)
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "args->bytes is %u: it must be sizeof(kerf_grid_sampler_grad_args), %zu", args->bytes,
                         sizeof *args);
    *call = (grad_call){.problem = {.bytes = sizeof(kerf_problem), .op = &kerf_op_grid_sampler_grad}};
    call->problem.self = &args->modes;
    call->problem.n_in = KERF_GSG_N_IN;
    call->problem.n_out = KERF_GSG_N_OUT;
    call->problem.in = call->in_at;
    call->problem.out = call->out_at;
    add_input(call, KERF_GSG_GRAD, "grad", &args->grad, args->dtype);
    add_input(call, KERF_GSG_X, "x", &args->x, args->dtype);
    add_input(call, KERF_GSG_GRID, "grid", &args->grid, args->dtype);
    add_output(call, KERF_GSG_DX, "dx", &args->dx, &args->x, args->dtype);
    add_output(call, KERF_GSG_DGRID, "dgrid", &args->dgrid, &args->grid, args->dtype);
    KERF_TRY(kerf_grid_sampler_grad_check(&call->problem, error));
    KERF_TRY(check_memory(call, error));
    KERF_TRY(kerf_entry_check_team(args->team, error));
    KERF_TRY(kerf_entry_choose(kerf_rows_grid_sampler_grad, &call->problem, &call->variant, error));
    if (call->variant->memory)
        call->memory = call->variant->memory(&call->problem, NULL);
    return KERF_OK;
}

kerf_status kerf_grid_sampler_grad_memory(const kerf_grid_sampler_grad_args *args, kerf_memory *memory,
                                          kerf_error *error) {
    grad_call call;
    KERF_TRY(prepare_call(args, &call, error));
    *memory = call.memory;
    return KERF_OK;
}

kerf_status kerf_grid_sampler_grad(const kerf_grid_sampler_grad_args *args, kerf_error *error) {
    grad_call call;
    KERF_TRY(prepare_call(args, &call, error));
    const size_t needed = call.memory.scratch_bytes, alignment = call.memory.alignment > 1 ? call.memory.alignment : 1;
    if (needed > 0 && (!args->scratch || args->scratch_bytes < needed))
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "scratch of %zu bytes, but %zu are needed (kerf_grid_sampler_grad_memory)",
                         args->scratch ? args->scratch_bytes : 0, needed);
    if (needed > 0 && (uintptr_t)args->scratch % alignment != 0)
        return kerf_fail(error, KERF_ERROR_USAGE, "scratch at %p must be aligned to %zu bytes", args->scratch,
                         alignment);
    if (call.problem.want == 0)
        return KERF_OK;
    const kerf_launch launch = {.bytes = sizeof launch,
                                .problem = &call.problem,
                                .in = call.in_data,
                                .out = call.out_data,
                                .scratch = args->scratch,
                                .team = args->team};
    return call.variant->run(&launch);
}
