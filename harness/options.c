#include "harness/options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One row per option: what it takes, which commands know it, and one line of help. */
typedef enum option_id {
    OPTION_OP,
    OPTION_VARIANT,
    OPTION_SET,
    OPTION_CASE,
    OPTION_CASES,
    OPTION_DTYPE,
    OPTION_ATTR,
    OPTION_DIMS,
    OPTION_LAYOUT,
    OPTION_FILL,
    OPTION_WANT,
    OPTION_SEED,
    OPTION_SWEEP,
    OPTION_THREADS,
    OPTION_TIME_BUDGET,
    OPTION_TIMEOUT,
    OPTION_ORDER_SEED,
    OPTION_THOROUGH,
    OPTION_PARAM,
    OPTION_CONSTRAINT,
    OPTION_SEARCH,
    OPTION_EVALUATIONS,
    OPTION_MODE,
    OPTION_RESUME,
    OPTION_SPLIT,
    OPTION_COUNTERS,
    OPTION_SECONDS,
    OPTION_PLUGIN,
    OPTION_QUICK,
    OPTION_HTML,
    OPTION_FORMAT,
    OPTION_OUT,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_VERBOSE,
    OPTION_HELP,
    OPTION_VERSION,
    N_OPTIONS
} option_id;

#define IN(command) (1u << KERF_COMMAND_##command)
#define TIMES       (IN(RUN) | IN(TIME) | IN(TIME_WORKER))
#define TUNES       (TIMES | IN(TUNE))
#define RUNS        (TUNES | IN(VERIFY))
#define CHOOSES     (RUNS | IN(ANNOTATE)) /* takes rows and cases */
#define REPORTS     (RUNS | IN(REPORT))
#define ALL         (CHOOSES | IN(LIST) | IN(DOCTOR))

typedef struct option_row {
    const char *name, *value, *help; /* value NULL: a flag */
    unsigned commands;               /* that heed it */
    bool repeatable;
} option_row;

