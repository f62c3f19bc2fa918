/* The caller's arrays of two sides become one of both, members first, in double precision. */
#include "audit/audit_private.h"
#include "audit/score/posterior.h"
#include "par/par.h"

#include <string.h>

static sotto_status audit_join_take(void **out, struct audit_arrays *s, enum audit_array slot, size_t rows,
                                    size_t width, size_t size)
{
    sotto_status status = SOTTO_OK;
    if (!(s->owned[slot] = base_alloc_rows(rows, width, size)))
        FAIL(SOTTO_ENOMEM, "audit: out of memory for %zu x %zu values", rows, width);
    *out = s->owned[slot];
done:
    return status;
}

/* One array of both sides, members first: rows of `width` values of `size` bytes. Nothing given: *out stays
 * NULL. */
static sotto_status audit_join_sides(const void **out, struct audit_arrays *s, enum audit_array slot,
                                     const void *member, const void *nonmember, size_t width, size_t size)
{
    sotto_status status = SOTTO_OK;
    void *both = NULL;
    if (!member)
        return SOTTO_OK;
    TRY(audit_join_take(&both, s, slot, s->all.n, width, size));
    memcpy(both, member, s->member.n * width * size);
    memcpy((char *)both + s->member.n * width * size, nonmember, (s->all.n - s->member.n) * width * size);
    *out = both;
done:
    return status;
}

/* Attacks compute in double whatever the caller has. */
static sotto_status join_narrow(struct audit_arrays *s, const struct sotto_audit_input *in)
{
    sotto_status status = SOTTO_OK;
    size_t of_members = in->n_member * in->classes;
    void *block = NULL;
    TRY(audit_join_take(&block, s, ARRAY_OUTPUTS, s->all.n, in->classes, sizeof(double)));
    double *wide = block;
    for (size_t i = 0; i < of_members; i++)
        wide[i] = in->member[i];
    for (size_t i = 0; i < in->n_nonmember * in->classes; i++)
        wide[of_members + i] = in->nonmember[i];
    s->all.outputs = wide;
done:
    return status;
}

/* One model's outputs become one column of signals. */
struct columns {
    const struct sotto_audit_input *in;
    const int64_t *labels;
    double *signals;
    uint8_t *trained;
    size_t n;
    double step; /* of rounded probabilities */
    bool probabilities;
};

enum { BLOCK = 512 }; /* records whose cache lines are filled together */

static sotto_status fill_block(void *arg, size_t block, int thread)
{
    (void)thread;
    sotto_status status = SOTTO_OK;
    const struct columns *c = arg;
    size_t classes = c->in->classes, models = c->in->reference_models;
    size_t first = block * BLOCK, last = first + BLOCK < c->n ? first + BLOCK : c->n;
    double *row = NULL;
    struct attack_input one = {
        .probabilities = c->probabilities, .step = c->step, .n = 1, .classes = classes};
    NEW(row, classes);
    for (size_t m = 0; m < models; m++)
        for (size_t i = first; i < last; i++) {
            size_t at = (m * c->n + i) * classes;
            if (c->in->reference_outputs)
                for (size_t k = 0; k < classes; k++)
                    row[k] = c->in->reference_outputs[at + k];
            one.outputs = c->in->reference_outputs ? row : c->in->reference_outputs_f8 + at;
            one.labels = &c->labels[i];
            c->signals[i * models + m] = signal_of_rounded(posterior_signal(&one, 0), c->step);
            if (c->trained)
                c->trained[i * models + m] = c->in->reference_outputs_trained[m * c->n + i];
        }
done:
    base_free(row);
    return status;
}

