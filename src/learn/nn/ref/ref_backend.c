/* The reference backend: one thread, f32, by the definitions. The oracle of the tests, and what runs where
 * oneDNN is not built. */
#include "nn/backend.h"
#include "nn/ref/ref_conv.h"

struct conv {
    struct ref_conv_shape shape;
    struct conv_desc desc;
};

static const char *ref_backend_title(void)
{
    return "reference";
}

static int no_bf16(void)
{
    return 0;
}

static sotto_status conv_create(struct conv **out, const struct conv_desc *d)
{
    sotto_status status = SOTTO_OK;
    struct conv *c = NULL;
    if (d->src_dtype != NN_F32 || d->dst_dtype != NN_F32)
        FAIL(SOTTO_ENOTSUP, "backend 'ref' supports dtype f32 only");
    NEW(c, 1);
    c->desc = *d;
    c->shape = (struct ref_conv_shape){.N = d->batch,
                                       .H = d->src.height,
                                       .W = d->src.width,
                                       .C = d->src.channels,
                                       .K = d->dst.channels,
                                       .R = d->kernel_height,
                                       .S = d->kernel_width,
                                       .P = d->dst.height,
                                       .Q = d->dst.width,
                                       .stride = d->stride,
                                       .pad = d->pad,
                                       .stop = d->stop};
    *out = c;
done:
    return status;
}

static void conv_forward(struct conv *c, void *dst, const void *src, const float *weights, const float *bias)
{
    const struct ref_conv_shape *z = &c->shape;
    float *y = dst;
    ref_conv_forward(y, src, weights, bias, z);
    for (size_t i = 0; c->desc.relu && i < z->N * z->P * z->Q * z->K; i++)
        y[i] = y[i] > 0 ? y[i] : 0;
}

static void conv_backward(struct conv *c, void *diff_src, float *diff_weights, float *diff_bias,
                          const void *diff_dst, const void *src, const float *weights)
{
    const struct ref_conv_shape *z = &c->shape;
    if (diff_weights)
        ref_conv_backward_weights(diff_weights, diff_bias, diff_dst, src, z);
    if (!c->desc.diff_src || !diff_src)
        return;
    float *dx = diff_src;
    const float *x = src;
    ref_conv_backward_data(dx, diff_dst, weights, z);
    for (size_t i = 0; c->desc.mask_src && i < z->N * z->H * z->W * z->C; i++)
        dx[i] = x[i] > 0 ? dx[i] : 0;
}

static void conv_free(struct conv *c)
{
    base_free(c);
}

static void ref_backend_sgemm(int trans_a, int trans_b, size_t m, size_t n, size_t k, float alpha,
                              const float *A, size_t lda, const float *B, size_t ldb, float beta, float *C,
                              size_t ldc)
{
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            float sum = 0;
            for (size_t l = 0; l < k; l++)
                sum +=
                    (trans_a ? A[l * lda + i] : A[i * lda + l]) * (trans_b ? B[j * ldb + l] : B[l * ldb + j]);
            C[i * ldc + j] =
                alpha * sum + (beta != 0 ? beta * C[i * ldc + j] : 0); /* beta 0: C may hold anything */
        }
}

static const char *ref_backend_missing(void)
{
    return NULL;
}

const struct nn_backend nn_backend_ref = {.name = "ref",
                                          .title = ref_backend_title,
                                          .supports_bf16 = no_bf16,
                                          .conv_create = conv_create,
                                          .conv_forward = conv_forward,
                                          .conv_backward = conv_backward,
                                          .conv_free = conv_free,
                                          .sgemm = ref_backend_sgemm,
                                          .missing = ref_backend_missing};
