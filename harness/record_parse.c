#include "harness/record_read.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The first field that is not as it must be ends the reading: what follows gives empty values. */
typedef struct reader {
    const json_t *object;
    kerf_arena *arena;
    const char *field, *expected; /* NULL: all was well */
    bool no_memory;
} reader;

static void refuse(reader *r, const char *field, const char *expected) {
    if (r->expected)
        return;
    r->field = field;
    r->expected = expected;
}

/* Length of the sequence at `s`, which is well-formed UTF-8, if a terminal or page could take it for an order: control
 * characters, and those that turn the direction of writing or end a line. Else 0. */
static size_t control_length(const unsigned char *s) {
    if (s[0] < 0x20 || s[0] == 0x7f)
        return 1;
    if (s[0] == 0xc2 && s[1] < 0xa0)
        return 2;
    const bool turns = s[0] == 0xe2 && ((s[1] == 0x80 && s[2] >= 0xa8 && s[2] <= 0xae) ||
                                        (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9));
    return turns ? 3 : 0;
}

static const char *copied(reader *r, const char *value) {
    char *const copy = kerf_arena_copy_text(r->arena, value);
    if (!copy) {
        r->no_memory = true;
        return "";
    }
    char *to = copy;
    for (const char *from = copy; *from;) {
        const size_t control = control_length((const unsigned char *)from);
        *to++ = control ? '?' : *from;
        from += control ? control : 1;
    }
    *to = '\0';
    return copy;
}

static const char *text_or(reader *r, const char *name, const char *missing) {
    const json_t *const value = json_object_get(r->object, name);
    if (!value || json_is_null(value))
        return missing;
    if (!json_is_string(value)) {
        refuse(r, name, "a text");
        return missing;
    }
    return copied(r, json_string_value(value));
}

static const char *text(reader *r, const char *name) {
    const char *const value = text_or(r, name, NULL);
    if (!value)
        refuse(r, name, "a text");
    return value ? value : "";
}

/* null is what JSON has for infinities and NaN: the field says which it stands for. */
static double real(reader *r, const char *name, double missing, double null) {
    const json_t *const value = json_object_get(r->object, name);
    if (!value)
        return missing;
    if (json_is_null(value))
        return null;
    if (!json_is_number(value))
        refuse(r, name, "a number or null");
    return json_number_value(value) + 0.0; /* the library reads -0 as the integer 0: no zero has a sign then */
}

static int64_t integer_of(reader *r, const json_t *value, const char *name, int64_t least, int64_t most) {
    if (json_is_integer(value) && json_integer_value(value) >= least && json_integer_value(value) <= most)
        return json_integer_value(value);
    refuse(r, name, least == 0 ? "a whole number from 0 on, not too large" : "a whole number, not too large");
    return 0;
}

static int64_t integer_or(reader *r, const char *name, int64_t least, int64_t most, int64_t missing) {
    const json_t *const value = json_object_get(r->object, name);
    return value ? integer_of(r, value, name, least, most) : missing;
}

static uint64_t hex_or(reader *r, const char *name, uint64_t missing) {
    const json_t *const value = json_object_get(r->object, name);
    if (!value)
        return missing;
    const char *const digits = json_is_string(value) ? json_string_value(value) : "";
    const size_t n = strlen(digits);
    if (n < 3 || n > 18 || strncmp(digits, "0x", 2) != 0 || digits[2 + strspn(digits + 2, "0123456789abcdef")]) {
        refuse(r, name, "a text such as \"0x12ef\"");
        return missing;
    }
    return strtoull(digits + 2, NULL, 16);
}

/* The object of that name as a reader of its own; false if there is none. */
static bool inner(reader *r, const char *name, reader *in) {
    const json_t *const value = json_object_get(r->object, name);
    if (!value || json_is_null(value))
        return false;
    if (!json_is_object(value)) {
        refuse(r, name, "an object");
        return false;
    }
    *in = (reader){.object = value, .arena = r->arena};
    return true;
}