static sotto_status join_references(struct audit_arrays *s, const struct sotto_audit_input *in,
                                    const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    void *signals = NULL, *trained = NULL;
    TRY(audit_join_take(&signals, s, ARRAY_REFERENCE, s->all.n, in->reference_models, sizeof(double)));
    if (in->reference_outputs_trained)
        TRY(audit_join_take(&trained, s, ARRAY_TRAINED, s->all.n, in->reference_models, 1));
    struct columns c = {
        in, s->all.labels, signals, trained, s->all.n, s->all.step, s->reference_probabilities};
    TRY(par_each((s->all.n + BLOCK - 1) / BLOCK, ctx, fill_block, &c));
    s->all.reference = signals;
    s->all.trained = trained;
done:
    return status;
}

static sotto_status join_population(struct audit_arrays *s, const struct sotto_audit_input *in)
{
    sotto_status status = SOTTO_OK;
    size_t count = in->n_population * in->reference_models;
    void *copy = NULL;
    s->population = (struct attack_input){.outputs = in->population,
                                          .probabilities = in->probabilities != 0,
                                          .step = s->all.step,
                                          .labels = in->population_labels,
                                          .losses = in->population_losses,
                                          .reference = in->population_reference,
                                          .features = in->population_features,
                                          .n = in->n_population,
                                          .classes = in->classes,
                                          .models = in->population_reference ? in->reference_models : 0,
                                          .width = in->population_features ? in->feature_count : 0};
    if (!in->population_reference || !in->reference_losses)
        return SOTTO_OK;
    TRY(audit_join_take(&copy, s, ARRAY_POPULATION_REFERENCE, in->n_population, in->reference_models,
                        sizeof(double)));
    for (size_t i = 0; i < count; i++)
        ((double *)copy)[i] = signal_of_loss(in->population_reference[i]);
    s->population.reference = copy;
done:
    return status;
}

static sotto_status join_generative(struct audit_arrays *s, const struct sotto_generative_input *in)
{
    sotto_status status = SOTTO_OK;
    const void *discriminator = NULL;
    TRY(audit_join_sides(&discriminator, s, ARRAY_DISCRIMINATOR, in->member_discriminator,
                         in->nonmember_discriminator, 1, sizeof(double)));
    s->all.discriminator = discriminator;
    s->all.generated = in->generated;
    s->all.generated_n = in->generated_n;
    s->all.reference_generated = in->reference_generated;
    s->all.reference_generated_n = in->reference_generated_n;
    s->all.attacker = in->attacker;
    s->all.attacker_n = in->attacker_n;
done:
    return status;
}

/* The mean of the reference people, where they were given instead of it. */
static sotto_status join_reference_mean(struct audit_arrays *s, const struct sotto_audit_input *in)
{
    sotto_status status = SOTTO_OK;
    void *block = NULL;
    s->all.released_mean = in->released_mean;
    s->all.reference_mean = in->reference_mean;
    s->all.reference_people = in->reference_people ? in->n_reference : 0;
    if (!in->reference_people)
        return SOTTO_OK;
    TRY(audit_join_take(&block, s, ARRAY_REFERENCE_MEAN, 1, in->feature_count, sizeof(double)));
    double *mean = block;
    for (size_t i = 0; i < in->n_reference; i++)
        for (size_t j = 0; j < in->feature_count; j++)
            mean[j] += in->reference_people[i * in->feature_count + j];
    for (size_t j = 0; j < in->feature_count; j++)
        mean[j] /= (double)in->n_reference;
    s->all.reference_mean = mean;
done:
    return status;
}

static struct reference_matrix matrix_of(const struct sotto_audit_input *in, double step)
{
    return (struct reference_matrix){
        .part = {{in->n_member, in->member_reference, in->member_trained, in->member_reference_rows,
                  in->member_trained_rows},
                 {in->n_nonmember, in->nonmember_reference, in->nonmember_trained,
                  in->nonmember_reference_rows, in->nonmember_trained_rows}},
        .models = in->reference_models,
        .losses = in->reference_losses != 0,
        .step = step};
}

