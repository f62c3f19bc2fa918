/* The life of an audit: check the arrays, pick the attacks that they allow, measure each, and say what could
 * not be said. */
#include "audit/audit_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "audit/score/posterior.h"
#include "num/beta.h"
#include "par/par.h"
#include "sotto/sotto.h"

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
            FAIL(SOTTO_EUSAGE, "audit: unknown attack '%s'; expected one of %s", *names, possible);
        if (!attack_applies(a, have))
            FAIL(SOTTO_EUSAGE, "audit: attack '%s' needs other arrays than those given; they allow %s",
                 *names, possible);
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

static void warn(struct json **warnings, const struct sotto_context *ctx, const char *text)
{
    json_push(warnings, json_make_text(text));
    context_log(ctx, SOTTO_LOG_WARNING, "%s", text);
}

static struct json *collect_warnings(const struct audit_arrays *sides, const struct audit_settings *settings,
                                     const struct sotto_context *ctx)
{
    struct json *warnings = json_make_array();
    char text[256];
    double n = (double)sides->nonmember.n, all = n + (double)sides->member.n;
    for (size_t i = 0; i < settings->fpr_count; i++) {
        if (n >= ceil(1 / settings->fpr[i] - 1e-9))
            continue;
        snprintf(
            text, sizeof text,
            "%.0f non-members: the smallest measurable FPR is %.3g %%, so TPR at %.3g %% FPR is not reported "
            "(reported from n >= 1/FPR, marked weak below 10/FPR)",
            n, 100 / n, 100 * settings->fpr[i]);
        warn(&warnings, ctx, text);
    }
    if (settings->delta > 0 && settings->delta >= 1 / all) {
        snprintf(text, sizeof text, "delta %g is not smaller than 1/n = %.3g", settings->delta, 1 / all);
        warn(&warnings, ctx, text);
    }
    return warnings;
}

static struct json *accuracy_of(const struct attack_input *side, double confidence, double *estimate)
{
    size_t right = 0;
    for (size_t i = 0; i < side->n; i++)
        right += posterior_argmax(side, i) == (size_t)side->labels[i];
    struct sotto_estimate e = {.estimate = (double)right / (double)side->n};
    clopper_pearson(&e.lower, &e.upper, (double)right, (double)side->n, confidence);
    struct json *j = audit_estimate(e);
    json_put_integer(&j, "n", (int64_t)side->n);
    *estimate = e.estimate;
    return j;
}

static struct json *accuracies(const struct audit_arrays *sides, double confidence)
{
    if ((sides->have & (NEED_OUTPUTS | NEED_LABELS)) != (NEED_OUTPUTS | NEED_LABELS))
        return json_make_null();
    double of_members, of_nonmembers;
    struct json *j = json_make_object();
    json_put(&j, "member", accuracy_of(&sides->member, confidence, &of_members));
    json_put(&j, "nonmember", accuracy_of(&sides->nonmember, confidence, &of_nonmembers));
    json_put_real(&j, "gap", of_members - of_nonmembers);
    return j;
}

static bool holds_membership(const struct sotto_audit_input *in)
{
    return in->member || in->member_f8 || in->member_losses || in->member_scores || in->named_count ||
           in->released_mean;
}

static const char *kind_of_input(const struct sotto_audit_input *in)
{
    if (in->member || in->member_f8)
        return in->probabilities ? "probabilities" : "logits";
    if (in->member_losses)
        return "losses";
    return in->member_scores || in->named_count ? "scores" : "features";
}

static struct json *header(const struct sotto_audit_input *in, const struct audit_arrays *sides,
                           const struct audit_settings *settings)
{
    struct json *doc = json_make_object();
    json_put_text(&doc, "schema", "sotto.audit/1");
    json_put_text(&doc, "version", sotto_version());
    json_put_text(&doc, "input", kind_of_input(in));
    json_put_integer(&doc, "n_member", (int64_t)in->n_member);
    json_put_integer(&doc, "n_nonmember", (int64_t)in->n_nonmember);
    json_put(&doc, "classes",
             sides->have & NEED_OUTPUTS ? json_make_integer((int64_t)in->classes) : json_make_null());
    json_put_real(&doc, "confidence", settings->confidence);
    json_put_real(&doc, "delta", settings->delta);
    json_put_integer(&doc, "seed", (int64_t)settings->seed);
    json_put(&doc, "accuracy", accuracies(sides, settings->confidence));
    return doc;
}

/* One entry of "attacks": an attack of the table, or scores that the caller brought. */
struct job {
    const struct score_attack *attack;
    const struct sotto_audit_scores *named;
    double *scores;    /* (n), members first; only of attacks of the table */
    uint8_t *fallback; /* (n): which of them rest on others' statistics */
    struct json *entry;
};
struct jobs {
    struct job *job;
    size_t count;
    const struct audit_arrays *sides;
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
        return audit_measure(&job->entry, job->scores, job->fallback, job->attack, index, all->sides,
                             all->halves, all->settings);
    struct audit_scored s = {.name = named->name,
                             .title = named->title,
                             .source = named->source,
                             .member = named->member,
                             .nonmember = named->nonmember,
                             .n_member = all->sides->member.n,
                             .n_nonmember = all->sides->nonmember.n,
                             .own_threshold = named->has_threshold ? named->threshold : NAN,
                             .threshold_of = "the attack itself"};
    return audit_row(&job->entry, &s, index, all->halves, all->settings);
}