static void end_inner(reader *r, const reader *in) {
    r->no_memory = r->no_memory || in->no_memory;
    if (in->expected)
        refuse(r, in->field, in->expected);
}

static kerf_estimate estimate(reader *r, const char *name) {
    reader in;
    if (!inner(r, name, &in))
        return (kerf_estimate){0};
    const kerf_estimate value = {
        .middle = real(&in, "middle", 0, -1), .low = real(&in, "low", 0, 0), .high = real(&in, "high", 0, INFINITY)};
    end_inner(r, &in);
    if (value.middle < 0 || value.low < 0 || value.high < 0)
        refuse(r, name, "`middle`, `low` and `high` from 0 on");
    return value;
}

static const kerf_environment *environment(reader *r) {
    kerf_environment *const value = KERF_ARENA_NEW(r->arena, kerf_environment, 1);
    reader in = {.object = NULL, .arena = r->arena};
    if (!value) {
        r->no_memory = true;
        return NULL;
    }
    inner(r, "environment", &in);
    *value = (kerf_environment){
        .cpu = text_or(&in, "cpu", "unknown"),
        .isa = text_or(&in, "isa", "unknown"),
        .caches = text_or(&in, "caches", "unknown"),
        .governor = text_or(&in, "governor", "unknown"),
        .kernel = text_or(&in, "kernel", "unknown"),
        .compiler = text_or(&in, "compiler", "unknown"),
        .flags = text_or(&in, "flags", "unknown"),
        .build_id = text_or(&in, "build_id", "unknown"),
        .virtual_machine = text_or(&in, "virtual_machine", "unknown"),
        .flush_to_zero = text_or(&in, "flush_to_zero", "unknown"),
        .processors = (int)integer_or(&in, "processors", 0, INT32_MAX, 0),
        .load_1min = real(&in, "load_1min", 0, NAN),
        .memory_available_bytes = (uint64_t)integer_or(&in, "memory_available_bytes", 0, INT64_MAX, 0),
    };
    end_inner(r, &in);
    return value;
}

static void read_run(reader *r, kerf_record *record) {
    record->utc = text_or(r, "utc", "unknown");
    record->version = text_or(r, "version", "unknown");
    record->command = text_or(r, "command", "unknown");
    record->threads = (int)integer_or(r, "threads", 0, INT32_MAX, 0);
    record->seed = hex_or(r, "order_seed", 0);
    record->environment = environment(r);
}

static kerf_verdict verdict(reader *r, const char *name) {
    const json_t *const value = json_object_get(r->object, name);
    for (int v = 0; json_is_string(value) && v < KERF_N_VERDICTS; ++v)
        if (strcmp(json_string_value(value), kerf_verdict_name((kerf_verdict)v)) == 0)
            return (kerf_verdict)v;
    refuse(r, name, "PASS, FAIL, NONDET, CRASH, TIMEOUT, IMPLAUSIBLE or SKIP");
    return KERF_SKIP;
}

static void read_index(reader *r, kerf_finding *finding) {
    const json_t *const index = json_object_get(r->object, "index");
    if (index && (!json_is_array(index) || json_array_size(index) > KERF_MAX_RANK)) {
        refuse(r, "index", "an array of as many whole numbers as an operand has dims");
        return;
    }
    finding->rank = (int)json_array_size(index);
    for (int axis = 0; axis < finding->rank; ++axis)
        finding->index[axis] = integer_of(r, json_array_get(index, (size_t)axis), "index", INT64_MIN, INT64_MAX);
}

static void read_finding(reader *r, kerf_record *record) {
    kerf_finding *const finding = &record->finding;
    *finding = (kerf_finding){
        .verdict = verdict(r, "verdict"),
        .check = text_or(r, "check", ""),
        .ratio = real(r, "error_over_slack", 0, INFINITY),
        .spread = real(r, "spread_over_slack", 0, INFINITY),
        .output = -1,
        .got = real(r, "got", 0, NAN),
        .lo = real(r, "low", 0, -INFINITY),
        .hi = real(r, "high", 0, INFINITY),
        .slack = real(r, "slack", 0, INFINITY),
        .n_bad = integer_or(r, "bad_elements", 0, INT64_MAX, 0),
        .n_elements = integer_or(r, "elements", 0, INT64_MAX, 0),
        .threads = (int)integer_or(r, "threads", 0, INT32_MAX, 0),
        .place = text_or(r, "place", NULL),
    };
    kerf_text reason = kerf_text_over(finding->reason, sizeof finding->reason);
    kerf_text_printf(&reason, "%s", text_or(r, "reason", ""));
    record->output = text_or(r, "output", NULL);
    if (record->output)
        read_index(r, finding);
}

