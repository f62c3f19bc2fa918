#include "attack/shadow/shadow_calibration.h"
#include "audit/measure/metrics.h"
#include "attack/target/target_network.h"

#include <string.h>

struct shadow_target {
    struct sotto_target target;
    struct sotto_head *head;
};

static sotto_status query(struct sotto_target *t, float *posteriors, const float *rows, size_t n)
{
    return sotto_head_predict(posteriors, ((struct shadow_target *)t)->head, rows, n, t->inputs, 0);
}

static void close_shadow(struct sotto_target *t)
{
    struct shadow_target *s = (struct shadow_target *)t;
    sotto_head_free(s->head);
    base_free(s);
}

static sotto_status open_shadow(struct sotto_target **out, const struct shadow_army *a)
{
    sotto_status status = SOTTO_OK;
    if (a->pool.networks)
        return target_network(out, "shadow", a->pool.networks[0], false, a->plan.ctx);
    struct shadow_target *s = base_alloc(1, sizeof *s);
    if (!s)
        FAIL(SOTTO_ENOMEM, "rehearsal: out of memory");
    TRY(shadow_pool_head(&s->head, &a->pool, 0));
    s->target = target_make("shadow", a->data.d, a->data.classes);
    s->target.head = s->head;
    s->target.query = query;
    s->target.close = close_shadow;
    *out = &s->target;
    s = NULL;
done:
    base_free(s);
    return status;
}

static size_t count(const struct shadow_army *a, enum shadow_use kind)
{
    size_t n = 0;
    for (size_t i = 0; i < a->data.n; i++)
        n += a->use[i] == kind;
    return n;
}

static void gather(struct rehearsal *r, enum shadow_use kind, size_t first, size_t n)
{
    const struct head_data *data = &r->army.data;
    for (size_t i = 0, at = 0; i < data->n && at < n; i++)
        if (r->army.use[i] == kind) {
            memcpy(r->x + (first + at) * data->d, data->x + i * data->d, data->d * sizeof *r->x);
            r->y[first + at++] = data->y[i];
        }
}

sotto_status rehearsal_make(struct rehearsal *out, struct model_result *result, const struct model_input *in,
                            size_t most)
{
    sotto_status status = SOTTO_OK;
    *out = (struct rehearsal){0};
    TRY(shadow_army_make(&out->army, in, 1, NULL));
    shadow_army_report(result, &out->army);
    if (result->pending)
        goto done;
    size_t n = count(&out->army, SHADOW_IN), n_out = count(&out->army, SHADOW_OUT);
    n = n_out < n ? n_out : n;
    n = most < n ? most : n;
    out->x = base_alloc(2 * n * out->army.data.d, sizeof *out->x);
    out->y = base_alloc(2 * n, sizeof *out->y);
    if (!out->x || !out->y)
        FAIL(SOTTO_ENOMEM, "rehearsal: out of memory for %zu records", 2 * n);
    gather(out, SHADOW_IN, 0, n);
    gather(out, SHADOW_OUT, n, n);
    out->n_member = n;
    out->records = (struct head_data){out->x, out->y, 2 * n, out->army.data.d, out->army.data.classes};
    TRY(open_shadow(&out->target, &out->army));
done:
    return status;
}

void rehearsal_clear(struct rehearsal *r)
{
    sotto_target_close(r->target);
    shadow_army_clear(&r->army);
    base_free(r->x);
    base_free(r->y);
    *r = (struct rehearsal){0};
}

sotto_status rehearsal_run(double *auc, double *threshold, const struct rehearsal *r, rehearsal_score score,
                           double parameter, void *arg)
{
    sotto_status status = SOTTO_OK;
    struct curve c = {0};
    size_t m = r->n_member;
    bool exact;
    double *scores = base_alloc(2 * m, sizeof *scores);
    if (!scores)
        FAIL(SOTTO_ENOMEM, "rehearsal: out of memory for %zu records", 2 * m);
    TRY(score(scores, r->target, &r->records, parameter, arg));
    TRY(curve_make(&c, scores, m, scores + m, m));
    *auc = curve_auc(&c, 0.95, &exact).estimate;
    *threshold = curve_threshold_balanced(&c);
done:
    curve_clear(&c);
    base_free(scores);
    return status;
}
