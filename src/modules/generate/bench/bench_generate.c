/* Training steps of generative models on random 28x28 grey images: drawing records and latents, both networks, both updates.
 * usage: bench_generate [--model dcgan|wgan-gp|vae] [--batch 64] [--width 32] [--threads N] [--steps 15] [--backend auto]
 * One JSON line: medians over the steps; cpu_ms is the CPU time of all threads, which other programs disturb less. A step of a
 * wgan-gp has five of its critic, and counts five batches. */
#include "stopwatch.h"
#include "generate/generator.h"
#include "rng/rng.h"

#include "base/cpu.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS = 1024, SIDE = 28, WARM_UP = 3, STEPS_MAX = 1000 };

struct clock {
    size_t calls;
    double wall, cpu, walls[STEPS_MAX], cpus[STEPS_MAX];
};

/* Called after each step. */
static void tick(void *user, const char *stage, uint64_t done, uint64_t total, const char *unit)
{
    (void)stage, (void)done, (void)total, (void)unit;
    struct clock *c = user;
    double wall = wall_seconds(), cpu = cpu_seconds();
    if (c->calls >= WARM_UP && c->calls - WARM_UP < STEPS_MAX) {
        c->walls[c->calls - WARM_UP] = wall - c->wall;
        c->cpus[c->calls - WARM_UP] = cpu - c->cpu;
    }
    c->calls++;
    c->wall = wall, c->cpu = cpu;
}

int main(int argc, char **argv)
{
    static uint8_t images[RECORDS * SIDE * SIDE];
    static struct clock clock;
    struct sotto_dataset data = {.name = "random",
                                 .n = RECORDS,
                                 .n_train = RECORDS,
                                 .channels = 1,
                                 .height = SIDE,
                                 .width = SIDE,
                                 .images = images};
    struct sotto_generator_options o = {.model = "dcgan", .steps = 15, .batch = 64, .width = 32};
    struct sotto_generator_result result;
    struct sotto_generator *g;
    struct sotto_context ctx = {.threads = cpu_count(), .progress = tick, .user = &clock};
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *name = argv[i], *value = argv[i + 1];
        if (strcmp(name, "--model") == 0)
            o.model = value;
        else if (strcmp(name, "--batch") == 0)
            o.batch = strtoul(value, NULL, 10);
        else if (strcmp(name, "--width") == 0)
            o.width = strtoul(value, NULL, 10);
        else if (strcmp(name, "--steps") == 0)
            o.steps = strtoul(value, NULL, 10);
        else if (strcmp(name, "--backend") == 0)
            o.backend = value;
        else if (strcmp(name, "--threads") == 0)
            ctx.threads = atoi(value);
        else {
            fprintf(stderr, "bench_generate: unknown option %s\n", name);
            return 64;
        }
    }
    const size_t steps = o.steps < 1 ? 1 : o.steps > STEPS_MAX ? STEPS_MAX : o.steps;
    o.steps = steps + WARM_UP;
    struct rng r = rng_stream(1, RNG_TEST, 0, 0);
    for (size_t i = 0; i < sizeof images; i++)
        images[i] = (uint8_t)rng_below(&r, 256);
    if (sotto_generator_train(&g, &result, &data, NULL, 0, &o, &ctx) != SOTTO_OK) {
        fprintf(stderr, "bench_generate: %s\n", sotto_error_text());
        return 1;
    }
    double seconds = median(clock.walls, steps);
    printf("{\"bench\": \"generate\", \"model\": \"%s\", \"batch\": %zu, \"width\": %zu, \"threads\": %d, "
           "\"backend\": \"%s\", "
           "\"step_ms\": %.2f, \"cpu_ms\": %.2f, \"images_per_second\": %.1f}\n",
           o.model, o.batch, o.width, ctx.threads, result.backend, 1e3 * seconds,
           1e3 * median(clock.cpus, steps), (double)(g->kind->batches * o.batch) / seconds);
    sotto_generator_free(g);
    return 0;
}
