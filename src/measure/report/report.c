/* The template names its parts in double braces; each name is one row of the table below. */
#include "report/page/figures_page.h"
#include "report/page/page.h"
#include "report/page/smoothing_page.h"

#include "base/file.h"
#include "sotto/sotto.h"

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

static const struct {
    const char *name;
    section write;
} parts[] = {{"title", section_title},
             {"facts", section_facts},
             {"checks", section_checks},
             {"verdict", section_verdict},
             {"words", section_words},
             {"claim", section_claim},
             {"attacks", section_attacks},
             {"one-run", section_one_run},
             {"generative", section_generative},
             {"memories", section_memories},
             {"attribute", section_attribute},
             {"monitor", section_monitor},
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

sotto_status sotto_report_html(char **html, const char *report_json)
{
    REQUIRE_GIVEN(html, report_json);
    sotto_status status = SOTTO_OK;
    struct report r = {0};
    TRY(report_read(&r, report_json, strlen(report_json)));
    TRY(report_html(html, &r));
done:
    report_clear(&r);
    return status;
}

sotto_status sotto_report_render(const char *html_path, const char *report_json)
{
    REQUIRE_GIVEN(html_path, report_json);
    sotto_status status = SOTTO_OK;
    char *html = NULL;
    TRY(sotto_report_html(&html, report_json));
    TRY(file_write(html_path, html, strlen(html)));
done:
    sotto_text_free(html);
    return status;
}

/* Documents with a page of their own; NULL: a report. */
static sotto_status (*page_maker(const struct json *doc))(char **, const struct json *)
{
    return smoothing_is_document(doc) ? smoothing_page : figures_is_document(doc) ? figures_page : NULL;
}

/* The page of a report, with what a monitor found (taken), or of a document of randomised smoothing or of figures. */
static sotto_status page_of(char **html, const char *text, size_t size, struct json **monitor)
{
    sotto_status status = SOTTO_OK;
    struct json *doc = NULL;
    struct report r = {0};
    TRY(json_parse(&doc, text, size, "report"));
    if (page_maker(doc)) {
        REQUIRE(!*monitor, "report: a page of randomised smoothing or of figures shows no monitor; omit it");
        TRY(page_maker(doc)(html, doc));
        goto done;
    }
    if (*monitor)
        json_put(&doc, "monitor", *monitor);
    *monitor = NULL;
    status = report_take(&r, doc); /* also on failure */
    doc = NULL;
    TRY(status);
    TRY(report_html(html, &r));
done:
    report_clear(&r);
    json_free(doc);
    return status;
}

sotto_status sotto_report_render_file(const char *html_path, const char *json_path, const char *monitor_path)
{
    REQUIRE_GIVEN(html_path, json_path);
    sotto_status status = SOTTO_OK;
    struct json *monitor = NULL;
    unsigned char *text = NULL;
    char *html = NULL;
    size_t size;
    TRY(file_read(&text, &size, json_path, (size_t)64 << 20));
    if (monitor_path)
        TRY(json_read_file(&monitor, monitor_path));
    status = page_of(&html, (char *)text, size, &monitor);
    if (status == SOTTO_EFORMAT)
        status_prefix(json_path);
    TRY(status);
    TRY(file_write(html_path, html, strlen(html)));
done:
    base_free(text);
    json_free(monitor);
    sotto_text_free(html);
    return status;
}
