/* Scores of records by a trained model, HIGHER = MORE MEMBER-LIKE. Rates and intervals are the audit's business. */
#include "generate/generator_score.h"

#include "options/module_tables.h"
#include "par/par.h"
#include "base/choice.h"
#include "sotto/option.h"

#include <math.h>
#include <string.h>

enum { BATCH = 64 };

/* Answers of the reader for a batch of records from `first` on; images in [low, 1]. Returns how many. */
static size_t generator_score_fill(float *input, const struct scoring *s, size_t first, float low)
{
    size_t count = s->n - first < BATCH ? s->n - first : BATCH;
    for (size_t i = 0; i < count; i++)
        generator_image(input + i * s->pixels, s->data, s->rows[first + i]);
    for (size_t i = 0; low == 0 && i < count * s->pixels; i++)
        input[i] = 0.5F * (input[i] + 1);
    return count;
}

/* ---- the discriminator ---- */

static sotto_status score_logan(double *scores, const struct scoring *s)
{
    sotto_status status = SOTTO_OK;
    struct nn_plan *plan = NULL;
    TRY(scoring_plan(&plan, s->g->reader, BATCH, false, s));
    for (size_t first = 0; first < s->n; first += BATCH) {
        size_t count = generator_score_fill(nn_plan_input(plan), s, first, -1);
        TRY(nn_plan_forward(plan, 0, 0, 0));
        for (size_t i = 0; i < count; i++)
            scores[first + i] = (double)nn_plan_output(plan)[i];
    }
done:
    nn_plan_free(plan);
    return status;
}

/* ---- encoder and decoder ---- */

/* The score of one draw: what the decoder makes of z, beside the record x in [0, 1]. */
typedef double draw_score(float *decoded, const float *x, double weight, const struct scoring *s);

static double draw_distance(float *decoded, const float *x, double weight, const struct scoring *s)
{
    (void)weight;
    double sum = 0;
    s->g->kind->finish(decoded, s->pixels, s->g);
    for (size_t i = 0; i < s->pixels; i++) {
        double off = (double)decoded[i] - (2 * (double)x[i] - 1);
        sum += off * off;
    }
    return -sqrt(sum);
}

static double draw_bound(float *decoded, const float *x, double weight, const struct scoring *s)
{
    return weight + vae_log_likelihood(NULL, decoded, x, 1, s->pixels, s->g->channels, loss_kernels_best());
}

struct draws {
    struct nn_plan *reader, *maker;
    float *decoded;
    double *weight; /* (BATCH): ln p(z) - ln q(z) */
};

/* Mean over the draws of record `at` of the batch. */
static sotto_status score_draws(double *score, struct draws *d, size_t at, size_t record, draw_score *one,
                                const struct scoring *s)
{
    sotto_status status = SOTTO_OK;
    const float *answer = nn_plan_output(d->reader) + at * 2 * s->latent,
                *x = nn_plan_input(d->reader) + at * s->pixels;
    struct vae_law law = {answer, answer + s->latent};
    float noise[64];
    double sum = 0;
    for (size_t first = 0; first < s->options.draws; first += BATCH) {
        size_t count = s->options.draws - first < BATCH ? s->options.draws - first : BATCH;
        for (size_t j = 0; j < count; j++) {
            generator_latent(noise, s->latent, s->options.seed, LATENT_DRAWS,
                             (uint64_t)record * s->options.draws + first + j);
            d->weight[j] = vae_draw(nn_plan_input(d->maker) + j * s->latent, &law, noise, s->latent);
        }
        TRY(nn_plan_forward(d->maker, 0, 0, 0));
        memcpy(d->decoded, nn_plan_output(d->maker), count * s->pixels * sizeof *d->decoded);
        for (size_t j = 0; j < count; j++)
            sum += one(d->decoded + j * s->pixels, x, d->weight[j], s);
    }
    *score = sum / (double)s->options.draws;
done:
    return status;
}

