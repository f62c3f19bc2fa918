/* whitebox_features.h - what can be seen inside a head for one record: activations and gradients of every layer. */
#ifndef ATTACK_QUERY_WHITEBOX_FEATURES_H
#define ATTACK_QUERY_WHITEBOX_FEATURES_H

#include "head/model/head_model.h"

/* All in double: loss differences between a member and another live in the last digits of a float. */
struct whitebox_features {
    const struct sotto_head *head;      /* borrowed */
    double *value[HEAD_MAX_LAYERS + 1]; /* [0] the record as the head sees it (clipped by convex trainers),
                                           [l] ReLU outputs of layer l, [layers] logits */
    double *diff[HEAD_MAX_LAYERS + 1]; /* [l] gradient of the loss with respect to the pre-activation of layer
                                          l = 1 .. layers */
    double loss;                       /* -ln p_y */
    size_t y;                          /* the class looked at */
    double *log_p;                     /* (classes) */
    float *record;
    void *memory;
};
/* ENOMEM. */
sotto_status whitebox_features_make(struct whitebox_features *out, const struct sotto_head *head);
void whitebox_features_look(struct whitebox_features *v, const float *x, int64_t y);
/* ln of the L2 norm of the loss's gradient with respect to weights and bias of layer l = 1 .. layers: for a
 * dense layer
 * ||diff_l|| ||(value_(l-1), 1)||. The last layer's needs no clamp, whatever the logits; others at least
 * ln(1e-300). */
double whitebox_features_gradient(const struct whitebox_features *v, size_t l);
void whitebox_features_clear(struct whitebox_features *v);

#endif
