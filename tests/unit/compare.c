/* Single elements against their bounds, and what poison and placement promise. */
#include "harness/compare.h"

#include "harness/place.h"
#include "harness/trust.h"
#include "tests/catch_shim.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double ratio_of(kerf_dtype dtype, double lo, double hi, double slack, double got) {
    const kerf_expect expect = {.kind = KERF_EXPECT_BOUND, .n_elements = 1, .lo = &lo, .hi = &hi, .slack = &slack};
    union {
        double alignment;
        unsigned char bytes[8];
    } element;
    kerf_dtype_store(dtype, element.bytes, got);
    return kerf_compare_element(&expect, dtype, 0, element.bytes);
}

static void bounds(void) {
    REQUIRE(ratio_of(KERF_F32, 1, 2, 0.5, 1.5) == 0);
    REQUIRE(ratio_of(KERF_F32, 1, 2, 0.5, 2.25) == 0.5);
    REQUIRE(ratio_of(KERF_F32, 1, 2, 0.5, 0.5) == 1);
    REQUIRE(ratio_of(KERF_F32, 1, 2, 0.5, 0.25) == 1.5);
    REQUIRE(ratio_of(KERF_F64, 1, 1, 0x1p-60, 1 + 0x1p-52) ==
            256); /* the slack is lost beside 1, the distance is not */
    REQUIRE(ratio_of(KERF_F32, 3, 3, 0, 3) == 0);
    REQUIRE(isinf(ratio_of(KERF_F32, 3, 3, 0, nextafterf(3, 4))));
    REQUIRE(ratio_of(KERF_F32, 0, 0, 0, -0.0) == 0);
    REQUIRE(ratio_of(KERF_F32, 3, 3, INFINITY, NAN) == 0);
}

static void classes(void) {
    for (int d = KERF_F16; d <= KERF_F64; ++d) {
        const kerf_dtype dtype = (kerf_dtype)d;
        REQUIRE(isinf(ratio_of(dtype, 1, 2, 100, NAN)));
        REQUIRE(isinf(ratio_of(dtype, NAN, NAN, 100, 1)));
        REQUIRE(ratio_of(dtype, NAN, NAN, 0, NAN) == 0);
        REQUIRE(ratio_of(dtype, INFINITY, INFINITY, 0, INFINITY) == 0);
        REQUIRE(isinf(ratio_of(dtype, INFINITY, INFINITY, 1, -INFINITY)));
        REQUIRE(isinf(ratio_of(dtype, INFINITY, INFINITY, 1, 5)));
        REQUIRE(isinf(ratio_of(dtype, INFINITY, INFINITY, 1, NAN)));
        REQUIRE(!(ratio_of(dtype, 1, 2, 100, INFINITY) <= 1));
        REQUIRE(!(ratio_of(dtype, 1, 2, 100, -INFINITY) <= 1));
        REQUIRE(!(ratio_of(dtype, 1, 2, NAN, 3) <= 1));
    }
}

/* What rounds to infinity is infinity, and only that. */
static void overflow(void) {
    REQUIRE(ratio_of(KERF_F16, 65520, 65520, 0, INFINITY) == 0);
    REQUIRE(!(ratio_of(KERF_F16, 65519, 65519, 0, INFINITY) <= 1));
    REQUIRE(ratio_of(KERF_F16, 65519, 65519, 0, 65504) == 0);
    REQUIRE(!(ratio_of(KERF_F16, 65520, 65520, 0, 65504) <= 1));
    REQUIRE(ratio_of(KERF_F32, 0x1.ffffffp127, 0x1.ffffffp127, 0, INFINITY) == 0);
    REQUIRE(!(ratio_of(KERF_F32, FLT_MAX, FLT_MAX, 0, INFINITY) <= 1));
    REQUIRE(ratio_of(KERF_F32, -4e38, -4e38, 0, -INFINITY) == 0);
    REQUIRE(!(ratio_of(KERF_F32, 4e38, 4e38, 1e30, FLT_MAX) <= 1));
}

