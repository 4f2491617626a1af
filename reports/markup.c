#include "reports/markup.h"

#include "reports/digest.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

void kerf_markup_text(FILE *file, const char *text) {
    for (; text && *text; ++text) {
        switch (*text) {
        case '&':
            fputs("&amp;", file);
            break;
        case '<':
            fputs("&lt;", file);
            break;
        case '>':
            fputs("&gt;", file);
            break;
        case '"':
            fputs("&quot;", file);
            break;
        case '\'':
            fputs("&#39;", file);
            break;
        default:
            fputc(*text, file);
        }
    }
}

/* Length of the directive that begins at `%`. */
static size_t directive_length(const char *directive) {
    return 1 + strspn(directive + 1, "0123456789.*") +
           (strncmp(directive + 1, "lld", 3) == 0  ? 3
            : strncmp(directive + 1, "zu", 2) == 0 ? 2
                                                   : 1);
}

void kerf_markup(FILE *file, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    while (*format) {
        const size_t plain = strcspn(format, "%");
        fwrite(format, 1, plain, file);
        format += plain;
        if (!*format)
            break;
        const size_t n = directive_length(format);
        char directive[16], number[400];
        assert(n < sizeof directive);
        memcpy(directive, format, n);
        directive[n] = '\0';
        format += n;
        const bool precise = strchr(directive, '*') != NULL;
        const int precision = precise ? va_arg(arguments, int) : 0;
        switch (directive[n - 1]) {
        case 's':
            kerf_markup_text(file, va_arg(arguments, const char *));
            continue;
        case '%':
            fputc('%', file);
            continue;
        case 'u':
            snprintf(number, sizeof number, "%zu", va_arg(arguments, size_t));
            break;
        case 'd':
            if (n == 4)
                snprintf(number, sizeof number, "%lld", va_arg(arguments, long long));
            else
                snprintf(number, sizeof number, "%d", va_arg(arguments, int));
            break;
        default: {
            const double value = va_arg(arguments, double);
            if (precise)
                snprintf(number, sizeof number, directive, precision, value);
            else
                snprintf(number, sizeof number, directive, value);
        }
        }
        fputs(number, file);
    }
    va_end(arguments);
}

kerf_short_text kerf_markup_time(double ns) {
    static const char *const units[] = {"ns", "\xc2\xb5s", "ms", "s"};
    const kerf_scaled_time scaled = kerf_digest_time(ns);
    kerf_short_text time;
    if (scaled.value >= 1e6)
        snprintf(time.text, sizeof time.text, "%.3g %s", scaled.value, units[scaled.unit]);
    else
        snprintf(time.text, sizeof time.text, "%.*f %s", scaled.digits, scaled.value, units[scaled.unit]);
    return time;
}

kerf_short_text kerf_markup_interval(double low_ns, double high_ns) {
    kerf_short_text low = kerf_markup_time(low_ns), both;
    const kerf_short_text high = kerf_markup_time(high_ns);
    char *const unit = strchr(low.text, ' ');
    const char *const other = strchr(high.text, ' ');
    if (unit && other && strcmp(unit, other) == 0)
        *unit = '\0';
    snprintf(both.text, sizeof both.text, "%.20s \xe2\x80\x93 %.20s", low.text, high.text);
    return both;
}

kerf_short_text kerf_markup_ratio(double ratio) {
    kerf_short_text text;
    if (!isfinite(ratio) || ratio >= 1000)
        return (kerf_short_text){"> 1000"};
    if (ratio > 0 && ratio < 0.00995)
        snprintf(text.text, sizeof text.text, "%.2g", ratio);
    else
        snprintf(text.text, sizeof text.text, "%.*f", ratio < 0.9995 ? 3 : ratio < 9.995 ? 2 : 1, ratio);
    return text;
}

kerf_short_text kerf_markup_bytes(double bytes) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int u = 0;
    for (; u < 4 && bytes >= 1024; ++u)
        bytes /= 1024;
    kerf_short_text text;
    snprintf(text.text, sizeof text.text, "%.3g %s", bytes, units[u]);
    return text;
}
