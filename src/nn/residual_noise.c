#include "nn/residual_noise.h"

#include "base/cpu.h"
#include "nn/bf16.h"
#include "nn/kernels.h"
#include "par/par.h"
#include "rng/chacha.h"
#include "rng/rng.h"

#include <assert.h>
#include <math.h>

enum { GROUPS = 16, CHUNK = GROUPS * NOISE_GROUP };

extern const struct residual_noise_kernels residual_noise_kernels_v2, residual_noise_kernels_v3,
    residual_noise_kernels_v4, residual_noise_kernels_v4bf16;

const struct residual_noise_kernels *residual_noise_kernels_find(void)
{
    static const struct residual_noise_kernels *const tables[CPU_ISA_COUNT] = {
        &residual_noise_kernels_v2, &residual_noise_kernels_v3, &residual_noise_kernels_v4,
        &residual_noise_kernels_v4bf16};
    return tables[cpu_best_isa()];
}

/* One pass over a tensor. */
struct job {
    const struct residual_noise_kernels *kernels;
    const struct chacha_kernels *chacha;
    unsigned char key[CHACHA_KEY];
    void *to;
    const void *gradient, *scale_by; /* NULL: plain */
    float scale, floor;
    size_t count;
    int half;
};

static sotto_status chunk(void *arg, size_t number, int thread)
{
    (void)thread;
    const struct job *job = arg;
    uint32_t words[CHUNK];
    float z[NOISE_GROUP];
    size_t first = number * CHUNK;
    job->chacha->fill(words, job->key, number * GROUPS, GROUPS);
    for (size_t g = 0; g < GROUPS && first < job->count; g++, first += NOISE_GROUP) {
        size_t n = job->count - first < NOISE_GROUP ? job->count - first : NOISE_GROUP;
        job->kernels->normals(z, words + g * NOISE_GROUP);
        if (job->gradient)
            job->kernels->add_scaled_back(job->to, job->gradient, job->scale_by, first, z, job->scale,
                                          job->floor, n, job->half);
        else if (job->scale_by)
            job->kernels->add_scaled(job->to, job->scale_by, first, z, job->scale, job->floor, n, job->half);
        else
            job->kernels->add(job->to, first, z, job->scale, n, job->half);
    }
    return SOTTO_OK;
}

/* The key of this row in this step. Rows are told apart by their place in the network. */
static void draw_key(unsigned char key[CHACHA_KEY], const struct layer_run *run, const struct pass *pass)
{
    struct rng r =
        rng_stream(pass->seed, RNG_RESIDUAL, pass->step, (uint64_t)1 << 32 | run->spec->noise.stream);
    for (size_t i = 0; i < CHACHA_KEY; i += 4) {
        uint32_t word = rng_u32(&r);
        for (size_t b = 0; b < 4; b++)
            key[i + b] = (unsigned char)(word >> 8 * b);
    }
}

static void run_job(struct job *job, const struct layer_run *run, const struct pass *pass)
{
    job->kernels = residual_noise_kernels_find();
    job->chacha = chacha_kernels_find();
    job->scale = (float)run->spec->noise.gamma;
    job->floor = (float)run->spec->noise.floor;
    job->count = run->dst->count;
    job->half = run->dst->dtype == NN_BF16;
    draw_key(job->key, run, pass);
    sotto_status status = par_shares((job->count + CHUNK - 1) / CHUNK, run->threads, chunk, job);
    assert(status == SOTTO_OK); /* no body can fail */
    (void)status;
}

void residual_noise_forward(struct layer_run *run, const struct activation *residual, const struct pass *pass)
{
    bool scaled = run->spec->noise.kind == NN_NOISE_MULTIPLICATIVE;
    struct job job = {.to = run->dst->data, .scale_by = scaled ? residual->data : NULL};
    run_job(&job, run, pass);
}

void residual_noise_backward(struct layer_run *run, struct activation *residual, const struct pass *pass)
{
    if (run->spec->noise.kind != NN_NOISE_MULTIPLICATIVE)
        return;
    struct job job = {.to = residual->diff, .gradient = run->dst->diff, .scale_by = residual->data};
    run_job(&job, run, pass);
}
