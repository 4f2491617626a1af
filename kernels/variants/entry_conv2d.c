/* The plain C entry of conv2d: the arguments are copied into a problem on the stack, checked, and run by the first row
 * that this machine supports; weights that were packed ahead by the first that packs. */
#include "kernels/conv2d/conv2d.h"
#include "kernels/entry.h"
#include "kernels/operand.h"

extern const kerf_row *const kerf_rows_conv2d[];

typedef struct conv_call {
    kerf_conv2d_args args; /* what is checked is what is used, whoever writes there meanwhile */
    kerf_operand operand[KERF_CONV2D_N_IN + 1];
    const kerf_operand *pointer[KERF_CONV2D_N_IN + 1];
    const void *in[KERF_CONV2D_N_IN];
    kerf_problem problem;
    const kerf_variant *variant;
    kerf_memory memory;
} conv_call;

static kerf_status check_type(kerf_dtype dtype, kerf_error *error) {
    for (int i = 0; i < kerf_op_conv2d.n_dtypes; ++i)
        if (kerf_op_conv2d.dtypes[i] == dtype)
            return KERF_OK;
    return kerf_fail(error, KERF_ERROR_USAGE, "conv2d: dtype %d is not known here: f32, f16, bf16, f64 and i8 are",
                     (int)dtype);
}

static kerf_status check_shape_of_y(const kerf_strided *given, const kerf_strided *right, kerf_error *error) {
    if (given->rank != right->rank)
        return kerf_fail(error, KERF_ERROR_USAGE, "conv2d: y has rank %d: it must have rank 4", given->rank);
    for (int axis = 0; axis < right->rank; ++axis)
        if (given->dims[axis] != right->dims[axis])
            return kerf_fail(error, KERF_ERROR_USAGE, "conv2d: axis %d of y has size %lld: it must have %lld", axis,
                             (long long)given->dims[axis], (long long)right->dims[axis]);
    return KERF_OK;
}

static kerf_status open_call(const kerf_conv2d_args *given, conv_call *call, kerf_error *error) {
    if (given->bytes != sizeof *given)
        return kerf_fail(error, KERF_ERROR_USAGE, "args->bytes is %u: it must be sizeof(kerf_conv2d_args), %zu",
                         given->bytes, sizeof *given);
    *call = (conv_call){.args = *given};
    const kerf_conv2d_args *const args = &call->args;
    kerf_strided right;
    KERF_TRY(check_type(args->dtype, error));
    KERF_TRY(kerf_conv2d_resolve(&args->given, &args->x_at, &args->w_at, &args->bias_at, &right, error));
    KERF_TRY(check_shape_of_y(&args->y_at, &right, error));
    const kerf_dtype sum = kerf_conv2d_sum_dtype(args->dtype);
    call->operand[KERF_CONV2D_X] = kerf_entry_operand("x", KERF_IN, &args->x_at, args->dtype);
    call->operand[KERF_CONV2D_W] = kerf_entry_operand("w", KERF_IN_CONSTANT, &args->w_at, args->dtype);
    call->operand[KERF_CONV2D_BIAS] = kerf_entry_operand("bias", KERF_IN_CONSTANT, &args->bias_at, sum);
    call->operand[KERF_CONV2D_N_IN] = kerf_entry_operand("y", KERF_OUT, &args->y_at, sum);
    for (int i = 0; i <= KERF_CONV2D_N_IN; ++i)
        call->pointer[i] = &call->operand[i];
    call->problem = (kerf_problem){.bytes = sizeof call->problem,
                                   .op = &kerf_op_conv2d,
                                   .self = &args->given,
                                   .n_in = args->given.has_bias ? KERF_CONV2D_N_IN : KERF_CONV2D_BIAS,
                                   .n_out = 1,
                                   .in = call->pointer,
                                   .out = &call->pointer[KERF_CONV2D_N_IN],
                                   .want = 1};
    for (int i = 0; i < call->problem.n_in; ++i)
        KERF_TRY(kerf_operand_check_reach(call->pointer[i], error));
    KERF_TRY(kerf_operand_check_reach(&call->operand[KERF_CONV2D_N_IN], error));
    KERF_TRY(kerf_operand_check_disjoint(&call->operand[KERF_CONV2D_N_IN], error));
    return kerf_entry_check_team(args->team, error);
}

