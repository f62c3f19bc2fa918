/* Training, samples and scores of generative models are stopped at their questions whether to go on (support/stop_questions.h), and
 * what was stopped in the middle of a step continues with the same bits. */
#include "support/test.h"

#include "base/sha256.h"
#include "generate/generator.h"
#include "sotto/lab/generate.h"
#include "sotto/private/all.h"
#include "support/stop_questions.h"

#include <stdlib.h>

enum { IMAGES = 64, MANY = 56 };

static struct sotto_dataset *images, *many_images;
static char bits[65];          /* of the weights that the last whole training made */
static const char *checkpoint; /* or NULL */

/* --- a question for each step, and for each layer of an answer --- */

static struct sotto_generator *generator;

static sotto_status generate(void)
{
    const struct sotto_generator_options o = {
        .model = "dcgan", .steps = 3, .batch = 8, .width = 4, .backend = "dnnl"};
    struct sotto_generator *g = NULL;
    sotto_status status = sotto_generator_train(&g, NULL, images, NULL, 0, &o, &context);
    assert_true((status == SOTTO_OK) == (g != NULL));
    if (g && !generator)
        generator = g;
    else
        sotto_generator_free(g);
    return status;
}
static sotto_status sample(void)
{
    static float samples[IMAGES * 3 * 32 * 32];
    return sotto_generator_sample(samples, NULL, generator, IMAGES, 1, &context);
}
static sotto_status score(void)
{
    double scores[IMAGES];
    int64_t rows[IMAGES];
    for (int i = 0; i < IMAGES; i++)
        rows[i] = i;
    return sotto_generator_score(scores, NULL, "logan", generator, images, rows, IMAGES, NULL, &context);
}

TEST(generative_models_stop)
{
    STOPS(generate, 3);
    STOPS(sample, 4);
    STOPS(score, 4);
}

/* Steps that are long enough to be stopped within: the other network has moved by then. Of many images, since the
 * weights of wide networks take more time than their steps. */
static sotto_status adversaries(const char *model, size_t width)
{
    const struct sotto_generator_options o = {.model = model,
                                              .steps = 2,
                                              .batch = MANY,
                                              .width = width,
                                              .backend = "dnnl",
                                              .checkpoint = checkpoint};
    struct sotto_generator *g = NULL;
    void *bytes = NULL;
    size_t size = 0;
    sotto_status status = sotto_generator_train(&g, NULL, many_images, NULL, 0, &o, &context);
    assert_true((status == SOTTO_OK) == (g != NULL));
    if (g) {
        assert_int_equal(generator_save_bytes(&bytes, &size, g), SOTTO_OK);
        sha256_of(bits, bytes, size);
    }
    sotto_bytes_free(bytes);
    sotto_generator_free(g);
    return status;
}
static sotto_status dcgan(void)
{
    return adversaries("dcgan", 24);
}
static sotto_status wgan(void)
{
    return adversaries("wgan-gp", 12);
}

TEST(generators_stop_within_a_step)
{
    checkpoint = NULL;
    STOPS(dcgan, 2 * 8 * 4); /* forward and backward, both networks and the reader twice more */
    STOPS(wgan, 2 * 5 * 8 * 4);
}

TEST(the_bits_of_generators_stay)
{
    bits_stay(dcgan, 5, bits, &checkpoint);
    bits_stay(wgan, 5, bits, &checkpoint);
}

static int set_up(void **state)
{
    return make_folder(state) || setenv("SOTTO_DATA_DIR", path_of("data"), 1) ||
           sotto_dataset_open(&images, "synthetic-images-n64", NULL) != SOTTO_OK ||
           sotto_dataset_open(&many_images, "synthetic-images-n56", NULL) != SOTTO_OK;
}
static int tear_down(void **state)
{
    sotto_dataset_free(images);
    sotto_dataset_free(many_images);
    sotto_generator_free(generator);
    return remove_folder(state);
}

TEST_GROUP(.shards = 2, .set_up = set_up, .tear_down = tear_down, .tags = "long")
