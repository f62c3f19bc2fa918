/* One release: the integers that a seed promises, what the account adds for the lattice, and values of any size. */
#include "support/test.h"
#include "support/ledger_sums_of.h"
#include "support/exercise.h"

#include "dp/account/accountant.h"
#include "dp/ledger/ledger.h"
#include "dp/release/release_vector.h"
#include "sotto/private/all.h"
#include "support/certificate_text.h"
#include "support/temporary_folder.h"

#include <math.h>
#include <string.h>

static struct sotto_release request(const char *mechanism, double scale, bool flat)
{
    unlink(path_of("l.jsonl"));
    return (struct sotto_release){.mechanism = mechanism,
                                  .scale = scale,
                                  .target = {0, 1e-5},
                                  .sensitivity = {.l1 = 1, .l2 = 1},
                                  .flat_doubt = flat,
                                  .spend = {.dataset_id = "toy",
                                            .source = &exercise,
                                            .ledger = path_of("l.jsonl"),
                                            .insecure = 1,
                                            .insecure_seed = 5}};
}

static struct sotto_certificate *release(double *x, size_t n, const struct sotto_release *r, int threads)
{
    struct sotto_certificate *c = NULL;
    const struct sotto_context ctx = {.threads = threads};
    if (sotto_dp_release_double(&c, x, n, r, &ctx) != SOTTO_OK)
        fail_msg("%s: %s", r->mechanism, sotto_error_text());
    return c;
}

/* A promise: no version, instruction set or number of threads changes these numbers. In half steps of the lattice, of
 * 3, 0.3, ...; discrete noise in halves. */
