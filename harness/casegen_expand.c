/* Closes the open fields of a pattern: every combination, or a covering array of strength 2.
 *
 * The covering array is built row by row (Cohen, Dalal, Fredman, Patton: The AETG System, 1997): of a few candidates
 * the one that covers most of the pairs still missing. A candidate starts with the value that has most of them and
 * takes the other fields in random order, each with its best value. The random numbers are seeded by the case, so a
 * line always expands alike, and lines that differ also differ in the triples that they happen to cover. */
#include "harness/casegen_pattern.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OPEN      (KERF_MAX_ATTRS + 1)
#define N_CANDIDATES  10
#define N_ARRAYS      4
#define ATTR_IS_DTYPE (-1)

typedef struct open_field {
    int attr; /* or ATTR_IS_DTYPE */
    int n;
    uint8_t value[KERF_CASE_MAX_VALUES];
} open_field;

typedef struct open_fields {
    int n;
    open_field at[MAX_OPEN];
} open_fields;

/* Fields with one value left are not open: it is written into *c. */
static void add_field(open_fields *fields, int attr, uint64_t values, kerf_case *c) {
    if ((values & (values - 1)) == 0) {
        const int value = values ? __builtin_ctzll(values) : 0;
        if (attr == ATTR_IS_DTYPE)
            c->dtype = (kerf_dtype)value;
        else
            c->attr[attr].number = value;
        return;
    }
    open_field *const field = &fields->at[fields->n++];
    field->attr = attr;
    field->n = 0;
    for (int v = 0; v < KERF_CASE_MAX_VALUES; ++v)
        if (values >> v & 1)
            field->value[field->n++] = (uint8_t)v;
}

static open_fields list_open(const kerf_case_pattern *pattern, kerf_case *c) {
    open_fields fields = {0};
    *c = pattern->c;
    const kerf_op *const op = pattern->c.op;
    for (int i = 0; op->attrs && op->attrs[i]; ++i)
        if (op->attrs[i]->kind == KERF_ATTR_ENUM)
            add_field(&fields, i, pattern->attr_values[i], c);
    add_field(&fields, ATTR_IS_DTYPE, pattern->dtypes, c);
    return fields;
}

uint64_t kerf_case_pattern_count(const kerf_case_pattern *pattern) {
    kerf_case c;
    const open_fields fields = list_open(pattern, &c);
    uint64_t count = 1;
    for (int i = 0; i < fields.n; ++i)
        if (__builtin_mul_overflow(count, (uint64_t)fields.at[i].n, &count))
            return UINT64_MAX;
    return count;
}

static void close_fields(const open_fields *fields, const int choice[], kerf_case *c) {
    for (int i = 0; i < fields->n; ++i) {
        const int value = fields->at[i].value[choice[i]];
        if (fields->at[i].attr == ATTR_IS_DTYPE)
            c->dtype = (kerf_dtype)value;
        else
            c->attr[fields->at[i].attr].number = value;
    }
}

/* ---- every combination: the last field runs fastest ----------------------------------------------------------- */

static kerf_status expand_all(const open_fields *fields, kerf_case *c,
                              kerf_status (*take)(void *arg, const kerf_case *c), void *arg) {
    int choice[MAX_OPEN] = {0};
    for (;;) {
        close_fields(fields, choice, c);
        KERF_TRY(take(arg, c));
        int i = fields->n - 1;
        while (i >= 0 && ++choice[i] == fields->at[i].n)
            choice[i--] = 0;
        if (i < 0)
            return KERF_OK;
    }
}

/* ---- every pair ----------------------------------------------------------------------------------------------------
 */

typedef struct pair_table {
    const open_fields *fields;
    size_t start[MAX_OPEN][MAX_OPEN]; /* of the pairs of fields i < j in `missing` */
    size_t n_pairs, n_missing;
    uint8_t *missing; /* a byte per pair: 1 until a row has it */
} pair_table;

static uint8_t *pair_at(const pair_table *table, int i, int value_i, int j, int value_j) {
    if (i < j)
        return table->missing + table->start[i][j] + (size_t)(value_i * table->fields->at[j].n + value_j);
    return table->missing + table->start[j][i] + (size_t)(value_j * table->fields->at[i].n + value_i);
}

static kerf_status open_pairs(const open_fields *fields, pair_table *table, kerf_error *error) {
    *table = (pair_table){.fields = fields};
    for (int i = 0; i < fields->n; ++i)
        for (int j = i + 1; j < fields->n; ++j) {
            table->start[i][j] = table->n_pairs;
            table->n_pairs += (size_t)(fields->at[i].n * fields->at[j].n);
        }
    table->missing = malloc(table->n_pairs);
    return table->missing ? KERF_OK
                          : kerf_fail(error, KERF_ERROR_MEMORY, "no memory for %zu pairs of values", table->n_pairs);
}

