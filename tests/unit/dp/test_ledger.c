/* src/dp/ledger/ledger.c: the chain, torn lines, budgets, two processes, kill -9 at any point. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/exercise.h"
#include "base/file.h"
#include "dp/ledger/ledger_account.h"
#include "dp/ledger/ledger_registry.h"
#include "sotto/sotto.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char folder[64], path[128], torn[160];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/sotto-test-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/sub/l.jsonl", folder);
    snprintf(torn, sizeof torn, "%s.torn", path);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static struct sotto_release release_of(double scale)
{
    return (struct sotto_release){.mechanism = "logistic",
                                  .scale = scale,
                                  .target = {NAN, 1e-5},
                                  .sensitivity = {.l1 = 1, .l2 = NAN, .source = SOTTO_SENSITIVITY_PROVED},
                                  .spend = {.dataset_id = "toy", .source = &exercise, .ledger = path}};
}

static sotto_status release_once(double scale)
{
    struct sotto_release r = release_of(scale);
    float v[4] = {0};
    struct sotto_certificate *certificate = NULL;
    sotto_status status = sotto_dp_release(&certificate, v, 4, &r, NULL);
    sotto_certificate_free(certificate);
    return status;
}

static void releases_add_up(void **state)
{
    (void)state;
    struct ledger l;
    for (int i = 0; i < 3; i++)
        assert_int_equal(release_once(2), SOTTO_OK);
    assert_int_equal(ledger_read(&l, path), SOTTO_OK);
    assert_int_equal(l.entries, 3);
    assert_int_equal(l.proved.releases, 3);
    assert_true(fabs(l.proved.pure - 1.5) < 1e-10);
    assert_true(fabs(l.proved.rho - 3 * 0.25 / 6) < 1e-10);
    struct sotto_account a;
    assert_int_equal(ledger_column_account(&a, &l.proved, &l.proved_events, 0, NULL), SOTTO_OK);
    assert_true(fabs(a.epsilon.upper - l.proved.pure) < 1e-12);
    assert_int_equal(ledger_column_account(&a, &l.proved, &l.proved_events, 1e-4, NULL), SOTTO_OK);
    assert_true(a.epsilon.upper < l.proved.pure); /* three releases by their exact composition */
    assert_int_equal(ledger_column_account(&a, &l.conditional, &l.conditional_events, 0, NULL), SOTTO_OK);
    assert_true(a.epsilon.upper == 0);
    ledger_close(&l);
}

static void write_text(const char *name, const char *text, size_t bytes)
{
    assert_int_equal(file_write(name, text, bytes), SOTTO_OK);
}

static void a_changed_ledger_is_refused(void **state)
{
    (void)state;
    unsigned char *data;
    size_t size;
    struct ledger l;
    for (int i = 0; i < 3; i++)
        assert_int_equal(release_once(2), SOTTO_OK);
    assert_int_equal(file_read(&data, &size, path, 1 << 20), SOTTO_OK);
    char *first_end = strchr((char *)data, '\n') + 1, *second_end = strchr(first_end, '\n') + 1;

    char *digit = strstr(first_end, "\"scale\":2"); /* one digit of line 2 */
    digit[8] = '9';
    write_text(path, (char *)data, size);
    assert_int_equal(ledger_read(&l, path), SOTTO_EFORMAT);
    assert_non_null(
        strstr(sotto_error_text(),
               "line 2: its hash does not match, so the ledger was changed after it was written"));
    assert_int_equal(release_once(2), SOTTO_EFORMAT);
    digit[8] = '2';

    write_text(path, first_end, size - (size_t)(first_end - (char *)data)); /* line 1 removed */
    assert_int_equal(ledger_read(&l, path), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), "line 1: does not follow the line before it"));

    memmove(first_end, second_end, size - (size_t)(second_end - (char *)data)); /* line 2 removed */
    write_text(path, (char *)data, size - (size_t)(second_end - first_end));
    assert_int_equal(ledger_read(&l, path), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), "line 2: does not follow the line before it"));

    write_text(path, "{}\n", 3);
    assert_int_equal(ledger_read(&l, path), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), "line 1: has no hash at its end"));
    assert_int_equal(ledger_read(&l, torn), SOTTO_ENOENT);
    base_free(data);
}

