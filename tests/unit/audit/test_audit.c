/* src/measure/audit/audit.c: whole audits, thresholds, refusals, errors, allocation failures. */
#include "support/test.h"
#include "support/audit_world.h"
#include "audit/audit_private.h"
#include "audit/measure/metrics.h"
#include "support/audit_text.h"

#include <math.h>

static void near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%.17g; expected %.17g", found, expected);
}

static struct json *audit_scores(const double *member, size_t m, const double *nonmember, size_t n,
                                 const struct sotto_audit_options *options)
{
    struct sotto_audit_input in = {
        .member_scores = member, .nonmember_scores = nonmember, .n_member = m, .n_nonmember = n};
    return audit_run(&in, options);
}

TEST(swapping_sides_mirrors_the_area)
{
    double a[300], b[400];
    struct rng r = rng_stream(7, RNG_TEST, 0, 0);
    for (int i = 0; i < 300; i++)
        a[i] = floor(3 * rng_normal(&r)) + 1;
    for (int i = 0; i < 400; i++)
        b[i] = floor(3 * rng_normal(&r));
    struct json *one = audit_scores(a, 300, b, 400, NULL), *two = audit_scores(b, 400, a, 300, NULL);
    near(value(one, "attacks[0].auc.estimate") + value(two, "attacks[0].auc.estimate"), 1, 1e-15);
    near(value(one, "attacks[0].auc.lower") + value(two, "attacks[0].auc.upper"), 1, 1e-13);
    json_free(one);
    json_free(two);
}

TEST(constant_scores_are_a_coin)
{
    double same[2000];
    for (int i = 0; i < 2000; i++)
        same[i] = 0.25;
    struct json *doc = audit_scores(same, 2000, same, 2000, NULL);
    assert_true(value(doc, "attacks[0].auc.estimate") == 0.5);
    assert_true(value(doc, "attacks[0].tpr_at_fpr.0.01.estimate") == 0);
    assert_true(value(doc, "attacks[0].tpr_at_fpr.0.001.estimate") == 0);
    assert_true(value(doc, "attacks[0].balanced_accuracy") == 0.5);
    assert_true(value(doc, "attacks[0].epsilon_lower_bound") == 0);
    assert_true(value(doc, "attacks[0].advantage") == 0);
    json_free(doc);
}

TEST(a_planted_leak_is_found)
{
    static double member[2000], nonmember[2000];
    struct rng r = rng_stream(8, RNG_TEST, 0, 0);
    for (int i = 0; i < 2000; i++) {
        nonmember[i] = rng_normal(&r);
        member[i] = rng_normal(&r) + (i % 10 == 0 ? 8 : 0); /* one in ten is given away */
    }
    struct json *doc = audit_scores(member, 2000, nonmember, 2000, NULL);
    assert_true(value(doc, "attacks[0].auc.lower") > 0.51);
    assert_true(value(doc, "attacks[0].tpr_at_fpr.0.01.lower") > 0.07);
    assert_true(value(doc, "attacks[0].tpr_at_fpr.0.01.upper") < 0.16);
    assert_true(value(doc, "attacks[0].tpr_at_threshold.0.001.lower") > 0.07);
    assert_true(value(doc, "attacks[0].tpr_at_threshold.0.001.upper") < 0.13);
    assert_true(value(doc, "attacks[0].epsilon_lower_bound") > 2);
    json_free(doc);
}

/* Draws from a sample without a hit have none either: the interval is then that of the ranks, and not one point. */
TEST(no_member_found_is_no_proof_that_none_could_be)
{
    static double low[2000], high[2000];
    struct rng r = rng_stream(9, RNG_TEST, 0, 0);
    for (int i = 0; i < 2000; i++) {
        high[i] = 20 + rng_normal(&r);
        low[i] = rng_normal(&r);
    }
    struct json *none = audit_scores(low, 500, high, 2000, NULL),
                *all = audit_scores(high, 500, low, 2000, NULL);
    assert_true(value(none, "attacks[0].tpr_at_fpr.0.01.estimate") == 0);
    assert_true(value(none, "attacks[0].tpr_at_fpr.0.01.lower") == 0);
    assert_true(value(none, "attacks[0].tpr_at_fpr.0.01.upper") >
                3.0 / 500); /* -ln(.05)/n: P(no hit) = 5 % */
    assert_true(value(all, "attacks[0].tpr_at_fpr.0.01.estimate") == 1);
    assert_true(value(all, "attacks[0].tpr_at_fpr.0.01.upper") == 1);
    assert_true(value(all, "attacks[0].tpr_at_fpr.0.01.lower") < 1 - 3.0 / 500);
    assert_string_equal(json_text(json_find(all, "attacks[0].tpr_at_fpr.0.01.method")), "order statistics");
    json_free(none);
    json_free(all);
}

