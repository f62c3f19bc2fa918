/* Inside a head: gradients against finite differences, extremes, and the attacks that look there. */
#include "support/test.h"

#include "attack/target/target.h"
#include "attack/query/whitebox_features.h"
#include "support/head_blobs.h"
#include "audit/measure/metrics.h"
#include "rng/rng.h"
#include "sotto/private/all.h"
#include "support/temporary_folder.h"
#include "support/audit_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 100, D = 10, K = 4 };
static float x[4 * N * D];
static int64_t y[4 * N];

static struct sotto_head_recipe recipe(size_t hidden)
{
    struct sotto_head_recipe r;
    sotto_head_defaults(&r);
    r.hidden_count = hidden;
    for (size_t l = 0; l < hidden; l++)
        r.hidden[l] = 24 - 4 * l;
    r.epochs = 80;
    r.batch = 16;
    r.lr = 1e-2;
    return r;
}

static int set_up(void **state)
{
    make_blobs(x, y, 4 * N, D, K, 2.5, 1);
    return make_folder(state);
}

static double loss_of(struct whitebox_features *v, size_t record)
{
    whitebox_features_look(v, x + record * D, y[record]);
    return v->loss;
}

/* All parameters of a layer are moved one by one; the norm of the differences is the closed form's. */
TEST(norms_are_those_of_finite_differences)
{
    for (size_t hidden = 0; hidden <= 2; hidden++) {
        struct sotto_head_recipe r = recipe(hidden);
        struct sotto_head *h;
        struct whitebox_features v;
        r.epochs = 2;
        assert_int_equal(sotto_head_train(&h, x, y, N, D, K, &r, NULL), SOTTO_OK);
        assert_int_equal(whitebox_features_make(&v, h), SOTTO_OK);
        for (size_t i = 0; i < 4; i++)
            for (size_t l = 1; l <= h->layers; l++) {
                size_t first = head_offset(h, l - 1), count = (h->width[l - 1] + 1) * h->width[l];
                double squares = 0;
                for (size_t p = first; p < first + count; p++) {
                    float kept = h->parameters[p];
                    float up = kept + 1e-3f, down = kept - 1e-3f;
                    h->parameters[p] = up;
                    double high = loss_of(&v, i);
                    h->parameters[p] = down;
                    double slope = (high - loss_of(&v, i)) / ((double)up - (double)down);
                    h->parameters[p] = kept;
                    squares += slope * slope;
                }
                loss_of(&v, i);
                assert_true(fabs(whitebox_features_gradient(&v, l) - 0.5 * log(squares)) < 1e-3);
            }
        whitebox_features_clear(&v);
        sotto_head_free(h);
    }
}

/* Linear head of two inputs: p and h are known numbers. */
TEST(a_hand_made_head)
{
    struct sotto_head *h;
    struct whitebox_features v;
    size_t width[] = {2, 3};
    float one[2] = {3, 4};
    assert_int_equal(head_create(&h, 1, width), SOTTO_OK);
    h->parameters[6] = 0;
    h->parameters[7] = logf(2);
    h->parameters[8] = logf(5);
    assert_int_equal(whitebox_features_make(&v, h), SOTTO_OK);
    whitebox_features_look(&v, one,
                           2); /* p = 1/8, 2/8, 5/8; p - e_y = (1, 2, -3) / 8; ||(3, 4, 1)|| = sqrt 26 */
    assert_true(fabs(whitebox_features_gradient(&v, 1) - log(sqrt(14.0) / 8 * sqrt(26.0))) < 1e-6);
    assert_true(fabs(v.loss - log(8.0 / 5)) < 1e-6);
    h->parameters[0] = 1000; /* logits 3000, ln 2, ln 5 */
    whitebox_features_look(&v, one, 0);
    double expected = log(5) - 3000 + 0.5 * log(1.4 * 1.4 + 1 + 0.16) + log(sqrt(26.0));
    assert_true(fabs(whitebox_features_gradient(&v, 1) - expected) < 1e-3); /* float weights */
    whitebox_features_look(&v, one, 1);
    assert_true(isfinite(whitebox_features_gradient(&v, 1)) && v.loss > 2900);
    whitebox_features_clear(&v);
    sotto_head_free(h);
}

static sotto_status attack(double *scores, char **json, const char *name, const char *path, size_t shadows)
{
    struct sotto_attack_options o;
    struct sotto_target *t;
    int finished;
    assert_int_equal(target_open_head(&t, path), SOTTO_OK);
    struct sotto_attack_input in = {.target = t,
                                    .member = {x, y, N},
                                    .nonmember = {x + N * D, y + N, N},
                                    .attacker = {x + 2 * N * D, y + 2 * N, 2 * N}};
    sotto_attack_defaults(&o);
    o.name = name;
    o.shadows = shadows;
    sotto_status status = attack_text(json, scores, &finished, &in, &o, NULL);
    sotto_target_close(t);
    return status;
}

static void save_trained(const char *path, const float *on, const int64_t *labels, size_t hidden)
{
    struct sotto_head_recipe r = recipe(hidden);
    struct sotto_head *h;
    assert_int_equal(sotto_head_train(&h, on, labels, N, D, K, &r, NULL), SOTTO_OK);
    assert_int_equal(sotto_head_save(path, h), SOTTO_OK);
    sotto_head_free(h);
}

