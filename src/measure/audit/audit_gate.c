/* Rules for continuous integration: "auc>0.6", "tpr.lower@0.01>0.05", "lint>0". */
#include "base/memory.h"
#include "sotto/audit.h"
#include "sotto/lab/audit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rule {
    char metric[32], end[16], rate[32]; /* "tpr", "lower", "0.01" */
    bool above, or_equal;
    double bound;
};

enum { AUC, TPR, BALANCED, ADVANTAGE, EPSILON, CLAIM, LINT, METRICS };
static const struct {
    const char *name;
    bool of_attacks, interval, rated; /* of_attacks: of whichever is worst; else of the whole audit */
} metrics[METRICS] = {[AUC] = {"auc", true, true, false},
                      [TPR] = {"tpr", true, true, true},
                      [BALANCED] = {"balanced_accuracy", true, true, false},
                      [ADVANTAGE] = {"advantage", true, false, false},
                      [EPSILON] = {"epsilon", true, false, false},
                      [CLAIM] = {"claim", false, false, false},
                      [LINT] = {"lint", false, false, false}};

static size_t find_metric(const char *name)
{
    size_t i = 0;
    while (i < METRICS && strcmp(metrics[i].name, name) != 0)
        i++;
    return i;
}

static bool audit_gate_take(char *out, size_t capacity, const char **at, const char *stops)
{
    size_t length = strcspn(*at, stops);
    if (length == 0 || length >= capacity)
        return false;
    memcpy(out, *at, length);
    out[length] = '\0';
    *at += length;
    return true;
}

static sotto_status audit_gate_parse(struct rule *out, const char *text)
{
    struct rule r = {.end = ""};
    const char *at = text;
    char *last;
    bool good = audit_gate_take(r.metric, sizeof r.metric, &at, ".@<>");
    if (good && *at == '.')
        at++, good = audit_gate_take(r.end, sizeof r.end, &at, "@<>");
    if (good && *at == '@')
        at++, good = audit_gate_take(r.rate, sizeof r.rate, &at, "<>");
    good = good && (*at == '<' || *at == '>');
    if (good) {
        r.above = *at++ == '>';
        r.or_equal = *at == '=';
        at += r.or_equal;
        r.bound = strtod(at, &last);
        good = last != at && !*last && isfinite(r.bound);
    }
    size_t i = good ? find_metric(r.metric) : METRICS;
    good = i < METRICS && (metrics[i].rated == (r.rate[0] != '\0')) &&
           (r.end[0] == '\0' ||
            (metrics[i].interval &&
             (strcmp(r.end, "lower") == 0 || strcmp(r.end, "upper") == 0 || strcmp(r.end, "estimate") == 0)));
    if (good && r.rate[0]) {
        double rate = strtod(r.rate, &last);
        good = !*last && rate > 0 && rate < 1;
        snprintf(r.rate, sizeof r.rate, "%.12g", rate);
    }
    if (!good)
        return status_fail(
            SOTTO_EUSAGE,
            "{fail_if}: '%s' is not a rule; expected auc, tpr@RATE, balanced_accuracy, advantage, epsilon, "
            "claim or lint, optionally with .lower or .upper, then > or < and a number",
            text);
    *out = r;
    return SOTTO_OK;
}

static bool audit_gate_holds(const struct rule *r, double x)
{
    return r->above ? x > r->bound || (r->or_equal && x == r->bound)
                    : x < r->bound || (r->or_equal && x == r->bound);
}

static double end_of(const struct rule *r, const struct sotto_estimate *e)
{
    return strcmp(r->end, "lower") == 0 ? e->lower : strcmp(r->end, "upper") == 0 ? e->upper : e->estimate;
}

/* The ends of an interval are those that hold for all attacks at once: the worst attack was picked after looking. */
static double end_of_both(const struct rule *r, const struct sotto_estimate *alone,
                          const struct sotto_estimate *simultaneous)
{
    return end_of(r, isnan(simultaneous->estimate) ? alone : simultaneous);
}

