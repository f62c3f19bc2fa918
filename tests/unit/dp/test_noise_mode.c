/* Runs with fast noise: the bits that the stream promises, what ledger and certificate say of it, and what is
 * refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/exercise.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "dp/mechanism/mechanism.h"
#include "sotto/sotto.h"
#include "support/temporary_folder.h"
#include "support/certificate_text.h"
#include "support/verify_json.h"

#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 20000, SEED = 9 };
static double sum[N], other[N];
static float single[N], also[N];

static struct sotto_dpsgd_request reserve_of(const char *mechanism, size_t steps)
{
    return (struct sotto_dpsgd_request){.sampled = {.mechanism = mechanism,
                                                    .noise_multiplier = 40,
                                                    .sample_rate = 1,
                                                    .steps = steps,
                                                    .delta = 0.3,
                                                    .clipping = SOTTO_NORM_L2,
                                                    .adjacency = SOTTO_ZERO_OUT,
                                                    .sampling = SOTTO_SAMPLING_POISSON},
                                        .max_grad_norm = 0.5,
                                        .dimension = N,
                                        .spend = {.dataset_id = "toy",
                                                  .source = &exercise,
                                                  .ledger = path_of("l.jsonl"),
                                                  .insecure = 1,
                                                  .insecure_seed = SEED},
                                        .noise_mode = SOTTO_NOISE_FAST};
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
    r.sampled.clipping = strcmp(mechanism, "laplace") == 0 ? SOTTO_NORM_L1 : SOTTO_NORM_L2;
    return open_steps(&r, threads);
}

/* Step after step takes the next 32 bytes of the reservation's stream as its key. */
static void steps_have_keys_of_their_own(void **state)
{
    (void)state;
    static const char *const names[] = {"gaussian", "logistic", "laplace"};
    for (int m = 0; m < 3; m++) {
        struct sotto_dpsgd_session *s = reserve(names[m], 1), *two = reserve(names[m], 2);
        struct fast_sum how = {mechanism_find(names[m])->fast, 20, false, 1};
        struct noise *stream;
        unsigned char key[CHACHA_KEY];
        assert_int_equal(noise_open_insecure(&stream, SEED), SOTTO_OK);
        for (int step = 0; step < 3; step++) {
            noise_bytes(stream, key, sizeof key);
            for (size_t i = 0; i < N; i++)
                other[i] = single[i] = (float)i;
            fast_noise_add(other, N, &how, key);
            for (size_t i = 0; i < N; i++)
                sum[i] = (float)i;
            assert_int_equal(sotto_dp_step(s, sum), SOTTO_OK);
            assert_memory_equal(sum, other, sizeof sum);
            assert_int_equal(sotto_dp_step_float(two, single), SOTTO_OK);
            for (size_t i = 0; i < N; i++)
                also[i] = (float)i;
            how.floats = true;
            fast_noise_add(also, N, &how, key);
            how.floats = false;
            assert_memory_equal(single, also, sizeof single);
        }
        assert_int_equal(sotto_dpsgd_session_used(s), 3);
        assert_int_equal(sotto_dp_step(s, sum), SOTTO_EBUDGET);
        noise_close(stream);
        sotto_dpsgd_session_close(s);
        sotto_dpsgd_session_close(two);
    }
}

/* Nothing is drawn twice: not by another step, another reservation, nor a run that goes on. */
static void no_stream_is_used_twice(void **state)
{
    (void)state;
    enum { DRAWS = 6, VALUES = 500 };
    static double drawn[DRAWS][VALUES];
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
            assert_int_equal(sotto_dp_step(s, drawn[d + i]), SOTTO_OK);
        sotto_dpsgd_session_close(s);
    }
    int same = 0;
    for (int a = 0; a < DRAWS; a++)
        for (int b = 0; b < a; b++)
            for (int i = 0; i < VALUES; i++)
                same += drawn[a][i] == drawn[b][i];
    assert_true(same < 3); /* of 7,500 pairs: draws have some 2^22 values near 0 */
}

/* A child has the reservation, too, but never its noise. */
static void a_forked_child_draws_other_noise(void **state)
{
    (void)state;
    struct sotto_dpsgd_session *s = reserve("gaussian", 1);
    int pipes[2], result;
    assert_int_equal(pipe(pipes), 0);
    memset(sum, 0, sizeof sum);
    if (fork() == 0) {
        bool failed = sotto_dp_step(s, sum) != SOTTO_OK;
        _exit(failed || write(pipes[1], sum, 4096) != 4096);
    }
    assert_int_equal(sotto_dp_step(s, sum), SOTTO_OK);
    wait(&result);
    assert_int_equal(result, 0);
    assert_int_equal(read(pipes[0], other, 4096), 4096);
    int same = 0;
    for (size_t i = 0; i < 4096 / sizeof *sum; i++)
        same += other[i] == 0 || other[i] == sum[i];
    assert_true(same < 3);
    close(pipes[0]);
    close(pipes[1]);
    sotto_dpsgd_session_close(s);
}

