/* A record more or less; gradients are clipped to norm 1; Gaussian noise. Each step exists twice: as it must
 * be, and with a bug that shipped somewhere (Opacus #751: the norm of the bias; JAX-Privacy's list of
 * pitfalls: the random batch size as divisor; TensorFlow Privacy #19, #483: fixed-size batches accounted as
 * Poisson). */
#include "selftest/toy_training.h"

#include "base/memory.h"

#include <stdlib.h>

static const double weight_gradient = 0.6, bias_gradient = 2;

/* World 1 holds one record more, with a gradient of a weight and of a bias. */
static sotto_status clipped_sum(double *out, size_t draws, int world, const struct toy *toy,
                                struct toy_source *source, double norm)
{
    double factor = world ? fmin(1, 1 / norm) : 0;
    for (size_t i = 0; i < draws; i++) {
        out[2 * i] = factor * weight_gradient;
        out[2 * i + 1] = factor * bias_gradient;
    }
    return toy_add_noise(out, 2 * draws, toy, source);
}

static sotto_status whole_norm(double *out, size_t draws, int world, const struct toy *toy,
                               struct toy_source *source)
{
    return clipped_sum(out, draws, world, toy, source, hypot(weight_gradient, bias_gradient));
}

static sotto_status norm_without_bias(double *out, size_t draws, int world, const struct toy *toy,
                                      struct toy_source *source)
{
    return clipped_sum(out, draws, world, toy, source, weight_gradient);
}

static sotto_status open_coins(struct noise **coins, const struct toy_source *source)
{
    return source->seeded ? noise_open_insecure(coins, ~source->seed) : noise_open(coins);
}

/* All records have gradient -1, the one that world 1 has in addition +1. */
static sotto_status poisson_batches(double *out, size_t draws, int world, const struct toy *toy,
                                    struct toy_source *source)
{
    struct noise *coins;
    sotto_status status = open_coins(&coins, source);
    if (status != SOTTO_OK)
        return status;
    for (size_t i = 0; i < draws; i++) {
        double old = noise_unit(coins) < toy->rate, added = noise_unit(coins) < toy->rate;
        out[i] = (world ? added : 0) - old;
    }
    noise_close(coins);
    return toy_add_noise(out, draws, toy, source);
}

/* One record is always in the batch: either of two in world 1, so a new one drives the old one out. */
static sotto_status fixed_batches(double *out, size_t draws, int world, const struct toy *toy,
                                  struct toy_source *source)
{
    struct noise *coins;
    sotto_status status = open_coins(&coins, source);
    if (status != SOTTO_OK)
        return status;
    for (size_t i = 0; i < draws; i++)
        out[i] = noise_bits(coins, 1) && world ? 1 : -1;
    noise_close(coins);
    return toy_add_noise(out, draws, toy, source);
}

/* One or two records with gradient 1; the noisy sum over a Poisson batch is divided by a size of the
 * batch. */
static sotto_status toy_training_divided(double *out, size_t draws, int world, const struct toy *toy,
                                         struct toy_source *source, bool by_batch)
{
    sotto_status status = SOTTO_OK;
    struct noise *coins = NULL;
    unsigned char *size = NULL;
    NEW(size, draws);
    TRY(open_coins(&coins, source));
    for (size_t i = 0; i < draws; i++) {
        size[i] = (unsigned char)((noise_unit(coins) < toy->rate) + (world && noise_unit(coins) < toy->rate));
        out[i] = size[i];
    }
    TRY(toy_add_noise(out, draws, toy, source));
    for (size_t i = 0; i < draws; i++) /* right: the expected size, of a public number of records */
        out[i] /= !by_batch ? toy->rate : size[i] > 1 ? size[i] : 1;
done:
    noise_close(coins);
    base_free(size);
    return status;
}

static sotto_status divided_by_expected(double *out, size_t draws, int world, const struct toy *toy,
                                        struct toy_source *source)
{
    return toy_training_divided(out, draws, world, toy, source, false);
}

static sotto_status divided_by_batch(double *out, size_t draws, int world, const struct toy *toy,
                                     struct toy_source *source)
{
    return toy_training_divided(out, draws, world, toy, source, true);
}

static const struct toy right[] = {
    {.name = "gradients clipped by their whole norm",
     .width = 2,
     .scale = 1,
     .shift = 1,
     .rate = 1,
     .draw = whole_norm},
    {.name = "a Poisson batch", .width = 1, .scale = 1, .shift = 1, .rate = 0.5, .draw = poisson_batches},
    {.name = "a sum over the expected batch size",
     .width = 1,
     .scale = 4,
     .shift = 0.25,
     .rate = 0.9,
     .draw = divided_by_expected},
};
static const struct toy wrong[] = {
    {.name = "bias left out of the norm",
     .width = 2,
     .scale = 1,
     .shift = 1,
     .rate = 1,
     .draw = norm_without_bias},
    {.name = "fixed-size batches accounted as Poisson",
     .width = 1,
     .scale = 1,
     .shift = 1,
     .rate = 0.5,
     .draw = fixed_batches},
    {.name = "random batch size as divisor",
     .width = 1,
     .scale = 4,
     .shift = 0.25,
     .rate = 0.9,
     .draw = divided_by_batch},
};

static bool toy_training_pick(struct toy *out, const struct toy *list, size_t count, size_t i)
{
    if (i >= count)
        return false;
    *out = list[i];
    out->noise = mechanism_find("gaussian");
    return true;
}

bool toy_training(struct toy *out, size_t i)
{
    return toy_training_pick(out, right, sizeof right / sizeof *right, i);
}

bool toy_training_planted(struct toy *out, size_t i)
{
    return toy_training_pick(out, wrong, sizeof wrong / sizeof *wrong, i);
}
