/* Weights under torchvision's names: embeddings are those of torchvision 0.28 in float64 (tools/golden_encoders.py), and files
 * that are something else are refused by name. */
#include "support/test.h"

#include "io/array/safetensors.h"
#include "io/array/tensors.h"
#include "known/ssl/encoder_vectors.h"
#include "support/golden.h"
#include "support/machine.h"
#include "support/temporary_folder.h"
#include "sotto/lab/ssl.h"
#include "ssl/encoder.h"

#include <stdio.h>

static const struct sotto_encoder_import_options usual = {
    .model = "mobilenetv2-imagenet", .statement = "public, by a test", .height = 32, .width = 32};

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), k = strlen(end);
    return n >= k && strcmp(text + n - k, end) == 0;
}

static void fill(struct sotto_array *a, const char *name)
{
    float *values = a->data;
    size_t fan_in = a->count / a->shape[0];
    uint32_t number = golden_number(name);
    for (size_t i = 0; i < a->count; i++) {
        double u = 2 * golden_uniform(number, i) - 1;
        values[i] = (float)(a->ndim > 1                      ? u * (double)(float)sqrt(6.0 / (double)fan_in)
                            : ends_with(name, "running_var") ? 1 + 0.5 * u
                                                             : 0.2 * u + ends_with(name, "weight"));
    }
}

/* A file as torchvision writes it: the network's tensors, its head, and counters. Each name gets `prefix`. */
static void make_weights(struct sotto_tensors *t, const char *model, const char *prefix)
{
    struct nn_model *m;
    struct sotto_tensors own = {0};
    char name[160];
    assert_int_equal(
        nn_model_create_blank(&m, &(struct nn_model_config){.name = model, .input = {3, 32, 32}}), SOTTO_OK);
    assert_int_equal(nn_model_export(&own, m, "", 0), SOTTO_OK);
    for (size_t i = 0; i < own.count; i++) {
        struct sotto_array *a = &own.items[i].array;
        const char *bare = own.items[i].name + strlen("encoder.");
        fill(a, bare);
        snprintf(name, sizeof name, "%s%s", prefix, bare);
        assert_int_equal(tensors_add(t, name, SOTTO_F4, a->ndim, a->shape, a->data), SOTTO_OK);
        if (ends_with(bare, "running_var")) {
            snprintf(name, sizeof name, "%s%.*snum_batches_tracked", prefix,
                     (int)(strlen(bare) - strlen("running_var")), bare);
            assert_int_equal(tensors_add(t, name, SOTTO_I8, 0, (const size_t[]){0}, NULL), SOTTO_OK);
        }
    }
    snprintf(name, sizeof name, "%s%s", prefix, "fc.weight");
    assert_int_equal(tensors_add(t, name, SOTTO_F4, 2, (const size_t[]){10, 4}, NULL), SOTTO_OK);
    sotto_tensors_clear(&own);
    nn_model_free(m);
}

static void embed(float *out, const struct sotto_encoder *e, size_t side)
{
    size_t count = VECTOR_IMAGES * 3 * side * side;
    uint8_t *pixels = malloc(count);
    assert_non_null(pixels);
    for (size_t i = 0; i < count; i++)
        pixels[i] = (uint8_t)(256 * golden_uniform(golden_number("images"), i));
    struct sotto_dataset images = {.name = "hashed",
                                   .n = VECTOR_IMAGES,
                                   .n_train = VECTOR_IMAGES,
                                   .channels = 3,
                                   .height = side,
                                   .width = side,
                                   .images = pixels};
    assert_int_equal(sotto_embed(out, e, &images, NULL, VECTOR_IMAGES, &machine.context), SOTTO_OK);
    free(pixels);
}

/* Relative to the largest value: f32 sums of some thousand terms in up to 53 layers. */
static void compare(const struct vector_case *c, const float *x)
{
    const double tolerance = 2e-5;
    double largest = 0, norm = 0;
    for (size_t i = 0; i < VECTOR_IMAGES * c->width; i++) {
        norm += (double)x[i] * (double)x[i];
        largest = fmax(largest, fabs((double)x[i]));
    }
    assert_true(largest > 0);
    assert_true(fabs(sqrt(norm) / c->norm - 1) < tolerance);
    for (size_t i = 0; i < VECTOR_IMAGES; i++)
        for (size_t k = 0; k < VECTOR_PLACES; k++) {
            double found = (double)x[i * c->width + k * c->width / VECTOR_PLACES];
            assert_true(fabs(found - c->value[i * VECTOR_PLACES + k]) < tolerance * largest);
        }
}

