/* What order exact costs: steps of a network, forward and backward, in leaves and as one plan, in turn, so that both see the
 * same load on the machine. With one thread: CPU time, which other work disturbs little. Prints a line for each size of leaf: the
 * medians, and the median of the ratios of neighbouring steps. usage: bench_leaves [--model keras-simclr] [--norm batch|group]
 * [--side 32] [--hidden N] [--batch 256] [--views 2] [--dtype f32|bf16] [--backend dnnl] [--threads 1] [--steps 15] [--leaf K]
 * (default: the leaf of `auto`) */
#include "stopwatch.h"
#include "nn/model/model.h"
#include "nn/plan/leaves.h"
#include "par/par.h"
#include "rng/rng.h"
#include <stdio.h>
#include <string.h>

enum { STEPS_MAX = 201 };
struct options {
    const char *model, *norm, *backend;
    size_t side, hidden, batch, views, steps, leaf;
    int threads;
    enum nn_dtype dtype;
};

static void check(sotto_status status)
{
    if (status != SOTTO_OK) {
        fprintf(stderr, "bench: %s\n", sotto_error_text());
        exit(1);
    }
}

static struct options parse(int count, char **words)
{
    struct options o = {.model = "keras-simclr",
                        .norm = "batch",
                        .backend = "dnnl",
                        .side = 32,
                        .batch = 256,
                        .views = 2,
                        .steps = 15,
                        .threads = 1};
    for (int i = 1; i + 1 < count; i += 2) {
        const char *value = words[i + 1];
        struct {
            const char *name;
            size_t *to;
        } const numbers[] = {{"--side", &o.side},   {"--hidden", &o.hidden}, {"--batch", &o.batch},
                             {"--views", &o.views}, {"--steps", &o.steps},   {"--leaf", &o.leaf}};
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
            if (strcmp(words[i], numbers[k].name) == 0)
                *numbers[k].to = strtoull(value, NULL, 10);
        if (strcmp(words[i], "--model") == 0)
            o.model = value;
        else if (strcmp(words[i], "--norm") == 0)
            o.norm = value;
        else if (strcmp(words[i], "--backend") == 0)
            o.backend = value;
        else if (strcmp(words[i], "--threads") == 0)
            o.threads = atoi(value);
        else if (strcmp(words[i], "--dtype") == 0)
            o.dtype = strcmp(value, "bf16") == 0 ? NN_BF16 : NN_F32;
    }
    o.steps = o.steps < STEPS_MAX ? o.steps : STEPS_MAX;
    return o;
}

struct way {
    struct leaves *leaves;
    size_t inputs, outputs;
    double seconds[STEPS_MAX], forward[STEPS_MAX]; /* of a step; of its way forward */
};

static sotto_status fill(float *input, void *state, const struct leaf *leaf)
{
    struct way *w = state;
    struct rng r = rng_stream(1, RNG_TEST, 0, leaf->number);
    if (w->seconds[0] == 0) /* once is enough for a time */
        for (size_t i = 0; i < leaf->count * w->inputs; i++)
            input[i] = rng_unit_f(&r);
    return SOTTO_OK;
}

static double seconds(int threads)
{
    return seconds_of(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC);
}

static double step(struct way *w, const struct options *o, uint64_t number, size_t sample)
{
    struct rng r = rng_stream(2, RNG_TEST, 0, number);
    const double start = seconds(o->threads);
    check(leaves_forward(w->leaves, 1, 1, number, fill, w));
    const double forward = seconds(o->threads);
    float *diff = leaves_diff_output(w->leaves);
    for (size_t i = 0; i < w->outputs; i++)
        diff[i] = rng_unit_f(&r) - 0.5f;
    const double backward = seconds(o->threads);
    check(leaves_backward(w->leaves));
    w->forward[sample] = forward - start;
    w->seconds[sample] = seconds(o->threads) - backward + forward - start;
    return w->seconds[sample];
}

int main(int count, char **words)
{
    static struct way fast, exact;
    static double ratio[STEPS_MAX];
    struct options o = parse(count, words);
    struct nn_model_config config = {.name = o.model, .norm = o.norm, .input = {3, o.side, o.side}};
    struct nn_model *m;
    if (o.hidden) {
        config.input = (struct nn_shape){o.side, 1, 1};
        config.hidden[config.hidden_count++] = o.hidden;
    }
    if (o.views == 2)
        config.projector[0] = config.projector[1] = 128, config.projector_count = 2;
    else
        config.classes = 10;
    struct leaves_config c = {.records = o.batch, .views = o.views, .dtype = o.dtype, .threads = o.threads};
    check(nn_backend_find(&c.backend, o.backend));
    check(nn_model_create(&m, &config, 1));
    par_set_threads(o.threads);
    fast.inputs = exact.inputs = o.views * config.input.channels * config.input.height * config.input.width;
    fast.outputs = exact.outputs = o.views * o.batch * nn_model_output_width(m);
    check(leaf_order_resolve(&c.order, "fast", 0, &config, o.batch, o.views));
    check(leaves_create(&fast.leaves, m, &c));
    check(leaf_order_resolve(&c.order, "exact", o.leaf, &config, o.batch, o.views));
    check(leaves_create(&exact.leaves, m, &c));
    for (size_t i = 0; i < o.steps + 2; i++) {
        const size_t k = i < 2 ? 0 : i - 2; /* two steps of warm-up */
        const double a = step(&fast, &o, i, k);
        ratio[k] = step(&exact, &o, i, k) / a;
    }
    const double middle = median(ratio, o.steps); /* sorts it */
    printf("%s %s %zu, batch %zu x %zu, %s on %s, %d threads: fast %.3f ms (forward %.3f), %.1f MiB; exact, "
           "leaf %zu: %.3f ms (%.3f), %.1f MiB; ratio "
           "%.3f (%.3f to %.3f)\n",
           o.model, o.norm, o.side, o.batch, o.views, o.dtype == NN_BF16 ? "bf16" : "f32", o.backend,
           o.threads, median(fast.seconds, o.steps) * 1e3, median(fast.forward, o.steps) * 1e3,
           (double)leaves_bytes(fast.leaves) / (1 << 20), c.order.leaf, median(exact.seconds, o.steps) * 1e3,
           median(exact.forward, o.steps) * 1e3, (double)leaves_bytes(exact.leaves) / (1 << 20), middle,
           ratio[o.steps / 4], ratio[o.steps * 3 / 4]);
    leaves_free(fast.leaves);
    leaves_free(exact.leaves);
    nn_model_free(m);
    return 0;
}
