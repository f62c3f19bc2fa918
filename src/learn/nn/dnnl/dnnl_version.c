#include "nn/dnnl/dnnl_version.h"

#include <string.h>

sotto_status dnnl_check(dnnl_status_t result, const char *what)
{
    switch (result) {
    case dnnl_success:
        return SOTTO_OK;
    case dnnl_out_of_memory:
        return status_fail(SOTTO_ENOMEM, "oneDNN: %s: out of memory", what);
    case dnnl_unimplemented:
        return status_fail(SOTTO_ENOTSUP, "oneDNN: %s: not implemented on this CPU", what);
    default:
        return status_fail(SOTTO_EINTERNAL, "oneDNN: %s: status %d", what, (int)result);
    }
}

static dnnl_status_t dnnl_version_append(dnnl_post_ops_t post, enum epilogue epilogue)
{
#if DNNL_VERSION_MAJOR == 2
    return epilogue == STORE_RELU ? dnnl_post_ops_append_eltwise(post, 1.0f, dnnl_eltwise_relu, 0, 0)
                                  : dnnl_post_ops_append_sum(post, 1.0f);
#else
    return epilogue == STORE_RELU ? dnnl_post_ops_append_eltwise(post, dnnl_eltwise_relu, 0, 0)
                                  : dnnl_post_ops_append_sum(post, 1.0f, 0, dnnl_data_type_undef);
#endif
}

sotto_status attributes_make(dnnl_primitive_attr_t *out, enum epilogue epilogue)
{
    sotto_status status = SOTTO_OK;
    dnnl_primitive_attr_t attributes = NULL;
    dnnl_post_ops_t post = NULL;
    TRY(dnnl_check(dnnl_primitive_attr_create(&attributes), "attributes"));
    TRY(dnnl_check(dnnl_primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user),
                   "scratchpad mode"));
    if (epilogue != STORE) {
        TRY(dnnl_check(dnnl_post_ops_create(&post), "post-ops"));
        TRY(dnnl_check(dnnl_version_append(post, epilogue), "post-ops"));
        TRY(dnnl_check(dnnl_primitive_attr_set_post_ops(attributes, post), "post-ops"));
    }
    *out = attributes;
    attributes = NULL;
done:
    if (post)
        dnnl_post_ops_destroy(post);
    if (attributes)
        dnnl_primitive_attr_destroy(attributes);
    return status;
}

#if DNNL_VERSION_MAJOR == 2

sotto_status md_make(struct md *out, int ndims, const dnnl_dim_t *dims, const dnnl_dim_t *strides,
                     dnnl_data_type_t type)
{
    dnnl_dims_t d;
    memcpy(d, dims, (size_t)ndims * sizeof *d);
    if (!strides)
        return dnnl_check(dnnl_memory_desc_init_by_tag(&out->value, ndims, d, type, dnnl_format_tag_any),
                          "layout");
    dnnl_dims_t s;
    memcpy(s, strides, (size_t)ndims * sizeof *s);
    return dnnl_check(dnnl_memory_desc_init_by_strides(&out->value, ndims, d, type, s), "layout");
}

md_view md_look(const struct md *m)
{
    return &m->value;
}

void md_clear(struct md *m)
{
    memset(m, 0, sizeof *m);
}

sotto_status describe_matmul(dnnl_primitive_desc_t *out, dnnl_engine_t engine, const struct md *src,
                             const struct md *weights, const struct md *bias, const struct md *dst,
                             dnnl_primitive_attr_t attributes)
{
    sotto_status status = SOTTO_OK;
    dnnl_matmul_desc_t d;
    TRY(dnnl_check(
        dnnl_matmul_desc_init(&d, &src->value, &weights->value, bias ? &bias->value : NULL, &dst->value),
        "matmul"));
    TRY(dnnl_check(dnnl_primitive_desc_create(out, &d, attributes, engine, NULL), "matmul"));
done:
    return status;
}

sotto_status describe_conv_forward(dnnl_primitive_desc_t *out, dnnl_engine_t engine, const struct md *src,
                                   const struct md *weights, const struct md *bias, const struct md *dst,
                                   const struct conv_window *window, dnnl_primitive_attr_t attributes)
{
    sotto_status status = SOTTO_OK;
    dnnl_convolution_desc_t d;
    TRY(dnnl_check(dnnl_convolution_forward_desc_init(&d, dnnl_forward_training, dnnl_convolution_direct,
                                                      &src->value, &weights->value,
                                                      bias ? &bias->value : NULL, &dst->value,
                                                      window->strides, window->padding, window->padding),
                   "convolution"));
    TRY(dnnl_check(dnnl_primitive_desc_create(out, &d, attributes, engine, NULL), "convolution"));
done:
    return status;
}

