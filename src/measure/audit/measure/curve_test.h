/* curve_test.h - is a trade-off curve compatible with right guesses in one run? (Mahloujifar, Melis and Chaudhuri 2024)
 *
 * `records` coins, `guesses` of them guessed by a rule that was fixed beforehand, `right` of these right. The curve f is
 * known by what a test with type I error alpha leaves at most right, 1 - f(alpha), through its inverse: the smallest alpha
 * that allows y. docs/derivations/one-run.md has the statement and the proof. */
#ifndef AUDIT_MEASURE_CURVE_TEST_H
#define AUDIT_MEASURE_CURVE_TEST_H

#include "base/status.h"
#include "sotto/account.h"

#include <stdbool.h>

/** What was seen. right <= guesses <= records. */
struct guessed {
    size_t records, guesses, right;
};
/** Smallest alpha with 1 - f(alpha) >= y, y in [0, 1]; not above it where it is not exact. */
struct trade_off {
    double (*inverse)(double y, const void *arg);
    const void *arg;
};

/** Is f rejected at `level`, the probability of a rejection if f holds? A curve that lies lower is rejected less often. */
bool curve_rejected(const struct trade_off *f, const struct guessed *g, double level);
/** Smallest level that rejects f, rounded up; 1: none does. */
double curve_p_value(const struct trade_off *f, const struct guessed *g);

/** The curve below which no test comes in any mechanism with the points of a profile. */
struct profile_curve {
    struct curve_line *lines; /* those that are the largest somewhere, by slope */
    size_t count;
};
/** EINVAL: no points; ENOMEM. */
sotto_status profile_curve_make(struct profile_curve *out, const struct sotto_privacy_profile *profile);
void profile_curve_clear(struct profile_curve *c);
/** `c` must outlive it. */
struct trade_off profile_trade_off(const struct profile_curve *c);

/** Largest epsilon for which (epsilon, delta) is rejected: holds for any mechanism, as one_run_epsilon() does. 0: none. */
double curve_epsilon(const struct guessed *g, double delta, double level);
/** Largest mu for which the curve of N(0, 1) against N(mu, 1) is rejected. 0: none. */
double curve_mu(const struct guessed *g, double level);
/** Epsilon at delta in (0, 1) of N(0, 1) against N(mu, 1). */
double gaussian_epsilon(double mu, double delta);

#endif
