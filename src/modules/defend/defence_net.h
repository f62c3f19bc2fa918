/* defence_net.h - the defender's own classifier of secrets, with the gradient of its logits by its input. */
#ifndef DEFEND_DEFENCE_NET_H
#define DEFEND_DEFENCE_NET_H

#include "defend/defence_product.h"
#include "head/model/head_model.h"

/* A dense network with ReLU between its layers, in double, on standardised inputs or raw ones. Not a plan with
 * nn_plan_input_gradient(): searches ask about one row at a time, in several threads, which takes 1.4 to 5 us
 * here and 9 to 38 us by a plan of one row (which also works out the gradients of all weights). */
struct defence_net {
    size_t layers, width[HEAD_MAX_LAYERS + 1];
    const double *weight[HEAD_MAX_LAYERS];     /* (out, in) */
    const double *transposed[HEAD_MAX_LAYERS]; /* (in, out) */
    const double *bias[HEAD_MAX_LAYERS];
    const double *mean, *scale; /* (width[0]): inputs are (x - mean) / scale */
    double *memory;
    defence_product *product;
};
/* Trains on rows x (n, d) and y by the recipe; `standardise`: by mean and deviation of these rows (a constant
 * column counts 0). Errors as sotto_head_train(). */
sotto_status defence_net_train(struct defence_net *out, const struct head_data *data,
                               const struct sotto_head_recipe *recipe, bool standardise,
                               const struct sotto_context *ctx);
/* From a trained head, on raw inputs. */
sotto_status defence_net_of(struct defence_net *out, const struct sotto_head *h);
void defence_net_clear(struct defence_net *n);
static inline size_t defence_net_outputs(const struct defence_net *n)
{
    return n->width[n->layers];
}

/* One thread's values and gradients of one input. */
struct defence_look {
    double *value[HEAD_MAX_LAYERS + 1], *diff[HEAD_MAX_LAYERS + 1];
    double *memory;
};
sotto_status defence_look_make(struct defence_look *out, const struct defence_net *n);
void defence_look_clear(struct defence_look *l);
/* Logits (outputs) of x (width[0]); they stay in l->value[layers]. */
const double *defence_net_forward(const struct defence_net *n, struct defence_look *l, const double *x);
/* Gradient by the input of sum weight[k] * logit k, of the input of the last forward. */
const double *defence_net_backward(const struct defence_net *n, struct defence_look *l, const double *weight);

#endif
