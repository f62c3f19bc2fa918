/* Known answers of the accountants. Origins: specification logistic-mechanism.md (closed forms, checked there
 * by quadrature), dp.md 3(d) (analytic Gaussian after Balle and Wang 2018), 3(g) (logistic), papers.md B.8
 * and B.2 (calibration). */
#include "sotto/lab/account.h"
#include "support/test.h"

#include "dp/account/accountant.h"
#include "dp/account/sampled_renyi.h"
#include "num/special.h"

#include <string.h>

static void close_to(double got, double expected, double relative)
{
    if (!(fabs(got - expected) <= relative * fabs(expected)))
        fail_msg("got %.17g, expected %.17g", got, expected);
}

static const struct mechanism *m_of(const char *name)
{
    return mechanism_find(name);
}

TEST(logistic_hockey_stick)
{
    /* dp.md (g): delta at eps = 0, a/4, a/2, 3a/4 */
    const double known[][5] = {
        {0.1, 0.0249947929684208, 0.0142351211889275, 0.00640588381974574, 0.00162155163705125},
        {0.5, 0.124353001771596, 0.074290521362663, 0.0350903526361933, 0.00932925791616421},
        {1, 0.244918662403709, 0.1546983305531, 0.0774046863156909, 0.0218423174335622},
        {2, 0.46211715726001, 0.321971105411235, 0.179049889216818, 0.0565873599572503}};
    for (size_t i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            struct interval d = m_of("logistic")->delta(iv(known[i][0]), known[i][0] * j / 4);
            close_to(d.lo, known[i][j + 1], 2e-14);
            close_to(d.hi, known[i][j + 1], 2e-14);
            assert_true(d.lo <= d.hi);
        }
}

TEST(logistic_epsilon)
{
    /* dp.md (g): eps at delta = 1e-5, one release */
    const double known[][2] = {
        {0.1, 0.09804802154319}, {0.5, 0.49602884777313}, {1, 0.99496526660881}, {2, 1.99411030000470}};
    for (size_t i = 0; i < 4; i++) {
        struct interval e = m_of("logistic")->epsilon(iv(known[i][0]), 1e-5);
        close_to(e.lo, known[i][1], 2e-13);
        close_to(e.hi, known[i][1], 2e-13);
    }
}

TEST(logistic_shift_for_a_target)
{
    /* dp.md (g): calibration */
    const double known[][3] = {{1, 1e-5, 1.0050421056354},
                               {1, 1e-6, 1.00159148887287},
                               {0.1, 1e-5, 0.101970167966689},
                               {4, 1e-5, 4.00627657281767},
                               {1, 0.01, 1.17353570831258}};
    for (size_t i = 0; i < 5; i++) {
        close_to(m_of("logistic")->shift(known[i][0], known[i][1]), known[i][2], 1e-13);
        struct sotto_sensitivity s = {.l1 = 1, .l2 = NAN};
        double scale;
        assert_int_equal(
            sotto_calibrate(&scale, "logistic", &s, (struct sotto_dp){known[i][0], known[i][1]}, NULL),
            SOTTO_OK);
        close_to(1 / scale, known[i][2], 1e-13);
    }
}

TEST(logistic_renyi)
{
    /* dp.md (g) */
    const double alpha[] = {1.5, 2, 4, 8, 32};
    const double at_1[] = {0.240229013917, 0.308993675776, 0.50395089945, 0.678660662626, 0.881146465129};
    const double at_half[] = {0.0618596072403, 0.0816573819736, 0.152059754752, 0.24630695587, 0.39643927107};
    for (int i = 0; i < 5; i++) {
        close_to(m_of("logistic")->renyi(iv(1), alpha[i]).hi, at_1[i], 1e-11);
        close_to(m_of("logistic")->renyi(iv(0.5), alpha[i]).lo, at_half[i], 1e-11);
    }
    /* the L2 ball, A = 1, alpha = 8, d = 1, 10, 100 */
    close_to(m_of("logistic")->renyi_ball(iv(1), 1, 8).hi, 0.67866066, 1e-8);
    close_to(m_of("logistic")->renyi_ball(iv(1), 10, 8).hi, 1.145772, 1e-6);
    close_to(m_of("logistic")->renyi_ball(iv(1), 100, 8).hi, 1.3090829, 1e-7);
    close_to(m_of("logistic")->renyi_ball(iv(1), 1e12, 8).hi, 8.0 / 6, 1e-9);
}

