/* src/measure/attack: what stands around an audit: checks of the two sets, claims, gates, slices, most vulnerable members,
 * spread. */
#include "support/test.h"
#include "support/audit_world.h"
#include "audit/score/score_attack.h"
#include "audit/audit_duplicates.h"
#include "audit/audit_support.h"
#include "audit/score/lira.h"
#include "audit/distribution_shift_test.h"

#include <math.h>

static void near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%.17g; expected %.17g", found, expected);
}

static const char *text_at(const struct json *doc, const char *path)
{
    const char *text = json_text(json_find(doc, path));
    return text ? text : "";
}

/* --- checks before claims --- */

TEST(duplicates_are_counted)
{
    const float rows[][2] = {{1, 2}, {1, 2}, {3, 4}, {5, 6}, /* members */
                             {3, 4}, {3, 4}, {7, 8}};
    struct duplicates d;
    assert_int_equal(duplicates_count(&d, rows, sizeof *rows, 4, 3), SOTTO_OK);
    assert_int_equal(d.members, 1);
    assert_int_equal(d.nonmembers, 2);
    assert_int_equal(d.within_members, 1);
    assert_int_equal(d.within_nonmembers, 1);
    base_alloc_fail_after(1);
    assert_int_equal(duplicates_count(&d, rows, sizeof *rows, 4, 3), SOTTO_ENOMEM);
    base_alloc_fail_after(-1);
}

enum { SET = 600, WIDTH = 6 };

/* Features of `shift` in one coordinate on the members' side. */
static float *features_make(double shift, uint64_t seed)
{
    float *x = calloc(2 * SET * WIDTH, sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < 2 * SET; i++) {
        struct rng r = rng_stream(seed, RNG_TEST, 0, i);
        for (size_t j = 0; j < WIDTH; j++)
            x[i * WIDTH + j] = (float)(100 * rng_normal(&r) + (i < SET && j == 2 ? 100 * shift : 0) + 7);
    }
    return x;
}

/* Members shifted by d standard deviations in one coordinate: the best classifier has AUC Phi(d / sqrt 2). */
TEST(a_difference_of_the_sets_is_found)
{
    struct sotto_estimate e;
    float *alike = features_make(0, 3), *shifted = features_make(1, 4);
    assert_int_equal(distribution_shift_auc(&e, alike, SET, SET, WIDTH, 0.99, 1, NULL), SOTTO_OK);
    assert_true(e.lower < 0.5 && e.upper > 0.5 && e.upper - e.lower < 0.12);
    assert_int_equal(distribution_shift_auc(&e, shifted, SET, SET, WIDTH, 0.99, 1, NULL), SOTTO_OK);
    double best = 0.5 * erfc(-0.5);
    assert_true(e.lower < best && e.upper > best - 0.02 && e.lower > 0.65);
    assert_int_equal(distribution_shift_auc(&e, shifted, 9, SET, WIDTH, 0.99, 1, NULL), SOTTO_EINVAL);
    free(alike);
    free(shifted);
}

/* Two classes, 30:70 against 50:50 of 100 each: Pearson's statistic is 8.3333, p = 0.003892 (erfc(sqrt(x /
 * 2))). */
TEST(classes_are_compared)
{
    const size_t a[] = {30, 70, 0}, b[] = {50, 50, 0}, one[] = {5, 0, 0};
    near(distribution_shift_classes_p(a, b, 3), erfc(sqrt(8.333333333333334 / 2)),
         4e-4);                                               /* an approximation */
    assert_true(distribution_shift_classes_p(a, a, 3) > 0.9); /* exactly 1 */
    near(distribution_shift_classes_p(one, one, 3), 1, 0);
}

