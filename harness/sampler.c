#include "harness/sampler.h"

#include "harness/stats.h"

#include <string.h>

/* A clock that does not advance through so many samples in a row, or through so many calls, is broken. */
#define MAX_FAILURES            8
#define CALLS_SEEN_BY_ANY_CLOCK 4096u

static const char *const stop_names[KERF_N_STOPS] = {"none", "narrow", "plateau", "time", "count", "error"};

const char *kerf_stop_name(kerf_stop stop) {
    return stop_names[stop];
}

kerf_stop_rule kerf_stop_rule_standard(const kerf_clock *clock, uint64_t wall_ns, uint32_t max_batch) {
    const uint64_t readable_ns = 50 * clock->resolution_ns, short_ns = 20000;
    uint64_t sample_ns = readable_ns > short_ns ? readable_ns : short_ns;
    if (sample_ns < wall_ns / KERF_SAMPLER_MAX)
        sample_ns = wall_ns / KERF_SAMPLER_MAX;
    return (kerf_stop_rule){.sample_ns = sample_ns,
                            .max_batch = max_batch,
                            .floor_samples = 3,
                            .min_samples = 12,
                            .min_ns = 1000000,
                            .wall_ns = wall_ns,
                            .confidence = 0.95,
                            .half_width = 0.01};
}

static uint64_t now_of(const kerf_clock *clock) {
    return clock->now_ns(clock->state);
}

/* One sample as it is taken later too, so that the first recorded one finds clock and code warm. 0: no time was seen.
 * Never inlined: the overhead is that of this very code. */
__attribute__((noinline)) static uint64_t timed_calls(kerf_sampler *s, uint32_t batch, const kerf_clock *clock) {
    if (s->timed.prepare)
        s->timed.prepare(s->timed.arg, batch);
    const uint64_t begin = now_of(clock);
    for (uint32_t i = 0; i < batch; ++i)
        if (s->timed.call(s->timed.arg) != KERF_OK) {
            s->stop = KERF_STOP_ERROR;
            return 0;
        }
    return kerf_clock_elapsed_ns(begin, now_of(clock));
}

static uint32_t batch_for(const kerf_stop_rule *rule, uint64_t total_ns, uint32_t batch) {
    const double wanted = (double)rule->sample_ns * batch / (double)total_ns;
    return wanted >= rule->max_batch ? rule->max_batch : wanted > 1 ? (uint32_t)(wanted + 0.999) : 1;
}

/* Doubles the batch until it lasts half a sample, which also warms up; a long call is made once. */
static void choose_batch(kerf_sampler *s, const kerf_clock *clock) {
    uint32_t batch = 1;
    for (;;) {
        const uint64_t total_ns = timed_calls(s, batch, clock);
        if (s->stop != KERF_STOP_NONE)
            return;
        if (total_ns == 0 && batch >= CALLS_SEEN_BY_ANY_CLOCK) {
            s->stop = KERF_STOP_ERROR;
            return;
        }
        s->batch = total_ns ? batch_for(&s->rule, total_ns, batch) : 1;
        if (total_ns >= s->rule.sample_ns / 2 || batch >= s->rule.max_batch)
            return;
        batch = batch <= s->rule.max_batch / 2 ? 2 * batch : s->rule.max_batch;
    }
}

/* Relative half width of the median's interval. */
static double half_width_of(const kerf_sampler *s) {
    double per_call_ns[KERF_SAMPLER_MAX], covered;
    for (int i = 0; i < s->n_samples; ++i)
        per_call_ns[i] = (double)s->sample[i].total_ns / s->sample[i].batch;
    const kerf_interval interval = kerf_median_interval(per_call_ns, s->n_samples, s->rule.confidence, &covered);
    return 0.5 * (interval.high - interval.low) / interval.middle;
}

/* Looks only when the number of samples has doubled since the last look: a rule that looks after every sample stops at
 * the first lucky one. Steady noise narrows the interval to 0.71 between two looks. */
static kerf_stop check(kerf_sampler *s) {
    if (s->next_check == 0)
        s->next_check = s->rule.min_samples;
    if (s->n_samples < s->next_check || s->timed_ns < s->rule.min_ns)
        return KERF_STOP_NONE;
    s->next_check = 2 * s->n_samples;
    const double width = half_width_of(s);
    if (width <= s->rule.half_width)
        return KERF_STOP_NARROW;
    const int stuck = s->last_width > 0 && width > 0.9 * s->last_width;
    s->n_plateaus = stuck ? s->n_plateaus + 1 : 0;
    s->last_width = width;
    return s->n_plateaus >= 2 ? KERF_STOP_PLATEAU : KERF_STOP_NONE;
}

