/* What kernels/vector.h asks of an instruction set, for AVX2 (with FMA and F16C) and AVX-512 (F, BW, DQ, VL).
 * Included by vector.h only. */
#ifndef KERF_KERNELS_VECTOR_X86_H
#define KERF_KERNELS_VECTOR_X86_H

#include <immintrin.h>

/* KERF_MM(add) is the intrinsic of whole vectors, KERF_X(add) the one of a 128-bit lane. */
#define KERF_PASTE_(a, b, c) a##b##c
#define KERF_PASTE(a, b, c)  KERF_PASTE_(a, b, c)
#if KERF_CLASS == 0
#define KERF_SUFFIX _ps
typedef __m128 kerf_lane;
#else
#define KERF_SUFFIX _pd
typedef __m128d kerf_lane;
#endif
#define KERF_X(name) KERF_PASTE(_mm_, name, KERF_SUFFIX)

#if KERF_CLASS == 0
/* Two elements at from + offset[0] and two at from + offset[1]. */
KERF_ALWAYS_INLINE kerf_lane kerf_lane_pairs(const float *from, const int32_t *offset) {
    const kerf_lane low = _mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)(const void *)(from + offset[0])));
    return _mm_loadh_pi(low, (const __m64 *)(const void *)(from + offset[1]));
}
#endif

#if defined(__AVX512F__)

#define KERF_MM(name) KERF_PASTE(_mm512_, name, KERF_SUFFIX)
#if KERF_CLASS == 0
#define KERF_LANES 16
typedef __m512 kerf_vec;
typedef __mmask16 kerf_mask;
#define KERF_PART(v, i)            _mm512_extractf32x4_ps(v, i)
#define KERF_WITH_PART(v, lane, i) _mm512_insertf32x4(v, lane, i)
#define KERF_WIDEN(lane)           _mm512_castps128_ps512(lane)
#define KERF_LOW_HALF(v)           _mm512_castps512_ps256(v)
#define KERF_HIGH_HALF(v)          _mm512_extractf32x8_ps(v, 1)
#define KERF_HALF_PART(half, i)    _mm256_extractf128_ps(half, i)
#else
#define KERF_LANES                 8
typedef __m512d kerf_vec;
typedef __mmask8 kerf_mask;
#define KERF_PART(v, i)            _mm512_extractf64x2_pd(v, i)
#define KERF_WITH_PART(v, lane, i) _mm512_insertf64x2(v, lane, i)
#define KERF_WIDEN(lane)           _mm512_castpd128_pd512(lane)
#define KERF_LOW_HALF(v)           _mm512_castpd512_pd256(v)
#define KERF_HIGH_HALF(v)          _mm512_extractf64x4_pd(v, 1)
#define KERF_HALF_PART(half, i)    _mm256_extractf128_pd(half, i)
#endif
#define KERF_ROUND(v, how) KERF_MM(roundscale)(v, how)

