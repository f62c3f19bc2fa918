/* src/measure/attack: attribute inference: scores by hand, the classifiers, what is found and what is not. */
#include "support/test.h"
#include "support/audit_world.h"
#include "audit/measure/confusion.h"
#include "audit/fit/linear_model.h"
#include "support/audit_text.h"

#include <math.h>

static void near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%.17g; expected %.17g", found, expected);
}

/* Recalls 1/2, 1, 0; F1 2/4, 4/5, 0; class 3 is neither there nor guessed. */
TEST(scores_by_hand)
{
    const int64_t truth[] = {0, 0, 1, 1, 2}, guess[] = {0, 1, 1, 1, 0}, other[] = {1, 0, 1, 0, 2};
    struct confusion_scores s;
    struct sotto_estimate gain;
    assert_int_equal(confusion_measure(&s, truth, guess, 5, 4, 500, 0.95, 1, 0), SOTTO_OK);
    near(s.accuracy.estimate, 0.6, 1e-15);
    near(s.balanced.estimate, 0.5, 1e-15);
    near(s.macro_f1.estimate, 1.3 / 3, 1e-15);
    assert_true(s.accuracy.lower >= 0 && s.accuracy.lower < 0.6 && s.accuracy.upper > 0.6 &&
                s.accuracy.upper <= 1);
    assert_int_equal(confusion_gain(&gain, truth, guess, other, 5, 500, 0.95, 1, 0), SOTTO_OK);
    near(gain.estimate, 0, 1e-15); /* better on records 0 and 3, worse on 1 and 4 */
    assert_true(gain.lower < 0 && gain.upper > 0);
    base_alloc_fail_after(2);
    assert_int_equal(confusion_measure(&s, truth, guess, 5, 4, 500, 0.95, 1, 0), SOTTO_ENOMEM);
    base_alloc_fail_after(-1);
}

/* 900 records, 600 right: the percentile interval of the accuracy is near 2/3 -+ 1.96 sqrt(2/9 / 900). */
TEST(intervals_have_the_right_width)
{
    int64_t truth[900], guess[900];
    for (int i = 0; i < 900; i++)
        truth[i] = i % 5, guess[i] = i % 3 ? truth[i] : (truth[i] + 1) % 5;
    struct confusion_scores s;
    assert_int_equal(confusion_measure(&s, truth, guess, 900, 5, 4000, 0.95, 1, 0), SOTTO_OK);
    double reach = 1.959964 * sqrt(2.0 / 9 / 900);
    near(s.accuracy.estimate - s.accuracy.lower, reach, 0.1 * reach);
    near(s.accuracy.upper - s.accuracy.estimate, reach, 0.1 * reach);
    near(s.balanced.upper - s.balanced.lower, 2 * reach, 0.2 * reach);
}

/* Without a ridge, one 0/1 feature and an intercept reproduce the shares of each group exactly. */
TEST(regression_reproduces_shares)
{
    enum { N = 60 };
    float x[2 * N];
    int64_t y[N];
    size_t row[N];
    for (int i = 0; i < N; i++) {
        x[2 * i] = i < 20, x[2 * i + 1] = 5; /* the second column never varies */
        y[i] = i < 20 ? (i < 5 ? 1 : i < 7 ? 2 : 0) : (i < 40 ? 2 : i < 50 ? 1 : 0);
        row[i] = (size_t)i;
    }
    struct linear_rows in = {x, y, row, N, 2};
    struct linear_model m;
    double z[3];
    assert_int_equal(linear_model_fit(&m, &in, 3, 0, NULL), SOTTO_OK);
    linear_model_logits(z, &m, x);
    near(z[1] - z[0], log(5.0 / 13), 1e-4);
    near(z[2] - z[0], log(2.0 / 13), 1e-4);
    linear_model_logits(z, &m, x + 2 * 30);
    near(z[1] - z[0], 0, 1e-4);
    near(z[2] - z[0], log(2), 1e-4);
    linear_model_clear(&m);
}

enum { N = 1200, D = 6 };

struct hidden {
    float x[N * D];
    int64_t attribute[N], labels[N];
};

/* The attribute shows in feature 0 by `shift`, or, if `ring`, in its distance from 0, which no linear rule
 * sees. The label says nothing about it. */
