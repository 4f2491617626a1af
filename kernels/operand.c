#include "kernels/operand.h"

#include "base/checked.h"

/* "4:2:1" */
static void print_strides(const kerf_strided *at, kerf_text *text) {
    for (int axis = 0; axis < at->rank; ++axis)
        kerf_text_printf(text, "%s%lld", axis ? ":" : "", (long long)at->strides[axis]);
}

kerf_status kerf_operand_check_reach(const kerf_operand *operand, kerf_error *error) {
    int64_t lowest, highest, bytes;
    if (kerf_strided_span(&operand->at, &lowest, &highest) &&
        kerf_mul_i64(highest - lowest + 1, (int64_t)kerf_dtype_bytes(operand->dtype), &bytes) &&
        bytes <= KERF_MAX_REACH)
        return KERF_OK;
    char memory[KERF_MAX_RANK * 21];
    kerf_text strides = kerf_text_over(memory, sizeof memory);
    print_strides(&operand->at, &strides);
    return kerf_fail(error, KERF_ERROR_USAGE, "%s with strides %s reaches over more than 2^60 bytes", operand->name,
                     memory);
}

kerf_status kerf_operand_check_disjoint(const kerf_operand *operand, kerf_error *error) {
    if (kerf_strided_disjoint(&operand->at))
        return KERF_OK;
    char memory[KERF_MAX_RANK * 21];
    kerf_text strides = kerf_text_over(memory, sizeof memory);
    print_strides(&operand->at, &strides);
    return kerf_fail(
        error, KERF_ERROR_USAGE,
        "%s with strides %s has elements that share memory: each element of an output needs a place of its "
        "own, and each stride must step over all that smaller strides reach",
        operand->name, memory);
}
