/* The planted kernels of the forward, compiled for one element class. One plain body; each fault is the line that asks
 * for it. Types that are narrower than the working type are refused: they would hide the faults behind their rounding.
 */
#include "kernels/grid_sampler/grid_sampler.h"
#include "tests/planted/axis.h"
#include "tests/planted/planted.h"

typedef struct call {
    const kerf_launch *launch;
    planted_forward_fault fault;
    axis_faults axis_faults;
    kerf_grid_sampler_modes modes;
    kerf_axis axis_x, axis_y;
    const kerf_real *x, *grid;
    kerf_real *y;
    kerf_strided x_at, grid_at, y_at;
} call;

static bool is(const call *c, planted_forward_fault fault) {
    return c->fault == fault;
}

static kerf_real weight_of(const call *c, const kerf_axis_taps *x, const kerf_axis_taps *y, int j, int i) {
    const bool swaps = is(c, PLANTED_FORWARD_corner_swap) && x->n == 2 && y->n == 2;
    const kerf_real weight = swaps ? y->weight[i] * x->weight[j] : y->weight[j] * x->weight[i];
    return is(c, PLANTED_FORWARD_narrow_weights) ? (kerf_real)kerf_f16_to_f32(kerf_f16_from_f32((float)weight))
                                                 : weight;
}

static kerf_real sum_of(const call *c, const kerf_axis_taps *x, const kerf_axis_taps *y, int64_t n, int64_t ch) {
    const int n_taps = x->n * y->n;
    const bool backwards = is(c, PLANTED_FORWARD_ranks_matter) && kerf_team_size(c->launch->team) > 1;
    kerf_real sum = 0;
    for (int k = 0; k < n_taps; ++k) {
        const int tap = backwards ? n_taps - 1 - k : k, j = tap / x->n, i = tap % x->n;
        sum += weight_of(c, x, y, j, i) * c->x[at(&c->x_at, n, ch, y->index[j], x->index[i])];
    }
    return sum;
}

/* What a tap outside would add if it were not skipped but weighed 0. */
static kerf_real zero_times_edge(const call *c, const kerf_axis_taps *x, const kerf_axis_taps *y, int64_t n,
                                 int64_t ch) {
    const int n_whole = c->modes.interpolation == KERF_NEAREST ? 1 : c->modes.interpolation == KERF_BILINEAR ? 2 : 4;
    return x->n < n_whole || y->n < n_whole ? 0 * c->x[at(&c->x_at, n, ch, 0, 0)] : 0;
}

static void sample(const call *c, int64_t n, int64_t ch, int64_t oy, int64_t ox) {
    const bool swapped = is(c, PLANTED_FORWARD_swapped);
    const int64_t from = is(c, PLANTED_FORWARD_last_channel) && ch > 0 && ch == c->x_at.dims[1] - 1 ? ch - 1 : ch;
    kerf_axis_taps x = {0}, y = {0};
    const bool kept = find(&c->axis_faults, &c->modes, &c->axis_x, c->grid[at(&c->grid_at, n, oy, ox, swapped)], &x) &&
                      find(&c->axis_faults, &c->modes, &c->axis_y, c->grid[at(&c->grid_at, n, oy, ox, !swapped)], &y);
    if (!kept && is(c, PLANTED_FORWARD_stale))
        return;
    kerf_real sum = kept ? sum_of(c, &x, &y, n, from) : 0;
    if (is(c, PLANTED_FORWARD_zero_times))
        sum += zero_times_edge(c, &x, &y, n, from);
    c->y[at(&c->y_at, n, ch, oy, ox)] = sum;
}

