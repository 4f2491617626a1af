#include "kernels/layout.h"

#include "base/checked.h"
#include <string.h>

#define ATOMS "nchw, nhwc, packed, planar, swapped, gap, flip, zero or strides:S0:S1:..."

typedef enum atom_kind {
    ATOM_PACKED,
    ATOM_NHWC,
    ATOM_PLANAR,
    ATOM_SWAPPED,
    ATOM_GAP,
    ATOM_FLIP,
    ATOM_ZERO,
    ATOM_STRIDES
} atom_kind;

typedef struct layout_atom {
    atom_kind kind;
    int n_strides;
    int64_t strides[KERF_MAX_RANK];
} layout_atom;

/* A piece of the layout text, not terminated. */
typedef struct text_piece {
    const char *text;
    int length;
} text_piece;

/* One comma-separated part: `name` has no text where the part speaks of the whole case. */
typedef struct layout_part {
    text_piece name, atom;
} layout_part;

static bool piece_is(text_piece piece, const char *text) {
    return strlen(text) == (size_t)piece.length && memcmp(piece.text, text, (size_t)piece.length) == 0;
}

/* The text is hostile: what a message repeats of it is cut. */
static int shown(text_piece piece) {
    return piece.length < 60 ? piece.length : 60;
}

static layout_part next_part(const char **rest) {
    const char *const begin = *rest, *const end = begin + strcspn(begin, ",");
    const char *const equals = memchr(begin, '=', (size_t)(end - begin));
    layout_part part = {.atom = {begin, (int)(end - begin)}};
    if (equals) {
        part.name = (text_piece){begin, (int)(equals - begin)};
        part.atom = (text_piece){equals + 1, (int)(end - equals - 1)};
    }
    *rest = *end ? end + 1 : NULL;
    return part;
}

/* A stride as it is printed: no plus sign, no leading zeros, so that one layout has one text. */
static bool parse_stride(text_piece digits, int64_t *stride) {
    const bool negative = digits.length > 0 && digits.text[0] == '-';
    const int first = negative ? 1 : 0, n_digits = digits.length - first;
    if (n_digits < 1 || (digits.text[first] == '0' && (n_digits > 1 || negative)))
        return false;
    int64_t value = 0;
    for (int i = first; i < digits.length; ++i) {
        if (digits.text[i] < '0' || digits.text[i] > '9' || !kerf_mul_i64(value, 10, &value) ||
            !kerf_add_i64(value, negative ? '0' - digits.text[i] : digits.text[i] - '0', &value))
            return false;
    }
    *stride = value;
    return true;
}

static kerf_status parse_strides(text_piece text, layout_atom *result, kerf_error *error) {
    const char *at = text.text + strlen("strides:"), *const end = text.text + text.length;
    result->kind = ATOM_STRIDES;
    for (;;) {
        const char *const colon = memchr(at, ':', (size_t)(end - at));
        const text_piece digits = {at, (int)((colon ? colon : end) - at)};
        if (result->n_strides == KERF_MAX_RANK)
            return kerf_fail(error, KERF_ERROR_USAGE, "layout %.*s: more than %d strides", shown(text), text.text,
                             KERF_MAX_RANK);
        if (!parse_stride(digits, &result->strides[result->n_strides++]))
            return kerf_fail(
                error, KERF_ERROR_USAGE,
                "layout %.*s: `%.*s` is no stride: whole numbers of 64 bits without leading zeros are allowed",
                shown(text), text.text, shown(digits), digits.text);
        if (!colon)
            return KERF_OK;
        at = colon + 1;
    }
}

static kerf_status parse_atom(text_piece text, layout_atom *result, kerf_error *error) {
    static const struct {
        const char *name;
        atom_kind kind;
    } words[] = {{"nchw", ATOM_PACKED},     {"packed", ATOM_PACKED}, {"nhwc", ATOM_NHWC}, {"planar", ATOM_PLANAR},
                 {"swapped", ATOM_SWAPPED}, {"gap", ATOM_GAP},       {"flip", ATOM_FLIP}, {"zero", ATOM_ZERO}};
    *result = (layout_atom){.kind = ATOM_PACKED};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i)
        if (piece_is(text, words[i].name)) {
            result->kind = words[i].kind;
            return KERF_OK;
        }
    if ((size_t)text.length >= strlen("strides:") && memcmp(text.text, "strides:", strlen("strides:")) == 0)
        return parse_strides(text, result, error);
    return kerf_fail(error, KERF_ERROR_USAGE, "layout `%.*s` is not known: " ATOMS " are allowed", shown(text),
                     text.text);
}

