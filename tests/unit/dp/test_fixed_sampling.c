/* Samples of a fixed size: drawn evenly, accounted for a replaced record, by an account that holds every
 * small case that can be gone through and is met by the worst of them; reserved, certified, composed and
 * refused. */
#include "support/test.h"
#include "support/effort.h"
#include "support/worse.h"
#include "support/exercise.h"
#include "base/memory.h"
#include "dp/noise/fixed_sample.h"
#include "dp/dpsgd/dpsgd_json.h"
#include "io/json/json.h"
#include "rng/rng.h"
#include "support/temporary_folder.h"
#include "support/certificate_text.h"
#include "support/verify_json.h"
#include "sotto/lab/account.h"
#include "sotto/release.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- the account --- */

static struct sotto_sampled steps_of(const char *mechanism, double multiplier, double rate, size_t steps)
{
    return (struct sotto_sampled){.mechanism = mechanism,
                                  .noise_multiplier = multiplier,
                                  .sample_rate = rate,
                                  .steps = steps,
                                  .delta = 1e-3,
                                  .adjacency = SOTTO_REPLACE_ONE,
                                  .sampling = SOTTO_SAMPLING_FIXED};
}

static struct sotto_account account_of(const struct sotto_sampled *s)
{
    struct sotto_account a;
    assert_int_equal(sotto_account_sampled(&a, s, NULL), SOTTO_OK);
    return a;
}

/* N records of a value each in [-1, 1]; samples of M; one step is their sum and noise of scale SCALE. */
enum { N = 5, M = 2, GRID = 600 };
static const double scale = 1.5, reach = 14;
static double density[2][GRID];

static double law(const char *mechanism, double x)
{
    if (mechanism[0] == 'g')
        return exp(-x * x / 2) / sqrt(2 * 3.14159265358979323846);
    return mechanism[1] == 'a' ? exp(-fabs(x)) / 2 : 1 / (4 * cosh(x / 2) * cosh(x / 2));
}

/* Of one step's output, all samples of M counted alike. */
static void outputs(double *out, const char *mechanism, const double value[N])
{
    memset(out, 0, GRID * sizeof *out);
    for (size_t a = 0; a < N; a++)
        for (size_t b = 0; b < a; b++)
            for (size_t i = 0; i < GRID; i++) {
                double z = -reach + 2 * reach * ((double)i + 0.5) / GRID;
                out[i] += law(mechanism, (z - value[a] - value[b]) / scale) / scale / (N * (N - 1) / 2);
            }
}

/* The hockey stick of one step, or of two of them, by summing. */
static double delta_of(double epsilon, int count)
{
    const double cell = 2 * reach / GRID;
    double sum = 0;
    for (size_t i = 0; i < GRID; i++) {
        if (count == 1)
            sum += cell * fmax(0, density[0][i] - exp(epsilon) * density[1][i]);
        for (size_t j = 0; count == 2 && j < GRID; j++)
            sum += cell * cell *
                   fmax(0, density[0][i] * density[0][j] - exp(epsilon) * density[1][i] * density[1][j]);
    }
    return sum;
}

TEST(no_small_case_exceeds_it)
{
    static const char *const names[] = {"gaussian", "logistic", "laplace"};
    struct rng r = rng_stream(1, RNG_TEST, 0, 0);
    for (int m = 0; m < 3; m++)
        for (int count = 1; count <= 2; count++) {
            struct sotto_sampled s = steps_of(names[m], scale, (double)M / N, (size_t)count);
            s.clipping = m == 0 ? SOTTO_NORM_L2 : SOTTO_NORM_L1;
            struct sotto_account a = account_of(&s);
            double largest = 0, slack = 2e-4; /* of the sum over a grid */
            assert_true(a.epsilon.lower > 0 && a.epsilon.lower <= a.epsilon.upper);
            for (int trial = 0; trial < by_effort(16, 40, 400); trial++) {
                double value[N], other[N];
                for (size_t i = 0; i < N; i++)
                    value[i] = trial == 0  ? -1
                               : trial < 8 ? (rng_below(&r, 2) ? 1 : -1)
                                           : 2 * rng_unit_f(&r) - 1;
                memcpy(other, value, sizeof other);
                value[0] = trial == 0 ? 1 : value[0];
                other[0] = trial == 0 ? -1 : trial % 2 ? -value[0] : 2 * rng_unit_f(&r) - 1;
                outputs(density[trial % 2], names[m], value);
                outputs(density[1 - trial % 2], names[m], other);
                if (trial == 0) { /* the worst data sets: the lower end is theirs, for one step both are */
                    double worst = delta_of(a.epsilon.lower, count);
                    if (!(fabs(worst - s.delta) < slack))
                        fail_msg("%s, %d steps: delta %g at the lower end", names[m], count, worst);
                    assert_true(count == 2 || a.epsilon.upper - a.epsilon.lower < 1e-6);
                }
                largest = worse(largest, delta_of(a.epsilon.upper, count));
            }
            if (!(largest <= s.delta + slack))
                fail_msg("%s, %d steps: delta %g at epsilon %g", names[m], count, largest, a.epsilon.upper);
        }
}

