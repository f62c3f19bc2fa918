/* Objective perturbation: the loss of privacy at any weights and for any two neighbours, Hessians included, stays within
 * what the plan charges, and comes near it; a bound that is a little smaller does not hold. The computed minimum is where
 * the proof needs it, whatever the records are, and the parts of the plan add up. */
#include "support/test.h"
#include "support/worse.h"
#include "head/private/head_objective.h"
#include "rng/rng.h"

#include <math.h>
#include <string.h>

enum { N = 3, D = 2, MOST_CLASSES = 4, MOST = MOST_CLASSES * (D + 1) };

/* ln det of a symmetric positive definite matrix (n, n), in place. */
static double log_determinant(double *a, size_t n)
{
    double sum = 0;
    for (size_t j = 0; j < n; j++) {
        for (size_t k = 0; k < j; k++)
            a[j * n + j] -= a[j * n + k] * a[j * n + k];
        assert_true(a[j * n + j] > 0);
        a[j * n + j] = sqrt(a[j * n + j]);
        sum += 2 * log(a[j * n + j]);
        for (size_t i = j + 1; i < n; i++) {
            for (size_t k = 0; k < j; k++)
                a[i * n + j] -= a[i * n + k] * a[j * n + k];
            a[i * n + j] /= a[j * n + j];
        }
    }
    return sum;
}

/* What is known of the density of the minimum at v: the noise that leads there, and the Hessian, by their formulas and not
 * by the trainer's code. */
struct density {
    double noise;   /* sum over vectors of the norm of the noise */
    double hessian; /* ln det */
};

static void probabilities(double *p, const struct objective_plan *plan, const double *v, const double *x)
{
    double top = -INFINITY, sum = 0;
    for (size_t k = 0; k < plan->classes; k++) {
        p[k] = 0;
        for (size_t j = 0; j <= D; j++)
            p[k] += (plan->outputs == 1 ? (k ? 0.5 : -0.5) * v[j] : v[k * (D + 1) + j]) * x[j];
        top = fmax(top, p[k]);
    }
    for (size_t k = 0; k < plan->classes; k++)
        sum += p[k] = exp(p[k] - top);
    for (size_t k = 0; k < plan->classes; k++)
        p[k] /= sum;
}

static struct density density_at(const struct objective_plan *plan, const double *v, double x[N][D + 1],
                                 const int64_t *y)
{
    const size_t n = plan->dimension, q = D + 1;
    const double tau = plan->curvature, lambda = plan->lambda * (double)plan->records;
    double gradient[MOST], hessian[MOST * MOST] = {0}, p[MOST_CLASSES];
    struct density out = {0, 0};
    for (size_t e = 0; e < n; e++) {
        gradient[e] = lambda * v[e];
        hessian[e * n + e] = lambda;
    }
    for (size_t i = 0; i < N; i++) {
        probabilities(p, plan, v, x[i]);
        for (size_t e = 0; e < n && y[i] >= 0; e++) {
            const size_t k = e / q, j = e % q;
            if (plan->outputs == 1)
                gradient[e] += (tau * (p[1] - 0.5) - ((double)y[i] - 0.5)) * x[i][j];
            else
                gradient[e] += (tau * p[k] - (y[i] == (int64_t)k)) * x[i][j];
            for (size_t f = 0; f < n; f++) {
                const size_t l = f / q, m = f % q;
                const double second = plan->outputs == 1 ? p[0] * p[1] : (k == l ? p[k] : 0) - p[k] * p[l];
                hessian[e * n + f] += tau * second * x[i][j] * x[i][m];
            }
        }
    }
    for (size_t k = 0; k < plan->outputs; k++) {
        double square = 0;
        for (size_t j = 0; j < q; j++)
            square += gradient[k * q + j] * gradient[k * q + j];
        out.noise += sqrt(square);
    }
    out.hessian = log_determinant(hessian, n);
    return out;
}

/* Of norm R at most, with the constant behind it. */
static void draw_record(double *x, int64_t *y, size_t classes, struct rng *r, const double *opposite)
{
    double square = 0, size = rng_below(r, 3) ? objective_radius : objective_radius * rng_unit(r);
    for (size_t j = 0; j < D; j++) {
        x[j] = opposite ? -opposite[j] : rng_normal(r);
        square += x[j] * x[j];
    }
    for (size_t j = 0; j < D; j++)
        x[j] *= size / sqrt(square);
    x[D] = objective_constant;
    *y = (int64_t)rng_below(r, classes + 1) - 1; /* one in classes + 1 counts as nothing */
}

struct worst {
    double noise, hessian, both; /* over what is allowed */
};

