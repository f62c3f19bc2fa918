/* The proved sensitivity against what records can really do: random and adversarial neighbours never exceed
 * it, and each condition of the proof, taken away, lets them. Also the gradient behind it. */
#include "sotto/lab/head.h"
#include "support/test.h"

#include "head/convex/head_convex.h"
#include "support/head_blobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 40, D = 5, K = 3, P = (D + 1) * K };

struct neighbours {
    float x[2][MOST * D]; /* differ in record `at` alone */
    int64_t y[2][MOST];
    size_t n;
};

/* Random records; the two rivals are opposed in direction and label; sizes from far inside to far outside the
 * ball. Others: blobs, or all zero (`kind`), so that the replacement record dominates. */
static void make(struct neighbours *p, uint64_t seed)
{
    struct rng r = rng_stream(seed, RNG_TEST, 5, 0);
    p->n = 3 + (size_t)rng_below(&r, MOST - 3);
    unsigned kind = (unsigned)rng_below(&r, 3);
    size_t at = (size_t)rng_below(&r, p->n);
    for (size_t i = 0; i < p->n; i++) {
        p->y[0][i] = (int64_t)rng_below(&r, K);
        for (size_t j = 0; j < D; j++)
            p->x[0][i * D + j] = kind == 0 ? 0 : (float)((kind == 1 ? 1 : 30) * rng_normal(&r));
    }
    memcpy(p->x[1], p->x[0], sizeof p->x[0]);
    memcpy(p->y[1], p->y[0], sizeof p->y[0]);
    double size = exp(2 * rng_normal(&r));
    for (size_t j = 0; j < D; j++) {
        p->x[0][at * D + j] = (float)(size * rng_normal(&r));
        p->x[1][at * D + j] = kind == 2 ? (float)(size * rng_normal(&r)) : -p->x[0][at * D + j];
    }
    p->y[1][at] = (p->y[0][at] + 1) % K;
}

/* L2 and L1 change of the stored numbers. */
static void change(double out[2], const struct neighbours *p, const struct sotto_head_recipe *r)
{
    float parameters[2][P];
    for (int side = 0; side < 2; side++) {
        struct head_data data = {p->x[side], p->y[side], p->n, D, K};
        struct head_convex c;
        assert_int_equal(head_convex_plan(&c, &data, r), SOTTO_OK);
        assert_int_equal(head_convex_run(&c, NULL, NULL, NULL, NULL), SOTTO_OK);
        head_convex_export(&c, parameters[side]);
        head_convex_clear(&c);
    }
    out[0] = out[1] = 0;
    for (size_t e = 0; e < P; e++) {
        double gap = fabs((double)parameters[0][e] - (double)parameters[1][e]);
        out[0] += gap * gap;
        out[1] += gap;
    }
    out[0] = sqrt(out[0]);
}

static struct sotto_head_recipe recipe(uint64_t seed)
{
    struct rng r = rng_stream(seed, RNG_TEST, 6, 0);
    struct sotto_head_recipe out;
    sotto_head_defaults(&out);
    out.trainer = seed % 4 == 0 ? "convex-lbfgs" : "convex";
    out.steps = (const size_t[]){1, 5, 200}[rng_below(&r, 3)];
    out.clip = exp(rng_normal(&r));
    out.bias = (const double[]){0, 0.3, 1, 2}[rng_below(&r, 4)];
    out.lambda = exp(-1 - 4 * rng_unit(&r));
    assert_int_equal(head_recipe_check(&out), SOTTO_OK);
    if (out.steps)
        out.step_size *= rng_below(&r, 2) ? 1 : rng_unit(&r);
    return out;
}

TEST(no_neighbours_exceed_the_bound)
{
    enum { PAIRS = 600 };
    double closest = 0;
    for (uint64_t seed = 0; seed < PAIRS; seed++) {
        static struct neighbours pair;
        struct sotto_head_recipe r = recipe(seed);
        struct convex_bound b;
        double moved[2];
        make(&pair, seed);
        assert_int_equal(convex_bound_find(&b, &r, pair.n, D, K), SOTTO_OK);
        change(moved, &pair, &r);
        assert_true(moved[0] <= b.l2);
        assert_true(moved[1] <= b.l1);
        closest = fmax(closest, moved[0] / b.l2);
    }
    print_message("closest of %d pairs: %.3f of the bound\n", PAIRS, closest);
    assert_true(closest > 0.2); /* or the pairs would prove nothing */
}

/* Negative controls. Without clipping (a radius that no record reaches), a record far outside moves the head
 * beyond the bound that holds with it. */
TEST(without_clipping_the_bound_breaks)
{
    size_t broken = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        static struct neighbours pair;
        struct sotto_head_recipe r, unclipped;
        struct convex_bound b;
        double moved[2];
        sotto_head_defaults(&r);
        r.trainer = "convex";
        r.lambda = 0.1;
        r.steps = 20;
        assert_int_equal(head_recipe_check(&r), SOTTO_OK);
        unclipped = r; /* with the same step, which is more than the unclipped proof would allow */
        unclipped.clip = 1e4;
        make(&pair, seed);
        for (int side = 0; side < 2; side++)
            for (size_t i = 0; i < pair.n * D; i++)
                pair.x[side][i] *= 50;
        assert_int_equal(convex_bound_find(&b, &r, pair.n, D, K), SOTTO_OK);
        struct head_convex c;
        float parameters[2][P];
        for (int side = 0; side < 2; side++) {
            struct head_data data = {pair.x[side], pair.y[side], pair.n, D, K};
            assert_int_equal(head_convex_plan(&c, &data, &unclipped), SOTTO_OK);
            convex_gather(&c, NULL, NULL);
            for (size_t k = 0; k < r.steps; k++) {
                convex_objective(&c, c.w, c.gradient, NULL);
                for (size_t e = 0; e < c.entries; e++)
                    c.w[e] -= r.step_size * c.gradient[e];
            }
            head_convex_export(&c, parameters[side]);
            head_convex_clear(&c);
        }
        double gap = 0;
        for (size_t e = 0; e < P; e++)
            gap +=
                ((double)parameters[0][e] - parameters[1][e]) * ((double)parameters[0][e] - parameters[1][e]);
        broken += sqrt(gap) > b.l2;
        change(moved, &pair, &r);
        assert_true(moved[0] <= b.l2); /* the same pair, clipped */
    }
    print_message("without clipping %zu of 60 pairs exceed the bound\n", broken);
    assert_true(broken > 30);
}

