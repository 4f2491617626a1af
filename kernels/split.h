/* How a call's time divides into packing, computing and unpacking: a kernel says where each rank is, and who asked for
 * the split reads the sums. A kernel that never says so simply has none.
 *
 *   kerf_split_phase(launch, rank, KERF_SPLIT_PACK);     from here on this rank packs
 *   kerf_split_phase(launch, rank, KERF_SPLIT_COMPUTE);  ... computes
 *   kerf_split_phase(launch, rank, KERF_SPLIT_NONE);     ... does nothing that counts; also before the rank returns
 *
 * Where nobody asked this is a branch that is never taken. Where somebody did, it is a reading of the clock (some 25
 * ns), so a phase should last a microsecond or more. */
#ifndef KERF_KERNELS_SPLIT_H
#define KERF_KERNELS_SPLIT_H

#include "kernels/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kerf_split_kind {
    KERF_SPLIT_NONE,
    KERF_SPLIT_PACK, /* inputs into the form that is worked on; room for results cleared */
    KERF_SPLIT_COMPUTE,
    KERF_SPLIT_UNPACK, /* results into the form that was asked for */
    KERF_N_SPLITS
} kerf_split_kind;

/* A cache line of its own, so that ranks do not take it from each other. */
typedef struct __attribute__((aligned(64))) kerf_split_rank {
    uint64_t ns[KERF_N_SPLITS]; /* ns[KERF_SPLIT_NONE] means nothing */
    uint64_t since_ns;
    kerf_split_kind now;
} kerf_split_rank;

/* Belongs to whoever calls the kernel, zeroed before the call. */
typedef struct kerf_split {
    uint32_t bytes;
    int n_ranks; /* ranks beyond these are not counted */
    kerf_split_rank *rank;
    uint64_t (*now_ns)(void *state); /* called by all ranks at once */
    void *state;
} kerf_split;

__attribute__((noinline, cold, unused)) static void kerf_split_enter(kerf_split *split, int rank,
                                                                     kerf_split_kind kind) {
    if (rank >= split->n_ranks)
        return;
    kerf_split_rank *const own = &split->rank[rank];
    const uint64_t now_ns = split->now_ns(split->state);
    own->ns[own->now] += now_ns > own->since_ns ? now_ns - own->since_ns : 0;
    own->since_ns = now_ns;
    own->now = kind;
}

static inline void kerf_split_phase(const kerf_launch *launch, int rank, kerf_split_kind kind) {
    if (__builtin_expect(launch->bytes > offsetof(kerf_launch, split) && launch->split, 0))
        kerf_split_enter(launch->split, rank, kind);
}

#ifdef __cplusplus
}
#endif

#endif
