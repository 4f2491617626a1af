#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

kerf_status kerf_fail(kerf_error *error, kerf_status status, const char *format, ...) {
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
    }
    return status;
}

kerf_text kerf_text_over(char *memory, size_t capacity) {
    if (capacity > 0)
        memory[0] = '\0';
    return (kerf_text){.data = memory, .capacity = capacity, .cut = capacity == 0};
}

void kerf_text_printf(kerf_text *text, const char *format, ...) {
    if (text->cut)
        return;
    const size_t room = text->capacity - text->length;
    va_list arguments;
    va_start(arguments, format);
    const int needed = vsnprintf(text->data + text->length, room, format, arguments);
    va_end(arguments);
    if (needed < 0) {
        text->data[text->length] = '\0';
        text->cut = true;
    } else if ((size_t)needed >= room) {
        text->length = text->capacity - 1;
        text->cut = true;
    } else {
        text->length += (size_t)needed;
    }
}

void kerf_text_print_shell_word(kerf_text *text, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=,./:@%";
    if (word[0] && word[strspn(word, plain)] == '\0') {
        kerf_text_printf(text, "%s", word);
        return;
    }
    kerf_text_printf(text, "'");
    for (; *word; ++word)
        kerf_text_printf(text, *word == '\'' ? "'\\''" : "%c", *word);
    kerf_text_printf(text, "'");
}
