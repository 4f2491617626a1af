/* Vectors over channels. The unit of work is a block of channels of one image: x and grad are transposed so that the
 * channels of a pixel lie side by side, dx is summed in the same layout and transposed back. An operand that already
 * lies so (channels-last, of the working type, whole vectors) is used in place.
 *
 * Cells and weights of a strip of samples are computed in vectors over the samples, grad is transposed a chunk at a
 * time, and x and dx as the samples come to their rows and leave them (window.h). The block is chosen from the problem
 * alone: ranks share the blocks out and no element is written by two. With several blocks each leaves its part of dgrid
 * in the scratch, and these are added in the order of the blocks, so the bits do not depend on the number of ranks. One
 * image that is used in place is halved by its samples where that costs little. Cost per sample, block and tap: a load
 * of x, a load and a store of dx, two multiply-adds per vector of channels. */
#include "kernels/variants/grid_sampler_grad/few_channels.h"
#include "kernels/variants/grid_sampler_grad/unit.h"

static void find_spans(void *arg, int rank) {
    const grad_job *const job = arg;
    const grad_plan *const plan = job->plan;
    int64_t number, end;
    kerf_team_share(plan->n_images * plan->n_spans, kerf_team_size(job->launch->team), rank, &number, &end);
    for (; number < end; ++number) {
        const int64_t image_number = number / plan->n_spans, first = number % plan->n_spans * STRIP;
        const int64_t n = plan->n_samples - first < STRIP ? plan->n_samples - first : STRIP;
        const pixels grid =
            pixels_of(&plan->grid->at, plan->grid->dtype, job->launch->in[KERF_GSG_GRID], image_number, 1, 3);
        kerf_real x[STRIP + KERF_LANES], y[STRIP + KERF_LANES];
        load_points(&grid, first, n, x, y);
        job->spans[number] = touched_rows(&job->axis_y, plan->modes, y, n);
    }
}

/* One image, whose samples two ranks share. In order to write dx where it lies, the second half sums apart while its
 * samples still touch rows that the first half touches, which are few where the samples pass over the image in order.
 */
static bool halve(grad_job *job) {
    const grad_plan *const plan = job->plan;
    const int64_t n_first = plan->n_spans / 2;
    row_span *const second = job->spans + n_first;
    int64_t n_apart = 0;
    if (!plan->halves || n_first == 0)
        return false;
    settle_spans(job->spans, n_first);
    settle_spans(second, plan->n_spans - n_first);
    job->border = job->spans[n_first - 1].end;
    while (n_apart < plan->n_spans - n_first && second[n_apart].first < job->border)
        ++n_apart;
    job->apart_end = (n_first + n_apart) * STRIP < plan->n_samples ? (n_first + n_apart) * STRIP : plan->n_samples;
    job->apart_rows = (row_span){0, 0};
    if (n_apart > 0)
        job->apart_rows = (row_span){second[0].first, second[n_apart - 1].end};
    return !(plan->want & WANT_DX) || job->apart_rows.end - job->apart_rows.first <= apart_rows(plan);
}

static void run_half(const grad_job *job, int rank, int64_t number, kerf_real *room) {
    const grad_plan *const plan = job->plan;
    unit u = unit_of(plan, 0);
    if (number == 0) {
        u.end_sample = plan->n_spans / 2 * STRIP;
        u.rows.end = job->border;
        run_unit(job, rank, &u, room);
        return;
    }
    u.first_sample = job->apart_end;
    u.rows.first = job->border;
    unit apart = u;
    apart.first_sample = plan->n_spans / 2 * STRIP;
    apart.end_sample = job->apart_end;
    apart.rows = job->apart_rows;
    apart.apart = true;
    run_unit(job, rank, &apart, room);
    run_unit(job, rank, &u, room);
}

/* What was summed apart is added to dx. */
static void add_apart(void *arg, int rank) {
    const grad_job *const job = arg;
    const grad_plan *const plan = job->plan;
    const unit u = unit_of(plan, 0);
    const image dx = image_in_place(plan->dx, job->launch->out[KERF_GSG_DX], &u);
    const image from = image_packed(job->apart, plan->dx->at.dims, plan->dx->at.strides, u.width, apart_rows(plan));
    const row_span rows = job->apart_rows;
    int64_t number, end;
    kerf_team_share(rows.end - rows.first, kerf_team_size(job->launch->team), rank, &number, &end);
    kerf_split_phase(job->launch, rank, KERF_SPLIT_UNPACK);
    for (; number < end; ++number)
        for (int64_t x = 0; x < plan->dx->at.dims[3]; ++x) {
            kerf_real *const to = pixel_at(&dx, rows.first + number, x);
            const kerf_real *const part = pixel_at(&from, rows.first + number, x);
            for (int64_t c = 0; c < u.width; c += KERF_LANES)
                kerf_vec_store(to + c, kerf_vec_load(to + c) + kerf_vec_load(part + c));
        }
    kerf_split_phase(job->launch, rank, KERF_SPLIT_NONE);
}

static void run_units(void *arg, int rank) {
    const grad_job *const job = arg;
    const grad_plan *const plan = job->plan;
    int64_t number, end;
    if (rank >= job->n_ranks)
        return;
    kerf_real *const room = job->slots + (size_t)rank * plan->slot_elements;
    kerf_team_share(job->halved ? 2 : plan->n_images * plan->n_blocks, job->n_ranks, rank, &number, &end);
    for (; number < end; ++number) {
        const unit u = unit_of(plan, number);
        if (job->halved)
            run_half(job, rank, number, room);
        else
            run_unit(job, rank, &u, room);
    }
}

