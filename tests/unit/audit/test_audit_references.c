/* src/measure/attack: reference and shadow models. */
#include "support/test.h"
#include "support/audit_world.h"

#include <math.h>

static double area_of(const struct sotto_audit_input *in, const char *attack, const char *end)
{
    char path[64];
    const char *names[] = {attack, NULL};
    struct sotto_audit_options options = {.names = names};
    struct json *doc = audit_run(in, &options);
    snprintf(path, sizeof path, "attacks[0].auc.%s", end);
    double area = value(doc, path);
    json_free(doc);
    return area;
}

/* With 8 IN and 8 OUT models a record's threshold errs with variance .25 / 16, so the area is
 * Phi(1 / sqrt(2 (.25 + .25 / 16))) = .915; a loss threshold drowns in the records' own difficulty. Without a
 * leak every interval must hold 1/2. */
TEST(references_see_through_difficulty)
{
    static const char *const online[] = {"lira", "lira-pooled", "lira-student", "sablayrolles"},
                             *const offline[] = {"lira-offline", "watson", "rmia", "rmia-offline",
                                                 "reference-rank"};
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    struct sotto_audit_input in = world_make(w, 1, 5), null;
    assert_true(area_of(&in, "loss", "upper") < 0.68);
    for (size_t i = 0; i < 4; i++)
        assert_true(area_of(&in, online[i], "lower") > 0.85 && area_of(&in, online[i], "lower") < 0.915);
    assert_true(area_of(&in, "sablayrolles", "upper") > 0.915);
    for (size_t i = 0; i < 5; i++)
        assert_true(area_of(&in, offline[i], "lower") > (i == 3 ? 0.6 : 0.8));
    null = world_make(w, 0, 6);
    for (size_t i = 0; i < 9; i++) {
        const char *name = i < 4 ? online[i] : offline[i - 4];
        assert_true(area_of(&null, name, "lower") < 0.5 && area_of(&null, name, "upper") > 0.5);
    }
    free(w);
}

/* Mean area of RMIA with `a` against two reference models, pair by pair. */
static double area_by_pairs(const struct world *w, double a)
{
    const size_t played[2] = {MODELS / 2 - 1, MODELS - 1};
    double sum = 0;
    for (int k = 0; k < 2; k++) {
        static double gain[2 * RECORDS];
        static uint8_t member[2 * RECORDS];
        double pairs = 0, won = 0;
        for (size_t i = 0; i < 2 * RECORDS; i++) {
            const double *x = &w->reference[i / RECORDS][i % RECORDS * MODELS];
            const uint8_t *in = &w->trained[i / RECORDS][i % RECORDS * MODELS];
            double p = 0, count = 0;
            for (size_t m = 0; m < MODELS; m++)
                if (m != played[k] && !in[m])
                    p += 1 / (1 + exp(-x[m])), count++;
            gain[i] = -log1p(exp(-x[played[k]])) - log(((1 + a) * p / count + 1 - a) / 2);
            member[i] = in[played[k]];
        }
        for (size_t i = 0; i < 2 * RECORDS; i++)
            for (size_t j = 0; j < 2 * RECORDS; j++)
                if (member[i] && !member[j])
                    pairs++, won += gain[i] > gain[j] ? 1 : gain[i] == gain[j] ? .5 : 0;
        sum += won / pairs / 2;
    }
    return sum;
}

/* The a that is best against reference models is used, and told; the target's own members have no part in it. */
TEST(rmia_is_tuned_on_reference_models)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    for (int swapped = 0; swapped < 2; swapped++) {
        const char *names[] = {"rmia-offline", "rmia-tuned", NULL};
        const struct sotto_audit_options options = {.names = names};
        struct sotto_audit_input in = world_make(w, 1, 15);
        double best = area_by_pairs(w, .3), expected = .3;
        for (int k = 0; k <= 10; k++) {
            const double area = area_by_pairs(w, k / 10.);
            if (area > best + 1e-12)
                best = area, expected = k / 10.;
        }
        assert_true(expected != .3); /* there is something to tune */
        if (swapped) {               /* other members, the same reference models */
            in.member = w->logits[1], in.nonmember = w->logits[0];
            in.member_reference = w->reference[1], in.nonmember_reference = w->reference[0];
            in.member_trained = w->trained[1], in.nonmember_trained = w->trained[0];
        }
        struct json *doc = audit_run(&in, &options);
        assert_true(value(doc, "attacks[1].parameters.a") == expected);
        const double gain = value(doc, "attacks[1].auc.estimate") - value(doc, "attacks[0].auc.estimate");
        assert_true(swapped ? gain < 0 : gain > 0);
        json_free(doc);
    }
    free(w);
}

/* A shadow that leaks as the target does teaches the network; one with meaningless membership teaches
 * nothing. */
