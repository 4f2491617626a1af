#include "base/dtype.h"
#include "tests/catch_shim.h"
#include <math.h>
#include <string.h>

static void every_f16_survives(void) {
    for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
        const float value = kerf_f16_to_f32((uint16_t)bits);
        if (isnan(value)) {
            REQUIRE((bits & 0x7c00) == 0x7c00 && (bits & 0x3ff));
            REQUIRE((kerf_f16_from_f32(value) & 0x7fff) > 0x7c00);
            continue;
        }
        REQUIRE(kerf_f16_from_f32(value) == bits);
        REQUIRE(kerf_f16_from_f64((double)value) == bits);
    }
}

static void every_bf16_survives(void) {
    for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
        const float value = kerf_bf16_to_f32((uint16_t)bits);
        if (isnan(value)) {
            REQUIRE((kerf_bf16_from_f32(value) & 0x7fff) > 0x7f80);
            continue;
        }
        REQUIRE(kerf_bf16_from_f32(value) == bits);
        REQUIRE(kerf_bf16_from_f64((double)value) == bits);
    }
}

/* Between two neighbours a value goes to the nearer one, the middle to the even one; in both conversions alike. */
static void check_rounding(float (*widen)(uint16_t), uint16_t (*from_f64)(double), uint16_t (*from_f32)(float),
                           uint16_t largest) {
    for (uint16_t low = 0; low < largest; ++low) {
        const double a = (double)widen(low), b = (double)widen((uint16_t)(low + 1));
        const double middle = (a + b) / 2, step = (b - a) / 1024;
        const uint16_t even = low & 1 ? (uint16_t)(low + 1) : low;
        REQUIRE(from_f64(middle) == even);
        REQUIRE(from_f64(middle - step) == low);
        REQUIRE(from_f64(middle + step) == low + 1);
        REQUIRE(from_f64(-middle) == (even | 0x8000));
        REQUIRE(from_f64(nextafter(middle, INFINITY)) == low + 1);
        REQUIRE(from_f64(nextafter(middle, -INFINITY)) == low);
        if ((double)(float)middle == middle)
            REQUIRE(from_f32((float)middle) == even);
        REQUIRE(from_f32((float)(middle + step)) == from_f64((double)(float)(middle + step)));
    }
}

static void f16_rounds_to_nearest_even(void) {
    check_rounding(kerf_f16_to_f32, kerf_f16_from_f64, kerf_f16_from_f32, 0x7bff);
    REQUIRE(kerf_f16_from_f64(65519.999) == 0x7bff);
    REQUIRE(kerf_f16_from_f64(65520) == 0x7c00);
    REQUIRE(kerf_f16_from_f32(-65520.0f) == 0xfc00);
    REQUIRE(kerf_f16_from_f64(0x1p-25) == 0);
    REQUIRE(kerf_f16_from_f64(nextafter(0x1p-25, 1)) == 1);
}

static void bf16_rounds_to_nearest_even(void) {
    check_rounding(kerf_bf16_to_f32, kerf_bf16_from_f64, kerf_bf16_from_f32, 0x7f7f);
    REQUIRE(kerf_bf16_from_f32(INFINITY) == 0x7f80);
    REQUIRE(kerf_bf16_from_f64(1e300) == 0x7f80);
}

/* 1 + 2^-11 + 2^-30 lies above the middle of two f16 numbers; rounded to float first it would be that middle. */
static void one_rounding_only(void) {
    REQUIRE(kerf_f16_from_f64(1 + 0x1p-11 + 0x1p-40) == 0x3c01);
    REQUIRE(kerf_bf16_from_f64(1 + 0x1p-8 + 0x1p-40) == 0x3f81);
}

static void names_parse_back(void) {
    for (int i = 0; i < KERF_N_DTYPES; ++i) {
        kerf_dtype parsed;
        REQUIRE(kerf_dtype_parse(kerf_dtype_name((kerf_dtype)i), &parsed));
        REQUIRE(parsed == (kerf_dtype)i);
    }
    kerf_dtype ignored;
    REQUIRE(!kerf_dtype_parse("float", &ignored));
}

const kerf_test kerf_tests_unit_base_dtype[] = {
    {"dtype: every f16 survives the way to float and back", "[unit][base]", every_f16_survives, __FILE__, __LINE__},
    {"dtype: every bf16 survives the way to float and back", "[unit][base]", every_bf16_survives, __FILE__, __LINE__},
    {"dtype: f16 rounds to nearest even", "[unit][base]", f16_rounds_to_nearest_even, __FILE__, __LINE__},
    {"dtype: bf16 rounds to nearest even", "[unit][base]", bf16_rounds_to_nearest_even, __FILE__, __LINE__},
    {"dtype: a double is rounded once", "[unit][base]", one_rounding_only, __FILE__, __LINE__},
    {"dtype: names parse back", "[unit][base]", names_parse_back, __FILE__, __LINE__},
    {0},
};
