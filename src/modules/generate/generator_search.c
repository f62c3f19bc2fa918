/* GAN-Leaks: a search for the record among the images that the generator can make, from the latents of the nearest samples (Chen
 * et al. 2020; their distance has a part of a perceptual network's features, which this one has not). */
#include "generate/generator_score.h"

#include "num/lbfgs.h"
#include "rng/rng.h"

#include <math.h>
#include <string.h>

static const double likely = 0.001; /* weight of |z|^2 / latent = 1 */
static const double reach = 0.01;   /* of differences */
enum { STARTS = 3, START_SAMPLES = 20000, SEARCH_STEPS = 100 };

struct search {
    const struct scoring *scoring;
    lbfgs_function *value;
    /* white: two rows, as batch norm plans with gradients have, which hold the same; partial: the point, and one step to each
     * side along each direction */
    struct nn_plan *plan;
    size_t rows, left;  /* of the plan; queries that this start may still make */
    const float *x;     /* as the generator makes images: (pixels, channels) */
    float *made;        /* (rows, values) */
    const double *base; /* partial: (latent, latent) orthonormal rows */
    double best;        /* least value so far */
    sotto_status status;
};

/* The plan's images, in [-1, 1]. */
static void generator_search_make(struct search *s)
{
    const struct scoring *on = s->scoring;
    size_t count = s->rows * on->pixels;
    if (s->status == SOTTO_OK)
        s->status = nn_plan_forward(s->plan, 0, 0, 0);
    memcpy(s->made, nn_plan_output(s->plan), count * sizeof *s->made);
    on->g->kind->finish(s->made, count, on->g);
}

static double generator_search_distance(const float *a, const float *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    return sum;
}

/* L(z) of a distance, and the part of its gradient that needs no network. */
static double value_at(double *gradient, double squares, const double *z, struct search *s)
{
    size_t latent = s->scoring->latent;
    double square = 0;
    for (size_t k = 0; k < latent; k++)
        square += z[k] * z[k] / (double)latent;
    for (size_t k = 0; k < latent; k++)
        gradient[k] = 4 * likely * (square - 1) * z[k] / (double)latent;
    double value = squares / (double)s->scoring->pixels + likely * (square - 1) * (square - 1);
    s->best = value < s->best ? value : s->best;
    return value;
}

static double white_value(double *gradient, const double *z, void *arg)
{
    struct search *s = arg;
    const struct scoring *on = s->scoring;
    size_t latent = on->latent, pixels = on->pixels;
    float *input = nn_plan_input(s->plan), *back = nn_plan_diff_output(s->plan);
    for (size_t k = 0; k < latent; k++)
        input[k] = input[latent + k] = (float)z[k];
    generator_search_make(s);
    double value = value_at(gradient, generator_search_distance(s->made, s->x, pixels), z, s);
    for (size_t i = 0; i < pixels; i++)
        back[i] = (float)(2 * ((double)s->made[i] - (double)s->x[i]) / (double)pixels) *
                  on->g->kind->slope(s->made[i], on->g);
    memset(back + pixels, 0, pixels * sizeof *back);
    if (s->status == SOTTO_OK)
        s->status = nn_plan_backward_input(s->plan);
    for (size_t k = 0; k < latent; k++)
        gradient[k] += (double)nn_plan_input_gradient(s->plan)[k];
    return value;
}

/* Where the queries are used up, no point is better than those before it. */
static double partial_value(double *gradient, const double *z, void *arg)
{
    struct search *s = arg;
    size_t latent = s->scoring->latent, pixels = s->scoring->pixels;
    float *input = nn_plan_input(s->plan);
    memset(gradient, 0, latent * sizeof *gradient);
    if (s->left < s->rows)
        return INFINITY;
    s->left -= s->rows;
    for (size_t row = 0; row < s->rows; row++) {
        const double *along = s->base + (row ? (row - 1) / 2 : 0) * latent;
        double by = row == 0 ? 0 : row % 2 ? reach : -reach;
        for (size_t k = 0; k < latent; k++)
            input[row * latent + k] = (float)(z[k] + by * along[k]);
    }
    generator_search_make(s);
    double value = value_at(gradient, generator_search_distance(s->made, s->x, pixels), z, s);
    for (size_t d = 0; d < latent; d++) {
        double slope = (generator_search_distance(s->made + (2 * d + 1) * pixels, s->x, pixels) -
                        generator_search_distance(s->made + (2 * d + 2) * pixels, s->x, pixels)) /
                       (2 * reach * (double)pixels);
        for (size_t k = 0; k < latent; k++)
            gradient[k] += slope * s->base[d * latent + k];
    }
    return value;
}

