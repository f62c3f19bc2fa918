/* src/attack: scores by hand, curves, thresholds, refusals, errors, allocation failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attack/attack_kind.h"
#include "attack/audit_private.h"
#include "attack/metrics.h"
#include "attack/posterior.h"
#include "io/json.h"
#include "num/beta.h"
#include "rng/rng.h"
#include "sotto/sotto.h"

static void near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%.17g; expected %.17g", found, expected);
}

/* --- scores by hand --- */

static double score(const char *name, const double *outputs, size_t classes, int64_t label,
                    bool probabilities)
{
    double s = NAN;
    struct attack_input in = {
        .outputs = outputs, .probabilities = probabilities, .labels = &label, .n = 1, .classes = classes};
    assert_int_equal(attack_run(&s, attack_find(name), &in), SOTTO_OK);
    return s;
}

/* p = (1/2, 1/4, 1/4), label 0: loss ln 2; entropy 1.5 ln 2; modified entropy -(1/2) ln(1/2) - 2 (1/4)
 * ln(3/4). */
static void scores_by_hand(void **state)
{
    (void)state;
    const double p[] = {0.5, 0.25, 0.25}, z[] = {3 + log(2), 3, 3}, ln2 = log(2);
    for (int probabilities = 0; probabilities < 2; probabilities++) {
        const double *x = probabilities ? p : z;
        near(score("loss", x, 3, 0, probabilities), -ln2, 1e-15);
        near(score("loss", x, 3, 1, probabilities), -2 * ln2, 1e-15);
        near(score("confidence", x, 3, 0, probabilities), 0.5, 1e-15);
        near(score("entropy", x, 3, 0, probabilities), -1.5 * ln2, 1e-15);
        near(score("modified-entropy", x, 3, 0, probabilities), -(0.5 * ln2 - 0.5 * log(0.75)), 1e-15);
        near(score("modified-entropy", x, 3, 1, probabilities),
             -(0.75 * 2 * ln2 + 0.5 * ln2 - 0.25 * log(0.75)), 1e-14);
        near(score("correctness", x, 3, 0, probabilities), 1, 0);
        near(score("correctness", x, 3, 2, probabilities), 0, 0);
    }
}

static void saturated_logits_stay_finite(void **state)
{
    (void)state;
    const double z[] = {100, -100, -100}, p[] = {1, 0, 0};
    near(score("loss", z, 3, 0, false), -2 * exp(-200), 1e-300);
    near(score("loss", z, 3, 1, false), -200, 1e-12);
    /* Wrong and sure: -(1 - p_y) log p_y - p_0 log(1 - p_0) = 200 + (200 - ln 2); nothing is clamped. */
    near(score("modified-entropy", z, 3, 1, false), -(400 - log(2)), 1e-10);
    near(score("entropy", z, 3, 0, false), 0, 1e-80);
    const double far[] = {-3e4, 3e4, 0};
    near(score("modified-entropy", far, 3, 0, false), -9e4,
         1e-9); /* 6e4 from the label, 3e4 from the sure wrong class */
    for (size_t i = 0; attack_table[i]; i++)
        if (attack_applies(attack_table[i], NEED_OUTPUTS | NEED_LABELS | NEED_LOSSES))
            for (int64_t y = 0; y < 3; y++) {
                assert_true(isfinite(score(attack_table[i]->name, z, 3, y, false)));
                assert_true(isfinite(score(attack_table[i]->name, p, 3, y, true)));
            }
}

static void the_table_is_well_formed(void **state)
{
    (void)state;
    for (size_t i = 0; attack_table[i]; i++) {
        assert_non_null(attack_table[i]->run);
        assert_true(attack_table[i]->needs != 0);
        assert_true(strlen(attack_table[i]->title) > 0 && strlen(attack_table[i]->source) > 0);
        assert_ptr_equal(attack_find(attack_table[i]->name), attack_table[i]);
    }
    assert_null(attack_find("no such attack"));
}

