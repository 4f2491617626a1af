#include "harness/doctor.h"
#include "harness/sampler.h"

typedef struct arm {
    const kerf_doctor_pair *pair;
    kerf_sampler sampler;
} arm;

static kerf_status call_arm(void *arg) {
    const kerf_doctor_pair *const pair = ((const arm *)arg)->pair;
    pair->device->run(pair->device->state, KERF_LIMIT_COPY, pair->bytes, pair->threads, pair->passes);
    return KERF_OK;
}

static double median_ns(const kerf_sampler *sampler) {
    double value[KERF_SAMPLER_MAX];
    for (int i = 0; i < sampler->n_samples; ++i)
        value[i] = (double)sampler->sample[i].total_ns / sampler->sample[i].batch;
    return kerf_median(value, sampler->n_samples);
}

/* Both arms take samples for as long as the round lasts: a rule that stopped one of them earlier would let drift look
 * like a difference. */
static void begin_arm(arm *one, const kerf_doctor_pair *pair, const kerf_clock *clock) {
    *one = (arm){.pair = pair};
    one->sampler.timed = (kerf_timed){.arg = one, .call = call_arm};
    one->sampler.rule = kerf_stop_rule_standard(clock, pair->round_ns, 1u << 16);
    one->sampler.rule.min_samples = KERF_SAMPLER_MAX + 1;
}

kerf_status kerf_doctor_same(const kerf_doctor_pair *pair, const kerf_clock *clock, uint64_t seed, kerf_interval *ratio,
                             kerf_error *error) {
    double value[KERF_LIMIT_ROUNDS], covered;
    arm a, b;
    kerf_rng rng = kerf_rng_seeded(seed, 1);
    for (int round = 0; round < pair->n_rounds; ++round) {
        begin_arm(&a, pair, clock);
        begin_arm(&b, pair, clock);
        kerf_sampler *both[] = {&a.sampler, &b.sampler};
        kerf_sample_rounds(both, 2, pair->round_ns, clock, &rng, pair->interrupted);
        if (pair->interrupted && *pair->interrupted)
            return kerf_fail(error, KERF_ERROR_INTERRUPTED, "interrupted while one kernel was held against itself");
        if (a.sampler.n_samples == 0 || b.sampler.n_samples == 0)
            return kerf_fail(error, KERF_ERROR_DEVICE, "the clock does not advance; nothing can be timed");
        value[round] = median_ns(&a.sampler) / median_ns(&b.sampler);
    }
    *ratio = kerf_median_interval(value, pair->n_rounds, 0.95, &covered);
    return KERF_OK;
}

double kerf_doctor_reach(kerf_interval ratio) {
    const double above = ratio.high - 1, below = 1 - ratio.low;
    return above > below ? above : below;
}
