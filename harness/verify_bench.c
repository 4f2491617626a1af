#include "harness/verify_bench.h"

#include <string.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

static const size_t margin_bytes = 64;
/* Buffers up to this size stay resident between cases: their first touch would cost more than they occupy. */
static const size_t kept_bytes = (size_t)16 << 20;

/* ---- buffers ---------------------------------------------------------------------------------------------------- */

static size_t alignment_of(const kerf_operand *operand) {
    return operand->alignment ? operand->alignment : kerf_dtype_bytes(operand->dtype);
}

/* The lowest element stands this far behind an aligned address so that element (0,...,0) stands on one. */
static size_t skew_of(const kerf_extent *extent, size_t alignment) {
    return (alignment - extent->before_bytes % alignment) % alignment;
}

static kerf_status fit_operand(kerf_guarded *buffer, const kerf_operand *operand, const kerf_extent *extent,
                               size_t *need_bytes, kerf_error *error) {
    *need_bytes += extent->resident_bytes;
    return kerf_guarded_ensure(buffer, extent->span_bytes + skew_of(extent, alignment_of(operand)), error);
}

kerf_status kerf_bench_fit(kerf_bench *bench, kerf_error *error) {
    const kerf_job *const job = bench->job;
    const kerf_problem *const problem = &job->problem;
    size_t need_bytes = 0;
    for (int i = 0; i < problem->n_in; ++i)
        KERF_TRY(fit_operand(&bench->in[i], problem->in[i], &job->in_extent[i], &need_bytes, error));
    for (int o = 0; o < problem->n_out; ++o) {
        if (!kerf_bench_wants(bench, o))
            continue;
        const kerf_extent *const extent = &job->out_extent[o];
        const size_t packed_bytes = (size_t)extent->n_elements * extent->element_bytes;
        KERF_TRY(fit_operand(&bench->out[o], problem->out[o], extent, &need_bytes, error));
        for (int r = 0; r < KERF_N_RESULTS; ++r)
            KERF_TRY(kerf_guarded_ensure(&bench->result[r][o], packed_bytes, error));
        need_bytes += KERF_N_RESULTS * packed_bytes;
    }
    const size_t extra_bytes[KERF_N_EXTRAS] = {bench->memory.scratch_bytes, bench->memory.packed_bytes};
    for (int e = 0; e < KERF_N_EXTRAS; ++e) {
        KERF_TRY(kerf_guarded_ensure(&bench->extra[e], extra_bytes[e], error));
        need_bytes += extra_bytes[e];
    }
    bench->slot->need_bytes = need_bytes;
    return KERF_OK;
}

static void leave(const kerf_guarded *buffer) {
    if (buffer->usable_bytes > kept_bytes)
        kerf_guarded_forget(buffer);
}

void kerf_bench_leave(kerf_bench *bench) {
    for (int i = 0; i < KERF_MAX_OPERANDS; ++i) {
        leave(&bench->in[i]);
        leave(&bench->out[i]);
        for (int r = 0; r < KERF_N_RESULTS; ++r)
            leave(&bench->result[r][i]);
    }
    for (int e = 0; e < KERF_N_EXTRAS; ++e)
        leave(&bench->extra[e]);
}

/* ---- seats ------------------------------------------------------------------------------------------------------ */

/* How much of the margin fits between two addresses, in whole poison patterns. */
static size_t margin_between(const unsigned char *low, const unsigned char *high, size_t pattern_bytes) {
    const size_t room = (size_t)(high - low);
    return (room < margin_bytes ? room : margin_bytes) / pattern_bytes * pattern_bytes;
}

static kerf_seat seat_in(const kerf_guarded *buffer, const kerf_extent *extent, size_t alignment, kerf_place place,
                         kerf_poison poison) {
    const size_t skew = skew_of(extent, alignment);
    unsigned char *const begin = kerf_guarded_at(buffer, extent->span_bytes + skew, alignment, place) + skew;
    unsigned char *const end = begin + extent->span_bytes;
    kerf_seat seat = {.begin = begin, .end = end, .zero = begin + extent->before_bytes, .poison = poison};
    seat.first = begin - margin_between(buffer->usable, begin, poison.bytes);
    seat.last = end + margin_between(end, buffer->usable + buffer->usable_bytes, poison.bytes);
    return seat;
}

