/* src/measure/report: several models on several axes: what counts as better and worse, the front, the winner; files;
 * refusals. */
#include <math.h>
#include "support/test.h"
#include "support/data_files.h"
#include "io/json/json.h"
#include "report/compare/compare.h"
#include "sotto/private/all.h"

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    files_folder(folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    base_alloc_fail_after(-1);
    files_remove(folder);
    return 0;
}

static struct sotto_estimate about(double value, double reach)
{
    return (struct sotto_estimate){value, value - reach, value + reach};
}

static struct sotto_compare_row row(const char *name, double utility, double membership, double attribute)
{
    struct sotto_compare_row r = {.name = name};
    for (int k = 0; k < SOTTO_AXES; k++)
        r.axis[k] = (struct sotto_estimate){NAN, NAN, NAN};
    r.axis[SOTTO_AXIS_UTILITY] = about(utility, 0.02);
    r.axis[SOTTO_AXIS_MEMBERSHIP] = about(membership, 0.02);
    r.axis[SOTTO_AXIS_ATTRIBUTE] = about(attribute, 0.02);
    return r;
}

TEST(changes_by_hand)
{
    struct sotto_compare_row rows[] = {
        row("original", 0.80, 0.55, 0.60),
        row("talos", 0.79, 0.54, 0.50),     /* hides the attribute; the rest stays within the intervals */
        row("olympus", 0.80, 0.60, 0.30),   /* hides more, and breaks membership */
        row("harmless", 0.80, 0.56, 0.565), /* better by its estimate, but the intervals meet */
        row("blunt", 0.775, 0.55, 0.50),    /* costs accuracy: only just beyond the interval */
        row("useless", 0.80, 0.55, 0.60),
    };
    struct sotto_compare_result c = {.row_count = 6, .rows = rows, .choice = {0}};
    compare_judge(&c);
    assert_true(c.shared[SOTTO_AXIS_UTILITY] && c.shared[SOTTO_AXIS_ATTRIBUTE] &&
                !c.shared[SOTTO_AXIS_ENCODER]);
    static const bool wins[] = {false, true, false, false, false, false};
    static const bool front[] = {true, true, true, true, false, true};
    for (int i = 0; i < 6; i++) {
        if (rows[i].wins != wins[i])
            fail_msg("%s", rows[i].name);
        if (i != 0 && i != 5 && rows[i].front != front[i])
            fail_msg("front: %s", rows[i].name);
    }
    assert_true(rows[0].front == rows[5].front); /* equals do not beat each other */
    assert_int_equal(rows[1].change[SOTTO_AXIS_ATTRIBUTE], SOTTO_CHANGE_BETTER);
    assert_int_equal(rows[2].change[SOTTO_AXIS_MEMBERSHIP], SOTTO_CHANGE_WORSE);
    assert_int_equal(rows[3].change[SOTTO_AXIS_ATTRIBUTE], SOTTO_CHANGE_NONE);
    assert_int_equal(rows[4].change[SOTTO_AXIS_UTILITY], SOTTO_CHANGE_WORSE);
    assert_int_equal(rows[1].change[SOTTO_AXIS_ENCODER], SOTTO_CHANGE_UNKNOWN);
    assert_int_equal(rows[0].change[SOTTO_AXIS_UTILITY], SOTTO_CHANGE_UNKNOWN);
}

/* One defence at several strengths: the strongest that costs nothing is chosen, not the strongest, and none
 * where the intervals meet. */
