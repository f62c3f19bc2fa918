/* objective.h - what pre-training optimises. One file objective_NAME.c and one row in objective_list.h each.
 *
 * An objective says how many views of an image a step sees and what stands on top of the embedding; from the
 * outputs of that top it makes a loss and its gradient. */
#ifndef SSL_OBJECTIVE_H
#define SSL_OBJECTIVE_H

#include "nn/nn.h"

struct objective_config {
    size_t batch, width; /* images per step; outputs per view */
    size_t leaf;         /* images of a leaf (nn/plan/leaves.h) */
    const char *loss;    /* sotto_pretrain_options.loss */
    double temperature;
    const struct nn_backend *backend;
    const struct sotto_team *team; /* of which all ranks call run() with all outputs; NULL: alone */
    struct par_stop *stop;         /* asked by run(), which then returns any number; or NULL */
};
struct objective {
    const char *name, *title, *source;
    size_t views; /* per image */
    int rotate;   /* view v is turned by v quarter turns */
    size_t projector[4],
        projector_count; /* dense layers above the embedding, ReLU between, dropped afterwards */
    size_t smallest_batch;
    const char *why_smallest;
    sotto_status (*create)(void **state, const struct objective_config *config);
    void (*release)(void *state);
    /** output, diff_output (views * batch, width): row v * batch + i is view v of image i. Returns the mean
     * loss in nats and writes its gradient (at least that of this rank's images); *accuracy in [0, 1]. Allocates nothing. Sums over images go by leaves. */
    double (*run)(void *state, float *diff_output, double *accuracy, const float *output);
};
/** EINVAL: unknown; the text lists the known ones. */
sotto_status objective_find(const struct objective **out, const char *name);

#endif