TEST(logistic_composition)
{
    /* dp.md (g): eps at delta = 1e-5 after k = 2, 10, 100, 1000; finite sum and contour in 113
                    bits agree there */
    const double k[] = {2, 10, 100, 1000}, a[] = {0.1, 0.5, 1, 2};
    const double known[4][4] = {{0.18701862956339, 0.61161637048479, 2.32091241076471, 8.92737173687175},
                                {0.96644392336437, 3.51748950754174, 15.54865317462431, 79.19680041791194},
                                {1.95387477517556, 7.62558659523586, 38.94740619798189, 238.4153838632335},
                                {3.94305995182782, 16.71191346662778, 104.1988407536056, 764.6693982119248}};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            struct interval e = m_of("logistic")->composed(iv(a[i]), k[j], 1e-5);
            close_to(e.lo, known[i][j], 2e-11);
            close_to(e.hi, known[i][j], 2e-11);
            assert_true(e.lo <= known[i][j] * (1 + 1e-13) && e.hi >= known[i][j] * (1 - 1e-13));
        }
    /* table "std needed" of 3(g): a for (1, 1e-5) in total */
    const double needed[][2] = {{10, 0.157785}, {100, 0.0467321}, {1000, 0.0146912}};
    struct sotto_sensitivity s = {.l1 = 1, .l2 = NAN};
    for (int i = 0; i < 3; i++) {
        double scale;
        assert_int_equal(sotto_calibrate_composed(&scale, "logistic", &s, (struct sotto_dp){1, 1e-5},
                                                  (size_t)needed[i][0], NULL),
                         SOTTO_OK);
        assert_true(fabs(1 / scale / needed[i][1] - 1) < 5e-6);
    }
}

TEST(logistic_by_l2)
{
    /* papers.md B.2: delta 1e-5, Delta_2 = 1, all by RDP */
    const double known[][2] = {{0.5, 4.427}, {1, 2.335}, {2, 1.241}, {5, 0.550}, {10, 0.306}};
    struct sotto_sensitivity s = {.l1 = NAN, .l2 = 1};
    for (size_t i = 0; i < 5; i++) {
        double scale;
        assert_int_equal(sotto_calibrate(&scale, "logistic", &s, (struct sotto_dp){known[i][0], 1e-5}, NULL),
                         SOTTO_OK);
        assert_true(fabs(scale - known[i][1]) < 6e-4);
    }
    /* B.8: n = 10,000, lambda = .01: Delta_2 = .04; eps 1: s .093, sigma .149 */
    s.l2 = 0.04;
    double scale;
    assert_int_equal(sotto_calibrate(&scale, "logistic", &s, (struct sotto_dp){1, 1e-5}, NULL), SOTTO_OK);
    assert_true(fabs(scale - 0.093) < 5e-4);
    assert_int_equal(sotto_calibrate(&scale, "gaussian", &s, (struct sotto_dp){1, 1e-5}, NULL), SOTTO_OK);
    assert_true(fabs(scale - 0.149) < 5e-4);
}

TEST(gaussian_calibration)
{
    /* dp.md (d) */
    const double known[][3] = {{0.1, 1e-5, 30.749566131978}, {0.5, 1e-5, 7.031826675583},
                               {1, 1e-5, 3.730631634816},    {2, 1e-5, 1.993812445644},
                               {4, 1e-5, 1.081161849520},    {8, 1e-5, 0.600229072199},
                               {10, 1e-5, 0.499888619709},   {1, 1e-6, 4.224678889327},
                               {0.5, 1e-6, 8.057618480725},  {1, 1e-10, 5.867777749631}};
    struct sotto_sensitivity s = {.l1 = NAN, .l2 = 1};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        double scale;
        assert_int_equal(
            sotto_calibrate(&scale, "gaussian", &s, (struct sotto_dp){known[i][0], known[i][1]}, NULL),
            SOTTO_OK);
        close_to(scale, known[i][2], 1e-12);
    }
    /* (1, 1e-5) over k releases, table "std needed" of 3(g) */
    const double composed[][2] = {{10, 11.797293}, {100, 37.306316}, {1000, 117.972931}};
    for (size_t i = 0; i < 3; i++) {
        double scale;
        assert_int_equal(sotto_calibrate_composed(&scale, "gaussian", &s, (struct sotto_dp){1, 1e-5},
                                                  (size_t)composed[i][0], NULL),
                         SOTTO_OK);
        close_to(scale, composed[i][1], 1e-7);
    }
}