/* A whole sample is no sample: the sum of all records moves by twice the norm. */
TEST(a_rate_of_one_is_the_plain_mechanism)
{
    for (int m = 0; m < 2; m++) {
        struct sotto_sampled s = steps_of(m ? "logistic" : "gaussian", 3, 1, 1);
        struct sotto_account a, plain;
        s.clipping = m ? SOTTO_NORM_L1 : SOTTO_NORM_L2;
        const struct sotto_sensitivity twice = {.l1 = m ? 2 : NAN, .l2 = m ? NAN : 2};
        assert_int_equal(sotto_account_sampled(&a, &s, NULL), SOTTO_OK);
        assert_int_equal(sotto_account_release(&plain, s.mechanism, 3, &twice, s.delta, 1, NULL), SOTTO_OK);
        assert_true(fabs(a.epsilon.upper / plain.epsilon.upper - 1) < 1e-6);
        assert_true(fabs(a.epsilon.lower / plain.epsilon.upper - 1) < 1e-6);
        assert_true(!m || fabs(a.pure_epsilon / plain.pure_epsilon - 1) < 1e-12);
        s.clipping = SOTTO_NORM_L2; /* by Renyi divergence */
        s.steps = 5;
        assert_int_equal(sotto_account_sampled(&a, &s, NULL), SOTTO_OK);
        assert_true(a.epsilon.upper < INFINITY && a.epsilon.upper >= a.epsilon.lower);
    }
}

/* Below: the pair of a record that comes, moved by twice the norm. Above: less than a group of two such. */
TEST(it_lies_between_what_is_known)
{
    const double multipliers[] = {0.8, 1.5}, rates[] = {0.3, 0.02};
    for (size_t i = 0; i < 4; i++)
        for (int m = 0; m < 2; m++) {
            struct sotto_sampled s =
                steps_of(m ? "logistic" : "gaussian", multipliers[i / 2], rates[i % 2], i == 1 ? 50 : 1);
            struct sotto_sampled half = s;
            half.sampling = SOTTO_SAMPLING_POISSON;
            half.adjacency = SOTTO_ADD_REMOVE;
            half.noise_multiplier /= 2;
            struct sotto_account a = account_of(&s), one = account_of(&half);
            half.noise_multiplier *= 2;
            half.adjacency = SOTTO_REPLACE_ONE;
            struct sotto_account poisson = account_of(&half);
            assert_int_equal(a.adjacency, SOTTO_REPLACE_ONE);
            assert_int_equal(a.sampling, SOTTO_SAMPLING_FIXED);
            assert_int_equal(one.sampling, SOTTO_SAMPLING_POISSON);
            assert_true(a.epsilon.lower <= one.epsilon.upper * (1 + 1e-6));
            assert_true(a.epsilon.upper >= one.epsilon.lower);
            assert_true(a.epsilon.upper >= poisson.epsilon.lower);
            double calibrated;
            if (s.steps > 1)
                continue;
            assert_int_equal(sotto_calibrate_sampled(&calibrated, &s, a.epsilon.upper, NULL), SOTTO_OK);
            assert_true(calibrated <= s.noise_multiplier * (1 + 1e-5));
            s.noise_multiplier = calibrated;
            assert_true(account_of(&s).epsilon.upper <= a.epsilon.upper);
        }
}