static struct worst find_worst(const struct objective_plan *plan, uint64_t seed)
{
    struct rng r = rng_stream(seed, RNG_TEST, 41, 0);
    const double jacobian =
        objective_jacobian(plan->norm, plan->curvature, plan->lambda * (double)plan->records, plan->classes)
            .hi;
    struct worst worst = {0, 0, 0};
    for (int pair = 0; pair < 4000; pair++) {
        double x[2][N][D + 1], v[MOST];
        int64_t y[2][N];
        const double size = pow(10, 3 * rng_unit(&r) - 2);
        for (size_t i = 0; i < N; i++)
            draw_record(x[0][i], &y[0][i], plan->classes, &r, NULL);
        memcpy(x[1], x[0], sizeof x[0]);
        memcpy(y[1], y[0], sizeof y[0]);
        draw_record(x[1][0], &y[1][0], plan->classes, &r, rng_below(&r, 2) ? x[0][0] : NULL);
        for (size_t e = 0; e < plan->dimension; e++)
            v[e] = pair % 10 ? size * rng_normal(&r) : 0;
        const struct density a = density_at(plan, v, x[0], y[0]), b = density_at(plan, v, x[1], y[1]);
        worst.noise = worse(worst.noise, fabs(a.noise - b.noise) / plan->sensitivity);
        worst.hessian = worse(worst.hessian, fabs(a.hessian - b.hessian) / jacobian);
        const double loss = (b.noise - a.noise) / plan->weights.inside.scale + a.hessian - b.hessian;
        worst.both =
            fmax(worst.both, fabs(loss) / (plan->sensitivity / plan->weights.inside.scale + jacobian));
    }
    return worst;
}

TEST(the_loss_stays_within_the_plan)
{
    for (size_t classes = 2; classes <= MOST_CLASSES; classes++)
        for (int i = 0; i < 3; i++) {
            const double epsilon[] = {0.05, 1, 40};
            struct objective_plan plan;
            assert_int_equal(objective_plan_find(&plan, epsilon[i], N, D, classes), SOTTO_OK);
            const struct worst worst = find_worst(&plan, classes);
            const double most = 1 + 1e-9; /* determinants are computed here, and the bound is reached */
            assert_true(worst.noise <= most && worst.hessian <= most && worst.both <= most);
            assert_true(worst.noise > 0.5); /* a bound of half the size, a record's own gradient, fails */
        }
}

/* The determinants: equal probabilities, a record alone against one that counts as nothing: the bound itself. One rank less,
 * or the trace of one entry, is exceeded. */
TEST(the_bound_of_the_determinants_is_reached)
{
    for (size_t classes = 2; classes <= MOST_CLASSES; classes++) {
        struct objective_plan plan;
        double x[N][D + 1] = {{objective_radius, 0, objective_constant}}, v[MOST] = {0};
        int64_t y[2][N] = {{0, -1, -1}, {-1, -1, -1}};
        assert_int_equal(objective_plan_find(&plan, 40, N, D, classes), SOTTO_OK);
        const double lambda = plan.lambda * (double)N;
        const double reached = density_at(&plan, v, x, y[0]).hessian - density_at(&plan, v, x, y[1]).hessian;
        const double bound = objective_jacobian(plan.norm, plan.curvature, lambda, classes).hi;
        assert_true(reached <= bound && reached > bound * (1 - 1e-12));
        const double trace = plan.curvature * plan.norm * plan.norm / lambda;
        assert_true(reached > log1p(trace / (classes == 2 ? 8 : 2 * (double)classes)));
    }
}

/* By hand: ln(1 + .8 4.36 / (4 20)) and 9 ln(1 + .5 4.36 / (10 3)). */
TEST(known_answers)
{
    assert_true(fabs(objective_jacobian(sqrt(4.36), 0.8, 20, 2).hi - 0.04267627428043632) < 1e-14);
    assert_true(fabs(objective_jacobian(sqrt(4.36), 0.5, 3, 10).hi - 0.631329839118736) < 1e-13);
    struct objective_plan plan;
    assert_int_equal(objective_plan_find(&plan, 1, 26048, 108, 2), SOTTO_OK);
    assert_true(plan.curvature == 1 && plan.outputs == 1 && plan.dimension == 109);
    assert_true(fabs(plan.sensitivity - 2 * sqrt(4.36)) < 1e-12);
    assert_int_equal(objective_plan_find(&plan, 1, 1400, 64, 10), SOTTO_OK);
    assert_true(plan.curvature == 0.2 && plan.outputs == 10 && plan.dimension == 650);
    assert_true(fabs(plan.sensitivity - 2 * 1.2 * sqrt(4.36)) < 1e-12);
}

