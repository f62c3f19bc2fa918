/* Made-up records: Algorithm 1 finds the classes that a linear oracle has and reports the one that it cannot
 * reach; marginals and noise change what they say they change. */
#include "sotto/attack.h"
#include "support/test.h"

#include "attack/shadow/synthesis.h"

#include <math.h>
#include <string.h>

enum { D = 24, K = 3, EACH = 20 };

/* Class 0 likes the first half of the bits, class 1 the second; class 2 is never answered. */
static sotto_status answer(struct sotto_target *t, float *p, const float *rows, size_t n)
{
    (void)t;
    for (size_t i = 0; i < n; i++, rows += D, p += K) {
        double z = 0;
        for (size_t j = 0; j < D; j++)
            z += (j < D / 2 ? 1.0 : -1.0) * (double)rows[j];
        double first = 1 / (1 + exp(-z));
        p[0] = (float)(0.99 * first), p[1] = (float)(0.99 * (1 - first)), p[2] = 0.01f;
    }
    return SOTTO_OK;
}
static void nothing(struct sotto_target *t)
{
    (void)t;
}
static struct sotto_target oracle(void)
{
    struct sotto_target t = target_make("oracle", D, K);
    t.query = answer;
    t.close = nothing;
    return t;
}

static float bits[100 * D];
static int64_t labels[100];
static struct head_data table(void)
{
    for (size_t i = 0; i < 100; i++) {
        struct rng r = rng_stream(5, RNG_TEST, 0, i);
        labels[i] = (int64_t)(i % 2);
        for (size_t j = 0; j < D; j++) /* class 0 never has bit 0, class 1 always */
            bits[i * D + j] = j == 0 ? (float)labels[i] : (float)(rng_u32(&r) & 1);
    }
    return (struct head_data){bits, labels, 100, D, K};
}

TEST(climbs_find_what_is_there)
{
    struct sotto_target t = oracle();
    struct head_data data = table();
    struct feature_space space;
    struct synthetic s, again;
    struct climb c = climb_defaults(D);
    assert_int_equal(c.redraw_max, D / 2);
    assert_int_equal(climb_defaults(600).redraw_max, 128);
    assert_int_equal(feature_space_make(&space, &data), SOTTO_OK);
    assert_int_equal(synthetic_climb(&s, &t, &space, &c, EACH, 1, NULL), SOTTO_OK);
    assert_int_equal(s.made[0], EACH);
    assert_int_equal(s.made[1], EACH);
    assert_int_equal(s.made[2], 0);
    assert_int_equal(s.failed[2], EACH);
    assert_int_equal(s.n, 2 * EACH);
    assert_int_equal(s.queries, t.used);
    assert_true(s.queries >= EACH * c.iterations_max); /* those that failed used all they had */
    for (size_t i = 0; i < s.n; i++) {
        float p[K];
        assert_int_equal(answer(&t, p, s.x + i * D, 1), SOTTO_OK);
        assert_true((double)p[s.y[i]] > c.confidence_min && p[s.y[i]] >= p[1 - s.y[i]]);
        for (size_t j = 0; j < D; j++)
            assert_true(s.x[i * D + j] == 0 || s.x[i * D + j] == 1);
    }
    assert_int_equal(synthetic_climb(&again, &t, &space, &c, EACH, 1, NULL), SOTTO_OK);
    assert_int_equal(again.n, s.n);
    assert_memory_equal(again.x, s.x, s.n * D * sizeof *s.x);
    synthetic_clear(&again);
    synthetic_clear(&s);
    t.budget = t.used + 100;
    assert_int_equal(synthetic_climb(&s, &t, &space, &c, EACH, 1, NULL), SOTTO_EBUDGET);
    assert_true(t.used <= t.budget);
    feature_space_clear(&space);
}

TEST(marginals_keep_what_a_class_has)
{
    struct sotto_target t = oracle();
    struct head_data data = table();
    struct synthetic s;
    assert_int_equal(synthetic_marginals(&s, &t, &data, 400, true, 1), SOTTO_OK);
    assert_int_equal(s.queries, 0);
    for (size_t i = 0; i < 400; i++)
        assert_true((int64_t)s.x[i * D] == s.y[i]);
    synthetic_clear(&s);
    assert_int_equal(synthetic_marginals(&s, &t, &data, 400, false, 1), SOTTO_OK);
    assert_int_equal(s.queries, 400);
    size_t agree = 0;
    for (size_t i = 0; i < 400; i++) {
        float p[K];
        assert_int_equal(answer(&t, p, s.x + i * D, 1), SOTTO_OK);
        assert_true(p[s.y[i]] >= p[1 - s.y[i]]); /* labelled by the target */
        agree += (int64_t)s.x[i * D] == s.y[i];
    }
    assert_true(agree > 100 && agree < 300); /* bit 0 no longer says the class */
    synthetic_clear(&s);
}

TEST(noise_redraws_its_share)
{
    struct head_data data = table();
    struct synthetic s;
    size_t changed = 0;
    assert_int_equal(synthetic_noisy(&s, &data, 0.2, 1), SOTTO_OK);
    assert_memory_equal(s.y, labels, sizeof labels);
    for (size_t i = 0; i < 100 * D; i++)
        changed += s.x[i] != bits[i];
    assert_true(changed > 400 && changed < 560); /* 480 expected, standard deviation 20 */
    synthetic_clear(&s);
    assert_int_equal(synthetic_noisy(&s, &data, 0, 1), SOTTO_OK);
    assert_memory_equal(s.x, bits, sizeof bits);
    synthetic_clear(&s);
    assert_int_equal(synthetic_noisy(&s, &data, 1.5, 1), SOTTO_EINVAL);
    data.n = 0;
    assert_int_equal(synthetic_noisy(&s, &data, 0.1, 1), SOTTO_EINVAL);
}

TEST(numbers_stay_in_their_range)
{
    float x[] = {0, -3, 1, 5, 1, 2.5f};
    int64_t y[] = {0, 1, 0};
    struct head_data data = {x, y, 3, 2, 2};
    struct feature_space s;
    assert_int_equal(feature_space_make(&s, &data), SOTTO_OK);
    assert_true(s.bit[0] && !s.bit[1]);
    struct rng r = rng_stream(1, RNG_TEST, 0, 0);
    size_t ones = 0;
    for (size_t i = 0; i < 1000; i++) {
        float row[2];
        feature_draw_row(row, &s, &r);
        assert_true(row[1] >= -3 && row[1] <= 5);
        ones += row[0] == 1;
    }
    assert_true(ones > 420 && ones < 580);
    feature_space_clear(&s);
}

TEST(memory_may_run_out)
{
    struct sotto_target t = oracle();
    struct head_data data = table();
    struct climb c = climb_defaults(D);
    for (long n = 0; n < 40; n++) {
        struct feature_space space = {0};
        struct synthetic s = {0};
        base_alloc_fail_after(n);
        sotto_status status = feature_space_make(&space, &data);
        if (status == SOTTO_OK)
            status = synthetic_climb(&s, &t, &space, &c, 1, 1, NULL);
        synthetic_clear(&s);
        if (status == SOTTO_OK)
            status = synthetic_marginals(&s, &t, &data, 10, false, 1);
        synthetic_clear(&s);
        if (status == SOTTO_OK)
            status = synthetic_noisy(&s, &data, 0.1, 1);
        synthetic_clear(&s);
        feature_space_clear(&space);
        base_alloc_fail_after(-1);
        assert_true(status == SOTTO_ENOMEM || (status == SOTTO_OK && n > 20));
    }
}
