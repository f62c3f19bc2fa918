/* Rounded posteriors: the step is found, clamped for target and references alike, and said; and arrays that are not what
 * they were called. */
#include "support/test.h"

#include "audit/score/resolution.h"
#include "rng/rng.h"
#include "sotto/private/all.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { SIDE = 400, MODELS = 16, CLASSES = 3, ALL = 2 * SIDE };

static double half_precision(double x)
{
    int exponent;
    frexp(x, &exponent);
    const int digit = exponent - 11 > -24 ? exponent - 11 : -24;
    return ldexp(nearbyint(ldexp(x, -digit)), digit);
}

static double step_of(double (*round_to)(double), double zero_share)
{
    struct resolution r = resolution_start();
    struct rng draw = rng_stream(1, RNG_TEST, 0, 0);
    for (int i = 0; i < 500; i++) {
        const double p = rng_unit(&draw) < zero_share ? 0 : round_to(rng_unit(&draw));
        resolution_see(&r, &p, 1);
    }
    return resolution_step(&r);
}
static double to_4(double x)
{
    return round(x * 1e4) / 1e4;
}
static double to_3_float(double x)
{
    return (double)(float)(round(x * 1e3) / 1e3);
}
static double exact(double x)
{
    return x;
}
static double at_least_1e_7(double x)
{
    return x + 1e-7;
}

TEST(the_step_is_found)
{
    assert_true(step_of(to_4, 0) == 1e-4);
    assert_true(step_of(to_3_float, 0) == 1e-3);
    assert_true(step_of(half_precision, 0) == 0x1p-24);
    assert_true(step_of(exact, 0) == 0);
    assert_true(step_of(at_least_1e_7, 0.5) >= 1e-7); /* what is smaller was cut to 0 */
    struct resolution few = resolution_start();
    resolution_see(&few, (double[]){0.5, 0.25, 0.25}, 3);
    assert_true(resolution_step(&few) == 0); /* nothing to tell by */
    assert_true(resolution_slack(0, 30) == 1e-3 && resolution_slack(1e-3, 30) > 0.015);
}

/* Signals of members of a model are shifted; some records are hard, so that OUT models are unsure of them. */
struct world {
    double member[SIDE][CLASSES], nonmember[SIDE][CLASSES], reference[MODELS][ALL][CLASSES];
    int64_t labels[SIDE];
    uint8_t trained[MODELS][ALL];
};

static void answer(double out[CLASSES], double signal, double decimals)
{
    const double p = 1 / (1 + exp(-signal)), unit = pow(10, -decimals);
    out[0] = p, out[1] = 0.75 * (1 - p), out[2] = 0.25 * (1 - p);
    for (int k = 0; k < CLASSES && decimals > 0; k++)
        out[k] = round(out[k] / unit) * unit;
}

static void world_make(struct world *w, double decimals)
{
    struct rng draw = rng_stream(2, RNG_TEST, 0, 0);
    memset(w->labels, 0, sizeof w->labels);
    for (size_t i = 0; i < ALL; i++) {
        const double ease = 4.5 + 2 * rng_normal(&draw);
        for (size_t m = 0; m <= MODELS; m++) {
            const bool in = m < MODELS ? rng_unit(&draw) < 0.5 : i < SIDE;
            const double signal = ease + (in ? 2 : 0) + rng_normal(&draw);
            if (m < MODELS)
                w->trained[m][i] = in;
            answer(m < MODELS ? w->reference[m][i]
                   : i < SIDE ? w->member[i]
                              : w->nonmember[i - SIDE],
                   signal, decimals);
        }
    }
}

/* Logits of the rounded probabilities with 0 taken for 1e-30, as if nothing was known of the rounding. */
static void forget_rounding(struct world *w)
{
    double *const parts[] = {w->member[0], w->nonmember[0], w->reference[0][0]};
    const size_t counts[] = {SIDE * CLASSES, SIDE * CLASSES, MODELS * ALL * CLASSES};
    for (int k = 0; k < 3; k++)
        for (size_t i = 0; i < counts[k]; i++)
            parts[k][i] = log(fmax(parts[k][i], 1e-30));
}

