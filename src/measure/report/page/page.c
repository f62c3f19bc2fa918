#include "report/page/page.h"

#include "io/text/bitmap.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void page_bytes(struct page *p, const char *bytes, size_t count)
{
    if (p->failed)
        return;
    if (p->used + count + 1 > p->capacity) {
        size_t capacity = 2 * (p->used + count + 1) + 4096;
        char *grown = base_regrow(p->text, p->used, capacity, 1);
        if (!grown) {
            p->failed = true;
            return;
        }
        p->text = grown;
        p->capacity = capacity;
    }
    memcpy(p->text + p->used, bytes, count);
    p->used += count;
    p->text[p->used] = '\0';
}

void page_html(struct page *p, const char *html)
{
    page_bytes(p, html, strlen(html));
}

void page_format(struct page *p, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= sizeof text)
        p->failed = true; /* a format that does not fit is a bug; never cut HTML in half */
    else
        page_bytes(p, text, (size_t)length);
}

void page_text(struct page *p, const char *text)
{
    for (; text && *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '<')
            page_html(p, "&lt;");
        else if (c == '>')
            page_html(p, "&gt;");
        else if (c == '&')
            page_html(p, "&amp;");
        else if (c == '"')
            page_html(p, "&quot;");
        else if (c == '\'')
            page_html(p, "&#39;");
        else if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
            page_html(p, "\xef\xbf\xbd");
        else
            page_bytes(p, text, 1);
    }
}

void page_name(struct page *p, const char *name)
{
    page_html(p, "<bdi>");
    page_text(p, name);
    page_html(p, "</bdi>");
}

size_t page_hidden_mark(const char *text)
{
    const unsigned char *t = (const unsigned char *)text;
    if (t[0] != 0xe2)
        return 0;
    return (t[1] == 0x80 && t[2] >= 0xa8 && t[2] <= 0xae) || (t[1] == 0x81 && t[2] >= 0xa6 && t[2] <= 0xa9)
               ? 3
               : 0;
}

void page_markdown(struct page *p, const char *text)
{
    for (; text && *text; text++) {
        size_t skip = page_hidden_mark(text);
        if (skip)
            text += skip - 1;
        else if ((unsigned char)*text < ' ')
            page_html(p, " ");
        else {
            if (strchr("\\`*_{}[]()<>#!|&~", *text))
                page_html(p, "\\");
            page_bytes(p, text, 1);
        }
    }
}

void page_pair(struct page *p, const char *before, const char *name, const char *after)
{
    if (!name[0])
        return;
    page_html(p, before);
    page_name(p, name);
    page_html(p, after);
}

void page_json(struct page *p, const char *json)
{
    for (; *json; json++) {
        if (*json == '<')
            page_html(p, "\\u003c");
        else if (*json == '>')
            page_html(p, "\\u003e");
        else if (*json == '&')
            page_html(p, "\\u0026");
        else if (strncmp(json, "\xe2\x80\xa8", 3) == 0)
            page_html(p, "\\u2028"), json += 2;
        else if (strncmp(json, "\xe2\x80\xa9", 3) == 0)
            page_html(p, "\\u2029"), json += 2;
        else
            page_bytes(p, json, 1);
    }
}

sotto_status page_done(char **out, struct page *p, const char *what)
{
    struct page whole = *p;
    *p = (struct page){0};
    if (whole.failed) {
        base_free(whole.text);
        return status_fail(SOTTO_ENOMEM, "%s: out of memory", what);
    }
    *out = whole.text;
    return SOTTO_OK;
}

static const char dash[] = "\xe2\x80\x93", thin_space[] = "\xe2\x80\xaf";

void page_fraction(struct page *p, double x)
{
    if (isnan(x))
        page_html(p, dash);
    else
        page_format(p, "%.3f", x);
}

void page_percent(struct page *p, double x)
{
    double percent = 100 * x;
    if (isnan(x))
        page_html(p, dash);
    else
        page_format(p, "%.*f%s%%", percent != 0 && percent < 0.995 ? 2 : 1, percent, thin_space);
}

void page_percent_plain(struct page *p, double x)
{
    page_format(p, "%.3g%s%%", 100 * x, thin_space);
}

