/* The oracle of conv2d. Real types: the hull is the sum itself, formed in a wider type; the slack counts its roundings
 * and is 0 where every partial sum in any order is exact. i8: the bits. docs/verification.md. */
#include "kernels/conv2d/conv2d.h"

#include "base/checked.h"
#include "kernels/registry.h"
#include <float.h>
#include <math.h>

typedef long double wide; /* of f64; the narrower types are exact in double, but one code serves all */

typedef struct conv_job {
    const kerf_conv2d *self;
    const kerf_operand *x, *w, *bias, *y;
    const char *x_data, *w_data, *bias_data;
    const kerf_team *team;
    int64_t n_elements;
    double unit; /* of whole multiples of which all terms are; 0: not known */
    double u, eta, largest;
    int digits;
    double *lo, *hi, *slack;
    uint32_t *bits;
} conv_job;

/* What the sum of one element has met. */
typedef struct conv_sum {
    wide sum, magnitude;
    int64_t n_terms;
    bool nan, plus, minus, unsure;
} conv_sum;

static double element(const kerf_operand *operand, const char *data, int64_t offset) {
    return kerf_dtype_load(operand->dtype, data + offset * (int64_t)kerf_dtype_bytes(operand->dtype));
}

static void add_term(conv_sum *s, wide term, bool is_infinite) {
    ++s->n_terms;
    if (term != term) {
        s->nan = true;
    } else if (is_infinite) {
        s->plus |= term > 0;
        s->minus |= term < 0;
    } else {
        s->sum += term;
        s->magnitude += term < 0 ? -term : term;
    }
}

/* Source of tap (u, v) for output (i, j); false: it is padding. */
static bool tap_offset(const conv_job *job, const int64_t index[], int64_t u, int64_t v, int64_t *offset) {
    const kerf_conv2d *const self = job->self;
    const kerf_strided *const x = &job->x->at;
    const int64_t row = index[2] * self->stride[0] + u * self->dilation[0] - self->pads[KERF_TOP];
    const int64_t column = index[3] * self->stride[1] + v * self->dilation[1] - self->pads[KERF_LEFT];
    if (row < 0 || row >= x->dims[2] || column < 0 || column >= x->dims[3])
        return false;
    *offset = row * x->strides[2] + column * x->strides[3];
    return true;
}

typedef void tap_function(const conv_job *job, void *sum, int64_t x_offset, int64_t w_offset, bool inside);

static void visit_taps(const conv_job *job, int64_t number, tap_function *tap, void *sum) {
    const kerf_strided *const x = &job->x->at, *const w = &job->w->at;
    int64_t index[KERF_MAX_RANK];
    kerf_strided_index(&job->y->at, number, index);
    const int64_t n_channels = w->dims[1], group = index[1] / (w->dims[0] / job->self->groups);
    for (int64_t u = 0; u < w->dims[2]; ++u)
        for (int64_t v = 0; v < w->dims[3]; ++v) {
            int64_t pixel = 0;
            const bool inside = tap_offset(job, index, u, v, &pixel);
            for (int64_t c = 0; c < n_channels; ++c)
                tap(job, sum, inside ? index[0] * x->strides[0] + (group * n_channels + c) * x->strides[1] + pixel : 0,
                    index[1] * w->strides[0] + c * w->strides[1] + u * w->strides[2] + v * w->strides[3], inside);
        }
}

static void real_tap(const conv_job *job, void *sum, int64_t x_offset, int64_t w_offset, bool inside) {
    conv_sum *const s = sum;
    const double weight = element(job->w, job->w_data, w_offset);
    if (!inside) {
        s->unsure |= !isfinite(weight);
        return;
    }
    const double pixel = element(job->x, job->x_data, x_offset);
    add_term(s, (wide)weight * pixel, isinf(weight) || isinf(pixel));
}

static void whole_tap(const conv_job *job, void *sum, int64_t x_offset, int64_t w_offset, bool inside) {
    uint32_t *const s = sum;
    if (inside)
        *s += (uint32_t)(((const int8_t *)job->x_data)[x_offset] * ((const int8_t *)job->w_data)[w_offset]);
}

static void expect_real(const conv_job *job, int64_t number, double bias) {
    conv_sum s = {0};
    visit_taps(job, number, real_tap, &s);
    if (job->bias)
        add_term(&s, bias, isinf(bias));
    const double sum = (double)s.sum, magnitude = (double)s.magnitude;
    double lo = sum, hi = sum, slack = 0;
    const double n = (double)s.n_terms;
    const bool exact = job->unit > 0 && s.magnitude <= (wide)ldexp(job->unit, job->digits);
    if (!exact)
        slack = n * (job->u + LDBL_EPSILON) * magnitude + n * job->eta + DBL_EPSILON / 2 * fabs(sum);
    if (s.unsure || (!s.nan && magnitude * (1 + n * job->u) > job->largest))
        slack = INFINITY;
    else if (s.nan || (s.plus && s.minus))
        lo = hi = NAN;
    else if (s.plus || s.minus)
        lo = hi = s.plus ? INFINITY : -INFINITY;
    job->lo[number] = lo;
    job->hi[number] = hi;
    job->slack[number] = slack;
}

