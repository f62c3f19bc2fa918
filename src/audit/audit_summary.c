/* The audit as a table on a terminal. */
#include "audit/audit_fields.h"
#include "base/memory.h"
#include "sotto/audit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LINE = 256, MAX_RATES = 8 };

/* "6.4 % [3.7, 10.2]" in the width of a column. */
static void percent_cell(char out[64], const struct sotto_estimate *e)
{
    snprintf(out, 64, "%.3g [%.3g, %.3g] %%", 100 * e->estimate, 100 * e->lower, 100 * e->upper);
}

static void rate_cell(char out[64], const struct sotto_audit_rate *r)
{
    if (r->refused)
        snprintf(out, 64, "not measurable");
    else
        percent_cell(out, &r->at.tpr);
}

/* Rates of the columns: none twice. */
static size_t choose_rates(size_t chosen[MAX_RATES], const struct sotto_audit_attack *a)
{
    size_t count = 0;
    for (size_t i = 0; i < a->rate_count && count < MAX_RATES; i++) {
        bool again = false;
        for (size_t k = 0; k < count; k++)
            again = again || a->rates[chosen[k]].fpr == a->rates[i].fpr;
        if (!again)
            chosen[count++] = i;
    }
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

static void add_attack(char **text, size_t *used, const struct sotto_audit_attack *a, const size_t *rates,
                       size_t count)
{
    char line[LINE], cell[64];
    const struct sotto_estimate *auc = &a->auc.area;
    snprintf(line, sizeof line, "%-23.23s %.3f [%.3f, %.3f]  ", a->name, auc->estimate, auc->lower,
             auc->upper);
    add(text, used, line);
    for (size_t k = 0; k < count; k++) {
        if (rates[k] < a->rate_count)
            rate_cell(cell, &a->rates[rates[k]]);
        else
            snprintf(cell, sizeof cell, "not measurable");
        snprintf(line, sizeof line, "%-23s", cell);
        add(text, used, line);
    }
    snprintf(line, sizeof line, "%-10.3f %.3g\n", a->balanced.accuracy.estimate, a->epsilon.lower_bound);
    add(text, used, line);
}

/* What would make the numbers below mean something else comes before them. */
static void add_checks(char **text, size_t *used, const struct sotto_audit_result *r)
{
    for (size_t i = 0; i < r->check_count; i++) {
        const struct sotto_audit_check *c = &r->checks[i];
        char line[512];
        snprintf(line, sizeof line, "%-8s %.490s\n", audit_level_names[c->level], c->text ? c->text : "");
        add(text, used, line);
    }
    if (r->check_count)
        add(text, used, "\n");
}

static void add_attribute_line(char **text, size_t *used, const char *name,
                               const struct sotto_attribute_scores *s)
{
    char line[LINE], cells[3][64];
    percent_cell(cells[0], &s->accuracy);
    percent_cell(cells[1], &s->balanced_accuracy);
    percent_cell(cells[2], &s->macro_f1);
    snprintf(line, sizeof line, "%-23.23s %-23s%-23s%s\n", name ? name : "", cells[0], cells[1], cells[2]);
    add(text, used, line);
}

static void add_attribute(char **text, size_t *used, const struct sotto_attribute_result *a)
{
    char line[LINE], cell[64], name[40];
    if (!a)
        return;
    snprintf(line, sizeof line,
             "\nattribute inference: %zu values, %zu records known to the attacker, %zu test records\n",
             a->values, a->n_known, a->n_test);
    add(text, used, line);
    snprintf(line, sizeof line, "%-23s %-23s%-23s%s\n", "method", "accuracy", "balanced accuracy",
             "macro F1");
    add(text, used, line);
    add_attribute_line(text, used, a->attack.name, &a->attack);
    for (size_t i = 0; i < a->baseline_count; i++)
        add_attribute_line(text, used, a->baselines[i].name, &a->baselines[i]);
    for (size_t i = 0; i < a->depth_count; i++) {
        snprintf(name, sizeof name, "network of %zu layers", a->depths[i].layers);
        add_attribute_line(text, used, name, &a->depths[i]);
    }
    percent_cell(cell, &a->gain);
    snprintf(line, sizeof line, "gain in accuracy over '%.60s': %s\n", a->gain_over ? a->gain_over : "",
             cell);
    add(text, used, line);
}

/* How many records a test gives away by its p-values, and whether the normal one holds. */
static void add_p_values(char **text, size_t *used, const struct sotto_audit_attack *a)
{
    char line[2 * LINE], cells[3][64];
    const struct sotto_audit_p_values *p = a->p_values;
    if (!p)
        return;
    percent_cell(cells[0], &p->member_conformal);
    percent_cell(cells[1], &p->member_normal);
    percent_cell(cells[2], &p->nonmember_normal);
    snprintf(line, sizeof line,
             "\n%s: p <= %g for %s of the members (conformal p), %s (normal p); non-members: %s (normal p)\n",
             a->name, p->level, cells[0], cells[1], cells[2]);
    add(text, used, line);
    if (p->normal_refuted)
        add(text, used,
            "the normal p does not hold for these non-members: features are dependent, the reference is of "
            "another population, or mean and reference shift all of them alike; use the conformal p\n");
}

static void add_claim(char **text, size_t *used, const struct sotto_audit_claim *c)
{
    char line[LINE];
    if (!c)
        return;
    snprintf(line, sizeof line,
             "\nclaim of epsilon %g, delta %g: %s (lower bound %.3g at %g %% over %zu attacks)\n", c->epsilon,
             c->delta, c->contradicted ? "CONTRADICTED" : "not contradicted, which is no proof",
             c->lower_bound, 100 * c->confidence, c->attacks);
    add(text, used, line);
}

static void add_membership(char **text, size_t *used, const struct sotto_audit_result *r)
{
    size_t rates[MAX_RATES];
    char line[LINE], head[32], rate[32];
    if (!r->attack_count)
        return;
    snprintf(line, sizeof line,
             "%zu members, %zu non-members; intervals at %g %% confidence; 0.5 is guessing\n\n", r->n_member,
             r->n_nonmember, 100 * r->confidence);
    add(text, used, line);
    add_checks(text, used, r);
    size_t count = choose_rates(rates, &r->attacks[0]);
    snprintf(line, sizeof line, "%-23s %-22s ", "attack", "AUC");
    add(text, used, line);
    for (size_t k = 0; k < count; k++) {
        snprintf(rate, sizeof rate, "%.12g", r->attacks[0].rates[rates[k]].fpr);
        snprintf(head, sizeof head, "TPR at FPR %.8s", rate);
        snprintf(line, sizeof line, "%-23s", head);
        add(text, used, line);
    }
    add(text, used, "bal. acc.  epsilon >=\n");
    for (size_t i = 0; i < r->attack_count; i++)
        add_attack(text, used, &r->attacks[i], rates, count);
    for (size_t i = 0; i < r->attack_count; i++)
        add_p_values(text, used, &r->attacks[i]);
    add_claim(text, used, r->claim);
}

/* The discriminator may tell nearly everything and the samples nearly nothing, so access comes first. */
static void add_generative(char **text, size_t *used, const struct sotto_audit_result *r)
{
    char line[LINE], cell[64];
    bool any = false;
    for (size_t i = 0; i < r->attack_count; i++) {
        const struct sotto_audit_generative *g = r->attacks[i].generative;
        if (!g)
            continue;
        if (!any) {
            snprintf(
                line, sizeof line,
                "\ngenerative model: which of two sets of %zu records was trained on, over %zu overlapping "
                "random pairs of sets\n%-23s %-31s %-22s %-13s %-11s %s\n",
                g->set_size, g->set_draws, "attack", "sees", "right", "top n_member", "radius",
                "lowest score");
            add(text, used, line);
            any = true;
        }
        percent_cell(cell, &g->set_accuracy);
        snprintf(line, sizeof line, "%-23.23s %-31.31s %-22s %-13.3f ", r->attacks[i].name,
                 g->access ? g->access : "", cell, g->top_share);
        add(text, used, line);
        snprintf(cell, sizeof cell, isnan(g->radius) ? "-" : "%.4g", g->radius);
        snprintf(line, sizeof line, "%-11s %zu records\n", cell, g->lowest_tied);
        add(text, used, line);
    }
}

sotto_status sotto_audit_summary(char **text, const struct sotto_audit_result *r)
{
    char *out = base_strdup("");
    size_t used = 0;
    add_membership(&out, &used, r);
    add_generative(&out, &used, r);
    add_attribute(&out, &used, r->attribute);
    if (!out)
        return status_fail(SOTTO_ENOMEM, "audit: out of memory for the summary");
    *text = out;
    return SOTTO_OK;
}