static const option_row rows[N_OPTIONS] = {
    [OPTION_OP] = {"--op", "OP", "the op (bench list names them)", ALL & ~IN(DOCTOR), false},
    [OPTION_VARIANT] = {"--variant", "LIST", "only these rows: vectorized, vectorized.avx2, naive@cpu, ...", CHOOSES,
                        false},
    [OPTION_SET] = {"--set", "LIST", "case sets: smoke, edge, bench, large, models", CHOOSES, false},
    [OPTION_CASE] = {"--case", "TEXT", "this case line instead of the sets; fields may be open (*)", CHOOSES, false},
    [OPTION_CASES] = {"--cases", "FILE", "the case lines of a file instead of the sets", CHOOSES, false},
    [OPTION_DTYPE] = {"--dtype", "LIST", "only these element types: f16, bf16, f32, f64", CHOOSES, false},
    [OPTION_ATTR] = {"--attr", "K=V", "only cases with this attribute value (repeatable)", CHOOSES, true},
    [OPTION_DIMS] = {"--dims", "N=4,C=32,...", "these extents instead of those of each case", CHOOSES, false},
    [OPTION_LAYOUT] = {"--layout", "LAYOUT", "only cases with this layout", CHOOSES, false},
    [OPTION_FILL] = {"--fill", "LIST", "only cases with these fills", CHOOSES, false},
    [OPTION_WANT] = {"--want", "OUTPUTS", "only cases that want these outputs", CHOOSES, false},
    [OPTION_SEED] = {"--seed", "N", "this seed instead of that of each case", CHOOSES, false},
    [OPTION_SWEEP] = {"--sweep", "C=1..256x2", "one case in these sizes: 16..64+16, 1,3,8, H=W=8..64x2 (repeatable)",
                      TIMES, true},
    [OPTION_THREADS] = {"--threads", "N", "ranks of the team (default: all processors)", CHOOSES | IN(DOCTOR), false},
    [OPTION_TIME_BUDGET] = {"--time-budget", "SECONDS", "wall time for timing (default 35; tune 120)", TUNES, false},
    [OPTION_TIMEOUT] = {"--timeout", "SECONDS", "of one row on one case while verifying (default 30)", RUNS, false},
    [OPTION_ORDER_SEED] = {"--order-seed", "N", "of random orders: of turns, of a random search", TUNES, false},
    [OPTION_THOROUGH] = {"--thorough", NULL, "close open fields by all combinations in every set", RUNS, true},
    [OPTION_PARAM] = {"--param", "NAME=V,V",
                      "tune: only these values of a parameter; verify: each of them (repeatable)",
                      IN(TUNE) | IN(VERIFY), true},
    [OPTION_CONSTRAINT] = {"--constraint", "EXPR", "tune: only where this holds: 'threads == 1' (repeatable)", IN(TUNE),
                           true},
    [OPTION_SEARCH] = {"--search", "NAME", "tune: exhaustive or random (default: by the size of the space)", IN(TUNE),
                       false},
    [OPTION_EVALUATIONS] = {"--evaluations", "N", "tune: at most so many configurations of a case (default 200)",
                            IN(TUNE), false},
    [OPTION_MODE] = {"--mode", "MODE", "tune: for hot or cold caches (default hot)", IN(TUNE), false},
    [OPTION_RESUME] = {"--resume", "FILE", "tune: take over what the records of an earlier run say", IN(TUNE), false},
    [OPTION_SPLIT] = {"--split", NULL, "show how calls divide into packing, computing, unpacking", TIMES, true},
    [OPTION_COUNTERS] = {"--counters", NULL, "show what the hardware counts, where it may be asked", TIMES, true},
    [OPTION_SECONDS] = {"--seconds", "SECONDS", "annotate: how long the row is run (default 2)", IN(ANNOTATE), false},
    [OPTION_PLUGIN] = {"--plugin", "FILE.so", "rows and ops of a plug-in too (repeatable)", ALL & ~IN(DOCTOR), true},
    [OPTION_QUICK] = {"--quick", NULL, "doctor: about 5 s instead of 25", IN(DOCTOR), true},
    [OPTION_HTML] = {"--html", "FOLDER", "report: a page with tables and figures", IN(REPORT), false},
    [OPTION_FORMAT] = {"--format", "F", "table, json or csv on standard output (repeatable; default table)",
                       REPORTS | IN(DOCTOR), true},
    [OPTION_OUT] = {"--out", "F=PATH", "the same to a file (repeatable)", REPORTS | IN(DOCTOR), true},
    [OPTION_JSON] = {"--json", NULL, "short for --format json", REPORTS | IN(DOCTOR), true},
    [OPTION_QUIET] = {"--quiet", NULL, "no progress on standard error", ALL | IN(REPORT), true},
    [OPTION_VERBOSE] = {"-v", NULL, "more on standard error: memory of each case", ALL & ~IN(DOCTOR), true},
    [OPTION_HELP] = {"--help", NULL, "this text", ALL | IN(REPORT), false},
    [OPTION_VERSION] = {"--version", NULL, "the version", ALL | IN(REPORT), false},
};

static const char *const command_names[] = {"list",   "verify",      "time",          "tune", "doctor", "annotate",
                                            "report", "time-worker", "doctor-worker", "help", NULL};
static const kerf_command commands[] = {KERF_COMMAND_LIST,   KERF_COMMAND_VERIFY,      KERF_COMMAND_TIME,
                                        KERF_COMMAND_TUNE,   KERF_COMMAND_DOCTOR,      KERF_COMMAND_ANNOTATE,
                                        KERF_COMMAND_REPORT, KERF_COMMAND_TIME_WORKER, KERF_COMMAND_DOCTOR_WORKER,
                                        KERF_COMMAND_HELP};
