/* The convex trainers: figures of the bound, clipping, solver against solver, records of the proof,
 * errors. */
#include "sotto/account.h"
#include "sotto/lab/head.h"
#include "sotto/private/print.h"
#include "support/test.h"

#include "head/convex/head_convex.h"
#include "head/batch/head_batch_train.h"
#include "head/sensitivity/sensitivity_file.h"
#include "io/json/json.h"
#include "support/head_blobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 300, D = 7, K = 4, P = (D + 1) * K };
static float x[N * D];
static int64_t y[N];
static const struct head_data data = {x, y, N, D, K};

static int set_up(void **state)
{
    (void)state;
    make_blobs(x, y, N, D, K, 1.0, 1);
    return 0;
}

static struct sotto_head_recipe recipe(const char *trainer)
{
    struct sotto_head_recipe r;
    sotto_head_defaults(&r);
    r.trainer = trainer;
    assert_int_equal(head_recipe_check(&r), SOTTO_OK);
    return r;
}

/* Origin: papers.md B.8 by hand. n 10,000, lambda .01, R = c_b = 1: R' = sqrt 2, Lip = 2, limit 2 * 2 /
 * 100. */
TEST(the_bound_has_the_figures_of_the_paper)
{
    struct sotto_head_recipe r = recipe("convex");
    struct convex_bound b;
    assert_true(r.step_size <= 2 / 1.02 && r.step_size > 2 / 1.02 - 1e-14);
    r.steps = 100000;
    assert_int_equal(convex_bound_find(&b, &r, 10000, 128, 10), SOTTO_OK);
    assert_true(b.lipschitz >= 2 && b.lipschitz < 2 + 1e-14);
    assert_true(b.smoothness >= 1.01 && b.smoothness < 1.01 + 1e-14);
    assert_true(b.exact >= 0.04 && b.exact < 0.04 + 1e-15);
    assert_true(b.l2 >= b.exact && b.rounding > 0 && b.rounding < 1e-4 * b.exact);
    assert_int_equal(b.dimension, 1290);
    assert_true(fabs(b.l1 - b.l2 * sqrt(1290)) < 1e-14);
    /* A fixed number of steps: limit times 1 - (1 - step lambda)^k. */
    for (size_t k = 1; k < 400; k *= 3) {
        r.steps = k;
        assert_int_equal(convex_bound_find(&b, &r, 10000, 128, 10), SOTTO_OK);
        assert_true(fabs(b.exact - 0.04 * (1 - pow(1 - r.step_size * 0.01, (double)k))) < 1e-15);
    }
    /* L-BFGS: 1 + tolerance times the limit. */
    r = recipe("convex-lbfgs");
    assert_int_equal(convex_bound_find(&b, &r, 10000, 128, 10), SOTTO_OK);
    assert_true(fabs(b.exact - 0.0404) < 1e-15 && fabs(b.stop - 2e-6) < 1e-18);
    /* Twice the records, half the bound; a bias constant above 1 raises the bound of the stored bias. */
    struct convex_bound half, wide;
    assert_int_equal(convex_bound_find(&half, &r, 20000, 128, 10), SOTTO_OK);
    assert_true(fabs(half.exact - b.exact / 2) < 1e-15);
    r.bias = 3;
    assert_int_equal(convex_bound_find(&wide, &r, 10000, 128, 10), SOTTO_OK);
    assert_true(fabs(wide.exact - b.exact * sqrt(5) * 3) < 1e-14);
}

