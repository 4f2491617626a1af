/* What scripts/peers calls through ctypes: a case as arrays in memory, our plain C entry out of any build
 * of libkerf_kernels on these arrays, and the oracle as the judge of our result and of a peer's. Pointers are handed
 * out as they are; functions that can fail return what they say and leave a line in kerf_peers_message(). */
#ifndef KERF_SCRIPTS_PEERS_ENTRY_H
#define KERF_SCRIPTS_PEERS_ENTRY_H

#include "base/strided.h"

#include <stdint.h>

typedef struct kerf_peers kerf_peers;

enum { KERF_PEERS_ROWS = 8 };

/* From now on cases are of this op: grid_sampler_grad (the default), grid_sampler, space_to_batch, batch_to_space. 0 is
 * success. */
int kerf_peers_use(const char *op);

/* One operand, inputs before outputs: grad, x, grid, dx, dgrid, x, grid, y, or x, y. Strides in elements. */
typedef struct kerf_peers_operand {
    void *data; /* NULL for outputs, which each row has its own of */
    int64_t n_elements, rank, dims[KERF_MAX_RANK], strides[KERF_MAX_RANK];
} kerf_peers_operand;

/* Calls `tell` with the canonical text of each case of the file (docs/cases.md), in order; 0 is success. */
int kerf_peers_read(const char *path, void (*tell)(const char *text));

/* From now on rank r of a team, and the caller as rank 0, runs on processor cpus[r % n]: where the system puts threads
 * that sleep between calls is luck, and two on one processor take twice as long. */
void kerf_peers_pin(const int *cpus, int n);

/* The case, its inputs filled; `offsets` seeds where in a page each buffer begins. NULL: not a case. */
kerf_peers *kerf_peers_open(const char *line, int threads, uint64_t offsets);
void kerf_peers_close(kerf_peers *peers);
const char *kerf_peers_message(void);

void kerf_peers_describe(const kerf_peers *peers, int operand, kerf_peers_operand *result);
double kerf_peers_bytes(const kerf_peers *peers); /* of all operands, each memory element once */
/* How long a call takes at least with so many threads, by the limits that `bench doctor` keeps for this machine
 * (docs/doctor.md, "The limit of a row"); 0: none are kept. */
double kerf_peers_limit_ns(const kerf_peers *peers, int threads);

/* Adds a row: outputs and scratch of its own, touched, for the entry of the library at `path`. -1: refused. */
int kerf_peers_bind(kerf_peers *peers, const char *path);
/* A row that copies as many bytes as the operands of the case have, read and written together, with the same threads:
 * what doctor measures. `streamed`: with stores that go around the caches. */
int kerf_peers_bind_copy(kerf_peers *peers, int streamed);
/* One call; 0 is success. */
int kerf_peers_run(kerf_peers *peers, int row);
/* Fills the outputs of the row with NaN. */
void kerf_peers_poison(kerf_peers *peers, int row);

/* A packed copy of an output, numbered like the operands, of the row in `packed`. */
void kerf_peers_gather(const kerf_peers *peers, int row, int operand, void *packed);
/* The oracle of the case, or of the case with accumulate=storage. Needed once before kerf_peers_judge; 0 is success. */
int kerf_peers_expect(kerf_peers *peers, int storage);
/* Of a packed output. Its fields stay 0 where the output is not wanted. */
typedef struct kerf_peers_verdict {
    double ratio;          /* error / slack of the worst element: at most 1 is right */
    double error, largest; /* largest distance of a wrong element from what is right; the largest right value */
    int64_t n_bad, n_elements;
    int64_t n_class; /* of the wrong ones: not finite, or finite where another class is right */
} kerf_peers_verdict;

void kerf_peers_judge(const kerf_peers *peers, int storage, int operand, const void *packed,
                      kerf_peers_verdict *verdict);

uint64_t kerf_peers_isa(void); /* KERF_ISA_... */
const char *kerf_peers_cpu(void);

#endif
