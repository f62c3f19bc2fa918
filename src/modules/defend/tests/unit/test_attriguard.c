/* AttriGuard: phase II against numeric optimisers, phase I against what is known in closed form, budgets
 * kept. */
#include "sotto/lab/head.h"
#include "support/test.h"

#include "defend/attriguard.h"
#include "defend/attriguard_sample.h"
#include "rng/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const struct defence defence_attriguard, defence_attriguard_table;

enum { N = 180, D = 6, V = 3 };
static float x[N * D], bits[N * D];
static int64_t value[N];

/* Embeddings around one centre for each value; bits of which two tell the value. */
static int set_up(void **state)
{
    (void)state;
    struct rng r = rng_stream(2, RNG_TEST, 0, 0);
    for (size_t i = 0; i < N; i++) {
        value[i] = (int64_t)(i % 6 < 3 ? 0 : i % 6 < 5 ? 1 : 2); /* shares 1/2, 1/3, 1/6 */
        for (size_t j = 0; j < D; j++) {
            x[i * D + j] = (float)((j % V == (size_t)value[i] ? 2 : 0) + 0.5 * rng_normal(&r));
            bits[i * D + j] = j % V == (size_t)value[i] ? rng_unit(&r) < 0.95 : rng_unit(&r) < 0.2;
        }
    }
    return 0;
}

static double divergence(const double *p, const double *q, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += p[i] > 0 ? p[i] * log(p[i] / q[i]) : 0;
    return sum;
}

static void random_prior(double *p, size_t n, struct rng *r)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += p[i] = -log(1 - rng_unit(r));
    for (size_t i = 0; i < n; i++)
        p[i] /= sum;
}

/* All mixtures of three values in steps of 1/300 that keep the budget: none is better, and the best of them
 * is near. */
TEST(closed_form_beats_every_mixture_on_a_grid)
{
    enum { STEPS = 300 };
    struct rng r = rng_stream(3, RNG_TEST, 0, 0);
    for (int round = 0; round < 20; round++) {
        double p[3], q[3], cost[3] = {0, rng_unit(&r) * 3, rng_unit(&r) * 3}, best = INFINITY;
        double budget = rng_unit(&r) * 0.9 + 0.05;
        random_prior(p, 3, &r);
        assert_true(attriguard_sample(q, p, cost, 3, budget));
        assert_true(q[1] * cost[1] + q[2] * cost[2] <= budget * (1 + 1e-9));
        assert_true(fabs(q[0] + q[1] + q[2] - 1) < 1e-12);
        for (int a = 1; a < STEPS; a++)
            for (int b = 1; a + b < STEPS; b++) {
                double g[3] = {1 - (double)(a + b) / STEPS, (double)a / STEPS, (double)b / STEPS};
                if (g[1] * cost[1] + g[2] * cost[2] <= budget)
                    best = fmin(best, divergence(p, g, 3));
            }
        assert_true(divergence(p, q, 3) <= best + 1e-9);
        assert_true(isfinite(best));
    }
}

/* Frank and Wolfe's steps over the same set in 5 dimensions, from the closed form: no way down is found. The
 * set's corners are single values within the budget and pairs that use it up. */
TEST(closed_form_has_no_way_down)
{
    enum { M = 5 };
    struct rng r = rng_stream(4, RNG_TEST, 0, 0);
    for (int round = 0; round < 200; round++) {
        double p[M], q[M], cost[M], budget = 0.02 + rng_unit(&r) * 2, slope = INFINITY, here = 0;
        random_prior(p, M, &r);
        for (size_t i = 0; i < M; i++)
            cost[i] = i == 0 ? 0 : rng_unit(&r) * 5;
        assert_true(attriguard_sample(q, p, cost, M, budget));
        for (size_t i = 0; i < M; i++)
            here -= p[i]; /* sum of gradient (-p/q) times q */
        for (size_t a = 0; a < M; a++) {
            if (cost[a] <= budget)
                slope = fmin(slope, -p[a] / q[a]);
            for (size_t b = 0; b < M; b++)
                if (cost[a] < budget && cost[b] > budget) {
                    double t = (budget - cost[a]) / (cost[b] - cost[a]);
                    slope = fmin(slope, -(1 - t) * p[a] / q[a] - t * p[b] / q[b]);
                }
        }
        assert_true(slope >= here - 1e-6);
    }
}