TEST(clipping_never_leaves_the_ball)
{
    for (uint64_t i = 0; i < 3000; i++) {
        struct rng r = rng_stream(1, RNG_TEST, 7, i);
        size_t d = 1 + (size_t)rng_below(&r, 40);
        float row[40], out[40];
        double clip = exp(rng_normal(&r)), size = exp(3 * rng_normal(&r));
        for (size_t j = 0; j < d; j++)
            row[j] = (float)(size * (i % 3 ? rng_normal(&r) : (double)rng_below(&r, 2)));
        head_record_clip(out, row, d, clip);
        long double before = 0, after = 0;
        for (size_t j = 0; j < d; j++) {
            before += (long double)row[j] * row[j];
            after += (long double)out[j] * out[j];
        }
        assert_true(after <= (long double)clip * clip);
        if (before <= (long double)clip * clip * (1 - 1e-12L))
            assert_memory_equal(out, row, d * sizeof *row); /* inside: untouched */
        else
            assert_true(sqrtl(after) > clip * (1 - 1e-6L));
    }
    float huge[3] = {3e38f, -3e38f, 3e38f}, zero[3] = {0}, out[3];
    head_record_clip(out, huge, 3, 1);
    assert_true(fabsf(out[0] - 0.57735f) < 1e-5f && out[0] == -out[1]);
    head_record_clip(out, zero, 3, 1);
    assert_memory_equal(out, zero, sizeof out);
}

TEST(both_solvers_find_the_same_minimum)
{
    struct sotto_head_recipe by_steps = recipe("convex"), by_lbfgs = recipe("convex-lbfgs");
    by_steps.steps = 4000;
    by_lbfgs.tolerance = 1e-5;
    struct head_convex a, b;
    assert_int_equal(head_convex_plan(&a, &data, &by_steps), SOTTO_OK);
    assert_int_equal(head_convex_plan(&b, &data, &by_lbfgs), SOTTO_OK);
    assert_int_equal(head_convex_run(&a, NULL, NULL, NULL, NULL), SOTTO_OK);
    convex_gather(&b, NULL, NULL);
    assert_int_equal(convex_bound_find(&b.bound, &by_lbfgs, N, D, K), SOTTO_OK);
    /* 0: L-BFGS is not allowed to try, so the guaranteed way is taken; 1000: it is not needed. */
    for (size_t iterations = 0; iterations <= 1000; iterations += 1000) {
        bool fell_back;
        assert_int_equal(convex_lbfgs(&b, iterations, &fell_back, NULL), SOTTO_OK);
        assert_true(fell_back == (iterations == 0));
        double norm = 0, gap = 0;
        convex_objective(&b, b.w, b.gradient, NULL);
        for (size_t e = 0; e < P; e++) {
            norm += b.gradient[e] * b.gradient[e];
            gap += (a.w[e] - b.w[e]) * (a.w[e] - b.w[e]);
        }
        assert_true(sqrt(norm) <= b.bound.stop);
        assert_true(sqrt(gap) <= b.bound.stop / by_lbfgs.lambda + 1e-9);
    }
    head_convex_clear(&a);
    head_convex_clear(&b);
}

TEST(heads_learn_and_repeat_bit_for_bit)
{
    for (int i = 0; i < 2; i++) {
        struct sotto_head_recipe r = recipe(i ? "convex" : "convex-lbfgs");
        struct sotto_head *one = NULL, *two = NULL;
        struct sotto_context ctx = {.threads = 3};
        double accuracy;
        size_t count;
        assert_int_equal(sotto_head_train(&one, x, y, N, D, K, &r, NULL), SOTTO_OK);
        assert_int_equal(sotto_head_train(&two, x, y, N, D, K, &r, &ctx), SOTTO_OK);
        assert_memory_equal(sotto_head_parameters(one, &count), sotto_head_parameters(two, &count),
                            P * sizeof(float));
        assert_int_equal(sotto_head_accuracy(&accuracy, one, x, y, N, D, NULL), SOTTO_OK);
        assert_true(accuracy > 0.8);
        assert_int_equal(sotto_head_records(one), N);
        sotto_head_free(one);
        sotto_head_free(two);
    }
}

