/* layer_bench.h - one layer on its own, planned and laid out with random source, parameters and gradient. */
#ifndef TESTS_LAYER_BENCH_H
#define TESTS_LAYER_BENCH_H

#include "nn/kernel/bf16.h"
#include "nn/kernel/kernels.h"
#include "nn/layer/layer.h"
#include "rng/rng.h"

#include <string.h>

struct bench {
    struct layer_spec spec;
    struct layer_run run;
    struct activation src, dst;
    struct nn_parameter parameters[LAYER_PARAMETERS_MAX];
    size_t parameter_count;
    struct arena keep, scratch, memory;
    struct pass pass;
};

static inline void place(struct bench *b)
{
    size_t size = dtype_size(b->src.dtype);
    b->src.data = arena_take(&b->memory, b->src.count, size);
    b->src.diff = arena_take(&b->memory, b->src.count, size);
    b->dst.data = arena_take(&b->memory, b->dst.count, size);
    b->dst.diff = arena_take(&b->memory, b->dst.count, size);
    for (size_t p = 0; p < b->parameter_count; p++) {
        b->parameters[p].value = arena_take(&b->memory, b->parameters[p].count, sizeof(float));
        b->parameters[p].diff = arena_take(&b->memory, b->parameters[p].count, sizeof(float));
    }
}

static inline void set_value(struct activation *t, void *to, size_t i, double x)
{
    if (t->dtype == NN_BF16)
        ((bf16 *)to)[i] = bf16_from_float((float)x);
    else
        ((float *)to)[i] = (float)x;
}

static inline double value_of(const struct activation *t, const void *from, size_t i)
{
    return t->dtype == NN_BF16 ? (double)bf16_to_float(((const bf16 *)from)[i])
                               : (double)((const float *)from)[i];
}

/** Random source (around `offset`), parameters and gradient; the layer planned and laid out. */
static inline void open_bench(struct bench *b, struct layer_spec spec, struct nn_shape shape, size_t batch,
                              enum nn_dtype dtype, double offset)
{
    memset(b, 0, sizeof *b);
    b->spec = spec;
    b->pass = (struct pass){.training = 1, .seed = 3, .step = 4};
    struct nn_shape result;
    assert_int_equal(spec.layer->shape(&result, &b->spec, shape), SOTTO_OK);
    b->src = (struct activation){.shape = shape, .dtype = dtype, .count = batch * shape_count(shape)};
    b->dst = (struct activation){.shape = result, .dtype = dtype, .count = batch * shape_count(result)};
    if (spec.layer->parameters)
        b->parameter_count = spec.layer->parameters(b->parameters, &b->spec, shape);
    for (size_t p = 0; p < b->parameter_count; p++)
        b->parameters[p].count =
            b->parameters[p].out * b->parameters[p].in * b->parameters[p].height * b->parameters[p].width;
    place(b);
    assert_int_equal(arena_reserve(&b->memory, "test"), SOTTO_OK);
    place(b);
    b->run = (struct layer_run){.spec = &b->spec,
                                .kernels = kernels_best(),
                                .batch = batch,
                                .threads = 2,
                                .training = 1,
                                .relu = spec.relu,
                                .need_diff_src = 1,
                                .src = &b->src,
                                .dst = &b->dst,
                                .parameters = b->parameters};
    if (spec.layer->plan)
        assert_int_equal(spec.layer->plan(&b->run), SOTTO_OK);
    for (int pass = 0; pass < 2 && spec.layer->layout; pass++) {
        spec.layer->layout(&b->run, &b->keep, &b->scratch);
        if (pass == 0) {
            assert_int_equal(arena_reserve(&b->keep, "test"), SOTTO_OK);
            assert_int_equal(arena_reserve(&b->scratch, "test"), SOTTO_OK);
        }
    }
    struct rng r = rng_stream(5, RNG_TEST, 0, b->src.count);
    for (size_t i = 0; i < b->src.count; i++)
        set_value(&b->src, b->src.data, i, offset + rng_normal(&r));
    for (size_t i = 0; i < b->dst.count; i++)
        set_value(&b->dst, b->dst.diff, i, rng_normal(&r));
    for (size_t p = 0; p < b->parameter_count; p++)
        for (size_t c = 0; c < b->parameters[p].count; c++)
            b->parameters[p].value[c] = (float)(0.5 + rng_unit(&r));
}

static inline void close_bench(struct bench *b)
{
    if (b->spec.layer->release)
        b->spec.layer->release(&b->run);
    arena_clear(&b->keep);
    arena_clear(&b->scratch);
    arena_clear(&b->memory);
}

static inline void narrow(float *to, const struct activation *t, const void *from)
{
    for (size_t i = 0; i < t->count; i++)
        to[i] = (float)value_of(t, from, i);
}

#endif