KERF_ALWAYS_INLINE kerf_mask kerf_vec_le(kerf_vec a, kerf_vec b) {
    return KERF_PASTE(_mm512_cmp, KERF_SUFFIX, _mask)(a, b, _CMP_LE_OQ);
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_select(kerf_mask mask, kerf_vec yes, kerf_vec no) {
    return KERF_MM(mask_blend)(mask, no, yes);
}
KERF_ALWAYS_INLINE bool kerf_vec_all(kerf_mask mask) {
    return mask == (kerf_mask)((1u << KERF_LANES) - 1u);
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_low_pairs(kerf_vec a, kerf_vec b) {
    return (kerf_vec)_mm512_unpacklo_pd((__m512d)a, (__m512d)b);
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_high_pairs(kerf_vec a, kerf_vec b) {
    return (kerf_vec)_mm512_unpackhi_pd((__m512d)a, (__m512d)b);
}
KERF_ALWAYS_INLINE void kerf_vec_deal(kerf_real *to, int64_t step, kerf_vec v) {
    KERF_X(storeu)(to, KERF_PART(v, 0));
    KERF_X(storeu)(to + step, KERF_PART(v, 1));
    KERF_X(storeu)(to + 2 * step, KERF_PART(v, 2));
    KERF_X(storeu)(to + 3 * step, KERF_PART(v, 3));
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_collect(const kerf_real *from, int64_t step) {
    kerf_vec v = KERF_WIDEN(KERF_X(loadu)(from));
    v = KERF_WITH_PART(v, KERF_X(loadu)(from + step), 1);
    v = KERF_WITH_PART(v, KERF_X(loadu)(from + 2 * step), 2);
    return KERF_WITH_PART(v, KERF_X(loadu)(from + 3 * step), 3);
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_collect_at(const kerf_real *from, const int32_t *offset, int step) {
    kerf_vec v = KERF_WIDEN(KERF_X(loadu)(from + offset[0]));
    v = KERF_WITH_PART(v, KERF_X(loadu)(from + offset[step]), 1);
    v = KERF_WITH_PART(v, KERF_X(loadu)(from + offset[2 * step]), 2);
    return KERF_WITH_PART(v, KERF_X(loadu)(from + offset[3 * step]), 3);
}
#if KERF_CLASS == 0
KERF_ALWAYS_INLINE kerf_vec kerf_vec_collect_pairs_at(const float *from, const int32_t *offset) {
    kerf_vec v = KERF_WIDEN(kerf_lane_pairs(from, offset));
    v = KERF_WITH_PART(v, kerf_lane_pairs(from, offset + 4), 1);
    v = KERF_WITH_PART(v, kerf_lane_pairs(from, offset + 8), 2);
    return KERF_WITH_PART(v, kerf_lane_pairs(from, offset + 12), 3);
}
#endif
KERF_ALWAYS_INLINE kerf_lane kerf_vec_fold(kerf_vec v) {
    const __typeof__(KERF_LOW_HALF(v)) half = KERF_LOW_HALF(v) + KERF_HIGH_HALF(v);
    return KERF_HALF_PART(half, 0) + KERF_HALF_PART(half, 1);
}

#if KERF_CLASS == 0
KERF_ALWAYS_INLINE kerf_vec kerf_vec_load_f16(const void *from) {
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)from));
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_load_bf16(const void *from) {
    return (kerf_vec)_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)from)), 16);
}
KERF_ALWAYS_INLINE void kerf_vec_store_f16(void *to, kerf_vec v) {
    _mm256_storeu_si256((__m256i *)to, _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}
KERF_ALWAYS_INLINE void kerf_vec_store_bf16(void *to, kerf_vec v) {
    const __m512i bits = (__m512i)v, odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    const __m512i quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x400000));
    const __m512i right = _mm512_mask_blend_epi32(_mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), rounded, quiet);
    _mm256_storeu_si256((__m256i *)to, _mm512_cvtepi32_epi16(_mm512_srli_epi32(right, 16)));
}
#endif

#else

#define KERF_MM(name) KERF_PASTE(_mm256_, name, KERF_SUFFIX)
#if KERF_CLASS == 0
#define KERF_LANES       8
typedef __m256 kerf_vec;
typedef __m256 kerf_mask;
#define KERF_WIDEN(lane) _mm256_castps128_ps256(lane)
#else
#define KERF_LANES       4
typedef __m256d kerf_vec;
typedef __m256d kerf_mask;
#define KERF_WIDEN(lane) _mm256_castpd128_pd256(lane)
#endif
#define KERF_ROUND(v, how) KERF_MM(round)(v, how)

