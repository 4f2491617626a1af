#include "kernels/space_batch.h"

#include "base/checked.h"
#include "kernels/layout.h"
#include "kernels/operand.h"
#include <string.h>

#define MAX_TENSORFLOW_BLOCKS 4

static const char *op_name(kerf_space_batch_way way) {
    return way == KERF_SPACE_TO_BATCH ? "space_to_batch" : "batch_to_space";
}

static const char *margin_name(kerf_space_batch_way way) {
    return way == KERF_SPACE_TO_BATCH ? "paddings" : "crops";
}

/* ---- the request, copied once: what is checked is what is used ------------------------------------------------------
 */

static kerf_status copy_legacy(const kerf_space_batch_request *request, int rank, kerf_space_batch *to,
                               kerf_error *error) {
    const char *const op = op_name(request->way);
    if (request->n_block_shape != 0)
        return kerf_fail(error, KERF_ERROR_USAGE, "%s: block_size=%lld and block_shape are both given: give one", op,
                         (long long)request->block_size);
    if (rank != 4)
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "%s: block_size=%lld takes an input of rank 4, not %d: give block_shape", op,
                         (long long)request->block_size, rank);
    if (request->block_size < 2)
        return kerf_fail(error, KERF_ERROR_USAGE, "%s: block_size=%lld must be at least 2", op,
                         (long long)request->block_size);
    to->n_blocks = 2;
    to->block[0] = to->block[1] = request->block_size;
    return KERF_OK;
}

static kerf_status copy_request(const kerf_space_batch_request *request, int rank, kerf_space_batch *to,
                                kerf_error *error) {
    const char *const op = op_name(request->way), *const margins = margin_name(request->way);
    *to = (kerf_space_batch){.way = request->way, .n_blocks = request->n_block_shape};
    if (to->n_blocks < 0 || request->n_margins < 0 || (to->n_blocks > 0 && !request->block_shape) ||
        (request->n_margins > 0 && !request->margins))
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "%s: block_shape of %d and %s of %d numbers: a list is NULL or its "
                         "length negative",
                         op, to->n_blocks, margins, request->n_margins);
    if (request->block_size != 0) {
        KERF_TRY(copy_legacy(request, rank, to, error));
    } else if (to->n_blocks > rank - 1) {
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "%s: block_shape has %d axes but the input of rank %d has %d behind its batch", op,
                         to->n_blocks, rank, rank - 1);
    } else if (to->n_blocks > 0) {
        memcpy(to->block, request->block_shape, (size_t)to->n_blocks * sizeof *to->block);
    }
    if (request->n_margins == 0)
        return KERF_OK;
    if (request->n_margins != 2 * to->n_blocks)
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "%s: %s has %d numbers: it takes %d, before and after of each of the %d block axes", op,
                         margins, request->n_margins, 2 * to->n_blocks, to->n_blocks);
    for (int k = 0; k < to->n_blocks; ++k) {
        to->before[k] = request->margins[2 * k];
        to->after[k] = request->margins[2 * k + 1];
    }
    return KERF_OK;
}

static void set_pad(kerf_space_batch *to, kerf_dtype dtype, int64_t value) {
    const size_t bytes = kerf_dtype_bytes(dtype);
    if (kerf_dtype_unit_roundoff(dtype) != 0) {
        kerf_dtype_store(dtype, to->pad, (double)value);
        return;
    }
    memset(to->pad, value < 0 ? 0xff : 0, sizeof to->pad);
    memcpy(to->pad, &value, bytes < sizeof value ? bytes : sizeof value); /* little-endian, as all processors here */
}

/* ---- shapes
 * ----------------------------------------------------------------------------------------------------------- */

static kerf_status check_blocks(const kerf_space_batch *b, int64_t *product, kerf_error *error) {
    const char *const op = op_name(b->way), *const margins = margin_name(b->way);
    *product = 1;
    for (int k = 0; k < b->n_blocks; ++k) {
        if (b->block[k] < 1)
            return kerf_fail(error, KERF_ERROR_USAGE, "%s: block %lld of axis %d must be at least 1", op,
                             (long long)b->block[k], k + 1);
        if (!kerf_mul_i64(*product, b->block[k], product))
            return kerf_fail(error, KERF_ERROR_USAGE,
                             "%s: the product of block_shape passes 2^63 - 1 at axis %d, block %lld", op, k + 1,
                             (long long)b->block[k]);
        if (b->before[k] < 0 || b->after[k] < 0)
            return kerf_fail(error, KERF_ERROR_USAGE, "%s: %s %lld and %lld of axis %d must be at least 0", op, margins,
                             (long long)b->before[k], (long long)b->after[k], k + 1);
    }
    return KERF_OK;
}

