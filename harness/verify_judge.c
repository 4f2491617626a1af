/* The passes of one row on one case, and what they amount to. */
#include "harness/compare.h"
#include "harness/verify_bench.h"

#include "base/cpu.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PASSES = 32 };

static const char *place_name(kerf_place place) {
    static const char *const names[] = {"right", "left", "aligned"};
    return names[place];
}

/* Every place, one rank and many, a run repeated with the same ranks, and a serial team whose last rank runs first. */
static int list_passes(int threads, kerf_pass passes[MAX_PASSES]) {
    const kerf_team_kind many = threads > 1 ? KERF_THREADS : KERF_ALONE;
    int n = 0;
    passes[n++] = (kerf_pass){KERF_PLACE_RIGHT, 1, KERF_ALONE};
    passes[n++] = (kerf_pass){KERF_PLACE_LEFT, threads, many};
    passes[n++] = (kerf_pass){KERF_PLACE_ALIGNED, 7, KERF_SERIAL_BACKWARDS};
    if (threads > 1)
        passes[n++] = (kerf_pass){KERF_PLACE_RIGHT, threads, KERF_THREADS};
    for (int t = 2; t < threads && n < MAX_PASSES; t = t < 4 ? t + 1 : 2 * t)
        passes[n++] = (kerf_pass){KERF_PLACE_LEFT, t, KERF_THREADS};
    return n;
}

/* ---- one pass --------------------------------------------------------------------------------------------------- */

/* Runs once into `result`. False: the finding says why there is nothing to compare. */
static bool run_once(kerf_bench *bench, const kerf_pass *pass, int result) {
    kerf_finding *const finding = &bench->slot->finding;
    kerf_error error = {""};
    finding->place = place_name(pass->place);
    finding->threads = pass->threads;
    const kerf_status status = kerf_bench_run(bench, pass, &error);
    if (status == KERF_ERROR_MEMORY) {
        *finding = kerf_finding_skip(error.message);
        return false;
    }
    if (status != KERF_OK) {
        finding->verdict = KERF_FAIL;
        finding->check = "status";
        finding->ratio = INFINITY;
        finding->output = -1;
        snprintf(finding->reason, sizeof finding->reason, "%.190s", error.message);
        return false;
    }
    return kerf_bench_collect(bench, result);
}

/* Holds the result against the oracle. The finding keeps the worst element of all passes. */
static bool compare(kerf_bench *bench, int result) {
    const kerf_job *const job = bench->job;
    kerf_finding *const finding = &bench->slot->finding;
    for (int o = 0; o < job->problem.n_out; ++o) {
        if (!kerf_bench_wants(bench, o))
            continue;
        const kerf_operand *const operand = job->problem.out[o];
        const kerf_comparison comparison =
            kerf_compare_output(&job->expect[o], operand->dtype, bench->result[result][o].usable);
        const bool wrong = comparison.n_bad > 0;
        if (!wrong && finding->output >= 0 && !(comparison.ratio > finding->ratio))
            continue;
        finding->verdict = wrong ? KERF_FAIL : KERF_PASS;
        finding->check = comparison.check;
        finding->ratio = comparison.ratio;
        finding->output = o;
        finding->rank = operand->at.rank;
        finding->n_elements = job->out_extent[o].n_elements;
        finding->n_bad = comparison.n_bad;
        finding->got = comparison.got;
        finding->lo = comparison.lo;
        finding->hi = comparison.hi;
        finding->slack = comparison.slack;
        if (finding->n_elements > 0)
            kerf_strided_index(&operand->at, comparison.worst, finding->index);
        if (wrong)
            return false;
    }
    return true;
}

/* ---- the same bits again? --------------------------------------------------------------------------------------- */

typedef struct difference {
    int output; /* -1: the same bits in all outputs */
    int64_t first, n;
    double spread; /* largest difference / slack */
} difference;

static void add_difference(const kerf_bench *bench, int o, int a, int b, difference *sum) {
    const kerf_operand *const operand = bench->job->problem.out[o];
    const kerf_expect *const expect = &bench->job->expect[o];
    const unsigned char *x = bench->result[a][o].usable, *y = bench->result[b][o].usable;
    const size_t bytes = kerf_dtype_bytes(operand->dtype);
    for (int64_t i = 0; i < bench->job->out_extent[o].n_elements; ++i, x += bytes, y += bytes) {
        if (memcmp(x, y, bytes) == 0)
            continue;
        const double u = kerf_dtype_load(operand->dtype, x), v = kerf_dtype_load(operand->dtype, y);
        const bool moved_only = expect->kind != KERF_EXPECT_BOUND;
        if (!moved_only && isnan(u) && isnan(v))
            continue; /* no rule says which NaN comes of two */
        if (sum->output < 0) {
            sum->output = o;
            sum->first = i;
        }
        sum->n += sum->output == o;
        const double slack = moved_only ? 0 : expect->slack[i];
        if (slack > 0 && isfinite(slack) && fabs(u - v) / slack > sum->spread)
            sum->spread = fabs(u - v) / slack;
    }
}

