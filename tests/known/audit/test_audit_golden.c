/* Scores, areas and intervals against tests/golden/audit.json (tools/golden_audit.py: numpy and scipy,
 * float64). */
#include "support/test.h"

#include "audit/measure/metrics.h"
#include "audit/score/class_threshold.h"
#include "audit/measure/epsilon_bounds.h"
#include "audit/score/posterior.h"
#include "io/json/json.h"
#include "num/beta.h"
#include "sotto/private/all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static struct json *golden;

static int read_golden(void **state)
{
    (void)state;
    return json_read_file(&golden, SOTTO_TEST_DIR "/golden/audit.json") != SOTTO_OK;
}

static int free_golden(void **state)
{
    (void)state;
    json_free(golden);
    return 0;
}

static void near(double found, double expected, double tolerance, const char *what)
{
    if (!(fabs(found - expected) <= tolerance * (1 + fabs(expected))))
        fail_msg("%s: %.17g; expected %.17g", what, found, expected);
}

static size_t load(double *out, const char *path)
{
    const struct json *list = json_find(golden, path);
    for (size_t i = 0; i < json_count(list); i++)
        out[i] = json_number(json_at(list, i));
    return json_count(list);
}

enum { MOST = 2100, CLASSES = 4 };

static void check_side(const struct score_attack *a, const char *side)
{
    double outputs[MOST], labels[MOST], expected[MOST], found[MOST];
    int64_t y[MOST];
    char path[128];
    snprintf(path, sizeof path, "%s_labels", side);
    size_t count = load(outputs, side), n = load(labels, path);
    assert_int_equal(count, 4 * n);
    for (size_t i = 0; i < n; i++)
        y[i] = (int64_t)labels[i];
    snprintf(path, sizeof path, "attacks.%s.%s", a->name, side);
    assert_int_equal(load(expected, path), n);
    struct attack_input in = {.outputs = outputs, .labels = y, .n = n, .classes = 4};
    assert_int_equal(attack_run(found, a, &in), SOTTO_OK);
    for (size_t i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s of %s %zu", a->name, side, i);
        near(found[i], expected[i], 1e-12, path);
    }
}

TEST(scores_equal_the_reference)
{
    size_t compared = 0;
    for (size_t i = 0; attack_table[i]; i++) {
        if (!attack_applies(attack_table[i], NEED_OUTPUTS | NEED_LABELS | NEED_LOSSES))
            continue;
        check_side(attack_table[i], "member");
        check_side(attack_table[i], "nonmember");
        compared++;
    }
    assert_int_equal(compared, 5);
}

/* All records of the golden file, members first, with what the attacker has. */
struct world {
    double outputs[MOST], reference[MOST], population[MOST], population_reference[MOST], shadow[MOST],
        losses[MOST], population_losses[MOST];
    int64_t labels[MOST], population_labels[MOST], shadow_labels[MOST];
    uint8_t trained[MOST], shadow_trained[MOST];
    float features[MOST], population_features[MOST];
    double view_signals[MOST], view_reference[MOST], z_view_signals[MOST], z_view_reference[MOST];
    struct attack_input in, z;
};

static size_t load_whole(int64_t *out, const char *path)
{
    double x[MOST];
    size_t n = load(x, path);
    for (size_t i = 0; i < n; i++)
        out[i] = (int64_t)x[i];
    return n;
}

static void load_bytes(uint8_t *out, const char *path)
{
    double x[MOST];
    size_t n = load(x, path);
    for (size_t i = 0; i < n; i++)
        out[i] = (uint8_t)x[i];
}

static void load_floats(float *out, const char *path)
{
    double x[MOST];
    size_t n = load(x, path);
    for (size_t i = 0; i < n; i++)
        out[i] = (float)x[i];
}

static struct world *world_load(void)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    size_t m = load(w->outputs, "member"), n = load_whole(w->labels, "member_labels");
    load(w->outputs + m, "nonmember");
    n += load_whole(w->labels + n, "nonmember_labels");
    size_t models = (size_t)json_number(json_find(golden, "references.models"));
    assert_int_equal(load(w->reference, "references.signal"), n * models);
    load_bytes(w->trained, "references.trained");
    load(w->population, "population.outputs");
    load(w->population_reference, "population.reference");
    load(w->shadow, "shadow.outputs");
    load_bytes(w->shadow_trained, "shadow.trained");
    load_floats(w->features, "population.features");
    load_floats(w->population_features, "population.population_features");
    load(w->view_signals, "views.signals");
    load(w->view_reference, "views.reference");
    load(w->z_view_signals, "views.population");
    load(w->z_view_reference, "views.population_reference");
    w->z = (struct attack_input){.outputs = w->population,
                                 .labels = w->population_labels,
                                 .reference = w->population_reference,
                                 .n = load_whole(w->population_labels, "population.labels"),
                                 .classes = CLASSES,
                                 .models = models};
    w->in = (struct attack_input){.outputs = w->outputs,
                                  .labels = w->labels,
                                  .reference = w->reference,
                                  .trained = w->trained,
                                  .n = n,
                                  .classes = CLASSES,
                                  .models = models,
                                  .shadow_outputs = w->shadow,
                                  .shadow_labels = w->shadow_labels,
                                  .shadow_trained = w->shadow_trained,
                                  .shadow_n = load_whole(w->shadow_labels, "shadow.labels"),
                                  .population = &w->z};
    return w;
}

