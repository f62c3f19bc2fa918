/* Tell by how many quarter turns an image was turned: four views of every image, one per turn, a linear layer
 * with four outputs on the embedding, softmax cross-entropy. */
#include "ssl/objective.h"

enum { TURNS = 4 };

struct rotation {
    size_t count;    /* views in a step */
    int64_t *labels; /* (count) */
};

static void release(void *state)
{
    struct rotation *s = state;
    if (!s)
        return;
    base_free(s->labels);
    base_free(s);
}

static sotto_status create(void **state, const struct objective_config *config)
{
    sotto_status status = SOTTO_OK;
    struct rotation *s = NULL;
    NEW(s, 1);
    s->count = TURNS * config->batch;
    NEW(s->labels, s->count);
    for (size_t i = 0; i < s->count; i++)
        s->labels[i] = (int64_t)(i / config->batch);
    *state = s;
    s = NULL;
done:
    release(s);
    return status;
}

static double run(void *state, float *diff_output, double *accuracy, const float *output)
{
    const struct rotation *s = state;
    size_t hits = 0;
    for (size_t i = 0; i < s->count; i++) {
        const float *row = output + TURNS * i;
        size_t best = 0;
        for (size_t k = 1; k < TURNS; k++)
            best = row[k] > row[best] ? k : best;
        hits += best == (size_t)s->labels[i];
    }
    *accuracy = (double)hits / (double)s->count;
    return loss_softmax_cross_entropy(diff_output, output, s->labels, s->count, TURNS);
}

const struct objective objective_rotation = {
    .name = "rotation",
    .title = "predict the number of quarter turns of an image",
    .source = "gidaris2018rotation",
    .views = TURNS,
    .rotate = 1,
    .projector = {TURNS},
    .projector_count = 1,
    .smallest_batch = 1,
    .create = create,
    .release = release,
    .run = run,
};
