/* dgrid: for each sample the values that all pairs of candidates give. The channels are summed first, once per pixel,
 * so that a pair costs a few operations per tap. */

typedef struct tap_sum {
    wide value, magnitude; /* sum over channels of x gO, and of |x gO| */
    bool finite;           /* all x and gO that went into it */
} tap_sum;

/* A working set of one rank, for one sample. Element (i, j) of `sum` belongs to the pixel slots i in x and j in y. */
typedef struct dgrid_room {
    const kerf_sampling_call *call;
    int64_t n, oy, ox;
    axis x, y;
    int x_power, g_power; /* of two that divide all x and all gO read */
    wide amplitude;       /* the largest finite |x| or |gO| read */
    bool finite;
    tap_sum *sum;
} dgrid_room;

/* One output: the axis that is differentiated and the other one. */
typedef struct direction {
    const axis *along, *across;
    int along_stride, across_stride; /* of tap sums */
} direction;

typedef struct pair_value {
    wide value; /* f s sum dw w x gO */
    wide slack;
    wide magnitude; /* f s sum |dw w x gO| */
    wide plain;     /* sum |x gO| */
} pair_value;

static void sum_channels(dgrid_room *room) {
    const kerf_sampling_call *const call = room->call;
    const int nx = room->x.n_pixels, ny = room->y.n_pixels;
    room->x_power = room->g_power = KERF_SAMPLING_POWER_OF_ZERO;
    room->amplitude = 0;
    room->finite = true;
    for (int k = 0; k < nx * ny; ++k)
        room->sum[k] = (tap_sum){.finite = true};
    for (int64_t c = 0; c < call->c; ++c) {
        const double g = kerf_sampling_load(call, KERF_GSG_GRAD,
                                            kerf_sampling_at(call, KERF_GSG_GRAD, room->n, c, room->oy, room->ox));
        const int g_power = kerf_sampling_power(g);
        room->g_power = g_power < room->g_power ? g_power : room->g_power;
        double largest = isfinite(g) ? fabs(g) : 0;
        for (int j = 0; j < ny; ++j)
            for (int i = 0; i < nx; ++i) {
                const int64_t at =
                    kerf_sampling_at(call, KERF_GSG_X, room->n, c, room->y.pixel[j].pixel, room->x.pixel[i].pixel);
                const double x = kerf_sampling_load(call, KERF_GSG_X, at);
                const wide product = (wide)x * (wide)g;
                const int x_power = kerf_sampling_power(x);
                tap_sum *const s = &room->sum[j * nx + i];
                s->value += product;
                s->magnitude += fabs(product);
                s->finite = s->finite && isfinite(x) && isfinite(g);
                room->x_power = x_power < room->x_power ? x_power : room->x_power;
                largest = isfinite(x) && fabs(x) > largest ? fabs(x) : largest;
            }
        room->amplitude = largest > room->amplitude ? (wide)largest : room->amplitude;
    }
    for (int k = 0; k < nx * ny; ++k)
        room->finite = room->finite && room->sum[k].finite;
}

static const tap_sum *sum_at(const dgrid_room *room, const direction *d, const tap *along, const tap *across) {
    return &room->sum[along->slot * d->along_stride + across->slot * d->across_stride];
}

/* What the weights of a tap may be off by, times |x gO|. */
static wide weight_error(const kerf_sampling_call *call, const tap *along, const tap *across) {
    const wide u = (wide)call->working.roundoff, dw = fabs(along->dw), w = fabs(across->w);
    if (call->modes->interpolation == KERF_BILINEAR)
        return across->w_error;
    return dw * across->w_error + w * along->dw_error + along->dw_error * across->w_error + 3 * u * dw * w;
}

