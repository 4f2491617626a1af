/* Vectors of KERF_LANES kerf_reals of the instruction set that an object is compiled for, and quads of four. + - * are
 * written as operators; what the sets spell differently is here. To a shuffle a vector is a row of 128-bit lanes,
 * because that is what every set moves at full speed. Loads and stores take any address of an element. For
 * kernels/variants/ only: the functions are inlined into an object that runs on processors with its set. */
#ifndef KERF_KERNELS_VECTOR_H
#define KERF_KERNELS_VECTOR_H

#include "kernels/real.h"
#include <stdbool.h>
#include <stdint.h>

#define KERF_ALWAYS_INLINE static inline __attribute__((always_inline))
#define KERF_NEVER_INLINE  static __attribute__((noinline))

/* Each header defines
 *   kerf_vec, kerf_mask, kerf_lane, KERF_LANES; kerf_vec_load, _store, _set, _fma (a b + c, one rounding), _abs,
 * _floor, _round (half to even), _le, _select, _all; _min and _max: where b is NaN the result is NaN (so the bound
 * comes first, the value second); _low, _high: the elements of the low or high half of each lane of a and b,
 * alternating; _low_pairs, _high_pairs: the same with 64-bit pairs; _deal and _collect: lane i to and from address + i
 * step; _collect_at: lane i from address + offset[i step]; _fold: the sum of all lanes; _load_f16, _load_bf16,
 * _store_f16, _store_bf16: KERF_LANES elements, rounded to nearest even; kerf_lane_load_f16 and so on: the same for the
 * four elements of a lane. For floats: _collect_pairs_at: lane i from the pairs at address + offset[4 i] and address +
 * offset[4 i + 1]; _even, _odd: the elements of a lane of a, then of b, with such a place. */
#if defined(__AVX2__)
#include "kernels/vector_x86.h"
#elif defined(__aarch64__)
#include "kernels/vector_neon.h"
#else
#error "kernels/vector.h knows AVX2, AVX-512 and NEON: compile with the flags of one of them"
#endif

typedef kerf_real kerf_quad __attribute__((vector_size(4 * sizeof(kerf_real)), aligned(sizeof(kerf_real)), may_alias));

KERF_ALWAYS_INLINE kerf_vec kerf_vec_load_as(kerf_dtype dtype, const void *from) {
#if KERF_CLASS == 0
    if (dtype == KERF_F16)
        return kerf_vec_load_f16(from);
    if (dtype == KERF_BF16)
        return kerf_vec_load_bf16(from);
#else
    (void)dtype;
#endif
    return kerf_vec_load((const kerf_real *)from);
}

KERF_ALWAYS_INLINE void kerf_vec_store_as(kerf_dtype dtype, void *to, kerf_vec v) {
#if KERF_CLASS == 0
    if (dtype == KERF_F16)
        kerf_vec_store_f16(to, v);
    else if (dtype == KERF_BF16)
        kerf_vec_store_bf16(to, v);
    else
#else
    (void)dtype;
#endif
        kerf_vec_store((kerf_real *)to, v);
}

/* Four rows of KERF_LANES elements become KERF_LANES quads, `pitch` elements apart: a transposition. */
KERF_ALWAYS_INLINE void kerf_vec_store_quads(kerf_real *to, int64_t pitch, kerf_vec a, kerf_vec b, kerf_vec c,
                                             kerf_vec d) {
#if KERF_CLASS == 0
    const kerf_vec ab0 = kerf_vec_low(a, b), ab2 = kerf_vec_high(a, b);
    const kerf_vec cd0 = kerf_vec_low(c, d), cd2 = kerf_vec_high(c, d);
    kerf_vec_deal(to, 4 * pitch, kerf_vec_low_pairs(ab0, cd0));
    kerf_vec_deal(to + pitch, 4 * pitch, kerf_vec_high_pairs(ab0, cd0));
    kerf_vec_deal(to + 2 * pitch, 4 * pitch, kerf_vec_low_pairs(ab2, cd2));
    kerf_vec_deal(to + 3 * pitch, 4 * pitch, kerf_vec_high_pairs(ab2, cd2));
#else
    kerf_vec_deal(to, 2 * pitch, kerf_vec_low(a, b));
    kerf_vec_deal(to + 2, 2 * pitch, kerf_vec_low(c, d));
    kerf_vec_deal(to + pitch, 2 * pitch, kerf_vec_high(a, b));
    kerf_vec_deal(to + pitch + 2, 2 * pitch, kerf_vec_high(c, d));
#endif
}