/* The rate of the rule; NULL: the attack has none. */
static const struct sotto_audit_rate *rate_of(const struct rule *r, const struct sotto_audit_attack *attack)
{
    for (size_t i = attack->rate_count; i-- > 0;) {
        char rate[32];
        snprintf(rate, sizeof rate, "%.12g", attack->rates[i].fpr);
        if (strcmp(rate, r->rate) == 0)
            return attack->rates[i].refused ? NULL : &attack->rates[i];
    }
    return NULL;
}

/* NAN: not measured. */
static double value_of(const struct rule *r, const struct sotto_audit_attack *attack)
{
    const struct sotto_audit_rate *rate;
    switch (find_metric(r->metric)) {
    case AUC:
        return end_of_both(r, &attack->auc.area, &attack->simultaneous.auc);
    case TPR:
        rate = rate_of(r, attack);
        return rate ? end_of_both(r, &rate->tpr.rate, &rate->simultaneous.rate) : NAN;
    case BALANCED:
        return end_of_both(r, &attack->balanced.accuracy, &attack->simultaneous.balanced_accuracy);
    case ADVANTAGE:
        return attack->advantage;
    default:
        return attack->simultaneous.epsilon.lower_bound;
    }
}

/* A gate on a bound that is 0 whatever the scores are decides nothing. */
static sotto_status require_lower(const struct rule *r, const struct sotto_audit_result *audit,
                                  const char *text)
{
    for (size_t i = 0; strcmp(r->end, "lower") == 0 && i < audit->attack_count; i++) {
        const struct sotto_audit_rate *rate = rate_of(r, &audit->attacks[i]);
        if (rate && rate->simultaneous.no_lower)
            return status_fail(
                SOTTO_EDOMAIN,
                "{fail_if}: '%s' cannot be decided: attack '%s': %s; give more non-members, a larger "
                "rate or fewer attacks ({names|attack})",
                text, audit->attacks[i].name, rate->simultaneous.no_lower);
    }
    return SOTTO_OK;
}

static double value_of_audit(const struct rule *r, const struct sotto_audit_result *audit)
{
    size_t warnings = 0;
    if (find_metric(r->metric) == CLAIM)
        return audit->claim ? audit->claim->contradicted : NAN;
    for (size_t i = 0; i < audit->check_count; i++)
        warnings += audit->checks[i].level == SOTTO_CHECK_WARNING;
    return (double)warnings;
}

sotto_status sotto_audit_gate(int *failed, char **line, const struct sotto_audit_result *audit,
                              const char *rule)
{
    REQUIRE_GIVEN(!audit || failed, !audit || line, rule);
    sotto_status status = SOTTO_OK;
    struct rule r;
    const char *name = NULL;
    double worst = NAN;
    char text[1024];
    TRY(audit_gate_parse(&r, rule));
    if (!audit)
        goto done;
    TRY(require_lower(&r, audit, rule));
    const bool of_attacks = metrics[find_metric(r.metric)].of_attacks;
    if (!of_attacks)
        worst = value_of_audit(&r, audit);
    for (size_t i = 0; of_attacks && i < audit->attack_count; i++) {
        double x = value_of(&r, &audit->attacks[i]);
        if (!isfinite(x))
            continue;
        if (isnan(worst) || (r.above ? x > worst : x < worst))
            worst = x, name = audit->attacks[i].name;
    }
    struct sotto_audit_verdict verdict;
    sotto_audit_judge(&verdict, audit);
    const bool swapped = of_attacks && verdict.swapped,
               fails = isnan(worst) || swapped || audit_gate_holds(&r, worst);
    if (isnan(worst))
        snprintf(text, sizeof text, "gate FAIL: %s was not measured", rule);
    else if (swapped)
        snprintf(text, sizeof text, "gate FAIL: %s (%s)", rule, verdict.text);
    else
        snprintf(text, sizeof text, "gate %s: %s (%s%s%.4g)", fails ? "FAIL" : "pass", rule, name ? name : "",
                 name ? ": " : "", worst);
    char *copy = NULL;
    NEW_TEXT(copy, text);
    *failed = fails;
    *line = copy;
done:
    return status;
}
