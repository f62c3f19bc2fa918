/* Targets: what is counted, what is refused before it is asked, and which answers are not believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attack/target/target.h"
#include "support/head_blobs.h"
#include "sotto/sotto.h"
#include "support/temporary_folder.h"

enum { N = 60, D = 4, K = 3 };
static float x[N * D];
static int64_t y[N];

/* A target that says what it is told to say. */
struct parrot {
    struct sotto_target target;
    float answer[2];
    int asked;
};
static sotto_status say(struct sotto_target *t, float *posteriors, const float *rows, size_t n)
{
    struct parrot *p = (struct parrot *)t;
    (void)rows;
    p->asked++;
    for (size_t i = 0; i < n; i++)
        memcpy(posteriors + 2 * i, p->answer, sizeof p->answer);
    return SOTTO_OK;
}
static void nothing(struct sotto_target *t)
{
    (void)t;
}
static struct parrot parrot(float a, float b)
{
    struct parrot p = {.target = target_make("parrot", D, 2), .answer = {a, b}};
    p.target.query = say;
    p.target.close = nothing;
    return p;
}

static void a_head_answers_and_is_counted(void **state)
{
    (void)state;
    const char *path = path_of("h.safetensors");
    struct sotto_head_recipe r;
    struct sotto_head *h;
    struct sotto_target *t;
    float expected[N * K], got[N * K];
    int64_t label[N];
    make_blobs(x, y, N, D, K, 0.5, 1);
    sotto_head_defaults(&r);
    assert_int_equal(sotto_head_train(&h, x, y, N, D, K, &r, NULL), SOTTO_OK);
    assert_int_equal(sotto_head_save(path, h), SOTTO_OK);
    assert_int_equal(sotto_head_predict(expected, h, x, N, D, 0, NULL), SOTTO_OK);
    assert_int_equal(sotto_target_open_head(&t, path), SOTTO_OK);
    assert_int_equal(sotto_target_inputs(t), D);
    assert_int_equal(sotto_target_classes(t), K);
    assert_non_null(sotto_target_head(t));
    assert_int_equal(sotto_target_query(t, got, x, N), SOTTO_OK);
    assert_memory_equal(got, expected, sizeof got);
    assert_int_equal(sotto_target_used(t), N);
    sotto_target_set_budget(t, N + 10);
    assert_int_equal(sotto_target_query(t, got, x, 11), SOTTO_EBUDGET);
    assert_int_equal(sotto_target_used(t), N); /* refused whole */
    assert_int_equal(target_labels(t, label, x, 10), SOTTO_OK);
    for (size_t i = 0; i < 10; i++)
        for (size_t k = 0; k < K; k++)
            assert_true(expected[i * K + (size_t)label[i]] >= expected[i * K + k]);
    assert_int_equal(sotto_target_query(t, got, x, 1), SOTTO_EBUDGET);
    sotto_target_close(t);
    sotto_head_free(h);
    sotto_target_close(NULL);
    assert_int_equal(sotto_target_open_head(&t, "no such file"), SOTTO_ENOENT);
}

static void bad_rows_are_not_asked(void **state)
{
    (void)state;
    struct parrot p = parrot(0.5f, 0.5f);
    float rows[2 * D] = {0}, out[4];
    rows[D + 2] = NAN;
    assert_int_equal(sotto_target_query(&p.target, out, rows, 2), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "query: row 1, column 2 is not finite; features must be finite");
    assert_int_equal(p.asked, 0);
    assert_int_equal(sotto_target_query(&p.target, out, rows, 0), SOTTO_OK);
    assert_int_equal(p.asked, 0);
}

static void answers_must_be_probabilities(void **state)
{
    (void)state;
    static const float bad[][2] = {{NAN, 1}, {-0.1f, 1.1f}, {0.6f, 0.6f}, {3, -2}, {0.5f, 0.498f}};
    float row[D] = {0}, out[2];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct parrot p = parrot(bad[i][0], bad[i][1]);
        assert_int_equal(sotto_target_query(&p.target, out, row, 1), SOTTO_EFORMAT);
        assert_int_equal(p.target.used, 1); /* it was asked all the same */
    }
    struct parrot p = parrot(0.5f, 0.4995f);
    assert_int_equal(sotto_target_query(&p.target, out, row, 1), SOTTO_OK);
    p = parrot(0.5f, 0.5f);
    int64_t label;
    assert_int_equal(target_labels(&p.target, &label, row, 1), SOTTO_OK);
    assert_int_equal(label, 0); /* ties: the lower class */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_head_answers_and_is_counted),
                                       cmocka_unit_test(bad_rows_are_not_asked),
                                       cmocka_unit_test(answers_must_be_probabilities)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
