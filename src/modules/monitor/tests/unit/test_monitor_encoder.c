/* A monitor with an encoder judges embeddings: the same blocks as a monitor without one to which the embeddings are given.
 * f32, the best instruction set; bits of embeddings do not depend on the number of threads. */
#include "support/test.h"

#include "io/provenance/statement.h"
#include "monitor/monitor_state.h"
#include "rng/rng.h"
#include "sotto/lab/monitor.h"
#include "sotto/private/all.h"
#include "ssl/encoder.h"

#include <math.h>
#include <string.h>

enum { N = 30, BANK = 8, SIDE = 32, D = SIDE * SIDE };

static uint8_t pixels[(2 * N + BANK) * D];
static float rows[(2 * N + BANK) * D];
static const struct sotto_monitor_options o = {.block = 5};

static struct sotto_encoder *encoder(const char *statement)
{
    struct sotto_encoder *e = NULL;
    const struct sotto_dataset images = {
        .name = "made up", .n = 1, .channels = 1, .height = SIDE, .width = SIDE, .images = pixels};
    assert_int_equal(sotto_encoder_random(&e, &images, "keras-simclr", 1), SOTTO_OK);
    if (statement)
        assert_int_equal(encoder_add_fact(e, STATEMENT_KEY, statement), SOTTO_OK);
    return e;
}

static struct sotto_monitor_input input(const struct sotto_encoder *e)
{
    return (struct sotto_monitor_input){.calibration = rows,
                                        .calibration_rows = N,
                                        .columns = D,
                                        .bank = rows + N * D,
                                        .bank_rows = BANK,
                                        .encoder = e,
                                        .channels = 1,
                                        .height = SIDE,
                                        .width = SIDE};
}

static int make_rows(void **state)
{
    (void)state;
    struct rng r = rng_stream(7, RNG_TEST, 0, 0);
    for (size_t i = 0; i < sizeof pixels; i++) {
        pixels[i] = (uint8_t)rng_below(&r, 256);
        rows[i] = (float)pixels[i] / 255;
    }
    return 0;
}

TEST(distances_are_those_of_embeddings)
{
    static float out[(2 * N + BANK) * 4096];
    struct sotto_monitor *images = NULL, *vectors = NULL;
    struct sotto_encoder *e = encoder(NULL);
    size_t width = sotto_encoder_width(e);
    const struct sotto_dataset all = {
        .name = "made up", .n = 2 * N + BANK, .channels = 1, .height = SIDE, .width = SIDE, .images = pixels};
    assert_true(width <= 4096);
    assert_int_equal(sotto_embed(out, e, &all, NULL, all.n, NULL), SOTTO_OK);
    struct sotto_monitor_input in = input(e);
    assert_int_equal(sotto_monitor_make(&images, &in, &o, NULL), SOTTO_OK);
    in = (struct sotto_monitor_input){.calibration = out,
                                      .calibration_rows = N,
                                      .columns = width,
                                      .bank = out + N * width,
                                      .bank_rows = BANK};
    assert_int_equal(sotto_monitor_make(&vectors, &in, &o, NULL), SOTTO_OK);
    size_t first = N + BANK;
    assert_int_equal(monitor_feed(images, NULL, rows + first * D, NULL, 7), SOTTO_OK); /* by frames */
    assert_int_equal(monitor_feed(images, NULL, rows + (first + 7) * D, NULL, N - 7), SOTTO_OK);
    assert_int_equal(monitor_feed(vectors, NULL, out + first * width, NULL, N), SOTTO_OK);
    const struct sotto_monitor_stream *a = sotto_monitor_result(images)->client,
                                      *b = sotto_monitor_result(vectors)->client;
    assert_int_equal(a->blocks, N / 5);
    assert_int_equal(b->blocks, N / 5);
    for (size_t i = 0; i < a->blocks; i++)
        for (int k = 0; k < SOTTO_MARGIN; k++) {
            assert_true(a->block[i].value[k] == b->block[i].value[k]);
            assert_true(a->block[i].log_wealth[k] == b->block[i].log_wealth[k]);
        }
    sotto_monitor_free(images);
    sotto_monitor_free(vectors);
    sotto_encoder_free(e);
}

static void refused(const struct sotto_monitor_input *in, const char *text)
{
    struct sotto_monitor *m = NULL;
    assert_int_equal(sotto_monitor_make(&m, in, &o, NULL), SOTTO_EINVAL);
    if (!strstr(sotto_error_text(), text))
        fail_msg("%s; expected: %s", sotto_error_text(), text);
}

/* Distances by an encoder that knows the training records would depend on who is a member. */
TEST(private_encoders_and_other_sizes_are_refused)
{
    struct sotto_encoder *e = encoder(NULL), *known = encoder("none: private records trained it");
    struct sotto_monitor_input in = input(known);
    refused(&in, "monitor: private records trained the encoder");
    in = input(e);
    in.height = SIDE - 1;
    refused(&in, "rows have 1024 columns but images 1x31x32 pixels");
    in = input(e);
    in.height = 2 * SIDE, in.width = SIDE / 2;
    refused(&in, "images, but the encoder was trained on 32x32");
    sotto_encoder_free(e);
    sotto_encoder_free(known);
}

TEST_GROUP(.set_up = make_rows)
