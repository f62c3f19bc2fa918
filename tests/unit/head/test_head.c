/* Heads: learning, determinism, answers, every documented error, no allocation while training. */
#include "sotto/lab/head.h"
#include "support/test.h"

#include "head/model/head_model.h"
#include "head/train/head_plain.h"
#include "support/head_blobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 203, D = 11, K = 5 };
static float x[N * D];
static int64_t y[N];

static struct sotto_head_recipe recipe(size_t hidden)
{
    struct sotto_head_recipe r;
    sotto_head_defaults(&r);
    r.hidden_count = hidden > 0;
    r.hidden[0] = hidden;
    r.lr = 0.01;
    r.epochs = 30;
    return r;
}

static int set_up(void **state)
{
    (void)state;
    make_blobs(x, y, N, D, K, 0.5, 1);
    return 0;
}

static struct sotto_head *train(const struct sotto_head_recipe *r)
{
    struct sotto_head *h = NULL;
    assert_int_equal(sotto_head_train(&h, x, y, N, D, K, r, NULL), SOTTO_OK);
    return h;
}

TEST(defaults_are_kerass)
{
    struct sotto_head_recipe r;
    sotto_head_defaults(&r);
    assert_string_equal(r.trainer, "adam");
    assert_int_equal(r.hidden_count, 0);
    assert_int_equal(r.epochs, 20);
    assert_int_equal(r.batch, 25);
    assert_true(r.lr == 0);
}

TEST(heads_learn_blobs)
{
    for (size_t hidden = 0; hidden <= 37; hidden += 37)
        for (int sgd = 0; sgd < 2; sgd++) {
            struct sotto_head_recipe r = recipe(hidden);
            r.trainer = sgd ? "sgd" : "adam";
            r.lr = sgd ? 0.1 : 0.01;
            struct sotto_head *h = train(&r);
            float fresh[N * D];
            int64_t labels[N];
            make_blobs(fresh, labels, N, D, K, 0.5, 2);
            double accuracy;
            assert_int_equal(sotto_head_accuracy(&accuracy, h, fresh, labels, N, D, NULL), SOTTO_OK);
            assert_true(accuracy > 0.95);
            sotto_head_free(h);
        }
}

TEST(permuted_labels_cannot_be_learned)
{
    struct sotto_head_recipe r = recipe(0);
    int64_t noise[N];
    struct rng stream = rng_stream(3, RNG_TEST, 0, 0);
    for (size_t i = 0; i < N; i++)
        noise[i] = (int64_t)rng_below(&stream, K);
    struct sotto_head *h = NULL;
    assert_int_equal(sotto_head_train(&h, x, noise, N, D, K, &r, NULL), SOTTO_OK);
    double accuracy;
    assert_int_equal(sotto_head_accuracy(&accuracy, h, x, y, N, D, NULL), SOTTO_OK);
    assert_true(accuracy < 0.6);
    sotto_head_free(h);
}

TEST(same_inputs_same_bits)
{
    struct sotto_head_recipe r = recipe(20);
    struct sotto_head *a = train(&r), *b = train(&r);
    size_t count;
    const float *pa = sotto_head_parameters(a, &count), *pb = sotto_head_parameters(b, &count);
    assert_int_equal(count, (D + 1) * 20 + 21 * K);
    assert_memory_equal(pa, pb, count * sizeof *pa);
    assert_string_equal(sotto_head_recipe_hash(a), sotto_head_recipe_hash(b));
    r.seed = 2;
    struct sotto_head *c = train(&r);
    assert_memory_not_equal(pa, sotto_head_parameters(c, &count), count * sizeof *pa);
    assert_string_not_equal(sotto_head_recipe_hash(a), sotto_head_recipe_hash(c));
    assert_string_equal(sotto_head_data_sha256(a), sotto_head_data_sha256(c));
    sotto_head_free(a);
    sotto_head_free(b);
    sotto_head_free(c);
}

TEST(hash_sees_values_and_shapes)
{
    char first[SHA256_HEX], second[SHA256_HEX];
    struct head_data data = {x, y, 10, 4, K};
    head_data_sha256(first, &data);
    data.n = 20, data.d = 2;
    head_data_sha256(second, &data);
    assert_string_not_equal(first, second);
    float other[40];
    memcpy(other, x, sizeof other);
    other[39] += 1;
    data = (struct head_data){other, y, 10, 4, K};
    head_data_sha256(second, &data);
    assert_string_not_equal(first, second);
}

