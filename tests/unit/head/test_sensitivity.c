/* The sensitivity sampler: alignment, exact zeros, thread independence, gamma, errors. */
#include "sotto/lab/head.h"
#include "support/test.h"

#include "head/batch/head_block.h"
#include "head/train/head_plain.h"
#include "head/sensitivity/paper_norms.h"
#include "head/sensitivity/sensitivity_gamma.h"
#include "head/sensitivity/sensitivity_sample.h"
#include "support/head_blobs.h"
#include "support/heads_close.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 90, D = 7, K = 3 };
static float x[N * D];
static int64_t y[N];

static int set_up(void **state)
{
    (void)state;
    make_blobs(x, y, N, D, K, 1.0, 1);
    return 0;
}

static struct sotto_head_recipe recipe(size_t hidden)
{
    struct sotto_head_recipe r;
    sotto_head_defaults(&r);
    r.hidden_count = hidden > 0;
    r.hidden[0] = hidden;
    r.epochs = 5;
    r.batch = 8;
    return r;
}

TEST(identical_records_give_exactly_zero)
{
    /* Records 4 and 5 hold the same numbers, and the pair (4, 5) is trained directly. */
    float twins[N * D];
    int64_t labels[N];
    memcpy(twins, x, sizeof twins);
    memcpy(labels, y, sizeof labels);
    memcpy(twins + 5 * D, twins + 4 * D, D * sizeof *twins);
    labels[5] = labels[4];
    struct head_data data = {twins, labels, N, D, K};
    for (size_t hidden = 0; hidden <= 9; hidden += 9) {
        struct sotto_head_recipe r = recipe(hidden);
        struct head_plain t;
        float first[200], second[200];
        size_t count = hidden ? (D + 1) * 9 + 10 * K : (D + 1) * K;
        assert_int_equal(head_plain_plan(&t, &data, &r), SOTTO_OK);
        struct head_slots slots = {.left_out = 5, .replacement_slot = 4, .replacement = 4};
        assert_int_equal(head_plain_run(&t, &slots, NULL, NULL, NULL), SOTTO_OK);
        head_plain_export(&t, first);
        slots.replacement = 5;
        assert_int_equal(head_plain_run(&t, &slots, NULL, NULL, NULL), SOTTO_OK);
        head_plain_export(&t, second);
        assert_memory_equal(first, second, count * sizeof *first);
        /* Negative control: another record in the slot is seen. */
        slots.replacement = 6;
        assert_int_equal(head_plain_run(&t, &slots, NULL, NULL, NULL), SOTTO_OK);
        head_plain_export(&t, second);
        assert_memory_not_equal(first, second, count * sizeof *first);
        head_plain_clear(&t);
    }
}

/* An empty slot is a record that does not exist: with one batch an epoch, order hardly matters and the head
 * equals the one trained on n - 1 records up to rounding. */
TEST(the_hole_is_not_trained_on)
{
    struct sotto_head_recipe r = recipe(0);
    r.batch = N;
    r.trainer = "sgd";
    r.lr = 0.1;
    struct head_data data = {x, y, N, D, K};
    struct head_plain t;
    float with_hole[(D + 1) * K];
    assert_int_equal(head_plain_plan(&t, &data, &r), SOTTO_OK);
    struct head_slots slots = {.left_out = N - 1, .replacement_slot = 0, .replacement = 0};
    assert_int_equal(head_plain_run(&t, &slots, NULL, NULL, NULL), SOTTO_OK);
    head_plain_export(&t, with_hole);
    head_plain_clear(&t);
    struct sotto_head *h = NULL;
    assert_int_equal(sotto_head_train(&h, x, y, N - 1, D, K, &r, NULL), SOTTO_OK);
    size_t count;
    const float *without = sotto_head_parameters(h, &count);
    for (size_t i = 0; i < count; i++)
        assert_true(fabsf(with_hole[i] - without[i]) < 1e-5f);
    sotto_head_free(h);
}

static double distance(const struct sotto_head *a, const struct sotto_head *b)
{
    size_t count;
    const float *pa = sotto_head_parameters((void *)a, &count),
                *pb = sotto_head_parameters((void *)b, &count);
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)(pa[i] - pb[i]) * (pa[i] - pb[i]);
    return sqrt(sum);
}

/* Negative control of the slots: train on the data without record i and on the data without record j the
 * naive way (delete the row). Every later record then falls into another batch, and the distance measures the
 * shuffle. */
