/* Several views of each record: one view is what there was before, more views see more, votes follow the
 * definition, and bad views are refused by name. */
#include "support/test.h"

#include "audit/measure/metrics.h"
#include "audit/score/views.h"
#include "audit/score/posterior.h"
#include "support/audit_world.h"
#include "support/audit_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VIEWS = 5 };

/* A world of models queried about VIEWS noisy views of each record. */
struct seen {
    struct world w;
    double views[2][RECORDS * VIEWS * 2];
    float reference[(size_t)MODELS * 2 * RECORDS * VIEWS * 2];
};

static struct sotto_audit_input seen_make(struct seen *s, double leak, double noise, uint64_t seed)
{
    struct sotto_audit_input in = world_make(&s->w, leak, seed);
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < RECORDS; i++) {
            struct rng r = rng_stream(seed, RNG_TEST, 7 + side, i);
            for (size_t v = 0; v < VIEWS; v++) {
                s->views[side][(i * VIEWS + v) * 2] =
                    (double)s->w.logits[side][2 * i] + noise * rng_normal(&r);
                s->views[side][(i * VIEWS + v) * 2 + 1] = 0;
                for (size_t m = 0; m < MODELS; m++) {
                    size_t at = ((m * 2 * RECORDS + side * RECORDS + i) * VIEWS + v) * 2;
                    s->reference[at] = (float)(s->w.reference[side][i * MODELS + m] + noise * rng_normal(&r));
                    s->reference[at + 1] = 0;
                }
            }
        }
    in.member_views = s->views[0], in.nonmember_views = s->views[1];
    in.reference_views = s->reference;
    in.views = VIEWS;
    return in;
}

static const struct json *entry(const struct json *doc, const char *name)
{
    const struct json *list = json_find(doc, "attacks");
    for (size_t i = 0; i < json_count(list); i++)
        if (strcmp(json_text(json_member(json_at(list, i), "name")), name) == 0)
            return json_at(list, i);
    fail_msg("no attack '%s'", name);
    return NULL;
}

static const char *const names[] = {
    "lira",       "lira-offline",       "rmia", "lira-views", "lira-offline-views",
    "rmia-views", "rmia-offline-views", NULL};

TEST(leaks_are_seen_and_nothing_else)
{
    struct seen *s = calloc(1, sizeof *s);
    assert_non_null(s);
    struct sotto_audit_options options = {.names = names};
    for (int leak = 0; leak < 2; leak++) {
        struct sotto_audit_input in = seen_make(s, leak, 0.2, 31);
        struct json *doc = audit_run(&in, &options);
        for (size_t i = 3; names[i]; i++) {
            const struct json *e = entry(doc, names[i]);
            double lower = value(e, "auc.lower"), upper = value(e, "auc.upper");
            if (!(leak ? lower >= (i == 6 ? 0.6 : 0.8) : lower <= 0.5 && upper >= 0.5))
                fail_msg("%s: area [%g, %g], leak %d", names[i], lower, upper, leak);
        }
        json_free(doc);
    }
    free(s);
}

/* Noise hides the leak in each view; all views together show it again. */
TEST(more_views_see_more)
{
    struct seen *s = calloc(1, sizeof *s);
    assert_non_null(s);
    struct sotto_audit_input in = seen_make(s, 1, 1.5, 32);
    struct attack_input all = {.n = 2 * RECORDS, .classes = 2, .models = MODELS, .views = VIEWS};
    double *signals = calloc((size_t)VIEWS * 2 * RECORDS, sizeof *signals), scores[2 * RECORDS],
           *reference = calloc((size_t)VIEWS * 2 * RECORDS * MODELS, sizeof *reference);
    uint8_t *trained = calloc((size_t)2 * RECORDS * MODELS, 1);
    assert_true(signals && reference && trained);
    for (size_t i = 0; i < 2 * RECORDS; i++)
        for (size_t v = 0; v < VIEWS; v++) {
            signals[v * 2 * RECORDS + i] = s->views[i / RECORDS][(i % RECORDS * VIEWS + v) * 2];
            for (size_t m = 0; m < MODELS; m++) {
                reference[(v * 2 * RECORDS + i) * MODELS + m] =
                    (double)s->reference[((m * 2 * RECORDS + i) * VIEWS + v) * 2];
                trained[i * MODELS + m] = s->w.trained[i / RECORDS][i % RECORDS * MODELS + m];
            }
        }
    all.view_signals = signals, all.view_reference = reference, all.trained = trained;
    static const char *const kinds[] = {"lira-views", "lira-offline-views", "rmia-views",
                                        "rmia-offline-views"};
    for (size_t k = 0; k < 4; k++) {
        struct sotto_estimate one, five;
        all.views = 1;
        assert_int_equal(attack_run(scores, attack_find(kinds[k]), &all), SOTTO_OK);
        assert_int_equal(estimate_auc(&one, scores, RECORDS, scores + RECORDS, RECORDS, 0.95), SOTTO_OK);
        all.views = VIEWS;
        assert_int_equal(attack_run(scores, attack_find(kinds[k]), &all), SOTTO_OK);
        assert_int_equal(estimate_auc(&five, scores, RECORDS, scores + RECORDS, RECORDS, 0.95), SOTTO_OK);
        if (!(five.estimate > one.estimate + 0.03))
            fail_msg("%s: area %g from one view, %g from five", kinds[k], one.estimate, five.estimate);
    }
    (void)in;
    free(signals), free(reference), free(trained), free(s);
}

