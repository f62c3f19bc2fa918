/* The joint view as one page: a table, and every privacy axis against utility, drawn without script. */
#include "report/compare/compare.h"

#include "report/page/page.h"

#include <math.h>

extern const char report_report_css[];

enum { WIDTH = 560, HEIGHT = 340, LEFT = 60, RIGHT = 20, TOP = 20, BOTTOM = 50 };

/* ---- the table ---- */

static void axis_title(struct page *p, const struct sotto_compare_result *c, int k)
{
    page_html(p, compare_axes[k].title);
    if (k == SOTTO_AXIS_TPR) {
        page_html(p, ", ");
        page_percent_plain(p, c->fpr);
    }
}

/* A bound, without an interval. */
static void epsilon_cell(struct page *p, const struct sotto_compare_row *row)
{
    page_html(p, "\xce\xb5\xc2\xa0\xe2\x89\xa4\xc2\xa0");
    page_rounded_up(p, row->axis[SOTTO_AXIS_EPSILON].estimate);
    if (row->delta > 0) {
        page_html(p, " <span class=\"ci\">at \xce\xb4\xc2\xa0=\xc2\xa0");
        page_small(p, row->delta);
        page_html(p, "</span>");
    }
}

static void axis_cell(struct page *p, const struct sotto_compare_row *row, int k)
{
    static const char *const marks[] = {"", "", " &#9650; better", " &#9660; worse"};
    page_html(p, "<td class=\"number\">");
    const struct sotto_estimate *e = &row->axis[k];
    if (k == SOTTO_AXIS_EPSILON && compare_measured(e))
        epsilon_cell(p, row);
    else if (k == SOTTO_AXIS_EPSILON)
        page_html(p, "<span class=\"none\">none</span>");
    else
        page_estimate(p, &(struct estimate){compare_measured(e), e->estimate, e->lower, e->upper, 0});
    page_html(p, marks[row->change[k]]);
    if (row->by[k]) {
        page_html(p, " <span class=\"ci\">");
        page_name(p, row->by[k]);
        page_html(p, "</span>");
    }
    page_html(p, "</td>");
}

static void compare_page_table(struct page *p, const struct sotto_compare_result *c)
{
    page_table(p, "All models",
               "Estimates with intervals. Better: the whole interval lies on the better side of the "
               "baseline's interval (first row). Worse: the estimate is worse than the baseline's whole "
               "interval. On the front: no other model is as good on every metric measured for all models "
               "and better on one.</caption>\n<thead><tr><th scope=\"col\">Model</th>",
               NULL);
    for (int k = 0; k < SOTTO_AXES; k++) {
        if (!compare_shows(c, k))
            continue;
        page_html(p, "<th scope=\"col\" class=\"number\">");
        axis_title(p, c, k);
        page_html(p, "</th>");
    }
    page_html(p, "<th scope=\"col\">Verdict</th><th scope=\"col\">Front</th><th "
                 "scope=\"col\">Wins</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < c->row_count; i++) {
        const struct sotto_compare_row *row = &c->rows[i];
        page_html(p, "<tr><th scope=\"row\">");
        page_name(p, row->name);
        page_html(p, "</th>");
        for (int k = 0; k < SOTTO_AXES; k++)
            if (compare_shows(c, k))
                axis_cell(p, row, k);
        page_format(p, "<td>%s</td>", sotto_verdict_name(row->verdict));
        page_html(p, row->front ? "<td>yes</td>" : "<td>no</td>");
        page_html(p, i == 0      ? "<td>&ndash;</td>"
                     : row->wins ? "<td><strong>yes</strong></td>"
                                 : "<td>no</td>");
        page_html(p, "</tr>\n");
    }
    page_table_end(p);
}

/* Shown where several rows are one defence at several strengths. */
static void compare_page_choices(struct page *p, const struct sotto_compare_result *c)
{
    page_html(p, "<p>Best improvement per metric without a significant loss elsewhere: ");
    for (int k = 0, first = 1; k < SOTTO_AXES; k++) {
        if (!compare_shows(c, k))
            continue;
        page_html(p, first ? "" : "; ");
        first = 0;
        axis_title(p, c, k);
        page_html(p, " &ndash; ");
        if (c->choice[k])
            page_name(p, c->rows[c->choice[k]].name);
        else
            page_html(p, "none");
    }
    page_html(p, ".</p>\n");
}

