/* The audit as a table on a terminal. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/json/json.h"
#include "sotto/attack.h"

enum { LINE = 256, MAX_RATES = 8 };

/* "6.4 % [3.7, 10.2]" in the width of a column; "refused" for null. */
static void percent_cell(char out[64], const struct json *e)
{
    if (json_kind(e) != JSON_KIND_OBJECT)
        snprintf(out, 64, "not measurable");
    else
        snprintf(out, 64, "%.3g [%.3g, %.3g] %%", 100 * json_number(json_member(e, "estimate")),
                 100 * json_number(json_member(e, "lower")), 100 * json_number(json_member(e, "upper")));
}

static size_t rates_of(const char *rates[MAX_RATES], const struct json *attack)
{
    const struct json *tpr = json_member(attack, "tpr_at_fpr");
    size_t count = 0;
    for (const char *key = json_first_key(tpr); key && count < MAX_RATES; key = json_next_key(tpr, key))
        rates[count++] = key;
    return count;
}

static void add(char **text, size_t *used, const char *line)
{
    size_t length = strlen(line);
    char *grown = *text ? base_regrow(*text, *used + 1, *used + length + 1, 1) : NULL;
    if (!grown)
        base_free(*text);
    else
        memcpy(grown + *used, line, length + 1);
    *text = grown;
    *used += length;
}

static void add_attack(char **text, size_t *used, const struct json *attack, const char *const *rates,
                       size_t count)
{
    char line[LINE], cell[64];
    snprintf(line, sizeof line, "%-23.23s %.3f [%.3f, %.3f]  ", json_text(json_member(attack, "name")),
             json_number(json_find(attack, "auc.estimate")), json_number(json_find(attack, "auc.lower")),
             json_number(json_find(attack, "auc.upper")));
    add(text, used, line);
    for (size_t k = 0; k < count; k++) {
        percent_cell(cell, json_member(json_member(attack, "tpr_at_fpr"), rates[k]));
        snprintf(line, sizeof line, "%-23s", cell);
        add(text, used, line);
    }
    snprintf(line, sizeof line, "%-10.3f %.3g\n", json_number(json_member(attack, "balanced_accuracy")),
             json_number(json_member(attack, "epsilon_lower_bound")));
    add(text, used, line);
}

/* What would make the numbers below mean something else comes before them. */
static void add_lint(char **text, size_t *used, const struct json *audit)
{
    const struct json *lint = json_member(audit, "lint");
    for (size_t i = 0; i < json_count(lint); i++) {
        const char *level = json_text(json_member(json_at(lint, i), "level")),
                   *what = json_text(json_member(json_at(lint, i), "text"));
        char line[512];
        snprintf(line, sizeof line, "%-8s %.490s\n", level ? level : "", what ? what : "");
        add(text, used, line);
    }
    if (json_count(lint))
        add(text, used, "\n");
}

static void add_attribute_line(char **text, size_t *used, const char *name, const struct json *scores)
{
    char line[LINE], cells[3][64];
    percent_cell(cells[0], json_member(scores, "accuracy"));
    percent_cell(cells[1], json_member(scores, "balanced_accuracy"));
    percent_cell(cells[2], json_member(scores, "macro_f1"));
    snprintf(line, sizeof line, "%-23.23s %-23s%-23s%s\n", name ? name : "", cells[0], cells[1], cells[2]);
    add(text, used, line);
}

