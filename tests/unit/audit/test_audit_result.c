/* The result of an audit as plain values: numbers without a parser, its document and back, documents from anywhere. */
#include "support/test.h"
#include "audit/audit_document.h"
#include "audit/measure/metrics.h"
#include "support/audit_world.h"

#include <math.h>

enum { SIDE = 200 };

/* Members score higher by a third of the range. */
static void scores_make(double *member, double *nonmember)
{
    for (size_t i = 0; i < SIDE; i++) {
        nonmember[i] = (double)i;
        member[i] = (double)i + SIDE / 3.0;
    }
}

TEST(a_c_user_reads_numbers)
{
    double member[SIDE], nonmember[SIDE];
    const double rates[] = {0.05, 0.001};
    scores_make(member, nonmember);
    const struct sotto_audit_input in = {
        .member_scores = member, .nonmember_scores = nonmember, .n_member = SIDE, .n_nonmember = SIDE};
    const struct sotto_audit_options options = {.fpr = rates,
                                                .fpr_count = 2,
                                                .has_claim = 1,
                                                .claim_epsilon = 0.1,
                                                .most_vulnerable = 3,
                                                .include_indices = 1};
    struct sotto_audit_result r = {0};
    struct sotto_estimate auc;
    assert_int_equal(sotto_audit(&r, &in, &options, NULL), SOTTO_OK);
    assert_int_equal(r.attack_count, 1);
    const struct sotto_audit_attack *a = &r.attacks[0];
    assert_string_equal(a->name, "scores");
    assert_int_equal(estimate_auc(&auc, member, SIDE, nonmember, SIDE, 0.95), SOTTO_OK);
    assert_memory_equal(&a->auc.area, &auc, sizeof auc);
    assert_int_equal(a->rate_count, 2);
    assert_true(a->rates[0].fpr == 0.05 && !a->rates[0].refused && a->rates[0].weak == 0);
    assert_true(a->rates[0].tpr.rate.lower < a->rates[0].tpr.rate.estimate);
    assert_true(a->rates[0].fixed.n_member == SIDE / 2 && a->rates[0].tpr.n_member == SIDE);
    assert_string_equal(a->rates[1].refused, "needs at least 1000 non-members (200 given)");
    assert_true(isnan(a->rates[1].tpr.rate.estimate));
    assert_true(a->roc[0].fpr == 0 && a->roc[a->roc_count - 1].tpr == 1);
    assert_true(a->advantage > 0.3 && a->balanced.accuracy.estimate > 0.6);
    assert_true(r.claim && r.claim->contradicted && r.claim->lower_bound == a->claim->best.lower_bound);
    assert_int_equal(r.check_count, 4);
    assert_int_equal(r.checks[1].level, SOTTO_CHECK_UNKNOWN);
    assert_true(r.vulnerable && r.vulnerable->count == 3 && r.vulnerable->members[0].row == SIDE - 1);
    assert_true(!r.accuracy && !r.attribute && !r.slices && r.warning_count == 1);
    sotto_audit_result_free(&r);
    assert_true(r.attack_count == 0 && !r.attacks && !r.memory);
    sotto_audit_result_free(&r); /* twice does no harm */
}

/* Every part of a document comes back: references, indices, bounds and whatever has no struct. */
TEST(a_document_and_back)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    const struct sotto_audit_input in = world_make(w, 1, 5);
    const double rates[] = {0.1, 0.01, 0.0001};
    const struct sotto_audit_options options = {.fpr = rates,
                                                .fpr_count = 3,
                                                .draws = 100,
                                                .delta = 1e-5,
                                                .has_claim = 1,
                                                .claim_epsilon = 3,
                                                .one_run_guesses = 20,
                                                .group_size = 2,
                                                .odds_ratio = 1,
                                                .most_vulnerable = 5,
                                                .include_indices = 1};
    struct sotto_audit_result r = {0}, again = {0};
    char *text = NULL, *copy = NULL;
    assert_int_equal(sotto_audit(&r, &in, &options, NULL), SOTTO_OK);
    assert_int_equal(audit_put_more(&r, "note", json_make_text("kept")), SOTTO_OK);
    assert_int_equal(sotto_audit_encode(&text, &r), SOTTO_OK);
    assert_int_equal(sotto_audit_decode(&again, text), SOTTO_OK);
    assert_int_equal(sotto_audit_encode(&copy, &again), SOTTO_OK);
    assert_string_equal(copy, text);
    assert_non_null(strstr(text, "\"note\":\"kept\""));
    assert_true(again.attack_count == r.attack_count && again.left_out_count == r.left_out_count);
    assert_true(again.left_out_count > 0 && again.attacks[0].rates[2].refused);
    assert_true(again.attacks[0].auc.area.estimate == r.attacks[0].auc.area.estimate);
    assert_true(again.slices->count == r.slices->count && again.vulnerable->members[0].repeats);
    sotto_text_free(text);
    sotto_text_free(copy);
    sotto_audit_result_free(&r);
    sotto_audit_result_free(&again);
    free(w);
}

