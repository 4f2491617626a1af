#include "base/arena.h"
#include "base/guarded.h"
#include "base/rng.h"
#include "tests/catch_shim.h"
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void arena_gives_zeroed_aligned_memory(void) {
    kerf_arena arena;
    REQUIRE(kerf_arena_map_shared(&arena, (size_t)1 << 24, NULL) == KERF_OK);
    unsigned char *const first = kerf_arena_alloc(&arena, 3, 1);
    const size_t used = arena.used;
    unsigned char *const second = kerf_arena_alloc(&arena, (size_t)4 << 20, 64);
    REQUIRE(first && second && (uintptr_t)second % 64 == 0);
    memset(second, 0xff, (size_t)4 << 20);
    kerf_arena_rewind(&arena, used);
    unsigned char *const again = kerf_arena_alloc(&arena, (size_t)4 << 20, 64);
    REQUIRE(again == second);
    for (size_t i = 0; i < (size_t)4 << 20; ++i)
        REQUIRE(again[i] == 0);
    REQUIRE(!kerf_arena_alloc(&arena, (size_t)1 << 24, 1));
    REQUIRE(!kerf_arena_alloc(&arena, SIZE_MAX, 64));
    kerf_arena_unmap(&arena);
}

static void child_writes_are_seen(void) {
    kerf_arena arena;
    REQUIRE(kerf_arena_map_shared(&arena, (size_t)1 << 16, NULL) == KERF_OK);
    int *const number = KERF_ARENA_NEW(&arena, int, 1);
    const pid_t child = fork();
    if (child == 0) {
        *number = 42;
        _exit(0);
    }
    waitpid(child, NULL, 0);
    REQUIRE(*number == 42);
    kerf_arena_unmap(&arena);
}

/* True when touching the byte ends a child with SIGSEGV. */
static bool faults(unsigned char *byte) {
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        *(volatile unsigned char *)byte = 1;
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) || WEXITSTATUS(status) != 0;
}

static void guards_stand_on_both_sides(void) {
    kerf_guarded buffer = {0};
    REQUIRE(kerf_guarded_ensure(&buffer, 1001, NULL) == KERF_OK);
    unsigned char *const right = kerf_guarded_at(&buffer, 1001, 1, KERF_PLACE_RIGHT);
    unsigned char *const left = kerf_guarded_at(&buffer, 1001, 1, KERF_PLACE_LEFT);
    REQUIRE(!faults(right + 1000) && faults(right + 1001));
    REQUIRE(!faults(left) && faults(left - 1));
    REQUIRE((uintptr_t)kerf_guarded_at(&buffer, 1001, 4, KERF_PLACE_RIGHT) % 4 == 0);
    REQUIRE((uintptr_t)kerf_guarded_at(&buffer, 1001, 4, KERF_PLACE_ALIGNED) % 128 == 64);
    kerf_guarded_read_only(&buffer);
    REQUIRE(faults(right));
    kerf_guarded_writable(&buffer);
    REQUIRE(!faults(right));
    kerf_guarded_unmap(&buffer);
    REQUIRE(kerf_guarded_ensure(&buffer, SIZE_MAX - 100, NULL) == KERF_ERROR_MEMORY);
}

static void holes_stay_holes(void) {
    kerf_guarded buffer = {0};
    const size_t bytes = (size_t)1 << 30;
    REQUIRE(kerf_guarded_ensure(&buffer, bytes, NULL) == KERF_OK);
    buffer.usable[0] = 1;
    buffer.usable[bytes - 1] = 1;
    REQUIRE(kerf_guarded_resident_pages(buffer.usable, bytes) == 2);
    kerf_guarded_forget(&buffer);
    REQUIRE(kerf_guarded_resident_pages(buffer.usable, bytes) == 0);
    kerf_guarded_unmap(&buffer);
}

static void random_numbers_repeat_and_spread(void) {
    kerf_rng a = kerf_rng_seeded(1, 2), b = kerf_rng_seeded(1, 2), c = kerf_rng_seeded(2, 1), d = kerf_rng_seeded(1, 3);
    const uint64_t first = kerf_rng_next(&a);
    REQUIRE(first == kerf_rng_next(&b));
    REQUIRE(first != kerf_rng_next(&c) && first != kerf_rng_next(&d));
    int seen[7] = {0};
    for (int i = 0; i < 7000; ++i)
        ++seen[kerf_rng_below(&a, 7)];
    /* Binomial: 1000 expected, standard deviation 29; eight of them never happens by chance with a fixed seed. */
    for (int i = 0; i < 7; ++i)
        REQUIRE_MESSAGE(seen[i] > 768 && seen[i] < 1232, "%d was drawn %d times", i, seen[i]);
    for (int i = 0; i < 1000; ++i) {
        const double unit = kerf_rng_unit(&a);
        REQUIRE(unit >= 0 && unit < 1);
    }
    REQUIRE(kerf_rng_below(&a, 1) == 0);
}

const kerf_test kerf_tests_unit_base_memory[] = {
    {"arena: memory is zeroed and aligned", "[unit][base]", arena_gives_zeroed_aligned_memory, __FILE__, __LINE__},
    {"arena: what a child writes is seen", "[unit][base]", child_writes_are_seen, __FILE__, __LINE__},
    {"guarded: a guard stands on both sides", "[unit][base]", guards_stand_on_both_sides, __FILE__, __LINE__},
    {"guarded: holes stay holes", "[unit][base]", holes_stay_holes, __FILE__, __LINE__},
    {"rng: numbers repeat and spread", "[unit][base]", random_numbers_repeat_and_spread, __FILE__, __LINE__},
    {0},
};
