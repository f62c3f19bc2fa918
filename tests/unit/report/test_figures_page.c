/* src/measure/report/page/figures_page.c: places of points, ticks and intervals by hand, text that is escaped, and documents that are
 * refused. */
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "sotto/private/all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DOCUMENT(lines)                                                                                      \
    "{\"schema\": \"sotto.figures/1\", \"title\": \"A <title>\", \"statement\": \"says & means\", "          \
    "\"figures\": [{\"title\": \"Fig <1>\", \"x\": \"gamma\", \"y\": \"area\", \"lines\": [" lines "]}]}"
#define LINE(name, points) "{\"name\": \"" name "\", \"points\": [" points "]}"

static char folder[] = "/tmp/sotto-test-XXXXXX", json[64], html[64];

static int start(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(json, sizeof json, "%s/figures.json", folder);
    snprintf(html, sizeof html, "%s/page.html", folder);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    unlink(json), unlink(html);
    return rmdir(folder);
}

static sotto_status render(const char *text)
{
    assert_int_equal(file_write(json, text, strlen(text)), SOTTO_OK);
    return sotto_report_render_file(html, json, NULL);
}

static char *page_of(const char *text)
{
    unsigned char *page;
    size_t size;
    assert_int_equal(render(text), SOTTO_OK);
    assert_int_equal(file_read(&page, &size, html, 1 << 24), SOTTO_OK);
    return (char *)page;
}

/* x from 0 to 2 with ticks at .5, y from .4 to .8 with ticks at .1 (the interval counts): x stands at 60 + 280 x, y at
 * 310 - 725 (y - .4). */
TEST(points_ticks_and_intervals_stand_where_they_belong)
{
    char *page = page_of(
        DOCUMENT(LINE("one", "[0, 0.5], [1, 0.6, 0.45, 0.75], [2, 0.8]") ", " LINE("two", "[1, 0.4]")));
    assert_non_null(strstr(page, "d=\"M60.0 237.5L340.0 165.0L620.0 20.0\""));
    assert_non_null(strstr(page, "d=\"M340.0 273.8V56.3\" stroke=\"var(--c0)\""));
    assert_non_null(strstr(page, "<circle cx=\"340.0\" cy=\"310.0\" r=\"3.5\" fill=\"var(--c1)\"/>"));
    assert_non_null(strstr(page, "<text x=\"200.0\" y=\"328\" text-anchor=\"middle\">0.5</text>"));
    assert_non_null(strstr(page, "<text x=\"54\" y=\"241.5\" text-anchor=\"end\">0.5</text>"));
    assert_non_null(strstr(page, "text-anchor=\"end\">0.8</text>"));
    assert_null(strstr(page, "text-anchor=\"end\">0.9</text>"));
    assert_non_null(strstr(page, "0.600 <span class=\"ci\">[0.450, 0.750]</span>"));
    base_free(page);
}

TEST(texts_are_escaped_and_nothing_is_run)
{
    char *page = page_of(DOCUMENT(LINE("<b>", "[0, 1]")));
    assert_non_null(strstr(page, "<title>A &lt;title&gt;</title>"));
    assert_non_null(strstr(page, "says &amp; means"));
    assert_non_null(strstr(page, "<h2>Fig &lt;1&gt;</h2>"));
    assert_non_null(strstr(page, "aria-label=\"Fig &lt;1&gt;\""));
    assert_non_null(strstr(page, "&lt;b&gt;"));
    assert_null(strstr(page, "<b>"));
    assert_null(strstr(page, "<script"));
    base_free(page);
}

/* Over 40 points a line has no marks and no rows; its name says what it is. One value alone gets an axis around it. */
TEST(a_curve_has_no_marks)
{
    char text[4096] = "", points[2048] = "[0, 7]";
    for (int i = 1; i < 41; i++)
        snprintf(points + strlen(points), sizeof points - strlen(points), ", [%d, 7]", i);
    snprintf(text, sizeof text, DOCUMENT(LINE("roc", "%s")), points);
    char *page = page_of(text);
    assert_null(strstr(page, "<circle"));
    assert_null(strstr(page, "<table"));
    assert_non_null(strstr(page, "text-anchor=\"end\">6.6</text>"));
    assert_non_null(strstr(page, "text-anchor=\"middle\">40</text>"));
    base_free(page);
}

static void refuse(const char *text, const char *error)
{
    assert_int_equal(render(text), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), error));
}

TEST(documents_that_make_no_figure_are_refused)
{
    refuse(DOCUMENT(LINE("a", "[0, 1, 2]")), "expected [x, y] or [x, y, lower, upper]");
    refuse(DOCUMENT(LINE("a", "[0, \"1\"]")), "expected [x, y] or [x, y, lower, upper]");
    refuse(DOCUMENT(LINE("a", "[0, null]")), "expected [x, y] or [x, y, lower, upper]");
    refuse(DOCUMENT(LINE("a", "3")), "expected [x, y] or [x, y, lower, upper]");
    refuse(DOCUMENT(LINE("a", "")), "figure 'Fig <1>' has no points; expected at least one");
    refuse(DOCUMENT(""), "has no points");
    refuse(DOCUMENT("{\"points\": [[0, 1]]}"), "name");
    refuse("{\"schema\": \"sotto.figures/1\", \"title\": \"t\", \"statement\": \"s\", \"figures\": []}",
           "'figures' is empty; expected at least one figure");
    refuse("{\"schema\": \"sotto.figures/1\", \"title\": \"t\", \"figures\": []}", "statement");
    assert_int_equal(file_write(json, "{}", 2), SOTTO_OK);
    assert_int_equal(render(DOCUMENT(LINE("a", "[0, 1]"))), SOTTO_OK);
    assert_int_equal(sotto_report_render_file(html, json, (const char *[]){json, NULL}), SOTTO_EINVAL);
}

TEST(without_memory_it_is_an_error)
{
    sotto_status status = SOTTO_ENOMEM;
    for (long left = 0; status == SOTTO_ENOMEM; left++) {
        assert_int_equal(
            file_write(json, DOCUMENT(LINE("a", "[0, 1]")), strlen(DOCUMENT(LINE("a", "[0, 1]")))), SOTTO_OK);
        base_alloc_fail_after(left);
        status = sotto_report_render_file(html, json, NULL);
        base_alloc_fail_after(-1);
        assert_true(left < 1000);
    }
    assert_int_equal(status, SOTTO_OK);
}

TEST_GROUP(.set_up = start, .tear_down = stop)
