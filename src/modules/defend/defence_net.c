/* Products run as sums of columns, so that the inner loop is over neighbouring outputs: weights are kept in
 * both orders, and a unit that is off costs nothing. */
#include "defend/defence_net.h"

#include <math.h>
#include <string.h>

static sotto_status defence_net_layout(struct defence_net *out, const struct sotto_head *h)
{
    sotto_status status = SOTTO_OK;
    struct defence_net n = {.layers = h->layers, .product = defence_product_best()};
    size_t numbers = 2 * h->width[0];
    memcpy(n.width, h->width, sizeof n.width);
    for (size_t l = 0; l < n.layers; l++)
        numbers += (2 * n.width[l] + 1) * n.width[l + 1];
    NEW(n.memory, numbers);
    double *next = n.memory;
    n.mean = next, n.scale = next + n.width[0];
    next += 2 * n.width[0];
    for (size_t l = 0; l < n.layers; l++) {
        size_t cells = n.width[l] * n.width[l + 1];
        n.weight[l] = next, n.transposed[l] = next + cells, n.bias[l] = next + 2 * cells;
        next += 2 * cells + n.width[l + 1];
    }
    *out = n;
done:
    return status;
}

sotto_status defence_net_of(struct defence_net *out, const struct sotto_head *h)
{
    sotto_status status = SOTTO_OK;
    TRY(defence_net_layout(out, h));
    double *next = out->memory;
    for (size_t i = 0; i < out->width[0]; i++)
        next[out->width[0] + i] = 1;
    next += 2 * out->width[0];
    for (size_t l = 0; l < h->layers; l++) {
        size_t in = h->width[l], units = h->width[l + 1];
        const float *w = h->parameters + head_offset(h, l);
        for (size_t o = 0; o < units; o++)
            for (size_t i = 0; i < in; i++)
                next[o * in + i] = next[in * units + i * units + o] = (double)w[o * in + i];
        for (size_t o = 0; o < units; o++)
            next[2 * in * units + o] = (double)w[in * units + o];
        next += (2 * in + 1) * units;
    }
done:
    return status;
}

/* mean, scale (d) of the columns; scale 0 where nothing varies. */
static void moments_of(double *mean, double *scale, const struct head_data *data)
{
    for (size_t j = 0; j < data->d; j++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < data->n; i++)
            sum += (double)data->x[i * data->d + j];
        mean[j] = sum / (double)data->n;
        for (size_t i = 0; i < data->n; i++)
            squares += pow((double)data->x[i * data->d + j] - mean[j], 2);
        scale[j] = sqrt(squares / (double)data->n);
        scale[j] = scale[j] > 1e-9 * (fabs(mean[j]) + 1e-30) ? scale[j] : 0;
    }
}

sotto_status defence_net_train(struct defence_net *out, const struct head_data *data,
                               const struct sotto_head_recipe *recipe, bool standardise,
                               const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_head *h = NULL;
    struct defence_net n = {0};
    float *x = NULL;
    double *moments = NULL;
    size_t cells = data->n * data->d;
    NEW(moments, 2 * data->d);
    NEW(x, cells);
    if (standardise)
        moments_of(moments, moments + data->d, data);
    for (size_t i = 0; i < cells; i++) {
        size_t j = i % data->d;
        double scale = moments[data->d + j];
        x[i] = !standardise ? data->x[i] : scale > 0 ? (float)(((double)data->x[i] - moments[j]) / scale) : 0;
    }
    TRY(sotto_head_train(&h, x, data->y, data->n, data->d, data->classes, recipe, ctx));
    TRY(defence_net_of(&n, h));
    if (standardise)
        memcpy(n.memory, moments, 2 * data->d * sizeof *moments);
    *out = n;
done:
    sotto_head_free(h);
    base_free(moments);
    base_free(x);
    return status;
}

void defence_net_clear(struct defence_net *n)
{
    base_free(n->memory);
    *n = (struct defence_net){0};
}

sotto_status defence_look_make(struct defence_look *out, const struct defence_net *n)
{
    sotto_status status = SOTTO_OK;
    struct defence_look look = {0};
    size_t numbers = 0;
    for (size_t l = 0; l <= n->layers; l++)
        numbers += 2 * n->width[l];
    NEW(look.memory, numbers);
    double *next = look.memory;
    for (size_t l = 0; l <= n->layers; l++) {
        look.value[l] = next, look.diff[l] = next + n->width[l];
        next += 2 * n->width[l];
    }
    *out = look;
done:
    return status;
}

void defence_look_clear(struct defence_look *l)
{
    base_free(l->memory);
    *l = (struct defence_look){0};
}

const double *defence_net_forward(const struct defence_net *n, struct defence_look *l, const double *x)
{
    for (size_t i = 0; i < n->width[0]; i++)
        l->value[0][i] = n->scale[i] > 0 ? (x[i] - n->mean[i]) / n->scale[i] : 0;
    for (size_t k = 0; k < n->layers; k++) {
        size_t units = n->width[k + 1];
        double *value = l->value[k + 1];
        memcpy(value, n->bias[k], units * sizeof *value);
        n->product(value, l->value[k], n->transposed[k], n->width[k], units);
        for (size_t o = 0; k + 1 < n->layers && o < units; o++)
            value[o] = value[o] > 0 ? value[o] : 0;
    }
    return l->value[n->layers];
}

const double *defence_net_backward(const struct defence_net *n, struct defence_look *l, const double *weight)
{
    memcpy(l->diff[n->layers], weight, defence_net_outputs(n) * sizeof *weight);
    for (size_t k = n->layers; k-- > 0;) {
        double *diff = l->diff[k];
        memset(diff, 0, n->width[k] * sizeof *diff);
        n->product(diff, l->diff[k + 1], n->weight[k], n->width[k + 1], n->width[k]);
        for (size_t i = 0; i < n->width[k]; i++)
            if (k > 0)
                diff[i] = l->value[k][i] > 0 ? diff[i] : 0;
            else
                diff[i] = n->scale[i] > 0 ? diff[i] / n->scale[i] : 0;
    }
    return l->diff[0];
}