static void embeddings_of(size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        const struct vector_case *c = &vector_cases[i];
        struct sotto_encoder_import_options o = usual;
        struct sotto_encoder_import_report report;
        struct sotto_tensors t = {0};
        struct sotto_encoder *e, *again;
        void *bytes;
        size_t size;
        o.model = c->model, o.height = o.width = c->side;
        make_weights(&t, c->model, "");
        assert_int_equal(safetensors_save(path_of("w.safetensors"), &t), SOTTO_OK);
        assert_int_equal(sotto_encoder_import(&e, &report, path_of("w.safetensors"), &o, NULL), SOTTO_OK);
        assert_string_equal(report.names, "torchvision");
        assert_int_equal(report.ignored, 1);
        assert_true(report.counters > 15 && report.tensors + report.counters + 1 == t.count);
        assert_int_equal(sotto_encoder_width(e), c->width);
        float *x = calloc(VECTOR_IMAGES * c->width, sizeof *x),
              *y = calloc(VECTOR_IMAGES * c->width, sizeof *y);
        assert_true(x && y);
        embed(x, e, c->side);
        compare(c, x);
        assert_int_equal(sotto_encoder_save_bytes(&bytes, &size, e), SOTTO_OK);
        assert_int_equal(sotto_encoder_load_bytes(&again, bytes, size), SOTTO_OK);
        sotto_bytes_free(bytes);
        embed(y, again, c->side); /* with its normalisation */
        assert_memory_equal(x, y, VECTOR_IMAGES * c->width * sizeof *x);
        assert_string_equal(encoder_fact(again, "provenance"), "stated by the user: public, by a test");
        free(x);
        free(y);
        sotto_encoder_free(e);
        sotto_encoder_free(again);
        sotto_tensors_clear(&t);
    }
}

/* Halves and doubles of the same values make the same encoder; so do the names of other programs. */
enum { CASES = sizeof vector_cases / sizeof *vector_cases, LARGEST = 2 };

TEST(embeddings_are_torchvisions)
{
    embeddings_of(0, LARGEST);
}

TEST(embeddings_of_the_largest_are_torchvisions)
{
    embeddings_of(LARGEST, LARGEST + 1);
}

TEST(embeddings_of_others_are_torchvisions)
{
    embeddings_of(LARGEST + 1, CASES);
}

TEST(dtypes_and_prefixes_agree)
{
    static const struct {
        const char *prefix, *names;
    } cases[] = {
        {"", "torchvision"},           {"module.", "torch.nn.DataParallel"}, {"_orig_mod.", "torch.compile"},
        {"module.encoder_q.", "MoCo"}, {"module.encoder.", "SimSiam"},       {"backbone.", "a backbone"}};
    char first[SHA256_HEX] = "";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sotto_tensors t = {0};
        struct sotto_encoder_import_report report;
        struct sotto_encoder *e;
        make_weights(&t, "mobilenetv2-imagenet", cases[i].prefix);
        for (size_t k = 0; k < t.count; k++) {
            struct sotto_array *a = &t.items[k].array;
            if (a->dtype != SOTTO_F4)
                continue;
            assert_int_equal(sotto_array_convert(a, SOTTO_F2), SOTTO_OK); /* rounds */
            assert_int_equal(sotto_array_convert(a, (k + i) % 3 == 0   ? SOTTO_F2
                                                    : (k + i) % 3 == 1 ? SOTTO_F4
                                                                       : SOTTO_F8),
                             SOTTO_OK);
        }
        assert_int_equal(safetensors_save(path_of("w.safetensors"), &t), SOTTO_OK);
        assert_int_equal(sotto_encoder_import(&e, &report, path_of("w.safetensors"), &usual, NULL), SOTTO_OK);
        assert_string_equal(report.names, cases[i].names);
        if (i == 0)
            strcpy(first, sotto_encoder_sha256(e));
        assert_string_equal(sotto_encoder_sha256(e), first);
        sotto_encoder_free(e);
        sotto_tensors_clear(&t);
    }
}

