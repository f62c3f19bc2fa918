/* A ledger on a disk and in a system that fail: every call that it makes of the system, one after the other,
 * and every allocation, while a torn line is repaired. Nothing is released, and the next release works. The
 * system calls are replaced by ones of this program. */
#include "support/test.h"
#include "support/leave.h"
#include "support/exercise.h"
#include "base/file.h"
#include "base/sha256.h"
#include "dp/ledger/ledger_account.h"
#include "dp/ledger/ledger_registry.h"
#include "sotto/private/all.h"
#include "support/temporary_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* --- the system */

static struct {
    int fsync_left, truncate_fails, write_left, write_error, lock_error, naps;
    int calls_left; /* until the process is killed, before a lock, write, fsync or unlink; -1: it is not */
} system_calls;

static void all_is_well(void)
{
    memset(&system_calls, 0, sizeof system_calls);
    system_calls.fsync_left = system_calls.write_left = system_calls.calls_left = -1;
}

static void may_be_killed(void)
{
    if (system_calls.calls_left-- == 0)
        raise(SIGKILL);
}

int unlink(const char *name)
{
    may_be_killed();
    return (int)syscall(SYS_unlinkat, AT_FDCWD, name, 0);
}

int fsync(int fd)
{
    may_be_killed();
    if (system_calls.fsync_left-- == 0) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fsync, fd);
}

int ftruncate(int fd, off_t size)
{
    if (system_calls.truncate_fails) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_ftruncate, fd, size);
}

ssize_t write(int fd, const void *data, size_t bytes)
{
    may_be_killed();
    if (system_calls.write_left-- == 0) {
        errno = system_calls.write_error;
        return -1;
    }
    return syscall(SYS_write, fd, data, bytes);
}

int flock(int fd, int how)
{
    may_be_killed();
    if (system_calls.lock_error) {
        errno = system_calls.lock_error;
        return -1;
    }
    return (int)syscall(SYS_flock, fd, how);
}

int nanosleep(const struct timespec *asked, struct timespec *left)
{
    (void)asked;
    (void)left;
    system_calls.naps++;
    return 0;
}

/* --- a ledger with one whole line and a torn one */

static unsigned char whole[1 << 15];
static size_t whole_size;

static sotto_status release(const char *ledger)
{
    const struct sotto_release r = {.mechanism = "laplace",
                                    .scale = 2,
                                    .target = {NAN, 1e-5},
                                    .sensitivity = {.l1 = 1, .l2 = 1, .source = SOTTO_SENSITIVITY_PROVED},
                                    .spend = {.dataset_id = "toy", .source = &exercise, .ledger = ledger}};
    float v[1] = {5};
    struct sotto_certificate *text = NULL;
    sotto_status status = sotto_dp_release(&text, v, 1, &r, NULL);
    assert_true(status == SOTTO_OK || (v[0] == 5 && !text));
    sotto_certificate_free(text);
    return status;
}

static void tear(void)
{
    unlink(path_of("l.jsonl.torn"));
    assert_int_equal(file_write(path_of("l.jsonl"), whole, whole_size), SOTTO_OK);
    FILE *file = fopen(path_of("l.jsonl"), "a");
    assert_non_null(file);
    assert_true(fputs("{\"torn", file) >= 0 && fclose(file) == 0);
}

static void make_ledger(void)
{
    unsigned char *data;
    all_is_well();
    unlink(path_of("l.jsonl"));
    assert_int_equal(release(path_of("l.jsonl")), SOTTO_OK);
    assert_int_equal(file_read(&data, &whole_size, path_of("l.jsonl"), sizeof whole), SOTTO_OK);
    memcpy(whole, data, whole_size);
    base_free(data);
}

static void releases_afterwards(void)
{
    struct ledger l;
    all_is_well();
    assert_int_equal(release(path_of("l.jsonl")), SOTTO_OK);
    assert_int_equal(ledger_read(&l, path_of("l.jsonl")), SOTTO_OK);
    ledger_close(&l);
}

