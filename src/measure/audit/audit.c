/* The life of an audit: check the arrays, pick the attacks that they allow, measure each, and say what could
 * not be said. */
#include "audit/audit_private.h"
#include "audit/measure/tpr_interval.h"
#include "audit/score/posterior.h"
#include "num/beta.h"
#include "par/par.h"
#include "base/choice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void list_names(char *out, size_t capacity, unsigned have)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; attack_table[i]; i++)
        if (attack_applies(attack_table[i], have) && used < capacity)
            used += (size_t)snprintf(out + used, capacity - used, "%s%s", used ? ", " : "",
                                     attack_table[i]->name);
}

/* Names must exist and fit the arrays; without names every attack that fits is run. */
static sotto_status check_names(const char *const *names, unsigned have)
{
    sotto_status status = SOTTO_OK;
    char possible[1024];
    for (; names && *names; names++) {
        const struct score_attack *a = attack_find(*names);
        list_names(possible, sizeof possible, a ? have : ~0u);
        if (!a)
            TRY(choice_unknown(SOTTO_EUSAGE, "audit: attack", *names, possible));
        if (!attack_applies(a, have))
            FAIL(SOTTO_EUSAGE, "audit: attack '%s' cannot run on these inputs; possible: %s", *names,
                 possible);
    }
done:
    return status;
}

static bool is_wanted(const struct score_attack *a, const char *const *names)
{
    if (!names)
        return true;
    for (; *names; names++)
        if (strcmp(*names, a->name) == 0)
            return true;
    return false;
}

static sotto_status audit_warn(struct sotto_audit_result *r, const struct sotto_context *ctx,
                               const char *text)
{
    context_log(ctx, SOTTO_LOG_WARNING, "%s", text);
    return audit_add_warning(r, text);
}

/* Where members and others differ by date, an attack has to do better than the dates to say something of the model. */
static sotto_status compare_with_dates(struct sotto_audit_result *r, const struct sotto_context *ctx)
{
    const struct sotto_audit_check *dates = NULL;
    double best = 0;
    char text[256];
    for (size_t i = 0; i < r->check_count; i++)
        if (strcmp(r->checks[i].name, "dates") == 0 && r->checks[i].level == SOTTO_CHECK_WARNING)
            dates = &r->checks[i];
    for (size_t i = 0; i < r->attack_count; i++)
        best = fmax(best, r->attacks[i].auc.area.estimate);
    if (!dates || r->attack_count == 0 || best > dates->shift->auc.upper)
        return SOTTO_OK;
    snprintf(text, sizeof text,
             "no attack does better than dates alone (AUC %.3f beside %.3f): the split explains what they "
             "found, and nothing was shown of the model",
             best, dates->shift->auc.estimate);
    return audit_warn(r, ctx, text);
}

static sotto_status collect_warnings(struct sotto_audit_result *r, const struct audit_arrays *arrays,
                                     const struct audit_settings *settings, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    char text[256];
    double n = (double)arrays->nonmember.n, all = n + (double)arrays->member.n;
    for (size_t i = 0; i < settings->fpr_count; i++) {
        const double least = tpr_ranks_least(settings->fpr[i], settings->shared_confidence);
        if (n >= ceil(1 / settings->fpr[i] - 1e-9) && (n >= least || n * settings->fpr[i] >= 10))
            continue;
        if (n >= ceil(1 / settings->fpr[i] - 1e-9)) {
            snprintf(
                text, sizeof text,
                "%.0f non-members are too few for a lower bound on the TPR at %.3g %% FPR that holds for "
                "all attacks: it needs %.0f",
                n, 100 * settings->fpr[i], least);
            TRY(audit_warn(r, ctx, text));
            continue;
        }
        snprintf(
            text, sizeof text,
            "%.0f non-members: the smallest measurable FPR is %.3g %%, so TPR at %.3g %% FPR is not reported "
            "(reported from n >= 1/FPR, marked weak below 10/FPR)",
            n, 100 / n, 100 * settings->fpr[i]);
        TRY(audit_warn(r, ctx, text));
    }
    if (settings->delta > 0 && settings->delta >= 1 / all) {
        snprintf(text, sizeof text, "delta %g is not smaller than 1/n = %.3g", settings->delta, 1 / all);
        TRY(audit_warn(r, ctx, text));
    }
    TRY(compare_with_dates(r, ctx));
done:
    return status;
}

