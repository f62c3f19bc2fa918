/* plan_influence.h - internal influence (Leino et al. 2018): how the layers above some layer read its result. With h the result of
 * a row for one record, g what the later rows make of it, and q(z) = z_y - mean z of the logits z,
 *
 *     chi = mean over a = 1/K, 2/K, ..., 1 of the gradient of q(g(a h)) by a h.
 *
 * As K grows chi . h goes to q(g(h)) - q(g(0)). The mean is taken off since a softmax does not change when all logits move. */
#ifndef NN_PLAN_PLAN_INFLUENCE_H
#define NN_PLAN_PLAN_INFLUENCE_H

#include "nn/plan/plan.h"

enum { PLAN_CUTS = 16 };
/** The last `layers` (at most PLAN_CUTS) rows below the output whose result is all that later rows read: results of dense layers,
 * convolutions and residual sums, after their normalisation and ReLU. First row first; returns how many. */
size_t plan_cuts(size_t rows[PLAN_CUTS], size_t layers, const struct nn_plan *p);
/** For the batch of the last nn_plan_forward() with training 0, of a f32 plan for training without views: adds weight * chi . h of
 * record e to score[e], and weight * chi * h, (rows, values of the row), to map (may be NULL), for the first `rows` records.
 * ENOMEM, ESTOPPED. */
sotto_status plan_influence_add(double *score, double *map, struct nn_plan *p, size_t row, const int64_t *y,
                                size_t rows, size_t steps, double weight);

#endif
