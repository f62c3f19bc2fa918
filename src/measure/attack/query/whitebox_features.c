/* For a softmax output the gradient of the loss with respect to the logits is p - e_y, and a dense layer's
 * weight gradient is the outer product of what arrives from above and what came from below: its norm is the
 * product of two norms. So the norms of all layers cost one forward and one backward pass of vectors. */
#include "attack/query/whitebox_features.h"
#include "head/convex/head_convex.h"

#include <math.h>
#include <string.h>

sotto_status whitebox_features_make(struct whitebox_features *out, const struct sotto_head *head)
{
    sotto_status status = SOTTO_OK;
    size_t numbers = head->width[head->layers];
    struct whitebox_features v = {.head = head};
    double *next = NULL;
    for (size_t l = 0; l <= head->layers; l++)
        numbers += 2 * head->width[l];
    NEW(v.record, head->width[0]);
    NEW(next, numbers);
    v.memory = next;
    for (size_t l = 0; l <= head->layers; l++) {
        v.value[l] = next;
        v.diff[l] = next + head->width[l];
        next += 2 * head->width[l];
    }
    v.log_p = next;
    *out = v;
done:
    if (status != SOTTO_OK)
        whitebox_features_clear(&v);
    return status;
}

void whitebox_features_clear(struct whitebox_features *v)
{
    base_free(v->memory);
    base_free(v->record);
    *v = (struct whitebox_features){0};
}

static void whitebox_features_forward(struct whitebox_features *v)
{
    const struct sotto_head *h = v->head;
    for (size_t l = 0; l < h->layers; l++) {
        size_t in = h->width[l], out = h->width[l + 1];
        const float *w = h->parameters + head_offset(h, l), *bias = w + in * out;
        for (size_t o = 0; o < out; o++) {
            double z = (double)bias[o];
            for (size_t i = 0; i < in; i++)
                z += (double)w[o * in + i] * v->value[l][i];
            v->value[l + 1][o] = z > 0 || l + 1 == h->layers ? z : 0;
        }
    }
}

static void whitebox_features_softmax(struct whitebox_features *v)
{
    size_t layers = v->head->layers, classes = v->head->width[layers];
    const double *z = v->value[layers];
    double top = z[0], sum = 0, others = 0;
    for (size_t k = 1; k < classes; k++)
        top = fmax(top, z[k]);
    for (size_t k = 0; k < classes; k++)
        sum += exp(z[k] - top);
    for (size_t k = 0; k < classes; k++) {
        v->log_p[k] = z[k] - top - log(sum);
        v->diff[layers][k] = exp(v->log_p[k]);
        others += k == v->y ? 0 : v->diff[layers][k];
    }
    v->diff[layers][v->y] = -others; /* p_y - 1 without cancellation */
    v->loss = -v->log_p[v->y];
}

static void whitebox_features_backward(struct whitebox_features *v)
{
    const struct sotto_head *h = v->head;
    for (size_t l = h->layers - 1; l > 0; l--) {
        size_t in = h->width[l], out = h->width[l + 1];
        const float *w = h->parameters + head_offset(h, l);
        for (size_t i = 0; i < in; i++) {
            double sum = 0;
            for (size_t o = 0; o < out; o++)
                sum += (double)w[o * in + i] * v->diff[l + 1][o];
            v->diff[l][i] = v->value[l][i] > 0 ? sum : 0;
        }
    }
}

void whitebox_features_look(struct whitebox_features *v, const float *x, int64_t y)
{
    const struct sotto_head *h = v->head;
    v->y = (size_t)y;
    memcpy(v->record, x, h->width[0] * sizeof *x);
    if (h->has_recipe && head_recipe_convex(&h->recipe))
        head_record_clip(v->record, x, h->width[0], h->recipe.clip);
    for (size_t j = 0; j < h->width[0]; j++)
        v->value[0][j] = (double)v->record[j];
    whitebox_features_forward(v);
    whitebox_features_softmax(v);
    whitebox_features_backward(v);
}

static double log_input_norm(const struct whitebox_features *v, size_t l)
{
    double sum = 1; /* the bias */
    for (size_t i = 0; i < v->head->width[l - 1]; i++)
        sum += v->value[l - 1][i] * v->value[l - 1][i];
    return 0.5 * log(sum);
}

/* ln ||p - e_y|| from logarithms: p_k and 1 - p_y, which is the sum of the others, may be smaller than any
 * double. */
static double log_last_norm(const struct whitebox_features *v)
{
    size_t classes = v->head->width[v->head->layers];
    double top = -INFINITY, sum = 0, squares = 0;
    for (size_t k = 0; k < classes; k++)
        if (k != v->y)
            top = fmax(top, v->log_p[k]);
    for (size_t k = 0; k < classes; k++)
        if (k != v->y) {
            double p = exp(v->log_p[k] - top);
            sum += p;
            squares += p * p;
        }
    return top + 0.5 * log(sum * sum + squares);
}

double whitebox_features_gradient(const struct whitebox_features *v, size_t l)
{
    double squares = 0;
    if (l == v->head->layers)
        return log_last_norm(v) + log_input_norm(v, l);
    for (size_t o = 0; o < v->head->width[l]; o++)
        squares += v->diff[l][o] * v->diff[l][o];
    return fmax(0.5 * log(squares), -690.7755278982137) + log_input_norm(v, l);
}
