/* Checks that come before any claim. Each entry: "ok", "warning" or "unknown", one line for people, and its
 * numbers. */
#include <math.h>
#include <stdio.h>

#include "audit/audit_duplicates.h"
#include "audit/audit_private.h"
#include "audit/score/posterior.h"
#include "audit/distribution_shift_test.h"
#include "num/beta.h"

static struct json *finding(const char *name, const char *level, const char *text)
{
    struct json *j = json_make_object();
    json_put_text(&j, "name", name);
    json_put_text(&j, "level", level);
    json_put_text(&j, "text", text);
    return j;
}

static sotto_status lint_duplicates(struct json **list, const struct audit_arrays *sides)
{
    sotto_status status = SOTTO_OK;
    const struct attack_input *all = &sides->all;
    struct duplicates d;
    char text[256];
    const void *rows = all->features ? (const void *)all->features : (const void *)all->outputs;
    size_t bytes = all->features ? all->width * sizeof(float) : all->classes * sizeof(double);
    if (!rows) {
        json_push(list,
                  finding("duplicates", "unknown", "neither records nor outputs were given: not checked"));
        return SOTTO_OK;
    }
    TRY(duplicates_count(&d, rows, bytes, sides->member.n, sides->nonmember.n));
    const char *what = all->features ? "records" : "rows of outputs";
    if (d.members)
        snprintf(text, sizeof text, "%zu of %zu members have the same %s as a non-member%s", d.members,
                 sides->member.n, what,
                 all->features ? ": remove them from one side" : " (copies, or answers that saturate)");
    else
        snprintf(text, sizeof text, "no %s occur on both sides", what);
    struct json *j = finding("duplicates", d.members ? "warning" : "ok", text);
    json_put_text(&j, "compared", what);
    json_put_integer(&j, "members", (int64_t)d.members);
    json_put_integer(&j, "nonmembers", (int64_t)d.nonmembers);
    json_put_integer(&j, "within_members", (int64_t)d.within_members);
    json_put_integer(&j, "within_nonmembers", (int64_t)d.within_nonmembers);
    json_push(list, j);
done:
    return status;
}

static sotto_status lint_distribution(struct json **list, const struct audit_arrays *sides,
                                      const struct audit_settings *settings, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_estimate e;
    char text[256];
    if (!sides->all.features || sides->member.n < 10 || sides->nonmember.n < 10) {
        json_push(list, finding("distribution", "unknown",
                                sides->all.features
                                    ? "fewer than 10 records on a side: not checked"
                                    : "the records themselves were not given: whether both sets come "
                                      "from one distribution was not checked"));
        return SOTTO_OK;
    }
    TRY(distribution_shift_auc(&e, sides->all.features, sides->member.n, sides->nonmember.n, sides->all.width,
                               settings->confidence, settings->seed, ctx));
    bool differ = e.lower > 0.5;
    snprintf(
        text, sizeof text,
        differ ? "a classifier on the records alone tells the two sets apart (AUC %.3f [%.3f, %.3f]): every "
                 "attack "
                 "below measures that difference too"
               : "a classifier on the records alone does not tell the two sets apart (AUC %.3f [%.3f, %.3f])",
        e.estimate, e.lower, e.upper);
    struct json *j = finding("distribution", differ ? "warning" : "ok", text);
    json_put(&j, "auc", audit_estimate(e));
    json_put_integer(&j, "n", (int64_t)sides->all.n);
    json_push(list, j);
done:
    return status;
}

static sotto_status lint_classes(struct json **list, const struct audit_arrays *sides)
{
    sotto_status status = SOTTO_OK;
    size_t classes = sides->all.classes, *count = NULL, widest = 0;
    char text[256];
    if (!sides->all.labels || classes == 0) {
        json_push(list, finding("classes", "unknown",
                                "no labels were given: the balance of classes was not checked"));
        return SOTTO_OK;
    }
    if (!(count = base_alloc(classes, 2 * sizeof *count)))
        FAIL(SOTTO_ENOMEM, "lint: out of memory for %zu classes", classes);
    for (size_t i = 0; i < sides->all.n; i++)
        count[(i < sides->member.n ? 0 : classes) + (size_t)sides->all.labels[i]]++;
    double m = (double)sides->member.n, n = (double)sides->nonmember.n, gap = 0;
    for (size_t k = 0; k < classes; k++) {
        double g = fabs((double)count[k] / m - (double)count[classes + k] / n);
        if (g > gap)
            gap = g, widest = k;
    }
    double p = distribution_shift_classes_p(count, count + classes, classes);
    bool differ = p < 0.001;
    snprintf(text, sizeof text,
             "%s (largest difference: class %zu, %.3g %% of members, %.3g %% of non-members; p = %.2g)",
             differ ? "the classes are mixed differently on the two sides"
                    : "both sides mix the classes alike",
             widest, 100 * (double)count[widest] / m, 100 * (double)count[classes + widest] / n, p);
    struct json *j = finding("classes", differ ? "warning" : "ok", text);
    json_put_real(&j, "p", p);
    json_put(&j, "member", json_make_counts(count, classes));
    json_put(&j, "nonmember", json_make_counts(count + classes, classes));
    json_push(list, j);
done:
    base_free(count);
    return status;
}

static size_t count_right(const struct attack_input *side)
{
    size_t right = 0;
    for (size_t i = 0; i < side->n; i++)
        right += posterior_argmax(side, i) == (size_t)side->labels[i];
    return right;
}

/* The gap by itself gives an attack a balanced accuracy of 1/2 + gap/2. */
static void lint_gap(struct json **list, const struct audit_arrays *sides, double confidence)
{
    char text[256];
    if (!sides->all.outputs || !sides->all.labels) {
        json_push(list, finding("generalisation", "unknown",
                                "no outputs with labels were given: the train-test gap is not known"));
        return;
    }
    double m = (double)sides->member.n, n = (double)sides->nonmember.n,
           right_m = (double)count_right(&sides->member), right_n = (double)count_right(&sides->nonmember),
           lower_m, upper_m, lower_n, upper_n, each = 1 - (1 - confidence) / 2;
    clopper_pearson(&lower_m, &upper_m, right_m, m, each);
    clopper_pearson(&lower_n, &upper_n, right_n, n, each);
    struct sotto_estimate e = {right_m / m - right_n / n, lower_m - upper_n, upper_m - lower_n};
    bool overfitted = e.lower > 0.1;
    snprintf(text, sizeof text,
             "accuracy %.3f on members, %.3f on non-members: the gap of %.3f [%.3f, %.3f] alone gives an "
             "attack a balanced "
             "accuracy of %.3f",
             right_m / m, right_n / n, e.estimate, e.lower, e.upper, 0.5 + e.estimate / 2);
    struct json *j = finding("generalisation", overfitted ? "warning" : "ok", text);
    json_put(&j, "gap", audit_estimate(e));
    json_push(list, j);
}

sotto_status audit_sanity(struct json **out, const struct audit_arrays *sides,
                          const struct audit_settings *settings, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct json *list = json_make_array();
    TRY(lint_duplicates(&list, sides));
    TRY(lint_distribution(&list, sides, settings, ctx));
    TRY(lint_classes(&list, sides));
    lint_gap(&list, sides, settings->confidence);
    *out = list;
    list = NULL;
done:
    json_free(list);
    return status;
}