static void sample_rows(void *arg, int rank) {
    const call *const c = arg;
    const int64_t *const dims = c->y_at.dims;
    int64_t row, end;
    kerf_team_share(dims[0] * dims[1] * dims[2], kerf_team_size(c->launch->team), rank, &row, &end);
    for (; row < end; ++row) {
        const int64_t n = row / dims[2] / dims[1], ch = row / dims[2] % dims[1], oy = row % dims[2];
        for (int64_t ox = 0; ox < dims[3]; ++ox)
            sample(c, n, ch, oy, ox);
        if (is(c, PLANTED_FORWARD_gap_written) && oy + 1 < dims[2] && c->y_at.strides[3] == 1 &&
            c->y_at.strides[2] > dims[3])
            c->y[at(&c->y_at, n, ch, oy, dims[3])] = 0;
    }
}

static kerf_status run(const kerf_launch *launch, planted_forward_fault fault) {
    const kerf_problem *const problem = launch->problem;
    call c = {.launch = launch, .fault = fault, .modes = *(const kerf_grid_sampler_modes *)problem->self};
    int64_t n_elements = 0;
    if (is(&c, PLANTED_FORWARD_corners_flipped))
        c.modes.corners = c.modes.corners == KERF_CORNERS_ALIGNED ? KERF_CORNERS_OUTSIDE : KERF_CORNERS_ALIGNED;
    c.axis_faults = (axis_faults){.missing_clip = is(&c, PLANTED_FORWARD_missing_clip),
                                  .truncation = is(&c, PLANTED_FORWARD_truncation),
                                  .half_up = is(&c, PLANTED_FORWARD_half_up),
                                  .neighbour = is(&c, PLANTED_FORWARD_neighbour),
                                  .nan_kept = is(&c, PLANTED_FORWARD_nan_kept),
                                  .cubic_clamped = is(&c, PLANTED_FORWARD_cubic_clamped),
                                  .wrong_mirror = is(&c, PLANTED_FORWARD_wrong_mirror),
                                  .other_cubic = is(&c, PLANTED_FORWARD_other_cubic)};
    c.x = launch->in[KERF_GS_X];
    c.grid = launch->in[KERF_GS_GRID];
    c.y = launch->out[KERF_GS_Y];
    c.x_at = problem->in[KERF_GS_X]->at;
    c.grid_at = problem->in[KERF_GS_GRID]->at;
    c.y_at = problem->out[KERF_GS_Y]->at;
    c.axis_y = kerf_axis_of(c.x_at.dims[2], c.modes.corners);
    c.axis_x = kerf_axis_of(c.x_at.dims[3], c.modes.corners);
    if (!kerf_strided_count(&c.y_at, &n_elements) || n_elements == 0)
        return KERF_OK;
    if (is(&c, PLANTED_FORWARD_ignored_strides))
        c.x_at = packed_if_inside(&c.x_at);
    if (is(&c, PLANTED_FORWARD_input_written))
        clamp_in_place((kerf_real *)c.grid, &c.grid_at);
    if (is(&c, PLANTED_FORWARD_copy)) {
        int64_t n_x = 0;
        (void)kerf_strided_count(&c.x_at, &n_x);
        for (int64_t i = 0; i < n_elements; ++i)
            c.y[kerf_strided_offset(&c.y_at, i)] = c.x[kerf_strided_offset(&c.x_at, i % n_x)];
    } else if (is(&c, PLANTED_FORWARD_all_zero) || is(&c, PLANTED_FORWARD_constant)) {
        write_all(c.y, &c.y_at, NULL, NULL, is(&c, PLANTED_FORWARD_constant));
    } else {
        kerf_team_run(launch->team, sample_rows, &c);
    }
    return KERF_OK;
}

#define SYMBOL_(name, class) kerf_planted_forward_##name##_##class
#define SYMBOL(name, class)  SYMBOL_(name, class)
#define PLANTED(name, what, ...)                                                                                       \
    static kerf_status run_##name(const kerf_launch *launch) {                                                         \
        return run(launch, PLANTED_FORWARD_##name);                                                                    \
    }                                                                                                                  \
    const kerf_variant SYMBOL(name, KERF_CLASS) = {                                                                    \
        .bytes = sizeof(kerf_variant), .summary = what, .refuses = refuses_narrow, .run = run_##name};
#include "tests/planted/forward.def"
#undef PLANTED
