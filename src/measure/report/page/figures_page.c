/* A sotto.figures/1 document as one page: each figure's lines with their intervals, drawn without script, and the numbers in a table.
 * Experiments write such documents. */
#include "report/document/document_pages.h"
#include "report/page/page.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

extern const char report_report_css[];

enum {
    WIDTH = 640,
    HEIGHT = 360,
    LEFT = 60,
    RIGHT = 20,
    TOP = 20,
    BOTTOM = 50,
    MARKED = 40 /* points with marks and table rows */
};

static const char *const dashes[] = {"", "7 4", "2 3", "10 3 2 3"};

struct range {
    double low, high, step;
};
struct figure {
    const struct json *doc, *lines;
    struct range x, y;
};
struct point {
    double x, y, lower, upper; /* lower, upper: NAN where there is no interval */
};

/* ---- reading ---- */

/* A point as it stands in a document that was checked. */
static struct point point_at(const struct json *points, size_t i)
{
    const struct json *p = json_at(points, i);
    const bool interval = json_count(p) == 4;
    return (struct point){json_number(json_at(p, 0)), json_number(json_at(p, 1)),
                          interval ? json_number(json_at(p, 2)) : NAN,
                          interval ? json_number(json_at(p, 3)) : NAN};
}

static void figures_page_widen(struct range *r, double x)
{
    r->low = fmin(r->low, x);
    r->high = fmax(r->high, x);
}

static sotto_status read_point(struct figure *f, const struct json *p)
{
    sotto_status status = SOTTO_OK;
    const size_t count = json_count(p);
    bool good = count == 2 || count == 4;
    for (size_t i = 0; good && i < count; i++)
        good = isfinite(json_number(json_at(p, i)));
    if (!good)
        FAIL(SOTTO_EFORMAT,
             "%s: a point of a line is not two or four finite numbers; expected [x, y] or [x, y, lower, "
             "upper]",
             document);
    figures_page_widen(&f->x, json_number(json_at(p, 0)));
    for (size_t i = 1; i < count; i++)
        figures_page_widen(&f->y, json_number(json_at(p, i)));
done:
    return status;
}

/* Ends and distance of the ticks: 1, 2 or 5 times a power of ten, five to ten of them. */
static void round_range(struct range *r)
{
    if (!(r->high > r->low))
        r->low -= .5, r->high += .5;
    const double raw = (r->high - r->low) / 5, power = pow(10, floor(log10(raw))), f = raw / power;
    r->step = power * (f <= 1 ? 1 : f <= 2 ? 2 : f <= 5 ? 5 : 10);
    r->low = r->step * floor(r->low / r->step + 1e-9);
    r->high = r->step * ceil(r->high / r->step - 1e-9);
}

static sotto_status read_figure(struct figure *f, const struct json *doc)
{
    sotto_status status = SOTTO_OK;
    static const char *const texts[] = {"title", "x", "y"};
    const char *text;
    const struct json *points;
    *f = (struct figure){.doc = doc, .x = {INFINITY, -INFINITY, 0}, .y = {INFINITY, -INFINITY, 0}};
    for (size_t i = 0; i < 3; i++)
        TRY(json_get_text(&text, doc, document, texts[i]));
    TRY(json_get_array(&f->lines, doc, document, "lines"));
    for (size_t i = 0; i < json_count(f->lines); i++) {
        TRY(json_get_text(&text, json_at(f->lines, i), document, "name"));
        TRY(json_get_array(&points, json_at(f->lines, i), document, "points"));
        for (size_t k = 0; k < json_count(points); k++)
            TRY(read_point(f, json_at(points, k)));
    }
    if (!(f->x.low <= f->x.high))
        FAIL(SOTTO_EFORMAT, "%s: figure '%.60s' has no points; expected at least one", document,
             part_text(doc, "title"));
    round_range(&f->x);
    round_range(&f->y);
done:
    return status;
}

/* ---- the drawing ---- */