static void read_identity(reader *r, kerf_record *record) {
    record->op = text(r, "op");
    record->set = text(r, "set");
    record->case_text = text(r, "case");
    record->case_hash = hex_or(r, "case_hash", 0);
    record->row = text(r, "row");
    record->mode = text(r, "mode");
    record->config = text_or(r, "config", "");
    record->threads = (int)integer_or(r, "threads", 0, INT32_MAX, 0);
    read_finding(r, record);
}

static void read_samples(reader *r, kerf_record *record) {
    static const char *const expected = "an array of [process, round, total_ns, batch]";
    const json_t *const samples = json_object_get(r->object, "samples");
    if (!samples)
        return;
    const size_t n = json_array_size(samples);
    if (!json_is_array(samples) || n == 0 || n > INT32_MAX) {
        refuse(r, "samples", expected);
        return;
    }
    kerf_recorded_sample *const sample = KERF_ARENA_NEW(r->arena, kerf_recorded_sample, n);
    if (!sample) {
        r->no_memory = true;
        return;
    }
    for (size_t i = 0; i < n && !r->expected; ++i) {
        const json_t *const row = json_array_get(samples, i);
        if (json_array_size(row) != 4) {
            refuse(r, "samples", expected);
            return;
        }
        sample[i] = (kerf_recorded_sample){
            .process = (uint16_t)integer_of(r, json_array_get(row, 0), "samples", 0, UINT16_MAX),
            .round = (uint16_t)integer_of(r, json_array_get(row, 1), "samples", 0, UINT16_MAX),
            .total_ns = (uint64_t)integer_of(r, json_array_get(row, 2), "samples", 0, INT64_MAX),
            .batch = (uint32_t)integer_of(r, json_array_get(row, 3), "samples", 1, UINT32_MAX),
        };
    }
    record->sample = sample;
    record->n_samples = (int)n;
}

static void read_overhead(reader *r, kerf_record *record) {
    const json_t *const rows = json_object_get(r->object, "overhead_ns");
    const size_t n = json_array_size(rows);
    record->resolution_ns = real(r, "resolution_ns", 0, 0);
    if (n == 0 || n > INT32_MAX)
        return;
    kerf_recorded_overhead *const overhead = KERF_ARENA_NEW(r->arena, kerf_recorded_overhead, n);
    if (!overhead) {
        r->no_memory = true;
        return;
    }
    for (size_t i = 0; i < n; ++i) {
        const json_t *const row = json_array_get(rows, i), *const first = json_array_get(row, 0);
        if (json_array_size(row) != 2 || !json_is_number(first) || !json_is_number(json_array_get(row, 1))) {
            refuse(r, "overhead_ns", "an array of [first, further]");
            return;
        }
        overhead[i] = (kerf_recorded_overhead){.sample_ns = json_number_value(first),
                                               .call_ns = json_number_value(json_array_get(row, 1))};
    }
    record->overhead = overhead;
    record->n_overheads = (int)n;
}

static void read_limit(reader *r, kerf_record *record) {
    reader in;
    if (inner(r, "work", &in)) {
        record->flops = real(&in, "flops", 0, 0);
        record->read_bytes = real(&in, "read_bytes", 0, 0);
        record->written_bytes = real(&in, "written_bytes", 0, 0);
        if (record->flops < 0 || record->read_bytes < 0 || record->written_bytes < 0)
            refuse(r, "work", "numbers from 0 on");
        end_inner(r, &in);
    }
    if (!inner(r, "limit", &in))
        return;
    record->limit_ns = real(&in, "ns", 0, 0);
    record->limit_by = text(&in, "by");
    record->limit_bytes = (size_t)integer_or(&in, "level", 0, INT64_MAX, 0);
    record->limit_again = json_is_true(json_object_get(in.object, "again"));
    end_inner(r, &in);
    record->share = estimate(r, "share");
}

