#include "base/json.h"
#include "base/status.h"
#include "tests/catch_shim.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static void text_is_cut_and_says_so(void) {
    char memory[8];
    kerf_text text = kerf_text_over(memory, sizeof memory);
    kerf_text_printf(&text, "%s", "1234");
    REQUIRE(!text.cut && text.length == 4);
    kerf_text_printf(&text, "%s", "56789");
    REQUIRE(text.cut && strcmp(memory, "1234567") == 0);
    kerf_text none = kerf_text_over(NULL, 0);
    kerf_text_printf(&none, "x");
    REQUIRE(none.cut);
}

static void json_nests_and_escapes(void) {
    char memory[512];
    kerf_text text = kerf_text_over(memory, sizeof memory);
    kerf_json json = kerf_json_over(&text);
    kerf_json_object(&json, NULL);
    kerf_json_text(&json, "t", "a\"b\\c\n\x01\xff\xc3\xa9\xed\xa0\x80");
    kerf_json_array(&json, "l");
    kerf_json_integer(&json, NULL, -5);
    kerf_json_object(&json, NULL);
    kerf_json_end_object(&json);
    kerf_json_end_array(&json);
    kerf_json_text(&json, "n", NULL);
    kerf_json_hex(&json, "h", UINT64_C(0xfedcba9876543210));
    kerf_json_end_object(&json);
    REQUIRE_MESSAGE(strcmp(memory,
                           "{\"t\":\"a\\\"b\\\\c\\u000a\\u0001\\ufffd\xc3\xa9\\ufffd\\ufffd\\ufffd\",\"l\":[-5,{}],"
                           "\"n\":null,\"h\":\"0xfedcba9876543210\"}") == 0,
                    "%s", memory);
}

static void json_numbers_read_back(void) {
    const double values[] = {0.1, 1e300, 5e-324, -123456789.123456789, 1.0 / 3, 0, 65504};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; ++i) {
        char memory[64];
        kerf_text text = kerf_text_over(memory, sizeof memory);
        kerf_json json = kerf_json_over(&text);
        kerf_json_real(&json, NULL, values[i]);
        double back;
        REQUIRE(sscanf(memory, "%lf", &back) == 1 && back == values[i]);
    }
    char memory[64];
    kerf_text text = kerf_text_over(memory, sizeof memory);
    kerf_json json = kerf_json_over(&text);
    kerf_json_array(&json, NULL);
    kerf_json_real(&json, NULL, NAN);
    kerf_json_real(&json, NULL, -INFINITY);
    kerf_json_end_array(&json);
    REQUIRE(strcmp(memory, "[null,null]") == 0);
}

const kerf_test kerf_tests_unit_base_text[] = {
    {"text: what does not fit is cut and says so", "[unit][base]", text_is_cut_and_says_so, __FILE__, __LINE__},
    {"json: nests and escapes", "[unit][base]", json_nests_and_escapes, __FILE__, __LINE__},
    {"json: numbers read back and others are null", "[unit][base]", json_numbers_read_back, __FILE__, __LINE__},
    {0},
};
