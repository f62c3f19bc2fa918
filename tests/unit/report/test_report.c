/* src/measure/report: the rules of the page, refusals (verdicts: test_report_verdicts.c). The example document has
 * every member of the schema. */
#include "support/test.h"
#include "support/report_pages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void refused(char *document, const char *error)
{
    char *html = NULL;
    assert_int_equal(html_of(&html, document), SOTTO_EFORMAT);
    assert_string_equal(sotto_error_text(), error);
    assert_null(html);
    sotto_text_free(document);
}

/* --- the rules of the page --- */

TEST(nothing_is_loaded)
{
    char *page = page_of(example);
    assert_non_null(
        strstr(page, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
                     "'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">"));
    assert_int_equal(count(page, "src="), 0);
    assert_int_equal(count(page, "url("), 0);
    assert_int_equal(count(page, "@import"), 0);
    assert_int_equal(count(page, "fetch("), 0);
    assert_int_equal(count(page, "XMLHttpRequest"), 0);
    assert_true(count(page, "href=") > 5);
    assert_int_equal(count(page, "href="), count(page, "href=\"#"));
    assert_true(strlen(page) < 320 * 1000);
    base_free(page);
}

TEST(links_lead_somewhere)
{
    char *page = page_of(example), target[64];
    for (const char *at = page; (at = strstr(at, "href=\"#")) != NULL; at++) {
        snprintf(target, sizeof target, "id=\"%.*s\"", (int)strcspn(at + 7, "\""), at + 7);
        assert_int_equal(count(page, target), 1);
    }
    base_free(page);
}

TEST(pages_repeat_byte_for_byte)
{
    char *one = page_of(example), *two = page_of(example);
    assert_string_equal(one, two);
    base_free(one);
    base_free(two);
}

TEST(everything_is_said_without_script)
{
    char *page = page_of(example), *text = static_part(page);
    struct json *doc = copy_of_example();
    assert_int_equal(count(text, "<script"), 0);
    /* Every area and accuracy of the document stands in the text, with its interval. */
    const struct json *rows = json_member(doc, "rows");
    for (size_t i = 0; i < json_count(rows); i++) {
        const struct json *attacks = json_find(json_at(rows, i), "measured.attacks");
        for (size_t a = 0; a <= json_count(attacks); a++) {
            const struct json *e = a < json_count(attacks) ? json_member(json_at(attacks, a), "auc")
                                                           : json_find(json_at(rows, i), "utility.accuracy");
            char wanted[96];
            snprintf(wanted, sizeof wanted, "%.3f <span class=\"ci\">[%.3f, %.3f]</span>",
                     json_number(json_member(e, "estimate")), json_number(json_member(e, "lower")),
                     json_number(json_member(e, "upper")));
            assert_non_null(strstr(text, wanted));
        }
    }
    assert_non_null(strstr(text, "Synthetic data."));
    assert_non_null(strstr(text, "Destroyed, not protected"));
    assert_non_null(strstr(text, ">59.8 points (destroyed)</td>"));
    assert_non_null(strstr(text, "sotto run experiments/demo.yaml"));
    assert_non_null(strstr(text, "What this report does not show"));
    json_free(doc);
    base_free(text);
    base_free(page);
}

TEST(tables_say_what_their_heads_are)
{
    char *page = page_of(example), *text = static_part(page);
    assert_true(count(text, "<table") > 4);
    assert_int_equal(count(text, "<th "), count(text, "<th scope=\""));
    assert_int_equal(count(text, "<th>"), 0);
    assert_int_equal(count(text, "<table"), count(text, "<caption>"));
    assert_int_equal(count(text, "<table"), count(text, "</table>"));
    assert_int_equal(count(text, "<tr"), count(text, "</tr>"));
    assert_int_equal(count(text, "<td"), count(text, "</td>"));
    assert_int_equal(count(text, "<bdi>"), count(text, "</bdi>"));
    assert_int_equal(count(text, "<canvas"),
                     count(text, "aria-label=\"ROC") + count(text, "aria-label=\"Accuracy and") +
                         count(text, "aria-label=\"Training curves") +
                         count(text, "aria-label=\"The numbers are in the table below"));
    assert_true(count(text, "<html lang=\"en\">") == 1);
    base_free(text);
    base_free(page);
}

TEST(hostile_texts_are_inert)
{
    struct json *doc = copy_of_example(), *bad = poisoned(doc, NULL);
    char *text = NULL, *clean = page_of(example);
    assert_int_equal(json_dump(&text, bad, JSON_LINE), SOTTO_OK);
    char *page = page_of(text);
    assert_true(count(text, "alert(1)") > 50); /* the poison is really there */
    assert_int_equal(count(page, "<script"), count(clean, "<script"));
    assert_int_equal(count(page, "</script"), count(clean, "</script"));
    assert_int_equal(count(page, "<img"), 0);
    assert_int_equal(count(page, "<!--"), 0);
    assert_int_equal(count(page, "\xe2\x80\xa8") > 0, 1); /* harmless in text ... */
    char *data = strstr(page, "<script type=\"application/json\" id=\"data\">");
    assert_non_null(data);
    *strstr(data, "</script>") = '\0';
    assert_null(strstr(data, "\xe2\x80\xa8")); /* ... but not in the numbers' script */
    struct json *inner = NULL;
    data = strchr(data, '>') + 1;
    assert_int_equal(json_parse(&inner, data, strlen(data), "data"), SOTTO_OK);
    assert_string_equal(json_text(json_find(inner, "training[0].x")), attack_text); /* escaped, not lost */
    json_free(inner);
    json_free(doc);
    json_free(bad);
    sotto_text_free(text);
    base_free(page);
    base_free(clean);
}

/* --- sweeps --- */

TEST(sweeps_say_when_a_target_is_not_met)
{
    char *page = page_of(example), *text = static_part(page);
    assert_int_equal(count(text, "data-chart=\"sweep-loss\""), 2);   /* two cases */
    assert_int_equal(count(text, "data-chart=\"sweep-attack\""), 4); /* two attacks */
    assert_int_equal(count(text, "data-chart=\"sweep-rate\""), 4);
    assert_int_equal(count(text, "Ceiling of TPR at 1"), 2);
    assert_int_equal(count(text, "not private at the target"), 1);
    assert_true(count(text, "paper norms") > 0);
    assert_non_null(strstr(text, "Nothing in this section was released"));
    base_free(text);
    base_free(page);
}

TEST(bad_sweeps_are_refused)
{
    static const char *const cases[][2] = {
        {"3", "report: 'sweeps' is not a list of at most 512 curves"},
        {"[1]", "report: 'sweeps[0]' is not an object"},
        {"[{}]", "report: 'sweeps[0]' needs the texts 'case', 'mechanism' and 'norms'"},
        {"[{\"case\": \"a\", \"mechanism\": \"m\", \"norms\": \"n\"}]",
         "report: 'sweeps[0].draws' is not a number"},
        {"[{\"case\": \"a\", \"mechanism\": \"m\", \"norms\": \"n\", \"draws\": 0, \"points\": []}]",
         "report: 'sweeps[0]' needs 'draws' >= 1 and at most 256 'points'"},
        {"[{\"case\": \"a\", \"mechanism\": \"m\", \"norms\": \"n\", \"draws\": 2, \"points\": [7]}]",
         "report: 'sweeps[0].points[0]' is not an object"},
        {"[{\"case\": \"a\", \"mechanism\": \"m\", \"norms\": \"n\", \"draws\": 2, \"points\": [{\"scale\": "
         "1, "
         "\"standard_deviation\": 1, \"utility_loss\": {\"mean\": 1, \"lower\": 2, \"upper\": 3}}]}]",
         "report: 'sweeps[0].points[0].utility_loss' needs numbers lower <= mean <= upper"},
        {"[{\"case\": \"a\", \"mechanism\": \"m\", \"norms\": \"n\", \"draws\": 2, \"points\": [{\"scale\": "
         "1, "
         "\"standard_deviation\": 1, \"holds\": 1}]}]",
         NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024], *html = NULL;
        snprintf(text, sizeof text,
                 "{\"schema\": \"sotto.report/1\", \"title\": \"t\", \"rows\": [{\"name\": \"a\", \"title\": "
                 "\"A\", "
                 "\"protected\": false, \"records\": 1}], \"sweeps\": %s}",
                 cases[i][0]);
        assert_int_equal(html_of(&html, text), SOTTO_EFORMAT);
        if (cases[i][1])
            assert_string_equal(sotto_error_text(), cases[i][1]);
    }
}

/* --- refusals --- */

TEST(wrong_documents_are_refused_by_name)
{
    refused(one_row(NOISY_MLP, "proved", "{\"epsilon\": {\"lower\": 1, \"upper\": 1}, \"delta\": 0}", NULL),
            "report: 'rows[0].proved' is given with a sampled sensitivity, which is not a proof; expected "
            "'conditional'");
    refused(one_row(PROVED, "sensitivity", "null", NULL),
            "report: 'rows[0].proved' is given with a missing sensitivity, which is not a proof; expected "
            "'conditional'");
    refused(one_row(PROVED, "scale", "null", NULL),
            "report: 'rows[0].scale' is missing or not > 0; a protected row needs it");
    refused(one_row(PROVED, "utility", "{\"accuracy\": {\"estimate\": 0.5, \"lower\": 0.4, \"upper\": 0.6}}",
                    NULL),
            "report: 'rows[0].utility.unprotected_accuracy' is missing; expected the accuracy cost of the "
            "protection for every protected model");
    refused(one_row(PLAIN_MLP, "utility",
                    "{\"accuracy\": {\"estimate\": 0.5, \"lower\": 0.6, \"upper\": 0.7}}", NULL),
            "report: 'rows[0].utility.accuracy' is 0.5 with the interval [0.6, 0.7]; expected lower <= "
            "estimate <= upper");
    refused(one_row(PLAIN_MLP, "utility", "{\"accuracy\": {\"estimate\": 5, \"lower\": 0.6, \"upper\": 0.7}}",
                    NULL),
            "report: 'rows[0].utility.accuracy.estimate' is 5; expected a fraction between 0 and 1");
    refused(one_row(PLAIN_MLP, "title", "3", NULL), "report: 'rows[0].title' is 3; expected a text");
    refused(one_row(PLAIN_MLP, "measured", "{\"schema\": \"sotto.audit/2\"}", NULL),
            "report: 'rows[0].measured.schema' is not sotto.audit/1");
    refused(base_strdup("{\"schema\": \"sotto.report/2\"}"), "report: 'schema' is not sotto.report/1");
    refused(base_strdup("{\"schema\": \"sotto.report/1\", \"title\": \"t\", \"rows\": []}"),
            "report: 'rows' has 0 entries; expected 1 to 1000");
    refused(base_strdup("{\"schema\": \"sotto.report/1\", \"title\": \"t\"}"),
            "report: 'rows' is missing; expected a list");
}

/* Takes `text`. */
static void file_is(const char *path, char *text)
{
    unsigned char *found;
    size_t size;
    assert_int_equal(file_read(&found, &size, path, 1 << 24), SOTTO_OK);
    assert_string_equal((char *)found, text);
    base_free(found);
    sotto_text_free(text);
}

TEST(files_are_whole_or_absent)
{
    char folder[] = "/tmp/sotto-test-XXXXXX", html[64], json[64];
    assert_non_null(mkdtemp(folder));
    snprintf(html, sizeof html, "%s/report.html", folder);
    snprintf(json, sizeof json, "%s/report.json", folder);
    assert_int_equal(sotto_report_render_file(html, json, NULL), SOTTO_ENOENT);
    assert_int_equal(file_write(json, "{}", 2), SOTTO_OK);
    assert_int_equal(sotto_report_render_file(html, json, NULL), SOTTO_EFORMAT);
    assert_false(file_exists(html));
    assert_int_equal(file_write(json, example, strlen(example)), SOTTO_OK);
    assert_int_equal(sotto_report_render_file(html, json, NULL), SOTTO_OK);
    file_is(html, page_of(example));
    assert_int_equal(file_write(json, "{\"schema\": 1}", 13), SOTTO_OK);
    assert_int_equal(sotto_report_render_file(html, json, NULL), SOTTO_EFORMAT);
    char wanted[128];
    snprintf(wanted, sizeof wanted, "%s: report: 'schema' is 1; expected a text", json);
    assert_string_equal(sotto_error_text(), wanted);
    unlink(html);
    unlink(json);
    rmdir(folder);
}

TEST(a_document_that_is_no_section_is_refused)
{
    char folder[] = "/tmp/sotto-test-XXXXXX", html[64], json[64], beside[64];
    assert_non_null(mkdtemp(folder));
    snprintf(html, sizeof html, "%s/report.html", folder);
    snprintf(json, sizeof json, "%s/report.json", folder);
    snprintf(beside, sizeof beside, "%s/other.json", folder);
    assert_int_equal(file_write(json, example, strlen(example)), SOTTO_OK);
    assert_int_equal(sotto_report_render_file(html, json, (const char *[]){beside, NULL}), SOTTO_ENOENT);
    assert_int_equal(file_write(beside, "{\"schema\": \"sotto.audit/1\"}", 27), SOTTO_OK);
    assert_int_equal(sotto_report_render_file(html, json, (const char *[]){beside, NULL}), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(),
                           "a document of schema 'sotto.audit/1' is no section of a report; omit it"));
    assert_int_equal(access(html, F_OK), -1);
    unlink(json), unlink(beside);
    rmdir(folder);
}

TEST(audits_become_reports)
{
    double member[100], nonmember[100];
    for (int i = 0; i < 100; i++)
        member[i] = i + 5, nonmember[i] = i;
    struct sotto_audit_input in = {
        .member_scores = member, .nonmember_scores = nonmember, .n_member = 100, .n_nonmember = 100};
    char folder[] = "/tmp/sotto-test-XXXXXX", path[5][64];
    struct sotto_audit_result audit = {0};
    static const char *const names[] = {"result.json", "report.json", "report.html", "MODEL_CARD.md",
                                        "attacks.csv"};
    assert_non_null(mkdtemp(folder));
    assert_int_equal(sotto_audit(&audit, &in, NULL, NULL), SOTTO_OK);
    setenv("SOURCE_DATE_EPOCH", "86400", 1);
    unsigned char *first = NULL, *second = NULL;
    size_t sizes[2];
    for (int i = 0; i < 5; i++)
        snprintf(path[i], sizeof path[i], "%s/%s", folder, names[i]);
    assert_int_equal(sotto_report_audit(folder, &audit, NULL), SOTTO_OK);
    assert_int_equal(file_read(&first, &sizes[0], path[2], 1 << 22), SOTTO_OK);
    assert_int_equal(sotto_report_audit(folder, &audit, NULL), SOTTO_OK);
    assert_int_equal(file_read(&second, &sizes[1], path[2], 1 << 22), SOTTO_OK);
    assert_string_equal((char *)first, (char *)second);
    assert_non_null(strstr((char *)first, "1970-01-02T00:00:00Z"));
    char *html = NULL;
    assert_int_equal(sotto_report_audit_html(&html, &audit, NULL), SOTTO_OK);
    file_is(path[2], html);
    unsetenv("SOURCE_DATE_EPOCH");
    for (int i = 0; i < 5; i++)
        assert_int_equal(unlink(path[i]), 0);
    rmdir(folder);
    base_free(first);
    base_free(second);
    sotto_audit_result_free(&audit);
}

TEST(allocation_failures_are_clean)
{
    char *text = one_row(PROVED, NULL);
    long n = 0;
    sotto_status status;
    do {
        char *html = NULL;
        base_alloc_fail_after(n++);
        status = html_of(&html, text);
        base_alloc_fail_after(-1);
        assert_true(status == SOTTO_OK ? html != NULL : status == SOTTO_ENOMEM && !html);
        sotto_text_free(html);
    } while (status != SOTTO_OK && n < 50000);
    assert_int_equal(status, SOTTO_OK);
    assert_true(n > 3);
    sotto_text_free(text);
}

TEST(numbers_are_rounded_to_the_safe_side)
{
    static const struct {
        double x;
        const char *shown;
    } cases[] = {{1, "1"},
                 {1.00001, "1.001"},
                 {0.99999, "1"},
                 {2.3456, "2.346"},
                 {2.3451, "2.346"},
                 {12.341, "12.35"},
                 {48210.2, "48\xe2\x80\xaf"
                           "211"},
                 {0.0012341, "0.001235"},
                 {INFINITY, "\xe2\x88\x9e"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct page p = {0};
        page_rounded_up(&p, cases[i].x);
        assert_string_equal(p.text, cases[i].shown);
        base_free(p.text);
    }
    assert_true(fabs(allowed_tpr(log(2), 0, 0.1) - 0.2) < 1e-15);
    assert_true(fabs(allowed_tpr(0, 0, 0.3) - 0.3) < 1e-15);
    assert_true(fabs(allowed_tpr(log(4), 0.1, 0.5) - (1 - 0.25 * 0.4)) < 1e-15);
}

TEST_GROUP(.set_up = read_example, .tear_down = free_example)
