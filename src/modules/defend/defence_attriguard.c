/* AttriGuard on embeddings, as "Quantifying and Mitigating Privacy Risks of Contrastive Learning" adapts it:
 * phase I is the attack of Carlini and Wagner (2017) in the maximum norm, on rows in units of the columns'
 * deviations. With Z the logits of the defender's classifier and f(u) = max_{j != i} Z_j - Z_i at
 * x + scale u,
 *
 *     minimise  c max(f(u), -margin) + sum_j max(|u_j| - tau, 0)
 *
 * by Adam; while changes with all |u_j| < tau are found, tau shrinks to .9 of the largest |u_j|, and where
 * none is, c doubles until it reaches its limit. */
#include "defend/attriguard.h"

#include <math.h>
#include <string.h>

enum { STEP = ATTRIGUARD_OWN, LARGEST };
static const struct parameter params[] = {
    ATTRIGUARD_PARAMS(60),
    {"step", "learning rate of a search (Adam), in standard deviations", 0.02, 1e-6, 10, false},
    {"largest", "change of a column at which a search stops, in standard deviations", 4, 1e-3, 1e6, false},
    {0}};

static const double margin = 1e-3, first_c = 1, most_c = 64;

/* x = the row with `change`, rounded as it would be shown; returns the largest |u_j| that came of it. */
static double defence_attriguard_move(struct attriguard_look *look, float *moved)
{
    const double *scale = look->a->net.scale;
    double largest = 0;
    for (size_t j = 0; j < look->d; j++) {
        moved[j] = (float)((double)look->row[j] + scale[j] * look->change[j]);
        look->x[j] = (double)moved[j];
        if (scale[j] > 0)
            largest = fmax(largest, fabs(look->x[j] - (double)look->row[j]) / scale[j]);
    }
    return largest;
}

static void defence_attriguard_adam(struct attriguard_look *look, const double *pull, double c, double tau,
                                    size_t step)
{
    const double *scale = look->a->net.scale;
    double rate = look->a->args[STEP] * sqrt(1 - pow(0.999, (double)step)) / (1 - pow(0.9, (double)step));
    for (size_t j = 0; j < look->d; j++) {
        double g = c * scale[j] * pull[j] + (look->change[j] > tau ? 1 : look->change[j] < -tau ? -1 : 0);
        look->mean[j] += 0.1 * (g - look->mean[j]);
        look->square[j] += 0.001 * (g * g - look->square[j]);
        look->change[j] -= rate * look->mean[j] / (sqrt(look->square[j]) + 1e-8);
    }
}

/* One c and tau, from `change`. The best change that reaches the value within tau goes to `best`; returns its
 * size, or `least` if none is smaller. */
static double try_once(struct attriguard_look *look, float *moved, size_t value, double c, double tau,
                       double least)
{
    memset(look->mean, 0, look->d * sizeof *look->mean);
    memset(look->square, 0, look->d * sizeof *look->square);
    for (size_t step = 1; step <= (size_t)look->a->args[ATTRIGUARD_STEPS]; step++) {
        double size = defence_attriguard_move(look, moved), rival = -INFINITY;
        bool there = attriguard_answer(look) == value;
        const double *logits = look->net.value[look->a->net.layers];
        if (there && size < tau && size < least) {
            least = size;
            memcpy(look->best, look->change, look->d * sizeof *look->best);
        }
        for (size_t v = 0; v < look->a->values; v++)
            rival = v != value ? fmax(rival, logits[v]) : rival;
        bool far = rival - logits[value] > -margin; /* past the margin the first term is constant */
        defence_attriguard_adam(look, attriguard_pull(look, value), far ? c : 0, tau, step);
    }
    return least;
}

static double defence_attriguard_search(float *moved, struct attriguard_look *look, size_t value)
{
    double tau = look->a->args[LARGEST], least = INFINITY, c = first_c;
    memset(look->change, 0, look->d * sizeof *look->change);
    while (c <= most_c) {
        double found = try_once(look, moved, value, c, tau, least);
        if (found < least) {
            least = found;
            tau = 0.9 * least;
        } else {
            c *= 2;
        }
        if (isfinite(least))
            memcpy(look->change, look->best, look->d * sizeof *look->change);
    }
    if (isfinite(least))
        least = defence_attriguard_move(look, moved);
    return least;
}

static sotto_status defence_attriguard_fit(void **model, const struct defence_fit *in)
{
    return attriguard_fit(model, in, defence_attriguard_search);
}

const struct defence defence_attriguard = {
    .name = "attriguard",
    .title = "embeddings changed so that a classifier infers a randomly drawn attribute",
    .source = "Jia and Gong 2018; Carlini and Wagner 2017",
    .unit = "expected largest change of a column, in standard deviations of the column over the known rows",
    .usual_budget = 0.5,
    .needs = DEFENCE_SECRETS,
    .params = params,
    .fit = defence_attriguard_fit,
    .apply = attriguard_apply,
    .release = attriguard_release};