/* Moments given as numbers, or none: then the row is not there. */
TEST(normalisation_is_part_of_the_encoder)
{
    struct sotto_tensors t = {0};
    struct sotto_encoder *imagenet, *numbers, *none;
    struct sotto_encoder_import_options o = usual;
    static float x[VECTOR_IMAGES * 1280], y[VECTOR_IMAGES * 1280], z[VECTOR_IMAGES * 1280];
    make_weights(&t, "mobilenetv2-imagenet", "");
    assert_int_equal(safetensors_save(path_of("w.safetensors"), &t), SOTTO_OK);
    assert_int_equal(sotto_encoder_import(&imagenet, NULL, path_of("w.safetensors"), &o, NULL), SOTTO_OK);
    o.normalise = "0.485,0.456,0.406/0.229,0.224,0.225";
    assert_int_equal(sotto_encoder_import(&numbers, NULL, path_of("w.safetensors"), &o, NULL), SOTTO_OK);
    o.normalise = "none";
    assert_int_equal(sotto_encoder_import(&none, NULL, path_of("w.safetensors"), &o, NULL), SOTTO_OK);
    assert_true(nn_model_normalised(imagenet->model) && !nn_model_normalised(none->model));
    embed(x, imagenet, 32);
    embed(y, numbers, 32);
    embed(z, none, 32);
    assert_memory_equal(x, y, sizeof x);
    assert_memory_not_equal(x, z, sizeof x);
    sotto_encoder_free(imagenet);
    sotto_encoder_free(numbers);
    sotto_encoder_free(none);
    sotto_tensors_clear(&t);
}

/* ---- refusals ---- */

static void expect_refused(const struct sotto_tensors *t, const struct sotto_encoder_import_options *o,
                           sotto_status expected, const char *text)
{
    struct sotto_encoder *e = NULL;
    assert_int_equal(safetensors_save(path_of("bad.safetensors"), t), SOTTO_OK);
    assert_int_equal(sotto_encoder_import(&e, NULL, path_of("bad.safetensors"), o, NULL), expected);
    assert_null(e);
    if (!strstr(sotto_error_text(), text))
        fail_msg("expected '...%s...', got '%s'", text, sotto_error_text());
}

static struct sotto_tensor *tensor(struct sotto_tensors *t, const char *name)
{
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->items[i].name, name) == 0)
            return &t->items[i];
    fail_msg("there is no tensor %s", name);
    return NULL;
}

TEST(other_weights_are_refused_by_name)
{
    struct sotto_tensors t = {0};
    struct sotto_encoder_import_options o = usual;
    make_weights(&t, "resnet18", "");
    o.model = "resnet18-imagenet";
    expect_refused(
        &t, &o, SOTTO_EFORMAT,
        "tensor 'conv1.weight' has shape (64, 3, 3, 3); expected (64, 3, 7, 7) for resnet18-imagenet");
    assert_non_null(strstr(sotto_error_hint(), "model=NAME-imagenet"));
    o.model = "resnet50";
    expect_refused(
        &t, &o, SOTTO_EFORMAT,
        "165 tensors of resnet50 missing: layer1.0.downsample.0.weight, layer1.0.downsample.1.weight, "
        "layer1.0.downsample.1.bias, layer1.0.downsample.1.running_mean and 161 more; ");
    o.model = "mobilenetv2";
    expect_refused(&t, &o, SOTTO_EFORMAT, "of mobilenetv2 missing: features.0.0.weight, ");
    o.model = "resnet19";
    expect_refused(&t, &o, SOTTO_EINVAL, "resnet19");
    o.model = "resnet18";
    tensor(&t, "bn1.bias")->name[0] = 'B';
    expect_refused(&t, &o, SOTTO_EFORMAT, "1 tensor of resnet18 missing: bn1.bias; ");
    tensor(&t, "Bn1.bias")->name[0] = 'b';
    assert_int_equal(tensors_add(&t, "layer5.0.conv1.weight", SOTTO_F4, 0, (const size_t[]){0}, NULL),
                     SOTTO_OK);
    expect_refused(&t, &o, SOTTO_EFORMAT, "1 tensor unknown to resnet18: layer5.0.conv1.weight; ");
    sotto_tensors_clear(&t);
}

