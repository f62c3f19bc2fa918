/* Every mechanism, every public function of the privacy core, every parameter: a value that makes no sense
 * gives a status, one line that names it, and leaves the output alone. */
#include "support/test.h"
#include "support/effort.h"
#include "support/exercise.h"
#include "dp/release/noise_simulate.h"
#include "sotto/private/all.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double nonsense[] = {-1,      -0.0,         0,       -INFINITY, INFINITY, NAN,  -NAN, 1e-320,
                                  -1e-320, DBL_TRUE_MIN, DBL_MIN, DBL_MAX,   -DBL_MAX, 1e101};
enum { NONSENSE = sizeof nonsense / sizeof *nonsense };

/* EINVAL or EDOMAIN (ENOTSUP where a mechanism has no such account), with one line of text. */
static void refused(sotto_status status, const char *what, const char *mechanism, double value)
{
    const char *text = sotto_error_text();
    if (status != SOTTO_EINVAL && status != SOTTO_EDOMAIN && status != SOTTO_ENOTSUP)
        fail_msg("%s, %s = %g: status %d", mechanism, what, value, (int)status);
    if (strlen(text) < 10 || strchr(text, '\n'))
        fail_msg("%s, %s = %g: text '%s'", mechanism, what, value, text);
}

/* delta: 0 is a value of its own, everything else in the list is out of range but the smallest normal
 * number. */
static int delta_may_be(double x)
{
    return x == 0 || x == DBL_MIN;
}

enum slot { SCALE, EPSILON, DELTA, L1, L2, STEP, SLOTS };
static const char *const slots[] = {"scale", "epsilon", "delta", "l1", "l2", "value_step"};

struct question {
    double scale;
    struct sotto_dp target;
    struct sotto_sensitivity sensitivity;
};

static struct question sensible(void)
{
    return (struct question){
        .scale = 2, .target = {1, 1e-5}, .sensitivity = {.l1 = 1, .l2 = 1, .dimension = 4, .value_step = 0}};
}

/* Puts a value into a slot; 0: it is not nonsense there. */
static int spoil(struct question *q, enum slot slot, double x)
{
    switch (slot) {
    case SCALE:
        q->scale = x;
        return 1;
    case EPSILON:
        q->target.epsilon = x;
        return 1;
    case DELTA:
        q->target.delta = x;
        return !delta_may_be(x);
    case L1:
        q->sensitivity.l1 = x;
        return !isnan(x) && x != 0; /* not known */
    case L2:
        q->sensitivity.l2 = x;
        return !isnan(x) && x != 0;
    default:
        q->sensitivity.value_step = x;
        return x != 0;
    }
}

static int is_discrete(const char *name)
{
    return strncmp(name, "discrete", 8) == 0;
}

/* Scores and labels are one number; only l1 is read. */
static int reads_l2(const char *name)
{
    return strcmp(name, "exponential") != 0 && strcmp(name, "permute-and-flip") != 0 &&
           strcmp(name, "randomised-response") != 0 && strcmp(name, "smooth-median") != 0 &&
           strcmp(name, "objective-perturbation") != 0;
}

TEST(accounts_and_calibrations)
{
    int asked = 0;
    const char *name;
    for (size_t m = 0; (name = sotto_mechanism_name(m)); m++)
        for (int slot = 0; slot < SLOTS; slot++)
            for (int i = 0; i < NONSENSE; i++) {
                struct question q = sensible();
                struct sotto_account a = {.scale = 77};
                double scale = 77, x = nonsense[i];
                if (!spoil(&q, (enum slot)slot, x) || (slot == STEP && !is_discrete(name)) ||
                    (slot == L2 && !reads_l2(name)))
                    continue;
                if (slot != EPSILON) {
                    refused(sotto_account_release(&a, name, q.scale, &q.sensitivity, q.target.delta, 1, NULL),
                            slots[slot], name, x);
                    assert_true(a.scale == 77);
                }
                if (slot != SCALE) {
                    refused(sotto_calibrate(&scale, name, &q.sensitivity, q.target, NULL), slots[slot], name,
                            x);
                    assert_true(scale == 77);
                }
                asked++;
            }
    assert_true(asked > 9 * 40);
    for (size_t m = 0; (name = sotto_mechanism_name(m)); m++) {
        struct question q = sensible();
        struct sotto_account a;
        double scale;
        assert_non_null(sotto_mechanism_title(m));
        refused(sotto_account_release(&a, name, 2, &q.sensitivity, 1e-5, 0, NULL), "compose", name, 0);
        refused(sotto_calibrate_composed(&scale, name, &q.sensitivity, q.target, 0, NULL), "compose", name,
                0);
        q.sensitivity.l1 = q.sensitivity.l2 = NAN;
        refused(sotto_account_release(&a, name, 2, &q.sensitivity, 1e-5, 1, NULL), "both norms", name, NAN);
        refused(sotto_calibrate(&scale, name, &q.sensitivity, q.target, NULL), "both norms", name, NAN);
    }
    assert_null(sotto_mechanism_title(1000));
    struct question q = sensible();
    struct sotto_account a;
    refused(sotto_account_release(&a, NULL, 2, &q.sensitivity, 1e-5, 1, NULL), "mechanism", "NULL", 0);
    refused(sotto_account_release(&a, "", 2, &q.sensitivity, 1e-5, 1, NULL), "mechanism", "''", 0);
}