/* Block axes that TensorFlow's kernels loop over: all between the first and the last that do something. */
static kerf_status check_tensorflow(const kerf_space_batch *b, kerf_error *error) {
    int first = b->n_blocks, last = -1;
    for (int k = 0; k < b->n_blocks; ++k) {
        if (b->block[k] == 1 && b->before[k] == 0 && b->after[k] == 0)
            continue;
        first = first < k ? first : k;
        last = k;
    }
    if (last - first + 1 > MAX_TENSORFLOW_BLOCKS)
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "%s: block axes %d to %d are %d: TensorFlow takes at most %d; leave tensorflow_limits out",
                         op_name(b->way), first + 1, last + 1, last - first + 1, MAX_TENSORFLOW_BLOCKS);
    return KERF_OK;
}

static kerf_status space_extent(const kerf_space_batch *b, int k, int64_t size, int64_t *extent, kerf_error *error) {
    int64_t padded;
    if (!kerf_add_i64(size, b->before[k], &padded) || !kerf_add_i64(padded, b->after[k], &padded))
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "space_to_batch: axis %d of size %lld with paddings %lld and %lld passes "
                         "2^63 - 1",
                         k + 1, (long long)size, (long long)b->before[k], (long long)b->after[k]);
    if (padded % b->block[k] != 0)
        return kerf_fail(
            error, KERF_ERROR_USAGE,
            "space_to_batch: axis %d of size %lld with paddings %lld and %lld is not a multiple of its block "
            "%lld: pad %lld more",
            k + 1, (long long)size, (long long)b->before[k], (long long)b->after[k], (long long)b->block[k],
            (long long)(b->block[k] - padded % b->block[k]));
    *extent = padded / b->block[k];
    return KERF_OK;
}

static kerf_status batch_extent(const kerf_space_batch *b, int k, int64_t size, int64_t *extent, kerf_error *error) {
    int64_t whole;
    if (!kerf_mul_i64(size, b->block[k], &whole))
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "batch_to_space: axis %d of size %lld times its block %lld passes 2^63 - 1", k + 1,
                         (long long)size, (long long)b->block[k]);
    if (b->before[k] > whole || b->after[k] > whole - b->before[k])
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "batch_to_space: crops %lld and %lld of axis %d take more than its %lld elements (size %lld, "
                         "block %lld)",
                         (long long)b->before[k], (long long)b->after[k], k + 1, (long long)whole, (long long)size,
                         (long long)b->block[k]);
    *extent = whole - b->before[k] - b->after[k];
    return KERF_OK;
}

static kerf_status batch_of(const kerf_space_batch *b, int64_t batch, int64_t product, int64_t *result,
                            kerf_error *error) {
    if (b->way == KERF_SPACE_TO_BATCH) {
        if (kerf_mul_i64(batch, product, result))
            return KERF_OK;
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "space_to_batch: batch %lld times the blocks' product %lld passes 2^63 - 1", (long long)batch,
                         (long long)product);
    }
    if (batch % product != 0)
        return kerf_fail(error, KERF_ERROR_USAGE,
                         "batch_to_space: batch %lld is not a multiple of the blocks' product %lld", (long long)batch,
                         (long long)product);
    *result = batch / product;
    return KERF_OK;
}

kerf_status kerf_space_batch_resolve(const kerf_space_batch_request *request, kerf_dtype dtype,
                                     const kerf_strided *input, kerf_space_batch *resolved, kerf_strided *output,
                                     kerf_error *error) {
    int64_t product, count;
    if (input->rank < 1 || input->rank > KERF_MAX_RANK)
        return kerf_fail(error, KERF_ERROR_USAGE, "%s: an input of rank %d: 1 to %d are allowed", op_name(request->way),
                         input->rank, KERF_MAX_RANK);
    for (int axis = 0; axis < input->rank; ++axis)
        if (input->dims[axis] < 0)
            return kerf_fail(error, KERF_ERROR_USAGE, "%s: axis %d of the input has size %lld: at least 0 is allowed",
                             op_name(request->way), axis, (long long)input->dims[axis]);
    KERF_TRY(copy_request(request, input->rank, resolved, error));
    KERF_TRY(check_blocks(resolved, &product, error));
    if (request->tensorflow_limits)
        KERF_TRY(check_tensorflow(resolved, error));
    *output = (kerf_strided){.rank = input->rank};
    memcpy(output->dims, input->dims, sizeof output->dims);
    KERF_TRY(batch_of(resolved, input->dims[0], product, &output->dims[0], error));
    for (int k = 0; k < resolved->n_blocks; ++k)
        KERF_TRY(request->way == KERF_SPACE_TO_BATCH
                     ? space_extent(resolved, k, input->dims[k + 1], &output->dims[k + 1], error)
                     : batch_extent(resolved, k, input->dims[k + 1], &output->dims[k + 1], error));
    if (!kerf_strided_count(input, &count) || !kerf_strided_count(output, &count))
        return kerf_fail(error, KERF_ERROR_USAGE, "%s: the %s has more elements than can be numbered (2^63 - 1)",
                         op_name(request->way), kerf_strided_count(input, &count) ? "output" : "input");
    set_pad(resolved, dtype, request->pad_value);
    return KERF_OK;
}

