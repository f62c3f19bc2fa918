/* ledger_sums.h - what the charges of a ledger add up to: proved ones, and those that rest on a condition. */
#ifndef DP_LEDGER_LEDGER_SUMS_H
#define DP_LEDGER_LEDGER_SUMS_H

#include "dp/ledger/ledger.h"
#include "num/decimal.h"

/** Sums over the releases of one column. Each is an upper bound of the composition; INFINITY where one entry
 * has none. Numbers count as the decimals that they were written as (num/decimal.h), so that a budget can be split evenly;
 * a total is then above the truth's bound by no more than its last unit, as is the budget that was written. What is calibrated
 * stays below its target by more than that (calibrate_step_up.h), so totals of calibrated releases are bounds without that word. */
struct ledger_sum {
    size_t releases;
    struct decimal pure; /* sum of pure epsilons; all under replace-one: add-remove entries have none */
    double rho;          /* sum of zCDP parameters */
    struct decimal epsilon, delta; /* basic composition of the (epsilon, delta) as recorded */
};
/** A quick bound of what the column composes to at `delta`: the smallest of pure, zCDP and basic. INFINITY:
 * no bound. ledger_events_account() is tighter. */
double ledger_sum_epsilon(const struct ledger_sum *sum, double delta);
void ledger_sum_add(struct ledger_sum *sum, double pure, double rho, double epsilon, double delta);
struct ledger_sum ledger_sum_both(const struct ledger_sum *a, const struct ledger_sum *b);
/** Of a ledger, as it stands; free with ledger_sums_free(). A charge does not need them, so they are made when they are asked for. */
struct ledger_sums {
    struct ledger_sum proved, conditional;
    struct ledger_events proved_events, conditional_events; /* of the same two columns */
};
/** ENOMEM. */
sotto_status ledger_sums_of(struct ledger_sums *out, const struct ledger *l);
void ledger_sums_free(struct ledger_sums *sums);

#endif
