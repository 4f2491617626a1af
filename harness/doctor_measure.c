#include "harness/doctor.h"

#include "base/cpu.h"
#include "harness/limit_loops.h"
#include <stdio.h>
#include <sys/times.h>
#include <time.h>

#define MEBIBYTE ((size_t)1 << 20)
#define SECOND   UINT64_C(1000000000)

/* The two forms. A pass over the largest size costs some 20 ms for each kind and team in each round. */
typedef struct form {
    kerf_limit_teams teams;
    size_t most_bytes;
    int max_rounds, seconds;
    uint64_t budget_ns, same_ns;
} form;

/* As many as rows are timed in. */
enum { SAME_PROCESSES = 6 };

static const form forms[] = {
    [KERF_LIMITS_SHORT] = {KERF_LIMIT_ENDS, 128 * MEBIBYTE, 9, 5, 3 * SECOND, SECOND / 8},
    [KERF_LIMITS_FULL] = {KERF_LIMIT_DOUBLING, 512 * MEBIBYTE, 21, 25, 20 * SECOND, SECOND / 2},
};

/* All memory but a quarter stays with the others. */
static size_t most_bytes_for(const form *chosen) {
    size_t most_bytes = chosen->most_bytes;
    while (most_bytes > MEBIBYTE && most_bytes > kerf_memory_available() / 4)
        most_bytes /= 2;
    return most_bytes;
}

/* Processor time in ticks of the system. */
typedef struct ticks {
    double all, idle, stolen; /* of all processors; stolen: given to others by the host of a virtual machine */
    double own;               /* of this process */
} ticks;

static bool read_ticks(ticks *now) {
    FILE *const file = fopen("/proc/stat", "r");
    unsigned long long t[8] = {0};
    if (!file)
        return false;
    const int n = fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2], &t[3], &t[4], &t[5],
                         &t[6], &t[7]);
    fclose(file);
    struct tms own;
    times(&own);
    *now = (ticks){
        .idle = (double)(t[3] + t[4]), .stolen = (double)t[7], .own = (double)own.tms_utime + (double)own.tms_stime};
    for (int i = 0; i < 8; ++i)
        now->all += (double)t[i];
    return n == 8;
}

static void note_others(kerf_doctor_measured *result, const ticks *then) {
    ticks now;
    result->steal = result->others = -1;
    if (!read_ticks(&now) || now.all <= then->all)
        return;
    const double all = now.all - then->all, stolen = now.stolen - then->stolen;
    result->steal = stolen / all;
    result->others = (all - (now.idle - then->idle) - stolen - (now.own - then->own)) / all;
}

static kerf_status measure_with(const kerf_doctor_plan *doctor, const kerf_limit_plan *plan, kerf_limit_loops *loops,
                                kerf_doctor_measured *result, kerf_error *error) {
    const form *const chosen = &forms[doctor->form];
    const kerf_limit_device device = kerf_limit_loops_device(loops);
    const kerf_clock clock = kerf_clock_monotonic();
    ticks then;
    const bool told = read_ticks(&then);
    KERF_TRY(kerf_limits_measure(plan, &device, &clock, 1, doctor->interrupted, &result->kept.limits, error));
    const kerf_doctor_pair pair = {.bytes = MEBIBYTE,
                                   .threads = plan->threads[plan->n_teams - 1],
                                   .passes = 1,
                                   .process_ns = chosen->same_ns,
                                   .seed = 1};
    const kerf_doctor_launcher launcher = kerf_doctor_re_execute(doctor->interrupted);
    KERF_TRY(kerf_doctor_same(&pair, SAME_PROCESSES, &launcher, &result->kept.same, error));
    result->same_threads = pair.threads;
    result->same_processes = SAME_PROCESSES;
    result->clock_steps_ns = clock.resolution_ns;
    result->steal = result->others = -1;
    if (told)
        note_others(result, &then);
    return KERF_OK;
}

kerf_status kerf_doctor_measure(const kerf_doctor_plan *doctor, kerf_doctor_measured *result, kerf_error *error) {
    const form *const chosen = &forms[doctor->form];
    const int threads = doctor->threads > 0 ? doctor->threads : kerf_cpu_count();
    kerf_limit_plan plan = {.least_bytes = 16 << 10,
                            .most_bytes = most_bytes_for(chosen),
                            .min_rounds = 3,
                            .max_rounds = chosen->max_rounds,
                            .budget_ns = chosen->budget_ns};
    plan.n_teams = kerf_limit_teams_for(threads, chosen->teams, plan.threads);
    if (!doctor->quiet)
        fprintf(stderr, "measuring the limits of this machine, about %d s%s\n", chosen->seconds, doctor->why);
    *result = (kerf_doctor_measured){.kept.form = doctor->form};
    kerf_limit_loops *loops;
    KERF_TRY(kerf_limit_loops_open(kerf_cpu_isa(), plan.threads, plan.n_teams, plan.most_bytes, &loops, error));
    const kerf_status status = measure_with(doctor, &plan, loops, result, error);
    kerf_limit_loops_close(loops);
    const time_t now = time(NULL);
    struct tm utc;
    strftime(result->kept.utc, sizeof result->kept.utc, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    return status;
}
