#include "harness/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double seconds_since(const struct timespec *then) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - then->tv_sec) + 1e-9 * (double)(now.tv_nsec - then->tv_nsec);
}

void kerf_progress_begin(kerf_progress *progress, bool quiet, const char *format, ...) {
    const char *const terminal = getenv("TERM");
    *progress = (kerf_progress){
        .quiet = quiet,
        .on_terminal = isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0 && !getenv("CI"),
    };
    clock_gettime(CLOCK_MONOTONIC, &progress->begun);
    progress->shown = progress->begun;
    if (quiet)
        return;
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

static bool is_time(kerf_progress *progress) {
    if (progress->quiet || seconds_since(&progress->shown) < (progress->on_terminal ? 0.1 : 10))
        return false;
    clock_gettime(CLOCK_MONOTONIC, &progress->shown);
    return true;
}

void kerf_progress_say(kerf_progress *progress, const char *format, ...) {
    if (!is_time(progress))
        return;
    fputs(progress->on_terminal ? "\r\033[K" : "", stderr);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputs(progress->on_terminal ? "" : "\n", stderr);
    fflush(stderr);
}

void kerf_progress_step(kerf_progress *progress, int64_t done, int64_t total) {
    if (!is_time(progress))
        return;
    const double elapsed_s = seconds_since(&progress->begun);
    const double left_s = done > 0 ? elapsed_s / (double)done * (double)(total - done) : 0;
    fprintf(stderr, "%s  %lld of %lld, %.0f s, about %.0f s left%s", progress->on_terminal ? "\r\033[K" : "",
            (long long)done, (long long)total, elapsed_s, left_s, progress->on_terminal ? "" : "\n");
    fflush(stderr);
}

void kerf_progress_clear(kerf_progress *progress) {
    if (!progress->quiet && progress->on_terminal)
        fputs("\r\033[K", stderr);
}

double kerf_progress_seconds(const kerf_progress *progress) {
    return seconds_since(&progress->begun);
}
