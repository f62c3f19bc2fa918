/* Dropout (Srivastava et al. 2014), inverted: in training each value is dropped with probability `rate` and
 * the others are divided by 1 - rate; in evaluation nothing happens. The mask is never stored: backward draws
 * it again from the same keyed streams (seed, step, layer, leaf and chunk), so it does not depend on threads and a
 * resumed run repeats it. */
#include "nn/layer/layer.h"

#include "nn/kernel/bf16.h"
#include "nn/kernel/kernels.h"
#include "par/par.h"
#include "rng/rng.h"

#include <assert.h>
#include <string.h>

enum { CHUNK = 8192 };

static sotto_status layer_dropout_shape(struct nn_shape *dst, const struct layer_spec *spec,
                                        struct nn_shape src)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(spec->rate >= 0 && spec->rate < 1, "%s: dropout rate must be in [0, 1) (got %g)", spec->path,
            spec->rate);
    *dst = src;
done:
    return status;
}

/** One direction of one step: from src->data to dst->data, or from dst->diff to src->diff. */
struct job {
    const struct layer_run *run;
    const struct pass *pass;
    const void *from;
    void *to;
    uint64_t layer;
};

static size_t chunks_of(const struct activation *t)
{
    return (t->count + CHUNK - 1) / CHUNK;
}

static sotto_status drop_chunk(void *arg, size_t chunk, int thread)
{
    (void)thread;
    const struct job *job = arg;
    const struct activation *t = job->run->src;
    double rate = job->run->spec->rate;
    float scale = (float)(1 / (1 - rate));
    uint32_t threshold = (uint32_t)(rate * 4294967296.0); /* dropped below it */
    const uint64_t place = job->pass->leaf * chunks_of(t) + chunk;
    struct rng random = rng_stream(job->pass->seed, RNG_DROPOUT, job->pass->step, job->layer << 32 | place);
    size_t first = chunk * CHUNK, end = first + CHUNK < t->count ? first + CHUNK : t->count;
    for (size_t i = first; i < end; i++) {
        float keep = rng_u32(&random) < threshold ? 0 : scale;
        if (t->dtype == NN_BF16)
            ((bf16 *)job->to)[i] = bf16_from_float(bf16_to_float(((const bf16 *)job->from)[i]) * keep);
        else
            ((float *)job->to)[i] = ((const float *)job->from)[i] * keep;
    }
    return SOTTO_OK;
}

/** Layers are distinguished by their path, which is unique in a model (FNV-1a). */
static uint64_t layer_number(const char *path)
{
    uint32_t hash = 2166136261u;
    for (; *path; path++)
        hash = (hash ^ (unsigned char)*path) * 16777619u;
    return hash;
}

static void layer_dropout_drop(const struct layer_run *run, const struct pass *pass, void *to,
                               const void *from)
{
    const struct activation *t = run->src;
    if (!pass->training || run->spec->rate == 0) {
        memcpy(to, from, t->count * dtype_size(t->dtype));
        return;
    }
    struct job job = {run, pass, from, to, layer_number(run->spec->path)};
    sotto_status status = par_shares(chunks_of(t), run->threads, run->stop, drop_chunk, &job);
    assert(status == SOTTO_OK); /* no body can fail */
    (void)status;
}

static void layer_dropout_forward(struct layer_run *run, const struct pass *pass)
{
    layer_dropout_drop(run, pass, run->dst->data, run->src->data);
}

static void layer_dropout_backward(struct layer_run *run, const struct pass *pass)
{
    if (run->need_diff_src)
        layer_dropout_drop(run, pass, run->src->diff, run->dst->diff);
}

const struct layer layer_dropout = {.name = "dropout",
                                    .shape = layer_dropout_shape,
                                    .forward = layer_dropout_forward,
                                    .backward = layer_dropout_backward};
