/* A comparison as lines for people and as files: compare.json, compare.csv (a line for each model and axis),
 * report.html. */
#include "report/compare/compare.h"

#include "base/file.h"
#include "report/page/page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* page_*() grow any text; nothing here is HTML. */
static void put_padded(struct page *p, const char *text, int width)
{
    char cell[80];
    snprintf(cell, sizeof cell, "%-*.*s", width, width - 1, text);
    page_html(p, cell);
}

static void put_epsilon(char *cell, size_t room, const struct sotto_compare_row *row)
{
    const double epsilon = row->axis[SOTTO_AXIS_EPSILON].estimate;
    if (isnan(epsilon))
        snprintf(cell, room, "none");
    else
        snprintf(cell, room, "%.3f, delta %.3g", ceil(1000 * epsilon) / 1000, row->delta);
}

static void put_names(struct page *p, const char *label, const char *of, const char *const *list,
                      size_t count)
{
    if (!count)
        return;
    page_html(p, label);
    page_html(p, of);
    page_html(p, ":");
    for (size_t i = 0; i < count; i++) {
        page_html(p, i ? ", " : " ");
        page_html(p, list[i]);
    }
    page_html(p, "\n");
}

/* By which attacks, and who is the best. */
static void put_attacks(struct page *p, const struct sotto_compare_result *c)
{
    page_html(p, "\n");
    put_names(p, "leakage is measured by the attacks that all models have", "", c->attacks, c->attack_count);
    for (size_t i = 0; i < c->row_count; i++)
        put_names(p, "left out of ", c->rows[i].name, c->rows[i].left_out, c->rows[i].left_out_count);
    for (size_t i = 0; i < c->row_count; i++)
        put_names(p, "verdict on ", c->rows[i].name, &c->rows[i].swapped, c->rows[i].swapped != NULL);
    if (!isnan(c->fpr))
        page_format(p, "tpr_at_fpr is at a false-positive rate of %.3g %%\n", 100 * c->fpr);
    page_html(p, "best by leakage and utility: ");
    page_html(p, c->winner ? c->rows[c->winner].name : "none");
    page_html(p, "\n");
}

static void put_choices(struct page *p, const struct sotto_compare_result *c)
{
    page_html(p, "\nbest improvement per metric without a significant loss elsewhere:\n");
    for (int k = 0; k < SOTTO_AXES; k++) {
        if (!compare_shows(c, k))
            continue;
        put_padded(p, compare_axes[k].name, 20);
        page_html(p, c->choice[k] ? c->rows[c->choice[k]].name : "none");
        page_html(p, "\n");
    }
}

sotto_status sotto_compare_summary(char **text, const struct sotto_compare_result *r)
{
    REQUIRE_GIVEN(text, r);
    struct page p = {0};
    put_padded(&p, "model", 18);
    for (int k = 0; k < SOTTO_AXES; k++)
        if (compare_shows(r, k))
            put_padded(&p, compare_axes[k].name, 31);
    page_html(&p, "front  wins\n");
    for (size_t i = 0; i < r->row_count; i++) {
        const struct sotto_compare_row *row = &r->rows[i];
        put_padded(&p, row->name, 18);
        for (int k = 0; k < SOTTO_AXES; k++) {
            const struct sotto_estimate *e = &row->axis[k];
            char cell[64] = "not measured";
            if (!compare_shows(r, k))
                continue;
            if (k == SOTTO_AXIS_EPSILON)
                put_epsilon(cell, sizeof cell, row);
            else if (compare_measured(e))
                snprintf(cell, sizeof cell, "%.3f [%.3f, %.3f] %s", e->estimate, e->lower, e->upper,
                         i ? compare_change_names[row->change[k]] : "");
            put_padded(&p, cell, 31);
        }
        put_padded(&p, row->front ? "yes" : "no", 7);
        page_html(&p, i == 0 ? "-\n" : row->wins ? "yes\n" : "no\n");
    }
    put_attacks(&p, r);
    put_choices(&p, r);
    return page_done(text, &p, "compare");
}

/* Quoted as RFC 4180 asks. */
static void put_field(struct page *p, const char *text)
{
    page_html(p, "\"");
    for (const char *at = text ? text : ""; *at; at++)
        page_bytes(p, *at == '"' ? "\"\"" : at, *at == '"' ? 2 : 1);
    page_html(p, "\"");
}

static sotto_status compare_write_csv(char **out, const struct sotto_compare_result *c)
{
    struct page p = {0};
    page_html(&p, "model,axis,estimate,lower,upper,by,change,front,wins\n");
    for (size_t i = 0; i < c->row_count; i++)
        for (int k = 0; k < SOTTO_AXES; k++) {
            const struct sotto_compare_row *row = &c->rows[i];
            const struct sotto_estimate *e = &row->axis[k];
            if (!compare_measured(e))
                continue;
            put_field(&p, row->name);
            page_format(&p, ",%s,%.9g,%.9g,%.9g,", compare_axes[k].name, e->estimate, e->lower, e->upper);
            put_field(&p, row->by[k]);
            page_html(&p, ",");
            put_field(&p, compare_change_names[row->change[k]]);
            page_format(&p, ",%d,%d\n", row->front != 0, row->wins != 0);
        }
    return page_done(out, &p, "compare");
}

sotto_status sotto_compare_write(const char *folder, const struct sotto_compare_result *r)
{
    REQUIRE_GIVEN(folder, r);
    sotto_status status = SOTTO_OK;
    const char *const names[] = {"compare.json", "compare.csv", "report.html"};
    char *texts[3] = {NULL, NULL, NULL}, path[4096];
    TRY(sotto_compare_encode(&texts[0], r));
    TRY(compare_write_csv(&texts[1], r));
    TRY(sotto_compare_html(&texts[2], r));
    TRY(folder_make(folder));
    for (int i = 0; i < 3; i++) {
        TRY(path_join(path, sizeof path, folder, names[i]));
        TRY(file_write(path, texts[i], strlen(texts[i])));
    }
done:
    for (int i = 0; i < 3; i++)
        sotto_text_free(texts[i]);
    return status;
}
