#include "base/rng.h"

static uint64_t rotated_left(uint64_t x, int k) {
    return (x << k) | (x >> (64 - k));
}

static uint64_t splitmix64(uint64_t *state) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

kerf_rng kerf_rng_seeded(uint64_t seed, uint64_t stream) {
    /* The stream goes through the mixer first: seed + 1 in one stream must not equal seed in the next. */
    uint64_t state = splitmix64(&stream) ^ seed;
    kerf_rng rng;
    for (int i = 0; i < 4; ++i)
        rng.state[i] = splitmix64(&state);
    return rng;
}

uint64_t kerf_rng_next(kerf_rng *rng) {
    uint64_t *const s = rng->state;
    const uint64_t result = rotated_left(s[1] * 5, 7) * 9;
    const uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotated_left(s[3], 45);
    return result;
}

uint64_t kerf_rng_below(kerf_rng *rng, uint64_t bound) {
    /* Values below 2^64 mod bound would make the small remainders too frequent (Lemire 2019). */
    const uint64_t reject_below = (0 - bound) % bound;
    for (;;) {
        const uint64_t value = kerf_rng_next(rng);
        if (value >= reject_below)
            return value % bound;
    }
}

double kerf_rng_unit(kerf_rng *rng) {
    return (double)(kerf_rng_next(rng) >> 11) * 0x1p-53;
}

uint64_t kerf_hash_bytes(uint64_t hash, const void *bytes, uint64_t n_bytes) {
    const unsigned char *const byte = bytes;
    for (uint64_t i = 0; i < n_bytes; ++i)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}
