/* Label-only attacks: closed forms, hand-made targets, and the proof that decisions are all they use: a
 * target that gives one-hot answers gets the very same scores. */
#include "support/test.h"

#include "attack/query/label_attack.h"
#include "attack/target/target.h"
#include "audit/measure/metrics.h"
#include "data/augment/image_moves.h"
#include "support/head_blobs.h"
#include "rng/rng.h"
#include "sotto/private/all.h"
#include "support/audit_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 120, D = 16, K = 4 };
static float x[4 * N * D];
static int64_t y[4 * N];
static struct sotto_head *overfit;

static struct sotto_head_recipe recipe(void)
{
    struct sotto_head_recipe r;
    sotto_head_defaults(&r);
    r.hidden_count = 1;
    r.hidden[0] = 32;
    r.epochs = 60;
    r.batch = 16;
    r.lr = 1e-2;
    return r;
}

static int set_up(void **state)
{
    (void)state;
    struct sotto_head_recipe r = recipe();
    make_blobs(x, y, 4 * N, D, K, 3, 1);
    return sotto_head_train(&overfit, x, y, N, D, K, &r, NULL) == SOTTO_OK ? 0 : -1;
}
static int tear_down(void **state)
{
    (void)state;
    sotto_head_free(overfit);
    return 0;
}

/* Answers of a head, or only their largest. */
struct judge {
    struct sotto_target target;
    const struct sotto_head *head;
    bool hides;
};
static sotto_status query(struct sotto_target *t, float *p, const float *rows, size_t n)
{
    const struct judge *j = (struct judge *)t;
    sotto_status status = sotto_head_predict(p, j->head, rows, n, t->inputs, 0, NULL);
    for (size_t i = 0; j->hides && i < n; i++) {
        float *row = p + i * t->classes;
        size_t best = 0;
        for (size_t k = 1; k < t->classes; k++)
            best = row[k] > row[best] ? k : best;
        memset(row, 0, t->classes * sizeof *row);
        row[best] = 1;
    }
    return status;
}
static void nothing(struct sotto_target *t)
{
    (void)t;
}
static struct judge judge(const struct sotto_head *h, bool hides)
{
    struct judge j = {.target = target_make("judge", sotto_head_inputs(h), sotto_head_classes(h)),
                      .head = h,
                      .hides = hides};
    j.target.query = query;
    j.target.close = nothing;
    return j;
}

static struct sotto_attack_input input(struct judge *j)
{
    return (struct sotto_attack_input){.target = &j->target,
                                       .member = {x, y, N},
                                       .nonmember = {x + N * D, y + N, N},
                                       .attacker = {x + 2 * N * D, y + 2 * N, 2 * N}};
}

static sotto_status attack(double *scores, char **json, const char *name, struct judge *j, size_t queries)
{
    struct sotto_attack_options o;
    struct sotto_head_recipe r = recipe();
    struct sotto_attack_input in = input(j);
    int finished;
    sotto_attack_defaults(&o);
    o.name = name;
    o.recipe = &r;
    o.queries = queries;
    o.channels = 1;
    o.height = o.width = 4;
    return attack_text(json, scores, &finished, &in, &o, NULL);
}

static const char *const names[] = {"boundary", "noise", "transfer", "augmentation", "label-combined"};

TEST(decisions_are_all_they_use)
{
    for (size_t a = 0; a < sizeof names / sizeof *names; a++) {
        struct judge open = judge(overfit, false), closed = judge(overfit, true);
        double one[2 * N], two[2 * N];
        char *first, *second;
        assert_int_equal(attack(one, &first, names[a], &open, 60), SOTTO_OK);
        assert_int_equal(attack(two, &second, names[a], &closed, 60), SOTTO_OK);
        assert_memory_equal(one, two, sizeof one);
        assert_string_equal(first, second);
        assert_non_null(
            strstr(first, "\"correctness\"")); /* the gap attack is listed with them, no loss attack is */
        assert_null(strstr(first, "\"loss\""));
        sotto_text_free(first);
        sotto_text_free(second);
    }
}

TEST(they_see_an_overfit_head_and_nothing_in_a_stranger)
{
    static float other_x[N * D];
    static int64_t other_y[N];
    struct sotto_head_recipe r = recipe();
    struct sotto_head *stranger;
    make_blobs(other_x, other_y, N, D, K, 3, 9);
    assert_int_equal(sotto_head_train(&stranger, other_x, other_y, N, D, K, &r, NULL), SOTTO_OK);
    for (size_t a = 0; a < sizeof names / sizeof *names; a++) {
        struct judge leaks = judge(overfit, true), not = judge(stranger, true);
        struct sotto_estimate e;
        double scores[2 * N];
        char *json;
        assert_int_equal(attack(scores, &json, names[a], &leaks, 60), SOTTO_OK);
        sotto_text_free(json);
        assert_int_equal(estimate_auc(&e, scores, N, scores + N, N, 0.99), SOTTO_OK);
        assert_true(e.lower > 0.5);
        assert_int_equal(attack(scores, &json, names[a], &not, 60), SOTTO_OK);
        sotto_text_free(json);
        assert_int_equal(estimate_auc(&e, scores, N, scores + N, N, 0.99), SOTTO_OK);
        assert_true(e.lower < 0.5 && e.upper > 0.5);
    }
    sotto_head_free(stranger);
}