static const char *const format_names[KERF_N_FORMATS + 1] = {"table", "json", "csv", NULL};

static kerf_status parse_count(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *value,
                               kerf_error *error) {
    char *end;
    errno = 0;
    const unsigned long long parsed = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno || parsed < least || parsed > most)
        return kerf_fail(error, KERF_ERROR_USAGE, "%s '%s': allowed are whole numbers from %llu to %llu", name, text,
                         (unsigned long long)least, (unsigned long long)most);
    *value = parsed;
    return KERF_OK;
}

static kerf_status parse_seconds(const char *name, const char *text, double *value, kerf_error *error) {
    char *end;
    const double parsed = strtod(text, &end);
    if (text[strspn(text, "0123456789.")] || end == text || *end || !isfinite(parsed) || parsed <= 0 || parsed > 1e6)
        return kerf_fail(error, KERF_ERROR_USAGE, "%s '%s': allowed are seconds above 0, up to 1000000", name, text);
    *value = parsed;
    return KERF_OK;
}

static kerf_status add_output(kerf_options *options, const char *name, size_t length, const char *path,
                              kerf_error *error) {
    int format = 0;
    while (format < KERF_N_FORMATS &&
           (strlen(format_names[format]) != length || strncmp(format_names[format], name, length) != 0))
        ++format;
    if (format == KERF_N_FORMATS)
        return kerf_fail(error, KERF_ERROR_USAGE, "format '%.*s': allowed are table, json, csv", (int)length, name);
    if (options->n_outputs == KERF_MAX_REPEATS)
        return kerf_fail(error, KERF_ERROR_USAGE, "more than %d outputs", KERF_MAX_REPEATS);
    options->output[options->n_outputs++] = (kerf_output){.format = (kerf_format)format, .path = path};
    return KERF_OK;
}

static kerf_status add_out(kerf_options *options, const char *value, kerf_error *error) {
    const char *const equals = strchr(value, '=');
    if (!equals || !equals[1])
        return kerf_fail(error, KERF_ERROR_USAGE, "--out '%s': expected FORMAT=PATH, such as json=run.jsonl", value);
    return add_output(options, value, (size_t)(equals - value), equals + 1, error);
}

static kerf_status add_repeat(const char *list[KERF_MAX_REPEATS + 1], const char *name, const char *value,
                              kerf_error *error) {
    int n = 0;
    while (list[n])
        ++n;
    if (n == KERF_MAX_REPEATS)
        return kerf_fail(error, KERF_ERROR_USAGE, "%s given more than %d times", name, KERF_MAX_REPEATS);
    list[n] = value;
    return KERF_OK;
}

static kerf_status apply_number(kerf_options *options, option_id id, const char *value, kerf_error *error) {
    uint64_t number = 0;
    switch (id) {
    case OPTION_THREADS:
        KERF_TRY(parse_count("--threads", value, 1, 1024, &number, error));
        options->threads = (int)number;
        return KERF_OK;
    case OPTION_EVALUATIONS:
        KERF_TRY(parse_count("--evaluations", value, 1, 1000000, &number, error));
        options->evaluations = (int64_t)number;
        return KERF_OK;
    case OPTION_ORDER_SEED:
        return parse_count("--order-seed", value, 0, UINT64_MAX, &options->order_seed, error);
    case OPTION_TIME_BUDGET:
        return parse_seconds("--time-budget", value, &options->time_budget_s, error);
    case OPTION_SECONDS:
        return parse_seconds("--seconds", value, &options->seconds, error);
    default:
        return parse_seconds("--timeout", value, &options->timeout_s, error);
    }
}