static sotto_status by_draws(double *scores, draw_score *one, const struct scoring *s)
{
    sotto_status status = SOTTO_OK;
    struct draws d = {0};
    TRY(scoring_plan(&d.reader, s->g->reader, BATCH, false, s));
    TRY(scoring_plan(&d.maker, s->g->maker, BATCH, false, s));
    NEW_ROWS(d.decoded, BATCH, s->pixels);
    NEW(d.weight, BATCH);
    for (size_t first = 0; first < s->n; first += BATCH) {
        size_t count = generator_score_fill(nn_plan_input(d.reader), s, first, 0);
        TRY(nn_plan_forward(d.reader, 0, 0, 0));
        for (size_t i = 0; i < count; i++)
            TRY(score_draws(&scores[first + i], &d, i, first + i, one, s));
        context_progress(s->ctx, "attack", first + count, s->n, "records");
    }
done:
    nn_plan_free(d.reader);
    nn_plan_free(d.maker);
    base_free(d.decoded);
    base_free(d.weight);
    return status;
}

static sotto_status score_reconstruction(double *scores, const struct scoring *s)
{
    return by_draws(scores, draw_distance, s);
}

static sotto_status score_elbo(double *scores, const struct scoring *s)
{
    return by_draws(scores, draw_bound, s);
}

/* ---- the list ---- */

static const struct {
    const char *name, *access;
    enum { ANY, JUDGES, ENCODES } reader; /* what the model's second network must do */
    size_t draws;                         /* the usual number; 0: none are drawn */
    sotto_status (*run)(double *scores, const struct scoring *s);
} scorers[] = {
    {"logan", "discriminator", JUDGES, 0, score_logan},
    {"gan-leaks-white", "generator weights", ANY, 0, score_gan_leaks_white},
    {"gan-leaks-partial", "generator as a function of its latents", ANY, 0, score_gan_leaks_partial},
    {"reconstruction", "encoder, decoder", ENCODES, 300, score_reconstruction},
    {"elbo", "encoder, decoder", ENCODES, 20, score_elbo}};

sotto_status sotto_generator_score(double *scores, const char **access, const char *attack,
                                   const struct sotto_generator *g, const struct sotto_dataset *data,
                                   const int64_t *rows, size_t n,
                                   const struct sotto_generator_score_options *options,
                                   const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(!n || scores, attack, g, data, !n || rows);
    sotto_status status = SOTTO_OK;
    const size_t count = sizeof scorers / sizeof *scorers;
    size_t at = 0;
    int pool = par_set_threads(par_threads(ctx));
    struct scoring s = {.g = g,
                        .data = data,
                        .rows = rows,
                        .n = n,
                        .pixels = GENERATOR_SIDE * GENERATOR_SIDE * g->channels,
                        .latent = g->kind->latent,
                        .ctx = ctx};
    while (at < count && strcmp(scorers[at].name, attack) != 0)
        at++;
    if (at == count)
        TRY(choice_unknown(SOTTO_EUSAGE, "generative model: attack", attack,
                           "logan, gan-leaks-white, gan-leaks-partial, reconstruction or elbo"));
    if (scorers[at].reader != ANY && (scorers[at].reader == ENCODES) != g->kind->encodes)
        FAIL(SOTTO_EUSAGE, "attack '%s' needs a model of kind %s; this one is a %s", attack,
             scorers[at].reader == ENCODES ? "vae" : "dcgan or wgan-gp", g->kind->name);
    TRY(sotto_options_resolve(&s.options, options, options_generator_score));
    if (s.options.draws == 0) /* "auto" */
        s.options.draws = scorers[at].draws;
    TRY(generator_check_rows(g->channels, data, rows, n));
    TRY(nn_backend_find(&s.backend, "auto"));
    TRY(scorers[at].run(scores, &s));
    if (access)
        *access = scorers[at].access;
done:
    par_set_threads(pool);
    return status;
}