/* class 1 where the first column is above 0 (bits: is 1); columns 0 .. 2. */
static sotto_status first_column(struct sotto_target *t, float *p, const float *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        p[2 * i + 1] = rows[i * t->inputs] > 0.5f;
        p[2 * i] = 1 - p[2 * i + 1];
    }
    return SOTTO_OK;
}

TEST(noise_has_its_closed_forms)
{
    enum { R = 6, QUERIES = 4000 };
    float bits[R * 3], numbers[R * 3];
    int64_t label[R];
    double scores[R];
    struct sotto_target t = target_make("column", 3, 2);
    struct sotto_attack_options o = {.seed = 3, .queries = QUERIES};
    t.query = first_column;
    for (size_t i = 0; i < R * 3; i++) {
        bits[i] = (float)(i * 7 % 5 % 2);
        numbers[i] = 0.3f * (float)(i * 5 % 9);
    }
    for (int kind = 0; kind < 2; kind++) {
        struct label_setting s;
        struct head_data records = {kind ? numbers : bits, label, R, 3, 2};
        struct query_input in = {.target = &t, .records = records, .options = &o};
        assert_int_equal(label_setting_make(&s, &in, 10, 0), SOTTO_OK);
        assert_int_equal(s.queries, QUERIES);
        for (size_t i = 0; i < R; i++)
            label[i] = i % 2; /* some right, some wrong */
        for (size_t level = 0; level < LABEL_LEVELS; level++) {
            assert_int_equal(label_noise(scores, &t, &records, (double)level, &s), SOTTO_OK);
            for (size_t i = 0; i < R; i++) {
                double v = (double)records.x[i * 3], sigma = label_sigma(level) * s.spread[0];
                double one = kind    ? 0.5 * erfc(-(v - 0.5) / (sigma * sqrt(2)))
                             : v > 0 ? 1 - label_flip(level)
                                     : label_flip(level);
                double keep = label[i] ? one : 1 - one,
                       own = ((v > 0.5) == (label[i] == 1)) / (double)QUERIES;
                double expected = keep * (QUERIES - 1) / QUERIES + own;
                assert_true(fabs(scores[i] - expected) < 4.5 * sqrt(keep * (1 - keep) / QUERIES) + 1e-9);
            }
        }
        label_setting_clear(&s);
    }
}

TEST(boundary_scores_are_distances)
{
    float rows[3 * 3] = {0, 0.2f, 1, 0.9f, 0, 0.5f, 0.1f, 1, 0};
    int64_t label[3] = {0, 1, 1}; /* the last is decided wrongly */
    double scores[3];
    struct sotto_target t = target_make("column", 3, 2);
    struct sotto_attack_options o = {.seed = 3};
    struct head_data records = {rows, label, 3, 3, 2};
    struct query_input in = {.target = &t, .records = records, .options = &o};
    struct label_setting s;
    t.query = first_column;
    assert_int_equal(label_setting_make(&s, &in, 1500, 0), SOTTO_OK);
    assert_int_equal(label_boundary(scores, &t, &records, 0, &s), SOTTO_OK);
    assert_true(scores[0] >= 0.5 && scores[0] < 0.505); /* columns lie in [0, 0.9], [0, 1], [0, 1] */
    assert_true(scores[1] >= 0.4 - 1e-6 && scores[1] < 0.405);
    assert_true(scores[2] == 0);
    assert_int_equal(s.unreachable, 0);
    s.space.high[0] = 0.4f; /* now class 1 lies outside */
    records.n = 1;
    s.known.n = 1;
    assert_int_equal(label_boundary(scores, &t, &records, 0, &s), SOTTO_OK);
    assert_true(fabs(scores[0] - sqrt(0.16 + 2)) < 1e-6); /* the diagonal */
    assert_int_equal(s.unreachable, 1);
    label_setting_clear(&s);
}