static bool is_among(text_piece name, const char *const *names) {
    for (; *names; ++names)
        if (piece_is(name, *names))
            return true;
    return false;
}

static kerf_status fail_on_name(text_piece name, const kerf_op *op, kerf_error *error) {
    char memory[256];
    kerf_text names = kerf_text_over(memory, sizeof memory);
    for (const char *const *input = op->inputs; *input; ++input)
        kerf_text_printf(&names, "%s ", *input);
    for (const char *const *output = op->outputs; *output; ++output)
        kerf_text_printf(&names, "%s ", *output);
    return kerf_fail(error, KERF_ERROR_USAGE, "layout: %s has no operand `%.*s`: it has %s(write NAME=ATOM,NAME=ATOM)",
                     op->name, shown(name), name.text, memory);
}

static bool is_named_before(const char *layout, text_piece name) {
    while (layout && layout < name.text) {
        const layout_part earlier = next_part(&layout);
        if (earlier.name.text != name.text && earlier.name.length == name.length &&
            memcmp(earlier.name.text, name.text, (size_t)name.length) == 0)
            return true;
    }
    return false;
}

static kerf_status check_part(const char *layout, const layout_part *part, const kerf_op *op, kerf_error *error) {
    layout_atom atom;
    const text_piece name = part->name;
    if (!name.text && (part->atom.text != layout || strchr(layout, ',')))
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "layout `%.*s`: either one word for the whole case or NAME=ATOM for each operand",
                         shown(part->atom), part->atom.text);
    if (name.text && !is_among(name, op->inputs) && !is_among(name, op->outputs))
        return fail_on_name(name, op, error);
    if (name.text && is_named_before(layout, name))
        return kerf_fail(error, KERF_ERROR_USAGE, "layout names %.*s twice: one ATOM for each operand", shown(name),
                         name.text);
    KERF_TRY(parse_atom(part->atom, &atom, error));
    if (atom.kind == ATOM_ZERO && name.text && is_among(name, op->outputs))
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "layout %.*s=zero: elements of an output need places of their own, "
                         "zero is for inputs",
                         shown(name), name.text);
    return KERF_OK;
}

kerf_status kerf_layout_check(const char *layout, const kerf_op *op, kerf_error *error) {
    for (const char *rest = layout; rest;) {
        const layout_part part = next_part(&rest);
        KERF_TRY(check_part(layout, &part, op, error));
    }
    return KERF_OK;
}

/* Strides of axes that lie in memory in this order, slowest first. */
static bool pack_in_order(kerf_strided *at, const int order[KERF_MAX_RANK]) {
    int64_t stride = 1;
    for (int i = at->rank - 1; i >= 0; --i) {
        at->strides[order[i]] = stride;
        const int64_t extent = at->dims[order[i]] > 0 ? at->dims[order[i]] : 1;
        if (!kerf_mul_i64(stride, extent, &stride))
            return false;
    }
    return true;
}

/* Puts the axis at place `from` of the order at place `to`, the others keep their sequence. */
static void move_axis(int order[KERF_MAX_RANK], int from, int to) {
    const int axis = order[from];
    for (int i = from; i != to; i += from < to ? 1 : -1)
        order[i] = order[from < to ? i + 1 : i - 1];
    order[to] = axis;
}

/* Rows of the last axis are followed by 3 unused elements, planes of the last two by 5: odd numbers, so that alignment
 * is lost as well. */
