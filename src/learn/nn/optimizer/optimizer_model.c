/* Optimizers on a model's own tensors. */
#include "nn/optimizer/optimizer.h"

sotto_status nn_optimizer_create(struct nn_optimizer **out, const struct nn_model *m,
                                 const struct nn_optimizer_config *c)
{
    return optimizer_create(out, nn_model_tensors(m), c);
}

void nn_optimizer_step(struct nn_optimizer *o, struct nn_model *m, double lr)
{
    optimizer_step(o, nn_model_tensors(m), lr);
}
