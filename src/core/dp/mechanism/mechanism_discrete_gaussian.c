/* Discrete Gaussian noise, P(K = k) proportional to e^(-k^2 h^2 / 2), h = step / sigma (Canonne, Kamath,
 * Steinke 2020). A shift of D steps has loss above eps for k > x = eps / (D h^2) + D / 2, so
 *   delta(eps) = P(K >= c - D) - e^eps P(K >= c),  c = floor(x) + 1   (theorem 7 there).
 * Vectors: zCDP as for the continuous law (theorem 4 there), and the scalar curve at the L1 norm by the
 * chain.
 *
 * P(K >= c) = phi(y) B(y), y = c h. For sigma < 16 steps B is summed; above, by Euler and Maclaurin,
 *   B = R(y) + h/2 + sum_j B_2j / (2j)! h^2j He_(2j-1)(y) + error,  R the Mills ratio,
 *   |error| phi(y) <= 2 zeta(p) (h / 2 pi)^p int_y^inf |He_p| phi,  p = 16.
 * That integral is He_15(y) phi(y) behind the last zero of He_16 (below 8), and at most
 * sqrt(16!) sqrt(1 - Phi(y)) by Cauchy and Schwarz. */
#include "dp/mechanism/mechanism.h"
#include "dp/mechanism/renyi.h"
#include "dp/mechanism/integer_search.h"
#include "num/special.h"

static const double bernoulli[][2] = {{1, 12},          {-1, 720},
                                      {1, 30240},       {-1, 1209600},
                                      {1, 47900160},    {-691, 1307674368000},
                                      {1, 74724249600}, {-3617, 10670622842880000}};
enum { TERMS = sizeof bernoulli / sizeof *bernoulli, ORDER = 2 * TERMS };
static const double last_zero = 8, few_steps = 0.0625, root_of_factorial = 4574143.7; /* above sqrt(16!) */

/* Sum over j >= 0 of e^(-j h y - (j h)^2 / 2), h > 1/16. Where x = j h has x y + x^2/2 >= 46, y + x >=
 * sqrt(92), so each further term is less than e^(-h (y + x)) < 0.55 of the one before, and what is left is
 * below 3 e^-46. */
static struct interval sum_from(struct interval y, struct interval h)
{
    struct interval sum = iv(1), exponent;
    int j = 1;
    do {
        struct interval x = iv_scale(h, j);
        exponent = iv_add(iv_mul(x, y), iv_scale(iv_square(x), 0.5));
        sum = iv_add(sum, iv_exp(iv_neg(exponent)));
        j++;
    } while (exponent.lo < 46);
    return iv_add(sum, (struct interval){0, 1e-19});
}

/* B(y) for y >= 0. */
static struct interval mechanism_discrete_gaussian_bracket(struct interval y, struct interval h)
{
    if (h.hi > few_steps) {
        const struct interval root_two_pi = {2.5066282746310002, 2.5066282746310007};
        struct interval all = iv_sub(iv_scale(sum_from(iv(0), h), 2), iv(1));
        return iv_div(iv_mul(root_two_pi, sum_from(y, h)), all);
    }
    struct interval square = iv_square(h), power = square, before = iv(1), hermite = y;
    struct interval sum = iv_add(mills_ratio(y), iv_scale(h, 0.5));
    for (int j = 0; j < TERMS; j++) {
        struct interval factor = iv_div(iv(bernoulli[j][0]), iv(bernoulli[j][1]));
        sum = iv_add(sum, iv_mul(iv_mul(factor, power), hermite));
        if (j == TERMS - 1)
            break;
        power = iv_mul(power, square);
        for (int n = 2 * j + 1; n < 2 * j + 3; n++) { /* He_(n+1) = y He_n - n He_(n-1) */
            struct interval next = iv_sub(iv_mul(y, hermite), iv_scale(before, n));
            before = hermite;
            hermite = next;
        }
    }
    /* 2 zeta(16) / (2 pi)^16 < 3.4e-13; `power` is h^16 */
    double error = 3.4e-13 * power.hi;
    if (y.lo >= last_zero)
        error *= hermite.hi;
    else
        error *= root_of_factorial * sqrt(iv_div(normal_cdf(iv_neg(y)), iv_square(normal_density(y))).hi);
    error *= 1 + 1e-12;
    struct interval b = iv_add(sum, (struct interval){-error, error});
    return iv_max(b, iv(0));
}

