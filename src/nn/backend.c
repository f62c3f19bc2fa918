#include "nn/backend.h"

#include <string.h>

sotto_status nn_backend_find(const struct nn_backend **out, const char *name)
{
#ifdef SOTTO_HAVE_DNNL
    if (strcmp(name, "auto") == 0 || strcmp(name, "dnnl") == 0) {
        *out = &nn_backend_dnnl;
        return SOTTO_OK;
    }
#endif
    if (strcmp(name, "auto") == 0 || strcmp(name, "ref") == 0) {
        *out = &nn_backend_ref;
        return SOTTO_OK;
    }
    if (strcmp(name, "dnnl") == 0)
        return status_fail(SOTTO_ENOTSUP, "backend 'dnnl': this sotto was built without oneDNN");
    return status_fail(SOTTO_EINVAL, "backend '%s' is unknown; expected auto, dnnl or ref", name);
}

const char *nn_backend_name(const struct nn_backend *b)
{
    return b->name;
}

int nn_backend_supports_bf16(const struct nn_backend *b)
{
    return b->supports_bf16();
}

int nn_backend_has_bf16(const struct nn_backend *b)
{
    return b->prefers_bf16();
}

const char *nn_backend_title(const struct nn_backend *b)
{
    return b->title();
}

void nn_sgemm(const struct nn_backend *b, int trans_a, int trans_b, size_t m, size_t n, size_t k, float alpha,
              const float *A, size_t lda, const float *B, size_t ldb, float beta, float *C, size_t ldc)
{
    b->sgemm(trans_a, trans_b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}
