/* Laws of privacy-loss distributions: against quadrature, against the plain convolution, against closed
 * forms, and against themselves. */
#include "support/test.h"
#include "support/effort.h"

#include "base/memory.h"
#include "dp/account/account_pld.h"
#include "dp/account/accountant.h"
#include "dp/pld/pld_plan.h"
#include "rng/rng.h"

#include <math.h>
#include <string.h>

static const char *const names[] = {"gaussian", "logistic", "laplace"};

static struct pair_sampled random_pair(struct rng *r)
{
    static const double rates[] = {1, 0.5, 0.1, 0.01, 1e-4};
    return (struct pair_sampled){mechanism_find(names[rng_u64(r) % 3]), exp(3 * rng_unit(r) - 2),
                                 rates[rng_u64(r) % 5], (enum pld_direction)(rng_u64(r) % 2)};
}

static double delta_of(const struct pair *pair, double epsilon, double *width)
{
    struct pair_point p;
    pair->points(&p, pair->arg, &epsilon, 1);
    *width = p.value.hi - p.value.lo;
    return p.value.hi + (epsilon < 0 ? -expm1(epsilon) : 0);
}

/* Mass of a bin under the law moved by t; in the upper tail from the lower one, as the laws are symmetric. */
static double bin_of(const struct mechanism *m, double a, double b, double t)
{
    return a > t ? m->cdf(t - a) - m->cdf(t - b) : m->cdf(b - t) - m->cdf(a - t);
}

/* Hockey stick and Q(L > eps) of the mixtures, by sums over narrow bins. */
static void by_quadrature(const struct pair_sampled *s, double epsilon, double *delta, double *tail)
{
    enum { BINS = 200000 };
    const struct mechanism *m = s->mechanism;
    double low = -50 - s->shift, width = (100 + 2 * s->shift) / BINS, q = s->rate;
    *delta = *tail = 0;
    for (int i = 0; i < BINS; i++) {
        double a = low + width * i, b = a + width, t = s->shift;
        double with = bin_of(m, a, b, t), without = bin_of(m, a, b, 0), other = bin_of(m, a, b, -t);
        double mixed = (1 - q) * without + q * with;
        double p = s->direction == PLD_ADD ? without : mixed;
        double rest = s->direction == PLD_REMOVE ? without
                      : s->direction == PLD_ADD  ? mixed
                                                 : (1 - q) * without + q * other;
        *delta += fmax(0, p - exp(epsilon) * rest);
        if (p > exp(epsilon) * rest)
            *tail += rest;
    }
}

TEST(sampled_pairs_agree_with_quadrature)
{
    struct rng r = rng_stream(5, RNG_EVALUATE, 0, 0);
    for (int i = 0; i < by_effort(40, 40, 400); i++) {
        struct pair_sampled s = random_pair(&r);
        s.direction = i % 3 ? s.direction : PLD_REPLACE;
        struct pair pair = pair_of_sampled(&s);
        double epsilon = (2 * rng_unit(&r) - 1) * s.shift * s.rate, delta, tail;
        by_quadrature(&s, epsilon, &delta, &tail);
        struct pair_point p;
        pair.points(&p, pair.arg, &epsilon, 1);
        double value = epsilon >= 0 ? delta : delta + expm1(epsilon);
        double slope = exp(epsilon) * (epsilon >= 0 ? tail : 1 - tail);
        if (!(fabs(p.value.hi - value) <= 2e-7 && fabs(p.slope.hi - slope) <= 2e-3 &&
              p.value.lo <= p.value.hi))
            fail_msg("%s t %g q %g way %d eps %g: value %g against %g, slope %g against %g",
                     s.mechanism->name, s.shift, s.rate, s.direction, epsilon, p.value.hi, value, p.slope.hi,
                     slope);
    }
}

/* delta of (1-q) law + q law moved by g, against the same moved by h. */
static double replaced(const struct mechanism *m, double q, double g, double h, double epsilon)
{
    enum { BINS = 8000 };
    double low = -40 - fabs(g), width = (80 + 2 * fabs(g)) / BINS, sum = 0;
    for (int i = 0; i < BINS; i++) {
        double a = low + width * i, b = a + width, out = (1 - q) * bin_of(m, a, b, 0);
        sum += fmax(0, out + q * bin_of(m, a, b, g) - exp(epsilon) * (out + q * bin_of(m, a, b, h)));
    }
    return sum;
}

