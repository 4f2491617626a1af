/* The verifier on an op of its own, with a row for everything that can go wrong. */
#include "harness/verify.h"

#include "base/cpu.h"
#include "tests/catch_shim.h"
#include "tests/unit/verify_toy.h"
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 2 };

/* ---- rows ------------------------------------------------------------------------------------------------------- */

typedef struct operands {
    const float *x;
    float *y;
    int64_t n, stride;
} operands;

static operands operands_of(const kerf_launch *launch) {
    return (operands){.x = launch->in[0],
                      .y = launch->out[0],
                      .n = launch->problem->out[0]->at.dims[0],
                      .stride = launch->problem->out[0]->at.strides[0]};
}

static void double_share(void *arg, int rank) {
    const kerf_launch *const launch = arg;
    const operands at = operands_of(launch);
    int64_t begin, end;
    kerf_team_share(at.n, kerf_team_size(launch->team), rank, &begin, &end);
    for (int64_t i = begin; i < end; ++i)
        at.y[i * at.stride] = 2 * at.x[i];
}

static kerf_status run_right(const kerf_launch *launch) {
    kerf_team_run(launch->team, double_share, (void *)launch);
    return KERF_OK;
}
TWICE_ROW(right, run_right);

static kerf_status run_zero(const kerf_launch *launch) {
    const operands at = operands_of(launch);
    for (int64_t i = 0; i < at.n; ++i)
        at.y[i * at.stride] = 0;
    return KERF_OK;
}
TWICE_ROW(zero, run_zero);

static kerf_status run_copy(const kerf_launch *launch) {
    const operands at = operands_of(launch);
    for (int64_t i = 0; i < at.n; ++i)
        at.y[i * at.stride] = at.x[i];
    return KERF_OK;
}
TWICE_ROW(copy, run_copy);

static kerf_status run_constant(const kerf_launch *launch) {
    const operands at = operands_of(launch);
    for (int64_t i = 0; i < at.n; ++i)
        at.y[i * at.stride] = 2;
    return KERF_OK;
}
TWICE_ROW(constant, run_constant);

static kerf_status run_nan(const kerf_launch *launch) {
    run_right(launch);
    operands_of(launch).y[0] = NAN;
    return KERF_OK;
}
TWICE_ROW(nan_row, run_nan);

static kerf_status run_unwritten(const kerf_launch *launch) {
    const operands at = operands_of(launch);
    for (int64_t i = 0; i < at.n - 1; ++i)
        at.y[i * at.stride] = 2 * at.x[i];
    return KERF_OK;
}
TWICE_ROW(unwritten, run_unwritten);

static kerf_status run_gap(const kerf_launch *launch) {
    const operands at = operands_of(launch);
    run_right(launch);
    if (at.stride > 1)
        at.y[1] = 1;
    return KERF_OK;
}
TWICE_ROW(gap, run_gap);

static kerf_status run_past_end(const kerf_launch *launch) {
    const operands at = operands_of(launch);
    run_right(launch);
    at.y[(at.n - 1) * at.stride + 1] = 1;
    return KERF_OK;
}
TWICE_ROW(past_end, run_past_end);

static kerf_status run_before_begin(const kerf_launch *launch) {
    const operands at = operands_of(launch);
    volatile float seen = at.x[-1];
    (void)seen;
    return run_right(launch);
}
TWICE_ROW(before_begin, run_before_begin);

static kerf_status run_input(const kerf_launch *launch) {
    run_right(launch);
    ((float *)launch->in[0])[1] = 3;
    return KERF_OK;
}
TWICE_ROW(input, run_input);

static kerf_status run_null(const kerf_launch *launch) {
    *(volatile int *)(uintptr_t)(launch->bytes & 8) = 1;
    return KERF_OK;
}
TWICE_ROW(null, run_null);

static kerf_status run_abort(const kerf_launch *launch) {
    (void)launch;
    abort();
}
TWICE_ROW(aborting, run_abort);

static kerf_status run_exit(const kerf_launch *launch) {
    (void)launch;
    _exit(3);
}
TWICE_ROW(exiting, run_exit);

static kerf_status run_hang(const kerf_launch *launch) {
    while (launch)
        pause();
    return KERF_OK;
}
TWICE_ROW(hanging, run_hang);

static char *volatile eaten; /* seen from outside: the allocation cannot be optimised away */
static kerf_status run_eat(const kerf_launch *launch) {
    const size_t bytes = (size_t)1 << 27;
    while (launch) {
        eaten = malloc(bytes);
        if (!eaten)
            abort();
        memset(eaten, 1, bytes);
    }
    return KERF_OK;
}
TWICE_ROW(eating, run_eat);

