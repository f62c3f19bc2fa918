/* Steps of a reservation: the integers that its streams promise, whatever the threads and how far ahead samples
 * are drawn; the lattice, sums that are on it, and values that are none. */
#include "support/test.h"
#include "support/leave.h"
#include "support/verify_json.h"
#include "support/exercise.h"

#include "dp/dpsgd/dpsgd_reservations.h"
#include "dp/mechanism/mechanism.h"
#include "dp/noise/discretised_noise.h"
#include "dp/release/dpsgd_session.h"
#include "num/interval.h"
#include "sotto/private/all.h"
#include "support/certificate_text.h"
#include "support/temporary_folder.h"

#include <fenv.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 40000, SEED = 9 };
static double sum[N], other[N];
static float single[N];
static int64_t drawn[N];

static struct sotto_dpsgd_request reserve_of(const char *mechanism, size_t steps)
{
    const bool by_l1 = strcmp(mechanism, "laplace") == 0;
    return (struct sotto_dpsgd_request){.sampled = {.mechanism = mechanism,
                                                    .noise_multiplier = 40,
                                                    .sample_rate = 1,
                                                    .steps = steps,
                                                    .delta = 0.3,
                                                    .clipping = by_l1 ? SOTTO_NORM_L1 : SOTTO_NORM_L2,
                                                    .adjacency = SOTTO_ZERO_OUT},
                                        .max_grad_norm = 0.5,
                                        .dimension = N,
                                        .spend = {.dataset_id = "toy",
                                                  .source = &exercise,
                                                  .ledger = path_of("l.jsonl"),
                                                  .insecure = 1,
                                                  .insecure_seed = SEED}};
}

