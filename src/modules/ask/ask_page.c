/* Answers as one page: a card, a picture and a table for each query. Everything is read from the document and the ledger, so it is free. */
#include "sotto/lab/ask.h"

#include "ask/ask_query.h"
#include "dp/certificate/certificate.h"
#include "io/text/number.h"
#include "report/certificate/budget_bar.h"
#include "report/certificate/certificate_facts.h"
#include "report/certificate/sheet.h"
#include "sotto/lab/ledger.h"

#include <math.h>
#include <string.h>

enum { LABEL = 190, WIDE = 400, ROW = 22, MOST_BARS = 60 };

/* The answers of a query: rows first to last of the document. */
struct card {
    const struct json *rows;
    size_t first, last;
};

static const struct json *row_of(const struct card *c, size_t i)
{
    return json_at(c->rows, c->first + i);
}

static size_t card_rows(const struct card *c)
{
    return c->last - c->first;
}

/* "A, 2026", or the statistic of a row without keys. */
static void put_label(struct page *p, const struct json *row)
{
    const struct json *keys = json_member(row, "keys");
    bool some = false;
    for (const char *k = json_first_key(keys); k; k = json_next_key(keys, k), some = true) {
        page_html(p, some ? ", " : "");
        page_text(p, json_text(json_member(keys, k))); /* a picture holds no element of HTML */
    }
    if (!some)
        page_text(p, text_of(row, "statistic"));
}

/* From 0, or from the smallest end. */
static void find_range(double range[2], const struct card *c)
{
    static const char *const ends[] = {"value", "low", "high"};
    range[0] = range[1] = 0;
    for (size_t i = 0; i < card_rows(c); i++)
        for (size_t k = 0; k < 3; k++) {
            range[0] = fmin(range[0], number_of(row_of(c, i), ends[k]));
            range[1] = fmax(range[1], number_of(row_of(c, i), ends[k]));
        }
    range[1] += range[1] == range[0];
}

static double place_of(double x, const double range[2])
{
    return LABEL + WIDE * (x - range[0]) / (range[1] - range[0]);
}

static void put_bar(struct page *p, const struct json *row, const double range[2], size_t at)
{
    const double value = number_of(row, "value"), low = number_of(row, "low"), high = number_of(row, "high"),
                 y = (double)at * ROW + ROW / 2.0, zero = place_of(0, range), end = place_of(value, range);
    page_format(p, "<text x=\"%d\" y=\"%.0f\" text-anchor=\"end\">", LABEL - 8, y + 4);
    put_label(p, row);
    page_html(p, "</text>\n");
    if (!isnan(value))
        page_format(p, "<rect class=\"value\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"12\"/>\n",
                    fmin(zero, end), y - 6, fabs(end - zero));
    if (!isnan(low) && !isnan(high))
        page_format(p, "<path class=\"whisker\" d=\"M%.1f %.1fv8m0 -4H%.1fm0 -4v8\"/>\n",
                    place_of(low, range), y - 4, place_of(high, range));
}

static void put_picture(struct page *p, const struct card *c)
{
    const size_t bars = card_rows(c) < MOST_BARS ? card_rows(c) : MOST_BARS;
    double range[2];
    find_range(range, c);
    page_format(p,
                "<figure><svg viewBox=\"0 0 %d %zu\" role=\"img\" aria-label=\"answers with intervals\">\n",
                LABEL + WIDE + 10, bars * ROW);
    page_format(p, "<path class=\"axis\" d=\"M%.1f 0V%zu\"/>\n", place_of(0, range), bars * ROW);
    for (size_t i = 0; i < bars; i++)
        put_bar(p, row_of(c, i), range, i);
    page_html(p, "</svg>\n");
    if (bars < card_rows(c))
        page_format(p, "<figcaption>The first %zu of %zu.</figcaption>\n", bars, card_rows(c));
    page_html(p, "</figure>\n");
}

static void put_table(struct page *p, const struct card *c)
{
    static const char *const numbers[] = {"value", "low", "high", "deviation"};
    const struct json *keys = json_member(row_of(c, 0), "keys");
    page_html(p, "<table class=\"releases\"><thead><tr>");
    for (const char *k = json_first_key(keys); k; k = json_next_key(keys, k)) {
        page_html(p, "<th>");
        page_name(p, k);
        page_html(p, "</th>");
    }
    page_html(p, "<th>Statistic</th><th>Value</th><th>Low</th><th>High</th><th>Deviation</th></tr></"
                 "thead>\n<tbody>\n");
    for (size_t i = 0; i < card_rows(c); i++) {
        const struct json *row = row_of(c, i), *own = json_member(row, "keys");
        page_html(p, "<tr>");
        for (const char *k = json_first_key(own); k; k = json_next_key(own, k)) {
            page_html(p, "<td>");
            page_name(p, json_text(json_member(own, k)));
            page_html(p, "</td>");
        }
        page_html(p, "<td>");
        page_text(p, text_of(row, "statistic"));
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
            const double x = number_of(row, numbers[k]);
            page_html(p, "</td><td>");
            if (isnan(x))
                page_html(p, k == 0 ? "too few rows to say" : "");
            else
                page_format(p, "%.6g", x);
        }
        page_html(p, "</td></tr>\n");
    }
    page_html(p, "</tbody></table>\n");
}

