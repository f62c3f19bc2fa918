/* src/measure/report: the first screen of a page. The verdict is its first heading, checks follow it folded, costs stand setting by setting,
 * and the next step fits what was found. */
#include "support/test.h"
#include "support/report_pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Between the first <h1> of the page and its end, without tags. */
static char *heading(char *page)
{
    static char out[1024];
    const char *from = strstr(page, "<h1");
    size_t used = 0;
    assert_non_null(from);
    assert_true(strstr(page, "<h2") > from && strstr(page, "<h3") > from);
    assert_int_equal(count(page, "<h1"), 1);
    for (bool tag = false; strncmp(from, "</h1>", 5) != 0 && used + 1 < sizeof out; from++) {
        tag = *from == '<' || (tag && *from != '>');
        if (!tag && *from != '>')
            out[used++] = *from;
    }
    out[used] = '\0';
    return out;
}

static void heads(char *document, const char *wanted)
{
    char *page = page_of(document);
    const char *found = heading(page);
    if (strcmp(found, wanted) != 0)
        fail_msg("the page begins '%s', not '%s'", found, wanted);
    assert_int_equal(count(page, "<h1 data-verdict>"), 1);
    base_free(page);
    sotto_text_free(document);
}

static const char none_above[] =
    "{\"schema\": \"sotto.audit/1\", \"confidence\": 0.95, \"attacks\": [{\"name\": \"loss\", \"auc\": "
    "{\"estimate\": 0.46, \"lower\": 0.41, \"upper\": 0.51}}, {\"name\": \"entropy\", \"auc\": "
    "{\"estimate\": "
    "0.48, \"lower\": 0.43, \"upper\": 0.53}}]}";

#define EPSILON "\xce\xb5\xc2\xa0\xe2\x89\xa4\xc2\xa0"
#define DELTA                                                                                                \
    "at \xce\xb4\xc2\xa0=\xc2\xa0"                                                                           \
    "10\xe2\x88\x92"                                                                                         \
    "5."

TEST(the_verdict_is_the_first_heading)
{
    heads(base_strdup(example), "Proved for 2 of 7 settings, at best: " EPSILON "1 " DELTA
                                " Attacks tell members from non-members in 3 of 7 settings, with "
                                "AUC up to 0.695 [0.671, 0.718] (0.5 is guessing).");
    heads(one_row(PLAIN_MLP, NULL), "No meaningful guarantee is proved. An attack tells members from "
                                    "non-members, with AUC 0.695 [0.671, 0.718] (0.5 is guessing).");
    heads(one_row(PROVED, NULL), "Proved: " EPSILON "1 " DELTA
                                 " No attack did better than guessing (largest AUC 0.501 [0.493, 0.509]).");
    heads(one_row(PLAIN_LINEAR, "measured", "null", NULL),
          "No meaningful guarantee is proved. No membership attack was run.");
    heads(one_row(PLAIN_LINEAR, "measured", none_above, NULL),
          "No meaningful guarantee is proved. No attack did better than guessing (none above chance: largest "
          "AUC "
          "0.480 [0.430, 0.530]).");
}

/* An AUC below one half whose interval is not is no finding: nothing on the page calls it the strongest or the worst. */
TEST(nothing_below_chance_is_the_worst)
{
    char *document = one_row(PLAIN_LINEAR, "measured", none_above, NULL), *page = page_of(document),
         *text = static_part(page);
    assert_int_equal(count(text, "Worst"), 0);
    assert_int_equal(count(text, "strongest"), 0);
    assert_true(count(text, "none above chance") >= 2);
    assert_int_equal(count(text, "No attack is above chance: largest AUC 0.480 <span"), 1);
    base_free(text);
    base_free(page);
    sotto_text_free(document);
}

/* Nor is a rate, although the attack's AUC is above chance. */
TEST(no_rate_below_chance_is_the_worst)
{
    static const char shares[2][8] = {"0.004", "0.25"};
    for (int found = 0; found < 2; found++) {
        char audit[512];
        snprintf(audit, sizeof audit,
                 "{\"schema\": \"sotto.audit/1\", \"confidence\": 0.95, \"attacks\": [{\"name\": \"loss\", "
                 "\"auc\": {\"estimate\": 0.7, \"lower\": 0.6, \"upper\": 0.8}, \"tpr_at_fpr\": {\"0.01\": "
                 "{\"estimate\": %s, \"lower\": 0, \"upper\": 0.3}}}]}",
                 shares[found]);
        char *document = one_row(PLAIN_LINEAR, "measured", audit, NULL), *page = page_of(document),
             *text = static_part(page);
        assert_int_equal(count(text, "Worst: "), 1);
        assert_int_equal(count(text, "it finds no more of the members than guessing does"), !found);
        assert_int_equal(count(text, "it finds 25.0"), found);
        base_free(text);
        base_free(page);
        sotto_text_free(document);
    }
}

