/* Memorisation of single records (Feldman and Zhang 2020): how much more often models are right about a record that they were
 * trained on. Says nothing about the target: the reference models alone speak. */
#include "audit/audit_private.h"
#include "audit/audit_references.h"
#include "audit/measure/newcombe.h"
#include "audit/score/posterior.h"
#include "num/binomial.h"
#include "par/par.h"
#include "sotto/lab/audit.h"

#include <math.h>
#include <stdlib.h>

enum { LEAST = 8, HIGHEST = 10, BINS = 20, ROWS = 1024 };

/* By side, IN and OUT models. */
struct counts {
    uint32_t models[2], right[2];
    double probability[2];
};
struct pass {
    const struct audit_arrays *arrays;
    struct counts *counts; /* (n) */
};

static void count_one(struct counts *c, bool in, bool right, double probability)
{
    c->models[!in]++;
    c->right[!in] += right;
    c->probability[!in] += probability;
}

/* From signals: the true class has more than half of the probability, which is enough to be right but not needed. */
static sotto_status count_signals(struct pass *p, size_t first, size_t count)
{
    sotto_status status = SOTTO_OK;
    const struct reference_source *source = &p->arrays->references;
    double *signals = NULL;
    uint8_t *trained = NULL;
    NEW_ROWS(signals, count, source->models);
    NEW_ROWS(trained, count, source->models);
    TRY(source->read(source->self, signals, trained, first, count));
    for (size_t i = 0; i < count; i++)
        for (size_t m = 0; m < source->models; m++) {
            const double s = signals[i * source->models + m];
            count_one(&p->counts[first + i], trained[i * source->models + m] != 0, s > 0,
                      probability_of_signal(s));
        }
done:
    base_free(signals);
    base_free(trained);
    return status;
}

/* From whole answers: the true class has the largest. */
static sotto_status count_answers(struct pass *p, size_t first, size_t count)
{
    sotto_status status = SOTTO_OK;
    const struct audit_arrays *s = p->arrays;
    const size_t k = s->all.classes, models = s->all.models;
    double *row = NULL;
    NEW(row, k);
    for (size_t i = first; i < first + count; i++) {
        struct attack_input one = {.outputs = row,
                                   .probabilities = s->reference_probabilities,
                                   .step = s->all.step,
                                   .labels = s->all.labels + i,
                                   .n = 1,
                                   .classes = k};
        for (size_t m = 0; m < models; m++) {
            const size_t at = (m * s->all.n + i) * k;
            for (size_t j = 0; j < k; j++)
                row[j] = s->reference_outputs ? (double)s->reference_outputs[at + j]
                                              : s->reference_outputs_f8[at + j];
            count_one(&p->counts[i], s->all.trained && s->all.trained[i * models + m],
                      posterior_argmax(&one, 0) == (size_t)s->all.labels[i],
                      exp(posterior_log(&one, 0, (size_t)s->all.labels[i])));
        }
    }
done:
    base_free(row);
    return status;
}

static sotto_status count_block(void *arg, size_t block, int thread)
{
    (void)thread;
    struct pass *p = arg;
    const size_t n = p->arrays->all.n, first = block * ROWS, count = n - first < ROWS ? n - first : ROWS;
    return p->arrays->reference_outputs || p->arrays->reference_outputs_f8 ? count_answers(p, first, count)
                                                                           : count_signals(p, first, count);
}

static struct sotto_memorised audit_memorisation_memorised(const struct counts *c, size_t row,
                                                           const struct audit_arrays *s, double z)
{
    const size_t right[2] = {c->right[0], c->right[1]}, models[2] = {c->models[0], c->models[1]};
    const bool member = row < s->member.n;
    return (struct sotto_memorised){.member = member,
                                    .row = (int64_t)(member ? row : row - s->member.n),
                                    .value = newcombe(right, models, z),
                                    .probability = c->probability[0] / (double)models[0] -
                                                   c->probability[1] / (double)models[1],
                                    .in = models[0],
                                    .out = models[1]};
}

