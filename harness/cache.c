#include "harness/cache.h"

#include <stdint.h>

const char *kerf_cache_mode_name(kerf_cache_mode mode) {
    return mode == KERF_HOT ? "hot" : "cold";
}

#if defined(__x86_64__)

#include <cpuid.h>
#include <stdbool.h>

/* Asked once: under a hypervisor each cpuid leaves the virtual machine. */
static bool has_clflushopt(void) {
    static enum { UNKNOWN, NO, YES } answer;
    unsigned a, b, c, d;
    if (answer == UNKNOWN)
        answer = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & 1u << 23) ? YES : NO;
    return answer == YES;
}

static size_t line_bytes(void) {
    static size_t bytes;
    unsigned a, b, c, d;
    if (bytes == 0)
        bytes = __get_cpuid(1, &a, &b, &c, &d) && (b >> 8 & 0xff) ? (size_t)(b >> 8 & 0xff) * 8 : 64;
    return bytes;
}

/* clflush waits for the one before it; clflushopt does not, and is several times faster on many lines. */
static void evict_line_in_order(const char *line) {
    __asm__ volatile("clflush (%0)" ::"r"(line) : "memory");
}

static void evict_line(const char *line) {
    __asm__ volatile("clflushopt (%0)" ::"r"(line) : "memory");
}

static void evict_lines(const char *line, const char *end, size_t step) {
    if (has_clflushopt())
        for (; line < end; line += step)
            evict_line(line);
    else
        for (; line < end; line += step)
            evict_line_in_order(line);
}

void kerf_cache_evicted(void) {
    __asm__ volatile("mfence" ::: "memory");
}

#elif defined(__aarch64__)

static size_t line_bytes(void) {
    uint64_t type;
    __asm__("mrs %0, ctr_el0" : "=r"(type));
    return (size_t)4 << (type >> 16 & 0xf);
}

static void evict_lines(const char *line, const char *end, size_t step) {
    for (; line < end; line += step)
        __asm__ volatile("dc civac, %0" ::"r"(line) : "memory");
}

void kerf_cache_evicted(void) {
    __asm__ volatile("dsb ish" ::: "memory");
}

#else

static size_t line_bytes(void) {
    return 64;
}

static void evict_lines(const char *line, const char *end, size_t step) {
    (void)line, (void)end, (void)step;
}

void kerf_cache_evicted(void) {
}

#endif

void kerf_cache_evict(const void *begin, size_t bytes) {
    const size_t step = line_bytes();
    const uintptr_t first = (uintptr_t)begin / step * step;
    if (bytes > 0)
        evict_lines((const char *)first, (const char *)begin + bytes, step);
}

const char *kerf_cache_cannot_evict(void) {
#if defined(__x86_64__) || defined(__aarch64__)
    return 0;
#else
    return "no instruction is known that empties the caches of this processor";
#endif
}