TEST(any_sync_may_fail)
{
    make_ledger();
    sotto_status status = SOTTO_EIO;
    int n = 0;
    for (; status != SOTTO_OK && n < 20; n++) { /* of the torn file, the ledger, its repair, its entry */
        tear();
        system_calls.fsync_left = n;
        status = release(path_of("l.jsonl"));
        assert_true(status == SOTTO_OK || status == SOTTO_EIO);
        releases_afterwards();
    }
    assert_true(status == SOTTO_OK && n > 3);
    for (status = SOTTO_EIO, n = 0; status != SOTTO_OK && n < 20; n++) { /* a new file: its folder too */
        unlink(path_of("l.jsonl"));
        system_calls.fsync_left = n;
        status = release(path_of("l.jsonl"));
        assert_true(status == SOTTO_OK || status == SOTTO_EIO);
        releases_afterwards();
    }
    assert_true(status == SOTTO_OK && n > 2);
    tear();
    system_calls.truncate_fails = 1;
    assert_int_equal(release(path_of("l.jsonl")), SOTTO_EIO);
    releases_afterwards();
}

/* Killed before any call of its first release, a process leaves a ledger that the next one goes on with, and that counts the release
 * if it was charged; one that has entries is not taken for new any more when it is emptied. */
TEST(a_first_release_may_be_killed_anywhere)
{
    int result = -1, n = 0, empty = 0;
    for (; n < 100 && !(WIFEXITED(result) && n > 0); n++) {
        struct ledger l;
        all_is_well();
        unlink(path_of("l.jsonl"));
        unlink(path_of("l.jsonl.new"));
        pid_t child = fork();
        if (child == 0) {
            system_calls.calls_left = n;
            leave(release(path_of("l.jsonl")) != SOTTO_OK);
        }
        waitpid(child, &result, 0);
        empty += file_exists(path_of("l.jsonl.new"));
        releases_afterwards();
        assert_false(file_exists(path_of("l.jsonl.new")));
        assert_int_equal(truncate(path_of("l.jsonl"), 0), 0);
        assert_int_equal(ledger_read(&l, path_of("l.jsonl")), SOTTO_EFORMAT);
    }
    assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    assert_true(n > 5 && empty > 2);
    unlink(path_of("l.jsonl"));
}

/* A whole last line that lacks its newline: putting it there may fail as well. */
TEST(ending_a_line_may_fail)
{
    make_ledger();
    for (int n = 0; n < 2; n++) {
        assert_int_equal(file_write(path_of("l.jsonl"), whole, whole_size - 1), SOTTO_OK);
        system_calls.fsync_left = n ? -1 : 0;
        system_calls.write_left = n ? 0 : -1;
        system_calls.write_error = ENOSPC;
        assert_int_equal(release(path_of("l.jsonl")), SOTTO_EIO);
        releases_afterwards();
    }
}

TEST(any_write_may_fail_or_be_interrupted)
{
    make_ledger();
    sotto_status status = SOTTO_EIO;
    int n = 0;
    for (; status != SOTTO_OK && n < 20; n++) {
        tear();
        system_calls.write_left = n;
        system_calls.write_error = ENOSPC;
        status = release(path_of("l.jsonl"));
        assert_true(status == SOTTO_OK || status == SOTTO_EIO);
        releases_afterwards();
    }
    assert_true(status == SOTTO_OK && n > 3);
    for (n = 0; n < 4; n++) {
        tear();
        system_calls.write_left = n;
        system_calls.write_error = EINTR;
        assert_int_equal(release(path_of("l.jsonl")), SOTTO_OK);
        all_is_well();
    }
}