/* The answers are what PyTorch's nn.Sequential would compute from the parameters in file order. */
TEST(predictions_follow_the_parameters)
{
    enum { H = 19 };
    struct sotto_head_recipe r = recipe(H);
    r.epochs = 2;
    struct sotto_head *h = train(&r);
    size_t count;
    const float *w1 = sotto_head_parameters(h, &count), *b1 = w1 + H * D, *w2 = b1 + H, *b2 = w2 + K * H;
    float logits[N * K], probabilities[N * K];
    assert_int_equal(sotto_head_predict(logits, h, x, N, D, 1, NULL), SOTTO_OK);
    assert_int_equal(sotto_head_predict(probabilities, h, x, N, D, 0, NULL), SOTTO_OK);
    for (size_t i = 0; i < N; i++) {
        double hidden[H], z[K], sum = 0;
        for (size_t o = 0; o < H; o++) {
            hidden[o] = b1[o];
            for (size_t j = 0; j < D; j++)
                hidden[o] += (double)w1[o * D + j] * x[i * D + j];
            hidden[o] = hidden[o] > 0 ? hidden[o] : 0;
        }
        for (size_t k = 0; k < K; k++) {
            z[k] = b2[k];
            for (size_t o = 0; o < H; o++)
                z[k] += w2[k * H + o] * hidden[o];
            sum += exp(z[k]);
        }
        double total = 0;
        for (size_t k = 0; k < K; k++) {
            assert_true(fabs(logits[i * K + k] - z[k]) < 1e-5 * (1 + fabs(z[k])));
            assert_true(fabs(probabilities[i * K + k] - exp(z[k]) / sum) < 1e-5);
            total += probabilities[i * K + k];
        }
        assert_true(fabs(total - 1) < 1e-6);
    }
    sotto_head_free(h);
}

TEST(probabilities_survive_huge_logits)
{
    struct sotto_head_recipe r = recipe(0);
    r.epochs = 1;
    struct sotto_head *h = train(&r);
    size_t count;
    float *w = sotto_head_parameters(h, &count), p[K];
    for (size_t i = 0; i < count; i++)
        w[i] *= 1e6f;
    assert_int_equal(sotto_head_predict(p, h, x, 1, D, 0, NULL), SOTTO_OK);
    float sum = 0;
    for (size_t k = 0; k < K; k++) {
        assert_true(p[k] >= 0 && p[k] <= 1);
        sum += p[k];
    }
    assert_true(fabsf(sum - 1) < 1e-6f);
    sotto_head_free(h);
}

TEST(training_allocates_nothing)
{
    struct sotto_head_recipe r = recipe(20);
    struct head_data data = {x, y, N, D, K};
    struct head_plain t;
    assert_int_equal(head_plain_plan(&t, &data, &r), SOTTO_OK);
    uint64_t before = base_alloc_count();
    assert_int_equal(head_plain_run(&t, NULL, NULL, NULL, NULL), SOTTO_OK);
    assert_int_equal(base_alloc_count(), before);
    head_plain_clear(&t);
}

static void expect_failure(sotto_status expected, const char *text, const float *features,
                           const int64_t *labels, size_t n, size_t d, size_t classes,
                           const struct sotto_head_recipe *r)
{
    struct sotto_head *h = (void *)x;
    assert_int_equal(sotto_head_train(&h, features, labels, n, d, classes, r, NULL), expected);
    assert_non_null(strstr(sotto_error_text(), text));
    assert_ptr_equal(h, (void *)x);
}