TEST(every_audit_has_sanity_checks)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    struct sotto_audit_input in = world_make(w, 1, 21);
    struct json *doc = audit_run(&in, NULL);
    assert_string_equal(text_at(doc, "lint[0].name"), "duplicates");
    assert_string_equal(text_at(doc, "lint[0].level"), "ok");
    assert_string_equal(text_at(doc, "lint[1].level"), "unknown"); /* no features */
    assert_string_equal(text_at(doc, "lint[2].level"), "ok");
    assert_string_equal(text_at(doc, "lint[3].name"), "generalisation");
    json_free(doc);
    float *x = features_make(3, 5);
    in.member_features = x, in.nonmember_features = x + SET * WIDTH, in.feature_count = WIDTH;
    for (size_t i = 0; i < 2 * 7; i++)
        w->logits[1][i] = w->logits[0][i];
    for (size_t i = 0; i < WIDTH; i++)
        x[SET * WIDTH + i] = x[i];
    doc = audit_run(&in, NULL);
    assert_string_equal(text_at(doc, "lint[0].text"),
                        "1 of 400 members have the same records as a non-member: remove them from one side");
    assert_string_equal(text_at(doc, "lint[1].level"), "warning");
    assert_true(value(doc, "lint[1].auc.lower") > 0.95);
    json_free(doc);
    in.member_features = NULL;
    expect(SOTTO_EUSAGE, &in, NULL, "audit: features were given for non-members only; both sides need them");
    free(x);
    free(w);
}

/* --- claims and gates --- */

/* Randomised response with flag rates .75 and .25 is (ln 3, 0)-private: the claim stands, a smaller one
 * falls. */
TEST(claims_are_tested)
{
    enum { N = 4000 };
    static double member[N], nonmember[N];
    struct rng r = rng_stream(31, RNG_TEST, 0, 0);
    for (int i = 0; i < N; i++)
        member[i] = rng_unit(&r) < 0.75, nonmember[i] = rng_unit(&r) < 0.25;
    struct sotto_audit_input in = {
        .member_scores = member, .nonmember_scores = nonmember, .n_member = N, .n_nonmember = N};
    const double claims[] = {log(3), 0.8};
    for (int i = 0; i < 2; i++) {
        struct sotto_audit_options options = {
            .has_claim = 1, .claim_epsilon = claims[i], .claim_delta = 1e-6};
        bool contradicted;
        struct json *doc = audit_run(&in, &options);
        assert_int_equal(json_get_boolean(&contradicted, doc, "audit", "claim.contradicted"), SOTTO_OK);
        assert_int_equal(contradicted, i == 1);
        assert_string_equal(text_at(doc, "claim.attack"), "scores");
        assert_true(value(doc, "claim.epsilon_lower_bound") < log(3));
        json_free(doc);
    }
    struct sotto_audit_options bad = {.has_claim = 1, .claim_epsilon = -1};
    expect(SOTTO_EINVAL, &in, &bad, "audit: claim_epsilon must be finite and >= 0 (got -1)");
    bad = (struct sotto_audit_options){.has_claim = 1, .claim_delta = 1};
    expect(SOTTO_EINVAL, &in, &bad, "audit: claim_delta must be at least 0 and below 1 (got 1)");
    bad.has_claim = 0; /* without a claim they say nothing */
    json_free(audit_run(&in, &bad));
    bad = (struct sotto_audit_options){.draws = 5};
    expect(SOTTO_EINVAL, &in, &bad, "audit: draws must be at least 100 and at most 1000000 (got 5)");
}

/* With several attacks each gets its share of the error, so the claim is tested at 95 % over all of them
 * together. */
TEST(claims_allow_for_the_number_of_attacks)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    struct sotto_audit_input in = world_make(w, 1, 22);
    struct sotto_audit_options options = {.has_claim = 1, .claim_epsilon = 1};
    struct json *doc = audit_run(&in, &options);
    double attacks = value(doc, "claim.attacks");
    assert_true(attacks > 10);
    near(value(doc, "attacks[0].claim.confidence"), 1 - 0.05 / attacks, 1e-12);
    json_free(doc);
    free(w);
}

static void expect_gate(const struct json *doc, const char *rule, int failed, const char *line)
{
    char *text = NULL, *said = NULL;
    int found = -1;
    assert_int_equal(json_dump(&text, doc, JSON_LINE), SOTTO_OK);
    struct sotto_audit_result result = {0}; /* as of a file */
    assert_int_equal(sotto_audit_decode(&result, text), SOTTO_OK);
    assert_int_equal(sotto_audit_gate(&found, &said, &result, rule), SOTTO_OK);
    sotto_audit_result_free(&result);
    assert_int_equal(found, failed);
    if (line)
        assert_string_equal(said, line);
    sotto_text_free(text);
    sotto_text_free(said);
}