static difference compare_bits(const kerf_bench *bench, int a, int b) {
    difference sum = {.output = -1};
    for (int o = 0; o < bench->job->problem.n_out; ++o) {
        const size_t bytes = (size_t)bench->job->out_extent[o].n_elements * bench->job->out_extent[o].element_bytes;
        if (kerf_bench_wants(bench, o) && memcmp(bench->result[a][o].usable, bench->result[b][o].usable, bytes) != 0)
            add_difference(bench, o, a, b, &sum);
    }
    return sum;
}

/* Says what the bits depend on: nothing that is known ("repeat"), where the buffers stand, or the ranks. */
static const char *cause_of(kerf_bench *bench, const kerf_pass *first, const kerf_pass *pass) {
    if (!run_once(bench, pass, KERF_RESULT_AGAIN))
        return NULL;
    if (compare_bits(bench, KERF_RESULT_PASS, KERF_RESULT_AGAIN).output >= 0)
        return "repeat";
    kerf_pass moved = *first;
    moved.place = pass->place;
    if (!run_once(bench, &moved, KERF_RESULT_AGAIN))
        return NULL;
    return compare_bits(bench, KERF_RESULT_FIRST, KERF_RESULT_AGAIN).output >= 0 ? "place" : "threads";
}

static void tell_nondeterminism(kerf_bench *bench, const kerf_pass *first, const kerf_pass *pass, difference found) {
    static const char *const words[][2] = {{"repeat", "a second run with the same ranks and places gives other bits"},
                                           {"place", "the bits depend on where the buffers stand"},
                                           {"threads", "the bits depend on the number or the order of the ranks"}};
    const char *const cause = cause_of(bench, first, pass);
    kerf_finding *const finding = &bench->slot->finding;
    if (!cause) {
        /* The run that was to find out failed by itself, and the finding says so; but for want of memory it is no SKIP.
         */
        if (finding->verdict == KERF_SKIP) {
            finding->verdict = KERF_NONDET;
            finding->check = "repeat";
        }
        return;
    }
    const kerf_operand *const operand = bench->job->problem.out[found.output];
    const kerf_expect *const expect = &bench->job->expect[found.output];
    const size_t at = (size_t)found.first * kerf_dtype_bytes(operand->dtype);
    const double before = kerf_dtype_load(operand->dtype, bench->result[KERF_RESULT_FIRST][found.output].usable + at);
    finding->verdict = KERF_NONDET;
    finding->check = cause;
    finding->output = found.output;
    finding->rank = operand->at.rank;
    finding->n_bad = found.n;
    finding->n_elements = bench->job->out_extent[found.output].n_elements;
    finding->got = kerf_dtype_load(operand->dtype, bench->result[KERF_RESULT_PASS][found.output].usable + at);
    finding->lo = finding->hi = finding->slack = NAN;
    if (expect->kind == KERF_EXPECT_BOUND) {
        finding->lo = expect->lo[found.first];
        finding->hi = expect->hi[found.first];
        finding->slack = expect->slack[found.first];
    }
    finding->place = place_name(pass->place);
    finding->threads = pass->threads;
    kerf_strided_index(&operand->at, found.first, finding->index);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i)
        if (strcmp(words[i][0], cause) == 0)
            snprintf(finding->reason, sizeof finding->reason, "%s; the first run gave %.17g", words[i][1], before);
}

static void run_passes(kerf_bench *bench) {
    kerf_finding *const finding = &bench->slot->finding;
    kerf_pass passes[MAX_PASSES];
    const int n_passes = list_passes(bench->job->threads, passes);
    if (!run_once(bench, &passes[0], KERF_RESULT_FIRST) || !compare(bench, KERF_RESULT_FIRST))
        return;
    for (int p = 1; p < n_passes; ++p) {
        if (!run_once(bench, &passes[p], KERF_RESULT_PASS))
            return;
        const difference found = compare_bits(bench, KERF_RESULT_FIRST, KERF_RESULT_PASS);
        if (found.output < 0)
            continue;
        if (!compare(bench, KERF_RESULT_PASS))
            return;
        if (!(bench->variant->traits & KERF_TRAIT_UNORDERED)) {
            tell_nondeterminism(bench, &passes[0], &passes[p], found);
            return;
        }
        finding->spread = found.spread > finding->spread ? found.spread : finding->spread;
    }
    finding->place = "";
    finding->threads = bench->job->threads;
}