TEST(bad_data_is_refused_in_one_line)
{
    struct sotto_head_recipe r = recipe(0);
    float bad[N * D];
    int64_t labels[N] = {0};
    memcpy(bad, x, sizeof bad);
    bad[17 * D + 2] = NAN;
    bad[17 * D + 3] = INFINITY;
    bad[40 * D] = -INFINITY;
    expect_failure(SOTTO_EINVAL, "2 of 203 rows contain NaN or infinity (first: row 17, column 2)", bad, y, N,
                   D, K, &r);
    expect_failure(SOTTO_EINVAL, "labels: all 203 records have class 0", x, labels, N, D, K, &r);
    for (size_t i = 0; i < N * D; i++)
        bad[i] = (float)(i % D);
    expect_failure(SOTTO_EINVAL, "rows are the same; expected at least two different rows", bad, y, N, D, K,
                   &r);
    memcpy(labels, y, sizeof labels);
    labels[9] = K;
    expect_failure(SOTTO_EINVAL, "row 9 holds 5; expected 0 to 4", x, labels, N, D, K, &r);
    labels[9] = -1;
    expect_failure(SOTTO_EINVAL, "row 9 holds -1", x, labels, N, D, K, &r);
    expect_failure(SOTTO_EINVAL, "4 records for 5 classes", x, y, 4, D, K, &r);
    expect_failure(SOTTO_EINVAL, "1 records", x, y, 1, D, 2, &r);
    expect_failure(SOTTO_EINVAL, "at least 2 classes", x, y, N, D, 1, &r);
    expect_failure(SOTTO_EINVAL, "features: there are no columns; expected at least 1", x, y, N, 0, K, &r);
}

TEST(bad_recipes_name_the_member)
{
    struct sotto_head_recipe r = recipe(0);
    r.trainer = "adamw";
    expect_failure(SOTTO_EINVAL, "trainer 'adamw'", x, y, N, D, K, &r);
    r = recipe(0), r.epochs = SOTTO_NONE;
    expect_failure(SOTTO_EINVAL, "epochs", x, y, N, D, K, &r);
    r = recipe(0), r.batch = SOTTO_NONE;
    expect_failure(SOTTO_EINVAL, "batch", x, y, N, D, K, &r);
    r = recipe(0), r.lr = NAN;
    expect_failure(SOTTO_EINVAL, "lr", x, y, N, D, K, &r);
    r = recipe(0), r.lr = -1;
    expect_failure(SOTTO_EINVAL, "lr", x, y, N, D, K, &r);
    r = recipe(0), r.seed = UINT64_MAX;
    expect_failure(SOTTO_EINVAL, "seed", x, y, N, D, K, &r);
    r = recipe(0), r.hidden_count = 1;
    expect_failure(SOTTO_EINVAL, "hidden width 0", x, y, N, D, K, &r);
    r = recipe(0), r.hidden_count = 9;
    expect_failure(SOTTO_EINVAL, "9 hidden layers", x, y, N, D, K, &r);
    r = recipe(8), r.lr = 1000, r.trainer = "sgd";
    float huge[N * D];
    for (size_t i = 0; i < N * D; i++)
        huge[i] = 1e36f * x[i];
    expect_failure(SOTTO_EDIVERGED, "head: a weight became infinite or NaN in epoch", huge, y, N, D, K, &r);
}

static double distance_of(const struct sotto_head *a, const struct sotto_head *b)
{
    double square = 0;
    for (size_t i = 0; i < a->count; i++)
        square += pow((double)a->parameters[i] - b->parameters[i], 2);
    return sqrt(square);
}

/* Full-batch descent: records of a class that count three times are records that are there three times. */
TEST(balance_counts_records_as_often)
{
    enum { MOST = 3 * N };
    static float often_x[MOST * D];
    static int64_t often_y[MOST];
    static const size_t times[K] = {1, 3, 1, 2, 1};
    struct sotto_head *weighted = NULL, *repeated = NULL, *plain = NULL;
    size_t n = 0, sum = 0;
    for (size_t k = 0; k < K; k++)
        sum += times[k];
    for (size_t i = 0; i < N; i++)
        for (size_t t = 0; t < times[y[i]]; t++, n++) {
            memcpy(often_x + n * D, x + i * D, D * sizeof *x);
            often_y[n] = y[i];
        }
    for (size_t hidden = 0; hidden <= 7; hidden += 7) {
        struct sotto_head_recipe r = recipe(hidden);
        r.trainer = "sgd";
        r.batch = N;
        r.lr = 0.1;
        assert_int_equal(sotto_head_train(&plain, x, y, N, D, K, &r, NULL), SOTTO_OK);
        r.balance_count = K;
        for (size_t k = 0; k < K; k++)
            r.balance[k] = times[k];
        assert_int_equal(sotto_head_train(&weighted, x, y, N, D, K, &r, NULL), SOTTO_OK);
        r.balance_count = 0;
        r.batch = n;
        r.lr = 0.1 * (double)n / N * K / (double)sum;
        assert_int_equal(sotto_head_train(&repeated, often_x, often_y, n, D, K, &r, NULL), SOTTO_OK);
        assert_true(distance_of(weighted, repeated) < 1e-5);
        assert_true(distance_of(weighted, plain) > 1e-2);
        sotto_head_free(weighted);
        sotto_head_free(repeated);
        sotto_head_free(plain);
    }
}