sotto_status audit_join(struct audit_arrays *s, const struct sotto_audit_input *in)
{
    sotto_status status = SOTTO_OK;
    const void *outputs = NULL, *labels = NULL, *losses = NULL, *scores = NULL, *reference = NULL,
               *trained = NULL, *features = NULL;
    TRY(audit_join_sides(&outputs, s, ARRAY_OUTPUTS, in->member_f8, in->nonmember_f8, in->classes,
                         sizeof(double)));
    TRY(audit_join_sides(&labels, s, ARRAY_LABELS, in->member_labels, in->nonmember_labels, 1,
                         sizeof(int64_t)));
    TRY(audit_join_sides(&losses, s, ARRAY_LOSSES, in->member_losses, in->nonmember_losses, 1,
                         sizeof(double)));
    TRY(audit_join_sides(&scores, s, ARRAY_SCORES, in->member_scores, in->nonmember_scores, 1,
                         sizeof(double)));
    if (in->member_views) { /* which are compared with the mask of one matrix */
        TRY(audit_join_sides(&reference, s, ARRAY_REFERENCE, in->member_reference, in->nonmember_reference,
                             in->reference_models, sizeof(double)));
        TRY(audit_join_sides(&trained, s, ARRAY_TRAINED, in->member_trained, in->nonmember_trained,
                             in->reference_models, 1));
    }
    s->matrix = matrix_of(in, s->all.step);
    TRY(audit_join_sides(&features, s, ARRAY_FEATURES, in->member_features, in->nonmember_features,
                         in->feature_count, sizeof(float)));
    s->all.outputs = outputs;
    s->all.labels = labels;
    s->all.losses = losses;
    s->all.scores = scores;
    s->all.reference = reference;
    s->all.trained = trained;
    s->all.features = features;
    s->all.width = features ? in->feature_count : 0;
    s->all.tokens = in->tokens;
    if (in->generative)
        TRY(join_generative(s, in->generative));
    TRY(join_reference_mean(s, in));
    if (in->member)
        TRY(join_narrow(s, in));
    TRY(join_population(s, in));
done:
    return status;
}

sotto_status audit_join_references(struct audit_arrays *s, const struct sotto_audit_input *in,
                                   const struct sotto_context *ctx)
{
    if (in->reference_outputs || in->reference_outputs_f8)
        return join_references(s, in, ctx);
    double *signal = s->owned[ARRAY_REFERENCE];
    for (size_t i = 0; signal && i < s->all.n * s->all.models; i++)
        signal[i] =
            signal_of_rounded(in->reference_losses ? signal_of_loss(signal[i]) : signal[i], s->all.step);
    return SOTTO_OK;
}

static sotto_status read_rows(const void *self, double *signals, uint8_t *trained, size_t first, size_t count)
{
    const struct attack_input *all = self;
    const size_t at = first * all->models, values = count * all->models;
    memcpy(signals, all->reference + at, values * sizeof *signals);
    if (all->trained)
        memcpy(trained, all->trained + at, values);
    else
        memset(trained, 0, values);
    return SOTTO_OK;
}

sotto_status audit_summarise_references(struct audit_arrays *s, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    void *signals = NULL, *summary = NULL;
    if (!s->all.models)
        return SOTTO_OK;
    s->references = (struct reference_source){&s->matrix, s->all.n, s->all.models, reference_matrix_read};
    if (s->all.reference)
        s->references.self = &s->all, s->references.read = read_rows;
    TRY(audit_join_take(&signals, s, ARRAY_SIGNALS, s->all.n, 1, sizeof(double)));
    TRY(audit_join_take(&summary, s, ARRAY_SUMMARY, s->all.n, 1, sizeof(struct reference_summary)));
    struct reference_target target = {.signals = signals, .summary = summary};
    for (size_t i = 0; i < s->all.n; i++)
        target.signals[i] = posterior_signal(&s->all, i);
    TRY(audit_references_pass(&target, 1, &s->references, ctx));
    s->all.signals = target.signals;
    s->all.summary = target.summary;
done:
    return status;
}
