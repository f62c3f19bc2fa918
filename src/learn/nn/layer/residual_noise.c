#include "nn/layer/residual_noise.h"

#include "base/cpu.h"
#include "nn/kernel/bf16.h"
#include "nn/kernel/kernels.h"
#include "nn/layer/merged_moments.h"
#include "par/par.h"
#include "rng/chacha.h"
#include "rng/rng.h"

#include <assert.h>
#include <math.h>

enum { GROUPS = 16, CHUNK = GROUPS * NOISE_GROUP };

ISA_TABLE_BF16(const struct residual_noise_kernels, residual_noise_kernels, residual_noise_kernels_find);

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
    size_t room, used;         /* of each `room` numbers the first `used` belong to records */
    int half, keep, multiplied;
};

static sotto_status residual_noise_chunk(void *arg, size_t number, int thread)
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

/* Numbers of records, one run of them; rows behind the last record of a leaf take no part in sums. */
struct part {
    size_t first, count;
};

/* The first run from `first` on, cut at `end`; none: count 0. */
static struct part part_at(const struct job *job, size_t first, size_t end)
{
    const size_t in = first % job->room;
    const size_t from = in < job->used ? first : first - in + job->room,
                 to = from - from % job->room + job->used;
    return (struct part){from, from < end ? (to < end ? to : end) - from : 0};
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
    const size_t end = first + (left < CHUNK ? left : CHUNK);
    for (struct part p = part_at(s->job, first, end); p.count; p = part_at(s->job, p.first + p.count, end))
        s->job->kernels->moments(s->parts + 2 * number, s->job->to, p.first, s->shift, p.count, s->job->half);
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
        for (struct part p = part_at(job, first, first + n); p.count;
             p = part_at(job, p.first + p.count, first + n))
            sum += job->kernels->dot(job->gradient, p.first, z + (p.first - first), p.count, job->half);
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
        for (struct part p = part_at(job, first, first + n); p.count;
             p = part_at(job, p.first + p.count, first + n))
            job->kernels->pull(job->to, job->residual, p.first, z + (p.first - first), job->pull, job->scale,
                               job->mean, p.count, job->half);
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
static struct moments residual_noise_measure(const struct layer_run *run, const struct job *job)
{
    struct sums s = {job, run->noise_parts, 0};
    double total[2];
    const size_t values = job->count / job->room * job->used;
    const double n = (double)values;
    run_chunks(job->count, run, chunk_moments, &s);
    add_up(total, run);
    s.shift = total[0] / n;
    run_chunks(job->count, run, chunk_moments, &s);
    add_up(total, run);
    return (struct moments){n, s.shift, total[1]};
}

/* Of the gradient and the noise. */
static double residual_noise_product(const struct layer_run *run, const struct job *job)
{
    struct sums s = {job, run->noise_parts, 0};
    double total[2];
    run_chunks(job->count, run, chunk_dot, &s);
    add_up(total, run);
    return total[0];
}

static void residual_noise_prepare(struct job *job, const struct layer_run *run, const struct pass *pass)
{
    job->kernels = residual_noise_kernels_find();
    job->chacha = chacha_kernels_find();
    job->scale = (float)run->spec->noise.gamma;
    job->floor = (float)run->spec->noise.floor;
    job->count = run->dst->count;
    job->first_chunk = pass->leaf * chunks_of(job->count);
    job->room = pass->used ? job->count / pass->views : job->count;
    job->used = pass->used ? job->count / run->batch * pass->used : job->count;
    job->half = run->dst->dtype == NN_BF16;
    draw_key(job->key, run, pass);
}

/* ---- passes ---- */

void residual_noise_forward(struct layer_run *run, const struct activation *residual, const struct pass *pass)
{
    struct job job = {.to = run->dst->data,
                      .residual = residual ? residual->data : NULL,
                      .multiplied = run->spec->noise.kind == NN_NOISE_MULTIPLICATIVE};
    residual_noise_prepare(&job, run, pass);
    if (run->spec->noise.relative) {
        const struct moments m =
            run->crossed ? moments_read(run->crossed) : residual_noise_measure(run, &job);
        run->noise_count = m.count;
        run->noise_mean = m.mean;
        run->noise_deviation = m.count > 1 ? sqrt(m.squares / (m.count - 1)) : 0;
        job.scale = (float)(run->spec->noise.gamma * run->noise_deviation);
        job.residual = NULL;
    }
    run_chunks(job.count, run, residual_noise_chunk, &job);
}

void residual_noise_backward(struct layer_run *run, struct activation *residual, enum residual_share share,
                             const struct pass *pass)
{
    struct job job = {.to = residual->diff,
                      .gradient = run->dst->diff,
                      .residual = residual->data,
                      .keep = share != RESIDUAL_COPY,
                      .share = share != RESIDUAL_SHARED};
    residual_noise_prepare(&job, run, pass);
    run_chunks(job.count, run, residual_noise_chunk, &job);
}

/* y = x + gamma s(x) z: besides its own gradient, x_i moves s; the derivative is (x_i - mean) / ((n - 1)
 * s). */
void residual_noise_backward_relative(struct layer_run *run, const struct pass *pass)
{
    struct job job = {.to = run->dst->diff, .gradient = run->dst->diff, .residual = run->dst->data};
    double gamma = run->spec->noise.gamma, deviation = run->noise_deviation;
    if (!(deviation > 0))
        return;
    residual_noise_prepare(&job, run, pass);
    const double sum = run->crossed ? run->crossed[0] : residual_noise_product(run, &job);
    job.scale = (float)(gamma * deviation);
    job.mean = (float)run->noise_mean;
    job.pull = (float)(gamma * sum / ((run->noise_count - 1) * deviation));
    run_chunks(job.count, run, chunk_pull, &job);
}

/* ---- a step in leaves: three numbers forward, one backward ---- */

static size_t cross_width(const struct layer_run *run)
{
    (void)run;
    return MOMENTS_NUMBERS;
}

static void gather_forward(struct layer_run *run, const struct pass *pass, double *out)
{
    struct job job = {.to = run->dst->data};
    residual_noise_prepare(&job, run, pass);
    moments_write(out, residual_noise_measure(run, &job));
}

static void gather_backward(struct layer_run *run, const struct pass *pass, double *out)
{
    struct job job = {.gradient = run->dst->diff};
    residual_noise_prepare(&job, run, pass);
    out[0] = residual_noise_product(run, &job);
    out[1] = out[2] = 0;
}

const struct layer_cross residual_noise_cross = {cross_width,   gather_forward,  gather_backward,
                                                 moments_merge, tree_merge_sums, NULL};
