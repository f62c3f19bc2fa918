#include "defend/dense_stack.h"

#include "nn/optimizer/optimizer.h"
#include "rng/rng.h"

#include <math.h>
#include <string.h>

static const char *const names[2 * DENSE_STACK_LAYERS] = {"0.weight", "0.bias", "2.weight", "2.bias",
                                                          "4.weight", "4.bias", "6.weight", "6.bias",
                                                          "8.weight", "8.bias"};

static void layout(struct dense_stack *s)
{
    struct arena *a = &s->memory;
    for (size_t l = 0; l < s->layers; l++) {
        size_t cells = s->width[l] * s->width[l + 1];
        s->weight[l] = arena_take(a, cells, sizeof(float));
        s->bias[l] = arena_take(a, s->width[l + 1], sizeof(float));
        s->weight_grad[l] = arena_take(a, cells, sizeof(float));
        s->bias_grad[l] = arena_take(a, s->width[l + 1], sizeof(float));
        s->tensors[2 * l] = (struct tensor){names[2 * l], s->weight[l], s->weight_grad[l], cells};
        s->tensors[2 * l + 1] =
            (struct tensor){names[2 * l + 1], s->bias[l], s->bias_grad[l], s->width[l + 1]};
    }
    for (size_t l = 0; l <= s->layers; l++) {
        s->value[l] = arena_take(a, s->batch * s->width[l], sizeof(float));
        s->diff[l] = arena_take(a, s->batch * s->width[l], sizeof(float));
    }
    s->list = (struct tensor_list){s->tensors, 2 * s->layers};
}

static void draw_weights(struct dense_stack *s, uint64_t seed, uint64_t stream)
{
    for (size_t l = 0; l < s->layers; l++) {
        struct rng r = rng_stream(seed, RNG_INIT, stream, l);
        double limit = sqrt(6 / (double)(s->width[l] + s->width[l + 1]));
        for (size_t i = 0; i < s->width[l] * s->width[l + 1]; i++)
            s->weight[l][i] = (float)(limit * (2 * rng_unit(&r) - 1));
    }
}

sotto_status dense_stack_make(struct dense_stack *s, const size_t *width, size_t layers, size_t batch,
                              uint64_t seed, uint64_t stream)
{
    sotto_status status = SOTTO_OK;
    const struct nn_optimizer_config adam = {.name = "adam", .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8};
    *s = (struct dense_stack){.layers = layers, .batch = batch};
    memcpy(s->width, width, (layers + 1) * sizeof *width);
    TRY(nn_backend_find(&s->backend, "auto"));
    layout(s);
    TRY(arena_reserve(&s->memory, "defend"));
    layout(s);
    draw_weights(s, seed, stream);
    TRY(optimizer_create(&s->adam, &s->list, &adam));
done:
    return status;
}

void dense_stack_clear(struct dense_stack *s)
{
    nn_optimizer_free(s->adam);
    arena_clear(&s->memory);
    *s = (struct dense_stack){0};
}

const float *dense_stack_forward(struct dense_stack *s, const float *x, size_t n)
{
    memcpy(s->value[0], x, n * s->width[0] * sizeof *x);
    for (size_t l = 0; l < s->layers; l++) {
        size_t in = s->width[l], out = s->width[l + 1];
        float *value = s->value[l + 1];
        for (size_t i = 0; i < n; i++)
            memcpy(value + i * out, s->bias[l], out * sizeof *value);
        nn_sgemm(s->backend, 0, 1, n, out, in, 1, s->value[l], in, s->weight[l], in, 1, value, out);
        for (size_t i = 0; l + 1 < s->layers && i < n * out; i++)
            value[i] = value[i] > 0 ? value[i] : 0;
    }
    return s->value[s->layers];
}

const float *dense_stack_backward(struct dense_stack *s, const float *diff_output, size_t n)
{
    memcpy(s->diff[s->layers], diff_output, n * s->width[s->layers] * sizeof *diff_output);
    for (size_t l = s->layers; l-- > 0;) {
        size_t in = s->width[l], out = s->width[l + 1];
        const float *diff = s->diff[l + 1];
        nn_sgemm(s->backend, 1, 0, out, in, n, 1, diff, out, s->value[l], in, 0, s->weight_grad[l], in);
        memset(s->bias_grad[l], 0, out * sizeof *s->bias_grad[l]);
        for (size_t i = 0; i < n * out; i++)
            s->bias_grad[l][i % out] += diff[i];
        nn_sgemm(s->backend, 0, 0, n, in, out, 1, diff, out, s->weight[l], in, 0, s->diff[l], in);
        for (size_t i = 0; l > 0 && i < n * in; i++)
            s->diff[l][i] = s->value[l][i] > 0 ? s->diff[l][i] : 0;
    }
    return s->diff[0];
}

void dense_stack_step(struct dense_stack *s, double lr)
{
    optimizer_step(s->adam, &s->list, lr);
}