/* Rows of the quads whose parts of one lane are given: the shuffles of a transposition. */
#if KERF_CLASS == 0
KERF_ALWAYS_INLINE void kerf_vec_rows_of_quads(kerf_vec q0, kerf_vec q1, kerf_vec q2, kerf_vec q3, kerf_vec row[4]) {
    const kerf_vec ab01 = kerf_vec_low(q0, q1), cd01 = kerf_vec_high(q0, q1);
    const kerf_vec ab23 = kerf_vec_low(q2, q3), cd23 = kerf_vec_high(q2, q3);
    row[0] = kerf_vec_low_pairs(ab01, ab23);
    row[1] = kerf_vec_high_pairs(ab01, ab23);
    row[2] = kerf_vec_low_pairs(cd01, cd23);
    row[3] = kerf_vec_high_pairs(cd01, cd23);
}
#else
KERF_ALWAYS_INLINE void kerf_vec_rows_of_quads(kerf_vec ab0, kerf_vec ab1, kerf_vec cd0, kerf_vec cd1,
                                               kerf_vec row[4]) {
    row[0] = kerf_vec_low(ab0, ab1);
    row[1] = kerf_vec_high(ab0, ab1);
    row[2] = kerf_vec_low(cd0, cd1);
    row[3] = kerf_vec_high(cd0, cd1);
}
#endif

/* The way back: element e of quad i becomes element i of row e. */
KERF_ALWAYS_INLINE void kerf_vec_load_quads(const kerf_real *from, int64_t pitch, kerf_vec row[4]) {
#if KERF_CLASS == 0
    kerf_vec_rows_of_quads(kerf_vec_collect(from, 4 * pitch), kerf_vec_collect(from + pitch, 4 * pitch),
                           kerf_vec_collect(from + 2 * pitch, 4 * pitch), kerf_vec_collect(from + 3 * pitch, 4 * pitch),
                           row);
#else
    kerf_vec_rows_of_quads(kerf_vec_collect(from, 2 * pitch), kerf_vec_collect(from + pitch, 2 * pitch),
                           kerf_vec_collect(from + 2, 2 * pitch), kerf_vec_collect(from + pitch + 2, 2 * pitch), row);
#endif
}

/* The same for quads that begin at from + offset[i]. Rows that the caller does not use cost nothing. */
KERF_ALWAYS_INLINE void kerf_vec_load_quads_at(const kerf_real *from, const int32_t *offset, kerf_vec row[4]) {
#if KERF_CLASS == 0
    kerf_vec_rows_of_quads(kerf_vec_collect_at(from, offset, 4), kerf_vec_collect_at(from, offset + 1, 4),
                           kerf_vec_collect_at(from, offset + 2, 4), kerf_vec_collect_at(from, offset + 3, 4), row);
#else
    kerf_vec_rows_of_quads(kerf_vec_collect_at(from, offset, 2), kerf_vec_collect_at(from, offset + 1, 2),
                           kerf_vec_collect_at(from + 2, offset, 2), kerf_vec_collect_at(from + 2, offset + 1, 2), row);
#endif
}

