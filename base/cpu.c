#include "base/cpu.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>

/* clang 14 does not know "f16c" by name. AVX2, which is asked first, vouches for the system's saving of the registers.
 */
static int has_f16c(void) {
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
#endif

static uint64_t isa_of_processor(void) {
    uint64_t isa = 0;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c())
        isa |= KERF_ISA_AVX2;
    if ((isa & KERF_ISA_AVX2) && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        isa |= KERF_ISA_AVX512;
#elif defined(__aarch64__)
    isa |= KERF_ISA_NEON;
#endif
    return isa;
}

/* False where a word of the list is not known; the mask has the others. */
static bool parse_isa(const char *list, uint64_t *mask) {
    static const struct {
        const char *name;
        uint64_t mask;
    } known[] = {{"avx2", KERF_ISA_AVX2}, {"avx512", KERF_ISA_AVX512}, {"neon", KERF_ISA_NEON}, {"none", 0}};
    static const char between[] = ", ";
    bool all_known = true;
    *mask = 0;
    for (list += strspn(list, between); *list; list += strspn(list, between)) {
        const size_t length = strcspn(list, between);
        bool is_known = false;
        for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i)
            if (strlen(known[i].name) == length && strncmp(list, known[i].name, length) == 0) {
                *mask |= known[i].mask;
                is_known = true;
            }
        all_known = all_known && is_known;
        list += length;
    }
    return all_known;
}

uint64_t kerf_cpu_isa(void) {
    const uint64_t isa = isa_of_processor();
    const char *const allowed = getenv("KERF_ISA");
    uint64_t mask;
    if (!allowed)
        return isa;
    parse_isa(allowed, &mask);
    return isa & mask;
}

bool kerf_cpu_isa_is_known(void) {
    const char *const allowed = getenv("KERF_ISA");
    uint64_t mask;
    return !allowed || parse_isa(allowed, &mask);
}

int kerf_cpu_count(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return CPU_COUNT(&set);
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}

const char *kerf_cpu_model(void) {
    static char model[128] = "unknown";
    FILE *const file = fopen("/proc/cpuinfo", "r");
    if (!file)
        return model;
    char line[256];
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "model name", 10) != 0)
            continue;
        const char *const colon = strchr(line, ':');
        if (colon && sscanf(colon + 1, " %127[^\n]", model) == 1)
            break;
    }
    fclose(file);
    return model;
}

/* A number from a file of the system, or `otherwise`: "max" in a control group means no limit. */
static size_t read_bytes(const char *path, size_t otherwise) {
    FILE *const file = fopen(path, "r");
    if (!file)
        return otherwise;
    size_t bytes;
    const bool got = fscanf(file, "%zu", &bytes) == 1;
    fclose(file);
    return got ? bytes : otherwise;
}

/* What the control group (version 2) of a container leaves. */
static size_t group_allows(void) {
    const size_t most = read_bytes("/sys/fs/cgroup/memory.max", SIZE_MAX);
    const size_t taken = read_bytes("/sys/fs/cgroup/memory.current", 0);
    return most == SIZE_MAX ? SIZE_MAX : most > taken ? most - taken : 0;
}

size_t kerf_memory_available(void) {
    FILE *const file = fopen("/proc/meminfo", "r");
    unsigned long long kib = 0;
    if (file) {
        char line[128];
        while (fgets(line, sizeof line, file))
            if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
                break;
        fclose(file);
    }
    const size_t free_bytes =
        kib == 0 ? (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE) : (size_t)kib * 1024;
    const size_t allowed_bytes = group_allows();
    return free_bytes < allowed_bytes ? free_bytes : allowed_bytes;
}
