#include "harness/expression.h"

#include "base/checked.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The parser and the evaluator call themselves once per level. */
#define MAX_DEPTH 32

typedef enum node_kind {
    NUMBER,
    NAME,
    NEGATE,
    NOT,
    OR,
    AND,
    EQUAL,
    UNEQUAL,
    AT_MOST,
    AT_LEAST,
    LESS,
    GREATER,
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    REMAINDER
} node_kind;

enum { LEVEL_OR, LEVEL_AND, LEVEL_COMPARE, LEVEL_ADD, LEVEL_MULTIPLY, N_LEVELS };

/* Longer signs stand before those that they begin with. */
static const struct {
    const char *sign;
    node_kind kind;
    int level;
} operators[] = {
    {"||", OR, LEVEL_OR},
    {"&&", AND, LEVEL_AND},
    {"==", EQUAL, LEVEL_COMPARE},
    {"!=", UNEQUAL, LEVEL_COMPARE},
    {"<=", AT_MOST, LEVEL_COMPARE},
    {">=", AT_LEAST, LEVEL_COMPARE},
    {"<", LESS, LEVEL_COMPARE},
    {">", GREATER, LEVEL_COMPARE},
    {"+", ADD, LEVEL_ADD},
    {"-", SUBTRACT, LEVEL_ADD},
    {"*", MULTIPLY, LEVEL_MULTIPLY},
    {"/", DIVIDE, LEVEL_MULTIPLY},
    {"%", REMAINDER, LEVEL_MULTIPLY},
};

typedef struct parser {
    kerf_expression *to;
    const char *at;
    int depth;
    kerf_error *error;
} parser;

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static size_t name_length(const char *text) {
    size_t n = 0;
    while (is_letter(text[n]) || (n > 0 && is_digit(text[n])))
        ++n;
    return n;
}

bool kerf_is_name(const char *text) {
    const size_t n = name_length(text);
    return n > 0 && text[n] == '\0' && n < KERF_MAX_NAME_BYTES;
}

static kerf_status refused(const parser *p, const char *why) {
    return kerf_fail(p->error, KERF_ERROR_USAGE, "constraint '%.200s', character %td: %s", p->to->text,
                     p->at - p->to->text + 1, why);
}

static void skip_blanks(parser *p) {
    while (*p->at == ' ' || *p->at == '\t')
        ++p->at;
}

static kerf_status add_node(parser *p, kerf_expression_node node, int *number) {
    if (p->to->n_nodes == KERF_MAX_EXPRESSION_NODES)
        return refused(p, "it is too long; give several constraints instead");
    *number = p->to->n_nodes++;
    p->to->node[*number] = node;
    return KERF_OK;
}

static kerf_status parse_name(parser *p, int *node) {
    const size_t length = name_length(p->at);
    if (length >= KERF_MAX_NAME_BYTES)
        return refused(p, "a name is too long");
    int i = 0;
    while (i < p->to->n_names && (strlen(p->to->name[i]) != length || memcmp(p->to->name[i], p->at, length) != 0))
        ++i;
    if (i == KERF_MAX_EXPRESSION_NAMES)
        return refused(p, "it has too many names; give several constraints instead");
    if (i == p->to->n_names) {
        memcpy(p->to->name[i], p->at, length);
        p->to->name[i][length] = '\0';
        ++p->to->n_names;
    }
    p->at += length;
    return add_node(p, (kerf_expression_node){.kind = NAME, .value = i}, node);
}

static kerf_status parse_number(parser *p, int *node) {
    char *end;
    errno = 0;
    const long long value = strtoll(p->at, &end, 10);
    if (errno || is_letter(*end))
        return refused(p, "expected a whole number below 2^63");
    p->at = end;
    return add_node(p, (kerf_expression_node){.kind = NUMBER, .value = value}, node);
}

static kerf_status parse_binary(parser *p, int level, int *node);

static kerf_status parse_operand(parser *p, int *node) {
    skip_blanks(p);
    const char first = *p->at;
    if (is_digit(first))
        return parse_number(p, node);
    if (is_letter(first))
        return parse_name(p, node);
    if (first != '(' && first != '-' && first != '!')
        return refused(p, "expected a number, a name, ( - or !");
    if (++p->depth > MAX_DEPTH)
        return refused(p, "it is nested too deeply");
    ++p->at;
    if (first == '(') {
        KERF_TRY(parse_binary(p, LEVEL_OR, node));
        if (*p->at != ')')
            return refused(p, "expected an operator or )");
        ++p->at;
    } else {
        int operand;
        KERF_TRY(parse_operand(p, &operand));
        KERF_TRY(add_node(p, (kerf_expression_node){.kind = first == '-' ? NEGATE : NOT, .left = operand}, node));
    }
    --p->depth;
    return KERF_OK;
}

