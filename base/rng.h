/* Random numbers that are the same on every machine: xoshiro256** (Blackman and Vigna, 2018), seeded by splitmix64 so
 * that neighbouring seeds and streams are unrelated. */
#ifndef KERF_BASE_RNG_H
#define KERF_BASE_RNG_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kerf_rng {
    uint64_t state[4];
} kerf_rng;

kerf_rng kerf_rng_seeded(uint64_t seed, uint64_t stream);
uint64_t kerf_rng_next(kerf_rng *rng);
uint64_t kerf_rng_below(kerf_rng *rng, uint64_t bound); /* uniform in [0, bound), without bias; bound >= 1 */
double kerf_rng_unit(kerf_rng *rng);                    /* uniform in [0, 1), 53 bits */

/* FNV-1a, 64 bits, over text or bytes: identities of cases and code, never security. */
#define KERF_HASH_START UINT64_C(0xcbf29ce484222325)
uint64_t kerf_hash_bytes(uint64_t hash, const void *bytes, uint64_t n_bytes);

#ifdef __cplusplus
}
#endif

#endif
