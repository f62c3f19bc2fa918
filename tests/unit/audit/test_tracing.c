/* Membership in a released mean: p-values, power before an attack, and who may be an outsider. */
#include "support/test.h"

#include "audit/score/score_attack.h"
#include "support/audit_world.h"
#include "support/temporary_folder.h"

#include <math.h>

static void near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%.17g is not %.17g within %g", a, b, tolerance);
}

/* Homer's six loci: D = (.1, -.05, .05, .1, .1, .05). */
static const float person[] = {1, 0.5f, 0, 0.5f, 1, 0};
static const double reference[] = {0.4, 0.5, 0.3, 0.2, 0.6, 0.1},
                    released[] = {0.5, 0.45, 0.25, 0.3, 0.7, 0.05};

static double score(const char *name, size_t people)
{
    struct attack_input in = {.features = person,
                              .released_mean = released,
                              .reference_mean = reference,
                              .reference_people = people,
                              .n = 1,
                              .width = 6};
    double s = NAN;
    assert_int_equal(attack_run(&s, attack_find(name), &in), SOTTO_OK);
    return s;
}

TEST(known_scores)
{
    near(score("homer", 0), 2.444506, 5e-7);
    near(score("tracing", 0), 0.15, 1e-15);
    near(2 * score("mean-likelihood", 0), 1.262592, 5e-7); /* two alleles: twice that of shares */
    /* by hand: products .06 0 .015 .03 .04 .005 over r (1 - r) / 2 = .12 .125 .105 .08 .12 .045 */
    near(score("tracing-standardised", 0),
         0.06 / 0.12 + 0.015 / 0.105 + 0.03 / 0.08 + 0.04 / 0.12 + 0.005 / 0.045, 1e-12);
    /* of 5 reference people: no variance below 1/10 */
    near(score("tracing-standardised", 5),
         0.06 / 0.12 + 0.015 / 0.105 + 0.03 / 0.1 + 0.04 / 0.12 + 0.005 / 0.1, 1e-12);
}

TEST(a_locus_that_cannot_vary_is_left_out)
{
    const float x[] = {0.5f, 0.5f};
    const double r[] = {0, 0.5}, m[] = {0.25, 0.75};
    struct attack_input in = {.features = x, .released_mean = m, .reference_mean = r, .n = 1, .width = 2};
    double s = NAN;
    assert_int_equal(attack_run(&s, attack_find("tracing-standardised"), &in), SOTTO_OK);
    near(s, 0, 0);
    in.reference_people = 50;
    assert_int_equal(attack_run(&s, attack_find("tracing-standardised"), &in), SOTTO_OK);
    near(s, 0.5 * 0.25 / 0.01, 1e-12);
}

TEST(power_is_known_beforehand)
{
    static const struct {
        double loci, pool, reference, separation, auc, tpr;
    } known[] = {{30000, 1000, 1000, 3.8730, 0.99692, 0.7831},
                 {10000, 1000, 1000, 2.2361, 0.94308, 0.1965},
                 {30000, 1000, 0, 5.4772, 0.99995, 0.9915}};
    struct sotto_tracing_power p;
    double loci;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(sotto_tracing_power(&p, known[i].loci, known[i].pool, known[i].reference, 0.001),
                         SOTTO_OK);
        near(p.separation, known[i].separation, 5e-5);
        near(p.auc, known[i].auc, 5e-6);
        near(p.tpr, known[i].tpr, 5e-5);
    }
    assert_int_equal(sotto_tracing_power(&p, 2000, 400, 400, 0.01), SOTTO_OK); /* of the simulation below */
    near(p.auc, 0.868, 5e-4);
    near(p.plain_auc, erfc(-0.949397 * p.separation / 2) / 2, 1e-6);
    assert_int_equal(sotto_tracing_loci(&loci, 1000, 0, 0.001, 0.9), SOTTO_OK);
    near(loci, 19113, 0); /* 19,112.49: a whole locus more */
    assert_int_equal(sotto_tracing_power(&p, loci, 1000, 0, 0.001), SOTTO_OK);
    assert_true(p.tpr >= 0.9);
    assert_int_equal(sotto_tracing_power(&p, loci - 1, 1000, 0, 0.001), SOTTO_OK);
    assert_true(p.tpr < 0.9);
    assert_int_equal(sotto_tracing_power(&p, 0, 1000, 0, 0.001), SOTTO_EINVAL);
    assert_int_equal(sotto_tracing_power(&p, 10, 0.5, 0, 0.001), SOTTO_EINVAL);
    assert_int_equal(sotto_tracing_power(&p, 10, 100, NAN, 0.001), SOTTO_EINVAL);
    assert_int_equal(sotto_tracing_power(&p, 10, 100, 0, 1), SOTTO_EINVAL);
    assert_int_equal(sotto_tracing_loci(&loci, 1000, 0, 0.1, 0.1), SOTTO_EINVAL);
}

