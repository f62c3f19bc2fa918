/* Randomised smoothing on models with known answers: what is drawn, what is counted, what is refused. */
#include "support/test.h"

#include "attack/target/target.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "io/array/npy.h"
#include "num/binomial.h"
#include "rng/rng.h"
#include "smoothing/smoothing_private.h"
#include "sotto/lab/smoothing.h"
#include "sotto/private/all.h"
#include "support/head_blobs.h"
#include "support/machine.h"
#include "support/temporary_folder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 24, D = 3, K = 4 };
static float x[N * D];
static int64_t y[N];

static int set_up(void **state)
{
    make_blobs(x, y, N, D, K, 0.3, 1);
    return make_folder(state);
}

/* ---- models ---- */

static sotto_status always_two(void *user, float *p, const float *rows, size_t n)
{
    (void)user, (void)rows;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < K; k++)
            p[i * K + k] = k == 2;
    return SOTTO_OK;
}

static sotto_status undecided(void *user, float *p, const float *rows, size_t n)
{
    (void)user, (void)rows;
    for (size_t i = 0; i < n * K; i++)
        p[i] = 1.0F / K;
    return SOTTO_OK;
}

/* A random class for every row, a function of its bits. */
static sotto_status by_hash(void *user, float *p, const float *rows, size_t n)
{
    (void)user;
    for (size_t i = 0; i < n; i++) {
        unsigned char digest[DIGEST_BYTES];
        digest_of(digest, &(struct digest_part){rows + i * D, D * sizeof *rows}, 1);
        for (size_t k = 0; k < K; k++)
            p[i * K + k] = k == digest[0] % K;
    }
    return SOTTO_OK;
}

/* The first *user rows get class 0, all others class 1. */
static sotto_status first_rows(void *user, float *p, const float *rows, size_t n)
{
    size_t *left = user;
    (void)rows;
    for (size_t i = 0; i < n; i++) {
        memset(p + i * K, 0, K * sizeof *p);
        p[i * K + (*left == 0)] = 1;
        *left -= *left > 0;
    }
    return SOTTO_OK;
}

struct witness {
    float first[400];
    size_t count;
};
static sotto_status remember(void *user, float *p, const float *rows, size_t n)
{
    struct witness *w = user;
    for (size_t i = 0; i < n; i++)
        w->first[w->count++] = rows[i * D];
    return always_two(NULL, p, rows, n);
}

/* ---- helpers ---- */

static struct sotto_smoothing_result smooth(sotto_model_function *model, void *user,
                                            const struct sotto_records *records,
                                            const struct sotto_smoothing_options *o)
{
    struct sotto_smoothing_result r = {0};
    struct sotto_target *t;
    assert_int_equal(sotto_target_open_function(&t, "model", model, user, D, K), SOTTO_OK);
    assert_int_equal(sotto_smoothing(&r, t, records, o, &machine.context), SOTTO_OK);
    sotto_target_close(t);
    return r;
}

static const struct sotto_records all = {x, y, N};

/* ---- tests ---- */

TEST(a_constant_gets_the_largest_radius)
{
    static const enum sotto_smoothing_noise laws[] = {SOTTO_SMOOTHING_GAUSSIAN, SOTTO_SMOOTHING_LAPLACE,
                                                      SOTTO_SMOOTHING_LOGISTIC};
    const double p = .993116048, expected[] = {2.463263, -log(2 * (1 - p)), log(p / (1 - p))};
    for (size_t law = 0; law < 3; law++) {
        struct sotto_smoothing_options o = {.sigma = .25, .noise = laws[law], .certify = 1, .seed = 3};
        struct sotto_smoothing_result r = smooth(always_two, NULL, &all, &o);
        size_t twos = 0;
        assert_true(fabs(r.largest_radius - .25 * expected[law]) < 1e-6);
        for (size_t i = 0; i < N; i++) {
            assert_true(r.rows[i].answer == 2 && !r.rows[i].abstained && r.rows[i].votes == 1000);
            assert_true(r.rows[i].radius == r.largest_radius);
            twos += y[i] == 2;
        }
        assert_true(r.abstained == 0 && r.curve_count == 21);
        assert_true(r.curve[20].radius == r.largest_radius);
        assert_true(r.curve[20].accuracy.estimate == (double)twos / N);
        sotto_smoothing_result_free(&r);
    }
}

