/* One axis of one sample: the coordinates that a legal evaluation may arrive at, and the weights that each gives.
 * Included by the halves of both oracles with `real` the working type and `wide` a wider one. */

typedef enum mirror_form { MIRROR_REMAINDER, MIRROR_PARITY } mirror_form;
typedef enum tap_rounding { TAP_TRUNCATED, TAP_NEAREST } tap_rounding;
typedef enum precision { PRECISION_REAL, PRECISION_WIDE } precision;

#define NUMBER   real
#define AT(name) name##_real
#include "reference/grid_sampling_padding.h"
#define NUMBER   wide
#define AT(name) name##_wide
#include "reference/grid_sampling_padding.h"

enum {
    MAX_FORMS = 5,
    MAX_TAPS = 4,
    MAX_CANDIDATES = MAX_FORMS * 8, /* times two mirrors, two precisions and two roundings of far bicubic taps */
    MAX_PIXELS = MAX_CANDIDATES * MAX_TAPS
};

/* A tap inside the image: weight, its derivative, and what rounding may add to each in the working type. */
typedef struct tap {
    int64_t pixel;
    int slot; /* index into axis.pixel */
    wide w, dw, w_error, dw_error;
} tap;

typedef struct candidate {
    bool dropped; /* the sample contributes nothing */
    bool exact;   /* every way to compute these weights gives them without rounding */
    int slope;    /* of the padding */
    int n_taps;
    tap at[MAX_TAPS];
} candidate;

/* What the candidates together make of the weight of one pixel; a candidate that misses it counts as 0. */
typedef struct pixel_weight {
    int64_t pixel;
    wide lo, hi;    /* of the sum of the taps that fall on it */
    wide magnitude; /* sum of their absolute values, largest over the candidates; so is the error */
    wide error;
    int n_terms;
    int power; /* of two that divides all of them */
    int sign;  /* of all of them after any rounding; 0: not certain */
} pixel_weight;

typedef struct axis {
    int64_t size;
    real factor; /* d coordinate / d g, before the padding's slope */
    int n_candidates, n_pixels;
    bool exact; /* one candidate, and its weights are exact */
    candidate at[MAX_CANDIDATES];
    pixel_weight pixel[MAX_PIXELS];
} axis;

typedef struct coordinate {
    wide value;
    precision in;
} coordinate;

/* The legal ways to write the unnormalisation, and the exact value. */
static int unnormalise(real g, int64_t size, kerf_corners corners, coordinate form[MAX_FORMS]) {
    const real s = (real)size, last = (real)(size - 1), shift = last / 2;
    int n = 0;
    wide exact;
    if (corners == KERF_CORNERS_ALIGNED) {
        form[n++].value = (g + 1) / 2 * last;
        form[n++].value = fma(g, shift, shift);
        const real product = g * shift;
        form[n++].value = product + shift;
        exact = fma((wide)g, (wide)(size - 1) / 2, (wide)(size - 1) / 2);
    } else {
        const real half = s / 2;
        form[n++].value = ((g + 1) * s - 1) / 2;
        form[n++].value = fma(g + 1, s, (real)-1) / 2;
        form[n++].value = fma(g, half, shift);
        const real product = g * half;
        form[n++].value = product + shift;
        exact = fma((wide)g, (wide)size / 2, (wide)(size - 1) / 2);
    }
    for (int i = 0; i < n; ++i)
        form[i].in = PRECISION_REAL;
    /* Whether a coordinate is finite is decided in the working type. */
    form[n].value = isfinite((real)exact) ? exact : (wide)(real)exact;
    form[n++].in = PRECISION_WIDE;
    return n;
}

static wide padded(coordinate v, int64_t size, const kerf_grid_sampler_modes *modes, mirror_form form, int *slope) {
    return v.in == PRECISION_REAL ? padded_real((real)v.value, size, modes, form, slope)
                                  : padded_wide(v.value, size, modes, form, slope);
}

static tap *add_tap(candidate *to, int64_t size, wide pixel) {
    if (!(pixel >= 0 && pixel <= (wide)(size - 1)))
        return NULL;
    tap *const t = &to->at[to->n_taps++];
    *t = (tap){.pixel = (int64_t)pixel};
    return t;
}

static void take_nearest(candidate *to, coordinate v, int64_t size) {
    to->exact = true;
    tap *const t = add_tap(to, size, v.in == PRECISION_REAL ? (wide)nearbyint((real)v.value) : nearbyint(v.value));
    if (t)
        t->w = 1;
}

