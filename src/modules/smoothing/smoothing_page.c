/* A sotto.smooth/1 document as one page: the certified-accuracy curve as steps, drawn without script, its table, and the
 * statement that the document carries. */
#include "report/document/document_pages.h"
#include "report/page/page.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const char report_report_css[];

enum { WIDTH = 640, HEIGHT = 360, LEFT = 60, RIGHT = 20, TOP = 20, BOTTOM = 50 };

struct smooth {
    const struct json *doc;
    const struct json *points; /* certified_accuracy; NULL: no labels */
    double *own,
        *pixeldp; /* (count, own_count): radii of the rows that count, ascending; pixeldp may be NULL */
    size_t rows, count;
    double end; /* of the horizontal axis */
};

/* ---- reading ---- */

static int smoothing_page_ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static sotto_status read_row(struct smooth *s, const struct json *row, bool compared)
{
    sotto_status status = SOTTO_OK;
    bool abstained, counts;
    double radius;
    TRY(json_get_boolean(&abstained, row, document, "abstained"));
    TRY(json_get_real(&radius, row, document, "radius"));
    counts = !abstained;
    if (s->points)
        TRY(json_get_boolean(&counts, row, document, "right"));
    if (!(radius >= 0) || !isfinite(radius))
        FAIL(SOTTO_EFORMAT, "%s: 'rows.radius' is %g; expected a number >= 0", document, radius);
    if (!counts)
        goto done;
    s->own[s->count] = radius;
    if (compared)
        TRY(json_get_real(&s->pixeldp[s->count], row, document, "pixeldp_radius"));
    s->count++;
done:
    return status;
}

static sotto_status read_rows(struct smooth *s)
{
    sotto_status status = SOTTO_OK;
    const struct json *rows;
    TRY(json_get_array(&rows, s->doc, document, "rows"));
    s->rows = json_count(rows);
    if (s->rows == 0)
        FAIL(SOTTO_EFORMAT, "%s: 'rows' is empty; expected at least one row", document);
    bool compared = json_find(json_at(rows, 0), "pixeldp_radius") != NULL;
    NEW(s->own, s->rows);
    if (compared)
        NEW(s->pixeldp, s->rows);
    for (size_t i = 0; i < s->rows; i++)
        TRY(read_row(s, json_at(rows, i), compared));
    qsort(s->own, s->count, sizeof *s->own, smoothing_page_ascending);
    if (compared)
        qsort(s->pixeldp, s->count, sizeof *s->pixeldp, smoothing_page_ascending);
done:
    return status;
}

static sotto_status read_document(struct smooth *s, const struct json *doc)
{
    sotto_status status = SOTTO_OK;
    const char *method;
    *s = (struct smooth){.doc = doc};
    TRY(json_get_text(&method, doc, document, "method"));
    if (strcmp(method, "certify") != 0)
        FAIL(SOTTO_EFORMAT,
             "%s: 'method' is '%.40s', which has no radii; expected certify (predict {sigma|smooth=SIGMA} "
             "{certify})",
             document, method);
    s->points = part(doc, "certified_accuracy");
    TRY(json_get_real(&s->end, doc, document, "largest_radius"));
    TRY(read_rows(s));
    if (s->count && s->own[s->count - 1] > s->end)
        s->end = s->own[s->count - 1];
    if (!(s->end > 0) || !isfinite(s->end))
        FAIL(SOTTO_EFORMAT, "%s: 'largest_radius' is %g; expected a number above 0", document, s->end);
done:
    return status;
}

/* ---- the drawing ---- */

static double smoothing_page_across(const struct smooth *s, double radius)
{
    return LEFT + radius / s->end * (WIDTH - LEFT - RIGHT);
}

static double smoothing_page_up(double share)
{
    return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP);
}

