/* Private training of whole networks: it learns and is certified; noise has its size; parts, views, threads and empty
 * samples change nothing that they should not; bad requests are refused. */
#include "support/test.h"
#include "support/machine.h"
#include "support/dp_sgd_world.h"
#include "base/sha256.h"
#include "io/array/safetensors.h"
#include "io/array/tensors.h"
#include "io/json/json.h"
#include "train/network/network.h"
#include "support/certificate_text.h"
#include "support/planted_backend.h"
#include "support/verify_json.h"
#include "sotto/release.h"

static double accuracy_of(const struct sotto_network *n)
{
    static float answers[N * K];
    size_t right = 0;
    assert_int_equal(sotto_network_predict(answers, n, features, N, D, 1, &machine.context), SOTTO_OK);
    for (size_t i = 0; i < N; i++) {
        size_t best = 0;
        for (size_t k = 1; k < K; k++)
            best = answers[i * K + k] > answers[i * K + best] ? k : best;
        right += best == (size_t)labels[i];
    }
    return (double)right / N;
}

static void forget_exact_sums(const char *path)
{
    struct sotto_tensors file = {0};
    char *recipe = NULL;
    assert_int_equal(safetensors_load(&file, path), SOTTO_OK);
    for (size_t i = 0; i < file.metadata_count; i++)
        if (strcmp(file.metadata[2 * i], "private_recipe") == 0)
            recipe = strstr(file.metadata[2 * i + 1], "sums=exact\n");
    assert_non_null(recipe);
    memmove(recipe, recipe + 11, strlen(recipe + 11) + 1);
    if (safetensors_save(path, &file) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    sotto_tensors_clear(&file);
}

/* A network of an earlier version, the recipe of which does not say that its sums are exact. A forger reserves the
 * same run without the condition that float sums put on it, and has it certified for the file: everything
 * agrees, but such a network must name that condition. */
static void must_name_its_float_sums(const char *path)
{
    struct json *c;
    struct sotto_dpsgd_session *s;
    struct sotto_certificate *text;
    char name[128], hash[SHA256_HEX], *report = NULL;
    double sum[1000] = {0};
    uint32_t rows[N];
    size_t count;
    snprintf(name, sizeof name, "%s.certificate.json", path);
    assert_int_equal(json_read_file(&c, name), SOTTO_OK);
    forget_exact_sums(path); /* which takes the certificate away */
    size_t steps = (size_t)json_whole(json_find(c, "run.steps.charged"));
    struct sotto_dpsgd_request r = {
        .sampled = {.mechanism = json_text(json_find(c, "mechanism")),
                    .noise_multiplier =
                        json_number(json_find(c, "scale")) / json_number(json_find(c, "run.max_grad_norm")),
                    .sample_rate = json_number(json_find(c, "run.sample_rate")),
                    .steps = steps,
                    .delta = 1e-5,
                    .adjacency = SOTTO_ZERO_OUT},
        .max_grad_norm = json_number(json_find(c, "run.max_grad_norm")),
        .dimension = (size_t)json_whole(json_find(c, "dimension")),
        .records = N,
        .spend = {.dataset_id = "toy", .ledger = path_of("forged.jsonl")}};
    assert_true(r.dimension <= sizeof sum / sizeof *sum);
    assert_int_equal(sotto_dp_reserve(&s, &r, NULL), SOTTO_OK);
    for (size_t i = 0; i < steps; i++) {
        assert_int_equal(sotto_dp_sample(s, rows, &count, N), SOTTO_OK);
        assert_int_equal(sotto_dp_step(s, sum), SOTTO_OK);
    }
    assert_int_equal(sotto_dpsgd_session_certificate(&text, s), SOTTO_OK);
    assert_int_equal(sha256_file(hash, path), SOTTO_OK);
    assert_int_equal(sotto_certificate_save(name, text, hash), SOTTO_OK);
    assert_int_equal(verify_json(&report, path, NULL, r.spend.ledger, NULL), SOTTO_EGATE);
    if (!strstr(sotto_error_text(), "float sums: DP-SGD trained the network; its condition reads (none)"))
        fail_msg("%s", sotto_error_text());
    sotto_text_free(report);
    /* an early version says proved of such a network; what it rests on is said for it */
    struct json *old;
    assert_int_equal(json_read_file(&old, name), SOTTO_OK);
    json_put_text(&old, "schema", "sotto.certificate/1");
    struct json *first = json_make_object();
    for (const char *key = json_first_key(old); key; key = json_next_key(old, key))
        if (strcmp(key, "records") != 0 && strcmp(key, "condition") != 0)
            json_put(&first, key, json_clone(json_member(old, key)));
    assert_int_equal(json_write_file(name, first, JSON_PRETTY), SOTTO_OK);
    assert_int_equal(verify_json(&report, path, NULL, NULL, NULL), SOTTO_OK);
    assert_non_null(strstr(report, "\"guarantee\": \"conditional\""));
    assert_non_null(strstr(report, "\"condition\": \"" DP_SGD_FLOAT_SUMS));
    assert_non_null(strstr(report, "number of records, condition and identity of the data set, which a "
                                   "certificate of version 1 does not contain"));
    json_free(old);
    json_free(first);
    sotto_text_free(report);
    sotto_certificate_free(text);
    sotto_dpsgd_session_close(s);
    json_free(c);
}

TEST(networks_learn_and_are_certified)
{
    static const struct {
        const char *optimizer, *noise, *clipping;
        double lr, momentum, average;
    } cases[] = {{"sgd", "gaussian", "flat", 0.5, 0, 0},
                 {"sgd", "gaussian", "automatic", 0.1, 0.9, 0.9},
                 {"adam", "logistic", "layers", 0.05, 0, 0},
                 {"sgd", "gaussian", "quantile", 0.5, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct request r = on_blobs();
        struct sotto_network *n = NULL, *again = NULL;
        struct sotto_certificate *certificate = NULL;
        char *report = NULL;
        unlink(r.p.spend.ledger);
        r.o.optimizer = cases[i].optimizer;
        r.o.lr = cases[i].lr;
        r.o.momentum = cases[i].momentum;
        r.p.noise = cases[i].noise;
        r.p.clipping = cases[i].clipping;
        r.p.average = cases[i].average;
        if (i == 0)
            r.p.target.epsilon = 8;
        assert_int_equal(train(&n, &certificate, &r, &machine.context), SOTTO_OK);
        if (!(accuracy_of(n) >= 0.9))
            fail_msg("%s, %s: accuracy %g", r.p.clipping, r.p.noise, accuracy_of(n));
        double promised = sotto_certificate_account(certificate)->epsilon.upper;
        assert_true(i > 0 || (promised <= 8 && promised > 7.99));
        assert_false(certificate_holds(certificate, "\"proved\": \"none\""));
        assert_false(certificate_holds(certificate, "\"condition\": \""));
        const char *path = path_of("net.safetensors");
        assert_int_equal(sotto_network_save_private(path, n, certificate), SOTTO_OK);
        if (verify_json(&report, path, NULL, r.p.spend.ledger, NULL) != SOTTO_OK)
            fail_msg("%s", sotto_error_text());
        assert_non_null(strstr(report, "\"guarantee\": \"proved\""));
        assert_non_null(strstr(report, "noise, rate and steps agree with the file's recipe"));
        if (i == 2)
            must_name_its_float_sums(path);
        assert_int_equal(sotto_network_load(&again, path), SOTTO_OK);
        assert_string_equal(sotto_network_sha256(again), sotto_network_sha256(n));
        assert_string_equal(network_statement(again), "");
        struct sotto_tensors file = {0};
        assert_int_equal(safetensors_load(&file, path), SOTTO_OK);
        assert_null(tensors_metadata(&file, "data_sha256")); /* no hash of the records */
        assert_null(tensors_metadata(&file, "rows_sha256"));
        assert_non_null(strstr(tensors_metadata(&file, "private_recipe"), "trainer=dp-sgd"));
        sotto_tensors_clear(&file);
        sotto_certificate_free(certificate);
        sotto_text_free(report);
        sotto_network_free(n);
        sotto_network_free(again);
    }
}

/* Gradients of zero size against noise: weights walk at random by lr * multiplier * C / batch a step. */
TEST(noise_has_its_size)
{
    struct request r = on_blobs();
    size_t count;
    r.o.hidden[0] = 300;
    r.p.max_grad_norm = 0.25;
    r.p.noise_multiplier = 1e3;
    r.p.spend.insecure = 1;
    r.p.spend.insecure_seed = 6;
    unlink(r.p.spend.ledger);
    double *w = weights_of(&r, &count), square = 0, steps = 10.0 * N / 40;
    for (size_t i = 0; i < count; i++)
        square += w[i] * w[i] / (double)count;
    double expected = steps * pow(r.o.lr * 1e3 * 0.25 / 40, 2), error = expected * sqrt(2 / (double)count);
    assert_true(fabs(square - expected) < 5 * error);
    assert_true(fabs(square - expected * 1.15 * 1.15) > 5 * error); /* a scale off by 15 % */
    base_free(w);
}

/* With the same coins and noise, the size of the parts is a matter of speed: the same bits as long as the longest
 * chain is the same (1 below 8 records, then a power of two up to 64). */
TEST(parts_do_not_change_the_run)
{
    const char *const clippings[] = {"flat", "quantile"};
    const size_t pairs[][2] = {{1, 7}, {34, 63}, {65, 100}};
    for (size_t c = 0; c < 2; c++)
        for (size_t i = 0; i < 3; i++) {
            struct request r = on_blobs();
            size_t count;
            r.p.spend.insecure = 1;
            r.p.clipping = clippings[c];
            r.p.part = pairs[i][0];
            unlink(r.p.spend.ledger);
            double *first = weights_of(&r, &count);
            r.p.part = pairs[i][1];
            double *second = weights_of(&r, &count);
            assert_true(distance(first, second, count) == 0);
            r.p.spend.insecure_seed = 1;
            double *other = weights_of(&r, &count);
            assert_true(distance(other, first, count) > 0.1);
            base_free(first), base_free(second), base_free(other);
        }
}

TEST(threads_change_no_bit)
{
    const struct sotto_context before = machine.context;
    for (int model = 0; model < 2; model++) {
        struct request r = on_blobs();
        size_t count;
        r.p.spend.insecure = 1;
        r.p.steps = 6;
        if (model) { /* convolutions, and several parts */
            r.data = images;
            r.o.model = "cnn";
            r.o.hidden_count = 2;
            r.o.hidden[0] = 4, r.o.hidden[1] = 8;
            r.o.batch = 20;
            r.o.flip = 1;
            r.p.views = 2;
            r.p.part = 4;
        }
        unlink(r.p.spend.ledger);
        double *first = NULL;
        for (int threads = 1; threads <= 3; threads++) {
            machine.context.threads = threads;
            double *w = weights_of(&r, &count);
            assert_true(!first || distance(first, w, count) == 0);
            if (first)
                base_free(w);
            else
                first = w;
        }
        base_free(first);
    }
    machine.context = before;
}

/* Of images that are all the same under every view, many views are one. */
TEST(views_are_averaged)
{
    struct request r = on_blobs();
    static uint8_t flat_images[N];
    struct sotto_dataset flat = blobs;
    size_t count;
    for (size_t i = 0; i < N; i++)
        flat_images[i] = (uint8_t)(80 * (i % K));
    flat.features = NULL;
    flat.columns = 0;
    flat.images = base_alloc(N * 16, 1);
    flat.channels = 1;
    flat.height = flat.width = 4;
    for (size_t i = 0; i < N * 16; i++)
        ((uint8_t *)(uintptr_t)flat.images)[i] = flat_images[i / 16];
    r.data = &flat;
    r.o.flip = 1;
    r.p.part = 7; /* no chains, as with views */
    r.p.spend.insecure = 1;
    unlink(r.p.spend.ledger);
    double *one = weights_of(&r, &count);
    r.p.views = 3;
    double *three = weights_of(&r, &count);
    assert_true(distance(one, three, count) < 1e-4);
    base_free(one);
    base_free(three);
    base_free((void *)(uintptr_t)flat.images);
}

/* The view of a record is its own, wherever it stands in the sample: all records in every step, in two
 * orders, with the same noise, leave the same weights. (A view by place in the sample would let one record
 * change all others', and clipping would bound nothing.) Another seed of augmentation is the control. */
TEST(views_belong_to_records)
{
    enum { ROWS = 24 };
    struct request r = on_blobs();
    int64_t forth[ROWS], back[ROWS];
    size_t count;
    for (int64_t i = 0; i < ROWS; i++)
        forth[i] = back[ROWS - 1 - i] = i;
    r.data = images;
    r.rows = forth, r.n = ROWS;
    r.o.model = "cnn";
    r.o.hidden_count = 2;
    r.o.hidden[0] = 4, r.o.hidden[1] = 8;
    r.o.batch = ROWS;
    r.p.steps = 4;
    r.p.noise_multiplier = 1e-3;
    r.o.flip = 1, r.o.crop = 4;
    r.p.spend.insecure = 1;
    unlink(r.p.spend.ledger);
    double *first = weights_of(&r, &count);
    r.rows = back;
    double *second = weights_of(&r, &count);
    r.o.crop = 3;
    double *other = weights_of(&r, &count);
    assert_true(distance(first, second, count) < 1e-4);
    assert_true(distance(first, other, count) > 1e-3);
    base_free(first);
    base_free(second);
    base_free(other);
}

/* Half of these samples are empty. */
TEST(empty_samples_are_steps_of_noise)
{
    struct request r = on_blobs();
    size_t count;
    r.o.batch = 1;
    r.p.steps = 60;
    r.p.spend.insecure = 1;
    unlink(r.p.spend.ledger);
    double *w = weights_of(&r, &count), square = 0;
    for (size_t i = 0; i < count; i++)
        square += w[i] * w[i] / (double)count;
    double walk = 60 * pow(0.8 * r.o.lr, 2); /* a mean of one record, noise of its whole norm */
    assert_true(square > 0.7 * walk && square < 1.5 * walk + 1);
    base_free(w);
}

TEST(bad_requests_have_one_line)
{
    struct sotto_network *n = NULL;
    struct sotto_certificate *certificate = NULL;
    static const int64_t twice[] = {1, 2, 3, 2}, few[] = {0, 1, 2, 3, 4, 5};
#define BAD(change, wanted, text)                                                                            \
    do {                                                                                                     \
        struct request r = on_blobs();                                                                       \
        r.p.spend.ledger = path_of("none.jsonl");                                                            \
        change;                                                                                              \
        assert_int_equal(train(&n, &certificate, &r, &machine.context), wanted);                             \
        if (!strstr(sotto_error_text(), text))                                                               \
            fail_msg("%s", sotto_error_text());                                                              \
        assert_true(n == NULL && certificate == NULL);                                                       \
        assert_int_equal(access(path_of("none.jsonl"), F_OK), -1); /* nothing was charged */                 \
    } while (0)
    BAD(r.p.noise = "laplace", SOTTO_EINVAL, "expected gaussian or logistic");
    BAD(r.p.clipping = "soft", SOTTO_EINVAL, "expected flat, automatic, layers or quantile");
    BAD(r.p.noise_multiplier = 0, SOTTO_EINVAL, "noise_multiplier must be finite and > 0");
    BAD(r.p.noise_multiplier = NAN, SOTTO_EINVAL, "noise_multiplier must be finite and > 0");
    BAD(r.p.max_grad_norm = SOTTO_ZERO, SOTTO_EINVAL, "max_grad_norm must be finite and > 0");
    BAD(r.p.max_grad_norm = 1e29, SOTTO_EINVAL, "max_grad_norm must be from 1e-09 to 1e+28");
    BAD(r.p.quantile = 1, SOTTO_EINVAL, "quantile must be above 0 and below 1");
    BAD(r.p.views = SOTTO_NONE, SOTTO_EINVAL, "views must be at least 1");
    BAD(r.p.views = 2, SOTTO_EINVAL, "views without flip or crop are all the same");
    BAD(r.p.average = 1, SOTTO_EINVAL, "average must be at least 0 and below 1");
    BAD(r.p.reserve = 200, SOTTO_EINVAL, "steps at a time are more than the 100");
    BAD(r.p.part = (size_t)1 << 21, SOTTO_EINVAL, "part must be at most");
    BAD(r.p.target.epsilon = -1, SOTTO_EINVAL, "epsilon");
    BAD(r.p.target.delta = SOTTO_DELTA_PURE, SOTTO_EINVAL, "delta");
    BAD(r.o.metrics = path_of("metrics.jsonl"), SOTTO_EINVAL,
        "metrics: private training writes no losses and accuracies, which would reveal records; omit "
        "metrics");
    BAD(r.o.dtype = "bf16", SOTTO_ENOTSUP, "bf16");
    BAD((r.rows = twice, r.n = 4, r.o.batch = 2), SOTTO_EINVAL,
        "row 2 is listed twice (entries 1 and 3); expected each record once");
    BAD((r.rows = few, r.n = 6), SOTTO_EINVAL, "batch 40 is larger than the 6 records");
    BAD((r.data = images, r.o.model = "resnet8", r.o.hidden_count = 0), SOTTO_ENOTSUP, "norm: group");
}

/* A backend in which a record's bits depend on other records is refused before anything is charged or written. The same
 * backend without its defect trains. */
TEST(a_backend_with_a_defect_costs_nothing)
{
    for (int defect = PLANTED_NOTHING; defect < PLANTED_DEFECTS; defect++) {
        struct request r = on_blobs();
        struct sotto_network *n = NULL;
        struct sotto_certificate *certificate = NULL;
        const struct dp_sgd_fault fault = {.backend = planted_backend((enum planted_defect)defect)};
        const bool passes = defect == PLANTED_NOTHING;
        r.p.spend.ledger = path_of("planted.jsonl");
        r.o.checkpoint = path_of("planted.checkpoint");
        r.p.output = path_of("planted.safetensors");
        r.p.steps = 2;
        r.p.part = 27; /* 3 mod 6 */
        assert_int_equal(
            dp_sgd_train(&n, &certificate, NULL, r.data, r.rows, r.n, &r.o, &r.p, &fault, &machine.context),
            passes ? SOTTO_OK : SOTTO_ENOTSUP);
        if (!passes && !strstr(sotto_error_text(), "use another backend"))
            fail_msg("%s", sotto_error_text());
        assert_true((n != NULL) == passes && (certificate != NULL) == passes);
        assert_int_equal(access(r.p.spend.ledger, F_OK), passes ? 0 : -1);
        assert_int_equal(access(r.o.checkpoint, F_OK), passes ? 0 : -1);
        assert_int_equal(access(r.p.output, F_OK), -1);
        unlink(r.p.spend.ledger);
        unlink(r.o.checkpoint);
        sotto_network_free(n);
        sotto_certificate_free(certificate);
    }
}

/* Norms of gradient and count together are at most 1, and C moves towards the quantile. */
TEST(shares_of_a_quantile)
{
    for (double noise = 0.01; noise < 1e4; noise *= 7)
        for (size_t batch = 1; batch < 100000; batch *= 5) {
            struct dp_sgd_shares s = dp_sgd_shares_of(noise, batch);
            assert_true(s.gradient * s.gradient + s.count * s.count <= 1 + 1e-15);
            assert_true(s.count > 0 && s.count <= 0.3);
        }
    struct dp_sgd_shares s = dp_sgd_shares_of(1, 256);
    assert_true(fabs(1 / (2 * s.count) - 256.0 / 20) < 1e-9); /* noise of the count, as published */
    /* 100 of 100 below C, at quantile one half: C e^(-.1); 0 of 100: C e^.1 */
    assert_true(fabs(dp_sgd_next_clip(2, 100 * s.count, s.count, 100, 0.5) - 2 * exp(-0.1)) < 1e-12);
    assert_true(fabs(dp_sgd_next_clip(2, -100 * s.count, s.count, 100, 0.5) - 2 * exp(0.1)) < 1e-12);
    assert_true(dp_sgd_next_clip(2, 0, s.count, 100, 0.5) == 2);
    assert_true(dp_sgd_next_clip(2, 1e300, s.count, 100, 0.5) > 1.8); /* noise cannot carry it away at once */
}

TEST_GROUP(.set_up = make_data, .tear_down = drop_data, .start = machine_f32, .tags = "matrix long")
