/* Adam (Kingma and Ba 2015, Algorithm 1):
 *
 *     m = b1 m + (1 - b1) g,   v = b2 v + (1 - b2) g^2,   value -= lr * m_hat / (sqrt(v_hat) + epsilon)
 *
 * with m_hat = m / (1 - b1^t), v_hat = v / (1 - b2^t). Epsilon is added to sqrt(v_hat), as in the paper and
 * PyTorch. Keras puts its epsilon (1e-7) beside the uncorrected sqrt(v); that equals an epsilon of epsilon /
 * sqrt(1 - b2^t) here and differs only where gradients are about 1e-7 small. Weight decay is L2: it is added
 * to the gradient. */
#include "nn/optimizer/optimizer.h"

#include <math.h>

static sotto_status optimizer_adam_check(const struct nn_optimizer_config *c)
{
    if (!(c->beta1 >= 0 && c->beta1 < 1))
        return status_fail(SOTTO_EINVAL, "adam: beta1 must be in [0, 1) (got %g)", c->beta1);
    if (!(c->beta2 >= 0 && c->beta2 < 1))
        return status_fail(SOTTO_EINVAL, "adam: beta2 must be in [0, 1) (got %g)", c->beta2);
    if (!(c->epsilon > 0 && c->epsilon < 1))
        return status_fail(SOTTO_EINVAL, "adam: epsilon must be in (0, 1) (got %g)", c->epsilon);
    return SOTTO_OK;
}

static struct optimizer_step optimizer_adam_prepare(const struct nn_optimizer_config *c, double lr,
                                                    uint64_t t)
{
    return (struct optimizer_step){.rate = (float)(lr / (1 - pow(c->beta1, (double)t))),
                                   .root_scale = (float)(1 / sqrt(1 - pow(c->beta2, (double)t))),
                                   .beta1 = (float)c->beta1,
                                   .beta2 = (float)c->beta2,
                                   .epsilon = (float)c->epsilon,
                                   .weight_decay = (float)c->weight_decay};
}

static void optimizer_adam_update(const struct optimizer_kernels *k, float *value, float *const *states,
                                  const float *grad, size_t n, const struct optimizer_step *s)
{
    k->adam(value, states[0], states[1], grad, n, s);
}

const struct optimizer optimizer_adam = {
    .name = "adam",
    .title = "Adam with bias correction",
    .source = "kingma2015adam, Algorithm 1",
    .states = 2,
    .state_names = {"exp_avg", "exp_avg_sq"},
    .check = optimizer_adam_check,
    .prepare = optimizer_adam_prepare,
    .update = optimizer_adam_update,
};
