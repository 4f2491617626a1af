#include "harness/timing_limits.h"

#include "base/cpu.h"
#include "harness/stats.h"

kerf_status kerf_timing_loops_open(const kerf_timing_request *request, const kerf_team *team, kerf_limit_loops **loops,
                                   kerf_error *error) {
    const size_t least_bytes = 1 << 16; /* where only operations are counted */
    size_t most_bytes = 0;
    *loops = NULL;
    for (const kerf_requested_case *c = request->first; c; c = c->next)
        for (const kerf_requested_limit *limit = c->first_limit; limit; limit = limit->next) {
            const size_t bytes = limit->bytes > least_bytes ? limit->bytes : least_bytes;
            most_bytes = bytes > most_bytes ? bytes : most_bytes;
        }
    if (most_bytes == 0)
        return KERF_OK;
    if (most_bytes > kerf_memory_available() / 2)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for a working set of %zu MiB", most_bytes >> 20);
    return kerf_limit_loops_open_on(kerf_cpu_isa(), team, most_bytes, loops, error);
}

int kerf_timing_loops_count(const kerf_requested_case *of, kerf_cache_mode mode) {
    int n = 0;
    for (const kerf_requested_limit *limit = of->first_limit; limit; limit = limit->next)
        n += limit->mode == mode;
    return n;
}

static kerf_status call_loop(void *arg) {
    kerf_timing_loop *const loop = arg;
    const kerf_limit_device device = kerf_limit_loops_device(loop->loops);
    loop->amount = device.run(device.state, loop->wanted->kind, loop->wanted->bytes, loop->threads, loop->passes);
    return KERF_OK;
}

/* As for rows: hot begins with a pass that leaves in the caches what a pass leaves there. */
static void prepare_loop(void *arg, uint32_t calls) {
    (void)calls;
    kerf_timing_loop *const loop = arg;
    const kerf_limit_device device = kerf_limit_loops_device(loop->loops);
    loop->turn(loop->turn_arg);
    if (loop->wanted->mode == KERF_COLD)
        kerf_limit_loops_evict(loop->loops, loop->wanted->bytes);
    else
        device.run(device.state, loop->wanted->kind, loop->wanted->bytes, loop->threads, (loop->passes + 9) / 10);
}

void kerf_timing_loops_prepare(const kerf_requested_case *of, kerf_cache_mode mode, const kerf_timing_loop *common,
                               kerf_timing_loop *result) {
    for (const kerf_requested_limit *limit = of->first_limit; limit; limit = limit->next) {
        if (limit->mode != mode)
            continue;
        *result = *common;
        result->wanted = limit;
        result->passes = kerf_limit_passes(limit->kind, limit->bytes, common->threads);
        if (mode == KERF_COLD && limit->bytes > 0)
            result->passes = 1;
        result->sampler.timed = (kerf_timed){.arg = result, .prepare = prepare_loop, .call = call_loop};
        ++result;
    }
}

void kerf_timing_loops_tell(kerf_timing_loop *loops, int n, FILE *answer) {
    for (int i = 0; i < n; ++i) {
        const kerf_sampler *const sampler = &loops[i].sampler;
        double rate[sizeof sampler->sample / sizeof sampler->sample[0]];
        for (int s = 0; s < sampler->n_samples; ++s)
            rate[s] = loops[i].amount * sampler->sample[s].batch / (double)sampler->sample[s].total_ns;
        if (sampler->n_samples > 0)
            fprintf(answer, "rate %d %a\n", loops[i].wanted->id, kerf_median(rate, sampler->n_samples));
    }
}
