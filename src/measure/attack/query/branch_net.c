#include "attack/query/branch_net.h"

#include "base/memory.h"
#include "rng/rng.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { JOINED = 64, BATCH = 64, LAYERS = 2 * BRANCH_MAX + 3 };
static const double rate = 1e-3, beta1 = 0.9, beta2 = 0.999, tiny = 1e-7, drop = 0.2;

/* result = activation(x W + b); W (in, out), so that both passes run along outputs. */
struct dense {
    size_t in, out;
    float *w, *grad, *mean, *square; /* (in + 1, out), the bias last */
    const float *x;                  /* of the running record: what it reads, */
    float *value, *diff,
        *below; /* its result, that one's gradient, and where the gradient of x goes (NULL: nowhere) */
    bool relu;
};
struct branch_net {
    struct dense layer[LAYERS];
    size_t layers;
    const struct branch_kernels *kernels;
    float *memory, *joined, *joined_diff;
};

ISA_LEVELS(const struct branch_kernels, branch_kernels);

static void branch_net_forward(const struct branch_net *net, struct dense *l, struct rng *dropout)
{
    memcpy(l->value, l->w + l->in * l->out, l->out * sizeof *l->value);
    net->kernels->forward(l->value, l->x, l->w, l->in, l->out);
    for (size_t o = 0; l->relu && o < l->out; o++) {
        bool keep = !dropout || rng_unit_f(dropout) >= (float)drop;
        l->value[o] = l->value[o] > 0 && keep ? l->value[o] * (dropout ? (float)(1 / (1 - drop)) : 1) : 0;
    }
}

static void branch_net_backward(const struct branch_net *net, struct dense *l)
{
    for (size_t o = 0; l->relu && o < l->out; o++)
        l->diff[o] = l->value[o] > 0 ? l->diff[o] * (float)(1 / (1 - drop)) : 0;
    net->kernels->backward(l->grad, l->below, l->x, l->w, l->diff, l->in, l->out);
}

static void branch_net_update(const struct branch_net *net, struct dense *l, size_t step)
{
    double t = (double)step, corrected = rate * sqrt(1 - pow(beta2, t)) / (1 - pow(beta1, t));
    const struct branch_update u = {1.0f / BATCH, (float)corrected, (float)beta1, (float)beta2, (float)tiny};
    net->kernels->update(l->w, l->grad, l->mean, l->square, (l->in + 1) * l->out, &u);
}

static void add_layer(struct branch_net *net, size_t in, size_t out)
{
    net->layer[net->layers++] = (struct dense){.in = in, .out = out, .relu = true};
}

static sotto_status branch_net_make(struct branch_net *net, const struct branch_table *t, uint64_t seed)
{
    sotto_status status = SOTTO_OK;
    size_t numbers = 2 * t->parts * JOINED, at = 0;
    net->kernels = branch_kernels_levels[cpu_best_isa()];
    for (size_t k = 0; k < t->parts; k++) {
        add_layer(net, t->part[k].width, t->part[k].hidden);
        add_layer(net, t->part[k].hidden, JOINED);
    }
    add_layer(net, t->parts * JOINED, 128);
    add_layer(net, 128, 64);
    add_layer(net, 64, 1);
    net->layer[net->layers - 1].relu = false;
    for (size_t l = 0; l < net->layers; l++)
        numbers += 4 * (net->layer[l].in + 1) * net->layer[l].out + 2 * net->layer[l].out;
    NEW(net->memory, numbers);
    net->joined = net->memory;
    net->joined_diff = net->memory + t->parts * JOINED;
    float *next = net->memory + 2 * t->parts * JOINED;
    for (size_t l = 0; l < net->layers; l++) {
        struct dense *d = &net->layer[l];
        size_t count = (d->in + 1) * d->out;
        double limit = sqrt(6 / (double)(d->in + d->out)); /* Glorot's */
        struct rng draw = rng_stream(seed, RNG_INIT, 1, l);
        d->w = next, d->grad = next + count, d->mean = next + 2 * count, d->square = next + 3 * count;
        d->value = next + 4 * count, d->diff = d->value + d->out;
        next = d->diff + d->out;
        for (size_t j = 0; j < d->in * d->out; j++)
            d->w[j] = (float)(limit * (2 * rng_unit(&draw) - 1));
    }
    for (size_t k = 0; k < t->parts; k++) { /* ends of the parts lie side by side */
        struct dense *first = &net->layer[2 * k], *second = first + 1;
        second->x = first->value, second->below = first->diff;
        second->value = net->joined + at, second->diff = net->joined_diff + at;
        at += JOINED;
    }
    struct dense *trunk = &net->layer[2 * t->parts];
    trunk[0].x = net->joined, trunk[0].below = net->joined_diff;
    trunk[1].x = trunk[0].value, trunk[1].below = trunk[0].diff;
    trunk[2].x = trunk[1].value, trunk[2].below = trunk[1].diff;
done:
    return status;
}

