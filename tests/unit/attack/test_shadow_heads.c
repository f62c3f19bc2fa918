/* Shadows on halves of a pool, as an experiment trains them: balanced halves, LiRA beats a loss threshold on
 * a head that overfits, and sees nothing where there is nothing to see. */
#include "support/test.h"

#include "audit/measure/metrics.h"
#include "audit/score/score_attack.h"
#include "attack/shadow/shadow_pool.h"
#include "support/head_blobs.h"
#include "sotto/private/all.h"

#include <stdlib.h>
#include <string.h>

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

/* What an experiment does: halves, all started as the target is. trained (2 N, models). */
struct halves {
    struct shadow_pool pool;
    uint8_t use[MODELS * 2 * N], trained[2 * N * MODELS];
};

static sotto_status train(struct halves *h, const struct head_data *pool, const struct sotto_head_recipe *r,
                          size_t models, const struct sotto_context *ctx)
{
    struct shadow_plan plan = {.data = pool,
                               .use = h->use,
                               .models = models,
                               .recipe = r,
                               .known_start = true,
                               .shards = 1,
                               .seed = 3,
                               .ctx = ctx};
    sotto_status status = shadow_split_halves(h->use, models, pool->n, 3);
    for (size_t i = 0; status == SOTTO_OK && i < pool->n; i++)
        for (size_t m = 0; m < models; m++)
            h->trained[i * models + m] = h->use[m * pool->n + i] == SHADOW_IN;
    return status == SOTTO_OK ? shadow_pool_make(&h->pool, &plan) : status;
}

static sotto_status ask(double *signals, const struct halves *h, const struct head_data *pool,
                        const char *mechanism, uint64_t seed, const struct sotto_context *ctx)
{
    struct shadow_noise noise = {mechanism, 0.1, seed};
    return shadow_pool_signals(signals, &h->pool, pool, mechanism ? &noise : NULL, ctx);
}

TEST(halves_are_balanced_and_signals_repeat)
{
    struct head_data pool = {x, y, 2 * N, D, K};
    struct sotto_head_recipe r = recipe();
    static struct halves s;
    r.epochs = 2;
    assert_int_equal(train(&s, &pool, &r, MODELS, NULL), SOTTO_OK);
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
    assert_int_equal(ask(one, &s, &pool, NULL, 1, NULL), SOTTO_OK);
    assert_int_equal(ask(two, &s, &pool, NULL, 2, &many), SOTTO_OK);
    assert_memory_equal(one, two, 2 * N * MODELS * sizeof *one);
    assert_int_equal(ask(one, &s, &pool, "logistic", 1, NULL), SOTTO_OK);
    assert_int_equal(ask(two, &s, &pool, "logistic", 1, &many), SOTTO_OK);
    assert_memory_equal(one, two, 2 * N * MODELS * sizeof *one);
    assert_int_equal(ask(two, &s, &pool, "logistic", 2, NULL), SOTTO_OK);
    assert_memory_not_equal(one, two, 2 * N * MODELS * sizeof *one);
    free(one);
    free(two);
    shadow_pool_clear(&s.pool);
    assert_int_equal(train(&s, &pool, &r, 5, NULL), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "shadows: 5 models; expected an even number >= 4");
}

/* Area of an attack on a head trained on the first half of the pool; `members`: where the claimed members
 * begin. */
static struct sotto_estimate area(const char *attack, const struct halves *s, const double *signals,
                                  const struct sotto_head *target)
{
    float logits[2 * N * K];
    double outputs[2 * N * K], scores[2 * N];
    struct sotto_estimate e;
    assert_int_equal(sotto_head_predict(logits, target, x, 2 * N, D, 1, NULL), SOTTO_OK);
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
    assert_int_equal(estimate_auc(&e, scores, N, scores + N, N, 0.99), SOTTO_OK);
    return e;
}

TEST(lira_beats_the_loss)
{
    struct head_data pool = {x, y, 2 * N, D, K};
    struct sotto_head_recipe r = recipe();
    static struct halves s;
    struct sotto_head *target, *stranger;
    static double signals[2 * N * MODELS];
    assert_int_equal(train(&s, &pool, &r, MODELS, NULL), SOTTO_OK);
    assert_int_equal(ask(signals, &s, &pool, NULL, 0, NULL), SOTTO_OK);
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
    shadow_pool_clear(&s.pool);
}

TEST(allocation_failures_are_clean)
{
    struct head_data pool = {x, y, 2 * N, D, K};
    struct sotto_head_recipe r = recipe();
    sotto_status status;
    long n = 0;
    static double signals[2 * N * MODELS];
    struct sotto_context one = {.threads = 1};
    r.epochs = 1;
    do {
        static struct halves s;
        base_alloc_fail_after(n++);
        status = train(&s, &pool, &r, 4, &one);
        if (status == SOTTO_OK)
            status = ask(signals, &s, &pool, "logistic", 1, &one);
        base_alloc_fail_after(-1);
        assert_true(status == SOTTO_OK || status == SOTTO_ENOMEM);
        shadow_pool_clear(&s.pool);
    } while (status != SOTTO_OK && n < 1000);
    assert_int_equal(status, SOTTO_OK);
    assert_true(n > 5);
}

TEST_GROUP(.set_up = set_up, .tags = "matrix")