static struct sotto_audit_accuracy accuracy_of(const struct attack_input *side, double confidence)
{
    size_t right = 0;
    for (size_t i = 0; i < side->n; i++)
        right += posterior_argmax(side, i) == (size_t)side->labels[i];
    struct sotto_estimate e = {.estimate = (double)right / (double)side->n};
    clopper_pearson(&e.lower, &e.upper, (double)right, (double)side->n, confidence);
    return (struct sotto_audit_accuracy){e, side->n};
}

/* Of the classes that non-members have. */
static sotto_status set_classes(struct sotto_audit_result *r, struct sotto_audit_accuracies *a,
                                const struct attack_input *side, double confidence)
{
    sotto_status status = SOTTO_OK;
    size_t *all = NULL, *right = NULL, found = 0;
    NEW(all, side->classes);
    NEW(right, side->classes);
    for (size_t i = 0; i < side->n; i++) {
        all[side->labels[i]]++;
        right[side->labels[i]] += posterior_argmax(side, i) == (size_t)side->labels[i];
    }
    TAKE(&r->memory, a->by_class, side->classes);
    for (size_t k = 0; k < side->classes; k++) {
        struct sotto_estimate e = {.estimate = (double)right[k] / (double)all[k]};
        if (all[k] == 0)
            continue;
        clopper_pearson(&e.lower, &e.upper, (double)right[k], (double)all[k], confidence);
        a->by_class[found++] = (struct sotto_audit_class){k, {e, all[k]}};
    }
    a->class_count = found;
done:
    base_free(all);
    base_free(right);
    return status;
}

static sotto_status set_accuracies(struct sotto_audit_result *r, const struct audit_arrays *arrays,
                                   double confidence)
{
    sotto_status status = SOTTO_OK;
    struct sotto_audit_accuracies *a;
    if ((arrays->have & (NEED_OUTPUTS | NEED_LABELS)) != (NEED_OUTPUTS | NEED_LABELS))
        return SOTTO_OK;
    TAKE(&r->memory, a, 1);
    a->member = accuracy_of(&arrays->member, confidence);
    a->nonmember = accuracy_of(&arrays->nonmember, confidence);
    a->gap = a->member.rate.estimate - a->nonmember.rate.estimate;
    TRY(set_classes(r, a, &arrays->nonmember, confidence));
    r->accuracy = a;
done:
    return status;
}

static sotto_status set_generator(struct sotto_audit_result *r, const struct sotto_generative_input *in)
{
    sotto_status status = SOTTO_OK;
    if (!in)
        return SOTTO_OK;
    TAKE(&r->memory, r->generator, 1);
    *r->generator = (struct sotto_generator_facts){.samples = in->generated_n,
                                                   .reference_samples = in->reference_generated_n,
                                                   .attacker_records = in->attacker_n};
done:
    return status;
}

static bool holds_membership(const struct sotto_audit_input *in)
{
    return in->member || in->member_f8 || in->member_losses || in->member_scores || in->named_count ||
           in->released_mean || in->generative || in->tokens;
}

static const char *kind_of_input(const struct sotto_audit_input *in)
{
    if (in->member || in->member_f8)
        return in->probabilities ? "probabilities" : "logits";
    if (in->member_losses)
        return "losses";
    if (in->tokens)
        return "token log-probabilities";
    return in->member_scores || in->named_count ? "scores" : "features";
}

static void set_header(struct sotto_audit_result *r, const struct sotto_audit_input *in,
                       const struct audit_settings *settings)
{
    r->version = sotto_version();
    r->input = kind_of_input(in);
    r->n_member = in->n_member;
    r->n_nonmember = in->n_nonmember;
    r->confidence = settings->confidence;
    r->delta = settings->delta;
    r->seed = settings->seed;
}

/* One attack of the result: an attack of the table, or scores that the caller brought. */
struct job {
    const struct score_attack *attack;
    const struct sotto_audit_scores *named;
    double *scores;    /* (n), members first; only of attacks of the table */
    uint8_t *fallback; /* (n): which of them rest on others' statistics */
    struct sotto_audit_attack entry;
    struct sotto_audit_memory *memory; /* of the entry: jobs run side by side */
};
struct jobs {
    struct job *job;
    size_t count;
    const struct audit_arrays *arrays;
    const struct audit_halves *halves;
    const struct audit_settings *settings;
};

