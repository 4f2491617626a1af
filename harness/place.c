#include "harness/place.h"

#include "base/checked.h"
#include <string.h>

/* Below this size a span is handled as a whole however few elements it has. */
static const size_t always_dense_bytes = (size_t)1 << 20;
static const size_t page_bytes = 4096;

kerf_status kerf_extent_of(const kerf_operand *operand, kerf_extent *extent, kerf_error *error) {
    const kerf_strided stored = kerf_strided_unique(&operand->at);
    int64_t lowest, highest, n_stored_bytes, span_bytes;
    *extent = (kerf_extent){.element_bytes = kerf_dtype_bytes(operand->dtype)};
    const int64_t element_bytes = (int64_t)extent->element_bytes;
    if (!kerf_strided_count(&operand->at, &extent->n_elements) || !kerf_strided_count(&stored, &extent->n_stored) ||
        !kerf_mul_i64(extent->n_stored, element_bytes, &n_stored_bytes) ||
        !kerf_strided_span(&operand->at, &lowest, &highest) ||
        !kerf_mul_i64(highest - lowest + 1, element_bytes, &span_bytes) || span_bytes > INT64_MAX / 2)
        return kerf_fail(error, KERF_ERROR_USAGE, "operand %s exceeds the address space; use smaller --dims or strides",
                         operand->name);
    if (extent->n_elements == 0)
        return KERF_OK;
    extent->span_bytes = (size_t)span_bytes;
    extent->before_bytes = (size_t)(-lowest * element_bytes);
    extent->resident_bytes = extent->span_bytes;
    if (extent->span_bytes <= always_dense_bytes || extent->span_bytes / 8 <= (size_t)n_stored_bytes)
        return KERF_OK;
    extent->density = KERF_SPARSE;
    size_t touched;
    if (kerf_mul_size((size_t)extent->n_stored, page_bytes, &touched) && touched < extent->span_bytes)
        extent->resident_bytes = touched;
    return KERF_OK;
}

static bool is_packed(const kerf_strided *array) {
    kerf_strided packed = *array;
    kerf_strided_pack(&packed);
    for (int axis = 0; axis < array->rank; ++axis)
        if (array->dims[axis] > 1 && array->strides[axis] != packed.strides[axis])
            return false;
    return true;
}

void kerf_place_copy(const kerf_operand *operand, const kerf_extent *extent, void *to, const void *from) {
    if (extent->n_elements == 0)
        return;
    char *const target = to;
    const char *const source = from;
    if (extent->density == KERF_DENSE) {
        memcpy(target - extent->before_bytes, source - extent->before_bytes, extent->span_bytes);
        return;
    }
    const kerf_strided stored = kerf_strided_unique(&operand->at);
    const int64_t bytes = (int64_t)extent->element_bytes;
    for (kerf_walk walk = kerf_walk_begin(&stored); !walk.done; kerf_walk_next(&walk))
        memcpy(target + walk.offset * bytes, source + walk.offset * bytes, extent->element_bytes);
}

void kerf_place_gather(const kerf_operand *operand, const kerf_extent *extent, void *packed, const void *from) {
    if (extent->n_elements == 0)
        return;
    if (is_packed(&operand->at)) {
        memcpy(packed, from, (size_t)extent->n_elements * extent->element_bytes);
        return;
    }
    char *target = packed;
    const char *const source = from;
    const int64_t bytes = (int64_t)extent->element_bytes;
    for (kerf_walk walk = kerf_walk_begin(&operand->at); !walk.done; kerf_walk_next(&walk), target += bytes)
        memcpy(target, source + walk.offset * bytes, extent->element_bytes);
}

kerf_poison kerf_poison_of(kerf_dtype dtype, kerf_rng *rng) {
    kerf_poison poison = {.bytes = kerf_dtype_bytes(dtype)};
    const uint64_t random[2] = {kerf_rng_next(rng), kerf_rng_next(rng)};
    memcpy(poison.pattern, random, sizeof random);
    /* Exponent all ones, quiet bit clear, lowest bit set: a signalling NaN whatever the other bits are. */
    const uint64_t payload = random[0] | 1;
    const uint16_t f16 = (uint16_t)(0x7c00 | (payload & 0x81ff)), bf16 = (uint16_t)(0x7f80 | (payload & 0x803f));
    const uint32_t f32 = (uint32_t)(0x7f800000 | (payload & 0x803fffff));
    const uint64_t f64 = UINT64_C(0x7ff0000000000000) | (payload & UINT64_C(0x8007ffffffffffff));
    switch (dtype) {
    case KERF_F16:
        memcpy(poison.pattern, &f16, sizeof f16);
        break;
    case KERF_BF16:
        memcpy(poison.pattern, &bf16, sizeof bf16);
        break;
    case KERF_F32:
        memcpy(poison.pattern, &f32, sizeof f32);
        break;
    case KERF_F64:
        memcpy(poison.pattern, &f64, sizeof f64);
        break;
    default:
        break;
    }
    return poison;
}

kerf_poison kerf_poison_finite(kerf_dtype dtype, kerf_rng *rng) {
    kerf_poison poison = kerf_poison_of(dtype, rng);
    poison.pattern[poison.bytes - 1] &= 0xbf; /* the exponent's highest bit, on the little-endian machines there are */
    return poison;
}

kerf_poison kerf_poison_untyped(kerf_rng *rng) {
    const uint16_t word = (uint16_t)(0x7ff1 + kerf_rng_below(rng, 7));
    kerf_poison poison = {.bytes = sizeof word};
    memcpy(poison.pattern, &word, sizeof word);
    return poison;
}

void kerf_poison_fill(const kerf_poison *poison, void *begin, size_t n_bytes) {
    unsigned char *const target = begin;
    size_t done = n_bytes < poison->bytes ? n_bytes : poison->bytes;
    memcpy(target, poison->pattern, done);
    while (done < n_bytes) {
        const size_t more = n_bytes - done < done ? n_bytes - done : done;
        memcpy(target + done, target, more);
        done += more;
    }
}

size_t kerf_poison_first_change(const kerf_poison *poison, const void *begin, size_t n_bytes) {
    const unsigned char *const byte = begin;
    const size_t period = poison->bytes;
    size_t head = 0;
    while (head < n_bytes && head < period && byte[head] == poison->pattern[head])
        ++head;
    if (head == n_bytes || head < period)
        return head;
    /* Equal to itself one period later: one memcmp decides the usual case. */
    if (memcmp(byte, byte + period, n_bytes - period) == 0)
        return n_bytes;
    size_t at = period;
    while (byte[at] == byte[at - period])
        ++at;
    return at;
}

void kerf_poison_elements(const kerf_poison *poison, const kerf_operand *operand, const kerf_extent *extent, void *to) {
    if (extent->n_elements == 0)
        return;
    char *const target = to;
    if (is_packed(&operand->at)) {
        kerf_poison_fill(poison, target, extent->span_bytes);
        return;
    }
    const kerf_strided stored = kerf_strided_unique(&operand->at);
    const int64_t bytes = (int64_t)extent->element_bytes;
    for (kerf_walk walk = kerf_walk_begin(&stored); !walk.done; kerf_walk_next(&walk))
        memcpy(target + walk.offset * bytes, poison->pattern, extent->element_bytes);
}
