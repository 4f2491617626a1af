#include "harness/doctor.h"

#include "base/cpu.h"
#include "harness/doctor_cross.h"
#include "harness/environment.h"
#include "harness/sink.h"
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MEBIBYTE ((size_t)1 << 20)

typedef struct doctor {
    const kerf_options *options;
    const volatile sig_atomic_t *interrupted;
    FILE *file;
    kerf_machine machine;
    kerf_doctor_measured now;
    kerf_kept_limits before;
    bool has_before;
    kerf_out_file out[KERF_MAX_REPEATS]; /* of options->output; not open for standard output */
} doctor;

static bool has_counters(void) {
    struct perf_event_attr attributes = {.type = PERF_TYPE_HARDWARE,
                                         .size = sizeof attributes,
                                         .config = PERF_COUNT_HW_CPU_CYCLES,
                                         .exclude_kernel = 1,
                                         .exclude_hv = 1};
    const long counter = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (counter >= 0)
        close((int)counter);
    return counter >= 0;
}

/* ---- printing */

static void size_text(char *memory, size_t capacity, size_t bytes) {
    kerf_text text = kerf_text_over(memory, capacity);
    if (bytes < MEBIBYTE)
        kerf_text_printf(&text, "%zu KiB", bytes >> 10);
    else
        kerf_text_printf(&text, "%zu MiB", bytes >> 20);
}

static void print_figure(FILE *file, kerf_interval figure) {
    char memory[64];
    snprintf(memory, sizeof memory, "[%.1f, %.1f]", figure.low, figure.high);
    fprintf(file, "  %6.1f %-16s", figure.middle, memory);
}

static double level_rate(const kerf_limit_team *team, kerf_limit_level level, size_t figure_at) {
    double rate[KERF_LIMIT_SIZES];
    int n = 0;
    for (int i = level.first; i <= level.last; ++i)
        rate[n++] = ((const kerf_interval *)((const char *)&team->point[i] + figure_at))->middle;
    return kerf_median(rate, n);
}

static void print_level(FILE *file, const kerf_limit_team *team, kerf_limit_level level, int number, int n_levels) {
    char size[32];
    const bool ends = number + 1 < n_levels;
    size_text(size, sizeof size, team->point[ends ? level.last : level.first].bytes);
    fprintf(file, "  level %d, %s %s: read %.1f GB/s, write %.1f GB/s, copy %.1f GB/s\n", number + 1,
            ends ? "up to" : "from", size, level_rate(team, level, offsetof(kerf_limit_point, read)),
            level_rate(team, level, offsetof(kerf_limit_point, write)),
            level_rate(team, level, offsetof(kerf_limit_point, copy)));
}

static void print_team(FILE *file, const kerf_limit_team *team) {
    kerf_limit_level level[KERF_LIMIT_KNEES + 1];
    const int n_levels = kerf_limit_levels(team, level);
    fprintf(file, "\n%d thread%s\n  working set  level  %-23s  %-23s  copy, GB/s\n", team->threads,
            team->threads == 1 ? "" : "s", "read, GB/s", "write, GB/s");
    for (int i = 0, l = 0; i < team->n_points; ++i) {
        char size[32], number[16] = "-";
        while (l + 1 < n_levels && i > level[l].last)
            ++l;
        if (i >= level[l].first && i <= level[l].last)
            snprintf(number, sizeof number, "%d", l + 1);
        size_text(size, sizeof size, team->point[i].bytes);
        fprintf(file, "  %11s  %5s", size, number);
        print_figure(file, team->point[i].read);
        print_figure(file, team->point[i].write);
        fprintf(file, "  %6.1f [%.1f, %.1f]\n", team->point[i].copy.middle, team->point[i].copy.low,
                team->point[i].copy.high);
    }
    for (int l = 0; l < n_levels; ++l)
        print_level(file, team, level[l], l, n_levels);
    fprintf(file, "  multiply-add: f32 %.1f [%.1f, %.1f] GFLOP/s, f64 %.1f [%.1f, %.1f] GFLOP/s\n", team->f32.middle,
            team->f32.low, team->f32.high, team->f64.middle, team->f64.low, team->f64.high);
}

