/* Two views of an image attract, views of different images repel: NT-Xent on a two-layer projection. The
 * Keras form takes its negatives from the other view only; the form of chen2020simclr from both. */
#include "ssl/objective.h"
#include "base/choice.h"

#include <string.h>

struct simclr {
    struct ntxent *loss;
    float temperature;
};

static void objective_simclr_release(void *state)
{
    struct simclr *s = state;
    if (!s)
        return;
    ntxent_free(s->loss);
    base_free(s);
}

static sotto_status objective_simclr_create(void **state, const struct objective_config *config)
{
    sotto_status status = SOTTO_OK;
    struct simclr *s = NULL;
    int keras = strcmp(config->loss, "keras") == 0;
    if (!keras && strcmp(config->loss, "simclr") != 0)
        TRY(choice_unknown(SOTTO_EINVAL, "loss", config->loss, "keras or simclr"));
    REQUIRE(config->temperature >= 1e-3 && config->temperature <= 1e3,
            "temperature must be > 0, between 0.001 and 1000 (got %g)", config->temperature);
    NEW(s, 1);
    s->temperature = (float)config->temperature;
    TRY(ntxent_create(&s->loss, keras ? NTXENT_KERAS : NTXENT_SIMCLR, config->batch, config->width,
                      config->leaf, config->backend));
    TRY(ntxent_set_team(s->loss, config->team));
    ntxent_set_stop(s->loss, config->stop);
    *state = s;
    s = NULL;
done:
    objective_simclr_release(s);
    return status;
}

static double objective_simclr_run(void *state, float *diff_output, double *accuracy, const float *output)
{
    struct simclr *s = state;
    return ntxent_run(s->loss, diff_output, accuracy, output, s->temperature);
}

const struct objective objective_simclr = {
    .name = "simclr",
    .title = "contrastive: find the two views of the same image",
    .source = "chen2020simclr, Algorithm 1; keras-io semisupervised_simclr",
    .views = 2,
    .projector = {128, 128},
    .projector_count = 2,
    .smallest_batch = 2,
    .why_smallest = "a contrastive loss needs at least one negative",
    .create = objective_simclr_create,
    .release = objective_simclr_release,
    .run = objective_simclr_run,
};