static void take_bilinear(candidate *to, wide v, int64_t size, wide u) {
    const wide base = floor(v), t = v - base, rest = 1 - t;
    to->exact = base + t == v && 1 - rest == t && (wide)(real)t == t && (wide)(real)rest == rest;
    for (int k = 0; k < 2; ++k) {
        tap *const at = add_tap(to, size, base + k);
        if (!at)
            continue;
        at->w = k ? t : rest;
        at->dw = k ? 1 : -1;
        at->w_error = u;
    }
}

/* Keys' convolution with A = -3/4. Tap k lies at distance d = |t - (k - 1)|. Errors: a-priori bounds of its Horner
 * forms in the working type. */
static void cubic(tap *at, int k, wide t, wide u) {
    const wide a = -0.75, side = k < 2 ? 1 : -1, d = side * (t - (k - 1));
    if (k == 0 || k == 3) {
        at->w = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
        at->dw = side * ((3 * a * d - 10 * a) * d + 8 * a);
        at->w_error = at->dw_error = 23 * u;
    } else {
        at->w = ((a + 2) * d - (a + 3)) * d * d + 1;
        at->dw = side * ((3 * (a + 2) * d - 2 * (a + 3)) * d);
        at->w_error = 7 * u;
        at->dw_error = 9 * u;
    }
}

/* Taps are padded one by one. From far away the index itself is rounded in the working type, and `rounding` says how it
 * becomes an integer; or it is exact, as an integer brought into the first period gives it. */
static void take_bicubic(candidate *to, coordinate v, const kerf_sampling_call *call, int64_t size, mirror_form form,
                         precision in, tap_rounding rounding) {
    const wide base = floor(v.value), t = v.value - base;
    /* The cubic of a t of b bits has 3 b + 2, its steps stay below 16: then every way to write it is exact. */
    const wide scaled = ldexp(t, (call->working.digits - 6) / 3);
    to->exact = base + t == v.value && floor(scaled) == scaled;
    const wide span = (wide)(call->modes->corners == KERF_CORNERS_ALIGNED ? size - 1 : size);
    const bool reduced = in == PRECISION_WIDE && call->modes->padding == KERF_PAD_REFLECTION && span > 0;
    const wide first = reduced ? fmod(base, 2 * span) : base;
    for (int k = 0; k < MAX_TAPS; ++k) {
        const wide index = in == PRECISION_REAL ? (wide)((real)base + (real)(k - 1)) : first + (k - 1);
        int slope;
        const wide position = padded((coordinate){index, in}, size, call->modes, form, &slope);
        tap *const at = add_tap(to, size, rounding == TAP_TRUNCATED ? floor(position) : nearbyint(position));
        if (at)
            cubic(at, k, t, (wide)call->working.roundoff);
    }
}

static bool same_candidate(const candidate *a, const candidate *b) {
    if (a->dropped || b->dropped)
        return a->dropped == b->dropped;
    if (a->slope != b->slope || a->n_taps != b->n_taps)
        return false;
    for (int i = 0; i < a->n_taps; ++i)
        if (a->at[i].pixel != b->at[i].pixel || a->at[i].w != b->at[i].w || a->at[i].dw != b->at[i].dw)
            return false;
    return true;
}

/* The place for the next candidate, empty. */
static candidate *next_candidate(axis *a) {
    candidate *const c = &a->at[a->n_candidates];
    c->dropped = false;
    c->exact = true;
    c->slope = 1;
    c->n_taps = 0;
    return c;
}

/* Keeps what was built at next_candidate() unless it is there already. */
static void keep_candidate(axis *a) {
    for (int i = 0; i < a->n_candidates; ++i)
        if (same_candidate(&a->at[i], &a->at[a->n_candidates]))
            return;
    ++a->n_candidates;
}

static void add_bicubic(axis *a, const kerf_sampling_call *call, coordinate v) {
    const bool mirrored = call->modes->padding == KERF_PAD_REFLECTION;
    const bool far = fabs(v.value) >= 0.25 / (wide)call->working.roundoff;
    for (int form = 0; form < (mirrored ? 2 : 1); ++form)
        for (int in = far ? PRECISION_REAL : (int)v.in; in <= (far ? PRECISION_WIDE : (int)v.in); ++in)
            for (int rounding = 0; rounding < (far ? 2 : 1); ++rounding) {
                take_bicubic(next_candidate(a), v, call, a->size, form, in, rounding);
                keep_candidate(a);
            }
}

