/* One to four channels: whole images in frames (few_image.h) and the loops of few_taps.h. The unit of work is an image.
 * A single image is cut into parts of its samples, each with a dx of its own, which are added in their order: as many
 * as there are whatever the number of ranks, so that the bits do not depend on it.
 *
 * Cost per sample and tap: with one channel a load of x and a load, an addition and a store of dx, with up to four the
 * same in quads; beside that some 10 instructions for the coordinates. */
#ifndef KERF_GRID_SAMPLER_GRAD_FEW_CHANNELS_H
#define KERF_GRID_SAMPLER_GRAD_FEW_CHANNELS_H

#include "base/checked.h"
#include "kernels/split.h"
#include "kernels/variants/grid_sampler_grad/few_taps.h"

typedef struct few_plan {
    frame frame;
    unsigned want;
    const kerf_problem *problem;
    int64_t n_images, n_samples; /* samples of one image */
    int64_t n_slots;             /* images that can be worked on at once */
    int64_t n_parts;             /* of the samples of an image */
    size_t image_elements, slot_elements;
} few_plan;

typedef struct few_job {
    const few_plan *plan;
    const kerf_launch *launch;
    int n_ranks;
    kerf_real *slots;
} few_job;

/* Places are formed in the working type and kept as 32-bit integers: both hold them. */
#define FEW_MOST_PIXELS ((int64_t)1 << 24)

static bool few_channels(const kerf_problem *problem) {
    const int64_t *const dims = problem->in[KERF_GSG_X]->at.dims;
    const int64_t n_samples = problem->in[KERF_GSG_GRID]->at.dims[1] * problem->in[KERF_GSG_GRID]->at.dims[2];
    if (dims[1] < 1 || dims[1] > 4 || dims[2] > FEW_MOST_PIXELS || dims[3] > FEW_MOST_PIXELS)
        return false;
    const frame f = frame_of(problem->self, dims[2], dims[3], dims[1]);
    return f.pixels < FEW_MOST_PIXELS && dims[2] * dims[3] / 64 <= n_samples;
}

static few_plan few_plan_of(const kerf_problem *problem) {
    enum { MOST_SLOTS = 64, FEWEST_SAMPLES_OF_PARTS = 4096 };
    const kerf_operand *const x = problem->in[KERF_GSG_X], *const grid = problem->in[KERF_GSG_GRID];
    few_plan plan = {.problem = problem, .want = (unsigned)problem->want};
    plan.frame = frame_of(problem->self, x->at.dims[2], x->at.dims[3], x->at.dims[1]);
    if (plan.frame.modes->interpolation == KERF_NEAREST)
        plan.want &= FEW_DX;
    plan.n_images = x->at.dims[0];
    plan.n_samples = grid->at.dims[1] * grid->at.dims[2];
    /* Half a page beyond whole pages: a load from one image does not wait for a store to the same place of the other.
     */
    const size_t page = 4096 / sizeof(kerf_real), elements = (size_t)(plan.frame.pixels * plan.frame.channels);
    plan.image_elements = (elements + page / 2 - 1) / page * page + page / 2;
    /* A second dx takes the room that a packed grad would take. */
    const bool pays = plan.n_images == 1 && plan.n_samples >= FEWEST_SAMPLES_OF_PARTS;
    plan.n_parts = pays && plan.n_samples >= x->at.dims[2] * x->at.dims[3] ? 2 : 1;
    plan.slot_elements =
        plan.image_elements * ((plan.want & FEW_DX ? (size_t)plan.n_parts : 0) + (plan.want & FEW_DGRID ? 1 : 0));
    plan.n_slots = plan.n_images < MOST_SLOTS ? plan.n_images : MOST_SLOTS;
    return plan;
}

static kerf_memory few_memory(const kerf_problem *problem) {
    const few_plan plan = few_plan_of(problem);
    size_t elements, bytes;
    if (!kerf_mul_size(plan.slot_elements, (size_t)plan.n_slots, &elements) ||
        !kerf_mul_size(elements, sizeof(kerf_real), &bytes))
        bytes = SIZE_MAX;
    return (kerf_memory){.scratch_bytes = bytes, .alignment = 64};
}

static pixels few_pixels(const kerf_operand *operand, const void *data, int64_t n) {
    return pixels_of(&operand->at, operand->dtype, data, n, 2, 1);
}

/* The images of a slot: a dx for each part, then x. */
static kerf_real *few_dx(const few_plan *plan, kerf_real *slot, int64_t part) {
    return slot + (size_t)part * plan->image_elements;
}
static kerf_real *few_x(const few_plan *plan, kerf_real *slot) {
    return few_dx(plan, slot, plan->want & FEW_DX ? plan->n_parts : 0);
}

/* Three steps of an image; each does share `share` of `n_shares`. */

static void few_pack(const few_job *job, int64_t n, kerf_real *slot, int n_shares, int share) {
    const few_plan *const plan = job->plan;
    const frame *const f = &plan->frame;
    int64_t i, end;
    if (plan->want & FEW_DX) {
        kerf_team_share((int64_t)plan->image_elements * plan->n_parts, n_shares, share, &i, &end);
        memset(slot + i, 0, (size_t)(end - i) * sizeof *slot);
    }
    if (plan->want & FEW_DGRID) {
        const pixels x = few_pixels(plan->problem->in[KERF_GSG_X], job->launch->in[KERF_GSG_X], n);
        kerf_team_share(f->axis_y.extent + f->margin - frame_top(f), n_shares, share, &i, &end);
        for (; i < end; ++i)
            frame_fetch_row(f, &x, frame_top(f) + i, few_x(plan, slot));
    }
}