/* Gaussian noise in the plane: contributions g and h of length at most t. */
static double replaced_in_plane(double q, const double g[2], const double h[2], double epsilon)
{
    enum { CELLS = 160 };
    double width = 20.0 / CELLS, sum = 0;
    for (int i = 0; i < CELLS; i++)
        for (int j = 0; j < CELLS; j++) {
            double x = -10 + width * (i + 0.5), y = -10 + width * (j + 0.5);
            double out = (1 - q) * exp(-(x * x + y * y) / 2),
                   in = q * exp(-(pow(x - g[0], 2) + pow(y - g[1], 2)) / 2),
                   in_after = q * exp(-(pow(x - h[0], 2) + pow(y - h[1], 2)) / 2);
            sum += fmax(0, out + in - exp(epsilon) * (out + in_after));
        }
    return sum * width * width / 6.283185307179586;
}

/* docs/derivations/pld.md, section 3: no two contributions within the norm are worse than opposite ones of
 * full length; and the pair of a record that is missing would not do. */
TEST(a_replaced_record_is_worst_when_opposite)
{
    struct rng r = rng_stream(11, RNG_EVALUATE, 0, 0);
    int close = 0, exceeds = 0;
    for (int i = 0; i < 90; i++) {
        struct pair_sampled s = random_pair(&r);
        s.direction = PLD_REPLACE;
        struct pair pair = pair_of_sampled(&s), one;
        double t = s.shift, epsilon = (1.5 * rng_unit(&r) - 0.5) * t * s.rate, width, found;
        double g = t * (2 * rng_unit(&r) - 1), h = t * (2 * rng_unit(&r) - 1);
        if (i % 3 == 0)
            g = t, h = -t;
        if (i % 3 == 1 && s.mechanism->by_l2) {
            double turn = 6.283 * rng_unit(&r), other = 6.283 * rng_unit(&r), less = rng_unit(&r);
            found = replaced_in_plane(s.rate, (double[2]){t * cos(turn), t * sin(turn)},
                                      (double[2]){t * less * cos(other), t * less * sin(other)}, epsilon);
        } else {
            found = replaced(s.mechanism, s.rate, g, h, epsilon);
        }
        double most = delta_of(&pair, epsilon, &width);
        if (!(found <= most + 2e-5 * s.rate))
            fail_msg("%s t %g q %g eps %g: delta %.9g of %g and %g, above %.9g", s.mechanism->name, t, s.rate,
                     epsilon, found, g, h, most);
        close += i % 3 == 0 && found > most - 2e-5 * s.rate;
        s.direction = PLD_REMOVE;
        one = pair_of_sampled(&s);
        exceeds += found > delta_of(&one, epsilon, &width) + 2e-5 * s.rate;
    }
    assert_int_equal(close, 30);
    assert_true(exceeds > 15);
}

struct both {
    struct pld_grid grid;
    struct pld upper, lower;
};

static void discretise(struct both *b, const struct pair *pair, double step, double cut)
{
    struct pld_range range = pld_find_range(pair, cut);
    step = pld_round_step(step, range.high - range.low);
    assert_int_equal(pld_grid_make(&b->grid, range, step), SOTTO_OK);
    assert_int_equal(pld_discretise_upper(&b->upper, pair, &b->grid), SOTTO_OK);
    assert_int_equal(pld_discretise_lower(&b->lower, pair, &b->grid), SOTTO_OK);
}

static void drop(struct both *b)
{
    pld_free(&b->upper);
    pld_free(&b->lower);
    pld_grid_free(&b->grid);
}

TEST(curves_lie_on_their_sides)
{
    struct rng r = rng_stream(6, RNG_EVALUATE, 0, 0);
    int tight = 0;
    for (int i = 0; i < by_effort(60, 60, 600); i++) {
        struct pair_sampled s = random_pair(&r);
        s.direction = i % 3 ? s.direction : PLD_REPLACE;
        struct pair pair = pair_of_sampled(&s);
        struct pld_range range = pld_find_range(&pair, 1e-12);
        struct both b;
        discretise(&b, &pair, (range.high - range.low) / (20 + 300 * rng_unit(&r)), 1e-12);
        for (int k = 0; k < 40; k++) {
            double spread = 1.2 * (range.high - range.low), width;
            double epsilon = range.low - 0.1 * spread + spread * rng_unit(&r);
            if (k == 0)
                epsilon = 0;
            double delta = delta_of(&pair, epsilon, &width), slack = width + 1e-15 * fabs(delta);
            struct interval above = pld_delta(&b.upper, epsilon), below = pld_delta(&b.lower, epsilon);
            if (!(above.hi >= delta - slack && below.lo <= delta + slack))
                fail_msg("%s t %g q %g way %d eps %g: delta %.17g, upper %.17g, lower %.17g",
                         s.mechanism->name, s.shift, s.rate, s.direction, epsilon, delta, above.hi, below.lo);
            tight += delta > 0.01 && above.hi < 1.1 * delta && below.lo > 0.9 * delta;
        }
        drop(&b);
    }
    assert_true(tight > 300);
}