TEST(a_random_model_abstains)
{
    for (int certify = 0; certify < 2; certify++) {
        struct sotto_smoothing_options o = {.sigma = 1, .certify = certify, .seed = 5};
        struct sotto_smoothing_result r = smooth(by_hash, NULL, &all, &o);
        assert_int_equal(r.abstained, N);
        assert_true(r.curve[0].accuracy.estimate == 0);
        for (size_t i = 0; i < N && certify; i++)
            assert_true(r.rows[i].radius == 0);
        sotto_smoothing_result_free(&r);
    }
}

TEST(shuffled_labels_leave_chance)
{
    enum { MANY = 2000 };
    static float rows[MANY * D];
    static int64_t labels[MANY];
    struct rng r = rng_stream(1, RNG_TEST, 0, 0);
    for (size_t i = 0; i < MANY; i++) {
        labels[i] = (int64_t)rng_below(&r, K);
        rows[i * D] = (float)i;
    }
    struct sotto_smoothing_options o = {.sigma = 1, .certify = 1, .seed = 1, .n = 100, .n0 = 1};
    struct sotto_smoothing_result s =
        smooth(always_two, NULL, &(struct sotto_records){rows, labels, MANY}, &o);
    assert_true(fabs(s.curve[0].accuracy.estimate - 1.0 / K) < 4 * sqrt(.25 * .75 / MANY));
    assert_true(s.curve[0].accuracy.lower < s.curve[0].accuracy.estimate);
    sotto_smoothing_result_free(&s);
}

TEST(ties_go_to_the_lowest_class)
{
    struct sotto_smoothing_options o = {.sigma = 1, .n = 20, .seed = 1};
    struct sotto_smoothing_result r = smooth(undecided, NULL, &all, &o);
    assert_true(r.rows[0].answer == 0 && r.rows[0].votes == 20 && !r.rows[0].abstained);
    sotto_smoothing_result_free(&r);
    r = smooth(first_rows, &(size_t){10}, &(struct sotto_records){x, NULL, 1}, &o);
    assert_true(r.rows[0].answer == 0 && r.rows[0].votes == 10 && r.rows[0].abstained);
    sotto_smoothing_result_free(&r);
}

TEST(votes_are_tested_against_fair_coins)
{
    const struct sotto_smoothing_options o = {.sigma = 1, .n = 100, .seed = 1};
    const struct sotto_records one = {x, y, 1};
    for (size_t votes = 60; votes <= 70; votes++) {
        size_t left = votes;
        struct sotto_smoothing_result r = smooth(first_rows, &left, &one, &o);
        assert_true(r.rows[0].answer == 0 && r.rows[0].votes == votes && isnan(r.rows[0].p_lower));
        assert_int_equal(r.rows[0].abstained, votes < 67);
        sotto_smoothing_result_free(&r);
    }
}

/* Trap 14: the class must not be chosen by the copies that estimate its probability. */
TEST(selection_and_estimation_share_no_copy)
{
    for (int law = 0; law < 3; law++) {
        struct witness w = {.count = 0};
        struct sotto_smoothing_options o = {.sigma = 1,
                                            .noise = (enum sotto_smoothing_noise)law,
                                            .certify = 1,
                                            .n = 100,
                                            .n0 = 100,
                                            .seed = 9};
        struct sotto_smoothing_result r = smooth(remember, &w, &(struct sotto_records){x, NULL, 1}, &o);
        sotto_smoothing_result_free(&r);
        o.certify = 0; /* nor may votes choose rows to certify */
        r = smooth(remember, &w, &(struct sotto_records){x, NULL, 1}, &o);
        sotto_smoothing_result_free(&r);
        assert_int_equal(w.count, 300);
        for (size_t i = 0; i < w.count; i++)
            for (size_t j = 0; j < i; j++)
                assert_true(w.first[i] != w.first[j]);
    }
}

