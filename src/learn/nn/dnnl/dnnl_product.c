/* Order of work, as oneDNN requires it: describe with free layouts, make the primitive description, refuse a
 * reference implementation, ask which layouts it chose, plan a reorder where they differ from ours, wrap
 * everything in memory objects that get their addresses at each run. */
#include "nn/dnnl/dnnl_product.h"

#include <assert.h>
#include <string.h>

static dnnl_data_type_t type_of(enum nn_dtype dtype)
{
    return dtype == NN_BF16 ? dnnl_bf16 : dnnl_f32;
}

/* ---- descriptions ---- */

static sotto_status describe_operand(struct md *out, const struct operand *o)
{
    dnnl_dims_t strides;
    if (o->any)
        return md_make(out, o->ndims, o->dims, NULL, type_of(o->dtype));
    memcpy(strides, o->strides, sizeof strides);
    if (strides[0] == 0) {
        strides[o->ndims - 1] = 1;
        for (int i = o->ndims - 1; i > 0; i--)
            strides[i - 1] = strides[i] * o->dims[i];
    }
    return md_make(out, o->ndims, o->dims, strides, type_of(o->dtype));
}

/* The weights as the primitive may have them: the type of the other operands and any layout. */
static sotto_status describe_weights(struct md *out, const struct operand *weights, const struct operand *src)
{
    struct operand o = *weights;
    o.dtype = src->dtype;
    return describe_operand(out, &o);
}

struct description {
    struct md src, weights, bias, dst;
    dnnl_primitive_attr_t attributes;
    dnnl_primitive_desc_t primitive, forward_hint, reorder;
};

static sotto_status dnnl_product_describe(struct description *d, const struct operand *src,
                                          const struct operand *weights, const struct operand *dst,
                                          dnnl_dim_t bias, int bias_ndims, enum epilogue epilogue)
{
    sotto_status status = SOTTO_OK;
    TRY(describe_operand(&d->src, src));
    TRY(describe_weights(&d->weights, weights, src));
    TRY(describe_operand(&d->dst, dst));
    if (bias)
        TRY(md_make(&d->bias, bias_ndims, (dnnl_dims_t){bias_ndims == 1 ? bias : 1, bias},
                    (dnnl_dims_t){bias_ndims == 1 ? 1 : bias, 1}, dnnl_f32));
    TRY(attributes_make(&d->attributes, epilogue));
done:
    return status;
}

static void description_clear(struct description *d)
{
    md_clear(&d->src);
    md_clear(&d->weights);
    md_clear(&d->bias);
    md_clear(&d->dst);
    if (d->attributes)
        dnnl_primitive_attr_destroy(d->attributes);
    const dnnl_primitive_desc_t descriptions[] = {d->primitive, d->forward_hint, d->reorder};
    for (size_t i = 0; i < sizeof descriptions / sizeof *descriptions; i++)
        if (descriptions[i])
            dnnl_primitive_desc_destroy(descriptions[i]);
}

/* ---- from a description to something that runs ---- */

static sotto_status refuse_reference(dnnl_primitive_desc_t d)
{
    const char *name = "";
    sotto_status status =
        dnnl_check(dnnl_primitive_desc_query(d, dnnl_query_impl_info_str, 0, &name), "implementation");
    if (status == SOTTO_OK && strncmp(name, "ref", 3) == 0)
        status = status_fail(SOTTO_ENOTSUP,
                             "oneDNN has only its slow reference implementation (%s) for this layer", name);
    return status;
}

static md_view dnnl_product_chosen(dnnl_primitive_desc_t d, dnnl_query_t what)
{
    return dnnl_primitive_desc_query_md(d, what, 0);
}

static sotto_status make_memory(dnnl_memory_t *out, md_view md, dnnl_engine_t engine)
{
    return dnnl_check(dnnl_memory_create(out, md, engine, DNNL_MEMORY_NONE), "memory object");
}

