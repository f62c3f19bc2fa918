/* Many heads at once on subsets of the records: for any threads the same bits, and those of a head alone
 * (MLPs) or nearly (linear heads); progress; errors. */
#include "sotto/lab/head.h"
#include "support/test.h"

#include "head/batch/head_batch_train.h"
#include "support/head_blobs.h"
#include "support/heads_close.h"

#include <stdlib.h>
#include <string.h>

enum { N = 70, D = 5, K = 3, HEADS = 37, MOST = (D + 1) * 8 + 9 * K };
static float x[N * D];
static int64_t y[N];
static uint8_t member[N * HEADS];
static const struct head_data data = {x, y, N, D, K};

static int set_up(void **state)
{
    (void)state;
    make_blobs(x, y, N, D, K, 1.0, 1);
    struct rng coin = rng_stream(3, RNG_TEST, 0, 0);
    for (size_t i = 0; i < N * HEADS; i++)
        member[i] = i % HEADS == 0 || rng_below(&coin, 2) == 1; /* head 0 sees all */
    return 0;
}

static struct sotto_head_recipe recipe(size_t hidden)
{
    struct sotto_head_recipe r;
    sotto_head_defaults(&r);
    r.hidden_count = hidden > 0;
    r.hidden[0] = hidden;
    r.epochs = 4;
    r.batch = 9;
    return r;
}

TEST(many_heads_equal_heads_alone)
{
    for (size_t hidden = 0; hidden <= 8; hidden += 8) {
        struct sotto_head_recipe r = recipe(hidden);
        size_t count = head_parameter_count(&r, D, K);
        float *one = base_alloc(HEADS * count, sizeof *one), *two = base_alloc(HEADS * count, sizeof *two);
        float alone[MOST];
        struct sotto_context ctx = {.threads = 1};
        assert_int_equal(head_many_train(one, &data, &r, member, HEADS, &ctx), SOTTO_OK);
        ctx.threads = 3;
        assert_int_equal(head_many_train(two, &data, &r, member, HEADS, &ctx), SOTTO_OK);
        assert_memory_equal(one, two, HEADS * count * sizeof *one);
        struct head_plain t;
        assert_int_equal(head_plain_plan(&t, &data, &r), SOTTO_OK);
        for (size_t h = 0; h < HEADS; h++) {
            struct head_subset column = {member + h, HEADS};
            assert_int_equal(head_plain_run(&t, NULL, &column, NULL, NULL), SOTTO_OK);
            head_plain_export(&t, alone);
            assert_heads_close(alone, one + h * count, count, hidden ? 0 : HEAD_BLOCK_TOLERANCE);
        }
        head_plain_clear(&t);
        /* Head 0 sees everything: it is the ordinary head. Head 1 is not. */
        struct sotto_head *h = NULL;
        assert_int_equal(sotto_head_train(&h, x, y, N, D, K, &r, NULL), SOTTO_OK);
        assert_heads_close(sotto_head_parameters(h, &count), one, count, hidden ? 0 : HEAD_BLOCK_TOLERANCE);
        assert_memory_not_equal(one, one + count, count * sizeof *one);
        sotto_head_free(h);
        base_free(one);
        base_free(two);
    }
}

/* Records outside a head's subset have no influence on it, whatever they hold. */
TEST(absent_records_have_no_influence)
{
    float other[N * D];
    memcpy(other, x, sizeof other);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; !member[i * HEADS + 5] && j < D; j++)
            other[i * D + j] += 3;
    struct head_data changed = {other, y, N, D, K};
    struct sotto_head_recipe r = recipe(0);
    enum { P = (D + 1) * K };
    float before[HEADS * P], after[HEADS * P];
    assert_int_equal(head_many_train(before, &data, &r, member, HEADS, NULL), SOTTO_OK);
    assert_int_equal(head_many_train(after, &changed, &r, member, HEADS, NULL), SOTTO_OK);
    assert_memory_equal(before + 5 * P, after + 5 * P, P * sizeof *before);
    assert_memory_not_equal(before + 6 * P, after + 6 * P, P * sizeof *before); /* negative control */
}

TEST(heads_without_records_are_refused)
{
    uint8_t none[N * 2];
    float parameters[2 * (D + 1) * K];
    struct sotto_head_recipe r = recipe(0);
    for (size_t i = 0; i < N * 2; i++)
        none[i] = i % 2 == 0;
    assert_int_equal(head_many_train(parameters, &data, &r, none, 2, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "head 1 of 2 has no training record; expected at least 1"));
}

TEST(out_of_memory_is_reported_wherever_it_strikes)
{
    static float parameters[HEADS * MOST];
    struct sotto_context ctx = {.threads = 2};
    for (size_t hidden = 0; hidden <= 8; hidden += 8)
        for (long n = 0;; n++) {
            struct sotto_head_recipe r = recipe(hidden);
            r.epochs = 1;
            base_alloc_fail_after(n);
            sotto_status status = head_many_train(parameters, &data, &r, member, HEADS, &ctx);
            base_alloc_fail_after(-1);
            if (status == SOTTO_OK)
                break;
            assert_int_equal(status, SOTTO_ENOMEM);
            assert_true(n < 100);
        }
}

TEST_GROUP(.set_up = set_up, .tags = "matrix")
