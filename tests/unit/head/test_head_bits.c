/* Records of bits: looking only at the ones gives the bits of the dense product, at every level, and only
 * such records are looked at that way. */
#include "sotto/lab/head.h"
#include "support/test.h"

#include "head/train/head_plain.h"
#include "rng/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 90, D = 70, K = 5, MOST = 12000 };
static float x[N * D];
static int64_t y[N];
static const struct head_data data = {x, y, N, D, K};

static int set_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < N; i++) {
        struct rng r = rng_stream(1, RNG_TEST, 0, i);
        y[i] = (int64_t)(i % K);
        for (size_t j = 0; j < D; j++) /* record 4 is empty, column 3 too, record 9 is full */
            x[i * D + j] = i != 4 && j != 3 && (i == 9 || rng_below(&r, 5) == 0);
    }
    return 0;
}

TEST(ones_alone_give_the_dense_bits)
{
    static const char *const levels[] = {"v2", "v3", "v4"}, *const trainers[] = {"adam", "sgd"};
    static const struct {
        size_t count, width[2];
    } shapes[] = {{0, {0}}, {1, {20}}, {1, {128}}, {1, {150}}, {2, {33, 16}}};
    static float dense[MOST], sparse[MOST];
    for (size_t l = 0; l < 3; l++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            for (size_t a = 0; a < 4; a++) {
                struct sotto_head_recipe r;
                struct head_plain t;
                struct head_slots slots = {5, 11, 60}, *each[] = {NULL, &slots};
                size_t count = 0;
                setenv("SOTTO_ISA", levels[l], 1);
                sotto_head_defaults(&r);
                r.trainer = trainers[a % 2];
                r.hidden_count = shapes[s].count;
                memcpy(r.hidden, shapes[s].width, sizeof shapes[s].width);
                r.epochs = 6;
                r.batch = a < 2 ? 7 : 75; /* more than a word of records, then fewer */
                r.lr = 0.02;
                assert_int_equal(head_plain_plan(&t, &data, &r), SOTTO_OK);
                assert_true(t.sparse);
                for (size_t k = 0; k < t.net.layers; k++)
                    count += (t.net.layer[k].in + 1) * t.net.layer[k].out;
                assert_true(count <= MOST);
                for (size_t e = 0; e < 2; e++) {
                    t.sparse = true;
                    assert_int_equal(head_plain_run(&t, each[e], NULL, NULL, NULL), SOTTO_OK);
                    head_plain_export(&t, sparse);
                    t.sparse = false;
                    assert_int_equal(head_plain_run(&t, each[e], NULL, NULL, NULL), SOTTO_OK);
                    head_plain_export(&t, dense);
                    assert_memory_equal(dense, sparse, count * sizeof *dense);
                }
                head_plain_clear(&t);
            }
    unsetenv("SOTTO_ISA");
}

static bool are_bits(const float *features, size_t n, size_t d)
{
    struct head_data some = {features, y, n, d, 2};
    uint64_t *bits = NULL;
    assert_int_equal(head_bits_make(&bits, some.x, some.n, some.d), SOTTO_OK);
    for (size_t i = 0; bits && i < n; i++)
        for (size_t j = 0; j < d; j++)
            assert_int_equal(bits[i * head_bit_words(d) + j / 64] >> j % 64 & 1, features[i * d + j] == 1);
    base_free(bits);
    return bits != NULL;
}

TEST(only_sparse_bits_are_treated_so)
{
    static const char *const levels[] = {"v2", "v3", "v4"};
    for (size_t l = 0; l < 3; l++) {
        float few[] = {0, 0, 1, 0, 0, 0}, many[] = {0, 1, 1, 0, 0, 1}, number[] = {0, 0, 1, 0, 2, 0};
        setenv("SOTTO_ISA", levels[l], 1);
        assert_true(are_bits(few, 2, 3));
        assert_false(are_bits(many, 2, 3));
        assert_false(are_bits(number, 2, 3));
        number[4] = NAN;
        assert_false(are_bits(number, 2, 3));
        number[0] = 0.5f;
        assert_false(are_bits(number, 2, 3));
        assert_true(are_bits(x, N, D));
    }
    unsetenv("SOTTO_ISA");
}

/* Every third record, where it lies and copied out. */
TEST(a_part_of_a_table_is_as_good_as_a_copy)
{
    enum { PART = N / 3 };
    static float copy[PART * D], there[MOST], apart[MOST];
    static size_t record[PART];
    int64_t label[PART];
    struct head_data own = {copy, label, PART, D, K};
    uint64_t *bits;
    for (size_t i = 0; i < PART; i++) {
        record[i] = 3 * i + 1;
        label[i] = y[record[i]];
        memcpy(copy + i * D, x + record[i] * D, D * sizeof *x);
    }
    assert_int_equal(head_bits_make(&bits, data.x, data.n, data.d), SOTTO_OK);
    for (size_t with = 0; with < 2; with++) {
        struct head_part part = {&data, record, PART, with ? bits : NULL};
        struct sotto_head_recipe r;
        struct head_plain t;
        struct sotto_head *h;
        double accuracy, expected;
        size_t count;
        sotto_head_defaults(&r);
        r.hidden_count = 1;
        r.hidden[0] = 20;
        r.epochs = 6;
        r.batch = 7;
        assert_int_equal(head_part_check(&part, NULL), SOTTO_OK);
        assert_int_equal(head_plain_plan_part(&t, &part, &r), SOTTO_OK);
        assert_int_equal(t.sparse, with);
        assert_int_equal(head_plain_run(&t, NULL, NULL, NULL, NULL), SOTTO_OK);
        head_plain_export(&t, there);
        head_plain_clear(&t);
        assert_int_equal(head_plain_plan(&t, &own, &r), SOTTO_OK);
        assert_int_equal(head_plain_run(&t, NULL, NULL, NULL, NULL), SOTTO_OK);
        head_plain_export(&t, apart);
        head_plain_clear(&t);
        assert_int_equal(sotto_head_train(&h, copy, label, PART, D, K, &r, NULL), SOTTO_OK);
        float *weights = sotto_head_parameters(h, &count);
        assert_memory_equal(there, apart, count * sizeof *there);
        assert_memory_equal(there, weights, count * sizeof *there);
        assert_int_equal(sotto_head_accuracy(&expected, h, copy, label, PART, D, NULL), SOTTO_OK);
        assert_int_equal(head_part_accuracy(&accuracy, h, &part, NULL), SOTTO_OK);
        assert_true(accuracy == expected && accuracy > 1.0 / K);
        part.n = 0;
        assert_int_equal(head_part_accuracy(&accuracy, h, &part, NULL), SOTTO_EINVAL);
        sotto_head_free(h);
    }
    base_free(bits);
}

/* A convex trainer scales its records, so bits cannot represent them. */
TEST(scaled_records_are_not_bits)
{
    static size_t record[N];
    struct sotto_head_recipe r;
    struct sotto_head *h;
    uint64_t *bits;
    double accuracy, expected;
    for (size_t i = 0; i < N; i++)
        record[i] = i;
    sotto_head_defaults(&r);
    r.trainer = "convex-sgd";
    r.clip = 1;
    assert_int_equal(sotto_head_train(&h, x, y, N, D, K, &r, NULL), SOTTO_OK);
    assert_int_equal(head_bits_make(&bits, data.x, data.n, data.d), SOTTO_OK);
    assert_int_equal(sotto_head_accuracy(&expected, h, x, y, N, D, NULL), SOTTO_OK);
    struct head_part all = head_part_all(&data), listed = {&data, record, N, bits};
    all.bits = bits;
    assert_int_equal(head_part_accuracy(&accuracy, h, &all, NULL), SOTTO_OK);
    assert_true(accuracy == expected);
    assert_int_equal(head_part_accuracy(&accuracy, h, &listed, NULL), SOTTO_OK);
    assert_true(accuracy == expected);
    h->has_recipe = false; /* nothing says that records are to be scaled: this test would notice */
    assert_int_equal(head_part_accuracy(&accuracy, h, &listed, NULL), SOTTO_OK);
    assert_true(accuracy != expected);
    sotto_head_free(h);
    base_free(bits);
}

TEST(a_part_that_cannot_be_learnt_from_is_refused)
{
    size_t one_class[] = {0, 5, 10, 15, 20}, few[] = {1, 2, 3, 4};
    struct head_part part = {.data = &data, .record = one_class, .n = 5};
    assert_int_equal(head_part_check(&part, NULL), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(),
                        "labels: all 5 records have class 0; expected at least 2 classes");
    part.record = few;
    part.n = 4;
    assert_int_equal(head_part_check(&part, NULL), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(),
                        "features: 4 records for 5 classes; expected at least one record per class");
    int64_t labels[] = {0, 1, 2, 3, 4};
    struct head_data constant = {x, labels, 5, D, K};
    float *rows = calloc(5 * D, sizeof *rows);
    constant.x = rows;
    part = (struct head_part){.data = &constant, .n = 5};
    assert_int_equal(head_part_check(&part, NULL), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(),
                        "features: all 5 rows are the same; expected at least two different rows");
    rows[4 * D + 2] = 1;
    assert_int_equal(head_part_check(&part, NULL), SOTTO_OK);
    free(rows);
}

TEST_GROUP(.set_up = set_up, .tags = "matrix")
