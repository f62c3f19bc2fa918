/* Times the parts of one SimCLR training step (keras-simclr with its projector, batch of images = twice as
 * many views): forward, loss, backward, optimizer. Prints images/s and the share of the matrix-product
 * ceiling measured in the same run (f32, nn_sgemm 2048^3; its samples lie between the steps, so both see the
 * same load on the machine). usage: bench_simclr_step [--side 32] [--batch 256] [--dtype f32|bf16] [--threads
 * T] [--steps 7] [--profile] */
#include "stopwatch.h"
#include "nn/plan/plan.h"
#include "par/par.h"
#include "rng/rng.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    size_t side, batch, steps;
    int threads, profile;
    enum nn_dtype dtype;
};

enum { STEPS_MAX = 101, ROWS = MODEL_ROWS_MAX };
enum part { FORWARD, LOSS, BACKWARD, OPTIMIZER, CEILING, PARTS };
static const char *const part_names[PARTS] = {"forward", "loss", "backward", "optimizer", "ceiling"};
struct samples {
    double part[PARTS][STEPS_MAX], forward[ROWS][STEPS_MAX], backward[ROWS][STEPS_MAX];
};

/* With one thread: CPU time, which other work on the machine disturbs little. */
static double seconds(void)
{
    return seconds_of(par_pool_threads() == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC);
}

static void check(sotto_status status)
{
    if (status != SOTTO_OK) {
        fprintf(stderr, "bench: %s\n", sotto_error_text());
        exit(1);
    }
}

/* Multiply-adds of a row's forward pass for one view; backward takes twice that, the first row once. */
static double row_work(const struct nn_model *m, size_t row)
{
    struct nn_shape dst = m->rows[row].shape;
    size_t count = 0;
    for (size_t i = m->first_parameter[row]; i < m->first_parameter[row + 1]; i++)
        if (m->parameters[i].file_ndim > 1)
            count += m->parameters[i].count;
    return (double)count * (double)(dst.height * dst.width);
}

/* 2 flops per multiply-add, 2 views per image. */
static double image_work(const struct nn_model *m)
{
    double work = 0;
    for (size_t row = 0; row < m->row_count; row++)
        work += row_work(m, row) * (row == 0 ? 2 : 3);
    return 4 * work;
}

static struct options parse(int count, char **words)
{
    struct options o = {.side = 32, .batch = 256, .steps = 7};
    for (int i = 1; i < count; i++) {
        const char *value = i + 1 < count ? words[i + 1] : "";
        if (strcmp(words[i], "--profile") == 0)
            o.profile = 1;
        else if (strcmp(words[i], "--side") == 0)
            o.side = strtoull(value, NULL, 10);
        else if (strcmp(words[i], "--batch") == 0)
            o.batch = strtoull(value, NULL, 10);
        else if (strcmp(words[i], "--steps") == 0)
            o.steps = strtoull(value, NULL, 10);
        else if (strcmp(words[i], "--threads") == 0)
            o.threads = atoi(value);
        else if (strcmp(words[i], "--dtype") == 0)
            o.dtype = strcmp(value, "bf16") == 0 ? NN_BF16 : NN_F32;
    }
    o.steps = o.steps < STEPS_MAX ? o.steps : STEPS_MAX;
    return o;
}

/* nn_plan_forward and nn_plan_backward row by row, for the profile. */
static void timed_rows(struct nn_plan *p, double (*times)[STEPS_MAX], size_t sample, int backward)
{
    for (size_t k = 0; k < p->row_count; k++) {
        size_t row = backward ? p->row_count - 1 - k : k;
        double start = seconds();
        if (backward)
            p->runs[row].spec->layer->backward(&p->runs[row], &p->pass);
        else
            p->runs[row].spec->layer->forward(&p->runs[row], &p->pass);
        times[row][sample] = seconds() - start;
    }
}

static double ceiling_sample(const struct nn_backend *b, float *A, float *B, float *C, size_t n)
{
    double start = seconds();
    nn_sgemm(b, 0, 0, n, n, n, 1, A, n, B, n, 0, C, n);
    return seconds() - start;
}

