/* The primitive writes its own blocked layout, which is then reordered into ours. */
#include "nn/dnnl/dnnl_weights.h"

#include "nn/dnnl/dnnl_version.h"

#include <assert.h>
#include <string.h>

struct weights_gradient {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_t primitive, unpack[2]; /* storing, adding */
    dnnl_memory_t src, diff_dst, packed, plain, scratch;
    size_t packed_bytes, scratch_bytes;
    void *packed_block, *scratch_block;
};

/** Logical (a, C, H, W), physical (a, H, W, C). */
static sotto_status dnnl_weights_nhwc(struct md *out, size_t a, size_t channels, size_t height, size_t width)
{
    dnnl_dim_t c = (dnnl_dim_t)channels, h = (dnnl_dim_t)height, w = (dnnl_dim_t)width;
    return md_make(out, 4, (dnnl_dims_t){(dnnl_dim_t)a, c, h, w}, (dnnl_dims_t){c * h * w, 1, w * c, c},
                   dnnl_f32);
}

/** What is only needed to make the primitives. */
struct description {
    struct md src, any, plain, diff_dst;
    dnnl_primitive_attr_t attributes, adding;
    dnnl_primitive_desc_t forward, backward, reorder[2];
};

static sotto_status dnnl_weights_describe(struct description *x, struct weights_gradient *w,
                                          const struct conv_desc *d, size_t images)
{
    sotto_status status = SOTTO_OK;
    const struct conv_window window = {.strides = {(dnnl_dim_t)d->stride, (dnnl_dim_t)d->stride},
                                       .padding = {(dnnl_dim_t)d->pad, (dnnl_dim_t)d->pad}};
    dnnl_dims_t shape = {(dnnl_dim_t)d->dst.channels, (dnnl_dim_t)d->src.channels,
                         (dnnl_dim_t)d->kernel_height, (dnnl_dim_t)d->kernel_width};
    TRY(dnnl_weights_nhwc(&x->src, images, d->src.channels, d->src.height, d->src.width));
    TRY(dnnl_weights_nhwc(&x->diff_dst, images, d->dst.channels, d->dst.height, d->dst.width));
    TRY(dnnl_weights_nhwc(&x->plain, d->dst.channels, d->src.channels, d->kernel_height, d->kernel_width));
    TRY(md_make(&x->any, 4, shape, NULL, dnnl_f32));
    TRY(attributes_make(&x->attributes, STORE));
    TRY(attributes_make(&x->adding, ACCUMULATE));
    TRY(describe_conv_forward(&x->forward, w->engine, &x->src, &x->any, NULL, &x->diff_dst, &window,
                              x->attributes));
    TRY(describe_conv_backward_weights(&x->backward, w->engine, &x->src, &x->any, &x->diff_dst, &window,
                                       x->forward, x->attributes));
done:
    return status;
}

static void description_clear(struct description *x)
{
    md_clear(&x->src);
    md_clear(&x->any);
    md_clear(&x->plain);
    md_clear(&x->diff_dst);
    if (x->attributes)
        dnnl_primitive_attr_destroy(x->attributes);
    if (x->adding)
        dnnl_primitive_attr_destroy(x->adding);
    const dnnl_primitive_desc_t all[] = {x->forward, x->backward, x->reorder[0], x->reorder[1]};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i])
            dnnl_primitive_desc_destroy(all[i]);
}

static int is_fast(dnnl_primitive_desc_t d)
{
    const char *name = "";
    return dnnl_primitive_desc_query(d, dnnl_query_impl_info_str, 0, &name) == dnnl_success &&
           strncmp(name, "jit", 3) == 0;
}

static sotto_status make_memory(dnnl_memory_t *out, md_view md, const struct weights_gradient *w)
{
    return dnnl_check(dnnl_memory_create(out, md, w->engine, DNNL_MEMORY_NONE), "memory object");
}