static kerf_status run_status(const kerf_launch *launch) {
    run_right(launch);
    return KERF_ERROR_DEVICE;
}
TWICE_ROW(complaining, run_status);

static kerf_status run_by_ranks(const kerf_launch *launch) {
    run_right(launch);
    operands_of(launch).y[0] += 0x1p-21f * (float)kerf_team_size(launch->team);
    return KERF_OK;
}
TWICE_ROW(by_ranks, run_by_ranks);

static int n_calls;
static kerf_status run_by_call(const kerf_launch *launch) {
    run_right(launch);
    operands_of(launch).y[0] += 0x1p-22f * (float)(n_calls++ % 2);
    return KERF_OK;
}
TWICE_ROW(by_call, run_by_call);

static kerf_status run_unordered(const kerf_launch *launch) {
    return run_by_call(launch);
}
TWICE_ROW(unordered, run_unordered, .traits = KERF_TRAIT_UNORDERED);

static kerf_status run_by_place(const kerf_launch *launch) {
    run_right(launch);
    operands_of(launch).y[0] += 0x1p-22f * (float)((uintptr_t)launch->out[0] % 64 == 0);
    return KERF_OK;
}
TWICE_ROW(by_place, run_by_place);

static kerf_memory four_bytes(const kerf_problem *problem, const kerf_config *config) {
    (void)problem, (void)config;
    return (kerf_memory){.scratch_bytes = 4, .alignment = 4};
}
static kerf_status run_stale_scratch(const kerf_launch *launch) {
    run_right(launch);
    operands_of(launch).y[0] += *(const float *)launch->scratch;
    return KERF_OK;
}
TWICE_ROW(stale_scratch, run_stale_scratch, .memory = four_bytes);
static kerf_status run_past_scratch(const kerf_launch *launch) {
    run_right(launch);
    ((float *)launch->scratch)[1] = 1;
    return KERF_OK;
}
TWICE_ROW(past_scratch, run_past_scratch, .memory = four_bytes);
static kerf_memory absurd(const kerf_problem *problem, const kerf_config *config) {
    (void)problem, (void)config;
    return (kerf_memory){.scratch_bytes = SIZE_MAX, .alignment = 1};
}
static kerf_status run_absurd(const kerf_launch *launch) {
    return run_right(launch);
}
TWICE_ROW(absurd_scratch, run_absurd, .memory = absurd);

static bool refuse(const kerf_problem *problem, const kerf_config *config, kerf_text *why) {
    (void)config;
    kerf_text_printf(why, "N = %lld is not to my taste", (long long)problem->in[0]->at.dims[0]);
    return true;
}
static kerf_status run_refused(const kerf_launch *launch) {
    return run_null(launch);
}
TWICE_ROW(refusing, run_refused, .refuses = refuse);

static bool refuse_config(const kerf_problem *problem, const kerf_config *config, kerf_text *why) {
    (void)problem;
    const bool refused = kerf_config_get(config, "how", 0) == 2;
    if (refused)
        kerf_text_printf(why, "not this way");
    return refused;
}
static kerf_memory config_memory(const kerf_problem *problem, const kerf_config *config) {
    (void)problem;
    return (kerf_memory){.scratch_bytes = 4 * (size_t)kerf_config_get(config, "how", 1), .alignment = 4};
}
/* Writes as much scratch as its config says, and is wrong in way 3. */
static kerf_status run_configured(const kerf_launch *launch) {
    const int64_t how = kerf_config_get(launch->config, "how", 1);
    run_right(launch);
    ((float *)launch->scratch)[how - 1] = 1;
    if (how == 3)
        operands_of(launch).y[0] += 1;
    return KERF_OK;
}
TWICE_ROW(configured, run_configured, .refuses = refuse_config, .memory = config_memory);

static const kerf_row other_machine = {.bytes = sizeof(kerf_row), .name = "other", .isa = "x", .isa_mask = 1ull << 60};
static const kerf_row not_built = {
    .bytes = sizeof(kerf_row), .name = "missing", .isa = "", .missing = "built without z"};

/* ---- what the verifier says of them ----------------------------------------------------------------------------- */

static kerf_verifier *open_verifier(double timeout_s) {
    const kerf_verify_options options = {.threads = THREADS, .timeout_s = timeout_s, .isa = kerf_cpu_isa()};
    kerf_verifier *verifier = NULL;
    kerf_error error = {""};
    CHECK(kerf_verifier_open(&options, &verifier, &error) == KERF_OK);
    return verifier;
}

