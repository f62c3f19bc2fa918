/* Attacks on generative models from files: known answers, replayed rows, ties, exchangeable records, sets of records, and what
 * is refused. */
#include "support/test.h"

#include "audit/fit/principal.h"
#include "audit/measure/metrics.h"
#include "audit/score/sample_distances.h"
#include "audit/score/score_attack.h"
#include "num/symmetric.h"
#include "rng/rng.h"
#include "sotto/private/all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%.12g; expected %.12g", found, expected);
}

static void fill(float *x, size_t count, uint64_t stream)
{
    struct rng r = rng_stream(11, RNG_TEST, stream, 0);
    for (size_t i = 0; i < count; i++)
        x[i] = (float)rng_normal(&r);
}

/* ---- the known answers of the specification ---- */

static const float records[] = {0, 0, 3, 4, 1, 1}, samples[] = {0, 1, 3, 3, 5, 5, 1, .5F, .2F, .1F},
                   reference[] = {.5F, .5F, 3, 4.5F, 2, 2};

static void known(const char *attack, double a, double b, double c)
{
    struct attack_input in = {.features = records,
                              .n = 3,
                              .width = 2,
                              .generated = samples,
                              .generated_n = 5,
                              .reference_generated = reference,
                              .reference_generated_n = 3};
    double scores[3];
    assert_int_equal(attack_run(scores, attack_find(attack), &in), SOTTO_OK);
    near(scores[0], a, 1e-8), near(scores[1], b, 1e-8), near(scores[2], c, 1e-8);
}

TEST(known_answers)
{
    known("gan-leaks", -.223606798, -1, -.5);
    known("gan-leaks-calibrated", .483499984, -.5, .207106781);
    known("monte-carlo", .2, 0, .2);
    known("monte-carlo-distance", .160943790, 0, 0);
}

/* Closeness rises as a sample comes nearer, beyond distance 1 too, and a record without samples inside is never above. */
TEST(far_samples_count_for_membership)
{
    float x[] = {0, 100, 200}, g[] = {3, 3.2F, 104, 290};
    struct attack_input in = {.features = x, .n = 3, .width = 1, .generated = g, .generated_n = 4};
    double scores[3];
    assert_int_equal(attack_run(scores, attack_find("monte-carlo-distance"), &in), SOTTO_OK);
    near(scores[0], (log(4 / 3.) + log(4 / 3.2)) / 4, 1e-6);
    near(scores[1], 0, 1e-12);
    assert_true(scores[2] == 0);
}

/* ---- distances ---- */

static double exact(const float *x, const float *y, size_t width)
{
    double sum = 0;
    for (size_t c = 0; c < width; c++)
        sum += ((double)x[c] - (double)y[c]) * ((double)x[c] - (double)y[c]);
    return sqrt(sum);
}

enum { N = 13, K = 701, WIDTH = 219 };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

TEST(distances_agree_with_doubles)
{
    static float x[N * WIDTH], g[K * WIDTH];
    static double all[N * K];
    double nearest[N], share[N], closeness[N], quantile;
    size_t which[N];
    struct sample_pairs p = {x, g, N, K, WIDTH, NULL};
    fill(x, N * WIDTH, 1), fill(g, K * WIDTH, 2);
    memcpy(g + 400 * WIDTH, x + 2 * WIDTH, sizeof *g * WIDTH); /* a near copy */
    g[400 * WIDTH + 7] += 1e-3F;
    double radius = exact(x, g + WIDTH, WIDTH); /* at the very distance of one pair */
    assert_int_equal(sample_nearest(nearest, which, &p), SOTTO_OK);
    assert_int_equal(sample_within(share, closeness, radius, &p), SOTTO_OK);
    for (size_t i = 0; i < N; i++) {
        double least = INFINITY, inside = 0, sum = 0;
        size_t best = 0;
        for (size_t j = 0; j < K; j++) {
            double d = all[i * K + j] = exact(x + i * WIDTH, g + j * WIDTH, WIDTH);
            if (d < least)
                least = d, best = j;
            inside += d <= radius;
            sum += d <= radius ? log((radius + 1e-12) / (d + 1e-12)) : 0;
        }
        assert_true(nearest[i] == least && which[i] == best);
        assert_true(share[i] == inside / K);
        near(closeness[i], sum / K, 1e-12);
    }
    qsort(all, N * K, sizeof *all, ascending);
    assert_int_equal(sample_quantile(&quantile, .01, &p), SOTTO_OK);
    near(quantile, all[(size_t)ceil(.01 * N * K) - 1], 1e-4);
}

