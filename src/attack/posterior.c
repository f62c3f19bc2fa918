/* log p_k = z_k - LSE(z), never log(softmax(z)). log(1 - p_k) is log1p(-p_k) while p_k <= 1/2; above that, 1
 * - p_k is the sum of the others, which keeps its digits however close p_k is to 1 (at most one class is
 * above 1/2, so this costs one more pass). */
#include "attack/posterior.h"

#include <math.h>

static const double smallest = 1e-30;

static double clamp(double p)
{
    return p < smallest ? smallest : p;
}

/* log of the sum of exp(z_k) over all k but `skip` (skip = classes: over all). */
static double log_sum(const double *z, size_t classes, size_t skip)
{
    double top = -INFINITY, sum = 0;
    for (size_t k = 0; k < classes; k++)
        if (k != skip && z[k] > top)
            top = z[k];
    for (size_t k = 0; k < classes; k++)
        if (k != skip)
            sum += exp(z[k] - top);
    return top + log(sum); /* one class only: the sum over the others is empty, -inf */
}

/* The sum of all probabilities but one. */
static double others(const double *p, size_t classes, size_t skip)
{
    double sum = 0;
    for (size_t k = 0; k < classes; k++)
        if (k != skip)
            sum += p[k];
    return sum;
}

double posterior_log(const struct attack_input *in, size_t row, size_t k)
{
    const double *z = in->outputs + row * in->classes;
    if (in->probabilities)
        return log(clamp(z[k]));
    return z[k] - log_sum(z, in->classes, in->classes);
}

double posterior_loss(const struct attack_input *in, size_t row)
{
    return -posterior_log(in, row, (size_t)in->labels[row]);
}

double posterior_entropy(const struct attack_input *in, size_t row)
{
    const double *z = in->outputs + row * in->classes;
    double total = in->probabilities ? 0 : log_sum(z, in->classes, in->classes), sum = 0;
    for (size_t k = 0; k < in->classes; k++) {
        double log_p = in->probabilities ? log(clamp(z[k])) : z[k] - total;
        double p = in->probabilities ? z[k] : exp(log_p);
        sum -= p * log_p;
    }
    return sum;
}

double posterior_modified_entropy(const struct attack_input *in, size_t row)
{
    const double *z = in->outputs + row * in->classes;
    size_t y = (size_t)in->labels[row];
    double total = in->probabilities ? 0 : log_sum(z, in->classes, in->classes), sum = 0;
    for (size_t k = 0; k < in->classes; k++) {
        double log_p = in->probabilities ? log(clamp(z[k])) : z[k] - total;
        double p = in->probabilities ? z[k] : exp(log_p), q, log_q; /* q = 1 - p */
        if (p <= 0.5) {
            q = 1 - p;
            log_q = log1p(-p);
        } else if (in->probabilities) {
            q = others(z, in->classes, k);
            log_q = log(clamp(q));
        } else {
            log_q = log_sum(z, in->classes, k) - total;
            q = exp(log_q);
        }
        /* p = 1 exactly: nothing is left for the others and the term is 0 * log 0 = 0 for the true class. */
        sum -= k == y ? (q > 0 ? q * log_p : 0) : p * log_q;
    }
    return sum;
}

size_t posterior_argmax(const struct attack_input *in, size_t row)
{
    const double *z = in->outputs + row * in->classes;
    size_t best = 0;
    for (size_t k = 1; k < in->classes; k++)
        if (z[k] > z[best])
            best = k;
    return best;
}
