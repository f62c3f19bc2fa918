/* Checks that come before any claim. Each entry: "ok", "warning" or "unknown", one line for people, and its
 * numbers. */
#include "audit/audit_duplicates.h"
#include "audit/audit_private.h"
#include "audit/audit_reference_look.h"
#include "audit/audit_sanity_values.h"
#include "audit/audit_verdict.h"
#include "audit/distribution_shift_test.h"
#include "audit/measure/metrics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Room for every check. */
struct findings {
    struct sotto_audit_memory **memory;
    struct sotto_audit_check check[12];
    size_t count;
};

static sotto_status audit_sanity_add(struct sotto_audit_check **out, struct findings *list, const char *name,
                                     enum sotto_check_level level, const char *text)
{
    struct sotto_audit_check *c = &list->check[list->count++];
    *c =
        (struct sotto_audit_check){.name = name, .level = level, .text = audit_keep_text(list->memory, text)};
    if (out)
        *out = c;
    return c->text ? SOTTO_OK : status_fail(SOTTO_ENOMEM, "audit: out of memory");
}

static sotto_status audit_sanity_unknown(struct findings *list, const char *name, const char *text)
{
    return audit_sanity_add(NULL, list, name, SOTTO_CHECK_UNKNOWN, text);
}

static enum sotto_check_level warning_if(bool found)
{
    return found ? SOTTO_CHECK_WARNING : SOTTO_CHECK_OK;
}

/* Without records or outputs: one file that was given twice. */
static sotto_status check_sides(struct findings *list, const struct audit_arrays *arrays)
{
    const struct attack_input *all = &arrays->all;
    const double *values = all->scores ? all->scores : all->losses;
    const size_t n = arrays->member.n;
    if (values && n == arrays->nonmember.n && memcmp(values, values + n, n * sizeof *values) == 0)
        return audit_sanity_add(
            NULL, list, "duplicates", SOTTO_CHECK_WARNING,
            all->scores ? "members and non-members have the same scores, row by row: was one file given "
                          "twice?"
                        : "members and non-members have the same losses, row by row: was one file given "
                          "twice?");
    return audit_sanity_unknown(list, "duplicates", "neither features nor outputs were given: not checked");
}

static sotto_status check_duplicates(struct findings *list, const struct audit_arrays *arrays)
{
    sotto_status status = SOTTO_OK;
    const struct attack_input *all = &arrays->all;
    struct duplicates d;
    struct sotto_audit_check *c;
    char text[256];
    const void *rows = all->features ? (const void *)all->features : (const void *)all->outputs;
    size_t bytes = all->features ? all->width * sizeof(float) : all->classes * sizeof(double);
    if (!rows)
        return check_sides(list, arrays);
    TRY(duplicates_count(&d, rows, bytes, arrays->member.n, arrays->nonmember.n));
    const char *what = all->features ? "records" : "rows of outputs";
    if (d.members)
        snprintf(text, sizeof text, "%zu of %zu members have the same %s as a non-member%s", d.members,
                 arrays->member.n, what,
                 all->features ? ": remove them from one side" : " (copies, or answers that saturate)");
    else
        snprintf(text, sizeof text, "no %s occur on both sides", what);
    TRY(audit_sanity_add(&c, list, "duplicates", warning_if(d.members), text));
    TAKE(list->memory, c->duplicates, 1);
    *c->duplicates =
        (struct sotto_audit_duplicates){what, d.members, d.nonmembers, d.within_members, d.within_nonmembers};
done:
    return status;
}

