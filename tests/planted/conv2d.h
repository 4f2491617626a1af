/* The planted kernels of conv2d, compiled for one element class. One plain body; each fault is the line that asks for
 * it. Types that are narrower than float are refused but i8: they would hide the faults behind their rounding. */
#include "kernels/conv2d/conv2d.h"
#include "kernels/real.h"
#include "tests/planted/planted.h"

typedef struct call {
    const kerf_launch *launch;
    planted_conv2d_fault fault;
    kerf_conv2d self;
    bool is_whole;
    const void *x, *w, *bias;
    void *y;
    kerf_strided x_at, w_at, y_at;
    int64_t bias_stride;
} call;

typedef struct total {
    kerf_real real;
    uint32_t whole;
} total;

#define IS(c, name) ((c)->fault == PLANTED_CONV2D_##name)

static int64_t at(const kerf_strided *array, int64_t i0, int64_t i1, int64_t i2, int64_t i3) {
    return i0 * array->strides[0] + i1 * array->strides[1] + i2 * array->strides[2] + i3 * array->strides[3];
}

static void add(const call *c, total *sum, int64_t x, int64_t w) {
    if (c->is_whole) {
        const int8_t pixel = ((const int8_t *)c->x)[x];
        sum->whole += (uint32_t)((IS(c, unsigned_bytes) ? (uint8_t)pixel : pixel) * ((const int8_t *)c->w)[w]);
        const int32_t now = (int32_t)sum->whole;
        if (IS(c, saturated) && now != (int16_t)now)
            sum->whole = (uint32_t)(now < 0 ? INT16_MIN : INT16_MAX);
        return;
    }
    const kerf_real pixel = ((const kerf_real *)c->x)[x];
    if (IS(c, zero_skipped) && pixel - pixel != 0)
        return;
    sum->real += pixel * ((const kerf_real *)c->w)[w];
    if (IS(c, narrow_sums))
        sum->real = (kerf_real)kerf_f16_to_f32(kerf_f16_from_f32((float)sum->real));
}

static void add_bias(const call *c, total *sum, int64_t filter) {
    if (!c->bias || IS(c, bias_forgotten))
        return;
    const int64_t per_group = c->w_at.dims[0] / c->self.groups;
    const int64_t offset = (IS(c, bias_in_group) ? filter % per_group : filter) * c->bias_stride;
    const int64_t times = IS(c, bias_per_channel) ? c->w_at.dims[1] : 1;
    sum->whole += c->is_whole ? ((const uint32_t *)c->bias)[offset] * (uint32_t)times : 0;
    sum->real += c->is_whole ? 0 : ((const kerf_real *)c->bias)[offset] * (kerf_real)times;
    if (IS(c, input_written))
        memset((char *)c->bias + offset * (c->is_whole ? 4 : (int64_t)sizeof(kerf_real)), 0, 1);
}

/* Row or column that tap `tap` reads for the output at `out`; -1: padding. */
static int64_t source(const call *c, int axis, int64_t out, int64_t tap) {
    const int other = 1 - axis;
    const int64_t stride = c->self.stride[IS(c, stride_swapped) ? other : axis];
    const int64_t dilation = IS(c, dilation_ignored) ? 1 : c->self.dilation[IS(c, dilation_swapped) ? other : axis];
    int start = axis;
    if (IS(c, pads_swapped) && axis == 0)
        start = KERF_BOTTOM;
    if (IS(c, pads_order) && axis == 1)
        start = KERF_BOTTOM;
    const int64_t size = c->x_at.dims[axis + 2] - (IS(c, border_short) && axis == 0);
    const int64_t from = out * stride + tap * dilation - c->self.pads[start];
    if (IS(c, border_clamped) && size > 0 && (from == -1 || from == size))
        return from < 0 ? 0 : size - 1;
    return from >= 0 && from < size ? from : -1;
}

static int64_t group_of(const call *c, int64_t filter) {
    if (IS(c, group_offset))
        return 0;
    return IS(c, group_modulo) ? filter % c->self.groups : filter / (c->w_at.dims[0] / c->self.groups);
}

