/* Measuring only: the same noise law from a seeded training stream. Never a release, never in a ledger. */
#include "dp/release/noise_simulate.h"
#include "base/memory.h"
#include "dp/account/accountant.h"
#include "dp/noise/discretised_noise.h"
#include "dp/noise/knorm.h"

/* Continuous laws by inversion in double, one coordinate at a time. */
static void add_inverted(float *vector, size_t n, const struct mechanism *m, double scale, struct rng *stream)
{
    for (size_t i = 0; i < n; i++) {
        double u = ((double)(rng_u64(stream) >> 11) + 0.5) * 0x1p-53, v = rng_unit(stream);
        vector[i] = (float)((double)vector[i] + scale * m->measure(u, v));
    }
}

/* The others by the sampler that releases use, from a seeded stream. Discrete noise in steps of 1. */
static sotto_status add_seeded(float *vector, size_t n, const struct mechanism *m, double scale,
                               uint64_t seed)
{
    sotto_status status = SOTTO_OK;
    struct noise *stream = NULL;
    struct discretised_noise noise = {.key = {0}};
    int64_t *whole = NULL;
    double *reals = NULL;
    uint64_t ratio;
    unsigned shift;
    TRY(noise_open_insecure(&stream, seed));
    if (mechanism_is_discretised(m)) {
        REQUIRE(discretised_noise_fits(scale, false), "scale %g is out of range; expected 2^-30 to 2^44",
                scale);
        NEW(whole, n);
        TRY(discretised_noise_open(&noise, m->law, scale, false, stream));
        TRY(discretised_noise_fill(&noise, whole, 0, n, 1));
        for (size_t i = 0; i < n; i++)
            vector[i] += (float)whole[i];
        goto done;
    }
    if (m->kind == RELEASE_INTEGER) {
        REQUIRE(lattice_ratio(&ratio, &shift, scale), "scale %g is out of range; expected 2^-9 to 2^52",
                scale);
        for (size_t i = 0; i < n; i++)
            vector[i] += (float)integer_signed(stream, m->integer->magnitude, ratio, shift);
        goto done;
    }
    NEW(reals, n);
    knorm_draw(reals, n, scale, stream);
    for (size_t i = 0; i < n; i++)
        vector[i] = (float)((double)vector[i] + reals[i]);
done:
    base_free(whole);
    base_free(reals);
    noise_close(stream);
    return status;
}

sotto_status noise_simulate(float *vector, size_t n, const char *mechanism, double scale, uint64_t seed,
                            uint64_t draw)
{
    REQUIRE_GIVEN(!n || vector, mechanism);
    sotto_status status = SOTTO_OK;
    const struct mechanism *m;
    TRY(mechanism_require(&m, mechanism));
    TRY(require_positive(scale, "scale"));
    REQUIRE(m->kind <= RELEASE_VECTOR,
            "mechanism '%s' adds no noise to a vector; expected one that does, such as gaussian", m->name);
    struct rng stream = rng_stream(seed, RNG_EVALUATE, draw, 0);
    if (m->measure)
        add_inverted(vector, n, m, scale, &stream);
    else
        TRY(add_seeded(vector, n, m, scale, rng_u64(&stream)));
done:
    return status;
}