TEST(others_are_refused)
{
    struct sotto_account a;
    struct sotto_sampled s = steps_of("gaussian", 1, 0.1, 10);
    s.adjacency = SOTTO_ADD_REMOVE;
    assert_int_equal(sotto_account_sampled(&a, &s, NULL), SOTTO_EINVAL);
    assert_non_null(
        strstr(sotto_error_text(),
               "fixed sampling needs replace-one adjacency; give replace-one, or poisson sampling"));
    s = steps_of("gaussian", 1, 0.1, 10);
    s.sampling = (enum sotto_sampling)7;
    assert_int_equal(sotto_account_sampled(&a, &s, NULL), SOTTO_EINVAL);
    s = steps_of("gaussian", 1, 0.1, 10);
    assert_int_equal(sotto_account_sampled_certified(&a, &s, NULL), SOTTO_ENOTSUP);
}

/* --- drawing --- */

TEST(every_set_is_as_likely)
{
    enum { DRAWS = 40000 };
    struct fixed_sample f;
    struct noise *s;
    uint32_t rows[6], count[64] = {0};
    double square = 0, expected = DRAWS / 20.0;
    assert_int_equal(noise_open_insecure(&s, 3), SOTTO_OK);
    assert_int_equal(fixed_sample_make(&f, 0.5, 6), SOTTO_OK);
    for (int d = 0; d < DRAWS; d++) {
        assert_int_equal(fixed_sample_draw(rows, &f, s), 3);
        assert_true(rows[0] < rows[1] && rows[1] < rows[2] && rows[2] < 6);
        count[1u << rows[0] | 1u << rows[1] | 1u << rows[2]]++;
    }
    for (unsigned set = 0; set < 64; set++)
        if (__builtin_popcount(set) == 3)
            square += (count[set] - expected) * (count[set] - expected) / expected;
    assert_true(square < 19 + 4 * sqrt(38)); /* 19 degrees of freedom */
    fixed_sample_free(&f);
    assert_int_equal(fixed_sample_make(&f, 1, 130), SOTTO_OK);
    uint32_t all[130];
    assert_int_equal(fixed_sample_draw(all, &f, s), 130);
    for (uint32_t i = 0; i < 130; i++)
        assert_int_equal(all[i], i);
    fixed_sample_free(&f);
    noise_close(s);
}

TEST(rates_are_rounded_up)
{
    for (size_t n = 1; n < 3000; n += 1 + n / 7)
        for (size_t m = 1; m <= n; m++) {
            struct fixed_sample f;
            double rate = sampling_rate(SOTTO_SAMPLING_FIXED, m, n);
            assert_true((long double)rate * n >= (long double)m && rate - (double)m / (double)n < 1e-15);
            assert_int_equal(fixed_sample_make(&f, rate, n), SOTTO_OK);
            assert_int_equal(f.size, m);
            fixed_sample_free(&f);
            double less = nextafter((double)m / (double)n, 0); /* one less than requested, never more */
            if (m > 1) {
                assert_int_equal(fixed_sample_make(&f, less, n), SOTTO_OK);
                assert_int_equal(f.size, m - 1);
                fixed_sample_free(&f);
            }
            assert_true(sampling_rate(SOTTO_SAMPLING_POISSON, m, n) == (double)m / (double)n);
        }
    struct fixed_sample f;
    assert_int_equal(fixed_sample_make(&f, 0.1, 9), SOTTO_EINVAL);
    assert_int_equal(fixed_sample_make(&f, 0.1, (size_t)UINT32_MAX + 1), SOTTO_EINVAL);
    base_alloc_fail_after(0);
    assert_int_equal(fixed_sample_make(&f, 0.5, 9), SOTTO_ENOMEM);
    base_alloc_fail_after(-1);
}

TEST(names)
{
    enum sotto_sampling sampling;
    assert_string_equal(sotto_sampling_name((enum sotto_sampling)9), "unknown");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sotto_sampling_find(&sampling, sotto_sampling_name((enum sotto_sampling)i)),
                         SOTTO_OK);
        assert_int_equal(sampling, i);
    }
    assert_int_equal(sotto_sampling_find(&sampling, "shuffled"), SOTTO_EINVAL);
}

/* --- runs --- */

