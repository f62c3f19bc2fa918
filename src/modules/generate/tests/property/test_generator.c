/* Generative models: a resumed run has the bits of an uninterrupted one, samples begin with fewer samples, files keep the
 * model, the evidence lower bound has its closed form. f32, the machine's
 * backend and threads. */
#include "support/test.h"

#include "generate/generator.h"
#include "rng/rng.h"
#include "sotto/lab/generate.h"
#include "sotto/private/all.h"
#include "support/machine.h"
#include "support/temporary_folder.h"

#include <math.h>
#include <unistd.h>

static void near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%.12g; expected %.12g", found, expected);
}

enum { ROWS = 48, SIDE = 28 };
static uint8_t images[ROWS * SIDE * SIDE];
static struct sotto_dataset data = {.name = "noise",
                                    .n = ROWS,
                                    .n_train = ROWS,
                                    .channels = 1,
                                    .height = SIDE,
                                    .width = SIDE,
                                    .images = images};

static int set_up(void **state)
{
    struct rng r = rng_stream(9, RNG_TEST, 0, 0);
    for (size_t i = 0; i < sizeof images; i++)
        images[i] = (uint8_t)rng_below(&r, 256);
    return make_folder(state);
}

static struct sotto_generator_options small(const char *model)
{
    return (struct sotto_generator_options){
        .model = model, .steps = 7, .batch = 8, .width = 4, .seed = 3, .backend = machine.backend};
}

static void bytes_of(struct sotto_array *out, const struct sotto_generator *g)
{
    char path[4200];
    FILE *f;
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    assert_int_equal(sotto_generator_save(path, g), SOTTO_OK);
    f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    size_t size = (size_t)ftell(f);
    rewind(f);
    assert_int_equal(sotto_array_make(out, SOTTO_U1, 1, &size), SOTTO_OK);
    assert_int_equal(fread(out->data, 1, size, f), size);
    fclose(f);
}

static volatile sig_atomic_t stop;
static uint64_t stop_at;
static void stop_after_three(void *user, const char *stage, uint64_t done, uint64_t total, const char *unit)
{
    (void)user, (void)stage, (void)total, (void)unit;
    stop = done == stop_at;
}

static void same_bytes(const struct sotto_array *a, const struct sotto_array *b)
{
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->data, b->data, a->count);
}

TEST(resumed_runs_have_the_same_bits)
{
    static const char *const models[] = {"dcgan", "wgan-gp", "vae"};
    for (size_t k = 0; k < 3; k++) {
        struct sotto_generator_options o = small(models[k]);
        struct sotto_generator *g = NULL;
        struct sotto_context ctx = machine.context;
        struct sotto_array whole = {0}, again = {0}, loaded = {0};
        char path[4200];
        snprintf(path, sizeof path, "%s/run.checkpoint", folder);
        assert_int_equal(sotto_generator_train(&g, NULL, &data, NULL, 0, &o, &ctx), SOTTO_OK);
        bytes_of(&whole, g);
        sotto_generator_free(g);
        o.checkpoint = path;
        stop = 0;
        stop_at = 3 * o.batch * (k == 1 ? 5 : 1); /* a wgan-gp reads five batches in each step */
        ctx.stop = &stop, ctx.progress = stop_after_three;
        assert_int_equal(sotto_generator_train(&g, NULL, &data, NULL, 0, &o, &ctx), SOTTO_ESTOPPED);
        stop = 0;
        assert_int_equal(sotto_generator_train(&g, NULL, &data, NULL, 0, &o, &machine.context), SOTTO_OK);
        bytes_of(&again, g);
        same_bytes(&whole, &again);
        sotto_generator_free(g);
        snprintf(path, sizeof path, "%s/model.safetensors", folder);
        assert_int_equal(sotto_generator_load(&g, path), SOTTO_OK);
        bytes_of(&loaded, g);
        same_bytes(&whole, &loaded);
        sotto_generator_free(g);
        snprintf(path, sizeof path, "%s/run.checkpoint", folder);
        o.seed = 4; /* a checkpoint of another run */
        assert_int_equal(sotto_generator_train(&g, NULL, &data, NULL, 0, &o, &machine.context), SOTTO_EINVAL);
        unlink(path);
        sotto_array_clear(&whole), sotto_array_clear(&again), sotto_array_clear(&loaded);
    }
}