TEST(balance_is_one_whole_number_for_each_class)
{
    struct sotto_head *h = NULL;
    struct sotto_head_recipe r = recipe(0);
    r.balance_count = 2;
    r.balance[0] = r.balance[1] = 1;
    assert_int_equal(sotto_head_train(&h, x, y, N, D, K, &r, NULL), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "balance has 2 weights; expected one for each of the 5 classes");
    r.balance_count = K;
    for (size_t k = 0; k < K; k++)
        r.balance[k] = k;
    assert_int_equal(sotto_head_train(&h, x, y, N, D, K, &r, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "balance"));
    r.trainer = "convex";
    assert_int_equal(sotto_head_train(&h, x, y, N, D, K, &r, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "balance cannot be given for trainer convex"));
}

TEST(wrong_width_is_refused)
{
    struct sotto_head_recipe r = recipe(0);
    r.epochs = 1;
    struct sotto_head *h = train(&r);
    float out[K] = {7};
    double accuracy = 7;
    assert_int_equal(sotto_head_predict(out, h, x, 1, D - 1, 0, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "10 columns but the head expects 11"));
    assert_int_equal(sotto_head_accuracy(&accuracy, h, x, y, 0, D, NULL), SOTTO_EINVAL);
    float bad[D] = {0, NAN};
    assert_int_equal(sotto_head_predict(out, h, bad, 1, D, 0, NULL), SOTTO_EINVAL);
    assert_true(out[0] == 7 && accuracy == 7);
    sotto_head_free(h);
}

TEST(copies_are_independent)
{
    struct sotto_head_recipe r = recipe(0);
    r.epochs = 1;
    struct sotto_head *h = train(&r), *copy = NULL;
    assert_int_equal(sotto_head_copy(&copy, h), SOTTO_OK);
    size_t count;
    float *a = sotto_head_parameters(h, &count), *b = sotto_head_parameters(copy, &count);
    assert_memory_equal(a, b, count * sizeof *a);
    b[0] += 1;
    assert_true(a[0] != b[0]);
    assert_string_equal(sotto_head_data_sha256(h), sotto_head_data_sha256(copy));
    const float second = a[1];
    sotto_head_free(h);
    assert_true(b[1] == second);
    sotto_head_free(copy);
}

TEST(encoder_hash_is_checked)
{
    struct sotto_head_recipe r = recipe(0);
    r.epochs = 1;
    struct sotto_head *h = train(&r);
    char hash[65];
    sha256_of(hash, "x", 1);
    assert_string_equal(sotto_head_encoder(h), "");
    assert_int_equal(head_set_encoder(h, "beef"), SOTTO_EINVAL);
    assert_int_equal(head_set_encoder(h, hash), SOTTO_OK);
    assert_string_equal(sotto_head_encoder(h), hash);
    sotto_head_free(h);
}

TEST(a_stop_is_honoured)
{
    volatile sig_atomic_t stop = 1;
    struct sotto_context ctx = {.stop = &stop};
    struct sotto_head_recipe r = recipe(0);
    struct sotto_head *h = NULL;
    assert_int_equal(sotto_head_train(&h, x, y, N, D, K, &r, &ctx), SOTTO_ESTOPPED);
    assert_null(h);
}

TEST(out_of_memory_is_reported_wherever_it_strikes)
{
    struct sotto_head_recipe r = recipe(8);
    r.epochs = 1;
    struct sotto_head *h = NULL;
    float out[K];
    for (long n = 0;; n++) {
        base_alloc_fail_after(n);
        sotto_status status = sotto_head_train(&h, x, y, N, D, K, &r, NULL);
        if (status == SOTTO_OK)
            status = sotto_head_predict(out, h, x, 1, D, 0, NULL);
        base_alloc_fail_after(-1);
        if (status == SOTTO_OK)
            break;
        assert_int_equal(status, SOTTO_ENOMEM);
        sotto_head_free(h);
        h = NULL;
        assert_true(n < 100);
    }
    sotto_head_free(h);
}

TEST_GROUP(.set_up = set_up, .tags = "matrix")