TEST(the_choice_improves_most_without_a_loss)
{
    struct sotto_compare_row rows[] = {
        row("lambda 0", 0.80, 0.55, 0.60), row("lambda .5", 0.80, 0.55, 0.52),
        row("lambda 1", 0.79, 0.56, 0.45), row("lambda 2", 0.785, 0.54, 0.45),
        row("lambda 5", 0.50, 0.50, 0.20), /* the encoder is gone */
    };
    struct sotto_compare_result c = {.row_count = 5, .rows = rows, .choice = {9, 9, 9, 9, 9, 9, 9}};
    compare_judge(&c);
    assert_int_equal(c.choice[SOTTO_AXIS_ATTRIBUTE], 2);
    assert_int_equal(c.choice[SOTTO_AXIS_UTILITY], 0);
    assert_int_equal(c.choice[SOTTO_AXIS_MEMBERSHIP], 0);
    assert_int_equal(c.choice[SOTTO_AXIS_ENCODER], 0);
    assert_true(rows[4].worse && !rows[2].worse);
    c.row_count = 2;
    rows[1].axis[SOTTO_AXIS_ATTRIBUTE] = about(0.565, 0.02);
    compare_judge(&c);
    assert_int_equal(c.choice[SOTTO_AXIS_ATTRIBUTE], 0);
}

TEST(what_was_not_measured_does_not_win)
{
    struct sotto_compare_row rows[] = {row("original", 0.8, 0.55, 0.6), row("half", 0.8, 0.55, 0.3)};
    struct sotto_compare_result c = {.row_count = 2, .rows = rows, .choice = {0}};
    compare_judge(&c);
    assert_true(rows[1].wins);
    rows[1].axis[SOTTO_AXIS_MEMBERSHIP].estimate = NAN;
    compare_judge(&c);
    assert_false(rows[1].wins);
    assert_false(c.shared[SOTTO_AXIS_MEMBERSHIP]);
    rows[0].axis[SOTTO_AXIS_MEMBERSHIP].estimate = NAN; /* of neither */
    compare_judge(&c);
    assert_true(rows[1].wins);
    rows[1].axis[SOTTO_AXIS_MEMBERSHIP] = about(0.55, 0.02); /* of the defended model alone */
    compare_judge(&c);
    assert_false(rows[1].wins);
}

TEST(dominated_models_leave_the_front)
{
    struct sotto_compare_row rows[] = {row("a", 0.8, 0.55, 0.6), row("b", 0.8, 0.54, 0.6),
                                       row("c", 0.9, 0.9, 0.9)};
    struct sotto_compare_result c = {.row_count = 3, .rows = rows, .choice = {0}};
    compare_judge(&c);
    assert_true(!rows[0].front && rows[1].front && rows[2].front);
}

static const char membership[] =
    "{\"schema\": \"sotto.audit/1\", \"accuracy\": {\"nonmember\": {\"estimate\": %g, \"lower\": %g, "
    "\"upper\": %g}},"
    " \"attacks\": [{\"name\": \"loss\", \"auc\": {\"estimate\": 0.5, \"lower\": 0.45, \"upper\": 0.55}},"
    " {\"name\": \"entropy\", \"auc\": {\"estimate\": 0.6, \"lower\": 0.55, \"upper\": 0.65}}]}";
static const char encoder[] = "{\"schema\": \"sotto.audit/1\", \"encoder_attack\": {}, \"attacks\": "
                              "[{\"name\": \"encoder-mi-set\", \"auc\": "
                              "{\"estimate\": 0.7, \"lower\": 0.6, \"upper\": 0.8}}]}";
static const char attribute[] =
    "{\"schema\": \"sotto.audit/1\", \"attacks\": [], \"attribute\": {\"attack\": {\"name\": \"network\", "
    "\"balanced_accuracy\": {\"estimate\": %g, \"lower\": %g, \"upper\": %g}}}}";