TEST(gates_follow_the_worst_attack)
{
    double member[] = {1, 2, 3, 4}, nonmember[] = {0, 0, 0, 0}, even[] = {0, 0, 0, 0};
    struct sotto_audit_scores named[] = {{.name = "mine", .member = member, .nonmember = nonmember},
                                         {.name = "other", .member = even, .nonmember = even}};
    struct sotto_audit_input in = {.named = named, .named_count = 2, .n_member = 4, .n_nonmember = 4};
    struct json *doc = audit_run(&in, NULL);
    assert_int_equal(json_count(json_find(doc, "attacks")), 2);
    expect_gate(doc, "auc>0.6", 1, "gate FAIL: auc>0.6 (mine: 1)");
    expect_gate(doc, "auc>1", 0, "gate pass: auc>1 (mine: 1)");
    expect_gate(doc, "auc>=1", 1, NULL);
    expect_gate(doc, "auc<0.6", 1, "gate FAIL: auc<0.6 (other: 0.5)");
    expect_gate(doc, "auc.lower>0.5", 0, NULL); /* four records prove little */
    expect_gate(doc, "advantage>0.5", 1, NULL);
    expect_gate(doc, "epsilon>5", 0, NULL);
    expect_gate(doc, "tpr@0.01>0.5", 1, "gate FAIL: tpr@0.01>0.5 was not measured");
    expect_gate(doc, "claim>0", 1, "gate FAIL: claim>0 was not measured");
    expect_gate(doc, "lint>0", 0, "gate pass: lint>0 (0)");
    json_free(doc);
    static const char *const wrong[] = {"auc",    "auc>",    "aux>1",           "tpr>1",      "auc@0.1>1",
                                        "auc>1x", "tpr@2>1", "epsilon.lower>1", "auc.left>1", ">1",
                                        "",       "tpr@>1",  "auc>nan"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(sotto_audit_gate(NULL, NULL, NULL, wrong[i]), SOTTO_EUSAGE);
}

/* --- the most vulnerable records, and how much they vary --- */

TEST(slices_share_one_threshold)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    struct sotto_audit_input in = world_make(w, 1, 23);
    for (size_t i = 0; i < RECORDS; i++)
        w->labels[i] = i % 20 == 0; /* class 1 has 20 of 400 */
    struct json *doc = audit_run(&in, NULL);
    assert_string_equal(text_at(doc, "slices.attack"), "lira");
    assert_string_equal(text_at(doc, "slices.rows[2].name"), "class 0");
    assert_true(value(doc, "slices.rows[2].n_member") == 380 && value(doc, "slices.rows[3].n_member") == 20);
    assert_true(value(doc, "slices.rows[0].n_member") + value(doc, "slices.rows[1].n_member") == RECORDS);
    assert_int_equal(json_kind(json_find(doc, "slices.rows[3].auc")), JSON_KIND_NULL);
    assert_string_equal(text_at(doc, "slices.rows[3].refused"),
                        "needs at least 30 members and 30 non-members");
    near(value(doc, "slices.confidence"), 1 - 0.05 / 10, 1e-15);
    assert_int_equal(json_count(json_find(doc, "slices.rows")), 2 + 2 + 6);
    assert_string_equal(text_at(doc, "slices.rows[4].name"), "losses, part 1 of 6: the lowest");
    assert_string_equal(text_at(doc, "slices.rows[9].name"), "losses, part 6 of 6: the highest");
    for (size_t k = 4; k < 10; k++) { /* every record is in one part */
        char path[2][64];
        snprintf(path[0], sizeof path[0], "slices.rows[%zu].n_member", k);
        snprintf(path[1], sizeof path[1], "slices.rows[%zu].n_nonmember", k);
        near(value(doc, path[0]) + value(doc, path[1]), 2 * RECORDS / 6.0, 1);
    }
    json_free(doc);
    free(w);
}

