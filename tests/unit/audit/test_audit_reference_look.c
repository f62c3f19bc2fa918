/* src/measure/audit: reference models and scores that are not what they are called. Each was silent once: attacks vanished, or an audit
 * found nothing.
 *
 * The check of references: where they are right, no audit of 20, 100, 1,000 (efforts 1, 5, 50) may be warned about. A mask in
 * another order is found where the target leaks; a target that does not leak says nothing of the mask. Smallest fault at each
 * effort: a false alarm in 14 %, 3 %, .3 % of all audits is found with probability 95 %. */
#include "support/test.h"
#include "support/audit_world.h"
#include "support/effort.h"

#include <math.h>

static const char *check_text(const struct sotto_audit_result *r, const char *name)
{
    for (size_t i = 0; i < r->check_count; i++)
        if (strcmp(r->checks[i].name, name) == 0 && r->checks[i].level == SOTTO_CHECK_WARNING)
            return r->checks[i].text;
    return "";
}

/* The warning that an audit has under this name begins so; "": none. */
static void warns(const struct sotto_audit_input *in, const char *name, const char *wanted)
{
    struct sotto_audit_result r = {0};
    if (sotto_audit(&r, in, NULL, NULL) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    const char *found = check_text(&r, name);
    if (wanted[0] ? !strstr(found, wanted) : found[0])
        fail_msg("%s: '%s', not '%s'", name, found, wanted);
    sotto_audit_result_free(&r);
}

static struct world *world_new(struct sotto_audit_input *in, double leak, uint64_t seed)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    *in = world_make(w, leak, seed);
    return w;
}

TEST(references_that_are_right_are_not_warned_about)
{
    for (uint64_t seed = 0; seed < (uint64_t)by_effort(10, 50, 500); seed++)
        for (int leak = 0; leak <= 2; leak += 2) {
            struct sotto_audit_input in;
            struct world *w = world_new(&in, leak, 100 + seed);
            warns(&in, "references", "");
            free(w);
        }
}

TEST(a_mask_of_ones_is_refused)
{
    struct sotto_audit_input in;
    struct world *w = world_new(&in, 2, 61);
    memset(w->trained, 1, sizeof w->trained);
    expect(SOTTO_EINVAL, &in, NULL,
           "reference models: the training mask marks every record as one of every model, so no attack can "
           "compare with a model that was not trained on it; expected 0 where it was not");
    free(w);
}

TEST(an_inverted_mask_is_found)
{
    struct sotto_audit_input in;
    struct world *w = world_new(&in, 2, 62);
    for (size_t i = 0; i < RECORDS * MODELS; i++)
        w->trained[0][i] = !w->trained[0][i], w->trained[1][i] = !w->trained[1][i];
    warns(&in, "references", "is the training mask inverted (1: trained on the record)?");
    warns(&in, "direction", "has AUC 0.9"); /* LiRA's opposite guess, while the loss attack finds members */
    warns(&in, "direction", "is what this attack compares with swapped, or in another order?");
    free(w);
}

TEST(a_mask_in_another_order_is_found)
{
    for (int leak = 0; leak <= 2; leak += 2) {
        struct sotto_audit_input in;
        struct world *w = world_new(&in, leak, 63);
        for (size_t side = 0; side < 2; side++) {
            uint8_t first[MODELS];
            memcpy(first, w->trained[side], MODELS);
            memmove(w->trained[side], w->trained[side] + MODELS, (RECORDS - 1) * MODELS);
            memcpy(w->trained[side] + (RECORDS - 1) * MODELS, first, MODELS);
        }
        warns(&in, "references", leak ? "is the training mask in another order than the records?" : "");
        free(w);
    }
}

TEST(the_target_among_its_references_is_found)
{
    struct sotto_audit_input in;
    struct world *w = world_new(&in, 2, 64);
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < RECORDS; i++)
            w->reference[side][i * MODELS + 5] = w->logits[side][2 * i];
    warns(&in, "references",
          "reference model 6 answers like the target on 798 of 798 records: is it the target?");
    free(w);
}

TEST(losses_that_are_called_signals_are_found)
{
    struct sotto_audit_input in;
    struct world *w = world_new(&in, 2, 65);
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < RECORDS * MODELS; i++)
            w->reference[side][i] = log1p(exp(-w->reference[side][i]));
    warns(&in, "references",
          "no reference signal is negative, but signals of the target are: are these losses");
    in.reference_losses = 1;
    warns(&in, "references", "");
    free(w);
}

/* --- outputs of another kind, one model --- */

enum { REFERENCES = 8 };

/* The references' logits and probabilities, (REFERENCES, 2 RECORDS, 2), of the world's signals. */
struct outputs {
    double logits[REFERENCES * 2 * RECORDS * 2], probabilities[REFERENCES * 2 * RECORDS * 2];
    uint8_t trained[REFERENCES * 2 * RECORDS];
    double target[2][RECORDS * 2]; /* probabilities */
};

