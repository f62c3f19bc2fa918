/* The charts' numbers. Curves are thinned to what a screen can show, and rounded, so that a page stays
 * small. */
#include "report/page/page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CURVE_POINTS = 120 };

static double section_data_rounded(double x)
{
    char text[32];
    snprintf(text, sizeof text, "%.5g", x);
    return strtod(text, NULL);
}

/* Every k-th point and always the last, as "x y;x y": a third of the bytes of JSON numbers with 17 digits. */
static struct json *section_data_thinned(const struct json *points)
{
    struct page text = {0};
    size_t n = json_count(points), step = n / CURVE_POINTS + 1;
    page_html(&text, "");
    for (size_t i = 0; i < n; i++)
        if (i % step == 0 || i + 1 == n)
            page_format(&text, "%s%.5g %.5g", text.used ? ";" : "",
                        json_number(json_at(json_at(points, i), 0)),
                        json_number(json_at(json_at(points, i), 1)));
    struct json *out = text.failed ? NULL : json_make_text(text.text);
    base_free(text.text);
    return out;
}

static struct json *estimate_json(const struct estimate *e)
{
    if (!e->given)
        return json_make_null();
    double values[] = {section_data_rounded(e->value),
                       section_data_rounded(isnan(e->lower) ? e->value : e->lower),
                       section_data_rounded(isnan(e->upper) ? e->value : e->upper)};
    return json_make_reals(values, 3);
}

/* Of the better guess. */
static double area_of(const struct attack_result *a)
{
    return fmax(a->auc.value, 1 - a->auc.value);
}

/* Alone on its page, an audit shows the curves of its six best attacks: the one that decides, then the largest areas. */
static struct json *curves_json(const struct report_row *row)
{
    enum { CURVES = 6 };
    struct json *list = json_make_array();
    bool *shown = base_alloc(row->attack_count, sizeof *shown);
    for (size_t k = 0; shown && k < CURVES && k < row->attack_count; k++) {
        size_t best = row->attack_count;
        for (size_t i = 0; i < row->attack_count; i++)
            if (!shown[i] &&
                (best == row->attack_count || area_of(&row->attacks[i]) > area_of(&row->attacks[best])))
                best = i;
        best = k == 0 ? row->strongest : best;
        shown[best] = true;
        struct json *one = json_make_object();
        json_put_text(&one, "label", row->attacks[best].name);
        json_put_real(&one, "auc", section_data_rounded(row->attacks[best].auc.value));
        json_put(&one, "roc", section_data_thinned(row->attacks[best].roc));
        json_push(&list, one);
    }
    base_free(shown);
    return list;
}

static struct json *row_json(const struct report_row *row, size_t group)
{
    char label[96];
    struct json *j = json_make_object();
    row_label(label, sizeof label, row);
    json_put_text(&j, "label", label);
    json_put_integer(&j, "group", (int64_t)group);
    json_put_boolean(&j, "protected", row->is_protected);
    json_put_real(&j, "scale", row->scale);
    json_put_text(&j, "verdict", sotto_verdict_name(row->verdict));
    json_put(&j, "accuracy", estimate_json(&row->accuracy));
    json_put_real(&j, "chance", row->chance);
    if (row->proof_counts) {
        json_put_real(&j, "epsilon", row->proved.upper);
        json_put_real(&j, "delta", row->proved.delta);
    }
    if (row->attack_count) {
        const struct attack_result *a = &row->attacks[row->headline];
        json_put_text(&j, "attack", a->name);
        json_put(&j, "auc", estimate_json(&a->auc));
        json_put_integer(&j, "members", (int64_t)a->n_member);
        json_put_integer(&j, "nonmembers", (int64_t)a->n_nonmember);
        json_put(&j, "roc", section_data_thinned(a->roc));
    }
    if (row->claimed) {
        json_put_real(&j, "claimed_epsilon", row->claim_epsilon);
        json_put_real(&j, "claimed_delta", row->claim_delta);
    }
    return j;
}

