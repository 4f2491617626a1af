#include "harness/timing_buffers.h"

#include "base/checked.h"
#include "base/cpu.h"
#include "harness/cache.h"
#include "harness/device.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define LINE_BYTES 64
#define PAGE_BYTES 4096

/* Room for `below` bytes under the address of `data` and `above` from it on. */
static kerf_status block_map(size_t below, size_t above, kerf_rng *offsets, kerf_timing_block *block,
                             kerf_error *error) {
    size_t bytes;
    if (!kerf_add_size(below, above, &bytes) || !kerf_add_size(bytes, LINE_BYTES + PAGE_BYTES, &bytes))
        return kerf_fail(error, KERF_ERROR_MEMORY, "the size of a buffer overflows");
    void *const map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return kerf_fail(error, KERF_ERROR_MEMORY, "cannot map %zu bytes to time in: %s", bytes, strerror(errno));
    const size_t offset = LINE_BYTES * (size_t)kerf_rng_below(offsets, PAGE_BYTES / LINE_BYTES);
    const size_t at = (below + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES + offset;
    *block = (kerf_timing_block){.map = map, .map_bytes = bytes, .data = (unsigned char *)map + at};
    return KERF_OK;
}

void kerf_timing_block_unmap(kerf_timing_block *block) {
    if (block->map)
        munmap(block->map, block->map_bytes);
    *block = (kerf_timing_block){0};
}

kerf_status kerf_timing_operand_map(const kerf_operand *operand, kerf_rng *offsets, kerf_timing_block *block,
                                    kerf_error *error) {
    const int64_t element_bytes = (int64_t)kerf_dtype_bytes(operand->dtype);
    int64_t lowest, highest, above;
    if (!kerf_strided_span(&operand->at, &lowest, &highest) || !kerf_mul_i64(lowest, element_bytes, &lowest) ||
        !kerf_add_i64(highest, 1, &above) || !kerf_mul_i64(above, element_bytes, &above))
        return kerf_fail(error, KERF_ERROR_MEMORY, "the size of operand `%s` overflows", operand->name);
    return block_map((size_t)-lowest, (size_t)above, offsets, block, error);
}

kerf_status kerf_timing_inputs_open(const kerf_case *c, kerf_rng *offsets, kerf_arena *arena,
                                    kerf_timing_inputs *inputs, kerf_error *error) {
    *inputs = (kerf_timing_inputs){.dtype = c->dtype, .seed = ~c->seed};
    KERF_TRY(c->op->describe(c, arena, &inputs->problem, error));
    const kerf_problem *const problem = &inputs->problem;
    void *in[KERF_MAX_OPERANDS];
    for (int i = 0; i < problem->n_in; ++i) {
        const kerf_status status = kerf_timing_operand_map(problem->in[i], offsets, &inputs->block[i], error);
        if (status != KERF_OK) {
            kerf_timing_inputs_close(inputs);
            return status;
        }
        inputs->in[i] = in[i] = inputs->block[i].data;
    }
    kerf_rng rng = kerf_rng_seeded(c->seed, 0);
    c->op->fill(problem, &rng, in);
    return KERF_OK;
}

void kerf_timing_inputs_close(kerf_timing_inputs *inputs) {
    for (int i = 0; i < KERF_MAX_OPERANDS; ++i)
        kerf_timing_block_unmap(&inputs->block[i]);
}

/* Odd, so that elements drawn twice never leave an input as it was. */
enum { CHANGES_PER_STEP = 3 };

static void element_change(const kerf_operand *operand, unsigned char *data, kerf_rng *rng) {
    const int64_t bytes = (int64_t)kerf_dtype_bytes(operand->dtype);
    const kerf_strided stored = kerf_strided_unique(&operand->at);
    int64_t n;
    if (!kerf_strided_count(&stored, &n) || n == 0)
        return;
    unsigned char *const element =
        data + kerf_strided_offset(&stored, (int64_t)kerf_rng_below(rng, (uint64_t)n)) * bytes;
    if (operand->dtype <= KERF_F64)
        element[bytes - 1] ^= 0x80; /* the sign, on the little-endian machines there are */
    else
        element[0] ^= 1;
}

static void step_apply(kerf_timing_inputs *inputs, uint64_t step) {
    const kerf_problem *const problem = &inputs->problem;
    kerf_rng rng = kerf_rng_seeded(inputs->seed, step);
    for (int i = 0; i < problem->n_in; ++i)
        if (problem->in[i]->role == KERF_IN && !(problem->op->steering >> i & 1))
            for (int k = 0; k < CHANGES_PER_STEP; ++k)
                element_change(problem->in[i], inputs->block[i].data, &rng);
}

void kerf_timing_inputs_go_to(kerf_timing_inputs *inputs, uint64_t step) {
    for (; inputs->step < step; ++inputs->step)
        step_apply(inputs, inputs->step);
    for (; inputs->step > step; --inputs->step)
        step_apply(inputs, inputs->step - 1);
}

static kerf_status row_map(kerf_timing_row *row, kerf_rng *offsets, kerf_error *error) {
    const kerf_problem *const problem = &row->inputs->problem;
    for (int i = 0; i < problem->n_out; ++i) {
        if (!(problem->want >> i & 1))
            continue;
        KERF_TRY(kerf_timing_operand_map(problem->out[i], offsets, &row->block[i], error));
        row->out[i] = row->block[i].data;
    }
    const kerf_memory memory = row->variant->memory ? row->variant->memory(problem, row->config) : (kerf_memory){0};
    row->scratch_bytes = memory.scratch_bytes;
    row->packed_bytes = memory.packed_bytes;
    if (memory.scratch_bytes > 0)
        KERF_TRY(block_map(0, memory.scratch_bytes, offsets, &row->scratch, error));
    if (memory.packed_bytes > 0)
        KERF_TRY(block_map(0, memory.packed_bytes, offsets, &row->packed, error));
    return KERF_OK;
}

static double operand_bytes(const kerf_operand *operand) {
    const kerf_strided at = kerf_strided_unique(&operand->at);
    int64_t n;
    return kerf_strided_count(&at, &n) ? (double)n * (double)kerf_dtype_bytes(operand->dtype) : 0;
}

static double touched_bytes(const kerf_timing_row *row) {
    const kerf_problem *const problem = &row->inputs->problem;
    double bytes = (double)row->scratch_bytes + (double)row->packed_bytes;
    for (int i = 0; i < problem->n_in; ++i)
        bytes += operand_bytes(problem->in[i]);
    for (int i = 0; i < problem->n_out; ++i)
        bytes += row->out[i] ? operand_bytes(problem->out[i]) : 0;
    return bytes;
}

kerf_status kerf_timing_row_open(const kerf_row *from, const kerf_config *config, const kerf_timing_inputs *inputs,
                                 const kerf_team *team, kerf_rng *offsets, kerf_timing_row *row, kerf_error *error) {
    *row = (kerf_timing_row){.inputs = inputs, .config = config};
    char memory[200];
    kerf_text text = kerf_text_over(memory, sizeof memory);
    const char *const unavailable = kerf_row_unavailable(from, kerf_cpu_isa(), &text);
    if (unavailable)
        return kerf_fail(error, KERF_ERROR_DEVICE, "%s", unavailable);
    row->variant = from->variant[kerf_dtype_class(inputs->dtype)];
    if (!row->variant)
        return kerf_fail(error, KERF_ERROR_USAGE, "not built for %s", kerf_dtype_name(inputs->dtype));
    if (row->variant->refuses && row->variant->refuses(&inputs->problem, config, &text))
        return kerf_fail(error, KERF_ERROR_USAGE, "%s", memory);
    kerf_status status = row_map(row, offsets, error);
    row->launch = (kerf_launch){.bytes = sizeof row->launch,
                                .problem = &inputs->problem,
                                .config = config,
                                .in = inputs->in,
                                .out = row->out,
                                .scratch = row->scratch.data,
                                .packed = row->packed.data,
                                .team = team};
    row->touched_bytes = touched_bytes(row);
    if (status == KERF_OK && row->variant->prepare && row->packed_bytes > 0)
        status = row->variant->prepare(&row->launch, row->packed.data);
    if (status != KERF_OK)
        kerf_timing_row_close(row);
    return status;
}

void kerf_timing_row_close(kerf_timing_row *row) {
    for (int i = 0; i < KERF_MAX_OPERANDS; ++i)
        kerf_timing_block_unmap(&row->block[i]);
    kerf_timing_block_unmap(&row->scratch);
    kerf_timing_block_unmap(&row->packed);
}

/* A few elements spread over a huge span are visited one by one, everything else as one range. */
static void operand_evict(const kerf_operand *operand, const unsigned char *data) {
    const int64_t element_bytes = (int64_t)kerf_dtype_bytes(operand->dtype), sparse = 16;
    const kerf_strided at = kerf_strided_unique(&operand->at);
    int64_t lowest, highest, n;
    if (!kerf_strided_count(&at, &n) || n == 0 || !kerf_strided_span(&at, &lowest, &highest))
        return;
    if ((highest - lowest) / sparse < n) {
        kerf_cache_evict(data + lowest * element_bytes, (size_t)((highest - lowest + 1) * element_bytes));
        return;
    }
    for (kerf_walk walk = kerf_walk_begin(&at); !walk.done; kerf_walk_next(&walk))
        kerf_cache_evict(data + walk.offset * element_bytes, (size_t)element_bytes);
}

void kerf_timing_row_evict(const kerf_timing_row *row) {
    const kerf_problem *const problem = &row->inputs->problem;
    for (int i = 0; i < problem->n_in; ++i)
        operand_evict(problem->in[i], row->inputs->in[i]);
    for (int i = 0; i < problem->n_out; ++i)
        if (row->out[i])
            operand_evict(problem->out[i], row->out[i]);
    kerf_cache_evict(row->scratch.data, row->scratch_bytes);
    kerf_cache_evict(row->packed.data, row->packed_bytes);
    kerf_cache_evicted();
}
