/* Padding of a coordinate in one precision. No include guard: included once for each precision, with NUMBER its type
 * and AT(name) the name of a function in it. Every operation rounds to NUMBER. */

/* Mirrors v about low and low + span; *sign is the slope. */
static inline NUMBER AT(mirror)(NUMBER v, NUMBER low, NUMBER span, mirror_form form, int *sign) {
    if (span == 0) {
        *sign = 0;
        return low;
    }
    const NUMBER distance = fabs(v - low);
    NUMBER position;
    bool odd;
    if (form == MIRROR_REMAINDER) {
        const NUMBER period = 2 * span, m = fmod(distance, period);
        odd = m >= span;
        position = odd ? period - m : m;
    } else {
        const NUMBER extra = fmod(distance, span), folds = floor(distance / span);
        odd = fmod(folds, (NUMBER)2) != 0;
        position = odd ? span - extra : extra;
    }
    *sign = odd != (v < low) ? -1 : 1;
    return position + low;
}

/* The coordinate after padding; *slope is its derivative. v is not NaN, and finite under reflection. */
static inline NUMBER AT(padded)(NUMBER v, int64_t size, const kerf_grid_sampler_modes *modes, mirror_form form,
                                int *slope) {
    *slope = 1;
    if (modes->padding == KERF_PAD_ZEROS)
        return v;
    if (modes->padding == KERF_PAD_REFLECTION) {
        const bool aligned = modes->corners == KERF_CORNERS_ALIGNED;
        const NUMBER low = aligned ? (NUMBER)0 : (NUMBER)-0.5;
        const NUMBER span = aligned ? (NUMBER)(size - 1) : (NUMBER)size;
        v = AT(mirror)(v, low, span, form, slope);
    }
    const NUMBER last = (NUMBER)(size - 1);
    if (v > 0 && v < last)
        return v;
    *slope = 0;
    return v <= 0 ? 0 : last;
}

#undef NUMBER
#undef AT