static struct sotto_dpsgd_request reserve_of(size_t steps)
{
    struct sotto_dpsgd_request r = {
        .sampled = steps_of("gaussian", 6, sampling_rate(SOTTO_SAMPLING_FIXED, 7, 23), steps),
        .max_grad_norm = 1,
        .dimension = 3,
        .spend = {.dataset_id = "toy", .source = &exercise, .ledger = path_of("l.jsonl")},
        .records = 23};
    r.sampled.delta = 1e-5;
    return r;
}

static double epsilon_in(const char *json, const char *key)
{
    const char *at = strstr(json, key);
    assert_non_null(at);
    return strtod(at + strlen(key), NULL);
}

TEST(runs_are_certified)
{
    struct sotto_dpsgd_request r = reserve_of(1);
    struct sotto_dpsgd_session *s;
    uint32_t rows[23];
    size_t count;
    double sum[3] = {0};
    struct sotto_certificate *certificate = NULL;
    char *report = NULL, *total = NULL, run[33];
    unlink(r.spend.ledger);
    assert_int_equal(sotto_dp_reserve(&s, &r, NULL), SOTTO_OK);
    assert_int_equal(sotto_dp_step(s, sum), SOTTO_EINVAL); /* not sampled */
    assert_int_equal(sotto_dp_sample(s, rows, &count, 22), SOTTO_EINVAL);
    assert_int_equal(sotto_dp_sample(s, rows, &count, 23), SOTTO_OK);
    assert_int_equal(count, 7);
    assert_int_equal(sotto_dp_step(s, sum), SOTTO_OK);
    snprintf(run, sizeof run, "%s", sotto_dpsgd_session_run(s));
    sotto_dpsgd_session_close(s);
    r.run = run; /* goes on: both reservations are accounted together */
    r.first_step = 1;
    assert_int_equal(sotto_dp_reserve(&s, &r, NULL), SOTTO_OK);
    assert_int_equal(sotto_dpsgd_session_certificate(&certificate, s), SOTTO_OK);
    assert_true(certificate_comes_back(certificate));
    sotto_dpsgd_session_close(s);
    struct sotto_sampled all = r.sampled;
    all.steps = 2;
    double expected = account_of(&all).epsilon.upper,
           claimed = sotto_certificate_account(certificate)->epsilon.upper;
    assert_true(fabs(claimed / expected - 1) < 1e-6);
    assert_true(certificate_holds(certificate, "replace-one"));
    assert_true(certificate_holds(certificate, "\"sampling\": \"fixed\""));
    char hash[65];
    memset(hash, 'a', 64);
    hash[64] = 0;
    assert_int_equal(sotto_certificate_save(path_of("c.json"), certificate, hash), SOTTO_OK);
    assert_int_equal(verify_json(&report, path_of("c.json"), NULL, r.spend.ledger, NULL), SOTTO_OK);
    assert_int_equal(sotto_ledger_account(&total, r.spend.ledger, 1e-5, NULL), SOTTO_OK);
    assert_true(fabs(epsilon_in(total, "\"epsilon\":") / expected - 1) < 1e-6); /* no group of two */
    r.sampled.sampling = SOTTO_SAMPLING_POISSON;                                /* another run */
    assert_int_equal(sotto_dp_reserve(&s, &r, NULL), SOTTO_EINVAL);
    sotto_certificate_free(certificate);
    sotto_text_free(report);
    sotto_text_free(total);
}

TEST(reservations_are_refused)
{
    struct sotto_dpsgd_session *s;
    struct sotto_dpsgd_request r = reserve_of(1);
    r.spend.ledger = path_of("none.jsonl");
    r.records = 0;
    assert_int_equal(sotto_dp_reserve(&s, &r, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "number of records"));
    r.records = 2;
    assert_int_equal(sotto_dp_reserve(&s, &r, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "records gives empty samples; give a larger sample_rate"));
    r.records = 23;
    r.sampled.adjacency = SOTTO_ZERO_OUT;
    assert_int_equal(sotto_dp_reserve(&s, &r, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "needs replace-one adjacency"));
    assert_int_equal(access(r.spend.ledger, F_OK), -1);
    for (long n = 0; n < 30; n++) { /* memory runs out anywhere */
        r = reserve_of(1);
        unlink(r.spend.ledger);
        base_alloc_fail_after(n);
        sotto_status status = sotto_dp_reserve(&s, &r, NULL);
        base_alloc_fail_after(-1);
        assert_true(status == SOTTO_OK || status == SOTTO_ENOMEM);
        if (status == SOTTO_OK)
            sotto_dpsgd_session_close(s);
    }
}

