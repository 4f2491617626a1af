#include "harness/timing_run.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool keep_sample(kerf_timing_run *r, int cell, const kerf_sample *sample) {
    if (r->n_arrivals == r->room_for_arrivals) {
        const size_t room = r->room_for_arrivals ? 2 * r->room_for_arrivals : 4096;
        kerf_timing_arrival *const grown = realloc(r->arrivals, room * sizeof *grown);
        if (!grown)
            return false;
        r->arrivals = grown;
        r->room_for_arrivals = room;
    }
    r->arrivals[r->n_arrivals++] = (kerf_timing_arrival){.cell = cell, .sample = *sample};
    return true;
}

static void tell_progress(kerf_timing_run *r) {
    ++r->n_done;
    if (r->progress)
        r->progress(r->progress_arg, r->n_done, r->n * r->options->processes);
}

static kerf_stop stop_named(const char *name) {
    int stop = 0;
    while (stop < KERF_N_STOPS - 1 && strcmp(kerf_stop_name((kerf_stop)stop), name) != 0)
        ++stop;
    return (kerf_stop)stop;
}

static bool is_expected(const kerf_timing_run *r, int cell) {
    return cell >= 0 && cell < r->n && kerf_timing_is_pending(r, cell);
}

/* A row that was wrong once is not believed anywhere: it may have cheated where nobody looked. */
static void drop_wrong(kerf_timing_run *r, int cell, const kerf_finding *finding) {
    for (int i = 0; i < r->n; ++i)
        if (kerf_timing_is_same_row(&r->cells[i], &r->cells[cell]) && !kerf_timing_is_dropped(r, i)) {
            kerf_timing_drop(r, i, "a call was wrong while it was timed");
            r->cells[i].wrong_on = r->cells[cell].c;
            r->cells[i].finding = *finding;
        }
}

static bool take_wrong(kerf_timing_run *r, const char *line) {
    kerf_finding f = {.verdict = KERF_FAIL, .check = "timed", .place = "", .threads = r->options->threads};
    int cell = -1, index_at = 0;
    char call[16];
    if (sscanf(line, "wrong %d %d %15s %" SCNd64 " %" SCNd64 " %lf %lf %lf %lf %lf%n", &cell, &f.output, call, &f.n_bad,
               &f.n_elements, &f.ratio, &f.got, &f.lo, &f.hi, &f.slack, &index_at) != 10)
        return false;
    char *end = NULL;
    for (const char *at = line + index_at; *at && f.rank < KERF_MAX_RANK; at = end)
        f.index[f.rank++] = strtoll(at, &end, 10);
    snprintf(f.reason, sizeof f.reason, "%s call", call);
    if (is_expected(r, cell))
        drop_wrong(r, cell, &f);
    return true;
}

static bool take_extra(kerf_timing_run *r, const char *line) {
    kerf_timing_extra extra;
    int cell = -1;
    if (!kerf_timing_extra_read(line, &cell, &extra))
        return false;
    if (!is_expected(r, cell) || !r->cells[cell].extra)
        return true;
    kerf_timing_extra *const kept = &r->cells[cell].extra[r->process];
    if (extra.split.n_calls > 0)
        kept->split = extra.split;
    else
        kept->counters = extra.counters;
    return true;
}

static bool take_rate(kerf_timing_run *r, const char *line) {
    int number = -1;
    double rate;
    if (sscanf(line, "rate %d %lf", &number, &rate) != 2)
        return false;
    if (number >= 0 && number < r->options->n_limits && rate > 0)
        r->options->limit[number].rate[r->process] = rate;
    return true;
}

/* Lines that are not understood are passed over. */
static kerf_status take_line(kerf_timing_run *r, char *line, bool *ended, kerf_error *error) {
    kerf_sample sample = {.process = (uint16_t)r->process};
    kerf_overhead overhead;
    int cell = -1, text_at = 0;
    char stop[16];
    if (strcmp(line, "end") == 0) {
        *ended = true;
    } else if (sscanf(line, "sample %d %" SCNu16 " %" SCNu32 " %" SCNu64, &cell, &sample.round, &sample.batch,
                      &sample.total_ns) == 4) {
        if (is_expected(r, cell) && sample.batch > 0 && !keep_sample(r, cell, &sample))
            return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for more than %zu samples", r->n_arrivals);
    } else if (sscanf(line, "stop %d %15s", &cell, stop) == 2) {
        if (is_expected(r, cell)) {
            r->cells[cell].stop[r->process] = stop_named(stop);
            r->cells[cell].overhead[r->process] = r->overhead;
            r->done[cell] = true;
            tell_progress(r);
        }
    } else if (sscanf(line, "overhead %lf %lf %lf", &overhead.sample_ns, &overhead.call_ns, &overhead.step_ns) == 3) {
        r->overhead = overhead;
    } else if (take_extra(r, line) || take_rate(r, line) || take_wrong(r, line)) {
        return KERF_OK;
    } else if (sscanf(line, "fail %d %n", &cell, &text_at) == 1 && is_expected(r, cell)) {
        kerf_timing_drop(r, cell, line + text_at);
    }
    return KERF_OK;
}

typedef struct received {
    char data[8192]; /* no line of ours is so long: one that does not fit is thrown away */
    size_t n;
} received;

static kerf_status take_lines(kerf_timing_run *r, received *in, bool *ended, kerf_error *error) {
    char *begin = in->data, *const end = in->data + in->n;
    for (char *newline; (newline = memchr(begin, '\n', (size_t)(end - begin))); begin = newline + 1) {
        *newline = '\0';
        KERF_TRY(take_line(r, begin, ended, error));
    }
    in->n = (size_t)(end - begin) < sizeof in->data ? (size_t)(end - begin) : 0;
    memmove(in->data, begin, in->n);
    return KERF_OK;
}

kerf_status kerf_timing_answer_read(kerf_timing_run *r, int file, bool *ended, bool *stuck, kerf_error *error) {
    received in = {.n = 0};
    uint64_t last_count = 0, moved_ns = r->clock.now_ns(r->clock.state);
    *ended = *stuck = false;
    while (!kerf_timing_is_interrupted(r) && !*stuck) {
        struct pollfd ready = {.fd = file, .events = POLLIN};
        const int n_ready = poll(&ready, 1, 100);
        const uint64_t now_ns = r->clock.now_ns(r->clock.state);
        const uint64_t count = __atomic_load_n(&r->turn->count, __ATOMIC_RELAXED);
        if (count != last_count || n_ready > 0)
            moved_ns = now_ns;
        last_count = count;
        *stuck = kerf_clock_elapsed_ns(moved_ns, now_ns) > UINT64_C(1000000000) * KERF_TIMING_STUCK_S;
        if (n_ready <= 0)
            continue;
        const ssize_t n = read(file, in.data + in.n, sizeof in.data - in.n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return KERF_OK;
        in.n += (size_t)n;
        KERF_TRY(take_lines(r, &in, ended, error));
    }
    return KERF_OK;
}