KERF_ALWAYS_INLINE kerf_mask kerf_vec_le(kerf_vec a, kerf_vec b) {
    return KERF_MM(cmp)(a, b, _CMP_LE_OQ);
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_select(kerf_mask mask, kerf_vec yes, kerf_vec no) {
    return KERF_MM(blendv)(no, yes, mask);
}
KERF_ALWAYS_INLINE bool kerf_vec_all(kerf_mask mask) {
    return KERF_MM(movemask)(mask) == (1 << KERF_LANES) - 1;
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_low_pairs(kerf_vec a, kerf_vec b) {
    return (kerf_vec)_mm256_unpacklo_pd((__m256d)a, (__m256d)b);
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_high_pairs(kerf_vec a, kerf_vec b) {
    return (kerf_vec)_mm256_unpackhi_pd((__m256d)a, (__m256d)b);
}
KERF_ALWAYS_INLINE void kerf_vec_deal(kerf_real *to, int64_t step, kerf_vec v) {
    KERF_X(storeu)(to, KERF_PASTE(_mm256_extractf128, KERF_SUFFIX, )(v, 0));
    KERF_X(storeu)(to + step, KERF_PASTE(_mm256_extractf128, KERF_SUFFIX, )(v, 1));
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_collect(const kerf_real *from, int64_t step) {
    const kerf_vec low = KERF_WIDEN(KERF_X(loadu)(from));
    return KERF_PASTE(_mm256_insertf128, KERF_SUFFIX, )(low, KERF_X(loadu)(from + step), 1);
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_collect_at(const kerf_real *from, const int32_t *offset, int step) {
    const kerf_vec low = KERF_WIDEN(KERF_X(loadu)(from + offset[0]));
    return KERF_PASTE(_mm256_insertf128, KERF_SUFFIX, )(low, KERF_X(loadu)(from + offset[step]), 1);
}
#if KERF_CLASS == 0
KERF_ALWAYS_INLINE kerf_vec kerf_vec_collect_pairs_at(const float *from, const int32_t *offset) {
    return _mm256_insertf128_ps(KERF_WIDEN(kerf_lane_pairs(from, offset)), kerf_lane_pairs(from, offset + 4), 1);
}
#endif
KERF_ALWAYS_INLINE kerf_lane kerf_vec_fold(kerf_vec v) {
    const kerf_lane low = KERF_PASTE(_mm256_extractf128, KERF_SUFFIX, )(v, 0);
    return low + KERF_PASTE(_mm256_extractf128, KERF_SUFFIX, )(v, 1);
}

#if KERF_CLASS == 0
KERF_ALWAYS_INLINE kerf_vec kerf_vec_load_f16(const void *from) {
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)from));
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_load_bf16(const void *from) {
    return (kerf_vec)_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)from)), 16);
}
KERF_ALWAYS_INLINE void kerf_vec_store_f16(void *to, kerf_vec v) {
    _mm_storeu_si128((__m128i *)to, _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}
KERF_ALWAYS_INLINE void kerf_vec_store_bf16(void *to, kerf_vec v) {
    const __m256i bits = (__m256i)v, odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i rounded = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
    const __m256 right = _mm256_blendv_ps((__m256)rounded, (__m256)quiet, _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    const __m256i high = _mm256_srli_epi32((__m256i)right, 16);
    _mm_storeu_si128((__m128i *)to, _mm_packus_epi32(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1)));
}
#endif

#endif

#if KERF_CLASS == 0
KERF_ALWAYS_INLINE kerf_lane kerf_lane_load_f16(const void *from) {
    return _mm_cvtph_ps(_mm_loadl_epi64((const __m128i *)from));
}
KERF_ALWAYS_INLINE kerf_lane kerf_lane_load_bf16(const void *from) {
    return (kerf_lane)_mm_unpacklo_epi16(_mm_setzero_si128(), _mm_loadl_epi64((const __m128i *)from));
}
KERF_ALWAYS_INLINE void kerf_lane_store_f16(void *to, kerf_lane v) {
    _mm_storel_epi64((__m128i *)to, _mm_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}
KERF_ALWAYS_INLINE void kerf_lane_store_bf16(void *to, kerf_lane v) {
    const __m128i bits = (__m128i)v, odd = _mm_and_si128(_mm_srli_epi32(bits, 16), _mm_set1_epi32(1));
    const __m128i rounded = _mm_add_epi32(bits, _mm_add_epi32(odd, _mm_set1_epi32(0x7fff)));
    const __m128i quiet = _mm_or_si128(bits, _mm_set1_epi32(0x400000));
    const __m128 right = _mm_blendv_ps((__m128)rounded, (__m128)quiet, _mm_cmp_ps(v, v, _CMP_UNORD_Q));
    const __m128i high = _mm_srli_epi32((__m128i)right, 16);
    _mm_storel_epi64((__m128i *)to, _mm_packus_epi32(high, high));
}
#endif

KERF_ALWAYS_INLINE kerf_vec kerf_vec_load(const kerf_real *from) {
    return KERF_MM(loadu)(from);
}
KERF_ALWAYS_INLINE void kerf_vec_store(kerf_real *to, kerf_vec v) {
    KERF_MM(storeu)(to, v);
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_set(kerf_real value) {
    return KERF_MM(set1)(value);
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_fma(kerf_vec a, kerf_vec b, kerf_vec c) {
    return KERF_MM(fmadd)(a, b, c);
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_min(kerf_vec a, kerf_vec b) {
    return KERF_MM(min)(a, b);
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_max(kerf_vec a, kerf_vec b) {
    return KERF_MM(max)(a, b);
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_abs(kerf_vec v) {
    return KERF_MM(andnot)(KERF_MM(set1)(KERF_REAL(-0.0)), v);
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_floor(kerf_vec v) {
    return KERF_ROUND(v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_round(kerf_vec v) {
    return KERF_ROUND(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
#if KERF_CLASS == 0
KERF_ALWAYS_INLINE kerf_vec kerf_vec_even(kerf_vec a, kerf_vec b) {
    return KERF_MM(shuffle)(a, b, 0x88);
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_odd(kerf_vec a, kerf_vec b) {
    return KERF_MM(shuffle)(a, b, 0xdd);
}
#endif
KERF_ALWAYS_INLINE kerf_vec kerf_vec_low(kerf_vec a, kerf_vec b) {
    return KERF_MM(unpacklo)(a, b);
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_high(kerf_vec a, kerf_vec b) {
    return KERF_MM(unpackhi)(a, b);
}

#endif