/* False if there is none: the call failed, or the clock did not advance. */
static bool take_sample(kerf_sampler *s, int round, const kerf_clock *clock) {
    s->round = round;
    const uint64_t total_ns = timed_calls(s, s->batch, clock);
    if (s->stop == KERF_STOP_ERROR)
        return false;
    if (total_ns == 0) {
        ++s->n_discarded;
        if (++s->n_failures >= MAX_FAILURES)
            s->stop = KERF_STOP_ERROR;
        return false;
    }
    s->n_failures = 0;
    s->timed_ns += total_ns;
    s->sample[s->n_samples++] = (kerf_sample){.total_ns = total_ns, .batch = s->batch, .round = (uint16_t)round};
    return true;
}

/* One turn; returns the wall time it took. */
static uint64_t visit(kerf_sampler *s, int round, const kerf_clock *clock) {
    const uint64_t begin = now_of(clock);
    s->round = -1;
    if (s->batch == 0)
        choose_batch(s, clock);
    if (s->stop == KERF_STOP_NONE && take_sample(s, round, clock)) {
        s->stop = check(s);
        if (s->stop == KERF_STOP_NONE && s->n_samples == KERF_SAMPLER_MAX)
            s->stop = KERF_STOP_COUNT;
    }
    const uint64_t wall_ns = kerf_clock_elapsed_ns(begin, now_of(clock));
    s->wall_ns += wall_ns;
    if (s->stop == KERF_STOP_NONE && s->wall_ns >= s->rule.wall_ns && s->n_samples >= s->rule.floor_samples)
        s->stop = KERF_STOP_TIME;
    return wall_ns;
}

static void shuffle(kerf_sampler *sampler[], int n, kerf_rng *rng) {
    for (int i = n - 1; i > 0; --i) {
        const int j = (int)kerf_rng_below(rng, (uint64_t)i + 1);
        kerf_sampler *const other = sampler[j];
        sampler[j] = sampler[i];
        sampler[i] = other;
    }
}

void kerf_sample_rounds(kerf_sampler *sampler[], int n, uint64_t wall_ns, const kerf_clock *clock, kerf_rng *rng,
                        const volatile int *interrupted) {
    uint64_t spent_ns = 0;
    int active = n;
    for (int round = 0; active > 0 && round <= UINT16_MAX && !(interrupted && *interrupted); ++round) {
        shuffle(sampler, n, rng);
        active = 0;
        for (int i = 0; i < n && !(interrupted && *interrupted); ++i) {
            kerf_sampler *const s = sampler[i];
            if (s->stop == KERF_STOP_NONE)
                spent_ns += visit(s, round, clock);
            if (s->stop == KERF_STOP_NONE && spent_ns >= wall_ns && s->n_samples >= s->rule.floor_samples)
                s->stop = KERF_STOP_TIME;
            active += s->stop == KERF_STOP_NONE;
        }
    }
    for (int i = 0; i < n; ++i)
        if (sampler[i]->stop == KERF_STOP_NONE)
            sampler[i]->stop = KERF_STOP_TIME;
}

void kerf_sample_closing_round(kerf_sampler *sampler[], int n, const kerf_clock *clock, kerf_rng *rng) {
    int round = 0;
    for (int i = 0; i < n; ++i)
        if (sampler[i]->round >= round)
            round = sampler[i]->round + 1;
    shuffle(sampler, n, rng);
    for (int i = 0; i < n && round <= UINT16_MAX; ++i)
        if (sampler[i]->stop != KERF_STOP_ERROR && sampler[i]->batch > 0)
            take_sample(sampler[i], round, clock);
}

static double median_of_nothing(const kerf_timed *nothing, uint32_t batch, const kerf_clock *clock) {
    enum { N = 101 }; /* odd: the median is a time that was seen */
    double total_ns[N];
    kerf_sampler s = {.timed = *nothing};
    for (int i = 0; i < N; ++i)
        total_ns[i] = (double)timed_calls(&s, batch, clock);
    return kerf_median(total_ns, N);
}

kerf_overhead kerf_sampler_overhead(const kerf_timed *nothing, const kerf_clock *clock) {
    const uint32_t many = 1001;
    const double sample_ns = median_of_nothing(nothing, 1, clock);
    const double more_ns = median_of_nothing(nothing, many, clock) - sample_ns;
    return (kerf_overhead){.sample_ns = sample_ns,
                           .call_ns = more_ns > 0 ? more_ns / (many - 1) : 0,
                           .step_ns = (double)clock->resolution_ns};
}

double kerf_sample_call_ns(const kerf_sample *sample, const kerf_overhead *overhead) {
    const double own_ns = overhead->sample_ns + (sample->batch - 1.0) * overhead->call_ns;
    const double total_ns = (double)sample->total_ns - own_ns;
    return (total_ns > overhead->step_ns ? total_ns : overhead->step_ns) / sample->batch;
}

double kerf_sample_resolution_ns(const kerf_sample *sample, const kerf_overhead *overhead) {
    return overhead->step_ns / sample->batch;
}
