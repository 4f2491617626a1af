/* The planted kernels, compiled for one element class. One plain body; each fault is the line that asks for it. Types
 * that are narrower than the working type are refused: they would hide the faults behind their rounding. */
#include "kernels/grid_sampler_grad/grid_sampler_grad.h"
#include "tests/planted/axis.h"
#include "tests/planted/planted.h"

typedef struct call {
    const kerf_launch *launch;
    planted_fault fault;
    axis_faults axis_faults;
    kerf_grid_sampler_modes modes;
    kerf_axis axis_x, axis_y;
    const kerf_real *grad, *x, *grid;
    kerf_real *dx, *dgrid;
    kerf_strided grad_at, x_at, grid_at, dx_at, dgrid_at;
    int64_t n_images, n_channels, height, width; /* of the samples */
} call;

static bool find_both(const call *c, int64_t n, int64_t oy, int64_t ox, kerf_axis_taps *x, kerf_axis_taps *y) {
    const bool swapped = c->fault == PLANTED_swapped;
    return find(&c->axis_faults, &c->modes, &c->axis_x, c->grid[at(&c->grid_at, n, oy, ox, swapped)], x) &&
           find(&c->axis_faults, &c->modes, &c->axis_y, c->grid[at(&c->grid_at, n, oy, ox, !swapped)], y);
}

/* ---- dx -----------------------------------------------------------------------------------------------------------
 */

static void scatter(const call *c, kerf_real *sums, const kerf_strided *sums_at, int64_t n, int64_t ch, int64_t begin,
                    int64_t end) {
    for (int64_t sample = begin; sample < end; ++sample) {
        kerf_axis_taps x, y;
        const int64_t oy = sample / c->width, ox = sample % c->width;
        if (!find_both(c, n, oy, ox, &x, &y) || (c->fault == PLANTED_lost_updates && sample % 100 == 99))
            continue;
        const kerf_real grad = c->grad[at(&c->grad_at, n, ch, oy, ox)];
        for (int j = 0; j < y.n; ++j)
            for (int i = 0; i < x.n; ++i) {
                if (!kerf_axis_holds(&c->axis_x, x.index[i]) || !kerf_axis_holds(&c->axis_y, y.index[j]))
                    continue;
                kerf_real *const sum = &sums[at(sums_at, n, ch, y.index[j], x.index[i])];
                const kerf_real term = y.weight[j] * x.weight[i] * grad;
                *sum = c->fault == PLANTED_overwrite ? term : *sum + term;
            }
    }
}

/* Sums a plane in the scratch memory, one share of the samples after the other, and adds each to dx. */
static void scatter_by_scratch(const call *c, int64_t n, int64_t ch, int n_shares) {
    kerf_strided plane = {.rank = 4, .strides = {0, 0, c->axis_x.extent, 1}};
    kerf_real *const sums = c->launch->scratch;
    for (int share = 0; share < n_shares; ++share) {
        int64_t begin, end;
        kerf_team_share(c->height * c->width, n_shares, share, &begin, &end);
        if (c->fault == PLANTED_ranks_matter)
            memset(sums, 0, (size_t)(c->axis_y.extent * c->axis_x.extent) * sizeof *sums);
        scatter(c, sums, &plane, n, ch, begin, end);
        for (int64_t iy = 0; iy < c->axis_y.extent; ++iy)
            for (int64_t ix = 0; ix < c->axis_x.extent; ++ix)
                c->dx[at(&c->dx_at, n, ch, iy, ix)] += sums[at(&plane, n, ch, iy, ix)];
    }
}

