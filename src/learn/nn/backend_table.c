#include "nn/backend.h"

#include "base/cpu.h"
#include "base/choice.h"

#include <string.h>

/* In the order in which "auto" looks for one. */
static const struct nn_backend *const backends[] = {
#ifdef SOTTO_HAVE_DNNL
    &nn_backend_winograd,
    &nn_backend_dnnl,
#endif
    &nn_backend_ref,
};

sotto_status nn_backend_find(const struct nn_backend **out, const char *name)
{
    sotto_status status = sotto_check_environment();
    if (status != SOTTO_OK)
        return status;
#ifdef SOTTO_HAVE_DNNL
    dnnl_limit_isa();
#endif
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++) {
        const char *why = backends[i]->missing();
        if (!why && (strcmp(name, "auto") == 0 || strcmp(name, backends[i]->name) == 0)) {
            *out = backends[i];
            return SOTTO_OK;
        }
        if (strcmp(name, backends[i]->name) == 0)
            return status_fail(SOTTO_ENOTSUP, "backend '%s': %s", name, why);
    }
    if (strcmp(name, "dnnl") == 0 || strcmp(name, "winograd") == 0)
        return status_fail(SOTTO_ENOTSUP, "backend '%s': this sotto was built without oneDNN", name);
    return choice_unknown(SOTTO_EINVAL, "backend", name, "auto, winograd, dnnl or ref");
}

const char *nn_backend_name(const struct nn_backend *b)
{
    return b->name;
}

int nn_backend_supports_bf16(const struct nn_backend *b)
{
    return b->supports_bf16();
}

const char *nn_backend_title(const struct nn_backend *b)
{
    return b->title();
}

sotto_status nn_refuse_bf16(const struct nn_backend *b)
{
    enum cpu_isa hardware = cpu_hardware_isa(), best = cpu_best_isa();
    if (b == &nn_backend_ref)
        return status_fail(SOTTO_ENOTSUP, "dtype bf16: backend 'ref' computes in f32 only; use dtype f32 or "
                                          "backend dnnl");
    return status_fail(
        SOTTO_ENOTSUP,
        "dtype bf16 needs the instruction set v4bf16 (AVX-512 with bf16); this machine has %s%s%s "
        "(%s); use f32 or auto",
        cpu_isa_name(hardware), best < hardware ? ", limited by SOTTO_ISA to " : "",
        best < hardware ? cpu_isa_name(best) : "", b->title());
}

const char *nn_backend_of_title(const char *title)
{
    static const char filtered[] = ", winograd";
    size_t length = strlen(title), end = sizeof filtered - 1;
    if (strcmp(title, "reference") == 0)
        return "ref";
    if (strncmp(title, "oneDNN ", 7) != 0)
        return "";
    return length > end && strcmp(title + length - end, filtered) == 0 ? "winograd" : "dnnl";
}

sotto_status nn_dtype_find(enum nn_dtype *out, const char *name, const struct nn_backend *backend)
{
    if (strcmp(name, "f32") == 0)
        *out = NN_F32;
    else if (strcmp(name, "bf16") == 0 && nn_backend_supports_bf16(backend))
        *out = NN_BF16;
    else if (strcmp(name, "bf16") == 0)
        return nn_refuse_bf16(backend);
    else
        return choice_unknown(SOTTO_EINVAL, "dtype", name, "auto, bf16 or f32");
    return SOTTO_OK;
}

void nn_sgemm(const struct nn_backend *b, int trans_a, int trans_b, size_t m, size_t n, size_t k, float alpha,
              const float *A, size_t lda, const float *B, size_t ldb, float beta, float *C, size_t ldc)
{
    b->sgemm(trans_a, trans_b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}
