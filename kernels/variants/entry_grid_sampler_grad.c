/* The plain C entry of grid_sampler_grad: describes the arguments as a problem on the stack, checks them, and runs the
 * first row that this machine supports. */
#include "base/cpu.h"
#include "kernels/grid_sampler_grad/grid_sampler_grad.h"
#include "kernels/registry.h"

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

static kerf_operand operand_of(const char *name, kerf_role role, const kerf_strided *at, kerf_dtype dtype) {
    kerf_operand operand = {.bytes = sizeof operand, .name = name, .role = role, .dtype = dtype, .at = *at};
    operand.alignment = (unsigned)dtype < KERF_N_DTYPES ? (uint32_t)kerf_dtype_bytes(dtype) : 1;
    return operand;
}

static void add_input(grad_call *call, int i, const char *name, const kerf_tensor *tensor, kerf_dtype dtype) {
    call->in[i] = operand_of(name, KERF_IN, &tensor->at, dtype);
    call->in_at[i] = &call->in[i];
    call->in_data[i] = tensor->data;
}

/* What an output that is not wanted says of its shape is not looked at: it gets the shape of its input. */
static void add_output(grad_call *call, int i, const char *name, const kerf_tensor *tensor, const kerf_tensor *twin,
                       kerf_dtype dtype) {
    call->out[i] = operand_of(name, KERF_OUT, tensor->data ? &tensor->at : &twin->at, dtype);
    call->out_at[i] = &call->out[i];
    call->out_data[i] = tensor->data;
    if (tensor->data)
        call->problem.want |= UINT64_C(1) << i;
}

static kerf_status check_data(const kerf_operand *operand, const void *data, kerf_error *error) {
    int64_t count;
    if (!data && kerf_strided_count(&operand->at, &count) && count > 0)
        return kerf_fail(error, KERF_ERROR_USAGE, "%s has %lld elements but its data is NULL", operand->name,
                         (long long)count);
    if ((uintptr_t)data % operand->alignment != 0)
        return kerf_fail(error, KERF_ERROR_USAGE, "the data of %s at %p is not aligned to its elements of %u bytes",
                         operand->name, data, operand->alignment);
    return KERF_OK;
}

static kerf_status check_share(const kerf_operand *a, const void *a_data, const kerf_operand *b, const void *b_data,
                               kerf_error *error) {
    const int64_t bytes = (int64_t)kerf_dtype_bytes(a->dtype);
    if (kerf_strided_share(&a->at, a_data, bytes, &b->at, b_data, bytes))
        return kerf_fail(error, KERF_ERROR_USAGE, "%s and %s share memory: an output needs memory of its own", a->name,
                         b->name);
    return KERF_OK;
}

static kerf_status check_memory(const grad_call *call, kerf_error *error) {
    for (int i = 0; i < KERF_GSG_N_IN; ++i)
        KERF_TRY(check_data(&call->in[i], call->in_data[i], error));
    for (int i = 0; i < KERF_GSG_N_OUT; ++i) {
        if (!call->out_data[i])
            continue;
        KERF_TRY(check_data(&call->out[i], call->out_data[i], error));
        for (int k = 0; k < KERF_GSG_N_IN; ++k)
            KERF_TRY(check_share(&call->out[i], call->out_data[i], &call->in[k], call->in_data[k], error));
        for (int k = 0; k < i; ++k)
            if (call->out_data[k])
                KERF_TRY(check_share(&call->out[i], call->out_data[i], &call->out[k], call->out_data[k], error));
    }
    return KERF_OK;
}

static kerf_status choose_variant(grad_call *call, kerf_error *error) {
    const uint64_t isa = kerf_cpu_isa();
    const kerf_class class = kerf_dtype_class(call->in[KERF_GSG_X].dtype);
    for (const kerf_row *const *row = kerf_rows_grid_sampler_grad; *row; ++row) {
        char memory[256];
        kerf_text why = kerf_text_over(memory, sizeof memory);
        if ((*row)->device != KERF_DEVICE_CPU || (*row)->missing || ((*row)->isa_mask & ~isa) != 0)
            continue;
        const kerf_variant *const variant = (*row)->variant[class];
        if (variant->refuses && variant->refuses(&call->problem, NULL, &why))
            continue;
        call->variant = variant;
        call->memory = variant->memory ? variant->memory(&call->problem, NULL) : (kerf_memory){0};
        return KERF_OK;
    }
    return kerf_fail(error, KERF_ERROR_USAGE, "no implementation of grid_sampler_grad was built for this processor");
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
    if (args->team && (args->team->n < 1 || !args->team->run))
        return kerf_fail(error, KERF_ERROR_USAGE, "a team of %d ranks%s: at least 1 rank and a function to run them",
                         args->team->n, args->team->run ? "" : " without run");
    return choose_variant(call, error);
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
