#include "harness/timing_check.h"

#include "harness/compare.h"

#include <stdio.h>
#include <stdlib.h>

static const unsigned drawn_kinds = KERF_TIMING_CHECK_NAN | KERF_TIMING_CHECK_NUMBERS;

kerf_status kerf_timing_check_open(kerf_timing_row *row, unsigned checks, kerf_rng *offsets, kerf_timing_check *check,
                                   kerf_error *error) {
    const kerf_problem *const problem = &row->inputs->problem;
    *check = (kerf_timing_check){.row = row, .checks = checks};
    kerf_status status = KERF_OK;
    for (int o = 0; status == KERF_OK && o < problem->n_out; ++o) {
        if (!row->launch.out[o])
            continue;
        status = kerf_extent_of(problem->out[o], &check->extent[o], error);
        if (status == KERF_OK && checks & drawn_kinds)
            status = kerf_timing_operand_map(problem->out[o], offsets, &check->kept[o], error);
    }
    if (status != KERF_OK)
        kerf_timing_check_close(check);
    return status;
}

void kerf_timing_check_close(kerf_timing_check *check) {
    for (int o = 0; o < KERF_MAX_OPERANDS; ++o)
        kerf_timing_block_unmap(&check->kept[o]);
    check->row = NULL;
}

void kerf_timing_check_offer(kerf_timing_check *check, uint64_t step, uint64_t seed) {
    const kerf_timing_row *const row = check->row;
    kerf_rng rng = kerf_rng_seeded(seed, step);
    const uint64_t key = kerf_rng_next(&rng);
    if (!(check->checks & drawn_kinds) || (check->has_kept && key >= check->key))
        return;
    for (int o = 0; o < row->inputs->problem.n_out; ++o)
        if (row->launch.out[o])
            kerf_place_copy(row->inputs->problem.out[o], &check->extent[o], check->kept[o].data, row->launch.out[o]);
    check->has_kept = true;
    check->step = step;
    check->set = row->at;
    check->key = key;
}

/* Leaves the first output that is wrong in the finding. */
static kerf_status compare(const kerf_timing_check *check, const kerf_expect expect[], const char *call, bool is_kept,
                           kerf_finding *finding, kerf_error *error) {
    const kerf_timing_row *const row = check->row;
    for (int o = 0; o < row->inputs->problem.n_out && finding->verdict == KERF_PASS; ++o) {
        const kerf_operand *const operand = row->inputs->problem.out[o];
        const kerf_extent *const extent = &check->extent[o];
        if (!row->launch.out[o] || extent->n_elements == 0)
            continue;
        void *const packed = malloc((size_t)extent->n_elements * extent->element_bytes);
        if (!packed)
            return kerf_fail(error, KERF_ERROR_MEMORY, "no memory to check %s of a timed call", operand->name);
        kerf_place_gather(operand, extent, packed, is_kept ? check->kept[o].data : row->launch.out[o]);
        const kerf_comparison found = kerf_compare_output(&expect[o], operand->dtype, packed);
        free(packed);
        if (found.n_bad == 0)
            continue;
        *finding = (kerf_finding){.verdict = KERF_FAIL,
                                  .check = "timed",
                                  .ratio = found.ratio,
                                  .output = o,
                                  .rank = operand->at.rank,
                                  .got = found.got,
                                  .lo = found.lo,
                                  .hi = found.hi,
                                  .slack = found.slack,
                                  .n_bad = found.n_bad,
                                  .n_elements = extent->n_elements,
                                  .place = ""};
        kerf_strided_index(&operand->at, found.worst, finding->index);
        snprintf(finding->reason, sizeof finding->reason, "%s", call);
    }
    return KERF_OK;
}

static void poison_outputs(const kerf_timing_check *check, kerf_timing_check_kind kind, kerf_rng *rng) {
    const kerf_timing_row *const row = check->row;
    for (int o = 0; o < row->inputs->problem.n_out; ++o) {
        const kerf_operand *const operand = row->inputs->problem.out[o];
        if (!row->launch.out[o])
            continue;
        const kerf_poison poison = kind == KERF_TIMING_CHECK_NAN ? kerf_poison_of(operand->dtype, rng)
                                                                 : kerf_poison_finite(operand->dtype, rng);
        kerf_poison_elements(&poison, operand, &check->extent[o], row->launch.out[o]);
    }
}

static const kerf_finding passed = {.verdict = KERF_PASS, .check = "", .output = -1, .place = ""};

kerf_status kerf_timing_check_drawn(kerf_timing_check *check, const kerf_expect expect[],
                                    void (*before)(const kerf_timing_row *), kerf_rng *rng, kerf_finding *finding,
                                    kerf_error *error) {
    static const kerf_timing_check_kind kinds[] = {KERF_TIMING_CHECK_NAN, KERF_TIMING_CHECK_NUMBERS};
    *finding = passed;
    kerf_timing_row_use(check->row, check->set);
    KERF_TRY(compare(check, expect, "timed", true, finding, error));
    for (int i = 0; i < 2 && finding->verdict == KERF_PASS; ++i) {
        if (!(check->checks & kinds[i]))
            continue;
        poison_outputs(check, kinds[i], rng);
        if (before)
            before(check->row);
        if (check->row->variant->run(&check->row->launch) != KERF_OK)
            return kerf_fail(error, KERF_ERROR_DEVICE, "the call returned an error");
        KERF_TRY(compare(check, expect, "poisoned", false, finding, error));
    }
    return KERF_OK;
}

kerf_status kerf_timing_check_last(const kerf_timing_check *check, const kerf_expect expect[], kerf_finding *finding,
                                   kerf_error *error) {
    *finding = passed;
    return compare(check, expect, "last", false, finding, error);
}