/* --- curves and thresholds --- */

static void area_counts_ties_half(void **state)
{
    (void)state;
    /* Pairs: 3>2 3>1 2=2 2>1 -> (1 + 1 + .5 + 1) / 4. */
    const double member[] = {3, 2}, nonmember[] = {2, 1};
    struct sotto_estimate e;
    assert_int_equal(sotto_auc(&e, member, 2, nonmember, 2, 0.95), SOTTO_OK);
    near(e.estimate, 0.875, 0);
    assert_true(e.lower >= 0 && e.lower < e.estimate && e.estimate < e.upper && e.upper <= 1);
}

static void edges_have_intervals(void **state)
{
    (void)state;
    double high[10], low[10], same[10];
    for (int i = 0; i < 10; i++)
        high[i] = i + 10, low[i] = i, same[i] = 7;
    struct sotto_estimate e;
    assert_int_equal(sotto_auc(&e, high, 10, low, 10, 0.95), SOTTO_OK);
    assert_true(e.estimate == 1 && e.upper == 1);
    near(e.lower, 1 - 0.3084971078187607, 1e-12); /* Clopper-Pearson, 10 of 10 */
    assert_int_equal(sotto_auc(&e, low, 10, high, 10, 0.95), SOTTO_OK);
    assert_true(e.estimate == 0 && e.lower == 0);
    near(e.upper, 0.3084971078187607, 1e-12);
    assert_int_equal(sotto_auc(&e, same, 10, same, 10, 0.95), SOTTO_OK);
    assert_true(e.estimate == 0.5);
    near(e.lower, 0.1870860284473985, 1e-12); /* 5 of 10: certainty is not claimed */
    assert_int_equal(sotto_auc(&e, high, 1, low, 1, 0.95), SOTTO_OK);
    near(e.lower, 0.025, 1e-15);
}

static void thresholds_never_exceed_the_rate(void **state)
{
    (void)state;
    struct rng r = rng_stream(5, RNG_TEST, 0, 0);
    for (int round = 0; round < 200; round++) {
        double member[40], nonmember[50];
        for (int i = 0; i < 40; i++)
            member[i] = (double)rng_below(&r, 12); /* many ties */
        for (int i = 0; i < 50; i++)
            nonmember[i] = (double)rng_below(&r, 12) - 1;
        struct curve c;
        assert_int_equal(curve_make(&c, member, 40, nonmember, 50), SOTTO_OK);
        for (double fpr = 0.01; fpr < 1; fpr += 0.07) {
            double t = curve_threshold_at_fpr(&c, fpr);
            struct rates rates = curve_rates(&c, t, 0.95);
            assert_true(rates.fpr.estimate <= fpr + 1e-12);
            /* No other threshold within the rate catches more. */
            for (double other = -3; other < 13; other += 0.5) {
                struct rates x = curve_rates(&c, other, 0.95);
                assert_true(x.fpr.estimate > fpr || x.tpr.estimate <= rates.tpr.estimate);
            }
        }
        struct rates best = curve_rates(&c, curve_threshold_balanced(&c), 0.95);
        near(best.tpr.estimate - best.fpr.estimate, curve_advantage(&c), 1e-15);
        curve_clear(&c);
    }
}

static void thinned_curves_are_subsets(void **state)
{
    (void)state;
    static double member[5000], nonmember[9000];
    struct rng r = rng_stream(6, RNG_TEST, 0, 0);
    for (int i = 0; i < 5000; i++)
        member[i] = rng_normal(&r) + 0.5;
    for (int i = 0; i < 9000; i++)
        nonmember[i] = rng_normal(&r);
    struct curve c;
    size_t kept[100];
    assert_int_equal(curve_make(&c, member, 5000, nonmember, 9000), SOTTO_OK);
    size_t count = curve_thin(kept, 100, &c);
    assert_true(count > 50 && count <= 100);
    for (size_t i = 1; i < count; i++)
        assert_true(kept[i] > kept[i - 1]);
    assert_int_equal(kept[count - 1], c.points - 1);
    /* Dense at low rates: at least a fifth of the points lie below FPR .01. */
    size_t low = 0;
    for (size_t i = 0; i < count; i++)
        low += c.false_flags[kept[i]] < 90;
    assert_true(low * 5 >= count);
    curve_clear(&c);
}