/* Queries are clipped as records were: the head's own layer on clipped features, biases included. */
TEST(queries_are_clipped)
{
    struct sotto_head_recipe r = recipe("convex");
    r.bias = 0.5;
    struct sotto_head *h = NULL;
    float logits[N * K], clipped[D];
    size_t count;
    assert_int_equal(sotto_head_train(&h, x, y, N, D, K, &r, NULL), SOTTO_OK);
    assert_int_equal(sotto_head_predict(logits, h, x, N, D, 1, NULL), SOTTO_OK);
    const float *w = sotto_head_parameters(h, &count);
    bool seen = false;
    for (size_t i = 0; i < N; i++) {
        head_record_clip(clipped, x + i * D, D, r.clip);
        seen |= memcmp(clipped, x + i * D, sizeof clipped) != 0;
        for (size_t k = 0; k < K; k++) {
            double z = w[K * D + k];
            for (size_t j = 0; j < D; j++)
                z += (double)w[k * D + j] * clipped[j];
            assert_true(fabs(z - (double)logits[i * K + k]) < 1e-5);
        }
    }
    assert_true(seen);
    sotto_head_free(h);
}

TEST(many_heads_equal_heads_alone)
{
    enum { HEADS = 5 };
    uint8_t member[N * HEADS];
    float together[HEADS * P], alone[P];
    struct rng coin = rng_stream(4, RNG_TEST, 0, 0);
    for (size_t i = 0; i < sizeof member; i++)
        member[i] = rng_below(&coin, 2) == 1;
    struct sotto_head_recipe r = recipe("convex");
    r.steps = 20;
    struct sotto_context ctx = {.threads = 2};
    assert_int_equal(head_many_train(together, &data, &r, member, HEADS, &ctx), SOTTO_OK);
    for (size_t h = 0; h < HEADS; h++) {
        float own_x[N * D];
        int64_t own_y[N];
        size_t n = 0;
        for (size_t i = 0; i < N; i++)
            if (member[i * HEADS + h]) {
                memcpy(own_x + n * D, x + i * D, D * sizeof *x);
                own_y[n++] = y[i];
            }
        struct head_data own = {own_x, own_y, n, D, K};
        struct head_convex c;
        assert_int_equal(head_convex_plan(&c, &own, &r), SOTTO_OK);
        uint64_t before = base_alloc_count();
        assert_int_equal(head_convex_run(&c, NULL, NULL, NULL, NULL), SOTTO_OK);
        assert_int_equal(base_alloc_count(), before);
        head_convex_export(&c, alone);
        assert_memory_equal(alone, together + h * P, sizeof alone);
        head_convex_clear(&c);
    }
}

static void expect(sotto_status code, const char *text, struct sotto_head_recipe r, size_t n)
{
    struct sotto_head *h = NULL;
    assert_int_equal(sotto_head_train(&h, x, y, n, D, K, &r, NULL), code);
    if (!strstr(sotto_error_text(), text))
        fail_msg("'%s' lacks '%s'", sotto_error_text(), text);
    assert_null(h);
}

TEST(what_cannot_be_proved_is_refused)
{
    struct sotto_head_recipe good = recipe("convex"), r = good;
    r.hidden_count = 1, r.hidden[0] = 4;
    expect(SOTTO_EINVAL, "supports linear heads only (got", r, N);
    r = good, r.lambda = SOTTO_ZERO;
    expect(SOTTO_EINVAL, "lambda must be", r, N);
    r = good, r.clip = -1;
    expect(SOTTO_EINVAL, "clip must be", r, N);
    r = good, r.bias = NAN;
    expect(SOTTO_EINVAL, "bias must be", r, N);
    r = good, r.steps = (size_t)1 << 32;
    expect(SOTTO_EINVAL, "steps must be", r, N);
    r = good, r.step_size = good.step_size * 1.001;
    expect(SOTTO_EINVAL, "is out of range; expected above 0 and at most 2 / (beta + lambda)", r, N);
    r = good, r.step_size = -1;
    expect(SOTTO_EINVAL, "is out of range; expected above 0 and at most 2 / (beta + lambda)", r, N);
    r = good, r.lambda = 1e-9, r.clip = 1e4, r.step_size = 0;
    expect(SOTTO_EDOMAIN, "too small for double arithmetic", r, N);
    good = recipe("convex-lbfgs");
    r = good, r.tolerance = SOTTO_ZERO;
    expect(SOTTO_EINVAL, "tolerance must be", r, N);
    r = good, r.tolerance = 1e-9;
    expect(SOTTO_EDOMAIN, "but double arithmetic can guarantee only", r, N);
    r = good, r.lambda = 1e-9, r.tolerance = 1, r.clip = 0.8, r.bias = SOTTO_ZERO;
    expect(SOTTO_EDOMAIN, "is too small", r, K);
    r = good, r.trainer = "convexity";
    expect(SOTTO_EINVAL, "'convexity' is unknown", r, N);
    expect(SOTTO_EINVAL, "1 records; expected at least 2 to train a head", recipe("convex"), 1);
}

