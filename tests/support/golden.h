/* golden.h - the C half of tools/golden_torch.py: the same weights and images by the same hash, and
 * comparison of one training step with the recorded one. */
#ifndef TESTS_GOLDEN_H
#define TESTS_GOLDEN_H

#include "io/array/tensors.h"
#include "nn/model/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static inline uint32_t golden_number(const char *name)
{
    uint32_t hash = 2166136261u;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash;
}

/** i-th number in [0, 1) of a named tensor, in PyTorch's element order. */
static inline double golden_uniform(uint32_t number, size_t i)
{
    uint32_t x = (uint32_t)i * 2654435761u + number;
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    x ^= x >> 16;
    return (double)(x >> 8) / 16777216.0;
}

/** Index in our layout of element i of PyTorch's. */
static inline size_t golden_place(const struct nn_parameter *p, size_t i)
{
    size_t w = i % p->width, h = i / p->width % p->height, in = i / p->width / p->height % p->in,
           out = i / p->width / p->height / p->in;
    return ((out * p->height + h) * p->width + w) * p->in + in;
}

static inline void golden_fill(struct nn_model *m)
{
    for (size_t t = 0; t < m->parameter_count; t++) {
        struct nn_parameter *p = &m->parameters[t];
        uint32_t number = golden_number(p->name);
        size_t rows = p->count / p->out;
        for (size_t i = 0; !p->statistic && i < p->count; i++) {
            double u = 2 * golden_uniform(number, i) - 1;
            int vector = p->file_ndim == 1;
            p->value[golden_place(p, i)] = (float)(vector ? 0.2 * u + (p->init == INIT_ONE)
                                                          : u * (double)(float)sqrt(3.0 / (double)rows));
        }
    }
}

/** (N, H, W, C). */
static inline void golden_images(float *images, size_t n, struct nn_shape s)
{
    uint32_t number = golden_number("images");
    size_t i = 0;
    for (size_t k = 0; k < n; k++)
        for (size_t c = 0; c < s.channels; c++)
            for (size_t h = 0; h < s.height; h++)
                for (size_t w = 0; w < s.width; w++, i++)
                    images[((k * s.height + h) * s.width + w) * s.channels + c] =
                        (float)golden_uniform(number, i);
}

static inline const struct sotto_array *golden_find(const struct sotto_tensors *file, const char *kind,
                                                    const char *name)
{
    char full[160];
    snprintf(full, sizeof full, "%s%s", kind, name);
    return tensors_find(file, full);
}

/** Products of a recorded sample and ours: |ours - recorded|^2, |recorded|^2, |ours|^2, <ours, recorded>. */
struct golden_sums {
    double error, recorded, ours, dot;
};
static inline void golden_compare(struct golden_sums *s, const float *ours, const struct nn_parameter *p,
                                  const struct sotto_array *sample)
{
    const float *recorded = sample->data;
    for (size_t k = 0; k < sample->count; k++) {
        double a = ours[golden_place(p, k * p->count / sample->count)], b = recorded[k];
        s->error += (a - b) * (a - b);
        s->recorded += b * b;
        s->ours += a * a;
        s->dot += a * b;
    }
}

#endif