/* The same pairs at each effort, on grids of 3 or 50 points for what a sampled shift moves the loss by; at night more pairs. */
TEST(masses_add_up)
{
    struct rng r = rng_stream(8, RNG_EVALUATE, 0, 0);
    const double points = (double)by_effort(3, 50, 50);
    for (int i = 0; i < by_effort(60, 60, 300); i++) {
        struct pair_sampled s = random_pair(&r);
        s.direction = i % 3 ? s.direction : PLD_REPLACE;
        struct pair pair = pair_of_sampled(&s);
        struct both b;
        discretise(&b, &pair, s.shift * s.rate / points, 1e-12);
        long double upper = b.upper.infinite, lower = 0; /* a million additions in double lose 1e-13 */
        for (size_t k = 0; k < b.grid.n; k++) {
            upper += b.upper.mass[k];
            lower += b.lower.mass[k];
            assert_true(b.upper.mass[k] >= 0 && b.lower.mass[k] >= 0);
        }
        if (!(upper >= 1 - 1e-16L && upper < 1 + 1e-9 && lower <= 1 + 1e-16L && b.lower.infinite == 0))
            fail_msg("%s t %g q %g: masses %.17Lg and %.17Lg", s.mechanism->name, s.shift, s.rate, upper,
                     lower);
        drop(&b);
    }
}

/* Twice b's masses, multiplied out. */
static double plain_square(const struct pld *p, double epsilon)
{
    long double sum = 0, finite = 0;
    for (size_t i = 0; i < p->grid->n; i++)
        finite += p->mass[i];
    for (size_t i = 0; i < p->grid->n; i++)
        for (size_t j = 0; j < p->grid->n; j++) {
            long double loss = (long double)(p->grid->index[i] + p->grid->index[j]) * p->grid->step;
            if (loss > epsilon)
                sum -= (long double)p->mass[i] * p->mass[j] * expm1l(epsilon - loss);
        }
    return (double)(sum + 2 * finite * p->infinite + (long double)p->infinite * p->infinite);
}

TEST(composition_contains_the_plain_convolution)
{
    struct rng r = rng_stream(9, RNG_EVALUATE, 0, 0);
    for (int i = 0; i < 20; i++) {
        struct pair_sampled s = random_pair(&r);
        struct pair pair = pair_of_sampled(&s);
        struct pld_range range = pld_find_range(&pair, 1e-9);
        struct both b;
        discretise(&b, &pair, (range.high - range.low) / 300, 1e-9);
        double length = range.high - range.low, tilt = 12 / length, log_moment = 0;
        struct pld_item item = {.upper = &b.upper, .lower = &b.lower, .count = 2};
        struct pld_sum sum;
        assert_int_equal(pld_compose(&sum, &item, &log_moment, 1, tilt, 13, NULL), SOTTO_OK);
        for (int k = 0; k <= 10; k++) {
            double epsilon = range.high * k / 6;
            struct interval d = pld_sum_delta(&sum, epsilon);
            double upper = plain_square(&b.upper, epsilon), lower = plain_square(&b.lower, epsilon);
            /* the rounding of the sums here is about 1e-17 */
            if (!(d.hi >= upper * (1 - 1e-13) - 1e-18 && d.lo <= lower * (1 + 1e-13) + 1e-18 &&
                  d.hi <= upper * (1 + 1e-8) + 2e-12 && d.lo >= lower * (1 - 1e-8) - 2e-12))
                fail_msg("%s t %g q %g eps %g: [%.17g, %.17g] against %.17g and %.17g", s.mechanism->name,
                         s.shift, s.rate, epsilon, d.lo, d.hi, lower, upper);
        }
        pld_sum_free(&sum);
        drop(&b);
    }
}

static struct interval compose(const struct composed_release *items, size_t n, double delta)
{
    struct interval epsilon;
    assert_int_equal(account_pld(&epsilon, items, n, delta, NULL), SOTTO_OK);
    return epsilon;
}

