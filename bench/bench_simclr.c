/* A whole SimCLR training step, augmentation included, and where its time goes. Medians; one JSON line.
 * usage: bench_simclr [--size 32] [--batch 256] [--dtype f32|bf16] [--threads N] [--steps 15] [--encoder
 * NAME] */
#include "stopwatch.h"
#include "data/augment/augment.h"
#include "par/par.h"
#include "rng/rng.h"
#include "ssl/objective.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_UP = 3, MOST_STEPS = 1000, IMAGES = 4096, STAGES = 6 };
static const char *const stage_names[STAGES] = {"augment",  "forward",   "loss",
                                                "backward", "optimizer", "step"};

static void check(sotto_status status)
{
    if (status == SOTTO_OK)
        return;
    fprintf(stderr, "bench_simclr: %s\n", sotto_error_text());
    exit(1);
}

struct settings {
    size_t size, batch, steps;
    int threads;
    const char *dtype, *encoder;
};

static struct settings parse(int argc, char **argv)
{
    struct settings s = {32, 256, 15, cpu_count(), "f32", "keras-simclr"};
    for (int i = 1; i + 1 < argc; i += 2) {
        size_t number = strtoul(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--size") == 0)
            s.size = number;
        else if (strcmp(argv[i], "--batch") == 0)
            s.batch = number;
        else if (strcmp(argv[i], "--steps") == 0)
            s.steps = number < MOST_STEPS ? number : MOST_STEPS;
        else if (strcmp(argv[i], "--threads") == 0)
            s.threads = (int)number;
        else if (strcmp(argv[i], "--dtype") == 0)
            s.dtype = argv[i + 1];
        else if (strcmp(argv[i], "--encoder") == 0)
            s.encoder = argv[i + 1];
        else
            fprintf(stderr, "bench_simclr: unknown option %s\n", argv[i]), exit(64);
    }
    return s;
}

int main(int argc, char **argv)
{
    struct settings s = parse(argc, argv);
    static double times[STAGES][MOST_STEPS];
    const struct nn_backend *backend;
    const struct objective *objective;
    struct nn_model *model;
    struct nn_plan *plan;
    struct nn_optimizer *optimizer;
    struct augmenter *augmenter;
    void *state;

    check(nn_backend_find(&backend, "auto"));
    check(objective_find(&objective, "simclr"));
    par_set_threads(s.threads);
    int bf16 = strcmp(s.dtype, "bf16") == 0;
    struct nn_model_config network = {
        .name = s.encoder, .input = {3, s.size, s.size}, .projector = {128, 128}, .projector_count = 2};
    struct nn_plan_config step = {
        .batch = 2 * s.batch, .dtype = bf16 ? NN_BF16 : NN_F32, .backend = backend, .training = 1};
    struct nn_optimizer_config adam = {.name = "adam", .beta1 = .9, .beta2 = .999, .epsilon = 1e-7};
    struct augment_config augment = {.strength = {.min_area = .25, .brightness = .6, .jitter = .2, .flip = 1},
                                     .channels = 3,
                                     .height = s.size,
                                     .width = s.size,
                                     .views = 2,
                                     .threads = s.threads};
    check(nn_model_create(&model, &network, 1));
    check(nn_plan_create(&plan, model, &step));
    check(nn_optimizer_create(&optimizer, model, &adam));
    check(augmenter_create(&augmenter, &augment));
    struct objective_config loss = {.batch = s.batch,
                                    .leaf = s.batch, /* one plan */
                                    .width = nn_model_output_width(model),
                                    .loss = "keras",
                                    .temperature = .1,
                                    .backend = backend};
    check(objective->create(&state, &loss));

    size_t bytes = 3 * s.size * s.size;
    uint8_t *images = base_alloc(IMAGES, bytes);
    int64_t *rows = base_alloc(s.batch, sizeof *rows);
    if (!images || !rows)
        return 71;
    struct rng pixels = rng_stream(1, RNG_TEST, 0, 0);
    for (size_t i = 0; i < IMAGES * bytes; i++)
        images[i] = (uint8_t)rng_u32(&pixels);
    double last = 0, accuracy;
    for (size_t i = 0; i < WARM_UP + s.steps; i++) {
        struct rng r = rng_stream(1, RNG_ORDER, i, 0);
        for (size_t k = 0; k < s.batch; k++)
            rows[k] = (int64_t)rng_below(&r, IMAGES);
        double t[STAGES];
        t[0] = wall_seconds();
        augmenter_run(augmenter, nn_plan_input(plan), images,
                      &(struct augment_part){.rows = rows, .n = s.batch, .room = s.batch}, 1, i);
        t[1] = wall_seconds();
        nn_plan_forward(plan, 1, 1, i);
        t[2] = wall_seconds();
        last = objective->run(state, nn_plan_diff_output(plan), &accuracy, nn_plan_output(plan));
        t[3] = wall_seconds();
        nn_plan_backward(plan);
        t[4] = wall_seconds();
        nn_optimizer_step(optimizer, model, 1e-3);
        t[5] = wall_seconds();
        for (int k = 0; i >= WARM_UP && k < STAGES; k++)
            times[k][i - WARM_UP] = k + 1 < STAGES ? t[k + 1] - t[k] : t[STAGES - 1] - t[0];
    }
    double typical[STAGES];
    printf("{\"bench\": \"simclr\", \"encoder\": \"%s\", \"size\": %zu, \"batch\": %zu, \"dtype\": \"%s\", "
           "\"threads\": %d, "
           "\"backend\": \"%s\", \"planned_mib\": %.0f, \"loss\": %.4f",
           s.encoder, s.size, s.batch, bf16 ? "bf16" : "f32", s.threads, nn_backend_title(backend),
           (double)nn_plan_bytes(plan) / (1 << 20), last);
    for (int k = 0; k < STAGES; k++) {
        typical[k] = median(times[k], s.steps);
        printf(", \"%s_ms\": %.2f", stage_names[k], 1e3 * typical[k]);
    }
    printf(", \"outside_network_share\": %.4f, \"augment_share\": %.4f, \"images_per_second\": %.1f}\n",
           1 - (typical[1] + typical[3]) / typical[STAGES - 1], typical[0] / typical[STAGES - 1],
           (double)s.batch / typical[STAGES - 1]);
    objective->release(state);
    augmenter_free(augmenter);
    nn_optimizer_free(optimizer);
    nn_plan_free(plan);
    nn_model_free(model);
    base_free(images);
    base_free(rows);
    return 0;
}