static kerf_finding judge_case(const kerf_row *row, const kerf_case *c, double timeout_s) {
    kerf_verifier *const verifier = open_verifier(timeout_s);
    kerf_finding finding = {.verdict = KERF_N_VERDICTS, .check = "none"};
    kerf_error error = {""};
    const kerf_status status = kerf_verify_case(verifier, &twice_entry, c, &row, 1, &finding, NULL, &error);
    if (status != KERF_OK)
        kerf_test_say("%s", error.message);
    CHECK(status == KERF_OK);
    kerf_verifier_close(verifier);
    return finding;
}

static kerf_finding judge(const kerf_row *row, const char *stride_of_y) {
    const kerf_case c = twice_case(5, stride_of_y);
    return judge_case(row, &c, 20);
}

static void expect(const kerf_row *row, kerf_verdict verdict, const char *check, const char *words) {
    const kerf_finding finding = judge(row, "3");
    REQUIRE_MESSAGE(finding.verdict == verdict && strcmp(finding.check, check) == 0, "%s: %s by '%s' (%s)", row->name,
                    kerf_verdict_name(finding.verdict), finding.check, finding.reason);
    REQUIRE_MESSAGE(strstr(finding.reason, words), "%s: reason '%s' does not say '%s'", row->name, finding.reason,
                    words);
}

static void right_passes(void) {
    static const char *const strides[] = {"1", "3", "-1", "-7"};
    for (int i = 0; i < 4; ++i) {
        const kerf_finding finding = judge(&right, strides[i]);
        REQUIRE_MESSAGE(finding.verdict == KERF_PASS, "stride %s: %s %s", strides[i], finding.check, finding.reason);
        REQUIRE(finding.ratio == 0 && finding.n_bad == 0 && finding.check[0] == '\0');
    }
    const kerf_case empty = twice_case(0, "1");
    REQUIRE(judge_case(&right, &empty, 20).verdict == KERF_PASS);
}

/* In one order, and once more in another: the configs reach a child that is there already. */
static void each_config_is_judged(void) {
    kerf_verifier *const verifier = open_verifier(20);
    for (int turn = 0; turn < 2; ++turn) {
        kerf_setting settings[4];
        kerf_config configs[4];
        const kerf_row *rows[5];
        const kerf_config *list[5] = {NULL};
        kerf_finding findings[5];
        kerf_error error = {""};
        for (int i = 0; i < 4; ++i) {
            settings[i] = (kerf_setting){"how", turn ? 4 - i : i + 1};
            configs[i] = (kerf_config){.bytes = sizeof configs[i], .n = 1, .setting = &settings[i]};
            list[i] = &configs[i];
        }
        for (int i = 0; i < 5; ++i)
            rows[i] = &configured;
        const kerf_case c = twice_case(5, "1");
        REQUIRE(kerf_verify_configs(verifier, &twice_entry, &c, rows, list, 5, findings, NULL, &error) == KERF_OK);
        for (int i = 0; i < 5; ++i) {
            const int64_t how = i < 4 ? settings[i].value : 1;
            const kerf_verdict verdict = how == 2 ? KERF_SKIP : how == 3 ? KERF_FAIL : KERF_PASS;
            REQUIRE_MESSAGE(findings[i].verdict == verdict, "way %d: %s %s", (int)how,
                            kerf_verdict_name(findings[i].verdict), findings[i].reason);
        }
    }
    kerf_verifier_close(verifier);
}

static void lazy_fails(void) {
    expect(&zero, KERF_FAIL, "value", "");
    expect(&copy, KERF_FAIL, "value", "");
    expect(&constant, KERF_FAIL, "value", "");
}

static void wrong_element_is_named(void) {
    const kerf_finding finding = judge(&nan_row, "1");
    REQUIRE(finding.verdict == KERF_FAIL);
    REQUIRE(strcmp(finding.check, "class") == 0);
    REQUIRE(finding.output == 0 && finding.rank == 1 && finding.index[0] == 0);
    REQUIRE(finding.n_bad == 1 && finding.n_elements == 5);
    REQUIRE(isnan(finding.got) && finding.lo == finding.hi && finding.slack == 0x1p-20);
}