void page_small(struct page *p, double x)
{
    double power = x > 0 ? round(log10(x)) : 0;
    if (x > 0 && power < -2 && fabs(x / pow(10, power) - 1) < 1e-9)
        page_format(p, "10<sup>\xe2\x88\x92%.0f</sup>", -power);
    else
        page_format(p, "%.3g", x);
}

void page_count(struct page *p, double n)
{
    char digits[64];
    if (isnan(n)) {
        page_html(p, dash);
        return;
    }
    int length = snprintf(digits, sizeof digits, "%.0f", n);
    for (int i = 0; i < length; i++) {
        page_bytes(p, digits + i, 1);
        if ((length - i) % 3 == 1 && i + 1 < length && digits[i] != '-')
            page_html(p, thin_space);
    }
}

void page_significant(struct page *p, double x, int digits)
{
    if (isnan(x))
        page_html(p, dash);
    else if (isinf(x))
        page_html(p, x > 0 ? "\xe2\x88\x9e" : "-\xe2\x88\x9e");
    else if (fabs(x) >= 1000 && fabs(x) < 1e15)
        page_count(p, x);
    else
        page_format(p, "%.*g", digits, x);
}

void page_rounded_up(struct page *p, double x)
{
    if (x > 0 && isfinite(x)) {
        double unit = pow(10, floor(log10(x)) - 3); /* four digits; above 1000 whole numbers */
        if (unit > 1)
            unit = 1;
        /* The product may land just above a whole number that x had exactly: allow for its rounding. */
        x = unit * ceil(x / unit * (1 - 4e-16));
    }
    page_significant(p, x, 4);
}

static void page_interval(struct page *p, const struct estimate *e, void (*number)(struct page *, double))
{
    if (!e->given) {
        page_html(p, dash);
        return;
    }
    number(p, e->value);
    if (isnan(e->lower))
        return;
    page_html(p, " <span class=\"ci\">[");
    number(p, e->lower);
    page_html(p, ", ");
    number(p, e->upper);
    page_html(p, "]</span>");
}

void page_estimate(struct page *p, const struct estimate *e)
{
    page_interval(p, e, page_fraction);
}

void page_percent_estimate(struct page *p, const struct estimate *e)
{
    page_interval(p, e, page_percent);
}

void groups_find(struct groups *g, const struct report *r)
{
    g->count = 0;
    for (size_t i = 0; i < r->row_count; i++) {
        size_t k = 0;
        for (; k < g->count; k++) {
            const char *name = r->rows[g->first[k]].group;
            if (name && r->rows[i].group && strcmp(name, r->rows[i].group) == 0)
                break;
        }
        if (k == g->count)
            g->first[g->count++] = i;
        g->of_row[i] = k;
    }
}

void group_title(struct page *p, const struct report *r, size_t row)
{
    const char *group = r->rows[row].group;
    /* The unprotected model lends its title to the group. */
    for (size_t i = 0; group && i < r->row_count; i++)
        if (!r->rows[i].is_protected && r->rows[i].group && strcmp(r->rows[i].group, group) == 0) {
            page_name(p, r->rows[i].title);
            return;
        }
    page_name(p, r->rows[row].title);
}

static bool goes_on_from(const char *title, const char *start)
{
    const size_t length = strlen(start);
    return strncmp(title, start, length) == 0 && strncmp(title + length, ", ", 2) == 0;
}

static bool is_of_group(const struct report_row *row, const struct report_row *head)
{
    return row->group && head->group && strcmp(row->group, head->group) == 0;
}

/* Of a row: the unprotected one whose title its own goes on from, else that of its group, else itself. */
static size_t family_of(const struct report *r, size_t row)
{
    size_t best = row, longest = 0;
    for (size_t i = 0; r->rows[row].is_protected && i < r->row_count; i++) {
        const struct report_row *head = &r->rows[i];
        const size_t length = goes_on_from(r->rows[row].title, head->title) ? strlen(head->title) : 0;
        if (head->is_protected || (length == 0 && !is_of_group(&r->rows[row], head)))
            continue;
        if (best == row || length > longest) {
            best = i;
            longest = length;
        }
    }
    return best;
}

