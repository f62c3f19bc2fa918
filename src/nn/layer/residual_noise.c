#include "nn/layer/residual_noise.h"

#include "base/cpu.h"
#include "nn/kernel/bf16.h"
#include "nn/kernel/kernels.h"
#include "par/par.h"
#include "rng/chacha.h"
#include "rng/rng.h"

#include <assert.h>
#include <math.h>

enum { GROUPS = 16, CHUNK = GROUPS * NOISE_GROUP };

ISA_TABLE(const struct residual_noise_kernels, residual_noise_kernels, residual_noise_kernels_find);

static size_t chunks_of(size_t count)
{
    return (count + CHUNK - 1) / CHUNK;
}

/* One pass over a tensor. */
struct job {
    const struct residual_noise_kernels *kernels;
    const struct chacha_kernels *chacha;
    unsigned char key[CHACHA_KEY];
    void *to;
    const void *gradient, *residual; /* NULL: none */
    float share, scale, floor, pull, mean;
    size_t count, first_chunk; /* of this leaf, in the stream */
    int half, keep, multiplied;
};

static sotto_status chunk(void *arg, size_t number, int thread)
{
    (void)thread;
    const struct job *job = arg;
    uint32_t words[CHUNK];
    float z[NOISE_GROUP];
    size_t first = number * CHUNK;
    job->chacha->fill_short(words, job->key, (job->first_chunk + number) * GROUPS, GROUPS);
    for (size_t g = 0; g < GROUPS && first < job->count; g++, first += NOISE_GROUP) {
        size_t n = job->count - first < NOISE_GROUP ? job->count - first : NOISE_GROUP;
        job->kernels->normals(z, words + g * NOISE_GROUP);
        if (job->gradient)
            job->kernels->add_scaled_back(job->to, job->gradient, job->residual, first, z, job->keep,
                                          job->share, job->scale, job->floor, n, job->half);
        else if (job->multiplied)
            job->kernels->add_scaled(job->to, job->residual, first, z, job->scale, job->floor, n, job->half);
        else
            job->kernels->add(job->to, job->residual, first, z, job->scale, n, job->half);
    }
    return SOTTO_OK;
}

/* The key of this row in this step. Rows are distinguished by their place in the network. */
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

/* ---- noise in deviations of the result ---- */

size_t residual_noise_parts(size_t count)
{
    return 2 * chunks_of(count);
}

/* Sums over chunks of fixed borders, added in their order: the thread count changes no bits. */
struct sums {
    const struct job *job;
    double *parts, shift;
};

static sotto_status chunk_moments(void *arg, size_t number, int thread)
{
    (void)thread;
    const struct sums *s = arg;
    size_t first = number * CHUNK, left = s->job->count - first;
    s->parts[2 * number] = s->parts[2 * number + 1] = 0;
    s->job->kernels->moments(s->parts + 2 * number, s->job->to, first, s->shift, left < CHUNK ? left : CHUNK,
                             s->job->half);
    return SOTTO_OK;
}

static sotto_status chunk_dot(void *arg, size_t number, int thread)
{
    (void)thread;
    const struct sums *s = arg;
    const struct job *job = s->job;
    uint32_t words[CHUNK];
    float z[NOISE_GROUP];
    size_t first = number * CHUNK;
    double sum = 0;
    job->chacha->fill_short(words, job->key, (job->first_chunk + number) * GROUPS, GROUPS);
    for (size_t g = 0; g < GROUPS && first < job->count; g++, first += NOISE_GROUP) {
        size_t n = job->count - first < NOISE_GROUP ? job->count - first : NOISE_GROUP;
        job->kernels->normals(z, words + g * NOISE_GROUP);
        sum += job->kernels->dot(job->gradient, first, z, n, job->half);
    }
    s->parts[2 * number] = sum;
    s->parts[2 * number + 1] = 0;
    return SOTTO_OK;
}

