#include "federated/federated_score.h"
#include "sotto/lab/head.h"

#include "attack/query/attack_net.h"
#include "par/par.h"

#include <math.h>
#include <string.h>

enum { FEATURES = 2 }; /* at each observed round: loss, ln of the gradient's norm */

struct looking {
    const struct federation *f;
    const float *seen; /* (observed, parameters) */
    const struct federated_plan *plan;
    float *table; /* (candidates, observed, FEATURES) */
};

double federated_log_gradient(const struct whitebox_features *v)
{
    double top = -INFINITY, sum = 0;
    for (size_t l = 1; l <= v->head->layers; l++)
        top = fmax(top, whitebox_features_gradient(v, l));
    for (size_t l = 1; l <= v->head->layers; l++)
        sum += exp(2 * (whitebox_features_gradient(v, l) - top));
    return top + 0.5 * log(sum);
}

/* One observed round. */
static sotto_status federated_score_look(void *arg, size_t t, int thread)
{
    (void)thread;
    sotto_status status = SOTTO_OK;
    struct looking *k = arg;
    const struct head_data *data = k->f->data;
    const struct federated_candidates *c = k->plan->candidates;
    size_t observed = k->plan->options->observed;
    struct sotto_head *h = NULL;
    struct whitebox_features v = {0};
    TRY(sotto_head_copy(&h, k->f->shape));
    TRY(whitebox_features_make(&v, h));
    memcpy(h->parameters, k->seen + t * k->f->parameters, k->f->parameters * sizeof *k->seen);
    for (size_t i = 0; i < c->n; i++) {
        float *out = k->table + (i * observed + t) * FEATURES;
        whitebox_features_look(&v, data->x + c->record[i] * data->d, data->y[c->record[i]]);
        out[0] = (float)v.loss;
        out[1] = (float)federated_log_gradient(&v);
    }
done:
    whitebox_features_clear(&v);
    sotto_head_free(h);
    return status;
}

/* Columns by mean and deviation of the rows that are known. */
static void federated_score_standardise(float *table, size_t n, size_t known, size_t width)
{
    for (size_t j = 0; j < width; j++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < known; i++)
            sum += (double)table[i * width + j] / (double)known;
        for (size_t i = 0; i < known; i++)
            squares += pow((double)table[i * width + j] - sum, 2) / (double)known;
        for (size_t i = 0; i < n; i++)
            table[i * width + j] =
                (float)(squares > 0 ? ((double)table[i * width + j] - sum) / sqrt(squares) : 0);
    }
}

/* A network that knows of the first half of the candidates who is a member, asked about all. */
static sotto_status federated_score_learn(double *scores, float *table, const struct federated_plan *plan,
                                          const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct federated_candidates *c = plan->candidates;
    struct output_table known = {.n = c->n / 2, .width = plan->options->observed * FEATURES, .x = table};
    NEW(known.member, known.n);
    federated_score_standardise(table, c->n, known.n, known.width);
    for (size_t i = 0; i < known.n; i++)
        known.member[i] = c->member[i];
    TRY(attack_net_scores(scores, &known, table, c->n, plan->options->seed, ctx));
done:
    base_free(known.member);
    return status;
}

sotto_status federated_score(double *scores, const struct federation *f, const struct federated_attacker *a,
                             const struct federated_run *run, const struct federated_plan *plan,
                             const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    size_t observed = plan->options->observed, n = plan->candidates->n;
    struct looking k = {.f = f, .seen = a->server ? run->upload : run->common, .plan = plan};
    NEW_ROWS(k.table, n, observed * FEATURES);
    TRY(par_each(observed, ctx, federated_score_look, &k));
    if (plan->options->learnt) {
        TRY(federated_score_learn(scores, k.table, plan, ctx));
        goto done;
    }
    for (size_t i = 0; i < n; i++) {
        scores[i] = 0;
        for (size_t t = 0; t < observed; t++)
            scores[i] -= (double)k.table[(i * observed + t) * FEATURES] / (double)observed;
    }
done:
    base_free(k.table);
    return status;
}
