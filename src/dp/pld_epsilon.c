/* delta and epsilon of a composition. With K(y) = e^(-tilt y) (1 - e^-y), y = l - eps, C = e^(log_scale -
 * tilt eps) and the window of N losses from eps on, C sum W K is the curve up to rounding of W: |error|_2
 * |K|_2,  |K|_2^2 <= 2 / (h a (a+1) (a+2)) + 1 / (1 + tilt)^2, a = 2 tilt, losses behind the window: at most
 * e^(-tilt N h) of the total, losses wrapped into it (they only add): from the left e^(-tilt N h) / C, from
 * the right a Chernoff bound. docs/derivations/pld.md, section 5. */
#include "dp/pld_compose.h"

enum { BLOCK = 64 };

/* U = sum W e^(-tilt y), V = sum W e^(-(tilt + 1) y) over y > 0; the curve is U - V. */
struct sums {
    double u, v;
};

struct ratios {
    double u[BLOCK], v[BLOCK];
};

static struct ratios ratios_of(const struct pld_sum *s)
{
    struct ratios r;
    for (int j = 0; j < BLOCK; j++) {
        r.u[j] = exp(-s->tilt * (j * s->step));
        r.v[j] = r.u[j] * exp(-(j * s->step));
    }
    return r;
}

static struct sums add_up(const struct pld_sum *s, const double *w, double epsilon)
{
    const struct ratios r = ratios_of(s);
    struct sums total = {0, 0};
    int64_t first = (int64_t)floor(epsilon / s->step) + 1;
    for (size_t b = 0; b < s->n; b += BLOCK) {
        double y = ((double)(first + (int64_t)b)) * s->step - epsilon, u = 0, v = 0;
        if (s->tilt * y > 745)
            break;
        for (size_t j = 0; j < BLOCK; j++) {
            double mass = w[(size_t)(first + (int64_t)(b + j)) & (s->n - 1)];
            u += mass * r.u[j];
            v += mass * r.v[j];
        }
        double start = exp(-s->tilt * y);
        total.u += start * u;
        total.v += start * exp(-y) * v;
    }
    return total;
}

/* The curves' values at epsilon and minus their slopes, ln delta against epsilon. */
struct ends {
    struct interval delta;
    double fall[2];
};

static double fall_of(struct sums sums)
{
    return sums.u > sums.v && sums.v > 0 ? sums.v / (sums.u - sums.v) : 1;
}

/* What wraps around into the lower curve, beside W: losses from `far` on (Chernoff), e^(-tilt N h) of all. */
static double wrapped_share(const struct pld_sum *s, double far)
{
    if (far > s->highest)
        return 0;
    double right = INFINITY;
    for (int i = 0; i < PLD_ORDERS; i++)
        right = fmin(right, s->log_right[i] - ldexp(s->tilt, -i) * far);
    return exp(right) * 1.001;
}

static struct ends ends_at(const struct pld_sum *s, double epsilon)
{
    double a = 2 * s->tilt, reach = (double)s->n * s->step * (1 - 1e-12);
    double norm_k = sqrt(2 / (s->step * a * (a + 1) * (a + 2)) + 1 / ((1 + s->tilt) * (1 + s->tilt)));
    double norm_u = sqrt(1 / (a * s->step) + 1);
    struct sums up = add_up(s, s->upper, epsilon), low = add_up(s, s->lower, epsilon);
    /* relative rounding of each term and of the sums */
    double size = s->tilt * reach + (1 + s->tilt) * (fabs(epsilon) + reach) + (double)s->n / BLOCK + 256;
    double of_sums = 0x1p-51 * size * (fabs(up.u) + fabs(low.u) + 2 * s->error * norm_u);
    double error = s->error * norm_k * (1 + 1e-9) + of_sums;
    struct interval exponent = iv_sub(s->log_scale, iv_mul(iv(s->tilt), iv(epsilon)));
    struct interval scale = iv_mul(iv_exp(exponent), iv_exp((struct interval){-s->relative, s->relative}));
    double behind = exp(-s->tilt * reach) * 1.001;
    struct interval upper = iv_mul(scale, iv(fmax(0, up.u - up.v) + error + behind * s->total));
    upper = iv_add(iv_scale(upper, 1 + 1e-15), iv(s->infinite));
    double finite = low.u - low.v - error - wrapped_share(s, epsilon + reach);
    struct interval lower = iv_mul(scale, iv(fmax(0, finite * (1 - 1e-15))));
    lower = iv_sub(lower, iv(behind / (1 - fmin(0.5, behind))));
    return (struct ends){{fmax(0, lower.lo), fmin(1, upper.hi)}, {fall_of(low), fall_of(up)}};
}

struct interval pld_sum_delta(const struct pld_sum *s, double epsilon)
{
    return ends_at(s, epsilon).delta;
}

static double end_of(struct interval x, int upper)
{
    return upper ? x.hi : x.lo;
}

/* Where one end meets delta, by Newton's rule for ln delta inside a bracket; not exact. */
static double near_root(const struct pld_sum *s, double delta, int upper, double x)
{
    double low = 0, high = INFINITY;
    for (int i = 0; i < 60 && (isinf(high) || high - low > 1e-13 * high); i++) {
        struct ends e = ends_at(s, x);
        double value = end_of(e.delta, upper), next = x + log(value / delta) / e.fall[upper];
        if (value > delta)
            low = x;
        else
            high = x;
        if (fabs(next - x) <= 1e-13 * x)
            return x;
        if (!(next > low && next < high))
            next = isinf(high) ? 2 * x + 1 / s->tilt : low + (high - low) * (upper || low > 0 ? 0.5 : 0.999);
        x = next;
    }
    return x;
}

struct interval pld_sum_epsilon(const struct pld_sum *s, double delta)
{
    struct interval answer = {0, INFINITY};
    double start = fmax(0, (s->log_scale.hi - log(delta) - 3) / s->tilt);
    double high = near_root(s, delta, 1, start), low = near_root(s, delta, 0, high);
    for (double step = 1e-14 * (high + 1 / s->tilt); step < 1e6; step *= 4) /* outwards until it is proved */
        if (ends_at(s, high + step).delta.hi <= delta) {
            answer.hi = high + step;
            break;
        }
    for (double step = 1e-14 * low; step < low; step *= 4)
        if (ends_at(s, low - step).delta.lo > delta) {
            answer.lo = low - step;
            break;
        }
    return answer;
}
