/* Encoders: files round trip and are checked, embeddings do not depend on their neighbours, inputs are
 * refused clearly. */
#include "support/test.h"

#include "base/file.h"
#include "io/array/safetensors.h"
#include "io/array/tensors.h"
#include "sotto/lab/ssl.h"
#include "sotto/private/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/sotto-test-XXXXXX", path[64];
static struct sotto_dataset *images;

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/e.safetensors", folder);
    return sotto_dataset_open(&images, "synthetic-images-n150", NULL) == SOTTO_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    sotto_dataset_free(images);
    unlink(path);
    return rmdir(folder);
}

static float *embed(const struct sotto_encoder *e, const int64_t *rows, size_t n)
{
    float *x = base_alloc(n * sotto_encoder_width(e), sizeof *x);
    assert_non_null(x);
    assert_int_equal(sotto_embed(x, e, images, rows, n, NULL), SOTTO_OK);
    return x;
}

TEST(files_round_trip)
{
    struct sotto_encoder *e, *again;
    assert_int_equal(sotto_encoder_random(&e, images, "keras-simclr", 3), SOTTO_OK);
    assert_int_equal(sotto_encoder_width(e), 128);
    assert_int_equal(sotto_encoder_save(path, e), SOTTO_OK);
    assert_int_equal(sotto_encoder_load(&again, path), SOTTO_OK);
    assert_string_equal(sotto_encoder_sha256(e), sotto_encoder_sha256(again));
    float *x = embed(e, NULL, 70), *y = embed(again, NULL, 70);
    assert_memory_equal(x, y, 70 * 128 * sizeof *x);
    base_free(x);
    base_free(y);
    struct sotto_tensors t = {0};
    assert_int_equal(safetensors_load(&t, path), SOTTO_OK);
    assert_string_equal(tensors_metadata(&t, "encoder"), "keras-simclr");
    assert_string_equal(tensors_metadata(&t, "input"), "3x32x32");
    assert_string_equal(tensors_metadata(&t, "method"), "random");
    assert_non_null(tensors_find(&t, "encoder.0.weight"));
    sotto_tensors_clear(&t);
    sotto_encoder_free(e);
    sotto_encoder_free(again);
}

TEST(seeds_differ)
{
    struct sotto_encoder *a, *b, *c;
    assert_int_equal(sotto_encoder_random(&a, images, "keras-simclr", 1), SOTTO_OK);
    assert_int_equal(sotto_encoder_random(&b, images, "keras-simclr", 1), SOTTO_OK);
    assert_int_equal(sotto_encoder_random(&c, images, "keras-simclr", 2), SOTTO_OK);
    assert_string_equal(sotto_encoder_sha256(a), sotto_encoder_sha256(b));
    assert_string_not_equal(sotto_encoder_sha256(a), sotto_encoder_sha256(c));
    sotto_encoder_free(a);
    sotto_encoder_free(b);
    sotto_encoder_free(c);
}

TEST(neighbours_do_not_change_an_embedding)
{
    struct sotto_encoder *e;
    assert_int_equal(sotto_encoder_random(&e, images, "keras-simclr", 3), SOTTO_OK);
    float *all = embed(e, NULL, 130), *few = embed(e, (const int64_t[]){129, 3, 129}, 3);
    assert_memory_equal(few, all + 129 * 128, 128 * sizeof *all);
    assert_memory_equal(few + 128, all + 3 * 128, 128 * sizeof *all);
    assert_memory_equal(few + 256, all + 129 * 128, 128 * sizeof *all);
    base_free(all);
    base_free(few);
    sotto_encoder_free(e);
}

/* Saves a good file, lets `change` spoil it, and expects the text of the refusal to start with "PATH: " +
 * text. */
static void expect_refused(void (*change)(struct sotto_tensors *), const char *text)
{
    struct sotto_encoder *e;
    struct sotto_tensors t = {0};
    char expected[256];
    assert_int_equal(sotto_encoder_random(&e, images, "keras-simclr", 3), SOTTO_OK);
    assert_int_equal(sotto_encoder_save(path, e), SOTTO_OK);
    sotto_encoder_free(e);
    assert_int_equal(safetensors_load(&t, path), SOTTO_OK);
    change(&t);
    assert_int_equal(safetensors_save(path, &t), SOTTO_OK);
    sotto_tensors_clear(&t);
    e = NULL;
    assert_int_not_equal(sotto_encoder_load(&e, path), SOTTO_OK);
    assert_null(e);
    snprintf(expected, sizeof expected, "%s: %s", path, text);
    if (strncmp(sotto_error_text(), expected, strlen(expected)) != 0)
        fail_msg("expected '%s...', got '%s'", expected, sotto_error_text());
}