/* e^lift P(K >= c), c > 0. */
static struct interval mechanism_discrete_gaussian_tail(double c, struct interval h, double lift)
{
    const struct interval peak = {0.39894228040143264, 0.39894228040143276}; /* phi(0) */
    struct interval y = iv_scale(h, c), exponent = iv_sub(iv(lift), iv_scale(iv_square(y), 0.5));
    return iv_mul(iv_mul(peak, iv_exp(exponent)), mechanism_discrete_gaussian_bracket(y, h));
}

/* S = {K >= c}, seen from the shifted law. */
static struct best_event at_threshold(double c, double steps, struct interval h, double epsilon)
{
    struct interval lost = mechanism_discrete_gaussian_tail(c, h, epsilon);
    if (c - steps > 0) {
        struct interval alpha = mechanism_discrete_gaussian_tail(c - steps, h, 0);
        return (struct best_event){alpha, lost, iv_sub(alpha, lost)};
    }
    struct interval rest = mechanism_discrete_gaussian_tail(1 - (c - steps), h, 0);
    return (struct best_event){iv_sub(iv(1), rest), lost, iv_sub(iv(1), iv_add(rest, lost))};
}

/* alpha t^2 / 2, exactly so where (alpha - 1) D is whole. */
static struct interval gaussian_renyi(struct interval t, double alpha)
{
    return iv_scale(iv_mul(iv(alpha), iv_square(t)), 0.5);
}

/* The record's curves hold for every step, so they go through alpha t^2 / 2. */
static const double orders[] = {1.01, 1.03, 1.1, 1.25, 1.5, 2, 3, 4, 6, 9, 14, 22, 35, 60, 120, 300, 1000};
enum { ORDERS = sizeof orders / sizeof *orders };

static struct interval any_epsilon(struct interval t, double target)
{
    struct interval rho = iv_scale(iv_square(t), 0.5);
    return (struct interval){0, zcdp_epsilon(rho.hi, target)};
}

/* delta = e^((alpha-1)(R - eps)) (1 - 1/alpha)^alpha / (alpha - 1). */
static struct interval any_delta(struct interval t, double target)
{
    double best = 1;
    for (int i = 0; i < ORDERS; i++) {
        struct interval alpha = iv(orders[i]), less = iv_sub(alpha, iv(1));
        struct interval rest = iv_mul(alpha, iv_log1p(iv_neg(iv_div(iv(1), alpha))));
        struct interval gain = iv_mul(less, iv_sub(gaussian_renyi(t, orders[i]), iv(target)));
        best = fmin(best, iv_div(iv_exp(iv_add(gain, rest)), less).hi);
    }
    return (struct interval){0, best};
}

enum { CANDIDATES = 8 };
static const double countable = 0x1p50; /* beyond, doubles skip whole numbers */

static struct best_event mechanism_discrete_gaussian_event(double steps, struct interval h, double epsilon)
{
    struct interval ratio = iv_div(iv(epsilon), iv_scale(iv_square(h), steps));
    struct interval x = iv_add(ratio, iv(steps / 2));
    struct best_event best = {iv(0), iv(0), iv(0)};
    double first = floor(x.lo) + 1, last = floor(x.hi) + 1;
    if (iv_mul(iv_sub(x, iv(steps)), h).lo > 38.5) { /* beyond the range of doubles */
        best.delta.hi = 1e-307;
        return best;
    }
    if (!(last - first <= CANDIDATES && last <= countable)) {
        best.delta.hi = any_delta(iv_scale(h, steps), epsilon).hi;
        return best;
    }
    for (double c = first; c <= last; c++)
        best = best_of(best, at_threshold(c, steps, h, epsilon));
    return best;
}