TEST(the_most_vulnerable_are_listed)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    struct sotto_audit_input in = world_make(w, 1, 24);
    in.member_reference = in.nonmember_reference = NULL;
    in.member_trained = in.nonmember_trained = NULL;
    w->logits[0][2 * 123] = 60, w->logits[0][2 * 7] = 50; /* the two lowest losses */
    struct sotto_audit_options options = {.most_vulnerable = 3, .include_indices = 1};
    struct json *doc = audit_run(&in, &options);
    assert_int_equal(json_count(json_find(doc, "exposed.members")), 3);
    assert_true(value(doc, "exposed.members[0].row") == 123 && value(doc, "exposed.members[1].row") == 7);
    assert_true(value(doc, "exposed.members[0].nonmembers_as_high") == 0);
    assert_true(value(doc, "exposed.members[1].score") >= value(doc, "exposed.members[2].score"));
    json_free(doc);
    options.include_indices = 0;
    doc = audit_run(&in, &options);
    assert_int_equal(json_kind(json_find(doc, "exposed.members[0].row")), JSON_KIND_NULL);
    json_free(doc);
    free(w);
}

/* Every reference model leaks as the target does, so as targets they show about the same area. */
TEST(reference_models_play_the_target)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    struct sotto_audit_input in = world_make(w, 1, 25);
    struct json *doc = audit_run(&in, NULL);
    assert_string_equal(text_at(doc, "between_models[1].name"), "lira");
    assert_true(value(doc, "between_models[1].targets") == MODELS);
    near(value(doc, "between_models[1].auc.mean"), 0.905, 0.02);
    assert_true(value(doc, "between_models[1].auc.lowest") > 0.87 &&
                value(doc, "between_models[1].auc.highest") < 0.94);
    assert_true(value(doc, "between_models[1].auc.deviation") < 0.02);
    /* The median threshold at 1 % transfers: about 1 % of 400 non-members. */
    assert_true(value(doc, "between_models[1].transferred.0.01.fpr.lower") < 0.01 &&
                value(doc, "between_models[1].transferred.0.01.fpr.upper") > 0.01 &&
                value(doc, "between_models[1].transferred.0.01.fpr.estimate") < 0.03);
    assert_true(value(doc, "between_models[1].transferred.0.01.tpr.lower") > 0.1);
    assert_non_null(json_find(doc, "between_models[1].tpr_at_fpr.0.01"));
    assert_null(json_find(doc, "between_models[1].tpr_at_fpr.0.001")); /* 400 non-members cannot say */
    assert_null(json_find(doc, "between_models[1].transferred.0.001"));
    assert_true(value(doc, "between_models[0].auc.mean") < 0.65); /* a loss threshold drowns in difficulty */
    /* Signals of a record differ by noise of half the leak: about half of those it flags are flagged
     * again. */
    double jaccard = value(doc, "between_models[1].stability.jaccard"),
           steady = value(doc, "between_models[1].stability.steady");
    assert_true(value(doc, "between_models[1].stability.pairs") == MODELS * (MODELS - 1) / 2);
    assert_true(jaccard > 0.05 && jaccard < 0.9);
    assert_true(value(doc, "between_models[1].stability.judged") > 1.8 * RECORDS && steady < RECORDS);
    assert_null(json_find(doc, "between_models[0].stability"));
    assert_true(value(doc, "between_models[1].transferred.0.01.ppv.0.5.estimate") > 0.9);
    static const char *const played[] = {"loss",         "lira",   "lira-pooled",   "lira-student",
                                         "lira-offline", "rmia",   "rmia-offline",  "base",
                                         "sablayrolles", "watson", "reference-rank"};
    assert_int_equal(json_count(json_find(doc, "between_models")),
                     11); /* signals are all that is known of them */
    for (size_t k = 0; k < 11; k++) {
        char path[64];
        snprintf(path, sizeof path, "between_models[%zu].name", k);
        assert_string_equal(text_at(doc, path), played[k]);
        snprintf(path, sizeof path, "between_models[%zu].auc.mean", k);
        assert_true(value(doc, path) > (k == 0 ? 0.5 : k == 6 ? 0.6 : 0.75));
    }
    json_free(doc);
    in.member_trained = in.nonmember_trained = NULL; /* their training records are unknown */
    doc = audit_run(&in, NULL);
    assert_null(json_find(doc, "between_models"));
    json_free(doc);
    free(w);
}

