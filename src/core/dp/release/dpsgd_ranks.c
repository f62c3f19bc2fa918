#include "dp/release/dpsgd_ranks.h"

#include "base/memory.h"
#include "dp/noise/discretised_kernel.h"
#include "dp/release/dpsgd_session.h"
#include "par/par.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- reserving ---- */

/* What rank 0 tells the others once the entry is on disk; they know nothing else of the reservation. */
struct announcement {
    char mechanism[32], run[RUN_ID + 1], entry[65];
    double scale;
    uint64_t dimension, reserved, first_step, key_seed;
    int32_t lattice_exponent;
    uint32_t sampling;
    bool everyone, seeded;
};

static void dpsgd_ranks_announce(struct announcement *a, const struct sotto_dpsgd_session *s)
{
    *a = (struct announcement){.scale = s->facts.scale,
                               .dimension = s->dimension,
                               .reserved = s->reserved,
                               .first_step = s->first_step,
                               .key_seed = s->key_seed,
                               .lattice_exponent = s->lattice_exponent,
                               .sampling = (uint32_t)s->facts.sampling,
                               .everyone = s->everyone,
                               .seeded = noise_is_insecure(s->keys)};
    snprintf(a->mechanism, sizeof a->mechanism, "%s", s->mechanism->name);
    snprintf(a->run, sizeof a->run, "%s", s->run.id);
    snprintf(a->entry, sizeof a->entry, "%s", s->entry);
}

/* The only way by which a rank other than 0 gets something that can draw noise. */
static sotto_status dpsgd_ranks_join(struct sotto_dpsgd_session **out, const struct announcement *a,
                                     const struct sotto_dpsgd_request *r, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_dpsgd_session *s = NULL;
    REQUIRE(a->dimension == r->dimension, "reserve: %zu values in a step, but %llu on rank 0", r->dimension,
            (unsigned long long)a->dimension);
    NEW(s, 1);
    s->mechanism = mechanism_find(a->mechanism);
    s->facts.mechanism = a->mechanism;
    s->facts.scale = a->scale;
    s->facts.sampling = (enum sotto_sampling)a->sampling;
    s->facts.lattice_exponent = s->lattice_exponent = a->lattice_exponent;
    s->facts.on_lattice = s->on_lattice = true;
    s->dimension = (size_t)a->dimension;
    s->reserved = (size_t)a->reserved;
    s->first_step = (size_t)a->first_step;
    s->everyone = a->everyone;
    s->threads = par_threads(ctx);
    s->key_seed = a->key_seed;
    memcpy(s->run.id, a->run, sizeof a->run);
    memcpy(s->entry, a->entry, sizeof a->entry);
    TRY(a->seeded ? noise_open_insecure(&s->keys, a->key_seed) : noise_open(&s->keys));
    s->facts.mechanism = s->mechanism->name;
    *out = s;
    s = NULL;
done:
    sotto_dpsgd_session_close(s);
    return status;
}

/* Runs of whole groups, whose draws belong together. */
static sotto_status dpsgd_ranks_cut(struct dpsgd_ranks **out, const struct sotto_team *team, size_t dimension)
{
    sotto_status status = SOTTO_OK;
    const size_t ranks = sotto_team_size(team), rank = sotto_team_rank(team),
                 groups = (dimension + DISCRETISED_GROUP - 1) / DISCRETISED_GROUP;
    struct dpsgd_ranks *r = NULL;
    NEW(r, 1);
    r->team = team;
    r->ranks = ranks;
    r->rank = rank;
    NEW(r->borders, ranks + 1);
    NEW(r->ones, ranks + 1);
    NEW(r->claims, ranks);
    for (size_t k = 0; k <= ranks; k++) {
        const size_t border = groups * k / ranks * DISCRETISED_GROUP;
        r->borders[k] = border < dimension ? border : dimension;
        r->ones[k] = k;
    }
    NEW(r->received, r->borders[rank + 1] - r->borders[rank] + 1);
    *out = r;
    r = NULL;
done:
    dpsgd_ranks_free(r);
    return status;
}