static void add_attribute(char **text, size_t *used, const struct json *audit)
{
    const struct json *a = json_member(audit, "attribute"), *baselines = json_member(a, "baselines"),
                      *depths = json_member(a, "depths");
    char line[LINE], cell[64], name[40];
    if (!a)
        return;
    snprintf(line, sizeof line,
             "\nattribute inference: %.0f values, %.0f records known to the attacker, %.0f tested\n",
             json_number(json_member(a, "values")), json_number(json_member(a, "n_known")),
             json_number(json_member(a, "n_test")));
    add(text, used, line);
    snprintf(line, sizeof line, "%-23s %-23s%-23s%s\n", "guess by", "accuracy", "balanced accuracy",
             "macro F1");
    add(text, used, line);
    add_attribute_line(text, used, json_text(json_find(a, "attack.name")), json_member(a, "attack"));
    for (size_t i = 0; i < json_count(baselines); i++)
        add_attribute_line(text, used, json_text(json_member(json_at(baselines, i), "name")),
                           json_at(baselines, i));
    for (size_t i = 0; i < json_count(depths); i++) {
        snprintf(name, sizeof name, "network of %.0f layers",
                 json_number(json_member(json_at(depths, i), "layers")));
        add_attribute_line(text, used, name, json_at(depths, i));
    }
    percent_cell(cell, json_member(a, "gain"));
    snprintf(line, sizeof line, "gain in accuracy over '%.60s': %s\n", json_text(json_find(a, "gain.over")),
             cell);
    add(text, used, line);
}

static void add_claim(char **text, size_t *used, const struct json *audit)
{
    const struct json *claim = json_member(audit, "claim");
    bool contradicted = false;
    char line[LINE];
    if (!claim || json_get_boolean(&contradicted, claim, "audit", "contradicted") != SOTTO_OK)
        return;
    snprintf(line, sizeof line,
             "\nclaim of epsilon %g, delta %g: %s (lower bound %.3g at %g %% over %.0f attacks)\n",
             json_number(json_member(claim, "epsilon")), json_number(json_member(claim, "delta")),
             contradicted ? "CONTRADICTED" : "not contradicted; that is no proof",
             json_number(json_member(claim, "epsilon_lower_bound")),
             100 * json_number(json_member(claim, "confidence")), json_number(json_member(claim, "attacks")));
    add(text, used, line);
}

static void add_membership(char **text, size_t *used, const struct json *audit)
{
    const struct json *attacks = json_member(audit, "attacks");
    const char *rates[MAX_RATES];
    char line[LINE], head[32];
    if (!json_count(attacks))
        return;
    snprintf(line, sizeof line,
             "%.0f members, %.0f non-members; intervals at %g %% confidence; 0.5 is guessing\n\n",
             json_number(json_member(audit, "n_member")), json_number(json_member(audit, "n_nonmember")),
             100 * json_number(json_member(audit, "confidence")));
    add(text, used, line);
    add_lint(text, used, audit);
    size_t count = rates_of(rates, json_at(attacks, 0));
    snprintf(line, sizeof line, "%-23s %-22s ", "attack", "AUC");
    add(text, used, line);
    for (size_t k = 0; k < count; k++) {
        snprintf(head, sizeof head, "TPR at FPR %.8s", rates[k]);
        snprintf(line, sizeof line, "%-23s", head);
        add(text, used, line);
    }
    add(text, used, "bal. acc.  epsilon >=\n");
    for (size_t i = 0; i < json_count(attacks); i++)
        add_attack(text, used, json_at(attacks, i), rates, count);
    add_claim(text, used, audit);
}

sotto_status sotto_audit_summary(char **text, const char *audit_json)
{
    sotto_status status = SOTTO_OK;
    struct json *audit = NULL;
    const struct json *attacks;
    const char *name;
    char *out = NULL;
    size_t used = 0;
    TRY(json_parse(&audit, audit_json, strlen(audit_json), "audit"));
    TRY(json_get_array(&attacks, audit, "audit", "attacks"));
    for (size_t i = 0; i < json_count(attacks); i++)
        TRY(json_get_text(&name, json_at(attacks, i), "audit", "name"));
    out = base_strdup("");
    add_membership(&out, &used, audit);
    add_attribute(&out, &used, audit);
    if (!out)
        FAIL(SOTTO_ENOMEM, "audit: out of memory for the summary");
    *text = out;
done:
    json_free(audit);
    return status;
}
