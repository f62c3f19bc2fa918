/* Second moments: no neighbour moves the stored vector further than the bound (and the worst ones nearly
 * reach it); without scaling to the domain most do. Heads solve the equations that they should. */
#include "support/test.h"
#include "support/exercise.h"
#include "support/worse.h"
#include "head/model/head_trainer.h"
#include "head/private/moments.h"
#include "rng/rng.h"
#include "support/temporary_folder.h"
#include "sotto/lab/head.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 6, D = 5, MOST = 64 };

static struct sotto_head_recipe recipe_of(const char *trainer, double clip, double bias)
{
    struct sotto_head_recipe r;
    sotto_head_defaults(&r);
    r.trainer = trainer;
    r.noise = NULL;
    r.clip = clip;
    r.bias = bias;
    r.lambda = 0;
    r.noise_multiplier = 1;
    assert_int_equal(head_recipe_check(&r), SOTTO_OK);
    return r;
}

struct distance {
    double l1, l2;
};

/* The i-th trainer on second moments, or NULL. */
static const struct moment_trainer *moment_trainer_at(size_t i)
{
    const char *name = head_moment_trainer(i);
    return name ? head_trainer_find(name)->moments : NULL;
}

/* How far the sums move when record 0 is replaced. */
static struct distance move(const struct moment_trainer *t, const struct sotto_head_recipe *r,
                            struct head_data data, const float *other, int64_t label)
{
    static float a[MOST * MOST], b[MOST * MOST], x[N * MOST];
    int64_t y[N];
    struct moment_shape shape = moment_shape_of(r, data.d, data.classes);
    size_t dimension;
    struct distance moved = {0};
    assert_true(moment_dimension(&dimension, &shape) && dimension <= MOST * MOST);
    assert_int_equal(moment_sums(a, t, r, &data, NULL), SOTTO_OK);
    memcpy(x, data.x, data.n * data.d * sizeof *x);
    memcpy(y, data.y, data.n * sizeof *y);
    memcpy(x, other, data.d * sizeof *x);
    y[0] = label;
    data.x = x;
    data.y = y;
    assert_int_equal(moment_sums(b, t, r, &data, NULL), SOTTO_OK);
    for (size_t i = 0; i < dimension; i++) {
        double step = fabs((double)a[i] - (double)b[i]);
        moved.l1 += step;
        moved.l2 += step * step;
    }
    moved.l2 = sqrt(moved.l2);
    return moved;
}

/* Records of every kind: random, on the sphere, opposite, orthogonal, corners of the box, far outside. */
static void draw_record(float *x, size_t d, struct rng *r, const float *first)
{
    uint64_t kind = rng_below(r, 7);
    double norm = 0;
    for (size_t i = 0; i < d; i++) {
        x[i] = (float)rng_normal(r);
        norm += (double)x[i] * x[i];
    }
    for (size_t i = 0; i < d; i++)
        switch (kind) {
        case 0:
            x[i] = (float)(x[i] / sqrt(norm));
            break;
        case 1:
            x[i] = first ? -first[i] : (float)1;
            break;
        case 2:
            x[i] = i == 0 ? 1 : 0;
            break;
        case 3:
            x[i] = (float)rng_below(r, 2);
            break;
        case 4:
            x[i] *= 100;
            break;
        case 5:
            x[i] = 1;
            break;
        default:
            x[i] = first ? first[d - 1 - i] : 0;
            break;
        }
}

TEST(neighbours_stay_within_the_bound)
{
    static const size_t inputs[] = {1, 2, 5, 17}, classes[] = {2, 3, 40};
    static const double biases[] = {0, 0.3, 1}, clips[] = {1, 0.25, 40};
    const struct moment_trainer *t;
    struct rng r = rng_stream(5, RNG_TEST, 4, 0);
    float x[N * 17], other[17];
    int64_t y[N];
    for (size_t i = 0; (t = moment_trainer_at(i)); i++)
        for (size_t trial = 0; trial < 400; trial++) {
            size_t d = inputs[trial % 4], k = classes[trial / 4 % 3];
            struct sotto_head_recipe recipe =
                recipe_of(t->name, clips[trial / 36 % 3], biases[trial / 12 % 3]);
            struct head_data data = {x, y, N, d, k};
            struct moment_bound bound;
            for (size_t j = 0; j < N; j++) {
                draw_record(x + j * d, d, &r, NULL);
                y[j] = (int64_t)rng_below(&r, k);
            }
            draw_record(other, d, &r, x);
            for (size_t j = 0; j < N * d && trial % 2; j++)
                x[j] *= (float)recipe.clip;
            for (size_t j = 0; j < d && trial % 2; j++)
                other[j] *= (float)recipe.clip;
            moment_bound_find(&bound, t, &recipe, N, d, k);
            int64_t label = trial % 5 ? (int64_t)rng_below(&r, k) : HEAD_NOTHING;
            struct distance moved = move(t, &recipe, data, other, label);
            assert_true(moved.l2 <= bound.l2 && moved.l1 <= bound.l1);
            assert_true(bound.exact_l2 < bound.l2 && bound.l2 < bound.exact_l2 * (1 + 1e-5));
        }
}

