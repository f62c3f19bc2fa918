/* src/measure/report: what a page says a setting is worth. Each verdict follows from the numbers, a broken claim
 * before all, and nothing that was sampled is ever called proved. */
#include "support/test.h"

#include "report/report_write.h"
#include "support/report_pages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void verdict_is(char *document, const char *kind)
{
    struct report r = {0};
    if (report_read(&r, document, strlen(document)) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    assert_int_equal(r.row_count, 1);
    assert_int_equal(report_decisive_row(&r), 0);
    assert_string_equal(sotto_verdict_name(r.rows[0].verdict), kind);
    report_clear(&r);
    assert_null(r.rows);
    struct json *plain = NULL;
    assert_int_equal(json_parse(&plain, document, strlen(document), "example"), SOTTO_OK);
    assert_int_equal(report_judge(&r, plain), SOTTO_OK);
    assert_string_equal(json_text(json_find(r.doc, "rows[0].verdict.kind")), kind);
    assert_string_equal(json_text(json_find(r.doc, "verdict.kind")), kind);
    report_clear(&r);
    sotto_text_free(document);
}

/* --- no statement --- */

TEST(no_statement_is_said_and_never_beside_protection)
{
    static const struct {
        const char *members, *error;
    } cases[] = {
        {"\"protected\": false, \"statement\": \"none\"", NULL},
        {"\"protected\": false, \"statement\": \"all\"", "'rows[0].statement' is 'all'; expected none"},
        {"\"protected\": true, \"statement\": \"none\"", "is none, but the row is protected"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512], *html = NULL;
        snprintf(text, sizeof text,
                 "{\"schema\": \"sotto.report/1\", \"title\": \"t\", \"rows\": [{\"name\": \"a\", \"title\": "
                 "\"A\", \"records\": 1, %s}]}",
                 cases[i].members);
        sotto_status status = html_of(&html, text);
        assert_int_equal(status, cases[i].error ? SOTTO_EFORMAT : SOTTO_OK);
        if (cases[i].error)
            assert_non_null(strstr(sotto_error_text(), cases[i].error));
        else
            assert_non_null(strstr(html, "<span class=\"none\">no statement</span>"));
        sotto_text_free(html);
    }
}

/* --- verdicts --- */

TEST(verdicts_follow_from_the_numbers)
{
    verdict_is(one_row(PLAIN_MLP, NULL), "leaks");
    verdict_is(one_row(NOISY_MLP, NULL), "leaks");
    verdict_is(one_row(WRECKED_MLP, NULL), "destroyed");
    verdict_is(one_row(PLAIN_LINEAR, NULL), "not-detected");
    verdict_is(one_row(PROVED, NULL), "not-detected");
    verdict_is(one_row(PLAIN_LINEAR, "measured", "null", NULL), "not-attacked");
}

/* The verdicts of the whole example; the report's is the worst of its protected rows, the destroyed one. */
TEST(verdicts_of_the_whole_example)
{
    struct report r = {0};
    assert_int_equal(report_read(&r, example, strlen(example)), SOTTO_OK);
    const struct report_row *plain = &r.rows[PLAIN_MLP];
    const struct attack_result *strongest = &plain->attacks[plain->strongest];
    assert_int_equal(plain->verdict, SOTTO_VERDICT_LEAKS);
    assert_non_null(strstr(plain->verdict_text, "Leaks membership"));
    assert_non_null(strstr(plain->verdict_text, strongest->name));
    assert_true(strongest->auc.lower > 0.55);
    assert_true(strongest->auc.value < strongest->auc.upper);
    assert_int_equal(r.rows[PROVED].verdict, SOTTO_VERDICT_NOT_DETECTED);
    assert_int_equal(report_decisive_row(&r), WRECKED_MLP);
    assert_int_equal(r.rows[report_decisive_row(&r)].verdict, SOTTO_VERDICT_DESTROYED);
    report_clear(&r);
    report_clear(&r);

    char *text = one_row(PLAIN_LINEAR, "measured", "null", NULL);
    assert_int_equal(report_read(&r, text, strlen(text)), SOTTO_OK);
    assert_int_equal(r.rows[0].attack_count, 0);
    report_clear(&r);
    assert_int_equal(report_read(&r, "{}", 2), SOTTO_EFORMAT);
    for (long n = 0;; n++) {
        base_alloc_fail_after(n);
        sotto_status status = report_read(&r, text, strlen(text));
        base_alloc_fail_after(-1);
        if (status == SOTTO_OK)
            break;
        assert_int_equal(status, SOTTO_ENOMEM);
        assert_null(r.rows);
    }
    report_clear(&r);
    sotto_text_free(text);
    assert_null(sotto_verdict_name((enum sotto_verdict)99));
}

static const char utility_format[] = "{\"accuracy\": {\"estimate\": %g, \"lower\": %g, \"upper\": %g}, "
                                     "\"unprotected_accuracy\": 0.7, \"chance\": 0.1}";

TEST(a_destroyed_model_is_never_sold_as_protected)
{
    char utility[256];
    /* A fifth of .7 - .1 is .12: .22 is the border. */
    snprintf(utility, sizeof utility, utility_format, 0.215, 0.2, 0.23);
    verdict_is(one_row(PROVED, "utility", utility, NULL), "destroyed");
    snprintf(utility, sizeof utility, utility_format, 0.225, 0.2, 0.24);
    verdict_is(one_row(PROVED, "utility", utility, NULL), "damaged");
    snprintf(utility, sizeof utility, utility_format, 0.405, 0.4, 0.41); /* just above half of it */
    verdict_is(one_row(PROVED, "utility", utility, NULL), "not-detected");
    char *text = one_row(WRECKED_MLP, NULL), *page = page_of(text), *words = static_part(page);
    assert_non_null(strstr(words, "must not be counted as protected"));
    assert_null(strstr(words, "no leak found"));
    base_free(words);
    base_free(page);
    sotto_text_free(text);
}

/* TPR .9 and FPR .1 on 1,000 of each: epsilon is at least log(.88 / .12) = 1.99 or so. */
static const char strong_attack[] =
    "{\"schema\": \"sotto.audit/1\", \"confidence\": 0.95, \"attacks\": [{\"name\": \"loss\", \"n_member\": "
    "2000, \"n_nonmember\": 2000, "
    "\"auc\": {\"estimate\": 0.95, \"lower\": 0.94, \"upper\": 0.96}, \"epsilon_lower_bound\": 1.9, "
    "\"balanced_accuracy_detail\": {\"estimate\": 0.9, \"lower\": 0.88, \"upper\": 0.92, \"n_member\": 1000, "
    "\"n_nonmember\": 1000}, "
    "\"epsilon_detail\": {\"tpr\": 0.9, \"fpr\": 0.1}}]}";

TEST(a_broken_claim_is_called_so)
{
    verdict_is(one_row(PROVED, "measured", strong_attack, NULL), "contradicted");
    /* epsilon 3 allows it: the attack then is a leak within the claim. */
    verdict_is(one_row(PROVED, "measured", strong_attack, "proved",
                       "{\"epsilon\": {\"lower\": 3, \"upper\": 3}, \"delta\": 0}", NULL),
               "leaks");
    /* So does a delta of .8, whatever epsilon is. */
    verdict_is(one_row(PROVED, "measured", strong_attack, "proved",
                       "{\"epsilon\": {\"lower\": 1, \"upper\": 1}, \"delta\": 0.8}", NULL),
               "leaks");
}

/* Ten attacks, the best of which has its interval just above .5: widened for ten, it says nothing. */
TEST(picking_the_best_attack_is_paid_for)
{
    char audit[8192];
    for (int k = 1; k <= 10; k += 9) {
        size_t used = (size_t)snprintf(
            audit, sizeof audit, "{\"schema\": \"sotto.audit/1\", \"confidence\": 0.95, \"attacks\": [");
        for (int i = 0; i < k; i++)
            used += (size_t)snprintf(
                audit + used, sizeof audit - used,
                "%s{\"name\": \"a%d\", \"auc\": {\"estimate\": 0.52, \"lower\": %g, \"upper\": 0.54}}",
                i ? ", " : "", i, i ? 0.49 : 0.502);
        snprintf(audit + used, sizeof audit - used, "]}");
        verdict_is(one_row(PLAIN_LINEAR, "measured", audit, NULL), k == 1 ? "leaks-little" : "not-detected");
    }
}

/* Numbers of old documents and of other tools, in either direction. */
TEST(documents_without_a_verdict_are_judged)
{
    static const char *const audits[][2] = {
        /* an AUC wholly below one half */
        {"{\"schema\": \"sotto.audit/1\", \"confidence\": 0.95, \"attacks\": [{\"name\": \"loss\", \"auc\": "
         "{\"estimate\": 0.221, \"lower\": 0.194, \"upper\": 0.251}}]}",
         "leaks"},
        /* 3 % of 5,000 members above all but 2 of 5,000 others */
        {"{\"schema\": \"sotto.audit/1\", \"confidence\": 0.95, \"attacks\": [{\"name\": \"loss\", "
         "\"n_member\": "
         "5000, \"n_nonmember\": 5000, \"auc\": {\"estimate\": 0.51, \"lower\": 0.49, \"upper\": 0.53}, "
         "\"tpr_at_fpr\": {\"0.01\": {\"estimate\": 0.04, \"lower\": 0.03, \"upper\": 0.05}}, \"roc\": [[0, "
         "0], "
         "[0.0004, 0.03], [1, 1]]}]}",
         "leaks"},
        /* accuracy far lower on members */
        {"{\"schema\": \"sotto.audit/1\", \"confidence\": 0.95, \"accuracy\": {\"member\": {\"estimate\": "
         "0.5, "
         "\"lower\": 0.45, \"upper\": 0.55, \"n\": 400}, \"nonmember\": {\"estimate\": 0.9, \"lower\": 0.87, "
         "\"upper\": 0.93, \"n\": 400}}, \"attacks\": [{\"name\": \"entropy\", \"auc\": {\"estimate\": 0.5, "
         "\"lower\": 0.46, \"upper\": 0.54}}]}",
         "leaks"},
        /* all of very many guesses right, at a delta: the p-value has as many terms */
        {"{\"schema\": \"sotto.audit/1\", \"confidence\": 0.95, \"delta\": 1e-20, \"attacks\": [{\"name\": "
         "\"scores\", \"auc\": {\"estimate\": 0.5, \"lower\": 0.46, \"upper\": 0.54}, \"one_run\": "
         "{\"records\": "
         "100000000000, \"guesses\": 100000000000, \"right\": 100000000000}}]}",
         "leaks"},
        {"{\"schema\": \"sotto.audit/1\", \"confidence\": 0.95, \"attacks\": [{\"name\": \"loss\", \"auc\": "
         "{\"estimate\": 0.47, \"lower\": 0.43, \"upper\": 0.51}}]}",
         "not-detected"}};
    for (size_t i = 0; i < sizeof audits / sizeof *audits; i++)
        verdict_is(one_row(PLAIN_LINEAR, "measured", audits[i][0], NULL), audits[i][1]);
}

TEST(what_is_sampled_is_never_called_proved)
{
    for (size_t i = NOISY_MLP; i <= WRECKED_MLP; i++) {
        char *text = one_row(i, NULL), *page = page_of(text), *words = static_part(page);
        assert_non_null(strstr(words, "No meaningful proved guarantee"));
        assert_non_null(strstr(words, "this is not a guarantee"));
        assert_null(strstr(words, "ifferentially private"));
        assert_null(strstr(words, "have a proved guarantee"));
        base_free(words);
        base_free(page);
        sotto_text_free(text);
    }
}

TEST(proofs_count_only_whole)
{
    static const char *const weak[] = {
        "{\"epsilon\": {\"lower\": 1, \"upper\": null}, \"delta\": 1e-5}",
        "{\"epsilon\": {\"lower\": 1, \"upper\": 21}, \"delta\": 1e-5}",
        ("{\"epsilon\": {\"lower\": 1, \"upper\": 1}, \"delta\": 1e-5, \"assumptions\": [{\"text\": \"rows "
         "are clipped\", \"met\": false}]}")};
    for (size_t i = 0; i < 3; i++) {
        char *text = one_row(PROVED, "proved", weak[i], NULL), *page = page_of(text);
        assert_non_null(strstr(page, "No meaningful proved guarantee"));
        base_free(page);
        sotto_text_free(text);
    }
    struct json *doc = copy_of_example(), *run = json_make_object();
    char *text = NULL;
    json_put_boolean(&run, "insecure_noise", true);
    json_put(&doc, "run", run);
    assert_int_equal(json_dump(&text, doc, JSON_LINE), SOTTO_OK);
    char *page = page_of(text);
    assert_non_null(strstr(page, "Noise was seeded: no privacy guarantee"));
    assert_non_null(strstr(page, "No meaningful proved guarantee"));
    base_free(page);
    sotto_text_free(text);
    json_free(doc);
}

TEST_GROUP(.set_up = read_example, .tear_down = free_example)