static struct sotto_dpsgd_session *open_steps(const struct sotto_dpsgd_request *r, int threads)
{
    struct sotto_dpsgd_session *s = NULL;
    struct sotto_context ctx = {.threads = threads};
    if (sotto_dp_reserve(&s, r, &ctx) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    return s;
}

static struct sotto_dpsgd_session *reserve(const char *mechanism, int threads)
{
    unlink(path_of("l.jsonl"));
    struct sotto_dpsgd_request r = reserve_of(mechanism, 3);
    return open_steps(&r, threads);
}

/* ---- what is drawn ---- */

/* A seed gives the stream of the samples, whose first word is the seed of the keys; a step takes 32 bytes of those. */
static struct noise *keys_of(uint64_t seed)
{
    struct noise *samples, *keys;
    assert_int_equal(noise_open_insecure(&samples, seed), SOTTO_OK);
    assert_int_equal(noise_open_insecure(&keys, noise_u64(samples)), SOTTO_OK);
    noise_close(samples);
    return keys;
}

/* The integers of step after step, on sums that are i / 3, by rint() instead of the pass over chunks. */
TEST(steps_have_keys_of_their_own)
{
    static const char *const names[] = {"gaussian", "logistic", "laplace"};
    for (int m = 0; m < 3; m++) {
        struct sotto_dpsgd_session *s = reserve(names[m], 1), *of_floats = reserve(names[m], 2);
        const double r = sotto_dpsgd_session_lattice(s);
        struct noise *keys = keys_of(SEED);
        for (int step = 0; step < 3; step++) {
            struct discretised_noise noise;
            assert_int_equal(
                discretised_noise_open(&noise, mechanism_find(names[m])->law, 20 / r, false, keys), SOTTO_OK);
            assert_int_equal(discretised_noise_fill(&noise, drawn, 0, N, 1), SOTTO_OK);
            discretised_noise_close(&noise);
            for (int i = 0; i < N; i++)
                sum[i] = i / 3.0;
            for (int i = 0; i < N; i++)
                single[i] = (float)i;
            assert_int_equal(sotto_dp_step(s, sum), SOTTO_OK);
            assert_int_equal(dp_step_float(of_floats, single), SOTTO_OK);
            for (int i = 0; i < N; i++) {
                assert_true(sum[i] == (2 * (rint(i / 3.0 / r) + (double)drawn[i]) + 1) * r / 2);
                assert_true(single[i] == (float)((2 * (i / r + (double)drawn[i]) + 1) * r / 2));
            }
        }
        assert_int_equal(sotto_dpsgd_session_used(s), 3);
        assert_int_equal(sotto_dp_step(s, sum), SOTTO_EBUDGET);
        noise_close(keys);
        sotto_dpsgd_session_close(s);
        sotto_dpsgd_session_close(of_floats);
    }
}

/* These numbers are a promise: no version, instruction set or number of threads changes them. */
TEST(known_answers)
{
    static const struct {
        const char *name;
        double half_steps[4];
    } known[] = {{"gaussian", {4939214299, 231879982981, 460852423535, 685883758117}},
                 {"logistic", {681503821, 238588435847, 483928408923, 678927381519}},
                 {"laplace", {351558419, 235869499215, 480271045381, 682035110205}}};
    for (int m = 0; m < 3; m++)
        for (int threads = 1; threads <= 3; threads++) {
            struct sotto_dpsgd_session *s = reserve(known[m].name, threads);
            const double half = sotto_dpsgd_session_lattice(s) / 2;
            for (int i = 0; i < N; i++)
                sum[i] = i / 7.0;
            assert_int_equal(sotto_dp_step(s, sum), SOTTO_OK);
            for (int i = 0; i < 4; i++)
                if (sum[i * 6000] / half != known[m].half_steps[i])
                    fail_msg("%s, %d threads, value %d: %.17g half steps", known[m].name, threads, i * 6000,
                             sum[i * 6000] / half);
            if (threads > 1)
                assert_memory_equal(sum, other, sizeof sum);
            memcpy(other, sum, sizeof sum);
            sotto_dpsgd_session_close(s);
        }
}

/* Nothing is drawn twice: not by another step, another reservation, nor a run that goes on. */
TEST(no_stream_is_used_twice)
{
    enum { DRAWS = 6, VALUES = 500 };
    static double values[DRAWS][VALUES];
    char run[33] = "";
    unlink(path_of("l.jsonl"));
    for (int d = 0; d < DRAWS; d += 2) {
        struct sotto_dpsgd_request r = reserve_of("gaussian", 2);
        r.spend.insecure = 0;
        r.dimension = VALUES;
        r.run = d > 0 ? run : NULL;
        struct sotto_dpsgd_session *s = open_steps(&r, 1);
        snprintf(run, sizeof run, "%s", sotto_dpsgd_session_run(s));
        for (int i = 0; i < 2; i++)
            assert_int_equal(sotto_dp_step(s, values[d + i]), SOTTO_OK);
        sotto_dpsgd_session_close(s);
    }
    int same = 0;
    for (int a = 0; a < DRAWS; a++)
        for (int b = 0; b < a; b++)
            for (int i = 0; i < VALUES; i++)
                same += values[a][i] == values[b][i];
    assert_int_equal(same, 0); /* of 7,500 pairs of numbers with some 2^32 values */
}

/* A charge pays for one run. A child that was forked behind it makes none: no step, no sample, no certificate; the parent goes on. */
static int refused_in_the_child(struct sotto_dpsgd_session *s)
{
    struct sotto_certificate *certificate = NULL;
    uint32_t rows[4];
    size_t count = 4;
    memset(sum, 0, sizeof sum);
    const bool refused = sotto_dp_sample(s, rows, &count, 4) == SOTTO_EINVAL &&
                         sotto_dp_step(s, sum) == SOTTO_EINVAL &&
                         strstr(sotto_error_text(), "reserved before this process was forked") &&
                         sotto_dpsgd_session_certificate(&certificate, s) == SOTTO_EINVAL && !certificate;
    for (size_t i = 0; i < sizeof sum / sizeof *sum; i++)
        if (sum[i] != 0)
            return 2;
    return refused ? 0 : 1;
}

TEST(a_forked_child_takes_no_step)
{
    for (int turn = 0; turn < 2; turn++) { /* by coins, and the second time with every record in each step */
        struct sotto_dpsgd_request r = reserve_of("gaussian", 3);
        unlink(path_of("l.jsonl"));
        if (turn == 0)
            r.sampled.sample_rate = 0.5;
        struct sotto_dpsgd_session *s = open_steps(&r, 1);
        for (int child = 0; child < 3; child++) {
            int result;
            const pid_t id = fork();
            assert_true(id >= 0);
            if (id == 0)
                leave(refused_in_the_child(s));
            assert_int_equal(waitpid(id, &result, 0), id);
            assert_int_equal(result, 0);
            uint32_t rows[4];
            size_t count = 4;
            assert_int_equal(sotto_dp_sample(s, rows, &count, 4), SOTTO_OK);
            assert_int_equal(sotto_dp_step(s, sum), SOTTO_OK);
        }
        sotto_dpsgd_session_close(s);
    }
}

/* ---- samples ahead ---- */

enum { RECORDS = 300, STEPS = 6, VALUES = 40 };
struct taken {
    uint32_t rows[STEPS][RECORDS];
    size_t count[STEPS];
    double sum[STEPS][VALUES];
};

/* Before each step as many samples as are `ahead` of it are there. */
static void take_steps(struct taken *t, enum sotto_sampling sampling, int ahead)
{
    struct sotto_dpsgd_request r = reserve_of("gaussian", STEPS);
    unlink(path_of("l.jsonl"));
    r.sampled.sample_rate = 0.1;
    r.sampled.sampling = sampling;
    r.sampled.adjacency = SOTTO_REPLACE_ONE;
    r.dimension = VALUES;
    r.records = RECORDS;
    struct sotto_dpsgd_session *s = open_steps(&r, 1);
    memset(t, 0, sizeof *t);
    for (int step = 0, next = 0; step < STEPS; step++) {
        for (; next < STEPS && next <= step + ahead; next++)
            assert_int_equal(sotto_dp_sample(s, t->rows[next], &t->count[next], RECORDS), SOTTO_OK);
        assert_int_equal(sotto_dp_step(s, t->sum[step]), SOTTO_OK);
        assert_int_equal(sotto_dpsgd_session_used(s), step + 1);
    }
    assert_int_equal(sotto_dp_sample(s, t->rows[0], &t->count[0], RECORDS), SOTTO_EBUDGET);
    sotto_dpsgd_session_close(s);
}

TEST(samples_ahead_change_nothing)
{
    static struct taken in_turn, early;
    static const int ahead[] = {1, 3, STEPS};
    for (int sampling = 0; sampling < 2; sampling++) {
        take_steps(&in_turn, (enum sotto_sampling)sampling, 0);
        assert_true(in_turn.count[0] > 10 && memcmp(in_turn.rows[0], in_turn.rows[1], 40) != 0);
        for (int i = 0; i < 3; i++) {
            take_steps(&early, (enum sotto_sampling)sampling, ahead[i]);
            assert_memory_equal(&early, &in_turn, sizeof early);
        }
    }
}

TEST(no_more_samples_than_steps)
{
    struct sotto_dpsgd_request r = reserve_of("gaussian", 3);
    uint32_t rows[RECORDS];
    size_t count;
    unlink(path_of("l.jsonl"));
    r.sampled.sample_rate = 0.5;
    struct sotto_dpsgd_session *s = open_steps(&r, 1);
    assert_int_equal(sotto_dp_step(s, sum), SOTTO_EINVAL); /* not sampled */
    assert_int_equal(sotto_dpsgd_session_used(s), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(sotto_dp_sample(s, rows, &count, RECORDS), SOTTO_OK);
    assert_int_equal(sotto_dp_sample(s, rows, &count, RECORDS), SOTTO_EBUDGET);
    assert_non_null(strstr(sotto_error_text(), "all 3 reserved steps"));
    for (int i = 0; i < 3; i++)
        assert_int_equal(sotto_dp_step(s, sum), SOTTO_OK);
    assert_int_equal(sotto_dp_step(s, sum), SOTTO_EBUDGET);
    sotto_dpsgd_session_close(s);
    r.sampled.sample_rate = 1; /* nothing need be sampled, and a step without a sample uses up its sample */
    unlink(path_of("l.jsonl"));
    s = open_steps(&r, 1);
    assert_int_equal(sotto_dp_step(s, sum), SOTTO_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sotto_dp_sample(s, rows, &count, RECORDS), SOTTO_OK);
        assert_true(count == RECORDS && rows[RECORDS - 1] == RECORDS - 1);
    }
    assert_int_equal(sotto_dp_sample(s, rows, &count, RECORDS), SOTTO_EBUDGET);
    sotto_dpsgd_session_close(s);
}

/* ---- the lattice ---- */

TEST(lattices_are_chosen_from_public_numbers)
{
    static const struct {
        double scale, norm;
        size_t dimension, records;
        enum sotto_norm clipping;
        int exponent;
    } cases[] = {
        {1, 1, 10, 0, SOTTO_NORM_L2, -31},
        {1.99, 1, 1000000, 60000, SOTTO_NORM_L2, -31},
        {2, 1, 10, 100, SOTTO_NORM_L2, -30},
        {1, 1, 10, 0, SOTTO_NORM_L1, -31},      /* records unknown: room first */
        {1, 1, 2048, 1000, SOTTO_NORM_L1, -31}, /* 2^11 / 2^31 = 2^-20 */
        {1, 1, 2049, 1000, SOTTO_NORM_L1, -32},
        {1, 1, 1000000, 1000, SOTTO_NORM_L1, -39},    /* at most 2^40 steps */
        {1, 1, 1000000, 1 << 20, SOTTO_NORM_L1, -29}, /* 2^20 and more records: 2^50 steps */
        {1e-3, 1, 10, 4000000, SOTTO_NORM_L2, -28}};  /* 1e-3 = 1.024 2^-10: the scale alone asks for -41 */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct dpsgd_facts f = {.scale = cases[i].scale,
                                      .max_grad_norm = cases[i].norm,
                                      .dimension = cases[i].dimension,
                                      .clipping = cases[i].clipping};
        const int found = run_lattice(&f, cases[i].records);
        if (found != cases[i].exponent)
            fail_msg("case %zu: 2^%d, expected 2^%d", i, found, cases[i].exponent);
        assert_true((double)cases[i].records * cases[i].norm <= ldexp(1, 50 + found));
    }
}

