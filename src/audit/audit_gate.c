/* Rules for continuous integration: "auc>0.6", "tpr.lower@0.01>0.05", "lint>0". */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/json/json.h"
#include "sotto/attack.h"

struct rule {
    char metric[32], end[16], rate[32]; /* "tpr", "lower", "0.01" */
    bool above, or_equal;
    double bound;
};

static const struct {
    const char *name, *path; /* of an attack's entry; NULL: of the document */
    bool interval, rated;
} metrics[] = {{"auc", "auc", true, false},
               {"tpr", "tpr_at_fpr", true, true},
               {"balanced_accuracy", "balanced_accuracy_detail", true, false},
               {"advantage", "advantage", false, false},
               {"epsilon", "epsilon_lower_bound", false, false},
               {"claim", NULL, false, false},
               {"lint", NULL, false, false}};
enum { METRICS = sizeof metrics / sizeof *metrics };

static size_t find_metric(const char *name)
{
    size_t i = 0;
    while (i < METRICS && strcmp(metrics[i].name, name) != 0)
        i++;
    return i;
}

static bool take(char *out, size_t capacity, const char **at, const char *stops)
{
    size_t length = strcspn(*at, stops);
    if (length == 0 || length >= capacity)
        return false;
    memcpy(out, *at, length);
    out[length] = '\0';
    *at += length;
    return true;
}

static sotto_status parse(struct rule *out, const char *text)
{
    struct rule r = {.end = ""};
    const char *at = text;
    char *last;
    bool good = take(r.metric, sizeof r.metric, &at, ".@<>");
    if (good && *at == '.')
        at++, good = take(r.end, sizeof r.end, &at, "@<>");
    if (good && *at == '@')
        at++, good = take(r.rate, sizeof r.rate, &at, "<>");
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
            "--fail-if: '%s' is not a rule; expected one of auc, tpr@RATE, balanced_accuracy, advantage, "
            "epsilon, claim, lint, perhaps with .lower or .upper, then > or < and a number",
            text);
    *out = r;
    return SOTTO_OK;
}

static bool holds(const struct rule *r, double x)
{
    return r->above ? x > r->bound || (r->or_equal && x == r->bound)
                    : x < r->bound || (r->or_equal && x == r->bound);
}

/* NAN: not measured. */
static double value_of(const struct rule *r, const struct json *attack)
{
    size_t i = find_metric(r->metric);
    const struct json *j = json_find(attack, metrics[i].path);
    if (metrics[i].rated)
        j = json_member(j, r->rate);
    return json_number(metrics[i].interval ? json_member(j, r->end[0] ? r->end : "estimate") : j);
}

static double value_of_document(const struct rule *r, const struct json *audit)
{
    bool contradicted = false;
    size_t warnings = 0;
    if (strcmp(r->metric, "claim") == 0)
        return json_get_boolean(&contradicted, audit, "audit", "claim.contradicted") == SOTTO_OK
                   ? contradicted
                   : NAN;
    const struct json *lint = json_member(audit, "lint");
    for (size_t i = 0; i < json_count(lint); i++) {
        const char *level = json_text(json_member(json_at(lint, i), "level"));
        warnings += level && strcmp(level, "warning") == 0;
    }
    return (double)warnings;
}

sotto_status sotto_audit_gate(int *failed, char **line, const char *audit_json, const char *rule)
{
    sotto_status status = SOTTO_OK;
    struct rule r;
    struct json *audit = NULL;
    const struct json *attacks;
    const char *name = NULL;
    double worst = NAN;
    char text[512];
    TRY(parse(&r, rule));
    if (!audit_json)
        goto done;
    TRY(json_parse(&audit, audit_json, strlen(audit_json), "audit"));
    TRY(json_get_array(&attacks, audit, "audit", "attacks"));
    if (!metrics[find_metric(r.metric)].path)
        worst = value_of_document(&r, audit);
    for (size_t i = 0; metrics[find_metric(r.metric)].path && i < json_count(attacks); i++) {
        double x = value_of(&r, json_at(attacks, i));
        if (!isnan(x) && (isnan(worst) || (r.above ? x > worst : x < worst)))
            worst = x, name = json_text(json_member(json_at(attacks, i), "name"));
    }
    bool fails = isnan(worst) || holds(&r, worst);
    if (isnan(worst))
        snprintf(text, sizeof text, "gate FAIL: %s was not measured", rule);
    else
        snprintf(text, sizeof text, "gate %s: %s (%s%s%.4g)", fails ? "FAIL" : "pass", rule, name ? name : "",
                 name ? ": " : "", worst);
    char *copy = base_strdup(text);
    if (!copy)
        FAIL(SOTTO_ENOMEM, "audit: out of memory");
    *failed = fails;
    *line = copy;
done:
    json_free(audit);
    return status;
}
