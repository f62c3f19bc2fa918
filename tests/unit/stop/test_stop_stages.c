/* Calls are stopped at their questions whether to go on (support/stop_questions.h): pre-training, networks, queries,
 * imports and whole experiments. What was stopped in the middle of a step continues with the same bits. */
#include "support/test.h"

#include "attack/target/target.h"
#include "base/file.h"
#include "base/sha256.h"
#include "sotto/private/all.h"
#include "support/data_files.h"
#include "support/stop_questions.h"
#include "support/temporary_folder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { IMAGES = 14, STEPS = 3, ROWS = 5000, COLUMNS = 3, CELLS = ROWS * COLUMNS };

static struct sotto_dataset *images;
static float x[CELLS];
static int64_t y[ROWS];

/* --- networks: a question for each layer of each pass --- */

static struct sotto_encoder *trained;
static struct sotto_network *network;
static char bits[65];          /* of the weights that the last whole training made */
static const char *checkpoint; /* or NULL */

static sotto_status pretrain_method(const char *method)
{
    struct sotto_pretrain_options o;
    struct sotto_encoder *e = NULL;
    sotto_pretrain_defaults(&o);
    o.method = method;
    o.encoder = "resnet8";
    o.epochs = 1;
    o.batch = 4;
    o.dtype = "f32";
    o.backend = "dnnl";
    o.checkpoint = checkpoint;
    sotto_status status = sotto_pretrain(&e, NULL, images, NULL, 0, &o, &context);
    assert_true((status == SOTTO_OK) == (e != NULL));
    if (e)
        strcpy(bits, sotto_encoder_sha256(e));
    sotto_encoder_free(e);
    return status;
}
static sotto_status pretrain(void)
{
    return pretrain_method("simclr");
}
static sotto_status rotation(void)
{
    return pretrain_method("rotation");
}
static sotto_status train(void)
{
    struct sotto_train_options o;
    struct sotto_network *n = NULL;
    sotto_train_defaults(&o);
    o.model = "resnet8";
    o.epochs = 1;
    o.batch = 4;
    o.dtype = "f32";
    o.backend = "dnnl";
    o.checkpoint = checkpoint;
    sotto_status status = sotto_train(&n, NULL, images, NULL, 0, &o, &context);
    assert_true((status == SOTTO_OK) == (n != NULL));
    if (n && !network)
        network = n;
    else
        sotto_network_free(n);
    return status;
}

static const char *private_checkpoint;

/* A step of private training is stopped between its parts. */
static sotto_status train_private(void)
{
    static const struct sotto_source_records exercise = {.public_set = 1};
    struct sotto_train_options o;
    struct sotto_train_privacy p;
    struct sotto_network *n = NULL;
    struct sotto_certificate *certificate = NULL;
    sotto_train_defaults(&o);
    sotto_train_privacy_defaults(&p);
    o.model = "resnet8";
    o.norm = "group";
    o.batch = IMAGES; /* in every step */
    o.dtype = "f32";
    o.backend = "dnnl";
    p.steps = STEPS;
    p.part = 2;
    p.noise_multiplier = 100;
    p.spend.source = &exercise;
    p.spend.ledger = path_of("stopped.jsonl");
    o.checkpoint = private_checkpoint;
    sotto_status status = sotto_train_private(&n, &certificate, NULL, images, NULL, 0, &o, &p, &context);
    assert_true((status == SOTTO_OK) == (n != NULL) && (n != NULL) == (certificate != NULL));
    assert_true(status == SOTTO_OK || !strstr(sotto_error_text(), "records")); /* of a sample: private */
    sotto_network_free(n);
    sotto_certificate_free(certificate);
    return status;
}

static float answers[IMAGES * 1024];
static sotto_status embed(void)
{
    return sotto_embed(answers, trained, images, NULL, IMAGES, &context);
}
static sotto_status embed_views(void)
{
    const int64_t rows[2] = {0, 1};
    const struct sotto_view_options o = {.views = 2};
    return sotto_embed_views(answers, trained, images, rows, 2, &o, &context);
}
static sotto_status predict(void)
{
    return sotto_network_predict_data(answers, network, images, NULL, IMAGES, 0, &context);
}

TEST(networks_stop)
{
    checkpoint = NULL;
    STOPS(pretrain, STEPS * 2 * 8); /* 8 convolutions, forward and backward, and their norms */
    STOPS(rotation, STEPS * 2 * 8);
    STOPS(train, STEPS * 2 * 8);
    /* also before each layer of each part, but in the first step, which is taken in any case */
    STOPS(train_private, (STEPS - 1) * (IMAGES / 2) * 2 * (8 + 9));
    STOPS(embed, 8);
    STOPS(embed_views, 2 * 8);
    STOPS(predict, 8);
}

