/* What Talos adds to a training step of SimCLR: keras-simclr on 32x32, plain, with the adversary while the
 * encoder learns, while the adversary does, and while both do with five steps of the adversary, in turn; CPU
 * time of this process, medians, without augmentation (which would only make the ratio smaller). Target: 1.1
 * times the plain step. usage: bench_talos_step [BATCH [STEPS]] */
#include "stopwatch.h"

#include "nn/plan/plan.h"
#include "par/par.h"
#include "rng/rng.h"
#include "ssl/talos.h"

#include <stdio.h>
#include <stdlib.h>

enum { KINDS = 4, STEPS_MAX = 101, VALUES = 5 };
static const char *const names[KINDS] = {"plain SimCLR", "Talos, encoder's turn", "Talos, adversary's turn",
                                         "Talos, joint, 5 steps"};
static const enum talos_turn turns[KINDS] = {TALOS_ENCODER, TALOS_ENCODER, TALOS_ADVERSARY, TALOS_BOTH};

static void check(sotto_status status)
{
    if (status != SOTTO_OK) {
        fprintf(stderr, "bench: %s\n", sotto_error_text());
        exit(1);
    }
}

struct trainer {
    struct nn_model *model;
    struct nn_plan *plan;
    struct nn_optimizer *adam;
    struct talos *talos;
};

static void make(struct trainer *t, const struct talos_setup *setup, size_t batch,
                 const struct nn_backend *backend)
{
    const struct nn_optimizer_config adam = {.name = "adam", .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-7};
    struct nn_model_config config = {
        .name = "keras-simclr", .input = {3, 32, 32}, .projector = {128, 128}, .projector_count = 2};
    if (setup->on)
        config.adversary = talos_adversary(setup);
    check(nn_model_create(&t->model, &config, 1));
    check(nn_plan_create(&t->plan, t->model,
                         &(struct nn_plan_config){.batch = 2 * batch, .backend = backend, .training = 1}));
    if (setup->on)
        check(talos_create(&t->talos, setup, t->model, t->plan, &adam, batch, 2));
    else
        check(nn_optimizer_create(&t->adam, t->model, &adam));
    struct rng r = rng_stream(1, RNG_TEST, 0, 0);
    for (size_t i = 0; i < 2 * batch * 3 * 32 * 32; i++)
        nn_plan_input(t->plan)[i] = rng_unit_f(&r);
}

static void step(struct trainer *t, struct ntxent *loss, const int64_t *rows, int kind)
{
    enum talos_turn turn = turns[kind];
    nn_plan_forward(t->plan, turn & TALOS_ENCODER, 0, 0);
    ntxent_run(loss, nn_plan_diff_output(t->plan), NULL, nn_plan_output(t->plan), 0.1f);
    if (t->talos)
        check(talos_loss(t->talos, rows));
    if (turn & TALOS_ENCODER)
        nn_plan_backward(t->plan);
    if (t->talos)
        talos_update(t->talos, 1e-4, turn);
    else
        nn_optimizer_step(t->adam, t->model, 1e-4);
}

int main(int count, char **words)
{
    size_t batch = count > 1 ? strtoull(words[1], NULL, 10) : 256,
           steps = count > 2 ? strtoull(words[2], NULL, 10) : 9;
    const struct nn_backend *backend;
    struct ntxent *loss;
    struct trainer trainers[3] = {{0}}; /* plain, Talos, Talos joint */
    static double seconds[KINDS][STEPS_MAX];
    int64_t *rows = calloc(batch, sizeof *rows), attribute[1] = {3};
    struct talos_setup setups[3] = {
        {0}, {.on = true, .adversary_steps = 1, .lambda = 1, .attribute = attribute, .values = VALUES}};
    setups[2] = setups[1];
    setups[2].adversary_steps = 5;
    steps = steps < STEPS_MAX ? steps : STEPS_MAX;
    par_set_threads(par_threads(NULL));
    check(nn_backend_find(&backend, "auto"));
    check(ntxent_create(&loss, NTXENT_KERAS, batch, 128, batch, backend));
    for (int i = 0; i < 3; i++)
        make(&trainers[i], &setups[i], batch, backend);
    for (size_t s = 0; s <= steps; s++) /* the first round warms up */
        for (int kind = 0; kind < KINDS; kind++) {
            double start = cpu_seconds();
            step(&trainers[kind == 3 ? 2 : kind > 0], loss, rows, kind);
            seconds[kind][s ? s - 1 : 0] = cpu_seconds() - start;
        }
    for (int kind = 0; kind < KINDS; kind++) {
        double middle = median(seconds[kind], steps); /* which sorts */
        printf("%-24s %7.1f ms CPU (%.1f-%.1f)  %.3f of plain\n", names[kind], 1e3 * middle,
               1e3 * seconds[kind][0], 1e3 * seconds[kind][steps - 1], middle / seconds[0][steps / 2]);
    }
    ntxent_free(loss);
    for (int i = 0; i < 3; i++) {
        talos_free(trainers[i].talos);
        nn_plan_free(trainers[i].plan);
        nn_optimizer_free(trainers[i].adam);
        nn_model_free(trainers[i].model);
    }
    free(rows);
    return 0;
}
