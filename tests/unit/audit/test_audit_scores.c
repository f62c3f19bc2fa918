/* src/measure/attack: scores of single records by hand. */
#include "support/test.h"

#include "audit/score/posterior.h"

#include <math.h>
#include <string.h>

static void near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%.17g; expected %.17g", found, expected);
}

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
TEST(scores_by_hand)
{
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

TEST(saturated_logits_stay_finite)
{
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

TEST(the_table_is_well_formed)
{
    for (size_t i = 0; attack_table[i]; i++) {
        assert_non_null(attack_table[i]->run);
        assert_true(attack_table[i]->needs != 0);
        assert_true(strlen(attack_table[i]->title) > 0 && strlen(attack_table[i]->source) > 0);
        assert_ptr_equal(attack_find(attack_table[i]->name), attack_table[i]);
    }
    assert_null(attack_find("no such attack"));
}

TEST(losses_and_signals_agree)
{
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

/* Probabilities of 1e-350 are no doubles; their logarithms are. */
TEST(base_counts_in_logarithms_where_it_must)
{
    double losses[2] = {806, 3}, signals[2 * 2] = {-800, -810, -1, 2}, scores[2];
    struct attack_input in = {.losses = losses, .reference = signals, .n = 2, .models = 2};
    assert_int_equal(attack_run(scores, attack_find("base"), &in), SOTTO_OK);
    double expected = -806 + 800 - log((1 + exp(-10)) / 2);
    assert_true(fabs(scores[0] - expected) < 1e-9);
    expected = -3 - log((1 / (1 + exp(1)) + 1 / (1 + exp(-2))) / 2);
    assert_true(fabs(scores[1] - expected) < 1e-12);
}