static void memory_faults(void) {
    expect(&unwritten, KERF_FAIL, "unwritten", "");
    expect(&gap, KERF_FAIL, "gap", "between the elements of y, 4 bytes from the lowest");
    expect(&past_end, KERF_CRASH, "guard", "0 bytes behind y");
    expect(&before_begin, KERF_CRASH, "guard", "bytes before x");
    expect(&input, KERF_FAIL, "input", "byte 4 of the input x");
    expect(&stale_scratch, KERF_FAIL, "class", "");
    expect(&past_scratch, KERF_CRASH, "guard", "behind the scratch memory");
}

static void ends_of_the_child(void) {
    expect(&null, KERF_CRASH, "signal", "SIGSEGV");
    expect(&aborting, KERF_CRASH, "signal", "SIGABRT");
    expect(&exiting, KERF_CRASH, "exit", "status 3");
    expect(&complaining, KERF_FAIL, "status", "error");
}

static void hang_times_out(void) {
    const kerf_case c = twice_case(5, "1");
    const kerf_finding finding = judge_case(&hanging, &c, 0.3);
    REQUIRE(finding.verdict == KERF_TIMEOUT);
    REQUIRE(strstr(finding.reason, "0.3 s"));
}

static void memory_is_limited(void) {
    const kerf_finding finding = judge(&eating, "1");
    REQUIRE_MESSAGE(finding.verdict == KERF_CRASH, "%s", kerf_verdict_name(finding.verdict));
    REQUIRE_MESSAGE(strcmp(finding.check, "signal") == 0 || strcmp(finding.check, "memory") == 0, "%s: %s",
                    finding.check, finding.reason);
}

static void other_bits(void) {
    expect(&by_ranks, KERF_NONDET, "threads", "ranks");
    expect(&by_call, KERF_NONDET, "repeat", "second run");
    expect(&by_place, KERF_NONDET, "place", "where the buffers stand");
    const kerf_finding finding = judge(&unordered, "1");
    REQUIRE(finding.verdict == KERF_PASS);
    REQUIRE(finding.spread > 0 && finding.spread <= 1);
}

static void skips_with_reason(void) {
    expect(&refusing, KERF_SKIP, "", "N = 5 is not to my taste");
    expect(&absurd_scratch, KERF_SKIP, "", "16.0 EiB scratch");
    expect(&other_machine, KERF_SKIP, "", "0x1000000000000000");
    expect(&not_built, KERF_SKIP, "", "built without z");
    const kerf_case c = {.op = &twice_op, .dim = {5}, .dtype = KERF_F64, .layout = "1", .want = 1};
    const kerf_finding finding = judge_case(&right, &c, 20);
    REQUIRE(finding.verdict == KERF_SKIP && strstr(finding.reason, "f64"));
}

/* One verifier, many cases: a row that dies in some of them is judged in the others, and so are its neighbours. */
static kerf_status run_dies_when_even(const kerf_launch *launch) {
    return operands_of(launch).n % 2 == 0 ? run_null(launch) : run_right(launch);
}
TWICE_ROW(dies_when_even, run_dies_when_even);

static void crash_costs_its_case_only(void) {
    kerf_verifier *const verifier = open_verifier(20);
    const kerf_row *const rows[] = {&right, &dies_when_even, &zero, &right};
    bool as_expected = true;
    kerf_error error = {""};
    for (int n = 1; n < 40; ++n) {
        const kerf_case c = twice_case(n, "2");
        kerf_finding found[4];
        const kerf_status status = kerf_verify_case(verifier, &twice_entry, &c, rows, 4, found, NULL, &error);
        as_expected = as_expected && status == KERF_OK && found[0].verdict == KERF_PASS &&
                      found[1].verdict == (n % 2 ? KERF_PASS : KERF_CRASH) && found[2].verdict == KERF_FAIL &&
                      found[3].verdict == KERF_PASS;
    }
    kerf_verifier_close(verifier);
    REQUIRE(as_expected);
}

static void sparse_stays_sparse(void) {
    const kerf_case c = twice_case(5, "1073741824"); /* 4 GiB from element to element */
    const kerf_finding finding = judge_case(&right, &c, 20);
    REQUIRE_MESSAGE(finding.verdict == KERF_PASS, "%s", finding.reason);
    const kerf_finding far = judge_case(&gap, &c, 20);
    REQUIRE(far.verdict == KERF_FAIL && strcmp(far.check, "gap") == 0);
}