static void print_disturbances(const doctor *d, const kerf_environment *environment) {
    FILE *const file = d->file;
    const char *const governor = environment->governor;
    int n = 0;
    fputs("\nwhat disturbs timing here\n", file);
    if (strcmp(environment->virtual_machine, "no") != 0 && ++n)
        fprintf(file, "  virtual machine: %s; neighbours share memory and caches\n", environment->virtual_machine);
    if (d->now.steal > 0.001 && ++n)
        fprintf(file, "  the host took %.1f %% of the processors' time away while this was measured\n",
                100 * d->now.steal);
    if (d->now.others > 0.02 && ++n)
        fprintf(file,
                "  other programs took %.0f %% of the processors' time while this was measured; limits of many threads "
                "may be too low\n",
                100 * d->now.others);
    if (strcmp(governor, "performance") != 0 && ++n)
        fprintf(file, "  frequency governor: %s; the clock rate may move\n", governor);
    if (environment->load_1min > 0.2 && ++n)
        fprintf(file, "  load of the last minute, before this began: %.2f on %d processors\n", environment->load_1min,
                environment->processors);
    if (!has_counters() && ++n)
        fputs("  no hardware counters: a change of the clock rate cannot be seen\n", file);
    if (n == 0)
        fputs("  nothing that is known\n", file);
    fprintf(file, "  clock: steps of %llu ns\n", (unsigned long long)d->now.clock_steps_ns);
}

static void print_fitness(const doctor *d) {
    static const double differences[] = {0.01, 0.03, 0.10};
    const kerf_interval same = d->now.kept.same;
    const double reach = kerf_doctor_reach(same);
    fprintf(d->file,
            "\nwhich differences can be told\n  one kernel against itself, timed as rows are (copy of 1 MiB, "
            "threads=%d, %d "
            "processes): ",
            d->now.same_threads, d->now.same_processes);
    fprintf(d->file, "ratio %.4f [%.4f, %.4f], so %.2f %% is noise\n", same.middle, same.low, same.high, 100 * reach);
    for (size_t i = 0; i < sizeof differences / sizeof differences[0]; ++i)
        fprintf(d->file, "  %2.0f %%: %s\n", 100 * differences[i], reach < differences[i] ? "yes" : "no");
}

/* How much the limit itself moved since it was kept. */
static void print_before(const doctor *d) {
    if (!d->has_before)
        return;
    const kerf_limit_team *const now = &d->now.kept.limits.team[0], *const then = &d->before.limits.team[0];
    const int last = (now->n_points < then->n_points ? now->n_points : then->n_points) - 1;
    if (now->point[last].bytes != then->point[last].bytes || now->threads != then->threads)
        return;
    fputs("\nagainst the kept measurement of ", d->file);
    fprintf(d->file, "%s: reading ", d->before.utc);
    fprintf(d->file, "%zu MiB with %d thread%s is %.2f times as fast, f32 %.2f times\n", now->point[last].bytes >> 20,
            now->threads, now->threads == 1 ? "" : "s", now->point[last].read.middle / then->point[last].read.middle,
            now->f32.middle / then->f32.middle);
}

static void print_limits(const doctor *d) {
    const kerf_limits *const limits = &d->now.kept.limits;
    fprintf(d->file, "limits of %s (%s), %d processors, %s\n", d->machine.cpu, d->machine.isa, d->machine.processors,
            d->now.kept.utc);
    fprintf(d->file,
            "median of %d rounds and its interval (%.1f %% confidence); a copy counts what it reads and what it "
            "writes; a level ends where reading slows down\n",
            limits->n_rounds, 100 * limits->covered);
    for (int t = 0; t < limits->n_teams; ++t)
        print_team(d->file, &limits->team[t]);
}

/* ---- keeping */

static void warn(const char *message) {
    fprintf(stderr, "bench: warning: %s\n", message);
}