static void a_torn_line_is_moved_aside_and_recorded(void **state)
{
    (void)state;
    unsigned char *data, *aside;
    size_t size, aside_size;
    assert_int_equal(release_once(2), SOTTO_OK);
    assert_int_equal(release_once(2), SOTTO_OK);
    assert_int_equal(file_read(&data, &size, path, 1 << 20), SOTTO_OK);
    size_t first = (size_t)(strchr((char *)data, '\n') - (char *)data) + 1;
    struct ledger l;
    write_text(path, (char *)data, first + 40); /* 40 bytes of the second line */
    assert_int_equal(ledger_read(&l, path), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), "the last line is cut off"));
    assert_int_equal(release_once(2), SOTTO_OK);
    assert_int_equal(ledger_read(&l, path), SOTTO_OK);
    assert_int_equal(l.entries, 3); /* release, torn, release */
    assert_int_equal(l.proved.releases, 2);
    ledger_close(&l);
    assert_int_equal(file_read(&aside, &aside_size, torn, 1 << 20), SOTTO_OK);
    assert_int_equal(aside_size, 41);
    assert_memory_equal(aside, data + first, 40);
    base_free(aside);
    base_free(data);
}

static void a_budget_cannot_be_exceeded_or_raised(void **state)
{
    (void)state;
    struct sotto_release r = release_of(2);
    float v[1] = {5};
    struct sotto_certificate *certificate = NULL;
    r.target.delta = 0;
    r.spend.budget = (struct sotto_dp){1.2, SOTTO_DELTA_PURE};
    assert_int_equal(sotto_dp_release(&certificate, v, 1, &r, NULL), SOTTO_OK); /* 0.5 */
    sotto_certificate_free(certificate);
    r.spend.budget = (struct sotto_dp){0, 0};
    assert_int_equal(sotto_dp_release(&certificate, v, 1, &r, NULL), SOTTO_OK); /* 1.0 */
    sotto_certificate_free(certificate);
    certificate = NULL;
    double before = v[0];
    assert_int_equal(sotto_dp_release(&certificate, v, 1, &r, NULL), SOTTO_EBUDGET); /* 1.5 */
    assert_non_null(strstr(
        sotto_error_text(),
        "the privacy budget (epsilon 1.2, delta 0) would be exceeded: spent 1, with this release 1.5"));
    assert_true(v[0] == before && certificate == NULL);
    r.sensitivity.source = SOTTO_SENSITIVITY_SAMPLED; /* no way around it */
    assert_int_equal(sotto_dp_release(&certificate, v, 1, &r, NULL), SOTTO_EBUDGET);
    r.spend.budget = (struct sotto_dp){5, SOTTO_DELTA_PURE};
    assert_int_equal(sotto_dp_release(&certificate, v, 1, &r, NULL), SOTTO_EBUDGET);
    assert_non_null(strstr(sotto_error_text(), "expected a budget that is not larger (got 5, 0)"));
    r.spend.budget = (struct sotto_dp){-1, 0};
    assert_int_equal(sotto_dp_release(&certificate, v, 1, &r, NULL), SOTTO_EINVAL);
}

static void two_processes_share_one_chain(void **state)
{
    (void)state;
    enum { PROCESSES = 3, EACH = 8 };
    for (int p = 0; p < PROCESSES; p++)
        if (fork() == 0) {
            for (int i = 0; i < EACH; i++)
                if (release_once(2) != SOTTO_OK)
                    _exit(1);
            _exit(0);
        }
    for (int p = 0; p < PROCESSES; p++) {
        int result;
        wait(&result);
        assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    }
    struct ledger l;
    assert_int_equal(ledger_read(&l, path), SOTTO_OK);
    assert_int_equal(l.proved.releases, PROCESSES * EACH);
    ledger_close(&l);
}

/* A child releases as fast as it can and reports each release that came back; it is killed at a random
 * moment. Whatever came back must be in the ledger, and the ledger must go on working. */
static void nothing_released_is_missing_after_kill_9(void **state)
{
    (void)state;
    size_t reported = 0;
    for (int round = 0; round < 12; round++) {
        int pipes[2];
        assert_int_equal(pipe(pipes), 0);
        pid_t child = fork();
        if (child == 0) {
            close(pipes[0]);
            while (release_once(2) == SOTTO_OK)
                if (write(pipes[1], "x", 1) != 1)
                    _exit(2);
            _exit(1);
        }
        close(pipes[1]);
        nanosleep(&(struct timespec){0, (5 + 7 * round) * 1000000L}, NULL);
        kill(child, SIGKILL);
        int result;
        waitpid(child, &result, 0);
        assert_true(WIFSIGNALED(result) && WTERMSIG(result) == SIGKILL);
        char block[4096];
        ssize_t got;
        while ((got = read(pipes[0], block, sizeof block)) > 0)
            reported += (size_t)got;
        close(pipes[0]);
        struct ledger l;
        assert_int_equal(ledger_open(&l, path, NULL), SOTTO_OK); /* repairs a torn line */
        assert_true(l.proved.releases >= reported);
        assert_true(l.proved.releases <= reported + (size_t)round + 1); /* at most one unreported per kill */
        ledger_close(&l);
    }
    assert_true(reported > 0);
}

