/* Whole networks: files, recipes, records as inputs, answers, and every refusal in one line. */
#include "support/test.h"
#include "support/exercise.h"
#include "data/augment/augment.h"
#include "io/array/safetensors.h"
#include "io/array/tensors.h"
#include "io/provenance/statement.h"
#include "support/machine.h"
#include "support/temporary_folder.h"
#include "train/network/network.h"
#include "sotto/release.h"

#include <math.h>

enum { N = 40, SIDE = 28 };
static struct sotto_dataset *images;
static const struct sotto_context single = {.threads = 1};

static int set_up(void **state)
{
    return make_folder(state) || sotto_dataset_open(&images, "synthetic-images-n40", NULL) != SOTTO_OK;
}

static int tear_down(void **state)
{
    sotto_dataset_free(images);
    return remove_folder(state);
}

static struct sotto_train_options tiny(void)
{
    struct sotto_train_options o;
    sotto_train_defaults(&o);
    o.hidden_count = 2;
    o.hidden[0] = 4;
    o.hidden[1] = 8;
    o.epochs = 1;
    o.batch = 8;
    o.dtype = "f32";
    o.backend = machine.backend;
    return o;
}

static struct sotto_network *trained(const struct sotto_train_options *o)
{
    struct sotto_network *n = NULL;
    assert_int_equal(sotto_train(&n, NULL, images, NULL, 0, o, &single), SOTTO_OK);
    return n;
}

TEST(files_come_back_whole)
{
    static const struct {
        const char *model, *norm;
        size_t widths;
    } kinds[] = {{"cnn", "batch", 2},    {"tanh-cnn", "batch", 2}, {"tanh-small", "batch", 0},
                 {"mlp", "batch", 1},    {"mlp", "batch", 0},      {"resnet8", "batch", 0},
                 {"resnet8", "group", 0}};
    const char *path = path_of("m.safetensors"), *again = path_of("again.safetensors");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct sotto_train_options o = tiny();
        float a[N * 10], b[N * 10];
        struct sotto_network *n, *back = NULL;
        o.model = kinds[i].model;
        o.norm = kinds[i].norm;
        o.hidden_count = kinds[i].widths;
        o.flip = 1;
        o.crop = 2;
        n = trained(&o);
        assert_int_equal(sotto_network_inputs(n), SIDE * SIDE);
        assert_int_equal(sotto_network_classes(n), 10);
        assert_int_equal(sotto_network_save(path, n), SOTTO_OK);
        assert_int_equal(sotto_network_load(&back, path), SOTTO_OK);
        assert_int_equal(sotto_network_save(again, back), SOTTO_OK);
        char first[SHA256_HEX], second[SHA256_HEX];
        assert_int_equal(sha256_file(first, path), SOTTO_OK);
        assert_int_equal(sha256_file(second, again), SOTTO_OK);
        assert_string_equal(first, second);
        assert_string_equal(sotto_network_sha256(n), sotto_network_sha256(back));
        assert_true(strncmp(network_statement(back), "none", 4) == 0);
        assert_int_equal(sotto_network_recipe(back)->crop, 2);
        assert_int_equal(sotto_network_predict_data(a, n, images, NULL, N, 1, &single), SOTTO_OK);
        assert_int_equal(sotto_network_predict_data(b, back, images, NULL, N, 1, &single), SOTTO_OK);
        assert_memory_equal(a, b, sizeof a);
        sotto_network_free(n);
        sotto_network_free(back);
    }
}

/* Rows of values in [0, 1] are answered like the images; a row's answer does not depend on its neighbours;
 * probabilities are the softmax of the logits. */
TEST(rows_and_images_are_one)
{
    enum { D = SIDE * SIDE };
    struct sotto_train_options o = tiny();
    struct sotto_network *n = trained(&o);
    static float x[N * D], z[N * 10], p[N * 10], one[10];
    for (size_t i = 0; i < N * D; i++)
        x[i] = (float)images->images[i] / 255;
    assert_int_equal(sotto_network_predict_data(z, n, images, NULL, N, 1, &single), SOTTO_OK);
    assert_int_equal(sotto_network_predict(p, n, x, N, D, 1, &single), SOTTO_OK);
    assert_memory_equal(p, z, sizeof p);
    assert_int_equal(sotto_network_predict(p, n, x, N, D, 0, &single), SOTTO_OK);
    for (size_t i = 0; i < N; i++) {
        double sum = 0;
        for (size_t k = 0; k < 10; k++)
            sum += exp((double)z[i * 10 + k]);
        for (size_t k = 0; k < 10; k++)
            assert_true(fabs(exp((double)z[i * 10 + k]) / sum - (double)p[i * 10 + k]) < 1e-6);
    }
    for (size_t i = 0; i < N; i += 13) {
        assert_int_equal(sotto_network_predict(one, n, x + i * D, 1, D, 1, &single), SOTTO_OK);
        assert_memory_equal(one, z + i * 10, sizeof one);
    }
    sotto_network_free(n);
}