/* The account has the step that is really rounded to, and nothing where nothing is rounded. */
TEST(accounts_count_the_real_step)
{
    struct dpsgd_facts f = {.scale = 3, .max_grad_norm = 1, .dimension = 1000000, .lattice_exponent = -30};
    assert_true(run_multiplier(&f) <= 3 / (1 + 1000 * 0x1p-30));
    assert_true(run_multiplier(&f) > 3 / (1 + 1001 * 0x1p-30));
    f.clipping = SOTTO_NORM_L1;
    assert_true(run_multiplier(&f) <= 3 / (1 + 1e6 * 0x1p-30));
    assert_true(run_multiplier(&f) > 3 / (1 + 1.01e6 * 0x1p-30));
    f.on_lattice = true;
    assert_true(run_multiplier(&f) <= 3 && run_multiplier(&f) >= next_down(next_down(3)));
}

TEST(sums_on_the_lattice)
{
    struct sotto_dpsgd_request r = reserve_of("gaussian", 2);
    unlink(path_of("l.jsonl"));
    struct sotto_dpsgd_session *rounds = open_steps(&r, 1);
    unlink(path_of("l.jsonl"));
    r.on_lattice = 1;
    struct sotto_dpsgd_session *exact = open_steps(&r, 1);
    const double step = sotto_dpsgd_session_lattice(exact);
    assert_true(step == sotto_dpsgd_session_lattice(rounds));
    for (int i = 0; i < N; i++) {
        other[i] = (i - N / 2) * 12345.0;
        sum[i] = other[i] * step;
    }
    assert_int_equal(sotto_dp_step(exact, other), SOTTO_EINVAL);
    assert_non_null(
        strstr(sotto_error_text(), "the reservation is on_lattice; call sotto_dp_step_lattice()"));
    assert_int_equal(dp_step_float(exact, single), SOTTO_EINVAL);
    assert_int_equal(sotto_dp_step_lattice(rounds, sum), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "the reservation is not on_lattice; call sotto_dp_step()"));
    assert_int_equal(sotto_dp_step(rounds, sum), SOTTO_OK);
    assert_int_equal(sotto_dp_step_lattice(exact, other), SOTTO_OK);
    assert_memory_equal(sum, other, sizeof sum);
    sotto_dpsgd_session_close(rounds);
    sotto_dpsgd_session_close(exact);
}

