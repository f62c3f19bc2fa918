/* The moment function of the privacy loss is M(z) = sinh((z + 1/2) a) / ((2z + 1) sinh(a/2)), so with c > 0
 *   delta_k(e) = (1/2pi) int F(c + iy) e^(-(c+iy) e) dy,   F(z) = M(z)^k / (z (z + 1)),
 * and the trapezoidal sum of step h = 2 pi / T is, by Poisson summation, exactly
 *   sum over all integers m of e^(c m T) delta_k(e + m T).
 * Every term is >= 0; those with m > 0 vanish once T >= k a - e, those with m < 0 add at most e^(-cT) / (1 -
 * e^(-cT)). The sum is cut where |F| <= (A/y)^k / y^2, A = cosh((c + 1/2) a) / (2 sinh(a/2)), leaves less
 * than can be seen. With a bound for each term's rounding error this encloses delta_k.
 * docs/derivations/logistic.md, section 5. */
#include "dp/mechanism/logistic_compose.h"

#include "num/special.h"

#include <stdbool.h>

struct point { /* one evaluation: shift, number of releases, epsilon */
    double a, k, epsilon;
};

static double log_sinh(double x)
{
    return x < 0.01 ? log(x) + x * x / 6 * (1 - x * x / 30) : x - 0.6931471805599453 + log1p(-exp(-2 * x));
}

/* k ln M(c) - c e - ln c - ln(1 + c): smallest where the integrand falls fastest to both sides. */
static double logistic_compose_height(double c, const void *arg)
{
    const struct point *p = arg;
    double log_m = log_sinh((c + 0.5) * p->a) - log(2 * c + 1) - log_sinh(p->a / 2);
    return p->k * log_m - c * p->epsilon - log(c) - log1p(c);
}

struct sum {
    double value, error; /* of the real parts */
};

/* Absolute rounding error of the exponents and angles below: each logarithm, angle and product is good to a
 * few ulp of the sizes added up here. */
static double logistic_compose_rounding(const struct point *p, double c, double y)
{
    double x = (c + 0.5) * p->a;
    double size =
        p->k * (x + y * p->a + fabs(log(x)) + fabs(log_sinh(p->a / 2)) + fabs(log(2 * c + 1 + 2 * y)) + 8) +
        (c + y) * p->epsilon + 2 * fabs(log(c)) + 2 * fabs(log(c + y)) + 16;
    return size * 0x1p-49;
}

/* Re of F(c + iy) e^(-(c+iy) e), with a bound of its rounding error. */
static void add_term(struct sum *sum, const struct point *p, double c, double y, double weight)
{
    double x = (c + 0.5) * p->a, w = y * p->a, decay = exp(-2 * x), half = -expm1(-2 * x), sine = sin(w);
    double log_m = x - 0.6931471805599453 + 0.5 * log(half * half + 4 * decay * sine * sine) -
                   0.5 * log((2 * c + 1) * (2 * c + 1) + 4 * y * y) - log_sinh(p->a / 2);
    double angle_m = atan2((1 + decay) * sine, half * cos(w)) - atan2(2 * y, 2 * c + 1);
    double log_f =
        p->k * log_m - c * p->epsilon - 0.5 * log(c * c + y * y) - 0.5 * log((c + 1) * (c + 1) + y * y);
    double angle = p->k * angle_m - y * p->epsilon - atan2(y, c) - atan2(y, c + 1);
    double modulus = weight * exp(log_f);
    double relative = logistic_compose_rounding(p, c, y);
    sum->value += modulus * cos(angle);
    sum->error += relative < 1e-3 ? 2 * modulus * relative : INFINITY;
}

enum { MOST_TERMS = 60000 };
static const double too_large = 1e5; /* k a: the last digits of such an epsilon do not matter */

struct interval logistic_contour(double a, double k, double epsilon)
{
    struct point p = {a, k, epsilon};
    const struct interval no_answer = {0, 1};
    if (k * a > too_large)
        return no_answer;
    double c = minimise_log(1e-9, 1e9 * fmax(1, 1 / a), 0, logistic_compose_height, &p);
    double peak = logistic_compose_height(c, &p), slack = logistic_compose_rounding(&p, c, 0);
    if (slack > 1e-3)
        return no_answer;
    if (peak < -690) /* too small to add up in doubles: Chernoff, (1 - e^(e - L))_+ <= e^(c (L - e)) */
        return (struct interval){0, exp(peak + log(c) + log1p(c) + 1)};
    double enough = (40 + fmax(0, -peak)) / c;
    double period = fmax(k * a - epsilon + k * a * 0x1p-49, enough) * (1 + 0x1p-49);
    double h = 6.283185307179586 / period;
    /* (A/y)^k / y^2 summed behind y: A^k y^(-k-1) / (k+1), as a logarithm. */
    double x = (c + 0.5) * a, log_cosh = x - 0.6931471805599453 + log1p(exp(-2 * x));
    double log_a = log_cosh - 0.6931471805599453 - log_sinh(a / 2);
    struct sum sum = {0, 0};
    add_term(&sum, &p, c, 0, 0.5);
    double log_tail = INFINITY;
    for (int terms = 1;; terms++) {
        double y = h * terms;
        if (terms == MOST_TERMS || !isfinite(sum.error))
            return no_answer;
        add_term(&sum, &p, c, y, 1);
        if (terms % 8 == 0) {
            log_tail = k * log_a - (k + 1) * log(y) - log(k + 1) - c * epsilon;
            if (log_tail < log(fabs(sum.value) * h) - 38) {
                log_tail += logistic_compose_rounding(&p, c, y) + 1e-6;
                sum.error += fabs(sum.value) * terms * 0x1p-52;
                break;
            }
        }
    }
    double scale = h / 3.141592653589793; /* (h/2pi) times both signs of y */
    double aliased = exp(-c * period * (1 - 1e-12));
    aliased /= 1 - aliased;
    double value = sum.value * scale,
           error = sum.error * scale + exp(log_tail) / 3.141592653589793 + fabs(value) * 0x1p-49;
    return (struct interval){fmax(0, value - error - aliased * (1 + 1e-9)), fmin(1, value + error)};
}

