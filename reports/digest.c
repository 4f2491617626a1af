#include "reports/digest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool kerf_digest_next_run(const kerf_records *records, int *at, kerf_records *run) {
    const int begin = *at;
    if (begin >= records->n)
        return false;
    do
        ++*at;
    while (*at < records->n && records->at[*at]->kind != KERF_RECORD_RUN);
    *run = (kerf_records){.at = records->at + begin, .n = *at - begin};
    return true;
}

bool kerf_digest_is_failure(const kerf_record *record) {
    return (record->kind == KERF_RECORD_VERIFY || record->kind == KERF_RECORD_TIME ||
            record->kind == KERF_RECORD_TUNE) &&
           record->finding.verdict != KERF_PASS && record->finding.verdict != KERF_SKIP;
}

const kerf_record *kerf_digest_first(const kerf_records *records, kerf_record_kind kind) {
    for (int i = 0; i < records->n; ++i)
        if (records->at[i]->kind == kind)
            return records->at[i];
    return NULL;
}

static kerf_row_digest *row_of(kerf_row_digest rows[KERF_DIGEST_ROWS], int *n, const char *row) {
    for (int i = 0; i < *n; ++i)
        if (strcmp(rows[i].row, row) == 0)
            return &rows[i];
    if (*n == KERF_DIGEST_ROWS)
        return NULL;
    rows[*n] = (kerf_row_digest){.row = row, .worst = KERF_SKIP};
    return &rows[(*n)++];
}

static void add_finding(kerf_row_digest *row, const kerf_record *record) {
    const kerf_finding *const finding = &record->finding;
    if (finding->verdict == KERF_SKIP) {
        ++row->n_skipped;
        row->reason = finding->reason;
        return;
    }
    if (finding->verdict == KERF_PASS) {
        ++row->n_passed;
        if (row->worst == KERF_SKIP)
            row->worst = KERF_PASS;
    } else {
        ++row->n_failed;
        if (row->worst == KERF_SKIP || row->worst == KERF_PASS)
            row->worst = finding->verdict;
    }
    if (!(finding->ratio <= row->worst_ratio)) {
        row->worst_ratio = finding->ratio;
        row->worst_case = record->case_text;
    }
}

int kerf_digest_rows(const kerf_records *records, kerf_row_digest rows[KERF_DIGEST_ROWS]) {
    int n = 0;
    for (int i = 0; i < records->n; ++i) {
        if (records->at[i]->kind != KERF_RECORD_VERIFY)
            continue;
        kerf_row_digest *const row = row_of(rows, &n, records->at[i]->row);
        if (row)
            add_finding(row, records->at[i]);
    }
    return n;
}

int64_t kerf_digest_n_cases(const kerf_records *records) {
    int64_t n = 0;
    uint64_t last = 0;
    for (int i = 0; i < records->n; ++i) {
        const kerf_record *const record = records->at[i];
        if (record->kind != KERF_RECORD_VERIFY || !record->case_text[0])
            continue;
        n += n == 0 || record->case_hash != last;
        last = record->case_hash;
    }
    return n;
}

static bool is_timed(const kerf_record *record) {
    return record->n_samples > 0 && record->finding.verdict == KERF_PASS;
}

static int by_time(const void *a, const void *b) {
    const kerf_record *const left = *(const kerf_record *const *)a, *const right = *(const kerf_record *const *)b;
    const double left_ns = is_timed(left) ? left->time_ns.middle : INFINITY;
    const double right_ns = is_timed(right) ? right->time_ns.middle : INFINITY;
    return (left_ns > right_ns) - (left_ns < right_ns);
}

static bool same_block(const kerf_record *a, const kerf_record *b) {
    return b->kind == KERF_RECORD_TIME && a->case_hash == b->case_hash && strcmp(a->mode, b->mode) == 0 &&
           strcmp(a->case_text, b->case_text) == 0;
}

bool kerf_digest_next_block(const kerf_records *records, int *at, kerf_block *block) {
    while (*at < records->n && records->at[*at]->kind != KERF_RECORD_TIME)
        ++*at;
    block->n = block->n_timed = 0;
    if (*at == records->n)
        return false;
    const kerf_record *const head = records->at[*at];
    while (*at < records->n && block->n < KERF_DIGEST_ROWS && same_block(head, records->at[*at])) {
        block->n_timed += is_timed(records->at[*at]);
        block->row[block->n++] = records->at[(*at)++];
    }
    qsort(block->row, (size_t)block->n, sizeof block->row[0], by_time);
    return true;
}

double kerf_digest_covered(const kerf_records *records) {
    double covered = 0;
    for (int i = 0; i < records->n; ++i)
        if (records->at[i]->kind == KERF_RECORD_TIME && records->at[i]->covered > covered)
            covered = records->at[i]->covered;
    return covered;
}

static kerf_mean *mean_of(kerf_mean means[KERF_DIGEST_ROWS], int *n, const kerf_record *record) {
    for (int i = 0; i < *n; ++i)
        if (strcmp(means[i].row, record->row) == 0 && strcmp(means[i].mode, record->mode) == 0 &&
            strcmp(means[i].set, record->set) == 0)
            return &means[i];
    if (*n == KERF_DIGEST_ROWS)
        return NULL;
    means[*n] = (kerf_mean){.row = record->row, .set = record->set, .mode = record->mode};
    return &means[(*n)++];
}

static void add_time(kerf_mean *mean, const kerf_record *record, bool is_first) {
    ++mean->n_timed;
    mean->n_fastest += is_first;
    if (record->speed_ratio.middle > 0 && isfinite(record->speed_ratio.middle)) {
        mean->ratio += log(record->speed_ratio.middle);
        ++mean->n_ratio;
    }
    if (record->share.middle > 0 && isfinite(record->share.middle)) {
        mean->share += log(record->share.middle);
        ++mean->n_share;
    }
}

int kerf_digest_means(const kerf_records *records, kerf_mean means[KERF_DIGEST_ROWS]) {
    int n = 0, at = 0;
    kerf_block block;
    while (kerf_digest_next_block(records, &at, &block))
        for (int i = 0; i < block.n_timed; ++i) {
            kerf_mean *const mean = mean_of(means, &n, block.row[i]);
            if (mean)
                add_time(mean, block.row[i], i == 0);
        }
    for (int i = 0; i < n; ++i) {
        means[i].ratio = means[i].n_ratio ? exp(means[i].ratio / means[i].n_ratio) : 0;
        means[i].share = means[i].n_share ? exp(means[i].share / means[i].n_share) : 0;
    }
    return n;
}

kerf_scaled_time kerf_digest_time(double ns) {
    kerf_scaled_time time = {.value = ns, .unit = KERF_NANOSECONDS};
    while (time.unit < KERF_SECONDS && time.value >= 1000) {
        time.value /= 1000;
        ++time.unit;
    }
    time.digits = time.value < 10 ? 2 : time.value < 100 ? 1 : 0;
    return time;
}