/* Against a population's views, also where reference models play the target. */
TEST(a_population_has_views_too)
{
    enum { Z = 60 };
    struct seen *s = calloc(1, sizeof *s);
    double *views = calloc((size_t)Z * VIEWS * 2, sizeof *views), outputs[Z * 2] = {0};
    float *reference = calloc((size_t)MODELS * Z * VIEWS * 2, sizeof *reference);
    int64_t labels[Z] = {0};
    assert_true(s && views && reference);
    struct sotto_audit_input in = seen_make(s, 1, 0.2, 36);
    for (size_t i = 0; i < Z; i++) {
        struct rng r = rng_stream(37, RNG_TEST, 0, i);
        double own = 3 * rng_normal(&r);
        outputs[2 * i] = own + 0.5 * rng_normal(&r);
        for (size_t v = 0; v < VIEWS; v++) {
            views[(i * VIEWS + v) * 2] = outputs[2 * i] + 0.2 * rng_normal(&r);
            for (size_t m = 0; m < MODELS; m++)
                reference[((m * Z + i) * VIEWS + v) * 2] = (float)(own + 0.5 * rng_normal(&r));
        }
    }
    in.population = outputs, in.population_labels = labels, in.n_population = Z;
    in.population_views = views, in.population_reference_views = reference;
    struct sotto_audit_options options = {.names = names};
    struct json *doc = audit_run(&in, &options);
    assert_true(value(entry(doc, "rmia-views"), "auc.lower") > 0.8);
    const struct json *played = json_find(doc, "between_models");
    size_t found = 0;
    for (size_t i = 0; i < json_count(played); i++)
        if (strcmp(json_text(json_member(json_at(played, i), "name")), "rmia-views") == 0) {
            assert_true(value(json_at(played, i), "targets") == MODELS);
            assert_true(fabs(value(json_at(played, i), "auc.mean") -
                             value(entry(doc, "rmia-views"), "auc.estimate")) < 0.05);
            found++;
        }
    assert_int_equal(found, 1);
    json_free(doc);
    free(views), free(reference), free(s);
}

/* The record itself as the only view: what LiRA says without views, and the order that RMIA has. */
TEST(one_view_is_none)
{
    struct seen *s = calloc(1, sizeof *s);
    assert_non_null(s);
    struct sotto_audit_input in = seen_make(s, 1, 0, 33);
    struct sotto_audit_options options = {.names = names};
    struct json *doc = audit_run(&in, &options); /* VIEWS copies of one view */
    double plain = value(entry(doc, "lira"), "auc.estimate"),
           views = value(entry(doc, "lira-views"), "auc.estimate");
    assert_true(fabs(plain - views) < 1e-3); /* references went through single precision */
    plain = value(entry(doc, "lira-offline"), "auc.estimate");
    views = value(entry(doc, "lira-offline-views"), "auc.estimate");
    assert_true(fabs(plain - views) < 1e-3);
    plain = value(entry(doc, "rmia"), "auc.estimate"),
    views = value(entry(doc, "rmia-views"), "auc.estimate");
    assert_true(fabs(plain - views) < 1e-3);
    json_free(doc);
    free(s);
}

TEST(bad_views_are_refused)
{
    struct seen *s = calloc(1, sizeof *s);
    assert_non_null(s);
    struct sotto_audit_input in = seen_make(s, 1, 0.1, 34), bad = in;
    bad.nonmember_views = NULL;
    expect(SOTTO_EUSAGE, &bad, NULL,
           "audit: views of members, of non-members and of the reference models must be given together");
    bad = in, bad.reference_views = NULL;
    expect(SOTTO_EUSAGE, &bad, NULL,
           "audit: views of members, of non-members and of the reference models must be given together");
    bad = in, bad.views = 256;
    expect(SOTTO_EINVAL, &bad, NULL, "audit: 256 views; expected 1 to 255");
    bad = in, bad.views = 0;
    expect(SOTTO_EINVAL, &bad, NULL, "audit: 0 views; expected 1 to 255");
    bad = in, bad.member_reference = bad.nonmember_reference = NULL;
    bad.member_trained = bad.nonmember_trained = NULL;
    expect(SOTTO_EUSAGE, &bad, NULL,
           "audit: views need the target's logits or probabilities, labels, and the outputs of the reference "
           "models on the records themselves");
    bad = in, bad.population_views = s->views[0];
    expect(SOTTO_EUSAGE, &bad, NULL,
           "audit: views of the population need outputs of the target and of the reference models, and the "
           "views of the records");
    s->views[0][(3 * VIEWS + 2) * 2] = NAN;
    expect(SOTTO_EINVAL, &in, NULL, "views of members: row 3, view 2 is not finite");
    s->views[0][(3 * VIEWS + 2) * 2] = 0;
    s->reference[((4 * 2 * RECORDS + 6) * VIEWS + 1) * 2] = INFINITY;
    expect(SOTTO_EINVAL, &in, NULL, "views of reference models: row 6, view 1 is not finite");
    free(s);
}

TEST(allocation_failures_are_clean)
{
    struct seen *s = calloc(1, sizeof *s);
    assert_non_null(s);
    struct sotto_audit_input in = seen_make(s, 1, 0.1, 35);
    struct sotto_audit_options options = {.names = names + 3, .draws = 100};
    for (long n = 0; n < 120; n += 3) {
        char *json = NULL;
        base_alloc_fail_after(n);
        sotto_status status = audit_text(&json, &in, &options, NULL);
        base_alloc_fail_after(-1);
        if (status != SOTTO_OK && status != SOTTO_ENOMEM)
            fail_msg("after %ld: %d: %s", n, status, sotto_error_text());
        sotto_text_free(json);
    }
    free(s);
}
