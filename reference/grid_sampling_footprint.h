/* What one sample weighs at one pixel: the product of the two axes. */
typedef struct footprint {
    int64_t element; /* of a plane */
    wide lo, hi, magnitude, error;
    int n_terms, power, sign;
} footprint;

/* `flat` times u is what a weight of bilinear, which is at most 1, may be off by whatever its size. */
static footprint combine(const kerf_sampling_call *call, const pixel_weight *x, const pixel_weight *y, wide flat) {
    const wide u = (wide)call->working.roundoff;
    const wide corner[] = {x->lo * y->lo, x->lo * y->hi, x->hi * y->lo, x->hi * y->hi};
    footprint f = {.element = y->pixel * call->w + x->pixel, .lo = corner[0], .hi = corner[0]};
    for (int i = 1; i < 4; ++i) {
        f.lo = corner[i] < f.lo ? corner[i] : f.lo;
        f.hi = corner[i] > f.hi ? corner[i] : f.hi;
    }
    f.magnitude = x->magnitude * y->magnitude;
    f.n_terms = x->n_terms * y->n_terms;
    f.power = x->power + y->power;
    f.sign = x->sign * y->sign;
    if (call->modes->interpolation == KERF_BILINEAR)
        f.error = flat * u + 3 * u * f.magnitude;
    else if (call->modes->interpolation == KERF_BICUBIC)
        f.error = x->magnitude * y->error + y->magnitude * x->error + x->error * y->error + 3 * u * f.magnitude;
    return f;
}