static const char *written(const char *name, const char *format, double value)
{
    static char paths[8][160];
    static int next;
    char text[1024], *path = paths[next++ % 8];
    snprintf(text, sizeof text, format, value, value - 0.01, value + 0.01);
    files_write_text(folder, name, text);
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

TEST(files_become_a_document_and_a_page, .before = set_up, .after = tear_down)
{
    const char *const original[] = {written("om.json", membership, 0.8), written("oe.json", encoder, 0),
                                    written("oa.json", attribute, 0.6)},
                      *const other[] = {written("tm.json", membership, 0.8), written("te.json", encoder, 0),
                                        written("ta.json", attribute, 0.4)};
    const struct sotto_compared rows[] = {{.name = "original", .files = original, .file_count = 3},
                                          {.name = "<b>\"t\"</b>", .files = other, .file_count = 3}};
    char *json = NULL, *html = NULL, *text = NULL, path[160];
    struct json *doc = NULL;
    struct sotto_compare_result found = {0}, again = {0};
    if (sotto_compare(&found, rows, 2, "A & B") != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    assert_true(found.row_count == 2 && found.choice[SOTTO_AXIS_ATTRIBUTE] == 1 && found.rows[1].wins);
    assert_int_equal(sotto_compare_encode(&json, &found), SOTTO_OK);
    assert_int_equal(sotto_compare_html(&html, &found), SOTTO_OK);
    assert_int_equal(json_parse(&doc, json, strlen(json), "comparison"), SOTTO_OK);
    assert_string_equal(json_text(json_find(doc, "rows[0].membership.by")), "entropy"); /* the worst */
    assert_string_equal(json_text(json_find(doc, "rows[0].encoder_membership.by")), "encoder-mi-set");
    assert_true(json_number(json_find(doc, "rows[1].attribute.estimate")) == 0.4);
    assert_string_equal(json_text(json_find(doc, "rows[1].attribute.change")), "better");
    assert_int_equal(json_count(json_find(doc, "front_over")), 5);
    assert_true(fabs(json_number(json_find(doc, "rows[0].leakage.estimate")) - 0.1) < 1e-12);
    assert_string_equal(json_text(json_find(doc, "attacks[0]")), "loss");
    assert_string_equal(json_text(json_find(doc, "winner")), "<b>\"t\"</b>");
    assert_string_equal(json_text(json_find(doc, "choice.attribute")), "<b>\"t\"</b>");
    assert_string_equal(json_text(json_find(doc, "choice.utility")), "original"); /* no row wins */
    json_free(doc);
    assert_non_null(strstr(html, "&lt;b&gt;"));
    assert_null(strstr(html, "<b>\""));
    assert_non_null(strstr(html, "A &amp; B"));
    assert_non_null(strstr(html, "<svg"));
    assert_int_equal(sotto_compare_summary(&text, &found), SOTTO_OK);
    assert_non_null(strstr(text, "0.400 [0.390, 0.410] better"));
    assert_non_null(strstr(text, "yes    yes\n"));
    assert_non_null(strstr(text, "utility             none\n"));
    assert_non_null(strstr(text, "attribute           <b>\"t\"</b>\n"));
    sotto_text_free(text);
    snprintf(path, sizeof path, "%s/out", folder);
    assert_int_equal(sotto_compare_write(path, &found), SOTTO_OK);
    snprintf(path, sizeof path, "%s/out/compare.csv", folder);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char line[256];
    assert_non_null(fgets(line, sizeof line, f));
    assert_string_equal(line, "model,axis,estimate,lower,upper,by,change,front,wins\n");
    for (int i = 0; i < 6; i++)
        assert_non_null(fgets(line, sizeof line, f));
    assert_string_equal(line, "\"<b>\"\"t\"\"</b>\",utility,0.8,0.79,0.81,\"\",\"same\",1,1\n");
    fclose(f);
    for (long n = 0; n < 60; n++) {
        base_alloc_fail_after(n);
        sotto_status status = sotto_compare(&again, rows, 2, NULL);
        base_alloc_fail_after(-1);
        assert_true(status == SOTTO_OK || (status == SOTTO_ENOMEM && !again.memory));
        sotto_compare_result_free(&again);
    }
    sotto_text_free(json);
    sotto_text_free(html);
    sotto_compare_result_free(&found);
}

static void refuse(const struct sotto_compared *rows, size_t count, sotto_status expected, const char *text)
{
    struct sotto_compare_result r = {0};
    sotto_status status = sotto_compare(&r, rows, count, NULL);
    if (status != expected || !strstr(sotto_error_text(), text))
        fail_msg("%s: %s", sotto_status_name(status), sotto_error_text());
    assert_null(r.memory);
}

TEST(bad_input_is_refused, .before = set_up, .after = tear_down)
{
    const char *const good[] = {written("g.json", attribute, 0.5)},
                      *const wrong[] = {written("w.json", "{}", 0)}, *const missing[] = {"/dev/null/a.json"};
    struct sotto_compared rows[] = {{.name = "a", .files = good, .file_count = 1},
                                    {.name = "a", .files = good, .file_count = 1}};
    refuse(rows, 1, SOTTO_EINVAL, "compare: 1 models; expected 2 to 1000");
    refuse(rows, 2, SOTTO_EINVAL, "compare: two models are called 'a'");
    rows[1].name = "";
    refuse(rows, 2, SOTTO_EINVAL, "compare: model 2 has no name");
    rows[1] = (struct sotto_compared){.name = "b", .files = wrong, .file_count = 1};
    refuse(rows, 2, SOTTO_EFORMAT,
           "w.json: schema is ''; expected sotto.audit/1 (result.json of an audit or attack)");
    rows[1].files = missing;
    refuse(rows, 2, SOTTO_ENOENT, "/dev/null/a.json");
}

/* --- models that were judged by one AUC --- */

/* An audit of one attack: AUC, and TPR at .1 %, each with an interval of this reach. */
static const char *audited(const char *name, const char *attack, double auc, double tpr)
{
    static char paths[8][160];
    static int next;
    char text[1024], *path = paths[next++ % 8];
    snprintf(
        text, sizeof text,
        "{\"schema\": \"sotto.audit/1\", \"confidence\": 0.95, \"accuracy\": {\"nonmember\": {\"estimate\": "
        "0.8, "
        "\"lower\": 0.78, \"upper\": 0.82}}, \"attacks\": [{\"name\": \"%s\", \"auc\": {\"estimate\": %g, "
        "\"lower\": %g, \"upper\": %g}, \"tpr_at_fpr\": {\"0.001\": {\"estimate\": %g, \"lower\": %g, "
        "\"upper\": %g}}}]}",
        attack, auc, auc - 0.01, auc + 0.01, tpr, tpr * 0.7, tpr * 1.3);
    files_write_text(folder, name, text);
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

/* The second leaks more than the original, by the opposite guess; the third finds 3 % of the members for certain. */
TEST(leakage_ranks_models, .before = set_up, .after = tear_down)
{
    const char *const files[] = {
        audited("a.json", "loss", 0.63, 0.0044), audited("b.json", "loss", 0.254, 0.0003),
        audited("c.json", "loss", 0.513, 0.03), audited("d.json", "loss", 0.562, 0.0023)};
    static const char *const names[] = {"original", "turned", "certain", "better"};
    static const double leakage[] = {0.13, 0.246, 0.029, 0.062};
    struct sotto_compared rows[4];
    struct sotto_compare_result found = {0};
    char *text = NULL;
    for (int i = 0; i < 4; i++)
        rows[i] = (struct sotto_compared){.name = names[i], .files = &files[i], .file_count = 1};
    if (sotto_compare(&found, rows, 4, NULL) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    for (int i = 0; i < 4; i++)
        assert_true(fabs(found.rows[i].axis[SOTTO_AXIS_LEAKAGE].estimate - leakage[i]) < 1e-9);
    assert_true(found.fpr == 0.001);
    for (int i = 0; i < 4; i++)
        assert_true(found.rows[i].verdict == SOTTO_VERDICT_LEAKS ||
                    (i == 2 && found.rows[i].verdict == SOTTO_VERDICT_LEAKS_LITTLE));
    assert_true(found.rows[1].swapped && !found.rows[0].swapped && !found.rows[3].swapped);
    assert_int_equal(found.rows[1].change[SOTTO_AXIS_LEAKAGE], SOTTO_CHANGE_WORSE);
    assert_int_equal(found.rows[2].change[SOTTO_AXIS_TPR], SOTTO_CHANGE_WORSE);
    assert_true(!found.rows[1].wins && !found.rows[2].wins && found.rows[3].wins);
    assert_int_equal(found.winner, 3);
    assert_int_equal(found.choice[SOTTO_AXIS_MEMBERSHIP], 3);
    assert_int_equal(sotto_compare_summary(&text, &found), SOTTO_OK);
    assert_non_null(strstr(text, "leakage is measured by the attacks that all models have: loss\n"));
    assert_non_null(strstr(text, "tpr_at_fpr is at a false-positive rate of 0.1 %\n"));
    assert_non_null(strstr(text, "best by leakage and utility: better\n"));
    sotto_text_free(text);
    assert_int_equal(sotto_compare_html(&text, &found), SOTTO_OK);
    assert_non_null(strstr(text, "Nothing here is proved."));
    assert_non_null(strstr(text, "<bdi>turned</bdi>: Leaks membership: the opposite guess of"));
    sotto_text_free(text);
    sotto_compare_result_free(&found);
}

/* One model was attacked by one attack more, the strongest: it is compared by the common one. */
TEST(models_are_compared_by_common_attacks, .before = set_up, .after = tear_down)
{
    const char *const many[] = {audited("a.json", "loss", 0.6, 0.002), audited("b.json", "lira", 0.9, 0.1)},
                      *const few[] = {audited("c.json", "loss", 0.7, 0.002)},
                      *const other[] = {audited("d.json", "entropy", 0.7, 0.002)};
    struct sotto_compared rows[] = {{.name = "attacked", .files = many, .file_count = 2},
                                    {.name = "spared", .files = few, .file_count = 1}};
    struct sotto_compare_result found = {0};
    char *text = NULL;
    assert_int_equal(sotto_compare(&found, rows, 2, NULL), SOTTO_OK);
    assert_true(found.attack_count == 1 && strcmp(found.attacks[0], "loss") == 0);
    assert_true(found.rows[0].left_out_count == 1 && strcmp(found.rows[0].left_out[0], "lira") == 0);
    assert_string_equal(found.rows[0].by[SOTTO_AXIS_MEMBERSHIP], "loss");
    assert_int_equal(found.rows[1].change[SOTTO_AXIS_LEAKAGE], SOTTO_CHANGE_WORSE);
    assert_int_equal(found.winner, 0);
    assert_int_equal(sotto_compare_html(&text, &found), SOTTO_OK);
    assert_non_null(
        strstr(text, "Leakage is measured by the attacks that all models have: '<bdi>loss</bdi>'"));
    assert_non_null(strstr(text, "Left out: '<bdi>lira</bdi>' of <bdi>attacked</bdi>"));
    sotto_text_free(text);
    sotto_compare_result_free(&found);
    rows[1].files = other;
    refuse(rows, 2, SOTTO_EINVAL, "compare: the models have no attack in common");
}

/* Of two that win and leak alike, the more useful one; not where it leaks more. */
TEST(the_winner_is_decided_by_leakage_and_utility)
{
    struct sotto_compare_row rows[] = {row("original", 0.80, 0.7, 0.6), row("a", 0.805, 0.6, 0.6),
                                       row("b", 0.815, 0.6, 0.6)};
    struct sotto_compare_result c = {.row_count = 3, .rows = rows};
    static const double leakage[] = {0.2, 0.100, 0.105};
    for (int i = 0; i < 3; i++)
        rows[i].axis[SOTTO_AXIS_LEAKAGE] = about(leakage[i], 0.02);
    compare_judge(&c);
    assert_true(rows[1].wins && rows[2].wins);
    assert_int_equal(c.winner, 2);
    rows[1].axis[SOTTO_AXIS_LEAKAGE] = about(0.05, 0.02);
    compare_judge(&c);
    assert_int_equal(c.winner, 1);
    rows[1].axis[SOTTO_AXIS_EPSILON] = (struct sotto_estimate){3, 3, 3}; /* decides nothing */
    compare_judge(&c);
    assert_true(rows[1].wins && !rows[1].worse && c.winner == 1 && !c.shared[SOTTO_AXIS_EPSILON]);
}
