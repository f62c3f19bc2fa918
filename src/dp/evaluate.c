/* Measuring only: the same noise law from a seeded training stream. Never a release, never in a ledger. */
#include "dp/accountant.h"

sotto_status sotto_noise_evaluate(float *vector, size_t n, const char *mechanism, double scale, uint64_t seed,
                                  uint64_t draw)
{
    sotto_status status = SOTTO_OK;
    const struct mechanism *m;
    TRY(mechanism_require(&m, mechanism));
    REQUIRE(m->measure, "mechanism '%s' has no sampler for measuring", m->name);
    TRY(require_positive(scale, "scale"));
    struct rng stream = rng_stream(seed, RNG_EVALUATE, draw, 0);
    for (size_t i = 0; i < n; i++) {
        double u = ((double)(rng_u64(&stream) >> 11) + 0.5) * 0x1p-53, v = rng_unit(&stream);
        vector[i] = (float)((double)vector[i] + scale * m->measure(u, v));
    }
done:
    return status;
}