static const char warned[] =
    "{\"schema\": \"sotto.audit/1\", \"confidence\": 0.95, \"attacks\": [], \"lint\": [{\"name\": "
    "\"generalisation\", \"level\": \"warning\", \"text\": \"a gap\"}, {\"name\": \"classes\", \"level\": "
    "\"ok\", "
    "\"text\": \"alike\"}]}";

/* Fourteen settings with the same warning: one line, its details folded, below the verdict. */
TEST(warnings_of_a_kind_are_one_line)
{
    struct json *doc = copy_of_example(), *rows = json_make_array(), *audit = NULL;
    char *text = NULL;
    assert_int_equal(json_parse(&audit, warned, strlen(warned), "audit"), SOTTO_OK);
    for (int i = 0; i < 14; i++) {
        struct json *row = json_clone(json_at(json_member(doc, "rows"), PLAIN_LINEAR));
        json_put(&row, "measured", json_clone(audit));
        json_push(&rows, row);
    }
    json_put(&doc, "rows", rows);
    assert_int_equal(json_dump(&text, doc, JSON_LINE), SOTTO_OK);
    char *page = page_of(text), *checks = strstr(page, "<section id=\"checks\"");
    assert_true(checks && checks > strstr(page, "<section id=\"verdict\""));
    assert_int_equal(count(page, "14 warnings from checks</strong> (generalisation)"), 1);
    assert_int_equal(count(page, "<details><summary>14 fine, 14 warnings, 0 not made</summary>"), 1);
    assert_int_equal(count(page, "WARNING:"), 1);
    assert_int_equal(count(page, "generalisation <details><summary>14 settings</summary>"), 1);
    assert_int_equal(count(page, ": a gap</li>"), 14);
    assert_int_equal(count(page, "fine:"), 1);
    assert_int_equal(count(page, "<details open><summary>14"), 0);
    base_free(page);
    sotto_text_free(text);
    json_free(audit);
    json_free(doc);
}

/* Setting, accuracy without noise, with it, cost. */
TEST(costs_stand_setting_by_setting)
{
    char *page = page_of(example);
    const char *table = strstr(page, "<span id=\"cost\">");
    assert_non_null(table);
    char *end = strstr(table, "</table>");
    *end = '\0';
    struct json *doc = copy_of_example();
    size_t protected_rows = 0;
    for (size_t i = 0; i < json_count(json_member(doc, "rows")); i++) {
        const struct json *row = json_at(json_member(doc, "rows"), i);
        bool is = false;
        assert_int_equal(json_get_boolean(&is, row, "row", "protected"), SOTTO_OK);
        protected_rows += is;
    }
    assert_int_equal(count(table, "<tr><th scope=\"row\">"), protected_rows);
    assert_int_equal(count(table, " points"), protected_rows + 1); /* and in the caption */
    *end = '<';
    assert_int_equal(count(page, "Noise costs"), 0);
    json_free(doc);
    base_free(page);
}

/* The lowest class stands on the folded line, all of them below it; settings without them have no table. */
TEST(accuracy_stands_class_by_class)
{
    char *page = page_of(example);
    assert_int_equal(count(page, "<h3>Accuracy by class</h3>"), 1);
    assert_int_equal(count(page, "aria-label=\"Accuracy by class\""), 1);
    char *from = strstr(page, "aria-label=\"Accuracy by class\""), *end = strstr(from, "</table>");
    *end = '\0';
    assert_int_equal(count(from, "<tr><th scope=\"row\">"), 2);
    assert_int_equal(
        count(from, "<td class=\"number\">class 6: 0.310 <span class=\"ci\">[0.290, 0.330]</span></td>"), 2);
    assert_int_equal(count(from, "<td class=\"number\">"), 2 * (10 + 1));
    base_free(page);
    char *alone =
        one_row(PROVED, "utility",
                "{\"accuracy\": {\"estimate\": 0.5, \"lower\": 0.4, \"upper\": 0.6}, "
                "\"unprotected_accuracy\": 0.6, "
                "\"classes\": [{\"class\": 0, \"n\": 9, \"estimate\": 0.7, \"lower\": 0.4, \"upper\": 0.8}, "
                "{\"class\": 1, \"n\": 9, \"estimate\": 0.3, \"lower\": 0.2, \"upper\": 0.6}]}",
                NULL);
    page = page_of(alone);
    sotto_text_free(alone);
    assert_int_equal(
        count(page, ": lowest in class 1, 0.300 <span class=\"ci\">[0.200, 0.600]</span></summary>"), 1);
    assert_int_equal(count(strstr(page, "aria-label=\"Accuracy by class\""), "<td class=\"number\">0.300"),
                     1);
    base_free(page);
    char *html = NULL,
         *bad = one_row(PROVED, "utility",
                        "{\"accuracy\": {\"estimate\": 0.5, \"lower\": 0.4, \"upper\": 0.6}, "
                        "\"unprotected_accuracy\": 0.6, "
                        "\"classes\": [{\"class\": 0, \"estimate\": 2, \"lower\": 0.4, \"upper\": 0.6}]}",
                        NULL);
    assert_int_equal(html_of(&html, bad), SOTTO_EFORMAT);
    assert_string_equal(
        sotto_error_text(),
        "report: 'rows[0].utility.classes[0].estimate' is 2; expected a fraction between 0 and 1");
    sotto_text_free(bad);
}

