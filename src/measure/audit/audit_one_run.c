/* What guesses about the coins of one run, in the direction that was right more often, say besides Steinke's bound: of a whole trade-off curve (Mahloujifar, Melis and
 * Chaudhuri 2024), and bounds that rest on more than that bound does, each under its own name. docs/derivations/one-run.md */
#include "audit/audit_one_run.h"

#include "audit/measure/bayes_interval.h"
#include "audit/measure/curve_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct guessed guessed_of(const struct sotto_audit_one_run *run)
{
    return (struct guessed){run->records, run->guesses, run->right};
}

sotto_status audit_measure_one_run(struct sotto_audit_attack *out, struct sotto_audit_memory **memory,
                                   const struct audit_curves *c, const struct audit_settings *settings)
{
    sotto_status status = SOTTO_OK;
    const struct guessed g = guessed_of(out->one_run);
    const double level = (1 - settings->confidence) / 2, /* of each direction */
        delta = settings->delta, mu = curve_mu(&g, level),
                 threshold = roc_threshold_epsilon(&c->calibration, delta, settings->confidence);
    const struct rates r = roc_rates(&c->evaluation, threshold, settings->confidence);
    TAKE(memory, out->one_run_bounds, 1);
    *out->one_run_bounds = (struct sotto_audit_one_run_bounds){
        .epsilon = curve_epsilon(&g, delta, level),
        .mu = mu,
        .gaussian_epsilon = delta > 0 ? gaussian_epsilon(mu, delta) : NAN,
        .bayesian = bayes_epsilon((size_t)llround(r.tpr.estimate * (double)r.n_member), r.n_member,
                                  (size_t)llround(r.fpr.estimate * (double)r.n_nonmember), r.n_nonmember,
                                  delta, settings->confidence),
        .delta = delta,
        .confidence = settings->confidence,
        .epsilon_assumes = "membership by independent fair coins; any mechanism",
        .mu_assumes = "membership by independent fair coins, and a Gaussian trade-off curve: of no other "
                      "mechanism does it bound epsilon",
        .bayesian_assumes = "independent records and Jeffreys priors of both error rates: a credible "
                            "interval, not one that covers with a stated probability"};
done:
    return status;
}

/* ---- the test of a curve ---- */

static bool audit_one_run_fits(enum sotto_adjacency adjacency, enum sotto_coins coins)
{
    return coins == SOTTO_COINS_INCLUSION
               ? adjacency == SOTTO_ADD_REMOVE || adjacency == SOTTO_ZERO_OUT
               : adjacency == SOTTO_REPLACE_ONE || adjacency == SOTTO_REPLACE_INPUT;
}

/* Scores of runs (a group size) are no records of one run. */
static bool has_guesses(const struct sotto_audit_attack *a)
{
    return a->one_run && !a->epsilon.group_size;
}

static size_t attacks_with_guesses(const struct sotto_audit_result *r)
{
    size_t count = 0;
    for (size_t i = 0; i < r->attack_count; i++)
        count += has_guesses(&r->attacks[i]);
    return count;
}

/* NULL: it can be tested. */
static const char *reason_not_to(const struct sotto_audit_result *r,
                                 const struct sotto_privacy_profile *profile, enum sotto_coins coins)
{
    if (attacks_with_guesses(r) == 0)
        return "no attack has guesses about single records; a test needs one-run guesses, for "
               "membership by independent fair coins";
    if (audit_one_run_fits(profile->adjacency, coins))
        return NULL;
    return coins == SOTTO_COINS_INCLUSION
               ? "the certificate is about a record that is replaced, the coins decided whether it was "
                 "there; a test needs coins between two records"
               : "the certificate is about a record that is there or not, the coins chose between two "
                 "records; a test needs coins of inclusion";
}

static sotto_status test_attacks(struct sotto_audit_result *r, struct sotto_audit_curve *c,
                                 const struct sotto_privacy_profile *profile)
{
    sotto_status status = SOTTO_OK;
    struct profile_curve curve = {0};
    TRY(profile_curve_make(&curve, profile));
    const struct trade_off f = profile_trade_off(&curve);
    for (size_t i = 0; i < r->attack_count; i++) {
        struct sotto_audit_attack *a = &r->attacks[i];
        if (!has_guesses(a))
            continue;
        const struct guessed g = guessed_of(a->one_run);
        const double p = fmin(1, 2 * (double)c->attacks * curve_p_value(&f, &g)); /* 2: directions */
        if (!c->attack || p < c->p_value) {
            c->p_value = p;
            c->attack = audit_keep_text(&r->memory, a->name);
        }
    }
    c->contradicted = c->p_value <= 1 - c->confidence;
done:
    profile_curve_clear(&curve);
    return status;
}

sotto_status sotto_audit_test_curve(struct sotto_audit_result *r, const struct sotto_privacy_profile *profile,
                                    enum sotto_coins coins)
{
    REQUIRE_GIVEN(r, profile);
    sotto_status status = SOTTO_OK;
    struct sotto_audit_curve *c;
    REQUIRE(coins == SOTTO_COINS_INCLUSION || coins == SOTTO_COINS_REPLACEMENT,
            "audit: coins are %d; expected SOTTO_COINS_INCLUSION or SOTTO_COINS_REPLACEMENT", (int)coins);
    TAKE(&r->memory, c, 1);
    *c = (struct sotto_audit_curve){
        .of = audit_keep_text(&r->memory, profile->of),
        .adjacency = sotto_adjacency_name(profile->adjacency),
        .refused = reason_not_to(r, profile, coins),
        .confidence = r->confidence,
        .p_value = NAN,
        .attacks = attacks_with_guesses(r),
        .assumption = coins == SOTTO_COINS_INCLUSION
                          ? "every record was a member by its own fair coin, and attack and number of "
                            "guesses were fixed before scores were seen"
                          : "a fair coin of its own chose each record out of two, and attack and number of "
                            "guesses were fixed before scores were seen"};
    if (!c->of || !c->adjacency)
        FAIL(SOTTO_ENOMEM, "audit: out of memory for the test of a curve");
    if (!c->refused)
        TRY(test_attacks(r, c, profile));
    r->curve = c;
done:
    return status;
}

void audit_one_run_text(char *out, size_t capacity, const struct sotto_audit_curve *c)
{
    if (c->refused)
        snprintf(out, capacity, "\ncurve of %s: not tested: %s\n", c->of, c->refused);
    else
        snprintf(out, capacity, "\ncurve of %s, %s: %s at %g %% (p = %.3g over %zu attack%s)\n", c->of,
                 c->adjacency, c->contradicted ? "CONTRADICTED" : "not contradicted, which is no proof",
                 100 * c->confidence, c->p_value, c->attacks, c->attacks == 1 ? "" : "s");
}
