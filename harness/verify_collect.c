/* What a run must not leave behind: unwritten elements, changed gaps and margins, changed inputs. */
#include "harness/verify_bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool fail(kerf_bench *bench, const char *check, int output, int64_t n_bad) {
    kerf_finding *const finding = &bench->slot->finding;
    finding->verdict = KERF_FAIL;
    finding->check = check;
    finding->ratio = INFINITY;
    finding->got = finding->lo = finding->hi = finding->slack = NAN;
    finding->output = output;
    finding->n_bad = n_bad;
    if (output >= 0) {
        finding->rank = bench->job->problem.out[output]->at.rank;
        finding->n_elements = bench->job->out_extent[output].n_elements;
    }
    return false;
}

/* ---- elements --------------------------------------------------------------------------------------------------- */

/* The poison still stands there, and is not what has to stand there. */
static bool is_unwritten(const kerf_expect *expect, const kerf_poison *poison, const unsigned char *packed, int64_t i) {
    const size_t at = (size_t)i * poison->bytes;
    return memcmp(packed + at, poison->pattern, poison->bytes) == 0 &&
           (expect->kind != KERF_EXPECT_BITS ||
            memcmp((const char *)expect->bits + at, poison->pattern, poison->bytes) != 0);
}

static bool all_written(kerf_bench *bench, int o, const unsigned char *packed) {
    const kerf_operand *const operand = bench->job->problem.out[o];
    const kerf_poison *const poison = &bench->out_seat[o].poison;
    const kerf_expect *const expect = &bench->job->expect[o];
    if (expect->kind != KERF_EXPECT_BITS && bench->finite_poison)
        return true; /* such a number may be right; poison that is left is a wrong value in all passes but one */
    int64_t n_unwritten = 0, first = 0;
    const int64_t n = bench->job->out_extent[o].n_elements;
    for (int64_t i = 0; i < n; ++i)
        if (is_unwritten(expect, poison, packed, i) && n_unwritten++ == 0)
            first = i;
    if (n_unwritten == 0)
        return true;
    kerf_strided_index(&operand->at, first, bench->slot->finding.index);
    return fail(bench, "unwritten", o, n_unwritten);
}

/* ---- gaps and margins ------------------------------------------------------------------------------------------- */

static bool tell_gap(kerf_bench *bench, const char *check, int output, const char *name, const kerf_seat *seat,
                     const unsigned char *at) {
    kerf_finding *const finding = &bench->slot->finding;
    if (at < seat->begin)
        snprintf(finding->reason, sizeof finding->reason, "wrote %td bytes before %s", seat->begin - at, name);
    else if (at >= seat->end)
        snprintf(finding->reason, sizeof finding->reason, "wrote %td bytes behind %s", at - seat->end, name);
    else
        snprintf(finding->reason, sizeof finding->reason, "wrote between the elements of %s, %td bytes from the lowest",
                 name, at - seat->begin);
    return fail(bench, check, output, 1);
}

/* The elements have been gathered: poisoned again, they and the gaps must look as before the run. */
static bool dense_gaps_kept(kerf_bench *bench, int o) {
    const kerf_operand *const operand = bench->job->problem.out[o];
    const kerf_seat *const seat = &bench->out_seat[o];
    kerf_poison_elements(&seat->poison, operand, &bench->job->out_extent[o], seat->zero);
    const size_t bytes = (size_t)(seat->last - seat->first);
    const size_t changed = kerf_poison_first_change(&seat->poison, seat->first, bytes);
    return changed == bytes || tell_gap(bench, "gap", o, operand->name, seat, seat->first + changed);
}

/* First byte that is not zero in the page of `element`, NULL if there is none. */
static const unsigned char *first_set_byte(const unsigned char *element, const kerf_seat *seat) {
    const uintptr_t page = (uintptr_t)element / 4096 * 4096;
    const unsigned char *at = (const unsigned char *)page, *end = at + 4096;
    at = at < seat->begin ? seat->begin : at;
    end = end > seat->end ? seat->end : end;
    while (at < end && *at == 0)
        ++at;
    return at < end ? at : NULL;
}

