/* Olympus: a planted attribute that is hidden while the task survives,
 * budgets. */
#include "support/test.h"

#include "rng/rng.h"
#include "sotto/lab/defend.h"
#include "sotto/head.h"
#include "sotto/lab/head.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 400, D = 8, V = 2 };
static float x[N * D];
static int64_t protected_label[N], label[N];

/* The first columns tell the attribute, the next ones the task; the rest is noise. */
static int set_up(void **state)
{
    (void)state;
    struct rng r = rng_stream(6, RNG_TEST, 0, 0);
    for (size_t i = 0; i < N; i++) {
        protected_label[i] = (int64_t)rng_below(&r, V), label[i] = (int64_t)rng_below(&r, 2);
        for (size_t j = 0; j < D; j++)
            x[i * D + j] = (float)(rng_normal(&r) + (j < 2   ? 4 * (double)protected_label[i]
                                                     : j < 4 ? 4 * (double)label[i]
                                                             : 0));
    }
    return 0;
}

static struct sotto_defence *fit(double budget, const char *const *settings)
{
    struct sotto_defence_known known = {x, protected_label, label, N / 2, D};
    struct sotto_defence_options o;
    struct sotto_defence *d = NULL;
    sotto_defence_defaults(&o);
    o.name = "olympus";
    o.budget = sotto_given_real(budget);
    o.settings = settings;
    assert_int_equal(sotto_defence_fit(&d, &known, &o, NULL), SOTTO_OK);
    return d;
}

static double accuracy(const float *rows, const int64_t *y)
{
    struct sotto_head *h = NULL;
    struct sotto_head_recipe r;
    double share;
    sotto_head_defaults(&r);
    r.lr = 0.01;
    r.epochs = 100;
    assert_int_equal(sotto_head_train(&h, rows, y, N / 2, D, 2, &r, NULL), SOTTO_OK);
    assert_int_equal(sotto_head_accuracy(&share, h, rows + N / 2 * D, y + N / 2, N / 2, D, NULL), SOTTO_OK);
    sotto_head_free(h);
    return share;
}

/* A fresh linear attacker, trained on defended rows, is judged on others: at chance 200 coins stay within .5
 * +- .18 (five deviations); undefended the attacker is nearly always right. The task stays. */
TEST(attribute_is_hidden_and_task_survives)
{
    static const char *const quick[] = {"epochs=60", "batch=50", "lr=0.003", NULL};
    float out[N * D];
    struct sotto_defence *d = fit(10, quick);
    assert_int_equal(sotto_defence_apply(out, NULL, d, x, N, D, NULL), SOTTO_OK);
    assert_true(accuracy(x, protected_label) > 0.95 && accuracy(x, label) > 0.95);
    assert_true(accuracy(out, protected_label) < 0.8);
    assert_true(accuracy(out, label) > 0.9);
    sotto_defence_free(d);
}

/* Root mean square of the change, in deviations of the columns that were known. */
TEST(budgets_are_kept)
{
    static const char *const quick[] = {"epochs=2", NULL};
    static const double budgets[] = {0, 0.1, 100};
    float out[N * D];
    double cost[N], deviation[D];
    for (size_t j = 0; j < D; j++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < N / 2; i++)
            sum += (double)x[i * D + j] / (N / 2);
        for (size_t i = 0; i < N / 2; i++)
            squares += pow((double)x[i * D + j] - sum, 2) / (N / 2);
        deviation[j] = sqrt(squares);
    }
    for (size_t b = 0; b < 3; b++) {
        struct sotto_defence *d = fit(budgets[b], quick);
        assert_int_equal(sotto_defence_apply(out, cost, d, x, N, D, NULL), SOTTO_OK);
        for (size_t i = 0; i < N; i++) {
            double squares = 0;
            for (size_t j = 0; j < D; j++)
                squares += pow(((double)out[i * D + j] - (double)x[i * D + j]) / deviation[j], 2);
            assert_true(fabs(sqrt(squares / D) - cost[i]) < 1e-5);
            assert_true(cost[i] <= budgets[b]);
        }
        sotto_defence_free(d);
    }
}

TEST(same_seed_same_bits)
{
    static const char *const quick[] = {"epochs=2", NULL};
    float out[2][N * D];
    for (int i = 0; i < 2; i++) {
        struct sotto_defence *d = fit(10, quick);
        assert_int_equal(sotto_defence_apply(out[i], NULL, d, x, N, D, NULL), SOTTO_OK);
        sotto_defence_free(d);
    }
    assert_memory_equal(out[0], out[1], sizeof out[0]);
}

TEST(labels_are_needed)
{
    struct sotto_defence_known known = {x, protected_label, NULL, N, D};
    struct sotto_defence_options o;
    struct sotto_defence *d = NULL;
    int64_t one[N] = {0};
    sotto_defence_defaults(&o);
    o.name = "olympus";
    assert_int_equal(sotto_defence_fit(&d, &known, &o, NULL), SOTTO_EUSAGE);
    assert_non_null(strstr(sotto_error_text(), "give known.label"));
    known.label = one;
    assert_int_equal(sotto_defence_fit(&d, &known, &o, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "every known row has the class 0"));
}

/* An attacker on attributes in three settings: nearly always right before; the frequency of the commonest
 * value is the lower bound. */
TEST(attackers_on_attributes_are_measured)
{
    struct sotto_defence_known own = {x, protected_label, NULL, N / 2, D};
    struct sotto_defence_trial t = {
        {x + N / 2 * D, protected_label + N / 2, NULL, N / 2, D}, x + N / 2 * D, &own, x, 0, 1, 0};
    struct sotto_defence_result r = {0};
    assert_int_equal(sotto_defence_measure(&r, &t, NULL), SOTTO_OK);
    assert_string_equal(r.protected_label, "attribute");
    assert_int_equal(r.adaptive.count, 2);
    for (size_t i = 0; i < r.adaptive.count; i++)
        assert_true(r.adaptive.attackers[i].balanced_accuracy.lower > 0.9);
    assert_true(r.baselines.attackers[0].accuracy.estimate < 0.6);
    sotto_defence_result_free(&r);
}

TEST_GROUP(.set_up = set_up, .tags = "matrix")