TEST(without_a_seed_noise_is_new)
{
    struct witness w = {.count = 0};
    for (int i = 0; i < 2; i++) {
        struct sotto_smoothing_options o = {.sigma = 1, .n = 1};
        struct sotto_smoothing_result r = smooth(remember, &w, &(struct sotto_records){x, NULL, 1}, &o);
        assert_true(!r.seeded && r.options.seed == 0);
        sotto_smoothing_result_free(&r);
        o.seed = SOTTO_SEED_ZERO;
        r = smooth(remember, &w, &(struct sotto_records){x, NULL, 1}, &o);
        assert_true(r.seeded && r.options.seed == 0);
        sotto_smoothing_result_free(&r);
    }
    assert_true(w.first[0] != w.first[2] && w.first[1] == w.first[3] && w.first[0] != w.first[1]);
}

static void assert_same(const struct sotto_smoothing_row *a, const struct sotto_smoothing_row *b)
{
    assert_true(a->answer == b->answer && a->votes == b->votes && a->abstained == b->abstained);
    assert_memory_equal(&a->radius, &b->radius, sizeof a->radius); /* NAN without certify */
}

/* Rows alone, in another order and on other threads, of a model whose answers vary. */
TEST(position_does_not_matter)
{
    struct sotto_head_recipe recipe = {.epochs = 5};
    struct sotto_head *h;
    struct sotto_target *t;
    struct sotto_smoothing_result whole = {0}, part = {0};
    struct sotto_context alone = {.threads = 1};
    float backwards[N * D];
    size_t varied = 0;
    struct sotto_smoothing_options o = {.sigma = 1, .certify = 1, .seed = 4, .n = 1500};
    assert_int_equal(sotto_head_train(&h, x, y, N, D, K, &recipe, &machine.context), SOTTO_OK);
    assert_int_equal(sotto_head_save(path_of("h.safetensors"), h), SOTTO_OK);
    assert_int_equal(target_open_head(&t, path_of("h.safetensors")), SOTTO_OK);
    assert_int_equal(sotto_smoothing(&whole, t, &all, &o, &machine.context), SOTTO_OK);
    for (size_t i = 0; i < N; i++)
        memcpy(backwards + i * D, x + (N - 1 - i) * D, D * sizeof *x);
    assert_int_equal(sotto_smoothing(&part, t, &(struct sotto_records){backwards, NULL, N}, &o, &alone),
                     SOTTO_OK);
    for (size_t i = 0; i < N; i++) {
        assert_same(&whole.rows[i], &part.rows[N - 1 - i]);
        varied += whole.rows[i].votes < 1490;
    }
    assert_true(varied > 0);
    assert_non_null(strstr(whole.statement, "embeddings"));
    sotto_smoothing_result_free(&part);
    sotto_smoothing_result_free(&whole);
    sotto_target_close(t);
    sotto_head_free(h);
}

/* A network with noise of its own gets that noise by the row, too; noise relative to a batch is refused. */
TEST(networks_with_noise_of_their_own)
{
    enum { SIDE = 8, PIXELS = SIDE * SIDE };
    static float images[N * PIXELS];
    struct rng random = rng_stream(2, RNG_TEST, 0, 0);
    for (size_t i = 0; i < N * PIXELS; i++)
        images[i] = rng_unit_f(&random);
    struct sotto_array values = {0}, labels = {0};
    assert_int_equal(sotto_array_make(&values, SOTTO_F4, 2, (const size_t[]){N, PIXELS}), SOTTO_OK);
    assert_int_equal(sotto_array_make(&labels, SOTTO_I8, 1, (const size_t[]){N}), SOTTO_OK);
    memcpy(values.data, images, sizeof images);
    memcpy(labels.data, y, sizeof y);
    struct sotto_dataset_arrays arrays = {.values = &values, .labels = &labels};
    struct sotto_dataset *data;
    assert_int_equal(sotto_dataset_from_arrays(&data, &arrays), SOTTO_OK);
    for (int relative = 0; relative < 2; relative++) {
        struct sotto_train_options train = {
            .model = "resnet8",
            .norm = "group",
            .channels = 1,
            .height = SIDE,
            .width = SIDE,
            .epochs = 1,
            .batch = 8,
            .dtype = "f32",
            .backend = machine.backend,
            .residual = {.kind = "additive", .gamma = 1, .relative = relative}};
        struct sotto_network *n;
        struct sotto_target *t;
        struct sotto_smoothing_result whole = {0}, one = {0};
        struct sotto_smoothing_options o = {.sigma = .5, .seed = 4, .n = 70};
        assert_int_equal(sotto_train(&n, NULL, data, NULL, N, &train, &machine.context), SOTTO_OK);
        assert_int_equal(sotto_network_save(path_of("n.safetensors"), n), SOTTO_OK);
        assert_int_equal(sotto_target_open(&t, path_of("n.safetensors"), &machine.context), SOTTO_OK);
        sotto_status status =
            sotto_smoothing(&whole, t, &(struct sotto_records){images, y, 6}, &o, &machine.context);
        assert_int_equal(status, relative ? SOTTO_EINVAL : SOTTO_OK);
        for (size_t i = 6; i-- > 0 && !relative;) {
            struct sotto_records row = {images + i * PIXELS, y + i, 1};
            assert_int_equal(sotto_smoothing(&one, t, &row, &o, &machine.context), SOTTO_OK);
            assert_same(&whole.rows[i], &one.rows[0]);
            sotto_smoothing_result_free(&one);
        }
        sotto_smoothing_result_free(&whole);
        sotto_target_close(t);
        sotto_network_free(n);
    }
    sotto_dataset_free(data);
    sotto_array_clear(&values);
    sotto_array_clear(&labels);
}

