/* Residual networks on random 32x32 images: one training step (SGD with momentum 0.9) or one inference pass.
 * usage: bench_resnet [--model resnet8|resnet18|resnet50|mobilenetv2] [--norm batch|group] [--mode
 * train|infer] [--dtype f32|bf16]
 * [--batch 128]
 *                     [--threads N] [--steps 15] [--backend auto]
 * One JSON line: medians over the steps; cpu_ms is the CPU time of all threads, which other programs disturb
 * less. */
#include "stopwatch.h"
#include "nn/plan.h"
#include "par/par.h"
#include "rng/rng.h"

#include "base/cpu.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLASSES = 10, SIDE = 32, WARM_UP = 3, STEPS_MAX = 1000 };

struct settings {
    const char *model, *norm, *mode, *dtype, *backend;
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
    struct settings s = {"resnet8", "batch", "train", "f32", "auto", 128, 15, cpu_count()};
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

int main(int argc, char **argv)
{
    struct settings s = parse(argc, argv);
    int training = strcmp(s.mode, "train") == 0;
    const struct nn_backend *backend;
    struct nn_model *m;
    struct nn_plan *p;
    struct nn_optimizer *o;
    par_set_threads(s.threads);
    must(nn_backend_find(&backend, s.backend));
    must(nn_model_create(&m,
                         &(struct nn_model_config){
                             .name = s.model, .input = {3, SIDE, SIDE}, .classes = CLASSES, .norm = s.norm},
                         1));
    must(nn_plan_create(&p, m,
                        &(struct nn_plan_config){.batch = s.batch,
                                                 .dtype = strcmp(s.dtype, "bf16") == 0 ? NN_BF16 : NN_F32,
                                                 .backend = backend,
                                                 .training = training}));
    must(nn_optimizer_create(&o, m, &(struct nn_optimizer_config){.name = "sgd", .momentum = 0.9}));
    int64_t *labels = base_alloc(s.batch, sizeof *labels);
    struct rng random = rng_stream(1, RNG_TEST, 0, 0);
    for (size_t i = 0; i < s.batch * 3 * SIDE * SIDE; i++)
        nn_plan_input(p)[i] = rng_unit_f(&random);
    for (size_t i = 0; labels && i < s.batch; i++)
        labels[i] = (int64_t)rng_below(&random, CLASSES);

    static double total[STEPS_MAX], cpu[STEPS_MAX], forward[STEPS_MAX], backward[STEPS_MAX];
    for (size_t step = 0; step < s.steps + WARM_UP; step++) {
        double start = wall_seconds(), cpu_start = cpu_seconds(), middle, end;
        nn_plan_forward(p, training, 1, step);
        middle = end = wall_seconds();
        if (training) {
            loss_softmax_cross_entropy(nn_plan_diff_output(p), nn_plan_output(p), labels, s.batch, CLASSES);
            nn_plan_backward(p);
            end = wall_seconds();
            nn_optimizer_step(o, m, 1e-3);
        }
        if (step < WARM_UP)
            continue;
        total[step - WARM_UP] = wall_seconds() - start;
        cpu[step - WARM_UP] = cpu_seconds() - cpu_start;
        forward[step - WARM_UP] = middle - start;
        backward[step - WARM_UP] = end - middle;
    }
    double seconds = median(total, s.steps);
    printf(
        "{\"bench\": \"resnet\", \"model\": \"%s\", \"norm\": \"%s\", \"mode\": \"%s\", \"dtype\": \"%s\", "
        "\"batch\": %zu, \"threads\": %d, \"backend\": \"%s\", \"plan_bytes\": %zu, \"step_ms\": %.2f, "
        "\"cpu_ms\": %.2f, "
        "\"forward_ms\": %.2f, \"backward_ms\": %.2f, \"images_per_second\": %.1f}\n",
        s.model, s.norm, s.mode, s.dtype, s.batch, s.threads, nn_backend_title(backend), nn_plan_bytes(p),
        1e3 * seconds, 1e3 * median(cpu, s.steps), 1e3 * median(forward, s.steps),
        1e3 * median(backward, s.steps), (double)s.batch / seconds);
    base_free(labels);
    nn_optimizer_free(o);
    nn_plan_free(p);
    nn_model_free(m);
    return 0;
}
