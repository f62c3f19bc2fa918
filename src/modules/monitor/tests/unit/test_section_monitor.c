/* section_monitor.c: what a monitor found stands on the page of a report, escaped. */
#include "support/test.h"
#include "support/report_pages.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a monitor found stands on the page, escaped; a monitor.json of another kind is refused. */
TEST(a_monitor_is_a_section)
{
    static const char found[] =
        "{\"schema\": \"sotto.monitor/1\", \"threshold\": 3000.0, \"alarms\": 1, \"guarantee\": \"at most "
        ".001\", "
        "\"limit\": \"not found\", \"condition\": \"not checked\", \"clients\": [{\"name\": \"<eve>\", "
        "\"rows\": 4321, "
        "\"alarm\": 350, \"statistics\": {\"near\": {\"reached\": null}, \"off\": {\"reached\": 350}}}, "
        "{\"name\": "
        "\"quiet\", \"rows\": 100, \"alarm\": null, \"statistics\": {}}], \"service\": null}";
    char folder[] = "/tmp/sotto-test-XXXXXX", html[64], json[64], monitor[64];
    unsigned char *page;
    size_t size;
    assert_non_null(mkdtemp(folder));
    snprintf(html, sizeof html, "%s/report.html", folder);
    snprintf(json, sizeof json, "%s/report.json", folder);
    snprintf(monitor, sizeof monitor, "%s/monitor.json", folder);
    assert_int_equal(file_write(json, example, strlen(example)), SOTTO_OK);
    assert_int_equal(sotto_report_render_file(html, json, (const char *[]){monitor, NULL}), SOTTO_ENOENT);
    assert_int_equal(file_write(monitor, found, strlen(found)), SOTTO_OK);
    assert_int_equal(sotto_report_render_file(html, json, (const char *[]){monitor, NULL}), SOTTO_OK);
    assert_int_equal(file_read(&page, &size, html, 1 << 24), SOTTO_OK);
    assert_int_equal(count((char *)page, "<section id=\"monitor\""), 1);
    assert_int_equal(count((char *)page, "&lt;eve&gt;"), 1);
    assert_int_equal(count((char *)page, "<td class=\"number\">350</td>"), 2);
    assert_int_equal(count((char *)page, "quiet"), 0); /* no alarm, no line */
    assert_int_equal(count((char *)page, "at most .001"), 1);
    base_free(page);
    assert_int_equal(file_write(monitor, "{\"schema\": \"sotto.audit/1\"}", 27), SOTTO_OK);
    assert_int_equal(sotto_report_render_file(html, json, (const char *[]){monitor, NULL}), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(),
                           "a document of schema 'sotto.audit/1' is no section of a report; omit it"));
    page = (unsigned char *)page_of(example);
    assert_int_equal(count((char *)page, "id=\"monitor\""), 0);
    base_free(page);
    unlink(html), unlink(json), unlink(monitor);
    rmdir(folder);
}

TEST_GROUP(.set_up = read_example, .tear_down = free_example)
