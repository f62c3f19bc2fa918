/* plan_sketch.h - what a white-box attacker reads of a layer for one record: a sketch of the gradient of the record's loss,
 * and numbers that do not depend on the order of units.
 *
 * With G (outputs, inputs + 1) the gradient of weights and bias and A (8, outputs), B (8, inputs + 1) of independent normal
 * numbers of variance 1/8, the sketch is A G B': 64 numbers, of which the squares add up to the squared norm of G on
 * average. A and B depend on the seed and on the layer's place from the end, not on the weights. */
#ifndef NN_PLAN_PLAN_SKETCH_H
#define NN_PLAN_PLAN_SKETCH_H

#include "nn/plan/plan.h"

enum { SKETCH_SIDE = 8, SKETCH = SKETCH_SIDE * SKETCH_SIDE };
struct layer_sketch {
    double log_gradient, log_diff,
        log_input;                /* ln of the norms of G, of what arrives from above, of the layer's input */
    double active, mean, largest; /* of the results: share above 0, mean, largest */
    double sketch[SKETCH];
};
/** The two matrices of a layer. */
struct sketch_matrices {
    size_t outputs, inputs;
    float *a, *b; /* (outputs, 8), (inputs + 1, 8): a row for each unit; the last of b is the bias */
};
/** layer: 0 is the last. ENOMEM. */
sotto_status sketch_matrices_make(struct sketch_matrices *out, size_t outputs, size_t inputs, size_t layer,
                                  uint64_t seed);
void sketch_matrices_clear(struct sketch_matrices *m);
/** Fills all but active, mean and largest for a gradient that is the sum over `positions` of diff_p patch_p'. */
struct sketch_source {
    const float *diff;    /* (positions, outputs) */
    const float *patches; /* (positions, inputs) */
    size_t positions;
    bool bias;
    float *gradient; /* scratch (outputs, inputs + 1) */
};
void sketch_gradient(struct layer_sketch *out, const struct sketch_matrices *m,
                     const struct sketch_source *s);
/** The other three. */
void sketch_results(struct layer_sketch *out, const float *result, size_t count);

struct plan_sketch;
/** Reads the last `layers` dense or convolution layers of the model, or all if there are fewer. The plan is f32, for training,
 * without views, and must outlive the sketch. EINVAL, ENOMEM. */
sotto_status plan_sketch_make(struct plan_sketch **out, struct nn_plan *p, size_t layers, uint64_t seed);
void plan_sketch_free(struct plan_sketch *s);
size_t plan_sketch_layers(const struct plan_sketch *s);
/** How many numbers the layers' results are: one for each channel, its mean over positions. */
size_t plan_sketch_outputs(const struct plan_sketch *s);
/** After nn_plan_forward() with training 0, and with each row's gradient of its own loss in nn_plan_diff_output(): layers
 * (rows, plan_sketch_layers()), the first layer first, and outputs (rows, plan_sketch_outputs()) of the first `rows` of the
 * batch. ESTOPPED. */
sotto_status plan_sketch_run(struct layer_sketch *layers, float *outputs, struct plan_sketch *s, size_t rows);

#endif