static pair_value evaluate(const dgrid_room *room, const direction *d, const candidate *along,
                           const candidate *across) {
    const kerf_sampling_call *const call = room->call;
    pair_value pair = {0};
    if (along->dropped || across->dropped)
        return pair;
    wide error = 0;
    for (int i = 0; i < along->n_taps; ++i)
        for (int j = 0; j < across->n_taps; ++j) {
            const tap *const a = &along->at[i], *const b = &across->at[j];
            const tap_sum *const s = sum_at(room, d, a, b);
            const wide weight = a->dw * b->w;
            pair.value += s->value * weight;
            pair.magnitude += s->magnitude * fabs(weight);
            pair.plain += s->magnitude;
            error += s->magnitude * weight_error(call, a, b);
        }
    const wide factor = (wide)d->along->factor * (wide)along->slope, size = fabs(factor);
    const wide n = (wide)(along->n_taps * across->n_taps) * (wide)call->c;
    const wide terms = (call->modes->interpolation == KERF_BILINEAR ? 4 : 16) * (wide)call->c + 4;
    /* Products may underflow before they meet the other operand, which then magnifies what was lost. */
    const wide lost = n * ((wide)call->sum.tiniest + 2 * room->amplitude * (wide)call->working.tiniest);
    pair.slack = size * (terms * (wide)call->sum.roundoff * pair.magnitude + error + lost);
    if (pair.slack > 0)
        pair.slack += (wide)call->working.tiniest;
    pair.value *= factor;
    pair.magnitude *= size;
    return pair;
}

static bool may_overflow(const kerf_sampling_call *call, const direction *d, wide magnitude, wide plain) {
    return magnitude > (wide)call->sum.largest ||
           2 * (1 + (wide)d->along->factor) * plain > (wide)call->working.largest;
}

/* What one term shows that is not finite. near_zero: rounding may make the weight 0. */
static unsigned see_term(const kerf_sampling_call *call, wide weight, bool near_zero, double x, double g) {
    const wide term = weight * (wide)x * (wide)g;
    const wide finite = isfinite(x) ? (wide)x : isfinite(g) ? (wide)g : 1;
    const bool vanishes = finite != 0 && fabs(weight * finite) < 2 * (wide)call->working.tiniest;
    if (near_zero || vanishes || (isnan(term) && isinf(g) && !isnan(x)))
        return SEEN_UNSURE;
    if (isnan(term))
        return SEEN_NAN;
    return (term > 0 ? SEEN_PLUS_INFINITY : SEEN_MINUS_INFINITY) | (isinf(g) ? SEEN_SHARED_INFINITY : 0);
}

/* All terms of one tap; adds the absolute values of the finite ones, without weights, to *plain. */
static unsigned see_tap(const dgrid_room *room, const direction *d, const tap *along, const tap *across, wide factor,
                        wide *plain) {
    const kerf_sampling_call *const call = room->call;
    const bool near_zero = factor == 0 || fabs(along->dw) <= along->dw_error || fabs(across->w) <= across->w_error;
    const bool x_first = d->along == &room->x;
    const int64_t ix = (x_first ? along : across)->pixel, iy = (x_first ? across : along)->pixel;
    unsigned seen = 0;
    for (int64_t c = 0; c < call->c; ++c) {
        const int64_t at = kerf_sampling_at(call, KERF_GSG_GRAD, room->n, c, room->oy, room->ox);
        const double x = kerf_sampling_load(call, KERF_GSG_X, kerf_sampling_at(call, KERF_GSG_X, room->n, c, iy, ix));
        const double g = kerf_sampling_load(call, KERF_GSG_GRAD, at);
        if (isfinite(x) && isfinite(g))
            *plain += fabs((wide)x * (wide)g);
        else
            seen |= see_term(call, factor * along->dw * across->w, near_zero, x, g);
    }
    return seen;
}

/* One pair on data that are not all finite. */
static outcome classify(const dgrid_room *room, const direction *d, const candidate *along, const candidate *across) {
    const wide factor = (wide)d->along->factor * (wide)along->slope;
    wide plain = 0;
    unsigned seen = 0;
    if (along->dropped || across->dropped)
        return FINITE;
    for (int i = 0; i < along->n_taps; ++i)
        for (int j = 0; j < across->n_taps; ++j) {
            const tap_sum *const s = sum_at(room, d, &along->at[i], &across->at[j]);
            if (s->finite)
                plain += s->magnitude;
            else
                seen |= see_tap(room, d, &along->at[i], &across->at[j], factor, &plain);
        }
    return outcome_of(seen, seen != 0 && may_overflow(room->call, d, 0, plain));
}

/* Smallest power of two among the weights that multiply x gO; the derivative of bilinear weights is +-1. */
static int weight_power(const kerf_sampling_call *call, const direction *d) {
    int along = call->modes->interpolation == KERF_BILINEAR ? 0 : KERF_SAMPLING_POWER_OF_ZERO;
    int across = KERF_SAMPLING_POWER_OF_ZERO;
    for (int i = 0; i < d->along->at[0].n_taps; ++i) {
        const int power = kerf_sampling_power((double)d->along->at[0].at[i].dw);
        along = power < along ? power : along;
    }
    for (int i = 0; i < d->across->at[0].n_taps; ++i) {
        const int power = kerf_sampling_power((double)d->across->at[0].at[i].w);
        across = power < across ? power : across;
    }
    return along + across;
}