TEST(transfer_is_the_shadows_loss)
{
    struct judge j = judge(overfit, true);
    struct sotto_attack_options o;
    struct sotto_head_recipe r = recipe();
    struct sotto_attack_input in = input(&j);
    struct rng draw;
    struct sotto_head *shadow;
    double scores[2 * N];
    float p[2 * N * K];
    int64_t relabelled[2 * N], decision[2 * N];
    char *json;
    int finished;
    sotto_attack_defaults(&o);
    o.name = "transfer";
    o.recipe = &r;
    o.shadows = 1;
    assert_int_equal(attack_text(&json, scores, &finished, &in, &o, NULL), SOTTO_OK);
    sotto_text_free(json);
    assert_int_equal(target_labels(&j.target, relabelled, x + 2 * N * D, 2 * N), SOTTO_OK);
    assert_int_equal(target_labels(&j.target, decision, x, 2 * N), SOTTO_OK);
    draw = rng_stream(o.seed, RNG_SPLIT, 4, 0);
    r.seed = rng_u64(&draw) >> 1;
    assert_int_equal(sotto_head_train(&shadow, x + 2 * N * D, relabelled, 2 * N, D, K, &r, NULL), SOTTO_OK);
    assert_int_equal(sotto_head_predict(p, shadow, x, 2 * N, D, 0, NULL), SOTTO_OK);
    size_t wrong = 0;
    for (size_t i = 0; i < 2 * N; i++) {
        if (decision[i] != y[i]) {
            assert_true(scores[i] == -100);
            wrong++;
        } else if (p[i * K + (size_t)y[i]] > 1e-3f) {
            assert_true(fabs(scores[i] - log((double)p[i * K + (size_t)y[i]])) < 1e-4);
        }
    }
    assert_true(wrong > 0);
    sotto_head_free(shadow);
}

TEST(budgets_are_shared_out)
{
    struct judge j = judge(overfit, true);
    double scores[2 * N];
    char *json;
    sotto_target_set_budget(&j.target, 2 * N * 41);
    assert_int_equal(attack(scores, &json, "boundary", &j, 0), SOTTO_OK);
    assert_non_null(strstr(json, "\"queries_per_record\":40"));
    assert_true(target_used(&j.target) <= 2 * N * 41);
    sotto_text_free(json);
    j = judge(overfit, true);
    sotto_target_set_budget(&j.target, 2 * N * 2 - 1); /* N decisions come first */
    assert_int_equal(attack(scores, &json, "noise", &j, 0), SOTTO_EBUDGET);
    assert_string_equal(sotto_error_text(),
                        "judge: 239 queries are left for 240 records; expected at least one for each");
}

/* Without other records the attack uses random inputs for the threshold of boundary distances. */
TEST(a_threshold_without_a_shadow)
{
    struct judge j = judge(overfit, true);
    struct sotto_attack_options o;
    struct sotto_attack_input in = input(&j);
    double scores[2 * N];
    char *json;
    int finished;
    in.attacker.n = 0;
    sotto_attack_defaults(&o);
    o.name = "boundary";
    o.queries = 100;
    assert_int_equal(attack_text(&json, scores, &finished, &in, &o, NULL), SOTTO_OK);
    assert_non_null(strstr(json, "\"threshold_from\":\"random inputs\""));
    assert_null(strstr(json, "\"decision\":null"));
    sotto_text_free(json);
    o.name = "noise"; /* untuned, and no threshold */
    assert_int_equal(attack_text(&json, scores, &finished, &in, &o, NULL), SOTTO_OK);
    assert_non_null(strstr(json, "\"tuned\":false"));
    assert_non_null(strstr(json, "\"decision\":null"));
    sotto_text_free(json);
}

TEST(images_move)
{
    enum { H = 7, W = 9 };
    struct image_shape s = {2, H, W};
    float image[2 * H * W], moved[2 * H * W];
    size_t seen = 0;
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < H; i++)
            for (size_t j = 0; j < W; j++)
                image[(k * H + i) * W + j] = (float)(10 + 2 * i + 3 * j + 50 * k);
    image_move(moved, image, &s, 0);
    assert_memory_equal(moved, image, sizeof image);
    for (size_t m = 1; m <= 8; m++) { /* bilinear interpolation is exact on a plane */
        double angle = (double)((m + 1) / 2) * 3 * acos(-1) / 180 * (m % 2 ? 1 : -1);
        image_move(moved, image, &s, m);
        for (size_t k = 0; k < 2; k++)
            for (size_t i = 2; i < H - 2; i++)
                for (size_t j = 2; j < W - 2; j++) {
                    double di = (double)i - 3, dj = (double)j - 4;
                    double fi = 3 + cos(angle) * di + sin(angle) * dj,
                           fj = 4 - sin(angle) * di + cos(angle) * dj;
                    assert_true(fabs((double)moved[(k * H + i) * W + j] -
                                     (10 + 2 * fi + 3 * fj + 50 * (double)k)) < 1e-4);
                }
    }
    for (size_t m = 9; m < PICTURE_MOVES; m++) { /* every shift once */
        image_move(moved, image, &s, m);
        double step = (double)image[3 * W + 4] - (double)moved[3 * W + 4];
        for (int a = -2; a <= 2; a++)
            for (int b = -2; b <= 2; b++)
                if (abs(a) + abs(b) > 0 && abs(a) + abs(b) <= 2 && step == 2 * a + 3 * b)
                    seen |= (size_t)1 << ((a + 2) * 5 + b + 2);
    }
    assert_int_equal(__builtin_popcountl(seen), 12);
    image_move(moved, image, &s, 9); /* one column to the right: the left edge is 0 */
    assert_true(moved[0] == 0 && moved[1] == image[0]);
}

