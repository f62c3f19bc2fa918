/* log p_k = z_k - LSE(z), never log(softmax(z)). For the largest logit that is -log1p(sum of the others
 * relative to it), which keeps its digits however close p_k is to 1: overfitted models put most members
 * there, and rounding them all to 0 would make them ties. log(1 - p_k) is log1p(-p_k) while p_k <= 1/2; above
 * that, 1 - p_k is the sum of the others (at most one class is above 1/2, so this costs one more pass). */
#include "audit/score/posterior.h"

#include <math.h>

static const double smallest = 1e-30;

/* Rounded probabilities: half a step, which is what a rounded 0 may have been. */
static double posterior_clamp(const struct attack_input *in, double p)
{
    const double least = in->step > 0 ? in->step / 2 : smallest;
    return p > least ? p : least > smallest ? least : smallest;
}

/* The largest logit and the sum of exp(z_k - top) over all classes but `top_class`, whose term is 1. */
struct tops {
    double top, rest;
    size_t top_class;
};

static struct tops find_top(const double *z, size_t classes)
{
    struct tops t = {z[0], 0, 0};
    for (size_t k = 1; k < classes; k++)
        if (z[k] > t.top)
            t.top = z[k], t.top_class = k;
    for (size_t k = 0; k < classes; k++)
        if (k != t.top_class)
            t.rest += exp(z[k] - t.top);
    return t;
}

static double log_p_of(const double *z, size_t k, const struct tops *t)
{
    return z[k] - t->top - log1p(t->rest); /* for the top class the first two cancel exactly */
}

/* log of t->rest, also where t->rest itself is too small for a double. */
static double log_others(const double *z, size_t classes, const struct tops *t)
{
    double second = -INFINITY, sum = 0;
    for (size_t k = 0; k < classes; k++)
        if (k != t->top_class && z[k] > second)
            second = z[k];
    for (size_t k = 0; k < classes; k++)
        if (k != t->top_class)
            sum += exp(z[k] - second);
    return second - t->top + log(sum);
}

/* The sum of all probabilities but one. */
static double posterior_others(const double *p, size_t classes, size_t skip)
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
        return log(posterior_clamp(in, z[k]));
    struct tops t = find_top(z, in->classes);
    return log_p_of(z, k, &t);
}

double posterior_loss(const struct attack_input *in, size_t row)
{
    return -posterior_log(in, row, (size_t)in->labels[row]);
}

double posterior_entropy(const struct attack_input *in, size_t row)
{
    const double *z = in->outputs + row * in->classes;
    struct tops t = find_top(z, in->classes); /* of probabilities: unused */
    double sum = 0;
    for (size_t k = 0; k < in->classes; k++) {
        double log_p = in->probabilities ? log(posterior_clamp(in, z[k])) : log_p_of(z, k, &t);
        double p = in->probabilities ? z[k] : exp(log_p);
        sum -= p * log_p;
    }
    return sum;
}

double posterior_modified_entropy(const struct attack_input *in, size_t row)
{
    const double *z = in->outputs + row * in->classes;
    size_t y = (size_t)in->labels[row];
    struct tops t = find_top(z, in->classes); /* of probabilities: unused */
    double sum = 0;
    for (size_t k = 0; k < in->classes; k++) {
        double log_p = in->probabilities ? log(posterior_clamp(in, z[k])) : log_p_of(z, k, &t);
        double p = in->probabilities ? z[k] : exp(log_p), q, log_q; /* q = 1 - p */
        if (p <= 0.5) {
            q = 1 - p;
            log_q = log1p(-p);
        } else if (in->probabilities) {
            q = posterior_others(z, in->classes, k);
            log_q = log(posterior_clamp(in, q));
        } else {
            log_q = log_others(z, in->classes, &t) - log1p(t.rest); /* p > 1/2: k is the top class */
            q = exp(log_q);
        }
        sum -= k == y ? q * log_p : p * log_q;
    }
    return sum;
}

double signal_of_loss(double loss)
{
    return loss > 1 ? -loss - log1p(-exp(-loss)) : -log(fmax(expm1(loss), smallest));
}

double probability_of_signal(double signal)
{
    return signal > 0 ? 1 / (1 + exp(-signal)) : exp(signal) / (1 + exp(signal));
}

double log_probability_of_signal(double signal)
{
    return signal > 0 ? -log1p(exp(-signal)) : signal - log1p(exp(signal));
}

double signal_of_rounded(double signal, double step)
{
    const double most = step > 0 ? -log(fmax(step / 2, smallest)) : INFINITY;
    return fmin(fmax(signal, -most), most);
}

double posterior_signal(const struct attack_input *in, size_t row)
{
    if (in->signals)
        return in->signals[row];
    if (!in->outputs)
        return signal_of_loss(in->losses[row]);
    const double *z = in->outputs + row * in->classes;
    size_t y = (size_t)in->labels[row];
    if (in->probabilities)
        return log(posterior_clamp(in, z[y])) - log(posterior_clamp(in, posterior_others(z, in->classes, y)));
    double top = -INFINITY, sum = 0;
    for (size_t k = 0; k < in->classes; k++)
        if (k != y && z[k] > top)
            top = z[k];
    for (size_t k = 0; k < in->classes; k++)
        if (k != y)
            sum += exp(z[k] - top);
    return z[y] - top - log(sum);
}

double posterior_log_likelihood(const struct attack_input *in, size_t row)
{
    return in->losses_of_signals && in->losses ? -in->losses[row]
                                               : log_probability_of_signal(posterior_signal(in, row));
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
