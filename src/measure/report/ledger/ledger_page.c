/* A ledger for the person who answers for the data: what is spent, by which releases, and who may be told what of it (docs/PRIVACY.md,
 * section 1). Every number is that of sotto_ledger_show(). */
#include "io/text/number.h"
#include "report/certificate/budget_bar.h"
#include "report/certificate/certificate_facts.h"
#include "report/certificate/sheet.h"
#include "sotto/lab/ledger.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of a ledger as shown. */
struct history {
    const struct json *ledger, *entries;
    size_t charges, released;  /* released: files */
    double first, last;        /* days, of the charges */
    double total, budget, top; /* NAN: none; top: the largest number of the picture */
};

/* ---- in time ---- */

/* Days since some day long ago of "2026-11-30T08:11:14Z"; NAN: no such time. The calendar's years begin in March, behind a leap day. */
static double days_of(const char *time)
{
    int year, month, day, hour, minute, second;
    if (sscanf(time, "%4d-%2d-%2dT%2d:%2d:%2d", &year, &month, &day, &hour, &minute, &second) != 6)
        return NAN;
    year -= month < 3;
    month += month < 3 ? 9 : -3;
    return 365. * year + floor(year / 4.) - floor(year / 100.) + floor(year / 400.) +
           floor((153 * month + 2) / 5.) + day + (hour * 3600. + minute * 60. + second) / 86400;
}

enum { TIME_TEXT = 20, DAY = 10 };

/* "2026-11-30 08:11", or the day alone: so many letters. "": no such time. */
static const char *time_text(char out[TIME_TEXT], const struct json *entry, int letters)
{
    const char *time = text_of(entry, "time");
    snprintf(out, TIME_TEXT, "%.*s", isnan(days_of(time)) ? 0 : letters, time);
    if (strlen(out) > DAY)
        out[DAY] = ' ';
    return out;
}

static bool is_event(const struct json *entry, const char *name)
{
    return strcmp(text_of(entry, "event"), name) == 0;
}

static bool is_charge(const struct json *entry)
{
    return json_member(entry, "total") != NULL;
}

static struct history history_of(const struct json *ledger)
{
    struct history h = {.ledger = ledger,
                        .entries = json_find(ledger, "entries"),
                        .first = NAN,
                        .last = NAN,
                        .total = number_of(ledger, "total"),
                        .budget = number_of(ledger, "budget.epsilon")};
    h.top = h.budget > 0 ? h.budget : 0;
    for (size_t i = 0; i < json_count(h.entries); i++) {
        const struct json *e = json_at(h.entries, i);
        const double day = days_of(text_of(e, "time"));
        h.released += is_event(e, "released");
        if (!is_charge(e))
            continue;
        h.charges++;
        h.first = fmin(h.first, day);
        h.last = fmax(h.last, day);
        h.top = fmax(h.top, number_of(e, "total"));
    }
    return h;
}

enum { LEFT = 34, TOP = 16, WIDE = 256, HIGH = 110 };

static double time_across(const struct history *h, const char *time)
{
    const double day = days_of(time);
    return LEFT +
           (h->last > h->first && day >= h->first ? WIDE * (day - h->first) / (h->last - h->first) : 0);
}

/* The day of the first charge or of the last one, at the picture's edge. */
static void put_day(struct page *p, const struct history *h, bool last)
{
    char day[TIME_TEXT] = "";
    for (size_t i = 0; i < json_count(h->entries); i++) {
        const struct json *e = json_at(h->entries, i);
        if (is_charge(e) && days_of(text_of(e, "time")) == (last ? h->last : h->first))
            time_text(day, e, DAY);
    }
    page_format(p, "<text x=\"%d\" y=\"%d\"%s>", last ? LEFT + WIDE : LEFT, TOP + HIGH + 16,
                last ? " text-anchor=\"end\"" : "");
    page_text(p, day);
    page_html(p, "</text>");
}

