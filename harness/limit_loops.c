#include "harness/limit_loops.h"

#include "base/cpu.h"
#include "base/rng.h"
#include "harness/cache.h"
#include "harness/team.h"
#include <stdlib.h>
#include <sys/mman.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { UNROLLED = 8, BLOCK_BYTES = UNROLLED * 64 };

/* What one rank does; bytes are multiples of UNROLLED vectors. */
typedef struct loop_set {
    void (*read)(const char *from, size_t bytes, uint32_t passes);
    void (*write)(char *to, size_t bytes, uint32_t passes);
    void (*copy)(char *to, const char *from, size_t bytes, uint32_t passes);
    void (*write_streamed)(char *to, size_t bytes, uint32_t passes);
    void (*copy_streamed)(char *to, const char *from, size_t bytes, uint32_t passes);
    void (*f32)(uint32_t steps);
    void (*f64)(uint32_t steps);
    int bytes; /* of a vector */
} loop_set;

/* Between passes the compiler must take all memory for read and changed; inside a loop it keeps the stores from being
 * turned into a call of memset or memcpy. */
#define BARRIER() __asm__ volatile("" ::: "memory")

#if defined(__x86_64__)
#define FENCE()             _mm_sfence()
#define IN_REGISTER         "x"
#define STORE_128(to, what) _mm_stream_si128((__m128i *)(to), (__m128i)(what))
#define STORE_256(to, what) _mm256_stream_si256((__m256i *)(to), (__m256i)(what))
#define STORE_512(to, what) _mm512_stream_si512((__m512i *)(to), (__m512i)(what))
#else
#define FENCE() ((void)0)
#if defined(__aarch64__)
#define IN_REGISTER "w"
#else
#define IN_REGISTER "m"
#endif
#define STORE_128(to, what) (*(to) = (what))
#endif
#define STORE_PLAIN(to, what) (*(to) = (what))

/* Twelve sums: two units with a latency of four to six steps need that many independent ones. They approach 1, so that
 * neither overflow nor subnormal numbers occur. */
#define SUMS(ISA, TARGET, REAL, VECTOR)                                                                                \
    TARGET static void REAL##_##ISA(uint32_t steps) {                                                                  \
        VECTOR a = {0}, b = {0}, c = {0}, d = {0}, e = {0}, f = {0}, g = {0}, h = {0}, i = {0}, j = {0}, k = {0},      \
               l = {0};                                                                                                \
        VECTOR scale = a + (REAL)0.75, step = a + (REAL)0.25;                                                          \
        __asm__ volatile("" : "+" IN_REGISTER(scale), "+" IN_REGISTER(step));                                          \
        for (uint32_t n = 0; n < steps; ++n) {                                                                         \
            a = a * scale + step, b = b * scale + step, c = c * scale + step, d = d * scale + step;                    \
            e = e * scale + step, f = f * scale + step, g = g * scale + step, h = h * scale + step;                    \
            i = i * scale + step, j = j * scale + step, k = k * scale + step, l = l * scale + step;                    \
            __asm__ volatile("" : "+" IN_REGISTER(a), "+" IN_REGISTER(b), "+" IN_REGISTER(c), "+" IN_REGISTER(d));     \
            __asm__ volatile("" : "+" IN_REGISTER(e), "+" IN_REGISTER(f), "+" IN_REGISTER(g), "+" IN_REGISTER(h));     \
            __asm__ volatile("" : "+" IN_REGISTER(i), "+" IN_REGISTER(j), "+" IN_REGISTER(k), "+" IN_REGISTER(l));     \
        }                                                                                                              \
    }

#define WRITES(ISA, TARGET, NAME, STORE)                                                                               \
    TARGET static void NAME##_##ISA(char *to, size_t bytes, uint32_t passes) {                                         \
        words_##ISA value = {0};                                                                                       \
        value += UINT64_C(0x3ff9e3779b97f4a7);                                                                         \
        for (uint32_t pass = 0; pass < passes; ++pass) {                                                               \
            words_##ISA *const end = (words_##ISA *)(to + bytes);                                                      \
            for (words_##ISA *at = (words_##ISA *)to; at < end; at += UNROLLED) {                                      \
                STORE(at, value), STORE(at + 1, value), STORE(at + 2, value), STORE(at + 3, value);                    \
                STORE(at + 4, value), STORE(at + 5, value), STORE(at + 6, value), STORE(at + 7, value);                \
                BARRIER();                                                                                             \
            }                                                                                                          \
            FENCE();                                                                                                   \
        }                                                                                                              \
    }

