/* One to four channels: whole images in frames (few_image.h) and the loops of few_taps.h. The unit of work is an image.
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
    enum { MOST_SLOTS = 64 };
    const kerf_operand *const x = problem->in[KERF_GSG_X], *const grid = problem->in[KERF_GSG_GRID];
    few_plan plan = {.problem = problem, .want = (unsigned)problem->want};
    plan.frame = frame_of(problem->self, x->at.dims[2], x->at.dims[3], x->at.dims[1]);
    if (plan.frame.modes->interpolation == KERF_NEAREST)
        plan.want &= FEW_DX;
    plan.n_images = x->at.dims[0];
    plan.n_samples = grid->at.dims[1] * grid->at.dims[2];
    plan.image_elements = ((size_t)(plan.frame.pixels * plan.frame.lanes) + 63) / 64 * 64;
    plan.slot_elements = plan.image_elements * (size_t) !!(plan.want & FEW_DX) +
                         plan.image_elements * (size_t) !!(plan.want & FEW_DGRID);
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

static void few_run_samples(const few_job *job, int64_t n, few_strip *s) {
    const few_plan *const plan = job->plan;
    const kerf_problem *const problem = plan->problem;
    const kerf_launch *const launch = job->launch;
    const pixels grad = few_pixels(problem->in[KERF_GSG_GRAD], launch->in[KERF_GSG_GRAD], n);
    const kerf_operand *const grid_at = problem->in[KERF_GSG_GRID], *const dgrid_at = problem->out[KERF_GSG_DGRID];
    const pixels grid = pixels_of(&grid_at->at, grid_at->dtype, launch->in[KERF_GSG_GRID], n, 1, 3);
    const pixels dgrid = pixels_of(&dgrid_at->at, dgrid_at->dtype, launch->out[KERF_GSG_DGRID], n, 1, 3);
    kerf_real x[STRIP + KERF_LANES], y[STRIP + KERF_LANES];
    for (int64_t first = 0; first < plan->n_samples; first += s->n) {
        s->n = plan->n_samples - first < STRIP ? plan->n_samples - first : STRIP;
        fetch_pixels(&plan->frame, &grad, first, s->n, s->grad);
        load_points(&grid, first, s->n, x, y);
        find_cells(&plan->frame.axis_x, plan->frame.modes, x, s->n, &s->x_axis);
        find_cells(&plan->frame.axis_y, plan->frame.modes, y, s->n, &s->y_axis);
        if (plan->want)
            few_samples(s);
        if (problem->want & FEW_DGRID)
            store_points(&dgrid, first, s->n, s->slope_x, s->slope_y);
    }
}

static void few_run_image(const few_job *job, int rank, int64_t n) {
    const few_plan *const plan = job->plan;
    const frame *const f = &plan->frame;
    const kerf_problem *const problem = plan->problem;
    const kerf_launch *const launch = job->launch;
    kerf_real *const slot = job->slots + (size_t)rank * plan->slot_elements;
    few_strip s = {.frame = f, .want = plan->want, .x = slot, .dx = slot};
    kerf_split_phase(launch, rank, KERF_SPLIT_PACK);
    if (plan->want & FEW_DX) {
        memset(s.dx, 0, plan->image_elements * sizeof *s.dx);
        s.x += plan->image_elements;
    }
    if (plan->want & FEW_DGRID) {
        const pixels x = few_pixels(problem->in[KERF_GSG_X], launch->in[KERF_GSG_X], n);
        for (int64_t y = frame_top(f); y < f->axis_y.extent + f->margin; ++y)
            frame_fetch_row(f, &x, y, s.x);
    }
    kerf_split_phase(launch, rank, KERF_SPLIT_COMPUTE);
    few_run_samples(job, n, &s);
    kerf_split_phase(launch, rank, KERF_SPLIT_UNPACK);
    if (plan->want & FEW_DX) {
        const pixels dx = few_pixels(problem->out[KERF_GSG_DX], launch->out[KERF_GSG_DX], n);
        const int64_t width = f->axis_x.extent;
        frame_fold(f, s.dx);
        for (int64_t y = 0; y < f->axis_y.extent; ++y)
            store_pixels(f, &dx, y * width, width, frame_at(f, s.dx, y, 0));
    }
    kerf_split_phase(launch, rank, KERF_SPLIT_NONE);
}

static void few_run_images(void *arg, int rank) {
    const few_job *const job = arg;
    int64_t n, end;
    if (rank >= job->n_ranks)
        return;
    kerf_team_share(job->plan->n_images, job->n_ranks, rank, &n, &end);
    for (; n < end; ++n)
        few_run_image(job, rank, n);
}

static kerf_status few_run(const kerf_launch *launch) {
    const few_plan plan = few_plan_of(launch->problem);
    const int n_team = kerf_team_size(launch->team);
    few_job job = {.plan = &plan, .launch = launch, .slots = launch->scratch};
    job.n_ranks = n_team < plan.n_slots ? n_team : (int)plan.n_slots;
    if (job.n_ranks > 0)
        kerf_team_run(launch->team, few_run_images, &job);
    return KERF_OK;
}

#endif
