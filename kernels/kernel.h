/* The contracts between an op (WHAT is computed), a variant (HOW), and whoever calls them. docs/design.md explains the
 * nouns. Every struct that crosses a plug-in's border starts with its byte size; arrays are arrays of pointers, so that
 * fields can be added later. Nothing here allocates: memory belongs to the caller. */
#ifndef KERF_KERNELS_KERNEL_H
#define KERF_KERNELS_KERNEL_H

#include "base/arena.h"
#include "base/dtype.h"
#include "base/rng.h"
#include "base/status.h"
#include "base/strided.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- case: the identity of one problem, text only ------------------------------------------------------------ */

#define KERF_MAX_OPERANDS 8
#define KERF_MAX_ATTRS    12
#define KERF_MAX_DIMS     24

typedef enum kerf_attr_kind {
    KERF_ATTR_ENUM, /* `number` is the index into the spec's values */
    KERF_ATTR_INT,
    KERF_ATTR_REAL,
    KERF_ATTR_INT_LIST,
    KERF_ATTR_TEXT
} kerf_attr_kind;

typedef struct kerf_attr {
    int64_t number;
    double real;
    const char *text;
    const int64_t *list;
    int n_list;
} kerf_attr;

/* An attribute that an op declares. For an enum: the names of its values and, as pairs, other names that are accepted.
 */
typedef struct kerf_attr_spec {
    uint32_t bytes;
    const char *name;
    kerf_attr_kind kind;
    const char *const *values;   /* NULL-terminated; enum only */
    const char *const *synonyms; /* {other, canonical, ..., NULL}; NULL if there are none */
    kerf_attr standard;          /* the default value */
} kerf_attr_spec;

struct kerf_op;

typedef struct kerf_case {
    const struct kerf_op *op;
    kerf_attr attr[KERF_MAX_ATTRS]; /* in the order of op->attrs, all set */
    int64_t dim[KERF_MAX_DIMS];     /* in the order of op->dims, all set */
    kerf_dtype dtype;
    const char *layout; /* canonical text, see layout.h */
    int fill;           /* index into op->fills */
    uint64_t want;      /* bit i: output i is computed */
    uint64_t seed;
} kerf_case;

/* ---- problem: what a case means ------------------------------------------------------------------------------- */

typedef enum kerf_role {
    KERF_IN,
    KERF_IN_CONSTANT, /* may be packed ahead of the run */
    KERF_OUT,
    KERF_INOUT
} kerf_role;

typedef struct kerf_operand {
    uint32_t bytes;
    const char *name;
    kerf_role role;
    kerf_dtype dtype;
    uint32_t
        alignment; /* bytes that the address of element (0,...,0) is a multiple of: the element's, unless promised */
    kerf_strided at;
} kerf_operand;

typedef struct kerf_problem {
    uint32_t bytes;
    const struct kerf_op *op;
    const void *self; /* the op's own decoded attributes */
    int n_in, n_out;
    const kerf_operand *const *in, *const *out;
    uint64_t want;
    int fill; /* index into op->fills; of no meaning outside fill() */
} kerf_problem;

/* Lower bounds of what any implementation must do on these inputs. */
typedef struct kerf_work {
    double flops, read_bytes, written_bytes;
} kerf_work;

/* ---- op --------------------------------------------------------------------------------------------------------- */

typedef struct kerf_op {
    uint32_t bytes;
    const char *name;
    const char *summary;                /* one line for `bench list` */
    const kerf_attr_spec *const *attrs; /* NULL-terminated, in declared order; so are the lists below */
    const char *const *dims;            /* names of the extents a case gives */
    const char *const *inputs, *const *outputs;
    const char *const *fills; /* ways to fill the inputs; the first is `exact` */
    const kerf_dtype *dtypes;
    int n_dtypes;
    /* Checks everything and fills `problem`; what it points to comes from the arena. KERF_ERROR_USAGE with one line. */
    kerf_status (*describe)(const kerf_case *, kerf_arena *, kerf_problem *, kerf_error *);
    /* Writes every element of every input, each memory element once (axes of stride 0 count as one element). */
    void (*fill)(const kerf_problem *, kerf_rng *, void *const in[]);
    kerf_work (*work)(const kerf_problem *, const void *const in[]);
    /* Bit i: the values of input i steer what is done (coordinates, indices), so another value is another amount of
     * work. Elements of the other inputs change between timed calls. */
    uint64_t steering;
} kerf_op;

/* ---- variant ---------------------------------------------------------------------------------------------------- */

/* Ranks of one call. `run` returns when work(arg, r) has returned for every r in [0, n). Ranks may run one after
 * another and in any order, so a rank never waits for another: each phase is a run of its own. NULL is a team of one.
 */
typedef struct kerf_team {
    int n;
    void (*run)(const struct kerf_team *, void (*work)(void *arg, int rank), void *arg);
} kerf_team;

static inline int kerf_team_size(const kerf_team *team) {
    return team ? team->n : 1;
}

