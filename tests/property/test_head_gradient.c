/* Gradient check of the head's loss: the kernels' own source, compiled in double, against central
 * differences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define HEAD_REAL double
#define HEAD_REAL_IS_DOUBLE
#define SOTTO_ISA_SUFFIX checked
#include "head/head_kernels.isa.c"

#include "base/memory.h"
#include "rng/rng.h"

enum { MAX_LAYERS = 4, ROWS = 7 };

struct problem {
    struct head_net net;
    double *x;
    int64_t y[ROWS];
};

static double *numbers(size_t count, struct rng *r, double scale)
{
    double *values = base_alloc(count, sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; r && i < count; i++)
        values[i] = scale * rng_normal(r);
    return values;
}

static void make(struct problem *p, size_t layers, const size_t *width, uint64_t seed)
{
    struct rng r = rng_stream(seed, RNG_TEST, 0, 0);
    size_t widest = 0;
    *p = (struct problem){.net.layers = layers};
    for (size_t l = 0; l < layers; l++) {
        struct head_layer *layer = &p->net.layer[l];
        *layer = (struct head_layer){.in = width[l], .out = width[l + 1], .ld = head_padded(width[l + 1])};
        layer->w = numbers((layer->in + 1) * layer->ld, NULL, 0);
        for (size_t i = 0; i <= layer->in; i++)
            for (size_t o = 0; o < layer->out; o++)
                layer->w[i * layer->ld + o] = rng_normal(&r) / sqrt((double)layer->in);
        layer->transposed = l ? numbers(layer->out * layer[-1].ld, NULL, 0) : NULL;
        layer->value = numbers(ROWS * layer->ld, NULL, 0);
        layer->diff = numbers(ROWS * layer->ld, NULL, 0);
        widest = layer->ld > widest ? layer->ld : widest;
    }
    p->net.tile = numbers(HEAD_TILE_ROWS * widest, NULL, 0);
    p->x = numbers(ROWS * width[0], &r, 1);
    for (size_t i = 0; i < ROWS; i++)
        p->y[i] = (int64_t)rng_below(&r, width[layers]);
}

static void clear(struct problem *p)
{
    for (size_t l = 0; l < p->net.layers; l++) {
        base_free(p->net.layer[l].w);
        base_free(p->net.layer[l].transposed);
        base_free(p->net.layer[l].value);
        base_free(p->net.layer[l].diff);
    }
    base_free(p->net.tile);
    base_free(p->x);
}

/* A step of SGD at rate 0 leaves the weights alone and returns the loss. */
static double mean_loss(struct problem *p)
{
    struct head_update none = {0};
    return step(&p->net, p->x, p->y, ROWS, &none) / ROWS;
}

/* Relative L2 distance between numeric and analytic gradient over all parameters; the analytic one is what
 * one SGD step at rate 1 takes off the weights. */
static double gradient_error(struct problem *p, double tamper)
{
    double error = 0, size = 0;
    const double h = 1e-5;
    for (size_t l = 0; l < p->net.layers; l++) {
        struct head_layer *layer = &p->net.layer[l];
        size_t count = (layer->in + 1) * layer->ld;
        double *saved[MAX_LAYERS], *numeric = numbers(count, NULL, 0);
        for (size_t i = 0; i < count; i++) {
            if (i % layer->ld >= layer->out)
                continue;
            double kept = layer->w[i];
            layer->w[i] = kept + h;
            double up = mean_loss(p);
            layer->w[i] = kept - h;
            numeric[i] = (up - mean_loss(p)) / (2 * h);
            layer->w[i] = kept;
        }
        for (size_t k = 0; k < p->net.layers; k++) {
            const struct head_layer *other = &p->net.layer[k];
            saved[k] = numbers((other->in + 1) * other->ld, NULL, 0);
            memcpy(saved[k], other->w, (other->in + 1) * other->ld * sizeof *saved[k]);
        }
        struct head_update whole = {.rate = 1};
        step(&p->net, p->x, p->y, ROWS, &whole);
        for (size_t i = 0; i < count; i++) {
            double analytic = (saved[l][i] - layer->w[i]) * (1 + tamper);
            error += (analytic - numeric[i]) * (analytic - numeric[i]);
            size += numeric[i] * numeric[i];
            if (i % layer->ld >= layer->out)
                assert_true(layer->w[i] == 0); /* padding stays exactly zero */
        }
        for (size_t k = 0; k < p->net.layers; k++) {
            struct head_layer *other = &p->net.layer[k];
            memcpy(other->w, saved[k], (other->in + 1) * other->ld * sizeof *saved[k]);
            base_free(saved[k]);
        }
        base_free(numeric);
    }
    return sqrt(error / size);
}

static void gradients_match_differences(void **state)
{
    (void)state;
    const size_t widths[][MAX_LAYERS + 1] = {{5, 3},      {13, 2},       {9, 17},  {6, 5, 3},
                                             {13, 33, 4}, {4, 20, 7, 3}, {3, 1, 2}};
    const size_t layers[] = {1, 1, 1, 2, 2, 3, 2};
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        struct problem p;
        make(&p, layers[i], widths[i], i + 1);
        assert_true(gradient_error(&p, 0) < 1e-6);
        assert_true(gradient_error(&p, 1e-4) > 1e-6); /* negative control: the check sees a wrong scale */
        clear(&p);
    }
}

static void loss_of_uniform_logits_is_log_classes(void **state)
{
    (void)state;
    const size_t width[] = {4, 10};
    struct problem p;
    make(&p, 1, width, 3);
    memset(p.net.layer[0].w, 0, 5 * p.net.layer[0].ld * sizeof(double));
    assert_true(fabs(mean_loss(&p) - log(10)) < 1e-12);
    clear(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gradients_match_differences),
                                       cmocka_unit_test(loss_of_uniform_logits_is_log_classes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
