/* tensor_list.h - a model's trainable tensors as one flat list, for optimizers, gradient checks and
 * DP-SGD. */
#ifndef NN_TENSOR_LIST_H
#define NN_TENSOR_LIST_H

#include <stddef.h>

/** One trainable tensor. `value` and `grad` hold `count` floats each and belong to the model; the layouts of
 * the two are the same. Names are PyTorch-mappable and unique within a model ("encoder.0.weight"). */
struct tensor {
    const char *name;
    float *value, *grad;
    size_t count;
};
struct tensor_list {
    struct tensor *items;
    size_t count;
};

/** Elements from the first tensor's begin to the last one's end, gaps included; the tensors lie in one span, in order. */
static inline size_t tensor_list_width(const struct tensor_list *l)
{
    const struct tensor *last = l->items + l->count - 1;
    return l->count ? (size_t)(last->value - l->items[0].value) + last->count : 0;
}

struct nn_model;
/** The trainable tensors in layer order (no running statistics). Borrowed; stays valid as long as the
 * model. */
const struct tensor_list *nn_model_tensors(const struct nn_model *m);

#endif
