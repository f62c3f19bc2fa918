/* What decides a training besides the records: initial weights, orders, rates, and when it must end. */
#include "head/train/head_plain.h"

#include <math.h>
#include <string.h>

struct head_update head_update_at(const struct sotto_head_recipe *r, size_t step)
{
    const double rate = head_recipe_rate(r);
    struct head_update u = {.adam = strcmp(r->trainer, "adam") == 0, .rate = (real)rate};
    if (!u.adam)
        return u;
    double t = (double)step;
    u.rate = (real)(rate * sqrt(1 - pow(HEAD_BETA2, t)) / (1 - pow(HEAD_BETA1, t)));
    u.flush = step % 64 == 0; /* 0.9^64 keeps what is above 2^-100 far from denormal numbers */
    u.forget1 = (real)(1 - HEAD_BETA1);
    u.forget2 = (real)(1 - HEAD_BETA2);
    u.epsilon = (real)HEAD_EPSILON;
    return u;
}

void head_order(int64_t *order, size_t n, uint64_t seed, size_t epoch)
{
    struct rng stream = rng_stream(seed, RNG_ORDER, epoch, 0);
    for (size_t i = 0; i < n; i++)
        order[i] = (int64_t)i;
    rng_shuffle(&stream, order, n);
}

struct head_initial head_initial_start(uint64_t seed, size_t l, size_t out, size_t in)
{
    /* Tensors are numbered in file order: weight, bias, weight, ... */
    return (struct head_initial){rng_stream(seed, RNG_INIT, 0, 2 * l), sqrt(6.0 / (double)(in + out))};
}

float head_initial_next(struct head_initial *draw)
{
    return (float)(draw->limit * (2.0 * rng_unit(&draw->stream) - 1.0));
}

sotto_status head_stop_check(const struct sotto_context *ctx, size_t epoch, const struct sotto_head_recipe *r)
{
    return context_check(ctx, "stopped in epoch %zu of %zu of a head; nothing was written", epoch + 1,
                         r->epochs);
}

sotto_status head_diverged(size_t epoch, const struct sotto_head_recipe *r)
{
    return status_fail(
        SOTTO_EDIVERGED,
        "head: a weight became infinite or NaN in epoch %zu (lr %g); try a smaller lr or scaled features",
        epoch + 1, head_recipe_rate(r));
}