TEST(rates_that_cannot_be_measured_are_refused)
{
    double x[999];
    for (int i = 0; i < 999; i++)
        x[i] = i;
    const double fpr[] = {0.5, 0.01, 0.001};
    struct sotto_audit_options options = {.fpr = fpr, .fpr_count = 3, .confidence = 0.95};
    struct json *doc = audit_scores(x, 999, x, 999, &options);
    const struct json *tpr = json_find(doc, "attacks[0].tpr_at_fpr");
    assert_int_equal(json_kind(json_member(tpr, "0.001")), JSON_KIND_NULL);
    assert_string_equal(json_text(json_member(json_find(doc, "attacks[0].tpr_at_fpr_refused"), "0.001")),
                        "needs at least 1000 non-members (999 given)");
    assert_string_equal(json_text(json_find(doc, "warnings[0]")),
                        "999 non-members: the smallest measurable FPR is 0.1 %, so TPR at 0.1 % FPR is not "
                        "reported (reported "
                        "from n >= 1/FPR, marked weak below 10/FPR)");
    bool weak = false;
    assert_int_equal(json_get_boolean(&weak, tpr, "tpr", "0.5.weak"), SOTTO_OK);
    assert_false(weak);
    assert_int_equal(json_get_boolean(&weak, tpr, "tpr", "0.01.weak"), SOTTO_OK);
    assert_true(weak); /* 999 < 1000 */
    json_free(doc);
}

TEST(audits_repeat_bit_for_bit)
{
    double a[200], b[200];
    struct rng r = rng_stream(9, RNG_TEST, 0, 0);
    for (int i = 0; i < 200; i++)
        a[i] = rng_normal(&r), b[i] = rng_normal(&r);
    struct sotto_audit_input in = {
        .member_scores = a, .nonmember_scores = b, .n_member = 200, .n_nonmember = 200};
    struct sotto_audit_options options = {.seed = 3};
    char *one = NULL, *two = NULL, *other = NULL;
    assert_int_equal(audit_text(&one, &in, &options, NULL), SOTTO_OK);
    assert_int_equal(audit_text(&two, &in, &options, NULL), SOTTO_OK);
    options.seed = 4;
    assert_int_equal(audit_text(&other, &in, &options, NULL), SOTTO_OK);
    assert_string_equal(one, two);
    assert_string_not_equal(one, other);
    sotto_text_free(one);
    sotto_text_free(two);
    sotto_text_free(other);
}

/* Every reported threshold is the choosing half's own, and every rate is counted on the other half. */
TEST(thresholds_come_from_the_other_half)
{
    enum { M = 301, N = 420 };
    double member[M], nonmember[N], m[2][M], n[2][N];
    struct rng r = rng_stream(10, RNG_TEST, 0, 0);
    for (int i = 0; i < M; i++)
        member[i] = rng_normal(&r) + 1;
    for (int i = 0; i < N; i++)
        nonmember[i] = rng_normal(&r);
    struct audit_halves halves;
    assert_int_equal(audit_halves_make(&halves, M, N, 77), SOTTO_OK);
    for (int i = 0; i < M; i++)
        m[i >= M / 2][i - (i >= M / 2 ? M / 2 : 0)] = member[halves.member[i]];
    for (int i = 0; i < N; i++)
        n[i >= N / 2][i - (i >= N / 2 ? N / 2 : 0)] = nonmember[halves.nonmember[i]];
    audit_halves_clear(&halves);
    struct roc choosing, scored;
    assert_int_equal(roc_make(&choosing, m[0], M / 2, n[0], N / 2), SOTTO_OK);
    assert_int_equal(roc_make(&scored, m[1], M - M / 2, n[1], N - N / 2), SOTTO_OK);
    struct sotto_audit_options options = {.seed = 77};
    struct json *doc = audit_scores(member, M, nonmember, N, &options);
    static const char *const places[] = {"attacks[0].tpr_at_threshold.0.01.threshold",
                                         "attacks[0].balanced_accuracy_detail.threshold",
                                         "attacks[0].epsilon_detail.threshold"};
    const double chosen[] = {roc_threshold_at_fpr(&choosing, 0.01), roc_threshold_balanced(&choosing),
                             roc_threshold_epsilon(&choosing, 0, 0.95)};
    const double in_place[] = {roc_threshold_at_fpr(&scored, 0.01), roc_threshold_balanced(&scored),
                               roc_threshold_epsilon(&scored, 0, 0.95)};
    for (int i = 0; i < 3; i++) {
        near(value(doc, places[i]), chosen[i], 0);
        assert_true(chosen[i] != in_place[i]); /* else the check above could not tell */
    }
    /* The bound is tried in both directions: each has half of the error. */
    struct rates rates = roc_rates(&scored, chosen[0], 0.95), bound = roc_rates(&scored, chosen[2], 0.975);
    near(value(doc, "attacks[0].tpr_at_threshold.0.01.estimate"), rates.tpr.estimate, 0);
    near(value(doc, "attacks[0].tpr_at_threshold.0.01.realised_fpr.estimate"), rates.fpr.estimate, 0);
    near(value(doc, "attacks[0].balanced_accuracy"), roc_balanced(&scored, chosen[1], 0.95).estimate, 0);
    near(value(doc, "attacks[0].epsilon_lower_bound"), rates_epsilon(&bound, 0), 0);
    roc_clear(&choosing);
    roc_clear(&scored);
    json_free(doc);
}