static void audit_world(struct sotto_audit_result *out, const struct world *w, int probabilities)
{
    static const char *const names[] = {"lira", NULL};
    const struct sotto_audit_input in = {.member_f8 = w->member[0],
                                         .nonmember_f8 = w->nonmember[0],
                                         .member_labels = w->labels,
                                         .nonmember_labels = w->labels,
                                         .reference_outputs_f8 = w->reference[0][0],
                                         .reference_outputs_trained = w->trained[0],
                                         .reference_models = MODELS,
                                         .probabilities = probabilities,
                                         .n_member = SIDE,
                                         .n_nonmember = SIDE,
                                         .classes = CLASSES};
    const struct sotto_audit_options options = {.names = names, .draws = 100};
    assert_int_equal(sotto_audit(out, &in, &options, NULL), SOTTO_OK);
}

static const struct sotto_audit_check *find_check(const struct sotto_audit_result *r, const char *name)
{
    for (size_t i = 0; i < r->check_count; i++)
        if (strcmp(r->checks[i].name, name) == 0)
            return &r->checks[i];
    return NULL;
}

TEST(rounding_costs_little)
{
    static struct world w;
    double area[3];
    const double decimals[3] = {0, 4, 3};
    for (int i = 0; i < 3; i++) {
        struct sotto_audit_result r = {0};
        world_make(&w, decimals[i]);
        audit_world(&r, &w, 1);
        area[i] = r.attacks[0].auc.area.estimate;
        const struct sotto_audit_check *c = find_check(&r, "rounding");
        assert_int_equal(c != NULL, i > 0);
        if (c) {
            assert_int_equal(c->level, SOTTO_CHECK_WARNING);
            assert_true(fabs(c->rounding->step - pow(10, -decimals[i])) < 1e-12);
            assert_true(c->rounding->saturated_members > c->rounding->saturated_nonmembers);
        }
        sotto_audit_result_free(&r);
    }
    struct sotto_audit_result old = {0};
    forget_rounding(&w);
    audit_world(&old, &w, 0);
    const double forgotten = old.attacks[0].auc.area.estimate;
    sotto_audit_result_free(&old);
    print_message(
        "AUC of LiRA: exact %.4f, 4 decimals %.4f, 3 decimals %.4f, 3 decimals with 0 as 1e-30 %.4f\n",
        area[0], area[1], area[2], forgotten);
    assert_true(area[1] > area[0] - 0.01 && area[2] > area[0] - 0.03);
    assert_true(forgotten < area[0] - 0.05); /* the control */
}

static void losses_audit(struct sotto_audit_result *out, const double *member, const double *nonmember)
{
    const struct sotto_audit_input in = {
        .member_losses = member, .nonmember_losses = nonmember, .n_member = SIDE, .n_nonmember = SIDE};
    const struct sotto_audit_options options = {.draws = 100};
    assert_int_equal(sotto_audit(out, &in, &options, NULL), SOTTO_OK);
}

TEST(arrays_that_are_something_else)
{
    static struct world w;
    static double a[SIDE], b[SIDE];
    struct sotto_audit_result r = {0};
    for (size_t i = 0; i < SIDE; i++)
        a[i] = -1 - (double)i, b[i] = (double)i;
    losses_audit(&r, a, b);
    assert_non_null(strstr(find_check(&r, "losses")->text, "400 of 800 losses are negative"));
    assert_null(find_check(&r, "constant"));
    sotto_audit_result_free(&r);
    losses_audit(&r, b, b);
    assert_null(find_check(&r, "losses"));
    sotto_audit_result_free(&r);
    for (size_t i = 0; i < SIDE; i++)
        a[i] = 1;
    losses_audit(&r, a, a);
    assert_int_equal(find_check(&r, "constant")->level, SOTTO_CHECK_WARNING);
    sotto_audit_result_free(&r);
    world_make(&w, 0);
    const struct sotto_audit_input in = {.member_f8 = w.member[0],
                                         .nonmember_f8 = w.nonmember[0],
                                         .n_member = SIDE,
                                         .n_nonmember = SIDE,
                                         .classes = CLASSES};
    assert_int_equal(sotto_audit(&r, &in, &(struct sotto_audit_options){.draws = 100}, NULL), SOTTO_OK);
    assert_int_equal(find_check(&r, "logits")->level, SOTTO_CHECK_WARNING);
    sotto_audit_result_free(&r);
}