static void compare(const struct world *w, const struct score_attack *a, const char *where, double tolerance)
{
    double expected[MOST], found[MOST];
    char path[128];
    snprintf(path, sizeof path, "%s.attacks.%s", where, a->name);
    assert_int_equal(load(expected, path), w->in.n);
    assert_int_equal(attack_run(found, a, &w->in), SOTTO_OK);
    for (size_t k = 0; k < w->in.n; k++) {
        snprintf(path, sizeof path, "%s of record %zu", a->name, k);
        near(found[k], expected[k], tolerance, path);
    }
}

/* Some records have fewer than 2 IN or OUT models: those take the class's mean. */
TEST(reference_attacks_equal_the_reference)
{
    struct world *w = world_load();
    size_t compared = 0;
    for (size_t i = 0; attack_table[i]; i++)
        if ((attack_table[i]->needs & (NEED_IN | NEED_OUT)) &&
            !(attack_table[i]->needs & (NEED_POPULATION | NEED_VIEWS | NEED_TUNED))) {
            compare(w, attack_table[i], "references", 1e-12);
            compared++;
        }
    assert_int_equal(compared, 10);
    free(w);
}

TEST(population_attacks_equal_the_reference)
{
    struct world *w = world_load();
    compare(w, attack_find("population"), "population", 1e-12);
    compare(w, attack_find("rmia-population"), "population", 1e-12);
    compare(w, attack_find("quantile"), "population", 1e-6); /* a minimiser: found by another method there */
    compare(w, attack_find("quantile-pinball"), "population", 1e-12);
    free(w);
}

/* Votes are counted one pair at a time there; here by ranks. */
TEST(attacks_on_views_equal_the_reference)
{
    struct world *w = world_load();
    w->in.views = w->z.views = (size_t)json_number(json_find(golden, "views.views"));
    w->in.view_signals = w->view_signals, w->in.view_reference = w->view_reference;
    size_t compared = 0;
    for (size_t i = 0; attack_table[i]; i++)
        if (attack_table[i]->needs & NEED_VIEWS) {
            compare(w, attack_table[i], "views", 1e-12);
            compared++;
        }
    assert_int_equal(compared, 4);
    w->z.view_signals = w->z_view_signals, w->z.view_reference = w->z_view_reference;
    compare(w, attack_find("rmia-views"), "views.against_population", 1e-12);
    compare(w, attack_find("rmia-offline-views"), "views.against_population", 1e-12);
    compare(w, attack_find("lira-views"), "views", 1e-12); /* looks at no population */
    free(w);
}

/* With features: signals that depend on the first of them. A loss l has signal -ln(e^l - 1). */
TEST(quantile_regression_sees_features)
{
    struct world *w = world_load();
    double expected[MOST], found[MOST];
    size_t width = (size_t)json_number(json_find(golden, "population.width"));
    for (size_t i = 0; i < w->in.n; i++)
        w->losses[i] = log1p(exp(-(posterior_signal(&w->in, i) + (double)w->features[i * width])));
    for (size_t i = 0; i < w->z.n; i++)
        w->population_losses[i] =
            log1p(exp(-(posterior_signal(&w->z, i) + (double)w->population_features[i * width])));
    w->in.outputs = w->z.outputs = NULL;
    w->in.losses = w->losses, w->z.losses = w->population_losses;
    w->in.features = w->features, w->z.features = w->population_features;
    w->in.width = w->z.width = width;
    assert_int_equal(load(expected, "population.quantile_of_features"), w->in.n);
    assert_int_equal(attack_run(found, attack_find("quantile"), &w->in), SOTTO_OK);
    for (size_t i = 0; i < w->in.n; i++)
        if (w->losses[i] > 1e-9 &&
            w->losses[i] < 90) /* the saturated records lose digits on the way through the loss */
            near(found[i], expected[i], 1e-5, "quantile of features");
    /* The rounded loss is nearly flat at its minimum, and the search ends early: two digits of the rate. */
    assert_int_equal(load(expected, "population.pinball_of_features"), w->in.n);
    assert_int_equal(attack_run(found, attack_find("quantile-pinball"), &w->in), SOTTO_OK);
    for (size_t i = 0; i < w->in.n; i++)
        if (w->losses[i] > 1e-9 && w->losses[i] < 90)
            near(found[i], expected[i], 1e-2, "pinball of features");
    free(w);
}

