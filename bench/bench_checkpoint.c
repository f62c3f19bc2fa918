/* How long a step waits for a checkpoint: weights and both moments of Adam of an encoder, as pre-training keeps them.
 * usage: bench_checkpoint [--encoder resnet50] [--file checkpoint.bench] [--times 7]
 * One JSON line: medians and the longest, in wall milliseconds, of the copy alone and of the whole. */
#include "stopwatch.h"
#include "nn/loop/checkpoint.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sotto/sotto.h"

enum { MOST = 100 };

static void must(sotto_status status)
{
    if (status == SOTTO_OK)
        return;
    fprintf(stderr, "bench_checkpoint: %s\n", sotto_error_text());
    exit(70);
}

static double copy_seconds(const struct nn_model *m, const struct nn_optimizer *o)
{
    struct sotto_tensors t = {0};
    const double began = wall_seconds();
    must(nn_model_export(&t, m, "model.", 1));
    must(nn_optimizer_export(&t, o, "optimizer."));
    const double took = wall_seconds() - began;
    sotto_tensors_clear(&t);
    return 1e3 * took;
}

static double save_seconds(const char *file, const struct nn_model *m, const struct nn_optimizer *o)
{
    const struct checkpoint_origin origin = {.recipe = "bench\n", .machine = "bench\n", .steps = 1};
    const struct training_progress progress = {0};
    const double began = wall_seconds();
    must(checkpoint_save(file, &origin, m, o, &progress));
    return 1e3 * (wall_seconds() - began);
}

int main(int argc, char **argv)
{
    const char *encoder = "resnet50", *file = "checkpoint.bench";
    size_t times = 7;
    double copies[MOST], saves[MOST];
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--encoder") == 0)
            encoder = argv[i + 1];
        else if (strcmp(argv[i], "--file") == 0)
            file = argv[i + 1];
        else if (strcmp(argv[i], "--times") == 0)
            times = strtoul(argv[i + 1], NULL, 10);
        else
            return fprintf(stderr, "bench_checkpoint: unknown option %s\n", argv[i]), 64;
    }
    times = times < 1 ? 1 : times > MOST ? MOST : times;
    struct nn_model *model;
    struct nn_optimizer *optimizer;
    const struct nn_model_config config = {.name = encoder, .input = {3, 32, 32}};
    const struct nn_optimizer_config adam = {.name = "adam", .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-7};
    must(nn_model_create(&model, &config, 1));
    must(nn_optimizer_create(&optimizer, model, &adam));
    for (size_t i = 0; i < times; i++) {
        copies[i] = copy_seconds(model, optimizer);
        saves[i] = save_seconds(file, model, optimizer);
    }
    unlink(file);
    const double copy = median(copies, times), save = median(saves, times);
    printf(
        "{\"encoder\": \"%s\", \"mib\": %.0f, \"copy_ms\": %.0f, \"copy_most_ms\": %.0f, \"save_ms\": %.0f, "
        "\"save_most_ms\": %.0f, \"times\": %zu}\n",
        encoder, 3 * sizeof(float) * (double)nn_model_parameter_count(model, 1) / (1 << 20), copy,
        copies[times - 1], save, saves[times - 1], times);
    nn_optimizer_free(optimizer);
    nn_model_free(model);
    return 0;
}
