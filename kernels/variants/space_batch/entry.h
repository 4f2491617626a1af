/* The plain C entries of both ops: the arguments are copied into a problem on the stack, checked, and run by the first
 * row that this machine supports. KERF_OP and KERF_WAY are set by the file that includes this. */
#include "kernels/entry.h"
#include "kernels/operand.h"
#include "kernels/space_batch.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define ROWS        JOIN(kerf_rows_, KERF_OP)

extern const kerf_row *const ROWS[];

static kerf_status check_shape(const kerf_strided *given, const kerf_strided *right, kerf_error *error) {
    if (given->rank != right->rank)
        return kerf_fail(error, KERF_ERROR_USAGE, "y has rank %d: it must have rank %d, as x", given->rank,
                         right->rank);
    for (int axis = 0; axis < right->rank; ++axis)
        if (given->dims[axis] != right->dims[axis])
            return kerf_fail(error, KERF_ERROR_USAGE, "axis %d of y has size %lld: it must have %lld", axis,
                             (long long)given->dims[axis], (long long)right->dims[axis]);
    return KERF_OK;
}

kerf_status JOIN(kerf_, KERF_OP)(const kerf_space_batch_args *given, kerf_error *error) {
    if (given->bytes != sizeof *given)
        return kerf_fail(error, KERF_ERROR_USAGE, "args->bytes is %u: it must be sizeof(kerf_space_batch_args), %zu",
                         given->bytes, sizeof *given);
    kerf_space_batch_args args = *given; /* what is checked is what is used, whoever writes there meanwhile */
    args.request.way = KERF_WAY;
    if ((unsigned)args.dtype >= KERF_N_DTYPES)
        return kerf_fail(error, KERF_ERROR_USAGE, "dtype %d is not known: 0 to %d are", (int)args.dtype,
                         KERF_N_DTYPES - 1);
    kerf_space_batch self;
    kerf_strided right;
    KERF_TRY(kerf_space_batch_resolve(&args.request, args.dtype, &args.x_at, &self, &right, error));
    KERF_TRY(check_shape(&args.y_at, &right, error));
    const kerf_operand x = kerf_entry_operand("x", KERF_IN, &args.x_at, args.dtype);
    const kerf_operand y = kerf_entry_operand("y", KERF_OUT, &args.y_at, args.dtype);
    KERF_TRY(kerf_operand_check_reach(&x, error));
    KERF_TRY(kerf_operand_check_reach(&y, error));
    KERF_TRY(kerf_operand_check_disjoint(&y, error));
    KERF_TRY(kerf_entry_check_data(&x, args.x, error));
    KERF_TRY(kerf_entry_check_data(&y, args.y, error));
    KERF_TRY(kerf_entry_check_share(&x, args.x, &y, args.y, error));
    KERF_TRY(kerf_entry_check_team(args.team, error));
    const kerf_operand *const in[] = {&x}, *const out[] = {&y};
    const kerf_problem problem = {.bytes = sizeof problem,
                                  .op = &JOIN(kerf_op_, KERF_OP),
                                  .self = &self,
                                  .n_in = 1,
                                  .n_out = 1,
                                  .in = in,
                                  .out = out,
                                  .want = 1};
    const kerf_variant *variant;
    KERF_TRY(kerf_entry_choose(ROWS, &problem, &variant, error));
    const kerf_launch launch = {.bytes = sizeof launch,
                                .problem = &problem,
                                .in = (const void *const[]){args.x},
                                .out = (void *const[]){args.y},
                                .team = args.team};
    return variant->run(&launch);
}