/* ---- the op objects
 * ----------------------------------------------------------------------------------------------------- */

static const int64_t standard_shape[] = {1, 4, 4, 1};

#define SPEC(...)                                                                                                      \
    &(const kerf_attr_spec) {                                                                                          \
        .bytes = sizeof(kerf_attr_spec), __VA_ARGS__                                                                   \
    }
#define NUMBERS(text, ...) SPEC(.name = text, .kind = KERF_ATTR_INT_LIST, .standard = {__VA_ARGS__})
#define SHAPE              NUMBERS("shape", .list = standard_shape, .n_list = 4)
#define BLOCK              NUMBERS("block_shape", .n_list = 0)
#define MARGINS(text)      NUMBERS(text, .n_list = 0)
#define SIZE               SPEC(.name = "block_size", .kind = KERF_ATTR_INT)
#define LIMITS                                                                                                         \
    SPEC(.name = "tensorflow_limits", .kind = KERF_ATTR_ENUM, .values = (const char *const[]){"0", "1", NULL})
#define PAD SPEC(.name = "pad_value", .kind = KERF_ATTR_INT)

/* In the order that describe reads them. */
enum { ATTR_SHAPE, ATTR_BLOCK, ATTR_MARGINS, ATTR_SIZE, ATTR_LIMITS, ATTR_PAD };
const kerf_attr_spec *const kerf_space_to_batch_attrs[] = {SHAPE, BLOCK, MARGINS("paddings"), SIZE, LIMITS, PAD, NULL};
const kerf_attr_spec *const kerf_batch_to_space_attrs[] = {SHAPE, BLOCK, MARGINS("crops"), SIZE, LIMITS, NULL};

enum { FILL_EXACT, FILL_UNIFORM, FILL_SPECIAL };
const char *const kerf_space_batch_fills[] = {"exact", "uniform", "special", NULL};

const kerf_dtype kerf_space_batch_dtypes[KERF_SPACE_BATCH_DTYPES] = {
    KERF_F16, KERF_BF16,    KERF_F32,     KERF_F64,     KERF_I8,      KERF_U8,      KERF_I32,
    KERF_I64, KERF_OPAQUE1, KERF_OPAQUE2, KERF_OPAQUE4, KERF_OPAQUE8, KERF_OPAQUE16};

static kerf_status read_shape(const kerf_case *c, const char *op, kerf_strided *shape, kerf_error *error) {
    const kerf_attr *const attr = &c->attr[ATTR_SHAPE];
    if (attr->n_list < 1 || attr->n_list > KERF_MAX_RANK)
        return kerf_fail(error, KERF_ERROR_USAGE, "%s: shape has %d axes: 1 to %d are allowed", op, attr->n_list,
                         KERF_MAX_RANK);
    *shape = (kerf_strided){.rank = attr->n_list};
    memcpy(shape->dims, attr->list, (size_t)attr->n_list * sizeof *attr->list);
    return KERF_OK;
}

