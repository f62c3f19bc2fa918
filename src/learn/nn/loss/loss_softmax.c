/* loss = mean_i (ln sum_j e^logit_ij - logit_i,label_i)
 * d loss / d logit_ij = (softmax_ij - [j = label_i]) / N
 *
 * Rows are few and short in every use (a batch of records times classes), so one thread does them all. */
#include "nn/nn.h"

#include "nn/kernel/loss_kernels.h"

#include <assert.h>

double loss_softmax_sum(float *diff_logits, const float *logits, const int64_t *labels, size_t rows, size_t k,
                        size_t n)
{
    const struct loss_kernels *kernels = loss_kernels_best();
    double sum = 0;
    for (size_t i = 0; i < rows; i++) {
        const float *row = logits + i * k;
        float top, log_sum;
        size_t ties;
        assert(labels[i] >= 0 && (size_t)labels[i] < k);
        kernels->row_log_sum(&top, &log_sum, &ties, row, k);
        sum += (double)log_sum - row[labels[i]];
        if (diff_logits) {
            kernels->row_softmax(diff_logits + i * k, row, log_sum, 1.0f / (float)n, k);
            diff_logits[i * k + (size_t)labels[i]] -= 1.0f / (float)n;
        }
    }
    return sum;
}

double loss_softmax_cross_entropy(float *diff_logits, const float *logits, const int64_t *labels, size_t n,
                                  size_t k)
{
    return n ? loss_softmax_sum(diff_logits, logits, labels, n, k, n) / (double)n : 0;
}
