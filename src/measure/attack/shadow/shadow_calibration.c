#include "attack/shadow/shadow_calibration.h"
#include "audit/measure/metrics.h"
#include "attack/target/target_network.h"

#include <string.h>

struct shadow_target {
    struct sotto_target target;
    struct sotto_head *head;
    const struct sotto_context *ctx;
};

static sotto_status shadow_calibration_query(struct sotto_target *t, float *posteriors, const float *rows,
                                             size_t n)
{
    const struct shadow_target *s = (const struct shadow_target *)t;
    return sotto_head_predict(posteriors, s->head, rows, n, t->inputs, 0, s->ctx);
}

static void close_shadow(struct sotto_target *t)
{
    struct shadow_target *s = (struct shadow_target *)t;
    sotto_head_free(s->head);
    base_free(s);
}

static sotto_status open_shadow(struct sotto_target **out, const struct shadow_set *a)
{
    sotto_status status = SOTTO_OK;
    if (a->pool.networks)
        return target_network(out, "shadow", a->pool.networks[0], false, a->plan.ctx);
    struct shadow_target *s = NULL;
    NEW(s, 1);
    TRY(shadow_pool_head(&s->head, &a->pool, 0));
    s->target = target_make("shadow", a->data.d, a->data.classes);
    s->target.head = s->head;
    s->ctx = a->plan.ctx;
    s->target.query = shadow_calibration_query;
    s->target.close = close_shadow;
    *out = &s->target;
    s = NULL;
done:
    base_free(s);
    return status;
}

static size_t shadow_calibration_count(const struct shadow_set *a, enum shadow_use kind)
{
    size_t n = 0;
    for (size_t i = 0; i < a->data.n; i++)
        n += a->use[i] == kind;
    return n;
}

static void shadow_calibration_gather(struct shadow_calibration *r, enum shadow_use kind, size_t first,
                                      size_t n)
{
    const struct head_data *data = &r->shadows.data;
    for (size_t i = 0, at = 0; i < data->n && at < n; i++)
        if (r->shadows.use[i] == kind) {
            memcpy(r->x + (first + at) * data->d, data->x + i * data->d, data->d * sizeof *r->x);
            r->y[first + at++] = data->y[i];
        }
}

sotto_status shadow_calibration_make(struct shadow_calibration *out, struct query_result *result,
                                     const struct query_input *in, size_t most)
{
    sotto_status status = SOTTO_OK;
    *out = (struct shadow_calibration){0};
    TRY(shadow_set_make(&out->shadows, in, 1, NULL));
    shadow_set_report(result, &out->shadows);
    if (result->pending)
        goto done;
    size_t n = shadow_calibration_count(&out->shadows, SHADOW_IN),
           n_out = shadow_calibration_count(&out->shadows, SHADOW_OUT);
    n = n_out < n ? n_out : n;
    n = most < n ? most : n;
    NEW(out->x, 2 * n * out->shadows.data.d);
    NEW(out->y, 2 * n);
    shadow_calibration_gather(out, SHADOW_IN, 0, n);
    shadow_calibration_gather(out, SHADOW_OUT, n, n);
    out->n_member = n;
    out->records = (struct head_data){out->x, out->y, 2 * n, out->shadows.data.d, out->shadows.data.classes};
    TRY(open_shadow(&out->target, &out->shadows));
done:
    return status;
}

void shadow_calibration_clear(struct shadow_calibration *r)
{
    sotto_target_close(r->target);
    shadow_set_clear(&r->shadows);
    base_free(r->x);
    base_free(r->y);
    *r = (struct shadow_calibration){0};
}

sotto_status shadow_calibration_run(double *auc, double *threshold, const struct shadow_calibration *r,
                                    shadow_calibration_score score, double parameter, void *arg)
{
    sotto_status status = SOTTO_OK;
    struct roc c = {0};
    size_t m = r->n_member;
    bool exact;
    double *scores = NULL;
    NEW(scores, 2 * m);
    TRY(score(scores, r->target, &r->records, parameter, arg));
    TRY(roc_make(&c, scores, m, scores + m, m));
    *auc = roc_auc(&c, 0.95, &exact).estimate;
    *threshold = roc_threshold_balanced(&c);
done:
    roc_clear(&c);
    base_free(scores);
    return status;
}
