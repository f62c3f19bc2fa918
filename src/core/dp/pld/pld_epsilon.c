/* delta and epsilon of a composition. With K(y) = e^(-tilt y) (1 - e^-y), y = l - eps,
 * C = e^(log_scale - tilt eps) and the window of N losses from eps on, C sum W K is the curve up to
 *
 *   rounding of W             |error|_2 |K|_2, |K|_2^2 <= 2 / (h a (a+1) (a+2)) + 1 / (1 + tilt)^2, a = 2 tilt
 *   losses behind the window  at most e^(-tilt N h) of the total
 *   losses wrapped into it    they only add: from the left e^(-tilt N h) / C, from the right a Chernoff bound
 *
 * docs/derivations/pld.md, section 5. */
#include "dp/pld/pld_compose.h"

enum { BLOCK = 64, LANES = 4 };

/* U = sum W e^(-tilt y), V = sum W e^(-(tilt + 1) y) over y > 0; the curve is U - V. */
struct sums {
    double u, v;
};

typedef double both __attribute__((vector_size(16))); /* u and v */

struct ratios {
    both uv[BLOCK];
};

static struct ratios ratios_of(const struct pld_sum *s)
{
    struct ratios r;
    for (int j = 0; j < BLOCK; j++) {
        const double u = exp(-s->tilt * (j * s->step));
        r.uv[j] = (both){u, u * exp(-(j * s->step))};
    }
    return r;
}

/* Sums of LANES blocks side by side: each in its own order, so that no addition waits for that of another block. */
static void add_blocks(struct sums out[LANES], const struct pld_sum *s, const struct ratios *r,
                       const double *w, int64_t first)
{
    const size_t last = s->n - 1;
    both a = {0, 0}, b = a, c = a, d = a;
    for (size_t j = 0; j < BLOCK; j++) {
        const size_t at = (size_t)first + j;
        a += w[at & last] * r->uv[j];
        b += w[(at + BLOCK) & last] * r->uv[j];
        c += w[(at + 2 * BLOCK) & last] * r->uv[j];
        d += w[(at + 3 * BLOCK) & last] * r->uv[j];
    }
    const both all[LANES] = {a, b, c, d};
    for (size_t i = 0; i < LANES; i++)
        out[i] = (struct sums){all[i][0], all[i][1]};
}

static struct sums add_up(const struct pld_sum *s, const double *w, double epsilon)
{
    const struct ratios r = ratios_of(s);
    struct sums total = {0, 0}, part[LANES];
    int64_t first = (int64_t)floor(epsilon / s->step) + 1;
    for (size_t b = 0; b < s->n; b += BLOCK) {
        double y = ((double)(first + (int64_t)b)) * s->step - epsilon;
        if (s->tilt * y > 745)
            break;
        const size_t lane = b / BLOCK % LANES;
        if (lane == 0)
            add_blocks(part, s, &r, w, first + (int64_t)b);
        double start = exp(-s->tilt * y);
        total.u += start * part[lane].u;
        total.v += start * exp(-y) * part[lane].v;
    }
    return total;
}

/* Rate at which ln delta falls with epsilon. */
static double fall_of(struct sums sums)
{
    return sums.u > sums.v && sums.v > 0 ? sums.v / (sums.u - sums.v) : 1;
}

/* Mass that wraps around into the lower curve, besides W: losses from `far` on (Chernoff), e^(-tilt N h) of
 * all. */
static double wrapped_share(const struct pld_sum *s, double far)
{
    if (far > s->highest)
        return 0;
    double right = INFINITY;
    for (int i = 0; i < PLD_ORDERS; i++)
        right = fmin(right, s->log_right[i] - ldexp(s->tilt, -i) * far);
    return exp(right) * 1.001;
}

enum which { LOWER, UPPER };

/* The parts of one end: its sums, a bound of all errors in units of C, C, and the share behind the window. */
struct end {
    struct sums sums;
    double error, behind;
    struct interval scale;
};

