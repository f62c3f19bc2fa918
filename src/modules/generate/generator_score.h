/* generator_score.h - one call of sotto_generator_score(), for its attacks. */
#ifndef GENERATE_GENERATOR_SCORE_H
#define GENERATE_GENERATOR_SCORE_H

#include "generate/generator.h"

struct scoring {
    const struct sotto_generator *g;
    const struct sotto_dataset *data;
    const int64_t *rows;
    size_t n, pixels, latent; /* pixels: values of an image */
    struct sotto_generator_score_options options;
    const struct nn_backend *backend;
    const struct sotto_context *ctx;
};

/* A plan in evaluation, which asks the call's context whether to go on; with gradient: of the input too. */
sotto_status scoring_plan(struct nn_plan **out, struct nn_model *m, size_t batch, bool gradient,
                          const struct scoring *s);

/* Minus the least L(z) = |G(z) - x|^2 / values + .001 (|z|^2 / latent - 1)^2 that a search finds: with gradients through the
 * generator, or with answers alone. */
sotto_status score_gan_leaks_white(double *scores, const struct scoring *s);
sotto_status score_gan_leaks_partial(double *scores, const struct scoring *s);

#endif