/* Of all lines of the ledger: a settlement replaces what was reserved before it. */
static size_t charged_steps(void)
{
    size_t sum = 0, last = 0, size;
    unsigned char *all = NULL;
    assert_int_equal(file_read(&all, &size, path_of("stopped.jsonl"), 1 << 24), SOTTO_OK);
    char *text = calloc(size + 1, 1);
    memcpy(text, all, size);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        const bool settled = strstr(line, "\"event\":\"settled\"") != NULL;
        if (!settled && !strstr(line, "\"event\":\"reserve\""))
            continue;
        const size_t steps = strtoul(strstr(line, "\"steps\":") + 8, NULL, 10);
        sum += steps - (settled ? last : 0);
        last = steps;
    }
    free(text);
    base_free(all);
    return sum;
}

TEST(a_training_that_is_stopped_by_its_clock_costs_the_steps_that_it_took)
{
    reset(0);
    remove(path_of("stopped.jsonl"));
    assert_int_equal(train_private(), SOTTO_OK);
    const size_t all = asked;
    char file[128];
    snprintf(file, sizeof file, "%s", path_of("private.checkpoint"));
    private_checkpoint = file;
    stop_as = SOTTO_STOP_BY_TIME;
    for (size_t i = 0; i < 12; i++) {
        remove(path_of("stopped.jsonl"));
        remove(file);
        reset(1 + i * (all - 1) / 11);
        assert_int_equal(train_private(), SOTTO_ESTOPPED);
        reset(0);
        if (train_private() != SOTTO_OK)
            fail_msg("stopped at question %zu of %zu, it does not go on: %s", 1 + i * (all - 1) / 11, all,
                     sotto_error_text());
        assert_int_equal(charged_steps(), STEPS);
    }
    stop_as = 1;
    private_checkpoint = NULL;
}

TEST(the_bits_of_encoders_stay)
{
    bits_stay(pretrain, 9, bits, &checkpoint);
}

/* --- queries: a question for each block of rows --- */

static sotto_status answer(void *user, float *posteriors, const float *rows, size_t n)
{
    (void)user, (void)rows;
    for (size_t i = 0; i < 2 * n; i++)
        posteriors[i] = .5f;
    return SOTTO_OK;
}
static struct sotto_target *target;
static sotto_status query(void)
{
    static float posteriors[2 * ROWS];
    target->ctx = &context;
    return target_query(target, posteriors, x, ROWS);
}

TEST(queries_stop)
{
    struct sotto_head_recipe r;
    struct sotto_head *h = NULL;
    char path[128];
    strcpy(path, path_of("head.safetensors"));
    assert_int_equal(sotto_target_open_function(&target, "a function", answer, NULL, COLUMNS, 2), SOTTO_OK);
    STOPS(query, ROWS / 1024);
    sotto_target_close(target);
    sotto_head_defaults(&r);
    r.epochs = 1;
    assert_int_equal(sotto_head_train(&h, x, y, ROWS, COLUMNS, 2, &r, NULL), SOTTO_OK);
    assert_int_equal(sotto_head_save(path, h), SOTTO_OK);
    assert_int_equal(target_open_head(&target, path), SOTTO_OK);
    STOPS(query, ROWS / 1024);
    sotto_target_close(target);
    sotto_head_free(h);
}

/* --- imports: a question for each file, each few thousand rows and each few megabytes --- */

static char source[256];
static sotto_status import(void)
{
    char command[256];
    const char *set = path_of("data/set");
    sotto_status status = sotto_data_import(source, "set", NULL, &context);
    assert_true(file_exists(set) == (status == SOTTO_OK));
    snprintf(command, sizeof command, "rm -rf '%s'", set);
    return system(command) == 0 ? status : SOTTO_EIO;
}
static sotto_status open_set(void)
{
    struct sotto_dataset *d = NULL;
    sotto_status status = sotto_dataset_open(&d, source, &context);
    assert_true((status == SOTTO_OK) == (d != NULL));
    sotto_dataset_free(d);
    return status;
}

static void write_arrays(const char *values, const char *labels, size_t times)
{
    size_t n = ROWS * times;
    struct sotto_array a = {0}, b = {0};
    assert_int_equal(sotto_array_make(&a, SOTTO_F4, 2, (size_t[]){n, COLUMNS}), SOTTO_OK);
    assert_int_equal(sotto_array_make(&b, SOTTO_I8, 1, &n), SOTTO_OK);
    for (size_t i = 0; i < n; i++)
        ((int64_t *)b.data)[i] = (int64_t)(i & 1);
    assert_int_equal(sotto_npy_save(values, &a), SOTTO_OK);
    assert_int_equal(sotto_npy_save(labels, &b), SOTTO_OK);
    sotto_array_clear(&a);
    sotto_array_clear(&b);
}