static sotto_status plan_packing(struct product *p, struct description *d, const struct operand *weights)
{
    sotto_status status = SOTTO_OK;
    struct md plain = {0};
    md_view packed = dnnl_product_chosen(d->primitive, dnnl_query_weights_md);
    struct operand source = *weights;
    source.any = 0;
    source.dtype = NN_F32;
    TRY(describe_operand(&plain, &source));
    TRY(make_memory(&p->weights, packed, p->engine));
    if (!weights->any || dnnl_memory_desc_equal(packed, md_look(&plain)))
        goto done;
    p->packed_bytes = dnnl_memory_desc_get_size(packed);
    TRY(make_memory(&p->unpacked, md_look(&plain), p->engine));
    TRY(dnnl_check(
        dnnl_reorder_primitive_desc_create(&d->reorder, md_look(&plain), p->engine, packed, p->engine, NULL),
        "packing of weights"));
    TRY(dnnl_check(dnnl_primitive_create(&p->pack, d->reorder), "packing of weights"));
done:
    md_clear(&plain);
    return status;
}

static sotto_status dnnl_product_finish(struct product *p, struct description *d,
                                        const struct operand *weights, int bias, int backward_data)
{
    sotto_status status = SOTTO_OK;
    TRY(refuse_reference(d->primitive));
    TRY(dnnl_check(dnnl_primitive_create(&p->primitive, d->primitive), "primitive"));
    TRY(dnnl_check(dnnl_stream_create(&p->stream, p->engine, dnnl_stream_default_flags), "stream"));
    p->src_name = backward_data ? DNNL_ARG_DIFF_DST : DNNL_ARG_SRC;
    p->dst_name = backward_data ? DNNL_ARG_DIFF_SRC : DNNL_ARG_DST;
    TRY(make_memory(&p->src, md_look(backward_data ? &d->dst : &d->src), p->engine));
    TRY(make_memory(&p->dst, md_look(backward_data ? &d->src : &d->dst), p->engine));
    if (bias)
        TRY(make_memory(&p->bias, md_look(&d->bias), p->engine));
    TRY(plan_packing(p, d, weights));
    md_view scratch = dnnl_product_chosen(d->primitive, dnnl_query_scratchpad_md);
    p->scratch_bytes = dnnl_memory_desc_get_size(scratch);
    TRY(make_memory(&p->scratch, scratch, p->engine));
done:
    return status;
}

static sotto_status dnnl_product_start(struct product **out)
{
    struct product *p = base_alloc(1, sizeof *p);
    if (!p)
        return status_fail(SOTTO_ENOMEM, "oneDNN: out of memory");
    sotto_status status = dnnl_check(dnnl_engine_create(&p->engine, dnnl_cpu, 0), "engine");
    if (status == SOTTO_OK)
        *out = p;
    else
        base_free(p);
    return status;
}

sotto_status product_matmul(struct product **out, const struct operand *src, const struct operand *weights,
                            const struct operand *dst, int bias, enum epilogue epilogue)
{
    sotto_status status = SOTTO_OK;
    struct product *p = NULL;
    struct description d = {0};
    TRY(dnnl_product_start(&p));
    TRY(dnnl_product_describe(&d, src, weights, dst, bias ? dst->dims[1] : 0, 2, epilogue));
    TRY(describe_matmul(&d.primitive, p->engine, &d.src, &d.weights, bias ? &d.bias : NULL, &d.dst,
                        d.attributes));
    TRY(dnnl_product_finish(p, &d, weights, bias, 0));
    *out = p;
    p = NULL;
done:
    description_clear(&d);
    product_free(p);
    return status;
}

sotto_status product_conv_forward(struct product **out, const struct operand *src,
                                  const struct operand *weights, const struct operand *dst,
                                  const struct conv_window *window, int bias, enum epilogue epilogue)
{
    sotto_status status = SOTTO_OK;
    struct product *p = NULL;
    struct description d = {0};
    TRY(dnnl_product_start(&p));
    TRY(dnnl_product_describe(&d, src, weights, dst, bias ? dst->dims[1] : 0, 1, epilogue));
    TRY(describe_conv_forward(&d.primitive, p->engine, &d.src, &d.weights, bias ? &d.bias : NULL, &d.dst,
                              window, d.attributes));
    TRY(dnnl_product_finish(p, &d, weights, bias, 0));
    *out = p;
    p = NULL;
done:
    description_clear(&d);
    product_free(p);
    return status;
}

