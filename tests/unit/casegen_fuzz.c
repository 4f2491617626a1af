/* The properties of tests/fuzz/case_text.c on texts that are mutated from good ones, the same ones in every run. */
#include "base/rng.h"
#include "tests/catch_shim.h"
#include "tests/unit/casegen_toy.h"

#define N_TEXTS  20000
#define MAX_TEXT 400

static const char *const seeds[] = {
    "toy mode=centre pad=border aligned=1 N=1 Ho=2 Wo=3 dtype=f16 layout=nhwc fill=exact want=dx seed=7",
    "mode=* pad=* aligned=* dtype=* N=0 Ho=1 Wo=4096\n# comment\nN=1 Ho=1 Wo=1\n",
    "steps=-9 scale=1e-3 block=1,2,3 note=abc=d N=1 Ho=2 Wo=3 want=dx+dgrid seed=0xffff",
    "layout=dx=nhwc,x=strides:4294967296:0:-1:7 N=1 Ho=2 Wo=9223372036854775807",
    "mode=high,low",
    "N=4,Ho=7",
    "nchw,x=nhwc,grid=planar",
    "f16,f32,bf16",
};
static const char *const pieces[] = {"=",  "*",   ",", "+",   ":",      "#",  "\n",       "-1", "18446744073709551616",
                                     "0x", "N=1", " ", "Ho=", "dtype=", "==", "strides:", "\r", "\t"};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static size_t insert(unsigned char *text, size_t n, const char *piece, size_t at) {
    const size_t n_piece = strlen(piece);
    if (n + n_piece > MAX_TEXT)
        return n;
    memmove(text + at + n_piece, text + at, n - at);
    memcpy(text + at, piece, n_piece);
    return n + n_piece;
}

static size_t mutate(unsigned char *text, size_t n, kerf_rng *rng) {
    const size_t at = kerf_rng_below(rng, n);
    switch (kerf_rng_below(rng, 5)) {
    case 0:
        text[at] = (unsigned char)kerf_rng_below(rng, 256);
        return n;
    case 1:
        return at + 1;
    case 2:
        memmove(text + at, text + at + 1, n - at - 1);
        return n > 1 ? n - 1 : n;
    case 3:
        return insert(text, n, seeds[kerf_rng_below(rng, COUNT(seeds))], at);
    default:
        return insert(text, n, pieces[kerf_rng_below(rng, COUNT(pieces))], at);
    }
}

static void mutated_texts(void) {
    kerf_arena arena;
    kerf_error error;
    REQUIRE_MESSAGE(kerf_arena_map_shared(&arena, 8u << 20, &error) == KERF_OK, "%s", error.message);
    kerf_rng rng = kerf_rng_seeded(1, 0);
    unsigned char text[MAX_TEXT];
    const char *fault = NULL;
    size_t n = 0;
    for (int i = 0; i < N_TEXTS && !fault; ++i) {
        const char *const seed = seeds[kerf_rng_below(&rng, COUNT(seeds))];
        n = 1 + strlen(seed);
        text[0] = (unsigned char)kerf_rng_below(&rng, 256);
        memcpy(text + 1, seed, n - 1);
        for (uint64_t left = kerf_rng_below(&rng, 6); left > 0; --left)
            n = mutate(text, n, &rng);
        fault = case_text_fault(text, n, &arena);
    }
    kerf_arena_unmap(&arena);
    REQUIRE_MESSAGE(!fault, "%s, for the text '%.*s'", fault, (int)n - 1, (const char *)text + 1);
}

const kerf_test kerf_tests_unit_casegen_fuzz[] = {
    {"case texts: mutated texts are read or refused, never anything else", "[unit][cases][fuzz]", mutated_texts,
     __FILE__, __LINE__},
    {0},
};