static sotto_status check_distribution(struct findings *list, const struct audit_arrays *arrays,
                                       const struct audit_settings *settings, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_estimate e;
    struct sotto_audit_check *c;
    char text[256];
    if (!arrays->all.features || arrays->member.n < 10 || arrays->nonmember.n < 10)
        return audit_sanity_unknown(list, "distribution",
                                    arrays->all.features
                                        ? "fewer than 10 members or 10 non-members: not checked"
                                        : "no features of the records were given: not checked whether "
                                          "both sets come from one distribution");
    TRY(distribution_shift_auc(&e, arrays->all.features, arrays->member.n, arrays->nonmember.n,
                               arrays->all.width, settings->confidence, settings->seed, ctx));
    bool differ = e.lower > 0.5;
    snprintf(
        text, sizeof text,
        differ ? "a classifier on the features alone separates the two sets (AUC %.3f [%.3f, %.3f]): every "
                 "attack below measures this difference too"
               : "a classifier on the features alone does not separate the two sets (AUC %.3f [%.3f, %.3f])",
        e.estimate, e.lower, e.upper);
    TRY(audit_sanity_add(&c, list, "distribution", warning_if(differ), text));
    TAKE(list->memory, c->shift, 1);
    *c->shift = (struct sotto_audit_shift){e, arrays->all.n};
done:
    return status;
}

/* No model is asked: what the dates tell, every attack may have found in the texts too. */
static sotto_status check_dates(struct findings *list, const struct audit_arrays *arrays, double confidence)
{
    sotto_status status = SOTTO_OK;
    struct sotto_estimate e;
    struct sotto_audit_check *c;
    char text[256];
    if (!arrays->dates[0])
        return SOTTO_OK;
    TRY(estimate_auc(&e, arrays->dates[0], arrays->member.n, arrays->dates[1], arrays->nonmember.n,
                     confidence));
    const bool later = e.estimate > 0.5, differ = e.lower > 0.5 || e.upper < 0.5;
    if (!later)
        e = (struct sotto_estimate){1 - e.estimate, 1 - e.upper, 1 - e.lower};
    snprintf(text, sizeof text,
             differ ? "dates alone separate the two sets (AUC %.3f [%.3f, %.3f], members are %s): every "
                      "attack below measures this difference too"
                    : "dates alone do not separate the two sets (AUC %.3f [%.3f, %.3f])",
             e.estimate, e.lower, e.upper, later ? "later" : "earlier");
    TRY(audit_sanity_add(&c, list, "dates", warning_if(differ), text));
    TAKE(list->memory, c->shift, 1);
    *c->shift = (struct sotto_audit_shift){e, arrays->all.n};
done:
    return status;
}

static sotto_status check_classes(struct findings *list, const struct audit_arrays *arrays)
{
    sotto_status status = SOTTO_OK;
    size_t classes = arrays->all.classes, *count = NULL, widest = 0;
    char text[256];
    struct sotto_audit_check *c;
    if (!arrays->all.labels || classes == 0)
        return audit_sanity_unknown(list, "classes", "no labels were given: class shares were not checked");
    TAKE(list->memory, count, 2 * classes);
    for (size_t i = 0; i < arrays->all.n; i++)
        count[(i < arrays->member.n ? 0 : classes) + (size_t)arrays->all.labels[i]]++;
    double m = (double)arrays->member.n, n = (double)arrays->nonmember.n, gap = 0;
    for (size_t k = 0; k < classes; k++) {
        double g = fabs((double)count[k] / m - (double)count[classes + k] / n);
        if (g > gap)
            gap = g, widest = k;
    }
    double p = distribution_shift_classes_p(count, count + classes, classes);
    bool differ = p < 0.001;
    snprintf(text, sizeof text,
             "%s (largest difference: class %zu, %.3g %% of members, %.3g %% of non-members; p = %.2g)",
             differ ? "members and non-members have different class shares"
                    : "members and non-members have similar class shares",
             widest, 100 * (double)count[widest] / m, 100 * (double)count[classes + widest] / n, p);
    TRY(audit_sanity_add(&c, list, "classes", warning_if(differ), text));
    TAKE(list->memory, c->classes, 1);
    *c->classes = (struct sotto_audit_classes){p, classes, count, count + classes};
done:
    return status;
}