/* Components of a few strong directions are those of the covariance. */
TEST(components_are_eigenvectors)
{
    enum { ROWS = 300, D = 24, WANTED = 3 };
    static float x[ROWS * D], seen[ROWS * WANTED];
    double covariance[D * D] = {0}, mean[D] = {0}, values[D], scratch[D * D + 3 * D];
    struct principal p;
    fill(x, ROWS * D, 3);
    for (size_t i = 0; i < ROWS; i++) {
        struct rng r = rng_stream(12, RNG_TEST, 0, i);
        for (size_t k = 0; k < WANTED; k++) {
            float strength = (float)((8 >> k) * rng_normal(&r));
            for (size_t c = 0; c < D; c++)
                x[i * D + c] += strength * ((c >> k & 1) ? 1.F : -1.F);
        }
    }
    for (size_t i = 0; i < ROWS; i++)
        for (size_t c = 0; c < D; c++)
            mean[c] += (double)x[i * D + c] / ROWS;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t a = 0; a < D; a++)
            for (size_t b = 0; b < D; b++)
                covariance[a * D + b] += (x[i * D + a] - mean[a]) * (x[i * D + b] - mean[b]);
    assert_true(symmetric_eigen(covariance, values, D, scratch));
    assert_int_equal(principal_make(&p, x, ROWS, D, WANTED, NULL), SOTTO_OK);
    assert_int_equal(p.components, WANTED);
    assert_int_equal(principal_project(seen, &p, x, ROWS, NULL), SOTTO_OK);
    for (size_t k = 0; k < WANTED; k++) {
        size_t best = 0, above = 0;
        for (size_t j = 0; j < D; j++) {
            above = 0;
            for (size_t other = 0; other < D; other++)
                above += values[other] > values[j];
            if (above == k)
                best = j;
        }
        double along = 0;
        for (size_t c = 0; c < D; c++)
            along += covariance[best * D + c] * p.direction[c * PRINCIPAL_COLUMNS + k];
        near(fabs(along), 1, 1e-9);
        double sum = 0;
        for (size_t i = 0; i < ROWS; i++)
            sum += (double)seen[i * WANTED + k] * (double)seen[i * WANTED + k];
        near(sum / values[best], 1, 1e-5);
    }
    principal_clear(&p);
}

/* ---- the audit ---- */

enum { M = 40, D = 60 };
static float member[M * D], nonmember[M * D], generated[2 * M * D];
static double member_logits[M], nonmember_logits[M];

static const struct sotto_audit_attack *find(const struct sotto_audit_result *r, const char *name)
{
    for (size_t i = 0; i < r->attack_count; i++)
        if (strcmp(r->attacks[i].name, name) == 0)
            return &r->attacks[i];
    fail_msg("%s did not run", name);
    return NULL;
}

static struct sotto_audit_input make(struct sotto_generative_input *g)
{
    fill(member, M * D, 5), fill(nonmember, M * D, 6), fill(generated, 2 * M * D, 7);
    *g = (struct sotto_generative_input){.generated = generated, .generated_n = M};
    return (struct sotto_audit_input){.member_features = member,
                                      .nonmember_features = nonmember,
                                      .n_member = M,
                                      .n_nonmember = M,
                                      .feature_count = D,
                                      .generative = g};
}

TEST(replayed_rows_are_found)
{
    struct sotto_generative_input g;
    struct sotto_audit_input in = make(&g);
    struct sotto_audit_result r;
    memcpy(generated, member, sizeof member);
    assert_int_equal(sotto_audit(&r, &in, NULL, NULL), SOTTO_OK);
    const struct sotto_audit_attack *a = find(&r, "gan-leaks");
    assert_true(a->auc.area.estimate == 1);
    assert_non_null(a->generative);
    assert_true(a->generative->top_share == 1 && a->generative->set_accuracy.estimate == 1);
    near(a->generative->set_accuracy.lower, pow(.025, .01), 1e-9);
    assert_int_equal(a->generative->set_size, M / 2);
    assert_true(isnan(a->generative->radius));
    assert_true(find(&r, "monte-carlo")->auc.area.estimate > .9);
    assert_true(find(&r, "monte-carlo")->generative->radius > 0);
    assert_int_equal(r.generator->samples, M);
    sotto_audit_result_free(&r);
}