TEST(misaligned_slots_inflate_the_change)
{
    struct sotto_head_recipe r = recipe(0);
    r.lr = 0.01;
    struct sotto_sensitivity_sample s;
    assert_int_equal(sotto_sensitivity_run(&s, x, y, N, D, K, &r, 40, NULL), SOTTO_OK);
    double sum = 0;
    for (size_t k = 0; k < 10; k++) {
        struct sotto_head *heads[2] = {NULL, NULL};
        for (int side = 0; side < 2; side++) {
            float fewer[N * D];
            int64_t labels[N];
            size_t left_out = side ? 60 + k : 3 * k;
            memcpy(fewer, x, sizeof fewer);
            memcpy(labels, y, sizeof labels);
            memmove(fewer + left_out * D, fewer + (left_out + 1) * D, (N - 1 - left_out) * D * sizeof *fewer);
            memmove(labels + left_out, labels + left_out + 1, (N - 1 - left_out) * sizeof *labels);
            assert_int_equal(sotto_head_train(&heads[side], fewer, labels, N - 1, D, K, &r, NULL), SOTTO_OK);
        }
        sum += distance(heads[0], heads[1]);
        sotto_head_free(heads[0]);
        sotto_head_free(heads[1]);
    }
    print_message("mean L2 change: aligned %.4f, misaligned %.4f\n", s.mean_l2, sum / 10);
    assert_true(sum / 10 > 1.5 * s.mean_l2);
}

static void check_threads(size_t hidden)
{
    struct sotto_head_recipe r = recipe(hidden);
    struct sotto_sensitivity_sample one, two, three;
    memset(&one, 0, sizeof one), memset(&two, 0, sizeof two), memset(&three, 0, sizeof three);
    struct sotto_context ctx = {.threads = 1};
    assert_int_equal(sotto_sensitivity_run(&one, x, y, N, D, K, &r, 11, &ctx), SOTTO_OK);
    ctx.threads = 2;
    assert_int_equal(sotto_sensitivity_run(&two, x, y, N, D, K, &r, 11, &ctx), SOTTO_OK);
    ctx.threads = 3;
    assert_int_equal(sotto_sensitivity_run(&three, x, y, N, D, K, &r, 11, &ctx), SOTTO_OK);
    assert_memory_equal(&one, &two, sizeof one);
    assert_memory_equal(&one, &three, sizeof one);
    assert_true(one.l1 >= one.l2 && one.l2 >= one.linf && one.linf > 0);
    assert_true(one.mean_l1 > 0 && one.mean_l1 <= one.l1 && one.mean_l2 <= one.l2);
    assert_int_equal(strlen(one.recipe_hash), 64);
    assert_int_equal(strlen(one.data_sha256), 64);
}

TEST(threads_do_not_change_bits)
{
    check_threads(9);
    check_threads(0); /* in blocks */
}

/* Whole batches, a last partial batch, a batch of one record (which may be the empty slot), one batch of all;
 * both trainers; every instruction-set level; slots of all kinds, and fewer heads than lanes. */
TEST(blocks_of_heads_equal_heads_trained_alone)
{
    enum { HEADS = 21, GROUPS = 2, PARAMETERS = (D + 1) * K };
    const size_t batches[] = {1, 8, 9, N - 1, N, 500};
    struct head_slots slots[HEADS];
    for (size_t h = 0; h < HEADS; h++)
        slots[h] = (struct head_slots){
            .left_out = 4 * h, .replacement_slot = 4 * h + 1, .replacement = h % 2 ? 4 * h : 4 * h + 1};
    slots[6] = (struct head_slots){SIZE_MAX, SIZE_MAX, 0};
    slots[7] = (struct head_slots){.left_out = 3, .replacement_slot = SIZE_MAX};
    slots[8] = (struct head_slots){.left_out = SIZE_MAX, .replacement_slot = 2, .replacement = 80};
    struct head_data data = {x, y, N, D, K};
    uint8_t member[N * HEADS];
    struct rng coin = rng_stream(8, RNG_TEST, 0, 0);
    for (size_t i = 0; i < N * HEADS; i++)
        member[i] = rng_below(&coin, 2) == 1;
    for (size_t i = 0; i < 2 * CPU_ISA_COUNT * (sizeof batches / sizeof *batches); i++) {
        struct sotto_head_recipe r = recipe(0);
        r.trainer = i % 2 ? "sgd" : "adam";
        r.batch = batches[i / 2 % 6];
        setenv("SOTTO_ISA", cpu_isa_name((enum cpu_isa)(i / 12)), 1);
        struct head_subset subset = {i % 3 ? member : NULL, HEADS};
        struct head_block b;
        struct head_plain t;
        float together[PARAMETERS], alone[PARAMETERS];
        assert_int_equal(head_block_plan(&b, &data, &r, GROUPS), SOTTO_OK);
        assert_int_equal(head_plain_plan(&t, &data, &r), SOTTO_OK);
        assert_int_equal(head_block_run(&b, slots, &subset, HEADS, NULL), SOTTO_OK);
        for (size_t h = 0; h < HEADS; h++) {
            struct head_subset column = {subset.member ? member + h : NULL, HEADS};
            assert_int_equal(head_plain_run(&t, &slots[h], &column, NULL, NULL), SOTTO_OK);
            head_plain_export(&t, alone);
            head_block_export(&b, h, together);
            assert_heads_close(alone, together, PARAMETERS, HEAD_BLOCK_TOLERANCE);
        }
        head_block_clear(&b);
        head_plain_clear(&t);
    }
    unsetenv("SOTTO_ISA");
}

