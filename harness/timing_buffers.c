#include "harness/timing_buffers.h"

#include "base/checked.h"
#include "base/cpu.h"
#include "harness/cache.h"
#include "harness/device.h"
#include "harness/place.h"

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

/* Written once, so that no call meets pages that the system has yet to give. */
static kerf_status output_map(const kerf_operand *operand, kerf_rng *offsets, kerf_timing_block *block, void **out,
                              kerf_error *error) {
    kerf_extent extent;
    KERF_TRY(kerf_extent_of(operand, &extent, error));
    KERF_TRY(kerf_timing_operand_map(operand, offsets, block, error));
    const kerf_poison content = kerf_poison_finite(operand->dtype, offsets);
    kerf_poison_elements(&content, operand, &extent, block->data);
    *out = block->data;
    return KERF_OK;
}

static kerf_status row_map(kerf_timing_row *row, kerf_rng *offsets, kerf_error *error) {
    const kerf_problem *const problem = &row->inputs->problem;
    for (int set = 0; set < row->inputs->n_sets; ++set)
        for (int i = 0; i < problem->n_out; ++i)
            if (problem->want >> i & 1)
                KERF_TRY(output_map(problem->out[i], offsets, &row->block[set][i], &row->out[set][i], error));
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
        bytes += row->out[0][i] ? operand_bytes(problem->out[i]) : 0;
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
                                .scratch = row->scratch.data,
                                .packed = row->packed.data,
                                .team = team};
    kerf_timing_row_use(row, 0);
    row->touched_bytes = touched_bytes(row);
    if (status == KERF_OK && row->variant->prepare && row->packed_bytes > 0)
        status = row->variant->prepare(&row->launch, row->packed.data);
    if (status != KERF_OK)
        kerf_timing_row_close(row);
    return status;
}

void kerf_timing_row_use(kerf_timing_row *row, int set) {
    row->at = set;
    row->launch.in = row->inputs->set[set].in;
    row->launch.out = row->out[set];
}

void kerf_timing_row_close(kerf_timing_row *row) {
    for (int set = 0; set < KERF_TIMING_SETS; ++set)
        for (int i = 0; i < KERF_MAX_OPERANDS; ++i)
            kerf_timing_block_unmap(&row->block[set][i]);
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
        operand_evict(problem->in[i], row->launch.in[i]);
    for (int i = 0; i < problem->n_out; ++i)
        if (row->launch.out[i])
            operand_evict(problem->out[i], row->launch.out[i]);
    kerf_cache_evict(row->scratch.data, row->scratch_bytes);
    kerf_cache_evict(row->packed.data, row->packed_bytes);
    kerf_cache_evicted();
}