static struct interval mechanism_discrete_gaussian_delta(double steps, struct interval h, double epsilon)
{
    return mechanism_discrete_gaussian_event(steps, h, epsilon).delta;
}

static struct interval mechanism_discrete_gaussian_epsilon(double steps, struct interval h, double target)
{
    double t = iv_scale(h, steps).hi;
    return integer_epsilon(mechanism_discrete_gaussian_delta, steps, h, target, t * (t / 2 + 45 + 2 * h.hi));
}

static struct interval mechanism_discrete_gaussian_renyi(double steps, struct interval h, double alpha)
{
    struct interval r = gaussian_renyi(iv_scale(h, steps), alpha);
    double moved = (alpha - 1) * steps;
    return moved == floor(moved) ? r : (struct interval){0, r.hi};
}

static double mechanism_discrete_gaussian_cdf(double k, double step)
{
    k = floor(k);
    return k >= 0 ? 1 - mechanism_discrete_gaussian_tail(k + 1, iv(step), 0).hi
                  : mechanism_discrete_gaussian_tail(-k, iv(step), 0).hi;
}

static double mechanism_discrete_gaussian_deviation(double step)
{
    double weight = 0.5, sum = 0;
    if (step < few_steps) /* to 1e-1000 */
        return 1;
    for (int k = 1; k * step < 40; k++) {
        double x = k * step, p = exp(-x * x / 2);
        weight += p;
        sum += p * x * x;
    }
    return sqrt(sum / weight);
}

/* The sum of all e^(-i^2 h^2 / 2) is sqrt(2 pi) / h for small h (Poisson summation, to e^(-2 pi^2 / h^2)). */
static struct interval mechanism_discrete_gaussian_mass(double k, struct interval h)
{
    struct interval exponent = iv_scale(iv_square(iv_scale(h, k)), -0.5);
    const struct interval root_two_pi = {2.5066282746310002, 2.5066282746310007};
    struct interval all = iv_div(root_two_pi, h);
    if (h.hi > few_steps)
        all = iv_sub(iv_scale(sum_from(iv(0), h), 2), iv(1));
    return iv_div(iv_exp(exponent), all);
}

static struct interval tail_of(double k, struct interval h)
{
    return mechanism_discrete_gaussian_tail(k, h, 0);
}

/* ln P(K = k) / P(K = k - D) = ((k - D)^2 - k^2) h^2 / 2. */
static struct interval loss_step(double steps, struct interval h)
{
    return iv_scale(iv_square(h), steps / 2);
}

static const struct integer_law law = {
    .delta = mechanism_discrete_gaussian_delta,
    .event = mechanism_discrete_gaussian_event,
    .epsilon = mechanism_discrete_gaussian_epsilon,
    .renyi = mechanism_discrete_gaussian_renyi,
    .cdf = mechanism_discrete_gaussian_cdf,
    .deviation = mechanism_discrete_gaussian_deviation,
    .mass = mechanism_discrete_gaussian_mass,
    .tail = tail_of,
    .loss_step = loss_step,
    .magnitude = integer_gaussian,
};

const struct mechanism mechanism_discrete_gaussian = {
    .name = "discrete-gaussian",
    .title = "discrete Gaussian noise for whole numbers: by L2, never pure",
    .source = "canonne2020discrete, theorems 4 and 7",
    .kind = RELEASE_INTEGER,
    .standard_deviation = NAN,
    .zcdp_divisor = 2,
    .epsilon = any_epsilon,
    .delta = any_delta,
    .renyi = gaussian_renyi,
    .integer = &law,
};