/* ---- what cannot be run ----------------------------------------------------------------------------------------- */

static void tell_sparse(const kerf_bench *bench, kerf_text *why) {
    const kerf_job *const job = bench->job;
    const char *name = NULL;
    for (int i = 0; i < job->problem.n_in; ++i)
        if (job->in_extent[i].density == KERF_SPARSE)
            name = job->problem.in[i]->name;
    for (int o = 0; o < job->problem.n_out; ++o)
        if (kerf_bench_wants(bench, o) && job->out_extent[o].density == KERF_SPARSE)
            name = job->problem.out[o]->name;
    if (name)
        kerf_text_printf(why, "%s is too sparse to be copied to the device", name);
}

/* True: the finding is SKIP with the reason. */
static bool skips(kerf_bench *bench) {
    const kerf_problem *const problem = &bench->job->problem;
    kerf_finding *const finding = &bench->slot->finding;
    char memory[sizeof finding->reason];
    kerf_text why = kerf_text_over(memory, sizeof memory);
    const kerf_dtype dtype = problem->n_out > 0 ? problem->out[0]->dtype : problem->in[0]->dtype;
    bench->variant = bench->row->variant[kerf_dtype_class(dtype)];
    if (!bench->variant) {
        kerf_text_printf(&why, "has no object for %s", kerf_dtype_name(dtype));
    } else if (bench->variant->refuses && bench->variant->refuses(problem, bench->slot->config, &why)) {
        if (why.length == 0)
            kerf_text_printf(&why, "refused without a reason");
    } else {
        why = kerf_text_over(memory, sizeof memory);
        if (bench->device->copy_in)
            tell_sparse(bench, &why);
    }
    if (why.length > 0)
        *finding = kerf_finding_skip(memory);
    return why.length > 0;
}

/* True: the row is done for now, with SKIP or to be ordered again alone. */
static bool lacks_memory(kerf_bench *bench) {
    bench->memory = (kerf_memory){0};
    if (bench->variant->memory)
        bench->memory = bench->variant->memory(&bench->job->problem, bench->slot->config);
    const size_t scratch = bench->memory.scratch_bytes, packed = bench->memory.packed_bytes;
    const size_t need = scratch > SIZE_MAX - packed ? SIZE_MAX : scratch + packed;
    const size_t available = need <= KERF_SMALL_BYTES ? SIZE_MAX : kerf_memory_available();
    if (need <= available) {
        bench->slot->is_deferred = need > KERF_SMALL_BYTES && !bench->slot->is_alone;
        return bench->slot->is_deferred;
    }
    char memory[160];
    kerf_text why = kerf_text_over(memory, sizeof memory);
    kerf_text_printf(&why, "needs ");
    kerf_print_bytes(&why, (double)need);
    kerf_text_printf(&why, " scratch, ");
    kerf_print_bytes(&why, (double)available);
    kerf_text_printf(&why, " are free");
    bench->slot->finding = kerf_finding_skip(memory);
    return true;
}

/* Room for stacks, for the allocator of each thread, and for what a library keeps. */
static size_t allowance_bytes(int threads) {
    return ((size_t)256 << 20) + (size_t)threads * ((size_t)80 << 20);
}

void kerf_bench_judge(kerf_bench **made, const kerf_row *row, kerf_slot *slot) {
    if (!*made)
        *made = calloc(1, sizeof **made);
    kerf_bench *const bench = *made;
    kerf_finding *const finding = &slot->finding;
    *finding = (kerf_finding){.verdict = KERF_PASS, .check = "", .output = -1, .place = ""};
    if (!bench) {
        *finding = kerf_finding_skip("no memory to verify in");
        return;
    }
    bench->row = row;
    bench->slot = slot;
    bench->job = slot->job;
    bench->device = kerf_device_get(row->device);
    bench->rng = kerf_rng_seeded(bench->job->c.seed, kerf_hash_bytes(KERF_HASH_START, "poison", 6));
    kerf_child_limit_memory(SIZE_MAX);
    if (skips(bench) || lacks_memory(bench))
        return;
    kerf_error error = {""};
    if (kerf_bench_fit(bench, &error) != KERF_OK) {
        *finding = kerf_finding_skip(error.message);
        return;
    }
    if (!bench->device->allocate) /* a device's library reserves far more than it uses */
        kerf_child_limit_memory(allowance_bytes(bench->job->threads));
    run_passes(bench);
    kerf_bench_leave(bench);
}
