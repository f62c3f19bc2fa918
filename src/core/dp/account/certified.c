/* The account again, in ball arithmetic: the same inputs, checked by the same code, but every bound comes
 * from dp/ball, which rests on FLINT and on IEEE 754's basic operations, not on the accuracy of the C
 * library. The double path proposes orders and starting points; balls decide. */
#include "dp/account/account_pld.h"
#include "dp/account/accountant.h"
#include "dp/account/certified_composed.h"
#include "dp/ball/ball.h"
#include "num/special.h"
#include "sotto/lab/account.h"

#include <stdio.h>
#include <string.h>

static void certified_reset(struct sotto_account *a)
{
    a->bound_count = 0;
    a->epsilon = (struct sotto_interval){0, INFINITY};
    snprintf(a->accountant, sizeof a->accountant, "none");
}

static void add_bound(struct sotto_account *a, const char *name, double epsilon)
{
    struct sotto_bound *b = &a->bounds[a->bound_count++];
    snprintf(b->name, sizeof b->name, "%s, balls", name);
    b->epsilon = epsilon;
    if (epsilon < a->epsilon.upper) {
        a->epsilon.upper = epsilon;
        memcpy(a->accountant, b->name, sizeof b->name);
    }
}

static bool noise_of(enum ball_noise *out, const char *mechanism)
{
    static const char *const names[] = {
        [BALL_GAUSSIAN] = "gaussian", [BALL_LOGISTIC] = "logistic", [BALL_LAPLACE] = "laplace"};
    for (int i = 0; i < 3; i++)
        if (strcmp(mechanism, names[i]) == 0) {
            *out = (enum ball_noise)i;
            return true;
        }
    return false;
}

/* ---- sampled iterations ---- */

enum { ORDERS = 512 };

static double sampled_renyi_bound(const struct mechanism *m, const struct sotto_sampled *s)
{
    double best = INFINITY;
    for (unsigned alpha = 2; alpha <= ORDERS; alpha += 1 + alpha / 16) {
        double step = ball_sampled_renyi(s->noise_multiplier, m->zcdp_divisor, s->sample_rate, alpha).hi;
        double all = iv_scale(iv(step), (double)s->steps).hi;
        best = fmin(best, ball_renyi_to_epsilon(all, alpha, s->delta).hi);
    }
    return best;
}

struct sampled_task {
    struct sotto_account account; /* in: the account in doubles */
    const struct sotto_sampled *sampled;
};

/* A Gaussian is as bad along one coordinate as it can be, so its grid is both bounds; so is that of any noise
 * where gradients are clipped by L1. For logistic noise on a vector clipped by L2 the theorem compares Renyi
 * divergences only: the grid of one coordinate is a lower bound. */
static sotto_status certify_sampled(void *arg)
{
    sotto_status status = SOTTO_OK;
    struct sampled_task *task = arg;
    const struct sotto_sampled *s = task->sampled;
    struct sotto_account *a = &task->account;
    const struct mechanism *m = mechanism_find(a->mechanism);
    enum ball_noise noise = BALL_GAUSSIAN;
    noise_of(&noise, a->mechanism); /* what was accounted is one of the three */
    /* without sampling a replaced record moves the output by twice the norm */
    const bool replaced = s->adjacency == SOTTO_REPLACE_ONE, mixed = replaced && s->sample_rate < 1;
    const struct ball_step step = {noise, replaced && !mixed ? 2 : 1, s->noise_multiplier, s->sample_rate,
                                   mixed};
    struct interval epsilon;
    TRY(ball_compose_epsilon(&epsilon, &step, s->steps, s->delta, NAN));
    certified_reset(a);
    if (scalar_curve_holds(m, s->clipping))
        add_bound(a, "pld", epsilon.hi);
    if (!replaced && (m->by_l2 || m->renyi_ball))
        add_bound(a, "renyi", sampled_renyi_bound(m, s));
    a->epsilon.lower = fmin(epsilon.lo, a->epsilon.upper);
done:
    return status;
}

sotto_status sotto_account_sampled_certified(struct sotto_account *out, const struct sotto_sampled *sampled,
                                             const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, sampled);
    sotto_status status = SOTTO_OK;
    struct sampled_task task = {.sampled = sampled};
    if (sampled->rows_per_person > 1)
        FAIL(SOTTO_ENOTSUP, "sampled iterations have no certified account of persons; omit {certified}");
    if (sampled->adjacency == SOTTO_REPLACE_ONE && sampled->mechanism &&
        (sampled->sampling != SOTTO_SAMPLING_POISSON || strcmp(sampled->mechanism, "gaussian") != 0))
        FAIL(SOTTO_ENOTSUP,
             "under replace-one adjacency only Gaussian noise on Poisson samples has a certified "
             "account; give add-remove adjacency, or omit {certified}");
    TRY(sotto_account_sampled(&task.account, sampled, ctx));
    TRY(ball_run(certify_sampled, &task, ctx));
    *out = task.account;
done:
    return status;
}

/* ---- releases ---- */

struct curve {
    enum ball_noise noise;
    double t, k, n; /* n > 0: renyi of t / sqrt n, n times */
};

/* Upper ends only: each is the start of the next operation. */
static double renyi_at(double alpha, const struct curve *c)
{
    double t = c->n > 0 ? iv_div(iv(c->t), iv_sqrt(iv(c->n))).hi : c->t;
    double times = iv_scale(iv(c->k), c->n > 0 ? c->n : 1).hi;
    return iv_scale(iv(ball_renyi(c->noise, t, alpha).hi), times).hi;
}

static struct interval near_curve(double alpha, const void *arg)
{
    return iv(renyi_at(alpha, arg));
}