/* Products of a batch may be cut by the number of threads, so no batch is shared by threads. */
TEST(answers_do_not_depend_on_threads)
{
    enum { MANY = 200 }; /* four batches, the last one not full */
    static const char *const models[] = {"keras-simclr", "resnet8"};
    static float one[MANY * 10], more[MANY * 10];
    struct sotto_dataset *many;
    assert_int_equal(sotto_dataset_open(&many, "synthetic-images-n200", NULL), SOTTO_OK);
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct sotto_train_options o = tiny();
        o.model = models[i];
        o.hidden_count = 0;
        o.hidden[0] = 0;
        o.residual.input_noise = .1;
        struct sotto_network *n = trained(&o);
        assert_int_equal(
            sotto_network_set_answers(n, &(struct sotto_answer_options){.seed = 5, .repeats = 3}), SOTTO_OK);
        assert_int_equal(sotto_network_predict_data(one, n, many, NULL, MANY, 1, &single), SOTTO_OK);
        for (int threads = 2; threads <= 6; threads++) {
            const struct sotto_context ctx = {.threads = threads};
            assert_int_equal(sotto_network_predict_data(more, n, many, NULL, MANY, 1, &ctx), SOTTO_OK);
            assert_memory_equal(more, one, sizeof one);
        }
        sotto_network_free(n);
    }
    sotto_dataset_free(many);
}

/* The embedding and the last layer together are the network. */
TEST(a_network_is_its_embedding_and_a_linear_head)
{
    struct sotto_train_options o = tiny();
    struct sotto_network *n = trained(&o);
    struct network_query a;
    struct sotto_head *last = NULL;
    static float x[N * SIDE * SIDE], h[N * 8], z[N * 10], again[N * 10];
    for (size_t i = 0; i < N * SIDE * SIDE; i++)
        x[i] = (float)images->images[i] / 255;
    assert_int_equal(network_query_make(&a, n, true, &single), SOTTO_OK);
    assert_int_equal(a.width, 8);
    network_query_run(h, &a, x, N, NULL, NULL);
    assert_int_equal(network_last_layer(&last, n), SOTTO_OK);
    assert_int_equal(sotto_head_predict(again, last, h, N, 8, 1, NULL), SOTTO_OK);
    assert_int_equal(sotto_network_predict(z, n, x, N, SIDE * SIDE, 1, &single), SOTTO_OK);
    for (size_t i = 0; i < N * 10; i++)
        assert_true(fabsf(z[i] - again[i]) < 1e-4f * (1 + fabsf(z[i])));
    network_query_clear(&a);
    sotto_head_free(last);
    sotto_network_free(n);
}

/* Against the augmentation oracle: whole-pixel shifts and a flip of a 32x32 colour image. */
TEST(views_equal_the_oracle)
{
    enum { S = 32 };
    static uint8_t image[3 * S * S];
    static float expected[S * S * 3], got[S * S * 3];
    struct sotto_dataset set = {.images = image, .channels = 3, .height = S, .width = S, .n = 1};
    struct record_input in;
    struct nn_shape shape = {3, S, S};
    for (size_t i = 0; i < sizeof image; i++)
        image[i] = (uint8_t)(i * 2654435761u >> 24);
    record_input_make(&in, &set, shape, shape, 1);
    const int shifts[][3] = {{0, 0, 0}, {4, -3, 0}, {-4, 4, 1}, {0, 1, 1}};
    for (size_t s = 0; s < 4; s++) {
        struct record_view view = {shifts[s][0], shifts[s][1], shifts[s][2]};
        struct augment_view v = augment_identity();
        v.shift_y = view.shift_y;
        v.shift_x = view.shift_x;
        v.flip = view.flip;
        augment_reference(expected, image, 3, S, S, &v);
        record_input_fill(got, &in, (const int64_t[]){0}, 1, &view);
        for (size_t i = 0; i < S * S * 3; i++)
            if (!(fabsf(got[i] - expected[i]) <= 1e-6f))
                fail_msg("shift %zu, value %zu: %g, oracle %g", s, i, (double)got[i], (double)expected[i]);
    }
}

