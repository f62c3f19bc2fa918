/* What leaves the public calls follows its law: releases of vectors and steps of runs, as floats, as doubles and in
 * lattice steps. Chi-square on cells of a tenth of a scale, and the lowest bit of the integer that was released; each with
 * a law that is off by a few per cent, or bits of a coarser lattice, which must be noticed. z = 4 (Wilson-Hilferty), fixed
 * seeds. The samplers themselves: test_discretised_law.c.
 *
 * Were the seeds drawn, right noise would fail in 2 of 1,000 runs: 30 deviates, each beyond 4 with 6.3e-5. Found 99 times
 * of 100, at effort 1, 5 and 50: a scale off by 1.9 %, 1.4 % and 0.6 %; a lowest bit that is 1 with 0.505, 0.504 and
 * 0.502. Planted: 3 % of the scale at effort 1, the same in standard errors at the others. */
#include "support/test.h"
#include "support/effort.h"
#include "support/exercise.h"

#include "dp/mechanism/mechanism.h"
#include "dp/release/dpsgd_session.h"
#include "sotto/private/all.h"
#include "support/temporary_folder.h"

#include <math.h>

enum { DRAWS = 400000, MOST = 10, CELLS = 160 };
static double x[DRAWS * MOST];
static float single[DRAWS * MOST];

/* So many times the draws of effort 1. */
static int times(void)
{
    return (int)by_effort(1, 2, MOST);
}

static int draws(void)
{
    return DRAWS * times();
}

static double chi_square_z(const double *observed, const double *expected)
{
    double sum = 0, used = 0;
    for (int i = 0; i < CELLS; i++)
        if (expected[i] >= 5) {
            sum += (observed[i] - expected[i]) * (observed[i] - expected[i]) / expected[i];
            used++;
        }
    double cube = 2 / (9 * (used - 1));
    return (cbrt(sum / (used - 1)) - (1 - cube)) / sqrt(cube);
}

/* Of x[] against noise of `scale`: cells of a tenth, the ends take the tails. */
static double law_z(const struct mechanism *m, double scale)
{
    double observed[CELLS] = {0}, expected[CELLS];
    for (int i = 0; i < draws(); i++) {
        double cell = floor(x[i] / scale * 10) + CELLS / 2;
        observed[cell < 0 ? 0 : cell >= CELLS ? CELLS - 1 : (int)cell]++;
    }
    for (int i = 0; i < CELLS; i++) {
        double low = i == 0 ? 0 : m->cdf((i - CELLS / 2) / 10.0);
        double high = i == CELLS - 1 ? 1 : m->cdf((i + 1 - CELLS / 2) / 10.0);
        expected[i] = draws() * (high - low);
    }
    return chi_square_z(observed, expected);
}

static void must_follow(const struct mechanism *m, double scale, const char *call)
{
    double z = law_z(m, scale);
    if (!(fabs(z) <= 4))
        fail_msg("%s, %s: z = %g", call, m->name, z);
    z = law_z(m, scale * (1 + 0.03 / sqrt(times())));
    if (!(z > 5))
        fail_msg("%s, %s: a law that is off gives z = %g", call, m->name, z);
}

/* x / step is half an odd number; the bit above that is fair. coarse: a lattice of twice the step. */
static void must_be_odd_and_fair(double step, const char *call)
{
    double ones = 0, coarse = 0;
    for (int i = 0; i < draws(); i++) {
        double half_steps = ldexp(x[i], 1 - ilogb(step));
        if (fmod(fabs(half_steps), 2) != 1)
            fail_msg("%s: value %d is %.17g half steps", call, i, half_steps);
        double k = (half_steps - 1) / 2;
        ones += fmod(fabs(k), 2);
        coarse += fmod(fabs(2 * floor(k / 2)), 2);
    }
    assert_true(fabs(ones - draws() / 2.0) / sqrt(draws() / 4.0) < 4);
    assert_true(fabs(coarse - draws() / 2.0) / sqrt(draws() / 4.0) > 5);
}

static struct sotto_spend seeded(uint64_t seed)
{
    unlink(path_of("l.jsonl"));
    return (struct sotto_spend){.dataset_id = "toy",
                                .source = &exercise,
                                .ledger = path_of("l.jsonl"),
                                .insecure = 1,
                                .insecure_seed = seed};
}

static void release_zeros(const struct mechanism *m, double scale, bool doubles, bool flat)
{
    struct sotto_certificate *c;
    struct sotto_release r = {.mechanism = m->name,
                              .scale = scale,
                              .target = {NAN, 1e-5},
                              .sensitivity = {.l1 = 1, .l2 = 1},
                              .flat_doubt = flat,
                              .spend = seeded(3)};
    memset(x, 0, sizeof x);
    memset(single, 0, sizeof single);
    sotto_status status = doubles ? sotto_dp_release_double(&c, x, (size_t)draws(), &r, NULL)
                                  : sotto_dp_release(&c, single, (size_t)draws(), &r, NULL);
    assert_int_equal(status, SOTTO_OK);
    sotto_certificate_free(c);
    for (int i = 0; i < draws() && !doubles; i++)
        x[i] = (double)single[i];
}

TEST(releases_follow_their_law)
{
    for (size_t i = 0; mechanism_at(i); i++) {
        const struct mechanism *m = mechanism_at(i);
        release_zeros(m, 0.1, true, false);
        must_follow(m, 0.1, "double");
        must_be_odd_and_fair(0x1p-43, "double"); /* 0.1 = 1.6 2^-4, and 2^39 steps are 2^-4 */
        release_zeros(m, 3e7, false, false);
        must_follow(m, 3e7, "float");
        release_zeros(m, 0.1, true, true);
        must_follow(m, 0.1, "flat doubt");
        must_be_odd_and_fair(0x1p-35, "flat doubt");
    }
}

enum call { DOUBLES, FLOATS, IN_STEPS };

static double step_on_zeros(const struct mechanism *m, enum call call)
{
    struct sotto_dpsgd_session *s = NULL;
    struct sotto_dpsgd_request r = {.sampled = {.mechanism = m->name,
                                                .noise_multiplier = 40,
                                                .sample_rate = 1,
                                                .steps = 1,
                                                .delta = 0.3,
                                                .clipping = m->by_l2 ? SOTTO_NORM_L2 : SOTTO_NORM_L1},
                                    .max_grad_norm = 0.1,
                                    .dimension = (size_t)draws(),
                                    .on_lattice = call == IN_STEPS,
                                    .spend = seeded(4)};
    if (sotto_dp_reserve(&s, &r, NULL) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    memset(x, 0, sizeof x);
    memset(single, 0, sizeof single);
    assert_int_equal(call == FLOATS    ? dp_step_float(s, single)
                     : call == DOUBLES ? sotto_dp_step(s, x)
                                       : sotto_dp_step_lattice(s, x),
                     SOTTO_OK);
    for (int i = 0; i < draws() && call == FLOATS; i++)
        x[i] = (double)single[i];
    double step = sotto_dpsgd_session_lattice(s);
    sotto_dpsgd_session_close(s);
    return step;
}

TEST(steps_follow_their_law)
{
    static const char *const calls[] = {"doubles", "floats", "lattice steps"};
    for (size_t i = 0; mechanism_at(i); i++)
        for (enum call call = DOUBLES; call <= IN_STEPS; call++) {
            double step = step_on_zeros(mechanism_at(i), call);
            must_follow(mechanism_at(i), 4, calls[call]);
            if (call != FLOATS)
                must_be_odd_and_fair(step, calls[call]);
        }
}

TEST_GROUP(.set_up = make_folder, .tear_down = remove_folder)
