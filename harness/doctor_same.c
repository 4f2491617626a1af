#include "harness/doctor_same.h"

#include "harness/sampler.h"

typedef struct arm {
    const kerf_doctor_pair *pair;
    const kerf_limit_device *device;
    kerf_sampler sampler;
} arm;

static kerf_status call_arm(void *arg) {
    const arm *const one = arg;
    const kerf_doctor_pair *const pair = one->pair;
    one->device->run(one->device->state, KERF_LIMIT_COPY, pair->bytes, pair->threads, pair->passes);
    return KERF_OK;
}

static double median_ns(const kerf_sampler *sampler) {
    double value[KERF_SAMPLER_MAX];
    for (int i = 0; i < sampler->n_samples; ++i)
        value[i] = (double)sampler->sample[i].total_ns / sampler->sample[i].batch;
    return kerf_median(value, sampler->n_samples);
}

/* Both arms take samples for as long as the process has: a rule that stopped one of them earlier would let drift look
 * like a difference. */
static void begin_arm(arm *one, const kerf_doctor_pair *pair, const kerf_limit_device *device,
                      const kerf_clock *clock) {
    *one = (arm){.pair = pair, .device = device};
    one->sampler.timed = (kerf_timed){.arg = one, .call = call_arm};
    one->sampler.rule = kerf_stop_rule_standard(clock, pair->process_ns, 1u << 16);
    one->sampler.rule.min_samples = KERF_SAMPLER_MAX + 1;
}

kerf_status kerf_doctor_arms(const kerf_doctor_pair *pair, const kerf_limit_device arms[2], const kerf_clock *clock,
                             int process, double *ratio, kerf_error *error) {
    arm a, b;
    kerf_rng rng = kerf_rng_seeded(pair->seed, (uint64_t)process);
    begin_arm(&a, pair, &arms[0], clock);
    begin_arm(&b, pair, &arms[1], clock);
    kerf_sampler *both[] = {&a.sampler, &b.sampler};
    kerf_sample_rounds(both, 2, pair->process_ns, clock, &rng, NULL);
    if (a.sampler.n_samples == 0 || b.sampler.n_samples == 0)
        return kerf_fail(error, KERF_ERROR_DEVICE, "the clock does not advance; nothing can be timed");
    *ratio = median_ns(&a.sampler) / median_ns(&b.sampler);
    return KERF_OK;
}

kerf_status kerf_doctor_same(const kerf_doctor_pair *pair, int n_processes, const kerf_doctor_launcher *launcher,
                             kerf_interval *ratio, kerf_error *error) {
    double value[KERF_LIMIT_ROUNDS], covered;
    for (int process = 0; process < n_processes; ++process)
        KERF_TRY(launcher->run(launcher->arg, pair, process, &value[process], error));
    *ratio = kerf_median_interval(value, n_processes, 0.95, &covered);
    return KERF_OK;
}

double kerf_doctor_reach(kerf_interval ratio) {
    const double above = ratio.high - 1, below = 1 - ratio.low;
    return above > below ? above : below;
}
