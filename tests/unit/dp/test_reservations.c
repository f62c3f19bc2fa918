/* src/core/dp/release/reserve.c: a run is charged before its first step, whatever becomes of it; kill -9 at any point. */
#include "support/test.h"
#include "support/ledger_sums_of.h"
#include "support/ledger_folder.h"
#include "base/file.h"
#include "dp/ledger/ledger_account.h"
#include "dp/release/dpsgd_session.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct sotto_dpsgd_request reserve_of(size_t steps)
{
    return (struct sotto_dpsgd_request){.sampled = {.mechanism = "gaussian",
                                                    .noise_multiplier = 4,
                                                    .sample_rate = 0.01,
                                                    .steps = steps,
                                                    .delta = 1e-5,
                                                    .adjacency = SOTTO_ZERO_OUT},
                                        .max_grad_norm = 0.5,
                                        .dimension = 3,
                                        .spend = {.dataset_id = "toy", .source = &exercise, .ledger = path}};
}

static double total(void)
{
    struct ledger l;
    struct sotto_account a;
    assert_int_equal(ledger_read(&l, path), SOTTO_OK);
    assert_int_equal(ledger_column_account(&a, &sums_of(&l)->proved, &sums_of(&l)->proved_events, 1e-5, NULL),
                     SOTTO_OK);
    ledger_close(&l);
    return a.epsilon.upper;
}

/* What that many steps cost by themselves, a replaced record being a group of two. */
static double steps_alone(size_t steps)
{
    struct sotto_dpsgd_request r = reserve_of(steps);
    struct sotto_event e = {.mechanism = "gaussian",
                            .count = steps,
                            .noise_multiplier = r.sampled.noise_multiplier,
                            .sample_rate = r.sampled.sample_rate,
                            .adjacency = SOTTO_ADD_REMOVE};
    struct sotto_account a;
    assert_int_equal(sotto_account_events(&a, &e, 1, 1e-5, SOTTO_REPLACE_ONE, NULL), SOTTO_OK);
    return a.epsilon.upper;
}

/* A step on whatever sample of 3 records comes up. */
static sotto_status step(struct sotto_dpsgd_session *s, double *sum)
{
    uint32_t rows[3];
    size_t count;
    sotto_status status = sotto_dp_sample(s, rows, &count, 3);
    if (status != SOTTO_OK && status != SOTTO_EINVAL) /* EINVAL: sampled before a step that was refused */
        return status;
    return sotto_dp_step(s, sum);
}

TEST(a_run_is_charged_whole_before_its_first_step)
{
    struct sotto_dpsgd_request r = reserve_of(10);
    struct sotto_dpsgd_session *s;
    double sum[3] = {1, 2, 3};
    assert_int_equal(sotto_dp_reserve(&s, &r, NULL), SOTTO_OK);
    double charged = total();
    assert_true(fabs(charged / steps_alone(10) - 1) < 1e-6);
    assert_int_equal(strlen(dpsgd_session_entry(s)), 64);
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(sotto_dpsgd_session_used(s), i);
        assert_int_equal(step(s, sum), SOTTO_OK);
    }
    assert_true(sum[0] != 1 && sum[1] != 2 && sum[2] != 3);
    double before = sum[0];
    assert_int_equal(step(s, sum), SOTTO_EBUDGET);
    assert_non_null(strstr(sotto_error_text(), "all 10 reserved steps are used"));
    assert_true(sum[0] == before);
    sotto_dpsgd_session_close(s);
    assert_true(total() == charged); /* using steps costs nothing more */
}

TEST(interrupted_steps_stay_charged)
{
    struct sotto_dpsgd_request r = reserve_of(10);
    struct sotto_dpsgd_session *s;
    double sum[3] = {0};
    assert_int_equal(sotto_dp_reserve(&s, &r, NULL), SOTTO_OK);
    assert_int_equal(step(s, sum), SOTTO_OK);
    sotto_dpsgd_session_close(s); /* dies after step 1, resumes from a checkpoint at 0 */
    assert_int_equal(sotto_dp_reserve(&s, &r, NULL), SOTTO_OK);
    sotto_dpsgd_session_close(s);
    double charged = total();
    assert_true(fabs(charged / steps_alone(20) - 1) < 1e-6);
    assert_int_equal(release_once(2), SOTTO_OK); /* and a release on the same data composes with it */
    double both = total();
    assert_true(both > charged + 0.1 && both < charged + 0.5 + 1e-9);
}

TEST(a_reservation_obeys_the_budget)
{
    struct sotto_dpsgd_request r = reserve_of(100);
    struct sotto_dpsgd_session *s = NULL;
    r.spend.budget = (struct sotto_dp){steps_alone(100) * 1.1, 1e-5};
    assert_int_equal(sotto_dp_reserve(&s, &r, NULL), SOTTO_OK);
    sotto_dpsgd_session_close(s);
    s = NULL;
    r.sampled.steps = 1000;
    assert_int_equal(sotto_dp_reserve(&s, &r, NULL), SOTTO_EBUDGET);
    assert_null(s);
    r.sampled.steps = 1;
    assert_int_equal(sotto_dp_reserve(&s, &r, NULL), SOTTO_OK);
    sotto_dpsgd_session_close(s);
}