static sotto_status make_primitives(struct weights_gradient *w, struct description *x)
{
    sotto_status status = SOTTO_OK;
    md_view packed = dnnl_primitive_desc_query_md(x->backward, dnnl_query_diff_weights_md, 0),
            scratch = dnnl_primitive_desc_query_md(x->backward, dnnl_query_scratchpad_md, 0);
    TRY(dnnl_check(dnnl_primitive_create(&w->primitive, x->backward), "convolution backward weights"));
    for (int add = 0; add < 2; add++) {
        TRY(dnnl_check(dnnl_reorder_primitive_desc_create(&x->reorder[add], packed, w->engine,
                                                          md_look(&x->plain), w->engine,
                                                          add ? x->adding : NULL),
                       "unpacking of weights"));
        TRY(dnnl_check(dnnl_primitive_create(&w->unpack[add], x->reorder[add]), "unpacking of weights"));
    }
    TRY(make_memory(&w->src, md_look(&x->src), w));
    TRY(make_memory(&w->diff_dst, md_look(&x->diff_dst), w));
    TRY(make_memory(&w->plain, md_look(&x->plain), w));
    TRY(make_memory(&w->packed, packed, w));
    TRY(make_memory(&w->scratch, scratch, w));
    w->packed_bytes = dnnl_memory_desc_get_size(packed);
    w->scratch_bytes = dnnl_memory_desc_get_size(scratch);
done:
    return status;
}

sotto_status weights_gradient_create(struct weights_gradient **out, const struct conv_desc *d, size_t images)
{
    sotto_status status = SOTTO_OK;
    struct description x = {0};
    struct weights_gradient *w = NULL;
    NEW(w, 1);
    TRY(dnnl_check(dnnl_engine_create(&w->engine, dnnl_cpu, 0), "engine"));
    TRY(dnnl_check(dnnl_stream_create(&w->stream, w->engine, dnnl_stream_default_flags), "stream"));
    status = dnnl_weights_describe(&x, w, d, images);
    *out = NULL;
    if (status == SOTTO_ENOTSUP || (status == SOTTO_OK && !is_fast(x.backward))) {
        status = SOTTO_OK;
        goto done;
    }
    if (status == SOTTO_OK)
        TRY(make_primitives(w, &x));
    if (status == SOTTO_OK) {
        *out = w;
        w = NULL;
    }
done:
    description_clear(&x);
    weights_gradient_free(w);
    return status;
}

void weights_gradient_layout(struct weights_gradient *w, struct arena *scratch)
{
    w->packed_block = arena_take(scratch, w->packed_bytes, 1);
    w->scratch_block = arena_take(scratch, w->scratch_bytes, 1);
}

static dnnl_exec_arg_t dnnl_weights_argument(int name, dnnl_memory_t memory, const void *address)
{
    dnnl_memory_set_data_handle(memory, (void *)(uintptr_t)address);
    return (dnnl_exec_arg_t){name, memory};
}

void weights_gradient_run(struct weights_gradient *w, float *diff_weights, const float *diff_dst,
                          const float *src, bool add)
{
    const dnnl_exec_arg_t gradient[] = {
        dnnl_weights_argument(DNNL_ARG_SRC, w->src, src),
        dnnl_weights_argument(DNNL_ARG_DIFF_DST, w->diff_dst, diff_dst),
        dnnl_weights_argument(DNNL_ARG_DIFF_WEIGHTS, w->packed, w->packed_block),
        dnnl_weights_argument(DNNL_ARG_SCRATCHPAD, w->scratch, w->scratch_block)};
    const dnnl_exec_arg_t unpack[] = {dnnl_weights_argument(DNNL_ARG_FROM, w->packed, w->packed_block),
                                      dnnl_weights_argument(DNNL_ARG_TO, w->plain, diff_weights)};
    /* A failure here can only be a bug: shapes and layouts were accepted when the primitives were made. */
    dnnl_status_t result = dnnl_primitive_execute(w->primitive, w->stream, 4, gradient);
    assert(result == dnnl_success);
    result = dnnl_primitive_execute(w->unpack[add], w->stream, 2, unpack);
    assert(result == dnnl_success);
    result = dnnl_stream_wait(w->stream);
    assert(result == dnnl_success);
    (void)result;
}

void weights_gradient_free(struct weights_gradient *w)
{
    if (!w)
        return;
    dnnl_memory_t const memories[] = {w->src, w->diff_dst, w->packed, w->plain, w->scratch};
    for (size_t i = 0; i < sizeof memories / sizeof *memories; i++)
        if (memories[i])
            dnnl_memory_destroy(memories[i]);
    if (w->primitive)
        dnnl_primitive_destroy(w->primitive);
    for (int add = 0; add < 2; add++)
        if (w->unpack[add])
            dnnl_primitive_destroy(w->unpack[add]);
    if (w->stream)
        dnnl_stream_destroy(w->stream);
    if (w->engine)
        dnnl_engine_destroy(w->engine);
    base_free(w);
}