sotto_status describe_conv_backward_data(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                         const struct md *diff_src, const struct md *weights,
                                         const struct md *diff_dst, const struct conv_window *window,
                                         dnnl_primitive_desc_t forward, dnnl_primitive_attr_t attributes)
{
    sotto_status status = SOTTO_OK;
    dnnl_convolution_desc_t d;
    TRY(dnnl_check(dnnl_convolution_backward_data_desc_init(
                       &d, dnnl_convolution_direct, &diff_src->value, &weights->value, &diff_dst->value,
                       window->strides, window->padding, window->padding),
                   "convolution backward data"));
    TRY(dnnl_check(dnnl_primitive_desc_create(out, &d, attributes, engine, forward),
                   "convolution backward data"));
done:
    return status;
}

sotto_status describe_conv_backward_weights(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                            const struct md *src, const struct md *diff_weights,
                                            const struct md *diff_dst, const struct conv_window *window,
                                            dnnl_primitive_desc_t forward, dnnl_primitive_attr_t attributes)
{
    sotto_status status = SOTTO_OK;
    dnnl_convolution_desc_t d;
    TRY(dnnl_check(dnnl_convolution_backward_weights_desc_init(
                       &d, dnnl_convolution_direct, &src->value, &diff_weights->value, NULL, &diff_dst->value,
                       window->strides, window->padding, window->padding),
                   "convolution backward weights"));
    TRY(dnnl_check(dnnl_primitive_desc_create(out, &d, attributes, engine, forward),
                   "convolution backward weights"));
done:
    return status;
}

#else /* version 3 */

sotto_status md_make(struct md *out, int ndims, const dnnl_dim_t *dims, const dnnl_dim_t *strides,
                     dnnl_data_type_t type)
{
    dnnl_dims_t d;
    memcpy(d, dims, (size_t)ndims * sizeof *d);
    if (!strides)
        return dnnl_check(dnnl_memory_desc_create_with_tag(&out->value, ndims, d, type, dnnl_format_tag_any),
                          "layout");
    dnnl_dims_t s;
    memcpy(s, strides, (size_t)ndims * sizeof *s);
    return dnnl_check(dnnl_memory_desc_create_with_strides(&out->value, ndims, d, type, s), "layout");
}

md_view md_look(const struct md *m)
{
    return m->value;
}

void md_clear(struct md *m)
{
    if (m->value)
        dnnl_memory_desc_destroy(m->value);
    m->value = NULL;
}

sotto_status describe_matmul(dnnl_primitive_desc_t *out, dnnl_engine_t engine, const struct md *src,
                             const struct md *weights, const struct md *bias, const struct md *dst,
                             dnnl_primitive_attr_t attributes)
{
    return dnnl_check(dnnl_matmul_primitive_desc_create(out, engine, src->value, weights->value,
                                                        bias ? bias->value : NULL, dst->value, attributes),
                      "matmul");
}

static const dnnl_dims_t no_dilation = {0, 0};

sotto_status describe_conv_forward(dnnl_primitive_desc_t *out, dnnl_engine_t engine, const struct md *src,
                                   const struct md *weights, const struct md *bias, const struct md *dst,
                                   const struct conv_window *window, dnnl_primitive_attr_t attributes)
{
    return dnnl_check(dnnl_convolution_forward_primitive_desc_create(
                          out, engine, dnnl_forward_training, dnnl_convolution_direct, src->value,
                          weights->value, bias ? bias->value : NULL, dst->value, window->strides, no_dilation,
                          window->padding, window->padding, attributes),
                      "convolution");
}

sotto_status describe_conv_backward_data(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                         const struct md *diff_src, const struct md *weights,
                                         const struct md *diff_dst, const struct conv_window *window,
                                         dnnl_primitive_desc_t forward, dnnl_primitive_attr_t attributes)
{
    return dnnl_check(dnnl_convolution_backward_data_primitive_desc_create(
                          out, engine, dnnl_convolution_direct, diff_src->value, weights->value,
                          diff_dst->value, window->strides, no_dilation, window->padding, window->padding,
                          forward, attributes),
                      "convolution backward data");
}

sotto_status describe_conv_backward_weights(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                            const struct md *src, const struct md *diff_weights,
                                            const struct md *diff_dst, const struct conv_window *window,
                                            dnnl_primitive_desc_t forward, dnnl_primitive_attr_t attributes)
{
    return dnnl_check(dnnl_convolution_backward_weights_primitive_desc_create(
                          out, engine, dnnl_convolution_direct, src->value, diff_weights->value, NULL,
                          diff_dst->value, window->strides, no_dilation, window->padding, window->padding,
                          forward, attributes),
                      "convolution backward weights");
}

#endif
