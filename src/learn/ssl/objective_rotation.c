/* Tell by how many quarter turns an image was turned: four views of every image, one per turn, a linear layer
 * with four outputs on the embedding, softmax cross-entropy. */
#include "ssl/objective.h"

#include "par/tree.h"

enum { TURNS = 4 };

struct rotation {
    size_t batch, leaf, leaves;
    int64_t *labels; /* (batch): the turn of the view at hand */
    double *losses;  /* (leaves) */
};

static void objective_rotation_release(void *state)
{
    struct rotation *s = state;
    if (!s)
        return;
    base_free(s->labels);
    base_free(s->losses);
    base_free(s);
}

static sotto_status objective_rotation_create(void **state, const struct objective_config *config)
{
    sotto_status status = SOTTO_OK;
    struct rotation *s = NULL;
    NEW(s, 1);
    s->batch = config->batch;
    s->leaf = config->leaf;
    s->leaves = (config->batch + config->leaf - 1) / config->leaf;
    NEW(s->losses, s->leaves);
    NEW(s->labels, config->leaf);
    *state = s;
    s = NULL;
done:
    objective_rotation_release(s);
    return status;
}

static size_t objective_rotation_right(const float *output, int64_t label, size_t count)
{
    size_t hits = 0;
    for (size_t i = 0; i < count; i++) {
        const float *row = output + TURNS * i;
        size_t best = 0;
        for (size_t k = 1; k < TURNS; k++)
            best = row[k] > row[best] ? k : best;
        hits += best == (size_t)label;
    }
    return hits;
}

/* One view of the images of a leaf. */
static double view_loss(size_t *hits, const struct rotation *s, float *diff_output, const float *output,
                        size_t leaf, size_t view)
{
    const size_t first = leaf * s->leaf, left = s->batch - first, count = left < s->leaf ? left : s->leaf,
                 place = TURNS * (view * s->batch + first);
    for (size_t i = 0; i < count; i++)
        s->labels[i] = (int64_t)view;
    *hits += objective_rotation_right(output + place, (int64_t)view, count);
    return loss_softmax_sum(diff_output + place, output + place, s->labels, count, TURNS, TURNS * s->batch);
}

static double objective_rotation_run(void *state, float *diff_output, double *accuracy, const float *output)
{
    const struct rotation *s = state;
    size_t hits = 0;
    for (size_t leaf = 0; leaf < s->leaves; leaf++) {
        s->losses[leaf] = 0;
        for (size_t view = 0; view < TURNS; view++)
            s->losses[leaf] += view_loss(&hits, s, diff_output, output, leaf, view);
    }
    *accuracy = (double)hits / (double)(TURNS * s->batch);
    return tree_sum(s->losses, s->leaves) / (double)(TURNS * s->batch);
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
    .create = objective_rotation_create,
    .release = objective_rotation_release,
    .run = objective_rotation_run,
};
