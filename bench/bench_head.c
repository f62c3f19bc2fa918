/* Times heads on random features: one head on one core, and the sensitivity sampler.
 * usage: bench_head [--threads N] [--json]
 * [mlp|linear|linear500|convex|pairs32|pairs500|mlp-pairs|shadows]... (default: all). --json: one line with
 * heads_per_second a task. */
#include "stopwatch.h"
#include "sotto/private/all.h"

#include "base/memory.h"
#include "head/batch/head_batch_train.h"
#include "rng/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* CLOCK_MONOTONIC: wall time; CLOCK_PROCESS_CPUTIME_ID: CPU time of all threads, which other programs disturb
 * less. */
/* Heads on random halves, as shadow models are. */
static sotto_status run_shadows(size_t heads, const struct head_data *data, const struct sotto_head_recipe *r,
                                const struct sotto_context *ctx)
{
    uint8_t *member = base_alloc(data->n, heads);
    float *parameters =
        base_alloc(heads, head_parameter_count(r, data->d, data->classes) * sizeof *parameters);
    struct rng coin = rng_stream(1, RNG_TEST, 0, 0);
    sotto_status status = SOTTO_ENOMEM;
    for (size_t i = 0; member && i < data->n * heads; i++)
        member[i] = rng_u32(&coin) & 1;
    if (member && parameters)
        status = head_many_train(parameters, data, r, member, heads, ctx);
    base_free(member);
    base_free(parameters);
    return status;
}

/* Noisy class centres, ReLU'd as an encoder's output is. */
static void synthesise(float *x, int64_t *y, size_t n, size_t d, size_t classes)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = (int64_t)(i % classes);
        struct rng centre = rng_stream(1, RNG_SYNTHETIC, 1, (uint64_t)y[i]),
                   noise = rng_stream(1, RNG_SYNTHETIC, 0, i);
        for (size_t j = 0; j < d; j++) {
            double v = 0.5 * rng_normal(&centre) + rng_normal(&noise);
            x[i * d + j] = v > 0 ? (float)v : 0;
        }
    }
}

struct task {
    const char *name, *title, *trainer;
    size_t n, hidden, epochs, batch, pairs, shadows;
};
static const struct task tasks[] = {
    {"mlp", "one head, 128-512-10, 500 records, 300 epochs, batch 25", "adam", 500, 512, 300, 25, 0, 0},
    {"linear", "one head, 128-10, 10,000 records, 20 epochs, batch 25", "adam", 10000, 0, 20, 25, 0, 0},
    {"linear500", "one head, 128-10, 10,000 records, 20 epochs, batch 500", "adam", 10000, 0, 20, 500, 0, 0},
    {"convex", "one proved head, 128-10, 10,000 records, 500 full-batch steps", "convex", 10000, 0, 20, 500,
     0, 0},
    {"mlp-pairs", "10 pairs, 128-512-10, 500 records, 300 epochs, batch 25", "adam", 500, 512, 300, 25, 10,
     0},
    {"pairs32", "32 pairs, 128-10, 10,000 records, 20 epochs, batch 500", "adam", 10000, 0, 20, 500, 32, 0},
    {"pairs500", "500 pairs, 128-10, 10,000 records, 20 epochs, batch 500", "adam", 10000, 0, 20, 500, 500,
     0},
    {"shadows", "256 heads on random halves, 128-10, 10,000 records, 20 epochs, batch 500", "adam", 10000, 0,
     20, 500, 0, 256},
};

static int run(const struct task *t, const struct sotto_context *ctx, int json)
{
    enum { D = 128, K = 10 };
    float *x = base_alloc(t->n * D, sizeof *x);
    int64_t *y = base_alloc(t->n, sizeof *y);
    struct sotto_head *h = NULL;
    struct sotto_sensitivity_sample sample;
    struct sotto_head_recipe r;
    sotto_head_defaults(&r);
    r.trainer = t->trainer;
    r.epochs = t->epochs;
    r.batch = t->batch;
    r.hidden_count = t->hidden > 0;
    r.hidden[0] = t->hidden;
    synthesise(x, y, t->n, D, K);
    double best = 1e9, best_cpu = 1e9, accuracy = 0;
    for (int repeat = 0; repeat < (t->pairs || t->shadows ? 1 : 3); repeat++) {
        double start = wall_seconds(), start_cpu = cpu_seconds();
        struct head_data data = {x, y, t->n, D, K};
        sotto_status status;
        if (t->shadows)
            status = run_shadows(t->shadows, &data, &r, ctx);
        else if (t->pairs)
            status = sotto_sensitivity_run(&sample, x, y, t->n, D, K, &r, t->pairs, ctx);
        else
            status = sotto_head_train(&h, x, y, t->n, D, K, &r, ctx);
        double taken = wall_seconds() - start;
        double cpu = cpu_seconds() - start_cpu;
        best_cpu = cpu < best_cpu ? cpu : best_cpu;
        if (status == SOTTO_OK && h)
            status = sotto_head_accuracy(&accuracy, h, x, y, t->n, D, NULL);
        sotto_head_free(h);
        h = NULL;
        if (status != SOTTO_OK) {
            printf("%s: %s\n", t->name, sotto_error_text());
            return 1;
        }
        best = taken < best ? taken : best;
    }
    size_t steps = (t->n + t->batch - 1) / t->batch * t->epochs, heads = t->shadows ? t->shadows
                                                                         : t->pairs ? 2 * t->pairs
                                                                                    : 1;
    double inputs = t->hidden ? D * (double)t->hidden + 1.5 * (double)t->hidden * K : D * K;
    double flop = 4 * (double)t->n * (double)t->epochs * inputs * (double)heads;
    base_free(x);
    base_free(y);
    if (json) {
        printf("{\"what\": \"heads\", \"task\": \"%s\", \"seconds\": %.3f, \"cpu_seconds\": %.3f, "
               "\"heads_per_second\": %.3f}\n",
               t->name, best, best_cpu, (double)heads / best);
        return 0;
    }
    printf("%-10s %-72s %8.3f s  cpu %8.3f s  %7.1f us/step  %6.1f GFLOP/s", t->name, t->title, best,
           best_cpu, 1e6 * best / (double)(steps * heads), 1e-9 * flop / best);
    if (heads > 1)
        printf("  %.2f ms/head, %.2f ms of CPU\n", 1e3 * best / (double)heads,
               1e3 * best_cpu / (double)heads);
    else
        printf("  accuracy %.3f\n", accuracy);
    return 0;
}

int main(int argc, char **argv)
{
    int bad = 0, json = 0, named = 0;
    struct sotto_context ctx = {0};
    for (int a = 1; a < argc; a++) {
        json |= strcmp(argv[a], "--json") == 0;
        if (strcmp(argv[a], "--threads") == 0 && a + 1 < argc)
            ctx.threads = atoi(argv[++a]);
        else
            named |= argv[a][0] != '-';
    }
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        int wanted = !named;
        for (int a = 1; a < argc; a++)
            wanted |= strcmp(argv[a], tasks[i].name) == 0;
        if (wanted)
            bad |= run(&tasks[i], &ctx, json);
    }
    return bad;
}