static void seat_input(kerf_bench *bench, int i, kerf_place place) {
    const kerf_operand *const operand = bench->job->problem.in[i];
    const kerf_extent *const extent = &bench->job->in_extent[i];
    const kerf_guarded *const buffer = &bench->in[i];
    kerf_seat *const seat = &bench->in_seat[i];
    kerf_guarded_writable(buffer);
    *seat = seat_in(buffer, extent, alignment_of(operand), place, kerf_poison_of(operand->dtype, &bench->rng));
    if (extent->density == KERF_SPARSE) {
        kerf_guarded_forget(buffer);
    } else {
        kerf_poison_fill(&seat->poison, seat->first, (size_t)(seat->begin - seat->first));
        kerf_poison_fill(&seat->poison, seat->end, (size_t)(seat->last - seat->end));
    }
    kerf_place_copy(operand, extent, seat->zero, bench->job->in[i]);
    kerf_guarded_read_only(buffer);
}

static void seat_output(kerf_bench *bench, int o, kerf_place place) {
    const kerf_operand *const operand = bench->job->problem.out[o];
    const kerf_extent *const extent = &bench->job->out_extent[o];
    kerf_seat *const seat = &bench->out_seat[o];
    const kerf_poison poison = bench->finite_poison ? kerf_poison_finite(operand->dtype, &bench->rng)
                                                    : kerf_poison_of(operand->dtype, &bench->rng);
    *seat = seat_in(&bench->out[o], extent, alignment_of(operand), place, poison);
    if (extent->density == KERF_SPARSE) {
        kerf_guarded_forget(&bench->out[o]);
        kerf_poison_elements(&seat->poison, operand, extent, seat->zero);
        seat->resident_pages = kerf_guarded_resident_pages(seat->begin, extent->span_bytes);
    } else {
        kerf_poison_fill(&seat->poison, seat->first, (size_t)(seat->last - seat->first));
    }
}

static void seat_extra(kerf_bench *bench, int e, size_t bytes, kerf_place place) {
    const kerf_extent extent = {.span_bytes = bytes};
    const size_t alignment = bench->memory.alignment ? bench->memory.alignment : 1;
    kerf_seat *const seat = &bench->extra_seat[e];
    kerf_guarded_writable(&bench->extra[e]);
    *seat = seat_in(&bench->extra[e], &extent, alignment, place, kerf_poison_untyped(&bench->rng));
    /* Each part from the pattern's beginning: the memory need not hold a whole number of patterns. */
    kerf_poison_fill(&seat->poison, seat->first, (size_t)(seat->begin - seat->first));
    kerf_poison_fill(&seat->poison, seat->begin, bytes);
    kerf_poison_fill(&seat->poison, seat->end, (size_t)(seat->last - seat->end));
}

static void add_window(kerf_slot *slot, const char *name, int kind, int output, const kerf_seat *seat) {
    slot->window[slot->n_windows++] = (kerf_window){
        .name = name, .kind = kind, .output = output, .begin = (uintptr_t)seat->begin, .end = (uintptr_t)seat->end};
}