TEST(small_images_are_padded_for_keras_alone)
{
    struct nn_shape grey = {1, 28, 28}, out;
    assert_int_equal(record_padding(&out, "resnet8", grey), SOTTO_OK);
    assert_true(out.channels == 1 && out.height == 28 && out.width == 28);
    assert_int_equal(record_padding(&out, "keras-simclr", grey), SOTTO_OK);
    assert_true(out.channels == 1 && out.height == 32 && out.width == 32);
    struct record_input in;
    static float got[32 * 32];
    record_input_make(&in, images, grey, out, 1);
    record_input_fill(got, &in, (const int64_t[]){3}, 1, NULL);
    for (size_t y = 0; y < 32; y++)
        for (size_t x = 0; x < 32; x++) {
            int inside = y >= 2 && y < 30 && x >= 2 && x < 30;
            float expected = inside ? (float)images->images[(3 * 28 + y - 2) * 28 + x - 2] / 255 : 0;
            assert_true(got[y * 32 + x] == expected);
        }
}

TEST(recipes_survive_their_text)
{
    struct sotto_train_options o = tiny(), back;
    char text[TRAIN_RECIPE_TEXT], again[TRAIN_RECIPE_TEXT];
    o.optimizer = "sgd";
    o.momentum = 0.9;
    o.weight_decay = 5e-4;
    o.schedule = "cosine";
    o.lr = 1.0 / 3;
    o.seed = INT64_MAX;
    assert_int_equal(train_options_check(&o), SOTTO_OK);
    assert_int_equal(train_recipe_text(text, &o), SOTTO_OK);
    assert_int_equal(train_recipe_parse(&back, text, "x"), SOTTO_OK);
    assert_int_equal(train_recipe_text(again, &back), SOTTO_OK);
    assert_string_equal(text, again);
    static const char *const broken[][3] = {
        {"\"cnn\"", "\"vgg\"", "model 'vgg' is unknown"},
        {"\"f32\"", "\"f64\"", "dtype 'f64' is unknown"},
        {"\"sgd\"", "\"lbfgs\"", "optimizer 'lbfgs' is unknown"},
        {"[4,8]", "[4,0]", "'hidden[1]' is 0; expected a whole number of at least 1"},
        {"[4,8]", "[1,1,1,1,1,1,1,1,1]", "lists 9 numbers"},
        {"\"batch\":8", "\"batch\":0", "batch must be at least 1"},
        {"\"crop\":0,", "", "'crop' is missing"}};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        char *at = strstr(text, broken[i][0]);
        assert_non_null(at);
        snprintf(again, sizeof again, "%.*s%s%s", (int)(at - text), text, broken[i][1],
                 at + strlen(broken[i][0]));
        assert_int_equal(train_recipe_parse(&back, again, "m.safetensors"), SOTTO_EFORMAT);
        assert_true(strncmp(sotto_error_text(), "m.safetensors: recipe", 21) == 0);
        if (!strstr(sotto_error_text(), broken[i][2]))
            fail_msg("'%s' lacks '%s'", sotto_error_text(), broken[i][2]);
    }
}

static void refused(const char *text, const struct sotto_dataset *data, const int64_t *rows, size_t n,
                    const struct sotto_train_options *o)
{
    struct sotto_network *out = NULL;
    assert_int_equal(sotto_train(&out, NULL, data, rows, n, o, &single), SOTTO_EINVAL);
    if (!strstr(sotto_error_text(), text))
        fail_msg("'%s' lacks '%s'", sotto_error_text(), text);
    assert_null(out);
}

