/* The tables of both oneDNN backends, without and with minimal filtering. */
#include "base/cpu.h"
#include "nn/conv/winograd_kernels.h"
#include "nn/dnnl/dnnl_conv.h"
#include "nn/dnnl/dnnl_isa.h"

#include <assert.h>
#include <dnnl.h>

#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)
#define TITLE(rest)                                                                                          \
    "oneDNN " TEXT(DNNL_VERSION_MAJOR) "." TEXT(DNNL_VERSION_MINOR) "." TEXT(DNNL_VERSION_PATCH) " " rest

/* Other bits with minimal filtering, so another title: a checkpoint of one is none of the other. */
#define BEST_TITLE(ways)                                                                                     \
    (dnnl_has_isa(dnnl_cpu_isa_avx512_core_amx)    ? TITLE("avx512_core_amx" ways)                           \
     : dnnl_has_isa(dnnl_cpu_isa_avx512_core_bf16) ? TITLE("avx512_core_bf16" ways)                          \
     : dnnl_has_isa(dnnl_cpu_isa_avx512_core)      ? TITLE("avx512_core" ways)                               \
     : dnnl_has_isa(dnnl_cpu_isa_avx2)             ? TITLE("avx2" ways)                                      \
                                                   : TITLE("sse41" ways))

static const char *dnnl_backend_title(void)
{
    return BEST_TITLE("");
}

static const char *title_winograd(void)
{
    return BEST_TITLE(", winograd");
}

static int supports_bf16(void)
{
    return cpu_best_isa() == CPU_V4_BF16 && dnnl_has_isa(dnnl_cpu_isa_avx512_core_bf16);
}

/* Row-major, as ours. */
static void dnnl_backend_sgemm(int trans_a, int trans_b, size_t m, size_t n, size_t k, float alpha,
                               const float *A, size_t lda, const float *B, size_t ldb, float beta, float *C,
                               size_t ldc)
{
    if (m == 0 || n == 0)
        return;
    dnnl_status_t result =
        dnnl_sgemm(trans_a ? 'T' : 'N', trans_b ? 'T' : 'N', (dnnl_dim_t)m, (dnnl_dim_t)n, (dnnl_dim_t)k,
                   alpha, A, (dnnl_dim_t)lda, B, (dnnl_dim_t)ldb, beta, C, (dnnl_dim_t)ldc);
    assert(result == dnnl_success); /* the only failure is a wrong leading dimension */
    (void)result;
}

static sotto_status create_direct(struct conv **out, const struct conv_desc *d)
{
    return dnnl_conv_create(out, d, 0);
}

static sotto_status create_winograd(struct conv **out, const struct conv_desc *d)
{
    return dnnl_conv_create(out, d, 1);
}

static const char *nothing_missing(void)
{
    return NULL;
}

static const char *missing_winograd(void)
{
    return winograd_kernels_best()->multiply
               ? NULL
               : "this CPU has no AVX2 (instruction set v3), or SOTTO_ISA forbids it";
}

#define BACKEND(NAME, TITLE, FILTERS, MISSING, CREATE)                                                       \
    {                                                                                                        \
        .name = NAME, .title = TITLE, .filters = FILTERS, .missing = MISSING,                                \
        .supports_bf16 = supports_bf16, .conv_create = CREATE, .conv_layout = dnnl_conv_layout,              \
        .conv_forward = dnnl_conv_forward, .conv_backward = dnnl_conv_backward, .conv_adds = dnnl_conv_adds, \
        .conv_add = dnnl_conv_add, .conv_lasting = dnnl_conv_lasting, .conv_weights = dnnl_conv_weights,     \
        .conv_use = dnnl_conv_use, .conv_free = dnnl_conv_free, .sgemm = dnnl_backend_sgemm                  \
    }
const struct nn_backend nn_backend_dnnl =
    BACKEND("dnnl", dnnl_backend_title, 0, nothing_missing, create_direct);
const struct nn_backend nn_backend_winograd =
    BACKEND("winograd", title_winograd, 1, missing_winograd, create_winograd);