TEST(ties_are_guesses)
{
    struct sotto_generative_input g;
    struct sotto_audit_input in = make(&g);
    struct sotto_audit_result r;
    for (size_t i = 0; i < M * D; i++)
        generated[i] = .25F;
    g.reference_generated = generated, g.reference_generated_n = M;
    assert_int_equal(sotto_audit(&r, &in, NULL, NULL), SOTTO_OK);
    const struct sotto_audit_attack *a = find(&r, "gan-leaks-calibrated");
    assert_true(a->auc.area.estimate == .5);
    near(a->generative->top_share, .5, 1e-12);
    assert_int_equal(a->generative->lowest_tied, 2 * M);
    near(a->generative->set_accuracy.estimate, .5, .2);
    sotto_audit_result_free(&r);
}

/* Median radius: half of the records have no sample inside. */
TEST(half_of_the_records_tie)
{
    struct sotto_generative_input g;
    struct sotto_audit_input in = make(&g);
    struct sotto_audit_result r;
    assert_int_equal(sotto_audit(&r, &in, NULL, NULL), SOTTO_OK);
    assert_int_equal(find(&r, "monte-carlo")->generative->lowest_tied, M);
    assert_null(find(&r, "monte-carlo")->claim);
    sotto_audit_result_free(&r);
}

TEST(the_discriminator_alone_is_enough)
{
    struct sotto_generative_input g = {.member_discriminator = member_logits,
                                       .nonmember_discriminator = nonmember_logits};
    struct sotto_audit_input in = {.n_member = M, .n_nonmember = M, .generative = &g};
    struct sotto_audit_result r, decoded;
    char *text = NULL, *again = NULL;
    for (size_t i = 0; i < M; i++)
        member_logits[i] = (double)i, nonmember_logits[i] = (double)i - 9.5;
    assert_int_equal(sotto_audit(&r, &in, NULL, NULL), SOTTO_OK);
    assert_int_equal(r.attack_count, 1);
    const struct sotto_audit_attack *a = find(&r, "logan");
    /* member i lies above min(M, i + 10) non-members */
    near(a->auc.area.estimate, (30 * 29 / 2. + 30 * 10 + 10 * 40) / (M * M), 1e-12);
    near(a->generative->top_share, 25. / M, 1e-12); /* members above 14.75, of 40 records */
    assert_int_equal(sotto_audit_encode(&text, &r), SOTTO_OK);
    assert_int_equal(sotto_audit_decode(&decoded, text), SOTTO_OK);
    assert_int_equal(sotto_audit_encode(&again, &decoded), SOTTO_OK);
    assert_string_equal(text, again);
    sotto_text_free(text), sotto_text_free(again);
    sotto_audit_result_free(&r), sotto_audit_result_free(&decoded);
}

TEST(swapped_sides_mirror)
{
    struct sotto_generative_input g;
    struct sotto_audit_input in = make(&g), other = in;
    struct sotto_audit_result a, b;
    other.member_features = nonmember, other.nonmember_features = member;
    assert_int_equal(sotto_audit(&a, &in, NULL, NULL), SOTTO_OK);
    assert_int_equal(sotto_audit(&b, &other, NULL, NULL), SOTTO_OK);
    for (size_t i = 0; i < a.attack_count; i++)
        near(a.attacks[i].auc.area.estimate + b.attacks[i].auc.area.estimate, 1, 1e-12);
    sotto_audit_result_free(&a), sotto_audit_result_free(&b);
}

/* Of 400 draws of exchangeable records about 95 % of the intervals hold .5; members that the samples are close to are
 * found. */
