/* What `auto` measures and takes for one training: two steps of each candidate. usage: bench_autotune [--model
 * resnet8] [--size 32] [--batch 128] [--views 1] [--threads N] [--clock wall|cpu]; keras-simclr with --batch
 * 256 --views 2 is contrastive pre-training. cpu: the time of the process instead, for --threads 1 on a busy
 * machine. Prints one line of JSON. Nothing is remembered. */
#include "base/cpu.h"
#include "nn/loop/autotuner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu_seconds(void *state, const struct autotune_candidate *running)
{
    struct timespec t;
    (void)state, (void)running;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    struct nn_model_config model = {.name = "resnet8"};
    size_t size = 32, batch = 128, views = 1;
    int threads = cpu_count();
    const struct autotune_clock cpu = {cpu_seconds, NULL}, *clock = NULL;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--model") == 0)
            model.name = argv[i + 1];
        else if (strcmp(argv[i], "--size") == 0)
            size = strtoul(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--batch") == 0)
            batch = strtoul(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--views") == 0)
            views = strtoul(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--threads") == 0)
            threads = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--clock") == 0)
            clock = strcmp(argv[i + 1], "cpu") == 0 ? &cpu : NULL;
        else
            return 64;
    }
    setenv("SOTTO_CACHE_DIR", "/dev/null", 1);
    model.input = (struct nn_shape){3, size, size};
    if (views > 1)
        model.projector[0] = model.projector[1] = 128, model.projector_count = 2;
    else
        model.classes = 10;
    const struct autotune_request r = {.model = &model,
                                       .batch = views * batch,
                                       .records = batch,
                                       .steps = (uint64_t)1 << 40,
                                       .threads = threads,
                                       .clock = clock};
    struct sotto_autotune a;
    if (autotune(&a, &r, NULL) != SOTTO_OK) {
        fprintf(stderr, "%s\n", sotto_error_text());
        return 70;
    }
    printf("{\"bench\": \"autotune\", \"model\": \"%s\", \"size\": %zu, \"batch\": %zu, \"threads\": %d, "
           "\"choice\": \"%s %s\"",
           model.name, size, batch, threads, a.dtype, a.backend);
    for (size_t i = 0; i < a.count; i++)
        printf(", \"%s %s\": %.0f", a.measured[i].dtype, a.measured[i].backend, a.measured[i].per_second);
    printf("}\n");
    return 0;
}
