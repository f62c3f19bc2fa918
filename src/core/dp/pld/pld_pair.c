/* A mechanism's scalar pair (P0, Q0) seen through Poisson sampling of rate q, dp.md 3(c), with x = e^eps:
 *   remove: P = (1-q) Q0 + q P0 against Q0:  delta = q delta_0(e'), Q(L > eps) = Q0(L0 > e'),
 *           e^e' = 1 + (x - 1)/q; below x = 1 - q the curve is 1 - x.
 *   add:    P0 against Q = (1-q) P0 + q Q0:  delta = w delta_0(e'), w = 1 - (1-q) x, e^e' = q x / w;
 *           from w = 0 on the curve is 0.
 * Below 0 the same holds for value = delta - (1 - x), and a reflection swaps P0 and Q0: with y = -e' > 0
 *   value_0(-y) = e^-y delta_0(y),  Q0(L0 <= -y) = P0(L0 >= y),  P0(L0 <= -y) = Q0(L0 >= y).
 * Every tail falls with y, so an interval for y gives intervals for all of them. */
#include "dp/pld/pld.h"

static struct tails tails_on(const struct mechanism *m, double t, struct interval y)
{
    struct tails near = m->tails(t, fmax(0, y.lo)), far = m->tails(t, fmax(0, y.hi));
    return (struct tails){
        {far.alpha.lo, near.alpha.hi}, {far.beta.lo, near.beta.hi}, {far.delta.lo, near.delta.hi}};
}

static struct pair_point pld_pair_nothing(void)
{
    return (struct pair_point){iv(0), iv(0)};
}

static struct interval pld_pair_within(struct interval x, double low, double high)
{
    return (struct interval){fmin(fmax(x.lo, low), high), fmin(fmax(x.hi, low), high)};
}

/* The smaller of two upper ends, the larger of two lower ends. */
static struct interval pld_pair_both(struct interval a, struct interval b)
{
    return (struct interval){fmax(a.lo, b.lo), fmin(a.hi, b.hi)};
}

static struct pair_point remove_point(const struct pair_sampled *s, double epsilon)
{
    struct interval x = iv_exp(iv(epsilon)), q = iv(s->rate), grow = iv_div(iv_expm1(iv(epsilon)), q);
    struct interval inner = iv_log1p(grow); /* e' */
    if (grow.hi <= -1)
        return pld_pair_nothing();
    if (epsilon >= 0) {
        struct tails t = tails_on(s->mechanism, s->shift, pld_pair_within(inner, 0, INFINITY));
        return (struct pair_point){iv_mul(q, t.delta), iv_mul(x, t.beta)};
    }
    /* value = q e^e' delta_0(y) */
    struct tails t = tails_on(s->mechanism, s->shift, pld_pair_within(iv_neg(inner), 0, INFINITY));
    struct interval odds = pld_pair_within(iv_add(iv(1), grow), 0, 1);
    return (struct pair_point){iv_mul(q, iv_mul(odds, t.delta)), iv_mul(x, t.alpha)};
}

static struct pair_point add_point(const struct pair_sampled *s, double epsilon)
{
    struct interval x = iv_exp(iv(epsilon)), q = iv(s->rate), rest = iv_sub(iv(1), q);
    struct interval w = iv_sub(q, iv_mul(rest, iv_expm1(iv(epsilon))));
    if (w.hi <= 0)
        return pld_pair_nothing();
    struct interval inner = iv_sub(iv(epsilon), iv_log(iv_div(pld_pair_within(w, 0, INFINITY), q)));
    if (epsilon >= 0) {
        /* slope = x ((1-q) P0(L0 > e') + q Q0(L0 > e')) */
        struct tails t = tails_on(s->mechanism, s->shift, pld_pair_within(inner, 0, INFINITY));
        struct interval tail = iv_add(iv_mul(rest, t.alpha), iv_mul(q, t.beta));
        return (struct pair_point){iv_mul(pld_pair_within(w, 0, 1), t.delta), iv_mul(x, tail)};
    }
    /* value = w e^e' delta_0(y) = q x delta_0(y); slope = x ((1-q) Q0(L0 >= y) + q P0(L0 >= y)) */
    struct tails t = tails_on(s->mechanism, s->shift, pld_pair_within(iv_neg(inner), 0, INFINITY));
    struct interval tail = iv_add(iv_mul(rest, t.beta), iv_mul(q, t.alpha));
    return (struct pair_point){iv_mul(iv_mul(q, x), t.delta), iv_mul(x, tail)};
}

/* c(x) = x g(1/x) below 1, so -x c'(x) there is what -g' is at 1/x, and value + slope is the probability of
 * one event again. */
static struct pair_point fixed_point(const struct pair_sampled *s, double epsilon)
{
    struct pair_sampled twice = *s;
    twice.shift *= 2;
    if (s->rate == 1)
        return pair_plain_point(s->mechanism, twice.shift, epsilon);
    struct pair_point p = remove_point(&twice, fabs(epsilon));
    struct interval x = iv_exp(iv(epsilon));
    return epsilon >= 0 ? p : (struct pair_point){iv_mul(x, p.value), iv_mul(x, iv_add(p.value, p.slope))};
}

static struct pair_point pld_pair_clean(struct pair_point p)
{
    const struct interval possible = {0, 1};
    return (struct pair_point){pld_pair_both(p.value, possible), {fmax(0, p.slope.lo), p.slope.hi}};
}

static void pld_pair_points(struct pair_point *out, const void *arg, const double *epsilon, size_t n)
{
    const struct pair_sampled *s = arg;
    for (size_t i = 0; i < n; i++) {
        struct pair_point p = s->direction == PLD_REPLACE ? pair_replaced_point(s, epsilon[i])
                              : s->direction == PLD_FIXED ? fixed_point(s, epsilon[i])
                              : s->rate == 1 ? pair_plain_point(s->mechanism, s->shift, epsilon[i])
                              : s->direction == PLD_REMOVE ? remove_point(s, epsilon[i])
                                                           : add_point(s, epsilon[i]);
        out[i] = pld_pair_clean(p);
    }
}

struct pair pair_of_sampled(const struct pair_sampled *arg)
{
    return (struct pair){pld_pair_points, arg};
}

/* At y = |eps| the best event S: delta = P(S) - e^y Q(S). The line value + slope (x/e^eps - 1) is that of one
 * event and so lies below the curve. */
static void integer_points(struct pair_point *out, const void *arg, const double *epsilon, size_t n)
{
    const struct pair_integer *s = arg;
    for (size_t i = 0; i < n; i++) {
        struct best_event e = s->law->event(s->steps, s->step, fabs(epsilon[i]));
        struct interval x = iv_exp(iv(epsilon[i]));
        out[i] =
            pld_pair_clean(epsilon[i] >= 0 ? (struct pair_point){e.delta, e.lost}
                                           : (struct pair_point){iv_mul(x, e.delta), iv_mul(x, e.alpha)});
    }
}

struct pair pair_of_integer(const struct pair_integer *arg)
{
    return (struct pair){integer_points, arg};
}