/* ---- the drawings ---- */

struct scale {
    double low, high, from, to;
};

static struct scale scale_of(const struct sotto_compare_result *c, int k, double from, double to)
{
    struct scale s = {INFINITY, -INFINITY, from, to};
    for (size_t i = 0; i < c->row_count; i++) {
        s.low = fmin(s.low, c->rows[i].axis[k].lower);
        s.high = fmax(s.high, c->rows[i].axis[k].upper);
    }
    double room = fmax(0.05 * (s.high - s.low), 0.005);
    s.low -= room, s.high += room;
    return s;
}

static double compare_page_place(const struct scale *s, double x)
{
    return s->from + (x - s->low) / (s->high - s->low) * (s->to - s->from);
}

static void compare_page_ticks(struct page *p, const struct scale *x, const struct scale *y)
{
    for (int i = 0; i <= 4; i++) {
        double vx = x->low + (x->high - x->low) * i / 4, vy = y->low + (y->high - y->low) * i / 4;
        page_format(p, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.3f</text>",
                    compare_page_place(x, vx), HEIGHT - BOTTOM + 18, vx);
        page_format(p, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.3f</text>", LEFT - 6,
                    compare_page_place(y, vy) + 4, vy);
        page_format(p, "<path d=\"M%d %.1fH%d\" stroke=\"var(--grid)\"/>", LEFT, compare_page_place(y, vy),
                    WIDTH - RIGHT);
    }
}

/* A cross of intervals, and the row's number in the table beside it. */
static void compare_page_mark(struct page *p, const struct sotto_compare_row *row, size_t number, int k,
                              const struct scale *x, const struct scale *y)
{
    const struct sotto_estimate *u = &row->axis[SOTTO_AXIS_UTILITY], *v = &row->axis[k];
    const char *colour = row->front ? "var(--proved)" : "var(--soft)";
    page_format(p, "<path d=\"M%.1f %.1fH%.1fM%.1f %.1fV%.1f\" stroke=\"%s\" fill=\"none\"/>",
                compare_page_place(x, u->lower), compare_page_place(y, v->estimate),
                compare_page_place(x, u->upper), compare_page_place(x, u->estimate),
                compare_page_place(y, v->lower), compare_page_place(y, v->upper), colour);
    page_format(p, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"><title>",
                compare_page_place(x, u->estimate), compare_page_place(y, v->estimate), colour);
    page_text(p, row->name);
    page_format(p, "</title></circle><text x=\"%.1f\" y=\"%.1f\">%zu</text>",
                compare_page_place(x, u->estimate) + 6, compare_page_place(y, v->estimate) - 6, number);
}

static void compare_page_drawing(struct page *p, const struct sotto_compare_result *c, int k)
{
    struct scale x = scale_of(c, SOTTO_AXIS_UTILITY, LEFT, WIDTH - RIGHT),
                 y = scale_of(c, k, HEIGHT - BOTTOM, TOP);
    page_format(
        p,
        "<figure><svg viewBox=\"0 0 %d %d\" role=\"img\" width=\"%d\" style=\"max-width:100%%;font-size:12px;"
        "fill:currentColor\" aria-label=\"",
        WIDTH, HEIGHT, WIDTH);
    axis_title(p, c, k);
    page_html(p, " against utility; the numbers are in the table above\">");
    compare_page_ticks(p, &x, &y);
    for (size_t i = 0; i < c->row_count; i++)
        compare_page_mark(p, &c->rows[i], i + 1, k, &x, &y);
    page_format(p, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", (LEFT + WIDTH - RIGHT) / 2,
                HEIGHT - 10);
    page_html(p, compare_axes[SOTTO_AXIS_UTILITY].title);
    page_html(p, "</text></svg><figcaption>");
    page_plot(p);
    axis_title(p, c, k);
    page_html(p, " (lower is better) against accuracy (higher is better), with intervals. Each number is a "
                 "row of the table; green points are on the front.</figcaption></figure>\n");
}

