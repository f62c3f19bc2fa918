/* Weak stand-in: the backends' own definition replaces it at link time. */
#include "nn/nn.h"

__attribute__((weak)) void nn_sgemm(const struct nn_backend *b, int trans_a, int trans_b, size_t m, size_t n,
                                    size_t k, float alpha, const float *A, size_t lda, const float *B,
                                    size_t ldb, float beta, float *C, size_t ldc)
{
    (void)b;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            float sum = 0;
            for (size_t l = 0; l < k; l++)
                sum +=
                    (trans_a ? A[l * lda + i] : A[i * lda + l]) * (trans_b ? B[j * ldb + l] : B[l * ldb + j]);
            C[i * ldc + j] = alpha * sum + (beta == 0 ? 0 : beta * C[i * ldc + j]);
        }
}
