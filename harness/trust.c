#include "harness/trust.h"

#include "harness/compare.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct kerf_trust_entry {
    const kerf_op *op;
    char mode[240];
    int output;
    bool trusted;         /* one case rejects zero, every constant and every copy */
    bool trusted_as_zero; /* one case rejects every constant but zero, and every copy */
    bool always_zero;     /* so far nothing but zero was ever right */
};

/* Which constants the expectation of a whole output accepts. */
typedef struct constants {
    bool zero, other;
} constants;

static constants accepted_moves(const kerf_expect *expect, size_t bytes) {
    static const unsigned char zeros[16];
    const char *const bits = expect->bits;
    const bool same = memcmp(bits, bits + bytes, (size_t)(expect->n_elements - 1) * bytes) == 0;
    const bool zero = same && memcmp(bits, zeros, bytes) == 0;
    return (constants){.zero = zero, .other = same && !zero};
}

/* The constants that fit all elements are the intersection of their intervals; NaN fits where all must be NaN. */
static constants accepted_bounds(const kerf_expect *expect, kerf_dtype dtype) {
    double low = -INFINITY, high = INFINITY;
    bool some_nan = false, some_number = false;
    for (int64_t i = 0; i < expect->n_elements; ++i) {
        if (expect->slack[i] == INFINITY)
            continue;
        double first, last;
        kerf_compare_accepted(expect, dtype, i, &first, &last);
        some_nan = some_nan || isnan(first);
        some_number = some_number || !isnan(first);
        low = first > low ? first : low;
        high = last < high ? last : high;
        if ((some_nan && some_number) || low > high)
            return (constants){0};
    }
    if (some_nan)
        return (constants){.other = true};
    return (constants){.zero = low <= 0 && high >= 0, .other = low < 0 || high > 0};
}

static bool accepts_copy(const kerf_expect *expect, kerf_dtype dtype, const kerf_operand *input, const void *data) {
    int64_t n_elements;
    if (input->dtype != dtype || !kerf_strided_count(&input->at, &n_elements) || n_elements != expect->n_elements)
        return false;
    const int64_t bytes = (int64_t)kerf_dtype_bytes(dtype);
    for (kerf_walk walk = kerf_walk_begin(&input->at); !walk.done; kerf_walk_next(&walk))
        if (!(kerf_compare_element(expect, dtype, walk.number, (const char *)data + walk.offset * bytes) <= 1))
            return false;
    return true;
}

static kerf_trust_entry *entry_of(kerf_trust *trust, const kerf_op *op, const char *mode, int output) {
    for (int i = trust->n - 1; i >= 0; --i) { /* cases of one mode come together */
        kerf_trust_entry *const entry = &trust->entry[i];
        if (entry->op == op && entry->output == output && strcmp(entry->mode, mode) == 0)
            return entry;
    }
    if (trust->n == trust->capacity) {
        const int capacity = trust->capacity ? 2 * trust->capacity : 64;
        kerf_trust_entry *const grown = realloc(trust->entry, (size_t)capacity * sizeof *grown);
        if (!grown)
            return NULL;
        trust->entry = grown;
        trust->capacity = capacity;
    }
    kerf_trust_entry *const added = &trust->entry[trust->n++];
    *added = (kerf_trust_entry){.op = op, .output = output, .always_zero = true};
    kerf_text text = kerf_text_over(added->mode, sizeof added->mode);
    kerf_text_printf(&text, "%s", mode);
    return added;
}

static void note_output(kerf_trust_entry *entry, const kerf_problem *problem, const void *const in[],
                        const kerf_expect *expect, kerf_dtype dtype) {
    if (entry->trusted || expect->n_elements < 2)
        return; /* a single element is a constant */
    const constants accepted = expect->kind == KERF_EXPECT_BITS ? accepted_moves(expect, kerf_dtype_bytes(dtype))
                                                                : accepted_bounds(expect, dtype);
    entry->always_zero = entry->always_zero && accepted.zero && !accepted.other;
    if (accepted.other || (accepted.zero && entry->trusted_as_zero))
        return;
    for (int i = 0; i < problem->n_in; ++i)
        if (accepts_copy(expect, dtype, problem->in[i], in[i]))
            return;
    if (accepted.zero)
        entry->trusted_as_zero = true;
    else
        entry->trusted = true;
}

kerf_status kerf_trust_note(kerf_trust *trust, const char *mode, const kerf_problem *problem, const void *const in[],
                            const kerf_expect expect[], kerf_error *error) {
    for (int o = 0; o < problem->n_out; ++o) {
        if (expect[o].kind == KERF_EXPECT_NOTHING)
            continue;
        kerf_trust_entry *const entry = entry_of(trust, problem->op, mode, o);
        if (!entry)
            return kerf_fail(error, KERF_ERROR_MEMORY, "no memory to note what the cases can tell");
        note_output(entry, problem, in, &expect[o], problem->out[o]->dtype);
    }
    return KERF_OK;
}

int kerf_trust_missing(const kerf_trust *trust, void (*tell)(void *arg, const char *mode, const char *output),
                       void *arg) {
    int n_missing = 0;
    for (int i = 0; i < trust->n; ++i) {
        const kerf_trust_entry *const entry = &trust->entry[i];
        if (entry->trusted || (entry->always_zero && entry->trusted_as_zero))
            continue;
        ++n_missing;
        if (tell)
            tell(arg, entry->mode, entry->op->outputs[entry->output]);
    }
    return n_missing;
}

void kerf_trust_free(kerf_trust *trust) {
    free(trust->entry);
    *trust = (kerf_trust){0};
}