TEST(bad_options_are_one_line)
{
    struct sotto_train_options o = tiny();
#define REFUSED(change, text) (o = tiny(), change, refused(text, images, NULL, 0, &o))
    REFUSED(o.epochs = SOTTO_NONE, "epochs must be at least 1");
    REFUSED(o.batch = SOTTO_NONE, "batch must be at least 1");
    REFUSED(o.batch = 41, "batch 41 is larger than the 40 records to train on");
    REFUSED(o.lr = NAN, "lr must be above 0 and at most 1000 (got nan)");
    REFUSED(o.lr = -1, "lr must be above 0 and at most 1000 (got -1)");
    REFUSED(o.momentum = 0.5, "momentum cannot be given for optimizer adam; expected optimizer sgd");
    REFUSED((o.optimizer = "sgd", o.momentum = 1), "momentum must be at least 0 and below 1");
    REFUSED(o.weight_decay = -1, "weight_decay must be finite and >= 0");
    REFUSED(o.model = "vgg", "model 'vgg' is unknown; expected cnn");
    REFUSED(o.optimizer = "adagrad", "optimizer 'adagrad' is unknown; expected adam or sgd");
    REFUSED(o.schedule = "linear", "schedule 'linear' is unknown; expected constant, cosine or step");
    REFUSED(o.norm = "layer", "norm 'layer' is unknown");
    REFUSED(o.norm = "group", "model cnn has no normalisation");
    REFUSED(o.model = "resnet8", "model resnet8 has fixed widths");
    REFUSED(o.hidden_count = 9, "9 hidden widths are too many; expected at most 8");
    REFUSED(o.hidden[1] = 0, "hidden width 0 is out of range");
    REFUSED(o.hidden_count = 1,
            "width given; expected at least one for a convolution and one for the dense layer");
    REFUSED((o.model = "tanh-cnn", o.hidden_count = 1),
            "width given; expected at least one for a stage and one for the dense layer");
    REFUSED(o.crop = 300, "crop must be at most 256");
    REFUSED(o.seed = UINT64_MAX, "is too large");
    REFUSED(o.dtype = "f16", "dtype 'f16' is unknown");
    REFUSED(o.backend = "gpu", "gpu");
    REFUSED(o.channels = 3, "contains images of 1x28x28; expected 3x0x0");
    o = tiny();
    refused("is outside data set", images, (const int64_t[]){0, 40}, 2, &o);
    int64_t same[8];
    for (size_t i = 0, at = 0; i < 40 && at < 4; i++)
        if (images->labels[i] == images->labels[0])
            same[at++] = (int64_t)i;
    o.batch = 2;
    refused("training needs at least 2 classes", images, same, 2, &o);
    struct sotto_dataset other = *images;
    other.labels = NULL;
    refused("has no labels", &other, NULL, 0, &o);
}

TEST(tables_are_checked)
{
    float x[12 * 12] = {0};
    int64_t y[12];
    struct sotto_dataset table = {
        .name = "t", .n = 12, .features = x, .columns = 12, .classes = 2, .labels = y};
    struct sotto_train_options o = tiny();
    struct sotto_network *n = NULL;
    for (size_t i = 0; i < 12; i++) {
        y[i] = i % 2;
        x[i * 12 + 3] = (float)y[i];
    }
    refused(
        "model cnn needs images, but the records are rows of 12 numbers; give channels=C,H,W, or model mlp",
        &table, NULL, 0, &o);
    o.channels = 3, o.height = 2, o.width = 3;
    refused("has rows of 12 numbers, which images of 3x2x3 do not match; give the right channels=C,H,W",
            &table, NULL, 0, &o);
    o.width = 2;
    assert_int_equal(sotto_train(&n, NULL, &table, NULL, 0, &o, &single), SOTTO_OK);
    assert_int_equal(sotto_network_inputs(n), 12);
    sotto_network_free(n);
    o = tiny(), o.model = "mlp", o.flip = 1;
    refused("flip and crop need images, but the records are rows of", &table, NULL, 0, &o);
    o.flip = 0;
    x[5] = INFINITY;
    refused("data set 't': row 0, column 5 is not finite", &table, NULL, 0, &o);
}

