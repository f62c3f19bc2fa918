/* The proved sensitivity of "convex-sgd": figures by hand, random and adversarial neighbours below it,
 * controls without clipping above it, the batched loop against a plain one, and what the sampler and the file
 * say. */
#include "sotto/lab/head.h"
#include "sotto/private/print.h"
#include "support/test.h"

#include "head/convex/head_convex.h"
#include "head/sensitivity/sensitivity_file.h"
#include "io/json/json.h"
#include "support/head_blobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 40, D = 5, K = 3, P = (D + 1) * K };

static struct sotto_head_recipe recipe_of(size_t batch, size_t epochs, double step_size, double lambda)
{
    struct sotto_head_recipe r;
    sotto_head_defaults(&r);
    r.trainer = "convex-sgd";
    r.batch = batch;
    r.epochs = epochs;
    r.step_size = step_size;
    r.lambda = lambda;
    assert_int_equal(head_recipe_check(&r), SOTTO_OK);
    return r;
}

/* Origin: papers.md B.8 by hand. R = c_b = 1: Lip = 2. */
TEST(the_bound_has_the_figures_of_the_paper)
{
    struct convex_bound b;
    struct sotto_head_recipe r = recipe_of(500, 1, 0.5, 0.01);
    assert_int_equal(convex_bound_find(&b, &r, 10000, 128, 10), SOTTO_OK);
    assert_true(b.exact >= 0.004 && b.exact < 0.004 + 1e-15); /* 2 * 2 * .5 / 500 */
    assert_true(fabs(b.radius - 201) < 1e-10 && b.rounding < 0.01 * b.exact);
    for (size_t epochs = 2; epochs < 5000; epochs *= 3) {
        r.epochs = epochs;
        assert_int_equal(convex_bound_find(&b, &r, 10000, 128, 10), SOTTO_OK);
        double rho = pow(0.995, 20), expected = 0.004 * (1 - pow(rho, (double)epochs)) / (1 - rho);
        assert_true(fabs(b.exact - expected) < 1e-13);
    }
    assert_true(fabs(b.exact - 0.004 / (1 - pow(0.995, 20))) < 1e-12); /* the formula of the paper notes */
    /* A short last batch is a batch: 10,001 records make 21 of them. */
    assert_int_equal(convex_bound_find(&b, &r, 10001, 128, 10), SOTTO_OK);
    assert_true(fabs(b.exact - 0.004 / (1 - pow(0.995, 21))) < 1e-12);
    /* One batch of everything: what "convex" proves. */
    struct sotto_head_recipe whole = recipe_of(1 << 20, 300, 0, 0.01), full;
    struct convex_bound c;
    sotto_head_defaults(&full);
    full.trainer = "convex";
    full.steps = 300;
    assert_int_equal(head_recipe_check(&full), SOTTO_OK);
    assert_int_equal(convex_bound_find(&b, &whole, 10000, 128, 10), SOTTO_OK);
    assert_int_equal(convex_bound_find(&c, &full, 10000, 128, 10), SOTTO_OK);
    assert_true(fabs(b.exact - c.exact) < 1e-14);
    /* A step that forgets everything: only the last meeting counts. */
    r = recipe_of(1, 50, 0, 1e9);
    assert_int_equal(convex_bound_find(&b, &r, 100, 3, 2), SOTTO_OK);
    assert_true(b.exact >= 4 * r.step_size && b.exact < 4.01 * r.step_size);
}

struct neighbours {
    float x[2][MOST * D]; /* differ in record `at` alone */
    int64_t y[2][MOST];
    size_t n;
};

/* As in test_convex_bound: crowds of nothing, of ordinary and of huge records; rivals opposed in direction
 * with one label, opposed in label with one direction, or unrelated. */
static void make(struct neighbours *p, uint64_t seed)
{
    struct rng r = rng_stream(seed, RNG_TEST, 21, 0);
    p->n = 3 + (size_t)rng_below(&r, MOST - 3);
    unsigned crowd = (unsigned)rng_below(&r, 3), replacements = (unsigned)rng_below(&r, 3);
    size_t at = (size_t)rng_below(&r, p->n);
    for (size_t i = 0; i < p->n; i++) {
        p->y[0][i] = (int64_t)rng_below(&r, K);
        for (size_t j = 0; j < D; j++)
            p->x[0][i * D + j] = crowd == 0 ? 0 : (float)((crowd == 1 ? 1 : 30) * rng_normal(&r));
    }
    double size = exp(2 * rng_normal(&r));
    for (size_t j = 0; j < D; j++)
        p->x[0][at * D + j] = (float)(size * rng_normal(&r));
    memcpy(p->x[1], p->x[0], sizeof p->x[0]);
    memcpy(p->y[1], p->y[0], sizeof p->y[0]);
    for (size_t j = 0; replacements != 1 && j < D; j++)
        p->x[1][at * D + j] = replacements == 2 ? (float)(size * rng_normal(&r)) : -p->x[0][at * D + j];
    if (replacements > 0)
        p->y[1][at] = (p->y[0][at] + 1) % K;
}