static void read_before(doctor *d, const char *path) {
    kerf_error problem;
    if (kerf_limits_read(path, &d->machine, &d->has_before, &d->before, &problem) == KERF_OK)
        return;
    char memory[640];
    kerf_text text = kerf_text_over(memory, sizeof memory);
    kerf_text_printf(&text, "%s; it is ignored", problem.message);
    warn(memory);
}

static bool prints_tables(const doctor *d) {
    for (int i = 0; i < d->options->n_outputs; ++i)
        if (d->options->output[i].format == KERF_FORMAT_TABLE)
            return true;
    return false;
}

/* A short measurement does not take the place of a full one. */
static void keep(const doctor *d, const char *path) {
    const bool stays = d->has_before && d->before.form == KERF_LIMITS_FULL && d->now.kept.form == KERF_LIMITS_SHORT;
    kerf_error problem;
    if (!stays && kerf_limits_write(path, &d->machine, &d->now.kept, &problem) != KERF_OK)
        warn(problem.message);
    else if (prints_tables(d) && stays)
        fprintf(d->file, "\nkept: still the full measurement of %s, in %s\n", d->before.utc, path);
    else if (prints_tables(d))
        fprintf(d->file, "\nkept in %s\n", path);
}

/* Before anything is measured. */
static kerf_status open_outputs(doctor *d, kerf_error *error) {
    for (int i = 0; i < d->options->n_outputs; ++i)
        if (d->options->output[i].path)
            KERF_TRY(kerf_out_file_open(d->options->output[i].path, &d->out[i], error));
    return KERF_OK;
}

static kerf_status give_json(doctor *d, kerf_error *error) {
    for (int i = 0; i < d->options->n_outputs; ++i) {
        if (d->options->output[i].format != KERF_FORMAT_JSON)
            continue;
        kerf_out_file *const out = &d->out[i];
        KERF_TRY(kerf_limits_print(out->file ? out->file : d->file, &d->machine, &d->now.kept, error));
        if (out->file)
            KERF_TRY(kerf_out_file_close(out, error));
    }
    return KERF_OK;
}

static kerf_status examine(doctor *d, kerf_arena *arena, kerf_error *error) {
    char path[512];
    kerf_text text = kerf_text_over(path, sizeof path);
    const bool has_path = kerf_limits_path(&d->machine, &text);
    const kerf_environment *const environment = kerf_environment_read(arena, kerf_cpu_isa());
    if (!environment)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory to describe the machine");
    if (has_path)
        read_before(d, path);
    const kerf_doctor_plan plan = {.form = d->options->quick ? KERF_LIMITS_SHORT : KERF_LIMITS_FULL,
                                   .threads = d->options->threads,
                                   .quiet = d->options->quiet,
                                   .why = "",
                                   .interrupted = d->interrupted};
    KERF_TRY(kerf_doctor_measure(&plan, &d->now, error));
    if (prints_tables(d)) {
        print_limits(d);
        print_before(d);
        print_disturbances(d, environment);
        print_fitness(d);
        const double reach = kerf_doctor_reach(d->now.kept.same);
        KERF_TRY(kerf_doctor_cross(d->now.same_threads, reach, d->interrupted, d->file, error));
    }
    if (has_path)
        keep(d, path);
    else
        warn("no folder for the limits (XDG_DATA_HOME, HOME); they are not kept");
    return give_json(d, error);
}

kerf_status kerf_doctor(const kerf_options *options, const volatile sig_atomic_t *interrupted, FILE *file,
                        kerf_error *error) {
    static doctor d; /* too large for a stack */
    kerf_arena arena;
    KERF_TRY(kerf_arena_map_shared(&arena, 1 << 16, error));
    d = (doctor){.options = options, .interrupted = interrupted, .file = file, .machine = kerf_machine_here()};
    kerf_status status = open_outputs(&d, error);
    if (status == KERF_OK)
        status = examine(&d, &arena, error);
    for (int i = 0; i < options->n_outputs; ++i)
        kerf_out_file_discard(&d.out[i]);
    kerf_arena_unmap(&arena);
    return status;
}