static struct sotto_attribute_input hidden_make(struct hidden *h, double shift, bool ring, uint64_t seed)
{
    for (size_t i = 0; i < N; i++) {
        struct rng r = rng_stream(seed, RNG_TEST, 0, i);
        h->attribute[i] = rng_unit(&r) < 0.4;
        h->labels[i] = (int64_t)rng_below(&r, 3);
        for (size_t j = 0; j < D; j++)
            h->x[i * D + j] = (float)rng_normal(&r);
        double side = ring && rng_below(&r, 2) ? -1 : 1;
        h->x[i * D] += (float)(h->attribute[i] ? side * shift : 0);
    }
    return (struct sotto_attribute_input){
        .features = h->x, .attribute = h->attribute, .labels = h->labels, .n = N, .d = D, .classes = 3};
}

static struct json *infer(const struct sotto_attribute_input *in)
{
    struct sotto_audit_input audit = {.attribute = in};
    struct sotto_audit_options options = {.draws = 500, .seed = 2};
    return audit_run(&audit, &options);
}

/* Shift 2 at shares .6 and .4: the best rule is right in about 84.5 % (threshold 1 + ln(1.5) / 2). */
TEST(a_shown_attribute_is_read_off)
{
    static struct hidden h;
    struct sotto_attribute_input in = hidden_make(&h, 2, false, 31);
    struct json *doc = infer(&in);
    assert_true(value(doc, "attribute.attack.accuracy.upper") > 0.845 &&
                value(doc, "attribute.attack.accuracy.lower") < 0.85);
    assert_true(value(doc, "attribute.gain.lower") > 0.15);
    near(value(doc, "attribute.baselines[0].balanced_accuracy.estimate"), 0.5, 1e-15);
    near(value(doc, "attribute.baselines[0].accuracy.estimate"), 0.6, 0.06);
    assert_true(value(doc, "attribute.n_known") == 600 && value(doc, "attribute.n_test") == 600);
    assert_true(value(doc, "attribute.learning_curve[8].n") == 540 &&
                value(doc, "attribute.learning_curve[0].n") == 60);
    assert_true(value(doc, "n_member") == 0);
    json_free(doc);
}

TEST(a_network_is_taken_where_it_helps)
{
    static struct hidden h;
    struct sotto_attribute_input in = hidden_make(&h, 5, true, 32);
    struct json *doc = infer(&in);
    assert_string_equal(json_text(json_find(doc, "attribute.model")), "network");
    assert_true(value(doc, "attribute.attack.balanced_accuracy.lower") > 0.85);
    json_free(doc);
}

TEST(nothing_is_found_in_noise)
{
    static struct hidden h;
    struct sotto_attribute_input in = hidden_make(&h, 0, false, 33);
    struct json *doc = infer(&in);
    assert_true(value(doc, "attribute.gain.lower") <= 0);
    assert_true(value(doc, "attribute.attack.balanced_accuracy.lower") < 0.5);
    json_free(doc);
}

/* An attacker with answers alone already has what the embeddings reveal; the gain is measured against it. */
TEST(weaker_attackers_stand_beside)
{
    static struct hidden h;
    static float answers[N * 2], known[N];
    struct sotto_attribute_input in = hidden_make(&h, 2, false, 35);
    for (size_t i = 0; i < N; i++) {
        struct rng r = rng_stream(36, RNG_TEST, 0, i);
        answers[2 * i] = h.x[i * D], answers[2 * i + 1] = 1 - h.x[i * D];
        known[i] = (float)rng_normal(&r); /* says nothing */
    }
    struct json *doc = infer(&in);
    double alone = value(doc, "attribute.gain.estimate");
    assert_int_equal(json_count(json_find(doc, "attribute.baselines")), 2);
    json_free(doc);
    in.outputs = answers, in.output_count = 2, in.known = known, in.known_count = 1;
    doc = infer(&in);
    assert_string_equal(json_text(json_find(doc, "attribute.baselines[2].name")), "model's answer and label");
    assert_string_equal(json_text(json_find(doc, "attribute.baselines[3].name")),
                        "imputed from what is known");
    near(value(doc, "attribute.baselines[2].accuracy.estimate"),
         value(doc, "attribute.attack.accuracy.estimate"), 0.03);
    assert_true(value(doc, "attribute.baselines[3].balanced_accuracy.lower") <= 0.5);
    assert_string_equal(json_text(json_find(doc, "attribute.gain.over")), "model's answer and label");
    assert_true(value(doc, "attribute.gain.lower") <= 0 && alone > 0.15);
    json_free(doc);
    in.labels = NULL, in.known = NULL;
    doc = infer(&in);
    assert_int_equal(json_count(json_find(doc, "attribute.baselines")), 2);
    assert_string_equal(json_text(json_find(doc, "attribute.baselines[1].name")), "model's answer");
    json_free(doc);
    answers[5] = NAN;
    struct sotto_audit_input audit = {.attribute = &in};
    expect(SOTTO_EINVAL, &audit, NULL, "attribute: row 2, column 1 of the model's answers is not finite");
    answers[5] = 0;
    struct sotto_audit_options options = {.draws = 100};
    for (long n = 0; n < 400; n += 29) {
        char *json = NULL;
        base_alloc_fail_after(n);
        sotto_status status = audit_text(&json, &audit, &options, &(struct sotto_context){.threads = 1});
        base_alloc_fail_after(-1);
        assert_true(status == SOTTO_OK || status == SOTTO_ENOMEM);
        sotto_text_free(json);
    }
}