static double distance(const float *a, const float *b, int power)
{
    double sum = 0;
    for (size_t e = 0; e < P; e++) {
        double gap = fabs((double)a[e] - (double)b[e]);
        sum += power == 2 ? gap * gap : gap;
    }
    return power == 2 ? sqrt(sum) : sum;
}

static void train(float *parameters, const float *x, const int64_t *y, size_t n,
                  const struct sotto_head_recipe *r)
{
    struct head_data data = {x, y, n, D, K};
    struct head_convex c;
    assert_int_equal(head_convex_plan(&c, &data, r), SOTTO_OK);
    uint64_t before = base_alloc_count();
    assert_int_equal(head_convex_run(&c, NULL, NULL, NULL, NULL), SOTTO_OK);
    assert_int_equal(base_alloc_count(), before);
    head_convex_export(&c, parameters);
    head_convex_clear(&c);
}

static struct sotto_head_recipe random_recipe(uint64_t seed)
{
    struct rng r = rng_stream(seed, RNG_TEST, 22, 0);
    struct sotto_head_recipe out =
        recipe_of(1 + (size_t)rng_below(&r, 12), (const size_t[]){1, 2, 30}[rng_below(&r, 3)], 0,
                  exp(-1 - 4 * rng_unit(&r)));
    out.seed = seed;
    out.clip = exp(rng_normal(&r));
    out.bias = (const double[]){0, 0.3, 1, 2}[rng_below(&r, 4)];
    out.step_size = 0;
    assert_int_equal(head_recipe_check(&out), SOTTO_OK);
    out.step_size *= rng_below(&r, 2) ? 1 : rng_unit(&r);
    return out;
}

TEST(no_neighbours_exceed_the_bound)
{
    enum { PAIRS = 400 };
    double closest = 0;
    for (uint64_t seed = 0; seed < PAIRS; seed++) {
        static struct neighbours pair;
        struct sotto_head_recipe r = random_recipe(seed);
        struct convex_bound b;
        float parameters[2][P];
        make(&pair, seed);
        assert_int_equal(convex_bound_find(&b, &r, pair.n, D, K), SOTTO_OK);
        for (int side = 0; side < 2; side++)
            train(parameters[side], pair.x[side], pair.y[side], pair.n, &r);
        assert_true(distance(parameters[0], parameters[1], 2) <= b.l2);
        assert_true(distance(parameters[0], parameters[1], 1) <= b.l1);
        closest = fmax(closest, distance(parameters[0], parameters[1], 2) / b.l2);
    }
    print_message("closest of %d pairs: %.3f of the bound\n", PAIRS, closest);
    assert_true(closest > 0.4); /* or the pairs would prove nothing */
}

/* Negative control: the same recipes with a radius that clips nothing, against the bound of the clipped
 * ones. */
TEST(without_clipping_the_bound_breaks)
{
    size_t broken = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        static struct neighbours pair;
        struct sotto_head_recipe r = recipe_of(4, 3, 0.5, 0.1), unclipped = r;
        struct convex_bound b;
        float parameters[2][P];
        unclipped.clip = 1e4;
        make(&pair, seed);
        for (int side = 0; side < 2; side++)
            for (size_t i = 0; i < pair.n * D; i++)
                pair.x[side][i] *= 50;
        assert_int_equal(convex_bound_find(&b, &r, pair.n, D, K), SOTTO_OK);
        for (int clipped = 0; clipped < 2; clipped++) {
            for (int side = 0; side < 2; side++)
                train(parameters[side], pair.x[side], pair.y[side], pair.n, clipped ? &r : &unclipped);
            bool above = distance(parameters[0], parameters[1], 2) > b.l2;
            broken += !clipped && above;
            assert_false(clipped && above);
        }
    }
    print_message("without clipping %zu of 60 pairs exceed the bound\n", broken);
    assert_true(broken > 30);
}

/* The loop as a reader would write it, in long double, record by record. */
static void plain_loop(long double *w, const struct head_data *d, const struct sotto_head_recipe *r)
{
    enum { Q = D + 1 };
    int64_t order[300];
    head_order(order, d->n, r->seed, 0);
    memset(w, 0, P * sizeof *w);
    for (size_t epoch = 0; epoch < r->epochs; epoch++)
        for (size_t start = 0; start < d->n; start += r->batch) {
            long double gradient[P];
            for (size_t e = 0; e < P; e++)
                gradient[e] = (long double)r->lambda * w[e];
            for (size_t s = start; s < d->n && s < start + r->batch; s++) {
                size_t i = (size_t)order[s];
                float h[D];
                long double z[K], sum = 0;
                head_record_clip(h, d->x + i * D, D, r->clip);
                for (size_t k = 0; k < K; k++) {
                    z[k] = (long double)r->bias * w[k * Q + D];
                    for (size_t j = 0; j < D; j++)
                        z[k] += w[k * Q + j] * (long double)h[j];
                    sum += expl(z[k]);
                }
                for (size_t k = 0; k < K; k++) {
                    long double error = (expl(z[k]) / sum - (d->y[i] == (int64_t)k)) / (long double)r->batch;
                    for (size_t j = 0; j < D; j++)
                        gradient[k * Q + j] += error * (long double)h[j];
                    gradient[k * Q + D] += error * (long double)r->bias;
                }
            }
            for (size_t e = 0; e < P; e++)
                w[e] -= (long double)r->step_size * gradient[e];
        }
}

