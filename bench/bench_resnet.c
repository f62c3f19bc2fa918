/* Residual networks on random 32x32 images: one training step (SGD with momentum 0.9) or one inference pass.
 * usage: bench_resnet [--model resnet8|resnet18|resnet50|mobilenetv2] [--norm batch|group] [--mode
 * train|infer] [--dtype f32|bf16]
 * [--batch 128]
 *                     [--threads N] [--steps 15] [--backend auto] [--noise additive|multiplicative]
 * One JSON line: medians over the steps; cpu_ms is the CPU time of all threads, which other programs disturb
 * less. --noise (resnet8): a second line, of the same network with noise of .5 in its blocks (additive: also
 * .25 on the input), whose steps are taken in turn with the first one's; cpu_ratio is the median of the
 * steps' ratios. */
#include "stopwatch.h"
#include "nn/plan/plan.h"
#include "par/par.h"
#include "rng/rng.h"

#include "base/cpu.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLASSES = 10, SIDE = 32, WARM_UP = 3, STEPS_MAX = 1000 };

struct settings {
    const char *model, *norm, *mode, *dtype, *backend, *noise;
    size_t batch, steps;
    int threads;
};

static void must(sotto_status status)
{
    if (status != SOTTO_OK) {
        fprintf(stderr, "bench_resnet: %s\n", sotto_error_text());
        exit(1);
    }
}

static struct settings parse(int argc, char **argv)
{
    struct settings s = {"resnet8", "batch", "train", "f32", "auto", NULL, 128, 15, cpu_count()};
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *value = argv[i + 1];
        if (strcmp(argv[i], "--model") == 0)
            s.model = value;
        else if (strcmp(argv[i], "--norm") == 0)
            s.norm = value;
        else if (strcmp(argv[i], "--mode") == 0)
            s.mode = value;
        else if (strcmp(argv[i], "--dtype") == 0)
            s.dtype = value;
        else if (strcmp(argv[i], "--backend") == 0)
            s.backend = value;
        else if (strcmp(argv[i], "--noise") == 0)
            s.noise = value;
        else if (strcmp(argv[i], "--batch") == 0)
            s.batch = strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--steps") == 0)
            s.steps = strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--threads") == 0)
            s.threads = atoi(value);
        else {
            fprintf(stderr, "bench_resnet: unknown option %s\n", argv[i]);
            exit(64);
        }
    }
    s.steps = s.steps < 1 ? 1 : s.steps > STEPS_MAX ? STEPS_MAX : s.steps;
    return s;
}

/* One network and what its steps took. */
struct subject {
    struct nn_model *model;
    struct nn_plan *plan;
    struct nn_optimizer *optimizer;
    double total[STEPS_MAX], cpu[STEPS_MAX], forward[STEPS_MAX], backward[STEPS_MAX];
};

static void open_subject(struct subject *b, const struct settings *s, const char *noise)
{
    const struct nn_backend *backend;
    struct nn_model_config config = {
        .name = s->model, .input = {3, SIDE, SIDE}, .classes = CLASSES, .norm = s->norm};
    if (noise) {
        bool additive = strcmp(noise, "additive") == 0;
        config.noise =
            (struct nn_noise){.kind = additive ? NN_NOISE_ADDITIVE : NN_NOISE_MULTIPLICATIVE, .gamma = .5};
        config.input_noise = additive ? .25 : 0;
    }
    must(nn_backend_find(&backend, s->backend));
    must(nn_model_create(&b->model, &config, 1));
    must(nn_plan_create(&b->plan, b->model,
                        &(struct nn_plan_config){.batch = s->batch,
                                                 .dtype = strcmp(s->dtype, "bf16") == 0 ? NN_BF16 : NN_F32,
                                                 .backend = backend,
                                                 .training = strcmp(s->mode, "train") == 0}));
    must(nn_optimizer_create(&b->optimizer, b->model,
                             &(struct nn_optimizer_config){.name = "sgd", .momentum = 0.9}));
    struct rng random = rng_stream(1, RNG_TEST, 0, 0);
    for (size_t i = 0; i < s->batch * 3 * SIDE * SIDE; i++)
        nn_plan_input(b->plan)[i] = rng_unit_f(&random);
}

static void take_step(struct subject *b, const struct settings *s, const int64_t *labels, size_t step)
{
    int training = strcmp(s->mode, "train") == 0;
    double start = wall_seconds(), cpu_start = cpu_seconds(), middle, end;
    nn_plan_forward(b->plan, training, 1, step);
    middle = end = wall_seconds();
    if (training) {
        loss_softmax_cross_entropy(nn_plan_diff_output(b->plan), nn_plan_output(b->plan), labels, s->batch,
                                   CLASSES);
        nn_plan_backward(b->plan);
        end = wall_seconds();
        nn_optimizer_step(b->optimizer, b->model, 1e-3);
    }
    if (step < WARM_UP)
        return;
    b->total[step - WARM_UP] = wall_seconds() - start;
    b->cpu[step - WARM_UP] = cpu_seconds() - cpu_start;
    b->forward[step - WARM_UP] = middle - start;
    b->backward[step - WARM_UP] = end - middle;
}

static void close_subject(struct subject *b, const struct settings *s, const char *noise, double ratio)
{
    const struct nn_backend *backend;
    double seconds = median(b->total, s->steps);
    must(nn_backend_find(&backend, s->backend));
    printf(
        "{\"bench\": \"resnet\", \"model\": \"%s\", \"norm\": \"%s\", \"mode\": \"%s\", \"dtype\": \"%s\", "
        "\"noise\": \"%s\", \"batch\": %zu, \"threads\": %d, \"backend\": \"%s\", \"plan_bytes\": %zu, "
        "\"step_ms\": %.2f, "
        "\"cpu_ms\": %.2f, \"cpu_ratio\": %.3f, "
        "\"forward_ms\": %.2f, \"backward_ms\": %.2f, \"images_per_second\": %.1f}\n",
        s->model, s->norm, s->mode, s->dtype, noise ? noise : "none", s->batch, s->threads,
        nn_backend_title(backend), nn_plan_bytes(b->plan), 1e3 * seconds, 1e3 * median(b->cpu, s->steps),
        ratio, 1e3 * median(b->forward, s->steps), 1e3 * median(b->backward, s->steps),
        (double)s->batch / seconds);
    nn_optimizer_free(b->optimizer);
    nn_plan_free(b->plan);
    nn_model_free(b->model);
}

int main(int argc, char **argv)
{
    struct settings s = parse(argc, argv);
    static struct subject plain, noisy;
    static double ratios[STEPS_MAX];
    par_set_threads(s.threads);
    open_subject(&plain, &s, NULL);
    if (s.noise)
        open_subject(&noisy, &s, s.noise);
    int64_t *labels = base_alloc(s.batch, sizeof *labels);
    struct rng random = rng_stream(2, RNG_TEST, 0, 0);
    for (size_t i = 0; labels && i < s.batch; i++)
        labels[i] = (int64_t)rng_below(&random, CLASSES);
    for (size_t step = 0; step < s.steps + WARM_UP; step++) {
        take_step(&plain, &s, labels, step);
        if (s.noise)
            take_step(&noisy, &s, labels, step);
    }
    for (size_t i = 0; s.noise && i < s.steps; i++)
        ratios[i] = noisy.cpu[i] / plain.cpu[i];
    close_subject(&plain, &s, NULL, 1);
    if (s.noise)
        close_subject(&noisy, &s, s.noise, median(ratios, s.steps));
    base_free(labels);
    return 0;
}