TEST(arrays_stop)
{
    enum { TIMES = 200, MEGABYTES = ROWS * TIMES * COLUMNS * 4 / 1000000 };
    snprintf(source, sizeof source, "%s:%s", path_of("X.npy"), path_of("Y.npy"));
    write_arrays(path_of("X.npy"), path_of("Y.npy"), TIMES);
    STOPS(import, 3 * MEGABYTES / 5); /* read, hashed and written, 4 MiB at a time */
    STOPS(open_set, 2 * MEGABYTES / 5);
}

TEST(tables_stop)
{
    strcpy(source, path_of("table.csv"));
    FILE *f = fopen(source, "w");
    assert_non_null(f);
    for (int i = 0; i < ROWS; i++)
        fprintf(f, "%d,%d,word%d,class%d\n", i, i % 7, i % 3, i % 2);
    assert_int_equal(fclose(f), 0);
    /* two passes over the rows; then two blocks of rows each time that a column is looked at: 3 to find the label's, 2 for
     * each of two columns of numbers, 2 for that of texts, of which the first is no number, and 3 for labels */
    STOPS(import, 2 * 2 + 2 * 2 + 1 + 2 * (2 * 2) + 1 + 2 * 2 + 3 * 2);
}

TEST(pictures_stop)
{
    char name[64];
    struct blob picture;
    files_png(&picture, 8, 8, 3, 0);
    strcpy(source, path_of("pictures"));
    for (int i = 0; i < 30; i++) {
        snprintf(name, sizeof name, "pictures/%d/%d.png", i % 2, i);
        files_write(folder, name, picture.data, picture.size);
    }
    STOPS(import, 2 * 30); /* headers, then pixels */
    strcpy(source, "synthetic-images-n1000");
    STOPS(open_set, 1000 / 256);
}

/* --- experiments --- */

static const char experiment[] = "name: stopped\n"
                                 "data: {set: synthetic-images-n400, public: 32, private: 60, heldout: 40}\n"
                                 "pretrain: {epochs: 2, batch: 8, dtype: f32, backend: dnnl}\n"
                                 "cases:\n"
                                 "  - name: one\n"
                                 "    records: 60\n"
                                 "    head: {hidden: [8], epochs: 2, batch: 20}\n"
                                 "    sensitivity: {pairs: 2}\n"
                                 "    protect:\n"
                                 "      - {mechanism: logistic, scale: 3}\n"
                                 "attack: {names: [loss]}\n"
                                 "evaluate: {draws: 3}\n";
static char run_folder[128];
static sotto_status continue_run(void)
{
    char *done = NULL;
    const struct sotto_run_options o = {.folder = run_folder};
    sotto_status status = sotto_run(&done, NULL, experiment, "stopped.yaml", &o, &context);
    assert_true((status == SOTTO_OK) == (done != NULL));
    sotto_text_free(done);
    return status;
}
static sotto_status run(void)
{
    static int number;
    snprintf(run_folder, sizeof run_folder, "%s/run-%d", folder, number++);
    return continue_run();
}

static void hash_of(char hex[SHA256_HEX], const char *name)
{
    char path[256];
    assert_int_equal(path_join(path, sizeof path, run_folder, name), SOTTO_OK);
    assert_int_equal(sha256_file(hex, path), SOTTO_OK);
}

TEST(experiments_stop)
{
    char encoder[SHA256_HEX], head[SHA256_HEX], again[SHA256_HEX];
    STOPS(run, 500);
    assert_int_equal(run(), SOTTO_OK);
    size_t all = asked;
    hash_of(encoder, "models/encoder.safetensors");
    hash_of(head, "models/one.safetensors");
    for (size_t part = 1; part < 8; part++) {
        reset(all * part / 8);
        assert_int_equal(run(), SOTTO_ESTOPPED);
        reset(0);
        assert_int_equal(continue_run(), SOTTO_OK);
        hash_of(again, "models/encoder.safetensors");
        assert_string_equal(again, encoder);
        hash_of(again, "models/one.safetensors");
        assert_string_equal(again, head);
    }
}

static int set_up(void **state)
{
    for (size_t i = 0; i < CELLS; i++)
        x[i] = (float)(i % 5);
    for (size_t i = 0; i < ROWS; i++)
        y[i] = (int64_t)(i & 1);
    if (make_folder(state) || setenv("SOTTO_DATA_DIR", path_of("data"), 1) ||
        sotto_dataset_open(&images, "synthetic-images-n14", NULL) != SOTTO_OK)
        return -1;
    struct sotto_pretrain_options o;
    sotto_pretrain_defaults(&o);
    o.encoder = "resnet8";
    o.epochs = 1;
    o.batch = 4;
    o.dtype = "f32";
    o.backend = "dnnl";
    return sotto_pretrain(&trained, NULL, images, NULL, 0, &o, NULL) == SOTTO_OK ? 0 : -1;
}
static int tear_down(void **state)
{
    sotto_dataset_free(images);
    sotto_encoder_free(trained);
    sotto_network_free(network);
    return remove_folder(state);
}

TEST_GROUP(.shards = 7, .set_up = set_up, .tear_down = tear_down, .tags = "long")