/* Batches smaller and larger than a block of the kernels, with and without a short last one. */
TEST(batches_are_taken_as_the_proof_says)
{
    static float x[300 * D];
    static int64_t y[300];
    make_blobs(x, y, 300, D, K, 1.0, 3);
    const size_t sizes[][2] = {{300, 7}, {300, 100}, {290, 145}, {300, 129}, {256, 128}, {131, 130}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct sotto_head_recipe r = recipe_of(sizes[i][1], 3, 0.3, 0.02);
        struct head_data data = {x, y, sizes[i][0], D, K};
        struct head_convex c;
        struct convex_bound b;
        long double plain[P], gap = 0;
        assert_int_equal(convex_bound_find(&b, &r, data.n, D, K), SOTTO_OK);
        assert_int_equal(head_convex_plan(&c, &data, &r), SOTTO_OK);
        assert_int_equal(head_convex_run(&c, NULL, NULL, NULL, NULL), SOTTO_OK);
        plain_loop(plain, &data, &r);
        for (size_t e = 0; e < P; e++)
            gap += (c.w[e] - plain[e]) * (c.w[e] - plain[e]);
        /* what the proof grants for rounding, storage aside */
        assert_true(sqrtl(gap) <= b.gradient_rounding / r.lambda);
        head_convex_clear(&c);
    }
}

TEST(heads_learn_and_their_proof_reads_back)
{
    static float x[300 * D];
    static int64_t y[300];
    make_blobs(x, y, 300, D, K, 1.0, 3);
    struct sotto_head_recipe r = recipe_of(50, 5, 0, 0.01);
    struct sotto_head *h = NULL;
    struct sotto_sensitivity_sample proof, sampled, back;
    struct json *doc = NULL;
    char *text = NULL;
    double accuracy;
    assert_int_equal(sotto_head_train(&h, x, y, 300, D, K, &r, NULL), SOTTO_OK);
    assert_int_equal(sotto_head_accuracy(&accuracy, h, x, y, 300, D, NULL), SOTTO_OK);
    assert_true(accuracy > 0.8);
    assert_int_equal(sotto_sensitivity_prove(&proof, h), SOTTO_OK);
    assert_true(proof.proved && proof.records == 300);
    /* Sampled pairs leave one slot empty: 299 records. */
    struct convex_bound b;
    assert_int_equal(convex_bound_find(&b, &r, 299, D, K), SOTTO_OK);
    assert_int_equal(sotto_sensitivity_run(&sampled, x, y, 300, D, K, &r, 30, NULL), SOTTO_OK);
    assert_true(sampled.l2 > 0 && sampled.l2 <= b.l2 && sampled.l1 <= b.l1);
    assert_int_equal(sotto_sensitivity_json(&text, &proof), SOTTO_OK);
    assert_non_null(
        strstr(text, "{\\\"batch\\\":50,\\\"bias\\\":1,\\\"classes\\\":3,\\\"clip\\\":1,\\\"epochs\\\":5,"));
    assert_int_equal(json_parse(&doc, text, strlen(text), "s"), SOTTO_OK);
    assert_int_equal(sensitivity_from_json(&back, doc, "s.json"), SOTTO_OK);
    assert_true(back.l2 == proof.l2 && back.l1 == proof.l1);
    json_free(doc);
    sotto_text_free(text);
    sotto_head_free(h);
}

TEST(mistakes_are_refused)
{
    static const struct {
        size_t batch, epochs;
        double step_size, lambda;
        const char *error;
    } rows[] = {{0, 1, 0, 0.1, "batch must be at least 1"},
                {5, 0, 0, 0.1, "epochs must be at least 1"},
                {5, 1, 2, 0.1, "is out of range; expected above 0 and at most 2 / (beta + lambda)"},
                {5, 1, 0, 0, "lambda must be"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sotto_head_recipe r;
        sotto_head_defaults(&r);
        r.trainer = "convex-sgd";
        r.batch = rows[i].batch;
        r.epochs = rows[i].epochs;
        r.step_size = rows[i].step_size;
        r.lambda = rows[i].lambda;
        assert_int_equal(head_recipe_check(&r), SOTTO_EINVAL);
        assert_non_null(strstr(sotto_error_text(), rows[i].error));
    }
    /* Rounding errors would drown the bound. */
    struct sotto_head_recipe r = recipe_of(5, 1, 1e-9, 1e-9);
    struct convex_bound b;
    assert_int_equal(convex_bound_find(&b, &r, 100, D, K), SOTTO_EDOMAIN);
}

TEST_GROUP(.tags = "matrix")