static kerf_status choose(conv_call *call, bool packs, kerf_error *error) {
    KERF_TRY(packs ? kerf_entry_choose_packing(kerf_rows_conv2d, &call->problem, &call->variant, error)
                   : kerf_entry_choose(kerf_rows_conv2d, &call->problem, &call->variant, error));
    if (call->variant->memory)
        call->memory = call->variant->memory(&call->problem, NULL);
    return KERF_OK;
}

static kerf_status check_inputs(conv_call *call, int first, kerf_error *error) {
    call->in[KERF_CONV2D_X] = call->args.x;
    call->in[KERF_CONV2D_W] = call->args.w;
    call->in[KERF_CONV2D_BIAS] = call->args.bias;
    for (int i = first; i < call->problem.n_in; ++i)
        KERF_TRY(kerf_entry_check_data(call->pointer[i], call->in[i], error));
    return KERF_OK;
}

static kerf_status check_room(const char *name, const void *room, size_t bytes, size_t needed, size_t alignment,
                              kerf_error *error) {
    if (needed > 0 && (!room || bytes < needed))
        return kerf_fail(error, KERF_ERROR_USAGE, "%s memory of %zu bytes, but %zu are needed (kerf_conv2d_memory)",
                         name, room ? bytes : 0, needed);
    if (needed > 0 && alignment > 1 && (uintptr_t)room % alignment != 0)
        return kerf_fail(error, KERF_ERROR_USAGE, "%s memory at %p must be aligned to %zu bytes", name, room,
                         alignment);
    return KERF_OK;
}

kerf_status kerf_conv2d_memory(const kerf_conv2d_args *args, kerf_memory *memory, kerf_error *error) {
    conv_call call;
    KERF_TRY(open_call(args, &call, error));
    KERF_TRY(choose(&call, false, error));
    *memory = call.memory;
    call.memory = (kerf_memory){0};
    KERF_TRY(choose(&call, true, error));
    memory->packed_bytes = call.memory.packed_bytes;
    if (call.memory.scratch_bytes > memory->scratch_bytes)
        memory->scratch_bytes = call.memory.scratch_bytes;
    if (call.memory.alignment > memory->alignment)
        memory->alignment = call.memory.alignment;
    return KERF_OK;
}

kerf_status kerf_conv2d_prepare(const kerf_conv2d_args *args, void *packed, size_t packed_bytes, kerf_error *error) {
    conv_call call;
    KERF_TRY(open_call(args, &call, error));
    KERF_TRY(check_inputs(&call, KERF_CONV2D_W, error));
    KERF_TRY(choose(&call, true, error));
    KERF_TRY(check_room("packed", packed, packed_bytes, call.memory.packed_bytes, call.memory.alignment, error));
    const kerf_launch launch = {
        .bytes = sizeof launch, .problem = &call.problem, .in = call.in, .team = call.args.team};
    return call.variant->prepare ? call.variant->prepare(&launch, packed) : KERF_OK;
}

kerf_status kerf_conv2d_run(const kerf_conv2d_args *args, kerf_error *error) {
    conv_call call;
    KERF_TRY(open_call(args, &call, error));
    KERF_TRY(check_inputs(&call, KERF_CONV2D_X, error));
    const kerf_operand *const y = &call.operand[KERF_CONV2D_N_IN];
    KERF_TRY(kerf_entry_check_data(y, call.args.y, error));
    for (int i = 0; i < call.problem.n_in; ++i)
        KERF_TRY(kerf_entry_check_share(y, call.args.y, call.pointer[i], call.in[i], error));
    KERF_TRY(choose(&call, call.args.packed != NULL, error));
    KERF_TRY(check_room("scratch", call.args.scratch, call.args.scratch_bytes, call.memory.scratch_bytes,
                        call.memory.alignment, error));
    KERF_TRY(check_room("packed", call.args.packed, call.args.packed_bytes, call.memory.packed_bytes,
                        call.memory.alignment, error));
    const kerf_launch launch = {.bytes = sizeof launch,
                                .problem = &call.problem,
                                .in = call.in,
                                .out = (void *const[]){call.args.y},
                                .scratch = call.args.scratch,
                                .packed = call.args.packed,
                                .team = call.args.team};
    return call.variant->run(&launch);
}
