#include "harness/record.h"

static void print_environment(kerf_json *json, const kerf_environment *environment) {
    kerf_json_object(json, "environment");
    kerf_json_text(json, "cpu", environment->cpu);
    kerf_json_text(json, "isa", environment->isa);
    kerf_json_integer(json, "processors", environment->processors);
    kerf_json_text(json, "caches", environment->caches);
    kerf_json_text(json, "governor", environment->governor);
    kerf_json_text(json, "virtual_machine", environment->virtual_machine);
    kerf_json_text(json, "kernel", environment->kernel);
    kerf_json_text(json, "compiler", environment->compiler);
    kerf_json_text(json, "flags", environment->flags);
    kerf_json_text(json, "build_id", environment->build_id);
    kerf_json_text(json, "flush_to_zero", environment->flush_to_zero);
    kerf_json_real(json, "load_1min", environment->load_1min);
    kerf_json_integer(json, "memory_available_bytes", (int64_t)environment->memory_available_bytes);
    kerf_json_end_object(json);
}

static void print_identity(kerf_json *json, const kerf_record *record) {
    kerf_json_text(json, "op", record->op);
    kerf_json_text(json, "set", record->set);
    kerf_json_text(json, "case", record->case_text);
    kerf_json_hex(json, "case_hash", record->case_hash);
    kerf_json_text(json, "row", record->row);
    kerf_json_text(json, "mode", record->mode);
    kerf_json_text(json, "config", record->config);
    kerf_json_text(json, "verdict", kerf_verdict_name(record->finding.verdict));
    kerf_json_real(json, "error_over_slack", record->finding.ratio);
    if (record->finding.reason[0])
        kerf_json_text(json, "reason", record->finding.reason);
}

/* The worst element of the output that was wrong. */
static void print_element(kerf_json *json, const kerf_record *record) {
    const kerf_finding *const finding = &record->finding;
    if (!record->output)
        return;
    kerf_json_text(json, "output", record->output);
    kerf_json_array(json, "index");
    for (int axis = 0; axis < finding->rank; ++axis)
        kerf_json_integer(json, NULL, finding->index[axis]);
    kerf_json_end_array(json);
    kerf_json_real(json, "got", finding->got);
    kerf_json_real(json, "low", finding->lo);
    kerf_json_real(json, "high", finding->hi);
    kerf_json_real(json, "slack", finding->slack);
    kerf_json_integer(json, "bad_elements", finding->n_bad);
    kerf_json_integer(json, "elements", finding->n_elements);
}

static void print_finding(kerf_json *json, const kerf_record *record) {
    const kerf_finding *const finding = &record->finding;
    if (finding->spread != 0)
        kerf_json_real(json, "spread_over_slack", finding->spread);
    if (finding->verdict == KERF_PASS || finding->verdict == KERF_SKIP)
        return;
    kerf_json_text(json, "check", finding->check);
    kerf_json_integer(json, "threads", finding->threads);
    kerf_json_text(json, "place", finding->place);
    print_element(json, record);
    kerf_json_text(json, "repeat", record->repeat);
}

static void print_estimate(kerf_json *json, const char *name, const kerf_estimate *estimate) {
    kerf_json_object(json, name);
    kerf_json_real(json, "middle", estimate->middle);
    kerf_json_real(json, "low", estimate->low);
    kerf_json_real(json, "high", estimate->high);
    kerf_json_end_object(json);
}

static void print_limit(kerf_json *json, const kerf_record *record) {
    if (record->flops > 0 || record->read_bytes > 0 || record->written_bytes > 0) {
        kerf_json_object(json, "work");
        kerf_json_real(json, "flops", record->flops);
        kerf_json_real(json, "read_bytes", record->read_bytes);
        kerf_json_real(json, "written_bytes", record->written_bytes);
        kerf_json_end_object(json);
    }
    if (!(record->limit_ns > 0))
        return;
    kerf_json_object(json, "limit");
    kerf_json_real(json, "ns", record->limit_ns);
    kerf_json_text(json, "by", record->limit_by);
    kerf_json_integer(json, "level", (int64_t)record->limit_bytes);
    kerf_json_bool(json, "again", record->limit_again);
    kerf_json_end_object(json);
    print_estimate(json, "share", &record->share);
}