TEST(samples_begin_with_fewer)
{
    enum { PIXELS = 32 * 32 };
    static float many[70 * PIXELS], few[5 * PIXELS], z[70 * 100];
    static const char *const models[] = {"dcgan", "wgan-gp", "vae"};
    for (size_t k = 0; k < 3; k++) {
        struct sotto_generator_options o = small(models[k]);
        struct sotto_generator *g;
        assert_int_equal(sotto_generator_train(&g, NULL, &data, NULL, 0, &o, &machine.context), SOTTO_OK);
        assert_int_equal(sotto_generator_sample(many, z, g, 70, 5, &machine.context), SOTTO_OK);
        assert_int_equal(sotto_generator_sample(few, NULL, g, 5, 5, &machine.context), SOTTO_OK);
        assert_memory_equal(many, few, sizeof few);
        for (size_t i = 0; i < 70 * PIXELS; i++)
            assert_true(many[i] >= -1 && many[i] <= 1);
        sotto_generator_free(g);
    }
}

TEST(records_are_padded_with_black)
{
    static float x[32 * 32];
    struct sotto_generator *g;
    const int64_t row = 5;
    assert_int_equal(generator_make(&g, &generator_dcgan, 1, 4, 0), SOTTO_OK);
    assert_int_equal(sotto_generator_records(x, g, &data, &row, 1), SOTTO_OK);
    assert_true(x[0] == -1 && x[32 * 32 - 1] == -1 && x[32 * 1 + 5] == -1);
    near((double)x[2 * 32 + 2], images[5 * SIDE * SIDE] / 127.5 - 1, 1e-6);
    near((double)x[29 * 32 + 29], images[6 * SIDE * SIDE - 1] / 127.5 - 1, 1e-6);
    sotto_generator_free(g);
}

/* KL(N((.5, -1), exp(.2, -.4)) || N(0, I)); and for x = 1.5 z + .3 + N(0, .25) at x = 1.1 the bound with the exact posterior is
 * ln p(x) whatever is drawn. */
TEST(closed_forms)
{
    const float mean[] = {.5F, -1}, variance[] = {.2F, -.4F}, exact_mean = .48F,
                exact_variance = (float)log(.1);
    struct vae_law law = {mean, variance}, exact = {&exact_mean, &exact_variance};
    near(vae_divergence(&law, 2), .670861402, 1e-7);
    for (int i = -3; i <= 3; i++) {
        float e = .7F * (float)i, z;
        double weight = vae_draw(&z, &exact, &e, 1), off = 1.1 - 1.5 * (double)z - .3;
        near(weight - .5 * off * off / .25 - .5 * log(2 * acos(-1.0) * .25), -1.505083899, 2e-6);
    }
    near(vae_log_variance(13), 12, 0);
    near(vae_log_variance(-13), -12, 0);
    const float logit[] = {2, -1}, target[] = {1, 0};
    near(vae_log_likelihood(NULL, logit, target, 1, 2, 1, loss_kernels_best()),
         -log1p(exp(-2)) - log1p(exp(-1)), 1e-6);
    const float colour[] = {.5F, .25F};
    near(vae_log_likelihood(NULL, colour, colour, 1, 2, 3, loss_kernels_best()),
         -2 * log(.1 * sqrt(2 * acos(-1.0))), 1e-9);
}

