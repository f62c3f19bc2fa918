/* The pair of a person's rows: docs/derivations/person.md, section 3. By quadrature, by random contributions, and beside the pair of a
 * record. */
#include "support/effort.h"
#include "support/test.h"
#include "dp/account/account_pld.h"
#include "sotto/private/all.h"

#include <math.h>
#include <stdlib.h>

static double uniform(double low, double high)
{
    return low + (high - low) * rand() / RAND_MAX;
}

static struct pair_point at(const struct pair *pair, double epsilon)
{
    struct pair_point p;
    pair->points(&p, pair->arg, &epsilon, 1);
    return p;
}

static const char *const laws[] = {"gaussian", "laplace", "logistic"};
enum { LAWS = 3 };

TEST(one_row_is_a_record)
{
    srand(3);
    for (int i = 0; i < 300; i++) {
        const struct mechanism *m = mechanism_find(laws[i % LAWS]);
        const struct pair_sampled one = {m, uniform(.01, 3), uniform(.001, .9),
                                         (enum pld_direction)(i / LAWS % 3)};
        struct pair_rows above, below;
        pair_rows_make(&above, &one, 1, true);
        pair_rows_make(&below, &one, 1, false);
        const struct pair record = pair_of_sampled(&one), up = pair_of_rows(&above),
                          low = pair_of_rows(&below);
        const double epsilon = uniform(-1, 1) * log1p(one.rate * expm1(one.shift));
        const struct pair_point r = at(&record, epsilon);
        const double u = at(&up, epsilon).value.hi, l = at(&low, epsilon).value.lo;
        if (!(u >= r.value.lo && u <= r.value.hi * (1 + 1e-9) + 1e-15 && l <= r.value.hi &&
              l >= r.value.lo * (1 - 1e-6) - 1e-13))
            fail_msg("%s, shift %.9g, rate %.9g, direction %d, at %.9g: %.15g, %.15g beside %.15g", m->name,
                     one.shift, one.rate, one.direction, epsilon, l, u, r.value.hi);
        assert_true(u >= l);
    }
}

/* ---- by quadrature ---- */

static double binomial(size_t m, double q, size_t k)
{
    return exp(lgamma((double)m + 1) - lgamma((double)k + 1) - lgamma((double)(m - k) + 1) +
               (double)k * log(q) + (double)(m - k) * log1p(-q));
}

/* Of P = sum w_k f(z + k t): the rows of `m` point one way; t = 0: they are not there. */
static double law_of_rows(const struct mechanism *f, double z, double t, double q, size_t m)
{
    static const double constant[LAWS] = {.3989422804014327, .5, 1};
    double sum = 0, c = 0;
    for (int i = 0; i < LAWS; i++)
        c = mechanism_find(laws[i]) == f ? constant[i] : c;
    for (size_t k = 0; k <= m; k++)
        sum += binomial(m, q, k) * c * exp(f->log_density(z + (double)k * t));
    return sum;
}

static double by_quadrature(const struct mechanism *f, const double way[2], double t, double q, size_t m,
                            double epsilon)
{
    const double end = (double)m * t + 40, h = 2e-3;
    double sum = 0;
    for (double z = -end + h / 2; z < end; z += h)
        sum += fmax(0, law_of_rows(f, z, way[0] * t, q, m) -
                           exp(epsilon) * law_of_rows(f, z, way[1] * t, q, m)) *
               h;
    return sum;
}

TEST(rows_agree_with_quadrature)
{
    static const double ways[][2] = {[PLD_REMOVE] = {1, 0}, [PLD_ADD] = {0, 1}, [PLD_REPLACE] = {1, -1}};
    srand(5);
    const int cases = (int)by_effort(18, 60, 300);
    for (int i = 0; i < cases; i++) {
        const struct mechanism *f = mechanism_find(laws[i % LAWS]);
        const enum pld_direction way = (enum pld_direction)(i / LAWS % 3);
        const struct pair_sampled one = {f, uniform(.05, 1), uniform(.02, .7), way};
        const size_t m = 2 + (size_t)rand() % 4;
        struct pair_rows above, below;
        pair_rows_make(&above, &one, m, true);
        pair_rows_make(&below, &one, m, false);
        const struct pair up = pair_of_rows(&above), low = pair_of_rows(&below);
        for (int k = -2; k <= 2; k++) {
            const double epsilon = .2 * k * (double)m * one.shift * one.rate,
                         there = by_quadrature(f, ways[way], one.shift, one.rate, m, epsilon) -
                                 fmax(0, -expm1(epsilon));
            const double u = at(&up, epsilon).value.hi, l = at(&low, epsilon).value.lo;
            if (!(fabs(u - there) < 1e-5 && fabs(l - there) < 1e-5 && l <= u * (1 + 1e-12)))
                fail_msg("%s, %zu rows, direction %d, at %g: %.9g to %.9g beside %.9g", f->name, m, way,
                         epsilon, l, u, there);
        }
    }
}

