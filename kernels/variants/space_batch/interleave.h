/* Units of one run dealt to several, and collected again: between the side of space, where the places of a block stand
 * next to each other, and the side of the batch, where each has a run of its own. Sizes in bytes. */
#ifndef KERF_VARIANTS_SPACE_BATCH_INTERLEAVE_H
#define KERF_VARIANTS_SPACE_BATCH_INTERLEAVE_H

#include "kernels/variants/space_batch/units.h"

/* Any bytes at any address. */
typedef uint8_t __attribute__((may_alias)) word1;
typedef uint16_t __attribute__((may_alias, aligned(1))) word2;
typedef uint32_t __attribute__((may_alias, aligned(1))) word4;
typedef uint64_t __attribute__((may_alias, aligned(1))) word8;

/* Loops that the compiler turns into vector shuffles: the number of runs and the size of a unit are constants. */
#define DEAL(word, block)                                                                                              \
    static void deal_##word##_##block(char *const to[], const char *from, int64_t n) {                                 \
        const word *restrict const source = (const word *)(const void *)from;                                          \
        word *restrict const first = (word *)(void *)to[0], *restrict const second = (word *)(void *)to[1];            \
        word *restrict const third = (word *)(void *)to[block > 2 ? 2 : 0];                                            \
        word *restrict const fourth = (word *)(void *)to[block > 3 ? 3 : 0];                                           \
        for (int64_t i = 0; i < n; ++i) {                                                                              \
            first[i] = source[i * block];                                                                              \
            second[i] = source[i * block + 1];                                                                         \
            if (block > 2)                                                                                             \
                third[i] = source[i * block + 2];                                                                      \
            if (block > 3)                                                                                             \
                fourth[i] = source[i * block + 3];                                                                     \
        }                                                                                                              \
    }                                                                                                                  \
    static void collect_##word##_##block(char *to, const char *const from[], int64_t n) {                              \
        word *restrict const target = (word *)(void *)to;                                                              \
        const word *restrict const first = (const word *)(const void *)from[0];                                        \
        const word *restrict const second = (const word *)(const void *)from[1];                                       \
        const word *restrict const third = (const word *)(const void *)from[block > 2 ? 2 : 0];                        \
        const word *restrict const fourth = (const word *)(const void *)from[block > 3 ? 3 : 0];                       \
        for (int64_t i = 0; i < n; ++i) {                                                                              \
            target[i * block] = first[i];                                                                              \
            target[i * block + 1] = second[i];                                                                         \
            if (block > 2)                                                                                             \
                target[i * block + 2] = third[i];                                                                      \
            if (block > 3)                                                                                             \
                target[i * block + 3] = fourth[i];                                                                     \
        }                                                                                                              \
    }
#define DEALS(word) DEAL(word, 2) DEAL(word, 3) DEAL(word, 4)
DEALS(word1)
DEALS(word2)
DEALS(word4)
DEALS(word8)
#undef DEALS
#undef DEAL

typedef void (*deal_function)(char *const to[], const char *from, int64_t n);
typedef void (*collect_function)(char *to, const char *const from[], int64_t n);

/* -1 where there is no such loop. */
static inline int loop_of(size_t unit, int64_t block) {
    if (unit > 8 || (unit & (unit - 1)) != 0 || block < 2 || block > 4)
        return -1;
    return __builtin_ctz((unsigned)unit) * 3 + (int)block - 2;
}

/* Units of other sizes one by one, in the order in which they stand in space: memory is then read or written in one
 * run there. */
static inline __attribute__((always_inline)) void deal_ends(char *const to[], const char *from, int64_t n, size_t unit,
                                                            int64_t block, size_t piece) {
    char *run[4];
    for (int64_t o = 0; o < block && o < 4; ++o)
        run[o] = to[o];
    for (int64_t i = 0; i < n; ++i)
        for (int64_t o = 0; o < block; ++o, from += unit)
            copy_unit_ends((block <= 4 ? run[o] : to[o]) + i * (int64_t)unit, from, unit, piece);
}