/* f16 and bf16: the verdict must be that of rounding the ends of the bound, whatever the ratio's arithmetic. */
static void narrow_types_round_once(void) {
    kerf_rng rng = kerf_rng_seeded(1, 0);
    for (int i = 0; i < 200000; ++i) {
        const kerf_dtype dtype = i % 2 ? KERF_BF16 : KERF_F16;
        const int exponent = (int)kerf_rng_below(&rng, 44) - 28;
        const double lo = ldexp(2 * kerf_rng_unit(&rng) - 1, exponent),
                     hi = lo + ldexp(kerf_rng_unit(&rng), exponent - 10);
        const double slack = i % 3 == 0 ? 0 : ldexp(kerf_rng_unit(&rng), exponent - (int)kerf_rng_below(&rng, 16));
        uint16_t low, high, got;
        kerf_dtype_store(dtype, &low, lo - slack);
        kerf_dtype_store(dtype, &high, hi + slack);
        const int step = (int)kerf_rng_below(&rng, 5) - 2;
        got = (uint16_t)((kerf_rng_next(&rng) & 1 ? low : high) + step);
        const double value = kerf_dtype_load(dtype, &got);
        const bool right = value >= kerf_dtype_load(dtype, &low) && value <= kerf_dtype_load(dtype, &high);
        const double ratio = ratio_of(dtype, lo, hi, slack, value);
        REQUIRE_MESSAGE((ratio <= 1) == right && ratio >= 0, "[%a, %a] +- %a, got %a: ratio %a", lo, hi, slack, value,
                        ratio);
    }
    REQUIRE(ratio_of(KERF_F16, 1 + 0x1p-12, 1 + 0x1p-12, 0x1p-20, 1) == 0); /* the exact value rounds to it */
    REQUIRE(ratio_of(KERF_F16, 1 + 0x1p-11 + 0x1p-20, 1 + 0x1p-11 + 0x1p-20, 0x1p-19, 1) == 0.5);
}

static void worst_is_found(void) {
    const double lo[] = {1, 2, 3, 4}, slack[] = {1, 1, 1, 1};
    const float got[] = {1.5f, 5, 3, 7.5f};
    const kerf_expect expect = {.kind = KERF_EXPECT_BOUND, .n_elements = 4, .lo = lo, .hi = lo, .slack = slack};
    const kerf_comparison found = kerf_compare_output(&expect, KERF_F32, got);
    REQUIRE(found.n_bad == 2 && found.worst == 3 && found.ratio == 3.5);
    REQUIRE(found.got == 7.5 && found.lo == 4 && found.hi == 4 && found.slack == 1);
    REQUIRE(strcmp(found.check, "value") == 0);
    const float with_nan[] = {1.5f, NAN, 3, 4};
    const kerf_comparison none = kerf_compare_output(&expect, KERF_F32, with_nan);
    REQUIRE(none.n_bad == 1 && none.worst == 1 && strcmp(none.check, "class") == 0);
    const kerf_expect empty = {.kind = KERF_EXPECT_BOUND};
    REQUIRE(kerf_compare_output(&empty, KERF_F32, NULL).n_bad == 0);
}

static void moves_are_bits(void) {
    const float right[] = {0, 1}, negative[] = {-0.0f, 1};
    const kerf_expect expect = {.kind = KERF_EXPECT_BITS, .n_elements = 2, .bits = right};
    REQUIRE(kerf_compare_output(&expect, KERF_F32, right).n_bad == 0);
    const kerf_comparison found = kerf_compare_output(&expect, KERF_F32, negative);
    REQUIRE(found.n_bad == 1 && found.worst == 0 && strcmp(found.check, "bits") == 0);
}

static void poison_is_seen(void) {
    kerf_rng rng = kerf_rng_seeded(3, 0);
    for (int d = KERF_F16; d <= KERF_F64; ++d) {
        const kerf_poison poison = kerf_poison_of((kerf_dtype)d, &rng);
        double element;
        memcpy(&element, poison.pattern, sizeof element);
        REQUIRE(isnan(kerf_dtype_load((kerf_dtype)d, &element)));
        unsigned char canonical[8];
        kerf_dtype_store((kerf_dtype)d, canonical, NAN);
        REQUIRE(memcmp(canonical, poison.pattern, poison.bytes) != 0);
        unsigned char memory[203];
        kerf_poison_fill(&poison, memory, sizeof memory);
        REQUIRE(kerf_poison_first_change(&poison, memory, sizeof memory) == sizeof memory);
        for (size_t at = 0; at < sizeof memory; ++at) {
            memory[at] ^= 1;
            REQUIRE(kerf_poison_first_change(&poison, memory, sizeof memory) == at);
            memory[at] ^= 1;
        }
    }
    const kerf_poison untyped = kerf_poison_untyped(&rng);
    unsigned char memory[8];
    kerf_poison_fill(&untyped, memory, sizeof memory);
    for (int d = KERF_F16; d <= KERF_F64; ++d)
        REQUIRE(isnan(kerf_dtype_load((kerf_dtype)d, memory)));
}