static void seat_all(kerf_bench *bench, kerf_place place) {
    static const char *const extra_names[KERF_N_EXTRAS] = {"the scratch memory", "the packed memory"};
    const kerf_problem *const problem = &bench->job->problem;
    kerf_slot *const slot = bench->slot;
    slot->n_windows = 0;
    for (int i = 0; i < problem->n_in; ++i) {
        seat_input(bench, i, place);
        add_window(slot, problem->in[i]->name, KERF_WINDOW_IN, -1, &bench->in_seat[i]);
    }
    for (int o = 0; o < problem->n_out; ++o) {
        if (!kerf_bench_wants(bench, o))
            continue;
        seat_output(bench, o, place);
        add_window(slot, problem->out[o]->name, KERF_WINDOW_OUT, o, &bench->out_seat[o]);
    }
    const size_t extra_bytes[KERF_N_EXTRAS] = {bench->memory.scratch_bytes, bench->memory.packed_bytes};
    for (int e = 0; e < KERF_N_EXTRAS; ++e) {
        seat_extra(bench, e, extra_bytes[e], place);
        if (extra_bytes[e] > 0)
            add_window(slot, extra_names[e], KERF_WINDOW_SCRATCH, -1, &bench->extra_seat[e]);
    }
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

static kerf_status team_of(kerf_bench *bench, int n, const kerf_team **team, kerf_error *error) {
    for (int i = 0; i < bench->n_teams; ++i) {
        *team = kerf_thread_team_get(bench->team[i]);
        if ((*team)->n == n)
            return KERF_OK;
    }
    if (bench->n_teams == KERF_MAX_TEAMS)
        kerf_thread_team_close(bench->team[--bench->n_teams]);
    KERF_TRY(kerf_thread_team_open(n, &bench->team[bench->n_teams], error));
    *team = kerf_thread_team_get(bench->team[bench->n_teams++]);
    return KERF_OK;
}

/* Addresses that the row gets: of the seats, or of their mirrors on a device with memory of its own. */
typedef struct addresses {
    const void *in[KERF_MAX_OPERANDS];
    const void *constant_in[KERF_MAX_OPERANDS]; /* what prepare may see: the constant operands */
    void *out[KERF_MAX_OPERANDS];
    void *extra[KERF_N_EXTRAS];
} addresses;

static kerf_status address_of(const kerf_device *device, kerf_mirror *mirror, const kerf_seat *seat, void **address,
                              kerf_error *error) {
    *address = seat->zero;
    if (!device->copy_in)
        return KERF_OK;
    KERF_TRY(kerf_mirror_upload(device, mirror, seat, error));
    *address = (unsigned char *)mirror->first + (seat->zero - seat->first);
    return KERF_OK;
}

static kerf_status addresses_of(kerf_bench *bench, addresses *to, kerf_error *error) {
    const kerf_problem *const problem = &bench->job->problem;
    *to = (addresses){0};
    for (int i = 0; i < problem->n_in; ++i) {
        void *address;
        KERF_TRY(address_of(bench->device, &bench->in_mirror[i], &bench->in_seat[i], &address, error));
        to->in[i] = address;
        to->constant_in[i] = problem->in[i]->role == KERF_IN_CONSTANT ? address : NULL;
    }
    for (int o = 0; o < problem->n_out; ++o)
        if (kerf_bench_wants(bench, o))
            KERF_TRY(address_of(bench->device, &bench->out_mirror[o], &bench->out_seat[o], &to->out[o], error));
    for (int e = 0; e < KERF_N_EXTRAS; ++e)
        KERF_TRY(address_of(bench->device, &bench->extra_mirror[e], &bench->extra_seat[e], &to->extra[e], error));
    if (bench->memory.scratch_bytes == 0)
        to->extra[KERF_EXTRA_SCRATCH] = NULL;
    if (bench->memory.packed_bytes == 0)
        to->extra[KERF_EXTRA_PACKED] = NULL;
    return KERF_OK;
}

/* How this thread rounds and whether it flushes subnormal numbers; what arithmetic left behind is not part of it. */
static uint32_t float_control(void) {
#if defined(__x86_64__)
    return _mm_getcsr() & ~(uint32_t)_MM_EXCEPT_MASK;
#elif defined(__aarch64__)
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return (uint32_t)control;
#else
    return 0;
#endif
}

kerf_status kerf_bench_run(kerf_bench *bench, const kerf_pass *pass, kerf_error *error) {
    const kerf_serial_team serial = kerf_serial_team_of(pass->threads);
    const kerf_team *team = pass->kind == KERF_SERIAL_BACKWARDS ? &serial.team : NULL;
    if (pass->kind == KERF_THREADS)
        KERF_TRY(team_of(bench, pass->threads, &team, error));
    bench->finite_poison = pass->kind == KERF_SERIAL_BACKWARDS;
    seat_all(bench, pass->place);
    addresses at;
    KERF_TRY(addresses_of(bench, &at, error));
    kerf_launch launch = {.bytes = sizeof launch,
                          .problem = &bench->job->problem,
                          .config = bench->slot->config,
                          .in = at.constant_in,
                          .out = at.out,
                          .scratch = at.extra[KERF_EXTRA_SCRATCH],
                          .packed = at.extra[KERF_EXTRA_PACKED],
                          .team = team};
    kerf_status status = KERF_OK;
    if (bench->variant->prepare) {
        status = bench->variant->prepare(&launch, at.extra[KERF_EXTRA_PACKED]);
        kerf_guarded_read_only(&bench->extra[KERF_EXTRA_PACKED]);
    }
    launch.in = at.in;
    const uint32_t control = float_control();
    if (status == KERF_OK)
        status = bench->variant->run(&launch);
    if (float_control() != control)
        return kerf_fail(error, KERF_ERROR_DEVICE, "the row changed rounding or flushing of the caller's arithmetic");
    if (status != KERF_OK)
        return kerf_fail(error, KERF_ERROR_DEVICE, "the row itself returned error %d", (int)status);
    return bench->device->synchronise ? bench->device->synchronise(error) : KERF_OK;
}
