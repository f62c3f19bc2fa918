/* Targets: what is counted, what is refused before it is asked, and which answers are not believed. */
#include "support/test.h"

#include "attack/target/target.h"
#include "support/head_blobs.h"
#include "sotto/private/all.h"
#include "support/temporary_folder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 60, D = 4, K = 3 };
static float x[N * D];
static int64_t y[N];

/* A target with given answers. */
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

TEST(a_head_answers_and_is_counted)
{
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
    assert_int_equal(target_open_head(&t, path), SOTTO_OK);
    assert_int_equal(sotto_target_inputs(t), D);
    assert_int_equal(sotto_target_classes(t), K);
    assert_non_null(target_head(t));
    assert_int_equal(target_query(t, got, x, N), SOTTO_OK);
    assert_memory_equal(got, expected, sizeof got);
    assert_int_equal(target_used(t), N);
    sotto_target_set_budget(t, N + 10);
    assert_int_equal(target_query(t, got, x, 11), SOTTO_EBUDGET);
    assert_int_equal(target_used(t), N); /* refused whole */
    assert_int_equal(target_labels(t, label, x, 10), SOTTO_OK);
    for (size_t i = 0; i < 10; i++)
        for (size_t k = 0; k < K; k++)
            assert_true(expected[i * K + (size_t)label[i]] >= expected[i * K + k]);
    assert_int_equal(target_query(t, got, x, 1), SOTTO_EBUDGET);
    sotto_target_close(t);
    sotto_head_free(h);
    sotto_target_close(NULL);
    assert_int_equal(target_open_head(&t, "no such file"), SOTTO_ENOENT);
}

TEST(bad_rows_are_not_asked)
{
    struct parrot p = parrot(0.5f, 0.5f);
    float rows[2 * D] = {0}, out[4];
    rows[D + 2] = NAN;
    assert_int_equal(target_query(&p.target, out, rows, 2), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "query: row 1, column 2 is not finite; features must be finite");
    assert_int_equal(p.asked, 0);
    assert_int_equal(target_query(&p.target, out, rows, 0), SOTTO_OK);
    assert_int_equal(p.asked, 0);
}

TEST(answers_must_be_probabilities)
{
    static const float bad[][2] = {{NAN, 1}, {-0.1f, 1.1f}, {0.6f, 0.6f}, {3, -2}, {0.5f, 0.498f}};
    float row[D] = {0}, out[2];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct parrot p = parrot(bad[i][0], bad[i][1]);
        assert_int_equal(target_query(&p.target, out, row, 1), SOTTO_EFORMAT);
        assert_int_equal(p.target.used, 1); /* it was asked all the same */
    }
    struct parrot p = parrot(0.5f, 0.4995f);
    assert_int_equal(target_query(&p.target, out, row, 1), SOTTO_OK);
    p = parrot(0.5f, 0.5f);
    int64_t label;
    assert_int_equal(target_labels(&p.target, &label, row, 1), SOTTO_OK);
    assert_int_equal(label, 0); /* ties: the lower class */
}

/* --- a model of the caller's program --- */

struct in_process {
    struct sotto_head *head;
    sotto_status refuse; /* what it returns instead of an answer */
};
static sotto_status ask_in_process(void *user, float *posteriors, const float *rows, size_t n)
{
    struct in_process *m = user;
    return m->refuse ? m->refuse : sotto_head_predict(posteriors, m->head, rows, n, D, 0, NULL);
}

