/* SGD with momentum as PyTorch defines it (lr outside the velocity, no dampening):
 *
 *     g = grad + weight_decay * value,   u = momentum * u + g,   value -= lr * u
 *     Nesterov: value -= lr * (g + momentum * u) */
#include "nn/optimizer/optimizer.h"

static sotto_status optimizer_sgd_check(const struct nn_optimizer_config *c)
{
    if (!(c->momentum >= 0 && c->momentum < 1))
        return status_fail(SOTTO_EINVAL, "sgd: momentum must be in [0, 1) (got %g)", c->momentum);
    if (c->nesterov && c->momentum == 0)
        return status_fail(SOTTO_EINVAL, "sgd: nesterov needs a momentum > 0");
    return SOTTO_OK;
}

static struct optimizer_step optimizer_sgd_prepare(const struct nn_optimizer_config *c, double lr, uint64_t t)
{
    (void)t;
    return (struct optimizer_step){.rate = (float)lr,
                                   .momentum = (float)c->momentum,
                                   .weight_decay = (float)c->weight_decay,
                                   .nesterov = c->nesterov};
}

static void optimizer_sgd_update(const struct optimizer_kernels *k, float *value, float *const *states,
                                 const float *grad, size_t n, const struct optimizer_step *s)
{
    k->sgd(value, states[0], grad, n, s);
}

const struct optimizer optimizer_sgd = {
    .name = "sgd",
    .title = "stochastic gradient descent with momentum",
    .source = "sutskever2013momentum; the form of torch.optim.SGD",
    .states = 1,
    .state_names = {"momentum_buffer"},
    .check = optimizer_sgd_check,
    .prepare = optimizer_sgd_prepare,
    .update = optimizer_sgd_update,
};