int main(int count, char **words)
{
    enum { N = 2048 };
    struct options o = parse(count, words);
    par_set_threads(o.threads ? o.threads : par_threads(NULL));
    const struct nn_backend *backend;
    struct nn_model *m;
    struct nn_plan *p;
    struct ntxent *loss;
    struct nn_optimizer *adam;
    check(nn_backend_find(&backend, "auto"));
    check(nn_model_create(&m,
                          &(struct nn_model_config){.name = "keras-simclr",
                                                    .input = {3, o.side, o.side},
                                                    .projector = {128, 128},
                                                    .projector_count = 2},
                          1));
    check(nn_plan_create(
        &p, m,
        &(struct nn_plan_config){.batch = 2 * o.batch, .dtype = o.dtype, .backend = backend, .training = 1}));
    check(ntxent_create(&loss, NTXENT_KERAS, o.batch, 128, o.batch, backend));
    check(nn_optimizer_create(
        &adam, m,
        &(struct nn_optimizer_config){.name = "adam", .beta1 = .9, .beta2 = .999, .epsilon = 1e-7}));
    struct rng r = rng_stream(1, RNG_TEST, 0, 0);
    for (size_t i = 0; i < 2 * o.batch * o.side * o.side * 3; i++)
        nn_plan_input(p)[i] = rng_unit_f(&r);
    float *A = base_alloc(3 * (size_t)N * N, sizeof *A), *B = A + (size_t)N * N, *C = B + (size_t)N * N;
    struct samples *s = base_alloc(1, sizeof *s);
    if (!A || !s)
        return 1;
    for (size_t i = 0; i < 2 * (size_t)N * N; i++)
        A[i] = rng_unit_f(&r);
    for (size_t step = 0; step < o.steps + 2; step++) {
        size_t k = step < 2 ? 0 : step - 2; /* two steps of warm-up */
        double t0 = seconds();
        nn_plan_forward(p, 1, 1, step);
        double t1 = seconds();
        ntxent_run(loss, nn_plan_diff_output(p), NULL, nn_plan_output(p), 0.1f);
        double t2 = seconds();
        nn_plan_backward(p);
        double t3 = seconds();
        nn_optimizer_step(adam, m, 1e-3);
        double t4 = seconds();
        s->part[FORWARD][k] = t1 - t0, s->part[LOSS][k] = t2 - t1;
        s->part[BACKWARD][k] = t3 - t2, s->part[OPTIMIZER][k] = t4 - t3;
        s->part[CEILING][k] = ceiling_sample(backend, A, B, C, N);
        if (o.profile) {
            timed_rows(p, s->forward, k, 0);
            timed_rows(p, s->backward, k, 1);
        }
    }
    double step = 0, ceiling = 2.0 * N * N * N / median(s->part[CEILING], o.steps);
    printf("%zux%zu, batch %zu, %s, %d threads, %s, plan %.0f MiB\n", o.side, o.side, o.batch,
           o.dtype == NN_BF16 ? "bf16" : "f32", p->threads, nn_backend_title(backend),
           (double)nn_plan_bytes(p) / (1 << 20));
    for (int part = FORWARD; part < CEILING; part++) {
        double t = median(s->part[part], o.steps);
        step += t;
        printf("  %-10s %8.2f ms\n", part_names[part], t * 1e3);
    }
    double rate = image_work(m) * (double)o.batch / step;
    printf("  step       %8.2f ms  %.0f images/s  %.1f GFLOP/s = %.0f %% of the f32 product ceiling %.1f\n",
           step * 1e3, (double)o.batch / step, rate / 1e9, 100 * rate / ceiling, ceiling / 1e9);
    for (size_t row = 0; o.profile && row < p->row_count; row++) {
        double work = 4 * row_work(m, row) * (double)o.batch, f = median(s->forward[row], o.steps),
               b = median(s->backward[row], o.steps);
        printf("  %-14s forward %7.2f ms (%5.1f)  backward %7.2f ms (%5.1f)\n", m->rows[row].path, f * 1e3,
               work / f / 1e9, b * 1e3, (row ? 2 : 1) * work / b / 1e9);
    }
    nn_optimizer_free(adam);
    ntxent_free(loss);
    nn_plan_free(p);
    nn_model_free(m);
    base_free(A);
    base_free(s);
    return 0;
}