static kerf_status apply(kerf_options *options, option_id id, const char *value, kerf_error *error) {
    const char **const texts[N_OPTIONS] = {
        [OPTION_OP] = &options->op,
        [OPTION_VARIANT] = &options->variants,
        [OPTION_SET] = &options->sets,
        [OPTION_HTML] = &options->html,
        [OPTION_CASE] = &options->case_line,
        [OPTION_CASES] = &options->cases_file,
        [OPTION_DTYPE] = &options->filter.dtypes,
        [OPTION_DIMS] = &options->filter.dims,
        [OPTION_LAYOUT] = &options->filter.layouts,
        [OPTION_FILL] = &options->filter.fills,
        [OPTION_WANT] = &options->filter.wants,
        [OPTION_SEED] = &options->filter.seed,
        [OPTION_SEARCH] = &options->search,
        [OPTION_RESUME] = &options->resume,
    };
    if (texts[id]) {
        *texts[id] = value;
        return KERF_OK;
    }
    switch (id) {
    case OPTION_ATTR:
        return add_repeat(options->attr, "--attr", value, error);
    case OPTION_SWEEP:
        return add_repeat(options->sweep, "--sweep", value, error);
    case OPTION_PARAM:
        return add_repeat(options->param, "--param", value, error);
    case OPTION_CONSTRAINT:
        return add_repeat(options->constraint, "--constraint", value, error);
    case OPTION_MODE:
        options->cold = strcmp(value, "cold") == 0;
        if (!options->cold && strcmp(value, "hot") != 0)
            return kerf_fail(error, KERF_ERROR_USAGE, "--mode '%s': allowed are hot and cold", value);
        return KERF_OK;
    case OPTION_PLUGIN:
        return add_repeat(options->plugin, "--plugin", value, error);
    case OPTION_FORMAT:
        return add_output(options, value, strlen(value), NULL, error);
    case OPTION_OUT:
        return add_out(options, value, error);
    case OPTION_JSON:
        return add_output(options, "json", 4, NULL, error);
    case OPTION_THOROUGH:
        options->edge_expansion = KERF_EXPAND_ALL;
        return KERF_OK;
    case OPTION_QUICK:
        options->quick = true;
        return KERF_OK;
    case OPTION_SPLIT:
        options->split = true;
        return KERF_OK;
    case OPTION_COUNTERS:
        options->counters = true;
        return KERF_OK;
    case OPTION_QUIET:
        options->quiet = true;
        return KERF_OK;
    case OPTION_VERBOSE:
        options->verbose = true;
        return KERF_OK;
    default:
        return apply_number(options, id, value, error);
    }
}