struct objective {
    const struct curve *curve;
    double delta;
};

static double near_epsilon(double alpha, const void *arg)
{
    const struct objective *o = arg;
    return renyi_to_epsilon(near_curve(alpha, o->curve), alpha, o->delta).hi;
}

/* Any order is valid; the double path aims. */
static double renyi_bound(const struct curve *c, double delta)
{
    const struct objective o = {c, delta};
    double alpha = minimise_log(1 + 1e-7, 1e12, 1, near_epsilon, &o);
    return ball_renyi_to_epsilon(renyi_at(alpha, c), alpha, delta).hi;
}

enum { CONTOUR_MOST = 4096 };

/* k scalar pairs of shift t: [of t.lo, of t.hi]. */
static sotto_status scalar_epsilon(struct interval *out, enum ball_noise noise, struct interval t, size_t k,
                                   double delta)
{
    sotto_status status = SOTTO_OK;
    double ends[2] = {t.lo, t.hi};
    struct interval found[2];
    for (int i = 0; i < 2; i++) {
        struct ball_step step = {noise, ends[i], 1, 1, false};
        if (i == 1 && ends[1] == ends[0])
            found[1] = found[0];
        else if (k == 1 || noise == BALL_GAUSSIAN)
            found[i] = ball_epsilon(noise, ends[i], delta);
        else if (noise == BALL_LOGISTIC && k <= CONTOUR_MOST)
            found[i] = certified_composed_epsilon(ends[i], k, delta);
        else
            TRY(ball_compose_epsilon(&found[i], &step, k, delta, NAN));
    }
    *out = (struct interval){found[0].lo, found[1].hi};
done:
    return status;
}

static const char *scalar_name(enum ball_noise noise, size_t k)
{
    if (noise == BALL_GAUSSIAN)
        return "analytic gaussian";
    return k == 1                                        ? "closed form by l1"
           : noise == BALL_LOGISTIC && k <= CONTOUR_MOST ? "contour by l1"
                                                         : "pld by l1";
}

struct release_task {
    struct sotto_account account; /* in: the account in doubles */
    enum ball_noise noise;
    const struct mechanism *mechanism;
    struct sensitivity_ratio shifts;
    double delta;
    size_t compose;
};

static sotto_status certify_release(void *arg)
{
    sotto_status status = SOTTO_OK;
    struct release_task *task = arg;
    struct sotto_account *a = &task->account;
    const struct sensitivity_ratio s = task->shifts;
    enum ball_noise noise = task->noise;
    struct interval upper = {0, INFINITY}, lower;
    double k = (double)task->compose, delta = task->delta, before = a->epsilon.lower;
    bool by_l1 = noise != BALL_GAUSSIAN && isfinite(s.l1.hi);
    certified_reset(a);
    if (by_l1)
        add_bound(a, "pure", iv_scale(s.l1, k).hi);
    if (delta == 0) { /* sums of exact numbers, rounded outwards: nothing to certify */
        a->epsilon.lower = before;
        goto done;
    }
    struct interval one = iv_min(s.l1, s.l2); /* a shift in one coordinate is within both norms */
    if (noise == BALL_GAUSSIAN)
        one = iv_mul(s.l2, iv_sqrt(iv(k)));
    TRY(scalar_epsilon(&lower, noise, one, task->compose, delta));
    if (noise == BALL_GAUSSIAN || (by_l1 && s.l1.hi == one.hi && s.l1.lo == one.lo))
        upper = lower;
    else if (by_l1)
        TRY(scalar_epsilon(&upper, noise, s.l1, task->compose, delta));
    if (isfinite(upper.hi))
        add_bound(a, scalar_name(noise, task->compose), upper.hi);
    if (by_l1)
        add_bound(a, "renyi by l1", renyi_bound(&(struct curve){noise, s.l1.hi, k, 0}, delta));
    if (by_l1 && k > 1) /* one release of k times the shift dominates */
        add_bound(a, "closed form by l1", ball_epsilon(noise, iv_scale(s.l1, k).hi, delta).hi);
    if (noise == BALL_LOGISTIC && s.dimension > 0)
        add_bound(a, "l2 theorem, renyi",
                  renyi_bound(&(struct curve){noise, s.l2.hi, k, s.dimension}, delta));
    if (noise != BALL_GAUSSIAN) {
        /* rho = D2^2 / (divisor s^2) is the Gaussian's of t = D2 / s sqrt(2 / divisor) */
        double t = iv_mul(s.l2, iv_sqrt(iv_div(iv(2), iv(task->mechanism->zcdp_divisor)))).hi;
        add_bound(a, "zcdp", renyi_bound(&(struct curve){BALL_GAUSSIAN, t, k, 0}, delta));
    }
    a->epsilon.lower = fmin(lower.lo, a->epsilon.upper);
done:
    return status;
}

sotto_status sotto_account_release_certified(struct sotto_account *out, const char *mechanism, double scale,
                                             const struct sotto_sensitivity *sensitivity, double delta,
                                             size_t compose, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, mechanism, sensitivity);
    sotto_status status = SOTTO_OK;
    struct release_task task = {.delta = delta, .compose = compose};
    TRY(mechanism_require(&task.mechanism, mechanism));
    if (!noise_of(&task.noise, task.mechanism->name))
        FAIL(SOTTO_ENOTSUP, "mechanism '%s' has no certified account; expected gaussian, logistic or laplace",
             task.mechanism->name);
    TRY(sotto_account_release(&task.account, mechanism, scale, sensitivity, delta, compose, ctx));
    TRY(sensitivity_ratio_for(&task.shifts, task.mechanism, scale, sensitivity));
    TRY(ball_run(certify_release, &task, ctx));
    *out = task.account;
done:
    return status;
}
