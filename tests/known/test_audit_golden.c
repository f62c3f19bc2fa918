/* Scores, areas and intervals against tests/golden/audit.json (tools/golden_audit.py: numpy and scipy,
 * float64). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include "attack/attack_kind.h"
#include "io/json.h"
#include "num/beta.h"
#include "sotto/sotto.h"

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

enum { MOST = 1000 };

static void check_side(const struct attack *a, const char *side)
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
    assert_int_equal(a->run(found, &in), SOTTO_OK);
    for (size_t i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s of %s %zu", a->name, side, i);
        near(found[i], expected[i], 1e-12, path);
    }
}

static void scores_equal_the_reference(void **state)
{
    (void)state;
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

/* Some records have fewer than 2 IN or OUT models: those take the class's mean. */
static void reference_attacks_equal_the_reference(void **state)
{
    (void)state;
    double outputs[MOST], labels[MOST], reference[MOST], flags[MOST], expected[MOST], found[MOST];
    int64_t y[MOST];
    uint8_t trained[MOST];
    size_t m = load(outputs, "member"), n = load(labels, "member_labels"), compared = 0;
    load(outputs + m, "nonmember");
    n += load(labels + n, "nonmember_labels");
    size_t models = (size_t)json_number(json_find(golden, "references.models"));
    assert_int_equal(load(reference, "references.signal"), n * models);
    assert_int_equal(load(flags, "references.trained"), n * models);
    for (size_t i = 0; i < n; i++)
        y[i] = (int64_t)labels[i];
    for (size_t i = 0; i < n * models; i++)
        trained[i] = (uint8_t)flags[i];
    struct attack_input in = {.outputs = outputs,
                              .labels = y,
                              .reference = reference,
                              .trained = trained,
                              .n = n,
                              .classes = 4,
                              .models = models};
    for (size_t i = 0; attack_table[i]; i++) {
        const struct attack *a = attack_table[i];
        char path[128];
        if (!(a->needs & (NEED_IN | NEED_OUT)))
            continue;
        snprintf(path, sizeof path, "references.attacks.%s", a->name);
        assert_int_equal(load(expected, path), n);
        assert_int_equal(a->run(found, &in), SOTTO_OK);
        for (size_t k = 0; k < n; k++) {
            snprintf(path, sizeof path, "%s of record %zu", a->name, k);
            near(found[k], expected[k], 1e-11, path);
        }
        compared++;
    }
    assert_int_equal(compared, 8);
}

static void areas_equal_the_reference(void **state)
{
    (void)state;
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
        assert_int_equal(sotto_auc(&e, member, m, nonmember, n, 0.95), SOTTO_OK);
        near(e.estimate, expected[0], 1e-12, path);
        near(e.lower, expected[1], 1e-12, path);
        near(e.upper, expected[2], 1e-12, path);
    }
}

static void intervals_equal_the_reference(void **state)
{
    (void)state;
    const struct json *list = json_find(golden, "clopper_pearson");
    assert_int_equal(json_count(list), 27);
    for (size_t i = 0; i < json_count(list); i++) {
        double row[5];
        for (size_t k = 0; k < 5; k++)
            row[k] = json_number(json_at(json_at(list, i), k));
        struct sotto_estimate e;
        assert_int_equal(sotto_clopper_pearson(&e, (size_t)row[0], (size_t)row[1], row[2]), SOTTO_OK);
        near(e.lower, row[3], 1e-12, "lower");
        near(e.upper, row[4], 1e-12, "upper");
    }
}

static void quantiles_equal_the_reference(void **state)
{
    (void)state;
    const struct json *list = json_find(golden, "student");
    assert_int_equal(json_count(list), 21);
    for (size_t i = 0; i < json_count(list); i++) {
        double p = json_number(json_at(json_at(list, i), 0)), d = json_number(json_at(json_at(list, i), 1)),
               t = json_number(json_at(json_at(list, i), 2));
        near(student_quantile(p, d), t, 1e-12, "t");
        near(student_quantile(1 - p, d), -t, 1e-12, "-t");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_equal_the_reference),
        cmocka_unit_test(reference_attacks_equal_the_reference),
        cmocka_unit_test(areas_equal_the_reference),
        cmocka_unit_test(intervals_equal_the_reference),
        cmocka_unit_test(quantiles_equal_the_reference),
    };
    return cmocka_run_group_tests(tests, read_golden, free_golden);
}