static char *text_of(const char *path)
{
    unsigned char *data;
    size_t size;
    assert_int_equal(file_read(&data, &size, path, 1 << 20), SOTTO_OK);
    char *text = strndup((char *)data, size);
    base_free(data);
    return text;
}

static sotto_status verify(const char *text)
{
    char *report = NULL;
    assert_int_equal(file_write(path_of("c.json"), text, strlen(text)), SOTTO_OK);
    sotto_status status = certificate_verify_json(&report, path_of("c.json"), NULL, path_of("l.jsonl"), NULL);
    sotto_text_free(report);
    return status;
}

static void certificates_name_the_mode(void **state)
{
    (void)state;
    static const struct {
        enum sotto_noise_mode mode;
        const char *said, *not_said;
    } modes[] = {{SOTTO_NOISE_EXACT, "\"noise_mode\": \"exact\"", "fast"},
                 {SOTTO_NOISE_FAST, "\"noise_mode\": \"fast\"", "exact, integers only"}};
    for (int i = 0; i < 2; i++) {
        struct sotto_dpsgd_request r = reserve_of("logistic", 2);
        struct sotto_certificate *text;
        char *line, hash[SHA256_HEX], *saved;
        unlink(path_of("l.jsonl"));
        r.spend.insecure = 0;
        r.noise_mode = modes[i].mode;
        struct sotto_dpsgd_session *s = open_steps(&r, 1);
        char *entry = text_of(path_of("l.jsonl")); /* before any noise */
        assert_non_null(strstr(entry, i ? "\"noise_mode\":\"fast\"" : "\"noise_mode\":\"exact\""));
        assert_int_equal(strstr(entry, "floating-point and timing attacks") != NULL, i);
        free(entry);
        memset(sum, 0, sizeof sum);
        assert_int_equal(sotto_dp_step(s, sum), SOTTO_OK);
        assert_int_equal(sotto_dpsgd_session_certificate(&text, s), SOTTO_OK);
        sotto_dpsgd_session_close(s);
        assert_true(certificate_holds(text, modes[i].said));
        assert_false(certificate_holds(text, modes[i].not_said));
        assert_int_equal(sotto_certificate_summary(&line, text), SOTTO_OK);
        assert_int_equal(strstr(line, "it ends at 45.1 scales, are not excluded") != NULL, i);
        sotto_text_free(line);
        sha256_of(hash, "", 0);
        assert_int_equal(sotto_certificate_save(path_of("s.json"), text, hash), SOTTO_OK);
        saved = text_of(path_of("s.json"));
        assert_int_equal(verify(saved), SOTTO_OK);
        /* the other mode does not verify, neither does an unknown one; none at all is an old exact one */
        char *at = strstr(saved, modes[i].said), forged[16384];
        static const struct {
            const char *text;
            sotto_status status[2];
        } forgeries[] = {{"\"noise_mode\": \"exact\"", {SOTTO_OK, SOTTO_EGATE}},
                         {"\"noise_mode\": \"fast\"", {SOTTO_EGATE, SOTTO_OK}},
                         {"\"noise_mode\": \"quick\"", {SOTTO_EFORMAT, SOTTO_EFORMAT}},
                         {"\"was\": 0", {SOTTO_OK, SOTTO_EGATE}}};
        for (int f = 0; f < 4; f++) {
            snprintf(forged, sizeof forged, "%.*s%s%s", (int)(at - saved), saved, forgeries[f].text,
                     at + strlen(modes[i].said));
            assert_int_equal(verify(forged), forgeries[f].status[i]);
        }
        free(saved);
        /* a run keeps its mode */
        char *again = text_of(path_of("l.jsonl")), run[33];
        snprintf(run, sizeof run, "%.32s", strstr(again, "\"run\":\"") + 7);
        free(again);
        r.run = run;
        r.spend.ledger = path_of("l.jsonl"); /* the other text was good for eight calls */
        r.noise_mode = modes[1 - i].mode;
        s = NULL;
        assert_int_equal(sotto_dp_reserve(&s, &r, NULL), SOTTO_EINVAL);
        assert_non_null(strstr(sotto_error_text(), "noise mode"));
        assert_null(s);
        sotto_certificate_free(text);
    }
}

static void seeded_fast_noise_is_stamped(void **state)
{
    (void)state;
    struct sotto_certificate *text;
    struct sotto_dpsgd_session *s = reserve("gaussian", 1);
    assert_int_equal(sotto_dp_step(s, sum), SOTTO_OK);
    assert_int_equal(sotto_dpsgd_session_certificate(&text, s), SOTTO_OK);
    assert_true(certificate_holds(text, "noise was seeded: no privacy guarantee"));
    assert_false(certificate_holds(text, "differentially private"));
    sotto_certificate_free(text);
    sotto_dpsgd_session_close(s);
}