TEST(a_network_learns_from_a_shadow)
{
    struct world *target = calloc(1, sizeof *target), *own = calloc(1, sizeof *own);
    assert_true(target && own);
    struct sotto_audit_input in = world_make(target, 3, 8);
    in.member_reference = in.nonmember_reference = NULL;
    in.member_trained = in.nonmember_trained = NULL;
    world_make(own, 3, 9);
    static double outputs[RECORDS * 4];
    static int64_t labels[2 * RECORDS];
    static uint8_t trained[2 * RECORDS];
    for (size_t i = 0; i < RECORDS * 4; i++)
        outputs[i] = own->logits[i / (RECORDS * 2)][i % (RECORDS * 2)];
    for (size_t i = 0; i < 2 * RECORDS; i++)
        trained[i] = i < RECORDS;
    in.shadow = outputs, in.shadow_labels = labels, in.shadow_trained = trained, in.n_shadow = 2 * RECORDS;
    assert_true(area_of(&in, "shadow-network", "lower") > 0.68);
    for (size_t i = 0; i < 2 * RECORDS; i++)
        trained[i] = i % 2;
    assert_true(area_of(&in, "shadow-network", "lower") < 0.68);
    in.shadow_labels = NULL;
    expect(SOTTO_EUSAGE, &in, NULL, "audit: a shadow model needs its outputs, labels and membership");
    in.shadow_labels = labels, in.n_shadow = 3;
    expect(SOTTO_EINVAL, &in, NULL, "shadow: 1 members and 2 non-members; expected at least 2 of each");
    labels[1] = 2;
    expect(SOTTO_EINVAL, &in, NULL, "shadow: row 1 has label 2; expected 0 .. 1");
    labels[1] = 0;
    free(target);
    free(own);
}

TEST(bad_references_are_refused)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    const struct sotto_audit_input good = world_make(w, 1, 7);
    const char *lira[] = {"lira", NULL};
    struct sotto_audit_options options = {.names = lira};
    struct sotto_audit_input in = good;
    in.nonmember_reference = NULL;
    expect(SOTTO_EUSAGE, &in, NULL,
           "audit: reference signals were given for members only; both sides need them");
    in = good, in.member_reference = in.nonmember_reference = NULL;
    expect(SOTTO_EUSAGE, &in, NULL, "audit: a training mask needs the reference models' signals");
    in = good, in.member_labels = in.nonmember_labels = NULL;
    expect(SOTTO_EUSAGE, &in, NULL,
           "audit: reference models need the target's logits or probabilities with labels, or its losses");
    in = good, in.reference_models = 0;
    expect(SOTTO_EINVAL, &in, NULL, "audit: 0 reference models; expected at least 1");
    in = good, in.member_trained = in.nonmember_trained = NULL;
    expect(SOTTO_EUSAGE, &in, &options,
           "audit: attack 'lira' cannot run on these inputs; possible: loss, confidence, entropy, "
           "modified-entropy, correctness, lira-offline, rmia-offline, base, watson, reference-rank");
    in = good;
    for (size_t i = 0; i < RECORDS * MODELS; i++)
        w->trained[0][i] = w->trained[1][i] = i % MODELS == 0;
    expect(SOTTO_EINVAL, &in, &options,
           "references: no record has 2 models that were trained on it; expected at least 2");
    w->trained[1][3] = 2;
    expect(SOTTO_EINVAL, &in, NULL, "non-members: training mask holds 2; expected 0 or 1");
    w->trained[1][3] = 1;
    w->reference[0][MODELS + 1] = NAN;
    expect(SOTTO_EINVAL, &in, NULL,
           "members: 1 of 400 rows contain NaN (first: row 1, column 1); reference signals must be finite");
    free(w);
}

/* Two members and a non-member without OUT models: counted always, named only on demand. */
TEST(stand_ins_are_counted_and_named_on_demand)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    struct sotto_audit_input in = world_make(w, 1, 44);
    memset(w->trained[0] + 3 * MODELS, 1, MODELS);
    memset(w->trained[0] + 77 * MODELS, 1, MODELS);
    memset(w->trained[1] + 5 * MODELS, 1, MODELS);
    w->logits[0][2 * 77] += 40; /* the surest of all */
    static const char *const only[] = {"lira-offline", NULL};
    struct sotto_audit_options options = {.names = only, .most_vulnerable = 2, .include_indices = 1};
    struct json *doc = audit_run(&in, &options);
    assert_true(value(doc, "attacks[0].fallback.member") == 2 &&
                value(doc, "attacks[0].fallback.nonmember") == 1);
    assert_int_equal(json_count(json_find(doc, "attacks[0].fallback.member_rows")), 2);
    assert_true(value(doc, "attacks[0].fallback.member_rows[0]") == 3 &&
                value(doc, "attacks[0].fallback.member_rows[1]") == 77 &&
                value(doc, "attacks[0].fallback.nonmember_rows[0]") == 5);
    bool stands_in;
    for (int i = 0; i < 2; i++) {
        char path[64];
        snprintf(path, sizeof path, "exposed.members[%d].fallback", i);
        assert_int_equal(json_get_boolean(&stands_in, doc, "audit", path), SOTTO_OK);
        snprintf(path, sizeof path, "exposed.members[%d].row", i);
        assert_int_equal(stands_in, value(doc, path) == 77 || value(doc, path) == 3);
    }
    assert_true(value(doc, "exposed.members[0].row") == 77);
    json_free(doc);
    options.include_indices = 0;
    doc = audit_run(&in, &options);
    assert_true(value(doc, "attacks[0].fallback.member") == 2);
    assert_null(json_find(doc, "attacks[0].fallback.member_rows"));
    json_free(doc);
    free(w);
}