TEST(the_first_screen_shows_the_strongest_attack_and_what_epsilon_cost)
{
    char *page = page_of(example);
    const char *cards = strstr(page, "class=\"cards\""), *pictures = strstr(page, "class=\"pictures\""),
               *words = strstr(page, "id=\"words\""), *next = strstr(page, "id=\"next\""),
               *glance = strstr(page, "class=\"glance\"");
    assert_true(cards && pictures > cards && words > pictures && next > words && glance > next);
    assert_int_equal(count(page, "<svg "), 2);
    assert_int_equal(count(page, "<path class=\"allowed\""), 1);
    assert_int_equal(count(page, "<path class=\"attack\""), 1);
    assert_true(count(page, "<circle ") >= 1);
    base_free(page);
    char *alone = one_row(PLAIN_MLP, NULL); /* nothing is proved: no region, and no point */
    page = page_of(alone);
    assert_int_equal(count(page, "<svg "), 1);
    assert_int_equal(count(page, "class=\"allowed\""), 0);
    base_free(page);
    sotto_text_free(alone);
}

TEST(the_dearest_setting_stands_in_the_card)
{
    char *page = page_of(example), *card = strstr(page, "<div class=\"card cost\">");
    assert_non_null(card);
    *strstr(card, "</div>") = '\0';
    assert_int_equal(count(card, " points</strong> of accuracy, from "), 1);
    base_free(page);
}

TEST(settings_stand_under_the_model_that_they_belong_to)
{
    char *page = page_of(example), *glance = strstr(page, "class=\"glance\"");
    *strstr(glance, "</table>") = '\0';
    assert_true(count(glance, "<tr class=\"group\">") >= 1);
    assert_int_equal(count(glance, "<tr class=\"group\">"), count(glance, ">without noise</"));
    base_free(page);
}

static void next_is(char *document, const char *command)
{
    char *page = page_of(document);
    const char *next = strstr(page, "<h3 id=\"next\">"), *found = next ? strstr(next, "<code>") : NULL;
    assert_non_null(found);
    if (strncmp(found + 6, command, strlen(command)) != 0)
        fail_msg("next is %.80s, not %s", found + 6, command);
    base_free(page);
    sotto_text_free(document);
}

TEST(the_next_step_fits_what_was_found)
{
    next_is(one_row(PROVED, NULL), "sotto verify protected/");
    next_is(one_row(PROVED, "certified", "true", NULL), "sotto verify CERTIFICATE.json --ledger");
    next_is(one_row(PLAIN_MLP, NULL), "sotto head ");
    next_is(one_row(WRECKED_MLP, NULL), "sotto head ");
    next_is(one_row(PLAIN_LINEAR, NULL), "sotto attack lira ");
    next_is(one_row(PLAIN_LINEAR, "measured", "null", NULL), "sotto attack lira ");
}

/* Down the page the letters follow the alphabet, and notes name letters that are there. */
TEST(plots_are_lettered_in_order)
{
    char *page = page_of(example), wanted[32];
    const char *at = page;
    size_t figures = count(page, "<figcaption>");
    assert_true(figures > 3 && figures <= 26);
    for (size_t i = 0; i < figures; i++) {
        snprintf(wanted, sizeof wanted, "<figcaption>Plot %c: ", (char)('A' + i));
        at = strstr(at, "<figcaption>");
        assert_true(at && strncmp(at, wanted, strlen(wanted)) == 0);
        at++;
    }
    struct page p = {.plots = 25};
    page_plot(&p);
    page_plot(&p);
    page_plots_since(&p, 25);
    assert_string_equal(p.text, "Plot Z: Plot AA: Plots Z to AA. ");
    base_free(p.text);
    base_free(page);
}

TEST_GROUP(.set_up = read_example, .tear_down = free_example)
