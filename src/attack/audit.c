/* The life of an audit: check the arrays, pick the attacks that they allow, measure each, and say what could
 * not be said. */
#include "attack/audit_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "attack/posterior.h"
#include "num/beta.h"
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
    char possible[256];
    for (; names && *names; names++) {
        const struct attack *a = attack_find(*names);
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

static bool is_wanted(const struct attack *a, const char *const *names)
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

static struct json *collect_warnings(const struct audit_sides *sides, const struct audit_settings *settings,
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

static struct json *accuracies(const struct audit_sides *sides, double confidence)
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

static const char *kind_of_input(const struct sotto_audit_input *in)
{
    if (in->member || in->member_f8)
        return in->probabilities ? "probabilities" : "logits";
    return in->member_losses ? "losses" : "scores";
}

static struct json *header(const struct sotto_audit_input *in, const struct audit_sides *sides,
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

sotto_status sotto_audit(char **json, const struct sotto_audit_input *in,
                         const struct sotto_audit_options *options, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct audit_settings settings;
    struct audit_sides sides = {0};
    struct audit_halves halves = {0};
    struct json *doc = NULL, *attacks = json_make_array();
    const char *const *names = options ? options->names : NULL;
    char *text = NULL;
    TRY(audit_settings_resolve(&settings, options));
    TRY(audit_check(&sides, in));
    TRY(check_names(names, sides.have));
    TRY(audit_halves_make(&halves, in->n_member, in->n_nonmember, settings.seed));
    doc = header(in, &sides, &settings);
    size_t total = 0, done = 0;
    while (attack_table[total])
        total++;
    for (size_t i = 0; i < total; i++) {
        const struct attack *a = attack_table[i];
        if (attack_applies(a, sides.have) && is_wanted(a, names)) {
            struct json *entry = NULL;
            TRY(audit_measure(&entry, a, &sides, &halves, &settings));
            json_push(&attacks, entry);
        }
        context_progress(ctx, "audit", ++done, total, "attacks");
    }
    json_put(&doc, "attacks", attacks);
    attacks = NULL;
    json_put(&doc, "warnings", collect_warnings(&sides, &settings, ctx));
    TRY(json_dump(&text, doc, JSON_LINE));
    *json = text;
done:
    json_free(attacks);
    json_free(doc);
    audit_halves_clear(&halves);
    audit_sides_clear(&sides);
    return status;
}

sotto_status sotto_auc(struct sotto_estimate *out, const double *member, size_t n_member,
                       const double *nonmember, size_t n_nonmember, double confidence)
{
    sotto_status status = SOTTO_OK;
    struct curve c = {0};
    bool exact;
    REQUIRE(n_member > 0 && n_nonmember > 0, "auc: %zu members and %zu non-members; both must be > 0",
            n_member, n_nonmember);
    REQUIRE(confidence > 0 && confidence < 1, "auc: confidence must be between 0 and 1 (got %g)", confidence);
    for (size_t i = 0; i < n_member + n_nonmember; i++) {
        double x = i < n_member ? member[i] : nonmember[i - n_member];
        REQUIRE(isfinite(x), "auc: %s score %zu is not finite", i < n_member ? "member" : "non-member",
                i < n_member ? i : i - n_member);
    }
    TRY(curve_make(&c, member, n_member, nonmember, n_nonmember));
    *out = curve_auc(&c, confidence, &exact);
done:
    curve_clear(&c);
    return status;
}

sotto_status sotto_clopper_pearson(struct sotto_estimate *out, size_t k, size_t n, double confidence)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(n > 0 && k <= n, "clopper-pearson: %zu of %zu; expected 0 <= k <= n and n > 0", k, n);
    REQUIRE(confidence > 0 && confidence < 1, "clopper-pearson: confidence must be between 0 and 1 (got %g)",
            confidence);
    struct sotto_estimate e = {.estimate = (double)k / (double)n};
    clopper_pearson(&e.lower, &e.upper, (double)k, (double)n, confidence);
    *out = e;
done:
    return status;
}
