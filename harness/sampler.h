/* Takes samples of things that are called, in rounds, until each one's stop rule is satisfied. Knows nothing of
 * kernels, processes or libraries; the clock is a parameter. docs/measuring.md explains the rule. */
#ifndef KERF_HARNESS_SAMPLER_H
#define KERF_HARNESS_SAMPLER_H

#include "base/rng.h"
#include "base/status.h"
#include "harness/clock.h"

typedef struct kerf_sample {
    uint64_t total_ns; /* of `batch` calls */
    uint32_t batch;
    uint16_t process, round;
} kerf_sample;

/* What the sampler's own loop and clock take, and what the clock tells apart. */
typedef struct kerf_overhead {
    double sample_ns; /* of a sample of one call that does nothing */
    double call_ns;   /* of each further call in a batch */
    double step_ns;   /* the clock's resolution */
} kerf_overhead;

/* Nanoseconds of one call of the sample without the overhead; at least what the clock tells apart. */
double kerf_sample_call_ns(const kerf_sample *sample, const kerf_overhead *overhead);
/* What two such figures must differ by to be told apart. */
double kerf_sample_resolution_ns(const kerf_sample *sample, const kerf_overhead *overhead);

/* Why the sampling of a row ended. */
typedef enum kerf_stop {
    KERF_STOP_NONE,
    KERF_STOP_NARROW,  /* the interval of the median is narrow enough */
    KERF_STOP_PLATEAU, /* more samples no longer make it narrower */
    KERF_STOP_TIME,    /* the wall time given is spent */
    KERF_STOP_COUNT,   /* there is no room for more samples */
    KERF_STOP_ERROR,   /* the call failed, or the clock gave no times */
    KERF_N_STOPS
} kerf_stop;
const char *kerf_stop_name(kerf_stop stop);

typedef struct kerf_stop_rule {
    uint64_t sample_ns; /* a sample lasts at least about this long, if max_batch calls reach that */
    uint32_t max_batch;
    int floor_samples;             /* taken whatever the wall time says */
    int min_samples;               /* at least so many, */
    uint64_t min_ns;               /* and so much time within samples, before NARROW or PLATEAU */
    uint64_t wall_ns;              /* of this row, warm-up and untimed preparation included */
    double confidence, half_width; /* NARROW: of the median's interval, the half width relative to the median */
} kerf_stop_rule;

/* The rule of a row that may take `wall_ns`; calls that have to be timed one by one have max_batch 1. */
kerf_stop_rule kerf_stop_rule_standard(const kerf_clock *clock, uint64_t wall_ns, uint32_t max_batch);

typedef struct kerf_timed {
    void *arg;
    void (*prepare)(void *arg, uint32_t calls); /* untimed, before each sample of so many calls; or NULL */
    kerf_status (*call)(void *arg);             /* one call */
} kerf_timed;

#define KERF_SAMPLER_MAX 512

/* One row while it is sampled. Set the first group of fields; read the second at the end. */
typedef struct kerf_sampler {
    kerf_timed timed;
    kerf_stop_rule rule;

    kerf_sample sample[KERF_SAMPLER_MAX + 1]; /* process is 0; the last place is for a closing round */
    int n_samples;
    int n_discarded; /* samples during which the clock did not advance */
    int round;       /* of the sample that is being taken, -1 while the row is warmed up */
    kerf_stop stop;

    uint32_t batch; /* from here on private */
    uint64_t timed_ns, wall_ns;
    int n_failures; /* discarded in a row */
    int next_check, n_plateaus;
    double last_width;
} kerf_sampler;

/* Rounds in which each sampler that has not stopped takes one sample, in a new random order each time. The first visit
 * of a sampler warms it up and chooses its batch. Ends when all have stopped, when `wall_ns` is spent and all have
 * their floor_samples, or when *interrupted (may be NULL) is not 0; what has not stopped by itself then has stopped for
 * TIME. Reorders `sampler`. */
void kerf_sample_rounds(kerf_sampler *sampler[], int n, uint64_t wall_ns, const kerf_clock *clock, kerf_rng *rng,
                        const volatile int *interrupted);

/* One more round, in random order, in which each sampler that did not end in an error takes a last sample, whatever its
 * stop rule says. The round has the same number for all: the one behind the last that any of them saw. */
void kerf_sample_closing_round(kerf_sampler *sampler[], int n, const kerf_clock *clock, kerf_rng *rng);

/* Measured with `nothing`, whose call does nothing but lies behind the same pointers as those that are sampled. */
kerf_overhead kerf_sampler_overhead(const kerf_timed *nothing, const kerf_clock *clock);

#endif
