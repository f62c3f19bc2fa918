/* generate.h - generative models of images: train, sample, and score records for membership attacks.
 *
 * Nothing here is private: a model tells of its training records, its discriminator most of all. A file carries the statement
 * "none". Images are 32 x 32 pixels inside; smaller ones are padded with black. */
#ifndef SOTTO_LAB_GENERATE_H
#define SOTTO_LAB_GENERATE_H

#include "sotto/lab/data.h"

#ifdef __cplusplus
extern "C" {
#endif

/** {0} or NULL: the defaults in brackets. */
struct sotto_generator_options {
    /** ["dcgan"] (Radford et al. 2016), "wgan-gp" (Gulrajani et al. 2017), or "vae" (Kingma and Welling 2014). */
    const char *model;
    /** [6000] of the generator; the critic of a wgan-gp makes five in each. */
    size_t steps;
    /** [64] images of a step, at least 2. */
    size_t batch;
    /** Channels of the widest layers of a dcgan or wgan-gp are 4 times this [32]; the hidden layers of a vae have 12.5 times as many
     *  units [32: 400]. */
    size_t width;
    /** [2e-4 of a dcgan, 1e-4 of a wgan-gp, 1e-3 of a vae] of Adam. */
    double lr;
    /** [0] of weights, order, latents. */
    uint64_t seed;
    /** ["auto"] = dnnl where it was built; "dnnl", "winograd", "ref". */
    const char *backend;
    /** File that an interrupted run continues from; NULL: none. */
    const char *checkpoint;
    /** metrics.jsonl to append to; NULL: none. */
    const char *metrics;
};

struct sotto_generator;
/** Result of a training run. */
struct sotto_generator_result {
    uint64_t steps;
    /** Of the generator, nats, mean over the last passes. */
    double loss;
    /** Training time of this process. */
    double seconds, images_per_second;
    char backend[64];
};
/** Trains a generative model. Each pass over the rows is in another order and drops the last, incomplete batch. The same options,
 *  data, threads, instruction set and oneDNN give the same bytes, interrupted or not.
 *
 *  In:      rows (n)  rows of `data`; NULL: all
 *  Out:     *out      free with sotto_generator_free()
 *           *result   may be NULL
 *  Returns: EINVAL     an option does not fit the data, or the checkpoint was made with other options or other data
 *           EDIVERGED  the loss became NaN or infinite
 *           EAGAIN     another run continues this checkpoint
 *           ESTUCK     the last resumes of this checkpoint ended before they had finished one step
 *           ESTOPPED   the checkpoint was written, and the same call continues from it */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_generator_train(struct sotto_generator **out,
                                                              struct sotto_generator_result *result,
                                                              const struct sotto_dataset *data,
                                                              const int64_t *rows, size_t n,
                                                              const struct sotto_generator_options *options,
                                                              const struct sotto_context *ctx);
/** Writes a safetensors file, schema sotto.generator/1 (page.md). Returns: ECREATE, EIO, ENOMEM. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_generator_save(const char *path,
                                                             const struct sotto_generator *g);
/** Out: *out: free with sotto_generator_free(). Returns: ENOENT, EIO, EFORMAT, ENOMEM. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_generator_load(struct sotto_generator **out, const char *path);
SOTTO_API void sotto_generator_free(struct sotto_generator *g);
/** Out:     shape    channels, height, width of an image
 *           *latent  values of a latent vector; may be NULL
 *           *model   its name, borrowed; may be NULL */
SOTTO_API void sotto_generator_shape(size_t shape[3], size_t *latent, const char **model,
                                     const struct sotto_generator *g);

/** Samples. Sample i depends on the seed and i alone, so more samples begin with fewer.
 *
 *  Out:     samples (n, channels, height, width)  in [-1, 1]
 *           latents (n, latent)  what they were made of; may be NULL
 *  Returns: ENOMEM, ESTOPPED */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_generator_sample(float *samples, float *latents,
                                                               const struct sotto_generator *g, size_t n,
                                                               uint64_t seed,
                                                               const struct sotto_context *ctx);
/** Records of a data set as the model sees them, for distances to samples: sotto_audit() with
 *  struct sotto_generative_input.
 *
 *  Out:     records (n, channels, height, width)  in [-1, 1]
 *  Returns: EINVAL  the set's images do not fit, or a row is outside of it */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_generator_records(float *records,
                                                                const struct sotto_generator *g,
                                                                const struct sotto_dataset *data,
                                                                const int64_t *rows, size_t n);

/** {0} or NULL: the defaults in brackets. */
struct sotto_generator_score_options {
    /** Draws of the latent vector for each record: [300] of "reconstruction", [20] of "elbo". */
    size_t draws;
    /** [0] */
    uint64_t seed;
    /** [20000] images that "gan-leaks-partial" may ask for about one record. */
    size_t queries;
};
/** Scores of records, higher = more like the training data.
 *
 *  In:      attack  "logan": logits of a gan's discriminator, with running statistics (Hayes et al. 2019)
 *                   "reconstruction": of a vae, minus the mean distance between a record and what its decoder makes of draws from
 *                   the encoder's law (Hilprecht et al. 2019)
 *                   "elbo": of a vae, the evidence lower bound
 *                   "gan-leaks-white": minus the least distance of an image that the generator can make, by search with
 *                   gradients from the three nearest of 20,000 samples (Chen et al. 2020)
 *                   "gan-leaks-partial": likewise by differences of images that the generator makes, without its weights
 *  Out:     scores (n)
 *           *access  what of the model the attack sees, static text; may be NULL
 *  Returns: EUSAGE  no such attack, or not of this kind of model
 *           EINVAL  the set's images do not fit, a row is outside of it, or too few queries for one gradient */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_generator_score(
    double *scores, const char **access, const char *attack, const struct sotto_generator *g,
    const struct sotto_dataset *data, const int64_t *rows, size_t n,
    const struct sotto_generator_score_options *options, const struct sotto_context *ctx);

/** Records of which an attacker knows the membership. */
struct sotto_known_records {
    const struct sotto_dataset *data;
    const int64_t *member; /**< (n_member) rows of `data`, at least 1 */
    size_t n_member;
    const int64_t *nonmember; /**< (n_nonmember) rows of `data`, at least 2 */
    size_t n_nonmember;
};
/** {0} or NULL: the defaults in brackets. */
struct sotto_imitation_options {
    /** [20000] of the target, at least 2. */
    size_t samples;
    /** [as many as the target's; 6000 where it is a vae] */
    size_t steps;
    /** [0] of samples, weights, order. */
    uint64_t seed;
};
/** An attacker's own discriminator from samples of the target: sotto_generator_score() of it with "logan" is the attack
 *  "logan-blackbox" (Hayes et al. 2019).
 *
 *  Without known records, a model of the target's recipe (a dcgan, where it is a vae), trained on the samples as its records. With
 *  them a discriminator alone: known members and samples, half of each batch, on one side; known non-members on the other. Attack
 *  other records than the known ones.
 *
 *  In:      known    may be NULL
 *  Out:     *out     free with sotto_generator_free()
 *  Returns: EINVAL   the known records do not fit, or are too few
 *           EDIVERGED, ESTOPPED, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_generator_imitate(struct sotto_generator **out,
                                                                const struct sotto_generator *target,
                                                                const struct sotto_known_records *known,
                                                                const struct sotto_imitation_options *options,
                                                                const struct sotto_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