TEST(bad_attributes_are_refused)
{
    static struct hidden h;
    struct sotto_attribute_input in = hidden_make(&h, 0, false, 34);
    struct sotto_audit_input audit = {.attribute = &in};
    in.n = 39;
    expect(SOTTO_EINVAL, &audit, NULL, "attribute: 39 records; expected at least 40");
    in.n = N;
    h.attribute[7] = -1;
    expect(SOTTO_EINVAL, &audit, NULL, "attribute: row 7 is -1; expected 0 .. 999");
    h.attribute[7] = 1, h.labels[3] = 3;
    expect(SOTTO_EINVAL, &audit, NULL, "attribute: row 3 has label 3; expected 0 .. 2");
    h.labels[3] = 0, h.x[D + 2] = NAN;
    expect(SOTTO_EINVAL, &audit, NULL, "attribute: row 1, column 2 of the features is not finite");
    h.x[D + 2] = 0;
    for (int i = 0; i < N; i++)
        h.attribute[i] = 1;
    expect(SOTTO_EINVAL, &audit, NULL,
           "attribute: every record has the value 1; expected at least two values");
}

/* The attacker knows the first 200 rows. In the rest the attribute is inverted, so an attack fitted on the
 * first alone must be wrong about most of the rest; fitted on some of those too, it would not be. */
TEST(the_caller_may_say_whom_the_attacker_knows)
{
    static struct hidden h;
    struct sotto_attribute_input in = hidden_make(&h, 3, false, 36);
    struct sotto_audit_input audit = {.attribute = &in};
    for (int i = 200; i < N; i++)
        h.attribute[i] = !h.attribute[i];
    in.n_aux = 200;
    struct json *doc = infer(&in);
    assert_true(value(doc, "attribute.n_known") == 200 && value(doc, "attribute.n_test") == N - 200);
    assert_true(value(doc, "attribute.attack.accuracy.upper") < 0.15);
    assert_true(value(doc, "attribute.learning_curve[4].n") == 100);
    json_free(doc);
    in.n_aux = 19;
    expect(SOTTO_EINVAL, &audit, NULL,
           "attribute: the attacker knows 19 of 1200 records; expected at least 20 known records and 20 "
           "others to test");
    in.n_aux = N - 19;
    expect(SOTTO_EINVAL, &audit, NULL,
           "attribute: the attacker knows 1181 of 1200 records; expected at least 20 known records and 20 "
           "others to test");
    in.n_aux = N + 1;
    expect(SOTTO_EINVAL, &audit, NULL,
           "attribute: the attacker knows 1201 of 1200 records; expected at least 20 known records and 20 "
           "others to test");
}

TEST(networks_of_every_depth_are_reported)
{
    static struct hidden h;
    struct sotto_attribute_input in = hidden_make(&h, 5, true, 37);
    struct sotto_audit_input audit = {.attribute = &in};
    in.deepest = 6, in.n = 500;
    struct json *doc = infer(&in);
    const struct json *depths = json_find(doc, "attribute.depths");
    assert_int_equal(json_count(depths), 4);
    for (size_t k = 0; k < 4; k++) {
        assert_true(json_number(json_member(json_at(depths, k), "layers")) == 3 + (double)k);
        assert_true(json_number(json_member(json_member(json_at(depths, k), "balanced_accuracy"), "lower")) >
                    0.8);
    }
    assert_non_null(json_find(doc, "attribute.validation_balanced_accuracy.network of 6 layers"));
    json_free(doc);
    in.deepest = 2;
    expect(SOTTO_EINVAL, &audit, NULL, "attribute: layers must be 3 to 6 (got 2)");
    in.deepest = 7;
    expect(SOTTO_EINVAL, &audit, NULL, "attribute: layers must be 3 to 6 (got 7)");
}
