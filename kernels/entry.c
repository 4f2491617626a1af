#include "kernels/entry.h"

#include "base/cpu.h"

kerf_operand kerf_entry_operand(const char *name, kerf_role role, const kerf_strided *at, kerf_dtype dtype) {
    kerf_operand operand = {.bytes = sizeof operand, .name = name, .role = role, .dtype = dtype, .at = *at};
    operand.alignment = (unsigned)dtype < KERF_N_DTYPES ? (uint32_t)kerf_dtype_bytes(dtype) : 1;
    return operand;
}

kerf_status kerf_entry_check_data(const kerf_operand *operand, const void *data, kerf_error *error) {
    int64_t count;
    if (!data && kerf_strided_count(&operand->at, &count) && count > 0)
        return kerf_fail(error, KERF_ERROR_USAGE, "%s has %lld elements but its data is NULL", operand->name,
                         (long long)count);
    if ((uintptr_t)data % operand->alignment != 0)
        return kerf_fail(error, KERF_ERROR_USAGE, "the data of %s at %p is not aligned to its elements of %u bytes",
                         operand->name, data, operand->alignment);
    return KERF_OK;
}

kerf_status kerf_entry_check_share(const kerf_operand *a, const void *a_data, const kerf_operand *b, const void *b_data,
                                   kerf_error *error) {
    if (kerf_strided_share(&a->at, a_data, (int64_t)kerf_dtype_bytes(a->dtype), &b->at, b_data,
                           (int64_t)kerf_dtype_bytes(b->dtype)))
        return kerf_fail(error, KERF_ERROR_USAGE, "%s and %s share memory: an output needs memory of its own", a->name,
                         b->name);
    return KERF_OK;
}

kerf_status kerf_entry_check_team(const kerf_team *team, kerf_error *error) {
    if (team && (team->n < 1 || !team->run))
        return kerf_fail(error, KERF_ERROR_USAGE, "a team of %d ranks%s: at least 1 rank and a function to run them",
                         team->n, team->run ? "" : " without run");
    return KERF_OK;
}

static kerf_status choose(const kerf_row *const rows[], const kerf_problem *problem, bool may_pack,
                          const kerf_variant **variant, kerf_error *error) {
    const uint64_t isa = kerf_cpu_isa();
    const kerf_class class = kerf_dtype_class(problem->in[0]->dtype);
    for (const kerf_row *const *row = rows; *row; ++row) {
        char memory[256];
        kerf_text why = kerf_text_over(memory, sizeof memory);
        if ((*row)->device != KERF_DEVICE_CPU || (*row)->missing || ((*row)->isa_mask & ~isa) != 0)
            continue;
        *variant = (*row)->variant[class];
        if (!may_pack && (*variant)->prepare)
            continue;
        if (!(*variant)->refuses || !(*variant)->refuses(problem, NULL, &why))
            return KERF_OK;
    }
    return kerf_fail(error, KERF_ERROR_USAGE, "no implementation of %s was built for this processor",
                     problem->op->name);
}

kerf_status kerf_entry_choose(const kerf_row *const rows[], const kerf_problem *problem, const kerf_variant **variant,
                              kerf_error *error) {
    return choose(rows, problem, false, variant, error);
}

kerf_status kerf_entry_choose_packing(const kerf_row *const rows[], const kerf_problem *problem,
                                      const kerf_variant **variant, kerf_error *error) {
    return choose(rows, problem, true, variant, error);
}