TEST(they_see_an_overfit_head_and_nothing_in_a_stranger)
{
    static const char *const names[] = {"gradient-norm", "white-box", "stolen-memories"};
    static float other_x[N * D];
    static int64_t other_y[N];
    make_blobs(other_x, other_y, N, D, K, 2.5, 9);
    save_trained(path_of("a.safetensors"), x, y, 1);
    save_trained(path_of("b.safetensors"), other_x, other_y, 1);
    for (size_t a = 0; a < sizeof names / sizeof *names; a++) {
        struct sotto_estimate e;
        double scores[2 * N];
        char *json;
        assert_int_equal(attack(scores, &json, names[a], path_of("a.safetensors"), 0), SOTTO_OK);
        sotto_text_free(json);
        assert_int_equal(estimate_auc(&e, scores, N, scores + N, N, 0.99), SOTTO_OK);
        assert_true(e.lower > 0.5);
        assert_int_equal(attack(scores, &json, names[a], path_of("b.safetensors"), 0), SOTTO_OK);
        sotto_text_free(json);
        assert_int_equal(estimate_auc(&e, scores, N, scores + N, N, 0.99), SOTTO_OK);
        assert_true(e.lower < 0.5 && e.upper > 0.5);
    }
}

/* On a linear head with one proxy: the displacement of the record's class, less the mean one. */
TEST(stolen_memories_by_hand)
{
    struct sotto_head_recipe r = recipe(0);
    struct sotto_head *h, *proxy;
    struct rng draw = rng_stream(1, RNG_SPLIT, 5, 0);
    double scores[2 * N];
    char *json;
    save_trained(path_of("l.safetensors"), x, y, 0);
    assert_int_equal(sotto_head_load(&h, path_of("l.safetensors")), SOTTO_OK);
    assert_int_equal(attack(scores, &json, "stolen-memories", path_of("l.safetensors"), 1), SOTTO_OK);
    sotto_text_free(json);
    r.seed = rng_u64(&draw) >> 1;
    assert_int_equal(sotto_head_train(&proxy, x + 2 * N * D, y + 2 * N, 2 * N, D, K, &r, NULL), SOTTO_OK);
    for (size_t i = 0; i < 2 * N; i++) {
        double all = 0, own = 0;
        for (size_t k = 0; k < K; k++) {
            double z = (double)h->parameters[D * K + k] - (double)proxy->parameters[D * K + k];
            for (size_t j = 0; j < D; j++)
                z += ((double)h->parameters[k * D + j] - (double)proxy->parameters[k * D + j]) *
                     (double)x[i * D + j];
            all += z;
            own = (int64_t)k == y[i] ? z : own;
        }
        assert_true(fabs(scores[i] - (own - all / K)) < 1e-9 * (1 + fabs(all)));
    }
    sotto_head_free(h);
    sotto_head_free(proxy);
}

/* What comes out of gradient-norm is minus the logarithm, and a head of a convex trainer clips first. */
TEST(gradient_norm_by_hand)
{
    struct sotto_head_recipe r = recipe(0);
    struct sotto_head *h;
    double scores[2 * N];
    float p[K];
    char *json;
    r.trainer = "convex";
    r.clip = 2;
    assert_int_equal(sotto_head_train(&h, x, y, N, D, K, &r, NULL), SOTTO_OK);
    assert_int_equal(sotto_head_save(path_of("c.safetensors"), h), SOTTO_OK);
    assert_int_equal(attack(scores, &json, "gradient-norm", path_of("c.safetensors"), 0), SOTTO_OK);
    sotto_text_free(json);
    for (size_t i = 0; i < N; i++) {
        double norm = 0, residual = 0;
        assert_int_equal(sotto_head_predict(p, h, x + i * D, 1, D, 0, NULL), SOTTO_OK);
        for (size_t j = 0; j < D; j++)
            norm += (double)x[i * D + j] * (double)x[i * D + j];
        for (size_t k = 0; k < K; k++)
            residual += pow((double)p[k] - ((int64_t)k == y[i]), 2);
        norm = norm > 4 ? 4 : norm;
        assert_true(fabs(scores[i] + 0.5 * log(residual * (norm + 1))) < 1e-4);
    }
    sotto_head_free(h);
}

TEST(memory_runs_out_cleanly)
{
    static const char *const names[] = {"gradient-norm", "white-box", "stolen-memories"};
    double scores[2 * N];
    char *json;
    struct sotto_head_recipe r = recipe(1);
    struct sotto_head *h;
    r.epochs = 1;
    assert_int_equal(sotto_head_train(&h, x, y, N, D, K, &r, NULL), SOTTO_OK);
    assert_int_equal(sotto_head_save(path_of("q.safetensors"), h), SOTTO_OK);
    for (size_t a = 0; a < sizeof names / sizeof *names; a++)
        for (long after = 25; after < 60; after += 5) {
            struct sotto_attack_options o;
            struct sotto_target *t;
            int finished;
            assert_int_equal(target_open_head(&t, path_of("q.safetensors")), SOTTO_OK);
            struct sotto_attack_input in = {.target = t,
                                            .member = {x, y, 30},
                                            .nonmember = {x + N * D, y + N, 30},
                                            .attacker = {x + 2 * N * D, y + 2 * N, 60}};
            sotto_attack_defaults(&o);
            o.name = names[a];
            o.shadows = 1;
            base_alloc_fail_after(after);
            sotto_status status = attack_text(&json, scores, &finished, &in, &o, NULL);
            base_alloc_fail_after(-1);
            sotto_target_close(t);
            assert_true(status == SOTTO_OK || status == SOTTO_ENOMEM);
            if (status == SOTTO_OK)
                sotto_text_free(json);
        }
    sotto_head_free(h);
}

TEST_GROUP(.set_up = set_up, .tear_down = remove_folder, .tags = "matrix")
