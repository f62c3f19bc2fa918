/* The certified path against known answers. Origin: dp.md 3(g) (logistic: closed forms checked by quadrature,
 * finite sum and contour in 113-bit arithmetic agreeing to 16 digits), 3(d) (analytic Gaussian), 3(b)
 * (sampled Renyi), 3(c) (sampled logistic by connect-the-dots at 1e-5, last digits +-1e-6). */
#include "support/test.h"
#include "support/effort.h"

#include "dp/account/certified_composed.h"
#include "dp/ball/ball.h"
#include "support/oracle_sweep.h"
#include "sotto/lab/account.h"

#include <math.h>
#include <string.h>

static void close_to(struct interval got, double expected, double relative)
{
    double slack = relative * fabs(expected);
    if (!(got.lo <= got.hi && fabs(got.lo - expected) <= slack && fabs(got.hi - expected) <= slack))
        fail_msg("got [%.17g, %.17g], expected %.17g", got.lo, got.hi, expected);
}

/* [lo, hi] holds x and is at most `wide` wide, relatively. */
static void encloses(struct interval e, double x, double wide)
{
    if (!(e.lo <= x && x <= e.hi))
        fail_msg("[%.17g, %.17g] does not hold %.17g", e.lo, e.hi, x);
    if (!(e.hi - e.lo <= wide * x))
        fail_msg("[%.17g, %.17g] is %.3g wide, expected %.3g", e.lo, e.hi, (e.hi - e.lo) / x, wide);
}

TEST(closed_forms)
{
    const double delta[][5] = {
        {0.1, 0.0249947929684208, 0.0142351211889275, 0.00640588381974574, 0.00162155163705125},
        {0.5, 0.124353001771596, 0.074290521362663, 0.0350903526361933, 0.00932925791616421},
        {1, 0.244918662403709, 0.1546983305531, 0.0774046863156909, 0.0218423174335622},
        {2, 0.46211715726001, 0.321971105411235, 0.179049889216818, 0.0565873599572503}};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            close_to(ball_delta(BALL_LOGISTIC, delta[i][0], delta[i][0] * j / 4), delta[i][j + 1], 1e-14);
    const double shifts[][3] = {{1.0050421056354, 1, 1e-5},
                                {1.00159148887287, 1, 1e-6},
                                {0.101970167966689, 0.1, 1e-5},
                                {4.00627657281767, 4, 1e-5},
                                {1.17353570831258, 1, 0.01}};
    for (int i = 0; i < 5; i++)
        close_to(ball_epsilon(BALL_LOGISTIC, shifts[i][0], shifts[i][2]), shifts[i][1], 1e-13);
    const double renyi[][3] = {{1, 1.5, 0.240229013917},  {1, 2, 0.308993675776},
                               {1, 4, 0.50395089945},     {1, 8, 0.678660662626},
                               {1, 32, 0.881146465129},   {0.5, 1.5, 0.0618596072403},
                               {0.5, 2, 0.0816573819736}, {0.5, 4, 0.152059754752},
                               {0.5, 8, 0.24630695587},   {0.5, 32, 0.39643927107}};
    for (int i = 0; i < 10; i++)
        close_to(ball_renyi(BALL_LOGISTIC, renyi[i][0], renyi[i][1]), renyi[i][2], 1e-11);
    const double sigmas[][3] = {{0.1, 1e-5, 30.749566131978}, {0.5, 1e-5, 7.031826675583},
                                {1, 1e-5, 3.730631634816},    {2, 1e-5, 1.993812445644},
                                {4, 1e-5, 1.081161849520},    {8, 1e-5, 0.600229072199},
                                {10, 1e-5, 0.499888619709},   {1, 1e-6, 4.224678889327},
                                {0.5, 1e-6, 8.057618480725},  {1, 1e-10, 5.867777749631}};
    for (int i = 0; i < 10; i++)
        close_to(ball_epsilon(BALL_GAUSSIAN, 1 / sigmas[i][2], sigmas[i][1]), sigmas[i][0], 1e-11);
    close_to(ball_epsilon(BALL_LAPLACE, 1, 1e-5), 1 + 2 * log1p(-1e-5), 1e-15);
    close_to(ball_renyi(BALL_LAPLACE, 1, 2), 0.6191236299985928, 1e-14);
    close_to(ball_renyi(BALL_GAUSSIAN, 0.5, 8), 1, 1e-15);
}