static void put_card(struct page *p, const struct card *c)
{
    const struct json *row = row_of(c, 0);
    page_html(p, "<section class=\"sheet annex\">\n<h2>");
    page_name(p, text_of(row, "query"));
    page_html(p, "</h2>\n");
    if (json_says_true(json_member(row, "public")))
        page_html(p, "<p class=\"note\">Public, free of charge.</p>\n");
    put_picture(p, c);
    put_table(p, c);
    page_html(p, "</section>\n");
}

/* What the ledger had before this call, and has now. */
static sotto_status put_ledger(struct page *p, const struct sotto_certificate *certificate,
                               const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct json *ledger = NULL;
    char *shown = NULL, before[NUMBER_TEXT], after[NUMBER_TEXT];
    size_t charges = 0;
    double total[2] = {0, 0};
    if (!certificate->ledger)
        return SOTTO_OK;
    TRY(sotto_ledger_show(&shown, certificate->ledger, ctx));
    TRY(json_parse(&ledger, shown, strlen(shown), certificate->ledger));
    const struct json *entries = json_find(ledger, "entries");
    for (size_t i = 0; i < json_count(entries) && charges <= certificate->entry; i++)
        if (json_member(json_at(entries, i), "total")) {
            total[0] = total[1];
            total[1] = number_of(json_at(entries, i), "total");
            charges++;
        }
    page_html(p, "<h2>Budget</h2>\n");
    page_format(p, "<p>Spent before this call: epsilon %s. With it: epsilon %s.</p>\n",
                number_text_up(before, total[0], 4), number_text_up(after, total[1], 4));
    budget_bar_put(p, ledger, "all releases of the ledger",
                   "the ledger says what holds for any order of choices");
done:
    sotto_text_free(shown);
    json_free(ledger);
    return status;
}

static sotto_status put_front(struct page *p, const struct json *document,
                              const struct sotto_certificate *certificate, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    char *summary = NULL;
    TRY(sotto_certificate_summary(&summary, certificate));
    sheet_head(p, "Private statistics");
    page_html(
        p, "<style>svg .value { fill: var(--mark); opacity: .55 } svg .whisker { stroke: var(--ink); "
           "stroke-width: 1.5; "
           "fill: none }</style>\n<section class=\"sheet\">\n<p class=\"kind\">Private statistics</p>\n<h1 "
           "class=\"what\">Answers with noise</h1>\n<p>");
    page_text(p, summary);
    page_html(p, ".</p>\n");
    page_pair(p, "<p><strong>", text_of(document, "warning"), "</strong></p>\n");
    const bool sampling = strcmp(text_of(document, "intervals"), "noise and sampling") == 0;
    page_html(p, json_says_true(json_member(document, "simultaneous"))
                     ? "<p>All intervals hold at once with 95 % probability, "
                     : "<p>Intervals hold 95 % ");
    page_html(
        p, sampling
               ? "of the noise and of sampling, approximately: rows, or persons, are taken as a random sample"
               : "of the noise alone");
    page_html(
        p, ". They do not include moving numbers into their bounds, rows beyond the cap of a person, missing "
           "values, values that the schema does not list");
    page_html(p, sampling ? ".</p>\n" : ", and sampling.</p>\n");
    TRY(put_ledger(p, certificate, ctx));
    page_html(p, "</section>\n");
done:
    sotto_text_free(summary);
    return status;
}

sotto_status sotto_ask_page(char **page, const char *answers, const struct sotto_certificate *certificate,
                            const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(page, answers, certificate);
    sotto_status status = SOTTO_OK;
    struct page p = {0};
    struct json *document = NULL;
    const char *schema, *query;
    TRY(json_parse(&document, answers, strlen(answers), "answers"));
    TRY(json_get_text(&schema, document, "answers", "schema"));
    struct card c = {0};
    TRY(json_get_array(&c.rows, document, "answers", "answers"));
    TRY(put_front(&p, document, certificate, ctx));
    for (; c.first < json_count(c.rows); c.first = c.last) {
        query = text_of(json_at(c.rows, c.first), "query");
        for (c.last = c.first + 1; c.last < json_count(c.rows); c.last++)
            if (strcmp(text_of(json_at(c.rows, c.last), "query"), query) != 0)
                break;
        put_card(&p, &c);
    }
    page_html(&p, "</main>\n</body>\n</html>\n");
    TRY(page_done(page, &p, "answers"));
done:
    base_free(p.text);
    json_free(document);
    return status;
}