static double figures_page_across(const struct figure *f, double x)
{
    return LEFT + (x - f->x.low) / (f->x.high - f->x.low) * (WIDTH - LEFT - RIGHT);
}

static double figures_page_up(const struct figure *f, double y)
{
    return HEIGHT - BOTTOM - (y - f->y.low) / (f->y.high - f->y.low) * (HEIGHT - BOTTOM - TOP);
}

static void figures_page_axes(struct page *p, const struct figure *f)
{
    for (double x = f->x.low; x < f->x.high + f->x.step / 2; x += f->x.step)
        page_format(p, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.4g</text>",
                    figures_page_across(f, x), HEIGHT - BOTTOM + 18, fabs(x) < f->x.step / 2 ? 0 : x);
    for (double y = f->y.low; y < f->y.high + f->y.step / 2; y += f->y.step) {
        page_format(p, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.4g</text>", LEFT - 6,
                    figures_page_up(f, y) + 4, fabs(y) < f->y.step / 2 ? 0 : y);
        page_format(p, "<path d=\"M%d %.1fH%d\" stroke=\"var(--grid)\"/>", LEFT, figures_page_up(f, y),
                    WIDTH - RIGHT);
    }
    page_format(p, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", (LEFT + WIDTH - RIGHT) / 2,
                HEIGHT - 10);
    page_text(p, part_text(f->doc, "x"));
    page_format(p, "</text><text transform=\"translate(14 %d) rotate(-90)\" text-anchor=\"middle\">",
                (HEIGHT - BOTTOM + TOP) / 2);
    page_text(p, part_text(f->doc, "y"));
    page_html(p, "</text>");
}

static void figures_page_stroke(struct page *p, size_t line)
{
    page_format(p, "stroke=\"var(--c%zu)\" stroke-dasharray=\"%s\"", line % 6,
                dashes[line % (sizeof dashes / sizeof *dashes)]);
}

static void figures_page_line(struct page *p, const struct figure *f, size_t which)
{
    const struct json *points = part(json_at(f->lines, which), "points");
    const size_t n = json_count(points);
    page_html(p, "<path class=\"line\" d=\"");
    for (size_t i = 0; i < n; i++) {
        const struct point at = point_at(points, i);
        page_format(p, "%s%.1f %.1f", i ? "L" : "M", figures_page_across(f, at.x), figures_page_up(f, at.y));
    }
    page_html(p, "\" fill=\"none\" stroke-width=\"2\" ");
    figures_page_stroke(p, which);
    page_html(p, "/>");
    for (size_t i = 0; n <= MARKED && i < n; i++) {
        const struct point at = point_at(points, i);
        page_format(p, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"var(--c%zu)\"/>",
                    figures_page_across(f, at.x), figures_page_up(f, at.y), which % 6);
        if (!isnan(at.lower))
            page_format(p, "<path d=\"M%.1f %.1fV%.1f\" stroke=\"var(--c%zu)\"/>",
                        figures_page_across(f, at.x), figures_page_up(f, at.lower),
                        figures_page_up(f, at.upper), which % 6);
    }
}

static void figures_page_legend(struct page *p, const struct figure *f)
{
    for (size_t i = 0; i < json_count(f->lines); i++) {
        page_html(
            p,
            " <span style=\"white-space:nowrap\"><svg width=\"34\" height=\"8\" aria-hidden=\"true\"><path "
            "d=\"M2 4H32\" stroke-width=\"2\" ");
        figures_page_stroke(p, i);
        page_html(p, "/></svg> ");
        page_name(p, part_text(json_at(f->lines, i), "name"));
        page_html(p, "</span>");
    }
}