static sotto_status run_job(void *arg, size_t index, int thread)
{
    (void)thread;
    const struct jobs *all = arg;
    struct job *job = &all->job[index];
    const struct sotto_audit_scores *named = job->named;
    if (job->attack)
        return audit_measure(&job->entry, &job->memory, job->scores, job->fallback, job->attack, index,
                             all->arrays, all->halves, all->settings);
    struct audit_scored s = {.name = named->name,
                             .title = named->title,
                             .source = named->source,
                             .member = named->member,
                             .nonmember = named->nonmember,
                             .n_member = all->arrays->member.n,
                             .n_nonmember = all->arrays->nonmember.n,
                             .access = named->access,
                             .radius = NAN,
                             .own_threshold = named->has_threshold ? named->threshold : NAN,
                             .threshold_of = "the attack itself"};
    return audit_row(&job->entry, &job->memory, &s, index, all->halves, all->settings);
}

static sotto_status plan_jobs(struct jobs *out, const struct sotto_audit_input *in,
                              const struct audit_arrays *arrays, const char *const *names)
{
    sotto_status status = SOTTO_OK;
    size_t most = in->named_count;
    for (size_t i = 0; attack_table[i]; i++)
        most++;
    NEW(out->job, most);
    for (size_t i = 0; attack_table[i]; i++) {
        struct job *job = &out->job[out->count];
        if (!attack_applies(attack_table[i], arrays->have) || !is_wanted(attack_table[i], names))
            continue;
        job->attack = attack_table[i];
        out->count++;
        NEW(job->scores, arrays->all.n);
        NEW(job->fallback, arrays->all.n);
    }
    for (size_t i = 0; i < in->named_count; i++)
        out->job[out->count++].named = &in->named[i];
done:
    return status;
}

static void jobs_clear(struct jobs *j)
{
    for (size_t i = 0; i < j->count; i++) {
        base_free(j->job[i].scores);
        base_free(j->job[i].fallback);
        audit_memory_free(&j->job[i].memory);
    }
    base_free(j->job);
}

/* Whose numbers are looked at closely was decided before looking: the strongest attack by design that ran. */
static const struct job *choose_closer(const struct jobs *jobs)
{
    static const char *const order[] = {"lira", "lira-offline", "loss"};
    for (size_t k = 0; k < sizeof order / sizeof *order; k++)
        for (size_t i = 0; i < jobs->count; i++)
            if (jobs->job[i].attack && strcmp(jobs->job[i].attack->name, order[k]) == 0)
                return &jobs->job[i];
    for (size_t i = 0; i < jobs->count; i++)
        if (jobs->job[i].attack)
            return &jobs->job[i];
    return NULL;
}

static const double *scores_of(const void *arg, const char *attack)
{
    const struct jobs *jobs = arg;
    for (size_t i = 0; i < jobs->count; i++)
        if (jobs->job[i].attack && strcmp(jobs->job[i].attack->name, attack) == 0)
            return jobs->job[i].scores;
    return NULL;
}

static sotto_status look_closer(struct sotto_audit_result *r, const struct jobs *jobs,
                                const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct job *job = choose_closer(jobs);
    const struct audit_arrays *arrays = jobs->arrays;
    struct audit_support support = {.fpr = NAN};
    if (!job)
        return SOTTO_OK;
    if (arrays->all.labels && arrays->all.outputs) {
        TRY(audit_slices(r, job->attack->name, job->scores, arrays, jobs->halves, jobs->settings));
    }
    if (arrays->all.models >= 8 && (arrays->have & (NEED_IN | NEED_OUT)) == (NEED_IN | NEED_OUT)) {
        TRY(leave_one_model_out(r, &support, job->attack->name, arrays, scores_of, jobs, jobs->settings,
                                ctx));
    }
    if (jobs->settings->most_vulnerable) {
        TRY(audit_most_vulnerable(r, job->attack->name, job->scores, job->fallback, &support, arrays,
                                  jobs->settings));
    }
done:
    audit_support_clear(&support);
    return status;
}

