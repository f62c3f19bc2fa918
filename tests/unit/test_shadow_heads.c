/* Shadow heads: balanced halves, LiRA beats a loss threshold on a head that overfits, and sees nothing where
 * there is nothing to see. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "attack/attack_kind.h"
#include "attack/shadow_heads.h"
#include "head_blobs.h"
#include "sotto/sotto.h"

enum { N = 160, D = 8, K = 4, MODELS = 16 };
static float x[2 * N * D];
static int64_t y[2 * N];

static int set_up(void **state)
{
    (void)state;
    make_blobs(x, y, 2 * N, D, K, 2.0, 1);
    return 0;
}

static struct sotto_head_recipe recipe(void)
{
    struct sotto_head_recipe r;
    sotto_head_defaults(&r);
    r.hidden_count = 1;
    r.hidden[0] = 64;
    r.epochs = 60;
    r.batch = 16;
    r.lr = 5e-3;
    return r;
}

static void halves_are_balanced_and_signals_repeat(void **state)
{
    (void)state;
    struct head_data pool = {x, y, 2 * N, D, K};
    struct sotto_head_recipe r = recipe();
    struct shadow_heads s;
    r.epochs = 2;
    assert_int_equal(shadow_heads_train(&s, &pool, &r, MODELS, 3, NULL), SOTTO_OK);
    size_t together = 0;
    for (size_t i = 0; i < 2 * N; i++) {
        size_t in = 0;
        for (size_t m = 0; m < MODELS; m++)
            in += s.trained[i * MODELS + m];
        assert_int_equal(in, MODELS / 2);
        together += s.trained[i * MODELS] == s.trained[i * MODELS + 1];
    }
    assert_true(together > N / 2 && together < 3 * N / 2); /* models are different halves */
    double *one = calloc(2 * N * MODELS, sizeof *one), *two = calloc(2 * N * MODELS, sizeof *two);
    struct sotto_context many = {.threads = 3};
    assert_int_equal(shadow_heads_signals(one, &s, &pool, NULL, 0, 1, NULL), SOTTO_OK);
    assert_int_equal(shadow_heads_signals(two, &s, &pool, NULL, 0, 2, &many), SOTTO_OK);
    assert_memory_equal(one, two, 2 * N * MODELS * sizeof *one);
    assert_int_equal(shadow_heads_signals(one, &s, &pool, "logistic", 0.1, 1, NULL), SOTTO_OK);
    assert_int_equal(shadow_heads_signals(two, &s, &pool, "logistic", 0.1, 1, &many), SOTTO_OK);
    assert_memory_equal(one, two, 2 * N * MODELS * sizeof *one);
    assert_int_equal(shadow_heads_signals(two, &s, &pool, "logistic", 0.1, 2, NULL), SOTTO_OK);
    assert_memory_not_equal(one, two, 2 * N * MODELS * sizeof *one);
    free(one);
    free(two);
    shadow_heads_clear(&s);
    assert_int_equal(shadow_heads_train(&s, &pool, &r, 5, 3, NULL), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "shadow heads: 5 models; expected an even number >= 4");
}

/* Area of an attack on a head trained on the first half of the pool; `members`: where the claimed members
 * begin. */
static struct sotto_estimate area(const char *attack, const struct shadow_heads *s, const double *signals,
                                  const struct sotto_head *target)
{
    float logits[2 * N * K];
    double outputs[2 * N * K], scores[2 * N];
    struct sotto_estimate e;
    assert_int_equal(sotto_head_predict(logits, target, x, 2 * N, D, 1), SOTTO_OK);
    for (size_t i = 0; i < 2 * N * K; i++)
        outputs[i] = logits[i];
    struct attack_input in = {.outputs = outputs,
                              .labels = y,
                              .reference = signals,
                              .trained = s->trained,
                              .n = 2 * N,
                              .classes = K,
                              .models = MODELS};
    assert_int_equal(attack_run(scores, attack_find(attack), &in), SOTTO_OK);
    assert_int_equal(sotto_auc(&e, scores, N, scores + N, N, 0.99), SOTTO_OK);
    return e;
}

static void lira_beats_the_loss(void **state)
{
    (void)state;
    struct head_data pool = {x, y, 2 * N, D, K};
    struct sotto_head_recipe r = recipe();
    struct shadow_heads s;
    struct sotto_head *target, *stranger;
    static double signals[2 * N * MODELS];
    assert_int_equal(shadow_heads_train(&s, &pool, &r, MODELS, 3, NULL), SOTTO_OK);
    assert_int_equal(shadow_heads_signals(signals, &s, &pool, NULL, 0, 0, NULL), SOTTO_OK);
    assert_int_equal(sotto_head_train(&target, x, y, N, D, K, &r, NULL), SOTTO_OK);
    struct sotto_estimate loss = area("loss", &s, signals, target), lira = area("lira", &s, signals, target);
    assert_true(loss.lower > 0.5 && lira.estimate > loss.estimate + 0.02);
    /* Negative control: a head that saw none of the pool. */
    static float other[2 * N * D];
    static int64_t labels[2 * N];
    make_blobs(other, labels, 2 * N, D, K, 2.0, 2);
    assert_int_equal(sotto_head_train(&stranger, other, labels, N, D, K, &r, NULL), SOTTO_OK);
    struct sotto_estimate none = area("lira", &s, signals, stranger);
    assert_true(none.lower < 0.5 && none.upper > 0.5);
    sotto_head_free(target);
    sotto_head_free(stranger);
    shadow_heads_clear(&s);
}

static void allocation_failures_are_clean(void **state)
{
    (void)state;
    struct head_data pool = {x, y, 2 * N, D, K};
    struct sotto_head_recipe r = recipe();
    sotto_status status;
    long n = 0;
    static double signals[2 * N * MODELS];
    struct sotto_context one = {.threads = 1};
    r.epochs = 1;
    do {
        struct shadow_heads s = {0};
        base_alloc_fail_after(n++);
        status = shadow_heads_train(&s, &pool, &r, 4, 3, &one);
        if (status == SOTTO_OK)
            status = shadow_heads_signals(signals, &s, &pool, "logistic", 0.1, 1, &one);
        base_alloc_fail_after(-1);
        assert_true(status == SOTTO_OK || status == SOTTO_ENOMEM);
        shadow_heads_clear(&s);
    } while (status != SOTTO_OK && n < 1000);
    assert_int_equal(status, SOTTO_OK);
    assert_true(n > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_are_balanced_and_signals_repeat),
        cmocka_unit_test(lira_beats_the_loss),
        cmocka_unit_test(allocation_failures_are_clean),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
