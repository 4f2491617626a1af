#include "base/strided.h"

#include "base/checked.h"

bool kerf_strided_count(const kerf_strided *array, int64_t *n_elements) {
    int64_t count = 1;
    bool empty = false, fits = true;
    for (int axis = 0; axis < array->rank; ++axis) {
        if (array->dims[axis] < 0)
            return false;
        empty = empty || array->dims[axis] == 0;
        fits = fits && kerf_mul_i64(count, array->dims[axis], &count);
    }
    *n_elements = empty ? 0 : count;
    return empty || fits;
}

void kerf_strided_pack(kerf_strided *array) {
    int64_t stride = 1;
    for (int axis = array->rank - 1; axis >= 0; --axis) {
        array->strides[axis] = stride;
        const int64_t extent = array->dims[axis] > 0 ? array->dims[axis] : 1;
        /* An array too large for its strides is refused by whoever counts its elements. */
        if (!kerf_mul_i64(stride, extent, &stride))
            stride = INT64_MAX;
    }
}

bool kerf_strided_span(const kerf_strided *array, int64_t *lowest, int64_t *highest) {
    *lowest = *highest = 0;
    for (int axis = 0; axis < array->rank; ++axis)
        if (array->dims[axis] == 0)
            return true;
    for (int axis = 0; axis < array->rank; ++axis) {
        int64_t reach;
        if (!kerf_mul_i64(array->dims[axis] - 1, array->strides[axis], &reach))
            return false;
        int64_t *const end = reach < 0 ? lowest : highest;
        if (!kerf_add_i64(*end, reach, end))
            return false;
    }
    int64_t distance;
    return !__builtin_sub_overflow(*highest, *lowest, &distance) && distance < INT64_MAX;
}

void kerf_strided_index(const kerf_strided *array, int64_t number, int64_t index[KERF_MAX_RANK]) {
    for (int axis = array->rank - 1; axis >= 0; --axis) {
        index[axis] = number % array->dims[axis];
        number /= array->dims[axis];
    }
}

int64_t kerf_strided_offset(const kerf_strided *array, int64_t number) {
    int64_t index[KERF_MAX_RANK], offset = 0;
    kerf_strided_index(array, number, index);
    for (int axis = 0; axis < array->rank; ++axis)
        offset += index[axis] * array->strides[axis];
    return offset;
}

kerf_strided kerf_strided_unique(const kerf_strided *array) {
    kerf_strided unique = *array;
    for (int axis = 0; axis < array->rank; ++axis)
        if (unique.strides[axis] == 0 && unique.dims[axis] > 1)
            unique.dims[axis] = 1;
    return unique;
}

static int64_t magnitude(int64_t value) {
    return value < 0 ? -value : value;
}

/* Axes with more than one element, smallest |stride| first. */
static int sorted_axes(const kerf_strided *array, int axes[KERF_MAX_RANK]) {
    int n = 0;
    for (int axis = 0; axis < array->rank; ++axis) {
        if (array->dims[axis] <= 1)
            continue;
        int at = n++;
        for (; at > 0 && magnitude(array->strides[axes[at - 1]]) > magnitude(array->strides[axis]); --at)
            axes[at] = axes[at - 1];
        axes[at] = axis;
    }
    return n;
}

static bool is_empty(const kerf_strided *array) {
    for (int axis = 0; axis < array->rank; ++axis)
        if (array->dims[axis] == 0)
            return true;
    return false;
}

bool kerf_strided_disjoint(const kerf_strided *array) {
    if (is_empty(array))
        return true;
    int axes[KERF_MAX_RANK];
    const int n = sorted_axes(array, axes);
    int64_t reach = 0; /* largest offset that the smaller axes make */
    for (int i = 0; i < n; ++i) {
        const int64_t stride = magnitude(array->strides[axes[i]]);
        if (stride <= reach)
            return false;
        int64_t length;
        if (!kerf_mul_i64(array->dims[axes[i]] - 1, stride, &length) || !kerf_add_i64(reach, length, &reach))
            return false;
    }
    return true;
}

/* True when the disjoint array has an element at this distance (in elements) from its lowest one. */
static bool has_element(const kerf_strided *array, const int axes[KERF_MAX_RANK], int n, int64_t distance) {
    for (int i = n - 1; i >= 0; --i) {
        const int64_t stride = magnitude(array->strides[axes[i]]);
        int64_t steps = distance / stride;
        if (steps > array->dims[axes[i]] - 1)
            steps = array->dims[axes[i]] - 1;
        distance -= steps * stride;
    }
    return distance == 0;
}

/* Is a byte of [begin, begin + bytes) part of an element of the disjoint array whose lowest element lies at `base`? */
static bool touches(const kerf_strided *array, const int axes[KERF_MAX_RANK], int n, intptr_t base, int64_t bytes,
                    intptr_t begin, int64_t n_bytes) {
    for (intptr_t byte = begin; byte < begin + n_bytes; ++byte) {
        const int64_t distance = byte - base;
        if (distance >= 0 && has_element(array, axes, n, distance / bytes))
            return true;
    }
    return false;
}

bool kerf_strided_share(const kerf_strided *a, const void *a_data, int64_t a_bytes, const kerf_strided *b,
                        const void *b_data, int64_t b_bytes) {
    int64_t a_low, a_high, b_low, b_high;
    if (is_empty(a) || is_empty(b))
        return false;
    if (!kerf_strided_span(a, &a_low, &a_high) || !kerf_strided_span(b, &b_low, &b_high))
        return true;
    const intptr_t a_base = (intptr_t)a_data + a_low * a_bytes, a_end = (intptr_t)a_data + (a_high + 1) * a_bytes;
    const intptr_t b_base = (intptr_t)b_data + b_low * b_bytes, b_end = (intptr_t)b_data + (b_high + 1) * b_bytes;
    if (a_end <= b_base || b_end <= a_base)
        return false;
    /* Interleaved arrays, such as two channels of one image: walk one, look the elements up in the other. */
    const kerf_strided seen = kerf_strided_unique(a), walked = kerf_strided_unique(b);
    if (!kerf_strided_disjoint(&seen))
        return true;
    int axes[KERF_MAX_RANK];
    const int n = sorted_axes(&seen, axes);
    for (kerf_walk walk = kerf_walk_begin(&walked); !walk.done; kerf_walk_next(&walk))
        if (touches(&seen, axes, n, a_base, a_bytes, (intptr_t)b_data + walk.offset * b_bytes, b_bytes))
            return true;
    return false;
}

kerf_walk kerf_walk_begin(const kerf_strided *array) {
    return (kerf_walk){.array = array, .done = is_empty(array)};
}

void kerf_walk_next(kerf_walk *walk) {
    const kerf_strided *const array = walk->array;
    ++walk->number;
    for (int axis = array->rank - 1; axis >= 0; --axis) {
        walk->offset += array->strides[axis];
        if (++walk->index[axis] < array->dims[axis])
            return;
        walk->offset -= array->dims[axis] * array->strides[axis];
        walk->index[axis] = 0;
    }
    walk->done = true;
}