static void change_weight(struct sotto_tensors *t)
{
    ((float *)tensors_find(t, "encoder.0.bias")->data)[3] += 1;
}

static void change_to_nan(struct sotto_tensors *t)
{
    ((uint32_t *)tensors_find(t, "encoder.0.bias")->data)[3] = 0x7fc00000;
}

static void rename_tensor(struct sotto_tensors *t)
{
    t->items[0].name[0] = 'x';
}

static void change_input(struct sotto_tensors *t)
{
    assert_int_equal(tensors_set_metadata(t, "input", "3x32"), SOTTO_OK);
}

static void shrink_input(struct sotto_tensors *t)
{
    assert_int_equal(tensors_set_metadata(t, "input", "1x28x28"), SOTTO_OK);
}

static void change_name(struct sotto_tensors *t)
{
    assert_int_equal(tensors_set_metadata(t, "encoder", "keras"), SOTTO_OK);
}

static void change_schema(struct sotto_tensors *t)
{
    assert_int_equal(tensors_set_metadata(t, "schema", "sotto.encoder/9"), SOTTO_OK);
}

TEST(damaged_files_are_refused)
{
    expect_refused(change_weight, "the weights do not match their checksum");
    expect_refused(change_to_nan, "tensor 'encoder.0.bias' has the value nan at position 3");
    expect_refused(rename_tensor, "");
    expect_refused(change_input,
                   "metadata 'input' is '3x32'; expected channels x height x width such as 3x32x32");
    expect_refused(shrink_input,
                   "metadata 'input' is '1x28x28'; expected 3 channels and at least 32x32 pixels");
    expect_refused(change_name, "model 'keras' is unknown");
    expect_refused(change_schema, "schema is 'sotto.encoder/9'; expected 'sotto.encoder/1'");
    struct sotto_tensors t = {0};
    float x = 1;
    assert_int_equal(tensors_add(&t, "x", SOTTO_F4, 1, (const size_t[]){1}, &x), SOTTO_OK);
    assert_int_equal(safetensors_save(path, &t), SOTTO_OK);
    sotto_tensors_clear(&t);
    struct sotto_encoder *e = NULL;
    assert_int_equal(sotto_encoder_load(&e, path), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), "metadata 'schema' is missing; expected an encoder file"));
    unlink(path);
    assert_int_equal(sotto_encoder_load(&e, path), SOTTO_ENOENT);
}

TEST(unfit_data_is_refused)
{
    struct sotto_encoder *e;
    struct sotto_dataset other = *images;
    float x[128];
    assert_int_equal(sotto_encoder_random(&e, images, "keras-simclr", 3), SOTTO_OK);
    assert_int_equal(sotto_embed(x, e, images, (const int64_t[]){150}, 1, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "row index 150 (at position 0) is outside data set"));
    other.height = other.width = 40;
    assert_int_equal(sotto_embed(x, e, &other, NULL, 1, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "has 40x40 images, but the encoder was trained on 32x32"));
    other.channels = 2;
    assert_int_equal(sotto_embed(x, e, &other, NULL, 1, NULL), SOTTO_EINVAL);
    other.images = NULL;
    assert_int_equal(sotto_embed(x, e, &other, NULL, 1, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "contains features; an encoder needs images"));
    sotto_encoder_free(e);
    assert_int_equal(sotto_encoder_random(&e, images, "mlp", 3), SOTTO_EINVAL);
    for (long n = 0; n < 12; n++) {
        base_alloc_fail_after(n);
        sotto_status status = sotto_encoder_random(&e, images, "keras-simclr", 3);
        base_alloc_fail_after(-1);
        if (status == SOTTO_OK)
            sotto_encoder_free(e);
        else
            assert_int_equal(status, SOTTO_ENOMEM);
    }
}

TEST_GROUP(.set_up = set_up, .tear_down = tear_down, .tags = "matrix")