static kerf_status unknown_option(const char *given, kerf_error *error) {
    const char *names[N_OPTIONS + 1] = {0};
    for (int i = 0; i < N_OPTIONS; ++i)
        names[i] = rows[i].name;
    const char *const nearest = kerf_nearest_name(given, names);
    return kerf_fail(error, KERF_ERROR_USAGE, "unknown option '%s'%s%s%s; bench --help lists them", given,
                     nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'" : "");
}

/* Takes argv[*at] and its value, leaves *at on the last one taken, and notes in *given which option it was. */
static kerf_status take_option(int argc, char **argv, int *at, kerf_options *options, uint64_t *given_options,
                               kerf_error *error) {
    const char *const given = argv[*at];
    const char *const equals = strchr(given, '=');
    const size_t length = equals ? (size_t)(equals - given) : strlen(given);
    int id = 0;
    while (id < N_OPTIONS && (strlen(rows[id].name) != length || strncmp(rows[id].name, given, length) != 0))
        ++id;
    if (id == N_OPTIONS)
        return unknown_option(given, error);
    if ((id == OPTION_HELP || id == OPTION_VERSION) && !equals) {
        options->command = id == OPTION_HELP ? KERF_COMMAND_HELP : KERF_COMMAND_VERSION;
        return KERF_OK;
    }
    const char *value = equals ? equals + 1 : NULL;
    if (rows[id].value && !value) {
        if (*at + 1 >= argc)
            return kerf_fail(error, KERF_ERROR_USAGE, "%s needs a value: %s %s", rows[id].name, rows[id].name,
                             rows[id].value);
        value = argv[++*at];
    }
    if (!rows[id].value && value)
        return kerf_fail(error, KERF_ERROR_USAGE, "%s takes no value, '%s' was given", rows[id].name, value);
    if (*given_options >> id & 1 && !rows[id].repeatable)
        return kerf_fail(error, KERF_ERROR_USAGE, "%s is given twice; it takes one value", rows[id].name);
    *given_options |= UINT64_C(1) << id;
    return apply(options, (option_id)id, value, error);
}

static kerf_status take_word(const char *word, int position, kerf_options *options, kerf_error *error) {
    if (options->command == KERF_COMMAND_ANNOTATE && position == 1 && !options->variants) {
        options->variants = word;
        return KERF_OK;
    }
    if (options->command == KERF_COMMAND_REPORT) {
        if (options->n_files == KERF_MAX_FILES)
            return kerf_fail(error, KERF_ERROR_USAGE, "more than %d files of records", KERF_MAX_FILES);
        options->file[options->n_files++] = word;
        return KERF_OK;
    }
    if (position > 0) {
        /* `bench list OP` and `bench verify OP` are what people type. */
        if (!options->op && position == 1) {
            options->op = word;
            return KERF_OK;
        }
        return kerf_fail(error, KERF_ERROR_USAGE, "unexpected argument '%s'; bench --help shows the usage", word);
    }
    for (int i = 0; command_names[i]; ++i) {
        if (strcmp(command_names[i], word) == 0) {
            options->command = commands[i];
            options->help_on = word;
            return KERF_OK;
        }
    }
    const char *const nearest = kerf_nearest_name(word, command_names);
    return kerf_fail(
        error, KERF_ERROR_USAGE,
        "unknown command '%s'%s%s%s; commands are list, verify, time, tune, doctor, annotate, report; bench --op OP "
        "verifies and times",
        word, nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'" : "");
}

static kerf_status check_doctor(const kerf_options *options, kerf_error *error) {
    if (options->op)
        return kerf_fail(error, KERF_ERROR_USAGE, "bench doctor takes no op, '%s' was given; leave it out",
                         options->op);
    for (int i = 0; i < options->n_outputs; ++i)
        if (options->output[i].format == KERF_FORMAT_CSV ||
            (options->output[i].format == KERF_FORMAT_TABLE && options->output[i].path))
            return kerf_fail(error, KERF_ERROR_USAGE,
                             "bench doctor prints a table or json, and writes json to files: --format json, --out "
                             "json=PATH");
    return KERF_OK;
}

/* Options that the command would not heed are refused. */
static kerf_status check_fit(const kerf_options *options, uint64_t given, kerf_error *error) {
    const bool times = options->command == KERF_COMMAND_RUN || options->command == KERF_COMMAND_TIME ||
                       options->command == KERF_COMMAND_TIME_WORKER;
    for (int id = 0; id < N_OPTIONS; ++id)
        if (given >> id & 1 && !(rows[id].commands >> options->command & 1))
            return kerf_fail(error, KERF_ERROR_USAGE, "%s means nothing to bench %s; leave it out", rows[id].name,
                             options->help_on ? options->help_on : "--op OP");
    if (options->command == KERF_COMMAND_DOCTOR)
        KERF_TRY(check_doctor(options, error));
    if (options->host_argument && !times)
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "arguments behind -- are for Google Benchmark: bench time --op OP -- %s",
                         options->n_host_arguments > 0 ? options->host_argument[0] : "--benchmark_list_tests");
    if (options->host_argument && (options->split || options->counters))
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "--split and --counters are not for Google Benchmark's front end; leave them or the -- out");
    if (options->host_argument && options->n_outputs > 0)
        return kerf_fail(
            error, KERF_ERROR_USAGE,
            "--format, --json and --out are not for Google Benchmark's front end; it has --benchmark_format "
            "and --benchmark_out");
    return KERF_OK;
}

