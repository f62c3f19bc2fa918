/* x where it is positive, a fraction of it elsewhere (Maas, Hannun and Ng 2013). `rate` is the slope below and at 0, itself
 * above 0, so that the sign of the result tells the side. */
#include "nn/layer/each_image.h"
#include "nn/layer/layer.h"

#include "nn/kernel/kernels.h"
#include "par/par.h"

#include <assert.h>

static sotto_status layer_leaky_shape(struct nn_shape *dst, const struct layer_spec *spec,
                                      struct nn_shape src)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(spec->rate > 0 && spec->rate < 1, "%s: the slope is %g; expected a number between 0 and 1",
            spec->path, spec->rate);
    *dst = src;
done:
    return status;
}

static sotto_status forward_image(void *arg, size_t image, int thread)
{
    (void)thread;
    struct layer_run *run = arg;
    size_t each = run->dst->count / run->batch, at = image * each * dtype_size(run->dst->dtype);
    char *to = (char *)run->dst->data + at;
    const char *from = (const char *)run->src->data + at;
    if (run->gate) /* a direction goes up as a gradient goes down */
        run->kernels->leaky_back[run->dst->dtype](to, from, (const char *)run->gate->data + at,
                                                  (float)run->spec->rate, each);
    else
        run->kernels->leaky[run->dst->dtype](to, from, (float)run->spec->rate, each);
    return SOTTO_OK;
}

static sotto_status backward_image(void *arg, size_t image, int thread)
{
    (void)thread;
    struct layer_run *run = arg;
    size_t each = run->dst->count / run->batch, at = image * each * dtype_size(run->dst->dtype);
    const struct activation *side = run->gate ? run->gate : run->dst;
    run->kernels->leaky_back[run->dst->dtype]((char *)run->src->diff + at, (const char *)run->dst->diff + at,
                                              (const char *)side->data + at, (float)run->spec->rate, each);
    return SOTTO_OK;
}

static void layer_leaky_forward(struct layer_run *run, const struct pass *pass)
{
    (void)pass;
    assert(run->src->dtype == run->dst->dtype); /* it does not write f32 in a bf16 plan */
    layer_each_image(forward_image, run);
}

static void layer_leaky_backward(struct layer_run *run, const struct pass *pass)
{
    (void)pass;
    if (run->need_diff_src)
        layer_each_image(backward_image, run);
}

const struct layer layer_leaky = {.name = "leaky ReLU",
                                  .in_place = 1,
                                  .tangent = 1,
                                  .shape = layer_leaky_shape,
                                  .forward = layer_leaky_forward,
                                  .backward = layer_leaky_backward};