TEST(no_more_is_found_than_there_is)
{
    static const char *const names[] = {"gan-leaks", "gan-leaks-calibrated", "monte-carlo",
                                        "monte-carlo-distance"};
    enum { SIDE = 60, W = 6, G = 90, DRAWS = 400 };
    static float x[2 * SIDE * W], g[G * W], reference_g[G * W];
    double scores[2 * SIDE];
    struct sotto_estimate auc;
    struct attack_input in = {.features = x,
                              .n = 2 * SIDE,
                              .width = W,
                              .generated = g,
                              .generated_n = G,
                              .reference_generated = reference_g,
                              .reference_generated_n = G};
    for (size_t k = 0; k < 4; k++) {
        size_t held = 0;
        for (uint64_t draw = 0; draw < DRAWS; draw++) {
            fill(x, 2 * SIDE * W, 100 + 3 * draw), fill(g, G * W, 101 + 3 * draw);
            fill(reference_g, G * W, 102 + 3 * draw);
            assert_int_equal(attack_run(scores, attack_find(names[k]), &in), SOTTO_OK);
            assert_int_equal(estimate_auc(&auc, scores, SIDE, scores + SIDE, SIDE, .95), SOTTO_OK);
            held += auc.lower <= .5 && .5 <= auc.upper;
        }
        if (held < 92 * DRAWS / 100 || held > 98 * DRAWS / 100)
            fail_msg("%s: %zu of %d intervals hold .5", names[k], held, DRAWS);
        for (size_t i = 0; i < G * W; i++)
            g[i] = x[i % (SIDE * W)] + .1F * g[i];
        assert_int_equal(attack_run(scores, attack_find(names[k]), &in), SOTTO_OK);
        assert_int_equal(estimate_auc(&auc, scores, SIDE, scores + SIDE, SIDE, .95), SOTTO_OK);
        if (!(auc.estimate >= .9))
            fail_msg("%s: AUC %g of a planted leak", names[k], auc.estimate);
    }
}

static void refuse(const struct sotto_audit_input *in, sotto_status code, const char *text)
{
    struct sotto_audit_result r;
    assert_int_equal(sotto_audit(&r, in, NULL, NULL), code);
    assert_string_equal(sotto_error_text(), text);
}

TEST(bad_inputs_are_refused)
{
    struct sotto_generative_input g;
    struct sotto_audit_input in = make(&g);
    generated[3 * D + 2] = NAN;
    refuse(
        &in, SOTTO_EINVAL,
        "samples of the generator: row 3, column 2 is nan; expected values from -1e15 to 1e15 for distances");
    make(&g);
    member[D] = 1e20F;
    refuse(&in, SOTTO_EINVAL,
           "members: row 1, column 0 is 1e+20; expected values from -1e15 to 1e15 for distances");
    make(&g);
    g.generated_n = 0;
    refuse(&in, SOTTO_EINVAL, "audit: 0 samples of the generator; expected at least 1");
    make(&g);
    g.generated = NULL, g.reference_generated = generated;
    refuse(&in, SOTTO_EUSAGE, "audit: a generative model needs its samples or its discriminator's logits");
    make(&g);
    g.member_discriminator = member_logits;
    refuse(&in, SOTTO_EUSAGE,
           "audit: logits of the discriminator were given for members only; both sides need them");
    g.nonmember_discriminator = nonmember_logits;
    nonmember_logits[4] = NAN;
    refuse(&in, SOTTO_EINVAL, "non-members: row 4 is NaN; logits of the discriminator must be finite");
    nonmember_logits[4] = 0;
    g.attacker = generated, g.attacker_n = 1;
    refuse(&in, SOTTO_EINVAL, "audit: 1 record of the attacker; expected at least 2");
}

/* One sample, one column, constant records: nothing crashes and nothing is found. */
TEST(the_smallest_inputs_run)
{
    static const float same[4] = {2, 2, 2, 2}, one[1] = {2};
    struct sotto_generative_input g = {.generated = one, .generated_n = 1};
    struct sotto_audit_input in = {.member_features = same,
                                   .nonmember_features = same,
                                   .n_member = 2,
                                   .n_nonmember = 2,
                                   .feature_count = 2,
                                   .generative = &g};
    struct sotto_audit_result r;
    in.feature_count = 1;
    assert_int_equal(sotto_audit(&r, &in, NULL, NULL), SOTTO_OK);
    for (size_t i = 0; i < r.attack_count; i++)
        assert_true(r.attacks[i].auc.area.estimate == .5);
    sotto_audit_result_free(&r);
}