/* One member of the metadata changed or removed (value NULL), or one tensor: which line says so. */
TEST(damaged_files_are_named)
{
    static const char *const changes[][3] = {
        {"schema", "sotto.encoder/1", "schema is 'sotto.encoder/1'; expected 'sotto.model/1'"},
        {"schema", "sotto.model/2", "expected 'sotto.model/1'"},
        {"model", "vgg", "model 'vgg' is unknown"},
        {"model", "resnet8", "model resnet8 has fixed widths"},
        {"input", "1x28", "metadata 'input' is '1x28'"},
        {"input", "1x28x28x1", "metadata 'input' is"},
        {"input", "1x0x28", "metadata 'input' is"},
        {"input", "1x26x28", "values, but model cnn as described has"},
        {"classes", "1", "metadata 'classes' is '1'"},
        {"classes", "11", "values, but model cnn as described has"},
        {"hidden", "4,,8", "metadata 'hidden' is '4,,8'"},
        {"hidden", "4096,4096", "values, but model cnn as described has"},
        {"norm", "layer", "norm 'layer' is unknown"},
        {"weights_sha256", "0", "the weights do not match their checksum"},
        {"recipe", "{}", "recipe: 'model' is missing"},
        {"recipe", "no", "recipe:1:2"},
    };
    const char *path = path_of("whole.safetensors"), *damaged = path_of("damaged.safetensors");
    struct sotto_train_options o = tiny();
    struct sotto_network *n = trained(&o), *back = NULL;
    assert_int_equal(sotto_network_save(path, n), SOTTO_OK);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct sotto_tensors t = {0};
        assert_int_equal(safetensors_load(&t, path), SOTTO_OK);
        assert_int_equal(tensors_set_metadata(&t, changes[i][0], changes[i][1]), SOTTO_OK);
        assert_int_equal(safetensors_save(damaged, &t), SOTTO_OK);
        sotto_tensors_clear(&t);
        assert_int_equal(sotto_network_load(&back, damaged), SOTTO_EFORMAT);
        if (!strstr(sotto_error_text(), changes[i][2]) || !strstr(sotto_error_text(), damaged))
            fail_msg("%s=%s: '%s'", changes[i][0], changes[i][1], sotto_error_text());
    }
    struct sotto_tensors t = {0};
    assert_int_equal(safetensors_load(&t, path), SOTTO_OK);
    ((float *)tensors_find(&t, "classifier.bias")->data)[3] = NAN;
    assert_int_equal(safetensors_save(damaged, &t), SOTTO_OK);
    sotto_tensors_clear(&t);
    assert_int_equal(sotto_network_load(&back, damaged), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), "weights must be finite"));
    assert_null(back);
    assert_int_equal(sotto_network_load(&back, path_of("missing")), SOTTO_ENOENT);
    sotto_network_free(n);
}

/* A file with the fewest keys that a network made elsewhere needs. */
TEST(few_keys_are_enough)
{
    const char *path = path_of("own.safetensors"), *bare = path_of("bare.safetensors");
    struct sotto_train_options o = tiny();
    struct sotto_network *n = trained(&o), *back = NULL;
    struct sotto_tensors t = {0}, few = {0};
    assert_int_equal(sotto_network_save(path, n), SOTTO_OK);
    assert_int_equal(safetensors_load(&t, path), SOTTO_OK);
    for (size_t i = 0; i < t.count; i++)
        assert_int_equal(tensors_add(&few, t.items[i].name, SOTTO_F4, t.items[i].array.ndim,
                                     t.items[i].array.shape, t.items[i].array.data),
                         SOTTO_OK);
    static const char *const keys[] = {"schema", "model", "input", "classes", "hidden"};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(tensors_set_metadata(&few, keys[i], tensors_metadata(&t, keys[i])), SOTTO_OK);
    assert_int_equal(safetensors_save(bare, &few), SOTTO_OK);
    assert_int_equal(sotto_network_load(&back, bare), SOTTO_OK);
    assert_string_equal(sotto_network_sha256(n), sotto_network_sha256(back));
    assert_null(sotto_network_recipe(back));
    assert_string_equal(network_statement(back), "");
    sotto_tensors_clear(&t);
    sotto_tensors_clear(&few);
    sotto_network_free(n);
    sotto_network_free(back);
}

TEST(protect_refuses_a_network)
{
    const char *path = path_of("n.safetensors"), *out = path_of("p.safetensors");
    struct sotto_train_options o = tiny();
    struct sotto_network *n = trained(&o);
    struct sotto_certificate *certificate = NULL;
    assert_int_equal(sotto_network_save(path, n), SOTTO_OK);
    struct sotto_protect p = {.input = path,
                              .output = out,
                              .release = {.mechanism = "logistic",
                                          .scale = 1,
                                          .sensitivity = {.l1 = 1, .l2 = NAN},
                                          .spend = {.dataset_id = "test", .source = &exercise}}};
    assert_int_equal(sotto_protect_file(&certificate, &p, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "no privacy statement"));
    sotto_network_free(n);
}

TEST_GROUP(.set_up = set_up, .tear_down = tear_down, .start = machine_f32, .tags = "matrix")
