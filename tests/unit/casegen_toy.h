/* An op with an attribute of every kind, for tests of case texts, and the properties that hold for any text. */
#ifndef KERF_TESTS_UNIT_CASEGEN_TOY_H
#define KERF_TESTS_UNIT_CASEGEN_TOY_H

#include "harness/casegen.h"
#include <string.h>

static const char *const toy_modes[] = {"low", "middle", "high", NULL};
static const char *const toy_mode_synonyms[] = {"centre", "middle", "upper", "high", NULL};
static const char *const toy_pads[] = {"zeros", "border", "reflection", NULL};
static const char *const toy_flags[] = {"false", "true", NULL};
static const char *const toy_flag_synonyms[] = {"0", "false", "1", "true", NULL};
static const int64_t toy_blocks[] = {2, 2};

#define TOY_SPEC(...)                                                                                                  \
    &(const kerf_attr_spec) {                                                                                          \
        .bytes = sizeof(kerf_attr_spec), __VA_ARGS__                                                                   \
    }
static const kerf_attr_spec *const toy_attrs[] = {
    TOY_SPEC(.name = "mode", .kind = KERF_ATTR_ENUM, .values = toy_modes, .synonyms = toy_mode_synonyms,
             .standard = {.number = 1}),
    TOY_SPEC(.name = "pad", .kind = KERF_ATTR_ENUM, .values = toy_pads),
    TOY_SPEC(.name = "aligned", .kind = KERF_ATTR_ENUM, .values = toy_flags, .synonyms = toy_flag_synonyms),
    TOY_SPEC(.name = "steps", .kind = KERF_ATTR_INT, .standard = {.number = 3}),
    TOY_SPEC(.name = "scale", .kind = KERF_ATTR_REAL, .standard = {.real = 0.5}),
    TOY_SPEC(.name = "block", .kind = KERF_ATTR_INT_LIST, .standard = {.list = toy_blocks, .n_list = 2}),
    TOY_SPEC(.name = "note", .kind = KERF_ATTR_TEXT, .standard = {.text = "none"}),
    NULL};
#undef TOY_SPEC

static const char *const toy_dims[] = {"N", "Ho", "Wo", NULL};
static const char *const toy_inputs[] = {"x", "grid", NULL};
static const char *const toy_outputs[] = {"dx", "dgrid", NULL};
static const char *const toy_fills[] = {"exact", "uniform", "kinks", NULL};
static const kerf_dtype toy_dtypes[] = {KERF_F16, KERF_BF16, KERF_F32, KERF_F64};

static const kerf_op toy_op = {.bytes = sizeof(kerf_op),
                               .name = "toy",
                               .attrs = toy_attrs,
                               .dims = toy_dims,
                               .inputs = toy_inputs,
                               .outputs = toy_outputs,
                               .fills = toy_fills,
                               .dtypes = toy_dtypes,
                               .n_dtypes = 4};

static inline const char *message_fault(const kerf_error *error) {
    if (error->message[0] == '\0')
        return "an error without a message";
    for (const char *c = error->message; *c != '\0'; ++c)
        if (*c < ' ' || *c > '~')
            return "a message that is not one printable line";
    return NULL;
}

/* NULL if printing the case, reading that and printing again gives the same text and hash. */
static inline const char *round_trip_fault(const kerf_case *c, kerf_arena *arena) {
    char memory[2][9000];
    kerf_text first = kerf_text_over(memory[0], sizeof memory[0]), second = kerf_text_over(memory[1], sizeof memory[1]);
    kerf_case_print(c, &first);
    kerf_case again;
    kerf_error error = {0};
    if (first.cut)
        return "a canonical text that is longer than a line with all its defaults";
    /* A line of the full length may grow by the defaults that it left out. */
    const kerf_status status = kerf_case_parse(c->op, first.data, arena, &again, &error);
    if (status != KERF_OK)
        return status == KERF_ERROR_MEMORY || first.length > 4096 ? NULL : "a canonical text that is refused";
    kerf_case_print(&again, &second);
    if (strcmp(first.data, second.data) != 0)
        return "a canonical text that changes when it is read";
    return kerf_case_hash(c) == kerf_case_hash(&again) ? NULL : "a hash that changes when the text is read";
}

/* Reads the bytes as one case, as a file of cases and as a filter. NULL, or which property does not hold. */
static inline const char *case_text_fault(const unsigned char *data, size_t n_bytes, kerf_arena *arena) {
    static char text[8192];
    if (n_bytes < 1 || n_bytes >= sizeof text)
        return NULL;
    memcpy(text, data + 1, n_bytes - 1);
    text[n_bytes - 1] = '\0';
    kerf_arena_rewind(arena, 0);

    kerf_error error = {0};
    kerf_case one;
    const char *fault = kerf_case_parse(&toy_op, text, arena, &one, &error) == KERF_OK ? round_trip_fault(&one, arena)
                                                                                       : message_fault(&error);
    if (fault)
        return fault;

    const char *const attrs[] = {text, NULL};
    kerf_case_filter filter = {0};
    switch (data[0] >> 1 & 7) {
    case 1:
        filter.attrs = attrs;
        break;
    case 2:
        filter.dims = text;
        break;
    case 3:
        filter.layouts = text;
        break;
    case 4:
        filter.wants = text;
        break;
    case 5:
        filter.dtypes = text;
        break;
    default:
        break;
    }
    const char *const lines = filter.attrs || filter.dims || filter.layouts || filter.wants || filter.dtypes
                                  ? "mode=* pad=* aligned=* dtype=* N=1 Ho=2 Wo=3\nN=1 Ho=2 Wo=3 layout=nhwc want=dx\n"
                                  : text;
    kerf_case_list list = {0};
    if (kerf_cases_read(&toy_op, "text", lines, data[0] & 1 ? KERF_EXPAND_PAIRS : KERF_EXPAND_ALL, &filter, arena,
                        &list, &error) != KERF_OK)
        return message_fault(&error);
    for (int i = 0; i < list.n && !fault; i += 1 + list.n / 16)
        fault = round_trip_fault(&list.at[i], arena);
    return fault;
}

#endif
