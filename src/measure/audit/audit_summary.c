/* The audit as a table on a terminal. */
#include "audit/audit_fields.h"
#include "audit/audit_one_run.h"
#include "base/memory.h"
#include "sotto/audit.h"
#include "sotto/lab/audit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LINE = 256, MAX_RATES = 8, CELL = 96, MAX_COLUMNS = MAX_RATES + 4, MAX_SHOWN = 64, HEADING = -1 };

/* "6.4 [3.7, 10.2] %" */
static void percent_cell(char out[CELL], const struct sotto_estimate *e)
{
    snprintf(out, CELL, "%.3g [%.3g, %.3g] %%", 100 * e->estimate, 100 * e->lower, 100 * e->upper);
}

/* A curve with one vertex between its ends: a yes or no, whose only threshold has a rate of its own. */
static bool has_one_threshold(const struct sotto_audit_attack *a)
{
    return a->roc_count > 0 && a->roc_count <= 3;
}

static void rate_cell(char out[CELL], const struct sotto_audit_attack *a, const struct sotto_audit_rate *r)
{
    if (r->refused)
        snprintf(out, CELL, "not measurable");
    else if (has_one_threshold(a) && r->tpr.rate.estimate == 0)
        snprintf(out, CELL, "one threshold only");
    else if (r->tpr.no_lower)
        snprintf(out, CELL, "%.3g [-, %.3g] %%", 100 * r->tpr.rate.estimate, 100 * r->tpr.rate.upper);
    else
        percent_cell(out, &r->tpr.rate);
}