TEST(shadow_attacks_equal_the_reference)
{
    static const char *const metrics[] = {"confidence", "entropy", "modified-entropy"};
    struct world *w = world_load();
    for (size_t i = 0; i < 3; i++) {
        double found[CLASSES + 1], expected[CLASSES];
        uint8_t fallback[CLASSES];
        char name[64];
        snprintf(name, sizeof name, "class-%s", metrics[i]);
        compare(w, attack_find(name), "shadow", 1e-12);
        snprintf(name, sizeof name, "shadow.thresholds.%s", metrics[i]);
        assert_int_equal(load(expected, name), CLASSES);
        assert_int_equal(class_thresholds(found, fallback, attack_find(metrics[i]), &w->in, 30), SOTTO_OK);
        for (size_t k = 0; k < CLASSES; k++) {
            near(found[k], expected[k], 1e-12, name);
            assert_int_equal(fallback[k], k == 3); /* too rare among the shadow's records */
        }
        near(found[CLASSES], expected[3], 1e-12, name);
    }
    compare(w, attack_find("privacy-risk"), "shadow", 1e-12);
    free(w);
}

TEST(bounds_equal_the_reference)
{
    const struct json *list = json_find(golden, "one_run");
    assert_int_equal(json_count(list), 7);
    for (size_t i = 0; i < json_count(list); i++) {
        double x[5];
        for (size_t k = 0; k < 5; k++)
            x[k] = json_number(json_at(json_at(list, i), k));
        near(one_run_epsilon(x[3], (size_t)x[0], (size_t)x[1], (size_t)x[2], 0.95), x[4], 1e-9, "one run");
    }
    list = json_find(golden, "odds_ratio");
    for (size_t i = 0; i < json_count(list); i++) {
        double x[7];
        struct sotto_estimate e;
        for (size_t k = 0; k < 7; k++)
            x[k] = json_number(json_at(json_at(list, i), k));
        assert_int_equal(
            odds_ratio_interval(&e, (size_t)x[0], (size_t)x[1], (size_t)x[2], (size_t)x[3], 0.95), SOTTO_OK);
        near(e.estimate, x[4], 1e-7, "odds ratio");
        near(e.lower, x[5], 1e-7, "odds ratio");
        near(e.upper, x[6], 1e-7, "odds ratio");
    }
}

TEST(areas_equal_the_reference)
{
    const struct json *attacks = json_find(golden, "attacks");
    for (const char *name = json_first_key(attacks); name; name = json_next_key(attacks, name)) {
        double member[MOST], nonmember[MOST], expected[3];
        char path[64];
        snprintf(path, sizeof path, "attacks.%s.member", name);
        size_t m = load(member, path);
        snprintf(path, sizeof path, "attacks.%s.nonmember", name);
        size_t n = load(nonmember, path);
        snprintf(path, sizeof path, "attacks.%s.auc", name);
        assert_int_equal(load(expected, path), 3);
        struct sotto_estimate e;
        assert_int_equal(estimate_auc(&e, member, m, nonmember, n, 0.95), SOTTO_OK);
        near(e.estimate, expected[0], 1e-12, path);
        near(e.lower, expected[1], 1e-12, path);
        near(e.upper, expected[2], 1e-12, path);
    }
}

TEST(intervals_equal_the_reference)
{
    const struct json *list = json_find(golden, "clopper_pearson");
    assert_int_equal(json_count(list), 27);
    for (size_t i = 0; i < json_count(list); i++) {
        double row[5];
        for (size_t k = 0; k < 5; k++)
            row[k] = json_number(json_at(json_at(list, i), k));
        struct sotto_estimate e;
        assert_int_equal(estimate_proportion(&e, (size_t)row[0], (size_t)row[1], row[2]), SOTTO_OK);
        near(e.lower, row[3], 1e-12, "lower");
        near(e.upper, row[4], 1e-12, "upper");
    }
}

TEST(quantiles_equal_the_reference)
{
    const struct json *list = json_find(golden, "student");
    assert_int_equal(json_count(list), 21);
    for (size_t i = 0; i < json_count(list); i++) {
        double p = json_number(json_at(json_at(list, i), 0)), d = json_number(json_at(json_at(list, i), 1)),
               t = json_number(json_at(json_at(list, i), 2));
        near(student_quantile(p, d), t, 1e-12, "t");
        near(student_quantile(1 - p, d), -t, 1e-12, "-t");
    }
}

TEST_GROUP(.set_up = read_golden, .tear_down = free_golden)
