/* Answers on several views of each record become signals: (views, n) of the target, (views, n, models) of the
 * reference models. */
#include "audit/audit_private.h"
#include "audit/score/posterior.h"
#include "audit/score/resolution.h"
#include "audit/score/views.h"
#include "par/par.h"

#include <math.h>

/* Outputs of one model: row i, view v at (i * views + v) * classes of one of the two. */
struct answers {
    const float *f4;
    const double *f8;
};

struct views {
    const struct sotto_audit_input *in;
    const int64_t *labels;
    const char *what;
    size_t n;
    double step; /* of rounded probabilities */
};

static double value_at(const struct answers *a, size_t at)
{
    return a->f4 ? (double)a->f4[at] : a->f8[at];
}

/* Checks one row of one view and gives its signal. */
static sotto_status signal_of(double *out, const struct views *s, const struct answers *a, size_t i, size_t v,
                              double *row)
{
    size_t classes = s->in->classes;
    double sum = 0, least = 0;
    struct attack_input one = {.outputs = row,
                               .probabilities = s->in->probabilities != 0,
                               .step = s->step,
                               .labels = &s->labels[i],
                               .n = 1,
                               .classes = classes};
    for (size_t k = 0; k < classes; k++) {
        row[k] = value_at(a, (i * s->in->views + v) * classes + k);
        sum += row[k];
        least = row[k] < least ? row[k] : least;
    }
    if (!isfinite(sum))
        return status_fail(SOTTO_EINVAL, "%s: row %zu, view %zu is not finite", s->what, i, v);
    if (one.probabilities && (least < 0 || fabs(sum - 1) > resolution_slack(s->step, classes)))
        return status_fail(
            SOTTO_EINVAL,
            "%s: row %zu, view %zu sums to %g; probabilities must be >= 0 and sum to 1 within %g "
            "(are these logits?)",
            s->what, i, v, sum, resolution_slack(s->step, classes));
    *out = posterior_signal(&one, 0);
    return SOTTO_OK;
}

/* signals: record i, view v at (v * n + first + i) * step. */
static sotto_status audit_views_fill(double *signals, size_t n_all, size_t first, size_t step,
                                     const struct views *s, const struct answers *a)
{
    sotto_status status = SOTTO_OK;
    double *row = NULL;
    NEW(row, s->in->classes);
    for (size_t i = 0; i < s->n; i++)
        for (size_t v = 0; v < s->in->views; v++)
            TRY(signal_of(&signals[(v * n_all + first + i) * step], s, a, i, v, row));
done:
    base_free(row);
    return status;
}

struct models {
    const struct views *views;
    struct answers all; /* (models, n, views, classes) */
    double *signals;
    size_t count;
};

static sotto_status fill_model(void *arg, size_t model, int thread)
{
    (void)thread;
    const struct models *m = arg;
    size_t skip = model * m->views->n * m->views->in->views * m->views->in->classes;
    struct answers own = {m->all.f4 ? m->all.f4 + skip : NULL, m->all.f8 ? m->all.f8 + skip : NULL};
    return audit_views_fill(m->signals + model, m->views->n, 0, m->count, m->views, &own);
}

static sotto_status audit_views_take(double **out, struct audit_arrays *s, enum audit_array slot, size_t a,
                                     size_t b, size_t c)
{
    sotto_status status = SOTTO_OK;
    size_t rows;
    if (!size_multiply(&rows, a, b))
        FAIL(SOTTO_ENOMEM, "audit: %zu x %zu x %zu signals do not fit in memory", a, b, c);
    NEW_ROWS(*out, rows, c);
    s->owned[slot] = *out;
done:
    return status;
}

static sotto_status audit_views_check(const struct audit_arrays *s, const struct sotto_audit_input *in)
{
    sotto_status status = SOTTO_OK;
    bool references = in->reference_views || in->reference_views_f8,
         population = in->population_reference_views || in->population_reference_views_f8;
    if (!in->member_views != !in->nonmember_views || !in->member_views != !references)
        FAIL(SOTTO_EUSAGE,
             "audit: views of members, of non-members and of the reference models must be given together");
    if (!in->population_views != !population || (population && (!in->member_views || !in->n_population)))
        FAIL(SOTTO_EUSAGE, "audit: views of the population need outputs of the target and of the reference "
                           "models, and the views of the records");
    if (!in->member_views)
        return SOTTO_OK;
    if (!s->all.labels || !s->all.outputs || !s->all.reference)
        FAIL(SOTTO_EUSAGE, "audit: views need the target's logits or probabilities, labels, and the outputs "
                           "of the reference models on the records themselves");
    if (population && !s->population.labels)
        FAIL(SOTTO_EUSAGE, "audit: views of the population need its outputs and labels");
    REQUIRE(in->views >= 1 && in->views <= VIEW_MOST, "audit: %zu views; expected 1 to %d", in->views,
            VIEW_MOST);
done:
    return status;
}

sotto_status audit_join_views(struct audit_arrays *s, const struct sotto_audit_input *in,
                              const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    size_t n = s->all.n, models = in->reference_models, z = in->n_population;
    double *own, *of_models;
    TRY(audit_views_check(s, in));
    if (!in->member_views)
        return SOTTO_OK;
    TRY(audit_views_take(&own, s, ARRAY_VIEW_SIGNALS, in->views, n, 1));
    struct views members = {in, s->all.labels, "views of members", in->n_member, s->all.step},
                 others = {in, s->all.labels + in->n_member, "views of non-members", in->n_nonmember,
                           s->all.step},
                 all = {in, s->all.labels, "views of reference models", n, s->all.step},
                 population = {in, s->population.labels, "views of the population", z, s->all.step};
    TRY(audit_views_fill(own, n, 0, 1, &members, &(struct answers){.f8 = in->member_views}));
    TRY(audit_views_fill(own, n, in->n_member, 1, &others, &(struct answers){.f8 = in->nonmember_views}));
    TRY(audit_views_take(&of_models, s, ARRAY_VIEW_REFERENCE, in->views, n, models));
    struct models m = {&all, {in->reference_views, in->reference_views_f8}, of_models, models};
    TRY(par_each(models, ctx, fill_model, &m));
    s->all.views = in->views;
    s->all.view_signals = own;
    s->all.view_reference = of_models;
    if (!in->population_views)
        return SOTTO_OK;
    TRY(audit_views_take(&own, s, ARRAY_POPULATION_VIEW_SIGNALS, in->views, z, 1));
    TRY(audit_views_fill(own, z, 0, 1, &population, &(struct answers){.f8 = in->population_views}));
    TRY(audit_views_take(&of_models, s, ARRAY_POPULATION_VIEW_REFERENCE, in->views, z, models));
    m = (struct models){
        &population, {in->population_reference_views, in->population_reference_views_f8}, of_models, models};
    TRY(par_each(models, ctx, fill_model, &m));
    s->population.views = in->views;
    s->population.models = models;
    s->population.view_signals = own;
    s->population.view_reference = of_models;
done:
    return status;
}