static bool pack_with_gaps(kerf_strided *at) {
    int64_t stride = 1;
    for (int axis = at->rank - 1; axis >= 0; --axis) {
        at->strides[axis] = stride;
        const int64_t extent = at->dims[axis] > 0 ? at->dims[axis] : 1;
        const int64_t gap = axis == at->rank - 1 ? 3 : axis == at->rank - 2 ? 5 : 0;
        if (!kerf_mul_i64(stride, extent, &stride) || !kerf_add_i64(stride, gap, &stride))
            return false;
    }
    return true;
}

static bool fits_rank(atom_kind kind, int rank) {
    if (kind == ATOM_NHWC)
        return rank == 4;
    return rank >= 2 || (kind != ATOM_PLANAR && kind != ATOM_SWAPPED);
}

static bool set_strides(const layout_atom *atom, kerf_strided *at) {
    int order[KERF_MAX_RANK];
    for (int axis = 0; axis < at->rank; ++axis)
        order[axis] = axis;
    switch (atom->kind) {
    case ATOM_PACKED:
        return pack_in_order(at, order);
    case ATOM_NHWC:
        move_axis(order, 1, at->rank - 1);
        return pack_in_order(at, order);
    case ATOM_PLANAR:
        move_axis(order, at->rank - 1, 1);
        return pack_in_order(at, order);
    case ATOM_SWAPPED:
        move_axis(order, 1, 0);
        return pack_in_order(at, order);
    case ATOM_GAP:
        return pack_with_gaps(at);
    case ATOM_FLIP:
        if (!pack_in_order(at, order))
            return false;
        for (int axis = at->rank > 2 ? at->rank - 2 : 0; axis < at->rank; ++axis)
            at->strides[axis] = -at->strides[axis];
        return true;
    case ATOM_ZERO:
        memset(at->strides, 0, sizeof at->strides);
        return true;
    case ATOM_STRIDES:
        memcpy(at->strides, atom->strides, sizeof at->strides);
        return true;
    }
    return false;
}

/* The atom that the text has for this operand. */
static kerf_status find_atom(const char *layout, kerf_channels channels, const kerf_operand *operand,
                             layout_atom *result, kerf_error *error) {
    *result = (layout_atom){.kind = ATOM_PACKED};
    for (const char *rest = layout; rest;) {
        const layout_part part = next_part(&rest);
        if (part.name.text && !piece_is(part.name, operand->name))
            continue;
        KERF_TRY(parse_atom(part.atom, result, error));
        if (part.name.text)
            return KERF_OK;
        const bool is_plain = channels == KERF_NO_CHANNELS && !fits_rank(result->kind, operand->at.rank);
        const bool spares = (result->kind == ATOM_NHWC && channels == KERF_NO_CHANNELS) || is_plain ||
                            (result->kind == ATOM_ZERO && (operand->role == KERF_OUT || operand->role == KERF_INOUT));
        if (spares)
            result->kind = ATOM_PACKED;
    }
    return KERF_OK;
}

kerf_status kerf_layout_apply(const char *layout, const kerf_op *op, kerf_channels channels, kerf_operand *operand,
                              kerf_error *error) {
    layout_atom atom;
    kerf_strided *const at = &operand->at;
    KERF_TRY(kerf_layout_check(layout, op, error));
    KERF_TRY(find_atom(layout, channels, operand, &atom, error));
    if (!fits_rank(atom.kind, at->rank))
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "layout `%.60s`: %s has rank %d; nhwc is for rank 4, planar and swapped for rank 2 and more",
                         layout, operand->name, at->rank);
    if (atom.kind == ATOM_STRIDES && atom.n_strides != at->rank)
        return kerf_fail(error, KERF_ERROR_USAGE, "layout has %d strides for %s: it needs %d, one per axis",
                         atom.n_strides, operand->name, at->rank);
    int64_t lowest, highest, bytes;
    if (!set_strides(&atom, at) || !kerf_strided_span(at, &lowest, &highest) ||
        !kerf_mul_i64(highest - lowest + 1, (int64_t)kerf_dtype_bytes(operand->dtype), &bytes))
        return kerf_fail(error, KERF_ERROR_USAGE, "layout `%.60s`: %s would reach over more bytes than 2^63 - 1",
                         layout, operand->name);
    return KERF_OK;
}