static void smoothing_page_axes(struct page *p, const struct smooth *s)
{
    for (int i = 0; i <= 5; i++) {
        double radius = s->end * i / 5, share = i / 5.0;
        page_format(p, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.3g</text>",
                    smoothing_page_across(s, radius), HEIGHT - BOTTOM + 18, radius);
        page_format(p, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.1f</text>", LEFT - 6,
                    smoothing_page_up(share) + 4, share);
        page_format(p, "<path d=\"M%d %.1fH%d\" stroke=\"var(--grid)\"/>", LEFT, smoothing_page_up(share),
                    WIDTH - RIGHT);
    }
}

/* The share of rows with at least a radius falls by one row behind each of theirs. */
static void smoothing_page_steps(struct page *p, const struct smooth *s, const double *radii,
                                 const char *line)
{
    page_format(p, "<path class=\"steps\" d=\"M%d %.1f", LEFT,
                smoothing_page_up((double)s->count / (double)s->rows));
    for (size_t i = 0; i < s->count;) {
        size_t next = i;
        while (next < s->count && radii[next] == radii[i])
            next++;
        page_format(p, "H%.1fV%.1f", smoothing_page_across(s, radii[i]),
                    smoothing_page_up((double)(s->count - next) / (double)s->rows));
        i = next;
    }
    page_format(p, "H%d\" fill=\"none\" stroke-width=\"2\" ", WIDTH - RIGHT);
    page_html(p, line);
    page_html(p, "/>");
}

static void smoothing_page_intervals(struct page *p, const struct smooth *s)
{
    for (size_t i = 0; i < json_count(s->points); i++) {
        const struct json *point = json_at(s->points, i);
        double radius = part_number(point, "radius"), low = part_number(point, "accuracy.lower"),
               high = part_number(point, "accuracy.upper");
        if (radius >= 0 && radius <= s->end && low >= 0 && high <= 1)
            page_format(p, "<path d=\"M%.1f %.1fV%.1f\" stroke=\"var(--c0)\"/>",
                        smoothing_page_across(s, radius), smoothing_page_up(low), smoothing_page_up(high));
    }
}

static const char *norm_of(const struct smooth *s)
{
    const char *norm = part_text(s->doc, "norm");
    return norm && strcmp(norm, "l1") == 0 ? "L1" : "L2";
}

static void smoothing_page_drawing(struct page *p, const struct smooth *s)
{
    page_format(p,
                "<figure><svg viewBox=\"0 0 %d %d\" role=\"img\" width=\"%d\" "
                "style=\"max-width:100%%;font-size:12px;fill:currentColor\" aria-label=\"",
                WIDTH, HEIGHT, WIDTH);
    page_html(p, s->points ? "Certified accuracy" : "Certified share");
    page_html(p, " as a function of the radius\">");
    smoothing_page_axes(p, s);
    if (s->pixeldp)
        smoothing_page_steps(p, s, s->pixeldp, "stroke=\"var(--c1)\" stroke-dasharray=\"6 3\"");
    smoothing_page_steps(p, s, s->own, "stroke=\"var(--c0)\"");
    smoothing_page_intervals(p, s);
    page_format(p, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", (LEFT + WIDTH - RIGHT) / 2,
                HEIGHT - 10);
    page_html(p, norm_of(s));
    page_html(p, " radius</text></svg><figcaption>");
    page_plot(p);
    page_html(p, s->points ? "Share of rows with the right answer and at least this radius"
                           : "Share of rows with an answer and at least this radius (no labels were given)");
    page_html(p, s->points ? "; bars are 95 % intervals over rows." : ".");
    if (s->pixeldp)
        page_html(p, " Dashed: by the radii that differential privacy of the query gives (PixelDP).");
    page_html(p, "</figcaption></figure>\n");
}

/* ---- the texts ---- */

static void smoothing_page_fact(struct page *p, const struct smooth *s, const char *name, const char *member)
{
    page_html(p, "<span>");
    page_html(p, name);
    page_html(p, " ");
    page_significant(p, part_number(s->doc, member), 6);
    page_html(p, "</span>");
}