static kerf_status check_outputs(const kerf_options *options, kerf_error *error) {
    for (int i = 0; i < options->n_outputs; ++i)
        for (int j = 0; j < i; ++j)
            if (options->output[i].path && options->output[j].path &&
                strcmp(options->output[i].path, options->output[j].path) == 0)
                return kerf_fail(error, KERF_ERROR_USAGE, "--out names '%s' twice; give each output a path of its own",
                                 options->output[i].path);
    return KERF_OK;
}

static kerf_status check_together(kerf_options *options, kerf_error *error) {
    const int sources = !!options->sets + !!options->case_line + !!options->cases_file;
    if (sources > 1)
        return kerf_fail(error, KERF_ERROR_USAGE, "--set, --case and --cases exclude each other; give one of them");
    if (options->sweep[0] && (options->sets || options->cases_file))
        return kerf_fail(
            error, KERF_ERROR_USAGE,
            "--sweep starts from one case: give that by --case, not by %s (default: the first of set bench)",
            options->sets ? "--set" : "--cases");
    if (!(options->time_budget_s > 0))
        options->time_budget_s = options->command == KERF_COMMAND_TUNE ? 120 : 35;
    int on_stdout = 0;
    for (int i = 0; i < options->n_outputs; ++i)
        on_stdout += options->output[i].path == NULL;
    KERF_TRY(check_outputs(options, error));
    if (on_stdout == 0 && options->n_outputs < KERF_MAX_REPEATS && !options->host_argument && !options->html)
        options->output[options->n_outputs++] = (kerf_output){.format = KERF_FORMAT_TABLE};
    const bool needs_op = options->command == KERF_COMMAND_RUN || options->command == KERF_COMMAND_VERIFY ||
                          options->command == KERF_COMMAND_TIME || options->command == KERF_COMMAND_TUNE ||
                          options->command == KERF_COMMAND_ANNOTATE;
    if (needs_op && !options->op)
        return kerf_fail(error, KERF_ERROR_USAGE, "no op was given: bench --op OP (bench list names the ops)");
    return KERF_OK;
}

kerf_status kerf_options_parse(int argc, char **argv, kerf_options *options, kerf_error *error) {
    *options = (kerf_options){
        .edge_expansion = KERF_EXPAND_PAIRS, .timeout_s = 30, .order_seed = 1, .seconds = 2, .evaluations = 200};
    int n_words = 0;
    uint64_t given = 0;
    for (int at = 1; at < argc; ++at) {
        if (strcmp(argv[at], "--") == 0) {
            options->n_host_arguments = argc - at - 1;
            options->host_argument = argv + at + 1;
            break;
        }
        if (argv[at][0] == '-' && argv[at][1]) /* `-` is standard input to report */
            KERF_TRY(take_option(argc, argv, &at, options, &given, error));
        else
            KERF_TRY(take_word(argv[at], n_words++, options, error));
        if (options->command == KERF_COMMAND_HELP || options->command == KERF_COMMAND_VERSION) {
            /* `bench help verify` names the command behind it. */
            if (at + 1 < argc && argv[at][0] != '-') {
                KERF_TRY(take_word(argv[at + 1], 0, options, error));
                options->command = KERF_COMMAND_HELP;
            }
            return KERF_OK;
        }
    }
    options->filter.attrs = options->attr;
    KERF_TRY(check_fit(options, given, error));
    return check_together(options, error);
}

static void print_options(kerf_text *text, unsigned of) {
    for (int i = 0; i < N_OPTIONS; ++i)
        if (rows[i].commands & of)
            kerf_text_printf(text, "  %s %-*s %s\n", rows[i].name, 27 - (int)strlen(rows[i].name),
                             rows[i].value ? rows[i].value : "", rows[i].help);
}