/* The pairs of the proof: opposite records of one class, orthogonal or equal ones of two. */
TEST(the_worst_neighbours_reach_it)
{
    static const char *const trainers[] = {"covariance", "functional", "functional-linear"};
    static const double weights[] = {0.2, 1, 1.4, 5};
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 2; k <= 10; k += 4)
            for (size_t b = 0; b < 3; b++)
                for (size_t w = 0; w < (i ? 1 : 4); w++) {
                    const struct moment_trainer *t = head_trainer_find(trainers[i])->moments;
                    struct sotto_head_recipe recipe = recipe_of(t->name, 1, 0.5 * (double)b);
                    if (i == 0)
                        recipe.cross = weights[w];
                    struct moment_bound bound;
                    double most = 0;
                    moment_bound_find(&bound, t, &recipe, N, D, k);
                    for (int step = 0; step <= 200; step++) { /* angles between the two records */
                        double angle = M_PI * step / 200;
                        float x[N * D] = {1}, other[D] = {(float)cos(angle), (float)sin(angle)};
                        int64_t y[N] = {0};
                        struct head_data data = {x, y, N, D, k};
                        most = worse(most, move(t, &recipe, data, other, 0).l2);
                        most = worse(most, move(t, &recipe, data, other, 1).l2);
                    }
                    assert_true(most <= bound.l2 && most > 0.999 * bound.exact_l2);
                }
}

TEST(published_constants_are_not_exceeded)
{
    struct moment_bound b;
    for (size_t d = 1; d <= 512; d *= 2) {
        double root = sqrt((double)d), many = (double)d;
        struct sotto_head_recipe functional = recipe_of("functional", 1, 0),
                                 linear = recipe_of("functional-linear", 1, 0),
                                 taylor = recipe_of("taylor", 1, 0);
        moment_bound_find(&b, head_trainer_find("functional")->moments, &functional, 1000, d, 2);
        assert_true(fabs(b.exact_l2 - 1) <
                    1e-14); /* sections 3 and 4 of the derivation; 1.03 by the triangle */
        assert_true(b.exact_l1 <= (root + many / 4) * (1 + 1e-14)); /* and Zhang et al.: d^2 / 4 + 3 d */
        moment_bound_find(&b, head_trainer_find("functional-linear")->moments, &linear, 1000, d, 2);
        assert_true(b.exact_l1 <= 2 * (1 + root) * (1 + root));
        moment_bound_find(&b, head_trainer_find("taylor")->moments, &taylor, 1000, d, 10);
        assert_true(b.exact_l1 <= 10 * (many + many * many / 4)); /* Phan et al. */
    }
}

/* The negative control: sums of records that were not scaled to the radius of the bound. */
TEST(unscaled_records_exceed_the_bound)
{
    const struct moment_trainer *t;
    struct rng r = rng_stream(6, RNG_TEST, 4, 0);
    for (size_t i = 0; (t = moment_trainer_at(i)); i++) {
        size_t exceeded = 0;
        for (size_t trial = 0; trial < 50; trial++) {
            struct sotto_head_recipe bounded = recipe_of(t->name, 1, 0), loose = recipe_of(t->name, 3, 0);
            struct moment_bound bound;
            float x[N * D], other[D];
            int64_t y[N] = {0, 1, 2, 0, 1, 2};
            struct head_data data = {x, y, N, D, 3};
            for (size_t j = 0; j < N * D; j++)
                x[j] = (float)(3 * (0.5 + 0.5 * rng_unit(&r)));
            for (size_t j = 0; j < D; j++)
                other[j] = t->domain == MOMENT_BALL ? -x[j] : 0;
            moment_bound_find(&bound, t, &bounded, N, D, 3);
            struct distance moved =
                move(t, &loose, data, other, 0); /* products in units of 9, the rest of 3 */
            exceeded += 3 * moved.l2 > bound.l2;
        }
        assert_true(exceeded >= 45);
    }
}

/* Blobs; `noise` small enough to vanish. */
static struct sotto_head *fit(const char *trainer, struct head_data data, double lambda, double clip,
                              struct sotto_certificate **certificate)
{
    struct sotto_head_recipe r = recipe_of(trainer, clip, 1);
    struct sotto_head_privacy p = {
        .target = {NAN, 1e-5},
        .spend = {.dataset_id = "toy", .source = &exercise, .ledger = path_of("ledger.jsonl")}};
    struct sotto_head *h = NULL;
    r.lambda = lambda;
    r.noise_multiplier = 1e-7;
    unlink(p.spend.ledger);
    assert_int_equal(
        sotto_head_train_private(&h, certificate, data.x, data.y, data.n, data.d, data.classes, &r, &p, NULL),
        SOTTO_OK);
    return h;
}