/* Whatever part of a line was written when the process died: everything before it stays charged, the ledger
 * goes on, and the cut is recorded. A line that lacks its newline alone is whole: its noise may have been
 * drawn, so it is charged. */
static void a_line_cut_at_any_byte_loses_nothing(void **state)
{
    (void)state;
    unsigned char *data;
    size_t size;
    assert_int_equal(release_once(2), SOTTO_OK);
    assert_int_equal(release_once(2), SOTTO_OK);
    assert_int_equal(file_read(&data, &size, path, 1 << 20), SOTTO_OK);
    size_t first = (size_t)(strchr((char *)data, '\n') - (char *)data) + 1;
    for (size_t cut = first; cut <= size; cut += cut > first + 20 && cut < size - 80 ? 61 : 1) {
        struct ledger l;
        write_text(path, (char *)data, cut);
        bool torn_line = cut > first && cut < size - 1;
        assert_int_equal(ledger_read(&l, path), torn_line ? SOTTO_EFORMAT : SOTTO_OK);
        if (!torn_line)
            ledger_close(&l);
        assert_int_equal(ledger_open(&l, path, NULL), SOTTO_OK);
        assert_int_equal(l.proved.releases, cut >= size - 1 ? 2 : 1);
        assert_int_equal(l.entries, cut == first ? 1 : 2);
        ledger_close(&l);
        assert_int_equal(file_exists(torn), torn_line);
        unlink(torn);
        assert_int_equal(ledger_read(&l, path), SOTTO_OK);
        ledger_close(&l);
        if (cut < size - 1)
            continue;
        unsigned char *now; /* the newline is there again, and nothing else */
        size_t length;
        assert_int_equal(file_read(&now, &length, path, 1 << 20), SOTTO_OK);
        assert_true(length == size && memcmp(now, data, size) == 0);
        base_free(now);
    }
    base_free(data);
}

static struct sotto_dpsgd_request reserve_of(size_t steps)
{
    return (struct sotto_dpsgd_request){.sampled = {.mechanism = "gaussian",
                                                    .noise_multiplier = 1.1,
                                                    .sample_rate = 0.01,
                                                    .steps = steps,
                                                    .delta = 1e-5,
                                                    .adjacency = SOTTO_ZERO_OUT},
                                        .max_grad_norm = 0.5,
                                        .dimension = 3,
                                        .spend = {.dataset_id = "toy", .source = &exercise, .ledger = path}};
}

/* Any one byte of a finished line changed: refused. */
static void a_garbled_byte_is_noticed(void **state)
{
    (void)state;
    unsigned char *data;
    size_t size;
    assert_int_equal(release_once(2), SOTTO_OK);
    assert_int_equal(release_once(2), SOTTO_OK);
    assert_int_equal(file_read(&data, &size, path, 1 << 20), SOTTO_OK);
    for (size_t i = 0; i < size - 1; i += 7) {
        struct ledger l;
        data[i] ^= 1;
        write_text(path, (char *)data, size);
        if (ledger_read(&l, path) != SOTTO_EFORMAT)
            fail_msg("byte %zu changed unnoticed", i);
        data[i] ^= 1;
    }
    base_free(data);
}

