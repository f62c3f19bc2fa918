/* src/measure/attack: membership of encoders: numbers by hand; a planted leak is found by every attack, exchangeable
 * records are not distinguished; refusals. */
#include "support/test.h"

#include "attack/encoder/encoder_scores.h"
#include "io/json/json.h"
#include "rng/rng.h"
#include "support/audit_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%.17g; expected %.17g", found, expected);
}

TEST(similarities_by_hand)
{
    const float views[2 * 3 * 2] = {1, 0, 0, 2, 3, 3, /* second record: */ 0, 0, -1, 0, 1, 0};
    const struct encoder_records r = {views, NULL, 2, 3, 2};
    float s[6];
    size_t zero;
    double mean[2];
    encoder_similarities(s, &zero, &r);
    assert_int_equal(encoder_pairs(10), 45);
    assert_int_equal(zero, 1);
    const double expected[6] = {0, sqrt(0.5), sqrt(0.5), 0, 0, -1};
    for (int i = 0; i < 6; i++)
        near((double)s[i], expected[i], 1e-7);
    encoder_means(mean, s, 2, 3);
    near(mean[0], 2 * sqrt(0.5) / 3, 1e-7);
    near(mean[1], -1.0 / 3, 1e-7);
    encoder_sort(s, 2, 3);
    assert_true(s[3] == -1 && s[0] == 0 && s[1] == s[2]);
}

/* One pair of equal views against a bank of one opposite and one orthogonal embedding, temperature 1/2. */
TEST(the_contrastive_loss_by_hand)
{
    const float views[2 * 2] = {1, 0, 2, 0}, bank[2 * 2] = {-1, 0, 0, 5};
    const struct encoder_records r = {views, NULL, 1, 2, 2};
    double score;
    encoder_contrast(&score, &r, bank, 2, 0.5);
    near(score, -log((exp(2) + exp(-2) + 1) / exp(2)), 1e-12);
    encoder_contrast(&score, &r, bank, 2, 1e-3); /* nothing overflows */
    near(score, 0, 1e-12);
}

TEST(norms_and_their_ratio_by_hand)
{
    const float plain[2 * 2] = {3, 4, 0, 0};
    const struct encoder_records r = {NULL, plain, 2, 0, 2};
    const double members[] = {1, 3}, others[] = {-1, 1};
    double x[2];
    encoder_norms(x, &r);
    near(x[0], log(5), 1e-12);
    assert_true(isfinite(x[1]) && x[1] < -300);
    struct normal_pair p = normal_pair_fit(members, 2, others, 2);
    near(p.mean[0] - p.mean[1], 2, 1e-15);
    near(normal_pair_ratio(&p, 1), 0, 1e-15); /* half way between equal widths */
    near(normal_pair_ratio(&p, 2), (4 - 0) / (2 * 2.0), 1e-15);
    const double same[] = {1, 1};
    p = normal_pair_fit(same, 2, same, 2);
    assert_true(isfinite(normal_pair_ratio(&p, 1)));
}

/* ---- whole attacks ---- */

enum { D = 12, SHADOW_D = 16, VIEWS = 6, N = 240, BANK = 40 };

/* Views scatter around a record's own direction: less so for members, and their norm is larger, by `leak`. */
static struct sotto_encoder_views make_records(float *views, float *plain, size_t d, double leak,
                                               uint64_t seed)
{
    for (size_t i = 0; i < N; i++) {
        struct rng r = rng_stream(seed, RNG_TEST, 0, i);
        double centre[SHADOW_D], size = exp(0.2 * rng_normal(&r) + leak);
        for (size_t j = 0; j < d; j++)
            centre[j] = rng_normal(&r);
        for (size_t j = 0; j < d; j++)
            plain[i * d + j] = (float)(size * centre[j] / sqrt((double)d));
        for (size_t v = 0; v < VIEWS; v++)
            for (size_t j = 0; j < d; j++)
                views[(i * VIEWS + v) * d + j] = (float)(centre[j] + 0.5 * exp(-leak) * rng_normal(&r));
    }
    return (struct sotto_encoder_views){views, plain, N};
}