/* sum_i (W x_i - u_i) x_i' + lambda n W = 0 for every trainer, K times W being the head. */
TEST(heads_solve_their_equations)
{
    enum { MANY = 500, K = 3, Q = D + 1 };
    static float x[MANY * D];
    static int64_t y[MANY];
    const struct moment_trainer *t;
    struct rng r = rng_stream(7, RNG_TEST, 4, 0);
    const double lambda = 0.05;
    for (size_t i = 0; i < MANY; i++) {
        y[i] = (int64_t)(i % K);
        for (size_t j = 0; j < D; j++)
            x[i * D + j] = (float)(0.1 + 0.08 * rng_unit(&r) + (j == i % K ? 0.2 : 0));
    }
    for (size_t i = 0; (t = moment_trainer_at(i)); i++) {
        struct sotto_certificate *certificate = NULL;
        struct head_data data = {x, y, MANY, D, K};
        struct sotto_head *h = fit(t->name, data, lambda, 1, &certificate);
        double residual = 0, accuracy;
        size_t count;
        const float *w = sotto_head_parameters(h, &count);
        for (size_t k = 0; k < K; k++)
            for (size_t j = 0; j < Q; j++) {
                double sum = lambda * MANY * (double)(j < D ? w[k * D + j] : w[K * D + k]) / K;
                for (size_t n = 0; n < MANY; n++) {
                    double answer = w[K * D + k];
                    for (size_t c = 0; c < D; c++)
                        answer += (double)w[k * D + c] * (double)x[n * D + c];
                    sum += (answer / K - (y[n] == (int64_t)k) + 1.0 / K) * (j < D ? (double)x[n * D + j] : 1);
                }
                residual = worse(residual, fabs(sum));
            }
        assert_true(residual < 0.05); /* of sums of size 500 stored in float32 */
        assert_int_equal(sotto_head_accuracy(&accuracy, h, x, y, MANY, D, NULL), SOTTO_OK);
        assert_true(accuracy > 0.99);
        sotto_certificate_free(certificate);
        sotto_head_free(h);
    }
}

/* A radius changes units, nothing else. */
TEST(radius_and_scale_cancel)
{
    enum { MANY = 60 };
    float x[MANY * D], scaled[MANY * D];
    int64_t y[MANY];
    struct rng r = rng_stream(8, RNG_TEST, 4, 0);
    for (size_t i = 0; i < MANY * D; i++) {
        x[i] = (float)rng_normal(&r);
        scaled[i] = 8 * x[i];
        y[i / D] = (int64_t)(i / D % 2);
    }
    struct sotto_certificate *one = NULL, *two = NULL;
    struct sotto_head *a = fit("covariance", (struct head_data){x, y, MANY, D, 2}, 0.1, 1, &one),
                      *b = fit("covariance", (struct head_data){scaled, y, MANY, D, 2}, 0.1, 8, &two);
    float p[2 * MANY], q[2 * MANY];
    assert_int_equal(sotto_head_predict(p, a, x, MANY, D, 1, NULL), SOTTO_OK);
    assert_int_equal(sotto_head_predict(q, b, scaled, MANY, D, 1, NULL), SOTTO_OK);
    for (size_t i = 0; i < 2 * MANY; i++)
        assert_true(fabs((double)p[i] - (double)q[i]) < 1e-4);
    sotto_certificate_free(one);
    sotto_certificate_free(two);
    sotto_head_free(a);
    sotto_head_free(b);
}

TEST(negative_directions_are_trimmed)
{
    double products[4] = {4, 0, 0, -1}, cross[2] = {8, 3}, indefinite[4] = {4, 0, 0, -1}, right[2] = {8, 3};
    struct noisy_moments m = {.q = 2, .outputs = 1, .products = products, .cross = cross};
    assert_int_equal(moment_solve_trimmed(&m, 0, 1e-8), SOTTO_OK);
    assert_true(fabs(cross[0] - 2) < 1e-15 && cross[1] == 0);
    m = (struct noisy_moments){.q = 2, .outputs = 1, .products = indefinite, .cross = right};
    assert_int_equal(moment_solve_ridge(&m, 0.5), SOTTO_OK); /* doubled to 2 */
    assert_true(fabs(right[0] - 8.0 / 6) < 1e-15 && fabs(right[1] - 3) < 1e-15);
    double negative[1] = {-5}, one[1] = {1};
    m = (struct noisy_moments){.q = 1, .outputs = 1, .products = negative, .cross = one};
    assert_int_equal(moment_solve_trimmed(&m, 1, 0), SOTTO_EDIVERGED);
    negative[0] = NAN;
    assert_int_equal(moment_solve_trimmed(&m, 1, 0), SOTTO_EDIVERGED);
    assert_int_equal(moment_solve_ridge(&m, 1), SOTTO_EDIVERGED);
    m.q = MOMENT_SPECTRUM + 1;
    assert_int_equal(moment_solve_trimmed(&m, 1, 0), SOTTO_EINVAL);
}

TEST_GROUP(.set_up = make_folder, .tear_down = remove_folder, .tags = "matrix")