/* What ledger and certificate say of it; a certificate that claims sums on a lattice which the ledger does not know, or
 * a finer one, fails. */
TEST(certificates_name_the_lattice)
{
    for (int on = 0; on < 2; on++) {
        struct sotto_dpsgd_request r = reserve_of("logistic", 2);
        struct sotto_certificate *c;
        char hash[65] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", *report = NULL;
        unlink(path_of("l.jsonl"));
        r.spend.insecure = 0;
        r.on_lattice = on;
        struct sotto_dpsgd_session *s = open_steps(&r, 1);
        assert_int_equal(sotto_dpsgd_session_certificate(&c, s), SOTTO_OK);
        sotto_dpsgd_session_close(s);
        assert_true(certificate_holds(c, "\"lattice_exponent\": -27"));
        assert_int_equal(certificate_holds(c, "\"on_lattice\": true"), on);
        assert_true(certificate_holds(c, "\"sampler\": \"exact: floor of the continuous law"));
        assert_int_equal(sotto_certificate_save(path_of("c.json"), c, hash), SOTTO_OK);
        assert_int_equal(verify_json(&report, path_of("c.json"), NULL, path_of("l.jsonl"), NULL), SOTTO_OK);
        sotto_text_free(report);
        sotto_certificate_free(c);
    }
}