/* The gap by itself gives an attack a balanced accuracy of 1/2 + gap/2; one wholly below 0 gives it to the opposite guess. */
static sotto_status check_gap(struct findings *list, const struct sotto_audit_accuracies *a,
                              double confidence)
{
    sotto_status status = SOTTO_OK;
    struct sotto_audit_check *c;
    char text[256];
    if (!a)
        return audit_sanity_unknown(
            list, "generalisation",
            "no outputs with labels were given: the gap between training and test accuracy is unknown");
    const struct sotto_estimate e = audit_accuracy_gap(a, confidence);
    const bool overfitted = e.lower > 0.1, swapped = e.upper < 0;
    snprintf(text, sizeof text,
             "accuracy %.3f on members, %.3f on non-members: the gap of %.3f [%.3f, %.3f] alone gives %s "
             "a balanced accuracy of %.3f%s",
             a->member.rate.estimate, a->nonmember.rate.estimate, e.estimate, e.lower, e.upper,
             swapped ? "the opposite guess" : "an attack", 0.5 + (swapped ? -e.estimate : e.estimate) / 2,
             swapped ? ": are the files swapped, or the labels wrong?" : "");
    TRY(audit_sanity_add(&c, list, "generalisation", warning_if(overfitted || swapped), text));
    TAKE(list->memory, c->gap, 1);
    *c->gap = e;
done:
    return status;
}

/* A record that was rounded to certainty scores like all others that were. */
static sotto_status check_rounding(struct findings *list, const struct audit_arrays *arrays)
{
    sotto_status status = SOTTO_OK;
    struct sotto_audit_rounding r = {.step = arrays->all.step};
    struct sotto_audit_check *c;
    char text[256];
    if (!(r.step > 0) || !arrays->all.labels || !arrays->all.outputs)
        return SOTTO_OK;
    r.saturated_members = audit_count_saturated(&arrays->member);
    r.saturated_nonmembers = audit_count_saturated(&arrays->nonmember);
    const size_t saturated = r.saturated_members + r.saturated_nonmembers;
    snprintf(text, sizeof text,
             "probabilities are rounded to steps of %.3g: %zu of %zu records are saturated (all or nothing "
             "on their "
             "label); they, and the references, are taken at half a step",
             r.step, saturated, arrays->all.n);
    TRY(audit_sanity_add(&c, list, "rounding", warning_if(saturated > 0), text));
    TAKE(list->memory, c->rounding, 1);
    *c->rounding = r;
done:
    return status;
}

/* Arrays that are something else than they were called. */
static sotto_status check_meaning(struct findings *list, const struct audit_arrays *arrays)
{
    sotto_status status = SOTTO_OK;
    const struct attack_input *all = &arrays->all;
    char text[256];
    if (audit_logits_are_probabilities(all))
        TRY(audit_sanity_add(
            NULL, list, "logits", SOTTO_CHECK_WARNING,
            "no logit is negative and every row sums to 1: are these probabilities (member_probabilities, "
            "nonmember_probabilities)?"));
    const size_t negative = audit_count_negative(all);
    snprintf(
        text, sizeof text,
        "%zu of %zu losses are negative, which a cross-entropy never is: are these log-likelihoods (change "
        "their sign) or scores?",
        negative, all->n);
    if (negative)
        TRY(audit_sanity_add(NULL, list, "losses", SOTTO_CHECK_WARNING, text));
    if (audit_answers_are_constant(all))
        TRY(audit_sanity_add(
            NULL, list, "constant", SOTTO_CHECK_WARNING,
            "the model gives the same answer for every record: no attack can tell them apart, and that is no "
            "sign of privacy"));
    if (audit_scores_are_constant(all))
        TRY(audit_sanity_add(
            NULL, list, "constant", SOTTO_CHECK_WARNING,
            "all scores are equal: no attack can tell records apart by them, and that is no sign of "
            "privacy"));
done:
    return status;
}