/* The pairs of elements that begin at from + offset[i]: row[0] has the first of each, row[1] the second. */
KERF_ALWAYS_INLINE void kerf_vec_load_pairs_at(const kerf_real *from, const int32_t *offset, kerf_vec row[2]) {
#if KERF_CLASS == 0
    const kerf_vec a = kerf_vec_collect_pairs_at(from, offset), b = kerf_vec_collect_pairs_at(from, offset + 2);
    row[0] = kerf_vec_even(a, b);
    row[1] = kerf_vec_odd(a, b);
#else
    const kerf_vec a = kerf_vec_collect_at(from, offset, 2), b = kerf_vec_collect_at(from, offset + 1, 2);
    row[0] = kerf_vec_low(a, b);
    row[1] = kerf_vec_high(a, b);
#endif
}

/* Pairs (x, y) that follow each other, to and from one vector of each. */
KERF_ALWAYS_INLINE void kerf_vec_load_pairs(const kerf_real *from, kerf_vec *x, kerf_vec *y) {
    const int64_t lane = 16 / sizeof(kerf_real);
    kerf_vec a = kerf_vec_collect(from, 2 * lane), b = kerf_vec_collect(from + lane, 2 * lane);
#if KERF_CLASS == 0
    const kerf_vec even = kerf_vec_low(a, b);
    b = kerf_vec_high(a, b);
    a = even;
#endif
    *x = kerf_vec_low(a, b);
    *y = kerf_vec_high(a, b);
}
KERF_ALWAYS_INLINE void kerf_vec_store_pairs(kerf_real *to, kerf_vec x, kerf_vec y) {
    const int64_t lane = 16 / sizeof(kerf_real);
    kerf_vec_deal(to, 2 * lane, kerf_vec_low(x, y));
    kerf_vec_deal(to + lane, 2 * lane, kerf_vec_high(x, y));
}

/* The sums of the elements of a, b, c and d. */
KERF_ALWAYS_INLINE kerf_quad kerf_vec_sum4(kerf_vec a, kerf_vec b, kerf_vec c, kerf_vec d) {
    const kerf_vec ab = kerf_vec_low(a, b) + kerf_vec_high(a, b), cd = kerf_vec_low(c, d) + kerf_vec_high(c, d);
#if KERF_CLASS == 0
    return (kerf_quad)kerf_vec_fold(kerf_vec_low_pairs(ab, cd) + kerf_vec_high_pairs(ab, cd));
#else
    return __builtin_shufflevector(kerf_vec_fold(ab), kerf_vec_fold(cd), 0, 1, 2, 3);
#endif
}

KERF_ALWAYS_INLINE kerf_quad kerf_quad_load(const kerf_real *from) {
    return *(const kerf_quad *)from;
}
KERF_ALWAYS_INLINE void kerf_quad_store(kerf_real *to, kerf_quad q) {
    *(kerf_quad *)to = q;
}
KERF_ALWAYS_INLINE kerf_quad kerf_quad_load_as(kerf_dtype dtype, const void *from) {
#if KERF_CLASS == 0
    if (dtype == KERF_F16)
        return (kerf_quad)kerf_lane_load_f16(from);
    if (dtype == KERF_BF16)
        return (kerf_quad)kerf_lane_load_bf16(from);
#else
    (void)dtype;
#endif
    return kerf_quad_load((const kerf_real *)from);
}
KERF_ALWAYS_INLINE void kerf_quad_store_as(kerf_dtype dtype, void *to, kerf_quad q) {
#if KERF_CLASS == 0
    if (dtype == KERF_F16)
        kerf_lane_store_f16(to, (kerf_lane)q);
    else if (dtype == KERF_BF16)
        kerf_lane_store_bf16(to, (kerf_lane)q);
    else
#else
    (void)dtype;
#endif
        kerf_quad_store((kerf_real *)to, q);
}
KERF_ALWAYS_INLINE kerf_quad kerf_quad_sum4(kerf_quad a, kerf_quad b, kerf_quad c, kerf_quad d) {
    const kerf_quad ab = __builtin_shufflevector(a, b, 0, 4, 1, 5) + __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const kerf_quad cd = __builtin_shufflevector(c, d, 0, 4, 1, 5) + __builtin_shufflevector(c, d, 2, 6, 3, 7);
    return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}

#endif
