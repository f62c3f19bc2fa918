/* The page of a smoothed curve: the steps of the certified-accuracy curve by hand, labels or none, and documents that are
 * refused. */
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "sotto/private/all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD                                                                                                 \
    "{\"schema\": \"sotto.smooth/1\", \"method\": \"certify\", \"noise\": \"gaussian\", \"scale\": 0.5, "    \
    "\"n\": 1000, \"alpha\": 0.001, \"records\": 4, \"abstained\": 0.25, \"norm\": \"l2\", "                 \
    "\"statement\": \"about <queries>\", "
#define POINTS                                                                                               \
    "\"certified_accuracy\": [{\"radius\": 0, \"accuracy\": {\"estimate\": 0.5, \"lower\": 0.1, \"upper\": " \
    "0.9}}], "
#define ROW(abstained, radius, right)                                                                        \
    "{\"class\": 1, \"abstained\": " abstained ", \"radius\": " radius ", \"right\": " right "}"
#define ROWS                                                                                                 \
    "\"rows\": [" ROW("false", "1.0", "true") ", " ROW("false", "0.2", "false") ", " ROW(                    \
        "true", "0", "false") ", " ROW("false", "0.5", "true") "]}"

static char folder[] = "/tmp/sotto-test-XXXXXX", json[64], html[64];

static int start(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(json, sizeof json, "%s/smooth.json", folder);
    snprintf(html, sizeof html, "%s/page.html", folder);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    unlink(json), unlink(html);
    return rmdir(folder);
}

static char *page_of(const char *text)
{
    unsigned char *page;
    size_t size;
    assert_int_equal(file_write(json, text, strlen(text)), SOTTO_OK);
    assert_int_equal(sotto_report_render_file(html, json, NULL), SOTTO_OK);
    assert_int_equal(file_read(&page, &size, html, 1 << 24), SOTTO_OK);
    return (char *)page;
}

/* The axis ends at the largest radius, 2, so a radius r is at 60 + 280 r; a share s is at 310 - 290 s. Two of four rows are
 * right, with radii .5 and 1. */
TEST(the_curve_falls_behind_each_radius)
{
    char *page = page_of(HEAD "\"largest_radius\": 2.0, " POINTS ROWS);
    assert_non_null(strstr(page, "d=\"M60 165.0H200.0V237.5H340.0V310.0H620\""));
    assert_non_null(strstr(page, "d=\"M60.0 281.0V49.0\"")); /* the interval at 0 */
    assert_non_null(strstr(page, "L2 radius</text>"));
    assert_non_null(strstr(page, "Share of rows with the right answer and at least this radius"));
    assert_non_null(strstr(page, "about &lt;queries&gt;"));
    assert_null(strstr(page, "PixelDP"));
    assert_null(strstr(page, "<script"));
    base_free(page);
}

/* Rows that answer count instead: .2, .5 and 1. */
TEST(without_labels_the_share_with_a_radius_is_drawn)
{
    char *page = page_of(HEAD "\"largest_radius\": 2.0, " ROWS);
    assert_non_null(strstr(page, "d=\"M60 92.5H116.0V165.0H200.0V237.5H340.0V310.0H620\""));
    assert_non_null(strstr(page, "no labels were given"));
    assert_null(strstr(page, "<table"));
    base_free(page);
}

TEST(equal_radii_are_one_step_and_pixeldp_is_dashed)
{
    char *page = page_of(HEAD "\"largest_radius\": 1.0, \"rows\": [{\"abstained\": false, \"radius\": 0.5, "
                              "\"pixeldp_radius\": 0.25}, {\"abstained\": false, \"radius\": 0.5, "
                              "\"pixeldp_radius\": 0.1}]}");
    assert_non_null(strstr(page, "d=\"M60 20.0H340.0V310.0H620\""));
    assert_non_null(strstr(page,
                           "d=\"M60 20.0H116.0V165.0H200.0V310.0H620\" fill=\"none\" stroke-width=\"2\" "
                           "stroke=\"var(--c1)\" stroke-dasharray"));
    base_free(page);
}

static void refused(const char *text, const char *says)
{
    assert_int_equal(file_write(json, text, strlen(text)), SOTTO_OK);
    assert_int_equal(sotto_report_render_file(html, json, NULL), SOTTO_EFORMAT);
    if (!strstr(sotto_error_text(), says))
        print_error("%s\n", sotto_error_text());
    assert_non_null(strstr(sotto_error_text(), says));
}

TEST(what_has_no_curve_is_refused)
{
    refused("{\"schema\": \"sotto.smooth/1\", \"method\": \"predict\", \"rows\": []}", "which has no radii");
    refused(HEAD "\"largest_radius\": 2.0, \"rows\": []}", "'rows' is empty");
    refused(HEAD "\"largest_radius\": 0, \"rows\": [{\"abstained\": true, \"radius\": 0}]}",
            "'largest_radius' is 0");
    refused(HEAD "\"largest_radius\": 1, \"rows\": [{\"abstained\": false, \"radius\": -1}]}",
            "'rows.radius' is -1");
    refused(HEAD "\"largest_radius\": 1, " POINTS "\"rows\": [{\"abstained\": false, \"radius\": 1}]}",
            "right");
}

TEST_GROUP(.set_up = start, .tear_down = stop)