/* A public account has a finite epsilon. */
TEST(no_epsilon_is_no_account)
{
    const struct sotto_sensitivity by_l2 = {.l1 = NAN, .l2 = 1}, both = {.l1 = 1, .l2 = 1};
    struct sotto_account a = {.scale = 7};
    assert_int_equal(sotto_account_release(&a, "gaussian", 1, &both, 0, 1, NULL), SOTTO_EDOMAIN);
    assert_string_equal(sotto_error_text(), "mechanism 'gaussian' gives no pure epsilon; give a delta > 0");
    assert_int_equal(sotto_account_release_certified(&a, "gaussian", 1, &both, 0, 1, NULL), SOTTO_EDOMAIN);
    assert_int_equal(sotto_account_release(&a, "laplace", 1, &by_l2, 0, 1, NULL), SOTTO_EDOMAIN);
    assert_non_null(strstr(sotto_error_text(), "needs the l1 sensitivity"));
    assert_true(a.scale == 7);
    assert_int_equal(sotto_account_release(&a, "laplace", 1, &both, 0, 1, NULL), SOTTO_OK);
    assert_true(a.epsilon.upper == 1);
    assert_int_equal(sotto_account_release(&a, "gaussian", 1, &both, 1e-5, 1, NULL), SOTTO_OK);
    assert_true(isfinite(a.epsilon.upper));
}

/* Sensible in type, absurd in size: an account or a refusal, never a NaN and never a claim below 0. */
TEST(absurd_sizes)
{
    const double sizes[] = {1e-100, 1e-50, 1e-9, 1, 1e9, 1e50, 1e100};
    const char *name;
    for (size_t m = 0; (name = sotto_mechanism_name(m)); m++)
        for (int i = 0; i < 7; i++)
            for (int j = 0; j < 7; j++)
                for (int d = 0; d < 3; d++) {
                    const double deltas[] = {0, DBL_MIN, 1 - 0x1p-53};
                    struct sotto_sensitivity s = {.l1 = sizes[j], .l2 = NAN, .dimension = 3};
                    struct sotto_account a;
                    const int often =
                        d == 1 && i == j && i % by_effort(3, 1, 1) == 0; /* takes a second each */
                    size_t compose = often ? 1000000000 : 1;
                    sotto_status status =
                        sotto_account_release(&a, name, sizes[i], &s, deltas[d], compose, NULL);
                    if (status != SOTTO_OK)
                        refused(status, "size", name, sizes[j]);
                    else if (!(a.epsilon.lower >= 0 && a.epsilon.lower <= a.epsilon.upper))
                        fail_msg("%s scale %g l1 %g delta %g: [%g, %g]", name, sizes[i], sizes[j], deltas[d],
                                 a.epsilon.lower, a.epsilon.upper);
                }
}

TEST(the_chooser)
{
    for (int slot = EPSILON; slot < SLOTS; slot++)
        for (int i = 0; i < NONSENSE; i++) {
            struct question q = sensible();
            struct sotto_account a[SOTTO_MAX_MECHANISMS];
            size_t count = 77;
            if (!spoil(&q, (enum slot)slot, nonsense[i]))
                continue;
            refused(sotto_choose(a, &count, &q.sensitivity, q.target, 1, NULL), slots[slot], "choose",
                    nonsense[i]);
            assert_int_equal(count, 77);
        }
}

