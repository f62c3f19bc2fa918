/* What the charges of a ledger add up to. */
#include "dp/ledger/ledger_sums.h"
#include "dp/account/accountant.h"

#include <math.h>

static double sums_plus(double a, double b)
{
    return iv_add(iv(a), iv(isnan(b) ? INFINITY : b)).hi;
}

static struct decimal sums_count(struct decimal sum, double x)
{
    return decimal_add(sum, decimal_of(x));
}

void ledger_sum_add(struct ledger_sum *sum, double pure, double rho, double epsilon, double delta)
{
    *sum = (struct ledger_sum){sum->releases + 1, sums_count(sum->pure, pure), sums_plus(sum->rho, rho),
                               sums_count(sum->epsilon, epsilon), sums_count(sum->delta, delta)};
}

struct ledger_sum ledger_sum_both(const struct ledger_sum *a, const struct ledger_sum *b)
{
    return (struct ledger_sum){a->releases + b->releases, decimal_add(a->pure, b->pure),
                               sums_plus(a->rho, b->rho), decimal_add(a->epsilon, b->epsilon),
                               decimal_add(a->delta, b->delta)};
}

double ledger_sum_epsilon(const struct ledger_sum *sum, double delta)
{
    if (sum->releases == 0)
        return 0;
    double best = decimal_up(sum->pure);
    if (decimal_up(sum->delta) <= delta)
        best = fmin(best, decimal_up(sum->epsilon));
    if (delta > 0 && isfinite(sum->rho))
        best = fmin(best, zcdp_epsilon(sum->rho, delta));
    return best;
}

static sotto_status sums_add(struct ledger_sums *sums, const struct ledger_item *item)
{
    ledger_sum_add(item->proved ? &sums->proved : &sums->conditional, item->pure, item->rho, item->epsilon,
                   item->delta);
    return ledger_events_add(item->proved ? &sums->proved_events : &sums->conditional_events, &item->charged);
}

sotto_status ledger_sums_of(struct ledger_sums *out, const struct ledger *l)
{
    sotto_status status = SOTTO_OK;
    struct ledger_sums sums = {.proved = {.releases = 0}};
    for (size_t i = 0; i < l->charges; i++)
        TRY(sums_add(&sums, &l->items[i]));
    *out = sums;
    sums = (struct ledger_sums){.proved = {.releases = 0}};
done:
    ledger_sums_free(&sums);
    return status;
}

void ledger_sums_free(struct ledger_sums *sums)
{
    ledger_events_free(&sums->proved_events);
    ledger_events_free(&sums->conditional_events);
}
