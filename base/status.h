/* How a broken environment or a wrong usage is told: a status to branch on, a message for the person.
 * A wrong answer of a kernel is neither: it is a verdict (harness/verify.h). */
#ifndef KERF_BASE_STATUS_H
#define KERF_BASE_STATUS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define KERF_PRINTF(format_at, first_at) __attribute__((format(printf, format_at, first_at)))
#else
#define KERF_PRINTF(format_at, first_at)
#endif

typedef enum kerf_status {
    KERF_OK = 0,
    KERF_ERROR_USAGE,       /* what was asked is not allowed: exit 2 */
    KERF_ERROR_FILE,        /* a file cannot be read or written: exit 1 */
    KERF_ERROR_MEMORY,      /* more memory than there is: exit 1 */
    KERF_ERROR_DEVICE,      /* a device or library does not answer: exit 1 */
    KERF_ERROR_INTERRUPTED, /* SIGINT: exit 130 */
} kerf_status;

/* One line: what was given, what is allowed, what to do. */
typedef struct kerf_error {
    char message[512];
} kerf_error;

/* Writes the message (error may be NULL) and returns `status`, so that a failing function ends in one line. */
kerf_status kerf_fail(kerf_error *error, kerf_status status, const char *format, ...) KERF_PRINTF(3, 4);

#define KERF_TRY(expression)                                                                                           \
    do {                                                                                                               \
        const kerf_status status_ = (expression);                                                                      \
        if (status_ != KERF_OK)                                                                                        \
            return status_;                                                                                            \
    } while (0)

/* Text that grows inside memory of the caller, always terminated; what does not fit is cut and `cut` says so. */
typedef struct kerf_text {
    char *data;
    size_t capacity, length;
    bool cut;
} kerf_text;

kerf_text kerf_text_over(char *memory, size_t capacity);
void kerf_text_printf(kerf_text *text, const char *format, ...) KERF_PRINTF(2, 3);
/* The word as a shell reads it back: quoted where it has to be. */
void kerf_text_print_shell_word(kerf_text *text, const char *word);

#ifdef __cplusplus
}
#endif

#endif