TEST(locks)
{
    make_ledger();
    system_calls.lock_error = EWOULDBLOCK;
    assert_int_equal(release(path_of("l.jsonl")), SOTTO_EAGAIN);
    assert_true(system_calls.naps >= 600);
    system_calls.naps = 0;
    system_calls.lock_error = EINTR;
    assert_int_equal(release(path_of("l.jsonl")), SOTTO_EAGAIN);
    system_calls.lock_error = ENOLCK;
    assert_int_equal(release(path_of("l.jsonl")), SOTTO_EIO);
    assert_non_null(strstr(sotto_error_text(), "cannot lock"));
    releases_afterwards();
    assert_int_equal(release("/"), SOTTO_ECREATE);
}

TEST(a_repair_without_memory)
{
    make_ledger();
    sotto_status status = SOTTO_ENOMEM;
    long n = 0;
    for (; status != SOTTO_OK && n < 500; n++) {
        tear();
        base_alloc_fail_after(n);
        status = release(path_of("l.jsonl"));
        base_alloc_fail_after(-1);
        assert_true(status == SOTTO_OK || status == SOTTO_ENOMEM);
        releases_afterwards();
    }
    assert_true(status == SOTTO_OK && n > 10);
}

/* --- lines with a proper hash that say something else */

static sotto_status read_line(const char *json)
{
    char hash[SHA256_HEX], line[600];
    struct ledger l;
    sha256_of(hash, json, strlen(json));
    int size = snprintf(line, sizeof line, "%.*s,\"hash\":\"%s\"}\n", (int)strlen(json) - 1, json, hash);
    unlink(path_of("forged.jsonl"));
    assert_int_equal(file_write(path_of("forged.jsonl"), line, (size_t)size), SOTTO_OK);
    sotto_status status = ledger_read(&l, path_of("forged.jsonl"));
    if (status == SOTTO_OK)
        ledger_close(&l);
    return status;
}

TEST(forged_lines)
{
#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"
    assert_int_equal(read_line("{\"event\":\"torn\",\"index\":0,\"prev\":\"" ZEROS "\"}"), SOTTO_OK);
    assert_int_equal(read_line("{\"schema\":\"sotto.ledger/1\",\"event\":\"moved\",\"to\":\"/"
                               "there\",\"index\":0,\"prev\":\"" ZEROS "\"}"),
                     SOTTO_OK);
    assert_int_equal(read_line("{\"event\":\"moved\",\"to\":\"/there\",\"index\":0,\"prev\":\"" ZEROS "\"}"),
                     SOTTO_EFORMAT); /* none but "torn" lacks a schema */
    assert_int_equal(
        read_line("{\"schema\":\"sotto.ledger/1\",\"event\":\"moved\",\"index\":0,\"prev\":\"" ZEROS "\"}"),
        SOTTO_EFORMAT);
    assert_int_equal(
        read_line("{\"schema\":\"sotto.ledger/1\",\"event\":\"records\",\"index\":0,\"prev\":\"" ZEROS "\"}"),
        SOTTO_EFORMAT);
    assert_int_equal(
        read_line("{\"schema\":\"sotto.ledger/1\",\"event\":\"refund\",\"index\":0,\"prev\":\"" ZEROS "\"}"),
        SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), "forged.jsonl: line 1: event 'refund' is unknown and may cost "
                                               "privacy (written by a newer sotto? use that version)"));
    assert_non_null(strstr(sotto_error_text(), "written by a newer sotto?"));
    assert_int_equal(
        read_line("{\"schema\":\"sotto.ledger/9\",\"event\":\"budget\",\"index\":0,\"prev\":\"" ZEROS "\"}"),
        SOTTO_EFORMAT);
    assert_non_null(
        strstr(sotto_error_text(), "line 1: schema is 'sotto.ledger/9'; expected sotto.ledger/1"));
    assert_int_equal(read_line("{\"schema\":7,\"event\":\"torn\",\"index\":0,\"prev\":\"" ZEROS "\"}"),
                     SOTTO_EFORMAT);
    assert_int_equal(read_line("{\"event\":\"x\",\"index\":1,\"prev\":\"" ZEROS "\"}"), SOTTO_EFORMAT);
    assert_int_equal(read_line("{\"event\":\"x\",\"index\":0,\"prev\":\"1\"}"), SOTTO_EFORMAT);
    assert_int_equal(read_line("{\"event\":\"x\",\"index\":0}"), SOTTO_EFORMAT);
    assert_int_equal(read_line("{\"event\":\"x\",\"prev\":\"" ZEROS "\"}"), SOTTO_EFORMAT);
    assert_int_equal(read_line("{\"index\":0,\"prev\":\"" ZEROS "\"}"), SOTTO_EFORMAT);
}