TEST(blocks_allocate_nothing_while_training)
{
    struct sotto_head_recipe r = recipe(0);
    struct head_data data = {x, y, N, D, K};
    struct head_slots slots = {.left_out = 1, .replacement_slot = 2, .replacement = 1};
    struct head_block b;
    assert_int_equal(head_block_plan(&b, &data, &r, head_block_groups(&data)), SOTTO_OK);
    uint64_t before = base_alloc_count();
    assert_int_equal(head_block_run(&b, &slots, NULL, 1, NULL), SOTTO_OK);
    assert_int_equal(base_alloc_count(), before);
    head_block_clear(&b);
}

TEST(more_pairs_extend_the_sample)
{
    struct sotto_head_recipe r = recipe(0);
    struct sotto_sensitivity_sample few, many;
    assert_int_equal(sotto_sensitivity_run(&few, x, y, N, D, K, &r, 5, NULL), SOTTO_OK);
    assert_int_equal(sotto_sensitivity_run(&many, x, y, N, D, K, &r, 25, NULL), SOTTO_OK);
    assert_true(many.l1 >= few.l1 && many.l2 >= few.l2 && many.linf >= few.linf);
}

TEST(lambert_solves_its_equation)
{
    for (double w = -1.001; w > -600; w *= 1.3) {
        double back = lambert_lower(w * exp(w));
        assert_true(fabs(back - w) < (w > -1.01 ? 1e-8 : 1e-12) * -w);
    }
    assert_true(fabs(lambert_lower(-exp(-1)) + 1) < 1e-7);
}

/* Origin: scipy 1.17.1, r = exp(lambertw(-1/(4 m), -1) / 2), gamma = r + sqrt(log(1/r) / (2 m)). */
TEST(gamma_known_answers)
{
    assert_true(fabs(gamma_dkw(20) - 0.3234371309201417) < 1e-14);
    assert_true(fabs(gamma_dkw(250) - 0.1059607454037443) < 1e-14);
    assert_true(fabs(gamma_dkw(500) - 0.07743960280679663) < 1e-14);
    assert_true(fabs(gamma_dkw(1000) - 0.05646770780814568) < 1e-14);
    assert_true(fabs(gamma_dkw(10000) - 0.019526170773503583) < 1e-14);
    assert_true(gamma_dkw(1) == 1); /* 1.07 is no share */
    assert_true(fabs(gamma_exchangeable(500) - 1.0 / 501) < 1e-15);
    assert_true(fabs(gamma_tolerance(500, .99) - 0.009168055107232398) < 1e-15);
    assert_true(fabs(pow(1 - gamma_tolerance(500, .99), 500) - .01) < 1e-12);
}

/* The best rho is the best: no other rho of a fine grid gives a smaller gamma. */
TEST(gamma_dkw_is_the_minimum)
{
    for (size_t m = 3; m < 100000; m *= 7) {
        double best = 1;
        for (double rho = 1e-6; rho < 1; rho *= 1.0005)
            best = fmin(best, rho + sqrt(log(1 / rho) / (2.0 * (double)m)));
        assert_true(gamma_dkw(m) <= best + 1e-12);
        assert_true(best - gamma_dkw(m) < 1e-6);
    }
}

static void expect_failure(const char *text, size_t n, size_t classes, size_t pairs)
{
    struct sotto_head_recipe r = recipe(0);
    struct sotto_sensitivity_sample s = {.l1 = 7};
    assert_int_equal(sotto_sensitivity_run(&s, x, y, n, D, classes, &r, pairs, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), text));
    assert_true(s.l1 == 7);
}