/* By hand: three runs, five records. */
TEST(support_by_hand)
{
    const uint8_t trained[3 * 5] = {1, 1, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0, 1, 1},
                              flags[3 * 5] = {1, 1, 1, 0, 1, 1, 0, 0, 1, 1, 0, 1, 0, 1, 1};
    struct audit_support s;
    assert_int_equal(audit_support_make(&s, flags, trained, 3, 5, 0.01), SOTTO_OK);
    const uint8_t runs[5] = {3, 2, 0, 3, 3}, flagged[5] = {2, 2, 0, 2, 3}, mistaken[5] = {0, 0, 1, 0, 0};
    assert_memory_equal(s.runs, runs, 5);
    assert_memory_equal(s.flagged, flagged, 5);
    assert_memory_equal(s.mistaken, mistaken, 5);
    assert_true(s.others[1] == 1 && s.others[2] == 3);
    /* Runs 0 and 1 both saw 0, 3, 4: flags 1 0 1 and 1 1 1, 2 of 3. 0 and 2: 0, 1, 3, 4: 1 1 0 1 and 0 1 1 1,
     * 2 of
     * 4. 1 and 2: 0, 3, 4: 1 1 1 and 0 1 1, 2 of 3. */
    near(s.jaccard, (2.0 / 3 + 0.5 + 2.0 / 3) / 3, 1e-15);
    assert_int_equal(s.pairs, 3);
    audit_support_clear(&s);
    assert_int_equal(audit_support_make(&s, NULL, NULL, 0, 5, 0.01), SOTTO_OK);
    assert_true(isnan(audit_stability(&s).fpr));
    audit_support_clear(&s);
}

/* --- reference outputs, populations, parameters --- */

TEST(outputs_of_references_equal_their_signals)
{
    struct world *w = calloc(1, sizeof *w);
    float *outputs = calloc((size_t)MODELS * 2 * RECORDS * 2, sizeof *outputs);
    uint8_t *trained = calloc((size_t)MODELS * 2 * RECORDS, 1);
    assert_true(w && outputs && trained);
    struct sotto_audit_input in = world_make(w, 1, 26), other = in;
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < RECORDS; i++)
            for (size_t m = 0; m < MODELS; m++) {
                size_t at = m * 2 * RECORDS + side * RECORDS + i;
                w->reference[side][i * MODELS + m] = (float)w->reference[side][i * MODELS + m];
                outputs[2 * at] =
                    (float)w->reference[side][i * MODELS + m]; /* two classes: signal z_0 - z_1 */
                trained[at] = w->trained[side][i * MODELS + m];
            }
    other.member_reference = other.nonmember_reference = NULL;
    other.member_trained = other.nonmember_trained = NULL;
    other.reference_outputs = outputs, other.reference_outputs_trained = trained;
    const char *names[] = {"lira", "rmia", "base", NULL};
    struct sotto_audit_options options = {.names = names};
    struct json *one = audit_run(&in, &options), *two = audit_run(&other, &options);
    for (int i = 0; i < 3; i++) {
        char path[64];
        snprintf(path, sizeof path, "attacks[%d].auc.estimate", i);
        near(value(one, path), value(two, path), 0);
    }
    json_free(one);
    json_free(two);
    outputs[5] = NAN;
    expect(SOTTO_EINVAL, &other, NULL, "reference outputs: model 0, row 2 is not finite");
    outputs[5] = 0, trained[9] = 2;
    expect(SOTTO_EINVAL, &other, NULL, "reference models: training mask holds 2; expected 0 or 1");
    other.member_labels = other.nonmember_labels = NULL;
    expect(SOTTO_EUSAGE, &other, NULL,
           "audit: outputs of reference models need the target's logits or probabilities, with labels");
    free(w);
    free(outputs);
    free(trained);
}