/* ---- what any rows of a person can do, in the plane: none exceeds the pair, those that point one way and then the other reach it ---- */
enum { ROWS_MOST = 4, GRID = 300 };

static double gauss_in_plane(double x, double y, const double sums[][2], const double *weight, size_t n,
                             double sigma)
{
    double p = 0;
    for (size_t a = 0; a < n; a++)
        p += weight[a] * exp(-((x - sums[a][0]) * (x - sums[a][0]) + (y - sums[a][1]) * (y - sums[a][1])) /
                             (2 * sigma * sigma));
    return p / (2 * acos(-1) * sigma * sigma);
}

static void sums_of_subsets(double sums[][2], double *weight, const double rows[][2], size_t m, double q)
{
    for (size_t a = 0; a < (size_t)1 << m; a++) {
        sums[a][0] = sums[a][1] = 0;
        weight[a] = 1;
        for (size_t i = 0; i < m; i++) {
            const bool in = a >> i & 1;
            weight[a] *= in ? q : 1 - q;
            sums[a][0] += in ? rows[i][0] : 0;
            sums[a][1] += in ? rows[i][1] : 0;
        }
    }
}

TEST(no_rows_tell_more_and_aligned_ones_as_much)
{
    const int cases = (int)by_effort(12, 40, 300);
    double control = 0;
    srand(7);
    for (int i = 0; i < cases; i++) {
        const size_t m = 1 + (size_t)i % ROWS_MOST;
        const bool aligned = i % 3 == 0, replace = i % 2 == 0;
        const double q = uniform(.05, .6), sigma = uniform(1, 3), epsilon = uniform(-1, 1.5),
                     x = exp(epsilon);
        double rows[2][ROWS_MOST][2] = {{{0}}}, sums[2][1 << ROWS_MOST][2], weight[2][1 << ROWS_MOST];
        for (size_t r = 0; r < m; r++)
            for (int side = 0; side < 1 + replace; side++) {
                const double angle = aligned ? acos(-1) * side : uniform(0, 6.3),
                             norm = aligned ? 1 : uniform(0, 1);
                rows[side][r][0] = norm * cos(angle);
                rows[side][r][1] = norm * sin(angle);
            }
        for (int side = 0; side < 2; side++)
            sums_of_subsets(sums[side], weight[side], (const double(*)[2])rows[side], m, q);
        const double end = ROWS_MOST + 6 * sigma, h = 2 * end / GRID;
        double reached = 0;
        for (int a = 0; a < GRID; a++)
            for (int b = 0; b < GRID; b++) {
                const double u = -end + (a + .5) * h, v = -end + (b + .5) * h;
                reached +=
                    fmax(0, gauss_in_plane(u, v, (const double(*)[2])sums[0], weight[0], 1u << m, sigma) -
                                x * gauss_in_plane(u, v, (const double(*)[2])sums[1], weight[1], 1u << m,
                                                   sigma)) *
                    h * h;
            }
        const struct pair_sampled one = {mechanism_find("gaussian"), 1 / sigma, q,
                                         replace ? PLD_REPLACE : PLD_REMOVE};
        struct pair_rows pair, fewer;
        pair_rows_make(&pair, &one, m, true);
        pair_rows_make(&fewer, &one, m - 1, true);
        const struct pair p = pair_of_rows(&pair), less = pair_of_rows(&fewer);
        const double most = at(&p, epsilon).value.hi + fmax(0, -expm1(epsilon));
        if (!(reached <= most + 1e-4) || (aligned && !(reached >= most - 1e-3)))
            fail_msg("case %d, %zu rows: %g of at most %g", i, m, reached, most);
        if (aligned && m > 1)
            control = fmax(control, reached / (at(&less, epsilon).value.hi + fmax(0, -expm1(epsilon))));
    }
    assert_true(control > 1.05); /* one row fewer would not cover them */
}