/* ---- values that are none ---- */

/* In silence: they count as the end of the lattice, and NaN as 0. */
TEST(values_that_noise_would_drown_in)
{
    static const double values[] = {NAN, INFINITY, -INFINITY, 1e300, -1e30, 0x1p60, 1e9};
    struct sotto_dpsgd_session *s = NULL;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        for (int floats = 0; floats < 2; floats++) {
            sotto_dpsgd_session_close(s);
            s = reserve("gaussian", 1);
            const double end = 0x1p51 * sotto_dpsgd_session_lattice(s);
            memset(sum, 0, sizeof sum);
            memset(single, 0, sizeof single);
            sum[N - 1] = values[i];
            single[N - 1] = (float)values[i];
            assert_int_equal(floats ? dp_step_float(s, single) : sotto_dp_step(s, sum), SOTTO_OK);
            assert_int_equal(sotto_dpsgd_session_used(s), 1);
            double last = floats ? (double)single[N - 1] : sum[N - 1];
            double counts_as = isnan(values[i]) ? 0 : fmax(-end, fmin(values[i], end));
            assert_true(fabs(last - counts_as) < 10 * 20 + fabs(counts_as) * 0x1p-23);
            assert_true(fabs(last) <= end * (1 + 0x1p-23) &&
                        (floats || last != counts_as)); /* doubles: odd half steps */
        }
    sotto_dpsgd_session_close(s);
}

/* Where the noise is larger than any float, its largest stands for it. */
TEST(floats_stay_finite)
{
    struct sotto_dpsgd_request r = reserve_of("gaussian", 1);
    unlink(path_of("l.jsonl"));
    r.max_grad_norm = 1e50;
    struct sotto_dpsgd_session *s = open_steps(&r, 1);
    memset(single, 0, sizeof single);
    assert_int_equal(dp_step_float(s, single), SOTTO_OK);
    for (int i = 0; i < N; i++)
        assert_true(isfinite(single[i]));
    sotto_dpsgd_session_close(s);
}

TEST(other_rounding_is_refused)
{
    struct sotto_dpsgd_session *s = reserve("gaussian", 1);
    memset(sum, 0, sizeof sum);
    fesetround(FE_UPWARD);
    sotto_status status = sotto_dp_step(s, sum);
    fesetround(FE_TONEAREST);
    assert_int_equal(status, SOTTO_EINVAL);
    assert_true(sotto_dpsgd_session_used(s) == 0 && sum[7] == 0);
    assert_int_equal(sotto_dp_step(s, sum), SOTTO_OK);
    sotto_dpsgd_session_close(s);
}

TEST(seeded_noise_is_stamped)
{
    struct sotto_certificate *c;
    struct sotto_dpsgd_session *s = reserve("gaussian", 1);
    assert_int_equal(sotto_dp_step(s, sum), SOTTO_OK);
    assert_int_equal(sotto_dpsgd_session_certificate(&c, s), SOTTO_OK);
    assert_true(certificate_holds(c, "noise was seeded: no privacy guarantee"));
    assert_false(certificate_holds(c, "differentially private"));
    sotto_certificate_free(c);
    sotto_dpsgd_session_close(s);
}

TEST_GROUP(.set_up = make_folder, .tear_down = remove_folder, .tags = "matrix")