static void dx_plane(const call *c, int64_t n, int64_t ch) {
    for (int64_t iy = 0; iy < c->axis_y.extent && c->fault != PLANTED_not_zeroed; ++iy) {
        for (int64_t ix = 0; ix < c->axis_x.extent; ++ix)
            c->dx[at(&c->dx_at, n, ch, iy, ix)] = 0;
        if (c->fault == PLANTED_gap_written && iy + 1 < c->axis_y.extent && c->dx_at.strides[3] == 1 &&
            c->dx_at.strides[2] > c->axis_x.extent)
            c->dx[at(&c->dx_at, n, ch, iy, c->axis_x.extent)] = 0;
    }
    if (c->fault == PLANTED_last_channel && ch == c->n_channels - 1)
        return;
    if (c->fault == PLANTED_ranks_matter)
        scatter_by_scratch(c, n, ch, kerf_team_size(c->launch->team));
    else if (c->fault == PLANTED_dirty_scratch)
        scatter_by_scratch(c, n, ch, 1);
    else
        scatter(c, c->dx, &c->dx_at, n, ch, 0, c->height * c->width);
}

static void dx_planes(void *arg, int rank) {
    const call *const c = arg;
    int64_t plane, end;
    kerf_team_share(c->n_images * c->n_channels, kerf_team_size(c->launch->team), rank, &plane, &end);
    for (; plane < end; ++plane)
        dx_plane(c, plane / c->n_channels, plane % c->n_channels);
}

/* ---- dgrid --------------------------------------------------------------------------------------------------------
 */

static void dgrid_sample(const call *c, int64_t n, int64_t oy, int64_t ox, kerf_real result[2]) {
    kerf_axis_taps x, y;
    kerf_real sum_x = 0, sum_y = 0;
    if (c->modes.interpolation == KERF_NEAREST || !find_both(c, n, oy, ox, &x, &y))
        return;
    for (int64_t ch = 0; ch < c->n_channels - (c->fault == PLANTED_last_channel); ++ch) {
        const kerf_real grad = c->grad[at(&c->grad_at, n, ch, oy, ox)];
        for (int j = 0; j < y.n; ++j)
            for (int i = 0; i < x.n; ++i) {
                const kerf_real product = grad * c->x[at(&c->x_at, n, ch, y.index[j], x.index[i])];
                sum_x += product * (y.weight[j] * x.slope[i]);
                sum_y += product * (y.slope[j] * x.weight[i]);
            }
    }
    result[0] = x.factor * sum_x;
    result[1] = y.factor * sum_y;
}

static void dgrid_samples(void *arg, int rank) {
    const call *const c = arg;
    int64_t sample, end;
    kerf_team_share(c->n_images * c->height * c->width, kerf_team_size(c->launch->team), rank, &sample, &end);
    for (; sample < end; ++sample) {
        const int64_t n = sample / (c->height * c->width), oy = sample / c->width % c->height, ox = sample % c->width;
        kerf_axis_taps unused;
        kerf_real result[2] = {0, 0};
        if (c->fault == PLANTED_stale_dgrid && !find_both(c, n, oy, ox, &unused, &unused))
            continue;
        dgrid_sample(c, n, oy, ox, result);
        c->dgrid[at(&c->dgrid_at, n, oy, ox, 0)] = result[0];
        c->dgrid[at(&c->dgrid_at, n, oy, ox, 1)] = result[1];
    }
}

/* ---- kernels ------------------------------------------------------------------------------------------------------
 */