static void refuse(const char *json, const char *text)
{
    struct sotto_audit_result r = {0};
    if (sotto_audit_decode(&r, json) != SOTTO_EFORMAT)
        fail_msg("%s", json);
    assert_non_null(strstr(sotto_error_text(), text));
    assert_true(!r.memory);
}

#define WITH(attack) "{\"schema\": \"sotto.audit/1\", \"attacks\": [{\"name\": \"a\"," attack "}]}"

TEST(documents_from_anywhere)
{
    struct sotto_audit_result r = {0};
    refuse("[", "audit:1:");
    refuse("{}", "'schema' is not sotto.audit/1");
    refuse("{\"schema\": \"sotto.compare/1\"}", "'schema' is not sotto.audit/1");
    refuse("{\"schema\": \"sotto.audit/1\"}", "'attacks' is missing");
    refuse("{\"schema\": \"sotto.audit/1\", \"attacks\": [3]}", "'attacks[0]' is not an object");
    refuse("{\"schema\": \"sotto.audit/1\", \"attacks\": [{}]}", "'attacks[0].name' is missing");
    refuse(WITH("\"auc\": {\"estimate\": \"1\"}"), "'attacks[0].auc.estimate' is not a number");
    refuse(WITH("\"n_member\": -1"), "'attacks[0].n_member' is not a whole number >= 0");
    refuse(WITH("\"tpr_at_fpr\": {\"x\": null}"), "'attacks[0].tpr_at_fpr.x' is not a rate");
    refuse(WITH("\"tpr_at_fpr_refused\": {\"0.1\": \"no\"}"),
           "has a rate 0.1 that other members do not have");
    refuse(WITH("\"roc\": [[0]]"), "'attacks[0].roc[0]' is not a pair of numbers");
    refuse(WITH("\"histogram\": {\"member\": [1], \"nonmember\": [1, 2]}"),
           "'nonmember' has 2 entries; expected 1");
    refuse(WITH("\"histogram\": {\"member\": [1]}"), "'attacks[0].histogram.nonmember' is not an array");
    refuse(WITH("\"fallback\": {\"member\": 9, \"member_rows\": [1]}"), "'member_rows' has 1 entries");
    refuse(WITH("\"claim\": {\"contradicted\": 1}"), "'attacks[0].claim.contradicted' is not true or false");
    refuse(
        "{\"schema\": \"sotto.audit/1\", \"attacks\": [], \"lint\": [{\"name\": \"x\", \"level\": \"bad\"}]}",
        "'lint[0].level' is not ok, warning or unknown");
    refuse("{\"schema\": \"sotto.audit/1\", \"attacks\": [], \"warnings\": [1]}",
           "'warnings[0]' is not a text");
    assert_int_equal(sotto_audit_decode(&r, WITH("\"advantage\": null")), SOTTO_OK);
    assert_true(isnan(r.attacks[0].advantage) && isnan(r.attacks[0].auc.area.lower));
    assert_true(isinf(r.attacks[0].balanced.threshold)); /* a null threshold flags no record */
    sotto_audit_result_free(&r);
}

TEST(want_of_memory)
{
    static const char json[] =
        WITH("\"tpr_at_fpr\": {\"0.1\": null}, \"parameters\": {\"prior\": 8}, \"roc\": [[0, 0]]");
    struct sotto_audit_result r = {0};
    sotto_status status = SOTTO_ENOMEM;
    for (long n = 0; n < 100 && status == SOTTO_ENOMEM; n++) {
        base_alloc_fail_after(n);
        status = sotto_audit_decode(&r, json);
        base_alloc_fail_after(-1);
        assert_true(status == SOTTO_OK || (status == SOTTO_ENOMEM && !r.memory));
    }
    assert_int_equal(status, SOTTO_OK);
    sotto_audit_result_free(&r);
}
