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

struct interval pld_sum_delta(const struct pld_sum *s, double epsilon)
{
    double a = 2 * s->tilt, reach = (double)s->n * s->step * (1 - 1e-12);
    double norm_k = sqrt(2 / (s->step * a * (a + 1) * (a + 2)) + 1 / ((1 + s->tilt) * (1 + s->tilt)));
    double norm_u = sqrt(1 / (a * s->step) + 1);
    struct sums up = add_up(s, s->upper, epsilon), low = add_up(s, s->lower, epsilon);
    /* relative rounding of each term and of the sums */
    double slip =
        0x1p-51 * (s->tilt * reach + (1 + s->tilt) * (fabs(epsilon) + reach) + (double)s->n / BLOCK + 256);
    double of_sums = slip * (fabs(up.u) + fabs(low.u) + 2 * s->error * norm_u);
    double error = s->error * norm_k * (1 + 1e-9) + of_sums;
    struct interval exponent = iv_sub(s->log_scale, iv_mul(iv(s->tilt), iv(epsilon)));
    struct interval scale = iv_exp(exponent), spread = iv_exp((struct interval){-s->relative, s->relative});
    double behind = exp(-s->tilt * reach) * 1.001;
    struct interval upper = iv_mul(iv_mul(scale, spread), iv(fmax(0, up.u - up.v) + error));
    upper = iv_add(upper, iv_mul(iv_mul(scale, spread), iv(behind * s->total)));
    upper = iv_add(upper, iv(s->infinite));
    double far = epsilon + reach, right = INFINITY;
    for (int i = 0; i < 2; i++)
        right = fmin(right, s->log_right[i] - (i + 1) * s->tilt / 2 * far);
    double wrapped = exp(right) * 1.001, finite = low.u - low.v - error - wrapped;
    struct interval lower =
        iv_mul(iv_mul(scale, iv(fmax(0, finite))), iv((1 - fmin(1, s->relative * 1.001))));
    lower = iv_sub(lower, iv(behind / (1 - fmin(0.5, behind))));
    return (struct interval){fmax(0, lower.lo), fmin(1, upper.hi)};
}

/* Where log of one end meets log delta, by secants held in a bracket; not exact. */
static double near_root(const struct pld_sum *s, double delta, int end, double low, double high)
{
    double f_low = 0, f_high = 0;
    for (int i = 0; i < 60 && high - low > 1e-12 * high; i++) {
        double x = (low + high) / 2;
        if (f_low > 0 && f_high < 0 && i % 3) {
            x = low + (high - low) * f_low / (f_low - f_high);
            x = fmin(fmax(x, low + (high - low) * 1e-3), high - (high - low) * 1e-3);
        }
        struct interval d = pld_sum_delta(s, x);
        double f = log(fmax(end ? d.hi : d.lo, 1e-320)) - log(delta);
        if (f > 0) {
            low = x;
            f_low = f;
        } else {
            high = x;
            f_high = f;
        }
    }
    return end ? high : low;
}

struct interval pld_sum_epsilon(const struct pld_sum *s, double delta)
{
    struct interval answer = {0, INFINITY}, at_0 = pld_sum_delta(s, 0);
    double reach = (double)s->n * s->step;
    if (at_0.hi <= delta)
        answer.hi = 0;
    double high = reach;
    for (int i = 0; i < 40 && isinf(answer.hi); i++, high *= 2)
        if (pld_sum_delta(s, high).hi <= delta)
            answer.hi = near_root(s, delta, 1, 0, high);
    if (at_0.lo > delta)
        answer.lo = near_root(s, delta, 0, 0, isfinite(answer.hi) ? answer.hi : high);
    return answer;
}
