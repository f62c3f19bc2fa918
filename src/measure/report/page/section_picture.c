/* The picture of the first screen, drawn without a script: what the strongest attack found under what epsilon allows, and what each
 * proved epsilon cost. */
#include "report/page/page.h"

#include <math.h>
#include <stdio.h>

enum { WIDTH = 340, HEIGHT = 210, LEFT = 46, RIGHT = 22, TOP = 12, BOTTOM = 34 };
static const double least_rate = 1e-3;

/* An axis: from a value to another, by its logarithm if it says so, over so many units of the drawing. */
struct axis {
    double from, to, start, end;
    bool log;
};

static double place_on(const struct axis *a, double x)
{
    const double at = a->log ? log(x / a->from) / log(a->to / a->from) : (x - a->from) / (a->to - a->from);
    return a->start + fmin(1, fmax(0, at)) * (a->end - a->start);
}

static const struct axis rate_across = {1e-3, 1, LEFT, WIDTH - RIGHT, true},
                         rate_up = {1e-3, 1, HEIGHT - BOTTOM, TOP, true};

static void picture_begin(struct page *p, const char *words)
{
    page_format(p, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", WIDTH, HEIGHT);
    page_html(p, words);
    page_html(p, "\">\n");
}

static void picture_frame(struct page *p, const char *across, const char *up)
{
    page_format(p, "<path class=\"frame\" d=\"M%d %dV%dH%d\"/>", LEFT, TOP, HEIGHT - BOTTOM, WIDTH - RIGHT);
    page_format(p, "<text x=\"%d\" y=\"%d\" class=\"middle\">%s</text>", (LEFT + WIDTH - RIGHT) / 2,
                HEIGHT - 4, across);
    page_format(p, "<text transform=\"translate(11 %d) rotate(-90)\" class=\"middle\">%s</text>\n",
                (TOP + HEIGHT - BOTTOM) / 2, up);
}

static void picture_mark_across(struct page *p, const struct axis *a, double x, const char *label)
{
    page_format(p, "<text x=\"%.1f\" y=\"%d\" class=\"middle\">%s</text>", place_on(a, x),
                HEIGHT - BOTTOM + 13, label);
}

static void picture_mark_up(struct page *p, const struct axis *a, double y, const char *label)
{
    page_format(p, "<text x=\"%d\" y=\"%.1f\" class=\"end\">%s</text>", LEFT - 4, place_on(a, y) + 3.5,
                label);
}

/* ---- rates ---- */

/* Below the curve is what the guarantee allows. */
static void allowed_region(struct page *p, const struct guarantee *g)
{
    enum { POINTS = 48 };
    page_format(p, "<path class=\"allowed\" d=\"M%d %d", LEFT, HEIGHT - BOTTOM);
    for (int i = 0; i <= POINTS; i++) {
        const double rate = pow(least_rate, 1 - (double)i / POINTS);
        page_format(p, "L%.1f %.1f", place_on(&rate_across, rate),
                    place_on(&rate_up, allowed_tpr(g->upper, g->delta, rate)));
    }
    page_format(p, "V%dZ\"/>\n", HEIGHT - BOTTOM);
}

static void attack_curve(struct page *p, const struct json *roc)
{
    enum { POINTS = 120 };
    const size_t n = json_count(roc), step = n / POINTS + 1;
    page_html(p, "<path class=\"attack\" d=\"");
    const char *pen = "M";
    for (size_t i = 0; i < n; i++) {
        const double rate = json_number(json_at(json_at(roc, i), 0)),
                     found = json_number(json_at(json_at(roc, i), 1));
        if (!(rate >= least_rate && found >= least_rate) || (i % step != 0 && i + 1 != n))
            continue;
        page_format(p, "%s%.1f %.1f", pen, place_on(&rate_across, rate), place_on(&rate_up, found));
        pen = "L";
    }
    page_html(p, "\"/>\n");
}

static void rates_picture(struct page *p, const struct report_row *row)
{
    static const char *const labels[] = {"0.1&#8239;%", "1&#8239;%", "10&#8239;%", "100&#8239;%"};
    const struct attack_result *a = &row->attacks[row->strongest];
    page_html(p, "<div class=\"picture\">");
    picture_begin(p, "What the attack found of the members, by its share of false alarms");
    if (row->proof_counts)
        allowed_region(p, &row->proved);
    page_format(p, "<path class=\"guess\" d=\"M%d %dL%d %d\"/>", LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, TOP);
    attack_curve(p, a->roc);
    picture_frame(p, "false alarms", "members found");
    for (int i = 0; i < 4; i++) {
        picture_mark_across(p, &rate_across, pow(10, i - 3), labels[i]);
        picture_mark_up(p, &rate_up, pow(10, i - 3), labels[i]);
    }
    page_html(p, "</svg>\n<p>");
    page_name(p, row->title);
    page_html(p, ": the attack '");
    page_name(p, a->name);
    page_html(p, "' (line) and guessing (dashed).");
    if (row->proof_counts)
        page_html(p, " No attack can leave the coloured region: it is what the proved \xce\xb5 allows.");
    page_html(p, "</p></div>\n");
}

/* ---- cost ---- */

static bool has_point(const struct report_row *row)
{
    return row->proof_counts && row->accuracy.given && row->proved.upper > 0;
}

/* Of a model without noise, where a proved setting is made from it. */
static bool has_level(const struct report *r, const struct families *f, size_t i)
{
    bool any = false;
    for (size_t k = 0; k < r->row_count; k++)
        any = any || (f->head[k] == i && has_point(&r->rows[k]));
    return any && !r->rows[i].is_protected && r->rows[i].accuracy.given;
}

/* A step of 1, 2 or 5 by a power of ten, of which at most five fit. */
static double label_step(double length)
{
    double step = pow(10, floor(log10(length / 5)));
    for (int i = 0; length / step > 5; i++)
        step *= i % 3 == 1 ? 2.5 : 2;
    return step;
}

static void cost_axes(struct axis *across, struct axis *up, const struct report *r, const struct families *f)
{
    double least = INFINITY, most = 0, low = 1, high = 0;
    for (size_t i = 0; i < r->row_count; i++) {
        const struct report_row *row = &r->rows[i];
        if (has_point(row)) {
            least = fmin(least, row->proved.upper);
            most = fmax(most, row->proved.upper);
        }
        if (has_point(row) || has_level(r, f, i)) {
            low = fmin(low, row->accuracy.value);
            high = fmax(high, row->accuracy.value);
        }
    }
    *across = (struct axis){least / 2, most * 2, LEFT, WIDTH - RIGHT, true};
    const double room = fmax(.02, .2 * (high - low));
    *up = (struct axis){fmax(0, low - room), fmin(1, high + room), HEIGHT - BOTTOM, TOP, false};
}

static void cost_marks(struct page *p, const struct report *r, const struct axis *across,
                       const struct axis *up)
{
    const double step = label_step(up->to - up->from);
    char label[32];
    for (double y = step * ceil(up->from / step); y <= up->to; y += step) {
        snprintf(label, sizeof label, "%.3g", round(y / step) * step);
        picture_mark_up(p, up, y, label);
    }
    double last = 0;
    for (size_t i = 0; i < r->row_count; i++)
        if (has_point(&r->rows[i]) && fabs(log(r->rows[i].proved.upper / (last > 0 ? last : 1e-300))) > .3) {
            last = r->rows[i].proved.upper;
            snprintf(label, sizeof label, "%.3g", last);
            picture_mark_across(p, across, last, label);
        }
}

static void cost_picture(struct page *p, const struct report *r)
{
    struct axis across, up;
    struct families families, *f = &families;
    families_find(f, r);
    cost_axes(&across, &up, r, f);
    page_html(p, "<div class=\"picture\">");
    picture_begin(p, "Accuracy of each proved setting, by its epsilon");
    for (size_t i = 0; i < r->row_count; i++) {
        const struct report_row *row = &r->rows[i];
        const double at = place_on(&up, row->accuracy.value);
        if (has_level(r, f, i))
            page_format(p, "<path class=\"guess\" d=\"M%d %.1fH%d\"/>", LEFT, at, WIDTH - RIGHT);
        if (!has_point(row))
            continue;
        const double x = place_on(&across, row->proved.upper);
        if (!isnan(row->accuracy.lower))
            page_format(p, "<path class=\"spread\" d=\"M%.1f %.1fV%.1f\"/>", x,
                        place_on(&up, row->accuracy.lower), place_on(&up, row->accuracy.upper));
        page_format(p, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>", x, at);
    }
    picture_frame(p, "proved \xce\xb5 (smaller protects more)", "accuracy");
    cost_marks(p, r, &across, &up);
    page_html(p, "</svg>\n<p>Accuracy on held-out records of each proved setting (points, with their "
                 "intervals), and of the same model without noise (dashed).</p></div>\n");
}

void section_picture(struct page *p, const struct report *r, const struct report_row *shown)
{
    bool points = false;
    for (size_t i = 0; i < r->row_count; i++)
        points = points || has_point(&r->rows[i]);
    const bool rates = shown && shown->attack_count && json_count(shown->attacks[shown->strongest].roc) > 1;
    if (!rates && !points)
        return;
    page_html(p, "<div class=\"pictures\">\n");
    if (rates)
        rates_picture(p, shown);
    if (points)
        cost_picture(p, r);
    page_html(p, "</div>\n");
}