static void figures_page_drawing(struct page *p, const struct figure *f)
{
    page_format(p,
                "<figure><svg viewBox=\"0 0 %d %d\" role=\"img\" width=\"%d\" "
                "style=\"max-width:100%%;font-size:12px;fill:currentColor\" aria-label=\"",
                WIDTH, HEIGHT, WIDTH);
    page_text(p, part_text(f->doc, "title"));
    page_html(p, "\">");
    figures_page_axes(p, f);
    for (size_t i = 0; i < json_count(f->lines); i++)
        figures_page_line(p, f, i);
    page_html(p, "</svg><figcaption>");
    page_plot(p);
    figures_page_legend(p, f);
    page_html(p, "</figcaption></figure>\n");
}

/* ---- the numbers ---- */

static void figures_page_row(struct page *p, const char *name, const struct point *at)
{
    const struct estimate e = {true, at->y, at->lower, at->upper, 0};
    page_html(p, "<tr><th scope=\"row\">");
    page_name(p, name);
    page_html(p, "</th><td class=\"number\">");
    page_significant(p, at->x, 4);
    page_html(p, "</td><td class=\"number\">");
    page_estimate(p, &e);
    page_html(p, "</td></tr>\n");
}

/* Curves of many points have what can be said of them in their names. */
static void figures_page_table(struct page *p, const struct figure *f)
{
    bool any = false;
    for (size_t i = 0; i < json_count(f->lines); i++)
        any = any || json_count(part(json_at(f->lines, i), "points")) <= MARKED;
    if (!any)
        return;
    page_html(p, "<details><summary>Numbers</summary>\n");
    page_table(p, "Numbers", "The points of the figure above, with their intervals.", "Line|^x|^y");
    for (size_t i = 0; i < json_count(f->lines); i++) {
        const struct json *points = part(json_at(f->lines, i), "points");
        for (size_t k = 0; json_count(points) <= MARKED && k < json_count(points); k++) {
            const struct point at = point_at(points, k);
            figures_page_row(p, part_text(json_at(f->lines, i), "name"), &at);
        }
    }
    page_table_end(p);
    page_html(p, "</details>\n");
}

static sotto_status section_figure(struct page *p, const struct json *doc)
{
    sotto_status status = SOTTO_OK;
    struct figure f;
    TRY(read_figure(&f, doc));
    page_html(p, "<section><h2>");
    page_text(p, part_text(doc, "title"));
    page_html(p, "</h2>\n");
    figures_page_drawing(p, &f);
    figures_page_table(p, &f);
    page_html(p, "</section>\n");
done:
    return status;
}

static void figures_page_head(struct page *p, const struct json *doc)
{
    page_html(p, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta "
                 "http-equiv=\"Content-Security-Policy\" "
                 "content=\"default-src 'none'; style-src 'unsafe-inline'\"><meta name=\"viewport\" "
                 "content=\"width=device-width\"><title>");
    page_text(p, part_text(doc, "title"));
    page_html(p, "</title><style>");
    page_html(p, report_report_css);
    page_html(p, "</style></head><body><header><h1>");
    page_text(p, part_text(doc, "title"));
    page_html(p, "</h1>\n<p>");
    page_text(p, part_text(doc, "statement"));
    page_html(p, "</p></header><main>\n");
}

static sotto_status figures_page(char **html, const struct json *doc)
{
    sotto_status status = SOTTO_OK;
    struct page p = {0};
    const struct json *figures;
    const char *text;
    TRY(json_get_text(&text, doc, document, "title"));
    TRY(json_get_text(&text, doc, document, "statement"));
    TRY(json_get_array(&figures, doc, document, "figures"));
    if (json_count(figures) == 0)
        FAIL(SOTTO_EFORMAT, "%s: 'figures' is empty; expected at least one figure", document);
    figures_page_head(&p, doc);
    for (size_t i = 0; i < json_count(figures); i++)
        TRY(section_figure(&p, json_at(figures, i)));
    page_html(&p, "</main></body></html>\n");
    TRY(page_done(html, &p, document));
done:
    base_free(p.text);
    return status;
}

const struct document_page page_figures = {"sotto.figures/1", figures_page};
