/* The template names its parts in double braces; each name is one row of the table below. */
#include "report/document/document_pages.h"
#include "report/page/page.h"

#include "base/file.h"
#include "sotto/lab/report.h"

#include <string.h>

extern const char report_template_html[], report_report_css[], report_report_js[], report_chart_js[];

static void part_css(struct page *p, const struct report *r)
{
    (void)r;
    page_html(p, report_report_css);
}

static void part_chart(struct page *p, const struct report *r)
{
    (void)r;
    page_html(p, report_chart_js);
}

static void part_script(struct page *p, const struct report *r)
{
    (void)r;
    page_html(p, report_report_js);
}

/* What other documents add to a report. */
static void part_sections(struct page *p, const struct report *r)
{
    const struct document_section *s;
    for (size_t i = 0; (s = document_section_at(i)); i++)
        if (part(r->doc, s->key))
            s->write(p, r);
}

static const struct {
    const char *name;
    section write;
} parts[] = {{"title", section_title},
             {"contents", section_contents},
             {"settings", section_settings},
             {"facts", section_facts},
             {"checks", section_checks},
             {"verdict", section_verdict},

             {"claim", section_claim},
             {"attacks", section_attacks},
             {"one-run", section_one_run},
             {"generative", section_generative},
             {"memories", section_memories},
             {"attribute", section_attribute},
             {"sections", part_sections},
             {"utility", section_utility},
             {"sweeps", section_sweeps},
             {"training", section_training},
             {"method", section_method},
             {"reproduce", section_reproduce},
             {"card", section_card},
             {"data", section_data},
             {"css", part_css},
             {"chart", part_chart},
             {"script", part_script}};

sotto_status report_html(char **html, const struct report *r)
{
    sotto_status status = SOTTO_OK;
    struct page p = {0};
    const char *at = report_template_html, *open;
    while ((open = strstr(at, "{{")) != NULL) {
        const char *close = strstr(open, "}}");
        size_t length = close ? (size_t)(close - open) - 2 : 0, i = 0;
        page_bytes(&p, at, (size_t)(open - at));
        while (i < sizeof parts / sizeof *parts &&
               !(strlen(parts[i].name) == length && strncmp(parts[i].name, open + 2, length) == 0))
            i++;
        if (i == sizeof parts / sizeof *parts)
            FAIL(SOTTO_EINTERNAL, "report: the template contains an unknown part");
        parts[i].write(&p, r);
        at = close + 2;
    }
    page_html(&p, at);
    TRY(page_done(html, &p, "report"));
done:
    base_free(p.text);
    return status;
}

/* A document beside a report becomes a member of it, by its schema. */
static sotto_status take_beside(struct json **report, const char *path)
{
    sotto_status status = SOTTO_OK;
    struct json *doc = NULL;
    TRY(json_read_file(&doc, path));
    const struct document_section *s = document_section_of(doc);
    if (!s)
        FAIL(SOTTO_EFORMAT, "%s: a document of schema '%s' is no section of a report; omit it", path,
             part_text(doc, "schema") ? part_text(doc, "schema") : "");
    json_put(report, s->key, doc);
    doc = NULL;
done:
    json_free(doc);
    return status;
}

/* The page of a report with what lies beside it, or of a document with a page of its own. */
static sotto_status page_of(char **html, const char *text, size_t size, const char *const *beside)
{
    sotto_status status = SOTTO_OK;
    struct json *doc = NULL;
    struct report r = {0};
    TRY(json_parse(&doc, text, size, "report"));
    const struct document_page *own = document_page_of(doc);
    if (own) {
        REQUIRE(!beside || !beside[0], "report: a page of %s shows no other document; omit %s", own->schema,
                beside[0]);
        TRY(own->write(html, doc));
        goto done;
    }
    for (; beside && *beside; beside++)
        TRY(take_beside(&doc, *beside));
    status = report_take(&r, doc); /* also on failure */
    doc = NULL;
    TRY(status);
    TRY(report_html(html, &r));
done:
    report_clear(&r);
    json_free(doc);
    return status;
}

sotto_status sotto_report_render_file(const char *html_path, const char *json_path, const char *const *beside)
{
    REQUIRE_GIVEN(html_path, json_path);
    sotto_status status = SOTTO_OK;
    unsigned char *text = NULL;
    char *html = NULL;
    size_t size;
    TRY(file_read(&text, &size, json_path, (size_t)64 << 20));
    status = page_of(&html, (char *)text, size, beside);
    if (status == SOTTO_EFORMAT && strncmp(sotto_error_text(), "report", 6) == 0)
        status_prefix(json_path);
    TRY(status);
    TRY(file_write(html_path, html, strlen(html)));
done:
    base_free(text);
    sotto_text_free(html);
    return status;
}