/* The first radius above 0 stands for the curve. */
static void smoothing_page_verdict(struct page *p, const struct smooth *s)
{
    size_t i = 0;
    while (i + 1 < json_count(s->points) && !(part_number(json_at(s->points, i), "radius") > 0))
        i++;
    const struct json *point = json_at(s->points, i);
    if (!point) {
        page_format(p, "%zu of %zu answers hold within a certified radius.", s->count, s->rows);
        return;
    }
    const struct estimate e = {true, part_number(point, "accuracy.estimate"),
                               part_number(point, "accuracy.lower"), part_number(point, "accuracy.upper"), 0};
    page_html(p, "Within radius ");
    page_significant(p, part_number(point, "radius"), 4);
    page_html(p, ", a share of ");
    page_estimate(p, &e);
    page_html(p, " of the answers is right and certified.");
}

static void smoothing_page_head(struct page *p, const struct smooth *s)
{
    page_html(p, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta "
                 "http-equiv=\"Content-Security-Policy\" "
                 "content=\"default-src 'none'; style-src 'unsafe-inline'\"><meta name=\"viewport\" "
                 "content=\"width=device-width\"><title>Randomised smoothing</title><style>");
    page_html(p, report_report_css);
    page_html(
        p, "</style></head><body><header><p class=\"title\">Randomised smoothing: certified radii</p>\n<h1 "
           "data-verdict>");
    smoothing_page_verdict(p, s);
    page_html(p, "</h1>\n<p class=\"facts\"><span>");
    page_text(p, part_text(s->doc, "noise"));
    page_html(p, " noise</span>");
    smoothing_page_fact(p, s, "scale", "scale");
    smoothing_page_fact(p, s, "rows", "records");
    smoothing_page_fact(p, s, "copies of each", "n");
    smoothing_page_fact(p, s, "alpha", "alpha");
    smoothing_page_fact(p, s, "share abstained", "abstained");
    page_html(p, "</p></header><main>\n");
}

static void smoothing_page_number(struct page *p, double x)
{
    page_html(p, "<tr><th scope=\"row\">");
    page_significant(p, x, 4);
    page_html(p, "</th>");
}

static void smoothing_page_estimate(struct page *p, const struct json *point, const char *lower,
                                    const char *middle, const char *upper)
{
    const struct estimate e = {true, part_number(point, middle), part_number(point, lower),
                               part_number(point, upper), 0};
    page_html(p, "<td class=\"number\">");
    page_estimate(p, &e);
    page_html(p, "</td>");
}

static void smoothing_page_table(struct page *p, const struct smooth *s)
{
    if (!s->points)
        return;
    page_table(p, "Certified accuracy",
               "Right answers with at least this radius, with 95 % intervals over rows.",
               s->pixeldp ? "Radius|^Certified accuracy|^PixelDP" : "Radius|^Certified accuracy");
    for (size_t i = 0; i < json_count(s->points); i++) {
        const struct json *point = json_at(s->points, i);
        smoothing_page_number(p, part_number(point, "radius"));
        smoothing_page_estimate(p, point, "accuracy.lower", "accuracy.estimate", "accuracy.upper");
        if (s->pixeldp)
            smoothing_page_estimate(p, point, "pixeldp.lower", "pixeldp.estimate", "pixeldp.upper");
        page_html(p, "</tr>\n");
    }
    page_table_end(p);
}

static sotto_status smoothing_page(char **html, const struct json *doc)
{
    sotto_status status = SOTTO_OK;
    struct page p = {0};
    struct smooth s;
    TRY(read_document(&s, doc));
    smoothing_page_head(&p, &s);
    page_html(&p, "<section id=\"curve\"><h2>Certified accuracy by radius</h2>\n");
    smoothing_page_drawing(&p, &s);
    smoothing_page_table(&p, &s);
    page_html(&p, "</section>\n<section><h2>What this promises</h2>\n<p>");
    page_text(&p, part_text(doc, "statement"));
    page_html(
        &p, "</p>\n<p>The accuracy of the test set is measured; a radius holds for its row, by the statement "
            "above.</p></section></main></body></html>\n");
    TRY(page_done(html, &p, document));
done:
    base_free(p.text);
    base_free(s.own);
    base_free(s.pixeldp);
    return status;
}

const struct document_page page_smoothing = {"sotto.smooth/1", smoothing_page};