TEST(a_function_answers_and_its_status_passes_through)
{
    struct sotto_head_recipe r;
    struct in_process m = {NULL, SOTTO_OK};
    struct sotto_target *t = NULL;
    float expected[N * K], got[N * K];
    sotto_head_defaults(&r);
    make_blobs(x, y, N, D, K, 0.5, 1);
    assert_int_equal(sotto_head_train(&m.head, x, y, N, D, K, &r, NULL), SOTTO_OK);
    assert_int_equal(sotto_head_predict(expected, m.head, x, N, D, 0, NULL), SOTTO_OK);
    assert_int_equal(sotto_target_open_function(&t, "mine", NULL, &m, D, K), SOTTO_EINVAL);
    assert_int_equal(sotto_target_open_function(&t, "mine", ask_in_process, &m, 0, K), SOTTO_EINVAL);
    assert_int_equal(sotto_target_open_function(&t, "mine", ask_in_process, &m, D, 1), SOTTO_EINVAL);
    assert_null(t);
    assert_int_equal(sotto_target_open_function(&t, "mine", ask_in_process, &m, D, K), SOTTO_OK);
    assert_null(target_head(t));
    assert_int_equal(target_query(t, got, x, N), SOTTO_OK);
    assert_memory_equal(got, expected, sizeof got);
    m.refuse = SOTTO_EAGAIN;
    assert_int_equal(target_query(t, got, x, 1), SOTTO_EAGAIN);
    assert_string_equal(sotto_error_text(), "mine: the model's function returned EAGAIN");
    m.refuse = SOTTO_OK;
    x[0] = INFINITY; /* target_query() refuses it; the function would too */
    assert_int_equal(target_query(t, got, x, 1), SOTTO_EINVAL);
    sotto_target_close(t);
    sotto_head_free(m.head);
}

static sotto_status fail_by_sotto(void *user, float *posteriors, const float *rows, size_t n)
{
    (void)user, (void)posteriors, (void)rows, (void)n;
    struct sotto_head *h;
    return sotto_head_load(&h, "no such file");
}

TEST(the_text_of_the_function_is_kept)
{
    struct sotto_target *t;
    float got[K], row[D] = {0};
    assert_int_equal(sotto_target_open_function(&t, "mine", fail_by_sotto, NULL, D, K), SOTTO_OK);
    assert_int_equal(target_query(t, got, row, 1), SOTTO_ENOENT);
    assert_non_null(strstr(sotto_error_text(), "no such file"));
    sotto_target_close(t);
}

/* The same model by its file and by a function: an attack finds the same. */
TEST(an_attack_sees_no_difference)
{
    enum { ALL = 160 };
    static float rows[ALL * D];
    static int64_t label[ALL];
    const char *path = path_of("same.safetensors");
    struct sotto_head_recipe r;
    struct in_process m = {NULL, SOTTO_OK};
    struct sotto_attack_options o;
    struct sotto_attack_input in = {.member = {rows, label, 40},
                                    .nonmember = {rows + 40 * D, label + 40, 40},
                                    .attacker = {rows + 80 * D, label + 80, 80}};
    double scores[2][80], area[2];
    make_blobs(rows, label, ALL, D, K, 2, 1);
    sotto_head_defaults(&r);
    assert_int_equal(sotto_head_train(&m.head, rows, label, 40, D, K, &r, NULL), SOTTO_OK);
    assert_int_equal(sotto_head_save(path, m.head), SOTTO_OK);
    sotto_attack_defaults(&o);
    o.name = "shokri";
    o.recipe = &r;
    o.shadows = 2;
    for (int way = 0; way < 2; way++) {
        struct sotto_audit_result found = {0};
        int finished;
        assert_int_equal(way ? sotto_target_open_function(&in.target, "mine", ask_in_process, &m, D, K)
                             : target_open_head(&in.target, path),
                         SOTTO_OK);
        assert_int_equal(sotto_attack(&found, scores[way], &finished, &in, &o, NULL), SOTTO_OK);
        area[way] = found.attacks[0].auc.area.estimate;
        sotto_audit_result_free(&found);
        sotto_target_close(in.target);
    }
    assert_memory_equal(scores[0], scores[1], sizeof scores[0]);
    assert_true(area[0] == area[1]);
    sotto_head_free(m.head);
}

TEST_GROUP(.set_up = make_folder, .tear_down = remove_folder)