TEST(closed_forms_lie_inside)
{
    struct rng r = rng_stream(10, RNG_EVALUATE, 0, 0);
    for (int i = 0; i < by_effort(10, 40, 40); i++) {
        const struct mechanism *m = mechanism_find(names[i % 2]);
        double k = floor(exp(7 * rng_unit(&r))) + 1, t = exp(2 * rng_unit(&r) - 1) / sqrt(k);
        double delta = exp(-30 * rng_unit(&r) - 2);
        struct interval exact = i % 2 ? m->composed(iv(t), k, delta) : m->epsilon(iv(t * sqrt(k)), delta);
        const struct composed_release item = {m->name, {t, t},    SOTTO_NORM_L1,          1,
                                              false,   (size_t)k, SOTTO_SAMPLING_POISSON, 0};
        struct interval e = compose(&item, 1, delta);
        if (i % 2 == 0)
            exact =
                m->epsilon((struct interval){t * sqrt(k) * (1 - 1e-15), t * sqrt(k) * (1 + 1e-15)}, delta);
        if (!(e.hi >= exact.lo && e.lo <= exact.hi && e.hi - e.lo <= 1e-4 * e.hi + 1e-12))
            fail_msg("%s t %g k %g delta %g: [%.17g, %.17g] against [%.17g, %.17g]", m->name, t, k, delta,
                     e.lo, e.hi, exact.lo, exact.hi);
        /* negative control: three percent less shift is a claim that does not hold */
        const struct composed_release less = {
            m->name, {t * 0.97, t * 0.97}, SOTTO_NORM_L1, 1, false, (size_t)k, SOTTO_SAMPLING_POISSON, 0};
        assert_true(exact.hi == 0 || compose(&less, 1, delta).hi < exact.lo);
    }
}

TEST(order_and_grouping_do_not_matter)
{
    struct composed_release a[] = {
        {"gaussian", {0.9, 0.9}, SOTTO_NORM_L2, 0.01, false, 500, SOTTO_SAMPLING_POISSON, 0},
        {"laplace", {0.05, 0.05}, SOTTO_NORM_L1, 1, false, 7, SOTTO_SAMPLING_POISSON, 0},
        {"logistic", {0.2, 0.2}, SOTTO_NORM_L1, 0.3, false, 20, SOTTO_SAMPLING_POISSON, 0},
        {"gaussian", {0.9, 0.9}, SOTTO_NORM_L2, 0.01, false, 300, SOTTO_SAMPLING_POISSON, 0}};
    struct composed_release b[] = {
        a[2], {"gaussian", {0.9, 0.9}, SOTTO_NORM_L2, 0.01, false, 800, SOTTO_SAMPLING_POISSON, 0}, a[1]};
    struct interval one = compose(a, 4, 1e-6), other = compose(b, 3, 1e-6), fewer = compose(a, 3, 1e-6);
    assert_true(one.lo <= other.hi && other.lo <= one.hi);
    assert_true(fabs(one.hi - other.hi) < 1e-4 * one.hi && one.hi - one.lo < 1e-3 * one.hi);
    assert_true(fewer.hi < one.lo);
}

TEST(epsilon_is_monotone)
{
    double last = 0;
    for (int i = 0; i < 5; i++) { /* steps */
        struct sotto_sampled s = {.mechanism = "gaussian",
                                  .noise_multiplier = 1,
                                  .sample_rate = 0.02,
                                  .steps = (size_t)1 << 3 * i,
                                  .delta = 1e-6,
                                  .clipping = SOTTO_NORM_L2,
                                  .adjacency = SOTTO_ADD_REMOVE,
                                  .sampling = SOTTO_SAMPLING_POISSON,
                                  0};
        struct sotto_account a;
        assert_int_equal(sotto_account_sampled(&a, &s, NULL), SOTTO_OK);
        assert_true(a.epsilon.lower > last);
        last = a.epsilon.upper;
    }
    for (int i = 0; i < 5; i++) { /* rate 1 at the end */
        struct composed_release item = {"gaussian", {1, 1}, SOTTO_NORM_L2,          ldexp(1, i - 4),
                                        false,      10,     SOTTO_SAMPLING_POISSON, 0};
        struct interval e = compose(&item, 1, 1e-6);
        assert_true(i == 0 || e.lo > last);
        last = e.hi;
    }
}

