/* optimizer.h - what an optimizer is: a name, its state tensors, and how one chunk of parameters is updated.
 *
 * A step runs over fixed chunks of all tensors in parallel; a chunk's update reads and writes only its own
 * elements, so the thread count never changes bits. */
#ifndef NN_OPTIMIZER_OPTIMIZER_H
#define NN_OPTIMIZER_OPTIMIZER_H

#include "nn/nn.h"
#include "nn/tensor_list.h"

enum { OPTIMIZER_STATES_MAX = 2 };

/** The scalars of one step, worked out once in double. Unused ones are 0. */
struct optimizer_step {
    float rate; /* sgd: lr; adam: lr / (1 - beta1^t) */
    float beta1, beta2;
    float root_scale; /* adam: 1 / sqrt(1 - beta2^t) */
    float epsilon, momentum, weight_decay;
    int nesterov;
};

struct optimizer_kernels {
    void (*adam)(float *value, float *m, float *v, const float *grad, size_t n,
                 const struct optimizer_step *s);
    void (*sgd)(float *value, float *velocity, const float *grad, size_t n, const struct optimizer_step *s);
};

struct optimizer {
    const char *name, *title, *source;
    size_t states;                                 /* state tensors per parameter tensor */
    const char *state_names[OPTIMIZER_STATES_MAX]; /* as torch.optim calls them */
    /** EINVAL for values outside their range. */
    sotto_status (*check)(const struct nn_optimizer_config *c);
    /** t counts from 1. */
    struct optimizer_step (*prepare)(const struct nn_optimizer_config *c, double lr, uint64_t t);
    void (*update)(const struct optimizer_kernels *k, float *value, float *const *states, const float *grad,
                   size_t n, const struct optimizer_step *s);
};

/** All optimizers, NULL-terminated. */
extern const struct optimizer *const optimizer_table[];
const struct optimizer_kernels *optimizer_kernels_best(void);

/** nn_optimizer_create() and nn_optimizer_step() for any list of tensors, with or without a model behind it.
 * The list given to a step must have the shape of the one given at creation. */
sotto_status optimizer_create(struct nn_optimizer **out, const struct tensor_list *tensors,
                              const struct nn_optimizer_config *c);
void optimizer_step(struct nn_optimizer *o, const struct tensor_list *tensors, double lr);
/** The state of `from`, made for the same list by the same optimizer. */
void optimizer_copy(struct nn_optimizer *to, const struct nn_optimizer *from);

#endif