/* ---- many rows stand together ---- */

TEST(numbers_that_stand_together_stay_on_their_sides)
{
    static const struct {
        size_t rows;
        double rate;
    } cases[] = {{2, 1}, {60, .5}, {300, .4}, {2000, .02}, {1 << 20, .3}, {1 << 20, 1e-9}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct pair_sampled one = {mechanism_find("gaussian"), .01, cases[i].rate, PLD_REPLACE};
        struct pair_rows side[2];
        double mean[2] = {0, 0}, all[2] = {0, 0};
        for (int above = 0; above < 2; above++) {
            pair_rows_make(&side[above], &one, cases[i].rows, above);
            assert_true(side[above].count <= ROWS_NODES);
            for (size_t k = 0; k < side[above].count; k++) {
                assert_true(k == 0 ? side[above].rows[0] == 0
                                   : side[above].rows[k] > side[above].rows[k - 1] || !above);
                mean[above] += side[above].rows[k] * side[above].weight[k].hi;
                all[above] += side[above].weight[k].hi;
            }
            assert_float_equal(all[above], 1, 1e-9);
        }
        const double expected = (double)cases[i].rows * cases[i].rate;
        assert_true(mean[0] <= expected * (1 + 1e-9) && mean[1] >= expected * (1 - 1e-9));
        assert_true(mean[1] <= expected * 1.05 + 1e-9 && mean[0] >= expected * .95 - 1e-9);
    }
}

/* Nothing of the second side is certain to be there. */
TEST(a_rate_next_to_nothing_tells_next_to_nothing)
{
    for (int way = PLD_REMOVE; way <= PLD_REPLACE; way++)
        for (int above = 0; above < 2; above++) {
            const struct pair_sampled one = {mechanism_find("laplace"), 1, 1e-60, (enum pld_direction)way};
            struct pair_rows rows;
            pair_rows_make(&rows, &one, 3, above);
            const struct pair p = pair_of_rows(&rows);
            for (int k = -1; k <= 1; k++) {
                const struct pair_point at_k = at(&p, k * 1e-9);
                assert_true(at_k.value.lo >= 0 && (above ? at_k.value.hi : at_k.value.lo) < 1e-40);
            }
        }
}

/* corrections to the page on units, B1; replace-one, zero-out */
TEST(known_answers_of_ten_rows)
{
    static const double cases[][3] = {{69.9, .998, .475}, {40, 1.827, .865}, {20, 3.93, 1.837}};
    for (size_t i = 0; i < 3; i++)
        for (int replace = 0; replace < 2; replace++) {
            struct sotto_sampled s = {.mechanism = "gaussian",
                                      .noise_multiplier = cases[i][0],
                                      .sample_rate = .0341,
                                      .steps = 586,
                                      .delta = 1e-6,
                                      .adjacency = replace ? SOTTO_REPLACE_ONE : SOTTO_ZERO_OUT,
                                      .rows_per_person = 10};
            struct sotto_account a;
            assert_int_equal(sotto_account_sampled(&a, &s, NULL), SOTTO_OK);
            assert_float_equal(a.epsilon.upper, cases[i][replace ? 1 : 2], 2e-3);
            assert_true(a.epsilon.lower > a.epsilon.upper * (1 - 1e-4)); /* some data sets reach it */
        }
}

/* By rows one after the other these have .80207. */
TEST(many_rows_are_as_tight)
{
    static const size_t rows[] = {30, 100, 1000};
    for (size_t i = 0; i < 3; i++) {
        struct sotto_sampled s = {.mechanism = "gaussian",
                                  .noise_multiplier = 3 * (double)rows[i],
                                  .sample_rate = 1. / 12,
                                  .steps = 12,
                                  .delta = 1e-6,
                                  .rows_per_person = rows[i]};
        struct sotto_account a;
        assert_int_equal(sotto_account_sampled(&a, &s, NULL), SOTTO_OK);
        assert_float_equal(a.epsilon.upper, .8003, 2e-4);
        assert_true(a.epsilon.lower > a.epsilon.upper * (1 - 1e-4));
    }
}