static void read_counters(reader *r, kerf_recorded_extra *extra) {
    kerf_recorded_counters *const counters = &extra->counters;
    extra->uncounted = text_or(r, "reason", NULL);
    counters->n_calls = integer_or(r, "calls", 0, INT64_MAX, 0);
    for (int i = 0; i < KERF_N_COUNTERS; ++i)
        counters->value[i] = real(r, kerf_counter_name((kerf_counter)i), NAN, NAN);
    counters->cycles_per_ns = real(r, "cycles_per_ns", NAN, NAN);
}

static void read_extra(reader *r, kerf_record *record) {
    kerf_recorded_extra *const extra = KERF_ARENA_NEW(r->arena, kerf_recorded_extra, 1);
    reader in;
    if (!extra) {
        r->no_memory = true;
        return;
    }
    *extra = (kerf_recorded_extra){0};
    if ((extra->asked_split = inner(r, "split", &in))) {
        extra->split = (kerf_recorded_split){.n_calls = (int)integer_or(&in, "calls", 0, INT32_MAX, 0),
                                             .call_ns = real(&in, "call", 0, NAN),
                                             .pack_ns = real(&in, "pack", 0, NAN),
                                             .compute_ns = real(&in, "compute", 0, NAN),
                                             .unpack_ns = real(&in, "unpack", 0, NAN)};
        end_inner(r, &in);
    }
    if ((extra->asked_counters = inner(r, "counters", &in))) {
        read_counters(&in, extra);
        end_inner(r, &in);
    }
    if (extra->asked_split || extra->asked_counters)
        record->extra = extra;
}

static void read_timed_samples(reader *r, kerf_record *record) {
    read_samples(r, record);
    if (record->n_samples > 0 && !(record->time_ns.middle > 0))
        refuse(r, "time_ns", "a time above 0 where there are samples");
}

static void read_time(reader *r, kerf_record *record) {
    read_identity(r, record);
    record->time_ns = estimate(r, "time_ns");
    record->covered = real(r, "covered", 0, 0);
    record->speed_ratio = estimate(r, "ratio_to_naive");
    record->speed_unresolved = json_is_true(json_object_get(r->object, "ratio_unresolved"));
    record->repeat = text_or(r, "repeat", NULL);
    record->stop = text_or(r, "stop", "");
    read_limit(r, record);
    read_extra(r, record);
    read_overhead(r, record);
    read_timed_samples(r, record);
}

static void read_tune(reader *r, kerf_record *record) {
    kerf_recorded_tune *const tune = KERF_ARENA_NEW(r->arena, kerf_recorded_tune, 1);
    if (!tune) {
        r->no_memory = true;
        return;
    }
    read_identity(r, record);
    const char *const phase = text(r, "phase");
    *tune = (kerf_recorded_tune){
        .phase = strcmp(phase, "final") == 0     ? KERF_TUNE_FINAL
                 : strcmp(phase, "confirm") == 0 ? KERF_TUNE_CONFIRM
                                                 : KERF_TUNE_SEARCH,
        .step = integer_or(r, "step", 0, INT64_MAX, 0),
        .configurations = integer_or(r, "configurations", 0, INT64_MAX, 0),
        .is_standard = json_is_true(json_object_get(r->object, "standard")),
        .is_taken_over = json_is_true(json_object_get(r->object, "taken_over")),
        .is_chosen = json_is_true(json_object_get(r->object, "chosen")),
    };
    if (strcmp(phase, kerf_tune_phase_name(tune->phase)) != 0)
        refuse(r, "phase", "search, final or confirm");
    record->tune = tune;
    record->repeat = text_or(r, "repeat", NULL);
    record->time_ns = estimate(r, "time_ns");
    record->ratio_to_standard = estimate(r, "ratio_to_standard");
    record->covered = real(r, "covered", 0, 0);
    read_limit(r, record);
    read_overhead(r, record);
    read_timed_samples(r, record);
}