static sotto_status chunk_pull(void *arg, size_t number, int thread)
{
    (void)thread;
    const struct job *job = arg;
    uint32_t words[CHUNK];
    float z[NOISE_GROUP];
    size_t first = number * CHUNK;
    job->chacha->fill_short(words, job->key, (job->first_chunk + number) * GROUPS, GROUPS);
    for (size_t g = 0; g < GROUPS && first < job->count; g++, first += NOISE_GROUP) {
        size_t n = job->count - first < NOISE_GROUP ? job->count - first : NOISE_GROUP;
        job->kernels->normals(z, words + g * NOISE_GROUP);
        job->kernels->pull(job->to, job->residual, first, z, job->pull, job->scale, job->mean, n, job->half);
    }
    return SOTTO_OK;
}

static void run_chunks(size_t count, const struct layer_run *run, par_body body, void *arg)
{
    sotto_status status = par_shares(chunks_of(count), run->threads, run->stop, body, arg);
    assert(status == SOTTO_OK); /* no body can fail */
    (void)status;
}

static void add_up(double total[2], const struct layer_run *run)
{
    total[0] = total[1] = 0;
    for (size_t i = 0; i < residual_noise_parts(run->dst->count); i += 2) {
        total[0] += run->noise_parts[i];
        total[1] += run->noise_parts[i + 1];
    }
}

/* Mean, then squares about it: no cancellation. */
static void measure(struct layer_run *run, const struct job *job)
{
    struct sums s = {job, run->noise_parts, 0};
    double total[2], n = (double)job->count;
    run_chunks(job->count, run, chunk_moments, &s);
    add_up(total, run);
    run->noise_mean = s.shift = total[0] / n;
    run_chunks(job->count, run, chunk_moments, &s);
    add_up(total, run);
    run->noise_deviation = n > 1 ? sqrt(total[1] / (n - 1)) : 0;
}

static void prepare(struct job *job, const struct layer_run *run, const struct pass *pass)
{
    job->kernels = residual_noise_kernels_find();
    job->chacha = chacha_kernels_find();
    job->scale = (float)run->spec->noise.gamma;
    job->floor = (float)run->spec->noise.floor;
    job->count = run->dst->count;
    job->first_chunk = pass->leaf * chunks_of(job->count);
    job->half = run->dst->dtype == NN_BF16;
    draw_key(job->key, run, pass);
}

/* ---- passes ---- */

void residual_noise_forward(struct layer_run *run, const struct activation *residual, const struct pass *pass)
{
    struct job job = {.to = run->dst->data,
                      .residual = residual ? residual->data : NULL,
                      .multiplied = run->spec->noise.kind == NN_NOISE_MULTIPLICATIVE};
    prepare(&job, run, pass);
    if (run->spec->noise.relative) {
        measure(run, &job);
        job.scale = (float)(run->spec->noise.gamma * run->noise_deviation);
        job.residual = NULL;
    }
    run_chunks(job.count, run, chunk, &job);
}

void residual_noise_backward(struct layer_run *run, struct activation *residual, enum residual_share share,
                             const struct pass *pass)
{
    struct job job = {.to = residual->diff,
                      .gradient = run->dst->diff,
                      .residual = residual->data,
                      .keep = share != RESIDUAL_COPY,
                      .share = share != RESIDUAL_SHARED};
    prepare(&job, run, pass);
    run_chunks(job.count, run, chunk, &job);
}

/* y = x + gamma s(x) z: besides its own gradient, x_i moves s; the derivative is (x_i - mean) / ((n - 1)
 * s). */
void residual_noise_backward_relative(struct layer_run *run, const struct pass *pass)
{
    struct job job = {.to = run->dst->diff, .gradient = run->dst->diff, .residual = run->dst->data};
    struct sums s = {&job, run->noise_parts, 0};
    double total[2], gamma = run->spec->noise.gamma, deviation = run->noise_deviation;
    if (!(deviation > 0))
        return;
    prepare(&job, run, pass);
    run_chunks(job.count, run, chunk_dot, &s);
    add_up(total, run);
    job.scale = (float)(gamma * deviation);
    job.mean = (float)run->noise_mean;
    job.pull = (float)(gamma * total[0] / ((double)(job.count - 1) * deviation));
    run_chunks(job.count, run, chunk_pull, &job);
}