static double total(void)
{
    struct ledger l;
    struct sotto_account a;
    assert_int_equal(ledger_read(&l, path), SOTTO_OK);
    assert_int_equal(ledger_column_account(&a, &l.proved, &l.proved_events, 1e-5, NULL), SOTTO_OK);
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

static void a_run_is_charged_whole_before_its_first_step(void **state)
{
    (void)state;
    struct sotto_dpsgd_request r = reserve_of(10);
    struct sotto_dpsgd_session *s;
    double sum[3] = {1, 2, 3};
    assert_int_equal(sotto_dp_reserve(&s, &r, NULL), SOTTO_OK);
    double charged = total();
    assert_true(fabs(charged / steps_alone(10) - 1) < 1e-6);
    assert_int_equal(strlen(sotto_dpsgd_session_entry(s)), 64);
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

static void interrupted_steps_stay_charged(void **state)
{
    (void)state;
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

static void a_reservation_obeys_the_budget(void **state)
{
    (void)state;
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

static void reservations_are_checked(void **state)
{
    (void)state;
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
    REFUSED(r.max_grad_norm = 0, SOTTO_EINVAL, "max_grad_norm must be > 0");
    REFUSED(r.sampled.noise_multiplier = NAN, SOTTO_EINVAL, "noise_multiplier must be a number > 0");
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
static void step_noise_has_its_scale(void **state)
{
    (void)state;
    enum { STEPS = 4000 };
    struct sotto_dpsgd_request r = reserve_of(STEPS);
    struct sotto_dpsgd_session *s;
    double square = 0, expected = 0.55 * 0.55, error = expected * sqrt(2.0 / (3 * STEPS));
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
static void killed_runs_were_charged_before_they_began(void **state)
{
    (void)state;
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
        for (size_t i = 0; i < l.proved_events.count; i++)
            charged += l.proved_events.items[i].count;
        assert_true(charged >= reported);
        ledger_close(&l);
    }
    assert_true(reported > 0);
}

static void a_reservation_survives_allocation_failures(void **state)
{
    (void)state;
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

static void default_paths(void **state)
{
    (void)state;
    char *out;
    setenv("XDG_DATA_HOME", "/data", 1);
    assert_int_equal(ledger_default_path(&out, "abc-1.x"), SOTTO_OK);
    assert_string_equal(out, "/data/sotto/ledger/abc-1.x.jsonl");
    base_free(out);
    assert_int_equal(ledger_default_path(&out, "../../etc/passwd"), SOTTO_OK); /* hashed */
    assert_int_equal(strlen(out), strlen("/data/sotto/ledger/.jsonl") + 64);
    assert_null(strstr(out, ".."));
    base_free(out);
    setenv("XDG_DATA_HOME", "relative", 1); /* the standard says: ignore */
    setenv("HOME", "/home/u", 1);
    assert_int_equal(ledger_default_path(&out, "a"), SOTTO_OK);
    assert_string_equal(out, "/home/u/.local/share/sotto/ledger/a.jsonl");
    base_free(out);
    unsetenv("XDG_DATA_HOME");
    unsetenv("HOME");
    assert_int_equal(ledger_default_path(&out, "a"), SOTTO_EINVAL);
    assert_int_equal(ledger_default_path(&out, ""), SOTTO_EINVAL);
}

static void a_ledger_that_cannot_be_made_is_one_line(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "%s/l.jsonl", folder);
    assert_int_equal(file_write(path, "", 0), SOTTO_OK);
    struct ledger l;
    char below[160];
    snprintf(below, sizeof below, "%s/x.jsonl", path);
    assert_int_equal(ledger_open(&l, below, NULL), SOTTO_ECREATE);
    assert_int_equal(ledger_open(&l, folder, NULL), SOTTO_ECREATE);
    assert_non_null(strstr(sotto_error_text(), "cannot open the ledger"));
}

/* Every allocation in a release fails once: ENOMEM, vector untouched, and the ledger stays sound. */
static void allocation_failures_leave_all_as_it_was(void **state)
{
    (void)state;
    sotto_status status = SOTTO_ENOMEM;
    int n;
    for (n = 0; status != SOTTO_OK && n < 2000; n++) {
        struct sotto_release r = release_of(2);
        float v[2] = {1, 2};
        struct sotto_certificate *certificate = NULL;
        base_alloc_fail_after(n);
        status = sotto_dp_release(&certificate, v, 2, &r, NULL);
        base_alloc_fail_after(-1);
        if (status != SOTTO_OK) {
            assert_int_equal(status, SOTTO_ENOMEM);
            assert_true(v[0] == 1 && v[1] == 2);
            assert_null(certificate);
        }
        sotto_certificate_free(certificate);
    }
    assert_int_equal(status, SOTTO_OK);
    assert_true(n > 10);
    struct ledger l;
    assert_int_equal(ledger_read(&l, path), SOTTO_OK);
    ledger_close(&l);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(releases_add_up),
        TEST(a_changed_ledger_is_refused),
        TEST(a_torn_line_is_moved_aside_and_recorded),
        TEST(a_budget_cannot_be_exceeded_or_raised),
        TEST(two_processes_share_one_chain),
        TEST(nothing_released_is_missing_after_kill_9),
        TEST(a_ledger_that_cannot_be_made_is_one_line),
        TEST(allocation_failures_leave_all_as_it_was),
        TEST(a_line_cut_at_any_byte_loses_nothing),
        TEST(a_garbled_byte_is_noticed),
        TEST(a_run_is_charged_whole_before_its_first_step),
        TEST(interrupted_steps_stay_charged),
        TEST(a_reservation_obeys_the_budget),
        TEST(reservations_are_checked),
        TEST(step_noise_has_its_scale),
        TEST(killed_runs_were_charged_before_they_began),
        TEST(a_reservation_survives_allocation_failures),
        TEST(default_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
