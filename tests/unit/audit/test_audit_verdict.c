/* src/measure/audit: what an audit found, in both directions: verdict, gates, claims, checks. Each row of the table of misjudged audits
 * is a test; false alarms are counted in tests/statistical/audit. */
#include "support/test.h"
#include "support/audit_world.h"

#include "audit/audit_verdict.h"

#include <math.h>

static struct sotto_audit_result audited(const struct sotto_audit_input *in,
                                         const struct sotto_audit_options *options)
{
    struct sotto_audit_result r = {0};
    if (sotto_audit(&r, in, options, NULL) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    return r;
}

static struct sotto_audit_verdict judged(const struct sotto_audit_result *r)
{
    struct sotto_audit_verdict v;
    sotto_audit_judge(&v, r);
    return v;
}

static bool fails(const struct sotto_audit_result *r, const char *rule)
{
    char *line = NULL;
    int failed = 0;
    if (sotto_audit_gate(&failed, &line, r, rule) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    sotto_text_free(line);
    return failed;
}

/* n normal scores, the first `raised` of them raised by `by`. */
static double *scores_make(size_t n, size_t raised, double by, uint64_t stream)
{
    double *x = calloc(n, sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++) {
        struct rng r = rng_stream(31, RNG_TEST, stream, i);
        x[i] = rng_normal(&r) + (i < raised ? by : 0);
    }
    return x;
}

enum { N = 500 };

/* --- 500 + 500 records, membership labels swapped --- */

TEST(swapped_labels_are_a_finding)
{
    double *high = scores_make(N, N, 1.087, 0), *low = scores_make(N, 0, 0, 1);
    struct sotto_audit_input in = {
        .member_scores = low, .nonmember_scores = high, .n_member = N, .n_nonmember = N};
    const struct sotto_audit_options options = {.has_claim = 1, .claim_epsilon = 0.1};
    static const char *const rules[] = {
        "auc>0.6",   "auc.lower>0.55", "advantage>0.2", "balanced_accuracy>0.9",
        "epsilon>0", "tpr@0.01>0.9",   "lint>0",        "claim>0"};
    struct sotto_audit_result r = audited(&in, &options);
    struct sotto_audit_verdict v = judged(&r);
    assert_int_equal(v.kind, SOTTO_VERDICT_CONTRADICTED); /* the claim, by the opposite guess */
    assert_true(v.swapped && r.claim->contradicted);
    assert_non_null(strstr(v.text, "the opposite guess of the 'scores' attack shows epsilon of at least"));
    assert_non_null(strstr(v.text, "Are members and non-members swapped?"));
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (!fails(&r, rules[i]))
            fail_msg("%s passes", rules[i]);
    const struct sotto_audit_check *last = &r.checks[r.check_count - 1];
    assert_string_equal(last->name, "direction");
    assert_int_equal(last->level, SOTTO_CHECK_WARNING);
    assert_non_null(strstr(last->text, "the opposite guess of 'scores' has AUC 0.7"));
    assert_non_null(strstr(last->text, "are members and non-members swapped?"));
    r.claim = NULL;
    v = judged(&r);
    assert_int_equal(v.kind, SOTTO_VERDICT_LEAKS);
    assert_int_equal(v.by, SOTTO_FINDING_AUC);
    assert_true(v.opposite && v.swapped && v.lower > 0.7 && v.lower < 0.779);
    assert_non_null(
        strstr(v.text, "Leaks membership: the opposite guess of the 'scores' attack has AUC 0.7"));
    sotto_audit_result_free(&r);

    in.member_scores = high, in.nonmember_scores = low; /* control: the right way round */
    r = audited(&in, &options);
    v = judged(&r);
    assert_true(v.kind == SOTTO_VERDICT_CONTRADICTED && !v.opposite && !v.swapped);
    assert_true(r.check_count && strcmp(r.checks[r.check_count - 1].name, "direction") != 0);
    assert_true(fails(&r, "auc>0.6") && !fails(&r, "auc>0.9") && !fails(&r, "tpr@0.01>0.9"));
    sotto_audit_result_free(&r);
    free(high);
    free(low);
}

/* Both directions of a bound are the same bound: exchanging the sides changes no number. */
TEST(bounds_are_the_same_in_both_directions)
{
    double *high = scores_make(N, N, 1, 2), *low = scores_make(N, 0, 0, 3);
    const struct sotto_audit_input
        plain = {.member_scores = high, .nonmember_scores = low, .n_member = N, .n_nonmember = N},
        turned = {.member_scores = low, .nonmember_scores = high, .n_member = N, .n_nonmember = N};
    const struct sotto_audit_options options = {
        .one_run_guesses = 50, .odds_ratio = 1, .has_claim = 1, .claim_epsilon = 0.2, .claim_delta = 1e-3};
    struct sotto_audit_result a = audited(&plain, &options), b = audited(&turned, &options);
    const struct sotto_audit_attack *x = &a.attacks[0], *y = &b.attacks[0];
    assert_true(x->one_run->right == y->one_run->right);
    assert_true(x->one_run->lower_bound > 0 && x->one_run->lower_bound == y->one_run->lower_bound);
    assert_true(x->one_run_bounds->mu == y->one_run_bounds->mu && x->one_run_bounds->mu > 0);
    assert_true(x->epsilon.lower_bound > 0.2 && y->epsilon.lower_bound > 0.2);
    assert_true(x->epsilon.tpr.estimate > x->epsilon.fpr.estimate);
    assert_true(y->epsilon.tpr.estimate < y->epsilon.fpr.estimate);
    assert_true(a.claim->contradicted && b.claim->contradicted);
    /* Random halves differ between the two audits; the rule does not. */
    struct sotto_audit_attack same = *x;
    int opposite;
    same.one_run = NULL;
    const double before = audit_epsilon_at(&opposite, &same, 0, 0.05);
    assert_true(before > 0 && !opposite);
    same.epsilon.tpr = x->epsilon.fpr, same.epsilon.fpr = x->epsilon.tpr;
    same.epsilon.n_member = x->epsilon.n_nonmember, same.epsilon.n_nonmember = x->epsilon.n_member;
    assert_true(audit_epsilon_at(&opposite, &same, 0, 0.05) == before && opposite);
    sotto_audit_result_free(&a);
    sotto_audit_result_free(&b);
    free(high);
    free(low);
}

/* --- 2 % of the members are found for certain --- */

TEST(a_few_members_found_for_certain_are_a_leak)
{
    enum { MANY = 5000, AUDITS = 16 };
    for (uint64_t i = 0; i < AUDITS; i++) {
        double *member = scores_make(MANY, MANY / 50, 6, 100 + 2 * i),
               *other = scores_make(MANY, 0, 0, 101 + 2 * i);
        const struct sotto_audit_input in = {
            .member_scores = member, .nonmember_scores = other, .n_member = MANY, .n_nonmember = MANY};
        struct sotto_audit_options options = {.seed = i};
        struct sotto_audit_result r = audited(&in, &options);
        const struct sotto_audit_verdict v = judged(&r);
        if (v.kind != SOTTO_VERDICT_LEAKS && v.kind != SOTTO_VERDICT_LEAKS_LITTLE)
            fail_msg("audit %d: %s", (int)i, v.text);
        assert_false(v.swapped);
        sotto_audit_result_free(&r);
        free(member);
        free(other);
    }
}

/* --- accuracy far lower on members --- */

TEST(a_gap_below_zero_is_a_finding)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    struct sotto_audit_input in = world_make(w, 0, 41);
    in.member_reference = in.nonmember_reference = NULL, in.reference_models = 0;
    in.member_trained = in.nonmember_trained = NULL;
    const char *names[] = {"entropy", NULL}; /* which looks at no label */
    struct sotto_audit_options options = {.names = names};
    for (size_t i = 0; i < RECORDS; i++)
        for (size_t side = 0; side < 2; side++) { /* right for .5 of the members and .9 of the others */
            const float x = fabsf(w->logits[side][2 * i]);
            const bool right = side == 0 ? i % 2 : i % 10 != 0;
            w->logits[side][2 * i] = right ? x : -x;
        }
    struct sotto_audit_result r = audited(&in, &options);
    struct sotto_audit_verdict v = judged(&r);
    assert_int_equal(v.kind, SOTTO_VERDICT_LEAKS);
    assert_int_equal(v.by, SOTTO_FINDING_ACCURACY);
    assert_true(v.swapped);
    assert_string_equal(v.text,
                        "Leaks membership: accuracy is 0.500 on members and 0.900 on non-members: are "
                        "the files swapped, or the labels wrong?");
    bool found = false;
    for (size_t i = 0; i < r.check_count; i++)
        if (strcmp(r.checks[i].name, "generalisation") == 0)
            found = r.checks[i].level == SOTTO_CHECK_WARNING &&
                    strstr(r.checks[i].text, "are the files swapped, or the labels wrong?");
    assert_true(found && fails(&r, "lint>0") && fails(&r, "auc>0.6"));
    sotto_audit_result_free(&r);
    free(w);
}

/* --- every number can say it --- */

/* A result with one attack: what each number alone comes to. */
static struct sotto_audit_attack silent_attack(void)
{
    struct sotto_audit_attack a = {.name = "loss", .n_member = 1000, .n_nonmember = 1000};
    a.auc.area = (struct sotto_estimate){0.5, 0.475, 0.525};
    a.epsilon.tpr.estimate = a.epsilon.fpr.estimate = 0.5;
    a.epsilon.n_member = a.epsilon.n_nonmember = 500;
    return a;
}

static void says(struct sotto_audit_attack *a, enum sotto_verdict kind, enum sotto_finding by, int opposite)
{
    const struct sotto_audit_result r = {.attacks = a, .attack_count = 1, .confidence = 0.95};
    const struct sotto_audit_verdict v = judged(&r);
    if (v.kind != kind || v.by != by || v.opposite != opposite)
        fail_msg("%s (%d, %d, %d)", v.text, (int)v.kind, (int)v.by, v.opposite);
}

TEST(each_number_alone_decides)
{
    struct sotto_audit_rate rate = {.fpr = 0.01};
    struct sotto_audit_point roc[3] = {{0, 0}, {0.004, 0.004}, {1, 1}};
    struct sotto_audit_attack a = silent_attack();
    says(&a, SOTTO_VERDICT_NOT_DETECTED, SOTTO_FINDING_NONE, 0);
    a.auc.area = (struct sotto_estimate){0.54, 0.51, 0.57};
    says(&a, SOTTO_VERDICT_LEAKS_LITTLE, SOTTO_FINDING_AUC, 0);
    a.auc.area = (struct sotto_estimate){0.46, 0.43, 0.49};
    says(&a, SOTTO_VERDICT_LEAKS_LITTLE, SOTTO_FINDING_AUC, 1);
    a.auc.area = (struct sotto_estimate){0.3, 0.28, 0.32};
    says(&a, SOTTO_VERDICT_LEAKS, SOTTO_FINDING_AUC, 1);
    a = silent_attack();
    a.rates = &rate, a.rate_count = 1, a.roc = roc, a.roc_count = 3;
    says(&a, SOTTO_VERDICT_NOT_DETECTED, SOTTO_FINDING_NONE, 0);
    roc[1].tpr = 0.03; /* at FPR .4 %, below the ranks that enclose 1 % */
    roc[1].fpr = 0.001;
    says(&a, SOTTO_VERDICT_LEAKS_LITTLE, SOTTO_FINDING_TPR, 0);
    roc[1].tpr = 0.2;
    says(&a, SOTTO_VERDICT_LEAKS, SOTTO_FINDING_TPR, 0);
    roc[1] = (struct sotto_audit_point){0.2, 0.001};
    says(&a, SOTTO_VERDICT_LEAKS, SOTTO_FINDING_TPR, 1);
    roc[1] = (struct sotto_audit_point){0.1, 0.1}; /* a curve that does not reach so low */
    says(&a, SOTTO_VERDICT_NOT_DETECTED, SOTTO_FINDING_NONE, 0);
    a.epsilon.tpr.estimate = 0.7;
    says(&a, SOTTO_VERDICT_LEAKS_LITTLE, SOTTO_FINDING_EPSILON, 0);
    a.epsilon.tpr.estimate = 0.3;
    says(&a, SOTTO_VERDICT_LEAKS_LITTLE, SOTTO_FINDING_EPSILON, 1);
    a.epsilon.tpr.estimate = 1, a.epsilon.fpr.estimate = 0;
    says(&a, SOTTO_VERDICT_LEAKS, SOTTO_FINDING_EPSILON, 0);
}

/* Sixty-four attacks: each has a sixty-fourth of the error. */
TEST(attacks_share_the_error)
{
    enum { ATTACKS = 64 };
    struct sotto_audit_attack a[ATTACKS];
    for (size_t i = 0; i < ATTACKS; i++)
        a[i] = silent_attack();
    a[9].auc.area = (struct sotto_estimate){0.54, 0.51, 0.57};
    struct sotto_audit_result r = {.attacks = a, .attack_count = ATTACKS, .confidence = 0.95};
    assert_int_equal(judged(&r).kind, SOTTO_VERDICT_NOT_DETECTED);
    r.attacks = a + 9, r.attack_count = 1;
    assert_int_equal(judged(&r).kind, SOTTO_VERDICT_LEAKS_LITTLE);
}

/* Another attack finds members: the one that is turned round is in question, not the two sides. */
TEST(one_inverted_attack_among_others)
{
    double *high = scores_make(N, N, 2, 7), *low = scores_make(N, 0, 0, 8), *a = scores_make(N, N, 1, 9),
           *b = scores_make(N, 0, 0, 10);
    const struct sotto_audit_scores named[] = {{.name = "good", .member = high, .nonmember = low},
                                               {.name = "turned", .member = b, .nonmember = a}};
    const struct sotto_audit_input in = {.n_member = N, .n_nonmember = N, .named = named, .named_count = 2};
    struct sotto_audit_result r = audited(&in, NULL);
    const struct sotto_audit_verdict v = judged(&r);
    assert_true(v.kind == SOTTO_VERDICT_LEAKS && !v.opposite && !v.swapped && v.attack == 0);
    assert_non_null(strstr(r.checks[r.check_count - 1].text, "'turned' has AUC 0.7"));
    assert_non_null(strstr(r.checks[r.check_count - 1].text,
                           "is what this attack compares with swapped, or in another order?"));
    assert_true(fails(&r, "lint>0") && !fails(&r, "auc>0.99"));
    sotto_audit_result_free(&r);
    free(high);
    free(low);
    free(a);
    free(b);
}

/* The document says it, and a reader judges anew. */
TEST(the_document_holds_the_verdict)
{
    double *high = scores_make(N, N, 1.087, 0), *low = scores_make(N, 0, 0, 1);
    const struct sotto_audit_input in = {
        .member_scores = low, .nonmember_scores = high, .n_member = N, .n_nonmember = N};
    struct json *doc = audit_run(&in, NULL);
    assert_string_equal(json_text(json_find(doc, "verdict.kind")), "leaks");
    assert_string_equal(json_text(json_find(doc, "verdict.by")), "auc");
    assert_string_equal(json_text(json_find(doc, "verdict.attack")), "scores");
    bool flag = false;
    assert_int_equal(json_get_boolean(&flag, doc, "audit", "verdict.swapped"), SOTTO_OK);
    assert_true(flag);
    json_free(doc);
    char *text = NULL;
    struct sotto_audit_result r = audited(&in, NULL);
    assert_int_equal(sotto_audit_summary(&text, &r), SOTTO_OK);
    const char *verdict = strstr(text, "Leaks membership: the opposite guess"),
               *table = strstr(text, "attack  "), *remark = strstr(text, "unknown  ");
    assert_true(verdict && table && remark && verdict < table && table < remark);
    sotto_text_free(text);
    sotto_audit_result_free(&r);
    free(high);
    free(low);
}

/* A yes or no has one threshold, and no rate of 1 %. */
TEST(one_threshold_is_called_so)
{
    double member[N], other[N];
    for (size_t i = 0; i < N; i++)
        member[i] = i % 3 != 0, other[i] = i % 2;
    const struct sotto_audit_input in = {
        .member_scores = member, .nonmember_scores = other, .n_member = N, .n_nonmember = N};
    char *text = NULL;
    struct sotto_audit_result r = audited(&in, NULL);
    assert_int_equal(sotto_audit_summary(&text, &r), SOTTO_OK);
    assert_non_null(strstr(text, "one threshold only"));
    assert_null(strstr(text, "0 ["));
    sotto_text_free(text);
    sotto_audit_result_free(&r);
}