/* The loss's gradient with respect to the weights of both halves, by differences. */
TEST(gradients_of_the_vae)
{
    enum { BATCH = 4 };
    struct sotto_generator *g;
    assert_int_equal(generator_make(&g, &generator_vae, 1, 2, 7), SOTTO_OK);
    struct nn_plan_config plan = {.batch = BATCH, .backend = machine.kernels, .training = 1};
    struct nn_optimizer_config adam = {.name = "adam", .beta1 = .9, .beta2 = .999, .epsilon = 1e-8};
    struct generator_step s = {
        .g = g, .losses = loss_kernels_best(), .batch = BATCH, .pixels = 32 * 32, .lr = 0};
    static float pictures[BATCH * 32 * 32], noise[BATCH * 20];
    struct training_batch at, moved;
    assert_int_equal(nn_plan_create(&s.reader, g->reader, &plan), SOTTO_OK);
    plan.input_gradient = 1;
    assert_int_equal(nn_plan_create(&s.maker, g->maker, &plan), SOTTO_OK);
    assert_int_equal(nn_optimizer_create(&s.reader_optimizer, g->reader, &adam), SOTTO_OK);
    for (int64_t i = 0; i < BATCH; i++)
        generator_image(pictures + i * 32 * 32, &data, i);
    s.images = pictures, s.work = noise;
    struct nn_model *const halves[] = {g->maker, g->reader};
    for (size_t k = 0; k < 2; k++)
        for (size_t weight = 3; weight < halves[k]->trainable; weight += halves[k]->trainable / 7) {
            const float kept = halves[k]->values[weight], step = 4e-3F;
            generator_vae.gradient(&at, &s, 0);
            double slope = (double)halves[k]->diffs[weight];
            halves[k]->values[weight] = kept + step;
            generator_vae.gradient(&moved, &s, 0);
            double up = moved.loss;
            halves[k]->values[weight] = kept - step;
            generator_vae.gradient(&moved, &s, 0);
            halves[k]->values[weight] = kept;
            near((up - moved.loss) / (2 * (double)step), slope, 2e-2 * (.5 + fabs(slope)));
        }
    nn_plan_free(s.maker), nn_plan_free(s.reader);
    nn_optimizer_free(s.reader_optimizer);
    sotto_generator_free(g);
}

static void refuse(sotto_status found, sotto_status code, const char *text)
{
    assert_int_equal(found, code);
    assert_string_equal(sotto_error_text(), text);
}

TEST(bad_inputs_are_refused)
{
    struct sotto_generator *g = NULL;
    struct sotto_generator_options o = small("gan");
    char path[4200];
    double score;
    const int64_t row = 0, outside = ROWS;
    refuse(sotto_generator_train(&g, NULL, &data, NULL, 0, &o, NULL), SOTTO_EUSAGE,
           "generative model 'gan' is unknown; expected dcgan, wgan-gp or vae");
    o = small("dcgan");
    o.batch = ROWS + 1;
    refuse(sotto_generator_train(&g, NULL, &data, NULL, 0, &o, NULL), SOTTO_EINVAL,
           "batch 49 is larger than the 48 images to train on");
    o.batch = 1;
    assert_int_equal(sotto_generator_train(&g, NULL, &data, NULL, 0, &o, NULL), SOTTO_EINVAL);
    o.batch = 8;
    refuse(sotto_generator_train(&g, NULL, &data, &outside, 1, &o, NULL), SOTTO_EINVAL,
           "row index 48 (at position 0) is outside data set 'noise' with 48 records");
    assert_int_equal(generator_make(&g, &generator_vae, 1, 4, 0), SOTTO_OK);
    refuse(sotto_generator_score(&score, NULL, "logan", g, &data, &row, 1, NULL, NULL), SOTTO_EUSAGE,
           "attack 'logan' needs a model of kind dcgan or wgan-gp; this one is a vae");
    refuse(sotto_generator_score(&score, NULL, "lira", g, &data, &row, 1, NULL, NULL), SOTTO_EUSAGE,
           "generative model: attack 'lira' is unknown; expected logan, gan-leaks-white, "
           "gan-leaks-partial, reconstruction or elbo");
    snprintf(path, sizeof path, "%s/odd.safetensors", folder);
    g->width = 5; /* not that of its weights */
    assert_int_equal(sotto_generator_save(path, g), SOTTO_OK);
    sotto_generator_free(g);
    assert_int_equal(sotto_generator_load(&g, path), SOTTO_EFORMAT);
}

TEST_GROUP(.set_up = set_up, .tear_down = remove_folder, .start = machine_f32, .tags = "matrix")
