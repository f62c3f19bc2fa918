#include "report/certificate/sheet.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS = 100, LABEL = 24, LINE_MAX_BYTES = 4096 };

extern const char report_certificate_css[];

void sheet_head(struct page *p, const char *title)
{
    page_html(p, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                 "'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width, "
                 "initial-scale=1\">\n<title>");
    page_text(p, title);
    page_html(p, "</title>\n<style>\n");
    page_html(p, report_certificate_css);
    page_html(p, "</style>\n</head>\n<body>\n<main>\n");
}

void sheet_begin(struct sheet *s, bool html, const char *title)
{
    *s = (struct sheet){.html = html};
    if (html)
        sheet_head(&s->page, title);
    else
        page_html(&s->page, "Privacy certificate\n");
}

void sheet_annex(struct sheet *s, const char *verdict)
{
    if (!s->html)
        return;
    page_html(&s->page, verdict ? "<section class=\"sheet annex failed\">\n"
                                : "<section class=\"sheet annex dense\">\n");
    page_html(&s->page, "<p class=\"kind\">");
    page_html(&s->page, verdict ? "Privacy certificate</p>\n<h1 data-verdict>" : "Technical annex</p>\n");
    if (verdict) {
        page_name(&s->page, verdict);
        page_html(&s->page, "</h1>\n");
    }
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
        if (label[0])
            page_format(&s->page, "<tr><th scope=\"row\">%s</th><td>", label);
        else
            page_html(&s->page, "<tr><td colspan=\"2\">");
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
    page_html(&s->page, s->html ? SHEET_END : "");
    return page_done(out, &s->page, "certificate");
}
