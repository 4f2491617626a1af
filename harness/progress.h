/* What a person sees on standard error while a run goes on. */
#ifndef KERF_HARNESS_PROGRESS_H
#define KERF_HARNESS_PROGRESS_H

#include "base/status.h"
#include <stdint.h>
#include <time.h>

typedef struct kerf_progress {
    bool quiet, on_terminal;
    struct timespec begun, shown;
} kerf_progress;

/* Says at once what begins: text such as "verifying 2403 cases x 5 implementations". */
void kerf_progress_begin(kerf_progress *progress, bool quiet, const char *format, ...) KERF_PRINTF(3, 4);
/* At most ten times a second on a terminal, every ten seconds elsewhere. */
void kerf_progress_step(kerf_progress *progress, int64_t done, int64_t total);
/* The same with a text of its own. */
void kerf_progress_say(kerf_progress *progress, const char *format, ...) KERF_PRINTF(2, 3);
/* Clears the line so that a message can be printed. */
void kerf_progress_clear(kerf_progress *progress);
double kerf_progress_seconds(const kerf_progress *progress);

#endif