/* Steps up to where no finite epsilon holds. */
static void put_steps(struct page *p, const struct history *h)
{
    page_format(p, "<path class=\"curve\" d=\"M%d %d", LEFT, TOP + HIGH);
    for (size_t i = 0; i < json_count(h->entries); i++) {
        const struct json *e = json_at(h->entries, i);
        const double total = number_of(e, "total");
        if (is_charge(e) && !isfinite(total))
            break;
        if (is_charge(e))
            page_format(p, "H%.1fV%.1f", time_across(h, text_of(e, "time")),
                        TOP + HIGH * (1 - total / h->top));
    }
    page_html(p, "\"/>");
}

static void put_picture(struct page *p, const struct history *h)
{
    page_format(p,
                "<figure><svg viewBox=\"0 0 300 148\" role=\"img\" aria-label=\"Epsilon that was spent, over "
                "time\"><path class=\"axis\" d=\"M%d %dV%dH%d\"/>",
                LEFT, TOP, TOP + HIGH, LEFT + WIDE);
    if (h->charges > 0 && h->top > 0) {
        if (h->budget > 0)
            page_format(p, "<path class=\"guess\" d=\"M%d %.1fH%d\"/>", LEFT,
                        TOP + HIGH * (1 - h->budget / h->top), LEFT + WIDE);
        put_steps(p, h);
        page_format(p, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%.3g</text>", LEFT - 5, TOP + 8, h->top);
        put_day(p, h, false);
        if (h->last > h->first)
            put_day(p, h, true);
    }
    page_format(p, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">0</text></svg>\n<figcaption>", LEFT - 5,
                TOP + HIGH);
    page_plot(p);
    page_html(p, h->charges == 0 ? "Nothing was released yet."
                 : h->budget > 0 ? "Epsilon that was spent, over time. Dashed: the budget."
                                 : "Epsilon that was spent, over time.");
    if (h->charges > 0 && !isfinite(h->total))
        page_html(p, " The line ends where no finite epsilon holds.");
    page_html(p, "</figcaption></figure>\n");
}

/* ---- in words ---- */

static void put_title(struct page *p, const struct history *h)
{
    const size_t lines = json_count(h->entries);
    const double records = number_of(h->ledger, "records");
    char day[TIME_TEXT] = "";
    if (lines > 0)
        time_text(day, json_at(h->entries, lines - 1), DAY);
    page_html(p, "<p class=\"kind\"><span>Privacy ledger. Internal: do not pass it on</span><span>");
    page_pair(p, "up to ", day, "");
    page_html(p, "</span></p>\n<p class=\"what\">");
    page_name(p, text_of(h->ledger, "dataset_id")[0] ? text_of(h->ledger, "dataset_id")
                                                     : text_of(h->ledger, "ledger"));
    page_html(p, "</p>\n<p class=\"of\">Every private release from these records is charged here");
    if (records > 0)
        page_format(p, "; hashes of records: %.0f", records);
    page_pair(p, "; unit of privacy: ", text_of(h->ledger, "unit_of_privacy"), "");
    page_pair(p, ". Who answers for it: ", officer_said(h->ledger, "contact"), "");
    page_pair(p, ". It moved to ", text_of(h->ledger, "moved_to"), ", where it goes on");
    page_html(p, ".</p>\n");
}

static void put_verdict(struct page *p, const struct history *h)
{
    char spent[NUMBER_TEXT];
    const double seeded = number_of(h->ledger, "seeded_releases"),
                 unchecked = number_of(h->ledger, "not_checked");
    const bool finite = isfinite(h->total);
    page_format(p, "<div class=\"verdict %s\"><h1 data-verdict>",
                !finite         ? "none"
                : h->budget > 0 ? ""
                                : "doubt");
    if (!finite)
        page_html(p, "No guarantee holds for all releases together.");
    else if (h->charges == 0)
        page_html(p, "Nothing was released yet.");
    else
        page_format(p, "Spent: epsilon %s at delta %.4g, by %zu charge%s.",
                    number_text_up(spent, h->total, 4), number_of(h->ledger, "delta"), h->charges,
                    h->charges == 1 ? "" : "s");
    page_html(p, "</h1>\n<p>");
    if (h->budget > 0)
        page_format(p, "The budget is epsilon %.6g at delta %.4g, set by %s. ", h->budget,
                    number_of(h->ledger, "budget.delta"),
                    strcmp(text_of(h->ledger, "budget.set_by"), "officer") == 0 ? "the officer"
                                                                                : "a release");
    else
        page_html(p, "No budget is set. ");
    if (seeded > 0)
        page_format(p, "Releases with seeded noise, which gives no guarantee: %.0f. ", seeded);
    if (unchecked > 0)
        page_format(p, "Charges whose epsilon is as recorded, and not checked again: %.0f.", unchecked);
    page_html(p, "</p></div>\n");
}

static void put_any_order(struct page *p, const struct history *h)
{
    const double epsilon = number_of(h->ledger, "any_order.epsilon"),
                 from = number_of(h->ledger, "any_order.from_charge");
    if (h->budget > 0 && epsilon <= h->budget && !(from > 0))
        return; /* said beside the bar */
    page_html(p, "<p class=\"note\">For any order of choices: ");
    if (json_kind(json_find(h->ledger, "any_order")) != JSON_KIND_OBJECT)
        page_html(p, "not known, as the ledger has no columns yet");
    else if (isfinite(epsilon))
        page_format(p, "epsilon %.6g at delta %.4g", epsilon, number_of(h->ledger, "any_order.delta"));
    else
        page_html(p, "no finite epsilon holds");
    if (from > 0)
        page_format(p, ", from charge %.0f on; those before count as chosen beforehand", from);
    page_html(p, ".</p>\n");
}

static void put_budget(struct page *p, const struct history *h)
{
    page_html(p, "<div class=\"two\">\n<div><h2>Privacy budget of these records</h2>\n");
    budget_bar_put(p, h->ledger, "all releases of the ledger",
                   "what holds for any order of choices is below");
    put_any_order(p, h);
    page_html(p, "</div>\n");
    put_picture(p, h);
    page_html(p, "</div>\n");
}

/* ---- who may be told what ---- */

/* Of section 1 of docs/PRIVACY.md, and no more. */
static void put_readers(struct page *p, const struct history *h)
{
    page_html(p, "<h2>Who may be told what</h2>\n<div class=\"three\">\n<section><h2>Everybody</h2><ul>\n");
    page_format(p,
                "<li>Protected files and their certificates may be published. Released files in this ledger: "
                "%zu.</li>\n",
                h->released);
    page_html(
        p, "<li>A certificate says the number of its charge and the hash of its line. Without the ledger "
           "that hash is "
           "a random number.</li>\n</ul></section>\n"
           "<section><h2>Nobody outside</h2><ul>\n<li>The ledger, and this page, which is made from it. It "
           "names times, purposes and counts.</li>\n"
           "<li>How many lines the ledger has, and its size: they follow the history of records.</li>\n"
           "<li>The unprotected model, <code>sensitivity.json</code>, and a run folder's splits and metrics: "
           "they are functions of the records without noise.</li>\n</ul></section>\n"
           "<section><h2>The owner alone</h2><ul>\n<li>Whether two sets share records: text and exit code of "
           "<code>sotto ledger overlap</code>.</li>\n"
           "<li>How many records count as nothing: <code>sotto data check</code>.</li>\n"
           "<li>What an error says of a damaged ledger: it names the line.</li>\n</ul></section>\n</div>\n");
}

/* ---- the releases ---- */

static void put_cell(struct page *p, const char *label, const char *text)
{
    page_format(p, "<td data-label=\"%s\">", label);
    page_name(p, text);
    page_html(p, "</td>");
}

static const char *epsilon_text(char out[NUMBER_TEXT], double epsilon)
{
    return isfinite(epsilon) ? number_text_up(out, epsilon, 4) : "none";
}

static size_t files_of(const struct history *h, size_t charge_at)
{
    const double charge = number_of(json_at(h->entries, charge_at), "charge");
    size_t files = 0;
    for (size_t i = charge_at + 1; i < json_count(h->entries); i++) {
        const struct json *e = json_at(h->entries, i);
        files += is_event(e, "released") && number_of(e, "charge") == charge;
    }
    return files;
}

static void put_what(struct page *p, const struct history *h, size_t at)
{
    const struct json *e = json_at(h->entries, at);
    const char *adjacency = text_of(e, "adjacency"), *mechanism = text_of(e, "mechanism");
    const size_t files = is_charge(e) ? files_of(h, at) : 0;
    page_html(p, "<td data-label=\"What\">");
    if (is_event(e, "budget"))
        page_html(p, "budget");
    else if (is_event(e, "settled"))
        page_format(p, "settled: the run took %.0f steps", number_of(e, "steps"));
    else if (is_event(e, "plan"))
        page_format(p, "plan of %.0f releases", number_of(e, "slots"));
    else
        page_pair(p, json_find(e, "noise") ? "SEEDED " : "", mechanism[0] ? mechanism : text_of(e, "event"),
                  is_event(e, "planned") ? ", counted with its plan" : "");
    if (strcmp(adjacency, "replace-one") != 0)
        page_pair(p, ", ", adjacency, "");
    if (files > 0)
        page_format(p, "; files: %zu", files);
    page_html(p, "</td>");
}

enum { BOX_TEXT = 128 };

static const char *ledger_page_up(char out[NUMBER_TEXT], double x)
{
    return number_text_up(out, x, 4);
}

/* Of four digits; what is above them is not there. */
static const char *ledger_page_down(char out[NUMBER_TEXT], double x)
{
    const double step = pow(10, floor(log10(x)) - 3);
    snprintf(out, NUMBER_TEXT, "%.4g", step * floor(x / step * (1 + 1e-12)));
    return out;
}

/* "pure 0.25, failure 1e-07": without what is 0. */
static const char *box_text(char out[BOX_TEXT], const struct json *box,
                            const char *(*rounded)(char out[NUMBER_TEXT], double x))
{
    static const char *const names[] = {"pure", "mu", "failure"};
    char number[NUMBER_TEXT];
    out[0] = '\0';
    for (int k = 0; k < 3; k++)
        if (number_of(box, names[k]) > 0)
            snprintf(out + strlen(out), BOX_TEXT - strlen(out), "%s%s %s", out[0] ? ", " : "", names[k],
                     rounded(number, number_of(box, names[k])));
    return out;
}

/* The boxes that columns took of a charge, each once. */
static const char *taken_of(char out[512], const struct json *takes)
{
    out[0] = '\0';
    for (size_t j = 0; j < json_count(takes) && strlen(out) < 400; j++) {
        char one[BOX_TEXT];
        box_text(one, json_at(takes, j), ledger_page_up);
        if (one[0] && !strstr(out, one))
            snprintf(out + strlen(out), 512 - strlen(out), "%s%s", out[0] ? " or " : "", one);
    }
    return out;
}

static void put_row(struct page *p, const struct history *h, size_t at)
{
    const struct json *e = json_at(h->entries, at), *takes = json_find(e, "takes");
    char time[TIME_TEXT], number[NUMBER_TEXT], taken[512] = "";
    page_html(p, is_charge(e) ? "<tr>" : "<tr class=\"aside\">");
    put_cell(p, "Time (UTC)", time_text(time, e, 16));
    put_what(p, h, at);
    put_cell(p, "Purpose", text_of(e, "purpose"));
    put_cell(p, "Epsilon alone", epsilon_text(number, number_of(e, "epsilon")));
    put_cell(p, "Takes of the budget", takes ? taken_of(taken, takes) : "");
    put_cell(p, "Spent with it", is_charge(e) ? epsilon_text(number, number_of(e, "total")) : "");
    page_html(p, "</tr>\n");
}

/* A column that is dead stays so. */
static void put_columns(struct page *p, const struct history *h)
{
    const struct json *columns = json_find(h->ledger, "any_order.columns");
    page_html(p, "<h2>What each column of the budget has left</h2>\n");
    if (!json_says_true(json_find(h->ledger, "any_order.of_budget"))) {
        page_html(p, "<p class=\"note\">No budget has fixed columns yet.</p>\n");
        return;
    }
    page_html(
        p, "<p class=\"note\">A release is allowed as long as one column has room for it. A column into "
           "which a release did not fit is dead for good: nothing is charged to it any more. Pure epsilons "
           "add up, and so do probabilities of failure; of mu, the strength of Gaussian noise, the squares "
           "add up.</p>\n<table class=\"releases\">"
           "<thead><tr><th>Column holds</th><th>Spent</th><th>Left</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < json_count(columns); i++) {
        const struct json *c = json_at(columns, i), *left = json_find(c, "left");
        char text[BOX_TEXT];
        page_html(p, "<tr class=\"column\">");
        put_cell(p, "Column holds", box_text(text, json_find(c, "box"), ledger_page_down));
        put_cell(p, "Spent", box_text(text, json_find(c, "spent"), ledger_page_up)[0] ? text : "nothing");
        put_cell(p, "Left",
                 json_kind(left) != JSON_KIND_OBJECT         ? "dead: a charge did not fit into it"
                 : box_text(text, left, ledger_page_down)[0] ? text
                                                             : "nothing");
        page_html(p, "</tr>\n");
    }
    page_html(p, "</tbody></table>\n");
}

static void put_releases(struct page *p, const struct history *h)
{
    page_html(p, "<section class=\"sheet annex\">\n");
    put_columns(p, h);
    page_html(p, "<h2>Releases in time</h2>\n");
    page_html(
        p, "<p class=\"note\">Epsilon alone is at the delta of the release. What it takes is of the budget's "
           "columns: pure epsilon, mu of Gaussian noise, probability of failure. Spent with it is the "
           "epsilon of "
           "all charges up to it, as if chosen beforehand.</p>\n"
           "<table class=\"releases\"><thead><tr><th>Time (UTC)</th><th>What</th><th>Purpose</th><th>Epsilon "
           "alone</th><th>Takes of the budget</th><th>Spent with it</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < json_count(h->entries); i++) {
        const struct json *e = json_at(h->entries, i);
        if (is_charge(e) || is_event(e, "budget") || is_event(e, "planned") || is_event(e, "settled"))
            put_row(p, h, i);
    }
    page_html(p, "</tbody></table>\n");
    if (h->charges == 0)
        page_html(p, "<p>Nothing was released yet.</p>\n");
}

sotto_status sotto_ledger_page(char **page, const char *ledger, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(page, ledger);
    sotto_status status = SOTTO_OK;
    struct page p = {0};
    struct json *document = NULL;
    char *shown = NULL;
    TRY(sotto_ledger_show(&shown, ledger, ctx));
    TRY(json_parse(&document, shown, strlen(shown), ledger));
    const struct history h = history_of(document);
    sheet_head(&p, "Privacy ledger");
    page_html(&p, "<section class=\"sheet\">\n");
    put_title(&p, &h);
    put_verdict(&p, &h);
    put_budget(&p, &h);
    put_readers(&p, &h);
    page_html(&p, "</section>\n");
    put_releases(&p, &h);
    page_html(&p, SHEET_END);
    TRY(page_done(page, &p, "ledger"));
done:
    base_free(p.text);
    sotto_text_free(shown);
    json_free(document);
    return status;
}