/* The operator that stands here, or -1. */
static int operator_here(parser *p) {
    skip_blanks(p);
    const int n = (int)(sizeof operators / sizeof operators[0]);
    int i = 0;
    while (i < n && strncmp(p->at, operators[i].sign, strlen(operators[i].sign)) != 0)
        ++i;
    return i < n ? i : -1;
}

static kerf_status parse_binary(parser *p, int level, int *node) {
    if (level == N_LEVELS)
        return parse_operand(p, node);
    KERF_TRY(parse_binary(p, level + 1, node));
    int n = 0;
    for (int i; (i = operator_here(p)) >= 0 && operators[i].level == level; ++n) {
        /* 1 < a < 5 would mean (1 < a) < 5, which nobody does. */
        if (level == LEVEL_COMPARE && n > 0)
            return refused(p, "comparisons cannot be chained; write a < b && b < c");
        p->at += strlen(operators[i].sign);
        int right;
        KERF_TRY(parse_binary(p, level + 1, &right));
        KERF_TRY(
            add_node(p, (kerf_expression_node){.kind = (int)operators[i].kind, .left = *node, .right = right}, node));
    }
    return KERF_OK;
}

kerf_status kerf_expression_parse(const char *text, kerf_expression *expression, kerf_error *error) {
    *expression = (kerf_expression){.text = text};
    for (const char *c = text; *c; ++c)
        if (((unsigned char)*c < ' ' && *c != '\t') || *c == 0x7f)
            return kerf_fail(error, KERF_ERROR_USAGE, "a constraint has a control character at character %td",
                             c - text + 1);
    parser p = {.to = expression, .at = text, .error = error};
    KERF_TRY(parse_binary(&p, LEVEL_OR, &expression->root));
    return *p.at ? refused(&p, "expected an operator (+ - * / % == != < <= > >= && ||) or the end") : KERF_OK;
}

static bool calculate(node_kind kind, int64_t a, int64_t b, int64_t *value) {
    switch (kind) {
    case EQUAL:
        *value = a == b;
        return true;
    case UNEQUAL:
        *value = a != b;
        return true;
    case AT_MOST:
        *value = a <= b;
        return true;
    case AT_LEAST:
        *value = a >= b;
        return true;
    case LESS:
        *value = a < b;
        return true;
    case GREATER:
        *value = a > b;
        return true;
    case ADD:
        return kerf_add_i64(a, b, value);
    case SUBTRACT:
        return !__builtin_sub_overflow(a, b, value);
    case MULTIPLY:
        return kerf_mul_i64(a, b, value);
    default: /* the least number divided by -1 overflows */
        if (b == 0 || (b == -1 && a == INT64_MIN))
            return false;
        *value = kind == DIVIDE ? a / b : a % b;
        return true;
    }
}

/* False: it has no value. A chain of operators of one level is as deep as it is long: KERF_MAX_EXPRESSION_NODES. */
static bool evaluate(const kerf_expression *e, int number, const int64_t values[], int64_t *value) {
    const kerf_expression_node *const node = &e->node[number];
    int64_t a = 0, b = 0;
    if (node->kind == NUMBER || node->kind == NAME) {
        *value = node->kind == NUMBER ? node->value : values[node->value];
        return true;
    }
    if (!evaluate(e, node->left, values, &a))
        return false;
    if (node->kind == NEGATE)
        return !__builtin_sub_overflow(0, a, value);
    if (node->kind == NOT || (node->kind == OR && a != 0) || (node->kind == AND && a == 0)) {
        *value = node->kind == NOT ? a == 0 : node->kind == OR;
        return true;
    }
    if (!evaluate(e, node->right, values, &b))
        return false;
    if (node->kind == OR || node->kind == AND) {
        *value = b != 0;
        return true;
    }
    return calculate((node_kind)node->kind, a, b, value);
}

bool kerf_expression_holds(const kerf_expression *expression, const int64_t values[]) {
    int64_t value;
    return evaluate(expression, expression->root, values, &value) && value != 0;
}