static struct end end_at(const struct pld_sum *s, double epsilon, enum which which)
{
    double a = 2 * s->tilt, reach = (double)s->n * s->step * (1 - 1e-12);
    double norm_k = sqrt(2 / (s->step * a * (a + 1) * (a + 2)) + 1 / ((1 + s->tilt) * (1 + s->tilt)));
    double norm_u = sqrt(1 / (a * s->step) + 1);
    struct end e = {.sums = add_up(s, which == UPPER ? s->upper : s->lower, epsilon)};
    /* relative rounding of each term (those with tilt y > 750 are nothing) and of the sums */
    double far = fmin(reach, 750 / s->tilt);
    double size = s->tilt * far + (1 + s->tilt) * (fabs(epsilon) + far) + (double)s->n / BLOCK + 256;
    e.error = s->error * norm_k * (1 + 1e-9) + 0x1p-51 * size * (fabs(e.sums.u) + 2 * s->error * norm_u);
    e.behind = exp(-s->tilt * reach) * 1.001;
    struct interval exponent = iv_sub(s->log_scale, iv_mul(iv(s->tilt), iv(epsilon)));
    e.scale = iv_mul(iv_exp(exponent), iv_exp((struct interval){-s->relative, s->relative}));
    return e;
}

/* One end of delta at epsilon, and how fast ln delta falls there. */
struct point {
    double delta, fall;
};

static struct point point_at(const struct pld_sum *s, double epsilon, enum which which)
{
    struct end e = end_at(s, epsilon, which);
    double net = e.sums.u - e.sums.v, fall = fall_of(e.sums);
    if (which == UPPER) {
        struct interval upper = iv_mul(e.scale, iv(fmax(0, net) + e.error + e.behind * s->total));
        return (struct point){fmin(1, iv_add(iv_scale(upper, 1 + 1e-15), iv(s->infinite)).hi), fall};
    }
    double reach = (double)s->n * s->step * (1 - 1e-12);
    double finite = net - e.error - wrapped_share(s, epsilon + reach);
    struct interval lower = iv_mul(e.scale, iv(fmax(0, finite * (1 - 1e-15))));
    lower = iv_sub(lower, iv(e.behind / (1 - fmin(0.5, e.behind))));
    return (struct point){fmax(0, lower.lo), fall};
}

double pld_sum_upper_delta(const struct pld_sum *s, double epsilon)
{
    return point_at(s, epsilon, UPPER).delta;
}

struct interval pld_sum_delta(const struct pld_sum *s, double epsilon)
{
    return (struct interval){point_at(s, epsilon, LOWER).delta, point_at(s, epsilon, UPPER).delta};
}

/* Where one end meets delta, by Newton's rule for ln delta inside a bracket; not exact. */
static double near_root(const struct pld_sum *s, double delta, enum which which, double x)
{
    double low = 0, high = INFINITY, back = 1e-9 / s->tilt;
    for (int i = 0; i < 60 && (isinf(high) || high - low > 1e-13 * high); i++) {
        struct point p = point_at(s, x, which);
        double value = p.delta, next = x + log(value / delta) / p.fall;
        if (value > delta)
            low = x;
        else
            high = x;
        if (fabs(next - x) <= 1e-13 * x)
            return x;
        if (!(next > low && next < high) &&
            value == 0) /* at a curve's end, or too far before it for the tilt */
            next = fmax(high - (back *= 8), low + (high - low) / 2);
        else if (!(next > low && next < high))
            next = isinf(high) ? 2 * x + 1 / s->tilt : low + (high - low) / 2;
        x = next;
    }
    return x;
}

struct interval pld_sum_epsilon(const struct pld_sum *s, double delta)
{
    struct interval answer = {0, INFINITY};
    double start = fmax(0, (s->log_scale.hi - log(delta) - 3) / s->tilt);
    double high = near_root(s, delta, UPPER, start), low = near_root(s, delta, LOWER, high);
    for (double step = 1e-14 * (high + 1 / s->tilt); step < 1e6; step *= 4) /* outwards until it is proved */
        if (point_at(s, high + step, UPPER).delta <= delta) {
            answer.hi = high + step;
            break;
        }
    for (double step = 1e-14 * low; step < low; step *= 4)
        if (point_at(s, low - step, LOWER).delta > delta) {
            answer.lo = low - step;
            break;
        }
    return answer;
}
