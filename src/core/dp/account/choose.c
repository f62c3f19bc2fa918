/* All mechanisms at their smallest scale for one target, ordered by the noise they add. */
#include "dp/account/accountant.h"
#include "sotto/lab/account.h"

#include <string.h>

static void choose_insert(struct sotto_account *accounts, size_t count, const struct sotto_account *a)
{
    size_t at = count;
    for (; at > 0 && accounts[at - 1].standard_deviation > a->standard_deviation; at--)
        accounts[at] = accounts[at - 1];
    accounts[at] = *a;
}

static bool choose_applies(const struct mechanism *m, const struct sotto_sensitivity *s)
{
    switch (m->kind) {
    case RELEASE_LATTICE:
        return true;
    case RELEASE_INTEGER:
        return s->value_step != 0;
    case RELEASE_VECTOR:
        return s->dimension > 0;
    default:
        return false;
    }
}

sotto_status sotto_choose(struct sotto_account accounts[SOTTO_MAX_MECHANISMS], size_t *count,
                          const struct sotto_sensitivity *sensitivity, struct sotto_dp target, size_t compose,
                          const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(accounts, count, sensitivity);
    sotto_status status = SOTTO_OK;
    struct sotto_account found[SOTTO_MAX_MECHANISMS], a;
    size_t n = 0;
    for (size_t i = 0; mechanism_row(i); i++) {
        const char *name = mechanism_row(i)->name;
        double scale;
        if (!choose_applies(mechanism_row(i), sensitivity))
            continue;
        status = sotto_calibrate_composed(&scale, name, sensitivity, target, compose, ctx);
        if (status == SOTTO_EDOMAIN) /* this one cannot; its text stays for the case that none can */
            continue;
        if (status != SOTTO_OK)
            goto done;
        TRY(sotto_account_release(&a, name, scale, sensitivity, target.delta, compose, ctx));
        choose_insert(found, n++, &a);
    }
    status = n > 0 ? SOTTO_OK : SOTTO_EDOMAIN;
    if (status == SOTTO_OK) {
        memcpy(accounts, found, n * sizeof *found);
        *count = n;
    }
done:
    return status;
}