TEST(logistic_compositions)
{
    const size_t k[] = {1, 2, 10, 100, 1000};
    const double known[][6] = {
        {0.1, 0.09804802154319, 0.18701862956339, 0.61161637048479, 2.32091241076471, 8.92737173687175},
        {0.5, 0.49602884777313, 0.96644392336437, 3.51748950754174, 15.54865317462431, 79.19680041791194},
        {1, 0.99496526660881, 1.95387477517556, 7.62558659523586, 38.94740619798189, 238.4153838632335},
        {2, 1.99411030000470, 3.94305995182782, 16.71191346662778, 104.1988407536056, 764.6693982119248}};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 5; j++)
            close_to(j ? certified_composed_epsilon(known[i][0], k[j], 1e-5)
                       : ball_epsilon(BALL_LOGISTIC, known[i][0], 1e-5),
                     known[i][j + 1], 1e-11);
}

TEST(sampled_renyi_orders)
{
    const struct {
        double rate, multiplier;
        unsigned alpha;
        double expected;
    } known[] = {{0.01, 1, 2, 0.000171813422075},
                 {0.01, 1, 4, 0.000363154048911},
                 {0.01, 1, 16, 3.0878507837},
                 {0.01, 4, 32, 0.000105263606591},
                 {0.04, 1.5, 8, 0.00427158452674}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        close_to(ball_sampled_renyi(known[i].multiplier, 2, known[i].rate, known[i].alpha), known[i].expected,
                 3e-11);
}

TEST(grids_enclose_exact_answers)
{
    const struct {
        struct ball_step step;
        size_t k;
        double epsilon, grid, wide;
    } known[] = {{{BALL_LOGISTIC, 1, 1, 1, false}, 10, 7.62558659523586, NAN, 2e-7},
                 {{BALL_LOGISTIC, 0.1, 1, 1, false}, 100, 2.32091241076471, 2e-4, 1e-5},
                 {{BALL_GAUSSIAN, 1, 37.306316, 1, false}, 100, 1, 4e-4, 1e-4},
                 {{BALL_GAUSSIAN, 1, 3.730631634816, 1, false}, 1, 1, 1e-3, 2e-6}};
    for (size_t i = effort() > 1 ? 0 : 1; i < sizeof known / sizeof *known;
         i++) { /* the first takes a second */
        struct interval e;
        assert_int_equal(ball_compose_epsilon(&e, &known[i].step, known[i].k, 1e-5, known[i].grid), SOTTO_OK);
        encloses(e, known[i].epsilon, known[i].wide);
    }
    struct ball_step sampled = {BALL_LOGISTIC, 1, 1, 0.1,
                                false}; /* remove 2.565516 is the larger direction */
    struct interval e;
    assert_int_equal(ball_compose_epsilon(&e, &sampled, 100, 1e-5, 1e-4), SOTTO_OK);
    assert_true(e.lo < 2.565517 && e.hi > 2.565514 && e.hi - e.lo < 2e-5);
}

/* One step has a closed form: coarse grids of random steps must hold it, from both sides. Sampled:
 * delta(eps) = q delta_0(ln((e^eps - 1 + q) / q)), in the larger direction. */
TEST(grids_enclose_random_steps)
{
    uint64_t seed = 5;
    for (int i = 0; i < by_effort(12, 24, 240); i++) {
        enum ball_noise noise = (enum ball_noise)(i % 3);
        double t = sweep_log(&seed, 0.05, 3), rate = i % 2 ? 1 : sweep_log(&seed, 0.02, 0.9);
        double delta = sweep_log(&seed, 1e-9, 1e-3), grid = t * sweep_log(&seed, 3e-3, 0.1);
        if (delta > rate / 10)
            continue;
        struct ball_step step = {noise, t, 1, rate, false};
        struct interval e, inner = ball_epsilon(noise, t, delta / rate);
        double exact = log1p(rate * expm1(inner.hi));
        assert_int_equal(ball_compose_epsilon(&e, &step, 1, delta, grid), SOTTO_OK);
        if (!(e.lo <= exact * (1 + 1e-12) && exact * (1 - 1e-12) <= e.hi && e.hi - e.lo <= 0.5 * t))
            fail_msg("noise %d, shift %g, rate %g, delta %g, grid %g: [%.12g, %.12g] does not hold %.12g",
                     (int)noise, t, rate, delta, grid, e.lo, e.hi, exact);
    }
}

static double normal_tail(double y)
{
    return 0.5 * erfc(y / sqrt(2));
}

/* What the best event {output > c} finds at epsilon: N(t) against N(-t), each with probability q, else N(0). */
static double replaced_delta(double t, double q, double epsilon)
{
    double best = 0;
    for (double c = -8 - t; c <= 8 + t; c += 2e-3)
        best = fmax(best, (1 - q) * normal_tail(c) + q * normal_tail(c - t) -
                              exp(epsilon) * ((1 - q) * normal_tail(c) + q * normal_tail(c + t)));
    return best;
}

/* A replaced record, one step: the grid's epsilon holds the one at which the best of all thresholds finds delta. */
TEST(grids_enclose_random_replaced_steps)
{
    uint64_t seed = 7;
    for (int i = 0; i < by_effort(2, 12, 120); i++) {
        const double t = sweep_log(&seed, 0.1, 3), rate = sweep_log(&seed, 0.02, 0.9);
        const double delta = rate * sweep_log(&seed, 1e-6, 1e-2), grid = t * sweep_log(&seed, 3e-3, 0.03);
        const struct ball_step step = {BALL_GAUSSIAN, t, 1, rate, true},
                               closer = {BALL_GAUSSIAN, t * 0.97, 1, rate, true};
        struct interval e, less;
        assert_int_equal(ball_compose_epsilon(&e, &step, 1, delta, grid), SOTTO_OK);
        if (!(replaced_delta(t, rate, e.hi) <= delta * (1 + 1e-9) &&
              (e.lo == 0 || replaced_delta(t, rate, e.lo) >= delta * (1 - 1e-4)) && e.hi - e.lo <= 0.5 * t))
            fail_msg("shift %g, rate %g, delta %g, grid %g: [%.12g, %.12g]", t, rate, delta, grid, e.lo,
                     e.hi);
        assert_int_equal(ball_compose_epsilon(&less, &closer, 1, delta, 1e-3 * t), SOTTO_OK);
        assert_true(e.hi == 0 || replaced_delta(t, rate, less.hi) > delta); /* the control */
    }
}

/* Upper ends of the account in doubles, as an independent program in whole numbers confirmed them (verifier/sotto-verify.py). */
TEST(replaced_gaussian)
{
    const struct {
        double rate, multiplier;
        size_t steps;
        double delta, epsilon;
    } known[] = {
        {1, 10, 50, 1e-6, 7.2861},          {0.2, 2, 1, 1e-5, 0.88741},     {0.05, 1, 20, 1e-5, 2.3686},
        {0.1, 4, 500, 1e-5, 4.9697},        {0.1, 1.5, 100, 1e-5, 6.1536},  {0.5, 8, 100, 1e-5, 5.6666},
        {0.0341, 6.98, 586, 1e-6, 0.99895}, {0.01, 0.8, 1000, 1e-5, 4.228}, {0.03, 0.7, 3000, 1e-5, 38.979}};
    for (int i = 0; i < by_effort(1, 9, 9); i++) {
        const struct sotto_sampled s = {.mechanism = "gaussian",
                                        .noise_multiplier = known[i].multiplier,
                                        .sample_rate = known[i].rate,
                                        .steps = known[i].steps,
                                        .delta = known[i].delta,
                                        .clipping = SOTTO_NORM_L2,
                                        .adjacency = SOTTO_REPLACE_ONE,
                                        .sampling = SOTTO_SAMPLING_POISSON};
        struct sotto_account fast, certified;
        assert_int_equal(sotto_account_sampled(&fast, &s, NULL), SOTTO_OK);
        assert_int_equal(sotto_account_sampled_certified(&certified, &s, NULL), SOTTO_OK);
        assert_string_equal(certified.accountant, "pld, balls");
        assert_true(fabs(certified.epsilon.upper - known[i].epsilon) < 6e-5 * known[i].epsilon);
        assert_true(certified.epsilon.upper - certified.epsilon.lower < 1e-5 * known[i].epsilon);
        assert_true(certified.epsilon.lower <= fast.epsilon.upper &&
                    fast.epsilon.lower <= certified.epsilon.upper);
    }
}

/* Two atoms: k Laplace releases, where epsilon is t k minus little. Both atoms lie between grid points. */
TEST(laplace_atoms)
{
    struct ball_step step = {BALL_LAPLACE, 1, 10, 1, false};
    struct interval fine, coarse;
    assert_int_equal(ball_compose_epsilon(&coarse, &step, 20, 1e-5, 2e-3), SOTTO_OK);
    assert_int_equal(ball_compose_epsilon(&fine, &step, 20, 1e-5, 5e-4), SOTTO_OK);
    assert_true(coarse.lo <= fine.lo && fine.lo <= fine.hi && fine.hi <= coarse.hi);
    assert_true(fine.hi < 2 && fine.hi - fine.lo < 2e-5);
}

TEST(sampled_gaussian)
{
    /* the specification's speed case */
    struct sotto_sampled s = {.mechanism = "gaussian",
                              .noise_multiplier = 1.1,
                              .sample_rate = 0.01,
                              .steps = 10000,
                              .delta = 1e-5,
                              .clipping = SOTTO_NORM_L2,
                              .adjacency = SOTTO_ADD_REMOVE,
                              .sampling = SOTTO_SAMPLING_POISSON};
    struct sotto_account fast, certified;
    assert_int_equal(sotto_account_sampled(&fast, &s, NULL), SOTTO_OK);
    assert_int_equal(sotto_account_sampled_certified(&certified, &s, NULL), SOTTO_OK);
    assert_string_equal(certified.accountant, "pld, balls");
    assert_true(certified.epsilon.lower > 5.1925 && certified.epsilon.upper < 5.1927);
    assert_true(certified.epsilon.lower <= fast.epsilon.upper &&
                fast.epsilon.lower <= certified.epsilon.upper);
}

/* Every account: the certified interval and that in doubles both hold the truth, so they overlap. */
TEST(accounts_overlap)
{
    const char *const names[] = {"gaussian", "logistic", "laplace"};
    const struct sotto_sensitivity kinds[] = {
        {.l1 = 1, .l2 = NAN}, {.l1 = NAN, .l2 = 1, .dimension = 100}, {.l1 = 1, .l2 = 0.5, .dimension = 10}};
    for (int m = 0; m < 3; m++)
        for (int s = 0; s < 3; s++)
            for (int k = 1; k <= (m == 2 && s > 0 ? 1 : 3); k += 2) { /* laplace: a grid, slow */
                struct sotto_account fast, balls;
                double scale = 2;
                assert_int_equal(
                    sotto_account_release(&fast, names[m], scale, &kinds[s], 1e-5, (size_t)k, NULL),
                    SOTTO_OK);
                assert_int_equal(sotto_account_release_certified(&balls, names[m], scale, &kinds[s], 1e-5,
                                                                 (size_t)k, NULL),
                                 SOTTO_OK);
                if (!(balls.epsilon.lower <= fast.epsilon.upper * (1 + 1e-12) &&
                      fast.epsilon.lower <= balls.epsilon.upper * (1 + 1e-12) &&
                      balls.epsilon.upper <= fast.epsilon.upper * (1 + 1e-6)))
                    fail_msg("%s, sensitivity %d, %d releases: [%.17g, %.17g], balls [%.17g, %.17g]",
                             names[m], s, k, fast.epsilon.lower, fast.epsilon.upper, balls.epsilon.lower,
                             balls.epsilon.upper);
            }
    struct sotto_account pure;
    assert_int_equal(sotto_account_release_certified(&pure, "laplace", 2, &kinds[0], 0, 3, NULL), SOTTO_OK);
    assert_true(pure.epsilon.upper == 1.5 && pure.epsilon.lower == 1.5);
}

/* Calibration in doubles may lie a hair below: the certified end must not. */
TEST(certified_calibration_never_overshoots)
{
    const struct sotto_sensitivity s = {.l1 = 1, .l2 = 0.3, .dimension = 20};
    const char *const names[] = {"gaussian", "logistic", "laplace"};
    for (int m = 0; m < 3; m++)
        for (int k = 1; k <= (m == 2 && effort() == 1 ? 1 : 2);
             k++) { /* two Laplace releases: a grid, slow */
            const struct sotto_dp target = {0.7 * k, 1e-6};
            struct sotto_account a, again;
            double scale;
            assert_int_equal(sotto_calibrate_certified(&a, names[m], &s, target, (size_t)k, NULL), SOTTO_OK);
            assert_int_equal(
                sotto_account_release_certified(&again, names[m], a.scale, &s, 1e-6, (size_t)k, NULL),
                SOTTO_OK);
            assert_true(a.epsilon.upper == again.epsilon.upper && a.epsilon.upper <= target.epsilon);
            assert_int_equal(sotto_calibrate_composed(&scale, names[m], &s, target, (size_t)k, NULL),
                             SOTTO_OK);
            assert_true(a.scale >= scale && a.scale < scale * 1.02);
        }
}

TEST(certified_calibration_of_steps_never_overshoots)
{
    const struct sotto_sensitivity s = {.l1 = 1, .l2 = 0.3, .dimension = 20};
    struct sotto_account a;
    struct sotto_sampled training;
    const double targets[] = {0.25, 2}; /* of the second each account takes seconds */
    for (int i = 0; i < by_effort(1, 2, 2); i++) {
        double multiplier;
        training = (struct sotto_sampled){.mechanism = "gaussian",
                                          .noise_multiplier = NAN,
                                          .sample_rate = 0.1,
                                          .steps = 10,
                                          .delta = 1e-5,
                                          .clipping = SOTTO_NORM_L2,
                                          .adjacency = SOTTO_ADD_REMOVE,
                                          .sampling = SOTTO_SAMPLING_POISSON};
        assert_int_equal(sotto_calibrate_sampled(&multiplier, &training, targets[i], NULL), SOTTO_OK);
        training.noise_multiplier = multiplier;
        assert_int_equal(sotto_account_sampled_certified(&a, &training, NULL), SOTTO_OK);
        assert_true(a.epsilon.upper > targets[i]); /* the control: the double path's own scale would not do */
        assert_int_equal(sotto_calibrate_sampled_certified(&a, &training, targets[i], NULL), SOTTO_OK);
        assert_true(a.epsilon.upper <= targets[i] && a.epsilon.upper > targets[i] * (1 - 1e-3) &&
                    a.scale > multiplier);
        assert_string_equal(a.accountant, "pld, balls");
        training.mechanism = "laplace", training.clipping = SOTTO_NORM_L1; /* by its own law */
        assert_int_equal(sotto_account_sampled_certified(&a, &training, NULL), SOTTO_OK);
        struct sotto_account fast;
        assert_int_equal(sotto_account_sampled(&fast, &training, NULL), SOTTO_OK);
        assert_true(a.epsilon.lower <= fast.epsilon.upper && fast.epsilon.lower <= a.epsilon.upper);
    }
    training.adjacency = SOTTO_REPLACE_ONE;
    assert_int_equal(sotto_account_sampled_certified(&a, &training, NULL), SOTTO_ENOTSUP);
    assert_int_equal(sotto_calibrate_sampled_certified(&a, &training, 2, NULL), SOTTO_ENOTSUP);
    assert_int_equal(sotto_calibrate_sampled_certified(&a, &training, -2, NULL), SOTTO_EINVAL);
    assert_int_equal(sotto_calibrate_certified(&a, "gaussian", &s, (struct sotto_dp){-1, 1e-5}, 1, NULL),
                     SOTTO_EINVAL);
    assert_int_equal(sotto_calibrate_certified(&a, "knorm", &s, (struct sotto_dp){1, 1e-5}, 1, NULL),
                     SOTTO_ENOTSUP);
}

TEST(refusals)
{
    struct sotto_account a = {.scale = 7};
    struct sotto_sensitivity one = {.l1 = 1, .l2 = 1, .dimension = 1};
    struct sotto_sampled s = {.mechanism = "gaussian",
                              .noise_multiplier = 1.1,
                              .sample_rate = 0.01,
                              .steps = 0,
                              .delta = 1e-5,
                              .clipping = SOTTO_NORM_L2,
                              .adjacency = SOTTO_ADD_REMOVE,
                              .sampling = SOTTO_SAMPLING_POISSON};
    assert_int_equal(sotto_account_sampled_certified(&a, &s, NULL), SOTTO_EINVAL);
    assert_int_equal(sotto_account_release_certified(&a, "gaussian", -1, &one, 1e-5, 1, NULL), SOTTO_EINVAL);
    assert_int_equal(sotto_account_release_certified(&a, "exponential", 1, &one, 1e-5, 1, NULL),
                     SOTTO_ENOTSUP);
    assert_non_null(strstr(sotto_error_text(), "exponential"));
    struct interval e = {1, 2};
    struct ball_step loud = {BALL_GAUSSIAN, 1, 1e-9, 1, false}, step = {BALL_GAUSSIAN, 1, 1, 1, false};
    assert_int_equal(ball_compose_epsilon(&e, &loud, 1, 1e-5, NAN), SOTTO_EDOMAIN);
    assert_int_equal(ball_compose_epsilon(&e, &step, SIZE_MAX, 1e-5, NAN), SOTTO_EDOMAIN);
    assert_true(a.scale == 7 && e.lo == 1 && e.hi == 2);
}

TEST_GROUP(.shards = 11, .tags = "long long-sums")
