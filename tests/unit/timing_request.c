/* The worker of kerf_time_cells by itself: what it is asked in text, and what it answers. */
#include "tests/catch_shim.h"
#include "tests/unit/timing_toy.h"

#include <stdio.h>
#include <string.h>

static int work_on(const char *request, char *answer, size_t bytes) {
    FILE *const in = tmpfile(), *const out = tmpfile();
    if (!in || !out)
        return -1;
    fputs(request, in);
    rewind(in);
    const int code = kerf_timing_work(&registry, in, out);
    rewind(out);
    answer[fread(answer, 1, bytes - 1, out)] = '\0';
    fclose(in);
    fclose(out);
    return code;
}

static void request_by_hand_is_answered(void) {
    char answer[65536];
    REQUIRE(work_on("case double N=64 dtype=f32\ncell 7 hot doubling@cpu\ncell 9 cold failing@cpu\nend\n", answer,
                    sizeof answer) == 0);
    REQUIRE(strstr(answer, "overhead 0x") == answer);
    REQUIRE(strstr(answer, "\nsample 7 0 "));
    REQUIRE(strstr(answer, "\nstop 7 "));
    REQUIRE(strstr(answer, "\nfail 9 "));
    REQUIRE(strcmp(answer + strlen(answer) - 5, "\nend\n") == 0);
}

static void checked_request_tells_what_was_wrong(void) {
    char answer[65536];
    n_calls = 0;
    REQUIRE(work_on("case double N=64 dtype=f32\ncheck nan\ncell 7 hot doubling@cpu\ncell 9 hot skipping@cpu\nend\n",
                    answer, sizeof answer) == 0);
    REQUIRE(strstr(answer, "\nstop 7 ") && !strstr(answer, "stop 9") && !strstr(answer, "sample 9"));
    const char *const wrong = strstr(answer, "\nwrong 9 0 ");
    REQUIRE_MESSAGE(wrong && (strstr(wrong, " timed ") || strstr(wrong, " poisoned 1 64 ")), "%s", answer);
}

static void the_last_call_is_checked(void) {
    static char answer[1 << 20];
    n_calls = 0;
    REQUIRE(work_on("case double N=64 dtype=f32\ncheck last\ncell 7 hot doubling@cpu\ncell 9 hot watched@cpu\nend\n",
                    answer, sizeof answer) == 0);
    REQUIRE(strstr(answer, "\nstop 7 ") && !strstr(answer, "sample 9"));
    const char *const wrong = strstr(answer, "\nwrong 9 0 last ");
    REQUIRE_MESSAGE(wrong, "%s", answer);
}

static void no_call_sees_what_a_call_before_it_saw(void) {
    static char answer[1 << 20];
    n_calls = 0;
    REQUIRE(work_on("budget_ns 20000000\ncase double N=64 dtype=f32\ncell 7 hot remembering@cpu\n"
                    "cell 8 cold remembering@cpu\nend\n",
                    answer, sizeof answer) == 0);
    REQUIRE_MESSAGE(strstr(answer, "\nstop 7 ") && strstr(answer, "\nstop 8 "), "%s", answer);
    REQUIRE(n_calls > 100);
}

static void calls_rotate_over_sets(void) {
    static char answer[1 << 20];
    static const char *const modes[] = {"hot", "cold"};
    for (int i = 0; i < 2; ++i) {
        char request[200];
        n_places = 0;
        snprintf(request, sizeof request, "case double N=64 dtype=f32\ncell 7 %s moving@cpu\nend\n", modes[i]);
        REQUIRE(work_on(request, answer, sizeof answer) == 0);
        REQUIRE_MESSAGE(n_places == KERF_TIMING_SETS, "%s: %d", modes[i], n_places);
        for (int a = 0; a < n_places; ++a)
            for (int b = 0; b < a; ++b)
                REQUIRE(place[a].in != place[b].in && place[a].out != place[b].out);
    }
}

static void bad_requests_are_refused(void) {
    static const char *const requests[] = {
        "",
        "case double N=64 dtype=f32\n",
        "nonsense\nend\n",
        "case nothing N=64\nend\n",
        "case double N=x\nend\n",
        "case\nend\n",
        "cell 0 hot doubling@cpu\nend\n",
        "case double N=64 dtype=f32\ncell x hot doubling@cpu\nend\n",
        "case double N=64 dtype=f32\ncell -1 hot doubling@cpu\nend\n",
        "case double N=64 dtype=f32\ncell 99999999999 hot doubling@cpu\nend\n",
        "case double N=64 dtype=f32\ncell 0 warm doubling@cpu\nend\n",
        "case double N=64 dtype=f32\ncell 0 hot nobody@cpu\nend\n",
        "case double N=64 dtype=f32\ncell 0\nend\n",
        "check nan\nend\n",
        "case double N=64 dtype=f32\ncheck zero\nend\n",
        "threads 0\nend\n",
        "with 2\nend\n",
        "case double N=64 dtype=f32\ncell 0 hot doubling@cpu\nwith 0\nend\n",
        "case double N=64 dtype=f32\ncell 0 hot doubling@cpu\nwith 1 a\nend\n",
        "case double N=64 dtype=f32\ncell 0 hot doubling@cpu\nwith 1 a=2,b\nend\n",
        "case double N=64 dtype=f32\ncell 0 hot doubling@cpu\nwith 1 a=99999999999999999999\nend\n",
        "threads two\nend\n",
        "process 70000\nend\n",
        "seed 0x10000000000000000\nend\n",
    };
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; ++i) {
        char answer[1024];
        const int code = work_on(requests[i], answer, sizeof answer);
        REQUIRE_MESSAGE(code == 2 && answer[0] == '\0', "request %d gave code %d, answer `%s`", (int)i, code, answer);
    }
}

#define TEST(name, run)                                                                                                \
    { "timing request: " name, "[unit][timing]", run, __FILE__, __LINE__ }

const kerf_test kerf_tests_unit_timing_request[] = {
    TEST("a request by hand is answered", request_by_hand_is_answered),
    TEST("a request with a check tells what was wrong", checked_request_tells_what_was_wrong),
    TEST("the last call is checked", the_last_call_is_checked),
    TEST("no call sees what a call before it saw", no_call_sees_what_a_call_before_it_saw),
    TEST("calls rotate over sets", calls_rotate_over_sets),
    TEST("bad requests are refused", bad_requests_are_refused),
    {0},
};