TEST(populations_are_checked)
{
    double member[] = {1, 2, 3}, nonmember[] = {2, 3, 4},
           others[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    struct sotto_audit_input in = {.member_losses = member,
                                   .nonmember_losses = nonmember,
                                   .n_member = 3,
                                   .n_nonmember = 3,
                                   .population_losses = others,
                                   .n_population = 12};
    const char *names[] = {"population", "quantile", NULL};
    struct sotto_audit_options options = {.names = names};
    struct json *doc = audit_run(&in, &options);
    assert_int_equal(json_count(json_find(doc, "attacks")), 2);
    near(value(doc, "attacks[0].auc.estimate"), (1.0 + 1 + 1 + 0.5 + 1 + 1 + 0 + 0.5 + 1) / 9, 1e-15);
    json_free(doc);
    in.n_population = 9;
    expect(SOTTO_EINVAL, &in, NULL, "population: 9 records; expected at least 10");
    in.n_population = 12, others[3] = INFINITY;
    expect(SOTTO_EINVAL, &in, NULL, "population: row 3 is an infinity; losses must be finite");
    in.population_losses = NULL, in.population_labels = (int64_t[12]){0};
    expect(SOTTO_EUSAGE, &in, NULL, "audit: a population needs its logits, probabilities or losses");
}

/* x = (1, 0, 1), released (.75, .5, .5), population (.5, .5, .25). By hand: D = .25, 0, .25, mean 1/6,
 * variance 1/48, so T = sqrt 3 (1/6) / sqrt(1/48) = 2; inner product .5 .25 + 0 + .75 .25; likelihood ln 1.5
 * + ln 1 + ln 2. */
TEST(means_by_hand)
{
    const float x[] = {1, 0, 1};
    const double released[] = {0.75, 0.5, 0.5}, reference[] = {0.5, 0.5, 0.25};
    struct attack_input in = {
        .features = x, .released_mean = released, .reference_mean = reference, .n = 1, .width = 3};
    double s;
    assert_int_equal(attack_run(&s, attack_find("homer"), &in), SOTTO_OK);
    near(s, 2, 1e-14);
    assert_int_equal(attack_run(&s, attack_find("tracing"), &in), SOTTO_OK);
    near(s, 0.3125, 1e-15);
    assert_int_equal(attack_run(&s, attack_find("mean-likelihood"), &in), SOTTO_OK);
    near(s, log(3), 1e-14);
}

/* Bits with frequencies of their own, the mean of 50 members released: 3,000 features give them away, 3 do
 * not. */
TEST(a_released_mean_gives_its_people_away)
{
    enum { PEOPLE = 50, BITS = 3000 };
    float *x = calloc((size_t)2 * PEOPLE * BITS, sizeof *x);
    double *means = calloc(2 * BITS, sizeof *means);
    assert_true(x && means);
    for (size_t j = 0; j < BITS; j++) {
        struct rng r = rng_stream(41, RNG_TEST, 0, j);
        means[BITS + j] = 0.05 + 0.9 * rng_unit(&r);
        for (size_t i = 0; i < 2 * PEOPLE; i++) {
            x[i * BITS + j] = rng_unit(&r) < means[BITS + j];
            means[j] += i < PEOPLE ? (double)x[i * BITS + j] / PEOPLE : 0;
        }
    }
    struct sotto_audit_input in = {.member_features = x,
                                   .nonmember_features = x + (size_t)PEOPLE * BITS,
                                   .n_member = PEOPLE,
                                   .n_nonmember = PEOPLE,
                                   .feature_count = BITS,
                                   .released_mean = means,
                                   .reference_mean = means + BITS};
    struct json *doc = audit_run(&in, NULL);
    assert_int_equal(json_count(json_find(doc, "attacks")), 4);
    for (int i = 0; i < 4; i++) {
        char path[64];
        snprintf(path, sizeof path, "attacks[%d].auc.lower", i);
        assert_true(value(doc, path) > 0.85);
    }
    assert_string_equal(text_at(doc, "input"), "features");
    json_free(doc);
    for (size_t i = 0; i < 2 * PEOPLE; i++) /* the same people, three bits each */
        for (size_t j = 0; j < 3; j++)
            x[i * 3 + j] = x[i * BITS + j];
    for (size_t j = 0; j < 3; j++)
        means[3 + j] = means[BITS + j];
    in.feature_count = 3, in.nonmember_features = x + 3 * PEOPLE, in.reference_mean = means + 3;
    x[0] = 2; /* no share any more: the likelihood does not apply */
    doc = audit_run(&in, NULL);
    assert_int_equal(json_count(json_find(doc, "attacks")), 2);
    assert_true(value(doc, "attacks[0].auc.lower") < 0.6 && value(doc, "attacks[1].auc.lower") < 0.6);
    json_free(doc);
    in.reference_mean = NULL;
    expect(SOTTO_EUSAGE, &in, NULL,
           "audit: a released mean needs the mean of a population and the records' features");
    free(x);
    free(means);
}

TEST(parameters_are_checked)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    struct sotto_audit_input in = world_make(w, 1, 27);
    const char *lira[] = {"lira", NULL}, *good[] = {"lira.prior=0", "lira.monotone=1", NULL};
    struct sotto_audit_options options = {.names = lira, .settings = good};
    struct json *doc = audit_run(&in, &options);
    near(value(doc, "attacks[0].parameters.prior"), 0, 0);
    near(value(doc, "attacks[0].parameters.monotone"), 1, 0);
    near(value(doc, "attacks[0].parameters.per-record"), 32, 0);
    json_free(doc);
    options.settings = (const char *[]){"lira.prior=-1", NULL};
    expect(SOTTO_EUSAGE, &in, &options,
           "audit: 'lira.prior=-1' is out of range; lira.prior is a number from 0 to 1e+09");
    options.settings = (const char *[]){"lira.priors=1", NULL};
    expect(SOTTO_EUSAGE, &in, &options,
           "audit: 'lira.priors=1' is not a parameter of 'lira'; expected lira.NAME=VALUE with NAME one of "
           "prior, per-record, monotone");
    options.settings = (const char *[]){"loss.x=1", NULL};
    expect(SOTTO_EUSAGE, &in, &options,
           "audit: 'loss.x=1' is not a parameter of 'loss'; expected loss.NAME=VALUE with NAME one of none: "
           "it has no parameters");
    options.settings = (const char *[]){"lyra.x=1", NULL};
    expect(SOTTO_EUSAGE, &in, &options,
           "audit: 'lyra.x=1' does not begin with the name of an attack; expected ATTACK.NAME=VALUE");
    free(w);
}