static void outputs_make(struct outputs *o, const struct world *w)
{
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < RECORDS; i++) {
            for (size_t m = 0; m < REFERENCES; m++) {
                const size_t at = m * 2 * RECORDS + side * RECORDS + i;
                const double s = w->reference[side][i * MODELS + m];
                o->logits[2 * at] = s, o->logits[2 * at + 1] = 0;
                o->probabilities[2 * at] = 1 / (1 + exp(-s));
                o->probabilities[2 * at + 1] = 1 / (1 + exp(s));
                o->trained[at] = w->trained[side][i * MODELS + m];
            }
            const double t = w->logits[side][2 * i];
            o->target[side][2 * i] = 1 / (1 + exp(-t)), o->target[side][2 * i + 1] = 1 / (1 + exp(t));
        }
}

static double area_of(const struct sotto_audit_result *r, const char *name)
{
    for (size_t i = 0; i < r->attack_count; i++)
        if (strcmp(r->attacks[i].name, name) == 0)
            return r->attacks[i].auc.area.estimate;
    return NAN;
}

TEST(references_may_give_outputs_of_the_other_kind)
{
    struct sotto_audit_input in;
    struct world *w = world_new(&in, 2, 66);
    struct outputs *o = calloc(1, sizeof *o);
    assert_non_null(o);
    outputs_make(o, w);
    in.member_reference = in.nonmember_reference = NULL;
    in.member_trained = in.nonmember_trained = NULL;
    in.reference_models = REFERENCES;
    in.reference_outputs_trained = o->trained;
    double found[4];
    for (int i = 0; i < 4; i++) {
        struct sotto_audit_result r = {0};
        const bool soft_target = i & 1, soft_references = i & 2;
        in.member = soft_target ? NULL : w->logits[0], in.nonmember = soft_target ? NULL : w->logits[1];
        in.member_f8 = soft_target ? o->target[0] : NULL, in.nonmember_f8 = soft_target ? o->target[1] : NULL;
        in.probabilities = soft_target;
        in.reference_outputs_f8 = soft_references ? o->probabilities : o->logits;
        in.reference_kind = soft_references ? 2 : 1;
        if (sotto_audit(&r, &in, NULL, NULL) != SOTTO_OK)
            fail_msg("%s", sotto_error_text());
        found[i] = area_of(&r, "lira");
        sotto_audit_result_free(&r);
    }
    assert_true(found[0] > 0.7);
    for (int i = 1; i < 4; i++)
        assert_true(fabs(found[i] - found[0]) < 1e-3);
    in.reference_kind = 1; /* control: probabilities that are read as logits are not the same */
    in.reference_outputs_f8 = o->probabilities;
    struct sotto_audit_result r = {0};
    assert_int_equal(sotto_audit(&r, &in, NULL, NULL), SOTTO_OK);
    assert_true(fabs(area_of(&r, "lira") - found[0]) > 1e-2);
    sotto_audit_result_free(&r);
    in.reference_kind = 3;
    expect(SOTTO_EINVAL, &in, NULL,
           "audit: reference_kind is 3; expected 0, 1 (logits) or 2 (probabilities)");
    free(o);
    free(w);
}

TEST(one_reference_is_enough_for_rmia)
{
    struct sotto_audit_input in;
    struct world *w = world_new(&in, 2, 67);
    double member[RECORDS], other[RECORDS];
    for (size_t i = 0; i < RECORDS; i++)
        member[i] = w->reference[0][i * MODELS], other[i] = w->reference[1][i * MODELS];
    in.member_reference = member, in.nonmember_reference = other, in.reference_models = 1;
    in.member_trained = in.nonmember_trained = NULL;
    struct sotto_audit_result r = {0};
    if (sotto_audit(&r, &in, NULL, NULL) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    assert_true(area_of(&r, "rmia-offline") > area_of(&r, "loss"));
    assert_true(!isnan(area_of(&r, "reference-rank")) && isnan(area_of(&r, "lira-offline")));
    sotto_audit_result_free(&r);
    free(w);
}

/* --- scores --- */

TEST(scores_that_tell_nothing_are_said)
{
    double a[50], b[50], same[50];
    for (int i = 0; i < 50; i++)
        a[i] = sin(i), b[i] = cos(i), same[i] = 3;
    struct sotto_audit_input in = {
        .member_scores = a, .nonmember_scores = b, .n_member = 50, .n_nonmember = 50};
    warns(&in, "duplicates", "");
    warns(&in, "constant", "");
    in.nonmember_scores = a;
    warns(&in, "duplicates",
          "members and non-members have the same scores, row by row: was one file given twice?");
    in.member_scores = in.nonmember_scores = same;
    warns(&in, "constant", "all scores are equal");
}