/* Trap 14: what is certified row by row is not certified for a chosen row. */
TEST(many_rows_are_said_together)
{
    struct sotto_smoothing_options o = {.sigma = 1, .certify = 1, .alpha = .001, .n = 50, .seed = 1};
    struct sotto_smoothing_result r = smooth(always_two, NULL, &all, &o);
    char *json, *text;
    assert_true(fabs(r.alpha_all - .001 * N) < 1e-15);
    assert_non_null(strstr(r.statement, "of the 24 rows"));
    assert_non_null(strstr(r.statement, "picked among them, is at most 0.024"));
    assert_non_null(strstr(r.statement, "no membership guarantee"));
    assert_int_equal(sotto_smoothing_encode(&json, &r), SOTTO_OK);
    assert_int_equal(sotto_smoothing_summary(&text, &r), SOTTO_OK);
    assert_non_null(strstr(json, r.statement));
    assert_non_null(strstr(text, r.statement));
    assert_non_null(strstr(json, "\"alpha_all_rows\":0.024"));
    assert_non_null(strstr(json, "\"norm\":\"l2\""));
    sotto_text_free(json);
    sotto_text_free(text);
    sotto_smoothing_result_free(&r);
    o.alpha = .4;
    r = smooth(always_two, NULL, &all, &o);
    assert_true(r.alpha_all == 1);
    sotto_smoothing_result_free(&r);
}

TEST(pixeldp_is_weaker)
{
    assert_true(fabs(smoothing_radius(SOTTO_SMOOTHING_GAUSSIAN, 1, .9) - 1.2816) < 5e-5);
    assert_true(fabs(smoothing_pixeldp(SOTTO_SMOOTHING_GAUSSIAN, 1, .9) - .390) < 5e-4);
    for (int law = 0; law < 3; law++)
        for (double p = .5; p <= 1; p += .003) {
            double ours = smoothing_radius((enum sotto_smoothing_noise)law, 2, p),
                   theirs = smoothing_pixeldp((enum sotto_smoothing_noise)law, 2, p);
            assert_true(isfinite(theirs) && theirs >= 0 && theirs <= ours * (1 + 1e-9) &&
                        (p <= .501 || theirs > 0));
        }
}

TEST(results_as_files)
{
    struct sotto_smoothing_options o = {.sigma = 1, .certify = 1, .compare = 1, .n = 50, .seed = 1};
    struct sotto_smoothing_result r = smooth(always_two, NULL, &all, &o);
    struct sotto_array a = {0};
    assert_int_equal(sotto_smoothing_save(path_of("s.npy"), &r), SOTTO_OK);
    assert_int_equal(npy_load(&a, path_of("s.npy")), SOTTO_OK);
    assert_true(a.dtype == SOTTO_F8 && a.shape[0] == N && a.shape[1] == 4);
    assert_true(((double *)a.data)[0] == 2 && ((double *)a.data)[3] == r.rows[0].radius);
    sotto_array_clear(&a);
    assert_int_equal(sotto_smoothing_save(path_of("s.csv"), &r), SOTTO_OK);
    assert_int_equal(sotto_array_load(&a, path_of("s.csv"), 0, NULL), SOTTO_OK);
    assert_true(a.shape[0] == N && a.shape[1] == 8);
    const double *row = (const double *)a.data;
    assert_true(row[1] == 2 && row[3] == 50 && row[5] == r.rows[0].radius && row[6] == r.rows[0].pixeldp);
    sotto_array_clear(&a);
    assert_int_equal(sotto_smoothing_save(path_of("s.json"), &r), SOTTO_OK);
    assert_int_equal(sotto_smoothing_save(path_of("s.txt"), &r), SOTTO_EUSAGE);
    sotto_smoothing_result_free(&r);
}

