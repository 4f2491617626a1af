#include "harness/doctor_cross.h"

#if KERF_HAVE_BENCHMARK

#include "base/cpu.h"
#include "harness/google_benchmark_shim.h"
#include "harness/limit_loops.h"
#include "harness/sampler.h"
#include "harness/stats.h"

#define BYTES    ((size_t)1 << 20)
#define ROUND_NS UINT64_C(30000000)
enum { ROUNDS = 7 }; /* their extremes hold the true median with 98 % */

typedef struct cross {
    kerf_limit_device device;
    int threads;
    kerf_sampler sampler;
} cross;

static kerf_status call(void *arg) {
    const cross *const c = arg;
    c->device.run(c->device.state, KERF_LIMIT_COPY, BYTES, c->threads, 1);
    return KERF_OK;
}

static void call_by_library(void *arg) {
    call(arg);
}

static const char *nothing_to_open(void *arg) {
    (void)arg;
    return NULL;
}

/* The mean, as the library's: what disturbs both in the same way must not look like a difference between them. */
static kerf_status ours(cross *c, const kerf_clock *clock, kerf_rng *rng, double *call_ns, kerf_error *error) {
    double total_ns = 0, n_calls = 0;
    kerf_sampler *one = &c->sampler;
    c->sampler = (kerf_sampler){.timed = {.arg = c, .call = call},
                                .rule = kerf_stop_rule_standard(clock, ROUND_NS, UINT32_C(1) << 16)};
    c->sampler.rule.min_samples = KERF_SAMPLER_MAX + 1; /* no stop before the time is over */
    kerf_sample_rounds(&one, 1, ROUND_NS, clock, rng, NULL);
    if (c->sampler.n_samples == 0)
        return kerf_fail(error, KERF_ERROR_DEVICE, "the clock does not advance; nothing can be timed");
    for (int i = 0; i < c->sampler.n_samples; ++i) {
        total_ns += (double)c->sampler.sample[i].total_ns;
        n_calls += c->sampler.sample[i].batch;
    }
    *call_ns = total_ns / n_calls;
    return KERF_OK;
}

static kerf_status theirs(cross *c, double *call_ns, kerf_error *error) {
    const kerf_loop_benchmark benchmark = {.name = "copy", .arg = c, .open = nothing_to_open, .call = call_by_library};
    return kerf_google_benchmark_time(&benchmark, (double)ROUND_NS * 1e-9, call_ns, error);
}

/* The two in turns, each first in some rounds. */
static kerf_status compare(cross *c, const volatile sig_atomic_t *interrupted, kerf_interval *ratio,
                           kerf_error *error) {
    const kerf_clock clock = kerf_clock_monotonic();
    kerf_rng rng = kerf_rng_seeded(1, 2);
    double value[ROUNDS], covered;
    for (int round = 0; round < ROUNDS; ++round) {
        double our_ns = 0, their_ns = 0;
        if (round % 2)
            KERF_TRY(theirs(c, &their_ns, error));
        KERF_TRY(ours(c, &clock, &rng, &our_ns, error));
        if (round % 2 == 0)
            KERF_TRY(theirs(c, &their_ns, error));
        if (interrupted && *interrupted)
            return kerf_fail(error, KERF_ERROR_INTERRUPTED, "interrupted while timing was cross-checked");
        value[round] = their_ns / our_ns;
    }
    *ratio = kerf_median_interval(value, ROUNDS, 0.95, &covered);
    return KERF_OK;
}

static void tell(kerf_interval ratio, int threads, double reach, FILE *file) {
    fprintf(file,
            "  the same kernel by Google Benchmark's own loop against our sampler (threads=%d, %d rounds): ratio %.4f "
            "[%.4f, %.4f]\n",
            threads, ROUNDS, ratio.middle, ratio.low, ratio.high);
    if (ratio.low > 1 + reach || ratio.high < 1 - reach)
        fprintf(
            file,
            "  WARNING: they differ by more than one kernel from itself (%.1f %%); unless the machine was disturbed, "
            "one of the two measures something else\n",
            100 * reach);
}

kerf_status kerf_doctor_cross(int threads, double reach, const volatile sig_atomic_t *interrupted, FILE *file,
                              kerf_error *error) {
    static cross c; /* too large for a stack */
    kerf_limit_loops *loops;
    KERF_TRY(kerf_limit_loops_open(kerf_cpu_isa(), &threads, 1, BYTES, &loops, error));
    c = (cross){.device = kerf_limit_loops_device(loops), .threads = threads};
    kerf_interval ratio;
    const kerf_status status = compare(&c, interrupted, &ratio, error);
    kerf_limit_loops_close(loops);
    if (status == KERF_OK)
        tell(ratio, threads, reach, file);
    return status;
}

#else

kerf_status kerf_doctor_cross(int threads, double reach, const volatile sig_atomic_t *interrupted, FILE *file,
                              kerf_error *error) {
    (void)threads, (void)reach, (void)interrupted, (void)error;
    fputs("  not cross-checked: built without Google Benchmark\n", file);
    return KERF_OK;
}

#endif
