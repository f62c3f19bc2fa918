#include "audit/score/rmia.h"
#include "audit/score/posterior.h"
#include "audit/score/reference.h"
#include "audit/measure/sorted.h"

#include <math.h>

double rmia_gain(bool *fallback, const struct attack_input *in, size_t row, bool offline, double a)
{
    static const double smallest = 1e-30;
    struct reference_summary own;
    const struct reference_summary *r = reference_summary_of(&own, in, row, REFERENCE_PROBABILITIES);
    const uint32_t *count = r->count;
    double all;
    if (offline && !count[0]) { /* only IN models know it: their mean is all there is */
        double gain = rmia_gain(fallback, in, row, false, a);
        *fallback = true;
        return gain;
    }
    double mean[2] = {r->probability[0] / (double)count[0], r->probability[1] / (double)count[1]};
    if (offline)
        all = ((1 + a) * mean[0] + (1 - a)) / 2;
    else
        all = count[0] && count[1] ? (mean[0] + mean[1]) / 2 : count[0] ? mean[0] : mean[1];
    *fallback = !offline && (in->trained || in->summary) && !(count[0] && count[1]);
    return posterior_log_likelihood(in, row) - log(fmax(all, smallest));
}

sotto_status rmia_run(struct attack_output *out, const struct attack_input *in, bool offline, double a)
{
    for (size_t i = 0; i < in->n; i++) {
        bool fallback = false;
        out->scores[i] = rmia_gain(&fallback, in, i, offline, a);
        out->fallback[i] = fallback;
    }
    return SOTTO_OK;
}

sotto_status rmia_population(double *scores, const struct attack_input *in, const double *gain, double a,
                             double gamma)
{
    sotto_status status = SOTTO_OK;
    const struct attack_input *z = in->population;
    double *sorted = NULL, *scratch = NULL;
    NEW(sorted, z->n);
    NEW(scratch, z->n);
    for (size_t i = 0; i < z->n; i++) {
        bool ignored = false;
        sorted[i] = rmia_gain(&ignored, z, i, true, a);
    }
    sort_rising(sorted, z->n, scratch);
    for (size_t i = 0; i < in->n; i++)
        scores[i] = (double)count_upto(sorted, z->n, gain[i] - log(gamma)) / (double)z->n;
done:
    base_free(sorted);
    base_free(scratch);
    return status;
}

/* ---- the attacks ---- */

static sotto_status run_rmia(struct attack_output *out, const struct attack_input *in, const double *args)
{
    (void)args;
    return rmia_run(out, in, false, 0);
}

const struct score_attack attack_rmia = {.name = "rmia",
                                         .title = "RMIA, online",
                                         .source = "Zarifzadeh, Liu and Shokri 2024",
                                         .needs = NEED_LOSSES | NEED_OUT | NEED_IN,
                                         .run = run_rmia};

static const struct parameter rmia_offline_params[] = {
    {"a", "a in P(x | IN) = a P(x | OUT) + 1 - a", 0.3, 0, 1, false}, {0}};

static sotto_status run_rmia_offline(struct attack_output *out, const struct attack_input *in,
                                     const double *args)
{
    return rmia_run(out, in, true, args[0]);
}

const struct score_attack attack_rmia_offline = {.name = "rmia-offline",
                                                 .title = "RMIA, offline, a = 0.3",
                                                 .source = "Zarifzadeh, Liu and Shokri 2024",
                                                 .needs = NEED_LOSSES | NEED_OUT,
                                                 .params = rmia_offline_params,
                                                 .run = run_rmia_offline};

static sotto_status run_rmia_tuned(struct attack_output *out, const struct attack_input *in,
                                   const double *args)
{
    (void)args;
    out->chosen = "a", out->chosen_value = in->tuned_a;
    return rmia_run(out, in, true, in->tuned_a);
}

const struct score_attack attack_rmia_tuned = {.name = "rmia-tuned",
                                               .title = "RMIA, offline, a found on two reference models",
                                               .source = "Zarifzadeh, Liu and Shokri 2024",
                                               .needs = NEED_LOSSES | NEED_OUT | NEED_IN | NEED_TUNED,
                                               .run = run_rmia_tuned};

/* The published form of RMIA: the share of a population that the record dominates. It orders records as
 * rmia-offline does and adds ties, but the number means something by itself: "beats 99 % of the
 * population". */
static const struct parameter rmia_population_params[] = {
    {"gamma", "likelihood ratio required against a population record", 2, 1, 1e6, false},
    {"a", "a in P(x | IN) = a P(x | OUT) + 1 - a", 0.3, 0, 1, false},
    {0}};

static sotto_status run_rmia_population(struct attack_output *out, const struct attack_input *in,
                                        const double *args)
{
    sotto_status status = SOTTO_OK;
    double *gain = NULL;
    NEW(gain, in->n);
    struct attack_output raw = {.scores = gain, .fallback = out->fallback};
    TRY(rmia_run(&raw, in, true, args[1]));
    TRY(rmia_population(out->scores, in, gain, args[1], args[0]));
done:
    base_free(gain);
    return status;
}

const struct score_attack attack_rmia_population = {
    .name = "rmia-population",
    .title = "RMIA, offline, share of the population exceeded",
    .source = "Zarifzadeh, Liu and Shokri 2024",
    .needs = NEED_LOSSES | NEED_OUT | NEED_POPULATION | NEED_POPULATION_REFERENCE,
    .params = rmia_population_params,
    .run = run_rmia_population};