/* ---- whole audits of people made up here ---- */

struct cohort {
    struct sotto_dataset *set;
    struct sotto_audit_input in;
    double *mean;
};

/* Rows [0, pool) are the pool, then as many others, then the reference people. */
static void cohort_open(struct cohort *c, const char *name, size_t pool)
{
    assert_int_equal(sotto_dataset_open(&c->set, name, NULL), SOTTO_OK);
    const size_t width = c->set->columns;
    c->mean = calloc(width, sizeof *c->mean);
    assert_non_null(c->mean);
    for (size_t i = 0; i < pool; i++)
        for (size_t j = 0; j < width; j++)
            c->mean[j] += (double)c->set->features[i * width + j] / (double)pool;
    c->in = (struct sotto_audit_input){.member_features = c->set->features,
                                       .nonmember_features = c->set->features + pool * width,
                                       .n_member = pool,
                                       .n_nonmember = pool,
                                       .feature_count = width,
                                       .released_mean = c->mean,
                                       .reference_people = c->set->features + 2 * pool * width,
                                       .n_reference = c->set->n - 2 * pool};
}

static void cohort_close(struct cohort *c)
{
    sotto_dataset_free(c->set);
    free(c->mean);
}

static const struct sotto_audit_attack *found(const struct sotto_audit_result *r, const char *name)
{
    for (size_t i = 0; i < r->attack_count; i++)
        if (strcmp(r->attacks[i].name, name) == 0)
            return &r->attacks[i];
    fail_msg("no attack '%s'", name);
    return NULL;
}

/* Section 2.2 of the specification: homer .829, tracing .846, standardised .862 at 2,000 loci, 400 and 400 people. */
TEST(the_standardised_product_is_best)
{
    struct cohort c;
    struct sotto_audit_result r = {0};
    cohort_open(&c, "synthetic-snps-j2000-n1200", 400);
    assert_int_equal(sotto_audit(&r, &c.in, NULL, NULL), SOTTO_OK);
    const double homer = found(&r, "homer")->auc.area.estimate,
                 plain = found(&r, "tracing")->auc.area.estimate,
                 best = found(&r, "tracing-standardised")->auc.area.estimate;
    assert_true(homer < plain && plain < best);
    near(homer, 0.829, 0.04);
    near(plain, 0.846, 0.04);
    near(best, 0.868, 0.04);
    sotto_audit_result_free(&r);
    /* the trap: outsiders who are in the reference look further away than they are */
    c.in.nonmember_features = c.in.reference_people;
    assert_int_equal(sotto_audit(&r, &c.in, NULL, NULL), SOTTO_EINVAL);
    assert_string_equal(
        sotto_error_text(),
        "audit: 400 of 400 non-members have the features of a reference person; expected other people "
        "(if they are, give the reference mean instead of the reference people)");
    c.in.n_reference = 0;
    assert_int_equal(sotto_audit(&r, &c.in, NULL, NULL), SOTTO_EINVAL);
    c.in.reference_mean = c.mean;
    assert_int_equal(sotto_audit(&r, &c.in, NULL, NULL), SOTTO_EUSAGE);
    cohort_close(&c);
}

/* Shares of outsiders with p < .01, over several pools: about .01 with independent loci; far above it with linkage, where
 * the conformal p-value still holds. A pool and a reference shift all outsiders together, so only the mean over pools is
 * .01. */
