/* Stores that go around the caches: for results that are larger than the caches, a line then costs one transfer instead
 * of two, since it is not read before it is written. Where the processor has none they are ordinary stores. */
#ifndef KERF_KERNELS_STREAM_H
#define KERF_KERNELS_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

#define KERF_STREAM_LINE 64

#ifdef __SSE2__

static inline void kerf_stream_line(char *to, const char *from) {
#ifdef __AVX__
    const __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)from);
    const __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(from + 32));
    _mm256_stream_si256((__m256i *)(void *)to, a);
    _mm256_stream_si256((__m256i *)(void *)(to + 32), b);
#else
    for (int i = 0; i < KERF_STREAM_LINE; i += 16)
        _mm_stream_si128((__m128i *)(void *)(to + i), _mm_loadu_si128((const __m128i *)(const void *)(from + i)));
#endif
}

/* Whole lines of `to` around the caches, its ends through them. The two do not overlap. Meanwhile as many bytes from
 * `ahead` on are called into the caches, which the next copy will want; it may lie outside of any object, or be `from`.
 */
static inline void kerf_stream_copy(void *to, const void *from, size_t bytes, const void *ahead) {
    char *at = to;
    const char *source = from;
    const size_t before = (size_t)(-(uintptr_t)at % KERF_STREAM_LINE), head = before < bytes ? before : bytes;
    memcpy(at, source, head);
    at += head;
    source += head;
    bytes -= head;
    for (size_t i = 0; i + KERF_STREAM_LINE <= bytes; i += KERF_STREAM_LINE) {
        __builtin_prefetch((const void *)((uintptr_t)ahead + i));
        kerf_stream_line(at + i, source + i);
    }
    at += bytes / KERF_STREAM_LINE * KERF_STREAM_LINE;
    source += bytes / KERF_STREAM_LINE * KERF_STREAM_LINE;
    bytes %= KERF_STREAM_LINE;
    memcpy(at, source, bytes);
}

/* Before another thread may read what was streamed. */
static inline void kerf_stream_end(void) {
    _mm_sfence();
}

#else

static inline void kerf_stream_copy(void *to, const void *from, size_t bytes, const void *ahead) {
    (void)ahead;
    memcpy(to, from, bytes);
}

static inline void kerf_stream_end(void) {
}

#endif

#endif