/* --- default paths */

static void expect_path(const char *dataset_id, sotto_status expected, const char *end)
{
    char *path = NULL;
    assert_int_equal(ledger_default_path(&path, dataset_id), expected);
    if (expected == SOTTO_OK && !strstr(path, end))
        fail_msg("%s lacks %s", path, end);
    base_free(path);
}

TEST(default_paths)
{
    char longest[102], hash[SHA256_HEX];
    memset(longest, 'a', 101);
    longest[101] = '\0';
    setenv("XDG_DATA_HOME", folder, 1);
    expect_path("a.b-C_1", SOTTO_OK, "/a.b-C_1.jsonl");
    expect_path(longest + 1, SOTTO_OK, longest + 1);
    const char *const odd[] = {longest, ".hidden", "a/b", "a b"};
    for (int i = 0; i < 4; i++) {
        sha256_of(hash, odd[i], strlen(odd[i]));
        expect_path(odd[i], SOTTO_OK, hash);
    }
    expect_path(NULL, SOTTO_EINVAL, "");
    expect_path("", SOTTO_EINVAL, "");
    base_alloc_fail_after(0);
    expect_path("toy", SOTTO_ENOMEM, "");
    base_alloc_fail_after(-1);
    char *home = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
    setenv("XDG_DATA_HOME", "relative", 1);
    setenv("HOME", folder, 1);
    expect_path("toy", SOTTO_OK, "/.local/share/sotto/ledger/toy.jsonl");
    setenv("HOME", "relative", 1);
    expect_path("toy", SOTTO_EINVAL, "");
    unsetenv("HOME");
    expect_path("toy", SOTTO_EINVAL, "");
    unsetenv("XDG_DATA_HOME");
    if (home)
        setenv("HOME", home, 1);
    free(home);
}

/* --- budgets and columns */

static struct sotto_release sampled(const char *mechanism, const char *ledger)
{
    return (struct sotto_release){.mechanism = mechanism,
                                  .scale = 20,
                                  .target = {NAN, 1e-5},
                                  .sensitivity = {.l1 = 1, .l2 = 1, .source = SOTTO_SENSITIVITY_SAMPLED},
                                  .spend = {.dataset_id = "toy", .source = &exercise, .ledger = ledger}};
}

static sotto_status release_of(const struct sotto_release *r)
{
    float v[1] = {5};
    struct sotto_certificate *text = NULL;
    sotto_status status = sotto_dp_release(&text, v, 1, r, NULL);
    sotto_certificate_free(text);
    return status;
}

