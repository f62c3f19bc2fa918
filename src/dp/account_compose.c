/* Epsilon of any releases together. With add-remove adjacency both directions are composed, each for itself,
 * and the larger is reported: an adversary knows which record may be missing. */
#include "dp/accountant.h"
#include "dp/pld_plan.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

/* Does the scalar curve bound a vector whose change is measured in this norm? */
bool scalar_curve_holds(const struct mechanism *m, enum sotto_norm norm)
{
    return m->tails && (m->by_l2 || norm == SOTTO_NORM_L1);
}

static sotto_status check(const struct sotto_composed_release *c, size_t i, const char *adjacency)
{
    sotto_status status = SOTTO_OK;
    const struct mechanism *m;
    TRY(mechanism_require(&m, c->mechanism));
    TRY(require_positive(c->shift.lower, "shift.lower"));
    TRY(require_positive(c->shift.upper, "shift.upper"));
    REQUIRE(c->shift.lower <= c->shift.upper, "item %zu: shift [%g, %g] is not an interval", i,
            c->shift.lower, c->shift.upper);
    REQUIRE(c->sample_rate > 0 && c->sample_rate <= 1, "item %zu: sample_rate must lie in (0, 1] (got %g)", i,
            c->sample_rate);
    REQUIRE(c->count >= 1, "item %zu: count must be at least 1 (got 0)", i);
    REQUIRE(c->count <= (size_t)1 << 40, "item %zu: count must be at most 2^40 (got %zu)", i, c->count);
    if (c->sample_rate < 1)
        REQUIRE(strcmp(adjacency, "add-remove") == 0,
                "item %zu: Poisson sampling is accounted under add-remove adjacency (got '%s')", i,
                adjacency);
done:
    return status;
}

/* One direction; *one_kind: the other direction is the same. */
static sotto_status one_direction(struct interval *out, const struct sotto_composed_release *items,
                                  size_t count, enum pld_direction direction, double delta)
{
    sotto_status status = SOTTO_OK;
    struct pair_sampled *pairs = base_alloc(2 * count, sizeof *pairs);
    struct pld_part *parts = base_alloc(count, sizeof *parts);
    size_t n = 0;
    bool bounded = true;
    if (!pairs || !parts)
        FAIL(SOTTO_ENOMEM, "no memory to account %zu releases", count);
    for (size_t i = 0; i < count; i++) {
        const struct sotto_composed_release *c = &items[i];
        const struct mechanism *m = mechanism_find(c->mechanism);
        bounded = bounded && scalar_curve_holds(m, c->norm);
        if (!m->tails) /* leaving a release out tells no more */
            continue;
        pairs[2 * n] = (struct pair_sampled){m, c->shift.upper, c->sample_rate, direction};
        pairs[2 * n + 1] = (struct pair_sampled){m, c->shift.lower, c->sample_rate, direction};
        parts[n].upper = pair_of_sampled(&pairs[2 * n]);
        parts[n].lower = pair_of_sampled(&pairs[2 * n + 1]);
        parts[n].count = (double)c->count;
        n++;
    }
    *out = iv(0);
    if (n > 0)
        TRY(pld_epsilon(out, parts, n, delta, 1));
    if (!bounded)
        out->hi = INFINITY;
done:
    base_free(pairs);
    base_free(parts);
    return status;
}

sotto_status sotto_account_compose(struct sotto_account *out, const struct sotto_composed_release *items,
                                   size_t count, const char *adjacency, double delta)
{
    sotto_status status = SOTTO_OK;
    struct interval epsilon = iv(0), other;
    bool sampled = false;
    double releases = 0;
    REQUIRE(count >= 1, "nothing to account: no releases");
    REQUIRE(adjacency && (strcmp(adjacency, "add-remove") == 0 || strcmp(adjacency, "replace-one") == 0),
            "adjacency must be replace-one or add-remove (got '%s')", adjacency ? adjacency : "");
    TRY(require_delta(delta));
    REQUIRE(delta > 0, "delta must be > 0 for a composition by privacy-loss distributions (got 0)");
    for (size_t i = 0; i < count; i++) {
        TRY(check(&items[i], i, adjacency));
        sampled = sampled || items[i].sample_rate < 1;
        releases += (double)items[i].count;
    }
    REQUIRE(releases <= 0x1p40, "at most 2^40 releases can be composed (got %g)", releases);
    TRY(one_direction(&epsilon, items, count, PLD_REMOVE, delta));
    if (sampled) {
        TRY(one_direction(&other, items, count, PLD_ADD, delta));
        epsilon = iv_max(epsilon, other);
    }
    *out = (struct sotto_account){.scale = NAN,
                                  .delta = delta,
                                  .compose = (size_t)releases,
                                  .sample_rate = count == 1 ? items[0].sample_rate : NAN,
                                  .epsilon = {epsilon.lo, epsilon.hi},
                                  .pure_epsilon = NAN,
                                  .zcdp_rho = NAN,
                                  .standard_deviation = NAN,
                                  .bound_count = 1};
    const char *accountant = isinf(epsilon.hi) ? "none" : "privacy-loss distribution";
    snprintf(out->mechanism, sizeof out->mechanism, "%s", count == 1 ? items[0].mechanism : "composition");
    snprintf(out->adjacency, sizeof out->adjacency, "%s", adjacency);
    snprintf(out->accountant, sizeof out->accountant, "%s", accountant);
    snprintf(out->bounds[0].name, sizeof out->bounds[0].name, "%s", accountant);
    out->bounds[0].epsilon = epsilon.hi;
done:
    return status;
}