TEST(facts_are_read_back)
{
    struct dpsgd_facts f = {.mechanism = "gaussian",
                            .scale = 2,
                            .max_grad_norm = 1,
                            .sample_rate = 0.1,
                            .dimension = 3,
                            .sampling = SOTTO_SAMPLING_FIXED},
                       g;
    struct json *object = json_make_object();
    dpsgd_facts_put(&object, &f);
    assert_int_equal(dpsgd_facts_get(&g, object, "a test"), SOTTO_OK);
    assert_int_equal(g.sampling, SOTTO_SAMPLING_FIXED);
    json_put_text(&object, "sampling", "shuffled");
    assert_int_equal(dpsgd_facts_get(&g, object, "a test"), SOTTO_EFORMAT);
    json_free(object);
}

/* --- compositions --- */

static sotto_status account_text(struct sotto_account *a, const char *events)
{
    char text[512];
    snprintf(text, sizeof text, "{\"schema\": \"sotto.events/1\", \"events\": [%s]}", events);
    FILE *file = fopen(path_of("events.json"), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return sotto_account_events_file(a, path_of("events.json"), 1e-5, SOTTO_SAME_ADJACENCY, NULL);
}

TEST(it_composes)
{
    struct sotto_account a, pure;
#define STEPS "\"mechanism\": \"gaussian\", \"noise_multiplier\": 2, \"sample_rate\": 0.1, \"steps\": 2"
    assert_int_equal(account_text(&a, "{" STEPS ", \"sampling\": \"fixed\"}"), SOTTO_OK);
    struct sotto_sampled s = steps_of("gaussian", 2, 0.1, 2);
    s.delta = 1e-5;
    double alone = account_of(&s).epsilon.upper;
    assert_true(fabs(a.epsilon.upper / alone - 1) < 1e-4);
    assert_int_equal(a.adjacency, SOTTO_REPLACE_ONE);
    assert_int_equal(a.sampling, SOTTO_SAMPLING_FIXED);
    assert_int_equal(account_text(&a, "{" STEPS ", \"sampling\": \"fixed\", \"group\": 2}"), SOTTO_OK);
    assert_true(a.epsilon.upper > alone && isfinite(a.epsilon.upper)); /* two replaced records */
    assert_int_equal(account_text(&a, "{" STEPS ", \"sampling\": \"poisson\"}"), SOTTO_OK);
    assert_int_equal(a.adjacency, SOTTO_ADD_REMOVE);
    assert_int_equal(account_text(&a, "{" STEPS ", \"sampling\": \"shuffled\"}"), SOTTO_EFORMAT);
    assert_int_equal(account_text(&a, "{" STEPS ", \"sampling\": 3}"), SOTTO_EFORMAT);
    assert_int_equal(account_text(&a, "{" STEPS ", \"sampling\": \"fixed\", \"adjacency\": \"add-remove\"}"),
                     SOTTO_ENOTSUP);
    assert_int_equal(
        account_text(&a, "{" STEPS ", \"sampling\": \"poisson\", \"adjacency\": \"replace-one\"}"),
        SOTTO_ENOTSUP);
    struct sotto_event e = {.mechanism = "laplace",
                            .count = 3,
                            .noise_multiplier = 2,
                            .sample_rate = 0.1,
                            .clipping = SOTTO_NORM_L1,
                            .adjacency = SOTTO_REPLACE_ONE,
                            .sampling = SOTTO_SAMPLING_FIXED};
    assert_int_equal(sotto_account_events(&pure, &e, 1, 0, SOTTO_SAME_ADJACENCY, NULL), SOTTO_OK);
    assert_true(fabs(pure.pure_epsilon / (3 * log1p(0.1 * expm1(1))) - 1) < 1e-9);
    e.sampling = (enum sotto_sampling)5;
    assert_int_equal(sotto_account_events(&pure, &e, 1, 0, SOTTO_SAME_ADJACENCY, NULL), SOTTO_EINVAL);
}

TEST_GROUP(.set_up = make_folder, .tear_down = remove_folder, .tags = "long")