TEST(sampled_steps)
{
    const char *name;
    for (size_t m = 0; (name = sotto_mechanism_name(m)); m++)
        for (int i = 0; i < NONSENSE; i++)
            for (int slot = 0; slot < 4; slot++) {
                static const char *const names[] = {"noise_multiplier", "sample_rate", "delta", "epsilon"};
                struct sotto_sampled s = {.mechanism = name,
                                          .noise_multiplier = 1,
                                          .sample_rate = 0.1,
                                          .steps = 10,
                                          .delta = 1e-5,
                                          .clipping = SOTTO_NORM_L2,
                                          .adjacency = SOTTO_ADD_REMOVE,
                                          .sampling = SOTTO_SAMPLING_POISSON};
                struct sotto_account a = {.scale = 77};
                double x = nonsense[i], multiplier = 77, epsilon = slot == 3 ? x : 1;
                *(slot == 0   ? &s.noise_multiplier
                  : slot == 1 ? &s.sample_rate
                              : &s.delta) = slot == 3 ? 1e-5 : x;
                if (x == DBL_MIN && (slot == 1 || slot == 2)) /* tiny, but a number */
                    continue;
                if (slot < 3) {
                    refused(sotto_account_sampled(&a, &s, NULL), names[slot], name, x);
                    assert_true(a.scale == 77);
                }
                if (slot > 0) {
                    refused(sotto_calibrate_sampled(&multiplier, &s, epsilon, NULL), names[slot], name, x);
                    assert_true(multiplier == 77);
                }
            }
    struct sotto_sampled s = {.mechanism = "gaussian",
                              .noise_multiplier = 1,
                              .sample_rate = 0.1,
                              .steps = 0,
                              .delta = 1e-5,
                              .clipping = SOTTO_NORM_L2,
                              .adjacency = SOTTO_ADD_REMOVE,
                              .sampling = SOTTO_SAMPLING_POISSON};
    struct sotto_account a;
    refused(sotto_account_sampled(&a, &s, NULL), "steps", "gaussian", 0);
    s.mechanism = NULL;
    refused(sotto_account_sampled(&a, &s, NULL), "mechanism", "NULL", 0);
}

TEST(classical_and_measuring)
{
    const char *name;
    for (int i = 0; i < NONSENSE; i++) {
        struct sotto_classical_gaussian c = {.scale = 77};
        double x = nonsense[i];
        refused(sotto_gaussian_classical(&c, x, (struct sotto_dp){1, 1e-5}), "l2", "classical", x);
        refused(sotto_gaussian_classical(&c, 1, (struct sotto_dp){x, 1e-5}), "epsilon", "classical", x);
        if (x != DBL_MIN)
            refused(sotto_gaussian_classical(&c, 1, (struct sotto_dp){1, x}), "delta", "classical", x);
        assert_true(c.scale == 77);
        for (size_t m = 0; (name = sotto_mechanism_name(m)); m++) {
            float v[1] = {5};
            refused(noise_simulate(v, 1, name, x, 1, 1), "scale", name, x);
            assert_true(v[0] == 5);
        }
    }
}

/* The three doors to noise: no ledger may appear. */
TEST(releases)
{
    const char *name;
    for (size_t m = 0; (name = sotto_mechanism_name(m)); m++)
        for (int slot = 0; slot < SLOTS; slot++)
            for (int i = 0; i < NONSENSE; i++) {
                struct question q = sensible();
                double x = nonsense[i];
                if (!spoil(&q, (enum slot)slot, x) || (slot == STEP && !is_discrete(name)) ||
                    (slot == L2 && !reads_l2(name)) || (slot == DELTA && x == SOTTO_DELTA_PURE))
                    continue;
                struct sotto_release r = {.mechanism = name,
                                          .scale = slot == SCALE ? q.scale : NAN,
                                          .target = q.target,
                                          .sensitivity = q.sensitivity,
                                          .spend = {.dataset_id = "toy",
                                                    .source = &exercise,
                                                    .ledger = "/proc/never/ledger.jsonl"}};
                float v[2] = {3, 4};
                const double scores[2] = {3, 4};
                int64_t labels[2] = {0, 1};
                size_t chosen = 77;
                struct sotto_certificate *certificate = NULL;
                if (slot == SCALE && (isnan(x) || x == 0)) /* not given */
                    r.target.epsilon = NAN;
                refused(sotto_dp_release(&certificate, v, 2, &r, NULL), slots[slot], name, x);
                refused(sotto_dp_select(&chosen, &certificate, scores, 2, &r, NULL), slots[slot], name, x);
                refused(sotto_dp_randomise(&certificate, labels, 2, 2, &r, NULL), slots[slot], name, x);
                assert_true(v[0] == 3 && v[1] == 4 && labels[0] == 0 && labels[1] == 1 && chosen == 77);
                assert_null(certificate);
            }
}

TEST_GROUP(.tags = "long")
