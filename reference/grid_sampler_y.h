/* y: for each sample the values that all pairs of candidates give, a block of channels at a time. What rounding may add
 * is that of the largest weights. */

enum { BLOCK = 16 };

/* One channel of a sample. */
typedef struct y_sum {
    wide lo, hi;
    wide value;     /* of the pair at hand */
    wide magnitude; /* sum |w x| */
    wide plain;     /* sum |x| */
    wide error;     /* sum |x| times what rounding may add to w */
    int64_t n_terms;
    int power; /* of two that divides every term */
    unsigned seen;
} y_sum;

/* A working set of one rank, for one sample. */
typedef struct y_room {
    const kerf_sampling_call *call;
    int64_t n, oy, ox;
    axis x, y;
    y_sum sum[BLOCK];
    wide *pixel; /* BLOCK channels of each pixel that a candidate touches; 0 where one is not finite */
} y_room;

static unsigned seen_of(const footprint *print, double x) {
    if (print->sign == 0)
        return SEEN_UNSURE;
    if (isnan(x))
        return SEEN_NAN;
    return (x > 0) == (print->sign > 0) ? SEEN_PLUS_INFINITY : SEEN_MINUS_INFINITY;
}

static void add_pixel(y_sum *s, const footprint *print, double x, wide *value) {
    *value = 0;
    if (!isfinite(x)) {
        s->seen |= seen_of(print, x);
    } else if (x != 0) {
        const wide magnitude = fabs((wide)x);
        const int power = print->power + kerf_sampling_power(x);
        *value = (wide)x;
        s->magnitude += magnitude * print->magnitude;
        s->plain += magnitude;
        s->error += magnitude * print->error;
        s->n_terms += print->n_terms;
        s->power = power < s->power ? power : s->power;
    }
}

/* Channels [first, first + n_channels) of all pixels. */
static void load_pixels(y_room *room, int64_t first, int n_channels) {
    const kerf_sampling_call *const call = room->call;
    for (int c = 0; c < n_channels; ++c)
        room->sum[c] = (y_sum){.lo = INFINITY, .hi = -INFINITY, .power = KERF_SAMPLING_POWER_OF_ZERO};
    wide *pixel = room->pixel;
    for (int j = 0; j < room->y.n_pixels; ++j)
        for (int i = 0; i < room->x.n_pixels; ++i, pixel += BLOCK) {
            const pixel_weight *const wx = &room->x.pixel[i], *const wy = &room->y.pixel[j];
            const footprint print = combine(call, wx, wy, 4);
            for (int c = 0; c < n_channels; ++c) {
                const int64_t at = kerf_sampling_at(call, KERF_GS_X, room->n, first + c, wy->pixel, wx->pixel);
                add_pixel(&room->sum[c], &print, kerf_sampling_load(call, KERF_GS_X, at), &pixel[c]);
            }
        }
}

/* One pair of candidates: its values join the hulls. */
static void add_pair(y_room *room, const candidate *x, const candidate *y, int n_channels) {
    y_sum *const sum = room->sum;
    for (int c = 0; c < n_channels; ++c)
        sum[c].value = 0;
    for (int j = 0; j < y->n_taps && !x->dropped && !y->dropped; ++j)
        for (int i = 0; i < x->n_taps; ++i) {
            const wide weight = y->at[j].w * x->at[i].w;
            const wide *const pixel = room->pixel + (y->at[j].slot * room->x.n_pixels + x->at[i].slot) * BLOCK;
            for (int c = 0; c < n_channels; ++c)
                sum[c].value += weight * pixel[c];
        }
    for (int c = 0; c < n_channels; ++c) {
        sum[c].lo = sum[c].value < sum[c].lo ? sum[c].value : sum[c].lo;
        sum[c].hi = sum[c].value > sum[c].hi ? sum[c].value : sum[c].hi;
    }
}

/* True when the terms add up without rounding in every order and algebra. Bilinear weights may also be applied as x0 +
 * t (x1 - x0), which meets the terms without their weights. */
static bool is_exact(const y_room *room, const y_sum *s) {
    if (s->n_terms == 0 || room->call->modes->interpolation == KERF_NEAREST)
        return true;
    const bool may_lerp = room->call->modes->interpolation == KERF_BILINEAR;
    const wide magnitude = may_lerp && s->plain > s->magnitude ? s->plain : s->magnitude;
    return room->x.exact && room->y.exact && sums_exactly(&room->call->sum, magnitude, s->power);
}

static void put_channel(const y_room *room, const y_sum *s, int64_t at) {
    const kerf_sampling_call *const call = room->call;
    const bool copies = call->modes->interpolation == KERF_NEAREST;
    const bool may_overflow =
        !copies && (s->magnitude > (wide)call->sum.largest || 2 * s->plain > (wide)call->working.largest);
    const outcome what = outcome_of(s->seen, may_overflow);
    if (what != FINITE) {
        put_outcome(&call->out[KERF_GS_Y], at, what);
        return;
    }
    const wide n = (wide)s->n_terms;
    const wide slack =
        s->error + n * (wide)call->sum.roundoff * (s->magnitude + s->error) + n * (wide)call->sum.tiniest;
    put_bounds(&call->out[KERF_GS_Y], at, s->lo, s->hi, is_exact(room, s) ? 0 : slack);
}

static void put_sample(y_room *room) {
    const kerf_sampling_call *const call = room->call;
    const int64_t n_samples = call->ho * call->wo, sample = room->oy * call->wo + room->ox;
    build_axes(call, room->n, room->oy, room->ox, &room->x, &room->y);
    for (int64_t first = 0; first < call->c; first += BLOCK) {
        const int n_channels = call->c - first < BLOCK ? (int)(call->c - first) : BLOCK;
        load_pixels(room, first, n_channels);
        for (int j = 0; j < room->y.n_candidates; ++j)
            for (int i = 0; i < room->x.n_candidates; ++i)
                add_pair(room, &room->x.at[i], &room->y.at[j], n_channels);
        for (int c = 0; c < n_channels; ++c)
            put_channel(room, &room->sum[c], (room->n * call->c + first + c) * n_samples + sample);
    }
}

static void y_rank(void *arg, int rank) {
    const kerf_sampling_call *const call = arg;
    y_room *const room = (y_room *)(call->scratch + (size_t)rank * call->scratch_bytes);
    room->call = call;
    room->pixel = (wide *)(room + 1);
    int64_t sample, end;
    kerf_team_share(call->n * call->ho * call->wo, kerf_team_size(call->team), rank, &sample, &end);
    for (; sample < end; ++sample) {
        room->ox = sample % call->wo;
        room->oy = sample / call->wo % call->ho;
        room->n = sample / call->wo / call->ho;
        put_sample(room);
    }
}

static bool half_scratch_bytes(const kerf_sampling_call *call, size_t *bytes) {
    const int64_t nx = call->w < MAX_PIXELS ? call->w : MAX_PIXELS, ny = call->h < MAX_PIXELS ? call->h : MAX_PIXELS;
    const size_t line = 64, all = sizeof(y_room) + (size_t)(nx * ny) * BLOCK * sizeof(wide);
    *bytes = (all + line - 1) / line * line;
    return true;
}

static void half_run(const kerf_sampling_call *call) {
    if (call->out[KERF_GS_Y].lo && call->c > 0)
        kerf_team_run(call->team, y_rank, (void *)call);
}

const kerf_sampling_half HALF = {.scratch_bytes = half_scratch_bytes, .run = half_run};
