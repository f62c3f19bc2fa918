/* rng.h - training randomness: keyed, counter-based streams. No shared generator, no hidden state.
 *
 * A stream is a pure function of (seed, purpose, step, index): any step of any stage can be redrawn without
 * drawing the ones before it, by any thread. NOT for privacy noise: that is noise.h. */
#ifndef RNG_RNG_H
#define RNG_RNG_H

#include <stddef.h>
#include <stdint.h>

enum rng_purpose {
    RNG_INIT = 1,  /* weight initialisation; index = tensor */
    RNG_ORDER,     /* shuffles; step = epoch */
    RNG_AUGMENT,   /* step = training step, index = position in batch * views + view */
    RNG_DROPOUT,   /* step = training step, index = layer */
    RNG_SPLIT,     /* data splits */
    RNG_SYNTHETIC, /* synthetic data; index = record */
    RNG_PAIRS,     /* pairs of the sensitivity sampler */
    RNG_BOOTSTRAP, /* resampling in reports */
    RNG_EVALUATE,  /* noise drawn to MEASURE utility and attacks, never released; step = draw */
    RNG_TEST,
    RNG_PROBE,            /* queries of attacks; step = record, index = probe */
    RNG_RESIDUAL,         /* noise inside residual networks and what is simulated of it */
    RNG_LATENT,           /* latents of generative models; step = training step, index = place in the batch */
    RNG_CHECK,            /* made-up records and weights of checks before a run */
    RNG_SMOOTHING_SELECT, /* randomised smoothing: step = row, index = copy; copies that choose a class */
    RNG_SMOOTHING_ESTIMATE, /* other copies, which estimate its probability */
    RNG_SMOOTHING_PREDICT,  /* copies that vote for an answer */
    RNG_AUGMENT_NOISE, /* noise on inputs in training; step = training step, index = place in the batch, or record */
    RNG_UNIT_ROWS /* which rows of a person are in a step; step = training step, index = person */
};

/** One stream: Philox 4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3").
 *  The struct is plain data on the stack; copy it to replay. */
struct rng {
    uint32_t key[2], counter[4], block[4];
    unsigned left;
};
struct rng rng_stream(uint64_t seed, enum rng_purpose purpose, uint64_t step, uint64_t index);
uint32_t rng_u32(struct rng *r);
uint64_t rng_u64(struct rng *r);
/** Uniform in [0, 1): 24 bits as float, 53 bits as double. */
float rng_unit_f(struct rng *r);
double rng_unit(struct rng *r);
/** Uniform in {0, ..., n-1}, n > 0, unbiased by rejection. */
uint64_t rng_below(struct rng *r, uint64_t n);
/** Standard normal (Box-Muller; the second deviate is thrown away so that no state hides). */
double rng_normal(struct rng *r);
/** Fisher-Yates shuffle of `n` indices. */
void rng_shuffle(struct rng *r, int64_t *items, size_t n);

#endif