struct heard {
    size_t warnings;
};
static void listen(void *user, enum sotto_log_level level, const char *text)
{
    struct heard *heard = user;
    heard->warnings += level == SOTTO_LOG_WARNING && strlen(text) > 0;
}

/* A refusal or a warning that depended on the records would itself tell about them. */
TEST(odd_data_is_trained_on_in_silence)
{
    float same[20 * D];
    int64_t one[20] = {0};
    struct heard heard = {0};
    struct sotto_context ctx = {.log = listen, .user = &heard};
    struct sotto_head *h = NULL;
    struct sotto_head_recipe r = recipe("convex");
    for (size_t i = 0; i < 20 * D; i++)
        same[i] = 0.25f;
    assert_int_equal(sotto_head_train(&h, same, one, 20, D, K, &r, &ctx), SOTTO_OK);
    assert_int_equal(heard.warnings, 0); /* constant features; classes that do not occur */
    sotto_head_free(h);
    assert_int_equal(sotto_head_train(&h, same, one, 3, D, K, &r, &ctx), SOTTO_OK); /* fewer than classes */
    sotto_head_free(h);
}

/* Counting as nothing is one more record that could replace another: the proof holds for it. The file's head
 * is that of the others, with the same n. */
TEST(unusable_records_count_as_nothing)
{
    enum { FEW = 40 };
    static const char *const trainers[] = {"convex", "convex-sgd", "convex-lbfgs"};
    static const struct {
        int64_t label;
        float cell;
    } odd[] = {{K, 0}, {-1, 0}, {INT64_MAX, 0}, {INT64_MIN, 0}, {0, NAN}, {0, INFINITY}, {0, -INFINITY}};
    for (size_t t = 0; t < sizeof trainers / sizeof *trainers; t++) {
        struct sotto_head_recipe r = recipe(trainers[t]);
        struct sotto_sensitivity_sample bound;
        struct sotto_head *whole = NULL, *first = NULL;
        size_t count;
        r.epochs = 3;
        r.batch = 10;
        assert_int_equal(sotto_head_train(&whole, x, y, FEW, D, K, &r, NULL), SOTTO_OK);
        assert_int_equal(sotto_sensitivity_prove(&bound, whole), SOTTO_OK);
        const float *a = sotto_head_parameters(whole, &count);
        for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
            float features[FEW * D];
            int64_t labels[FEW];
            struct sotto_head *h = NULL;
            double square = 0;
            bool same = true;
            memcpy(features, x, sizeof features);
            memcpy(labels, y, sizeof labels);
            labels[7] = odd[i].label;
            features[7 * D + 1] = odd[i].cell;
            assert_int_equal(sotto_head_train(&h, features, labels, FEW, D, K, &r, NULL), SOTTO_OK);
            const float *b = sotto_head_parameters(h, &count),
                        *f = first ? sotto_head_parameters(first, &count) : b;
            for (size_t j = 0; j < count; j++) {
                square += ((double)a[j] - b[j]) * ((double)a[j] - b[j]);
                same = same && b[j] == f[j];
            }
            assert_true(same && square > 0 && sqrt(square) <= bound.l2);
            if (first)
                sotto_head_free(h);
            else
                first = h;
        }
        sotto_head_free(first);
        sotto_head_free(whole);
    }
}

