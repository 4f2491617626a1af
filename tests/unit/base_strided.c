#include "base/strided.h"
#include "tests/catch_shim.h"

static void counts_refuse_overflow(void) {
    int64_t n;
    const kerf_strided huge = {3, {INT64_C(1) << 31, INT64_C(1) << 31, 4}, {0}};
    REQUIRE(!kerf_strided_count(&huge, &n));
    const kerf_strided empty = {3, {INT64_C(1) << 40, INT64_C(1) << 40, 0}, {0}};
    REQUIRE(kerf_strided_count(&empty, &n) && n == 0);
    const kerf_strided negative = {2, {3, -1}, {0}};
    REQUIRE(!kerf_strided_count(&negative, &n));
}

static void spans_know_negative_strides(void) {
    int64_t low, high;
    const kerf_strided flipped = {2, {3, 4}, {4, -1}};
    REQUIRE(kerf_strided_span(&flipped, &low, &high));
    REQUIRE(low == -3 && high == 8);
    const kerf_strided overflowing = {2, {3, 3}, {INT64_MAX / 2, INT64_MAX / 2}};
    REQUIRE(!kerf_strided_span(&overflowing, &low, &high));
}

static void walk_agrees_with_offset(void) {
    const kerf_strided array = {4, {2, 3, 1, 5}, {-7, 100, 3, 11}};
    int64_t n = 0;
    for (kerf_walk walk = kerf_walk_begin(&array); !walk.done; kerf_walk_next(&walk), ++n) {
        REQUIRE(walk.number == n);
        REQUIRE(walk.offset == kerf_strided_offset(&array, n));
    }
    REQUIRE(n == 30);
    const kerf_strided scalar = {0, {0}, {0}};
    kerf_walk walk = kerf_walk_begin(&scalar);
    REQUIRE(!walk.done);
    kerf_walk_next(&walk);
    REQUIRE(walk.done);
}

static void overlap_is_seen(void) {
    const kerf_strided packed = {3, {2, 3, 4}, {12, 4, 1}};
    const kerf_strided zero = {2, {2, 3}, {0, 1}};
    const kerf_strided window = {2, {4, 3}, {1, 1}};
    const kerf_strided gaps = {2, {4, 3}, {5, -1}};
    const kerf_strided one_row = {2, {1, 3}, {0, 1}};
    REQUIRE(kerf_strided_disjoint(&packed));
    REQUIRE(!kerf_strided_disjoint(&zero));
    REQUIRE(!kerf_strided_disjoint(&window));
    REQUIRE(kerf_strided_disjoint(&gaps));
    REQUIRE(kerf_strided_disjoint(&one_row));
}

/* Against a byte map: two arrays of 4-byte elements at every distance within a small memory. */
static void sharing_agrees_with_a_byte_map(void) {
    static const kerf_strided shapes[] = {
        {2, {3, 4}, {8, 2}}, {2, {3, 4}, {4, 1}}, {2, {2, 2}, {-9, 3}}, {1, {5}, {0}}, {2, {0, 4}, {4, 1}},
    };
    enum { N = sizeof shapes / sizeof shapes[0], MEMORY = 512 };
    static char memory[MEMORY];
    for (int a = 0; a < N; ++a) {
        for (int b = 0; b < N; ++b) {
            for (int distance = -100; distance <= 100; ++distance) {
                char owner[MEMORY] = {0};
                const char *const a_data = memory + 200, *const b_data = memory + 200 + distance;
                bool shared = false;
                for (kerf_walk walk = kerf_walk_begin(&shapes[a]); !walk.done; kerf_walk_next(&walk))
                    for (int byte = 0; byte < 4; ++byte)
                        owner[a_data - memory + walk.offset * 4 + byte] = 1;
                for (kerf_walk walk = kerf_walk_begin(&shapes[b]); !walk.done; kerf_walk_next(&walk))
                    for (int byte = 0; byte < 4; ++byte)
                        shared = shared || owner[b_data - memory + walk.offset * 4 + byte];
                REQUIRE_MESSAGE(kerf_strided_share(&shapes[a], a_data, 4, &shapes[b], b_data, 4) == shared,
                                "shapes %d and %d at distance %d", a, b, distance);
            }
        }
    }
}

const kerf_test kerf_tests_unit_base_strided[] = {
    {"strided: counts refuse overflow", "[unit][base]", counts_refuse_overflow, __FILE__, __LINE__},
    {"strided: spans know negative strides", "[unit][base]", spans_know_negative_strides, __FILE__, __LINE__},
    {"strided: a walk agrees with offsets", "[unit][base]", walk_agrees_with_offset, __FILE__, __LINE__},
    {"strided: overlap within an array is seen", "[unit][base]", overlap_is_seen, __FILE__, __LINE__},
    {"strided: sharing agrees with a byte map", "[unit][base]", sharing_agrees_with_a_byte_map, __FILE__, __LINE__},
    {0},
};
