/* The place where a child runs a row: buffers between guards, poison, teams, device memory. Inside the verifier only.
 */
#ifndef KERF_HARNESS_VERIFY_BENCH_H
#define KERF_HARNESS_VERIFY_BENCH_H

#include "base/guarded.h"
#include "harness/device.h"
#include "harness/team.h"
#include "harness/verify_job.h"

/* Where an operand stands in its buffer. The margins around it are poisoned too: within the guards' page an access
 * outside the operand does not trap. */
typedef struct kerf_seat {
    unsigned char *begin, *end;  /* lowest element, end of the highest */
    unsigned char *zero;         /* element (0,...,0) */
    unsigned char *first, *last; /* margins included */
    kerf_poison poison;
    size_t resident_pages; /* of a sparse operand, before the run */
} kerf_seat;

/* Memory of the device that mirrors a seat. */
typedef struct kerf_mirror {
    void *memory;
    size_t capacity_bytes;
    void *first; /* where seat->first is mirrored */
} kerf_mirror;

typedef enum kerf_team_kind { KERF_ALONE, KERF_THREADS, KERF_SERIAL_BACKWARDS } kerf_team_kind;

typedef struct kerf_pass {
    kerf_place place;
    int threads;
    kerf_team_kind kind;
} kerf_pass;

/* Results that are kept: of the first pass, of the pass at hand, of a repetition. */
enum { KERF_RESULT_FIRST, KERF_RESULT_PASS, KERF_RESULT_AGAIN, KERF_N_RESULTS };
enum { KERF_EXTRA_SCRATCH, KERF_EXTRA_PACKED, KERF_N_EXTRAS };
enum { KERF_MAX_TEAMS = 16 };

struct kerf_bench {
    const kerf_row *row;
    const kerf_variant *variant;
    const kerf_device *device;
    const kerf_job *job;
    kerf_slot *slot;
    kerf_memory memory;
    kerf_rng rng;       /* of the poison */
    bool finite_poison; /* in this pass outputs hold numbers, so that unwritten elements cannot be told by their bits */
    kerf_guarded in[KERF_MAX_OPERANDS], out[KERF_MAX_OPERANDS], extra[KERF_N_EXTRAS];
    kerf_guarded result[KERF_N_RESULTS][KERF_MAX_OPERANDS]; /* packed elements */
    kerf_seat in_seat[KERF_MAX_OPERANDS], out_seat[KERF_MAX_OPERANDS], extra_seat[KERF_N_EXTRAS];
    kerf_mirror in_mirror[KERF_MAX_OPERANDS], out_mirror[KERF_MAX_OPERANDS], extra_mirror[KERF_N_EXTRAS];
    kerf_thread_team *team[KERF_MAX_TEAMS];
    int n_teams;
};

static inline bool kerf_bench_wants(const kerf_bench *bench, int output) {
    return bench->job->problem.want >> output & 1;
}

/* Makes the buffers fit the job, and says in the slot what they take. */
kerf_status kerf_bench_fit(kerf_bench *bench, kerf_error *error);
/* Places and poisons everything, runs the variant once. */
kerf_status kerf_bench_run(kerf_bench *bench, const kerf_pass *pass, kerf_error *error);
/* Gives large buffers back. */
void kerf_bench_leave(kerf_bench *bench);

/* After a run: fetches the outputs from the device, gathers their elements into result `result`, and looks for what the
 * run must not have left: unwritten elements, changed gaps, changed inputs. False with a finding in the slot. */
bool kerf_bench_collect(kerf_bench *bench, int result);

/* Copies of seats on the device. */
kerf_status kerf_mirror_upload(const kerf_device *device, kerf_mirror *mirror, const kerf_seat *seat,
                               kerf_error *error);
kerf_status kerf_mirror_download(const kerf_device *device, const kerf_mirror *mirror, const kerf_seat *seat, void *to,
                                 kerf_error *error);

#endif