static inline __attribute__((always_inline)) void collect_ends(char *to, const char *const from[], int64_t n,
                                                               size_t unit, int64_t block, size_t piece) {
    const char *run[4];
    for (int64_t o = 0; o < block && o < 4; ++o)
        run[o] = from[o];
    for (int64_t i = 0; i < n; ++i)
        for (int64_t o = 0; o < block; ++o, to += unit)
            copy_unit_ends(to, (block <= 4 ? run[o] : from[o]) + i * (int64_t)unit, unit, piece);
}

/* LOOP(block, piece) with the block a constant where it is small: the runs are then held in registers. */
#define BY_BLOCK(block, piece, LOOP)                                                                                   \
    do {                                                                                                               \
        if (block == 2)                                                                                                \
            LOOP(2, piece);                                                                                            \
        else if (block == 3)                                                                                           \
            LOOP(3, piece);                                                                                            \
        else if (block == 4)                                                                                           \
            LOOP(4, piece);                                                                                            \
        else                                                                                                           \
            LOOP(block, piece);                                                                                        \
    } while (0)

/* WITH(piece) for the piece that a unit has at most two of; the last is for units that are longer than two of 32. */
#define BY_PIECE(unit, WITH)                                                                                           \
    do {                                                                                                               \
        if (unit < 2)                                                                                                  \
            WITH(1);                                                                                                   \
        else if (unit <= 4)                                                                                            \
            WITH(2);                                                                                                   \
        else if (unit <= 8)                                                                                            \
            WITH(4);                                                                                                   \
        else if (unit <= 16)                                                                                           \
            WITH(8);                                                                                                   \
        else if (unit <= 32)                                                                                           \
            WITH(16);                                                                                                  \
        else                                                                                                           \
            WITH(32);                                                                                                  \
    } while (0)

/* n groups of `block` units, to[o] gets the o-th of each. */
static inline void deal_units(char *const to[], const char *from, int64_t n, size_t unit, int64_t block) {
    static const deal_function loops[] = {deal_word1_2, deal_word1_3, deal_word1_4, deal_word2_2,
                                          deal_word2_3, deal_word2_4, deal_word4_2, deal_word4_3,
                                          deal_word4_4, deal_word8_2, deal_word8_3, deal_word8_4};
    const int loop = loop_of(unit, block);
    if (loop >= 0) {
        loops[loop](to, from, n);
        return;
    }
    if (unit <= 64) {
#define DEAL_RUNS(runs, piece) deal_ends(to, from, n, unit, runs, piece)
#define DEAL_ENDS(piece)       BY_BLOCK(block, piece, DEAL_RUNS)
        BY_PIECE(unit, DEAL_ENDS);
#undef DEAL_ENDS
#undef DEAL_RUNS
        return;
    }
    for (int64_t i = 0; i < n; ++i)
        for (int64_t o = 0; o < block; ++o, from += unit)
            memcpy(to[o] + i * (int64_t)unit, from, unit);
}

static inline void collect_units(char *to, const char *const from[], int64_t n, size_t unit, int64_t block) {
    static const collect_function loops[] = {collect_word1_2, collect_word1_3, collect_word1_4, collect_word2_2,
                                             collect_word2_3, collect_word2_4, collect_word4_2, collect_word4_3,
                                             collect_word4_4, collect_word8_2, collect_word8_3, collect_word8_4};
    const int loop = loop_of(unit, block);
    if (loop >= 0) {
        loops[loop](to, from, n);
        return;
    }
    if (unit <= 64) {
#define COLLECT_RUNS(runs, piece) collect_ends(to, from, n, unit, runs, piece)
#define COLLECT_ENDS(piece)       BY_BLOCK(block, piece, COLLECT_RUNS)
        BY_PIECE(unit, COLLECT_ENDS);
#undef COLLECT_ENDS
#undef COLLECT_RUNS
        return;
    }
    for (int64_t i = 0; i < n; ++i)
        for (int64_t o = 0; o < block; ++o, to += unit)
            memcpy(to, from[o] + i * (int64_t)unit, unit);
}

#endif