sotto_status product_conv_backward_data(struct product **out, const struct operand *diff_src,
                                        const struct operand *weights, const struct operand *diff_dst,
                                        const struct conv_window *window)
{
    sotto_status status = SOTTO_OK;
    struct product *p = NULL;
    struct description d = {0};
    TRY(dnnl_product_start(&p));
    TRY(dnnl_product_describe(&d, diff_src, weights, diff_dst, 0, 1, STORE));
    TRY(describe_conv_forward(&d.forward_hint, p->engine, &d.src, &d.weights, NULL, &d.dst, window,
                              d.attributes));
    TRY(describe_conv_backward_data(&d.primitive, p->engine, &d.src, &d.weights, &d.dst, window,
                                    d.forward_hint, d.attributes));
    TRY(dnnl_product_finish(p, &d, weights, 0, 1));
    *out = p;
    p = NULL;
done:
    description_clear(&d);
    product_free(p);
    return status;
}

/* ---- memory and running ---- */

void product_place(struct product *p, struct arena *scratch)
{
    p->packed = arena_take(scratch, p->packed_bytes, 1);
    p->scratch_block = arena_take(scratch, p->scratch_bytes, 1);
}

/* A failure here can only be a bug: shapes, types and layouts were accepted when the product was made. */
static void dnnl_product_execute(struct product *p, dnnl_primitive_t primitive, int count,
                                 const dnnl_exec_arg_t *args)
{
    dnnl_status_t result = dnnl_primitive_execute(primitive, p->stream, count, args);
    assert(result == dnnl_success);
    result = dnnl_stream_wait(p->stream);
    assert(result == dnnl_success);
    (void)result;
}

static dnnl_exec_arg_t dnnl_product_argument(int name, dnnl_memory_t memory, const void *address)
{
    dnnl_memory_set_data_handle(memory, (void *)(uintptr_t)address);
    return (dnnl_exec_arg_t){name, memory};
}

void product_pack(struct product *p, const float *weights)
{
    if (!p->pack) {
        p->packed = (void *)(uintptr_t)weights; /* used as they are */
        return;
    }
    const dnnl_exec_arg_t args[] = {dnnl_product_argument(DNNL_ARG_FROM, p->unpacked, weights),
                                    dnnl_product_argument(DNNL_ARG_TO, p->weights, p->packed)};
    dnnl_product_execute(p, p->pack, 2, args);
}

static void dnnl_product_run(struct product *p, void *dst, const void *src, const void *weights,
                             const float *bias)
{
    dnnl_exec_arg_t args[5] = {dnnl_product_argument(p->src_name, p->src, src),
                               dnnl_product_argument(DNNL_ARG_WEIGHTS, p->weights, weights),
                               dnnl_product_argument(p->dst_name, p->dst, dst),
                               dnnl_product_argument(DNNL_ARG_SCRATCHPAD, p->scratch, p->scratch_block)};
    int count = 4;
    if (p->bias)
        args[count++] = dnnl_product_argument(DNNL_ARG_BIAS, p->bias, bias);
    dnnl_product_execute(p, p->primitive, count, args);
}

void product_run(struct product *p, void *dst, const void *src, const float *bias)
{
    dnnl_product_run(p, dst, src, p->packed, bias);
}

void product_run_with(struct product *p, void *dst, const void *src, const void *weights)
{
    dnnl_product_run(p, dst, src, weights, NULL);
}

void product_free(struct product *p)
{
    if (!p)
        return;
    dnnl_memory_t const memories[] = {p->src, p->weights, p->bias, p->dst, p->scratch, p->unpacked};
    for (size_t i = 0; i < sizeof memories / sizeof *memories; i++)
        if (memories[i])
            dnnl_memory_destroy(memories[i]);
    if (p->primitive)
        dnnl_primitive_destroy(p->primitive);
    if (p->pack)
        dnnl_primitive_destroy(p->pack);
    if (p->stream)
        dnnl_stream_destroy(p->stream);
    dnnl_engine_destroy(p->engine);
    base_free(p);
}