static void read_end(reader *r, kerf_record *record) {
    record->exit_code = (int)integer_or(r, "exit_code", 0, INT32_MAX, 0);
    record->seconds = real(r, "seconds", 0, INFINITY);
    record->n_passed = integer_or(r, "passed", 0, INT64_MAX, 0);
    record->n_failed = integer_or(r, "failed", 0, INT64_MAX, 0);
    record->n_skipped = integer_or(r, "skipped", 0, INT64_MAX, 0);
}

static bool read_kind(reader *r, const char *kind, kerf_record *record) {
    if (strcmp(kind, "run") == 0) {
        record->kind = KERF_RECORD_RUN;
        read_run(r, record);
    } else if (strcmp(kind, "verify") == 0) {
        record->kind = KERF_RECORD_VERIFY;
        read_identity(r, record);
        record->repeat = text_or(r, "repeat", NULL);
    } else if (strcmp(kind, "time") == 0) {
        record->kind = KERF_RECORD_TIME;
        read_time(r, record);
    } else if (strcmp(kind, "tune") == 0) {
        record->kind = KERF_RECORD_TUNE;
        read_tune(r, record);
    } else if (strcmp(kind, "trust") == 0) {
        record->kind = KERF_RECORD_TRUST;
        record->op = text(r, "op");
        record->mode = text(r, "mode");
        record->output = text(r, "output");
    } else if (strcmp(kind, "end") == 0) {
        record->kind = KERF_RECORD_END;
        read_end(r, record);
    } else {
        return false;
    }
    return true;
}

static kerf_status read_object(const json_t *object, kerf_arena *arena, kerf_record *record, bool *known,
                               kerf_error *error) {
    const json_t *const schema = json_object_get(object, "schema"), *const kind = json_object_get(object, "kind");
    if (!json_is_integer(schema) || !json_is_string(kind))
        return kerf_fail(error, KERF_ERROR_FILE, "expected a record: an object with `schema` and `kind`");
    if (json_integer_value(schema) != KERF_RECORD_SCHEMA)
        return kerf_fail(error, KERF_ERROR_FILE,
                         "the record has schema %" JSON_INTEGER_FORMAT ", this bench reads schema %d; read it with the "
                         "version of bench that wrote it, or a newer one",
                         json_integer_value(schema), KERF_RECORD_SCHEMA);
    reader r = {.object = object, .arena = arena};
    *known = read_kind(&r, json_string_value(kind), record);
    if (r.no_memory)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for so many records");
    if (r.expected)
        return kerf_fail(error, KERF_ERROR_FILE, "field `%s`: expected %s", r.field, r.expected);
    return KERF_OK;
}

kerf_status kerf_record_parse(const char *line, size_t n_bytes, kerf_arena *arena, kerf_record *record, bool *known,
                              kerf_error *error) {
    *record = (kerf_record){0};
    *known = false;
    json_error_t fault;
    json_t *const object = json_loadb(line, n_bytes, JSON_REJECT_DUPLICATES, &fault);
    if (!object) {
        /* The library quotes the line, whatever is in it. */
        for (char *c = fault.text; *c; ++c)
            *c = *c >= 0x20 && *c < 0x7f ? *c : '?';
        return kerf_fail(error, KERF_ERROR_FILE, "expected a record, a JSON object: %.120s", fault.text);
    }
    const kerf_status status = read_object(object, arena, record, known, error);
    json_decref(object);
    if (status != KERF_OK || !*known)
        return status;
    char *const copy = kerf_arena_alloc(arena, n_bytes + 1, 1);
    if (!copy)
        return kerf_fail(error, KERF_ERROR_MEMORY, "no memory for so many records");
    memcpy(copy, line, n_bytes);
    copy[n_bytes] = '\0';
    record->line = copy;
    return KERF_OK;
}
