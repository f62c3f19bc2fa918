/* src/learn/ssl: what the encoder's blocks make of an image. The next layer, by hand from the file's weights, makes of them what the
 * encoder makes. */
#include "support/test.h"

#include "base/memory.h"
#include "io/array/safetensors.h"
#include "io/array/tensors.h"
#include "sotto/lab/ssl.h"
#include "sotto/private/io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 70, D = 128 };
static char folder[] = "/tmp/sotto-test-XXXXXX", path[64];
static struct sotto_dataset *images;
static struct sotto_encoder *encoder;
static struct sotto_tensors weights;

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/e.safetensors", folder);
    return sotto_dataset_open(&images, "synthetic-faces-n70", NULL) != SOTTO_OK ||
           sotto_encoder_random(&encoder, images, "keras-simclr", 3) != SOTTO_OK ||
           sotto_encoder_save(path, encoder) != SOTTO_OK || safetensors_load(&weights, path) != SOTTO_OK;
}

static int tear_down(void **state)
{
    (void)state;
    sotto_tensors_clear(&weights);
    sotto_encoder_free(encoder);
    sotto_dataset_free(images);
    unlink(path);
    return rmdir(folder);
}

static float *features(size_t *width, struct sotto_block_features f, const struct sotto_dataset *data,
                       int threads)
{
    const struct sotto_context ctx = {.threads = threads};
    assert_int_equal(sotto_block_width(width, encoder, &f), SOTTO_OK);
    float *x = base_alloc(N * *width, sizeof *x);
    assert_non_null(x);
    assert_int_equal(sotto_embed_blocks(x, encoder, data, NULL, N, &f, &ctx), SOTTO_OK);
    return x;
}

static const float *tensor(const char *name)
{
    const struct sotto_array *a = tensors_find(&weights, name);
    assert_non_null(a);
    return a->data;
}

static void near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-4 * (1 + fabs(b))))
        fail_msg("%.9g is not %.9g", a, b);
}

TEST(without_blocks_it_is_the_embedding)
{
    size_t width;
    float *x = features(&width, (struct sotto_block_features){0}, images, 1),
          *y = base_alloc(N * D, sizeof *y);
    assert_int_equal(width, D);
    assert_int_equal(sotto_embed(y, encoder, images, NULL, N, NULL), SOTTO_OK);
    assert_memory_equal(x, y, N * D * sizeof *x);
    base_free(x);
    base_free(y);
}

/* Two blocks of keras-simclr: 128 x 3 x 3, then 128 x 1 x 1, then the embedding. */
TEST(each_layer_is_made_of_the_one_before)
{
    size_t width;
    float *x = features(&width, (struct sotto_block_features){.blocks = 2}, images, 1);
    const float *conv = tensor("encoder.6.weight"), *shift = tensor("encoder.6.bias"),
                *dense = tensor("encoder.9.weight"), *bias = tensor("encoder.9.bias");
    assert_int_equal(width, 9 * D + D + D);
    double spread = 0;
    for (size_t i = 0; i < N; i += 23)
        for (size_t o = 0; o < D; o++) {
            const float *third = x + i * width, *fourth = third + 9 * D, *last = fourth + D;
            double a = shift[o], b = bias[o];
            for (size_t c = 0; c < 9 * D; c++) /* channel first, as the kernels are */
                a += (double)conv[o * 9 * D + c] * (double)third[c];
            for (size_t c = 0; c < D; c++)
                b += (double)dense[o * D + c] * (double)fourth[c];
            near(fourth[o], fmax(a, 0));
            near(last[o], fmax(b, 0));
            spread += (double)last[o];
        }
    assert_true(spread > 0);
    base_free(x);
}

/* Of 3 places in a row, cells 2 of a grid of 2 hold the second one both. */
TEST(cells_are_means)
{
    size_t width, plain_width;
    float *plain = features(&plain_width, (struct sotto_block_features){.blocks = 2}, images, 1);
    for (size_t grid = 1; grid <= 4; grid++) {
        float *x = features(&width, (struct sotto_block_features){.blocks = 2, .grid = grid}, images, 1);
        const size_t side = grid < 3 ? grid : 3;
        assert_int_equal(width, side * side * D + D + D);
        for (size_t i = 0; i < N; i += 11)
            for (size_t c = 0; c < D; c++) {
                const float *p = plain + i * plain_width + 9 * c, *q = x + i * width + side * side * c;
                double sum = 0;
                for (size_t k = 0; k < 9; k++)
                    sum += (double)p[k];
                if (grid == 1)
                    near(q[0], sum / 9);
                else if (grid == 2)
                    near(q[1], ((double)p[1] + (double)p[2] + (double)p[4] + (double)p[5]) / 4);
                else
                    assert_memory_equal(p, q, 9 * sizeof *p);
                near(x[i * width + side * side * D + c], plain[i * plain_width + 9 * D + c]);
            }
        base_free(x);
    }
    base_free(plain);
}

TEST(a_mirror_shows_the_same)
{
    size_t width;
    const struct sotto_block_features f = {.blocks = 1, .mirror = 1};
    const size_t row = images->width, size = N * images->channels * images->height * row;
    struct sotto_dataset turned = *images;
    unsigned char *pixels = base_alloc(size, 1);
    for (size_t i = 0; i < size; i++)
        pixels[i] = images->images[i - i % row + row - 1 - i % row];
    turned.images = pixels;
    float *a = features(&width, f, images, 1), *b = features(&width, f, &turned, 1),
          *c = features(&width, (struct sotto_block_features){.blocks = 1}, images, 1),
          *d = features(&width, (struct sotto_block_features){.blocks = 1}, &turned, 1);
    double difference = 0;
    for (size_t i = 0; i < N * width; i++) {
        near(a[i], b[i]);
        near(a[i], ((double)c[i] + (double)d[i]) / 2);
        difference += fabs((double)c[i] - (double)d[i]);
    }
    assert_true(difference > 1);
    base_free(a);
    base_free(b);
    base_free(c);
    base_free(d);
    base_free(pixels);
}

TEST(neither_threads_nor_neighbours_count)
{
    size_t width;
    const struct sotto_block_features f = {.blocks = 4, .grid = 2, .mirror = 1};
    float *one = features(&width, f, images, 1), *three = features(&width, f, images, 3),
          *alone = base_alloc(width, sizeof *alone);
    assert_memory_equal(one, three, N * width * sizeof *one);
    assert_int_equal(sotto_embed_blocks(alone, encoder, images, (const int64_t[]){69}, 1, &f, NULL),
                     SOTTO_OK);
    assert_memory_equal(alone, one + 69 * width, width * sizeof *alone);
    base_free(one);
    base_free(three);
    base_free(alone);
}

TEST(more_blocks_than_there_are)
{
    size_t width = 7;
    assert_int_equal(sotto_block_width(&width, encoder, &(struct sotto_block_features){.blocks = 5}),
                     SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(),
                        "blocks: the encoder 'keras-simclr' has 4 blocks; expected at most that, not 5");
    assert_int_equal(width, 7);
}

TEST_GROUP(.set_up = set_up, .tear_down = tear_down, .tags = "matrix")