sotto_status dpsgd_ranks_reserve(struct sotto_dpsgd_session **out, const struct sotto_dpsgd_request *r,
                                 const struct sotto_team *team, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_dpsgd_session *s = NULL;
    struct dpsgd_ranks *shared = NULL;
    struct announcement a = {.reserved = 0};
    if (!team)
        return sotto_dp_reserve(out, r, ctx);
    TRY(team_agree(
        team,
        dpsgd_ranks_cut(&shared, team, r->dimension))); /* nothing is charged for memory that is not there */
    if (sotto_team_rank(team) == 0)
        status = sotto_dp_reserve(&s, r, ctx);
    TRY(team_agree(team, status));
    if (s)
        dpsgd_ranks_announce(&a, s);
    TRY(team_broadcast(team, &a, sizeof a));
    if (!s)
        status = dpsgd_ranks_join(&s, &a, r, ctx);
    TRY(team_agree(team, status));
    s->ranks = shared;
    shared = NULL;
    *out = s;
    s = NULL;
done:
    sotto_dpsgd_session_close(s);
    dpsgd_ranks_free(shared);
    return status;
}

/* ---- a step ---- */

sotto_status dpsgd_ranks_sample(struct sotto_dpsgd_session *s, uint32_t *rows, size_t *count, size_t n)
{
    sotto_status status = SOTTO_OK;
    const struct dpsgd_ranks *r = s->ranks;
    uint64_t drawn = 0;
    if (!r)
        return sotto_dp_sample(s, rows, count, n);
    if (r->rank == 0) {
        status = sotto_dp_sample(s, rows, count, n);
        drawn = status == SOTTO_OK ? *count : 0;
    } else {
        s->sampled++;
    }
    TRY(team_agree(r->team, status));
    TRY(team_broadcast(r->team, &drawn, sizeof drawn));
    if (drawn > n) /* they agreed on n before the first step */
        FAIL(SOTTO_EINTERNAL, "sample: rank 0 has more records than this rank");
    TRY(team_broadcast(r->team, rows, (size_t)drawn * sizeof *rows));
    *count = (size_t)drawn;
done:
    return status;
}

/* This rank's coordinates of the sum over all ranks. Whole numbers below 2^53, so any order gives the same bits. */
static sotto_status dpsgd_ranks_reduce(const struct dpsgd_ranks *r, double *sum)
{
    sotto_status status = SOTTO_OK;
    const size_t first = r->borders[r->rank], n = r->borders[r->rank + 1] - first;
    for (size_t k = 1; k < r->ranks; k++) {
        const size_t to = (r->rank + k) % r->ranks, from = (r->rank + r->ranks - k) % r->ranks;
        TRY(team_exchange(r->team, sum + r->borders[to], (r->borders[to + 1] - r->borders[to]) * sizeof *sum,
                          to, r->received, n * sizeof *sum, from));
        for (size_t i = 0; i < n; i++)
            sum[first + i] += r->received[i];
    }
done:
    base_wipe(r->received, n * sizeof *sum);
    return status;
}

/* Is every coordinate about to get its noise once, of one step? */
static sotto_status check_claims(const struct dpsgd_ranks *r, const struct sotto_dpsgd_session *s)
{
    sotto_status status = SOTTO_OK;
    uint64_t covered = 0;
    r->claims[r->rank] = (struct dpsgd_claim){r->borders[r->rank], r->borders[r->rank + 1], s->used};
    TRY(team_gather(r->team, r->claims, sizeof *r->claims, r->ones));
    for (size_t k = 0; k < r->ranks; k++) {
        const struct dpsgd_claim *c = &r->claims[k];
        if (c->first != covered || c->end < c->first || c->step != r->claims[0].step)
            FAIL(SOTTO_EINTERNAL,
                 "step: rank %zu would draw noise for coordinates %llu to %llu of step %llu; expected to "
                 "begin with %llu, of step %llu",
                 k, (unsigned long long)c->first, (unsigned long long)c->end, (unsigned long long)c->step,
                 (unsigned long long)covered, (unsigned long long)r->claims[0].step);
        covered = c->end;
    }
    if (covered != s->dimension)
        FAIL(SOTTO_EINTERNAL, "step: the ranks would draw noise for %llu coordinates; expected %zu",
             (unsigned long long)covered, s->dimension);
done:
    return status;
}

sotto_status dpsgd_ranks_step(struct sotto_dpsgd_session *s, double *sum)
{
    sotto_status status = SOTTO_OK;
    const struct dpsgd_ranks *r = s->ranks;
    if (!r)
        return sotto_dp_step_lattice(s, sum);
    TRY(dpsgd_ranks_reduce(r, sum));
    TRY(check_claims(r, s));
    TRY(team_agree(r->team, dpsgd_step_range(s, sum, r->borders[r->rank], r->borders[r->rank + 1])));
    TRY(team_gather(r->team, sum, sizeof *sum, r->borders));
done:
    if (status != SOTTO_OK && r) /* what has no noise */
        base_wipe(sum, s->dimension * sizeof *sum);
    return status;
}
