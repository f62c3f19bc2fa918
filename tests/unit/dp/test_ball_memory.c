/* Ball arithmetic without memory: whichever allocation fails, FLINT's and GMP's own included, the answer is
 * ENOMEM, nothing is left behind, and the next answer is the same as ever. */
#include "support/test.h"
#include "support/effort.h"

#include "base/memory.h"
#include "dp/ball/ball_private.h"
#include "support/leave.h"
#include "support/sanitizer.h"
#include "sotto/lab/account.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- accounts and grids, each allocation of which fails once */

static sotto_status release(struct sotto_account *a, const char *mechanism, double delta, size_t compose)
{
    const struct sotto_sensitivity s = {.l1 = 1, .l2 = 1, .dimension = 1};
    return sotto_account_release_certified(a, mechanism, 1, &s, delta, compose, NULL);
}

static sotto_status gaussian(struct sotto_account *a)
{
    return release(a, "gaussian", 1e-5, 3);
}

static sotto_status finite_sum(struct sotto_account *a)
{
    return release(a, "logistic", 1e-5, 5);
}

static sotto_status contour(struct sotto_account *a)
{
    return release(a, "logistic", 1e-5, 9);
}

static sotto_status grid(struct sotto_account *a, enum ball_noise noise, double scale, double rate,
                         size_t count, double delta, double spacing)
{
    const struct ball_step step = {noise, 1, scale, rate, false};
    struct interval e;
    sotto_status status = ball_compose_epsilon(&e, &step, count, delta, spacing);
    if (status == SOTTO_OK)
        *a = (struct sotto_account){.epsilon = {e.lo, e.hi}};
    return status;
}

static sotto_status by_masses(struct sotto_account *a)
{
    return grid(a, BALL_LAPLACE, 1, 1, 4, 1e-5, 0.05);
}

static sotto_status by_frequencies(struct sotto_account *a) /* few are left of 400 steps */
{
    return grid(a, BALL_GAUSSIAN, 20, 1, 400, 1e-5, 1e-2);
}

static sotto_status
with_long_numbers(struct sotto_account *a) /* beyond 128 bits each has a block of its own */
{
    return grid(a, BALL_GAUSSIAN, 4, 0.1, 8, 1e-40, 0.25);
}

/* A run with allocation `n` failing, then, now and then, one where none does: as the first. */
static bool succeeds(sotto_status (*use)(struct sotto_account *), long n, const struct sotto_account *truth)
{
    struct sotto_account a, untouched;
    memset(&a, 7, sizeof a);
    untouched = a;
    base_alloc_fail_after(n);
    sotto_status status = use(&a);
    base_alloc_fail_after(-1);
    if (status == SOTTO_OK) {
        assert_memory_equal(&a.epsilon, &truth->epsilon, sizeof a.epsilon);
        return true;
    }
    assert_int_equal(status, SOTTO_ENOMEM);
    assert_memory_equal(&a, &untouched, sizeof a);
    return false;
}

static void sweep(sotto_status (*use)(struct sotto_account *), long least, long thorough)
{
    struct sotto_account truth;
    assert_int_equal(use(&truth), SOTTO_OK);
    assert_true(truth.epsilon.lower <= truth.epsilon.upper);
    long n = 0;
    for (; !succeeds(use, n, &truth); n += n < thorough ? 1 : n / by_effort(1, 2, 10))
        if (n % 64 == 0 && n < thorough)
            assert_true(succeeds(use, -1, &truth));
    assert_true(n >= least);
}

TEST(any_allocation_of_an_account_may_fail)
{
    sweep(gaussian, 1000, 100);
    sweep(finite_sum, 1, 100);
    sweep(contour, 1, 100);
}

TEST(any_allocation_of_a_grid_may_fail)
{
    sweep(by_masses, 100, 50);
    sweep(by_frequencies, 10000, 20);
    sweep(with_long_numbers, 100000, 20);
}

/* Constants that FLINT keeps are half-written when a computation at more digits is left. */
static sotto_status constant(void *arg)
{
    arb_t x;
    arb_init(x);
    for (slong bits = 128; bits <= by_effort(1 << 11, 1 << 14, 1 << 14); bits *= 4) {
        arb_const_pi(x, bits);
        arb_const_log2(x, bits);
        arb_const_e(x, bits);
    }
    arb_log_ui(x, 3, 6000);
    *(struct interval *)arg = ball_enclosure(x);
    arb_clear(x);
    return SOTTO_OK;
}

TEST(any_allocation_of_a_constant_may_fail)
{
    struct interval e = {1, 2};
    sotto_status status = SOTTO_ENOMEM;
    long n = 0;
    for (; status == SOTTO_ENOMEM; n++) {
        assert_true(e.lo == 1 && e.hi == 2);
        base_alloc_fail_after(n);
        status = ball_run(constant, &e, NULL);
        base_alloc_fail_after(-1);
    }
    assert_int_equal(status, SOTTO_OK);
    assert_true(n > 100 && e.lo <= log(3) && log(3) <= e.hi && e.hi - e.lo < 1e-15);
}

/* --- what a run holds */

static sotto_status count_blocks(void *arg)
{
    struct sotto_account a;
    flint_cleanup();
    size_t before = ball_live();
    assert_int_equal(((sotto_status(*)(struct sotto_account *))arg)(&a), SOTTO_OK);
    flint_cleanup();
    assert_int_equal(ball_live(), before);
    return SOTTO_OK;
}