TEST(stops_and_failing_allocations)
{
    volatile sig_atomic_t stop = 1;
    struct sotto_context ctx = {.stop = &stop};
    struct sotto_head *h = NULL;
    for (int i = 0; i < 2; i++) {
        struct sotto_head_recipe r = recipe(i ? "convex" : "convex-lbfgs");
        assert_int_equal(sotto_head_train(&h, x, y, N, D, K, &r, &ctx), SOTTO_ESTOPPED);
        for (long n = 0;; n++) {
            base_alloc_fail_after(n);
            sotto_status status = sotto_head_train(&h, x, y, N, D, K, &r, NULL);
            base_alloc_fail_after(-1);
            if (status == SOTTO_OK)
                break;
            assert_int_equal(status, SOTTO_ENOMEM);
            assert_true(n < 30);
        }
        sotto_head_free(h);
        h = NULL;
    }
}

TEST(proofs_are_derived_again_when_read)
{
    struct sotto_head *h = NULL;
    struct sotto_head_recipe r = recipe("convex");
    struct sotto_sensitivity_sample s, back;
    struct sotto_sensitivity release;
    struct json *doc = NULL;
    char *text = NULL, *changed = NULL;
    assert_int_equal(sotto_head_train(&h, x, y, N, D, K, &r, NULL), SOTTO_OK);
    assert_int_equal(sotto_sensitivity_prove(&s, h), SOTTO_OK);
    assert_true(s.proved && s.records == N && s.pairs == 0 && s.l1 > s.l2);
    assert_string_equal(s.data_sha256, sotto_head_data_sha256(h));
    sotto_sensitivity_of(&release, &s);
    assert_int_equal(release.source, SOTTO_SENSITIVITY_PROVED);
    assert_string_equal(release.evidence, sotto_head_recipe_hash(h));
    assert_int_equal(sotto_sensitivity_json(&text, &s), SOTTO_OK);
    assert_int_equal(json_parse(&doc, text, strlen(text), "s"), SOTTO_OK);
    assert_int_equal(sensitivity_from_json(&back, doc, "s.json"), SOTTO_OK);
    assert_true(back.l2 == s.l2 && back.l1 == s.l1 && back.records == N && back.proved);
    json_free(doc);
    /* Each change makes the file claim something that does not follow. */
    const char *const changes[][3] = {
        {"\"records\":300", "\"records\":301", "states a proof of l1"},
        {"\\\"lambda\\\":0.01", "\\\"lambda\\\":0.009", "'recipe_hash'"},
        {"\\\"trainer\\\":\\\"convex\\\"", "\\\"trainer\\\":\\\"adam\\\"", "recipe"},
        {"\"source\":\"proved\"", "\"source\":\"wished\"", "expected sampled or"},
        {"\"source\":\"proved\"", "\"source\":\"sampled\"", "'mean_l1' is missing"}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        const char *at = strstr(text, changes[i][0]);
        assert_non_null(at);
        changed = base_alloc(strlen(text) + 64, 1);
        memcpy(changed, text, (size_t)(at - text));
        strcat(changed, changes[i][1]);
        strcat(changed, at + strlen(changes[i][0]));
        assert_int_equal(json_parse(&doc, changed, strlen(changed), "s"), SOTTO_OK);
        assert_int_equal(sensitivity_from_json(&back, doc, "s.json"), SOTTO_EFORMAT);
        if (!strstr(sotto_error_text(), changes[i][2]))
            fail_msg("'%s' lacks '%s'", sotto_error_text(), changes[i][2]);
        json_free(doc);
        base_free(changed);
    }
    sotto_text_free(text);
    sotto_head_free(h);
    sotto_head_defaults(&r);
    assert_int_equal(sotto_head_train(&h, x, y, N, D, K, &r, NULL), SOTTO_OK);
    assert_int_equal(sotto_sensitivity_prove(&s, h), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "trainer adam"));
    sotto_head_free(h);
}

TEST_GROUP(.set_up = set_up, .tags = "matrix")