/* IN much narrower than OUT: a signal far above both looks like OUT to the plain ratio; the switch forgives
 * that, and changes nothing below the IN mean. Where both spreads are equal the ratio is (mu_in - mu_out) (s
 * - middle) / sigma^2. */
TEST(monotone_lira_never_punishes_confidence)
{
    assert_true(lira_ratio(20, 5, 0.1, 0, 4, false) < 0);
    assert_true(lira_ratio(20, 5, 0.1, 0, 4, true) > lira_ratio(6, 5, 0.1, 0, 4, true));
    for (double s = -3; s <= 5; s += 0.5)
        near(lira_ratio(s, 5, 0.1, 0, 4, true), lira_ratio(s, 5, 0.1, 0, 4, false), 0);
    for (double s = -3; s < 8; s += 0.7)
        near(lira_ratio(s, 3, 2, 1, 2, false), (3 - 1) * (s - 2) / 2, 1e-12);
}

TEST(one_run_and_odds_ride_along)
{
    double member[50], nonmember[50];
    for (int i = 0; i < 50; i++)
        member[i] = 100 - i, nonmember[i] = -i;
    struct sotto_audit_input in = {
        .member_scores = member, .nonmember_scores = nonmember, .n_member = 50, .n_nonmember = 50};
    struct sotto_audit_options options = {.one_run_guesses = 10, .odds_ratio = 1};
    struct json *doc = audit_run(&in, &options);
    assert_true(value(doc, "attacks[0].one_run.right") == 20);
    double q = pow(0.025, 1.0 / 20); /* two directions share the error */
    near(value(doc, "attacks[0].one_run.epsilon_lower_bound"), log(q / (1 - q)), 1e-9);
    assert_true(value(doc, "attacks[0].odds_ratio.lower") > 1);
    json_free(doc);
    for (int i = 0; i < 50; i++)
        member[i] = -i, nonmember[i] = 100 - i; /* the opposite guesses are right */
    doc = audit_run(&in, &options);
    assert_true(value(doc, "attacks[0].one_run.right") == 20);
    near(value(doc, "attacks[0].one_run.epsilon_lower_bound"), log(q / (1 - q)), 1e-9);
    assert_non_null(strstr(text_at(doc, "attacks[0].one_run.assumption"), "the opposite guesses"));
    json_free(doc);
    for (int i = 0; i < 50; i++)
        member[i] = nonmember[i] = 1; /* all tied: the attacker gets none right */
    doc = audit_run(&in, &options);
    assert_true(value(doc, "attacks[0].one_run.right") == 0);
    json_free(doc);
    options.one_run_guesses = 51;
    expect(SOTTO_EINVAL, &in, &options,
           "one run: 2 x 51 guesses for 100 records; expected at most one guess per record");
}