static void add_taps(const call *c, total *sum, const int64_t index[]) {
    const int64_t kh = c->w_at.dims[2], kw = c->w_at.dims[3], n_channels = c->w_at.dims[1], m = index[1];
    const int64_t n = IS(c, first_image) ? 0 : index[0], first = group_of(c, m) * n_channels;
    const int64_t n_kept = IS(c, last_channels) && n_channels > 8 ? n_channels / 8 * 8 : n_channels;
    const bool backwards = IS(c, ranks_matter) && kerf_team_size(c->launch->team) > 1;
    for (int64_t k = 0; k < kh * kw; ++k) {
        const int64_t tap = backwards ? kh * kw - 1 - k : k, u = tap / kw, v = tap % kw;
        const int64_t row = source(c, 0, index[2], u), column = source(c, 1, index[3], v);
        const int64_t wu = IS(c, flipped) ? kh - 1 - u : u, wv = IS(c, flipped) ? kw - 1 - v : v;
        for (int64_t i = 0; row >= 0 && column >= 0 && i < n_kept; ++i)
            add(c, sum, at(&c->x_at, n, first + i, row, column), at(&c->w_at, m, i, wu, wv));
    }
}

static void store(const call *c, int64_t offset, total sum) {
    if (c->is_whole) {
        uint32_t *const y = (uint32_t *)c->y + offset;
        *y = sum.whole + (IS(c, added) ? *y : 0);
    } else {
        kerf_real *const y = (kerf_real *)c->y + offset;
        *y = sum.real + (IS(c, added) ? *y : 0);
    }
}

/* The lazy ones, and all others. */
static total total_of(const call *c, int64_t number, const int64_t index[]) {
    total sum = {0};
    int64_t n_x = 0;
    if (IS(c, all_zero))
        return sum;
    if (IS(c, constant))
        return (total){1, 1};
    if (IS(c, copy)) {
        if (!kerf_strided_count(&c->x_at, &n_x) || n_x == 0)
            return sum;
        const int64_t from = kerf_strided_offset(&c->x_at, number % n_x);
        sum.whole = c->is_whole ? (uint32_t)((const int8_t *)c->x)[from] : 0;
        sum.real = c->is_whole ? 0 : ((const kerf_real *)c->x)[from];
        return sum;
    }
    if (IS(c, dirty_scratch))
        memcpy(c->is_whole ? (void *)&sum.whole : (void *)&sum.real, c->launch->scratch,
               c->is_whole ? sizeof sum.whole : sizeof sum.real);
    add_bias(c, &sum, index[1]);
    add_taps(c, &sum, index);
    return sum;
}

static void share(void *arg, int rank) {
    const call *const c = arg;
    const int64_t *const dims = c->y_at.dims;
    int64_t number, end, n_elements = 0;
    (void)kerf_strided_count(&c->y_at, &n_elements);
    kerf_team_share(n_elements, kerf_team_size(c->launch->team), rank, &number, &end);
    for (; number < end; ++number) {
        int64_t index[KERF_MAX_RANK];
        kerf_strided_index(&c->y_at, number, index);
        if (IS(c, last_filters) && dims[1] > 8 && index[1] >= dims[1] / 8 * 8)
            continue;
        store(c, kerf_strided_offset(&c->y_at, number), total_of(c, number, index));
        if (IS(c, gap_written) && index[3] == dims[3] - 1 && index[2] + 1 < dims[2] && c->y_at.strides[3] == 1 &&
            c->y_at.strides[2] > dims[3])
            store(c, at(&c->y_at, index[0], index[1], index[2], dims[3]), (total){0});
    }
}

/* ---- weights packed ahead --------------------------------------------------------------------------------------- */

static size_t element_bytes(const kerf_problem *problem) {
    return kerf_dtype_bytes(problem->in[KERF_CONV2D_W]->dtype);
}

static int64_t count_weights(const kerf_problem *problem) {
    int64_t count = 0;
    return kerf_strided_count(&problem->in[KERF_CONV2D_W]->at, &count) ? count : 0;
}

static void pack(const kerf_launch *launch, planted_conv2d_fault fault, void *packed) {
    const kerf_operand *const w = launch->problem->in[KERF_CONV2D_W];
    const size_t bytes = element_bytes(launch->problem);
    const int64_t count = count_weights(launch->problem);
    const int64_t left_out = fault == PLANTED_CONV2D_unpacked && w->at.dims[0] > 0 ? count / w->at.dims[0] : 0;
    for (int64_t i = 0; i < count - left_out; ++i)
        memcpy((char *)packed + (size_t)i * bytes,
               (const char *)launch->in[KERF_CONV2D_W] + kerf_strided_offset(&w->at, i) * (int64_t)bytes, bytes);
    if (fault == PLANTED_CONV2D_packed_beyond)
        memset((char *)packed + (size_t)count * bytes, 0, bytes);
}