static float views[4][N * VIEWS * SHADOW_D], plain[4][N * SHADOW_D], bank[2][BANK * SHADOW_D];

static struct sotto_encoder_attack_input make_world(double leak, double shadow_leak, uint64_t seed)
{
    struct sotto_encoder_attack_input in = {.views = VIEWS,
                                            .width = D,
                                            .shadow_width = SHADOW_D,
                                            .bank = bank[0],
                                            .shadow_bank = bank[1],
                                            .bank_n = BANK,
                                            .temperature = 0.2};
    struct rng r = rng_stream(seed, RNG_TEST, 1, 0);
    for (size_t i = 0; i < BANK * SHADOW_D; i++) {
        bank[0][i] = (float)rng_normal(&r);
        bank[1][i] = (float)rng_normal(&r);
    }
    in.member = make_records(views[0], plain[0], D, leak, seed + 1);
    in.nonmember = make_records(views[1], plain[1], D, 0, seed + 2);
    in.shadow_member = make_records(views[2], plain[2], SHADOW_D, shadow_leak, seed + 3);
    in.shadow_nonmember = make_records(views[3], plain[3], SHADOW_D, 0, seed + 4);
    return in;
}

static struct json *attack(double *scores, const struct sotto_encoder_attack_input *in)
{
    static const double rates[] = {0.1};
    const struct sotto_audit_options options = {
        .fpr = rates, .fpr_count = 1, .confidence = 0.99, .draws = 200, .seed = 3};
    struct json *doc = NULL;
    char *text = NULL;
    if (encoder_attack_text(&text, scores, in, &options, NULL) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    assert_int_equal(json_parse(&doc, text, strlen(text), "audit"), SOTTO_OK);
    sotto_text_free(text);
    return doc;
}

static double number(const struct json *doc, size_t attack, const char *path)
{
    char whole[96];
    snprintf(whole, sizeof whole, "attacks[%zu].%s", attack, path);
    double x = json_number(json_find(doc, whole));
    assert_false(isnan(x));
    return x;
}

TEST(a_planted_leak_is_found_by_every_attack)
{
    static double scores[5 * 2 * N];
    static const char *const names[] = {"encoder-mi-vector", "encoder-mi-set", "encoder-mi-threshold",
                                        "encoder-contrastive", "encoder-norm-ratio"};
    struct sotto_encoder_attack_input in = make_world(0.6, 0.6, 100);
    struct json *doc = attack(scores, &in);
    assert_int_equal(json_count(json_find(doc, "attacks")), 5);
    for (size_t k = 0; k < 5; k++) {
        char path[48];
        snprintf(path, sizeof path, "attacks[%zu].name", k);
        assert_string_equal(json_text(json_find(doc, path)), names[k]);
        if (!(number(doc, k, "auc.lower") > 0.85))
            fail_msg("%s: AUC %g", names[k], number(doc, k, "auc.estimate"));
        /* the threshold comes from another encoder of another width, and still holds */
        assert_true(number(doc, k, "own_decision.lower") > 0.6);
    }
    /* scores are the attacks', members first */
    double mean[2] = {0, 0};
    for (size_t i = 0; i < 2 * N; i++)
        mean[i >= N] += scores[2 * 2 * N + i] / N;
    assert_true(mean[0] > mean[1] + 0.05);
    assert_non_null(json_find(doc, "encoder_attack.shadow_auc.encoder-mi-set"));
    json_free(doc);
}

/* The target does not tell its members apart, whatever its attacker learnt from a shadow that does. */
TEST(exchangeable_records_are_not_told_apart)
{
    struct sotto_encoder_attack_input in = make_world(0, 0.6, 200);
    struct json *doc = attack(NULL, &in);
    for (size_t k = 0; k < 5; k++)
        assert_true(number(doc, k, "auc.lower") < 0.5 && number(doc, k, "auc.upper") > 0.5);
    json_free(doc);
}

TEST(a_shadow_without_a_leak_teaches_nothing)
{
    struct sotto_encoder_attack_input in = make_world(0, 0, 300);
    in.bank = in.shadow_bank = NULL, in.bank_n = 0;
    struct json *doc = attack(NULL, &in);
    assert_int_equal(json_count(json_find(doc, "attacks")), 4);
    for (size_t k = 0; k < 4; k++)
        assert_true(number(doc, k, "auc.lower") < 0.5 && number(doc, k, "auc.upper") > 0.5);
    /* measured on the half of the shadow that taught nothing: not near 1 */
    near(json_number(json_find(doc, "encoder_attack.shadow_auc.encoder-mi-vector")), 0.5, 0.15);
    json_free(doc);
}

/* Two attacks learn nothing, so they need no shadow, and without one they set no threshold. */
TEST(without_a_shadow_two_are_left)
{
    for (int with_bank = 0; with_bank < 2; with_bank++)
        for (int leak = 0; leak < 2; leak++) {
            struct sotto_encoder_attack_input in = make_world(leak ? 0.6 : 0, 0.6, leak ? 100 : 200);
            in.shadow_member = in.shadow_nonmember = (struct sotto_encoder_views){0};
            in.shadow_width = 0, in.shadow_bank = NULL;
            if (!with_bank)
                in.bank = NULL, in.bank_n = 0;
            struct json *doc = attack(NULL, &in);
            assert_int_equal(json_count(json_find(doc, "attacks")), 1 + with_bank);
            assert_string_equal(json_text(json_find(doc, "attacks[0].name")), "encoder-mi-threshold");
            assert_int_equal(json_count(json_find(doc, "encoder_attack.shadow_auc")), 0);
            assert_true(isnan(json_number(json_find(doc, "attacks[0].own_decision.lower"))));
            for (int k = 0; k <= with_bank; k++)
                if (leak)
                    assert_true(number(doc, (size_t)k, "auc.lower") > 0.85);
                else
                    assert_true(number(doc, (size_t)k, "auc.lower") < 0.5 &&
                                number(doc, (size_t)k, "auc.upper") > 0.5);
            json_free(doc);
        }
}

static void refuse(const struct sotto_encoder_attack_input *in, const char *text)
{
    char *json = NULL;
    const sotto_status status = encoder_attack_text(&json, NULL, in, NULL, NULL);
    if (status != SOTTO_EINVAL || !strstr(sotto_error_text(), text))
        fail_msg("%s: %s", sotto_status_name(status), sotto_error_text());
    assert_null(json);
}

TEST(bad_input_is_refused)
{
    struct sotto_encoder_attack_input in = make_world(0, 0, 400);
    in.views = 1;
    refuse(&in, "encoder attack: 1 views of width 12 and 16; expected 2 to 256 views, and widths > 0");
    in = make_world(0, 0, 400), in.shadow_bank = NULL;
    refuse(&in,
           "encoder attack: give bank, bank_n and, with a shadow, shadow_bank together, or none of them");
    in = make_world(0, 0, 400), in.temperature = SOTTO_ZERO;
    refuse(&in, "temperature must be > 0 (got 0)");
    in = make_world(0, 0, 400), in.shadow_member.n = 19;
    refuse(&in, "shadow's members: 19 records; expected at least 20");
    in = make_world(0, 0, 400), in.nonmember.n = 1;
    refuse(&in, "non-members: 1 records; expected at least 2");
    in = make_world(0, 0, 400), plain[1][7] = NAN;
    refuse(&in, "non-members: value 7 is not finite; embeddings must be");
    in = make_world(0, 0, 400), bank[1][3] = INFINITY;
    refuse(&in, "bank: value 3 is not finite; embeddings must be");
}

TEST(no_memory_is_an_error)
{
    struct sotto_encoder_attack_input in = make_world(0, 0.6, 500);
    in.member.n = in.nonmember.n = in.shadow_member.n = in.shadow_nonmember.n = 20;
    int failed = 0;
    for (long n = 0; n < 60; n += 2) {
        char *json = NULL;
        base_alloc_fail_after(n);
        sotto_status status = encoder_attack_text(&json, NULL, &in, NULL, NULL);
        base_alloc_fail_after(-1);
        assert_true(status == SOTTO_OK || status == SOTTO_ENOMEM);
        failed += status == SOTTO_ENOMEM;
        sotto_text_free(json);
    }
    assert_true(failed > 10);
}