static inline void kerf_team_run(const kerf_team *team, void (*work)(void *arg, int rank), void *arg) {
    if (team)
        team->run(team, work, arg);
    else
        work(arg, 0);
}

/* The share of part `rank` of n in `total` things: [*begin, *end), sizes differ by at most one. */
static inline void kerf_team_share(int64_t total, int64_t n, int64_t rank, int64_t *begin, int64_t *end) {
    *begin = total / n * rank + (total % n < rank ? total % n : rank);
    *end = *begin + total / n + (rank < total % n);
}

typedef struct kerf_setting {
    const char *name;
    int64_t value;
} kerf_setting;

/* A value for each parameter of a space. */
typedef struct kerf_config {
    uint32_t bytes;
    int n;
    const kerf_setting *setting;
} kerf_config;

static inline int64_t kerf_config_get(const kerf_config *config, const char *name, int64_t otherwise) {
    for (int i = 0; config && i < config->n; ++i)
        if (__builtin_strcmp(config->setting[i].name, name) == 0)
            return config->setting[i].value;
    return otherwise;
}

/* What may be chosen about how a variant works: a number out of a list, or one of several ways that have names. */
typedef struct kerf_parameter {
    uint32_t bytes;
    const char *name;
    const int64_t *values;
    const char *const *choices; /* names of the values 0, 1, ..., and `values` is NULL; NULL for numbers */
    int n_values;
    int64_t standard; /* the default */
} kerf_parameter;

/* The parameters of a variant and which combinations make sense. The space belongs to the variant; a constraint makes
 * it one of the problem and the machine: "channel_block < 2 * C" holds where it is not 0. Besides the parameters it
 * may name the case's extents, the choices of a parameter that it names ("packing != in_place"), and the symbols that
 * docs/tuning.md lists. `threads` is no parameter of a variant: whoever tunes adds it, and `run` sees the team. */
typedef struct kerf_space {
    uint32_t bytes;
    const kerf_parameter *const *parameters; /* NULL-terminated */
    const char *const *constraints;          /* NULL-terminated; NULL: there are none */
} kerf_space;

/* A line each in the list of a space: KERF_PARAMETER("block", 0, 0, 16, 32) is a number with default 0, and
 * KERF_CHOICE("packing", "auto", "packed", "in_place") one of three ways, of which the first is the default and `run`
 * sees the place in the list. C only, at file scope; a .cu file writes the structs. */
#define KERF_PARAMETER(label, otherwise, ...)                                                                          \
    (&(const kerf_parameter){.bytes = sizeof(kerf_parameter),                                                          \
                             .name = label,                                                                            \
                             .values = (const int64_t[]){__VA_ARGS__},                                                 \
                             .n_values = sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t),                     \
                             .standard = otherwise})
#define KERF_CHOICE(label, ...)                                                                                        \
    (&(const kerf_parameter){.bytes = sizeof(kerf_parameter),                                                          \
                             .name = label,                                                                            \
                             .choices = (const char *const[]){__VA_ARGS__},                                            \
                             .n_values = sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *)})

typedef struct kerf_memory {
    size_t scratch_bytes, packed_bytes;
    size_t alignment; /* of both; a power of two up to 64, 0 means 1 */
} kerf_memory;

typedef struct kerf_launch {
    uint32_t bytes;
    const kerf_problem *problem;
    const kerf_config *config; /* NULL: the defaults */
    const void *const *in;     /* address of element (0,...,0) of each input */
    void *const *out;          /* NULL where the output is not wanted */
    void *scratch;             /* memory(): scratch_bytes, content undefined */
    const void *packed;
    const kerf_team *team;
    void *stream;             /* device variants: where the work is queued */
    struct kerf_split *split; /* NULL: nobody asks; see split.h */
} kerf_launch;

#define KERF_TRAIT_UNORDERED       1u /* bits may differ from run to run */
#define KERF_TRAIT_ASYNC           2u /* run returns before the work is done; the device is synchronised after it */
#define KERF_TRAIT_SLICE_INVARIANT 4u /* an element's bits do not depend on its place in a tile */

typedef struct kerf_variant {
    uint32_t bytes;
    uint32_t traits;
    const char *summary; /* one line for `bench list` */
    /* True: cannot do this problem, and `why` says so with the numbers. May be NULL: refuses nothing of its class. */
    bool (*refuses)(const kerf_problem *, const kerf_config *, kerf_text *why);
    const kerf_space *space; /* NULL: no parameters */
    kerf_memory (*memory)(const kerf_problem *,
                          const kerf_config *);                /* NULL: needs none; a size that overflows is SIZE_MAX */
    kerf_status (*prepare)(const kerf_launch *, void *packed); /* IN_CONSTANT operands only; may be NULL */
    /* Allocates nothing, prints nothing, owns nothing, creates no threads, reads inputs only; may be called
     * concurrently with different scratch. Fails only when a device or library does. */
    kerf_status (*run)(const kerf_launch *);
} kerf_variant;

#ifdef __cplusplus
}
#endif

#endif
