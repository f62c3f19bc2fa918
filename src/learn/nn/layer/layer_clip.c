/* Scales every record down to an L2 norm of at most `rate`; 0: copies. Reads the input of the network only:
 * it passes no gradient on. */
#include "nn/layer/layer.h"

#include "nn/kernel/bf16.h"
#include "nn/kernel/kernels.h"

#include <math.h>
#include <string.h>

static sotto_status layer_clip_shape(struct nn_shape *dst, const struct layer_spec *spec, struct nn_shape src)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(spec->src == SOURCE_INPUT, "%s: clipping is supported for the input of a network only",
            spec->path);
    REQUIRE(spec->rate >= 0 && isfinite(spec->rate), "%s: the radius must be finite and >= 0 (got %g)",
            spec->path, spec->rate);
    *dst = src;
done:
    return status;
}

static double layer_clip_value(const struct activation *t, size_t i)
{
    return t->dtype == NN_BF16 ? (double)bf16_to_float(((const bf16 *)t->data)[i])
                               : (double)((const float *)t->data)[i];
}

static void layer_clip_forward(struct layer_run *run, const struct pass *pass)
{
    (void)pass;
    const struct activation *from = run->src;
    memcpy(run->dst->data, from->data, from->count * dtype_size(from->dtype));
    size_t each = from->count / run->batch;
    for (size_t r = 0; run->spec->rate > 0 && r < run->batch; r++) {
        double square = 0;
        for (size_t i = r * each; i < (r + 1) * each; i++)
            square += layer_clip_value(from, i) * layer_clip_value(from, i);
        double factor =
            run->spec->rate / sqrt(square) * (1 - 0x1p-20); /* rounding must not lift the norm again */
        for (size_t i = r * each; sqrt(square) > run->spec->rate && i < (r + 1) * each; i++)
            if (from->dtype == NN_BF16)
                ((bf16 *)run->dst->data)[i] =
                    bf16_from_float((float)(factor * (1 - 0x1p-7) * layer_clip_value(from, i)));
            else
                ((float *)run->dst->data)[i] = (float)(factor * layer_clip_value(from, i));
    }
}

static void layer_clip_backward(struct layer_run *run, const struct pass *pass)
{
    (void)run;
    (void)pass;
}

const struct layer layer_clip = {.name = "clip",
                                 .ends_gradient = 1,
                                 .shape = layer_clip_shape,
                                 .forward = layer_clip_forward,
                                 .backward = layer_clip_backward};