static sotto_status refused(struct sotto_account *a) /* losses beyond any grid */
{
    assert_int_equal(grid(a, BALL_GAUSSIAN, 1e-9, 1, 1, 1e-5, NAN), SOTTO_EDOMAIN);
    return SOTTO_OK;
}

TEST(everything_is_given_back)
{
    sotto_status (*const uses[])(struct sotto_account *) = {
        gaussian, finite_sum, contour, by_masses, by_frequencies, with_long_numbers, refused};
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        assert_int_equal(ball_run(count_blocks, uses[i], NULL), SOTTO_OK);
}

/* Blocks of all sizes, more than fit in any one chunk, written to their ends and taken again. */
static sotto_status take_many(void *arg)
{
    (void)arg;
    enum { COUNT = 300 };
    unsigned char *blocks[COUNT];
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < COUNT; i++) {
            size_t bytes = i % 4 ? (size_t)i * 7 : (size_t)700 * (size_t)i;
            blocks[i] = ball_take(bytes);
            assert_int_equal((uintptr_t)blocks[i] % 16, 0);
            memset(blocks[i], i, bytes);
        }
        for (int i = 1; i < COUNT; i++)
            assert_true(blocks[i][0] == (unsigned char)i &&
                        blocks[i][i % 4 ? i * 7 - 1 : 700 * i - 1] == (unsigned char)i);
        for (int i = 0; i < COUNT; i++)
            ball_give(blocks[i]);
    }
    for (int i = 0; i < 300; i++)
        blocks[i] = ball_take(200000);
    assert_int_equal(ball_live(), 300);
    return SOTTO_OK; /* and the pool is dropped with them */
}

static sotto_status take_too_much(void *arg)
{
    (void)arg;
    ball_take(SIZE_MAX / 2);
    return SOTTO_OK;
}

static sotto_status flint_takes_too_much(void *arg)
{
    (void)arg;
    flint_free(flint_calloc(SIZE_MAX / 2, 4));
    return SOTTO_OK;
}

static sotto_status flint_takes(void *arg)
{
    (void)arg;
    char *text = flint_calloc(10, 10);
    for (int i = 0; i < 100; i++)
        assert_int_equal(text[i], 0);
    text[99] = 'x';
    char *same = flint_realloc(text, 50), *more = flint_realloc(same, 5000);
    assert_true(more[99] == 'x');
    flint_free(more);
    flint_free(NULL);
    return SOTTO_OK;
}

TEST(blocks_are_handed_out_once)
{
    assert_int_equal(ball_run(take_many, NULL, NULL), SOTTO_OK);
    assert_int_equal(ball_run(flint_takes, NULL, NULL), SOTTO_OK);
    assert_int_equal(ball_run(take_too_much, NULL, NULL), SOTTO_ENOMEM);
    assert_non_null(strstr(sotto_error_text(), "out of memory"));
    assert_int_equal(ball_run(flint_takes_too_much, NULL, NULL), SOTTO_ENOMEM);
    base_alloc_fail_after(0);
    assert_int_equal(ball_run(flint_takes, NULL, NULL), SOTTO_ENOMEM);
    struct interval all = ball_value(BALL_LOG, 2); /* no run around it: nothing is known */
    base_alloc_fail_after(-1);
    assert_true(all.lo == -INFINITY && all.hi == INFINITY);
}

/* --- a caller that uses FLINT and GMP itself */

TEST(the_callers_numbers_are_left_alone)
{
    struct sotto_account a;
    arb_t pi, again;
    fmpz_t power;
    mpz_t big;
    arb_init(pi);
    arb_init(again);
    fmpz_init(power);
    mpz_init(big);
    arb_const_pi(pi, 3000);
    fmpz_ui_pow_ui(power, 3, 500);
    mpz_ui_pow_ui(big, 3, 500);
    char *text = flint_calloc(1, 8);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(gaussian(&a), SOTTO_OK);
        assert_false(succeeds(gaussian, 40, &a));
        arb_const_pi(again, 3000);
        assert_true(arb_overlaps(pi, again));
        mpz_mul(big, big, big);
        fmpz_mul(power, power, power);
        text = flint_realloc(text, (size_t)(i + 1) * 100000);
    }
    fmpz_set_mpz(power, big);
    fmpz_ui_pow_ui(power, 3, 2000);
    assert_true(fmpz_sizeinbase(power, 2) == mpz_sizeinbase(big, 2));
    flint_free(text);
    arb_clear(pi);
    arb_clear(again);
    fmpz_clear(power);
    mpz_clear(big);
    flint_cleanup();
}

/* --- memory that is really not there */

TEST(a_process_without_memory_lives)
{
    if (ADDRESS_SANITIZER || THREAD_SANITIZER) {
        print_message(
            "skipped: a sanitizer's own allocator ends the process where RLIMIT_AS ends its memory\n");
        skip();
    }
    pid_t child = fork();
    if (child == 0) {
        struct sotto_account a;
        long pages = 0;
        FILE *own = fopen("/proc/self/statm", "r");
        if (!own || fscanf(own, "%ld", &pages) != 1)
            leave(100);
        rlim_t bytes = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (4 << 20);
        struct rlimit limit = {bytes, RLIM_INFINITY};
        setrlimit(RLIMIT_AS, &limit);
        leave((int)grid(&a, BALL_GAUSSIAN, 4, 0.1, 8, 1e-40, 1e-3));
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), SOTTO_ENOMEM);
}

TEST_GROUP(.tags = "long")
