/* Moving and filling units of one size, at any strides. Offsets, strides and sizes are in bytes. */
#ifndef KERF_VARIANTS_SPACE_BATCH_UNITS_H
#define KERF_VARIANTS_SPACE_BATCH_UNITS_H

#include <stdint.h>
#include <string.h>

static inline __attribute__((always_inline)) void copy_sized(char *to, int64_t to_step, const char *from,
                                                             int64_t from_step, int64_t n, size_t unit) {
    for (int64_t i = 0; i < n; ++i)
        memcpy(to + i * to_step, from + i * from_step, unit);
}

/* A unit of at most two pieces is its first and its last piece, which overlap. */
static inline __attribute__((always_inline)) void copy_unit_ends(char *to, const char *from, size_t unit,
                                                                 size_t piece) {
    char first[32], last[32];
    memcpy(first, from, piece);
    memcpy(last, from + unit - piece, piece);
    memcpy(to, first, piece);
    memcpy(to + unit - piece, last, piece);
}

static inline __attribute__((always_inline)) void copy_ends(char *to, int64_t to_step, const char *from,
                                                            int64_t from_step, int64_t n, size_t unit, size_t piece) {
    for (int64_t i = 0; i < n; ++i)
        copy_unit_ends(to + i * to_step, from + i * from_step, unit, piece);
}

static inline void copy_units(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n, size_t unit) {
    if (to_step == (int64_t)unit && from_step == (int64_t)unit) {
        memcpy(to, from, (size_t)n * unit);
        return;
    }
    switch (unit) {
    case 1:
        copy_sized(to, to_step, from, from_step, n, 1);
        return;
    case 2:
        copy_sized(to, to_step, from, from_step, n, 2);
        return;
    case 4:
        copy_sized(to, to_step, from, from_step, n, 4);
        return;
    case 8:
        copy_sized(to, to_step, from, from_step, n, 8);
        return;
    case 16:
        copy_sized(to, to_step, from, from_step, n, 16);
        return;
    default:
        break;
    }
    if (unit < 4)
        copy_ends(to, to_step, from, from_step, n, unit, 2);
    else if (unit < 8)
        copy_ends(to, to_step, from, from_step, n, unit, 4);
    else if (unit < 16)
        copy_ends(to, to_step, from, from_step, n, unit, 8);
    else if (unit < 32)
        copy_ends(to, to_step, from, from_step, n, unit, 16);
    else if (unit <= 64)
        copy_ends(to, to_step, from, from_step, n, unit, 32);
    else
        copy_sized(to, to_step, from, from_step, n, unit);
}

/* n units of copies of one element. */
static inline void fill_units(char *to, int64_t to_step, int64_t n, size_t unit, const void *element, size_t bytes) {
    for (int64_t i = 0; i < n; ++i)
        for (size_t at = 0; at < unit; at += bytes)
            memcpy(to + i * to_step + at, element, bytes);
}

#endif
