#include "report/certificate/sheet.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS = 100, LABEL = 24, LINE_MAX_BYTES = 4096 };

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
    "'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width, "
    "initial-scale=1\">\n<title>Privacy "
    "certificate</title>\n"
    "<style>\n"
    ":root{color-scheme:light dark;--ink:#1d2430;--paper:#fff;--line:#c9c5b8}\n"
    "@media (prefers-color-scheme:dark){:root{--ink:#e6e8ec;--paper:#14181f;--line:#454e5c}}\n"
    "@media "
    "print{:root{--ink:#000;--paper:#fff;--line:#999}body{font-size:9.5pt;padding:0}h1,h2{break-after:avoid}"
    "tr{break-inside:avoid}}\n"
    "body{margin:0 auto;max-width:60rem;padding:1.2rem;font:15px/1.45 "
    "system-ui,sans-serif;background:var(--paper);"
    "color:var(--ink)}\n"
    ".kind{margin:0}h1{font-size:1.3rem;margin:.3rem 0 "
    ".6rem;overflow-wrap:anywhere}h2{font-size:1.05rem;margin:1rem 0 .2rem}\n"
    "table{width:100%;border-collapse:collapse}th,td{text-align:left;vertical-align:top;padding:.15rem .5rem "
    ".15rem 0;"
    "border-bottom:1px solid var(--line);overflow-wrap:anywhere}th{font-weight:600;width:11rem}\n"
    "@media (max-width:34rem){th,td{display:block;width:auto}th{border:0;padding-bottom:0}}\n"
    "</style>\n</head>\n<body>\n<p class=\"kind\">";

void sheet_begin(struct sheet *s, bool html, const char *title, const char *verdict)
{
    *s = (struct sheet){.html = html};
    if (!html) {
        page_bytes(&s->page, title, strlen(title));
        page_html(&s->page, "\n");
        return;
    }
    page_html(&s->page, head);
    page_name(&s->page, title);
    page_html(&s->page, "</p>\n<h1 data-verdict>");
    page_name(&s->page, verdict);
    page_html(&s->page, "</h1>\n");
}

static void close_section(struct sheet *s)
{
    if (s->open && s->html)
        page_html(&s->page, "</table>\n");
    s->open = false;
}

void sheet_section(struct sheet *s, const char *title)
{
    close_section(s);
    page_html(&s->page, s->html ? "<h2>" : "\n");
    page_bytes(&s->page, title, strlen(title));
    page_html(&s->page, s->html ? "</h2>\n<table>\n" : "\n");
    s->open = true;
}

/* A text from a file must not steer a terminal: control characters, also those of two bytes, become '?'. */
static void sheet_disarm(char *text)
{
    for (unsigned char *c = (unsigned char *)text; *c; c++) {
        const bool second = c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0;
        if (*c < ' ' || *c == 0x7f || second)
            *c = '?';
        if (second)
            *++c = '?';
    }
}

/* Words to the edge, then the next line below the first. */
static void put_wrapped(struct page *p, const char *text)
{
    size_t column = LABEL;
    while (*text) {
        const size_t length = strcspn(text, " ");
        if (column > LABEL && column + 1 + length > COLUMNS) {
            page_format(p, "\n%*s", LABEL, "");
            column = LABEL;
        } else if (column > LABEL) {
            page_html(p, " ");
            column++;
        }
        page_bytes(p, text, length);
        column += length;
        text += length + strspn(text + length, " ");
    }
}

void sheet_line(struct sheet *s, const char *label, const char *format, ...)
{
    char text[LINE_MAX_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    sheet_disarm(text);
    if (s->html) {
        page_format(&s->page, "<tr><th scope=\"row\">%s</th><td>", label);
        page_name(&s->page, text);
        page_html(&s->page, "</td></tr>\n");
        return;
    }
    page_format(&s->page, "  %-*s", LABEL - 2, label);
    put_wrapped(&s->page, text);
    page_html(&s->page, "\n");
}

sotto_status sheet_end(char **out, struct sheet *s)
{
    close_section(s);
    page_html(&s->page, s->html ? "</body>\n</html>\n" : "");
    return page_done(out, &s->page, "certificate");
}