TEST(budgets)
{
    const char *ledger = path_of("budget.jsonl");
    struct sotto_release r = sampled("gaussian", ledger);
    r.records = 10; /* delta is far below 1/n */
    r.spend.budget = (struct sotto_dp){1, 2};
    assert_int_equal(release_of(&r), SOTTO_EINVAL);
    r.spend.budget = (struct sotto_dp){5, 1e-4};
    assert_int_equal(release_of(&r), SOTTO_OK);
    assert_int_equal(release_of(&r), SOTTO_OK); /* the same again is no change */
    r.spend.budget.delta = 1e-3;
    assert_int_equal(release_of(&r), SOTTO_EBUDGET);
    r.spend.budget.delta = 1e-5;
    assert_int_equal(release_of(&r), SOTTO_OK);
    struct sotto_dpsgd_session *steps;
    struct sotto_dpsgd_request run = {
        .sampled = {.mechanism = "gaussian",
                    .noise_multiplier = 20,
                    .sample_rate = 0.01,
                    .steps = 10,
                    .delta = 1e-5,
                    .clipping = SOTTO_NORM_L2,
                    .adjacency = SOTTO_ZERO_OUT,
                    .sampling = SOTTO_SAMPLING_POISSON},
        .max_grad_norm = 1,
        .dimension = 3,
        .spend = {.dataset_id = "toy", .source = &exercise, .ledger = ledger, .budget = {-1, 0}}};
    assert_int_equal(sotto_dp_reserve(&steps, &run, NULL), SOTTO_EINVAL);
}

static char *account;
static struct sotto_release last_release;

static sotto_status use_account(void)
{
    sotto_status status = sotto_ledger_account(&account, path_of("two.jsonl"), 1e-5, NULL);
    sotto_text_free(account);
    return status;
}

static sotto_status use_budget(void) /* the quick sums exceed it, so both columns are joined and composed */
{
    last_release = sampled("gaussian", path_of("two.jsonl"));
    return release_of(&last_release);
}

TEST(conditional_columns_without_memory)
{
    unsigned char *data;
    const char *const names[] = {"laplace", "gaussian"};
    for (int i = 0; i < 10; i++) { /* more events than a first list holds */
        struct sotto_release r = sampled(names[i % 2], path_of("two.jsonl"));
        r.scale += 40 + i;
        r.sensitivity.source = i == 4 ? SOTTO_SENSITIVITY_PROVED : SOTTO_SENSITIVITY_SAMPLED;
        r.spend.budget = (struct sotto_dp){3, 1e-4};
        assert_int_equal(release_of(&r), SOTTO_OK);
    }
    assert_int_equal(file_read(&data, &whole_size, path_of("two.jsonl"), sizeof whole), SOTTO_OK);
    memcpy(whole, data, whole_size);
    base_free(data);
    sotto_status (*const uses[])(void) = {use_account, use_budget};
    for (int i = 0; i < 2; i++) {
        sotto_status status = SOTTO_ENOMEM;
        long n = 0;
        for (; status != SOTTO_OK && n < 500; n++) {
            assert_int_equal(file_write(path_of("two.jsonl"), whole, whole_size), SOTTO_OK);
            base_alloc_fail_after(n);
            status = uses[i]();
            base_alloc_fail_after(-1);
            if (status != SOTTO_OK && status != SOTTO_ENOMEM)
                fail_msg("%s", sotto_error_text());
        }
        assert_int_equal(status, SOTTO_OK);
    }
}

/* Entries that say nothing to compose by: once, and again. */
TEST(unknown_events)
{
    struct ledger_events list = {0}, more = {0};
    const struct ledger_charge charge = {
        .mechanism = "of a later version", .pure = NAN, .rho = NAN, .epsilon = NAN, .steps = 1};
    for (int i = 0; i < 2; i++) {
        struct ledger_charged charged;
        struct part_memory known = {.made = 0};
        assert_int_equal(ledger_charge_event(&charged, &known, &charge), SOTTO_OK);
        assert_int_equal(ledger_events_add(&list, &charged), SOTTO_OK);
        assert_true(list.unknown && list.count == 0);
    }
    assert_int_equal(ledger_events_join(&more, &list), SOTTO_OK);
    assert_true(more.unknown);
    assert_int_equal(ledger_events_join(&more, &list), SOTTO_OK);
    assert_true(more.unknown);
    ledger_events_free(&list);
    ledger_events_free(&more);
}

TEST_GROUP(.shards = 3, .start = all_is_well, .set_up = make_folder, .tear_down = remove_folder,
           .tags = "long")
