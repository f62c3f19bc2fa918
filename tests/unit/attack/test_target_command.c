/* Targets behind commands: the frames of a well-behaved one, and every way in which one can fail. The
 * commands are tests/support/serve_model.c. */
#include "support/test.h"

#include "attack/target/target.h"
#include "rng/rng.h"
#include "sotto/private/all.h"
#include "support/temporary_folder.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 40, D = 7, K = 5 };
static float x[N * D], p[N * K];

static void make_rows(void)
{
    struct rng r = rng_stream(1, RNG_TEST, 1, 1);
    for (size_t i = 0; i < N * D; i++)
        x[i] = rng_unit_f(&r) * 2 - 1;
}

static sotto_status start(struct sotto_target **out, const char *mode, size_t classes, double timeout,
                          const struct sotto_context *ctx)
{
    char command[512];
    struct sotto_command_options o = {.timeout = timeout, .batch = 16};
    snprintf(command, sizeof command, "'%s' %s %d %s", SERVE_MODEL, mode, K, path_of("pid"));
    return sotto_target_open_command(out, command, D, classes, &o, ctx);
}

/* Error text without the command's name, which holds a path of the machine. */
static const char *reason(void)
{
    const char *text = strstr(sotto_error_text(), "': ");
    return text ? text + 3 : sotto_error_text();
}

TEST(answers_come_back_in_order)
{
    struct sotto_target *t;
    make_rows();
    assert_int_equal(start(&t, "softmax", K, 20, NULL), SOTTO_OK);
    assert_int_equal(target_query(t, p, x, N), SOTTO_OK); /* 16 + 16 + 8 rows */
    assert_int_equal(target_used(t), N);
    for (size_t i = 0; i < N; i++) {
        double z[K], sum = 0;
        for (size_t k = 0; k < K; k++) {
            z[k] = 0;
            for (size_t j = 0; j < D; j++)
                z[k] += (double)x[i * D + j] * sin(1 + (double)k + 3 * (double)j);
            sum += exp(z[k]);
        }
        for (size_t k = 0; k < K; k++)
            assert_true(fabs(exp(z[k]) / sum - (double)p[i * K + k]) < 1e-6);
    }
    sotto_target_set_budget(t, N + 3);
    assert_int_equal(target_query(t, p, x, 4), SOTTO_EBUDGET);
    assert_int_equal(target_query(t, p, x, 3), SOTTO_OK);
    sotto_target_close(t);
}

TEST(a_slow_pipe_is_put_together)
{
    struct sotto_target *t;
    static float again[N * K];
    assert_int_equal(start(&t, "softmax", K, 20, NULL), SOTTO_OK);
    assert_int_equal(target_query(t, p, x, N), SOTTO_OK);
    sotto_target_close(t);
    assert_int_equal(start(&t, "slow", K, 20, NULL), SOTTO_OK);
    assert_int_equal(target_query(t, again, x, N), SOTTO_OK);
    sotto_target_close(t);
    assert_memory_equal(p, again, sizeof p);
}

/* More than a pipe holds in both directions at once. */
TEST(large_frames_do_not_block)
{
    enum { ROWS = 20000 };
    struct sotto_target *t;
    char command[256];
    float *many = calloc(ROWS * D, sizeof *many), *answers = calloc(ROWS * K, sizeof *answers);
    struct sotto_command_options o = {.timeout = 20, .batch = ROWS};
    snprintf(command, sizeof command, "'%s' softmax %d", SERVE_MODEL, K);
    assert_int_equal(sotto_target_open_command(&t, command, D, K, &o, NULL), SOTTO_OK);
    assert_int_equal(target_query(t, answers, many, ROWS), SOTTO_OK);
    assert_true(fabs((double)answers[ROWS * K - 1] - 1.0 / K) < 1e-6);
    sotto_target_close(t);
    free(many);
    free(answers);
}

TEST(classes_can_be_learned)
{
    struct sotto_target *t;
    assert_int_equal(start(&t, "softmax", 0, 20, NULL), SOTTO_OK);
    assert_int_equal(sotto_target_classes(t), K);
    assert_int_equal(target_used(t), 1); /* the query that revealed it */
    assert_int_equal(target_query(t, p, x, 3), SOTTO_OK);
    sotto_target_close(t);
    assert_int_equal(start(&t, "labels", 0, 20, NULL), SOTTO_EFORMAT);
    assert_string_equal(reason(), "answered (1,) i8 to 1 rows; expected (1, classes) f4");
}

TEST(labels_become_posteriors_of_one)
{
    struct sotto_target *t;
    static float one[N * K];
    int64_t label[N];
    assert_int_equal(start(&t, "softmax", K, 20, NULL), SOTTO_OK);
    assert_int_equal(target_labels(t, label, x, N), SOTTO_OK);
    sotto_target_close(t);
    assert_int_equal(start(&t, "labels", K, 20, NULL), SOTTO_OK);
    assert_int_equal(target_query(t, one, x, N), SOTTO_OK);
    for (size_t i = 0; i < N * K; i++)
        assert_true(one[i] == ((int64_t)(i % K) == label[i / K] ? 1.0f : 0.0f));
    sotto_target_close(t);
}

