/* adaptive_columns.h - a budget for an analyst who looks before choosing: boxes that are fixed before the first release.
 *
 * The deltas of all columns add up to at most the budget's. Each column adds up its own releases, and dies for good with the
 * first that does not fit; a release is refused when no column would live. Whatever was chosen when, the whole is then
 * (epsilon, delta) private at the budget's numbers (docs/derivations/adaptive.md, lemma 1). */
#ifndef DP_ACCOUNT_ADAPTIVE_COLUMNS_H
#define DP_ACCOUNT_ADAPTIVE_COLUMNS_H

#include "dp/account/adaptive.h"
#include "num/decimal.h"
#include "sotto/lab/ledger.h"

#include <stddef.h>

enum { ADAPTIVE_COLUMNS = 16, ADAPTIVE_LEVELS = 8 };

struct adaptive_column {
    struct adaptive box;
    double level;                         /* the epsilon at which its curve has its share of delta */
    struct decimal pure, square, failure; /* spent */
    bool dead;
};

struct adaptive_columns {
    struct adaptive_column column[ADAPTIVE_COLUMNS];
    size_t count;
};

/** Fixes the columns of a budget. The first is (epsilon, 0, 0), pure releases alone, which costs no delta; then those asked for,
 * or one that has all of delta, a tenth of it as failure.
 *
 * EINVAL: more than ADAPTIVE_COLUMNS - 1, shares that are not positive or add up to more than 1; EDOMAIN: a column that could
 * hold nothing. */
sotto_status adaptive_columns_open(struct adaptive_columns *out, double epsilon, double delta,
                                   const struct sotto_ledger_column *requests, size_t n);
/** One column, (epsilon, 0, delta): releases add up as they are stated. */
struct adaptive_columns adaptive_columns_stated(double epsilon, double delta);
/** Without a budget: levels 1/4, 1/2, ... 32, an eighth of delta each, a column for pure releases and a usual one at each.
 * delta 0: the pure ones alone. */
struct adaptive_columns adaptive_columns_ladder(double delta);
/** The first level that one of the columns still holds; INFINITY: none. */
double adaptive_columns_level(const struct adaptive_columns *c);
/** What was spent of a column, rounded up, and a column of which so much is spent. */
struct adaptive adaptive_column_spent(const struct adaptive_column *c);
void adaptive_column_start(struct adaptive_column *c, const struct adaptive *spent);
/** The part of a column's box that nothing was spent of yet, rounded down. */
struct adaptive adaptive_column_left(const struct adaptive_column *c);
/** Adds a release that may be charged as any of n boxes. Each live column takes the one that fits and leaves it most, a pure one
 * first, as said in took[] (n: none fits, and the column dies). false: no column would live, and nothing is changed. */
bool adaptive_columns_charge(struct adaptive_columns *c, const struct adaptive *offers, size_t n,
                             unsigned char took[ADAPTIVE_COLUMNS]);
/** The same as it was decided then (took[j] n: the column died, or was dead). false: a column is dead, or does not hold what it took;
 * nothing is changed. */
bool adaptive_columns_take(struct adaptive_columns *c, const struct adaptive *offers, size_t n,
                           const unsigned char took[ADAPTIVE_COLUMNS]);

#endif