TEST(edges_of_phase_two)
{
    double q[3] = {9, 9, 9}, prior[3] = {0.2, 0.3, 0.5}, cost[3] = {0, 1, 2};
    assert_true(attriguard_sample(q, prior, cost, 3, 1.3)); /* what the prior costs */
    assert_memory_equal(q, prior, sizeof q);
    assert_true(attriguard_sample(q, prior, cost, 3, 0));
    assert_true(q[0] == 1 && q[1] == 0 && q[2] == 0);
    double without[3] = {0, 0.5, 0.5};
    q[0] = 9;
    assert_false(attriguard_sample(q, without, cost, 3, 0.5));
    assert_true(q[0] == 9);
    assert_true(attriguard_sample(q, without, cost, 3, 1.25));
    assert_true(q[0] == 0 && fabs(q[1] + 2 * q[2] - 1.25) < 1e-9);
    /* two values: all of the budget goes to the second, q = budget / cost */
    double even[2] = {0.5, 0.5}, two[2] = {0, 4};
    assert_true(attriguard_sample(q, even, two, 2, 0.8));
    assert_true(fabs(q[1] - 0.2) < 1e-12);
    /* as good as nothing to spend */
    assert_true(attriguard_sample(q, even, two, 2, 1e-300));
    assert_true(q[0] == 1 && q[1] < 1e-299);
}

static struct sotto_defence *fit(const char *name, const float *rows, double budget, uint64_t key,
                                 const char *const *settings)
{
    struct sotto_defence_known known = {rows, value, NULL, N, D};
    struct sotto_defence_options o;
    struct sotto_defence *d = NULL;
    sotto_defence_defaults(&o);
    o.name = name;
    o.budget = sotto_given_real(budget);
    o.key = key;
    o.settings = settings;
    assert_int_equal(sotto_defence_fit(&d, &known, &o, NULL), SOTTO_OK);
    return d;
}

/* For a linear classifier of two values the smallest change in the maximum norm is |w x + b| / |w|_1. */
TEST(searches_find_the_smallest_change_of_a_linear_classifier)
{
    static const float weight[2][3] = {{0, 0, 0}, {1, -2, 0.5f}};
    struct sotto_head *h = NULL;
    size_t widths[2] = {3, 2}, count;
    assert_int_equal(head_create(&h, 1, widths), SOTTO_OK);
    float *w = sotto_head_parameters(h, &count);
    memcpy(w, weight, sizeof weight);
    w[7] = 0.3f; /* bias of the second value */
    double prior[2] = {0.5, 0.5};
    struct sotto_defence *d = fit("attriguard", x, 1e9, 0, NULL);
    struct attriguard a = *(struct attriguard *)d->model;
    a.values = 2, a.prior = prior;
    assert_int_equal(defence_net_of(&a.net, h), SOTTO_OK);
    struct rng r = rng_stream(5, RNG_TEST, 0, 0);
    for (int i = 0; i < 10; i++) {
        float row[3], out[3];
        double cost, z = (double)w[7];
        for (size_t j = 0; j < 3; j++) {
            row[j] = (float)rng_normal(&r);
            z += (double)weight[1][j] * (double)row[j];
        }
        assert_int_equal(attriguard_apply(out, &cost, &a, row, 1, 3), SOTTO_OK);
        double least = fabs(z) / 3.5;
        assert_true(cost >= 0.5 * least * (1 - 1e-5)); /* half of the time nothing is changed */
        assert_true(cost <= 0.5 * (1.12 * least + 0.02));
    }
    defence_net_clear(&a.net);
    sotto_head_free(h);
    sotto_defence_free(d);
}

