/* Quantile regression by the pinball loss: for false-positive rates of 1e-4 .. 0.8, which signal does a
 * record like this one exceed that rarely when it is no member? The score is minus the logarithm (to base 10)
 * of the rate at which the record's own signal lies, between two quantiles by interpolation, beyond the
 * outermost at one for each standard deviation: flagging above 2 has a false-positive rate of 1 %, whatever
 * the record.
 *
 * The published attack lets a network learn 41 quantiles of the input. Here they are linear in the features,
 * from the pinball loss rounded off within 0.02 standard deviations, with a small ridge; without features
 * they are those of the record's class, which is what the loss has its minimum at, exactly. Rates below one
 * in the number of known non-members are left out. Quantiles that cross are put in order (Chernozhukov,
 * Fernandez-Val and Galichon 2010). */
#include "audit/score/population_table.h"
#include "audit/score/posterior.h"
#include "audit/measure/sorted.h"
#include "num/lbfgs.h"

#include <math.h>

enum { LEVELS = 40, LEAST_OF_CLASS = 30, STEPS = 60 };
static const double ridge = 1e-4, rounding = 0.02;

/* Rates rise from 1e-4 by tenths of a decade. */
static double level_score(size_t level)
{
    return 4 - 0.1 * (double)level;
}

/* The first level that n records can tell anything about. */
static size_t first_level(size_t n)
{
    size_t level = 0;
    while (level + 1 < LEVELS && pow(10, -level_score(level)) * (double)n < 1 - 1e-9)
        level++;
    return level;
}

/* quantile[first .. LEVELS) falls. */
static double score_of(double signal, const double *quantile, size_t first)
{
    if (signal >= quantile[first])
        return level_score(first) + (signal - quantile[first]);
    for (size_t k = first + 1; k < LEVELS; k++)
        if (signal >= quantile[k]) {
            double share = (signal - quantile[k]) / (quantile[k - 1] - quantile[k]);
            return level_score(k) + share * (level_score(k - 1) - level_score(k));
        }
    return level_score(LEVELS - 1) + (signal - quantile[LEVELS - 1]);
}

/* ---- without features: quantiles of a class, or of everybody ---- */

/* Those of sorted y (n): where the pinball loss of all of them is least. */
static void order_statistics(double *quantile, const double *y, size_t n)
{
    for (size_t k = 0; k < LEVELS; k++) {
        double place = ceil((1 - pow(10, -level_score(k))) * (double)n - 1e-9);
        quantile[k] = y[place < 1 ? 0 : (size_t)place - 1];
    }
}

struct class_table {
    double *quantile; /* (classes + 1, LEVELS), the last for everybody */
    size_t *n;        /* (classes + 1) */
};

static sotto_status fill_classes(struct class_table *c, const struct population_table *t,
                                 const struct attack_input *in, size_t classes)
{
    sotto_status status = SOTTO_OK;
    double *y = NULL;
    NEW_ROWS(y, t->n, 2);
    for (size_t k = 0; k <= classes; k++) {
        size_t n = 0;
        for (size_t i = 0; i < t->n; i++)
            if (k == classes || (size_t)in->population->labels[i] == k)
                y[n++] = t->y[i];
        c->n[k] = n;
        if (n == 0)
            continue;
        sort_rising(y, n, y + t->n);
        order_statistics(c->quantile + k * LEVELS, y, n);
    }
done:
    base_free(y);
    return status;
}

static sotto_status run_classes(struct attack_output *out, const struct attack_input *in,
                                const struct population_table *t)
{
    sotto_status status = SOTTO_OK;
    size_t classes = t->d - 1; /* 0: no labels */
    struct class_table c = {0};
    NEW_ROWS(c.quantile, classes + 1, LEVELS);
    NEW(c.n, classes + 1);
    TRY(fill_classes(&c, t, in, classes));
    for (size_t i = 0; i < in->n; i++) {
        size_t k = classes ? (size_t)in->labels[i] : 0;
        out->fallback[i] = k < classes && c.n[k] < LEAST_OF_CLASS;
        if (out->fallback[i])
            k = classes;
        out->scores[i] = score_of((posterior_signal(in, i) - t->centre) / t->spread, c.quantile + k * LEVELS,
                                  first_level(c.n[k]));
    }
done:
    base_free(c.quantile);
    base_free(c.n);
    return status;
}