const char *kerf_options_help(const char *command) {
    static char memory[8192];
    kerf_text text = kerf_text_over(memory, sizeof memory);
    if (command && strcmp(command, "list") == 0) {
        kerf_text_printf(&text,
                         "usage: bench list [OP] [--plugin FILE.so]\n\n"
                         "Without OP: the ops, their implementations and what is missing here, with the reason.\n"
                         "With OP: which implementation takes which element type, and why not.\n");
        return memory;
    }
    if (command && strcmp(command, "doctor") == 0) {
        kerf_text_printf(
            &text, "usage: bench doctor [--quick] [--threads N] [--json] [--out json=PATH] [--quiet]\n\n"
                   "Measures bandwidth per size of the working set and multiply-add rates for 1 to N threads, and\n"
                   "keeps them for this machine; says what disturbs timing here and which differences can be\n"
                   "told. About 25 s; with --quick about 5 s, up to smaller sizes. With --json what was measured, in\n"
                   "the form of the kept file (docs/doctor.md), instead of the tables.\n");
        return memory;
    }
    if (command && strcmp(command, "annotate") == 0) {
        kerf_text_printf(
            &text,
            "usage: bench annotate VARIANT --op OP [--case TEXT] [--threads N] [--seconds S] [--plugin FILE.so]\n\n"
            "Runs one row on one case (default: the first of set bench), samples where it is up to 1,000\n"
            "times a second, and shows the instructions of the loops that it spends its time in, with\n"
            "percentages. Needs objdump (binutils), no hardware counters and no root.\n");
        return memory;
    }
    if (command && strcmp(command, "tune") == 0) {
        kerf_text_printf(
            &text, "usage: bench tune --op OP [options]\n\n"
                   "For each case: tries configurations (implementation, threads, and the parameters of the\n"
                   "implementation), verifies each before it is timed, and measures the 8 fastest again, head to\n"
                   "head with the default. The default stays unless another one is surely not slower.\n\n");
        print_options(&text, IN(TUNE));
        kerf_text_printf(&text, "\ndocs/tuning.md has the rules, the names for --constraint and the format.\n");
        return memory;
    }
    if (command && strcmp(command, "report") == 0) {
        kerf_text_printf(
            &text,
            "usage: bench report [FILE...] [--html FOLDER] [--format table|json|csv] [--out F=PATH] [--quiet]\n\n"
            "Makes reports again from files of records, `-` for standard input; without FILE from the\n"
            "newest run. Several files are reported one after the other. --html writes one page that\n"
            "needs nothing but itself into a folder of its own, which is made if it is not there; its\n"
            "figures need a Python with matplotlib (KERF_PYTHON in the environment names one).\n");
        return memory;
    }
    kerf_text_printf(
        &text, "usage: bench --op OP [options]          verify, then time and rank what passed\n"
               "       bench verify --op OP [options]   verify only (sets smoke and edge)\n"
               "       bench time --op OP [options]     time (set bench); what is timed is verified first\n"
               "       bench tune --op OP [options]     the fastest configuration of each case (set bench)\n"
               "       bench time --op OP -- --benchmark_list_tests\n"
               "                                        Google Benchmark's own front end\n"
               "       bench annotate VARIANT --op OP   disassembly of the loops that a row spends its time in\n"
               "       bench doctor [--quick]           limits of this machine, and what disturbs timing here\n"
               "       bench report [FILE...]           reports again from files of records; --html FOLDER: a page\n"
               "       bench list [OP]                  ops, implementations, what is missing and why\n\n");
    print_options(&text, ~0u);
    kerf_text_printf(&text,
                     "\nKERF_ISA=avx2 (avx512, neon, none; a list) in the environment takes instruction sets away; "
                     "NO_COLOR is honoured.\n");
    kerf_text_printf(&text,
                     "exit: 0 good, 1 could not run, 2 usage, 4 wrong result, 6 impossibly fast, 130 interrupted\n");
    return memory;
}
