/* Samples, and plans for answers of a trained model: running statistics, so no image acts on another. */
#include "generate/generator_score.h"

#include "par/par.h"

#include <string.h>

enum { BATCH = 64 };

sotto_status scoring_plan(struct nn_plan **out, struct nn_model *m, size_t batch, bool gradient,
                          const struct scoring *s)
{
    struct nn_plan_config config = {.batch = batch,
                                    .backend = s->backend,
                                    .training = gradient,
                                    .input_gradient = gradient,
                                    .ctx = s->ctx};
    return nn_plan_create(out, m, &config);
}

sotto_status sotto_generator_sample(float *samples, float *latents, const struct sotto_generator *g, size_t n,
                                    uint64_t seed, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(!n || samples, g);
    sotto_status status = SOTTO_OK;
    struct nn_plan *plan = NULL;
    struct nn_plan_config config = {.batch = BATCH, .ctx = ctx};
    int pool = par_set_threads(par_threads(ctx));
    size_t latent = g->kind->latent, pixels = GENERATOR_SIDE * GENERATOR_SIDE * g->channels;
    float *made = NULL;
    TRY(nn_backend_find(&config.backend, "auto"));
    TRY(nn_plan_create(&plan, g->maker, &config));
    NEW_ROWS(made, BATCH, pixels);
    for (size_t first = 0; first < n; first += BATCH) {
        size_t count = n - first < BATCH ? n - first : BATCH;
        float *z = nn_plan_input(plan);
        for (size_t i = 0; i < count; i++)
            generator_latent(z + i * latent, latent, seed, LATENT_SAMPLES, first + i);
        if (latents)
            memcpy(latents + first * latent, z, count * latent * sizeof *z);
        TRY(nn_plan_forward(plan, 0, 0, 0));
        memcpy(made, nn_plan_output(plan), count * pixels * sizeof *made);
        g->kind->finish(made, count * pixels, g);
        for (size_t i = 0; i < count; i++)
            generator_to_planes(samples + (first + i) * pixels, made + i * pixels, g->channels);
        context_progress(ctx, "generate", first + count, n, "samples");
    }
done:
    nn_plan_free(plan);
    base_free(made);
    par_set_threads(pool);
    return status;
}