static double branch_net_answer(struct branch_net *net, const struct branch_table *t, const float *row,
                                struct rng *dropout)
{
    for (size_t k = 0; k < t->parts; k++) {
        net->layer[2 * k].x = row;
        row += t->part[k].width;
    }
    for (size_t l = 0; l < net->layers; l++)
        branch_net_forward(net, &net->layer[l], dropout);
    return (double)net->layer[net->layers - 1].value[0];
}

/* Members and others by turns, each side in an order of its own that starts anew when it ends. */
struct side {
    int64_t *row;
    size_t n, at;
};

static size_t next_of(struct side *s, struct rng *draw)
{
    if (s->at == s->n) {
        rng_shuffle(draw, s->row, s->n);
        s->at = 0;
    }
    return (size_t)s->row[s->at++];
}

static sotto_status branch_net_train(struct branch_net *net, const struct branch_table *t, size_t width,
                                     size_t epochs, uint64_t seed, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct side sides[2] = {{0}};
    struct rng draw = rng_stream(seed, RNG_ORDER, 0, 0), dropout = rng_stream(seed, RNG_DROPOUT, 0, 0);
    NEW(sides[0].row, t->n);
    NEW(sides[1].row, t->n);
    for (size_t i = 0; i < t->n; i++)
        sides[t->member[i]].row[sides[t->member[i]].n++] = (int64_t)i;
    REQUIRE(sides[0].n > 0 && sides[1].n > 0,
            "white box: %zu known members and %zu known others; expected some of each", sides[1].n,
            sides[0].n);
    sides[0].at = sides[0].n, sides[1].at = sides[1].n;
    size_t steps = epochs * ((t->n + BATCH - 1) / BATCH);
    for (size_t step = 1; step <= steps; step++) {
        TRY(context_check(ctx, "white box: stopped in step %zu of %zu of the attack network", step, steps));
        for (size_t i = 0; i < BATCH; i++) {
            size_t record = next_of(&sides[i % 2], &draw);
            double odds = branch_net_answer(net, t, t->x + record * width, &dropout);
            net->layer[net->layers - 1].diff[0] = (float)(1 / (1 + exp(-odds)) - (double)t->member[record]);
            for (size_t l = net->layers; l-- > 0;)
                branch_net_backward(net, &net->layer[l]);
        }
        for (size_t l = 0; l < net->layers; l++)
            branch_net_update(net, &net->layer[l], step);
    }
done:
    base_free(sides[0].row);
    base_free(sides[1].row);
    return status;
}

sotto_status branch_net_scores(double *scores, const struct branch_table *t, const float *rows, size_t n,
                               size_t epochs, uint64_t seed, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct branch_net net = {0};
    size_t width = 0;
    for (size_t k = 0; k < t->parts; k++)
        width += t->part[k].width;
    TRY(branch_net_make(&net, t, seed));
    TRY(branch_net_train(&net, t, width, epochs, seed, ctx));
    for (size_t i = 0; i < n; i++)
        scores[i] = branch_net_answer(&net, t, rows + i * width, NULL);
done:
    base_free(net.memory);
    return status;
}