static size_t answer(const struct attriguard *a, const float *row)
{
    struct defence_look look;
    double in[D];
    size_t top = 0;
    assert_int_equal(defence_look_make(&look, &a->net), SOTTO_OK);
    for (size_t j = 0; j < D; j++)
        in[j] = (double)row[j];
    const double *logits = defence_net_forward(&a->net, &look, in);
    for (size_t v = 1; v < V; v++)
        top = logits[v] > logits[top] ? v : top;
    defence_look_clear(&look);
    return top;
}

/* With enough to spend the classifier answers by the prior, whatever the row: 180 coins at 1/2, 1/3, 1/6. */
TEST(rich_defenders_leave_the_prior)
{
    static const char *const uniform[] = {"prior=0", NULL};
    static const double share[2][V] = {{1.0 / 2, 1.0 / 3, 1.0 / 6}, {1.0 / 3, 1.0 / 3, 1.0 / 3}};
    float out[N * D];
    double cost[N];
    for (int even = 0; even < 2; even++) {
        struct sotto_defence *d = fit("attriguard", x, 1000, 3, even ? uniform : NULL);
        size_t count[V] = {0};
        assert_int_equal(sotto_defence_apply(out, cost, d, x, N, D, NULL), SOTTO_OK);
        for (size_t i = 0; i < N; i++)
            count[answer(d->model, out + i * D)]++;
        for (size_t v = 0; v < V; v++) {
            double p = share[even][v];
            assert_true(fabs((double)count[v] - N * p) < 4.5 * sqrt(N * p * (1 - p)));
        }
        sotto_defence_free(d);
    }
}

TEST(budgets_are_kept)
{
    static const double budgets[] = {0, 0.05, 0.3};
    float out[N * D];
    double cost[N];
    for (size_t b = 0; b < 3; b++) {
        struct sotto_defence *d = fit("attriguard", x, budgets[b], 1, NULL);
        assert_int_equal(sotto_defence_apply(out, cost, d, x, N, D, NULL), SOTTO_OK);
        size_t changed = 0;
        for (size_t i = 0; i < N; i++) {
            assert_true(cost[i] <= budgets[b]);
            changed += memcmp(out + i * D, x + i * D, D * sizeof *x) != 0;
        }
        assert_true(budgets[b] > 0 ? changed > 0 : changed == 0);
        sotto_defence_free(d);
    }
}

TEST(tables_stay_tables_and_policies_hold)
{
    static const char *const policy[3][2] = {{"policy=0", NULL}, {"policy=1", NULL}, {"policy=2", NULL}};
    float out[N * D];
    double cost[N];
    for (int k = 0; k < 3; k++) {
        struct sotto_defence *d = fit("attriguard-table", bits, 1.5, 1, policy[k]);
        assert_int_equal(sotto_defence_apply(out, cost, d, bits, N, D, NULL), SOTTO_OK);
        size_t changed = 0;
        for (size_t i = 0; i < N * D; i++) {
            assert_true(out[i] == 0 || out[i] == 1); /* steps of 1 */
            changed += out[i] != bits[i];
            assert_false(k == 0 && bits[i] == 0 && out[i] == 1);
            assert_false(k == 1 && bits[i] == 1 && out[i] == 0);
        }
        for (size_t i = 0; i < N; i++)
            assert_true(cost[i] <= 1.5);
        assert_true(changed > 0);
        sotto_defence_free(d);
    }
}

TEST(bad_rows_are_refused)
{
    struct sotto_defence_known known = {x, value, NULL, N, D};
    struct sotto_defence_options o;
    struct sotto_defence *d = NULL;
    sotto_defence_defaults(&o);
    o.name = "attriguard-table";
    assert_int_equal(sotto_defence_fit(&d, &known, &o, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "expected table entries from 0 to 1"));
    int64_t one[N] = {0};
    o.name = "attriguard";
    known.protected_label = one;
    assert_int_equal(sotto_defence_fit(&d, &known, &o, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "every known row has the protected label 0"));
}

TEST_GROUP(.set_up = set_up, .tags = "matrix")