/* G(t) = sum_n t^(k+1+2n) / (4^n (k+1+2n)!). Once the ratio of terms is below 1/2 the rest is below the last
 * term. */
static struct interval logistic_compose_series(struct interval t, int k)
{
    struct interval term = t, square = iv_scale(iv_square(t), 0.25);
    for (int i = 2; i <= k + 1; i++)
        term = iv_mul(term, iv_div(t, iv(i)));
    struct interval sum = term;
    for (int i = k + 3; i < 3000; i += 2) {
        struct interval ratio = iv_div(square, iv((double)i * (i - 1)));
        term = iv_mul(term, ratio);
        sum = iv_add(sum, term);
        if (ratio.hi < 0.5 && term.hi <= sum.lo * 0x1p-60)
            break;
    }
    sum.hi = next_up(sum.hi + term.hi);
    return sum;
}

/* The losses are tilted uniforms, so delta_k is a finite alternating sum (tilted Irwin-Hall):
 *   e^(e/2) (4 sinh(a/2))^-k sum_j (-1)^j C(k, j) G(k a - e - 2 a j).
 * Interval arithmetic shows the cancellation; it is small for few releases, where the contour converges
 * slowly. */
struct interval logistic_finite_sum(double a, int k, double epsilon)
{
    struct interval left = iv_sub(iv_scale(iv(a), k), iv(epsilon)), sum = iv(0), choose = iv(1);
    struct interval sinh_4 = iv_mul(iv_scale(iv_exp(iv(a / 2)), 2), iv_neg(iv_expm1(iv(-a))));
    for (int j = 0; j <= k; j++) {
        struct interval t = iv_sub(left, iv_scale(iv(a), 2 * j));
        if (t.hi <= 0)
            break;
        t.lo = fmax(0, t.lo);
        struct interval term = iv_mul(choose, logistic_compose_series(t, k));
        sum = j % 2 ? iv_sub(sum, term) : iv_add(sum, term);
        choose = iv_div(iv_scale(choose, k - j), iv(j + 1));
    }
    sum = iv_mul(sum, iv_exp(iv(epsilon / 2)));
    for (int i = 0; i < k; i++)
        sum = iv_div(sum, sinh_4);
    return (struct interval){fmax(0, sum.lo), fmin(1, sum.hi)};
}

enum { FEW = 6 };

struct interval logistic_composed_delta(double a, double k, double epsilon)
{
    if (epsilon >= k * a)
        return iv(0);
    return k <= FEW && k * a < 700 ? logistic_finite_sum(a, (int)k, epsilon)
                                   : logistic_contour(a, k, epsilon);
}

/* Where ln delta_k meets ln delta: bisection with a few steps of false position (Illinois) in between. */
static double near_root(double a, double k, double delta)
{
    double low = 0, high = k * a, goal = log(delta), f_low, f_high = -750 - goal;
    struct interval at_0 = logistic_composed_delta(a, k, 0);
    if (at_0.lo == 0 && at_0.hi == 1)
        return high;
    f_low = log(at_0.hi) - goal;
    if (f_low <= 0)
        return 0;
    for (int i = 0; i < 100 && high - low > 1e-13 * high; i++) {
        double x = i % 3 == 2 ? (low + high) / 2 : low + (high - low) * f_low / (f_low - f_high);
        double inner = 1e-14 * high;
        x = fmin(fmax(x, low + inner), high - inner);
        struct interval d = logistic_composed_delta(a, k, x);
        if (d.lo == 0 && d.hi == 1)
            return high; /* no answer here */
        double f = log(fmax(d.hi, 1e-320)) - goal;
        if (fabs(f) < 1e-13)
            return x;
        if (f > 0) {
            low = x;
            f_low = f;
            f_high /= 2;
        } else {
            high = x;
            f_high = f;
            f_low /= 2;
        }
    }
    return (low + high) / 2;
}

struct interval logistic_composed_epsilon(struct interval a, double k, double delta)
{
    if (next_up(k * a.hi) / 4 <= delta) /* total variation of the sum is at most tanh(k a / 4) */
        return iv(0);
    double top = next_up(k * a.hi), root = near_root(a.hi, k, delta);
    struct interval answer = {0, top};
    for (double step = 0x1p-49; root > 0 && root * (1 + step) < top; step *= 4)
        if (logistic_composed_delta(a.hi, k, root * (1 + step)).hi <= delta) {
            answer.hi = root * (1 + step);
            break;
        }
    if (root == 0 && logistic_composed_delta(a.hi, k, 0).hi <= delta)
        answer.hi = 0;
    for (double step = 0x1p-49; root > 0 && step < 1; step *= 4)
        if (logistic_composed_delta(a.lo, k, root * (1 - step)).lo > delta) {
            answer.lo = root * (1 - step);
            break;
        }
    return answer;
}