TEST(gaussian_delta_of_the_classical_formula)
{
    /* dp.md (d): what sigma_c = sqrt(2 ln(1.25/delta))/eps really achieves at delta = 1e-5 */
    const double known[][2] = {{0.1, 2.636e-9}, {1, 4.114e-8}, {8, 7.971e-6}, {10, 2.265e-5}};
    for (size_t i = 0; i < 4; i++) {
        double sigma = sqrt(2 * log(1.25e5)) / known[i][0];
        close_to(m_of("gaussian")->delta(iv(1 / sigma), known[i][0]).hi, known[i][1], 2e-4);
    }
}

TEST(laplace_closed_forms)
{
    const struct mechanism *m = m_of("laplace");
    close_to(m->delta(iv(2), 1).hi, 1 - exp(-0.5), 1e-14); /* 1 - e^((eps-a)/2) */
    close_to(m->epsilon(iv(1), 1e-5).hi, 1 + 2 * log1p(-1e-5), 1e-14);
    close_to(m->shift(1, 1e-5), 1.00002, 1e-9); /* table "std needed", k = 1: a = 1.00002 */
    close_to(m->renyi(iv(1), 2).hi, log(2.0 / 3 * exp(1) + 1.0 / 3 * exp(-2)), 1e-14);
    close_to(m->renyi(iv(1e-6), 2).hi, 1e-12 * (1 - 1e-6 / 3), 1e-8); /* a^2 - a^3/3 near 0 */
}

TEST(conversions)
{
    close_to(zcdp_epsilon(0.1, 1e-5), 1.914, 5e-4); /* dp.md (k): rho = .1 is (1.914, 1e-5)-DP */
    /* dp.md (b): Gaussian at sigma 4.530877117 by RDP is exactly (1, 1e-6) */
    close_to(zcdp_epsilon(1 / (2 * 4.530877117 * 4.530877117), 1e-6), 1, 1e-8);
}

TEST(the_mechanism_with_least_noise)
{
    /* dp.md (g): standard deviation for (1, 1e-5) in total, unit sensitivity, k releases */
    const struct {
        size_t k;
        const char *winner;
        double deviation;
    } known[] = {{1, "laplace", 1.414185},
                 {7, "logistic", 9.2714},
                 {10, "logistic", 11.495382},
                 {100, "gaussian", 37.306316}};
    struct sotto_sensitivity s = {.l1 = 1, .l2 = 1};
    struct sotto_account a[SOTTO_MAX_MECHANISMS];
    size_t count;
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(sotto_choose(a, &count, &s, (struct sotto_dp){1, 1e-5}, known[i].k, NULL), SOTTO_OK);
        assert_int_equal(count, 3);
        assert_string_equal(a[0].mechanism, known[i].winner);
        close_to(a[0].standard_deviation, known[i].deviation, 1e-5);
        for (size_t j = 0; j < count; j++)
            assert_true(a[j].epsilon.upper <= 1 &&
                        (j == 0 || a[j].standard_deviation >= a[j - 1].standard_deviation));
    }
    assert_int_equal(sotto_choose(a, &count, &s, (struct sotto_dp){1, 0}, 1, NULL), SOTTO_OK);
    assert_int_equal(count, 2); /* a Gaussian is never pure */
    s.l1 = NAN;
    assert_int_equal(sotto_choose(a, &count, &s, (struct sotto_dp){1, 0}, 1, NULL), SOTTO_EDOMAIN);
    assert_int_equal(sotto_choose(a, &count, &s, (struct sotto_dp){-1, 0}, 1, NULL), SOTTO_EINVAL);
}