/* Gaps of a sparse operand were holes: no page came up, and the pages of elements are zero around them. */
static bool sparse_gaps_kept(kerf_bench *bench, int o) {
    const kerf_operand *const operand = bench->job->problem.out[o];
    const kerf_extent *const extent = &bench->job->out_extent[o];
    const kerf_seat *const seat = &bench->out_seat[o];
    const size_t resident = kerf_guarded_resident_pages(seat->begin, extent->span_bytes);
    if (resident > seat->resident_pages) {
        kerf_finding *const finding = &bench->slot->finding;
        snprintf(finding->reason, sizeof finding->reason, "touched %zu pages between the elements of %s",
                 resident - seat->resident_pages, operand->name);
        return fail(bench, "gap", o, (int64_t)(resident - seat->resident_pages));
    }
    const kerf_poison zeros = {.bytes = extent->element_bytes};
    kerf_poison_elements(&zeros, operand, extent, seat->zero);
    const kerf_strided stored = kerf_strided_unique(&operand->at);
    for (kerf_walk walk = kerf_walk_begin(&stored); !walk.done; kerf_walk_next(&walk)) {
        const unsigned char *const element = seat->zero + walk.offset * (int64_t)extent->element_bytes;
        const unsigned char *const changed = first_set_byte(element, seat);
        if (changed)
            return tell_gap(bench, "gap", o, operand->name, seat, changed);
    }
    return true;
}

static bool margins_kept(kerf_bench *bench, const kerf_seat *seat, const char *name) {
    const size_t before = (size_t)(seat->begin - seat->first), behind = (size_t)(seat->last - seat->end);
    const size_t low = kerf_poison_first_change(&seat->poison, seat->first, before);
    if (low < before)
        return tell_gap(bench, "scratch", -1, name, seat, seat->first + low);
    const size_t high = kerf_poison_first_change(&seat->poison, seat->end, behind);
    return high == behind || tell_gap(bench, "scratch", -1, name, seat, seat->end + high);
}

/* ---- devices with memory of their own --------------------------------------------------------------------------- */

/* Reads a mirror back into `to`, or says why not. */
static bool download(kerf_bench *bench, const kerf_mirror *mirror, const kerf_seat *seat, void *to) {
    kerf_error error = {""};
    if (kerf_mirror_download(bench->device, mirror, seat, to, &error) == KERF_OK)
        return true;
    snprintf(bench->slot->finding.reason, sizeof bench->slot->finding.reason, "%.180s", error.message);
    return fail(bench, "status", -1, 0);
}

/* Device memory has no write protection: the inputs are compared with what was uploaded. */
static bool inputs_kept(kerf_bench *bench) {
    const kerf_problem *const problem = &bench->job->problem;
    for (int i = 0; i < problem->n_in; ++i) {
        const kerf_seat *const seat = &bench->in_seat[i];
        const size_t bytes = (size_t)(seat->last - seat->first);
        unsigned char *const now = malloc(bytes + 1);
        if (!now)
            return true;
        const bool fetched = download(bench, &bench->in_mirror[i], seat, now);
        const bool kept = fetched && memcmp(now, seat->first, bytes) == 0;
        free(now);
        if (!fetched)
            return false;
        if (!kept) {
            snprintf(bench->slot->finding.reason, sizeof bench->slot->finding.reason, "the input %s was changed",
                     problem->in[i]->name);
            return fail(bench, "input", -1, 1);
        }
    }
    return true;
}

static bool fetch(kerf_bench *bench) {
    for (int o = 0; o < bench->job->problem.n_out; ++o) {
        const kerf_seat *const seat = &bench->out_seat[o];
        if (kerf_bench_wants(bench, o) && !download(bench, &bench->out_mirror[o], seat, seat->first))
            return false;
    }
    for (int e = 0; e < KERF_N_EXTRAS; ++e) {
        kerf_guarded_writable(&bench->extra[e]);
        if (!download(bench, &bench->extra_mirror[e], &bench->extra_seat[e], bench->extra_seat[e].first))
            return false;
    }
    return inputs_kept(bench);
}

bool kerf_bench_collect(kerf_bench *bench, int result) {
    const kerf_problem *const problem = &bench->job->problem;
    if (bench->device->copy_out && !fetch(bench))
        return false;
    for (int o = 0; o < problem->n_out; ++o) {
        if (!kerf_bench_wants(bench, o))
            continue;
        const kerf_extent *const extent = &bench->job->out_extent[o];
        unsigned char *const packed = bench->result[result][o].usable;
        kerf_place_gather(problem->out[o], extent, packed, bench->out_seat[o].zero);
        if (!all_written(bench, o, packed))
            return false;
        if (!(extent->density == KERF_SPARSE ? sparse_gaps_kept(bench, o) : dense_gaps_kept(bench, o)))
            return false;
    }
    return margins_kept(bench, &bench->extra_seat[KERF_EXTRA_SCRATCH], "the scratch memory") &&
           margins_kept(bench, &bench->extra_seat[KERF_EXTRA_PACKED], "the packed memory");
}