static void few_compute(const few_job *job, int64_t n, kerf_real *slot, int64_t part) {
    const few_plan *const plan = job->plan;
    const kerf_problem *const problem = plan->problem;
    const kerf_launch *const launch = job->launch;
    const pixels grad = few_pixels(problem->in[KERF_GSG_GRAD], launch->in[KERF_GSG_GRAD], n);
    const kerf_operand *const grid_at = problem->in[KERF_GSG_GRID], *const dgrid_at = problem->out[KERF_GSG_DGRID];
    const pixels grid = pixels_of(&grid_at->at, grid_at->dtype, launch->in[KERF_GSG_GRID], n, 1, 3);
    const pixels dgrid = pixels_of(&dgrid_at->at, dgrid_at->dtype, launch->out[KERF_GSG_DGRID], n, 1, 3);
    few_strip s = {.frame = &plan->frame, .want = plan->want, .x = few_x(plan, slot), .dx = few_dx(plan, slot, part)};
    kerf_real x[STRIP + KERF_LANES], y[STRIP + KERF_LANES];
    int64_t first, end;
    kerf_team_share(plan->n_samples, (int)plan->n_parts, (int)part, &first, &end);
    for (; first < end; first += s.n) {
        s.n = end - first < STRIP ? end - first : STRIP;
        fetch_strip(&plan->frame, &grad, first, s.n, s.grad);
        load_points(&grid, first, s.n, x, y);
        find_cells_alone(&plan->frame.axis_x, plan->frame.modes, x, s.n, &s.x_axis);
        find_cells_alone(&plan->frame.axis_y, plan->frame.modes, y, s.n, &s.y_axis);
        if (plan->want)
            few_samples(&s);
        if (problem->want & FEW_DGRID)
            store_points(&dgrid, first, s.n, s.slope_x, s.slope_y);
    }
    if (plan->want & FEW_DX)
        frame_fold(&plan->frame, s.dx);
}

static void few_unpack(const few_job *job, int64_t n, kerf_real *slot, int n_shares, int share) {
    const few_plan *const plan = job->plan;
    const frame *const f = &plan->frame;
    const int64_t width = f->axis_x.extent;
    int64_t y, end;
    if (!(plan->want & FEW_DX))
        return;
    const pixels dx = few_pixels(plan->problem->out[KERF_GSG_DX], job->launch->out[KERF_GSG_DX], n);
    kerf_team_share(f->axis_y.extent, n_shares, share, &y, &end);
    for (; y < end; ++y) {
        kerf_real *const row = frame_at(f, slot, y, 0);
        for (int64_t part = 1; part < plan->n_parts; ++part)
            frame_add(row, few_dx(plan, row, part), width * f->channels);
        store_pixels(f, &dx, y * width, width, row);
    }
}

static void few_run_images(void *arg, int rank) {
    const few_job *const job = arg;
    kerf_real *const slot = job->slots + (size_t)rank * job->plan->slot_elements;
    int64_t n, end;
    if (rank >= job->n_ranks)
        return;
    kerf_team_share(job->plan->n_images, job->n_ranks, rank, &n, &end);
    for (; n < end; ++n) {
        kerf_split_phase(job->launch, rank, KERF_SPLIT_PACK);
        few_pack(job, n, slot, 1, 0);
        kerf_split_phase(job->launch, rank, KERF_SPLIT_COMPUTE);
        for (int64_t part = 0; part < job->plan->n_parts; ++part)
            few_compute(job, n, slot, part);
        kerf_split_phase(job->launch, rank, KERF_SPLIT_UNPACK);
        few_unpack(job, n, slot, 1, 0);
        kerf_split_phase(job->launch, rank, KERF_SPLIT_NONE);
    }
}

/* The steps of a single image, shared by all ranks. */

static void few_pack_shared(void *arg, int rank) {
    const few_job *const job = arg;
    kerf_split_phase(job->launch, rank, KERF_SPLIT_PACK);
    few_pack(job, 0, job->slots, job->n_ranks, rank);
    kerf_split_phase(job->launch, rank, KERF_SPLIT_NONE);
}

static void few_compute_shared(void *arg, int rank) {
    const few_job *const job = arg;
    int64_t part, end;
    kerf_team_share(job->plan->n_parts, job->n_ranks, rank, &part, &end);
    kerf_split_phase(job->launch, rank, KERF_SPLIT_COMPUTE);
    for (; part < end; ++part)
        few_compute(job, 0, job->slots, part);
    kerf_split_phase(job->launch, rank, KERF_SPLIT_NONE);
}

static void few_unpack_shared(void *arg, int rank) {
    const few_job *const job = arg;
    kerf_split_phase(job->launch, rank, KERF_SPLIT_UNPACK);
    few_unpack(job, 0, job->slots, job->n_ranks, rank);
    kerf_split_phase(job->launch, rank, KERF_SPLIT_NONE);
}

static kerf_status few_run(const kerf_launch *launch) {
    const few_plan plan = few_plan_of(launch->problem);
    const int n_team = kerf_team_size(launch->team);
    few_job job = {.plan = &plan, .launch = launch, .n_ranks = n_team, .slots = launch->scratch};
    if (plan.n_images == 1) {
        kerf_team_run(launch->team, few_pack_shared, &job);
        kerf_team_run(launch->team, few_compute_shared, &job);
        kerf_team_run(launch->team, few_unpack_shared, &job);
    } else if (plan.n_images > 0) {
        job.n_ranks = n_team < plan.n_slots ? n_team : (int)plan.n_slots;
        kerf_team_run(launch->team, few_run_images, &job);
    }
    return KERF_OK;
}

#endif