static call call_of(const kerf_launch *launch, planted_fault fault) {
    const kerf_problem *const problem = launch->problem;
    call c = {.launch = launch, .fault = fault, .modes = *(const kerf_grid_sampler_modes *)problem->self};
    if (fault == PLANTED_corners_flipped)
        c.modes.corners = c.modes.corners == KERF_CORNERS_ALIGNED ? KERF_CORNERS_OUTSIDE : KERF_CORNERS_ALIGNED;
    c.axis_faults = (axis_faults){.edge_slope = fault == PLANTED_edge_slope,
                                  .mirror_sign = fault == PLANTED_mirror_sign,
                                  .missing_clip = fault == PLANTED_missing_clip,
                                  .truncation = fault == PLANTED_truncation,
                                  .half_up = fault == PLANTED_half_up,
                                  .neighbour = fault == PLANTED_neighbour,
                                  .nan_kept = fault == PLANTED_nan_kept,
                                  .cubic_clamped = fault == PLANTED_cubic_clamped};
    c.grad = launch->in[KERF_GSG_GRAD];
    c.x = launch->in[KERF_GSG_X];
    c.grid = launch->in[KERF_GSG_GRID];
    c.dx = launch->out[KERF_GSG_DX];
    c.dgrid = launch->out[KERF_GSG_DGRID];
    c.grad_at = problem->in[KERF_GSG_GRAD]->at;
    c.x_at = problem->in[KERF_GSG_X]->at;
    c.grid_at = problem->in[KERF_GSG_GRID]->at;
    c.dx_at = problem->out[KERF_GSG_DX]->at;
    c.dgrid_at = problem->out[KERF_GSG_DGRID]->at;
    c.axis_y = kerf_axis_of(c.x_at.dims[2], c.modes.corners);
    c.axis_x = kerf_axis_of(c.x_at.dims[3], c.modes.corners);
    c.n_images = c.grad_at.dims[0];
    c.n_channels = c.grad_at.dims[1];
    c.height = c.grad_at.dims[2];
    c.width = c.grad_at.dims[3];
    if (fault == PLANTED_ignored_strides)
        c.x_at = packed_if_inside(&c.x_at);
    return c;
}

static kerf_status run(const kerf_launch *launch, planted_fault fault) {
    call c = call_of(launch, fault);
    if (fault == PLANTED_all_zero || fault == PLANTED_constant || fault == PLANTED_copy) {
        const bool copies = fault == PLANTED_copy;
        if (c.dx)
            write_all(c.dx, &c.dx_at, copies ? c.x : NULL, &c.x_at, fault == PLANTED_constant);
        if (c.dgrid)
            write_all(c.dgrid, &c.dgrid_at, copies ? c.grid : NULL, &c.grid_at, fault == PLANTED_constant);
        return KERF_OK;
    }
    if (fault == PLANTED_input_written)
        clamp_in_place((kerf_real *)c.grid, &c.grid_at);
    /* The two that use scratch have only one, so they run on one rank. */
    kerf_launch alone = *launch;
    if (fault == PLANTED_dirty_scratch)
        alone.team = NULL;
    c.launch = &alone;
    if (c.dx && fault == PLANTED_ranks_matter)
        for (int64_t plane = 0; plane < c.n_images * c.n_channels; ++plane)
            dx_plane(&c, plane / c.n_channels, plane % c.n_channels);
    else if (c.dx)
        kerf_team_run(alone.team, dx_planes, &c);
    if (c.dgrid)
        kerf_team_run(alone.team, dgrid_samples, &c);
    return KERF_OK;
}

static kerf_memory one_plane(const kerf_problem *problem, const kerf_config *config) {
    (void)config;
    const int64_t *const dims = problem->out[KERF_GSG_DX]->at.dims;
    if (!(problem->want >> KERF_GSG_DX & 1))
        return (kerf_memory){0};
    return (kerf_memory){.scratch_bytes = (size_t)(dims[2] * dims[3]) * sizeof(kerf_real),
                         .alignment = sizeof(kerf_real)};
}

#define SYMBOL_(name, class) kerf_planted_##name##_##class
#define SYMBOL(name, class)  SYMBOL_(name, class)
#define PLANTED(name, what, ...)                                                                                       \
    static kerf_status run_##name(const kerf_launch *launch) {                                                         \
        return run(launch, PLANTED_##name);                                                                            \
    }                                                                                                                  \
    const kerf_variant SYMBOL(name, KERF_CLASS) = {.bytes = sizeof(kerf_variant),                                      \
                                                   .summary = what,                                                    \
                                                   .refuses = refuses_narrow,                                          \
                                                   .memory = one_plane,                                                \
                                                   .run = run_##name};
#include "tests/planted/faults.def"
#undef PLANTED