static void placement_goes_there_and_back(void) {
    const kerf_operand operand = {
        .name = "x", .dtype = KERF_F32, .at = {.rank = 3, .dims = {2, 3, 4}, .strides = {-40, 0, 3}}};
    kerf_extent extent;
    REQUIRE(kerf_extent_of(&operand, &extent, NULL) == KERF_OK);
    REQUIRE(extent.n_elements == 24 && extent.n_stored == 8);
    REQUIRE(extent.span_bytes == 4 * 50 && extent.before_bytes == 4 * 40);
    float from[50], to[50] = {0}, packed[24];
    for (int i = 0; i < 50; ++i)
        from[i] = (float)i;
    kerf_place_copy(&operand, &extent, to + 40, from + 40);
    kerf_place_gather(&operand, &extent, packed, to + 40);
    for (int i = 0; i < 24; ++i)
        REQUIRE(packed[i] == (float)(40 - 40 * (i / 12) + 3 * (i % 4)));
    const kerf_operand huge = {
        .name = "x", .dtype = KERF_F64, .at = {.rank = 1, .dims = {2}, .strides = {INT64_MAX / 4}}};
    kerf_error error;
    REQUIRE(kerf_extent_of(&huge, &extent, &error) == KERF_ERROR_USAGE);
}

/* ---- trust: which lazy results an expectation would let through ---------------------------------------------------
 */

static const kerf_op trust_op = {.bytes = sizeof(kerf_op), .outputs = (const char *const[]){"y", NULL}};

static bool is_trusted(const float input[4], const double exact[4]) {
    const kerf_operand x = {.dtype = KERF_F32, .at = {.rank = 1, .dims = {4}, .strides = {1}}}, y = x;
    const kerf_operand *const in[] = {&x}, *const out[] = {&y};
    const kerf_problem problem = {.op = &trust_op, .n_in = 1, .n_out = 1, .in = in, .out = out, .want = 1};
    const double slack[4] = {0x1p-20, 0x1p-20, 0x1p-20, 0x1p-20}, none[4] = {0};
    const bool is_zero = exact[0] == 0 && exact[1] == 0 && exact[2] == 0 && exact[3] == 0;
    const kerf_expect expect = {
        .kind = KERF_EXPECT_BOUND, .n_elements = 4, .lo = exact, .hi = exact, .slack = is_zero ? none : slack};
    kerf_trust trust = {0};
    const void *const data[] = {input};
    const bool noted = kerf_trust_note(&trust, "mode", &problem, data, &expect, NULL) == KERF_OK;
    const int n_missing = kerf_trust_missing(&trust, NULL, NULL);
    kerf_trust_free(&trust);
    return noted && n_missing == 0;
}

static void trust_sees_lazy_results(void) {
    const float input[] = {1, 2, 3, 4};
    REQUIRE(is_trusted(input, (const double[]){2, 4, 6, 8}));
    REQUIRE(!is_trusted(input, (const double[]){1, 2, 3, 4}));         /* a copy passes */
    REQUIRE(!is_trusted(input, (const double[]){5, 5, 5, 5}));         /* a constant passes */
    REQUIRE(!is_trusted(input, (const double[]){NAN, NAN, NAN, NAN})); /* that one too */
    REQUIRE(is_trusted(input, (const double[]){NAN, 1, 1, 1}));
    REQUIRE(is_trusted(input, (const double[]){0, 0, 0, 0})); /* always zero: nothing else passes */
    REQUIRE(!is_trusted((const float[]){0, 0, 0, 0}, (const double[]){0, 0, 0, 0}));
    REQUIRE(!is_trusted(input, (const double[]){0x1p-21, -0x1p-21, 0, 0})); /* zero passes, and more than zero */
}

const kerf_test kerf_tests_unit_compare[] = {
    {"compare: the ratio is the distance to the hull by the slack", "[unit][compare]", bounds, __FILE__, __LINE__},
    {"compare: NaN, infinities and numbers do not mix", "[unit][compare]", classes, __FILE__, __LINE__},
    {"compare: infinity is right where rounding ends in it", "[unit][compare]", overflow, __FILE__, __LINE__},
    {"compare: f16 and bf16 are held to the rounded bound", "[unit][compare]", narrow_types_round_once, __FILE__,
     __LINE__},
    {"compare: the worst element and the number of wrong ones", "[unit][compare]", worst_is_found, __FILE__, __LINE__},
    {"compare: moved elements are compared as bits", "[unit][compare]", moves_are_bits, __FILE__, __LINE__},
    {"poison: NaN of its own, and each changed byte is found", "[unit][compare]", poison_is_seen, __FILE__, __LINE__},
    {"place: strided elements go there and back", "[unit][compare]", placement_goes_there_and_back, __FILE__, __LINE__},
    {"trust: zero, constants and copies that would pass", "[unit][compare]", trust_sees_lazy_results, __FILE__,
     __LINE__},
    {0}};