TEST(sampled_iterations)
{
    /* dp.md (b): Renyi divergence of the sampled Gaussian at (q, sigma, alpha) */
    const double known[][4] = {{0.01, 1, 2, 0.000171813422075},
                               {0.01, 1, 4, 0.000363154048911},
                               {0.01, 1, 16, 3.0878507837},
                               {0.01, 4, 32, 0.000105263606591},
                               {0.04, 1.5, 8, 0.00427158452674}};
    for (size_t i = 0; i < 5; i++) {
        struct interval r = sampled_renyi(m_of("gaussian"), known[i][1], known[i][0], (int)known[i][2]);
        close_to(r.lo, known[i][3], 1e-11);
        close_to(r.hi, known[i][3], 1e-11);
        /* logistic noise of scale m counts as a Gaussian of sqrt(3) m */
        double same =
            sampled_renyi(m_of("logistic"), known[i][1] / sqrt(3), known[i][0], (int)known[i][2]).hi;
        close_to(same, known[i][3], 1e-11);
    }
    struct sotto_account a;
    struct sotto_sampled s = {.mechanism = "gaussian",
                              .noise_multiplier = 1.5,
                              .sample_rate = 0.04,
                              .steps = 2250,
                              .delta = 1e-5,
                              .clipping = SOTTO_NORM_L2,
                              .adjacency = SOTTO_ADD_REMOVE,
                              .sampling =
                                  SOTTO_SAMPLING_POISSON}; /* Opacus: 7.32911117143, on a grid of orders */
    assert_int_equal(sotto_account_sampled(&a, &s, NULL), SOTTO_OK);
    assert_string_equal(a.bounds[1].name, "renyi");
    assert_true(a.bounds[1].epsilon < 7.32911117143 && a.bounds[1].epsilon > 7.328);
    assert_true(a.epsilon.upper < 7 && a.epsilon.upper == a.bounds[0].epsilon);
    assert_int_equal(a.adjacency, SOTTO_ADD_REMOVE);
    double multiplier, target = a.epsilon.upper;
    assert_int_equal(sotto_calibrate_sampled(&multiplier, &s, target, NULL), SOTTO_OK);
    close_to(multiplier, 1.5, 1e-7);
    s.noise_multiplier = multiplier;
    assert_int_equal(sotto_account_sampled(&a, &s, NULL), SOTTO_OK);
    assert_true(a.epsilon.upper <= target && a.epsilon.lower > 0);
}

