/* What Talos adds to a training step of SimCLR: keras-simclr on 32x32, plain, with the adversary while the
 * encoder learns, while the adversary does, and while both do with five steps of the adversary, each as one plan (order fast) and
 * in leaves (order exact), in turn; CPU time of this process, medians, without augmentation (which would only make the ratios
 * smaller). Targets: 1.1 times the plain step; in leaves a few per cent more than as one plan.
 * usage: bench_talos_step [BATCH [STEPS [THREADS]]] */
#include "stopwatch.h"

#include "nn/model/model.h"
#include "nn/plan/leaves.h"
#include "par/par.h"
#include "rng/rng.h"
#include "talos/talos_part.h"

#include <stdio.h>
#include <stdlib.h>

enum { KINDS = 4, ORDERS = 2, STEPS_MAX = 101, VALUES = 5 };
static const char *const names[KINDS] = {"plain SimCLR", "Talos, encoder's turn", "Talos, adversary's turn",
                                         "Talos, joint, 5 steps"};
static const struct pretrain_part *const part = &pretrain_part_talos;
static const enum pretrain_turn turns[KINDS] = {TURN_ENCODER, TURN_ENCODER, TURN_BRANCH, TURN_BOTH};

static void check(sotto_status status)
{
    if (status != SOTTO_OK) {
        fprintf(stderr, "bench: %s\n", sotto_error_text());
        exit(1);
    }
}

struct trainer {
    struct nn_model *model;
    struct leaves *leaves;
    struct ntxent *loss;
    struct nn_optimizer *adam;
    void *talos;
};

/* setup NULL: plain. */
static void make(struct trainer *t, const struct talos_setup *setup, const struct leaves_config *c)
{
    const struct nn_optimizer_config adam = {.name = "adam", .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-7};
    struct nn_model_config config = {
        .name = "keras-simclr", .input = {3, 32, 32}, .projector = {128, 128}, .projector_count = 2};
    if (setup)
        config.adversary = part->branch(setup);
    check(nn_model_create(&t->model, &config, 1));
    check(leaves_create(&t->leaves, t->model, c));
    check(ntxent_create(&t->loss, NTXENT_KERAS, c->records, 128, c->order.leaf, c->backend));
    if (setup)
        check(part->create(&t->talos, setup, t->model, t->leaves, &adam, c->records, 2));
    else
        check(nn_optimizer_create(&t->adam, t->model, &adam));
}

static void release(struct trainer *t)
{
    part->release(t->talos);
    leaves_free(t->leaves);
    ntxent_free(t->loss);
    nn_optimizer_free(t->adam);
    nn_model_free(t->model);
}

/* The numbers of the leaf's records, made once. */
static sotto_status fill(float *input, void *state, const struct leaf *leaf)
{
    const size_t width = 3 * 32 * 32, count = leaf->count * width;
    const float *numbers = state;
    for (size_t v = 0; v < 2; v++)
        for (size_t k = 0; k < count; k++)
            input[v * leaf->room * width + k] = numbers[leaf->first * width + k];
    return SOTTO_OK;
}

static void step(struct trainer *t, float *numbers, const int64_t *rows, int kind)
{
    enum pretrain_turn turn = turns[kind];
    check(leaves_forward(t->leaves, turn & TURN_ENCODER, 0, 0, fill, numbers));
    ntxent_run(t->loss, leaves_diff_output(t->leaves), NULL, leaves_output(t->leaves), 0.1f);
    if (t->talos)
        check(part->loss(t->talos, rows));
    if (turn & TURN_ENCODER)
        check(leaves_backward(t->leaves));
    if (t->talos)
        check(part->update(t->talos, 1e-4, turn));
    else
        nn_optimizer_step(t->adam, t->model, 1e-4);
}

static float *make_up(size_t records)
{
    struct rng r = rng_stream(1, RNG_TEST, 0, 0);
    float *numbers = malloc(records * 3 * 32 * 32 * sizeof *numbers);
    for (size_t i = 0; numbers && i < records * 3 * 32 * 32; i++)
        numbers[i] = rng_unit_f(&r);
    return numbers;
}

/* Sorts what it prints. */
static void print(double seconds[ORDERS][KINDS][STEPS_MAX], double ratio[KINDS][STEPS_MAX], size_t steps)
{
    double plain[ORDERS];
    for (int kind = 0; kind < KINDS; kind++) {
        for (int order = 0; order < ORDERS; order++) {
            double *x = seconds[order][kind], middle = median(x, steps);
            plain[order] = kind ? plain[order] : middle;
            printf("%-24s %s %7.1f ms CPU (%.1f-%.1f)  %.3f of plain\n", names[kind],
                   order ? "exact" : "fast ", 1e3 * middle, 1e3 * x[0], 1e3 * x[steps - 1],
                   middle / plain[order]);
        }
        const double middle = median(ratio[kind], steps);
        printf("%-24s exact / fast %.3f (%.3f-%.3f)\n", names[kind], middle, ratio[kind][steps / 4],
               ratio[kind][steps * 3 / 4]);
    }
}

int main(int count, char **words)
{
    size_t batch = count > 1 ? strtoull(words[1], NULL, 10) : 256,
           steps = count > 2 ? strtoull(words[2], NULL, 10) : 9;
    static struct trainer trainers[ORDERS][3]; /* plain, Talos, Talos joint */
    static double seconds[ORDERS][KINDS][STEPS_MAX], ratio[KINDS][STEPS_MAX];
    struct leaves_config c = {
        .records = batch, .views = 2, .threads = count > 3 ? atoi(words[3]) : par_threads(NULL)};
    const struct nn_model_config model = {.name = "keras-simclr", .input = {3, 32, 32}};
    int64_t *rows = calloc(batch, sizeof *rows), attribute[1] = {3};
    float *numbers = make_up(batch);
    struct talos_setup setups[3] = {
        {0}, {.adversary_steps = 1, .lambda = 1, .attribute = attribute, .values = VALUES}};
    setups[2] = setups[1];
    setups[2].adversary_steps = 5;
    steps = steps < STEPS_MAX ? steps : STEPS_MAX;
    par_set_threads(c.threads);
    check(nn_backend_find(&c.backend, "auto"));
    for (int order = 0; order < ORDERS; order++) {
        check(leaf_order_resolve(&c.order, order ? "exact" : "fast", 0, &model, batch, 2));
        for (int i = 0; i < 3; i++)
            make(&trainers[order][i], i ? &setups[i] : NULL, &c);
    }
    for (size_t s = 0; s <= steps; s++) /* the first round warms up */
        for (int kind = 0; kind < KINDS; kind++) {
            const size_t k = s ? s - 1 : 0;
            for (int order = 0; order < ORDERS; order++) {
                double start = cpu_seconds();
                step(&trainers[order][kind == 3 ? 2 : kind > 0], numbers, rows, kind);
                seconds[order][kind][k] = cpu_seconds() - start;
            }
            ratio[kind][k] = seconds[1][kind][k] / seconds[0][kind][k];
        }
    print(seconds, ratio, steps);
    for (int i = 0; i < ORDERS * 3; i++)
        release(&trainers[i / 3][i % 3]);
    free(numbers);
    free(rows);
    return 0;
}