TEST(bad_values_are_refused_by_name)
{
    struct sotto_tensors t = {0};
    make_weights(&t, "mobilenetv2-imagenet", "");
    struct sotto_array *a = &tensor(&t, "features.0.1.running_var")->array;
    float *values = a->data, kept = values[5];
    values[5] = -1e-6f;
    expect_refused(&t, &usual, SOTTO_EFORMAT,
                   "'features.0.1.running_var' has the value -1e-06 at position 5; variances");
    values[5] = NAN;
    expect_refused(&t, &usual, SOTTO_EFORMAT, "running_var' has the value");
    values[5] = kept;
    assert_int_equal(sotto_array_convert(a, SOTTO_F8), SOTTO_OK);
    ((double *)a->data)[5] = 1e300; /* no float */
    expect_refused(&t, &usual, SOTTO_EFORMAT, "running_var' has the value inf");
    ((double *)a->data)[5] = 1;
    for (size_t i = 0; i < a->count; i++)
        ((double *)a->data)[i] = 1;
    assert_int_equal(sotto_array_convert(a, SOTTO_I8), SOTTO_OK);
    expect_refused(&t, &usual, SOTTO_EFORMAT,
                   "'features.0.1.running_var' has dtype i8; expected f16, bf16, f32 or f64");
    sotto_tensors_clear(&t);
}

/* Before the file is opened. */
static void refuse_options(const struct sotto_encoder_import_options *o, const char *text)
{
    struct sotto_encoder *e = NULL;
    assert_int_equal(sotto_encoder_import(&e, NULL, path_of("absent"), o, NULL), SOTTO_EINVAL);
    assert_null(e);
    if (!strstr(sotto_error_text(), text))
        fail_msg("expected '...%s...', got '%s'", text, sotto_error_text());
}

TEST(the_statement_is_required)
{
    struct sotto_encoder_import_options o = usual;
    char text[SOTTO_IMPORT_STATEMENT + 1] = "public, by ";
    static const char *const bad[] = {NULL, "", "public", "public, by ", "public, by  x", "private", "none"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        o.statement = bad[i];
        refuse_options(&o, "statement: ");
    }
    o.statement = "public, by me\nstatement: none";
    refuse_options(&o, "control character");
    o.statement = "public, by \xff";
    refuse_options(&o, "UTF-8");
    memset(text + strlen(text), 'x', sizeof text - 1 - strlen(text));
    text[SOTTO_IMPORT_STATEMENT] = '\0';
    o.statement = text;
    refuse_options(&o, "has 160 bytes; expected fewer");
}

TEST(bad_options_are_refused)
{
    static const char *const moments[] = {"0,0,0",       "0,0,0/1,1",      "0,0,0/1,1,1,1",
                                          "0,0,0/0,1,1", "0,0,nan/1,1,1",  "0,0,0,1,1,1",
                                          "/",           "0,0,0/1,1,1e300"};
    struct sotto_encoder_import_options o = usual;
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        o.normalise = moments[i];
        refuse_options(&o, "normalise: ");
    }
    o = usual;
    o.height = 4097;
    refuse_options(&o, "is too large");
    o = usual;
    o.model = NULL;
    refuse_options(&o, "model '' has no torchvision names");
    o.model = "mlp"; /* a network, but not one of torchvision's */
    refuse_options(&o, "mlp");
}

/* A file of ours says itself what trained it, which a statement would hide. */
TEST(files_of_sotto_are_refused)
{
    struct sotto_tensors t = {0};
    assert_int_equal(tensors_set_metadata(&t, "schema", "sotto.model/1"), SOTTO_OK);
    expect_refused(&t, &usual, SOTTO_EINVAL, "is a file of sotto (sotto.model/1)");
    sotto_tensors_clear(&t);
}

TEST(other_files_are_named)
{
    static const struct {
        const char *bytes;
        size_t count;
        const char *text;
    } files[] = {
        {"PK\3\4________________", 20, "is an archive of PyTorch (torch.save); expected a .safetensors file"},
        {"\x80\2}q\1_______________", 20, "is a pickle of Python"},
        {"\x89HDF\r\n\x1a\n____________", 20, "is an HDF5 file (Keras)"},
        {"\x08\x07\x12\x07pytorch_______", 18, "is a protocol buffer (ONNX or TensorFlow)"},
        {"", 0, "too short"}};
    struct sotto_encoder *e = NULL;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        assert_int_equal(overwrite(path_of("other"), files[i].bytes, files[i].count), 0);
        assert_int_equal(sotto_encoder_import(&e, NULL, path_of("other"), &usual, NULL), SOTTO_EFORMAT);
        if (!strstr(sotto_error_text(), files[i].text))
            fail_msg("expected '...%s...', got '%s'", files[i].text, sotto_error_text());
    }
    assert_int_equal(sotto_encoder_import(&e, NULL, path_of("absent"), &usual, NULL), SOTTO_ENOENT);
    assert_null(e);
}

TEST_GROUP(.shards = 5, .set_up = make_folder, .tear_down = remove_folder, .start = machine_f32,
           .tags = "long")