static sotto_status plan_jobs(struct jobs *out, const struct sotto_audit_input *in,
                              const struct audit_arrays *sides, const char *const *names)
{
    sotto_status status = SOTTO_OK;
    size_t most = in->named_count;
    for (size_t i = 0; attack_table[i]; i++)
        most++;
    NEW(out->job, most);
    for (size_t i = 0; attack_table[i]; i++) {
        struct job *job = &out->job[out->count];
        if (!attack_applies(attack_table[i], sides->have) || !is_wanted(attack_table[i], names))
            continue;
        job->attack = attack_table[i];
        out->count++;
        job->scores = base_alloc(sides->all.n, sizeof *job->scores);
        job->fallback = base_alloc(sides->all.n, 1);
        if (!job->scores || !job->fallback)
            FAIL(SOTTO_ENOMEM, "audit: out of memory for %zu scores", sides->all.n);
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
        json_free(j->job[i].entry);
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

static sotto_status look_closer(struct json **doc, const struct jobs *jobs, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct job *job = choose_closer(jobs);
    const struct audit_arrays *sides = jobs->sides;
    struct json *part = NULL;
    struct audit_support support = {.fpr = NAN};
    if (!job)
        return SOTTO_OK;
    if (sides->all.labels && sides->all.outputs) {
        TRY(audit_slices(&part, job->attack->name, job->scores, sides, jobs->halves, jobs->settings));
        json_put(doc, "slices", part);
    }
    if (sides->all.models >= 8 && (sides->have & (NEED_IN | NEED_OUT)) == (NEED_IN | NEED_OUT)) {
        TRY(leave_one_model_out(&part, &support, job->attack->name, sides, scores_of, jobs, jobs->settings,
                                ctx));
        json_put(doc, "between_models", part);
    }
    if (jobs->settings->exposed) {
        TRY(audit_most_vulnerable(&part, job->attack->name, job->scores, job->fallback, &support, sides,
                                  jobs->settings));
        json_put(doc, "exposed", part);
    }
done:
    audit_support_clear(&support);
    return status;
}

/* One verdict on the claim: every attack tested it with its share of the error. */
static struct json *claim_json(const struct jobs *jobs)
{
    const struct audit_settings *settings = jobs->settings;
    double best = 0;
    const char *name = NULL;
    for (size_t i = 0; i < jobs->count; i++) {
        double bound = json_number(json_find(jobs->job[i].entry, "claim.epsilon_lower_bound"));
        if (bound > best || !name)
            best = bound, name = json_text(json_member(jobs->job[i].entry, "name"));
    }
    struct json *j = json_make_object();
    json_put_real(&j, "epsilon", settings->claim_epsilon);
    json_put_real(&j, "delta", settings->claim_delta);
    json_put_boolean(&j, "contradicted", best > settings->claim_epsilon);
    json_put_real(&j, "epsilon_lower_bound", best);
    json_put_text(&j, "attack", name);
    json_put_real(&j, "confidence", settings->confidence);
    json_put_integer(&j, "attacks", (int64_t)jobs->count);
    return j;
}

static sotto_status audit_membership(struct json **out, const struct sotto_audit_input *in,
                                     const char *const *names, struct audit_settings *settings,
                                     const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct audit_arrays sides = {0};
    struct audit_halves halves = {0};
    struct jobs jobs = {.sides = &sides, .halves = &halves, .settings = settings};
    struct json *doc = NULL, *lint = NULL, *attacks = json_make_array();
    TRY(audit_check(&sides, in, ctx));
    TRY(check_names(names, sides.have));
    TRY(audit_halves_make(&halves, in->n_member, in->n_nonmember, settings->seed));
    TRY(plan_jobs(&jobs, in, &sides, names));
    settings->claim_confidence = 1 - (1 - settings->confidence) / (double)(jobs.count ? jobs.count : 1);
    doc = header(in, &sides, settings);
    TRY(audit_sanity(&lint, &sides, settings, ctx));
    json_put(&doc, "lint", lint);
    context_progress(ctx, "audit", 0, jobs.count, "attacks");
    TRY(par_chunks(jobs.count, par_threads(ctx), run_job, &jobs));
    context_progress(ctx, "audit", jobs.count, jobs.count, "attacks");
    if (settings->has_claim)
        json_put(&doc, "claim", claim_json(&jobs));
    TRY(look_closer(&doc, &jobs, ctx));
    for (size_t i = 0; i < jobs.count; i++) {
        json_push(&attacks, jobs.job[i].entry);
        jobs.job[i].entry = NULL;
    }
    json_put(&doc, "attacks", attacks);
    attacks = NULL;
    json_put(&doc, "warnings", collect_warnings(&sides, settings, ctx));
    *out = doc;
    doc = NULL;
done:
    json_free(attacks);
    json_free(doc);
    jobs_clear(&jobs);
    audit_halves_clear(&halves);
    audit_arrays_clear(&sides);
    return status;
}

sotto_status sotto_audit(char **json, const struct sotto_audit_input *in,
                         const struct sotto_audit_options *options, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct audit_settings settings;
    struct audit_arrays sides = {0};
    struct json *doc = NULL, *attribute = NULL, *attacks = json_make_array();
    const char *const *names = options ? options->names : NULL;
    char *text = NULL;
    TRY(audit_settings_resolve(&settings, options));
    if (in->attribute && !holds_membership(in)) {
        doc = header(in, &sides, &settings);
        json_put(&doc, "attacks", attacks);
        json_put(&doc, "warnings", json_make_array());
        attacks = NULL;
    } else {
        TRY(audit_membership(&doc, in, names, &settings, ctx));
    }
    if (in->attribute) {
        TRY(audit_attribute(&attribute, in->attribute, &settings, ctx));
        json_put(&doc, "attribute", attribute);
    }
    TRY(json_dump(&text, doc, JSON_LINE));
    *json = text;
done:
    json_free(attacks);
    json_free(doc);
    return status;
}