#define COPIES(ISA, TARGET, NAME, STORE)                                                                               \
    TARGET static void NAME##_##ISA(char *to, const char *from, size_t bytes, uint32_t passes) {                       \
        for (uint32_t pass = 0; pass < passes; ++pass) {                                                               \
            const words_##ISA *const end = (const words_##ISA *)(from + bytes), *in = (const words_##ISA *)from;       \
            for (words_##ISA *at = (words_##ISA *)to; in < end; at += UNROLLED, in += UNROLLED) {                      \
                const words_##ISA a = in[0], b = in[1], c = in[2], d = in[3];                                          \
                const words_##ISA e = in[4], f = in[5], g = in[6], h = in[7];                                          \
                STORE(at, a), STORE(at + 1, b), STORE(at + 2, c), STORE(at + 3, d);                                    \
                STORE(at + 4, e), STORE(at + 5, f), STORE(at + 6, g), STORE(at + 7, h);                                \
                BARRIER();                                                                                             \
            }                                                                                                          \
            FENCE();                                                                                                   \
        }                                                                                                              \
    }

#define LOOPS(ISA, BITS, TARGET)                                                                                       \
    typedef uint64_t words_##ISA __attribute__((vector_size(BITS / 8), may_alias));                                    \
    typedef float floats_##ISA __attribute__((vector_size(BITS / 8)));                                                 \
    typedef double doubles_##ISA __attribute__((vector_size(BITS / 8)));                                               \
    TARGET static void read_##ISA(const char *from, size_t bytes, uint32_t passes) {                                   \
        words_##ISA a = {0}, b = {0}, c = {0}, d = {0};                                                                \
        for (uint32_t pass = 0; pass < passes; ++pass) {                                                               \
            const words_##ISA *const end = (const words_##ISA *)(from + bytes);                                        \
            for (const words_##ISA *in = (const words_##ISA *)from; in < end; in += UNROLLED) {                        \
                a ^= in[0], b ^= in[1], c ^= in[2], d ^= in[3];                                                        \
                a ^= in[4], b ^= in[5], c ^= in[6], d ^= in[7];                                                        \
            }                                                                                                          \
            BARRIER();                                                                                                 \
        }                                                                                                              \
        a ^= b ^ c ^ d;                                                                                                \
        __asm__ volatile("" ::IN_REGISTER(a));                                                                         \
    }                                                                                                                  \
    WRITES(ISA, TARGET, write, STORE_PLAIN)                                                                            \
    WRITES(ISA, TARGET, write_streamed, STORE_##BITS)                                                                  \
    COPIES(ISA, TARGET, copy, STORE_PLAIN)                                                                             \
    COPIES(ISA, TARGET, copy_streamed, STORE_##BITS)                                                                   \
    SUMS(ISA, TARGET, float, floats_##ISA)                                                                             \
    SUMS(ISA, TARGET, double, doubles_##ISA)                                                                           \
    static const loop_set loops_##ISA = {read_##ISA,          write_##ISA, copy_##ISA,   write_streamed_##ISA,         \
                                         copy_streamed_##ISA, float_##ISA, double_##ISA, BITS / 8};

LOOPS(baseline, 128, )
#if defined(__x86_64__)
LOOPS(avx2, 256, __attribute__((target("avx2,fma"))))
LOOPS(avx512, 512, __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma"))))
#endif

static const loop_set *loops_for(uint64_t isa) {
#if defined(__x86_64__)
    if (isa & KERF_ISA_AVX512)
        return &loops_avx512;
    if (isa & KERF_ISA_AVX2)
        return &loops_avx2;
#endif
    (void)isa;
    return &loops_baseline;
}

struct kerf_limit_loops {
    const loop_set *set;
    char *memory;
    size_t bytes;
    int n_teams, n_own;
    const kerf_team *team[KERF_LIMIT_TEAMS];
    kerf_thread_team *own[KERF_LIMIT_TEAMS];
};

typedef struct call {
    const kerf_limit_loops *loops;
    kerf_limit_kind kind;
    size_t bytes_per_rank;
    uint32_t passes;
} call;

/* Each rank has a part of its own, as the ranks of a kernel do. */
static void run_rank(void *arg, int rank) {
    const call *const c = arg;
    const loop_set *const set = c->loops->set;
    char *const part = c->loops->memory + (size_t)rank * c->bytes_per_rank;
    const size_t half = c->bytes_per_rank / 2;
    switch (c->kind) {
    case KERF_LIMIT_READ:
        set->read(part, c->bytes_per_rank, c->passes);
        break;
    case KERF_LIMIT_WRITE:
        set->write(part, c->bytes_per_rank, c->passes);
        break;
    case KERF_LIMIT_COPY:
        set->copy(part + half, part, half, c->passes);
        break;
    case KERF_LIMIT_WRITE_STREAMED:
        set->write_streamed(part, c->bytes_per_rank, c->passes);
        break;
    case KERF_LIMIT_COPY_STREAMED:
        set->copy_streamed(part + half, part, half, c->passes);
        break;
    case KERF_LIMIT_F32:
        set->f32(c->passes);
        break;
    default:
        set->f64(c->passes);
    }
}

static const kerf_team *team_of(const kerf_limit_loops *loops, int threads) {
    for (int i = 0; i < loops->n_teams; ++i)
        if (kerf_team_size(loops->team[i]) == threads)
            return loops->team[i];
    return loops->team[0];
}

static double run_loops(void *state, kerf_limit_kind kind, size_t bytes, int threads, uint32_t passes) {
    const kerf_limit_loops *const loops = state;
    const kerf_team *const team = team_of(loops, threads);
    const int n = kerf_team_size(team);
    const size_t whole = bytes < loops->bytes ? bytes : loops->bytes;
    const size_t unit = 2 * BLOCK_BYTES; /* halves of it are copied */
    call c = {.loops = loops, .kind = kind, .bytes_per_rank = whole / (size_t)n / unit * unit, .passes = passes};
    kerf_team_run(team, run_rank, &c);
    const double sums = 12, operations = 2, lanes = loops->set->bytes / (kind == KERF_LIMIT_F32 ? 4.0 : 8.0);
    if (kind == KERF_LIMIT_F32 || kind == KERF_LIMIT_F64)
        return sums * operations * lanes * n * passes;
    return (double)c.bytes_per_rank * n * passes;
}

/* The processor that will use a page first touches it. */
static void fill_rank(void *arg, int rank) {
    const kerf_limit_loops *const loops = arg;
    const int n = kerf_team_size(loops->team[loops->n_teams - 1]);
    int64_t begin, end;
    kerf_team_share((int64_t)(loops->bytes / sizeof(uint64_t)), n, rank, &begin, &end);
    kerf_rng rng = kerf_rng_seeded(1, (uint64_t)rank);
    for (uint64_t *at = (uint64_t *)loops->memory + begin; at < (uint64_t *)loops->memory + end; ++at)
        *at = kerf_rng_next(&rng);
}

static kerf_status map(uint64_t isa, size_t most_bytes, kerf_limit_loops **result, kerf_error *error) {
    *result = NULL;
    kerf_limit_loops *const loops = calloc(1, sizeof *loops);
    if (!loops)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory to measure limits");
    loops->set = loops_for(isa);
    void *const memory = mmap(NULL, most_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        free(loops);
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for a working set of %zu MiB", most_bytes >> 20);
    }
    /* Translation of addresses must not be what limits; a system without large pages says no, which is fine. */
    madvise(memory, most_bytes, MADV_HUGEPAGE);
    loops->memory = memory;
    loops->bytes = most_bytes;
    *result = loops;
    return KERF_OK;
}

kerf_status kerf_limit_loops_open(uint64_t isa, const int threads[], int n_teams, size_t most_bytes,
                                  kerf_limit_loops **result, kerf_error *error) {
    KERF_TRY(map(isa, most_bytes, result, error));
    kerf_limit_loops *const loops = *result;
    for (; loops->n_own < n_teams; ++loops->n_own) {
        kerf_thread_team **const own = &loops->own[loops->n_own];
        const kerf_status status = kerf_thread_team_open(threads[loops->n_own], own, error);
        if (status != KERF_OK) {
            kerf_limit_loops_close(loops);
            *result = NULL;
            return status;
        }
        loops->team[loops->n_teams++] = kerf_thread_team_get(*own);
    }
    kerf_team_run(loops->team[n_teams - 1], fill_rank, loops);
    return KERF_OK;
}

kerf_status kerf_limit_loops_open_on(uint64_t isa, const kerf_team *team, size_t most_bytes, kerf_limit_loops **result,
                                     kerf_error *error) {
    KERF_TRY(map(isa, most_bytes, result, error));
    (*result)->team[(*result)->n_teams++] = team;
    kerf_team_run(team, fill_rank, *result);
    return KERF_OK;
}

void kerf_limit_loops_evict(const kerf_limit_loops *loops, size_t bytes) {
    kerf_cache_evict(loops->memory, bytes < loops->bytes ? bytes : loops->bytes);
    kerf_cache_evicted();
}

kerf_limit_device kerf_limit_loops_device(kerf_limit_loops *loops) {
    return (kerf_limit_device){.state = loops, .run = run_loops};
}

void kerf_limit_loops_close(kerf_limit_loops *loops) {
    if (!loops)
        return;
    for (int i = 0; i < loops->n_own; ++i)
        kerf_thread_team_close(loops->own[i]);
    munmap(loops->memory, loops->bytes);
    free(loops);
}