static void refuses(struct sotto_smoothing_options o, const struct sotto_records *records, const char *text)
{
    struct sotto_smoothing_result r = {0};
    struct sotto_target *t;
    assert_int_equal(sotto_target_open_function(&t, "model", always_two, NULL, D, K), SOTTO_OK);
    assert_int_equal(sotto_smoothing(&r, t, records, &o, NULL), SOTTO_EINVAL);
    if (!strstr(sotto_error_text(), text))
        fail_msg("%s, expected %s", sotto_error_text(), text);
    assert_true(r.rows == NULL && target_used(t) == 0);
    sotto_target_close(t);
}

TEST(bad_values_are_refused)
{
    const int64_t label = K;
    const float nan_row[D] = {NAN};
    refuses((struct sotto_smoothing_options){0}, &all, "sigma must");
    refuses((struct sotto_smoothing_options){.sigma = -1}, &all, "sigma must");
    refuses((struct sotto_smoothing_options){.sigma = NAN}, &all, "sigma must");
    refuses((struct sotto_smoothing_options){.sigma = INFINITY}, &all, "sigma must");
    refuses((struct sotto_smoothing_options){.sigma = 1, .alpha = .5}, &all, "alpha");
    refuses((struct sotto_smoothing_options){.sigma = 1, .alpha = SOTTO_ZERO}, &all, "alpha");
    refuses((struct sotto_smoothing_options){.sigma = 1, .n = SOTTO_NONE}, &all, "n must");
    refuses((struct sotto_smoothing_options){.sigma = 1, .n0 = SOTTO_NONE}, &all, "n0 must");
    refuses((struct sotto_smoothing_options){.sigma = 1, .compare = 1}, &all, "certify");
    refuses((struct sotto_smoothing_options){.sigma = 1, .radii = (const double[]){0, -1}, .radius_count = 2},
            &all, "radii must be finite and >= 0 (got -1)");
    refuses((struct sotto_smoothing_options){.sigma = 1}, &(struct sotto_records){x, &label, 1},
            "label 4 of row 0");
    refuses((struct sotto_smoothing_options){.sigma = 1}, &(struct sotto_records){nan_row, NULL, 1},
            "row 0, column 0");
    refuses((struct sotto_smoothing_options){.sigma = 1}, &(struct sotto_records){x, NULL, 0},
            "at least one row");
}

TEST(out_of_memory_is_an_error)
{
    struct sotto_target *t;
    struct sotto_smoothing_options o = {.sigma = 1, .certify = 1, .n = 10, .seed = 1};
    struct sotto_smoothing_result r = {0};
    assert_int_equal(sotto_target_open_function(&t, "model", always_two, NULL, D, K), SOTTO_OK);
    sotto_status status = SOTTO_ENOMEM;
    for (long allowed = 0; status != SOTTO_OK; allowed++) {
        base_alloc_fail_after(allowed);
        status = sotto_smoothing(&r, t, &(struct sotto_records){x, y, 2}, &o, NULL);
        base_alloc_fail_after(-1);
        assert_true(status == SOTTO_OK || (status == SOTTO_ENOMEM && r.rows == NULL));
        assert_true(allowed < 100);
    }
    sotto_smoothing_result_free(&r);
    sotto_target_close(t);
}

TEST(defaults)
{
    struct sotto_smoothing_options o;
    assert_int_equal(sotto_options_resolve(&o, NULL, sotto_option_table("smoothing")), SOTTO_OK);
    assert_true(o.n == 1000 && o.n0 == 100 && o.alpha == .001 && o.noise == SOTTO_SMOOTHING_GAUSSIAN &&
                !o.certify);
}

TEST_GROUP(.set_up = set_up, .tear_down = remove_folder, .start = machine_f32)