void families_find(struct families *f, const struct report *r)
{
    *f = (struct families){0};
    for (size_t i = 0; i < r->row_count; i++)
        f->members[f->head[i] = family_of(r, i)]++;
    for (size_t i = 0; i < r->row_count; i++) /* the head, then its family */
        for (size_t k = 0; f->head[i] == i && k < r->row_count; k++)
            if (f->head[k] == i)
                f->order[f->count++] = k;
}

void family_heading(struct page *p, const struct report *r, const struct families *f, size_t row, int columns)
{
    if (f->head[row] != row || f->members[row] < 2)
        return;
    page_format(p, "<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"%d\">", columns);
    page_name(p, r->rows[row].title);
    page_html(p, "</th></tr>\n");
}

void family_setting(struct page *p, const struct report *r, const struct families *f, size_t row)
{
    const char *title = r->rows[row].title, *head = r->rows[f->head[row]].title;
    if (f->head[row] == row && f->members[row] > 1)
        page_html(p, "without noise");
    else
        page_name(p, goes_on_from(title, head) ? title + strlen(head) + 2 : title);
}

void row_label(char *out, size_t capacity, const struct report_row *r)
{
    if (!r->is_protected)
        snprintf(out, capacity, "no noise");
    else
        snprintf(out, capacity, "%.40s, scale %.4g", r->mechanism, r->scale);
}

double allowed_tpr(double epsilon, double delta, double fpr)
{
    double above = exp(epsilon) * fpr + delta, below = 1 - exp(-epsilon) * (1 - delta - fpr);
    return fmin(1, fmin(above, below));
}

void page_table(struct page *p, const char *label, const char *caption, const char *columns)
{
    page_format(p,
                "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\"><table>\n<caption>",
                label);
    page_html(p, caption);
    if (columns)
        page_columns(p, columns);
}

/* One title, from `from` to before `end`. */
static void page_column(struct page *p, const char *from, const char *end)
{
    page_html(p, "<th scope=\"col\"");
    if (*from == '^') {
        const char *name = ++from, *mark = memchr(from, '^', (size_t)(end - from));
        page_html(p, " class=\"number");
        if (mark) {
            page_html(p, " ");
            page_bytes(p, name, (size_t)(mark - name));
            from = mark + 1;
        }
        page_html(p, "\"");
    }
    page_html(p, ">");
    page_bytes(p, from, (size_t)(end - from));
    page_html(p, "</th>");
}

void page_columns(struct page *p, const char *columns)
{
    page_html(p, "</caption>\n<thead><tr>");
    while (*columns) {
        size_t length = strcspn(columns, "|");
        page_column(p, columns, columns + length);
        columns += length + (columns[length] == '|');
    }
    page_html(p, "</tr></thead>\n<tbody>\n");
}

void page_table_end(struct page *p)
{
    page_html(p, "</tbody></table></div>\n");
}

/* A to Z, then AA. */
static void page_letter(struct page *p, size_t i)
{
    if (i >= 26)
        page_letter(p, i / 26 - 1);
    page_format(p, "%c", (char)('A' + i % 26));
}

void page_plot(struct page *p)
{
    page_html(p, "Plot ");
    page_letter(p, p->plots++);
    page_html(p, ": ");
}

void page_plots_since(struct page *p, size_t first)
{
    if (p->plots == first)
        return;
    page_html(p, p->plots - first > 1 ? "Plots " : "Plot ");
    page_letter(p, first);
    if (p->plots - first > 1) {
        page_html(p, " to ");
        page_letter(p, p->plots - 1);
    }
    page_html(p, ". ");
}

void page_picture(struct page *p, const char *uri, const char *words)
{
    if (!uri || strncmp(uri, bitmap_prefix, strlen(bitmap_prefix)) != 0)
        return;
    page_html(p, "<img class=\"pixels\" src=\"");
    page_text(p, uri);
    page_html(p, "\" alt=\"");
    page_html(p, words);
    page_html(p, "\">");
}

void page_command(struct page *p, const char *command)
{
    page_html(p, "<pre class=\"command\" tabindex=\"0\"><code>");
    page_text(p, command);
    page_html(p, "</code></pre>\n");
}
