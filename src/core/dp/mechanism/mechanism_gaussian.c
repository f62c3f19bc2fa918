/* Gaussian noise by its exact curve (Balle and Wang 2018, theorem 8), t = D2 / sigma:
 *   delta(eps) = Phi(u) - e^eps Phi(v),  u = t/2 - eps/t,  v = -t/2 - eps/t.
 * e^eps phi(v) = phi(u), so with the Mills ratio R the difference is phi(u) (R(-u) - R(-v)) when u <= 0,
 * which neither overflows nor cancels for large eps; for u > 0 it is Phi(u) - phi(u) R(-v). */
#include "dp/mechanism/mechanism.h"
#include "num/special.h"

static struct interval mechanism_gaussian_delta(struct interval t, double epsilon)
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

/* P(L > y) = Phi(u), Q(L > y) = Phi(v). Faster than mechanism_gaussian_delta(), and a few digits less accurate far out. */
static struct tails mechanism_gaussian_tails(double t, double y)
{
    struct interval slope = iv_div(iv(y), iv(t)), half = iv_scale(iv(t), 0.5);
    struct interval alpha = normal_cdf(iv_sub(half, slope)), beta = normal_cdf(iv_neg(iv_add(half, slope)));
    struct interval d = iv_sub(alpha, iv_mul(iv_exp(iv(y)), beta));
    return (struct tails){alpha, beta, {fmax(0, d.lo), fmin(alpha.hi, d.hi)}};
}

/* A threshold c loses y = t c - t^2/2, and 2 t c - 2 t^2 from the middle of the doubled pair. */
static struct interval mechanism_gaussian_twice(double t, double y)
{
    return iv_add(iv_scale(iv(y), 2), iv_square(iv(t)));
}

/* A quadratic equation in e^y. */
static double mechanism_gaussian_balance(double t, double log_a, double log_b)
{
    double most = fmax(log_a, (log_b - t * t) / 2);
    double a = exp(log_a - most), b = exp(log_b - t * t - 2 * most);
    return most + log((a + sqrt(a * a + 4 * b)) / 2);
}

static double mechanism_gaussian_log_density(double z)
{
    return -z * z / 2;
}

static double mechanism_gaussian_cdf(double x)
{
    return 0.5 * erfc(-x * 0.70710678118654752440);
}

/* ln delta and its slope in plain double arithmetic: delta' = -e^eps Phi(v) = -phi(u) R(-v). */
struct near {
    double log_delta, slope;
};

static struct near delta_near(double t, double epsilon)
{
    double u = t / 2 - epsilon / t, minus_v = t / 2 + epsilon / t;
    double density = 0.3989422804014327 * exp(-u * u / 2), lost = density * mills_near(minus_v);
    double d = u < 0 ? density * (mills_near(-u) - mills_near(minus_v)) : mechanism_gaussian_cdf(u) - lost;
    return (struct near){log(d), -lost / d};
}

/* Newton's method for ln delta, which is concave in epsilon, from delta <= Phi(u) <= e^(-u^2/2). */
static double near_root(double t, double target)
{
    double low = 0, high = t * (t / 2 + sqrt(-2 * log(target))), x = high, goal = log(target);
    for (int i = 0; i < 100; i++) {
        struct near at = delta_near(t, x);
        if (at.log_delta > goal)
            low = x;
        else
            high = x;
        double next = x - (at.log_delta - goal) / at.slope;
        if (!(next > low && next < high))
            next = low + (high - low) / 2;
        if (fabs(next - x) <= 1e-15 * x)
            break;
        x = next;
    }
    return x;
}

/* delta falls with epsilon: an epsilon with delta.hi <= target is above the root, one with delta.lo > target
 * below it. Both ends start as far from the approximate root as the interval there and the slope say, and
 * step outwards until it is so. */
static struct interval mechanism_gaussian_epsilon(struct interval t, double target)
{
    if (mechanism_gaussian_delta(t, 0).hi <= target)
        return iv(0);
    double root = near_root(t.hi, target), slope = root * -delta_near(t.hi, root).slope;
    struct interval at = mechanism_gaussian_delta(t, root), answer = {0, INFINITY};
    double up = fmax(0x1p-52, 1.125 * (at.hi / target - 1) / slope);
    double down = fmax(0x1p-52, 1.125 * (1 - at.lo / target) / slope);
    for (double step = up; root * step < 1e300; step *= 4)
        if (mechanism_gaussian_delta(t, root * (1 + step)).hi <= target) {
            answer.hi = root * (1 + step);
            break;
        }
    for (double step = down; step < 1; step *= 4)
        if (mechanism_gaussian_delta(t, root * (1 - step)).lo > target) {
            answer.lo = root * (1 - step);
            break;
        }
    return answer;
}

static struct interval mechanism_gaussian_renyi(struct interval t, double alpha)
{
    return iv_scale(iv_mul(iv(alpha), iv_square(t)), 0.5);
}

static double mechanism_gaussian_measure(double u, double v)
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
    .epsilon = mechanism_gaussian_epsilon,
    .delta = mechanism_gaussian_delta,
    .tails = mechanism_gaussian_tails,
    .below = normal_cdf,
    .log_density = mechanism_gaussian_log_density,
    .twice = mechanism_gaussian_twice,
    .balance = mechanism_gaussian_balance,
    .renyi = mechanism_gaussian_renyi,
    .cdf = mechanism_gaussian_cdf,
    .law = DISCRETISED_GAUSSIAN,
    .measure = mechanism_gaussian_measure,
};
