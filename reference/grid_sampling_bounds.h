/* How the bounds of one element are written. */

static void put_bounds(const kerf_sampling_bounds *to, int64_t at, wide lo, wide hi, wide slack) {
    const double lower = (double)lo, upper = (double)hi;
    /* A hull that is not a double moves by half an ulp on its way out; the slack takes it along. */
    if (lower != lo || upper != hi)
        slack += (fabs(lo) > fabs(hi) ? fabs(lo) : fabs(hi)) * (wide)0x1p-53;
    to->lo[at] = lower;
    to->hi[at] = upper;
    to->slack[at] = slack > 0 ? nextafter((double)slack, (double)INFINITY) : 0;
}

/* What the terms of an element have shown. */
enum {
    SEEN_INEXACT = 1,
    SEEN_UNSURE = 2, /* a term that is not finite in one legal evaluation and finite in another */
    SEEN_NAN = 4,
    SEEN_PLUS_INFINITY = 8,
    SEEN_MINUS_INFINITY = 16,
    SEEN_SHARED_INFINITY = 32 /* an infinite factor of several terms, which may meet their finite sum instead */
};

typedef enum outcome { FINITE, UNSURE, IS_NAN, IS_PLUS_INFINITY, IS_MINUS_INFINITY } outcome;

static outcome outcome_of(unsigned seen, bool may_overflow) {
    const bool opposite = seen & SEEN_PLUS_INFINITY && seen & SEEN_MINUS_INFINITY;
    if (seen & SEEN_NAN || (opposite && !(seen & SEEN_SHARED_INFINITY)))
        return IS_NAN;
    if (seen & SEEN_UNSURE || opposite || may_overflow)
        return UNSURE;
    return seen & SEEN_PLUS_INFINITY ? IS_PLUS_INFINITY : seen & SEEN_MINUS_INFINITY ? IS_MINUS_INFINITY : FINITE;
}

static void put_outcome(const kerf_sampling_bounds *to, int64_t at, outcome what) {
    const double value = what == IS_PLUS_INFINITY ? INFINITY : what == IS_MINUS_INFINITY ? -INFINITY : 0;
    to->lo[at] = to->hi[at] = what == IS_NAN ? (double)NAN : value;
    to->slack[at] = what == UNSURE ? INFINITY : 0;
}

/* True when terms that 2^power divides, with this sum of absolute values, add up without rounding in every order. */
static bool sums_exactly(const kerf_sampling_type *type, wide magnitude, int power) {
    return power >= type->lowest_power && magnitude <= ldexp((wide)1, type->digits + power);
}
