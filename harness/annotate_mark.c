/* Which instructions of a function are worth showing. */
#include "harness/annotate_code.h"

#include <stdlib.h>

enum { MAX_LOOP = 160, CONTEXT = 3, MAX_GAP = 6 };

static int by_count(const void *a, const void *b) {
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left < right) - (left > right);
}

/* The least of the largest counts that together hold the share of their sum, at least 1. Sorts them. */
static uint64_t least_of_share(uint64_t *counts, int n, double share) {
    uint64_t all = 0, sum = 0;
    int at = 0;
    for (int i = 0; i < n; ++i)
        all += counts[i];
    qsort(counts, (size_t)n, sizeof *counts, by_count);
    while (at < n - 1 && (double)(sum += counts[at]) < share * (double)all)
        ++at;
    return counts[at] > 0 ? counts[at] : 1;
}

static int line_of(const kerf_code_line *lines, int n, uint64_t address) {
    int low = 0, high = n;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (lines[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && lines[low].address == address ? low : -1;
}

/* The smallest backward jump over line `at`. */
static void show_loop_around(kerf_code_line *lines, int n, int at) {
    int begin = -1, end = -1;
    for (int i = at; i < n && i < at + MAX_LOOP; ++i) {
        const int target = lines[i].target ? line_of(lines, n, lines[i].target) : -1;
        if (target < 0 || target > at || i - target >= MAX_LOOP || (begin >= 0 && i - target >= end - begin))
            continue;
        begin = target;
        end = i;
    }
    for (int i = begin; begin >= 0 && i <= end; ++i)
        lines[i].shown = true;
}

static void show_hot(kerf_code_line *lines, int n, uint64_t least) {
    for (int i = 0; i < n; ++i) {
        if (lines[i].count < least)
            continue;
        show_loop_around(lines, n, i);
        for (int k = i - CONTEXT; k <= i + CONTEXT; ++k)
            if (k >= 0 && k < n)
                lines[k].shown = true;
    }
    /* A few lines left out would take a line to say so. */
    for (int i = 0, last = -1; i < n; ++i) {
        if (!lines[i].shown)
            continue;
        for (int k = last + 1; last >= 0 && i - last - 1 <= MAX_GAP && k < i; ++k)
            lines[k].shown = true;
        last = i;
    }
}

/* The line behind the stretch of shown lines that begins at `first`. */
static int stretch_end(const kerf_code_line *lines, int n, int first, uint64_t *count) {
    int i = first;
    for (*count = 0; i < n && lines[i].shown; ++i)
        *count += lines[i].count;
    return i;
}

/* Stretches that a few stray samples fell into say nothing. */
static void hide_cold_stretches(kerf_code_line *lines, int n, double share, uint64_t *counts) {
    uint64_t count;
    int n_stretches = 0;
    for (int i = 0, end; i<n; i = end> i ? end : i + 1)
        if ((end = stretch_end(lines, n, i, &count)) > i)
            counts[n_stretches++] = count;
    const uint64_t least = n_stretches > 0 ? least_of_share(counts, n_stretches, share) : 0;
    for (int i = 0, end; i<n; i = end> i ? end : i + 1) {
        end = stretch_end(lines, n, i, &count);
        for (int k = i; k < end && count < least; ++k)
            lines[k].shown = false;
    }
}

void kerf_code_mark(kerf_code_line *lines, int n, double share) {
    uint64_t *const counts = n > 0 ? malloc((size_t)n * sizeof *counts) : NULL;
    if (!counts)
        return;
    for (int i = 0; i < n; ++i)
        counts[i] = lines[i].count;
    show_hot(lines, n, least_of_share(counts, n, share));
    hide_cold_stretches(lines, n, share, counts);
    free(counts);
}