TEST(bad_requests_are_refused)
{
    expect_failure("pairs must be at least 1", N, K, 0);
    expect_failure("only 10 distinct pairs exist", 5, K, 11);
    expect_failure("only 15 distinct pairs exist", 6, K, 16);
    expect_failure("1 records", 1, K, 1);
    expect_failure("expected 0 to 1", N, 2, 1);
}

TEST(a_stop_is_honoured)
{
    volatile sig_atomic_t stop = 1;
    struct sotto_context ctx = {.stop = &stop};
    struct sotto_head_recipe r = recipe(0);
    struct sotto_sensitivity_sample s;
    assert_int_equal(sotto_sensitivity_run(&s, x, y, N, D, K, &r, 3, &ctx), SOTTO_ESTOPPED);
}

struct seen {
    uint64_t last, total;
};
static void watch(void *user, const char *stage, uint64_t done, uint64_t total, const char *unit)
{
    struct seen *seen = user;
    assert_string_equal(stage, "sensitivity");
    assert_string_equal(unit, "pairs");
    assert_true(done >= seen->last);
    seen->last = done;
    seen->total = total;
}
TEST(progress_ends_at_the_total)
{
    struct seen seen = {0};
    struct sotto_context ctx = {.threads = 1, .progress = watch, .user = &seen};
    struct sotto_head_recipe r = recipe(0);
    struct sotto_sensitivity_sample s;
    assert_int_equal(sotto_sensitivity_run(&s, x, y, N, D, K, &r, 4, &ctx), SOTTO_OK);
    assert_int_equal(seen.last, 4);
    assert_int_equal(seen.total, 4);
}

TEST(out_of_memory_is_reported_wherever_it_strikes)
{
    struct sotto_head_recipe r = recipe(0);
    struct sotto_context ctx = {.threads = 2};
    struct sotto_sensitivity_sample s;
    for (long n = 0;; n++) {
        base_alloc_fail_after(n);
        sotto_status status = sotto_sensitivity_run(&s, x, y, N, D, K, &r, 2, &ctx);
        base_alloc_fail_after(-1);
        if (status == SOTTO_OK)
            break;
        assert_int_equal(status, SOTTO_ENOMEM);
        assert_true(n < 100);
    }
}

/* A trainer that is no function: the head trained alone and the head trained with others differ in a bit. */
static sotto_status planted(const struct head_data *data, const struct sotto_head_recipe *r, size_t heads,
                            const struct head_job *job, const struct sotto_context *ctx)
{
    struct sotto_head_recipe other = *r;
    other.seed += heads > 1;
    return head_batch_train(data, &other, heads, job, ctx);
}

TEST(trainers_that_are_no_function_are_refused)
{
    struct head_data data = {x, y, N, D, K};
    struct sotto_sensitivity_sample s = {.l1 = 7};
    for (size_t hidden = 0; hidden <= 9; hidden += 9) {
        struct sotto_head_recipe r = recipe(hidden);
        assert_int_equal(sensitivity_sample(&s, &data, &r, 3, planted, NULL), SOTTO_EINVAL);
        assert_non_null(strstr(sotto_error_text(), "the trainer is not deterministic"));
        assert_true(s.l1 == 7);
        assert_int_equal(sensitivity_sample(&s, &data, &r, 3, head_batch_train, NULL), SOTTO_OK);
        s.l1 = 7;
    }
}

struct heard {
    size_t lines;
    char last[400];
};
static void listen(void *user, enum sotto_log_level level, const char *text)
{
    struct heard *heard = user;
    heard->lines += level == SOTTO_LOG_INFO;
    strncpy(heard->last, text, sizeof heard->last - 1);
}

TEST(gamma_is_told_as_pairs_come_in)
{
    struct head_data data = {x, y, N, D, K};
    struct sotto_head_recipe r = recipe(3); /* MLPs come pair by pair */
    r.epochs = 1;
    struct heard heard = {0};
    struct sotto_context ctx = {.threads = 1, .log = listen, .user = &heard};
    struct sotto_sensitivity_sample s;
    assert_int_equal(sensitivity_sample(&s, &data, &r, 70, head_batch_train, &ctx), SOTTO_OK);
    assert_int_equal(heard.lines, 3); /* 16, 32, 64 */
    assert_non_null(strstr(heard.last, "64 of 70 pairs"));
    assert_non_null(strstr(heard.last, "with 99 % confidence"));
}