TEST(linkage_refutes_the_normal_p)
{
    static const char *const names[] = {"synthetic-snps-j1000-n3000", "synthetic-snps-j1000-n3000-l90"};
    enum { PEOPLE = 100, POOLS = 10 };
    double normal[2] = {0}, conformal[2] = {0};
    for (size_t k = 0; k < 2; k++) {
        struct cohort c;
        cohort_open(&c, names[k], PEOPLE);
        const size_t width = c.set->columns;
        for (size_t pool = 0; pool < POOLS; pool++) {
            const float *first = c.set->features + 3 * pool * PEOPLE * width;
            struct sotto_audit_result r = {0};
            const char *homer[] = {"homer", NULL};
            struct sotto_audit_options options = {.names = homer};
            c.in.member_features = first;
            c.in.nonmember_features = first + PEOPLE * width;
            c.in.reference_people = first + 2 * PEOPLE * width;
            c.in.n_reference = PEOPLE;
            for (size_t j = 0; j < width; j++) {
                c.mean[j] = 0;
                for (size_t i = 0; i < PEOPLE; i++)
                    c.mean[j] += (double)first[i * width + j] / PEOPLE;
            }
            assert_int_equal(sotto_audit(&r, &c.in, &options, NULL), SOTTO_OK);
            const struct sotto_audit_p_values *p = r.attacks[0].p_values;
            assert_non_null(p);
            for (size_t i = 0; i < PEOPLE; i++) {
                assert_true(p->nonmember[i].conformal >= 1.0 / PEOPLE && p->nonmember[i].conformal <= 1);
                normal[k] += p->nonmember[i].normal < 0.01;
                conformal[k] += p->nonmember[i].conformal <= 0.05;
            }
            sotto_audit_result_free(&r);
        }
        normal[k] /= PEOPLE * POOLS;
        conformal[k] /= PEOPLE * POOLS;
        cohort_close(&c);
    }
    print_message("normal p < .01: %.4f, with linkage %.4f; conformal p <= .05: %.4f, %.4f\n", normal[0],
                  normal[1], conformal[0], conformal[1]);
    assert_true(normal[0] < 0.03);
    assert_true(normal[1] > 0.05);
    assert_true(conformal[0] <= 0.05 && conformal[1] <= 0.05); /* ranks: exact but for ties */
}

TEST(p_values_by_hand)
{
    char line[256];
    float member[] = {1, 0.5f, 0, 0.5f, 1, 0, 1, 0.5f, 0, 0.5f, 1, 0}, other[24];
    for (size_t i = 0; i < 24; i++)
        other[i] = i % 3 == 0 ? 0 : i % 5 == 0 ? 0.5f : 1;
    struct sotto_audit_input in = {.member_features = member,
                                   .nonmember_features = other,
                                   .n_member = 2,
                                   .n_nonmember = 4,
                                   .feature_count = 6,
                                   .released_mean = released,
                                   .reference_mean = reference};
    struct sotto_audit_result r = {0};
    assert_int_equal(sotto_audit(&r, &in, NULL, NULL), SOTTO_OK);
    const struct sotto_audit_p_values *p = found(&r, "homer")->p_values;
    near(p->member[0].score, 2.444506, 5e-7);
    near(p->member[0].normal, 0.007253, 5e-7);
    size_t high = 0;
    for (size_t i = 0; i < 4; i++)
        high += p->nonmember[i].score >= p->member[0].score;
    near(p->member[0].conformal, (1.0 + (double)high) / 5, 1e-15);
    near(p->member_normal.estimate, 1, 0);
    assert_null(found(&r, "tracing")->p_values);
    assert_int_equal(sotto_audit_save_p_values(path_of("p.csv"), &r), SOTTO_OK);
    FILE *f = fopen(path_of("p.csv"), "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    assert_string_equal(line, "attack,side,row,score,p_normal,p_conformal\n");
    size_t lines = 0;
    while (fgets(line, sizeof line, f))
        lines++;
    fclose(f);
    assert_int_equal(lines, 6);
    sotto_audit_result_free(&r);
    assert_int_equal(sotto_audit_save_p_values(path_of("q.csv"), &r), SOTTO_EUSAGE);
}

TEST_GROUP(.set_up = make_folder, .tear_down = remove_folder)