static size_t count_proved(const struct sotto_compare_result *c)
{
    size_t proved = 0;
    for (size_t i = 0; i < c->row_count; i++)
        proved += compare_measured(&c->rows[i].axis[SOTTO_AXIS_EPSILON]);
    return proved;
}

static void compare_page_verdict(struct page *p, const struct sotto_compare_result *c)
{
    size_t wins = 0;
    const size_t proved = count_proved(c);
    for (size_t i = 1; i < c->row_count; i++)
        wins += c->rows[i].wins != 0;
    page_format(p, "%zu of %zu models %s measured better than '", wins, c->row_count - 1,
                wins == 1 ? "is" : "are");
    page_name(p, c->rows[0].name);
    page_html(p, "' on a metric and worse on none");
    if (c->winner) {
        page_html(p, wins == 1 ? ": '" : "; by leakage and utility the best is '");
        page_name(p, c->rows[c->winner].name);
        page_html(p, "'");
    }
    if (proved)
        page_format(p, ". Certificates prove an epsilon for %zu of %zu models.", proved, c->row_count);
    else
        page_html(p, ". Nothing here is proved.");
}

static void compare_page_names(struct page *p, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        page_html(p, i ? ", '" : "'");
        page_name(p, list[i]);
        page_html(p, "'");
    }
}

/* Which attacks the models are compared by, and which are not common to all. */
static void common_attacks(struct page *p, const struct sotto_compare_result *c)
{
    bool first = true;
    if (!c->attack_count)
        return;
    page_html(p, "<p>Leakage is measured by the attacks that all models have: ");
    compare_page_names(p, c->attacks, c->attack_count);
    page_html(p, ".");
    for (size_t i = 0; i < c->row_count; i++) {
        if (!c->rows[i].left_out_count)
            continue;
        page_html(p, first ? " Left out: " : "; ");
        first = false;
        compare_page_names(p, c->rows[i].left_out, c->rows[i].left_out_count);
        page_html(p, " of ");
        page_name(p, c->rows[i].name);
    }
    page_html(p, first ? "</p>\n" : ".</p>\n");
}

/* Of such a model no number means what it says. */
static void compare_page_swapped(struct page *p, const struct sotto_compare_result *c)
{
    for (size_t i = 0; i < c->row_count; i++) {
        if (!c->rows[i].swapped)
            continue;
        page_html(p, "<p class=\"unmet\">");
        page_name(p, c->rows[i].name);
        page_html(p, ": ");
        page_text(p, c->rows[i].swapped);
        page_html(p, "</p>\n");
    }
}

sotto_status sotto_compare_html(char **html, const struct sotto_compare_result *r)
{
    REQUIRE_GIVEN(html, r);
    struct page p = {0};
    page_html(&p,
              "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
              "content=\"width=device-width, initial-scale=1\"><meta http-equiv=\"Content-Security-Policy\" "
              "content=\"default-src 'none'; style-src 'unsafe-inline'\"><title>");
    page_text(&p, r->title);
    page_html(&p, "</title><style>");
    page_html(&p, report_report_css);
    page_html(&p, "</style></head><body><header><p class=\"kind\">sotto comparison</p>\n<p class=\"title\">");
    page_name(&p, r->title);
    page_html(&p, "</p>\n<h1 data-verdict>");
    compare_page_verdict(&p, r);
    page_html(&p, "</h1></header><main><section><h2>All models and metrics</h2>\n<p>");
    page_html(
        &p,
        count_proved(r)
            ? "The proved epsilon bounds every attack. All other metrics are measurements: an attack that "
              "finds nothing is no guarantee. "
            : "These are measurements, not proofs: an attack that finds nothing is no guarantee. ");
    page_html(
        &p,
        "A model wins if at least one measured metric is better than the baseline and none is worse.</p>\n");
    common_attacks(&p, r);
    compare_page_swapped(&p, r);
    compare_page_table(&p, r);
    compare_page_choices(&p, r);
    page_html(&p, "</section>\n<section><h2>Privacy against utility</h2>\n");
    for (int k = SOTTO_AXIS_LEAKAGE; k < SOTTO_AXES; k++)
        if (r->shared[k] && r->shared[SOTTO_AXIS_UTILITY])
            compare_page_drawing(&p, r, k);
    page_html(&p, "</section></main></body></html>\n");
    return page_done(html, &p, "compare");
}
