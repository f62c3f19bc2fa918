/* How long a step waits for a checkpoint: weights and both moments of Adam of an encoder, as pre-training keeps them.
 * usage: bench_checkpoint [--encoder resnet50] [--file checkpoint.bench] [--times 7]
 * One JSON line: medians and the longest, in wall milliseconds: of writing it at once, and of the wait where a thread writes a copy. */
#include "stopwatch.h"
#include "nn/loop/checkpoint.h"
#include "nn/loop/checkpoint_writer.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sotto/private/all.h"

enum { MOST = 100 };

static void must(sotto_status status)
{
    if (status == SOTTO_OK)
        return;
    fprintf(stderr, "bench_checkpoint: %s\n", sotto_error_text());
    exit(70);
}

static const struct checkpoint_origin origin = {.recipe = "bench\n", .machine = "bench\n", .steps = 1};
static const struct training_progress progress;

static double save_ms(const char *file, const struct nn_model *m, const struct nn_optimizer *o)
{
    const double began = wall_seconds();
    must(checkpoint_save(file, &origin, m, o, &progress));
    return 1e3 * (wall_seconds() - began);
}

/* What a step waits for; the writing is over before the next one. */
static double wait_ms(struct checkpoint_writer *w, const char *file, const struct nn_model *m,
                      const struct nn_optimizer *o)
{
    struct sotto_tensors t = {0};
    const double began = wall_seconds();
    must(checkpoint_copy(&t, &origin, m, o, &progress));
    must(checkpoint_writer_begin(w, file, &t));
    const double took = wall_seconds() - began;
    must(checkpoint_writer_wait(w));
    return 1e3 * took;
}

int main(int argc, char **argv)
{
    const char *encoder = "resnet50", *file = "checkpoint.bench";
    size_t times = 7;
    double waits[MOST], saves[MOST];
    struct checkpoint_writer writer = {0};
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
        saves[i] = save_ms(file, model, optimizer);
        waits[i] = wait_ms(&writer, file, model, optimizer);
    }
    unlink(file);
    const double save = median(saves, times), wait = median(waits, times);
    printf("{\"encoder\": \"%s\", \"mib\": %.0f, \"at_once_ms\": %.0f, \"at_once_most_ms\": %.0f, "
           "\"thread_ms\": "
           "%.0f, \"thread_most_ms\": %.0f, \"times\": %zu}\n",
           encoder, 3 * sizeof(float) * (double)nn_model_parameter_count(model, 1) / (1 << 20), save,
           saves[times - 1], wait, waits[times - 1], times);
    nn_optimizer_free(optimizer);
    nn_model_free(model);
    return 0;
}