static void expect_share(void *arg, int rank) {
    const conv_job *const job = arg;
    int64_t number, end;
    kerf_team_share(job->n_elements, kerf_team_size(job->team), rank, &number, &end);
    for (; number < end; ++number) {
        int64_t index[KERF_MAX_RANK];
        kerf_strided_index(&job->y->at, number, index);
        const int64_t at = job->bias ? index[1] * job->bias->at.strides[0] : 0;
        if (!job->bits) {
            expect_real(job, number, job->bias ? element(job->bias, job->bias_data, at) : 0);
            continue;
        }
        uint32_t sum = job->bias ? ((const uint32_t *)job->bias_data)[at] : 0;
        visit_taps(job, number, whole_tap, &sum);
        job->bits[number] = sum;
    }
}

/* Largest power of two that divides all elements that are not 0; 0 where one is not finite, 1 where all are 0. */
static double unit_of(const kerf_operand *operand, const char *data) {
    const kerf_strided at = kerf_strided_unique(&operand->at);
    int lowest = INT32_MAX;
    for (kerf_walk walk = kerf_walk_begin(&at); !walk.done; kerf_walk_next(&walk)) {
        int exponent;
        const double value = element(operand, data, walk.offset);
        if (!isfinite(value))
            return 0;
        if (value == 0)
            continue;
        const int64_t digits = (int64_t)ldexp(frexp(value, &exponent), DBL_MANT_DIG);
        exponent += __builtin_ctzll((uint64_t)(digits < 0 ? -digits : digits)) - DBL_MANT_DIG;
        lowest = exponent < lowest ? exponent : lowest;
    }
    return lowest == INT32_MAX ? 1 : ldexp(1, lowest);
}

/* Every product is a multiple of the units' product, which the type of the sum has to hold. */
static void set_bounds(conv_job *job) {
    const bool is_double = job->y->dtype == KERF_F64;
    const kerf_dtype type = is_double ? KERF_F64 : KERF_F32;
    job->u = kerf_dtype_unit_roundoff(type);
    job->eta = kerf_dtype_tiniest(type);
    job->largest = is_double ? DBL_MAX : FLT_MAX;
    job->digits = is_double ? DBL_MANT_DIG : FLT_MANT_DIG;
    job->unit = unit_of(job->x, job->x_data) * unit_of(job->w, job->w_data);
    const double bias = job->bias ? unit_of(job->bias, job->bias_data) : job->unit;
    job->unit = bias < job->unit ? bias : job->unit;
    if (job->unit < job->eta)
        job->unit = 0;
}

static kerf_status allocate(conv_job *job, kerf_arena *arena, kerf_error *error) {
    size_t bytes;
    /* One element more, so that an empty output has an address too. */
    if (!kerf_mul_size((size_t)job->n_elements + 1, sizeof(double), &bytes))
        bytes = SIZE_MAX;
    if (job->x->dtype == KERF_I8) {
        job->bits = kerf_arena_alloc(arena, bytes / 2, sizeof *job->bits);
    } else {
        job->lo = kerf_arena_alloc(arena, bytes, sizeof(double));
        job->hi = kerf_arena_alloc(arena, bytes, sizeof(double));
        job->slack = kerf_arena_alloc(arena, bytes, sizeof(double));
    }
    if (!job->bits && !(job->lo && job->hi && job->slack))
        return kerf_fail(error, KERF_ERROR_MEMORY,
                         "the oracle of conv2d needs 3 times %zu bytes, the arena has %zu "
                         "left",
                         bytes, arena->size - arena->used);
    return KERF_OK;
}

kerf_status kerf_oracle_conv2d(const kerf_problem *problem, const void *const in[], kerf_expect out[],
                               const kerf_team *team, kerf_arena *arena, kerf_error *error);
kerf_status kerf_oracle_conv2d(const kerf_problem *problem, const void *const in[], kerf_expect out[],
                               const kerf_team *team, kerf_arena *arena, kerf_error *error) {
    conv_job job = {.self = problem->self,
                    .x = problem->in[KERF_CONV2D_X],
                    .w = problem->in[KERF_CONV2D_W],
                    .y = problem->out[0],
                    .x_data = in[KERF_CONV2D_X],
                    .w_data = in[KERF_CONV2D_W],
                    .team = team};
    out[0] = (kerf_expect){.kind = KERF_EXPECT_NOTHING};
    if (!(problem->want & 1))
        return KERF_OK;
    if (job.self->has_bias) {
        job.bias = problem->in[KERF_CONV2D_BIAS];
        job.bias_data = in[KERF_CONV2D_BIAS];
    }
    if (!kerf_strided_count(&job.y->at, &job.n_elements))
        return kerf_fail(error, KERF_ERROR_USAGE, "conv2d: y has more elements than can be numbered");
    KERF_TRY(allocate(&job, arena, error));
    if (!job.bits)
        set_bounds(&job);
    kerf_team_run(team, expect_share, &job);
    out[0] = (kerf_expect){.kind = job.bits ? KERF_EXPECT_BITS : KERF_EXPECT_BOUND,
                           .n_elements = job.n_elements,
                           .bits = job.bits,
                           .lo = job.lo,
                           .hi = job.hi,
                           .slack = job.slack};
    return KERF_OK;
}