TEST(reservations_are_checked)
{
    struct sotto_dpsgd_session *s = NULL;
    struct sotto_dpsgd_request good = reserve_of(10), r;
#define REFUSED(change, wanted, text)                                                                        \
    do {                                                                                                     \
        r = good;                                                                                            \
        change;                                                                                              \
        assert_int_equal(sotto_dp_reserve(&s, &r, NULL), wanted);                                            \
        assert_non_null(strstr(sotto_error_text(), text));                                                   \
        assert_null(s);                                                                                      \
    } while (0)
    REFUSED(r.max_grad_norm = 0, SOTTO_EINVAL, "max_grad_norm must be greater than 0");
    REFUSED(r.sampled.noise_multiplier = NAN, SOTTO_EINVAL, "noise_multiplier must be greater than 0");
    REFUSED(r.max_grad_norm = 1e-90;
            r.sampled.noise_multiplier = 1e-90, SOTTO_EINVAL, "noise_multiplier * max_grad_norm");
    REFUSED(r.dimension = 0, SOTTO_EINVAL, "the dimension is 0");
    REFUSED(r.spend.dataset_id = "", SOTTO_EINVAL, "has no identity");
    REFUSED(r.spend.dataset_id = NULL, SOTTO_EINVAL, "has no identity");
    REFUSED(r.sampled.steps = 0, SOTTO_EINVAL, "steps must be at least 1");
    REFUSED(r.sampled.mechanism = "laplace", SOTTO_ENOTSUP, "laplace");
    assert_false(file_exists(path)); /* refused before anything was written down */
    good.spend.insecure = 1;
    good.spend.insecure_seed = 3;
    good.records = 100;
    good.sampled.delta = 0.02; /* warned about */
    assert_int_equal(sotto_dp_reserve(&s, &good, NULL), SOTTO_OK);
    double sum[3] = {1, NAN, INFINITY}; /* taken as they come, in silence: 0, and the lattice's end */
    assert_int_equal(step(s, sum), SOTTO_OK);
    assert_true(isfinite(sum[0]) && fabs(sum[1]) < 1e6 && sum[2] > 0x1p17 && isfinite(sum[2]));
    assert_int_equal(sotto_dpsgd_session_used(s), 1);
    sotto_dpsgd_session_close(s);
    sotto_dpsgd_session_close(NULL);
    struct ledger l;
    assert_int_equal(ledger_read(&l, path), SOTTO_OK);
    assert_int_equal(l.seeded, 1);
    ledger_close(&l);
}

/* Mean square of the noise of many steps against its law (five standard errors), with a control. */
TEST(step_noise_has_its_scale)
{
    enum { STEPS = 4000 };
    struct sotto_dpsgd_request r = reserve_of(STEPS);
    struct sotto_dpsgd_session *s;
    double square = 0, expected = 2.0 * 2.0, error = expected * sqrt(2.0 / (3 * STEPS));
    r.spend.insecure = 1;
    assert_int_equal(sotto_dp_reserve(&s, &r, NULL), SOTTO_OK);
    for (int i = 0; i < STEPS; i++) {
        double sum[3] = {5, 5, 5};
        assert_int_equal(step(s, sum), SOTTO_OK);
        for (int j = 0; j < 3; j++)
            square += pow(sum[j] - 5, 2) / (3 * STEPS);
    }
    sotto_dpsgd_session_close(s);
    assert_true(fabs(square - expected) < 5 * error);
    assert_true(fabs(square - expected * 1.2 * 1.2) > 5 * error);
}

/* A child trains and reports every step; killed at a random moment. Its whole run was charged before. */
TEST(killed_runs_were_charged_before_they_began)
{
    size_t reported = 0;
    for (int round = 0; round < 8; round++) {
        int pipes[2];
        assert_int_equal(pipe(pipes), 0);
        pid_t child = fork();
        if (child == 0) {
            close(pipes[0]);
            for (;;) {
                struct sotto_dpsgd_request r = reserve_of(25);
                struct sotto_dpsgd_session *s;
                double sum[3] = {0};
                if (sotto_dp_reserve(&s, &r, NULL) != SOTTO_OK)
                    _exit(1);
                while (step(s, sum) == SOTTO_OK)
                    if (write(pipes[1], "x", 1) != 1)
                        _exit(2);
                sotto_dpsgd_session_close(s);
            }
        }
        close(pipes[1]);
        char buffer[4096];
        if (round >= 6) { /* the account alone takes a while: these rounds are killed after the first step */
            assert_int_equal(read(pipes[0], buffer, 1), 1);
            reported++;
        }
        nanosleep(&(struct timespec){0, (4 + 9 * round) * 1000000L}, NULL);
        kill(child, SIGKILL);
        int result;
        assert_int_equal(waitpid(child, &result, 0), child);
        assert_true(WIFSIGNALED(result));
        for (ssize_t got; (got = read(pipes[0], buffer, sizeof buffer)) > 0;)
            reported += (size_t)got;
        close(pipes[0]);
        struct ledger l;
        assert_int_equal(ledger_open(&l, path, NULL), SOTTO_OK);
        size_t charged = 0;
        for (size_t i = 0; i < sums_of(&l)->proved_events.count; i++)
            charged += sums_of(&l)->proved_events.items[i].count;
        assert_true(charged >= reported);
        ledger_close(&l);
    }
    assert_true(reported > 0);
}

TEST(a_reservation_survives_allocation_failures)
{
    sotto_status status = SOTTO_ENOMEM;
    int n;
    for (n = 0; status != SOTTO_OK && n < 2000; n += n < 12 ? 1 : 13) { /* most are the account's own */
        struct sotto_dpsgd_request r = reserve_of(3);
        struct sotto_dpsgd_session *s = NULL;
        base_alloc_fail_after(n);
        status = sotto_dp_reserve(&s, &r, NULL);
        base_alloc_fail_after(-1);
        if (status != SOTTO_OK) {
            assert_int_equal(status, SOTTO_ENOMEM);
            assert_null(s);
        }
        sotto_dpsgd_session_close(s);
    }
    assert_int_equal(status, SOTTO_OK);
    assert_true(n > 10);
}

TEST_GROUP(.before = make_folder, .after = remove_folder, .tags = "long")