kerf_status kerf_space_batch_describe(const kerf_case *c, kerf_space_batch_way way, kerf_arena *arena,
                                      kerf_problem *problem, kerf_error *error) {
    const kerf_attr *const attr = c->attr;
    kerf_space_batch_request request = {.way = way,
                                        .block_shape = attr[ATTR_BLOCK].list,
                                        .n_block_shape = attr[ATTR_BLOCK].n_list,
                                        .margins = attr[ATTR_MARGINS].list,
                                        .n_margins = attr[ATTR_MARGINS].n_list,
                                        .block_size = attr[ATTR_SIZE].number,
                                        .tensorflow_limits = attr[ATTR_LIMITS].number != 0};
    if (way == KERF_SPACE_TO_BATCH)
        request.pad_value = attr[ATTR_PAD].number;
    if ((unsigned)c->dtype >= KERF_N_DTYPES || c->want >> 1)
        return kerf_fail(error, KERF_ERROR_USAGE, "%s has one output, y, and takes the types that `bench list` names",
                         op_name(way));
    kerf_operand *const operands = KERF_ARENA_NEW(arena, kerf_operand, 2);
    const kerf_operand **const pointers = KERF_ARENA_NEW(arena, const kerf_operand *, 2);
    kerf_space_batch *const resolved = KERF_ARENA_NEW(arena, kerf_space_batch, 1);
    if (!operands || !pointers || !resolved)
        return kerf_fail(error, KERF_ERROR_MEMORY, "the arena is full: no room to describe a case");
    for (int i = 0; i < 2; ++i) {
        operands[i] = (kerf_operand){.bytes = sizeof *operands,
                                     .name = i == 0 ? "x" : "y",
                                     .role = i == 0 ? KERF_IN : KERF_OUT,
                                     .dtype = c->dtype,
                                     .alignment = (uint32_t)kerf_dtype_bytes(c->dtype)};
        pointers[i] = &operands[i];
    }
    KERF_TRY(read_shape(c, op_name(way), &operands[0].at, error));
    KERF_TRY(kerf_space_batch_resolve(&request, c->dtype, &operands[0].at, resolved, &operands[1].at, error));
    *problem = (kerf_problem){.bytes = sizeof *problem,
                              .op = c->op,
                              .self = resolved,
                              .n_in = 1,
                              .n_out = 1,
                              .in = pointers,
                              .out = pointers + 1,
                              .want = c->want,
                              .fill = c->fill};
    for (int i = 0; i < 2; ++i) {
        KERF_TRY(kerf_layout_apply(c->layout, c->op, KERF_HAS_CHANNELS, &operands[i], error));
        KERF_TRY(kerf_operand_check_reach(&operands[i], error));
    }
    return kerf_operand_check_disjoint(&operands[1], error);
}

/* Bits that tell every element from its neighbours: exact counts, so that a wrong move is seen even in one byte. */
static void fill_element(unsigned char *element, size_t bytes, int64_t number, int fill, kerf_dtype dtype,
                         kerf_rng *rng) {
    const uint64_t random[2] = {kerf_rng_next(rng), kerf_rng_next(rng)};
    memcpy(element, random, bytes);
    if (fill == FILL_EXACT) {
        const uint64_t count = (uint64_t)number + 1;
        memcpy(element, &count, bytes < sizeof count ? bytes : sizeof count);
        return;
    }
    if (fill == FILL_UNIFORM && kerf_dtype_unit_roundoff(dtype) != 0)
        kerf_dtype_store(dtype, element, 2 * kerf_rng_unit(rng) - 1);
    /* Signs of zeros and payloads of NaN are moved like everything else. */
    static const unsigned char tops[] = {0x80, 0x7f, 0xff, 0x00};
    if (fill == FILL_SPECIAL && kerf_rng_below(rng, 2)) {
        if (kerf_rng_below(rng, 2))
            memset(element, 0, bytes);
        element[bytes - 1] = tops[kerf_rng_below(rng, sizeof tops)];
    }
}

void kerf_space_batch_fill(const kerf_problem *problem, kerf_rng *rng, void *const in[]) {
    const kerf_operand *const x = problem->in[0];
    const kerf_strided at = kerf_strided_unique(&x->at);
    const size_t bytes = kerf_dtype_bytes(x->dtype);
    for (kerf_walk walk = kerf_walk_begin(&at); !walk.done; kerf_walk_next(&walk))
        fill_element((unsigned char *)in[0] + walk.offset * (int64_t)bytes, bytes, walk.number, problem->fill, x->dtype,
                     rng);
}

/* Elements of x that reach y: all of them, but for those that are cropped away. */
kerf_work kerf_space_batch_work(const kerf_problem *problem, const void *const in[]) {
    const kerf_space_batch *const b = problem->self;
    const kerf_operand *const x = problem->in[0], *const y = problem->out[0];
    const double bytes = (double)kerf_dtype_bytes(x->dtype);
    const kerf_strided unique = kerf_strided_unique(&x->at);
    int64_t written, read;
    (void)in;
    if (!(problem->want & 1) || !kerf_strided_count(&y->at, &written) || !kerf_strided_count(&unique, &read))
        return (kerf_work){0};
    if (b->way == KERF_BATCH_TO_SPACE && read > written)
        read = written;
    return (kerf_work){.read_bytes = bytes * (double)read, .written_bytes = bytes * (double)written};
}
