/* src/learn/ssl: embeddings of random views: a function of seed and row, with the strength of the encoder's own
 * recipe. */
#include "support/test.h"
#include "support/worse.h"
#include "base/memory.h"
#include "support/machine.h"
#include "sotto/lab/ssl.h"

#include <string.h>

enum { VIEWS = 3, WIDTH = 128, N = 3 };

static struct sotto_dataset *images;
static struct sotto_encoder *encoder;

static int set_up(void **state)
{
    struct sotto_pretrain_options o;
    (void)state;
    sotto_pretrain_defaults(&o);
    o.dtype = machine.dtype, o.backend = machine.backend;
    o.epochs = 1, o.batch = 4, o.min_area = 0.5, o.jitter = 0.125;
    o.augmentation = "simclr", o.blur = 0.75;
    return sotto_dataset_open(&images, "synthetic-faces-n8", NULL) != SOTTO_OK ||
           sotto_pretrain(&encoder, NULL, images, NULL, 0, &o, &machine.context) != SOTTO_OK;
}

static int tear_down(void **state)
{
    (void)state;
    sotto_encoder_free(encoder);
    sotto_dataset_free(images);
    return 0;
}

TEST(defaults_are_the_encoders_own)
{
    struct sotto_view_options v;
    struct sotto_encoder *random = NULL;
    sotto_view_defaults(&v, encoder);
    assert_int_equal(v.views, 10);
    assert_string_equal(v.augmentation, "simclr");
    assert_true(v.min_area == 0.5 && v.brightness == 0.6 && v.jitter == 0.125 && v.blur == 0.75 &&
                v.grey == 0.2);
    assert_int_equal(sotto_encoder_random(&random, images, "keras-simclr", 1), SOTTO_OK);
    sotto_view_defaults(&v, random);
    assert_string_equal(v.augmentation, "keras");
    assert_true(v.min_area == 0.25 && v.jitter == 0.2);
    sotto_encoder_free(random);
}

TEST(views_depend_on_seed_and_row_alone)
{
    static float three[N * VIEWS * WIDTH], two[2 * VIEWS * WIDTH], other[2 * VIEWS * WIDTH];
    const int64_t rows[N] = {5, 0, 2}, swapped[2] = {2, 5};
    struct sotto_view_options v;
    sotto_view_defaults(&v, encoder);
    v.views = VIEWS, v.seed = 9;
    assert_int_equal(sotto_embed_views(three, encoder, images, rows, N, &v, &machine.context), SOTTO_OK);
    assert_int_equal(sotto_embed_views(two, encoder, images, swapped, 2, &v, &machine.context), SOTTO_OK);
    assert_memory_equal(two, three + 2 * VIEWS * WIDTH, VIEWS * WIDTH * sizeof(float));
    assert_memory_equal(two + VIEWS * WIDTH, three, VIEWS * WIDTH * sizeof(float));
    assert_memory_not_equal(three, three + WIDTH, WIDTH * sizeof(float)); /* views differ */
    assert_int_equal(sotto_embed_views(other, encoder, images, NULL, 2, &v, &machine.context), SOTTO_OK);
    assert_memory_equal(other, three + VIEWS * WIDTH, VIEWS * WIDTH * sizeof(float)); /* row 0 */
    assert_int_equal(sotto_embed_views(other, encoder, images, NULL, images->n + 1, &v, &machine.context),
                     SOTTO_EINVAL);
    v.seed = 10;
    assert_int_equal(sotto_embed_views(other, encoder, images, swapped, 2, &v, &machine.context), SOTTO_OK);
    assert_memory_not_equal(two, other, sizeof two);
}

/* A view that changes nothing embeds as the image itself. */
TEST(weak_views_are_the_image)
{
    static float view[2 * WIDTH], plain[WIDTH];
    const int64_t row = 3;
    struct sotto_view_options v = {
        .views = 2, .augmentation = "keras", .min_area = 1, .brightness = SOTTO_ZERO, .jitter = SOTTO_ZERO};
    assert_int_equal(sotto_embed(plain, encoder, images, &row, 1, &machine.context), SOTTO_OK);
    int same = 0;
    for (v.seed = 0; v.seed < 6; v.seed++) { /* half of the views are mirrored */
        assert_int_equal(sotto_embed_views(view, encoder, images, &row, 1, &v, &machine.context), SOTTO_OK);
        for (int k = 0; k < 2; k++) {
            double most = 0;
            for (int j = 0; j < WIDTH; j++) {
                double off = (double)view[k * WIDTH + j] - (double)plain[j];
                most = worse(most, off * off);
            }
            same += most < 1e-8;
        }
    }
    assert_in_range(same, 1, 11);
}

static void refuse(const int64_t *rows, const struct sotto_view_options *v, const char *text)
{
    static float out[VIEWS * WIDTH];
    assert_int_equal(sotto_embed_views(out, encoder, images, rows, 1, v, &machine.context), SOTTO_EINVAL);
    if (!strstr(sotto_error_text(), text))
        fail_msg("%s", sotto_error_text());
}

TEST(bad_options_are_refused)
{
    const int64_t beyond = 8, good = 1;
    struct sotto_view_options v;
    static float out[VIEWS * WIDTH];
    sotto_view_defaults(&v, encoder);
    v.views = SOTTO_NONE;
    refuse(&good, &v, "views: 0 views of each image; expected 1 to 256");
    v.views = VIEWS;
    refuse(&beyond, &v, "row index 8");
    v.augmentation = "strong";
    refuse(&good, &v, "strong");
    v.augmentation = "keras";
    for (long n = 0; n < 12; n++) {
        base_alloc_fail_after(n);
        sotto_status status = sotto_embed_views(out, encoder, images, &good, 1, &v, &machine.context);
        base_alloc_fail_after(-1);
        assert_true(status == SOTTO_OK || status == SOTTO_ENOMEM);
    }
    volatile sig_atomic_t stop = 1;
    struct sotto_context ctx = {.threads = 1, .stop = &stop};
    assert_int_equal(sotto_embed_views(out, encoder, images, &good, 1, &v, &ctx), SOTTO_ESTOPPED);
}

TEST_GROUP(.set_up = set_up, .tear_down = tear_down, .next = machine_next, .tags = "matrix matrix-dtype")