static void too_large_is_refused(void) {
    kerf_verifier *const verifier = open_verifier(20);
    const kerf_row *const row = &right;
    kerf_finding finding;
    kerf_error error = {""};
    const kerf_case huge = twice_case((int64_t)1 << 42, "1"), more = twice_case(INT64_MAX / 2, "1");
    const kerf_status status = kerf_verify_case(verifier, &twice_entry, &huge, &row, 1, &finding, NULL, &error);
    const kerf_status overflow = kerf_verify_case(verifier, &twice_entry, &more, &row, 1, &finding, NULL, NULL);
    kerf_verifier_close(verifier);
    REQUIRE(status == KERF_ERROR_MEMORY);
    REQUIRE_MESSAGE(strstr(error.message, "are free; use smaller --dims"), "%s", error.message);
    REQUIRE(overflow == KERF_ERROR_USAGE);
}

static void interrupt_is_heard(void) {
    kerf_verifier *const verifier = open_verifier(20);
    const kerf_row *const row = &right;
    const volatile int interrupted = 1;
    const kerf_case c = twice_case(5, "1");
    kerf_finding finding;
    const kerf_status status = kerf_verify_case(verifier, &twice_entry, &c, &row, 1, &finding, &interrupted, NULL);
    kerf_verifier_close(verifier);
    REQUIRE(status == KERF_ERROR_INTERRUPTED);
}

static void count_untrusted(void *arg, const char *mode, const char *output) {
    (void)mode;
    *(int *)arg += strcmp(output, "y") == 0;
}

static void trust_needs_telling_cases(void) {
    kerf_verifier *const verifier = open_verifier(20);
    int told = 0, n_before, n_after;
    kerf_case zeros = twice_case(9, "1"), one = twice_case(1, "1"), random = twice_case(9, "1");
    zeros.fill = TWICE_ZEROS;
    const kerf_status status[] = {
        kerf_verify_case(verifier, &twice_entry, &zeros, NULL, 0, NULL, NULL, NULL),
        kerf_verify_case(verifier, &twice_entry, &one, NULL, 0, NULL, NULL, NULL),
    };
    n_before = kerf_verifier_untrusted(verifier, count_untrusted, &told);
    const kerf_status last = kerf_verify_case(verifier, &twice_entry, &random, NULL, 0, NULL, NULL, NULL);
    n_after = kerf_verifier_untrusted(verifier, count_untrusted, &told);
    kerf_verifier_close(verifier);
    REQUIRE(status[0] == KERF_OK && status[1] == KERF_OK && last == KERF_OK);
    REQUIRE(n_before == 1);
    REQUIRE(told == 1);
    REQUIRE(n_after == 0);
}

static bool has_child(void) {
    return waitpid(-1, NULL, WNOHANG) >= 0;
}

static void nothing_is_left(void) {
    judge(&right, "1");
    judge(&aborting, "1");
    REQUIRE(!has_child());
}

const kerf_test kerf_tests_unit_verify[] = {
    {"verify: a right row passes with every stride and size", "[unit][verify]", right_passes, __FILE__, __LINE__},
    {"verify: each config of a row is judged", "[unit][verify]", each_config_is_judged, __FILE__, __LINE__},
    {"verify: zero, constant and copy fail", "[unit][verify]", lazy_fails, __FILE__, __LINE__},
    {"verify: a wrong element is named", "[unit][verify]", wrong_element_is_named, __FILE__, __LINE__},
    {"verify: accesses outside, gaps, inputs and scratch are found", "[unit][verify]", memory_faults, __FILE__,
     __LINE__},
    {"verify: the end of a child is a finding", "[unit][verify]", ends_of_the_child, __FILE__, __LINE__},
    {"verify: a hang times out", "[unit][verify]", hang_times_out, __FILE__, __LINE__},
    {"verify: memory is limited", "[unit][verify]", memory_is_limited, __FILE__, __LINE__},
    {"verify: other bits are told with their cause", "[unit][verify]", other_bits, __FILE__, __LINE__},
    {"verify: what cannot run is skipped with a reason", "[unit][verify]", skips_with_reason, __FILE__, __LINE__},
    {"verify: a crash costs its case only", "[unit][verify]", crash_costs_its_case_only, __FILE__, __LINE__},
    {"verify: huge strides stay holes", "[unit][verify]", sparse_stays_sparse, __FILE__, __LINE__},
    {"verify: what does not fit is refused", "[unit][verify]", too_large_is_refused, __FILE__, __LINE__},
    {"verify: an interrupt is heard", "[unit][verify]", interrupt_is_heard, __FILE__, __LINE__},
    {"verify: trust needs cases that can tell", "[unit][verify]", trust_needs_telling_cases, __FILE__, __LINE__},
    {"verify: no child is left", "[unit][verify]", nothing_is_left, __FILE__, __LINE__},
    {0}};