TEST(images_must_be_said_to_be_images)
{
    struct judge j = judge(overfit, true);
    struct sotto_attack_options o;
    struct sotto_head_recipe r = recipe();
    struct sotto_attack_input in = input(&j);
    double scores[2 * N];
    char *json;
    int finished;
    sotto_attack_defaults(&o);
    o.name = "augmentation";
    o.recipe = &r;
    assert_int_equal(attack_text(&json, scores, &finished, &in, &o, NULL), SOTTO_EUSAGE);
    assert_string_equal(sotto_error_text(), "attack: augmentation needs image shapes; give channels=C,H,W");
    o.channels = 3;
    o.height = o.width = 4;
    assert_int_equal(attack_text(&json, scores, &finished, &in, &o, NULL), SOTTO_EINVAL);
    assert_string_equal(
        sotto_error_text(),
        "attack: images of 3x4x4 do not match rows of 16 numbers; give the right channels=C,H,W");
    o.name = "label-combined";
    assert_int_equal(attack_text(&json, scores, &finished, &in, &o, NULL), SOTTO_EINVAL);
    assert_string_equal(
        sotto_error_text(),
        "attack: images of 3x4x4 do not match rows of 16 numbers; give the right channels=C,H,W");
}

/* What is asked for is what is asked: a twentieth for noise, a label for each move, the rest for
 * distances. */
TEST(combined_cuts_its_queries)
{
    struct judge j = judge(overfit, true);
    double scores[2 * N];
    char *json;
    assert_int_equal(attack(scores, &json, "label-combined", &j, 400), SOTTO_OK);
    assert_non_null(strstr(json, "\"distances\":5,\"queries_per_distance\":73,\"noisy_copies\":14,"
                                 "\"moved_copies\":21,"));
    assert_true(target_used(&j.target) <= 2 * N * (1 + 400));
    assert_true(target_used(&j.target) > 2 * N * 100);
    sotto_text_free(json);
    assert_int_equal(attack(scores, &json, "label-combined", &j, 37), SOTTO_EBUDGET);
    assert_string_equal(sotto_error_text(),
                        "attack: label-combined has a budget of 37 queries per record; expected at least 38");
}

/* On a table there are no moves, and the records of a shadow teach what each answer is worth. */
TEST(combined_does_without_images)
{
    struct judge j = judge(overfit, true);
    struct sotto_attack_options o;
    struct sotto_head_recipe r = recipe();
    struct sotto_attack_input in = input(&j);
    struct sotto_estimate e;
    double scores[2 * N];
    char *json;
    int finished;
    sotto_attack_defaults(&o);
    o.name = "label-combined";
    o.recipe = &r;
    o.queries = 200;
    assert_int_equal(attack_text(&json, scores, &finished, &in, &o, NULL), SOTTO_OK);
    assert_non_null(strstr(json, "\"distances\":1,\"queries_per_distance\":151,\"noisy_copies\":49,"
                                 "\"moved_copies\":0,"));
    assert_null(strstr(json, "\"decision\":null"));
    sotto_text_free(json);
    assert_int_equal(estimate_auc(&e, scores, N, scores + N, N, 0.99), SOTTO_OK);
    assert_true(e.lower > 0.5);
}

TEST(memory_runs_out_cleanly)
{
    double scores[2 * N];
    char *json;
    for (size_t a = 0; a < sizeof names / sizeof *names; a++)
        for (long after = 0; after < 60; after += 13) {
            struct judge j = judge(overfit, true);
            base_alloc_fail_after(after);
            sotto_status status = attack(scores, &json, names[a], &j, a == 4 ? 40 : 2);
            base_alloc_fail_after(-1);
            assert_true(status == SOTTO_OK || status == SOTTO_ENOMEM);
            if (status == SOTTO_OK)
                sotto_text_free(json);
        }
}

TEST_GROUP(.set_up = set_up, .tear_down = tear_down, .tags = "matrix")
