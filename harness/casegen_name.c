/* Names: finding them, and saying which one was probably meant. */
#include "harness/casegen_pattern.h"
#include <ctype.h>
#include <string.h>

#define MAX_NAME 64

static int smallest(int a, int b, int c) {
    const int ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment), blind to case. */
static int edit_distance(const char *a, int n_a, const char *b, int n_b) {
    int rows[3][MAX_NAME + 1];
    int *before = rows[0], *above = rows[1], *row = rows[2];
    for (int j = 0; j <= n_b; ++j)
        above[j] = j;
    for (int i = 1; i <= n_a; ++i) {
        row[0] = i;
        for (int j = 1; j <= n_b; ++j) {
            const int ca = tolower((unsigned char)a[i - 1]), cb = tolower((unsigned char)b[j - 1]);
            row[j] = smallest(above[j] + 1, row[j - 1] + 1, above[j - 1] + (ca != cb));
            if (i > 1 && j > 1 && ca == tolower((unsigned char)b[j - 2]) && tolower((unsigned char)a[i - 2]) == cb &&
                before[j - 2] + 1 < row[j])
                row[j] = before[j - 2] + 1;
        }
        int *const oldest = before;
        before = above;
        above = row;
        row = oldest;
    }
    return above[n_b];
}

const char *kerf_nearest_name(const char *given, const char *const *names) {
    const size_t n_given = strlen(given);
    if (n_given == 0 || n_given > MAX_NAME)
        return NULL;
    const char *nearest = NULL, *begun = NULL;
    int least = MAX_NAME;
    for (; *names; ++names) {
        const size_t n_name = strlen(*names);
        if (n_name > MAX_NAME)
            continue;
        if (!begun && n_given >= 3 && strncasecmp(given, *names, n_given) == 0)
            begun = *names;
        const int longer = (int)(n_given > n_name ? n_given : n_name);
        const int distance = edit_distance(given, (int)n_given, *names, (int)n_name);
        if (distance <= (longer + 1) / 3 && distance < least) {
            nearest = *names;
            least = distance;
        }
    }
    return nearest ? nearest : begun;
}

int kerf_name_count(const char *const *names) {
    int n = 0;
    while (names && names[n])
        ++n;
    return n;
}

int kerf_name_find(const char *const *names, const char *given) {
    for (int i = 0; names && names[i]; ++i)
        if (strcmp(names[i], given) == 0)
            return i;
    return -1;
}

kerf_shown kerf_show(const char *given) {
    kerf_shown shown;
    size_t n = 0;
    for (; given[n] != '\0' && n < 40; ++n)
        shown.text[n] = given[n] >= ' ' && given[n] <= '~' ? given[n] : '?';
    shown.text[n] = '\0';
    if (given[n] != '\0')
        memcpy(shown.text + n, "...", 4);
    return shown;
}

kerf_status kerf_fail_unknown(kerf_error *error, const char *what, const char *given, const char *owner,
                              const char *const *names) {
    char memory[300], guess[MAX_NAME + 20] = "";
    kerf_text list = kerf_text_over(memory, sizeof memory);
    for (int i = 0; names[i]; ++i)
        kerf_text_printf(&list, " %s", names[i]);
    const char *near = kerf_nearest_name(given, names);
    if (near) {
        kerf_text text = kerf_text_over(guess, sizeof guess);
        kerf_text_printf(&text, " did you mean '%s'?", near);
    }
    return kerf_fail(error, KERF_ERROR_USAGE, "unknown %s '%s' of %s;%s %ss:%s", what, kerf_show(given).text, owner,
                     guess, what, list.data);
}