/* One verdict on the claim: every attack tested it with its share of the error. */
static sotto_status set_claim(struct sotto_audit_result *r, const struct audit_settings *settings)
{
    sotto_status status = SOTTO_OK;
    struct sotto_audit_claim *c;
    TAKE(&r->memory, c, 1);
    *c = (struct sotto_audit_claim){.epsilon = settings->claim_epsilon,
                                    .delta = settings->claim_delta,
                                    .confidence = settings->confidence,
                                    .attacks = r->attack_count};
    for (size_t i = 0; i < r->attack_count; i++) {
        const struct sotto_audit_best *best = &r->attacks[i].claim->best;
        if (best->lower_bound > c->lower_bound || !c->attack) {
            c->lower_bound = best->lower_bound;
            c->attack = r->attacks[i].name;
            c->bound = best->bound;
        }
    }
    c->contradicted = c->lower_bound > settings->claim_epsilon;
    r->claim = c;
done:
    return status;
}

/* The jobs' entries become the result's. */
static sotto_status take_entries(struct sotto_audit_result *r, const struct jobs *jobs)
{
    sotto_status status = SOTTO_OK;
    TAKE(&r->memory, r->attacks, jobs->count);
    for (size_t i = 0; i < jobs->count; i++) {
        TRY(audit_memory_join(&r->memory, &jobs->job[i].memory));
        r->attacks[i] = jobs->job[i].entry;
        r->attack_count = i + 1;
    }
done:
    return status;
}

static sotto_status audit_membership(struct sotto_audit_result *r, const struct sotto_audit_input *in,
                                     const char *const *names, struct audit_settings *settings,
                                     const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct audit_arrays arrays = {0};
    struct audit_halves halves = {0};
    struct jobs jobs = {.arrays = &arrays, .halves = &halves, .settings = settings};
    TRY(audit_check(&arrays, in, ctx));
    arrays.quiet = context_quiet(ctx, 1);
    arrays.all.ctx = &arrays.quiet;
    TRY(audit_summarise_references(&arrays, ctx));
    TRY(audit_tune_rmia(&arrays, ctx));
    TRY(check_names(names, arrays.have));
    TRY(audit_halves_make(&halves, in->n_member, in->n_nonmember, settings->seed));
    TRY(plan_jobs(&jobs, in, &arrays, names));
    settings->shared_confidence = 1 - (1 - settings->confidence) / (double)(jobs.count ? jobs.count : 1);
    r->classes = arrays.have & NEED_OUTPUTS ? in->classes : 0;
    TRY(set_accuracies(r, &arrays, settings->confidence));
    TRY(set_generator(r, in->generative));
    TRY(audit_draw_pictures(r, &arrays, in->generative, settings));
    TRY(audit_sanity(r, &arrays, settings, ctx));
    if (settings->memorisation)
        TRY(audit_memorisation(r, &arrays, settings, ctx));
    context_progress(ctx, "audit", 0, jobs.count, "attacks");
    TRY(par_each(jobs.count, ctx, run_job, &jobs));
    context_progress(ctx, "audit", jobs.count, jobs.count, "attacks");
    TRY(take_entries(r, &jobs));
    if (settings->has_claim)
        TRY(set_claim(r, settings));
    TRY(audit_sanity_direction(r));
    TRY(look_closer(r, &jobs, ctx));
    TRY(collect_warnings(r, &arrays, settings, ctx));
done:
    jobs_clear(&jobs);
    audit_halves_clear(&halves);
    audit_arrays_clear(&arrays);
    return status;
}

sotto_status sotto_audit(struct sotto_audit_result *out, const struct sotto_audit_input *in,
                         const struct sotto_audit_options *options, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, in);
    REQUIRE_GIVEN(!in->named_count || in->named);
    sotto_status status = SOTTO_OK;
    struct audit_settings settings;
    struct sotto_audit_result r = {0};
    const char *const *names = options ? options->names : NULL;
    TRY(audit_settings_resolve(&settings, options));
    settings.ctx = ctx;
    set_header(&r, in, &settings);
    if (!in->attribute || holds_membership(in))
        TRY(audit_membership(&r, in, names, &settings, ctx));
    if (in->attribute)
        TRY(audit_attribute(&r, in->attribute, &settings, ctx));
    *out = r;
done:
    if (status != SOTTO_OK)
        sotto_audit_result_free(&r);
    return status;
}