/* Everything has an answer, and not a wide one where there is room for it. */
TEST(extremes)
{
    static const struct {
        double sigma, rate, steps, delta, width; /* relative */
    } cases[] = {{1.1, 0.01, 1e4, 1e-15, 1e-4}, {1.1, 0.01, 1e4, 1e-100, 1e-4}, {0.8, 0.1, 1e4, 1e-5, 1e-6},
                 {1.1, 0.01, 1e6, 1e-5, 1e-4},  {1.1, 1e-6, 1e4, 1e-9, 1e-2},   {100, 0.01, 1e4, 1e-5, 1e-4},
                 {0.3, 0.01, 100, 1e-5, 1e-4},  {1, 0.5, 1e6, 1e-5, 1e-4},      {1.1, 0.01, 1, 1e-5, 1e-4},
                 {1e4, 0.01, 1e4, 1e-5, 1},     {1, 1e-12, 10, 1e-5, 1},        {1, 0.01, 1, 0.9, 1},
                 {5, 1, 3, 1e-9, 1e-4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sotto_sampled s = {.mechanism = "gaussian",
                                  .noise_multiplier = cases[i].sigma,
                                  .sample_rate = cases[i].rate,
                                  .steps = (size_t)cases[i].steps,
                                  .delta = cases[i].delta,
                                  .clipping = SOTTO_NORM_L2,
                                  .adjacency = SOTTO_ADD_REMOVE,
                                  .sampling = SOTTO_SAMPLING_POISSON,
                                  0};
        struct sotto_account a;
        assert_int_equal(sotto_account_sampled(&a, &s, NULL), SOTTO_OK);
        double width = a.epsilon.upper - a.epsilon.lower;
        if (!(a.epsilon.lower >= 0 && width >= 0 && width <= cases[i].width * a.epsilon.upper))
            fail_msg("sigma %g q %g T %g delta %g: [%g, %g]", cases[i].sigma, cases[i].rate, cases[i].steps,
                     cases[i].delta, a.epsilon.lower, a.epsilon.upper);
    }
}

static void must_meet(double target, double rate, size_t steps, enum sotto_norm norm,
                      enum sotto_adjacency adjacency)
{
    struct sotto_sampled s = {.mechanism = norm == SOTTO_NORM_L1 ? "laplace" : "gaussian",
                              .noise_multiplier = 0,
                              .sample_rate = rate,
                              .steps = steps,
                              .delta = 1e-5,
                              .clipping = norm,
                              .adjacency = adjacency,
                              .sampling = SOTTO_SAMPLING_POISSON,
                              0};
    struct sotto_account a;
    assert_int_equal(sotto_calibrate_sampled(&s.noise_multiplier, &s, target, NULL), SOTTO_OK);
    assert_int_equal(sotto_account_sampled(&a, &s, NULL), SOTTO_OK);
    assert_true(a.epsilon.upper <= target && a.epsilon.upper > target * (1 - 1e-5));
    assert_string_equal(a.accountant, "privacy-loss distribution");
}

/* Little noise takes long: at effort 1 a target of 20 is met by Gaussian noise in larger batches alone. */
TEST(calibration_never_overshoots)
{
    static const double targets[] = {0.5, 3, 20};
    must_meet(20, 0.1, 2000, SOTTO_NORM_L2, SOTTO_ADD_REMOVE);
    for (int i = 0; i < 3; i++)
        for (int kind = 0; kind < 4; kind++)
            if (i == 0 || effort() > 1)
                must_meet(targets[i], 0.01, 200, kind % 2 ? SOTTO_NORM_L1 : SOTTO_NORM_L2,
                          kind / 2 ? SOTTO_REPLACE_ONE : SOTTO_ADD_REMOVE);
}

/* Clipping by L2 with logistic noise has no scalar pair: the upper end is Renyi's, the lower one a
 * shift's. */
TEST(the_clipping_norm_matters)
{
    struct sotto_sampled by_l2 = {.mechanism = "logistic",
                                  .noise_multiplier = 1,
                                  .sample_rate = 0.01,
                                  .steps = 1000,
                                  .delta = 1e-5,
                                  .adjacency = SOTTO_ADD_REMOVE},
                         by_l1 = by_l2;
    by_l1.clipping = SOTTO_NORM_L1;
    struct sotto_account wide, narrow;
    assert_int_equal(sotto_account_sampled(&wide, &by_l2, NULL), SOTTO_OK);
    assert_int_equal(sotto_account_sampled(&narrow, &by_l1, NULL), SOTTO_OK);
    assert_string_equal(wide.accountant, "renyi");
    assert_true(isnan(wide.pure_epsilon) && wide.bound_count == 1);
    assert_string_equal(narrow.accountant, "privacy-loss distribution");
    assert_true(fabs(narrow.epsilon.upper - 0.700614) < 1e-5 && narrow.epsilon.lower == wide.epsilon.lower);
    assert_true(narrow.pure_epsilon >= 1000 * log1p(0.01 * expm1(1)) && narrow.pure_epsilon < 17.04);
    const struct composed_release vector = {"logistic", {1, 1}, SOTTO_NORM_L2,          1,
                                            false,      10,     SOTTO_SAMPLING_POISSON, 0};
    struct interval none = compose(&vector, 1, 1e-5);
    assert_true(isinf(none.hi) && none.lo > 7.62);
}

TEST_GROUP(.tags = "long long-sums")
