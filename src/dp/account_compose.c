/* The public account of any releases together. */
#include "dp/account_pld.h"
#include "dp/accountant.h"

#include <stdio.h>
#include <string.h>

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

sotto_status sotto_account_compose(struct sotto_account *out, const struct sotto_composed_release *items,
                                   size_t count, const char *adjacency, double delta)
{
    sotto_status status = SOTTO_OK;
    struct interval epsilon;
    double releases = 0;
    REQUIRE(count >= 1, "nothing to account: no releases");
    REQUIRE(adjacency && (strcmp(adjacency, "add-remove") == 0 || strcmp(adjacency, "replace-one") == 0),
            "adjacency must be replace-one or add-remove (got '%s')", adjacency ? adjacency : "");
    TRY(require_delta(delta));
    REQUIRE(delta > 0, "delta must be > 0 for a composition by privacy-loss distributions (got 0)");
    for (size_t i = 0; i < count; i++) {
        TRY(check(&items[i], i, adjacency));
        releases += (double)items[i].count;
    }
    REQUIRE(releases <= 0x1p40, "at most 2^40 releases can be composed (got %g)", releases);
    TRY(account_pld(&epsilon, items, count, delta));
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