/* ---- with features: one linear regression for each rate ---- */

struct problem {
    const struct population_table *t;
    double level; /* of the quantile, 1 - rate */
};

/* Mean of level u + h ln(1 + e^(-u / h)), u = y - w x: the pinball loss, rounded off near 0; plus the
 * ridge. */
static double attack_quantile_pinball_loss(double *gradient, const double *w, void *arg)
{
    const struct problem *p = arg;
    const struct population_table *t = p->t;
    double value = 0;
    for (size_t j = 0; j < t->d; j++)
        gradient[j] = 0;
    for (size_t i = 0; i < t->n; i++) {
        const double *x = t->x + i * t->d;
        double u = t->y[i], v;
        for (size_t j = 0; j < t->d; j++)
            u -= w[j] * x[j];
        v = u / rounding;
        value += p->level * u + rounding * (v > 0 ? log1p(exp(-v)) : log1p(exp(v)) - v);
        double below = v > 0 ? exp(-v) / (1 + exp(-v)) : 1 / (1 + exp(v)), slope = below - p->level;
        for (size_t j = 0; j < t->d; j++)
            gradient[j] += slope * x[j];
    }
    value /= (double)t->n;
    for (size_t j = 0; j < t->d; j++)
        gradient[j] /= (double)t->n;
    for (size_t j = 0; j + 1 < t->d; j++) {
        value += ridge / 2 * w[j] * w[j];
        gradient[j] += ridge * w[j];
    }
    return value;
}

static sotto_status run_features(struct attack_output *out, const struct attack_input *in,
                                 const struct population_table *t)
{
    sotto_status status = SOTTO_OK;
    size_t first = first_level(t->n), d = t->d;
    double *w = NULL, *x, quantile[LEVELS], scratch[LEVELS];
    NEW_ROWS(w, LEVELS + 1, d);
    x = w + LEVELS * d;
    for (size_t k = LEVELS; k-- > first;) { /* from the easy ones outwards, each from where the last ended */
        struct problem p = {t, 1 - pow(10, -level_score(k))};
        for (size_t j = 0; k + 1 < LEVELS && j < d; j++)
            w[k * d + j] = w[(k + 1) * d + j];
        TRY(minimise(w + k * d, d, attack_quantile_pinball_loss, &p, 1e-5, STEPS));
    }
    for (size_t i = 0; i < in->n; i++) {
        double signal = population_table_row(x, t, in, i);
        for (size_t k = first; k < LEVELS; k++) {
            quantile[LEVELS - 1 - k] = 0; /* rising for the sort, then turned round */
            for (size_t j = 0; j < d; j++)
                quantile[LEVELS - 1 - k] += w[k * d + j] * x[j];
        }
        sort_rising(quantile, LEVELS - first, scratch);
        for (size_t k = first; k < LEVELS; k++)
            scratch[k] = quantile[LEVELS - 1 - k];
        out->scores[i] = score_of(signal, scratch, first);
    }
done:
    base_free(w);
    return status;
}

static sotto_status attack_quantile_pinball_run(struct attack_output *out, const struct attack_input *in,
                                                const double *args)
{
    (void)args;
    sotto_status status = SOTTO_OK;
    struct population_table t = {0};
    TRY(population_table_make(&t, in));
    TRY(t.features ? run_features(out, in, &t) : run_classes(out, in, &t));
done:
    population_table_clear(&t);
    return status;
}

const struct score_attack attack_quantile_pinball = {
    .name = "quantile-pinball",
    .title = "Quantiles of known non-members, by the pinball loss",
    .source = "Bertran et al. 2023",
    .needs = NEED_LOSSES | NEED_POPULATION,
    .run = attack_quantile_pinball_run};
