/* Long et al. 2018: a well-generalised model still gives single records away. Reference models that never saw
 * the records to judge say how rare a record is (few of the attacker's records look like it to them) and what
 * loss it has without being a member; a rare record whose loss under the target is below nearly all of those
 * is called a member, all others are left alone. */
#include "attack/shadow/shadow_set.h"
#include "audit/score/posterior.h"
#include "par/par.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REFERENCES = 100, LOOKERS = 10 /* references whose answers are compared */ };
static const double near = 0.1;       /* cosine distance of neighbours */
static const double neighbours = 10;  /* expected in the target's records: more, and a record is not rare */
static const double level = 0.01;     /* of the test */
static const double smallest = 1e-12; /* p-value that is still told apart */
static const double abstains = -1;    /* score of a record that is not rare: below every other */

/* Unit vectors (n, looker answers) of what the first references say about each record. */
static sotto_status query_long_portraits(float *out, const struct shadow_set *a, const struct head_data *data,
                                         size_t lookers)
{
    sotto_status status = SOTTO_OK;
    size_t n = data->n, classes = data->classes, width = lookers * classes;
    float *p = NULL;
    NEW(p, n * classes);
    for (size_t m = 0; m < lookers; m++) {
        TRY(shadow_pool_ask(p, &a->pool, m, data->x, n, data->d, 0, a->plan.ctx));
        for (size_t i = 0; i < n; i++)
            memcpy(out + i * width + m * classes, p + i * classes, classes * sizeof *p);
    }
    for (size_t i = 0; i < n; i++) {
        double square = 0;
        for (size_t j = 0; j < width; j++)
            square += (double)out[i * width + j] * (double)out[i * width + j];
        for (size_t j = 0; j < width; j++)
            out[i * width + j] = (float)((double)out[i * width + j] / sqrt(square));
    }
done:
    base_free(p);
    return status;
}

struct crowd {
    const float *judged, *pool; /* portraits */
    size_t n, pool_n, width;
    size_t *count; /* (n): records of the pool nearby */
};

static sotto_status count_near(void *arg, size_t i, int thread)
{
    (void)thread;
    const struct crowd *c = arg;
    const float *a = c->judged + i * c->width;
    for (size_t k = 0; k < c->pool_n; k++) {
        const float *b = c->pool + k * c->width;
        float part[8] = {0}; /* eight sums at a time: the compiler may not reorder one */
        size_t j = 0;
        for (; j + 8 <= c->width; j += 8)
            for (size_t l = 0; l < 8; l++)
                part[l] += a[j + l] * b[j + l];
        for (; j < c->width; j++)
            part[0] += a[j] * b[j];
        double dot = 0;
        for (size_t l = 0; l < 8; l++)
            dot += (double)part[l];
        c->count[i] += 1 - dot < near;
    }
    return SOTTO_OK;
}

static int query_long_rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double loss_of(double signal)
{
    return signal > 0 ? log1p(exp(-signal)) : -signal + log1p(exp(signal));
}

/* P(reference loss <= loss): the empirical distribution, linear between the losses and from 0 at loss 0. */
static double p_value(double *losses, size_t k, double loss)
{
    qsort(losses, k, sizeof *losses, query_long_rising);
    size_t below = 0;
    while (below < k && losses[below] <= loss)
        below++;
    double from = below ? losses[below - 1] : 0, rank = (double)below;
    if (below < k && losses[below] > from)
        rank += (loss - from) / (losses[below] - from);
    return fmax(rank / (double)(k + 1), smallest);
}

static sotto_status query_long_test(double *scores, size_t *selected, const struct query_input *in,
                                    const struct crowd *c, const double *signals, size_t models)
{
    sotto_status status = SOTTO_OK;
    struct attack_input target = {.outputs = in->posteriors,
                                  .probabilities = true,
                                  .labels = in->records.y,
                                  .n = in->records.n,
                                  .classes = in->records.classes};
    double *losses = NULL;
    NEW(losses, models);
    *selected = 0;
    for (size_t i = 0; i < in->records.n; i++) {
        /* Members are half of the records, as far as the attacker knows. */
        double expected = (double)c->count[i] * (double)in->records.n / 2 / (double)c->pool_n;
        scores[i] = abstains;
        if (expected >= neighbours)
            continue;
        for (size_t m = 0; m < models; m++)
            losses[m] = loss_of(signals[i * models + m]);
        scores[i] = -log(p_value(losses, models, loss_of(posterior_signal(&target, i))));
        ++*selected;
    }
done:
    base_free(losses);
    return status;
}

static sotto_status query_long_run(double *scores, struct query_result *result, const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    struct shadow_set shadows = {0};
    struct crowd c = {.n = in->records.n};
    float *judged = NULL, *pool = NULL;
    double *signals = NULL;
    size_t selected = 0;
    TRY(shadow_set_make(&shadows, in, REFERENCES, NULL));
    shadow_set_report(result, &shadows);
    if (result->pending)
        goto done;
    size_t lookers = shadows.pool.models < LOOKERS ? shadows.pool.models : LOOKERS;
    c.width = lookers * in->records.classes;
    c.pool_n = shadows.data.n;
    NEW_ROWS(judged, c.n, c.width);
    NEW_ROWS(pool, c.pool_n, c.width);
    NEW(c.count, c.n);
    NEW_ROWS(signals, c.n, shadows.pool.models);
    c.judged = judged, c.pool = pool;
    TRY(query_long_portraits(judged, &shadows, &in->records, lookers));
    TRY(query_long_portraits(pool, &shadows, &shadows.data, lookers));
    TRY(par_each(c.n, in->ctx, count_near, &c));
    TRY(shadow_pool_signals(signals, &shadows.pool, &in->records, NULL, in->ctx));
    TRY(query_long_test(scores, &selected, in, &c, signals, shadows.pool.models));
    result->threshold = -log(level);
    fact_count(&result->facts, "rare_records", selected);
    fact_real(&result->facts, "neighbour_distance", near);
    fact_real(&result->facts, "level", level);
done:
    shadow_set_clear(&shadows);
    base_free(judged);
    base_free(pool);
    base_free(c.count);
    base_free(signals);
    return status;
}

const struct query_attack query_long = {.name = "long",
                                        .title = "Rare records of a well-generalised model",
                                        .source = "Long et al. 2018",
                                        .needs = QUERY_POSTERIORS | QUERY_LABELS | QUERY_SHADOWS,
                                        .default_shadows = REFERENCES,
                                        .run = query_long_run};