TEST(bad_inputs_are_refused)
{
    float a[] = {0, 1, 2, 3, 4, 5}, b[] = {0, 1, 2, 3, 4, 5};
    int64_t ya[] = {0, 1, 0}, yb[] = {0, 1, 2};
    struct sotto_audit_input in = {
        .member = a, .nonmember = b, .n_member = 3, .n_nonmember = 3, .classes = 2};
    struct sotto_audit_input none = {.n_member = 3, .n_nonmember = 3}, one_sided = in, few = in, labels = in,
                             soft = in;
    expect(SOTTO_EUSAGE, &none, NULL,
           "audit: nothing to audit; expected logits, probabilities, losses or scores");
    one_sided.nonmember = NULL;
    expect(SOTTO_EUSAGE, &one_sided, NULL,
           "audit: logits or probabilities were given for members only; both sides need them");
    few.n_member = 1;
    expect(SOTTO_EINVAL, &few, NULL, "audit: 1 members and 3 non-members; expected at least 2 of each");
    labels.member_labels = ya, labels.nonmember_labels = yb;
    expect(SOTTO_EINVAL, &labels, NULL, "non-members: row 2 has label 2; expected 0 .. 1");
    soft.probabilities = 1;
    expect(SOTTO_EINVAL, &soft, NULL,
           "members: row 1 sums to 5; probabilities must sum to 1 within 0.001 (are these logits?)");
    b[3] = NAN;
    expect(SOTTO_EINVAL, &in, NULL,
           "non-members: 1 of 3 rows contain NaN (first: row 1, column 1); logits must be finite");
    b[3] = 3;
    const char *unknown[] = {"lossy", NULL}, *unfit[] = {"loss", NULL};
    struct sotto_audit_options options = {.names = unknown};
    expect(
        SOTTO_EUSAGE, &in, &options,
        "audit: attack 'lossy' is unknown; expected loss, confidence, entropy, modified-entropy, "
        "correctness, class-confidence, class-entropy, class-modified-entropy, privacy-risk, shadow-network, "
        "population, quantile, quantile-pinball, lira, lira-pooled, lira-student, lira-offline, rmia, "
        "rmia-offline, rmia-tuned, rmia-population, lira-views, lira-offline-views, rmia-views, "
        "rmia-offline-views, base, "
        "sablayrolles, watson, reference-rank, homer, tracing, tracing-standardised, mean-likelihood, logan, "
        "gan-leaks, "
        "gan-leaks-calibrated, monte-carlo, monte-carlo-distance, token-loss, zlib, reference-ratio, "
        "reference-difference, lowercase, neighbourhood, min-k, min-k-plus, scores; did you mean 'loss'?");
    options.names = unfit;
    expect(SOTTO_EUSAGE, &in, &options, "audit: attack 'loss' cannot run on these inputs; possible: entropy");
    options = (struct sotto_audit_options){.confidence = 1.5};
    expect(SOTTO_EINVAL, &in, &options, "audit: confidence must be above 0 and below 1 (got 1.5)");
    options = (struct sotto_audit_options){.delta = -1};
    expect(SOTTO_EINVAL, &in, &options, "audit: delta must be at least 0 and below 1 (got -1)");
}

TEST(allocation_failures_are_clean)
{
    float a[60], b[60];
    int64_t y[20];
    for (int i = 0; i < 60; i++)
        a[i] = (float)(i % 7), b[i] = (float)(i % 5);
    double reference[80];
    uint8_t trained[80];
    for (int i = 0; i < 20; i++)
        y[i] = i % 3;
    for (int i = 0; i < 80; i++)
        reference[i] = i % 11, trained[i] = i % 2;
    struct sotto_audit_input in = {.member = a,
                                   .nonmember = b,
                                   .member_reference = reference,
                                   .nonmember_reference = reference,
                                   .member_trained = trained,
                                   .nonmember_trained = trained,
                                   .reference_models = 4,
                                   .member_labels = y,
                                   .nonmember_labels = y,
                                   .n_member = 20,
                                   .n_nonmember = 20,
                                   .classes = 3};
    const char *names[] = {"loss", "lira", "watson", NULL};
    /* At so large a delta the Bayesian bound, which allocates nothing, is 0 without a search. */
    struct sotto_audit_options options = {.names = names,
                                          .draws = 100,
                                          .delta = 0.99,
                                          .most_vulnerable = 3,
                                          .has_claim = 1,
                                          .one_run_guesses = 5,
                                          .odds_ratio = 1};
    struct sotto_context one_thread = {.threads = 1};
    long n = 0;
    sotto_status status;
    do {
        char *json = NULL;
        base_alloc_fail_after(n++);
        status = audit_text(&json, &in, &options, &one_thread);
        base_alloc_fail_after(-1);
        assert_true(status == SOTTO_OK || status == SOTTO_ENOMEM);
        assert_true((json != NULL) == (status == SOTTO_OK));
        sotto_text_free(json);
    } while (status != SOTTO_OK && n < 20000);
    assert_int_equal(status, SOTTO_OK);
    assert_true(n > 20);
}