static void add_padded(axis *a, const kerf_sampling_call *call, coordinate v) {
    const bool mirrored = call->modes->padding == KERF_PAD_REFLECTION;
    for (int form = 0; form < (mirrored ? 2 : 1); ++form) {
        candidate *const to = next_candidate(a);
        const wide position = padded(v, a->size, call->modes, form, &to->slope);
        if (call->modes->interpolation == KERF_NEAREST)
            take_nearest(to, (coordinate){position, v.in}, a->size);
        else
            take_bilinear(to, position, a->size, (wide)call->working.roundoff);
        keep_candidate(a);
    }
}

static bool drops(const kerf_grid_sampler_modes *modes, wide v) {
    if (isfinite(v))
        return false;
    return isnan(v) || modes->interpolation == KERF_BICUBIC || modes->padding != KERF_PAD_BORDER;
}

static int slot_of(axis *a, int64_t pixel) {
    for (int i = 0; i < a->n_pixels; ++i)
        if (a->pixel[i].pixel == pixel)
            return i;
    a->pixel[a->n_pixels] = (pixel_weight){.pixel = pixel, .power = KERF_SAMPLING_POWER_OF_ZERO};
    return a->n_pixels++;
}

/* The weight that one candidate gives to the pixel of a slot. */
static pixel_weight weight_in(const candidate *c, int slot) {
    pixel_weight of = {.power = KERF_SAMPLING_POWER_OF_ZERO};
    for (int i = 0; i < c->n_taps; ++i) {
        const tap *const t = &c->at[i];
        if (t->slot != slot)
            continue;
        const int power = kerf_sampling_power((double)t->w), sign = t->w > t->w_error ? 1 : t->w < -t->w_error ? -1 : 0;
        of.sign = of.n_terms == 0 || of.sign == sign ? sign : 0;
        of.lo += t->w;
        of.magnitude += fabs(t->w);
        of.error += t->w_error;
        of.power = power < of.power ? power : of.power;
        ++of.n_terms;
    }
    of.hi = of.lo;
    return of;
}

static void join_candidates(axis *a) {
    for (int c = 0; c < a->n_candidates; ++c)
        for (int i = 0; i < a->at[c].n_taps; ++i)
            a->at[c].at[i].slot = slot_of(a, a->at[c].at[i].pixel);
    for (int slot = 0; slot < a->n_pixels; ++slot) {
        pixel_weight *const p = &a->pixel[slot];
        for (int c = 0; c < a->n_candidates; ++c) {
            const pixel_weight of = weight_in(&a->at[c], slot);
            p->sign = c == 0 || p->sign == of.sign ? of.sign : 0;
            p->lo = c == 0 || of.lo < p->lo ? of.lo : p->lo;
            p->hi = c == 0 || of.hi > p->hi ? of.hi : p->hi;
            p->magnitude = of.magnitude > p->magnitude ? of.magnitude : p->magnitude;
            p->error = of.error > p->error ? of.error : p->error;
            p->n_terms = of.n_terms > p->n_terms ? of.n_terms : p->n_terms;
            p->power = of.power < p->power ? of.power : p->power;
        }
    }
}

static void build_axis(axis *a, const kerf_sampling_call *call, real g, int64_t size) {
    a->size = size;
    a->factor = call->modes->corners == KERF_CORNERS_ALIGNED ? (real)(size - 1) / 2 : (real)size / 2;
    a->n_candidates = a->n_pixels = 0;
    coordinate form[MAX_FORMS];
    const int n = unnormalise(g, size, call->modes->corners, form);
    for (int i = 0; i < n; ++i) {
        if (drops(call->modes, form[i].value)) {
            next_candidate(a)->dropped = true;
            keep_candidate(a);
        } else if (call->modes->interpolation == KERF_BICUBIC) {
            add_bicubic(a, call, form[i]);
        } else {
            add_padded(a, call, form[i]);
        }
    }
    a->exact = a->n_candidates == 1 && a->at[0].exact;
    join_candidates(a);
}

/* Coordinates are x, then y, in the last axis of grid. */
static void build_axes(const kerf_sampling_call *call, int64_t n, int64_t oy, int64_t ox, axis *x, axis *y) {
    build_axis(x, call, (real)kerf_sampling_load(call, call->grid, kerf_sampling_at(call, call->grid, n, oy, ox, 0)),
               call->w);
    build_axis(y, call, (real)kerf_sampling_load(call, call->grid, kerf_sampling_at(call, call->grid, n, oy, ox, 1)),
               call->h);
}
