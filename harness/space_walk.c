/* Counting and enumerating the configurations of one part. */
#include "harness/space_part.h"

#include "base/checked.h"
#include <string.h>

/* So many values are tried at most: a constraint may hold for few of many combinations. */
#define MOST_STEPS ((int64_t)1 << 26)

/* Parameters that constraints tie together, in declared order. */
typedef struct chain {
    int member[KERF_MAX_TUNED];
    int n;
} chain;

typedef struct walk {
    const kerf_open_part *part;
    uint32_t mask;
    const chain *over;
    int16_t index[KERF_MAX_TUNED]; /* by parameter */
    int64_t n_steps, n_found;
    int16_t *found; /* over->n indices each, or NULL */
} walk;

static bool is_on(const walk *w, int constraint) {
    return w->mask >> constraint & 1;
}

static bool holds(const walk *w, int constraint) {
    const kerf_tied_constraint *const tied = &w->part->constraint[constraint];
    int64_t values[KERF_MAX_EXPRESSION_NAMES];
    for (int i = 0; i < tied->expression.n_names; ++i) {
        const int p = tied->parameter[i];
        values[i] = p < 0 ? tied->constant[i] : w->part->tuned[p].value[w->index[p]].value;
    }
    return kerf_expression_holds(&tied->expression, values);
}

/* The last parameter in declared order that the constraint names, -1 if it names none. */
static int last_of(const kerf_tied_constraint *tied) {
    int last = -1;
    for (int i = 0; i < tied->expression.n_names; ++i)
        last = tied->parameter[i] > last ? tied->parameter[i] : last;
    return last;
}

static void visit(walk *w, int depth) {
    if (depth == w->over->n) {
        for (int i = 0; w->found && i < depth; ++i)
            w->found[w->n_found * depth + i] = w->index[w->over->member[i]];
        ++w->n_found;
        return;
    }
    const int p = w->over->member[depth];
    for (int value = 0; value < w->part->tuned[p].n_values; ++value) {
        if (++w->n_steps > MOST_STEPS || w->n_found > KERF_MOST_CONFIGS)
            return;
        w->index[p] = (int16_t)value;
        bool fits = true;
        for (int c = 0; c < w->part->n_constraints && fits; ++c)
            fits = !is_on(w, c) || last_of(&w->part->constraint[c]) != p || holds(w, c);
        if (fits)
            visit(w, depth + 1);
    }
}

static int root_of(const int parent[], int p) {
    while (parent[p] != p)
        p = parent[p];
    return p;
}

static int list_chains(const kerf_open_part *part, chain chains[KERF_MAX_TUNED]) {
    int parent[KERF_MAX_TUNED], n = 0;
    for (int p = 0; p < part->n; ++p)
        parent[p] = p;
    for (int c = 0; c < part->n_constraints; ++c) {
        const kerf_tied_constraint *const tied = &part->constraint[c];
        const int last = last_of(tied);
        for (int i = 0; i < tied->expression.n_names; ++i)
            if (tied->parameter[i] >= 0)
                parent[root_of(parent, tied->parameter[i])] = root_of(parent, last);
    }
    for (int p = 0; p < part->n; ++p) {
        int k = 0;
        while (k < n && root_of(parent, chains[k].member[0]) != root_of(parent, p))
            ++k;
        if (k == n)
            chains[n++].n = 0;
        chains[k].member[chains[k].n++] = p;
    }
    return n;
}

/* All combinations of what each chain found: the last chain changes fastest. */
static void combine(const kerf_open_part *part, const chain chains[], int n, int16_t *const found[],
                    const int64_t counts[], int16_t *to) {
    int64_t at[KERF_MAX_TUNED] = {0};
    for (bool done = false; !done; to += part->n) {
        for (int k = 0; k < n; ++k)
            for (int i = 0; i < chains[k].n; ++i)
                to[chains[k].member[i]] = found[k][at[k] * chains[k].n + i];
        int k = n - 1;
        while (k >= 0 && ++at[k] == counts[k])
            at[k--] = 0;
        done = k < 0;
    }
}

int64_t kerf_space_part_count(const kerf_open_part *part, uint32_t mask, kerf_arena *arena, int16_t *to) {
    chain chains[KERF_MAX_TUNED];
    int16_t *found[KERF_MAX_TUNED];
    int64_t counts[KERF_MAX_TUNED], total = 1;
    walk of_constants = {.part = part, .mask = mask};
    for (int c = 0; c < part->n_constraints; ++c)
        if (is_on(&of_constants, c) && last_of(&part->constraint[c]) < 0 && !holds(&of_constants, c))
            return 0;
    const int n = list_chains(part, chains);
    for (int k = 0; k < n; ++k) {
        walk counting = {.part = part, .mask = mask, .over = &chains[k]};
        visit(&counting, 0);
        counts[k] = counting.n_found;
        if (counting.n_steps > MOST_STEPS || counting.n_found > KERF_MOST_CONFIGS)
            return -1;
        if (counts[k] == 0)
            return 0;
    }
    for (int k = 0; k < n; ++k)
        if (!kerf_mul_i64(total, counts[k], &total) || total > KERF_MOST_CONFIGS)
            return -1;
    if (!to)
        return total;
    for (int k = 0; k < n; ++k) {
        found[k] = KERF_ARENA_NEW(arena, int16_t, counts[k] * chains[k].n);
        if (!found[k])
            return -1;
        walk writing = {.part = part, .mask = mask, .over = &chains[k], .found = found[k]};
        visit(&writing, 0);
    }
    combine(part, chains, n, found, counts, to);
    return total;
}