/* The gradient in long double, record by record. */
static void reference(long double *gradient, long double *value, const struct head_data *d,
                      const struct sotto_head_recipe *r, const double *w)
{
    size_t q = D + 1;
    *value = 0;
    for (size_t e = 0; e < P; e++) {
        gradient[e] = (long double)r->lambda * w[e];
        *value += (long double)r->lambda / 2 * w[e] * w[e];
    }
    for (size_t i = 0; i < d->n; i++) {
        float h[D];
        long double z[K], sum = 0;
        head_record_clip(h, d->x + i * D, D, r->clip);
        for (size_t k = 0; k < K; k++) {
            z[k] = (long double)r->bias * w[k * q + D];
            for (size_t j = 0; j < D; j++)
                z[k] += (long double)w[k * q + j] * h[j];
        }
        for (size_t k = 0; k < K; k++)
            sum += expl(z[k]);
        *value += (logl(sum) - z[d->y[i]]) / (long double)d->n;
        for (size_t k = 0; k < K; k++) {
            long double error = (expl(z[k]) / sum - (d->y[i] == (int64_t)k)) / (long double)d->n;
            for (size_t j = 0; j < D; j++)
                gradient[k * q + j] += error * h[j];
            gradient[k * q + D] += error * r->bias;
        }
    }
}

/* At every instruction-set level and for numbers of records around whole blocks: within the rounding error
 * that the proof grants, which is some 1e-13. */
TEST(gradients_are_as_exact_as_the_proof_says)
{
    enum { RECORDS = 2 * CONVEX_BLOCK + 3 };
    static float x[RECORDS * D];
    static int64_t y[RECORDS];
    make_blobs(x, y, RECORDS, D, K, 1.0, 3);
    const size_t sizes[] = {3, CONVEX_BLOCK - 1, CONVEX_BLOCK, CONVEX_BLOCK + 1, RECORDS};
    for (size_t i = 0; i < CPU_ISA_COUNT * 5; i++) {
        struct sotto_head_recipe r;
        sotto_head_defaults(&r);
        r.trainer = "convex";
        r.clip = 2;
        assert_int_equal(head_recipe_check(&r), SOTTO_OK);
        setenv("SOTTO_ISA", cpu_isa_name((enum cpu_isa)(i / 5)), 1);
        struct head_data data = {x, y, sizes[i % 5], D, K};
        struct head_convex c;
        struct convex_bound b;
        assert_int_equal(head_convex_plan(&c, &data, &r), SOTTO_OK);
        assert_int_equal(convex_bound_find(&b, &r, data.n, D, K), SOTTO_OK);
        convex_gather(&c, NULL, NULL);
        for (uint64_t draw = 0; draw < 5; draw++) {
            struct rng g = rng_stream(draw, RNG_TEST, 8, i);
            long double exact[P], value, error = 0;
            double computed_value;
            for (size_t e = 0; e < P; e++)
                c.w[e] = (draw == 4 ? 3 : 1) * rng_normal(&g);
            reference(exact, &value, &data, &r, c.w);
            convex_objective(&c, c.w, c.gradient, &computed_value);
            for (size_t e = 0; e < P; e++)
                error += (c.gradient[e] - exact[e]) * (c.gradient[e] - exact[e]);
            assert_true(sqrtl(error) <= b.gradient_rounding);
            assert_true(fabsl(computed_value - value) < 1e-13L * fmaxl(1, value));
        }
        head_convex_clear(&c);
    }
    unsetenv("SOTTO_ISA");
}

TEST(gradients_agree_with_differences)
{
    static float x[MOST * D];
    static int64_t y[MOST];
    make_blobs(x, y, MOST, D, K, 1.0, 3);
    struct sotto_head_recipe r;
    sotto_head_defaults(&r);
    r.trainer = "convex";
    assert_int_equal(head_recipe_check(&r), SOTTO_OK);
    struct head_data data = {x, y, MOST, D, K};
    struct head_convex c;
    double ignored[P];
    assert_int_equal(head_convex_plan(&c, &data, &r), SOTTO_OK);
    convex_gather(&c, NULL, NULL);
    struct rng g = rng_stream(1, RNG_TEST, 9, 0);
    for (size_t e = 0; e < P; e++)
        c.w[e] = rng_normal(&g);
    convex_objective(&c, c.w, c.gradient, NULL);
    for (size_t e = 0; e < P; e++) {
        double above, below, at = c.w[e];
        c.w[e] = at + 1e-5;
        convex_objective(&c, c.w, ignored, &above);
        c.w[e] = at - 1e-5;
        convex_objective(&c, c.w, ignored, &below);
        c.w[e] = at;
        assert_true(fabs((above - below) / 2e-5 - c.gradient[e]) < 1e-8);
    }
    head_convex_clear(&c);
}