TEST(known_answers)
{
    static const struct {
        const char *name;
        bool flat;
        int exponent; /* of the half step */
        double half_steps[3];
    } known[] = {{"gaussian", false, -40, {1334082324669, 6282522186155371, 12564612418521288}},
                 {"logistic", false, -40, {-3007301291697, 6279645116964741, 12566444762446992}},
                 {"laplace", false, -40, {-2200712730301, 6280476744459959, 12566178194928732}},
                 {"laplace", true, -32, {-8596534103, 24533112283047, 49086633573941}},
                 {"discrete-laplace", false, -1, {-4, 0, 8}},
                 {"discrete-laplace", true, -1, {-4, 0, 8}}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        for (int threads = 1; threads <= 3; threads++) {
            struct sotto_release r = request(known[k].name, 1.25, known[k].flat);
            static double x[100000];
            for (int i = 0; i < 100000; i++)
                x[i] = known[k].exponent == -1 ? i % 7 : i / 7.0;
            sotto_certificate_free(release(x, 100000, &r, threads));
            for (int i = 0; i < 3; i++)
                if (ldexp(x[i * 40000], -known[k].exponent) != known[k].half_steps[i])
                    fail_msg("%s%s, value %d, %d threads: %.17g half steps", known[k].name,
                             known[k].flat ? " flat" : "", i * 40000, threads,
                             ldexp(x[i * 40000], -known[k].exponent));
        }
}

/* Epsilon is that of a sensitivity which is enlarged by hand, for the step that was rounded to. */
TEST(accounts_count_the_real_step)
{
    static const size_t sizes[] = {1, 1000, 1000000};
    for (int i = 0; i < 3; i++) {
        const double n = (double)sizes[i], step = 0x1p-39; /* of scale 1 */
        struct sotto_sensitivity s = {.l1 = 1, .l2 = 1, .dimension = sizes[i]};
        struct sotto_account a;
        assert_int_equal(sotto_account_release(&a, "laplace", 1, &s, 0, 1, NULL), SOTTO_OK);
        assert_true(a.pure_epsilon >= 1 + n * step && a.pure_epsilon <= (1 + n * step) * (1 + 0x1p-50));
        assert_int_equal(account_on(&a, "laplace", 1, &s, 0, LATTICE_BITS_FLAT, NULL), SOTTO_OK);
        assert_true(a.pure_epsilon >= 1 + n * 0x1p-31 && a.pure_epsilon <= (1 + n * 0x1p-31) * (1 + 0x1p-50));
        s = (struct sotto_sensitivity){.l2 = 1, .dimension = sizes[i]};
        struct sotto_sensitivity wider = {.l2 = 1 + sqrt(n) * step};
        struct sotto_interval real, enlarged, more;
        assert_int_equal(sotto_epsilon(&real, "gaussian", 1, &s, 1e-6), SOTTO_OK);
        assert_int_equal(sotto_epsilon(&enlarged, "gaussian", 1, &wider, 1e-6), SOTTO_OK);
        wider.l2 = 1 + 2 * sqrt(n) * step;
        assert_int_equal(sotto_epsilon(&more, "gaussian", 1, &wider, 1e-6), SOTTO_OK);
        assert_true(real.upper >= enlarged.lower && real.lower <= enlarged.upper);
        if (i == 2) /* with fewer values what rounding adds is below the width of these intervals */
            assert_true(real.upper < more.lower);
    }
}

/* What a release with flat doubts pays for its coarser lattice is in account, certificate and ledger's total. */
TEST(flat_doubt_is_accounted)
{
    double x[1000] = {0};
    struct sotto_release r = request("laplace", 1, true);
    r.spend.insecure = 0;
    struct sotto_certificate *c = release(x, 1000, &r, 1);
    assert_true(sotto_certificate_account(c)->pure_epsilon >= 1 + 1000 * 0x1p-31);
    assert_true(certificate_holds(c, "exact, doubts flat"));
    assert_true(certificate_holds(c, "\"lattice_exponent\": -31"));
    assert_false(certificate_holds(c, "constant"));
    sotto_certificate_free(c);
    struct ledger l;
    assert_int_equal(ledger_read(&l, path_of("l.jsonl")), SOTTO_OK);
    assert_true(sums_of(&l)->conditional.pure.high >= 1 + 1000 * 0x1p-31);
    ledger_close(&l);
    r = request("laplace", 0, true); /* a target is met on that lattice */
    r.target = (struct sotto_dp){1, SOTTO_DELTA_PURE};
    c = release(x, 1000, &r, 1);
    assert_true(sotto_certificate_account(c)->pure_epsilon <= 1);
    assert_true(sotto_certificate_account(c)->scale >= 1 + 1000 * 0x1p-32);
    sotto_certificate_free(c);
}

/* Far beyond what 64 bits hold a value keeps its size; at 2^120 steps it ends. */
TEST(values_of_any_size)
{
    static const struct {
        double value, comes_out;
    } cases[] = {{1e9, 1e9},       {-1e15, -1e15}, {0x1p80, 0x1p80},
                 {0x1p81, 0x1p81}, {1e30, 0x1p81}, {-1e300, -0x1p81}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sotto_release r = request("logistic", 1, false);
        double x[2] = {cases[i].value, 0};
        sotto_certificate_free(release(x, 2, &r, 1));
        assert_true(fabs(x[0] - cases[i].comes_out) < 50 + fabs(cases[i].comes_out) * 0x1p-52);
        assert_true(fabs(x[1]) < 50);
        if (fabs(cases[i].value) > 1e38)
            continue; /* no float */
        float y[2] = {(float)cases[i].value, 0};
        struct sotto_certificate *c;
        r = request("logistic", 1, false);
        assert_int_equal(sotto_dp_release(&c, y, 2, &r, NULL), SOTTO_OK);
        sotto_certificate_free(c);
        assert_true(fabs((double)y[0] - cases[i].comes_out) < 50 + fabs(cases[i].comes_out) * 0x1p-23);
    }
}

TEST(other_values_are_refused)
{
    struct sotto_certificate *c = NULL;
    double x[2] = {1, NAN};
    struct sotto_release r = request("laplace", 1, false);
    assert_int_equal(sotto_dp_release_double(&c, x, 2, &r, NULL), SOTTO_EINVAL);
    assert_true(x[0] == 1 && !c);
    x[1] = INFINITY;
    assert_int_equal(sotto_dp_release_double(&c, x, 2, &r, NULL), SOTTO_EINVAL);
}

/* The charge first and the values later: the same integers, of a lattice finer or coarser than the values. */
TEST(values_may_come_after_the_charge)
{
    static const double scales[] = {0x1p10, 0x1.8p32, 0x1p45};
    const int64_t values[] = {0, 1, -12345679, ((int64_t)1 << 52) + 1};
    for (size_t i = 0; i < 3; i++) {
        double x[4], y[4];
        for (size_t j = 0; j < 4; j++)
            x[j] = (double)values[j];
        struct sotto_release r = request("laplace", scales[i], false);
        sotto_certificate_free(release(x, 4, &r, 1));
        struct vector_release *v = NULL;
        struct sotto_certificate *c = NULL;
        r = request("laplace", scales[i], false);
        assert_int_equal(vector_release_open(&v, &r, 4, 0, NULL), SOTTO_OK);
        struct ledger l;
        assert_int_equal(ledger_read(&l, path_of("l.jsonl")), SOTTO_OK);
        assert_int_equal(l.charges, 1);
        ledger_close(&l);
        assert_true(vector_release_scale(v) == scales[i]);
        assert_int_equal(vector_release_draw(&c, y, values, v), SOTTO_OK);
        assert_memory_equal(x, y, sizeof x);
        sotto_certificate_free(c);
        assert_int_equal(vector_release_draw(&c, y, values, v), SOTTO_EINVAL);
        vector_release_close(v);
    }
    struct vector_release *v = NULL;
    struct sotto_release r = request("laplace", 0.5, false);
    assert_int_equal(vector_release_open(&v, &r, 4, 0, NULL), SOTTO_EDOMAIN);
    r = request("discrete-laplace", 8, false);
    assert_int_equal(vector_release_open(&v, &r, 4, 0, NULL), SOTTO_EINVAL);
    assert_null(v);
    assert_int_not_equal(access(path_of("l.jsonl"), F_OK), 0); /* nothing was charged */
}

TEST_GROUP(.set_up = make_folder, .tear_down = remove_folder)
