/* How the elements of an operand lie in a piece of memory, and moving them there and back. */
#ifndef KERF_HARNESS_PLACE_H
#define KERF_HARNESS_PLACE_H

#include "kernels/kernel.h"

/* Dense memory is handled as a whole, gaps included. In a sparse one (few elements, huge strides) most pages are never
 * touched: only its elements are. */
typedef enum kerf_density { KERF_DENSE, KERF_SPARSE } kerf_density;

typedef struct kerf_extent {
    kerf_density density;
    int64_t n_elements; /* of the logical array */
    int64_t n_stored;   /* each memory element once: axes of stride 0 count as one element */
    size_t element_bytes;
    size_t span_bytes;     /* from the lowest element to the end of the highest; 0 if there are none */
    size_t before_bytes;   /* from the lowest element to element (0,...,0) */
    size_t resident_bytes; /* memory that the touched pages take, at most */
} kerf_extent;

/* KERF_ERROR_USAGE if the operand exceeds the address space. */
kerf_status kerf_extent_of(const kerf_operand *operand, kerf_extent *extent, kerf_error *error);

/* Moves all elements between two memories of the same operand. Addresses are those of element (0,...,0). */
void kerf_place_copy(const kerf_operand *operand, const kerf_extent *extent, void *to, const void *from);
/* Elements in row-major order of the logical index. */
void kerf_place_gather(const kerf_operand *operand, const kerf_extent *extent, void *packed, const void *from);

/* A value that memory is filled with before a kernel runs. Real types: a signalling NaN, so that arithmetic on it gives
 * other bits and what still holds it was not written. Other types: a value that a second run does not repeat. */
typedef struct kerf_poison {
    size_t bytes;
    unsigned char pattern[16];
} kerf_poison;

kerf_poison kerf_poison_of(kerf_dtype dtype, kerf_rng *rng);
/* The same as a number of magnitude 1 to 2: a kernel that asks whether the old content is NaN meets something else. A
 * right result may look like it. */
kerf_poison kerf_poison_finite(kerf_dtype dtype, kerf_rng *rng);
/* NaN for every real type that may lie there, and out of range as an index: for scratch. */
kerf_poison kerf_poison_untyped(kerf_rng *rng);
/* Whole patterns from `begin` on; a rest that is smaller than the pattern gets its beginning. */
void kerf_poison_fill(const kerf_poison *poison, void *begin, size_t n_bytes);
/* Offset of the first byte that differs from what kerf_poison_fill would write, or n_bytes. */
size_t kerf_poison_first_change(const kerf_poison *poison, const void *begin, size_t n_bytes);
/* Poisons the elements only. */
void kerf_poison_elements(const kerf_poison *poison, const kerf_operand *operand, const kerf_extent *extent, void *to);

#endif