static void print_overhead(kerf_json *json, const kerf_record *record) {
    kerf_json_real(json, "resolution_ns", record->resolution_ns);
    kerf_json_array(json, "overhead_ns");
    for (int i = 0; i < record->n_overheads; ++i) {
        kerf_json_array(json, NULL);
        kerf_json_real(json, NULL, record->overhead[i].sample_ns);
        kerf_json_real(json, NULL, record->overhead[i].call_ns);
        kerf_json_end_array(json);
    }
    kerf_json_end_array(json);
}

static void print_samples(kerf_json *json, const kerf_record *record) {
    if (record->n_overheads > 0)
        print_overhead(json, record);
    kerf_json_array(json, "samples");
    for (int i = 0; i < record->n_samples; ++i) {
        const kerf_recorded_sample *const sample = &record->sample[i];
        kerf_json_array(json, NULL);
        kerf_json_integer(json, NULL, sample->process);
        kerf_json_integer(json, NULL, sample->round);
        kerf_json_integer(json, NULL, (int64_t)sample->total_ns);
        kerf_json_integer(json, NULL, sample->batch);
        kerf_json_end_array(json);
    }
    kerf_json_end_array(json);
}

static void print_timing(kerf_json *json, const kerf_record *record) {
    kerf_json_integer(json, "threads", record->threads);
    if (record->finding.verdict == KERF_FAIL || record->finding.verdict == KERF_IMPLAUSIBLE) {
        kerf_json_text(json, "check", record->finding.check);
        print_element(json, record);
    }
    if (record->repeat)
        kerf_json_text(json, "repeat", record->repeat);
    if (record->n_samples == 0)
        return;
    print_estimate(json, "time_ns", &record->time_ns);
    kerf_json_real(json, "covered", record->covered);
    if (record->speed_ratio.middle > 0)
        print_estimate(json, "ratio_to_naive", &record->speed_ratio);
    if (record->speed_unresolved)
        kerf_json_bool(json, "ratio_unresolved", true);
    print_limit(json, record);
    kerf_json_text(json, "stop", record->stop);
    if (record->extra)
        kerf_record_print_extra(json, record->extra);
    print_samples(json, record);
}

static void print_tuning(kerf_json *json, const kerf_record *record) {
    kerf_record_print_tune(json, record->tune);
    print_finding(json, record);
    if (record->time_ns.middle > 0)
        print_estimate(json, "time_ns", &record->time_ns);
    if (record->ratio_to_standard.middle > 0)
        print_estimate(json, "ratio_to_standard", &record->ratio_to_standard);
    if (record->n_samples == 0)
        return;
    kerf_json_real(json, "covered", record->covered);
    print_limit(json, record);
    print_samples(json, record);
}

void kerf_record_print_json(const kerf_record *record, kerf_text *text) {
    static const char *const kinds[] = {"run", "verify", "time", "tune", "trust", "end"};
    if (record->line) {
        kerf_text_printf(text, "%s\n", record->line);
        return;
    }
    kerf_json json = kerf_json_over(text);
    kerf_json_object(&json, NULL);
    kerf_json_integer(&json, "schema", KERF_RECORD_SCHEMA);
    kerf_json_text(&json, "kind", kinds[record->kind]);
    switch (record->kind) {
    case KERF_RECORD_RUN:
        kerf_json_text(&json, "utc", record->utc);
        kerf_json_text(&json, "version", record->version);
        kerf_json_text(&json, "command", record->command);
        kerf_json_integer(&json, "threads", record->threads);
        kerf_json_hex(&json, "order_seed", record->seed);
        print_environment(&json, record->environment);
        break;
    case KERF_RECORD_VERIFY:
        print_identity(&json, record);
        print_finding(&json, record);
        break;
    case KERF_RECORD_TIME:
        print_identity(&json, record);
        print_timing(&json, record);
        break;
    case KERF_RECORD_TUNE:
        print_identity(&json, record);
        print_tuning(&json, record);
        break;
    case KERF_RECORD_TRUST:
        kerf_json_text(&json, "op", record->op);
        kerf_json_text(&json, "mode", record->mode);
        kerf_json_text(&json, "output", record->output);
        break;
    case KERF_RECORD_END:
        kerf_json_integer(&json, "exit_code", record->exit_code);
        kerf_json_real(&json, "seconds", record->seconds);
        kerf_json_integer(&json, "passed", record->n_passed);
        kerf_json_integer(&json, "failed", record->n_failed);
        kerf_json_integer(&json, "skipped", record->n_skipped);
        break;
    }
    kerf_json_end_object(&json);
    kerf_text_printf(text, "\n");
}