/* By value, then by the smooth one, then in the order of the records. */
static bool audit_memorisation_before(const struct sotto_memorised *a, const struct sotto_memorised *b)
{
    if (a->value.estimate != b->value.estimate)
        return a->value.estimate > b->value.estimate;
    return a->probability > b->probability;
}

static void keep_highest(struct sotto_audit_memorisation *m, const struct sotto_memorised *one)
{
    size_t at = m->count < HIGHEST ? m->count++ : HIGHEST;
    for (; at > 0 && audit_memorisation_before(one, &m->highest[at - 1]); at--)
        if (at < HIGHEST)
            m->highest[at] = m->highest[at - 1];
    if (at < HIGHEST)
        m->highest[at] = *one;
}

static void audit_memorisation_judge(struct sotto_audit_memorisation *m, const struct pass *p, double z)
{
    size_t above = 0;
    for (size_t i = 0; i < p->arrays->all.n; i++) {
        const struct counts *c = &p->counts[i];
        m->values[i] = NAN;
        if (c->models[0] < LEAST || c->models[1] < LEAST)
            continue;
        const struct sotto_memorised one = audit_memorisation_memorised(c, i, p->arrays, z);
        const double bin = floor((one.value.estimate + 1) / 2 * BINS);
        m->values[i] = one.value.estimate;
        m->judged++;
        above += one.value.estimate > 0.5;
        (one.member ? m->histogram.member : m->histogram.nonmember)[(size_t)fmin(bin, BINS - 1)]++;
        keep_highest(m, &one);
    }
    m->above_half = m->judged ? (double)above / (double)m->judged : NAN;
}

sotto_status audit_memorisation(struct sotto_audit_result *r, const struct audit_arrays *arrays,
                                const struct audit_settings *settings, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_audit_memorisation *m;
    struct pass p = {.arrays = arrays};
    const bool answers = arrays->reference_outputs || arrays->reference_outputs_f8;
    if ((arrays->have & (NEED_IN | NEED_OUT)) != (NEED_IN | NEED_OUT))
        FAIL(SOTTO_EUSAGE,
             "audit: memorisation needs reference models of which some were trained on a record and others "
             "were not; give their signals and training masks");
    NEW(p.counts, arrays->all.n);
    TRY(par_each((arrays->all.n + ROWS - 1) / ROWS, ctx, count_block, &p));
    TAKE(&r->memory, m, 1);
    TAKE(&r->memory, m->values, arrays->all.n);
    TAKE(&r->memory, m->highest, HIGHEST);
    m->histogram = (struct sotto_audit_histogram){.lower = -1, .upper = 1, .bins = BINS};
    TAKE(&r->memory, m->histogram.member, BINS);
    TAKE(&r->memory, m->histogram.nonmember, BINS);
    m->right = answers ? "the true class is the most probable"
                       : "the true class has more than half of the probability";
    m->least = LEAST;
    audit_memorisation_judge(m, &p, normal_quantile_below((1 + settings->confidence) / 2));
    for (size_t i = 0; !settings->include_indices && i < m->count; i++)
        m->highest[i].row = -1;
    r->memorisation = m;
done:
    base_free(p.counts);
    return status;
}

sotto_status sotto_audit_save_memorisation(const char *path, const struct sotto_audit_result *r)
{
    REQUIRE_GIVEN(path, r);
    if (!r->memorisation || !r->memorisation->values)
        return status_fail(SOTTO_EUSAGE, "%s: the audit measured no memorisation", path);
    const size_t n = r->n_member + r->n_nonmember;
    const struct sotto_array a = {
        .dtype = SOTTO_F8, .ndim = 1, .shape = {n}, .count = n, .data = r->memorisation->values};
    return sotto_npy_save(path, &a);
}