/* Against closed forms: (out, in) kernels with known singular values. */
TEST(paper_norms_known_answers)
{
    double scratch[3 * 3 + 6];
    /* Rank one: |u| |v|. A rotation times diag(3, 2). A 2 x 2 by the quadratic formula. */
    double rank[6], turned[4] = {3 * 0.6, -2 * 0.8, 3 * 0.8, 2 * 0.6}, any[4] = {1, 2, 3, 4}, zero[6] = {0};
    for (int i = 0; i < 6; i++)
        rank[i] = (i / 3 + 1) * (i % 3 - 1.5);
    assert_true(fabs(spectral_norm(rank, 2, 3, scratch) - sqrt(5 * (2.25 + .25 + .25))) < 1e-9);
    assert_true(fabs(spectral_norm(rank, 3, 2, scratch) -
                     spectral_norm((double[]){rank[0], rank[2], rank[4], rank[1], rank[3], rank[5]}, 2, 3,
                                   scratch)) < 1e-9);
    assert_true(fabs(spectral_norm(turned, 2, 2, scratch) - 3) < 1e-6);
    assert_true(fabs(spectral_norm(any, 2, 2, scratch) - sqrt((30 + sqrt(30 * 30 - 4 * 4)) / 2)) < 1e-6);
    assert_true(spectral_norm(zero, 2, 3, scratch) == 0);
    /* A head 2 -> 2: weight (out, in) = ((3, 0), (0, -4)), bias (1, -1); the other head is all ones more. */
    const float gap[6] = {3, 0, 0, -4, 1, -1};
    float a[6], b[6];
    for (int i = 0; i < 6; i++)
        b[i] = 1, a[i] = b[i] + gap[i];
    struct sotto_norm_pair p[SOTTO_PAPER_NORMS];
    assert_int_equal(paper_norms_find(p, a, b, 1, (size_t[]){2, 2}), SOTTO_OK);
    assert_true(p[SOTTO_PAPER_NORM_INDUCED].one == 4 && fabs(p[SOTTO_PAPER_NORM_INDUCED].two - 4) < 1e-6);
    assert_true(p[SOTTO_PAPER_NORM_INDUCED_ROWS].one == 4);
    assert_true(p[SOTTO_PAPER_NORM_BIAS].one == 2 && fabs(p[SOTTO_PAPER_NORM_BIAS].two - sqrt(2)) < 1e-12);
    assert_true(fabs(p[SOTTO_PAPER_NORM_DIFFERENCE].one - fabs(4 + 1 + 1 + 3 + 2 + 0 - 6.0)) < 1e-12);
    assert_true(fabs(p[SOTTO_PAPER_NORM_PER_TENSOR].one - (5 + sqrt(2))) < 1e-12);
    assert_true(fabs(p[SOTTO_PAPER_NORM_PER_TENSOR].two - sqrt(27)) < 1e-12);
    /* Columns of the (in, out) kernel are outputs: weight ((1, 2), (0, 0)) has column sums 3, 0 and row sums
     * 1, 2. */
    const float lopsided[6] = {2, 3, 1, 1, 1, 1}, ones[6] = {1, 1, 1, 1, 1, 1};
    assert_int_equal(paper_norms_find(p, lopsided, ones, 1, (size_t[]){2, 2}), SOTTO_OK);
    assert_true(p[SOTTO_PAPER_NORM_INDUCED].one == 3 && p[SOTTO_PAPER_NORM_INDUCED_ROWS].one == 2);
}

TEST(paper_norms_stand_beside_the_entrywise_ones)
{
    for (size_t hidden = 0; hidden <= 9; hidden += 9) {
        struct sotto_head_recipe r = recipe(hidden);
        struct sotto_sensitivity_sample s;
        assert_int_equal(sotto_sensitivity_run(&s, x, y, N, D, K, &r, 6, NULL), SOTTO_OK);
        for (int i = 0; i < SOTTO_PAPER_NORMS; i++) {
            assert_true(s.paper[i].one > 0 && s.paper[i].one <= s.l1 * (1 + 1e-9));
            assert_true(s.paper[i].two > 0 && s.paper[i].two <= s.l2 * (1 + 1e-9));
        }
        assert_true(s.paper[SOTTO_PAPER_NORM_PER_TENSOR].one >= s.l2 * (1 - 1e-9));
        assert_true(fabs(s.paper[SOTTO_PAPER_NORM_PER_TENSOR].two - s.l2) <= 1e-12 * s.l2);
    }
}

TEST_GROUP(.set_up = set_up, .tags = "matrix")