/* dgrid from its parts, in the order of the blocks; without parts dgrid is 0: nearest, or no channels. */
static void add_parts(void *arg, int rank) {
    const grad_job *const job = arg;
    const grad_plan *const plan = job->plan;
    const int64_t n_strips = (plan->n_samples + STRIP - 1) / STRIP;
    int64_t number, end;
    kerf_team_share(plan->grid->at.dims[0] * n_strips, kerf_team_size(job->launch->team), rank, &number, &end);
    kerf_split_phase(job->launch, rank, KERF_SPLIT_UNPACK);
    for (; number < end; ++number) {
        const int64_t n = number / n_strips, first = number % n_strips * STRIP;
        const int64_t count = plan->n_samples - first < STRIP ? plan->n_samples - first : STRIP;
        const pixels to = pixels_of(&plan->dgrid->at, plan->dgrid->dtype, job->launch->out[KERF_GSG_DGRID], n, 1, 3);
        kerf_real x[STRIP + KERF_LANES] = {0}, y[STRIP + KERF_LANES] = {0};
        for (int64_t block = 0; block < plan->n_blocks && plan->parts; ++block) {
            const kerf_real *const part = part_at(job, n, block) + first;
            for (int64_t i = 0; i < count; ++i) {
                x[i] += part[i];
                y[i] += part[plan->n_samples + i];
            }
        }
        store_points(&to, first, count, x, y);
    }
    kerf_split_phase(job->launch, rank, KERF_SPLIT_NONE);
}

/* A few samples of a huge image: copying it whole would cost far more memory and time than the samples do. */
static bool refuses(const kerf_problem *problem, const kerf_config *config, kerf_text *why) {
    const bool may_stay = channels_in_place(problem->in[KERF_GSG_X]) || channels_in_place(problem->in[KERF_GSG_GRAD]) ||
                          channels_in_place(problem->out[KERF_GSG_DX]);
    if (kerf_config_get(config, "packing", 0) != 0 && (few_channels(problem) || !may_stay)) {
        kerf_text_printf(why, "packing=packed is what auto does here");
        return true;
    }
    if (few_channels(problem))
        return false;
    const grad_plan plan = plan_of(problem, config);
    const size_t bytes = scratch_bytes(&plan);
    const double n_pixels = (double)plan.x_at.dims[2] * (double)plan.x_at.dims[3];
    if (bytes <= MOST_SPARSE_BYTES || n_pixels <= PIXELS_PER_SAMPLE * (double)plan.n_samples)
        return false;
    kerf_text_printf(why, "would pack images of %.0f pixels, %zu bytes of scratch, for %lld samples each", n_pixels,
                     bytes, (long long)plan.n_samples);
    return true;
}

static kerf_memory memory(const kerf_problem *problem, const kerf_config *config) {
    if (few_channels(problem))
        return few_memory(problem);
    const grad_plan plan = plan_of(problem, config);
    return (kerf_memory){.scratch_bytes = scratch_bytes(&plan), .alignment = 64};
}

static kerf_status run(const kerf_launch *launch) {
    if (few_channels(launch->problem))
        return few_run(launch);
    const grad_plan plan = plan_of(launch->problem, launch->config);
    grad_job job = {.plan = &plan, .launch = launch, .slots = launch->scratch};
    job.axis_y = kerf_axis_of(plan.x->at.dims[2], plan.modes->corners);
    job.axis_x = kerf_axis_of(plan.x->at.dims[3], plan.modes->corners);
    const int n_team = kerf_team_size(launch->team);
    job.n_ranks = n_team < plan.n_slots ? n_team : (int)plan.n_slots;
    job.parts = job.slots + (size_t)plan.n_slots * plan.slot_elements;
    job.apart = job.parts + parts_elements(&plan);
    job.spans = (row_span *)(void *)(job.apart + plan.apart_elements);
    if (plan.n_spans > 0 && plan.want) {
        kerf_team_run(launch->team, find_spans, &job);
        job.halved = halve(&job);
        for (int64_t n = 0; n < plan.n_images && !job.halved; ++n)
            settle_spans(job.spans + n * plan.n_spans, plan.n_spans);
    }
    if (plan.want && job.n_ranks > 0)
        kerf_team_run(launch->team, run_units, &job);
    if (job.halved && plan.want & WANT_DX)
        kerf_team_run(launch->team, add_apart, &job);
    const bool no_units = job.n_ranks == 0 || !(plan.want & WANT_DGRID);
    if (launch->problem->want & WANT_DGRID && (plan.parts || no_units))
        kerf_team_run(launch->team, add_parts, &job);
    return KERF_OK;
}

static const kerf_parameter *const parameters[] = {
    KERF_PARAMETER("channel_block", 0, 0, 16, 32, 64, 128, 256), /* channels of a unit of work; 0: from the problem */
    KERF_CHOICE("rows", "as_needed", "all"),  /* of an image that are at hand: a window over them (window.h), or all */
    KERF_CHOICE("packing", "auto", "packed"), /* also of operands that could be used where they lie */
    NULL,
};
static const char *const constraints[] = {
    "channel_block == 0 || channel_block < 2 * C", /* what is beyond it means the same: all channels */
    NULL,
};
static const kerf_space space = {.bytes = sizeof space, .parameters = parameters, .constraints = constraints};

const kerf_variant KERF_SYMBOL = {
    .bytes = sizeof(kerf_variant),
    .summary = "channels-last blocks, vectors over channels",
    .refuses = refuses,
    .space = &space,
    .memory = memory,
    .run = run,
};
