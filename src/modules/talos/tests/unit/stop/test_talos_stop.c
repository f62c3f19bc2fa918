/* A training with Talos is stopped at its questions, also between the steps of its classifier, and goes on as if nothing had been. */
#include "support/test.h"

#include "sotto/lab/talos.h"
#include "support/stop_questions.h"

#include <string.h>

enum { IMAGES = 9, STEPS = 2 };
static struct sotto_dataset *images;
static char bits[65];          /* of the weights that the last whole training made */
static const char *checkpoint; /* or NULL */

static int set_up(void **state)
{
    return make_folder(state) || sotto_dataset_open(&images, "synthetic-images-n9", NULL) != SOTTO_OK;
}
static int tear_down(void **state)
{
    sotto_dataset_free(images);
    return remove_folder(state);
}

static sotto_status pretrain(void)
{
    int64_t attribute[IMAGES];
    const struct sotto_talos talos = {
        .lambda = 1, .alternation = "joint", .adversary_steps = 9, .attribute = attribute};
    struct sotto_pretrain_options o;
    struct sotto_encoder *e = NULL;
    for (size_t i = 0; i < IMAGES; i++)
        attribute[i] = (int64_t)(i % 3 == 0);
    sotto_pretrain_defaults(&o);
    o.part = "talos", o.part_options = &talos;
    o.encoder = "resnet8", o.epochs = 1, o.batch = 4;
    o.dtype = "f32", o.backend = "dnnl";
    o.checkpoint = checkpoint;
    sotto_status status = sotto_pretrain(&e, NULL, images, NULL, 0, &o, &context);
    assert_true((status == SOTTO_OK) == (e != NULL));
    if (e)
        strcpy(bits, sotto_encoder_sha256(e));
    sotto_encoder_free(e);
    return status;
}

TEST(it_stops)
{
    checkpoint = NULL;
    STOPS(pretrain, STEPS * (2 * 8 + 9 * 2));
}

TEST(the_bits_stay)
{
    bits_stay(pretrain, 23, bits, &checkpoint);
}

TEST_GROUP(.set_up = set_up, .tear_down = tear_down)