TEST(sampled_inputs_are_checked)
{
    const struct {
        struct sotto_sampled s;
        sotto_status status;
        const char *text;
    } cases[] = {{{.mechanism = "gaussian",
                   .noise_multiplier = 0,
                   .sample_rate = 0.1,
                   .steps = 1,
                   .delta = 1e-5,
                   .clipping = SOTTO_NORM_L2,
                   .adjacency = SOTTO_ADD_REMOVE,
                   .sampling = SOTTO_SAMPLING_POISSON},
                  SOTTO_EINVAL,
                  "noise_multiplier must be greater than 0 (got 0)"},
                 {{.mechanism = "gaussian",
                   .noise_multiplier = 1,
                   .sample_rate = 0,
                   .steps = 1,
                   .delta = 1e-5,
                   .clipping = SOTTO_NORM_L2,
                   .adjacency = SOTTO_ADD_REMOVE,
                   .sampling = SOTTO_SAMPLING_POISSON},
                  SOTTO_EINVAL,
                  "sample_rate must be greater than 0 and at most 1 (got 0)"},
                 {{.mechanism = "gaussian",
                   .noise_multiplier = 1,
                   .sample_rate = 1.5,
                   .steps = 1,
                   .delta = 1e-5,
                   .clipping = SOTTO_NORM_L2,
                   .adjacency = SOTTO_ADD_REMOVE,
                   .sampling = SOTTO_SAMPLING_POISSON},
                  SOTTO_EINVAL,
                  "sample_rate must be greater than 0 and at most 1 (got 1.5)"},
                 {{.mechanism = "gaussian",
                   .noise_multiplier = 1,
                   .sample_rate = NAN,
                   .steps = 1,
                   .delta = 1e-5,
                   .clipping = SOTTO_NORM_L2,
                   .adjacency = SOTTO_ADD_REMOVE,
                   .sampling = SOTTO_SAMPLING_POISSON},
                  SOTTO_EINVAL,
                  "sample_rate must be greater than 0 and at most 1 (got nan)"},
                 {{.mechanism = "gaussian",
                   .noise_multiplier = 1,
                   .sample_rate = 0.1,
                   .steps = 0,
                   .delta = 1e-5,
                   .clipping = SOTTO_NORM_L2,
                   .adjacency = SOTTO_ADD_REMOVE,
                   .sampling = SOTTO_SAMPLING_POISSON},
                  SOTTO_EINVAL,
                  "steps must be at least 1 and at most 1099511627776 (got 0)"},
                 {{.mechanism = "gaussian",
                   .noise_multiplier = 1,
                   .sample_rate = 0.1,
                   .steps = 1,
                   .delta = 0,
                   .clipping = SOTTO_NORM_L2,
                   .adjacency = SOTTO_ADD_REMOVE,
                   .sampling = SOTTO_SAMPLING_POISSON},
                  SOTTO_EINVAL,
                  "delta must be above 0 and below 1 (got 0)"},
                 {{.mechanism = "laplace",
                   .noise_multiplier = 1,
                   .sample_rate = 0.1,
                   .steps = 1,
                   .delta = 1e-5,
                   .clipping = SOTTO_NORM_L2,
                   .adjacency = SOTTO_ADD_REMOVE,
                   .sampling = SOTTO_SAMPLING_POISSON},
                  SOTTO_ENOTSUP,
                  "mechanism 'laplace' has no bound for sampled iterations"}};
    struct sotto_account a = {.scale = 77};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(sotto_account_sampled(&a, &cases[i].s, NULL), cases[i].status);
        assert_non_null(strstr(sotto_error_text(), cases[i].text));
        assert_true(a.scale == 77);
    }
    double multiplier = 5;
    struct sotto_sampled tiny = {.mechanism = "gaussian",
                                 .noise_multiplier = 1,
                                 .sample_rate = 1,
                                 .steps = 1000000,
                                 .delta = 1e-5,
                                 .clipping = SOTTO_NORM_L2,
                                 .adjacency = SOTTO_ADD_REMOVE,
                                 .sampling = SOTTO_SAMPLING_POISSON};
    assert_int_equal(sotto_calibrate_sampled(&multiplier, &tiny, -1, NULL), SOTTO_EINVAL);
    tiny.delta = 1e-12; /* the noise would be 1e12 */
    assert_int_equal(sotto_calibrate_sampled(&multiplier, &tiny, 1e-9, NULL), SOTTO_EDOMAIN);
    assert_true(multiplier == 5);
}

TEST(one_sided_noise_is_refused)
{
    struct sotto_account a;
    struct sotto_sensitivity s = {.l1 = 1, .l2 = NAN};
    assert_int_equal(sotto_account_release(&a, "exponential-noise", 1, &s, 0, 1, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(
        sotto_error_text(),
        "one-sided exponential noise has no finite epsilon, as a shift D leaves outputs that only one input "
        "can produce (delta is at least 1 - exp(-D / scale)); expected laplace, its symmetric form"));
}

TEST(special_functions)
{
    /* mpmath, 20 digits: mills(0), mills(4), mills(30), h(0.1), h(1), h(50) */
    const double mills[][2] = {
        {0, 1.2533141373155002512}, {4, 0.236652382913560671}, {30, 0.033296419072497213}};
    for (size_t i = 0; i < 3; i++)
        close_to(mills_ratio(iv(mills[i][0])).hi, mills[i][1], 2e-13);
    close_to(log_sinhc(iv(1)).hi, 0.16143936157119563, 3e-14);
    close_to(log_sinhc(iv(50)).lo, 50 - log(100), 1e-15 * 8);
    close_to(log_sinhc(iv(1e-8)).hi, 1e-16 / 6, 1e-15);
    /* both forms of h meet at the switch; so do both forms of the Mills ratio */
    close_to(log_sinhc(iv(nextafter(0.4, 0))).lo, log(sinh(0.4) / 0.4), 1e-13);
    struct interval left = mills_ratio(iv(nextafter(4, 0))), right = mills_ratio(iv(4));
    assert_true(left.hi >= right.lo && fabs(left.hi / right.lo - 1) < 1e-13);
}

TEST_GROUP(.shards = 5)
