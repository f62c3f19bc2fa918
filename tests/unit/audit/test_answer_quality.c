/* src/measure/audit/measure/answer_quality.c: what answers to labelled records are worth. */
#include "support/test.h"

#include "rng/rng.h"
#include "sotto/lab/audit.h"

#include <math.h>
#include <string.h>

/* Three of class 0, one of class 1: who always answers 0 has .75 right. */
TEST(two_classes_by_hand)
{
    const float p[] = {.9f, .1f, .6f, .4f, .2f, .8f, .3f, .7f};
    const int64_t y[] = {0, 0, 0, 1};
    int64_t confusion[4];
    struct sotto_answer_quality q;
    assert_int_equal(sotto_answer_quality(&q, confusion, p, 0, y, 4, 2), SOTTO_OK);
    assert_true(q.records == 4 && q.classes == 2 && q.majority == 0 && q.majority_share == .75);
    assert_true(q.accuracy.estimate == .75 && q.accuracy.lower < .75 && q.accuracy.upper > .75);
    assert_true(fabs(q.balanced.estimate - (2. / 3 + 1) / 2) < 1e-15);
    assert_true(fabs(q.auc.estimate - 2. / 3) < 1e-15); /* .7 is above .1 and .4, and below .8 */
    assert_memory_equal(confusion, ((int64_t[]){2, 1, 0, 1}), sizeof confusion);
}

/* A classifier that always gives the frequent class has its accuracy and no more. */
TEST(the_frequent_class_alone)
{
    float p[400];
    int64_t y[200];
    struct sotto_answer_quality q;
    for (size_t i = 0; i < 200; i++) {
        p[2 * i] = .7f, p[2 * i + 1] = .3f;
        y[i] = i % 10 == 0;
    }
    assert_int_equal(sotto_answer_quality(&q, NULL, p, 0, y, 200, 2), SOTTO_OK);
    assert_true(q.accuracy.estimate == .9 && q.majority_share == .9);
    assert_true(q.balanced.estimate == .5 && q.auc.estimate == .5);
}

/* Logits and their probabilities are the same answers; a constant added to a record's logits says nothing. */
TEST(logits_and_probabilities_agree)
{
    enum { N = 300, K = 4 };
    float logits[N * K], p[N * K];
    int64_t y[N], first[K * K], second[K * K];
    struct sotto_answer_quality a, b;
    struct rng r = rng_stream(3, RNG_BOOTSTRAP, 0, 0);
    for (size_t i = 0; i < N; i++) {
        double sum = 0;
        y[i] = (int64_t)rng_below(&r, 3); /* class 3 does not occur */
        for (size_t k = 0; k < K; k++)
            logits[i * K + k] = (float)(2 * rng_normal(&r)) + (y[i] == (int64_t)k ? 1.5f : 0);
        for (size_t k = 0; k < K; k++)
            sum += exp((double)logits[i * K + k]);
        for (size_t k = 0; k < K; k++)
            p[i * K + k] = (float)(exp((double)logits[i * K + k]) / sum);
        const float shift = (float)(100 * rng_normal(&r));
        for (size_t k = 0; k < K; k++)
            logits[i * K + k] += shift;
    }
    assert_int_equal(sotto_answer_quality(&a, first, logits, 1, y, N, K), SOTTO_OK);
    assert_int_equal(sotto_answer_quality(&b, second, p, 0, y, N, K), SOTTO_OK);
    assert_memory_equal(first, second, sizeof first);
    assert_true(fabs(a.auc.estimate - b.auc.estimate) < 1e-3 && a.auc.estimate > .6 && isnan(a.auc.lower));
    assert_true(a.balanced.estimate == b.balanced.estimate && a.balanced.lower < a.balanced.estimate);
    const double unshifted = a.auc.estimate;
    assert_int_equal(sotto_answer_quality(&a, NULL, logits, 0, y, N, K), SOTTO_OK);
    assert_true(fabs(a.auc.estimate - unshifted) > .01); /* control: raw logits are no scores of records */
}

TEST(one_class_and_bad_input)
{
    float p[] = {.9f, .1f, .8f, .2f};
    int64_t y[] = {0, 0};
    struct sotto_answer_quality q;
    assert_int_equal(sotto_answer_quality(&q, NULL, p, 0, y, 2, 2), SOTTO_OK);
    assert_true(isnan(q.auc.estimate) && q.accuracy.estimate == 1 && q.balanced.estimate == 1);
    assert_int_equal(sotto_answer_quality(&q, NULL, p, 0, y, 0, 2), SOTTO_EINVAL);
    assert_int_equal(sotto_answer_quality(NULL, NULL, p, 0, y, 2, 2), SOTTO_EINVAL);
    y[1] = 2;
    assert_int_equal(sotto_answer_quality(&q, NULL, p, 0, y, 2, 2), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "row 1 is 2; the model has classes 0 to 1"));
    y[1] = 1;
    p[2] = NAN;
    assert_int_equal(sotto_answer_quality(&q, NULL, p, 0, y, 2, 2), SOTTO_EINVAL);
}