/* All of epsilon is used, and no more. */
TEST(the_parts_add_up)
{
    struct objective_plan plan;
    for (double epsilon = 1e-3; epsilon < 1000; epsilon *= 2.7)
        for (size_t n = 1; n < 10000000; n = 4 * n + 3)
            for (size_t classes = 2; classes < 200; classes = 3 * classes + 1)
                for (size_t d = 1; d < 2000; d = 12 * d + 1) {
                    assert_int_equal(objective_plan_find(&plan, epsilon, n, d, classes), SOTTO_OK);
                    assert_true(plan.cost.hi <= epsilon && plan.cost.lo > 0.98 * epsilon);
                    assert_true(plan.weights.end / plan.weights.blur <= ldexp(1, KNORM_END));
                    assert_true(plan.centre.end / plan.centre.blur <= ldexp(1, KNORM_END));
                }
    assert_int_equal(objective_plan_find(&plan, 1e-7, 100, 4, 2), SOTTO_EDOMAIN);
    assert_int_equal(objective_plan_find(&plan, NAN, 100, 4, 2), SOTTO_EDOMAIN);
}

enum { RECORDS = 60, WIDTH = 7, CLASSES = 3 };
static float z[RECORDS * WIDTH];
static int64_t labels[RECORDS];

/* Records that a solver may stumble over. */
static void make_records(int kind, struct rng *r)
{
    for (size_t i = 0; i < RECORDS; i++) {
        labels[i] = kind == 1 ? 0 : kind == 2 ? HEAD_NOTHING : (int64_t)(i % CLASSES);
        for (size_t j = 0; j < WIDTH; j++)
            z[i * WIDTH + j] = kind == 3   ? 1e30f
                               : kind == 4 ? 0
                               : kind == 5 ? (j == i % CLASSES ? 2.0f : 0.0f)
                                           : (float)(rng_normal(r) * (j ? 1e-4 : 1));
    }
}

static double norm(const double *a, size_t n)
{
    double square = 0;
    for (size_t i = 0; i < n; i++)
        square += a[i] * a[i];
    return sqrt(square);
}

TEST(minima_are_found_whatever_the_records_are)
{
    struct rng r = rng_stream(5, RNG_TEST, 42, 0);
    const double epsilons[] = {0.02, 1, 300};
    for (int kind = 0; kind < 6; kind++)
        for (size_t classes = 2; classes <= CLASSES; classes++)
            for (int e = 0; e < 6; e++) {
                struct objective_plan plan;
                struct objective o;
                double noise[CLASSES * (WIDTH + 1)], gradient[CLASSES * (WIDTH + 1)];
                make_records(kind, &r);
                const struct head_data data = {z, labels, RECORDS, WIDTH, classes};
                for (size_t i = 0; i < RECORDS; i++)
                    labels[i] = labels[i] < (int64_t)classes ? labels[i] : HEAD_NOTHING;
                assert_int_equal(objective_plan_find(&plan, epsilons[e % 3], RECORDS, WIDTH, classes),
                                 SOTTO_OK);
                assert_int_equal(objective_open(&o, &plan, &data), SOTTO_OK);
                for (size_t i = 0; i < plan.dimension; i++)
                    noise[i] = plan.weights.inside.scale * rng_normal(&r);
                assert_int_equal(objective_load(&o, noise, NULL), SOTTO_OK);
                assert_int_equal(e < 3 ? objective_minimise(&o, NULL) : objective_accelerate(&o), SOTTO_OK);
                objective_value(gradient, o.v, &o);
                if (norm(o.v, plan.dimension) < plan.weights.end * (1 - 1e-6))
                    assert_true(norm(gradient, plan.dimension) <= plan.stop);
                assert_true(norm(o.v, plan.dimension) <= plan.weights.end * (1 + 1e-12) || e >= 3);
                objective_close(&o);
            }
}

/* The trainer's gradient is the one whose sensitivity is proved above. */
TEST(gradients_are_those_of_the_formula)
{
    struct rng r = rng_stream(6, RNG_TEST, 43, 0);
    for (size_t classes = 2; classes <= MOST_CLASSES; classes++) {
        struct objective_plan plan;
        struct objective o;
        double x[N][D + 1], v[MOST], gradient[MOST], noise[MOST];
        float features[N * D];
        int64_t y[N];
        assert_int_equal(objective_plan_find(&plan, 2, N, D, classes), SOTTO_OK);
        for (size_t i = 0; i < N; i++) {
            draw_record(x[i], &y[i], classes, &r, NULL);
            for (size_t j = 0; j < D; j++)
                features[i * D + j] = (float)x[i][j];
        }
        const struct head_data data = {features, y, N, D, classes};
        for (size_t e = 0; e < plan.dimension; e++) {
            v[e] = rng_normal(&r);
            noise[e] = 0;
        }
        assert_int_equal(objective_open(&o, &plan, &data), SOTTO_OK);
        assert_int_equal(objective_load(&o, noise, NULL), SOTTO_OK);
        objective_value(gradient, v, &o);
        const double wanted = density_at(&plan, v, x, y).noise;
        double found = 0;
        for (size_t k = 0; k < plan.outputs; k++)
            found += N * norm(gradient + k * (D + 1), D + 1);
        assert_true(fabs(found - wanted) < 1e-5 * wanted);
        objective_close(&o);
    }
}