TEST(faults_are_named)
{
    static const struct {
        const char *mode;
        sotto_status status;
        const char *text;
    } cases[] = {
        {"die", SOTTO_EIO, "ended with exit status 3 before it had answered frame 1"},
        {"die-later", SOTTO_EIO, "ended with exit status 4 before it had answered frame 2"},
        {"kill", SOTTO_EIO, "was killed by signal 9 (Killed) before it had answered frame 1"},
        {"cut", SOTTO_EIO, "ended with exit status 0 before it had answered frame 1"},
        {"garbage", SOTTO_EFORMAT, "'epoch 1, l' does not start like a .npy frame (\\x93NUMPY)"},
        {"banner", SOTTO_EFORMAT, NULL}, /* depends on which side was quicker */
        {"nan", SOTTO_EINVAL,
         "1 of 16 rows contain NaN (first: row 1, column 1); probabilities must be finite"},
        {"rows", SOTTO_EFORMAT, "answered (15, 5) f4 to 16 rows; expected (16, 5) f4 probabilities"},
        {"classes", SOTTO_EFORMAT, "answered (16, 6) f4 to 16 rows; expected (16, 5) f4 probabilities"},
        {"huge", SOTTO_EFORMAT,
         "answered (16, 1099511627776) f4 to 16 rows; expected (16, 5) f4 probabilities"},
        {"type", SOTTO_EFORMAT, "answered (16, 5) i4 to 16 rows; expected (16, 5) f4 probabilities"},
        {"twice", SOTTO_EFORMAT,
         "wrote more than one answer to a frame; expected one .npy frame per question"},
        {"logits", SOTTO_EFORMAT,
         "answer 0 sums to 15; probabilities must sum to 1 within 0.001 (are these logits?)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sotto_target *t;
        assert_int_equal(start(&t, cases[i].mode, K, 20, NULL), SOTTO_OK);
        assert_int_equal(target_query(t, p, x, N), cases[i].status);
        if (cases[i].text)
            assert_string_equal(reason(), cases[i].text);
        if (strcmp(cases[i].mode, "logits") != 0) { /* the stream is in order there */
            assert_int_equal(target_query(t, p, x, 1), SOTTO_EIO);
            assert_string_equal(reason(), "the command was ended after an earlier failure");
        }
        sotto_target_close(t);
    }
}

TEST(what_the_shell_cannot_run_is_said)
{
    struct sotto_target *t;
    assert_int_equal(
        sotto_target_open_command(&t, "exec 2>/dev/null; no-such-program-here", D, K, NULL, NULL), SOTTO_OK);
    assert_int_equal(target_query(t, p, x, 1), SOTTO_EIO);
    assert_non_null(strstr(reason(), "ended with exit status 127 (the shell did not find it) before it had"));
    sotto_target_close(t);
    assert_int_equal(sotto_target_open_command(&t, "exec 2>/dev/null; /", D, 0, NULL, NULL), SOTTO_EIO);
    assert_non_null(strstr(reason(), "ended with exit status 126 (the shell could not run it)"));
    assert_int_equal(sotto_target_open_command(&t, "true", 0, K, NULL, NULL), SOTTO_EINVAL);
    assert_int_equal(sotto_target_open_command(&t, "true", D, 1, NULL, NULL), SOTTO_EINVAL);
    assert_int_equal(
        sotto_target_open_command(&t, "true", D, K,
                                  &(struct sotto_command_options){.timeout = SOTTO_ZERO, .batch = 1}, NULL),
        SOTTO_EINVAL);
    assert_int_equal(
        sotto_target_open_command(&t, "true", D, K,
                                  &(struct sotto_command_options){.timeout = 1, .batch = SOTTO_NONE}, NULL),
        SOTTO_EINVAL);
}

TEST(silence_runs_out_of_time)
{
    struct sotto_target *t;
    assert_int_equal(start(&t, "hang", K, 0.05, NULL), SOTTO_OK);
    assert_int_equal(target_query(t, p, x, 16), SOTTO_EIO);
    assert_string_equal(
        reason(), "no complete answer to frame 1 within 0.05 s (it read 576 of 576 bytes and answered 0)");
    assert_string_equal(
        sotto_error_hint(),
        "check that the command flushes stdout after every answer; timeout=SECONDS allows more time");
    sotto_target_close(t);
    assert_int_equal(start(&t, "deaf", K, 0.05, NULL), SOTTO_OK);
    assert_int_equal(target_query(t, p, x, 16), SOTTO_EIO); /* too slow or a broken pipe */
    sotto_target_close(t);
}

/* A process that the command left behind is killed with it, and nothing is left unreaped. */
TEST(the_whole_group_ends)
{
    struct sotto_target *t;
    int pid = 0;
    remove(path_of("pid"));
    assert_int_equal(start(&t, "grandchild", K, 0.3, NULL), SOTTO_OK);
    assert_int_equal(target_query(t, p, x, 1), SOTTO_EIO);
    FILE *f = fopen(path_of("pid"), "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%d", &pid), 1);
    fclose(f);
    sotto_target_close(t);
    /* Orphans are reaped by init in its own time: it is enough that it no longer runs. */
    char path[64], line[256] = "";
    for (int tries = 0; tries < 500 && kill(pid, 0) == 0; tries++) {
        snprintf(path, sizeof path, "/proc/%d/stat", pid);
        f = fopen(path, "r");
        if (!f || !fgets(line, sizeof line, f) || strstr(line, ") Z ") || strstr(line, ") X ")) {
            if (f)
                fclose(f);
            pid = 0;
            break;
        }
        fclose(f);
        usleep(2000);
    }
    assert_true(pid == 0 || (kill(pid, 0) != 0 && errno == ESRCH));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static volatile sig_atomic_t pipes;
static void on_pipe(int number)
{
    (void)number;
    pipes++;
}

/* Whether it was still there when its rows came or not. */
TEST(last_words_are_shown)
{
    static const char *const commands[] = {"echo hello", "exec <&-; echo hello; sleep 0.1",
                                           "sleep 0.1; echo hello"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        for (int wait = 0; wait < 2; wait++) {
            struct sotto_target *t;
            assert_int_equal(sotto_target_open_command(&t, commands[i], D, K, NULL, NULL), SOTTO_OK);
            usleep(wait ? 60000 : 0);
            assert_int_equal(target_query(t, p, x, N), SOTTO_EFORMAT);
            assert_string_equal(reason(), "'hello?' does not start like a .npy frame (\\x93NUMPY)");
            sotto_target_close(t);
        }
}

/* Writing to a dead command raises no SIGPIPE, whatever the process does with the signal, and the signal's
 * handling is left as it was. */
TEST(no_signal_escapes)
{
    struct sotto_target *t;
    struct sigaction mine = {.sa_handler = on_pipe}, before, after;
    float *many = calloc(60000 * D, sizeof *many), *answers = calloc(60000 * K, sizeof *answers);
    sigaction(SIGPIPE, &mine, &before);
    struct sotto_command_options o = {.timeout = 20, .batch = 60000};
    assert_int_equal(sotto_target_open_command(&t, "exec <&-; sleep 0.05; exit 6", D, K, &o, NULL), SOTTO_OK);
    assert_int_equal(target_query(t, answers, many, 60000), SOTTO_EIO);
    assert_non_null(strstr(reason(), "ended with exit status 6 before it had"));
    sotto_target_close(t);
    sigaction(SIGPIPE, &before, &after);
    assert_ptr_equal(after.sa_handler, on_pipe);
    assert_int_equal(pipes, 0);
    free(many);
    free(answers);
}

static char logged[512];
static void keep_log(void *user, enum sotto_log_level level, const char *text)
{
    (void)user;
    assert_int_equal(level, SOTTO_LOG_WARNING);
    snprintf(logged, sizeof logged, "%s", text);
}

TEST(a_bad_end_is_a_warning)
{
    struct sotto_target *t;
    struct sotto_context ctx = {.log = keep_log};
    assert_int_equal(start(&t, "bad-end", K, 20, &ctx), SOTTO_OK);
    assert_int_equal(target_query(t, p, x, 1), SOTTO_OK);
    sotto_target_close(t);
    assert_non_null(strstr(logged, "ended with exit status 5 after its last answer"));
}

TEST(a_stop_is_heard)
{
    struct sotto_target *t;
    volatile sig_atomic_t stop = 1;
    struct sotto_context ctx = {.stop = &stop};
    assert_int_equal(start(&t, "hang", K, 20, &ctx), SOTTO_OK);
    assert_int_equal(target_query(t, p, x, 1), SOTTO_ESTOPPED);
    sotto_target_close(t);
}

TEST(no_memory_leaves_nothing)
{
    struct sotto_target *t;
    for (long after = 0; after < 3; after++) {
        base_alloc_fail_after(after);
        assert_int_equal(start(&t, "softmax", K, 20, NULL), SOTTO_ENOMEM);
        base_alloc_fail_after(-1);
    }
    assert_int_equal(start(&t, "softmax", K, 20, NULL), SOTTO_OK);
    base_alloc_fail_after(0);
    assert_int_equal(target_query(t, p, x, 3), SOTTO_ENOMEM);
    base_alloc_fail_after(-1);
    sotto_target_close(t);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

TEST_GROUP(.set_up = make_folder, .tear_down = remove_folder)
