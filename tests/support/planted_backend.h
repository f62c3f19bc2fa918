/* planted_backend.h - the reference backend with a defect: a record's bits depend on what stands beside it. */
#ifndef TESTS_PLANTED_BACKEND_H
#define TESTS_PLANTED_BACKEND_H

#include "nn/backend.h"

enum planted_defect {
    PLANTED_NOTHING,
    PLANTED_PLACE,     /* the last place of a batch */
    PLANTED_TAIL,      /* the last record of 6 n + 1 or 6 n + 3, as in oneDNN 2.6.3's product with AVX2 */
    PLANTED_NEIGHBOUR, /* a little of the record before */
    PLANTED_BACKWARD,  /* the last record in use, in the backward pass */
    PLANTED_DEFECTS
};
static enum planted_defect planted_defect;

struct conv {
    struct conv *inner;
    struct conv_desc desc;
    size_t used;
};

static sotto_status planted_create(struct conv **out, const struct conv_desc *desc)
{
    sotto_status status = SOTTO_OK;
    struct conv *c = NULL;
    NEW(c, 1);
    c->desc = *desc;
    c->used = desc->batch;
    TRY(nn_backend_ref.conv_create(&c->inner, desc));
    *out = c;
    c = NULL;
done:
    base_free(c);
    return status;
}

/* One unit of the last place, for all values of a record. */
static void planted_nudge(float *values, size_t record, size_t size)
{
    for (size_t i = 0; i < size; i++)
        values[record * size + i] *= 1 + 0x1p-23F;
}

static void planted_forward(struct conv *c, void *dst, const void *src, const float *weights,
                            const float *bias)
{
    const size_t size = c->desc.dst.channels * c->desc.dst.height * c->desc.dst.width;
    float *y = dst;
    nn_backend_ref.conv_forward(c->inner, dst, src, weights, bias);
    if (planted_defect == PLANTED_PLACE)
        planted_nudge(y, c->desc.batch - 1, size);
    if (planted_defect == PLANTED_TAIL && (c->used % 6 == 1 || c->used % 6 == 3) && c->used > 1)
        planted_nudge(y, c->used - 1, size);
    for (size_t i = size; planted_defect == PLANTED_NEIGHBOUR && i < c->desc.batch * size; i++)
        y[i] += 1e-6F * y[i - size];
}

static void planted_backward(struct conv *c, void *diff_src, float *diff_weights, float *diff_bias,
                             const void *diff_dst, const void *src, const float *weights)
{
    nn_backend_ref.conv_backward(c->inner, diff_src, diff_weights, diff_bias, diff_dst, src, weights);
    if (planted_defect == PLANTED_BACKWARD && diff_src && c->desc.diff_src && c->used > 1)
        planted_nudge(diff_src, c->used - 1, c->desc.src.channels * c->desc.src.height * c->desc.src.width);
}

static void planted_use(struct conv *c, size_t used)
{
    c->used = used;
}

static void planted_free(struct conv *c)
{
    nn_backend_ref.conv_free(c->inner);
    base_free(c);
}

static const char *planted_title(void)
{
    return "with a defect";
}

/* The same one for every defect: the last one that was asked for acts. */
static inline const struct nn_backend *planted_backend(enum planted_defect defect)
{
    static struct nn_backend backend;
    planted_defect = defect;
    backend = nn_backend_ref;
    backend.name = "planted";
    backend.title = planted_title;
    backend.conv_create = planted_create;
    backend.conv_forward = planted_forward;
    backend.conv_backward = planted_backward;
    backend.conv_use = planted_use;
    backend.conv_free = planted_free;
    return &backend;
}

#endif