/* The largest bound, and which one it is where there was a choice. */
static void epsilon_cell(char out[CELL], const struct sotto_audit_best *best)
{
    if (best->bounds > 1 && best->lower_bound > 0)
        snprintf(out, CELL, "%.3g (%.40s)", best->lower_bound, best->bound);
    else
        snprintf(out, CELL, "%.3g", best->lower_bound);
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

static void audit_summary_add(char **text, size_t *used, const char *line)
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

/* Writes a cell; row HEADING: that of the column. */
typedef void (*cell_writer)(char out[CELL], const void *of, long row, size_t column);

/* Columns are as wide as their longest cell, two blanks apart: they never touch. */
static void add_table(char **text, size_t *used, cell_writer write, const void *of, size_t rows,
                      size_t columns)
{
    char cell[CELL], padded[CELL + 8];
    size_t width[MAX_COLUMNS] = {0};
    for (long row = HEADING; row < (long)rows; row++)
        for (size_t k = 0; k < columns; k++) {
            write(cell, of, row, k);
            width[k] = strlen(cell) > width[k] ? strlen(cell) : width[k];
        }
    for (long row = HEADING; row < (long)rows; row++)
        for (size_t k = 0; k < columns; k++) {
            write(cell, of, row, k);
            const bool last = k + 1 == columns;
            snprintf(padded, sizeof padded, "%-*s%s", last ? 0 : (int)width[k], cell, last ? "\n" : "  ");
            audit_summary_add(text, used, padded);
        }
}

/* An audit and the rates of its columns. */
struct membership {
    const struct sotto_audit_result *result;
    size_t rates[MAX_RATES], count;
};

static void membership_heading(char out[CELL], const struct membership *m, size_t column)
{
    static const char *const ends[] = {"bal. acc.", "epsilon >="};
    if (column < 2)
        snprintf(out, CELL, "%s", column ? "AUC" : "attack");
    else if (column < 2 + m->count)
        snprintf(out, CELL, "TPR at FPR %.8g", m->result->attacks[0].rates[m->rates[column - 2]].fpr);
    else
        snprintf(out, CELL, "%s", ends[column - 2 - m->count]);
}

static void membership_cell(char out[CELL], const void *of, long row, size_t column)
{
    const struct membership *m = of;
    if (row == HEADING) {
        membership_heading(out, m, column);
        return;
    }
    const struct sotto_audit_attack *a = &m->result->attacks[row];
    const struct sotto_estimate *auc = &a->auc.area;
    const size_t rate = column >= 2 && column < 2 + m->count ? m->rates[column - 2] : a->rate_count;
    if (column == 0)
        snprintf(out, CELL, "%.60s", a->name);
    else if (column == 1)
        snprintf(out, CELL, "%.3f [%.3f, %.3f]", auc->estimate, auc->lower, auc->upper);
    else if (column == 2 + m->count)
        snprintf(out, CELL, "%.3f", a->balanced.accuracy.estimate);
    else if (column == 3 + m->count)
        epsilon_cell(out, &a->epsilon_best);
    else if (rate < a->rate_count)
        rate_cell(out, a, &a->rates[rate]);
    else
        snprintf(out, CELL, "not measurable");
}

/* Of the model under attack; accuracy says little where one class is frequent. */
static void add_accuracy(char **text, size_t *used, const struct sotto_audit_accuracies *a)
{
    char line[2 * LINE], cells[2][CELL];
    size_t most = 0;
    double balanced = 0;
    if (!a)
        return;
    for (size_t i = 0; i < a->class_count; i++) {
        balanced += a->by_class[i].accuracy.rate.estimate / (double)a->class_count;
        most = a->by_class[i].accuracy.n > a->by_class[most].accuracy.n ? i : most;
    }
    percent_cell(cells[0], &a->member.rate);
    percent_cell(cells[1], &a->nonmember.rate);
    snprintf(
        line, sizeof line,
        "\naccuracy of the model: %s on members, %s on non-members (balanced %.3g %%; who always answers "
        "class %zu: %.3g %%)\n",
        cells[0], cells[1], 100 * balanced, a->by_class[most].class_number,
        100 * (double)a->by_class[most].accuracy.n / (double)a->nonmember.n);
    audit_summary_add(text, used, line);
}

/* What would make the numbers above mean something else. */
static void add_checks(char **text, size_t *used, const struct sotto_audit_result *r)
{
    if (r->check_count)
        audit_summary_add(text, used, "\n");
    for (size_t i = 0; i < r->check_count; i++) {
        const struct sotto_audit_check *c = &r->checks[i];
        char line[512];
        snprintf(line, sizeof line, "%-8s %.490s\n", audit_level_names[c->level], c->text ? c->text : "");
        audit_summary_add(text, used, line);
    }
}

/* The attack, then the baselines, then networks of each depth. */
static const struct sotto_attribute_scores *attribute_scores(const struct sotto_attribute_result *a,
                                                             size_t row)
{
    return row == 0                   ? &a->attack
           : row <= a->baseline_count ? &a->baselines[row - 1]
                                      : &a->depths[row - 1 - a->baseline_count];
}

static void attribute_cell(char out[CELL], const void *of, long row, size_t column)
{
    static const char *const headings[] = {"method", "accuracy", "balanced accuracy", "macro F1"};
    const struct sotto_attribute_result *a = of;
    if (row == HEADING) {
        snprintf(out, CELL, "%s", headings[column]);
        return;
    }
    const struct sotto_attribute_scores *s = attribute_scores(a, (size_t)row);
    const struct sotto_estimate *const numbers[] = {&s->accuracy, &s->balanced_accuracy, &s->macro_f1};
    if (column > 0)
        percent_cell(out, numbers[column - 1]);
    else if (!s->name)
        snprintf(out, CELL, "network of %zu layers", s->layers);
    else
        snprintf(out, CELL, "%.60s", s->name);
}

static void add_attribute(char **text, size_t *used, const struct sotto_attribute_result *a)
{
    char line[LINE], cell[CELL];
    if (!a)
        return;
    snprintf(line, sizeof line,
             "\nattribute inference: %zu values, %zu records known to the attacker, %zu test records\n",
             a->values, a->n_known, a->n_test);
    audit_summary_add(text, used, line);
    add_table(text, used, attribute_cell, a, 1 + a->baseline_count + a->depth_count, 4);
    percent_cell(cell, &a->gain);
    snprintf(line, sizeof line, "gain in accuracy over '%.60s': %s\n", a->gain_over ? a->gain_over : "",
             cell);
    audit_summary_add(text, used, line);
}

/* How many records a test gives away by its p-values, and whether the normal one holds. */
static void add_p_values(char **text, size_t *used, const struct sotto_audit_attack *a)
{
    char line[2 * LINE], cells[3][CELL];
    const struct sotto_audit_p_values *p = a->p_values;
    if (!p)
        return;
    percent_cell(cells[0], &p->member_conformal);
    percent_cell(cells[1], &p->member_normal);
    percent_cell(cells[2], &p->nonmember_normal);
    snprintf(
        line, sizeof line,
        "\n%s: p <= %g for %s of the members by the conformal p, which rests on exchangeable records "
        "alone, and %s by the normal p, for independent features only; non-members: %s by the normal p\n",
        a->name, p->level, cells[0], cells[1], cells[2]);
    audit_summary_add(text, used, line);
    if (p->normal_refuted)
        audit_summary_add(
            text, used,
            "the normal p does not hold for these non-members: features are dependent, the reference is of "
            "another population, or mean and reference shift all of them alike; use the conformal p\n");
}

static void add_claim(char **text, size_t *used, const struct sotto_audit_claim *c)
{
    char line[LINE];
    if (!c)
        return;
    snprintf(line, sizeof line,
             "\nclaim of epsilon %g, delta %g: %s (lower bound %.3g by %.40s at %g %% over %zu attacks)\n",
             c->epsilon, c->delta, c->contradicted ? "CONTRADICTED" : "not contradicted, which is no proof",
             c->lower_bound, c->bound ? c->bound : "none", 100 * c->confidence, c->attacks);
    audit_summary_add(text, used, line);
}

/* Guesses in one run, in one line for each attack. */
static void add_one_run(char **text, size_t *used, const struct sotto_audit_result *r)
{
    char line[4 * LINE];
    for (size_t i = 0; i < r->attack_count; i++) {
        const struct sotto_audit_one_run *o = r->attacks[i].one_run;
        const struct sotto_audit_one_run_bounds *b = r->attacks[i].one_run_bounds;
        if (!o || !b)
            continue;
        char gaussian[CELL] = "";
        if (!isnan(b->gaussian_epsilon))
            snprintf(gaussian, sizeof gaussian, ", epsilon >= %.3g", b->gaussian_epsilon);
        snprintf(line, sizeof line,
                 "\n%.60s, one run: %zu of %zu guesses right; at delta %g epsilon >= %.3g (Steinke), %.3g "
                 "(recursion); only if the curve is Gaussian: mu >= %.3g%s; Bayesian: epsilon %.3g [%.3g, "
                 "%.3g]\n",
                 r->attacks[i].name, o->right, o->guesses, o->delta, o->lower_bound, b->epsilon, b->mu,
                 gaussian, b->bayesian.estimate, b->bayesian.lower, b->bayesian.upper);
        audit_summary_add(text, used, line);
    }
    if (r->curve) {
        audit_one_run_text(line, sizeof line, r->curve);
        audit_summary_add(text, used, line);
    }
}

static void add_membership(char **text, size_t *used, const struct sotto_audit_result *r)
{
    struct membership m = {.result = r};
    struct sotto_audit_verdict verdict;
    char line[LINE];
    if (!r->attack_count)
        return;
    snprintf(line, sizeof line,
             "%zu members, %zu non-members; intervals at %g %% confidence; 0.5 is guessing\n\n", r->n_member,
             r->n_nonmember, 100 * r->confidence);
    audit_summary_add(text, used, line);
    sotto_audit_judge(&verdict, r);
    audit_summary_add(text, used, verdict.text);
    audit_summary_add(text, used, "\n\n");
    m.count = choose_rates(m.rates, &r->attacks[0]);
    add_table(text, used, membership_cell, &m, r->attack_count, m.count + 4);
    for (size_t i = 0; i < r->attack_count; i++)
        add_p_values(text, used, &r->attacks[i]);
    add_accuracy(text, used, r->accuracy);
    add_claim(text, used, r->claim);
    add_one_run(text, used, r);
    add_checks(text, used, r);
}

/* The attacks that look at a generative model. */
struct generative {
    const struct sotto_audit_attack *attacks[MAX_SHOWN];
    size_t count;
};

static void generative_cell(char out[CELL], const void *of, long row, size_t column)
{
    static const char *const headings[] = {"attack",       "sees",   "right",
                                           "top n_member", "radius", "lowest score"};
    const struct generative *shown = of;
    if (row == HEADING) {
        snprintf(out, CELL, "%s", headings[column]);
        return;
    }
    const struct sotto_audit_generative *g = shown->attacks[row]->generative;
    switch (column) {
    case 0:
        snprintf(out, CELL, "%.60s", shown->attacks[row]->name);
        break;
    case 1:
        snprintf(out, CELL, "%.60s", g->access ? g->access : "");
        break;
    case 2:
        percent_cell(out, &g->set_accuracy);
        break;
    case 3:
        snprintf(out, CELL, "%.3f", g->top_share);
        break;
    case 4:
        snprintf(out, CELL, isnan(g->radius) ? "-" : "%.4g", g->radius);
        break;
    default:
        snprintf(out, CELL, "%zu records", g->lowest_tied);
    }
}

/* The discriminator may tell nearly everything and the samples nearly nothing, so access comes first. */
static void add_generative(char **text, size_t *used, const struct sotto_audit_result *r)
{
    char line[LINE];
    struct generative shown = {.count = 0};
    for (size_t i = 0; i < r->attack_count && shown.count < MAX_SHOWN; i++)
        if (r->attacks[i].generative)
            shown.attacks[shown.count++] = &r->attacks[i];
    if (!shown.count)
        return;
    const struct sotto_audit_generative *g = shown.attacks[0]->generative;
    snprintf(
        line, sizeof line,
        "\ngenerative model: which of two sets of %zu records was trained on, over %zu overlapping random "
        "pairs of sets (intervals are for such pairs, not for models); nothing is proved\n",
        g->set_size, g->set_draws);
    audit_summary_add(text, used, line);
    add_table(text, used, generative_cell, &shown, shown.count, 6);
}

static void add_memorisation(char **text, size_t *used, const struct sotto_audit_memorisation *m)
{
    char line[LINE];
    if (!m)
        return;
    snprintf(line, sizeof line,
             "\nmemorisation by the reference models: %zu records with %zu or more on each side", m->judged,
             m->least);
    audit_summary_add(text, used, line);
    snprintf(line, sizeof line, "; above .5: %.3g %%; highest %.3f [%.3f, %.3f]\n", 100 * m->above_half,
             m->count ? m->highest[0].value.estimate : NAN, m->count ? m->highest[0].value.lower : NAN,
             m->count ? m->highest[0].value.upper : NAN);
    audit_summary_add(text, used, m->judged ? line : "\n");
}

sotto_status sotto_audit_summary(char **text, const struct sotto_audit_result *r)
{
    REQUIRE_GIVEN(text, r);
    char *out = base_strdup("");
    size_t used = 0;
    add_membership(&out, &used, r);
    add_generative(&out, &used, r);
    add_memorisation(&out, &used, r->memorisation);
    add_attribute(&out, &used, r->attribute);
    if (!out)
        return status_fail(SOTTO_ENOMEM, "audit: out of memory for the summary");
    *text = out;
    return SOTTO_OK;
}