static void epsilon_bounds_by_hand(void **state)
{
    (void)state;
    /* Randomised response with epsilon = ln 3 has TPR .75 and FPR .25: the bound is ln 3 in the limit, never
     * above it. */
    struct rates exact = {.tpr = {.75, .75, .75}, .fpr = {.25, .25, .25}};
    near(rates_epsilon(&exact, 0), log(3), 1e-15);
    near(rates_epsilon(&exact, 0.05), log(0.7 / 0.25), 1e-15);
    struct rates none = {.tpr = {0, 0, .01}, .fpr = {0, 0, .01}};
    near(rates_epsilon(&none, 0), 0, 1e-15);
    struct rates miss_side = {.tpr = {1, .99, 1},
                              .fpr = {.5, .45, .55}}; /* log(.45 / .01) beats log(.99 / .55) */
    near(rates_epsilon(&miss_side, 0), log(45), 1e-12);
}

/* --- whole audits --- */

static struct json *audit_scores(const double *member, size_t m, const double *nonmember, size_t n,
                                 const struct sotto_audit_options *options)
{
    struct sotto_audit_input in = {
        .member_scores = member, .nonmember_scores = nonmember, .n_member = m, .n_nonmember = n};
    char *text = NULL;
    struct json *doc = NULL;
    if (sotto_audit(&text, &in, options, NULL) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    assert_int_equal(json_parse(&doc, text, strlen(text), "audit"), SOTTO_OK);
    sotto_text_free(text);
    return doc;
}

static double value(const struct json *doc, const char *path)
{
    return json_number(json_find(doc, path));
}

static void swapping_sides_mirrors_the_area(void **state)
{
    (void)state;
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

static void constant_scores_are_a_coin(void **state)
{
    (void)state;
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

static void a_planted_leak_is_found(void **state)
{
    (void)state;
    static double member[2000], nonmember[2000];
    struct rng r = rng_stream(8, RNG_TEST, 0, 0);
    for (int i = 0; i < 2000; i++) {
        nonmember[i] = rng_normal(&r);
        member[i] = rng_normal(&r) + (i % 10 == 0 ? 8 : 0); /* one in ten is given away */
    }
    struct json *doc = audit_scores(member, 2000, nonmember, 2000, NULL);
    assert_true(value(doc, "attacks[0].auc.lower") > 0.51);
    assert_true(value(doc, "attacks[0].tpr_at_fpr.0.001.lower") > 0.07);
    assert_true(value(doc, "attacks[0].tpr_at_fpr.0.001.upper") < 0.13);
    assert_true(value(doc, "attacks[0].epsilon_lower_bound") > 2);
    json_free(doc);
}

static void rates_that_cannot_be_measured_are_refused(void **state)
{
    (void)state;
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

static void audits_repeat_bit_for_bit(void **state)
{
    (void)state;
    double a[200], b[200];
    struct rng r = rng_stream(9, RNG_TEST, 0, 0);
    for (int i = 0; i < 200; i++)
        a[i] = rng_normal(&r), b[i] = rng_normal(&r);
    struct sotto_audit_input in = {
        .member_scores = a, .nonmember_scores = b, .n_member = 200, .n_nonmember = 200};
    struct sotto_audit_options options = {.seed = 3};
    char *one = NULL, *two = NULL, *other = NULL;
    assert_int_equal(sotto_audit(&one, &in, &options, NULL), SOTTO_OK);
    assert_int_equal(sotto_audit(&two, &in, &options, NULL), SOTTO_OK);
    options.seed = 4;
    assert_int_equal(sotto_audit(&other, &in, &options, NULL), SOTTO_OK);
    assert_string_equal(one, two);
    assert_string_not_equal(one, other);
    sotto_text_free(one);
    sotto_text_free(two);
    sotto_text_free(other);
}

/* Every reported threshold is the choosing half's own, and every rate is counted on the other half. */
static void thresholds_come_from_the_other_half(void **state)
{
    (void)state;
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
    struct curve choosing, scored;
    assert_int_equal(curve_make(&choosing, m[0], M / 2, n[0], N / 2), SOTTO_OK);
    assert_int_equal(curve_make(&scored, m[1], M - M / 2, n[1], N - N / 2), SOTTO_OK);
    struct sotto_audit_options options = {.seed = 77};
    struct json *doc = audit_scores(member, M, nonmember, N, &options);
    static const char *const places[] = {"attacks[0].tpr_at_fpr.0.01.threshold",
                                         "attacks[0].balanced_accuracy_detail.threshold",
                                         "attacks[0].epsilon_detail.threshold"};
    const double chosen[] = {curve_threshold_at_fpr(&choosing, 0.01), curve_threshold_balanced(&choosing),
                             curve_threshold_epsilon(&choosing, 0, 0.95)};
    const double in_place[] = {curve_threshold_at_fpr(&scored, 0.01), curve_threshold_balanced(&scored),
                               curve_threshold_epsilon(&scored, 0, 0.95)};
    for (int i = 0; i < 3; i++) {
        near(value(doc, places[i]), chosen[i], 0);
        assert_true(chosen[i] != in_place[i]); /* else the check above could not tell */
    }
    struct rates rates = curve_rates(&scored, chosen[0], 0.95), bound = curve_rates(&scored, chosen[2], 0.95);
    near(value(doc, "attacks[0].tpr_at_fpr.0.01.estimate"), rates.tpr.estimate, 0);
    near(value(doc, "attacks[0].tpr_at_fpr.0.01.realised_fpr.estimate"), rates.fpr.estimate, 0);
    near(value(doc, "attacks[0].balanced_accuracy"), curve_balanced(&scored, chosen[1], 0.95).estimate, 0);
    near(value(doc, "attacks[0].epsilon_lower_bound"), rates_epsilon(&bound, 0), 0);
    curve_clear(&choosing);
    curve_clear(&scored);
    json_free(doc);
}

/* --- refusals --- */

static void expect(sotto_status status, const struct sotto_audit_input *in,
                   const struct sotto_audit_options *options, const char *text)
{
    char *json = NULL;
    assert_int_equal(sotto_audit(&json, in, options, NULL), status);
    assert_null(json);
    assert_string_equal(sotto_error_text(), text);
}

static void bad_inputs_are_refused(void **state)
{
    (void)state;
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
    expect(SOTTO_EINVAL, &few, NULL, "audit: 1 members and 3 non-members; at least 2 of each are needed");
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
        "audit: unknown attack 'lossy'; expected one of loss, confidence, entropy, modified-entropy, "
        "correctness, class-confidence, class-entropy, class-modified-entropy, privacy-risk, shadow-network, "
        "population, quantile, lira, lira-pooled, lira-offline, rmia, rmia-offline, rmia-population, base, "
        "sablayrolles, watson, reference-rank, scores");
    options.names = unfit;
    expect(SOTTO_EUSAGE, &in, &options,
           "audit: attack 'loss' needs other arrays than those given; they allow entropy");
    options = (struct sotto_audit_options){.confidence = 1.5};
    expect(SOTTO_EINVAL, &in, &options, "audit: confidence must be between 0 and 1 (got 1.5)");
    options = (struct sotto_audit_options){.delta = -1};
    expect(SOTTO_EINVAL, &in, &options, "audit: delta must be >= 0 and < 1 (got -1)");
}

/* --- reference models --- */

enum { RECORDS = 400, MODELS = 16 };

/* A population whose signals are Gaussian: own mean per record, +1 under models trained on it (0: no leak).
 */
struct world {
    float logits[2][RECORDS * 2];
    int64_t labels[RECORDS];
    double reference[2][RECORDS * MODELS];
    uint8_t trained[2][RECORDS * MODELS];
};

static struct sotto_audit_input world_make(struct world *w, double leak, uint64_t seed)
{
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < RECORDS; i++) {
            struct rng r = rng_stream(seed, RNG_TEST, side, i);
            double own = 3 * rng_normal(&r);
            w->labels[i] = 0;
            w->logits[side][2 * i] = (float)(own + 0.5 * rng_normal(&r) + (side == 0 ? leak : 0));
            w->logits[side][2 * i + 1] = 0;
            for (size_t m = 0; m < MODELS; m++) {
                uint8_t in = rng_below(&r, 2) == 1;
                w->trained[side][i * MODELS + m] = in;
                w->reference[side][i * MODELS + m] = own + 0.5 * rng_normal(&r) + (in ? leak : 0);
            }
        }
    return (struct sotto_audit_input){.member = w->logits[0],
                                      .nonmember = w->logits[1],
                                      .member_labels = w->labels,
                                      .nonmember_labels = w->labels,
                                      .n_member = RECORDS,
                                      .n_nonmember = RECORDS,
                                      .classes = 2,
                                      .member_reference = w->reference[0],
                                      .nonmember_reference = w->reference[1],
                                      .member_trained = w->trained[0],
                                      .nonmember_trained = w->trained[1],
                                      .reference_models = MODELS};
}

static double area_of(const struct sotto_audit_input *in, const char *attack, const char *end)
{
    char *text, path[64];
    struct json *doc;
    const char *names[] = {attack, NULL};
    struct sotto_audit_options options = {.names = names};
    assert_int_equal(sotto_audit(&text, in, &options, NULL), SOTTO_OK);
    assert_int_equal(json_parse(&doc, text, strlen(text), "audit"), SOTTO_OK);
    snprintf(path, sizeof path, "attacks[0].auc.%s", end);
    double area = value(doc, path);
    sotto_text_free(text);
    json_free(doc);
    return area;
}

/* With 8 IN and 8 OUT models a record's threshold errs with variance .25 / 16, so the area is
 * Phi(1 / sqrt(2 (.25 + .25 / 16))) = .915; a loss threshold drowns in the records' own difficulty. Without a
 * leak every interval must hold 1/2. */
static void references_see_through_difficulty(void **state)
{
    (void)state;
    static const char *const online[] = {"lira", "lira-pooled", "sablayrolles"}, *const offline[] = {
                                                                                     "lira-offline", "watson",
                                                                                     "rmia", "rmia-offline",
                                                                                     "reference-rank"};
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    struct sotto_audit_input in = world_make(w, 1, 5), null;
    assert_true(area_of(&in, "loss", "upper") < 0.68);
    for (size_t i = 0; i < 3; i++)
        assert_true(area_of(&in, online[i], "lower") > 0.85 && area_of(&in, online[i], "lower") < 0.915);
    assert_true(area_of(&in, "sablayrolles", "upper") > 0.915);
    for (size_t i = 0; i < 5; i++)
        assert_true(area_of(&in, offline[i], "lower") > (i == 3 ? 0.6 : 0.8));
    in.member_trained = in.nonmember_trained = NULL; /* offline: references that saw nothing */
    null = world_make(w, 0, 6);
    for (size_t i = 0; i < 8; i++) {
        const char *name = i < 3 ? online[i] : offline[i - 3];
        assert_true(area_of(&null, name, "lower") < 0.5 && area_of(&null, name, "upper") > 0.5);
    }
    free(w);
}

static void losses_and_signals_agree(void **state)
{
    (void)state;
    const double loss[] = {1e-9, 0.1, 0.693, 1.5, 40};
    for (size_t i = 0; i < 5; i++) { /* p = e^-loss */
        double expected = -loss[i] - log(-expm1(-loss[i]));
        struct attack_input in = {.losses = &loss[i], .n = 1};
        near(posterior_signal(&in, 0), expected, 1e-9 * (1 + fabs(expected)));
    }
    const double z[] = {2, -1, 0.5};
    const int64_t y = 0;
    struct attack_input logits = {.outputs = z, .labels = &y, .n = 1, .classes = 3};
    double l = posterior_loss(&logits, 0);
    near(posterior_signal(&logits, 0), 2 - log(exp(-1) + exp(0.5)), 1e-15);
    near(signal_of_loss(l), posterior_signal(&logits, 0), 1e-13);
    near(signal_of_loss(0), 69.07755278982137, 1e-12); /* certain: kept finite */
}

/* A shadow that leaks as the target does teaches the network; one whose membership means nothing teaches
 * nothing. */
static void a_network_learns_from_a_shadow(void **state)
{
    (void)state;
    struct world *target = calloc(1, sizeof *target), *own = calloc(1, sizeof *own);
    assert_true(target && own);
    struct sotto_audit_input in = world_make(target, 3, 8);
    in.member_reference = in.nonmember_reference = NULL;
    in.member_trained = in.nonmember_trained = NULL;
    world_make(own, 3, 9);
    static double outputs[RECORDS * 4];
    static int64_t labels[2 * RECORDS];
    static uint8_t trained[2 * RECORDS];
    for (size_t i = 0; i < RECORDS * 4; i++)
        outputs[i] = own->logits[i / (RECORDS * 2)][i % (RECORDS * 2)];
    for (size_t i = 0; i < 2 * RECORDS; i++)
        trained[i] = i < RECORDS;
    in.shadow = outputs, in.shadow_labels = labels, in.shadow_trained = trained, in.n_shadow = 2 * RECORDS;
    assert_true(area_of(&in, "shadow-network", "lower") > 0.68);
    for (size_t i = 0; i < 2 * RECORDS; i++)
        trained[i] = i % 2;
    assert_true(area_of(&in, "shadow-network", "lower") < 0.68);
    in.shadow_labels = NULL;
    expect(SOTTO_EUSAGE, &in, NULL, "audit: a shadow model needs its outputs, labels and membership");
    in.shadow_labels = labels, in.n_shadow = 3;
    expect(SOTTO_EINVAL, &in, NULL, "shadow: 1 members and 2 non-members; at least 2 of each are needed");
    labels[1] = 2;
    expect(SOTTO_EINVAL, &in, NULL, "shadow: row 1 has label 2; expected 0 .. 1");
    labels[1] = 0;
    free(target);
    free(own);
}

static void bad_references_are_refused(void **state)
{
    (void)state;
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    const struct sotto_audit_input good = world_make(w, 1, 7);
    const char *lira[] = {"lira", NULL};
    struct sotto_audit_options options = {.names = lira};
    struct sotto_audit_input in = good;
    in.nonmember_reference = NULL;
    expect(SOTTO_EUSAGE, &in, NULL,
           "audit: reference signals were given for members only; both sides need them");
    in = good, in.member_reference = in.nonmember_reference = NULL;
    expect(SOTTO_EUSAGE, &in, NULL, "audit: a training mask needs the reference models' signals");
    in = good, in.member_labels = in.nonmember_labels = NULL;
    expect(SOTTO_EUSAGE, &in, NULL,
           "audit: reference models need the target's logits or probabilities with labels, or its losses");
    in = good, in.reference_models = 1;
    expect(SOTTO_EINVAL, &in, NULL, "audit: 1 reference model; at least 2 are needed");
    in = good, in.member_trained = in.nonmember_trained = NULL;
    expect(SOTTO_EUSAGE, &in, &options,
           "audit: attack 'lira' needs other arrays than those given; they allow loss, confidence, entropy, "
           "modified-entropy, correctness, lira-offline, rmia-offline, base, watson, reference-rank");
    in = good;
    for (size_t i = 0; i < RECORDS * MODELS; i++)
        w->trained[0][i] = w->trained[1][i] = i % MODELS == 0;
    expect(SOTTO_EINVAL, &in, &options,
           "references: no record has 2 models that were trained on it; at least 2 are needed");
    w->trained[1][3] = 2;
    expect(SOTTO_EINVAL, &in, NULL, "non-members: training mask holds 2; expected 0 or 1");
    w->trained[1][3] = 1;
    w->reference[0][MODELS + 1] = NAN;
    expect(SOTTO_EINVAL, &in, NULL,
           "members: 1 of 400 rows contain NaN (first: row 1, column 1); reference signals must be finite");
    free(w);
}

static void allocation_failures_are_clean(void **state)
{
    (void)state;
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
    long n = 0;
    sotto_status status;
    do {
        char *json = NULL;
        base_alloc_fail_after(n++);
        status = sotto_audit(&json, &in, NULL, NULL);
        base_alloc_fail_after(-1);
        assert_true(status == SOTTO_OK || status == SOTTO_ENOMEM);
        assert_true((json != NULL) == (status == SOTTO_OK));
        sotto_text_free(json);
    } while (status != SOTTO_OK && n < 20000);
    assert_int_equal(status, SOTTO_OK);
    assert_true(n > 20);
}

static void the_beta_function_has_two_good_tails(void **state)
{
    (void)state;
    /* I_x(1, b) = 1 - (1-x)^b and I_x(a, 1) = x^a: both tails keep their digits far out. */
    struct beta_tails t = beta_cdf(1e-20, 1, 3);
    near(t.lower / 3e-20, 1, 1e-12);
    t = beta_cdf(0.9, 1, 300);
    near(t.upper / pow(0.1, 300), 1, 1e-10);
    t = beta_cdf(0.3, 4, 1);
    near(t.lower, 0.0081, 1e-15);
    for (double p = 0.001; p < 1; p += 0.037) {
        double x = beta_quantile(p, 2.5, 7);
        near(beta_cdf(x, 2.5, 7).lower, p, 1e-14);
        near(x, 1 - beta_quantile(1 - p, 7, 2.5), 1e-14);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_by_hand),
        cmocka_unit_test(saturated_logits_stay_finite),
        cmocka_unit_test(the_table_is_well_formed),
        cmocka_unit_test(area_counts_ties_half),
        cmocka_unit_test(edges_have_intervals),
        cmocka_unit_test(thresholds_never_exceed_the_rate),
        cmocka_unit_test(thinned_curves_are_subsets),
        cmocka_unit_test(epsilon_bounds_by_hand),
        cmocka_unit_test(swapping_sides_mirrors_the_area),
        cmocka_unit_test(constant_scores_are_a_coin),
        cmocka_unit_test(a_planted_leak_is_found),
        cmocka_unit_test(rates_that_cannot_be_measured_are_refused),
        cmocka_unit_test(audits_repeat_bit_for_bit),
        cmocka_unit_test(thresholds_come_from_the_other_half),
        cmocka_unit_test(bad_inputs_are_refused),
        cmocka_unit_test(references_see_through_difficulty),
        cmocka_unit_test(losses_and_signals_agree),
        cmocka_unit_test(a_network_learns_from_a_shadow),
        cmocka_unit_test(bad_references_are_refused),
        cmocka_unit_test(allocation_failures_are_clean),
        cmocka_unit_test(the_beta_function_has_two_good_tails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
