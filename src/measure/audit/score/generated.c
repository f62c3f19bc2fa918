/* Attacks on generative models: what the discriminator says of a record, and how near the generator's samples come to
 * it. */
#include "audit/fit/principal.h"
#include "audit/measure/sorted.h"
#include "audit/score/sample_distances.h"
#include "audit/score/score_attack.h"

#include <math.h>

/* A discriminator is surest of what it was trained on. Its logit, as the sigmoid saturates and makes ties. */
static sotto_status run_logan(struct attack_output *out, const struct attack_input *in, const double *args)
{
    (void)args;
    for (size_t i = 0; i < in->n; i++)
        out->scores[i] = in->discriminator[i];
    return SOTTO_OK;
}

const struct score_attack attack_logan = {.name = "logan",
                                          .title = "Logit of the generator's own discriminator",
                                          .source = "Hayes et al. 2019",
                                          .needs = NEED_DISCRIMINATOR,
                                          .access = "discriminator",
                                          .run = run_logan};

/* ---- what distances are measured on ---- */

/* Records and samples as they are, or in principal components of what the attacker has: own records, else the
 * samples. Never of the members. */
struct generated_space {
    struct sample_pairs pairs;
    float *records, *samples; /* owned; NULL: as they are */
};

static void generated_space_clear(struct generated_space *s)
{
    base_free(s->records);
    base_free(s->samples);
}

static sotto_status generated_space_make(struct generated_space *out, const struct attack_input *in,
                                         const float *samples, size_t k, size_t components)
{
    sotto_status status = SOTTO_OK;
    struct generated_space s = {.pairs = {in->features, samples, in->n, k, in->width, in->ctx}};
    struct principal p = {0};
    if (components == 0 || components >= in->width)
        goto done;
    TRY(principal_make(&p, in->attacker ? in->attacker : samples, in->attacker ? in->attacker_n : k,
                       in->width, components, in->ctx));
    if (p.components == 0)
        goto done;
    NEW_ROWS(s.records, in->n, p.components);
    NEW_ROWS(s.samples, k, p.components);
    TRY(principal_project(s.records, &p, in->features, in->n, in->ctx));
    TRY(principal_project(s.samples, &p, samples, k, in->ctx));
    s.pairs.records = s.records, s.pairs.samples = s.samples, s.pairs.width = p.components;
done:
    principal_clear(&p);
    if (status != SOTTO_OK)
        generated_space_clear(&s);
    else
        *out = s;
    return status;
}

#define COMPONENTS(usual)                                                                                    \
    {                                                                                                        \
        "components", "principal components that distances are measured on; 0: the values themselves",       \
            usual, 0, PRINCIPAL_COLUMNS - 8, true                                                            \
    }

/* ---- nearest sample ---- */

static sotto_status nearest_to(double *out, const struct attack_input *in, const float *samples, size_t k,
                               double components)
{
    sotto_status status = SOTTO_OK;
    struct generated_space s = {0};
    TRY(generated_space_make(&s, in, samples, k, (size_t)components));
    TRY(sample_nearest(out, NULL, &s.pairs));
done:
    generated_space_clear(&s);
    return status;
}

static const struct parameter gan_leaks_params[] = {COMPONENTS(0), {0}};

static sotto_status run_gan_leaks(struct attack_output *out, const struct attack_input *in,
                                  const double *args)
{
    sotto_status status = nearest_to(out->scores, in, in->generated, in->generated_n, args[0]);
    for (size_t i = 0; status == SOTTO_OK && i < in->n; i++)
        out->scores[i] = -out->scores[i];
    return status;
}

const struct score_attack attack_gan_leaks = {.name = "gan-leaks",
                                              .title = "Distance to the nearest sample",
                                              .source = "Chen et al. 2020",
                                              .needs = NEED_GENERATED,
                                              .access = "samples",
                                              .params = gan_leaks_params,
                                              .run = run_gan_leaks};

/* How far an image is from anything dominates its distance to the nearest sample; samples of a generator that saw other
 * records take that part away. */
static sotto_status run_gan_leaks_calibrated(struct attack_output *out, const struct attack_input *in,
                                             const double *args)
{
    sotto_status status = SOTTO_OK;
    double *own = NULL;
    NEW(own, in->n);
    TRY(nearest_to(own, in, in->generated, in->generated_n, args[0]));
    TRY(nearest_to(out->scores, in, in->reference_generated, in->reference_generated_n, args[0]));
    for (size_t i = 0; i < in->n; i++)
        out->scores[i] -= own[i];
done:
    base_free(own);
    return status;
}

const struct score_attack attack_gan_leaks_calibrated = {
    .name = "gan-leaks-calibrated",
    .title = "Distance to the nearest sample, less that to a reference generator's",
    .source = "Chen et al. 2020",
    .needs = NEED_GENERATED | NEED_REFERENCE_GENERATED,
    .access = "samples, reference generator",
    .params = gan_leaks_params,
    .run = run_gan_leaks_calibrated};

/* ---- Monte Carlo ---- */

static const struct parameter monte_carlo_params[] = {
    COMPONENTS(40),
    {"quantile",
     "quantile of all distances that is the radius; 0: the median of the distances to the nearest sample", 0,
     0, 1, false},
    {0}};

/* The radius comes from all candidates, without their membership. */
static sotto_status radius_of(double *radius, const struct generated_space *s, double quantile)
{
    sotto_status status = SOTTO_OK;
    double *nearest = NULL;
    size_t n = s->pairs.n;
    if (quantile > 0)
        return sample_quantile(radius, quantile, &s->pairs);
    NEW_ROWS(nearest, n, 2);
    TRY(sample_nearest(nearest, NULL, &s->pairs));
    sort_rising(nearest, n, nearest + n);
    *radius = n % 2 ? nearest[n / 2] : (nearest[n / 2 - 1] + nearest[n / 2]) / 2;
done:
    base_free(nearest);
    return status;
}

static sotto_status monte_carlo(struct attack_output *out, const struct attack_input *in, const double *args,
                                bool closeness)
{
    sotto_status status = SOTTO_OK;
    struct generated_space s = {0};
    TRY(generated_space_make(&s, in, in->generated, in->generated_n, (size_t)args[0]));
    TRY(radius_of(&out->radius, &s, args[1]));
    TRY(sample_within(closeness ? NULL : out->scores, closeness ? out->scores : NULL, out->radius, &s.pairs));
done:
    generated_space_clear(&s);
    return status;
}

static sotto_status run_monte_carlo(struct attack_output *out, const struct attack_input *in,
                                    const double *args)
{
    return monte_carlo(out, in, args, false);
}

const struct score_attack attack_monte_carlo = {.name = "monte-carlo",
                                                .title = "Share of the samples within a radius",
                                                .source = "Hilprecht et al. 2019",
                                                .needs = NEED_GENERATED,
                                                .access = "samples",
                                                .params = monte_carlo_params,
                                                .run = run_monte_carlo};

/* Each of those samples counts by ln of radius over distance: 0 at the radius, as for a record with no sample inside. */
static sotto_status run_monte_carlo_distance(struct attack_output *out, const struct attack_input *in,
                                             const double *args)
{
    return monte_carlo(out, in, args, true);
}

const struct score_attack attack_monte_carlo_distance = {.name = "monte-carlo-distance",
                                                         .title = "Closeness of the samples within a radius",
                                                         .source = "Hilprecht et al. 2019",
                                                         .needs = NEED_GENERATED,
                                                         .access = "samples",
                                                         .params = monte_carlo_params,
                                                         .run = run_monte_carlo_distance};