/* Pairs of (field, value) with the fields that have a value in `choice` (others hold -1) that are still missing. */
static int gain_with(const pair_table *table, const int choice[], int field, int value) {
    int gain = 0;
    for (int j = 0; j < table->fields->n; ++j)
        if (j != field && choice[j] >= 0)
            gain += *pair_at(table, field, value, j, choice[j]);
    return gain;
}

static int gain_open(const pair_table *table, int field, int value) {
    int gain = 0;
    for (int j = 0; j < table->fields->n; ++j)
        for (int v = 0; j != field && v < table->fields->at[j].n; ++v)
            gain += *pair_at(table, field, value, j, v);
    return gain;
}

/* Takes the better of two, and each of equals with the same chance. */
static bool is_better(int gain, int *best, uint64_t *n_equal, kerf_rng *rng) {
    if (gain > *best)
        *n_equal = 0;
    if (gain < *best || kerf_rng_below(rng, ++*n_equal) != 0)
        return false;
    *best = gain;
    return true;
}

static void choose_start(const pair_table *table, kerf_rng *rng, int choice[], int *field) {
    int best = -1, value = 0;
    uint64_t n_equal = 0;
    for (int i = 0; i < table->fields->n; ++i)
        for (int v = 0; v < table->fields->at[i].n; ++v)
            if (is_better(gain_open(table, i, v), &best, &n_equal, rng)) {
                *field = i;
                value = v;
            }
    choice[*field] = value;
}

/* Returns the number of missing pairs that the row covers: at least one while there are any. */
static int choose_row(const pair_table *table, kerf_rng *rng, int choice[]) {
    const int n = table->fields->n;
    int order[MAX_OPEN], first = 0, covered = 0;
    for (int i = 0; i < n; ++i) {
        choice[i] = -1;
        const int at = (int)kerf_rng_below(rng, (uint64_t)i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    choose_start(table, rng, choice, &first);
    for (int k = 0; k < n; ++k) {
        const int field = order[k];
        if (field == first)
            continue;
        int best = -1, value = 0;
        uint64_t n_equal = 0;
        for (int v = 0; v < table->fields->at[field].n; ++v)
            if (is_better(gain_with(table, choice, field, v), &best, &n_equal, rng))
                value = v;
        choice[field] = value;
        covered += best;
    }
    return covered;
}

static void cover_row(pair_table *table, const int choice[]) {
    for (int i = 0; i < table->fields->n; ++i)
        for (int j = i + 1; j < table->fields->n; ++j) {
            uint8_t *const pair = pair_at(table, i, choice[i], j, choice[j]);
            table->n_missing -= *pair;
            *pair = 0;
        }
}

/* Makes the array of this stream of random numbers, hands its rows to take() unless that is NULL, and counts them. */
static kerf_status make_array(pair_table *table, uint64_t seed, uint64_t stream, kerf_case *c,
                              kerf_status (*take)(void *arg, const kerf_case *c), void *arg, int *n_rows) {
    kerf_rng rng = kerf_rng_seeded(seed, stream);
    memset(table->missing, 1, table->n_pairs);
    table->n_missing = table->n_pairs;
    for (*n_rows = 0; table->n_missing > 0; ++*n_rows) {
        int best[MAX_OPEN], candidate[MAX_OPEN], most = 0;
        for (int i = 0; i < N_CANDIDATES; ++i) {
            const int covered = choose_row(table, &rng, candidate);
            if (covered > most) {
                most = covered;
                memcpy(best, candidate, sizeof best);
            }
        }
        cover_row(table, best);
        if (!take)
            continue;
        close_fields(table->fields, best, c);
        KERF_TRY(take(arg, c));
    }
    return KERF_OK;
}

static kerf_status expand_pairs(const open_fields *fields, kerf_case *c,
                                kerf_status (*take)(void *arg, const kerf_case *c), void *arg, kerf_error *error) {
    pair_table table;
    KERF_TRY(open_pairs(fields, &table, error));
    const int lowest[MAX_OPEN] = {0};
    close_fields(fields, lowest, c);
    kerf_case without_seed = *c;
    without_seed.seed = 0;
    const uint64_t seed = kerf_case_hash(&without_seed);
    uint64_t best = 0;
    int n_rows = 0, least = INT_MAX;
    for (uint64_t stream = 0; stream < N_ARRAYS; ++stream) {
        make_array(&table, seed, stream, c, NULL, NULL, &n_rows);
        if (n_rows < least) {
            least = n_rows;
            best = stream;
        }
    }
    const kerf_status status = make_array(&table, seed, best, c, take, arg, &n_rows);
    free(table.missing);
    return status;
}

kerf_status kerf_case_pattern_expand(const kerf_case_pattern *pattern, kerf_expansion expansion,
                                     kerf_status (*take)(void *arg, const kerf_case *c), void *arg, kerf_error *error) {
    kerf_case c;
    const open_fields fields = list_open(pattern, &c);
    if (expansion == KERF_EXPAND_ALL || fields.n < 2)
        return expand_all(&fields, &c, take, arg);
    return expand_pairs(&fields, &c, take, arg, error);
}