/* Fits its own records: what a reference model is for. Where the target leaks and they show nothing of it, the mask is in question. */
static sotto_status check_references(struct findings *list, const struct audit_arrays *arrays,
                                     double confidence)
{
    sotto_status status = SOTTO_OK;
    const bool given_as_signals =
        !arrays->reference_outputs && !arrays->reference_outputs_f8 && !arrays->matrix.losses;
    struct reference_look look;
    char text[256] = "";
    if (!arrays->references.models)
        return SOTTO_OK;
    TRY(audit_reference_look(&look, arrays, confidence));
    const struct sotto_estimate *own = &look.own;
    if (given_as_signals && look.none_negative && look.target_negative)
        snprintf(text, sizeof text,
                 "no reference signal is negative, but signals of the target are: are these losses "
                 "(member_reference_losses, nonmember_reference_losses)?");
    else if (look.same)
        snprintf(
            text, sizeof text,
            "reference model %zu answers like the target on %zu of %zu records: is it the target? Leave it "
            "out",
            look.same, look.same_records, look.records);
    else if (own->upper < 0.5)
        snprintf(text, sizeof text,
                 "the reference models fit the records that they were trained on worse than the others (AUC "
                 "%.3f [%.3f, %.3f]): is the training mask inverted (1: trained on the record)?",
                 own->estimate, own->lower, own->upper);
    else if (look.target.lower > 0.55 && own->lower <= 0.5 &&
             own->estimate - 0.5 < (look.target.estimate - 0.5) / 4)
        snprintf(
            text, sizeof text,
            "the target fits its members better than the others (AUC %.3f), the reference models do not fit "
            "theirs (AUC %.3f [%.3f, %.3f]): is the training mask in another order than the records?",
            look.target.estimate, own->estimate, own->lower, own->upper);
    if (text[0])
        TRY(audit_sanity_add(NULL, list, "references", SOTTO_CHECK_WARNING, text));
done:
    return status;
}

sotto_status audit_sanity(struct sotto_audit_result *r, const struct audit_arrays *arrays,
                          const struct audit_settings *settings, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct findings list = {.memory = &r->memory};
    struct sotto_audit_check *checks;
    TRY(check_duplicates(&list, arrays));
    TRY(check_distribution(&list, arrays, settings, ctx));
    TRY(check_dates(&list, arrays, settings->confidence));
    TRY(check_classes(&list, arrays));
    TRY(check_gap(&list, r->accuracy, settings->confidence));
    TRY(check_rounding(&list, arrays));
    TRY(check_meaning(&list, arrays));
    TRY(check_references(&list, arrays, settings->confidence));
    TAKE(&r->memory, checks, list.count);
    memcpy(checks, list.check, list.count * sizeof *checks);
    r->checks = checks;
    r->check_count = list.count;
done:
    return status;
}

/* Known once the attacks have run. */
sotto_status audit_sanity_direction(struct sotto_audit_result *r)
{
    sotto_status status = SOTTO_OK;
    const size_t inverted = audit_inverted_attack(r);
    struct sotto_audit_check *checks;
    char text[256];
    if (inverted == r->attack_count)
        return SOTTO_OK;
    const struct sotto_estimate *e = &r->attacks[inverted].auc.area;
    snprintf(text, sizeof text, "the opposite guess of '%.40s' has AUC %.3f [%.3f, %.3f]: %s",
             r->attacks[inverted].name, 1 - e->estimate, 1 - e->upper, 1 - e->lower, audit_swap_question(r));
    TAKE(&r->memory, checks, r->check_count + 1);
    if (r->check_count)
        memcpy(checks, r->checks, r->check_count * sizeof *checks);
    checks[r->check_count] = (struct sotto_audit_check){
        .name = "direction", .level = SOTTO_CHECK_WARNING, .text = audit_keep_text(&r->memory, text)};
    if (!checks[r->check_count].text)
        FAIL(SOTTO_ENOMEM, "audit: out of memory");
    r->checks = checks;
    r->check_count++;
done:
    return status;
}