/* In silence: they count as the largest that it would not, and NaN as 0. */
static void values_that_noise_would_drown_in(void **state)
{
    (void)state;
    static const struct {
        double value;
        bool single;
        double counts_as;
    } cases[] = {{NAN, false, 0},
                 {NAN, true, 0},
                 {-INFINITY, true, -0x1p16 * 20},
                 {1e300, false, 0x1p30 * 20},
                 {-0x1p16 * 20, true, -0x1p16 * 20},
                 {0x1p29 * 20, false, 0x1p29 * 20},
                 {0x1p15 * 20, true, 0x1p15 * 20}};
    struct sotto_dpsgd_session *s = reserve("gaussian", 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sotto_dpsgd_session_close(s);
        s = reserve("gaussian", 1);
        memset(sum, 0, sizeof sum);
        memset(single, 0, sizeof single);
        sum[N - 1] = cases[i].value;
        single[N - 1] = (float)cases[i].value;
        size_t used = sotto_dpsgd_session_used(s);
        sotto_status status = cases[i].single ? sotto_dp_step_float(s, single) : sotto_dp_step(s, sum);
        assert_int_equal(status, SOTTO_OK);
        assert_int_equal(sotto_dpsgd_session_used(s), used + 1);
        assert_true((cases[i].single ? single[0] : sum[0]) != 0);
        double last = cases[i].single ? single[N - 1] : sum[N - 1];
        assert_true(fabs(last - cases[i].counts_as) < 10 * 20 + fabs(cases[i].counts_as) * 0x1p-19);
    }
    sotto_dpsgd_session_close(s);
}

/* The lattice takes sums of floats too, and gives the floats that it gives for doubles. */
static void exact_noise_on_floats(void **state)
{
    (void)state;
    struct sotto_dpsgd_request r = reserve_of("logistic", 2);
    r.noise_mode = SOTTO_NOISE_EXACT;
    r.dimension = 50;
    struct sotto_dpsgd_session *s = open_steps(&r, 1), *same = open_steps(&r, 1);
    for (size_t i = 0; i < 50; i++)
        sum[i] = single[i] = (float)i / 3;
    assert_int_equal(sotto_dp_step(s, sum), SOTTO_OK);
    assert_int_equal(sotto_dp_step_float(same, single), SOTTO_OK);
    for (size_t i = 0; i < 50; i++)
        assert_true(sum[i] == single[i]);
    single[3] = INFINITY; /* the same end of the lattice */
    assert_int_equal(sotto_dp_step_float(same, single), SOTTO_OK);
    sum[3] = 1e300;
    assert_int_equal(sotto_dp_step(s, sum), SOTTO_OK);
    assert_true(sum[3] > 0x1p60 && isfinite(sum[3]) && sum[3] == single[3]);
    sotto_dpsgd_session_close(s);
    sotto_dpsgd_session_close(same);
}

static void names(void **state)
{
    (void)state;
    enum sotto_noise_mode mode = SOTTO_NOISE_FAST;
    assert_int_equal(sotto_noise_mode_find(&mode, "exact"), SOTTO_OK);
    assert_int_equal(mode, SOTTO_NOISE_EXACT);
    assert_int_equal(sotto_noise_mode_find(&mode, "fast"), SOTTO_OK);
    assert_string_equal(sotto_noise_mode_name(mode), "fast");
    assert_int_equal(sotto_noise_mode_find(&mode, "quick"), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "noise mode 'quick' is unknown; expected exact or fast");
    assert_string_equal(sotto_noise_mode_name((enum sotto_noise_mode)2), "unknown");
    struct sotto_dpsgd_request r = reserve_of("gaussian", 1);
    struct sotto_dpsgd_session *s = NULL;
    r.noise_mode = (enum sotto_noise_mode)7;
    assert_int_equal(sotto_dp_reserve(&s, &r, NULL), SOTTO_EINVAL);
    assert_non_null(
        strstr(sotto_error_text(),
               "reserve: noise_mode 7 is unknown; expected SOTTO_NOISE_EXACT or SOTTO_NOISE_FAST"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_have_keys_of_their_own),
        cmocka_unit_test(no_stream_is_used_twice),
        cmocka_unit_test(a_forked_child_draws_other_noise),
        cmocka_unit_test(certificates_name_the_mode),
        cmocka_unit_test(seeded_fast_noise_is_stamped),
        cmocka_unit_test(values_that_noise_would_drown_in),
        cmocka_unit_test(exact_noise_on_floats),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