/* The rows of the three samples that are nearest to x. */
static void generator_search_nearest(size_t out[STARTS], const float *x, const float *samples, size_t pixels)
{
    double best[STARTS];
    for (size_t k = 0; k < STARTS; k++)
        best[k] = INFINITY, out[k] = 0;
    for (size_t j = 0; j < START_SAMPLES; j++) {
        double d = generator_search_distance(x, samples + j * pixels, pixels);
        size_t at = STARTS;
        for (; at > 0 && d < best[at - 1]; at--)
            if (at < STARTS)
                best[at] = best[at - 1], out[at] = out[at - 1];
        if (at < STARTS)
            best[at] = d, out[at] = j;
    }
}

/* Scores of all records by searches that ask for value and gradient. */
static sotto_status search_all(double *scores, struct search *search)
{
    sotto_status status = SOTTO_OK;
    const struct scoring *s = search->scoring;
    float *samples = NULL, *latents = NULL, *image = NULL;
    double *z = NULL;
    NEW_ROWS(samples, START_SAMPLES, s->pixels);
    NEW_ROWS(latents, START_SAMPLES, s->latent);
    NEW_ROWS(image, s->pixels, 2);
    NEW(z, s->latent);
    NEW_ROWS(search->made, search->rows, s->pixels);
    TRY(sotto_generator_sample(samples, latents, s->g, START_SAMPLES, s->options.seed, s->ctx));
    for (size_t i = 0; i < s->n; i++) {
        size_t start[STARTS];
        generator_image(image, s->data, s->rows[i]);
        generator_to_planes(image + s->pixels, image, s->g->channels); /* as samples lie */
        generator_search_nearest(start, image + s->pixels, samples, s->pixels);
        search->x = image, search->best = INFINITY;
        for (size_t k = 0; k < STARTS; k++) {
            search->left = s->options.queries / STARTS;
            for (size_t c = 0; c < s->latent; c++)
                z[c] = (double)latents[start[k] * s->latent + c];
            TRY(minimise(z, s->latent, search->value, search, 1e-9, SEARCH_STEPS));
            TRY(search->status);
        }
        scores[i] = -search->best;
        context_progress(s->ctx, "attack", i + 1, s->n, "records");
    }
done:
    base_free(samples);
    base_free(latents);
    base_free(image);
    base_free(z);
    base_free(search->made);
    return status;
}

sotto_status score_gan_leaks_white(double *scores, const struct scoring *s)
{
    sotto_status status = SOTTO_OK;
    struct search search = {.scoring = s, .value = white_value, .rows = 2};
    TRY(scoring_plan(&search.plan, s->g->maker, search.rows, true, s));
    TRY(search_all(scores, &search));
done:
    nn_plan_free(search.plan);
    return status;
}

/* Random orthonormal rows, by Gram and Schmidt. */
static void draw_base(double *base, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++) {
        struct rng r = rng_stream(seed, RNG_PROBE, LATENT_DRAWS, i);
        double *row = base + i * n, square = 0;
        for (size_t k = 0; k < n; k++)
            row[k] = rng_normal(&r);
        for (size_t j = 0; j < i; j++) {
            double along = 0;
            for (size_t k = 0; k < n; k++)
                along += row[k] * base[j * n + k];
            for (size_t k = 0; k < n; k++)
                row[k] -= along * base[j * n + k];
        }
        for (size_t k = 0; k < n; k++)
            square += row[k] * row[k];
        for (size_t k = 0; k < n; k++)
            row[k] /= sqrt(square);
    }
}

sotto_status score_gan_leaks_partial(double *scores, const struct scoring *s)
{
    sotto_status status = SOTTO_OK;
    struct search search = {.scoring = s, .value = partial_value, .rows = 2 * s->latent + 1};
    double *base = NULL;
    REQUIRE(
        s->options.queries >= STARTS * search.rows,
        "queries: %zu for a record are too few for one gradient of each of %d searches; expected at least "
        "%zu",
        s->options.queries, STARTS, STARTS * search.rows);
    NEW_ROWS(base, s->latent, s->latent);
    draw_base(base, s->latent, s->options.seed);
    search.base = base;
    TRY(scoring_plan(&search.plan, s->g->maker, search.rows, false, s));
    TRY(search_all(scores, &search));
done:
    nn_plan_free(search.plan);
    base_free(base);
    return status;
}
