/* dnnl_version.h - everything that differs between oneDNN's C API of version 2 (Debian 12: 2.6.3) and
 * version 3. The other files of this folder call only what is the same in both. */
#ifndef NN_DNNL_VERSION_H
#define NN_DNNL_VERSION_H

#include "base/status.h"

#include <dnnl.h>

#if DNNL_VERSION_MAJOR == 2
typedef const dnnl_memory_desc_t *md_view; /* borrowed */
struct md {
    dnnl_memory_desc_t value;
};
#elif DNNL_VERSION_MAJOR == 3
typedef const_dnnl_memory_desc_t md_view;
struct md {
    dnnl_memory_desc_t value;
};
#else
#error "src/learn/nn/dnnl knows the C API of oneDNN 2 and 3 only"
#endif

/** EINTERNAL naming the call, unless the status is success; ENOMEM and ENOTSUP for oneDNN's own. */
sotto_status dnnl_check(dnnl_status_t result, const char *what);

/** strides NULL: let the primitive choose the layout. Free with md_clear; a zeroed md is nothing to free. */
sotto_status md_make(struct md *out, int ndims, const dnnl_dim_t *dims, const dnnl_dim_t *strides,
                     dnnl_data_type_t type);
md_view md_look(const struct md *m);
void md_clear(struct md *m);

/** What happens to a result: stored; stored as max(0, .); added to what is there. */
enum epilogue { STORE, STORE_RELU, ACCUMULATE };
/** Scratchpad in user mode, epilogue as post-op. */
sotto_status attributes_make(dnnl_primitive_attr_t *out, enum epilogue epilogue);

/** bias may be NULL. */
sotto_status describe_matmul(dnnl_primitive_desc_t *out, dnnl_engine_t engine, const struct md *src,
                             const struct md *weights, const struct md *bias, const struct md *dst,
                             dnnl_primitive_attr_t attributes);
struct conv_window {
    dnnl_dims_t strides, padding;
};
sotto_status describe_conv_forward(dnnl_primitive_desc_t *out, dnnl_engine_t engine, const struct md *src,
                                   const struct md *weights, const struct md *bias, const struct md *dst,
                                   const struct conv_window *window, dnnl_primitive_attr_t attributes);
sotto_status describe_conv_backward_data(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                         const struct md *diff_src, const struct md *weights,
                                         const struct md *diff_dst, const struct conv_window *window,
                                         dnnl_primitive_desc_t forward, dnnl_primitive_attr_t attributes);
sotto_status describe_conv_backward_weights(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                            const struct md *src, const struct md *diff_weights,
                                            const struct md *diff_dst, const struct conv_window *window,
                                            dnnl_primitive_desc_t forward, dnnl_primitive_attr_t attributes);

#endif
