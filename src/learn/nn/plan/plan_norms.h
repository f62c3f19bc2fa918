/* plan_norms.h - which batch norms leave parts of their work to a layer that goes row by row beside them
 * (nn/layer/norm_rows.h): their passes over the largest activations of a network of depthwise convolutions. */
#ifndef NN_PLAN_PLAN_NORMS_H
#define NN_PLAN_PLAN_NORMS_H

#include "nn/plan/plan.h"

/** Between making the runs and planning the layers. */
void plan_share_norms(struct nn_plan *p);

#endif
