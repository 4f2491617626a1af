/* dx: for each pixel of a plane, the interval of sum of weight x gO, and what rounding may add. Planes are independent,
 * so ranks take blocks of planes, and the result does not depend on how many there are. */

typedef struct pixel_sum {
    wide lo, hi;    /* hull of sum w gO */
    wide magnitude; /* sum |w gO| */
    wide error;     /* sum |gO| x what rounding may add to w */
    int64_t n_terms;
    int power; /* of two that divides every term */
    unsigned seen;
} pixel_sum;

/* A working set of one rank. */
typedef struct dx_room {
    pixel_sum *sum;   /* block_planes planes */
    footprint *print; /* one sample's */
    axis x, y;
} dx_room;

static void add_infinite(pixel_sum *sum, const footprint *print, int n, double g) {
    for (int i = 0; i < n; ++i) {
        unsigned *const seen = &sum[print[i].element].seen;
        if (print[i].sign == 0)
            *seen |= SEEN_UNSURE;
        else if (isnan(g))
            *seen |= SEEN_NAN;
        else
            *seen |= (g > 0) == (print[i].sign > 0) ? SEEN_PLUS_INFINITY : SEEN_MINUS_INFINITY;
    }
}

/* A gradient of zero adds zeros, which round nothing. */
static void add_sample(pixel_sum *sum, const footprint *print, int n, double g, unsigned inexact) {
    const wide gradient = (wide)g, magnitude = fabs(gradient);
    const int power = kerf_sampling_power(g);
    for (int i = 0; i < n; ++i) {
        const footprint *const f = &print[i];
        pixel_sum *const s = &sum[f->element];
        const wide a = gradient * f->lo, b = gradient * f->hi;
        s->lo += a < b ? a : b;
        s->hi += a < b ? b : a;
        s->magnitude += magnitude * f->magnitude;
        s->error += magnitude * f->error;
        s->n_terms += f->n_terms;
        s->power = f->power + power < s->power ? f->power + power : s->power;
        s->seen |= inexact;
    }
}

/* The pixels that a sample may touch, the smallest power of two among its weights, and whether these are exact. */
typedef struct sample_prints {
    int n, power;
    bool exact;
} sample_prints;

static sample_prints print_sample(const kerf_sampling_call *call, dx_room *room) {
    sample_prints s = {.power = KERF_SAMPLING_POWER_OF_ZERO, .exact = room->x.exact && room->y.exact};
    for (int j = 0; j < room->y.n_pixels; ++j)
        for (int i = 0; i < room->x.n_pixels; ++i) {
            const footprint f = combine(call, &room->x.pixel[i], &room->y.pixel[j], 2);
            s.power = f.power < s.power ? f.power : s.power;
            room->print[s.n++] = f;
        }
    return s;
}

static void scatter(const kerf_sampling_call *call, dx_room *room, int64_t n, int64_t c_begin, int64_t c_end) {
    const int64_t plane = call->h * call->w;
    for (int64_t oy = 0; oy < call->ho; ++oy)
        for (int64_t ox = 0; ox < call->wo; ++ox) {
            build_axes(call, n, oy, ox, &room->x, &room->y);
            const sample_prints s = print_sample(call, room);
            for (int64_t c = c_begin; s.n > 0 && c < c_end; ++c) {
                const double g =
                    kerf_sampling_load(call, KERF_GSG_GRAD, kerf_sampling_at(call, KERF_GSG_GRAD, n, c, oy, ox));
                pixel_sum *const sum = room->sum + (c - c_begin) * plane;
                if (!isfinite(g)) {
                    add_infinite(sum, room->print, s.n, g);
                } else if (g != 0) {
                    /* gO - gO t in place of gO (1 - t) is exact too when gO itself spans the digits. */
                    const bool spans = ilogb(g) + 1 <= call->working.digits + s.power + kerf_sampling_power(g);
                    add_sample(sum, room->print, s.n, g, s.exact && spans ? 0 : SEEN_INEXACT);
                }
            }
        }
}

static void put_pixel(const kerf_sampling_call *call, const pixel_sum *s, int64_t at) {
    const outcome what = outcome_of(s->seen, s->magnitude > (wide)call->sum.largest);
    if (what != FINITE) {
        put_outcome(&call->out[KERF_GSG_DX], at, what);
        return;
    }
    const wide n = (wide)s->n_terms;
    wide slack = s->error + n * (wide)call->sum.roundoff * (s->magnitude + s->error) + n * (wide)call->sum.tiniest;
    if (n == 0 || (!(s->seen & SEEN_INEXACT) && sums_exactly(&call->sum, s->magnitude, s->power)))
        slack = 0;
    put_bounds(&call->out[KERF_GSG_DX], at, s->lo, s->hi, slack);
}

typedef struct dx_job {
    const kerf_sampling_call *call;
    int64_t blocks, block_planes; /* blocks per batch item */
} dx_job;

static dx_room *dx_room_of(const kerf_sampling_call *call, int rank) {
    dx_room *const room = (dx_room *)(call->scratch + (size_t)rank * call->scratch_bytes);
    room->sum = (pixel_sum *)(room + 1);
    room->print = (footprint *)(room->sum + call->block_planes * call->h * call->w);
    return room;
}

static void dx_rank(void *arg, int rank) {
    const dx_job *const job = arg;
    const kerf_sampling_call *const call = job->call;
    const int64_t plane = call->h * call->w;
    dx_room *const room = dx_room_of(call, rank);
    int64_t begin, end;
    kerf_team_share(call->n * job->blocks, kerf_team_size(call->team), rank, &begin, &end);
    for (int64_t item = begin; item < end; ++item) {
        const int64_t n = item / job->blocks, c_begin = item % job->blocks * job->block_planes;
        const int64_t c_end = c_begin + job->block_planes < call->c ? c_begin + job->block_planes : call->c;
        const int64_t n_elements = (c_end - c_begin) * plane;
        for (int64_t i = 0; i < n_elements; ++i)
            room->sum[i] = (pixel_sum){.power = KERF_SAMPLING_POWER_OF_ZERO};
        scatter(call, room, n, c_begin, c_end);
        for (int64_t i = 0; i < n_elements; ++i)
            put_pixel(call, &room->sum[i], (n * call->c + c_begin) * plane + i);
    }
}

static void run_dx(const kerf_sampling_call *call) {
    if (call->n == 0 || call->c == 0)
        return;
    dx_job job = {.call = call, .block_planes = call->block_planes};
    job.blocks = (call->c + job.block_planes - 1) / job.block_planes;
    kerf_team_run(call->team, dx_rank, &job);
}
