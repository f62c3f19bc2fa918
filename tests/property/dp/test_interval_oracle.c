/* Do the double intervals hold the truth? Thousands of arguments each, extremes included, against ball
 * arithmetic (FLINT) with neighbouring doubles as ends. The negative controls are the same
 * functions without their widening. */
#include "support/test.h"

#include "dp/ball/ball.h"
#include "dp/mechanism/mechanism.h"
#include "num/special.h"
#include "support/oracle_sweep.h"
#include "support/worse.h"

#include <float.h>

enum { DRAWS = 4000 };

static const struct subject {
    const char *name;
    enum ball_function oracle;
    struct interval (*interval)(struct interval);
    double (*plain)(double); /* negative control; NULL: none */
    double low, high; /* where the function has normal values; low > 0: magnitudes, drawn by logarithm */
    bool both_signs;
} subjects[] = {
    {"exp", BALL_EXP, iv_exp, exp, 1e-20, 700, true},
    {"expm1", BALL_EXPM1, iv_expm1, expm1, 1e-300, 700, true},
    {"log", BALL_LOG, iv_log, log, 1e-300, 1e300, false},
    {"log1p", BALL_LOG1P, iv_log1p, log1p, 1e-300, 1e300, false},
    {"normal_cdf", BALL_NORMAL_CDF, normal_cdf, NULL, 1e-10, 37, true},
    {"normal_density", BALL_NORMAL_DENSITY, normal_density, NULL, 1e-10, 37, true},
    {"mills_ratio", BALL_MILLS, mills_ratio, mills_near, 1e-10, 1e5, false},
    {"log_sinhc", BALL_LOG_SINHC, log_sinhc, NULL, 1e-100, 1e100, false},
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static double draw(const struct subject *s, uint64_t *state)
{
    double x =
        sweep_bits(state) % 2 ? sweep_log(state, s->low, s->high) : sweep_even(state, 0, fmin(s->high, 40));
    return s->both_signs && sweep_bits(state) % 2 ? -x : x;
}

TEST(functions_hold_the_truth)
{
    uint64_t seed = 1;
    for (size_t i = 0; i < SUBJECTS; i++) {
        double widest = 0;
        for (int n = 0; n < DRAWS; n++) {
            double x = draw(&subjects[i], &seed);
            struct interval truth = ball_value(subjects[i].oracle, x), got = subjects[i].interval(iv(x));
            if (!sweep_holds(got, truth))
                fail_msg("%s(%.17g) in [%.17g, %.17g], the interval says [%.17g, %.17g]", subjects[i].name, x,
                         truth.lo, truth.hi, got.lo, got.hi);
            if (fabs(truth.lo) > 1e-290)
                widest = worse(widest, (got.hi - got.lo) / fabs(truth.lo));
        }
        print_message("%s: relative width up to %.2g\n", subjects[i].name, widest);
    }
}

TEST(without_widening_they_do_not)
{
    uint64_t seed = 2;
    for (size_t i = 0; i < SUBJECTS; i++) {
        if (!subjects[i].plain)
            continue;
        int missed = 0;
        for (int n = 0; n < 200; n++) {
            double x = draw(&subjects[i], &seed);
            missed += !sweep_holds(iv(subjects[i].plain(x)), ball_value(subjects[i].oracle, x));
        }
        if (missed < 100)
            fail_msg("%s without widening missed %d of 200 only: this sweep finds nothing", subjects[i].name,
                     missed);
    }
}

TEST(ends_of_the_range)
{
    const double exps[] = {0,      -0.0, 709.782712893384, 709.79, 1e308, -744,
                           -745.2, -800, -1e308,           5e-324, 1e-310};
    for (size_t i = 0; i < sizeof exps / sizeof *exps; i++) {
        assert_true(sweep_holds(iv_exp(iv(exps[i])), ball_value(BALL_EXP, exps[i])));
        assert_true(sweep_holds(iv_expm1(iv(exps[i])), ball_value(BALL_EXPM1, exps[i])));
    }
    const double logs[] = {5e-324, DBL_MIN, 1, 1 + DBL_EPSILON, 1 - DBL_EPSILON / 2, DBL_MAX};
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++)
        assert_true(sweep_holds(iv_log(iv(logs[i])), ball_value(BALL_LOG, logs[i])));
    const double log1ps[] = {0, 5e-324, -5e-324, -1 + DBL_EPSILON / 2, DBL_MAX, -0.5};
    for (size_t i = 0; i < sizeof log1ps / sizeof *log1ps; i++)
        assert_true(sweep_holds(iv_log1p(iv(log1ps[i])), ball_value(BALL_LOG1P, log1ps[i])));
    const double tails[] = {0, -37, -37.5, -38.4, -39, -100, 9, 1e300, -1e300};
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++)
        assert_true(sweep_holds(normal_cdf(iv(tails[i])), ball_value(BALL_NORMAL_CDF, tails[i])));
}

static const struct {
    const char *name;
    enum ball_noise noise;
} mechanisms[] = {{"gaussian", BALL_GAUSSIAN}, {"logistic", BALL_LOGISTIC}, {"laplace", BALL_LAPLACE}};

/* Whole formulas: delta, epsilon and Renyi divergence of every mechanism that both sides have. */
TEST(formulas_hold_the_truth)
{
    uint64_t seed = 3;
    for (size_t i = 0; i < 3; i++) {
        const struct mechanism *m = mechanism_find(mechanisms[i].name);
        enum ball_noise noise = mechanisms[i].noise;
        for (int n = 0; n < 1000; n++) {
            double t = sweep_log(&seed, 1e-4, 30),
                   epsilon = t * sweep_even(&seed, 0, noise == BALL_GAUSSIAN ? 20 : 1);
            double delta = sweep_log(&seed, 1e-15, 0.5), alpha = 1 + sweep_log(&seed, 1e-3, 1e6);
            struct interval truth = ball_delta(noise, t, epsilon), got = m->delta(iv(t), epsilon);
            if (!sweep_holds(got, truth))
                fail_msg(
                    "%s: delta at shift %.17g, epsilon %.17g in [%.17g, %.17g], the interval says [%.17g, "
                    "%.17g]",
                    m->name, t, epsilon, truth.lo, truth.hi, got.lo, got.hi);
            truth = ball_renyi(noise, t, alpha);
            got = m->renyi(iv(t), alpha);
            if (!sweep_holds(got, truth))
                fail_msg("%s: Renyi at shift %.17g, order %.17g in [%.17g, %.17g], the interval says [%.17g, "
                         "%.17g]",
                         m->name, t, alpha, truth.lo, truth.hi, got.lo, got.hi);
            truth = n % 10 || noise != BALL_GAUSSIAN ? ball_epsilon(noise, t, delta) : iv(0);
            got = m->epsilon(iv(t), delta);
            if (truth.hi > 0 && !(got.lo <= truth.hi && got.hi >= truth.lo))
                fail_msg(
                    "%s: epsilon at shift %.17g, delta %.17g in [%.17g, %.17g], the interval says [%.17g, "
                    "%.17g]",
                    m->name, t, delta, truth.lo, truth.hi, got.lo, got.hi);
        }
    }
}