/* True when the one pair of candidates gives its value without rounding in every order and algebra. */
static bool is_exact(const dgrid_room *room, const direction *d, const pair_value *pair) {
    const kerf_sampling_call *const call = room->call;
    if (!room->x.exact || !room->y.exact)
        return false;
    if (pair->magnitude == 0)
        return true;
    const int weights = weight_power(call, d), factor = kerf_sampling_power((double)d->along->factor);
    const int terms = weights + room->x_power + room->g_power, lowest = call->sum.lowest_power;
    if (weights + room->x_power < lowest || weights + room->g_power < lowest || terms < lowest ||
        terms + factor < lowest)
        return false;
    /* Bilinear weights may also be applied as x0 + t (x1 - x0), which meets the terms without their weights. */
    const wide magnitude =
        call->modes->interpolation == KERF_BILINEAR ? (wide)d->along->factor * pair->plain : pair->magnitude;
    return sums_exactly(&call->sum, magnitude, terms + factor);
}

static void put_direction(const dgrid_room *room, const direction *d, int64_t at) {
    const kerf_sampling_call *const call = room->call;
    wide lo = INFINITY, hi = -INFINITY, slack = 0;
    outcome what = FINITE;
    bool first = true, overflows = false, exact = false;
    for (int i = 0; i < d->along->n_candidates; ++i)
        for (int j = 0; j < d->across->n_candidates; ++j) {
            const candidate *const along = &d->along->at[i], *const across = &d->across->at[j];
            const outcome here = room->finite ? FINITE : classify(room, d, along, across);
            what = first || what == here ? here : UNSURE;
            first = false;
            if (here != FINITE)
                continue;
            const pair_value pair = evaluate(room, d, along, across);
            lo = pair.value < lo ? pair.value : lo;
            hi = pair.value > hi ? pair.value : hi;
            slack = pair.slack > slack ? pair.slack : slack;
            overflows = overflows || may_overflow(call, d, pair.magnitude, pair.plain);
            exact = is_exact(room, d, &pair);
        }
    if (what != FINITE || overflows)
        put_outcome(&call->out[KERF_GSG_DGRID], at, what == IS_NAN ? IS_NAN : overflows ? UNSURE : what);
    else
        put_bounds(&call->out[KERF_GSG_DGRID], at, lo, hi, exact ? 0 : slack);
}

static dgrid_room *dgrid_room_of(const kerf_sampling_call *call, int rank) {
    dgrid_room *const room = (dgrid_room *)(call->scratch + (size_t)rank * call->scratch_bytes);
    room->call = call;
    room->sum = (tap_sum *)(room + 1);
    return room;
}

static void put_sample(dgrid_room *room, int64_t at) {
    const kerf_sampling_call *const call = room->call;
    room->x.n_pixels = room->y.n_pixels = 0;
    if (call->modes->interpolation != KERF_NEAREST && call->c > 0)
        build_axes(call, room->n, room->oy, room->ox, &room->x, &room->y);
    if (room->x.n_pixels == 0 || room->y.n_pixels == 0) {
        put_outcome(&call->out[KERF_GSG_DGRID], at, FINITE);
        put_outcome(&call->out[KERF_GSG_DGRID], at + 1, FINITE);
        return;
    }
    sum_channels(room);
    put_direction(room, &(direction){&room->x, &room->y, 1, room->x.n_pixels}, at);
    put_direction(room, &(direction){&room->y, &room->x, room->x.n_pixels, 1}, at + 1);
}

static void dgrid_rank(void *arg, int rank) {
    const kerf_sampling_call *const call = arg;
    dgrid_room *const room = dgrid_room_of(call, rank);
    int64_t begin, end;
    kerf_team_share(call->n * call->ho * call->wo, kerf_team_size(call->team), rank, &begin, &end);
    for (int64_t sample = begin; sample < end; ++sample) {
        room->ox = sample % call->wo;
        room->oy = sample / call->wo % call->ho;
        room->n = sample / call->wo / call->ho;
        put_sample(room, 2 * sample);
    }
}

static void run_dgrid(const kerf_sampling_call *call) {
    kerf_team_run(call->team, dgrid_rank, (void *)call);
}
