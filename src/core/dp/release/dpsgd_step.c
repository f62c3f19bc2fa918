/* One step of a reservation: which records are in it, and the noise of its sum. The sum is rounded to the
 * lattice in doubles, as whole numbers q of up to 2^51; discretised noise k is added, and what comes out is a
 * function of the integer q + k alone (docs/derivations/exact-noise.md, section 1). */
#include "dp/release/dpsgd_session.h"

#include "base/cpu.h"
#include "base/memory.h"
#include "dp/noise/discretised_noise.h"
#include "dp/noise/poisson_sample.h"
#include "dp/release/lattice_sum.h"
#include "par/par.h"

#include <math.h>

static sotto_status check_left(size_t taken, const struct sotto_dpsgd_session *s)
{
    if (taken == s->reserved)
        return status_fail(SOTTO_EBUDGET, "step: all %zu reserved steps are used; reserve more steps first",
                           s->reserved);
    return SOTTO_OK;
}

sotto_status dpsgd_session_check_process(const struct sotto_dpsgd_session *s)
{
    /* ranks but the first have no stream of samples */
    if ((s->samples && !noise_is_own(s->samples)) || (s->keys && !noise_is_own(s->keys)))
        return status_fail(SOTTO_EINVAL,
                           "step: the steps were reserved before this process was forked; take them in "
                           "the process that reserved them, or reserve steps in this one");
    return SOTTO_OK;
}

sotto_status sotto_dp_sample(struct sotto_dpsgd_session *steps, uint32_t *rows, size_t *count, size_t n)
{
    REQUIRE_GIVEN(steps, rows, count);
    sotto_status status = SOTTO_OK;
    TRY(dpsgd_session_check_process(steps));
    TRY(check_left(steps->sampled, steps));
    REQUIRE(n <= UINT32_MAX, "sotto_dp_sample(): %zu records; expected at most %u", n, UINT32_MAX);
    REQUIRE(steps->facts.sampling == SOTTO_SAMPLING_POISSON || n == steps->fixed.records,
            "sotto_dp_sample(): %zu records; expected %zu, as in the reservation", n, steps->fixed.records);
    steps->sampled++;
    if (steps->everyone) {
        for (size_t i = 0; i < n; i++)
            rows[i] = (uint32_t)i;
        *count = n;
        goto done;
    }
    *count = steps->facts.sampling == SOTTO_SAMPLING_FIXED
                 ? fixed_sample_draw(rows, &steps->fixed, steps->samples)
                 : coins_draw(rows, n, steps->rate, steps->samples);
done:
    return status;
}

/* ---- noise ---- */

ISA_TABLE(const struct lattice_sum_kernels, lattice_sum_kernels, lattice_sum_kernels_find);

struct pass {
    struct discretised_noise noise;
    double *doubles; /* one of them */
    float *floats;
    size_t first, end; /* the coordinates that get noise */
    _Atomic size_t noised;
    const struct lattice_sum_kernels *kernels;
    double per_step, half_step; /* what makes lattice steps of the sum, and the sum of half steps */
};

enum {
    CHUNK = 32 * DISCRETISED_GROUP, /* 32 KiB of draws */
    SHARED = 8                      /* fewer chunks are done before a pool of threads is awake */
};

static sotto_status add_chunk(void *arg, size_t chunk, int thread)
{
    struct pass *p = arg;
    const size_t first = p->first + chunk * CHUNK, n = p->end - first < CHUNK ? p->end - first : CHUNK;
    _Alignas(64) double k[CHUNK];
    sotto_status status = discretised_noise_fill_doubles(&p->noise, k, first, n, 1);
    (void)thread;
    if (status == SOTTO_OK && p->floats)
        p->kernels->floats(p->floats + first, k, n, p->per_step, p->half_step);
    else if (status == SOTTO_OK)
        p->kernels->doubles(p->doubles + first, k, n, p->per_step, p->half_step);
    p->noised += n;
    base_wipe(k, n * sizeof *k);
    return status;
}

static sotto_status check_step(const struct sotto_dpsgd_session *s)
{
    sotto_status status = SOTTO_OK;
    TRY(dpsgd_session_check_process(s));
    TRY(check_left(s->used, s));
    REQUIRE(s->sampled > s->used || s->everyone,
            "sotto_dp_sample() was not called for this step; call it before sotto_dp_step()");
done:
    return status;
}

/* Each step has a key of its own from the stream, which forgets it: nothing is drawn twice, not by a resumed
 * run, and the noise of past steps cannot be drawn again from memory. */
static sotto_status add_noise(struct sotto_dpsgd_session *s, struct pass *p)
{
    sotto_status status = SOTTO_OK;
    const size_t n = p->end - p->first;
    p->kernels = lattice_sum_kernels_find();
    p->half_step = ldexp(1, s->lattice_exponent - 1);
    TRY(check_step(s));
    TRY(discretised_noise_open(&p->noise, s->mechanism->law, ldexp(s->facts.scale, -s->lattice_exponent),
                               false, s->keys));
    s->used++; /* before the noise: a step that is interrupted is a step that is used */
    s->sampled = s->sampled < s->used ? s->used : s->sampled;
    const size_t chunks = (n + CHUNK - 1) / CHUNK;
    status = par_chunks(chunks, chunks < SHARED ? 1 : s->threads, add_chunk, p);
    s->noised += p->noised;
    if (status != SOTTO_OK) /* some of it has no noise */
        base_wipe(p->floats ? (void *)(p->floats + p->first) : p->doubles + p->first,
                  n * (p->floats ? sizeof *p->floats : sizeof *p->doubles));
done:
    discretised_noise_close(&p->noise);
    return status;
}

static sotto_status refuse_on_lattice(const struct sotto_dpsgd_session *s)
{
    if (s->on_lattice)
        return status_fail(SOTTO_EINVAL, "step: the reservation is on_lattice; call sotto_dp_step_lattice()");
    return SOTTO_OK;
}

sotto_status sotto_dp_step(struct sotto_dpsgd_session *steps, double *sum)
{
    REQUIRE_GIVEN(steps, sum);
    sotto_status status = refuse_on_lattice(steps);
    if (status != SOTTO_OK)
        return status;
    struct pass p = {.doubles = sum, .end = steps->dimension, .per_step = ldexp(1, -steps->lattice_exponent)};
    return add_noise(steps, &p);
}

sotto_status dp_step_float(struct sotto_dpsgd_session *steps, float *sum)
{
    REQUIRE_GIVEN(steps, sum);
    sotto_status status = refuse_on_lattice(steps);
    if (status != SOTTO_OK)
        return status;
    struct pass p = {.floats = sum, .end = steps->dimension, .per_step = ldexp(1, -steps->lattice_exponent)};
    return add_noise(steps, &p);
}

sotto_status dpsgd_step_range(struct sotto_dpsgd_session *s, double *sum, size_t first, size_t end)
{
    if (!s->on_lattice)
        return status_fail(SOTTO_EINVAL, "step: the reservation is not on_lattice; call sotto_dp_step(), or "
                                         "set on_lattice in the request");
    struct pass p = {.doubles = sum, .first = first, .end = end, .per_step = 1};
    return add_noise(s, &p);
}

sotto_status sotto_dp_step_lattice(struct sotto_dpsgd_session *steps, double *sum)
{
    REQUIRE_GIVEN(steps, sum);
    return dpsgd_step_range(steps, sum, 0, steps->dimension);
}