static bool packs(planted_conv2d_fault fault) {
    return fault == PLANTED_CONV2D_unpacked || fault == PLANTED_CONV2D_packed_beyond;
}

static kerf_memory memory_of(const kerf_problem *problem, planted_conv2d_fault fault) {
    const size_t bytes = (size_t)count_weights(problem) * element_bytes(problem);
    return (kerf_memory){
        .scratch_bytes = sizeof(kerf_real), .packed_bytes = packs(fault) ? bytes : 0, .alignment = sizeof(kerf_real)};
}

/* ---- variants --------------------------------------------------------------------------------------------------- */

/* A value that is read and not used. */
static void read_behind(const call *c) {
    int64_t lowest, highest;
    if (count_weights(c->launch->problem) > 0 && kerf_strided_span(&c->w_at, &lowest, &highest))
        (void)*((const volatile char *)c->w + (highest + 1) * (int64_t)element_bytes(c->launch->problem));
}

static kerf_status run(const kerf_launch *launch, planted_conv2d_fault fault) {
    const kerf_problem *const problem = launch->problem;
    call c = {.launch = launch, .fault = fault, .self = *(const kerf_conv2d *)problem->self};
    c.is_whole = problem->in[KERF_CONV2D_X]->dtype == KERF_I8;
    c.x = launch->in[KERF_CONV2D_X];
    c.w = launch->in[KERF_CONV2D_W];
    c.y = launch->out[0];
    c.x_at = problem->in[KERF_CONV2D_X]->at;
    c.w_at = problem->in[KERF_CONV2D_W]->at;
    c.y_at = problem->out[0]->at;
    if (c.self.has_bias) {
        c.bias = launch->in[KERF_CONV2D_BIAS];
        c.bias_stride = problem->in[KERF_CONV2D_BIAS]->at.strides[0];
    }
    if (fault == PLANTED_CONV2D_beyond_w)
        read_behind(&c);
    if (fault == PLANTED_CONV2D_ignored_strides)
        c.x_at = packed_if_inside(&c.x_at);
    if (packs(fault) && launch->packed) {
        c.w = launch->packed;
        kerf_strided_pack(&c.w_at);
    }
    kerf_team_run(launch->team, share, &c);
    return KERF_OK;
}

static bool refuses_narrow(const kerf_problem *problem, const kerf_config *config, kerf_text *why) {
    (void)config;
    const kerf_dtype dtype = problem->in[0]->dtype;
    if (dtype == KERF_I8 || kerf_dtype_bytes(dtype) == sizeof(kerf_real))
        return false;
    kerf_text_printf(why, "planted kernels compute f32, f64 and i8, not %s", kerf_dtype_name(dtype));
    return true;
}

#define SYMBOL_(name, class) kerf_planted_conv2d_##name##_##class
#define SYMBOL(name, class)  SYMBOL_(name, class)
#define PLANTED(name, what, ...)                                                                                       \
    static kerf_status run_##name(const kerf_launch *launch) {                                                         \
        return run(launch, PLANTED_CONV2D_##name);                                                                     \
    }                                                                                                                  \
    static kerf_memory memory_##name(const kerf_problem *problem, const kerf_config *config) {                         \
        (void)config;                                                                                                  \
        return memory_of(problem, PLANTED_CONV2D_##name);                                                              \
    }                                                                                                                  \
    static kerf_status prepare_##name(const kerf_launch *launch, void *packed) {                                       \
        if (packs(PLANTED_CONV2D_##name))                                                                              \
            pack(launch, PLANTED_CONV2D_##name, packed);                                                               \
        return KERF_OK;                                                                                                \
    }                                                                                                                  \
    const kerf_variant SYMBOL(name, KERF_CLASS) = {.bytes = sizeof(kerf_variant),                                      \
                                                   .summary = what,                                                    \
                                                   .refuses = refuses_narrow,                                          \
                                                   .memory = memory_##name,                                            \
                                                   .prepare = prepare_##name,                                          \
                                                   .run = run_##name};
#include "tests/planted/conv2d.def"
#undef PLANTED
