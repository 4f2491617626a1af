/* What kernels/vector.h asks of an instruction set, for Advanced SIMD of AArch64. A vector is one 128-bit lane.
 * Included by vector.h only. */
#ifndef KERF_KERNELS_VECTOR_NEON_H
#define KERF_KERNELS_VECTOR_NEON_H

#include <arm_neon.h>

#if KERF_CLASS == 0
#define KERF_LANES 4
typedef float32x4_t kerf_vec;
typedef float32x4_t kerf_lane;
typedef uint32x4_t kerf_mask;
#define KERF_NEON(name)   name##_f32
#define KERF_NEON_N(name) name##_n_f32
#else
#define KERF_LANES        2
typedef float64x2_t kerf_vec;
typedef float64x2_t kerf_lane;
typedef uint64x2_t kerf_mask;
#define KERF_NEON(name)   name##_f64
#define KERF_NEON_N(name) name##_n_f64
#endif

KERF_ALWAYS_INLINE kerf_vec kerf_vec_load(const kerf_real *from) {
    return KERF_NEON(vld1q)(from);
}
KERF_ALWAYS_INLINE void kerf_vec_store(kerf_real *to, kerf_vec v) {
    KERF_NEON(vst1q)(to, v);
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_set(kerf_real value) {
    return KERF_NEON_N(vdupq)(value);
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_fma(kerf_vec a, kerf_vec b, kerf_vec c) {
    return KERF_NEON(vfmaq)(c, a, b);
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_min(kerf_vec a, kerf_vec b) {
    return KERF_NEON(vminq)(a, b);
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_max(kerf_vec a, kerf_vec b) {
    return KERF_NEON(vmaxq)(a, b);
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_abs(kerf_vec v) {
    return KERF_NEON(vabsq)(v);
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_floor(kerf_vec v) {
    return KERF_NEON(vrndmq)(v);
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_round(kerf_vec v) {
    return KERF_NEON(vrndnq)(v);
}
KERF_ALWAYS_INLINE kerf_mask kerf_vec_le(kerf_vec a, kerf_vec b) {
    return KERF_NEON(vcleq)(a, b);
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_select(kerf_mask mask, kerf_vec yes, kerf_vec no) {
    return KERF_NEON(vbslq)(mask, yes, no);
}
KERF_ALWAYS_INLINE bool kerf_vec_all(kerf_mask mask) {
    return vminvq_u32((uint32x4_t)mask) != 0;
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_low(kerf_vec a, kerf_vec b) {
    return KERF_NEON(vzip1q)(a, b);
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_high(kerf_vec a, kerf_vec b) {
    return KERF_NEON(vzip2q)(a, b);
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_low_pairs(kerf_vec a, kerf_vec b) {
    return (kerf_vec)vzip1q_f64((float64x2_t)a, (float64x2_t)b);
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_high_pairs(kerf_vec a, kerf_vec b) {
    return (kerf_vec)vzip2q_f64((float64x2_t)a, (float64x2_t)b);
}
KERF_ALWAYS_INLINE void kerf_vec_deal(kerf_real *to, int64_t step, kerf_vec v) {
    (void)step;
    kerf_vec_store(to, v);
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_collect(const kerf_real *from, int64_t step) {
    (void)step;
    return kerf_vec_load(from);
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_collect_at(const kerf_real *from, const int32_t *offset, int step) {
    (void)step;
    return kerf_vec_load(from + *offset);
}
#if KERF_CLASS == 0
KERF_ALWAYS_INLINE kerf_vec kerf_vec_collect_pairs_at(const float *from, const int32_t *offset) {
    return vcombine_f32(vld1_f32(from + offset[0]), vld1_f32(from + offset[1]));
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_even(kerf_vec a, kerf_vec b) {
    return vuzp1q_f32(a, b);
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_odd(kerf_vec a, kerf_vec b) {
    return vuzp2q_f32(a, b);
}
#endif
KERF_ALWAYS_INLINE kerf_lane kerf_vec_fold(kerf_vec v) {
    return v;
}

#if KERF_CLASS == 0
KERF_ALWAYS_INLINE kerf_vec kerf_vec_load_f16(const void *from) {
    return vcvt_f32_f16((float16x4_t)vld1_u16((const uint16_t *)from));
}
KERF_ALWAYS_INLINE kerf_vec kerf_vec_load_bf16(const void *from) {
    return (kerf_vec)vshll_n_u16(vld1_u16((const uint16_t *)from), 16);
}
KERF_ALWAYS_INLINE void kerf_vec_store_f16(void *to, kerf_vec v) {
    vst1_u16((uint16_t *)to, (uint16x4_t)vcvt_f16_f32(v));
}
KERF_ALWAYS_INLINE void kerf_vec_store_bf16(void *to, kerf_vec v) {
    const uint32x4_t bits = (uint32x4_t)v, odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    const uint32x4_t rounded = vaddq_u32(bits, vaddq_u32(odd, vdupq_n_u32(0x7fff)));
    const uint32x4_t quiet = vorrq_u32(bits, vdupq_n_u32(0x400000));
    vst1_u16((uint16_t *)to, vshrn_n_u32(vbslq_u32(vceqq_f32(v, v), rounded, quiet), 16));
}
KERF_ALWAYS_INLINE kerf_lane kerf_lane_load_f16(const void *from) {
    return kerf_vec_load_f16(from);
}
KERF_ALWAYS_INLINE kerf_lane kerf_lane_load_bf16(const void *from) {
    return kerf_vec_load_bf16(from);
}
KERF_ALWAYS_INLINE void kerf_lane_store_f16(void *to, kerf_lane v) {
    kerf_vec_store_f16(to, v);
}
KERF_ALWAYS_INLINE void kerf_lane_store_bf16(void *to, kerf_lane v) {
    kerf_vec_store_bf16(to, v);
}
#endif

#endif
