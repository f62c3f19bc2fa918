/* Scores of records by a trained model, HIGHER = MORE MEMBER-LIKE. Rates and intervals are the audit's business. */
#include "generate/generator.h"

#include "num/lbfgs.h"
#include "par/par.h"
#include "sotto/option.h"

#include <math.h>
#include <string.h>

enum { BATCH = 64 };

struct scoring {
    const struct sotto_generator *g;
    const struct sotto_dataset *data;
    const int64_t *rows;
    size_t n, pixels, latent;
    struct sotto_generator_score_options options;
    const struct nn_backend *backend;
    const struct sotto_context *ctx;
};

static sotto_status plan_of(struct nn_plan **out, struct nn_model *m, size_t batch, bool gradient,
                            const struct scoring *s)
{
    struct nn_plan_config config = {.batch = batch,
                                    .backend = s->backend,
                                    .training = gradient,
                                    .input_gradient = gradient,
                                    .ctx = s->ctx};
    return nn_plan_create(out, m, &config);
}

/* Answers of the reader for a batch of records from `first` on; images in [low, 1]. Returns how many. */
static size_t fill(float *input, const struct scoring *s, size_t first, float low)
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
    TRY(plan_of(&plan, s->g->reader, BATCH, false, s));
    for (size_t first = 0; first < s->n; first += BATCH) {
        size_t count = fill(nn_plan_input(plan), s, first, -1);
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
    TRY(plan_of(&d.reader, s->g->reader, BATCH, false, s));
    TRY(plan_of(&d.maker, s->g->maker, BATCH, false, s));
    NEW_ROWS(d.decoded, BATCH, s->pixels);
    NEW(d.weight, BATCH);
    for (size_t first = 0; first < s->n; first += BATCH) {
        size_t count = fill(nn_plan_input(d.reader), s, first, 0);
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

/* ---- search for the record among the images that the generator can make ---- */

static const double likely = 0.001; /* weight of |z|^2 / latent = 1 */
enum { STARTS = 3, START_SAMPLES = 20000, SEARCH_STEPS = 100 };

struct search {
    const struct scoring *scoring;
    struct nn_plan *plan; /* two rows, as batch norm plans with gradients have; both hold the same */
    const float *x;
    sotto_status status;
};

/* |G(z) - x|^2 / D + likely (|z|^2 / latent - 1)^2 */
static double search_value(double *gradient, const double *z, void *arg)
{
    struct search *s = arg;
    size_t latent = s->scoring->latent, pixels = s->scoring->pixels;
    float *input = nn_plan_input(s->plan), *back = nn_plan_diff_output(s->plan);
    double square = 0, sum = 0;
    for (size_t k = 0; k < latent; k++) {
        input[k] = input[latent + k] = (float)z[k];
        square += z[k] * z[k] / (double)latent;
    }
    if (s->status == SOTTO_OK)
        s->status = nn_plan_forward(s->plan, 0, 0, 0);
    const float *made = nn_plan_output(s->plan);
    for (size_t i = 0; i < pixels; i++) {
        double off = (double)made[i] - (double)s->x[i];
        sum += off * off / (double)pixels;
        back[i] = (float)(2 * off / (double)pixels);
    }
    memset(back + pixels, 0, pixels * sizeof *back);
    if (s->status == SOTTO_OK)
        s->status = nn_plan_backward_input(s->plan);
    for (size_t k = 0; k < latent; k++)
        gradient[k] =
            (double)nn_plan_input_gradient(s->plan)[k] + 4 * likely * (square - 1) * z[k] / (double)latent;
    return sum + likely * (square - 1) * (square - 1);
}

static double distance(const float *a, const float *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    return sum;
}

/* The rows of the three samples that are nearest to x. */
static void nearest(size_t out[STARTS], const float *x, const float *samples, size_t pixels)
{
    double best[STARTS];
    for (size_t k = 0; k < STARTS; k++)
        best[k] = INFINITY, out[k] = 0;
    for (size_t j = 0; j < START_SAMPLES; j++) {
        double d = distance(x, samples + j * pixels, pixels);
        size_t at = STARTS;
        for (; at > 0 && d < best[at - 1]; at--)
            if (at < STARTS)
                best[at] = best[at - 1], out[at] = out[at - 1];
        if (at < STARTS)
            best[at] = d, out[at] = j;
    }
}

static sotto_status score_white(double *scores, const struct scoring *s)
{
    sotto_status status = SOTTO_OK;
    float *samples = NULL, *latents = NULL, *image = NULL;
    double *z = NULL, *ignored = NULL;
    struct search search = {.scoring = s};
    TRY(plan_of(&search.plan, s->g->maker, 2, true, s));
    NEW_ROWS(samples, START_SAMPLES, s->pixels);
    NEW_ROWS(latents, START_SAMPLES, s->latent);
    NEW_ROWS(image, s->pixels, 2);
    NEW(z, s->latent);
    NEW(ignored, s->latent);
    TRY(sotto_generator_sample(samples, latents, s->g, START_SAMPLES, s->options.seed, s->ctx));
    for (size_t i = 0; i < s->n; i++) {
        size_t start[STARTS];
        generator_image(image, s->data, s->rows[i]);
        generator_to_planes(image + s->pixels, image, s->g->channels); /* as samples lie */
        nearest(start, image + s->pixels, samples, s->pixels);
        search.x = image;
        scores[i] = -INFINITY;
        for (size_t k = 0; k < STARTS; k++) {
            for (size_t c = 0; c < s->latent; c++)
                z[c] = (double)latents[start[k] * s->latent + c];
            TRY(minimise(z, s->latent, search_value, &search, 1e-9, SEARCH_STEPS));
            double found = -search_value(ignored, z, &search);
            scores[i] = found > scores[i] ? found : scores[i];
            TRY(search.status);
        }
        context_progress(s->ctx, "attack", i + 1, s->n, "records");
    }
done:
    nn_plan_free(search.plan);
    base_free(samples);
    base_free(latents);
    base_free(image);
    base_free(z);
    base_free(ignored);
    return status;
}

/* ---- the list ---- */

static const struct {
    const char *name, *model, *access;
    size_t draws; /* the usual number; 0: none are drawn */
    sotto_status (*run)(double *scores, const struct scoring *s);
} scorers[] = {{"logan", "dcgan", "discriminator", 0, score_logan},
               {"gan-leaks-white", "dcgan", "generator weights", 0, score_white},
               {"reconstruction", "vae", "encoder, decoder", 300, score_reconstruction},
               {"elbo", "vae", "encoder, decoder", 20, score_elbo}};

sotto_status sotto_generator_score(double *scores, const char **access, const char *attack,
                                   const struct sotto_generator *g, const struct sotto_dataset *data,
                                   const int64_t *rows, size_t n,
                                   const struct sotto_generator_score_options *options,
                                   const struct sotto_context *ctx)
{
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
        FAIL(SOTTO_EUSAGE,
             "attack '%s' on a generative model is unknown; expected logan, gan-leaks-white, reconstruction "
             "or elbo",
             attack);
    if (strcmp(scorers[at].model, g->kind->name) != 0)
        FAIL(SOTTO_EUSAGE, "attack '%s' needs a model of kind %s; this one is a %s", attack,
             scorers[at].model, g->kind->name);
    TRY(sotto_options_resolve(&s.options, options, sotto_generator_score_option_table()));
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
