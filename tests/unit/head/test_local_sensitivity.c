/* The largest change of a head when one of its own records changes: by hand, against single trainings, and refused as a
 * privacy parameter. */
#include "support/test.h"

#include "base/file.h"
#include "sotto/lab/local.h"
#include "sotto/lab/sensitivity.h"
#include "sotto/private/print.h"
#include "support/temporary_folder.h"

#include <math.h>

static void near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%.17g is not %.17g within %g", a, b, tolerance);
}

enum { N = 9, D = 3, CLASSES = 2 };
static const float x[N * D] = {1,     0, 0.5f, 0.5f, 0.25f, 0, -1,    0,    1,    0, 1,    1,    -0.5f, 0.5f,
                               0.25f, 1, 1,    -1,   0,     1, 0.75f, 0.1f, 0.2f, 8, 0.5f, 0.3f, 0.1f};
static const int64_t y[N] = {0, 0, 1, 1, 0, 1, 0, 1, 0};

static float *weights(const struct sotto_head_recipe *r, size_t n, const float *features,
                      const int64_t *labels)
{
    struct sotto_head *h = NULL;
    static float out[D * CLASSES + CLASSES];
    float scores[(D + 1) * CLASSES];
    const float ask[(D + 1) * D] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    assert_int_equal(sotto_head_train(&h, features, labels, n, D, CLASSES, r, NULL), SOTTO_OK);
    assert_int_equal(sotto_head_predict(scores, h, ask, D + 1, D, 1, NULL), SOTTO_OK);
    for (size_t k = 0; k < CLASSES; k++) {
        out[D * CLASSES + k] = scores[k];
        for (size_t j = 0; j < D; j++)
            out[j * CLASSES + k] = scores[(j + 1) * CLASSES + k] - scores[k];
    }
    sotto_head_free(h);
    return out;
}

/* A convex head depends on its records as a set, so that nine trainings without one each are the definition. */
TEST(it_is_the_largest_of_all)
{
    const struct sotto_head_recipe r = {.trainer = "convex-lbfgs", .lambda = 0.1};
    struct sotto_local_sensitivity s, some;
    float all[D * CLASSES + CLASSES], left_x[N * D];
    int64_t left_y[N];
    double most = 0;
    memcpy(all, weights(&r, N, x, y), sizeof all);
    for (size_t i = 0; i < N; i++) {
        size_t used = 0;
        double square = 0;
        for (size_t k = 0; k < N; k++)
            if (k != i) {
                memcpy(left_x + used * D, x + k * D, D * sizeof *x);
                left_y[used++] = y[k];
            }
        const float *w = weights(&r, used, left_x, left_y);
        for (size_t p = 0; p < D * CLASSES + CLASSES; p++)
            square += ((double)w[p] - all[p]) * ((double)w[p] - all[p]);
        most = fmax(most, sqrt(square));
    }
    assert_int_equal(sotto_sensitivity_local(&s, x, y, N, D, CLASSES, &r, 0, NULL), SOTTO_OK);
    near(s.left_out_l2, most, 2e-3 * most);
    assert_true(s.records == N && s.tried == N);
    assert_true(s.left_out_linf <= s.left_out_l2 && s.left_out_l2 <= s.left_out_l1);
    assert_true(s.replaced_l2 > 0 && s.replaced_linf <= s.replaced_l2 && s.replaced_l2 <= s.replaced_l1);
    assert_int_equal(sotto_sensitivity_local(&some, x, y, N, D, CLASSES, &r, 4, NULL), SOTTO_OK);
    assert_true(some.tried == 4 && some.left_out_l2 <= s.left_out_l2 && some.left_out_l2 > 0);
}

/* Nine equal records: nothing that one of them can change, although the sensitivity of the recipe is far from 0. */
TEST(equal_records_have_none_to_speak_of)
{
    const struct sotto_head_recipe r = {.trainer = "convex-lbfgs", .lambda = 0.1};
    float same[N * D];
    const int64_t label[N] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    struct sotto_local_sensitivity s;
    for (size_t i = 0; i < N * D; i++)
        same[i] = 0.5f;
    assert_int_equal(sotto_sensitivity_local(&s, same, label, N, D, CLASSES, &r, 0, NULL), SOTTO_OK);
    near(s.replaced_linf, 0, 0);
}

TEST(no_release_takes_it)
{
    const struct sotto_head_recipe r = {.trainer = "convex-lbfgs", .lambda = 0.1};
    struct sotto_local_sensitivity s;
    struct sotto_sensitivity_sample sample;
    char *text = NULL, wanted[256];
    assert_int_equal(sotto_sensitivity_local(&s, x, y, N, D, CLASSES, &r, 2, NULL), SOTTO_OK);
    assert_int_equal(sotto_local_sensitivity_json(&text, &s), SOTTO_OK);
    assert_non_null(strstr(text, "\"kind\":\"local\""));
    assert_non_null(strstr(
        text, "\"statement\":\"not a privacy parameter: noise scaled to it is not differentially private\""));
    assert_non_null(strstr(text, "\"exact\":false"));
    sotto_text_free(text);
    assert_int_equal(sotto_local_sensitivity_save(path_of("local.json"), &s), SOTTO_OK);
    assert_int_equal(sotto_sensitivity_load(&sample, path_of("local.json")), SOTTO_EFORMAT);
    snprintf(wanted, sizeof wanted,
             "%s: holds a local sensitivity, and noise scaled to that is not differentially private; "
             "expected one that is "
             "sampled or proved",
             path_of("local.json"));
    assert_string_equal(sotto_error_text(), wanted);
}

TEST(what_cannot_be_is_refused)
{
    const struct sotto_head_recipe r = {.trainer = "convex-lbfgs", .lambda = 0.1};
    struct sotto_local_sensitivity s;
    assert_int_equal(sotto_sensitivity_local(&s, x, y, N, D, CLASSES, &r, N + 1, NULL), SOTTO_EINVAL);
    assert_int_equal(sotto_sensitivity_local(&s, x, y, 1, D, CLASSES, &r, 0, NULL), SOTTO_EINVAL);
}

TEST_GROUP(.set_up = make_folder, .tear_down = remove_folder)