static struct json *training_json(const struct json *training)
{
    struct json *out = json_make_array();
    for (size_t i = 0; i < json_count(training); i++) {
        const struct json *chart = json_at(training, i), *series = json_member(chart, "series");
        struct json *j = json_make_object(), *list = json_make_array();
        json_put_text(&j, "x", part_text(chart, "x"));
        for (size_t k = 0; k < json_count(series); k++) {
            struct json *one = json_make_object();
            json_put_text(&one, "name", part_text(json_at(series, k), "name"));
            json_put(&one, "points", section_data_thinned(json_member(json_at(series, k), "points")));
            json_push(&list, one);
        }
        json_put(&j, "series", list);
        json_push(&out, j);
    }
    return out;
}

/* One mean as [value, lower, upper]. */
static struct json *mean_json(const struct mean *m)
{
    double values[] = {section_data_rounded(m->value), section_data_rounded(m->lower),
                       section_data_rounded(m->upper)};
    return isnan(m->value) ? json_make_null() : json_make_reals(values, 3);
}

/* Curves of a case share its number, the index of its first curve. */
static struct json *sweeps_json(const struct sweeps *s)
{
    struct json *out = json_make_array();
    size_t first = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct sweep_curve *c = &s->curves[i];
        struct json *j = json_make_object(), *points = json_make_array();
        struct page label = {0};
        if (i > 0 && strcmp(c->name, s->curves[i - 1].name) != 0)
            first = i;
        page_html(&label, c->mechanism);
        if (strcmp(c->norms, "entrywise") != 0) {
            page_html(&label, ", ");
            page_html(&label, c->norms);
        }
        json_put_integer(&j, "group", (int64_t)first);
        json_put_text(&j, "label", label.failed ? NULL : label.text);
        base_free(label.text);
        for (size_t k = 0; k < c->count; k++) {
            struct json *point = json_make_object(), *attacks = json_make_array(), *rates = json_make_array();
            double epsilon = sweep_epsilon(&c->points[k]);
            if (!isfinite(epsilon)) {
                json_free(point);
                json_free(attacks);
                json_free(rates);
                continue;
            }
            json_put_real(&point, "x", section_data_rounded(epsilon));
            json_put(&point, "loss", mean_json(&c->points[k].loss));
            for (size_t a = 0; a < s->attack_count; a++) {
                json_push(&attacks, mean_json(&c->points[k].attacks[a].balanced));
                json_push(&rates, mean_json(&c->points[k].attacks[a].low_rate));
            }
            json_put(&point, "attacks", attacks);
            json_put(&point, "rates", rates);
            json_put_real(&point, "ceiling", section_data_rounded(c->points[k].ceiling));
            json_put_real(&point, "top", section_data_rounded(c->points[k].tpr_ceiling));
            json_push(&points, point);
        }
        json_put(&j, "points", points);
        json_push(&out, j);
    }
    return out;
}

void section_data(struct page *p, const struct report *r)
{
    struct groups g;
    char *text = NULL;
    struct json *doc = json_make_object(), *rows = json_make_array();
    groups_find(&g, r);
    for (size_t i = 0; i < r->row_count; i++) {
        struct json *one = row_json(&r->rows[i], g.of_row[i]);
        if (r->row_count == 1 && r->rows[i].attack_count > 1)
            json_put(&one, "curves", curves_json(&r->rows[i]));
        if (r->row_count == 1 && r->rows[i].attack_count && r->rows[i].attacks[r->rows[i].closer].histogram)
            json_put(&one, "scores", json_clone(r->rows[i].attacks[r->rows[i].closer].histogram));
        json_push(&rows, one);
    }
    json_put(&doc, "rows", rows);
    json_put(&doc, "training", training_json(part(r->doc, "training")));
    if (r->sweeps.count > 0)
        json_put(&doc, "sweeps", sweeps_json(&r->sweeps));
    if (!isnan(r->sweeps.rate))
        json_put_real(&doc, "rate", r->sweeps.rate);
    if (json_dump(&text, doc, JSON_LINE) == SOTTO_OK)
        page_json(p, text);
    else
        p->failed = true;
    sotto_text_free(text);
    json_free(doc);
}
