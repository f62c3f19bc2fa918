/* Gaussian noise by its exact curve (Balle and Wang 2018, theorem 8), t = D2 / sigma:
 *   delta(eps) = Phi(u) - e^eps Phi(v),  u = t/2 - eps/t,  v = -t/2 - eps/t.
 * e^eps phi(v) = phi(u), so with the Mills ratio R the difference is phi(u) (R(-u) - R(-v)) when u <= 0, which neither
 * overflows nor cancels for large eps; for u > 0 it is Phi(u) - phi(u) R(-v). */
#include "dp/mechanism.h"
#include "num/special.h"

static struct interval delta(struct interval t, double epsilon)
{
    struct interval slope = iv_div(iv(epsilon), t), half = iv_scale(t, 0.5);
    struct interval u = iv_sub(half, slope), minus_v = iv_add(half, slope);
    struct interval lost = iv_mul(normal_density(u), mills_ratio(minus_v)), d;
    if (u.hi < 0)
        d = iv_mul(normal_density(u), iv_sub(mills_ratio(iv_neg(u)), mills_ratio(minus_v)));
    else
        d = iv_sub(normal_cdf(u), lost);
    return (struct interval){fmax(0, d.lo), fmin(1, d.hi)};
}

struct search {
    struct interval t;
    double target;
    bool upper;
};

static bool small_enough(double epsilon, const void *arg)
{
    const struct search *s = arg;
    struct interval d = delta(s->t, epsilon);
    return (s->upper ? d.hi : d.lo) <= s->target;
}

/* One end: the smallest epsilon found whose delta is surely (upper) or possibly (lower) within the target. */
static double end(struct search s)
{
    if (small_enough(0, &s))
        return 0;
    double high = 1;
    while (!small_enough(high, &s)) {
        high *= 2;
        if (high > 1e300)
            return INFINITY;
    }
    double low = high > 1 ? high / 2 : 1e-300;
    return bisect_up(low, high, small_enough, &s);
}

static struct interval epsilon(struct interval t, double target)
{
    double high = end((struct search){t, target, true}), low = end((struct search){t, target, false});
    /* bisect_up stops within 2^-50 above the change, so the lower end steps back by as much. */
    return (struct interval){low < 1e-290 ? 0 : fmin(low * (1 - 0x1p-49), high), high};
}

static struct interval renyi(struct interval t, double alpha)
{
    return iv_scale(iv_mul(iv(alpha), iv_square(t)), 0.5);
}

static double cdf(double x)
{
    return 0.5 * erfc(-x * 0.70710678118654752440);
}

static double sample(double u, double v)
{
    return sqrt(-2 * log(u)) * cos(6.283185307179586476925 * v);
}

const struct mechanism mechanism_gaussian = {
    .name = "gaussian",
    .title = "Gaussian noise: by L2, never pure",
    .source = "balle2018improving, theorem 8",
    .standard_deviation = 1,
    .zcdp_divisor = 2,
    .by_l2 = true,
    .epsilon = epsilon,
    .delta = delta,
    .renyi = renyi,
    .cdf = cdf,
    .sample = sample,
};
