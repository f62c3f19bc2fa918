/* k-fold composition of a pair of discrete laws. Losses on a grid add as indices, so the k-fold law is a
 * k-fold cyclic convolution of length N = 2^depth: transform once (upper and lower law as real and imaginary
 * part), raise to the power k. The result is never transformed back: with C_f the powers and S_f the
 * transform of the weights (1 - e^(epsilon - loss))+, a geometric series, delta(epsilon) = (1/N) sum_f C_f
 * S_f, and after many steps nearly all C_f are too small to matter, which their balls show.
 *
 * The table holds losses of index A .. A+N-1. What lies outside (bounded by Chernoff, in balls) is folded
 * onto some place inside: the upper law adds the part above to delta, the lower law subtracts all of it. */
#include "base/memory.h"
#include "dp/ball/ball_window.h"
#include "num/special.h"

#include <limits.h>

enum { MOST_DEPTH = 18 };

struct composed {
    slong bits;
    int depth;
    slong start; /* A */
    double spacing;
    size_t kept; /* frequencies 0 <= f <= N/2 that matter */
    uint32_t *frequency;
    acb_ptr powers[2]; /* of upper and lower */
    arb_t base[2];     /* loss of index 0 */
    arb_t outside[2];  /* see above, and the frequencies left out */
};

static size_t reversed(size_t f, int depth)
{
    size_t r = 0;
    for (int i = 0; i < depth; i++)
        r |= ((f >> i) & 1) << (depth - 1 - i);
    return r;
}

/* Mass of the composition at indices >= from (sign 1) or <= from (sign -1): M(t)^k e^(-t h from). */
static void outside(arb_t out, const struct ball_pair *pair, bool lower, size_t count, double tilt, int sign,
                    double from)
{
    arb_t factor, weight;
    slong bits = pair->bits;
    arb_init(factor);
    arb_init(weight);
    arb_set_d(factor, tilt * sign);
    arb_set_d(weight, pair->spacing);
    arb_mul(factor, factor, weight, bits);
    arb_set_d(weight, from);
    arb_mul(weight, weight, factor, bits);
    arb_div_ui(weight, weight, count, bits);
    arb_neg(weight, weight); /* e^(t (index - from/k)) for one step */
    arb_exp(weight, weight, bits);
    arb_exp(factor, factor, bits);
    arb_zero(out);
    for (size_t i = 0; i < pair->length; i++) {
        arb_addmul(out, lower ? acb_imagref(pair->mass + i) : acb_realref(pair->mass + i), weight, bits);
        arb_mul(weight, weight, factor, bits);
    }
    arb_pow_ui(out, out, count, bits);
    arb_clear(factor);
    arb_clear(weight);
}

static void bound_outside(struct composed *c, const struct ball_pair *pair, const struct ball_window *w,
                          size_t count)
{
    arb_t left;
    arb_init(left);
    double size = (double)((size_t)1 << c->depth);
    for (int lower = 0; lower < 2; lower++) {
        outside(c->outside[lower], pair, lower, count, w->tilt_right, 1, (double)c->start + size);
        if (lower) {
            outside(left, pair, true, count, w->tilt_left, -1, (double)c->start - 1);
            arb_add(c->outside[1], c->outside[1], left, c->bits);
        } else {
            arb_mul_ui(left, pair->infinite, count, c->bits);
            arb_add(c->outside[0], c->outside[0], left, c->bits);
        }
        arb_set_d(left, (lower ? 0.5 : 0.0) + 0); /* loss of index 0: k (first + 0 or 1/2) h */
        arb_add_si(left, left, pair->first, c->bits);
        arb_mul_ui(left, left, count, c->bits);
        arb_set_d(c->base[lower], pair->spacing);
        arb_mul(c->base[lower], c->base[lower], left, c->bits);
    }
    arb_clear(left);
}

/* Transforms of both laws at one frequency, from that of the two packed in one. */
static void unpack(acb_t upper, acb_t lower, acb_srcptr v, size_t f, const struct composed *c)
{
    size_t n = (size_t)1 << c->depth;
    acb_srcptr here = v + reversed(f, c->depth), there = v + reversed((n - f) % n, c->depth);
    acb_conj(upper, there);
    acb_sub(lower, here, upper, c->bits);
    acb_add(upper, here, upper, c->bits);
    acb_mul_2exp_si(upper, upper, -1);
    acb_mul_2exp_si(lower, lower, -1);
    acb_div_onei(lower, lower);
}

/* |z|^k > 2^-quiet, as far as the ball knows. */
static bool matters(const acb_t z, size_t count, slong quiet)
{
    mag_t size;
    mag_init(size);
    acb_get_mag(size, z);
    mag_pow_ui(size, size, count);
    bool answer = mag_cmp_2exp_si(size, -quiet) > 0;
    mag_clear(size);
    return answer;
}

static void composed_clear(struct composed *c)
{
    for (int i = 0; i < 2; i++) {
        ball_complexes_free(c->powers[i], c->kept);
        arb_clear(c->base[i]);
        arb_clear(c->outside[i]);
    }
    base_free(c->frequency);
}

/* Frequencies with |C_f| <= 2^-quiet are left out: all of them together change delta by at most 2^-quiet N,
 * since |S_f| <= N. */
static sotto_status compose(struct composed *c, const struct ball_pair *pair, const struct ball_window *w,
                            size_t count, slong quiet)
{
    sotto_status status = SOTTO_OK;
    size_t n = (size_t)1 << c->depth;
    acb_t upper, lower;
    acb_ptr v = ball_complexes(n);
    for (int i = 0; i < 2; i++) {
        arb_init(c->base[i]);
        arb_init(c->outside[i]);
    }
    acb_init(upper);
    acb_init(lower);
    c->frequency = base_alloc(n / 2 + 1, sizeof *c->frequency);
    if (!v || !c->frequency)
        FAIL(SOTTO_ENOMEM, "out of memory (a privacy-loss table of %zu points)", n);
    for (size_t i = 0; i < pair->length; i++)
        acb_add(v + i % n, v + i % n, pair->mass + i, c->bits);
    TRY(ball_transform(v, c->depth, c->bits));
    for (size_t f = 0; f <= n / 2; f++) {
        unpack(upper, lower, v, f, c);
        if (matters(upper, count, quiet) || matters(lower, count, quiet))
            c->frequency[c->kept++] = (uint32_t)f;
    }
    for (int i = 0; i < 2; i++)
        if (!(c->powers[i] = ball_complexes(c->kept)))
            FAIL(SOTTO_ENOMEM, "out of memory (%zu frequencies)", c->kept);
    for (size_t i = 0; i < c->kept; i++) {
        unpack(c->powers[0] + i, c->powers[1] + i, v, c->frequency[i], c);
        acb_pow_ui(c->powers[0] + i, c->powers[0] + i, count, c->bits);
        acb_pow_ui(c->powers[1] + i, c->powers[1] + i, count, c->bits);
    }
    bound_outside(c, pair, w, count);
    arb_t left_out; /* 2^-quiet N, either sign for upper and lower alike */
    arb_init(left_out);
    arb_one(left_out);
    arb_mul_2exp_si(left_out, left_out, c->depth - quiet);
    for (int i = 0; i < 2; i++)
        arb_add(c->outside[i], c->outside[i], left_out, c->bits);
    arb_clear(left_out);
done:
    acb_clear(upper);
    acb_clear(lower);
    ball_complexes_free(v, n);
    return status;
}

/* sum over j = from .. A+N-1 of (1 - gap e^(-h (j-from))) zeta^j, zeta = e^(-2 pi i f / N): two geometric
 * series, each (1 - last) / (1 - ratio). */
static void weights(acb_t out, const struct composed *c, uint32_t f, slong from, ulong terms, const arb_t gap,
                    const arb_t shrink, const arb_t shrunk)
{
    slong bits = c->bits, n = (slong)1 << c->depth;
    acb_t zeta, last, part;
    arb_t angle;
    acb_init(zeta);
    acb_init(last);
    acb_init(part);
    arb_init(angle);
    arb_set_si(angle, -2 * (slong)f);
    arb_mul_2exp_si(angle, angle, -c->depth);
    arb_sin_cos_pi(acb_imagref(zeta), acb_realref(zeta), angle, bits);
    slong turned = (slong)((ulong)f * (terms % (ulong)n) % (ulong)n);
    arb_set_si(angle, -2 * turned);
    arb_mul_2exp_si(angle, angle, -c->depth);
    arb_sin_cos_pi(acb_imagref(last), acb_realref(last), angle, bits);
    if (f == 0) {
        acb_set_ui(out, terms);
    } else {
        acb_sub_ui(out, last, 1, bits);
        acb_sub_ui(part, zeta, 1, bits);
        acb_div(out, out, part, bits);
    }
    acb_mul_arb(last, last, shrunk, bits);
    acb_mul_arb(zeta, zeta, shrink, bits);
    acb_sub_ui(last, last, 1, bits);
    acb_sub_ui(zeta, zeta, 1, bits);
    acb_div(part, last, zeta, bits);
    acb_mul_arb(part, part, gap, bits);
    acb_sub(out, out, part, bits);
    slong begin = ((from % n) + n) % n;
    arb_set_si(angle, -2 * (slong)((ulong)f * (ulong)begin % (ulong)n));
    arb_mul_2exp_si(angle, angle, -c->depth);
    arb_sin_cos_pi(acb_imagref(last), acb_realref(last), angle, bits);
    acb_mul(out, out, last, bits);
    acb_clear(zeta);
    acb_clear(last);
    acb_clear(part);
    arb_clear(angle);
}

/* delta of the upper (lower) law at epsilon, what is outside included: a bound in that direction. */
static struct interval delta_at(const struct composed *c, bool lower, double epsilon)
{
    slong bits = c->bits, size = (slong)1 << c->depth;
    arb_t gap, shrink, shrunk, sum;
    acb_t s;
    arb_init(gap);
    arb_init(shrink);
    arb_init(shrunk);
    arb_init(sum);
    acb_init(s);
    /* first index whose loss is above epsilon (a weight may be 0, not negative) */
    slong from =
        (slong)ceil((epsilon - arf_get_d(arb_midref(c->base[lower]), ARF_RND_NEAR)) / c->spacing) - 1;
    arb_set_d(shrink, c->spacing);
    for (from = from < c->start ? c->start : from; from < c->start + size; from++) {
        arb_mul_si(gap, shrink, from, bits);
        arb_add(gap, gap, c->base[lower], bits);
        arb_set_d(sum, epsilon);
        arb_sub(gap, sum, gap, bits); /* epsilon - loss */
        if (arb_is_nonpositive(gap))
            break;
    }
    ulong terms = (ulong)(c->start + size - from);
    arb_mul_ui(shrunk, shrink, terms, bits);
    arb_neg(shrunk, shrunk);
    arb_exp(shrunk, shrunk, bits);
    arb_neg(shrink, shrink);
    arb_exp(shrink, shrink, bits);
    arb_exp(gap, gap, bits);
    arb_zero(sum);
    for (size_t i = 0; terms > 0 && i < c->kept; i++) {
        uint32_t f = c->frequency[i];
        weights(s, c, f, from, terms, gap, shrink, shrunk);
        acb_mul(s, s, c->powers[lower] + i, bits);
        if (f > 0 && (slong)f < size / 2) /* N - f is its conjugate */
            arb_mul_2exp_si(acb_realref(s), acb_realref(s), 1);
        arb_add(sum, sum, acb_realref(s), bits);
    }
    arb_mul_2exp_si(sum, sum, -c->depth);
    if (lower)
        arb_sub(sum, sum, c->outside[1], bits);
    else
        arb_add(sum, sum, c->outside[0], bits);
    struct interval out = ball_enclosure(sum);
    arb_clear(gap);
    arb_clear(shrink);
    arb_clear(shrunk);
    arb_clear(sum);
    acb_clear(s);
    return out;
}

struct search {
    const struct composed *composed;
    double delta;
};

static bool upper_holds(double epsilon, const void *arg)
{
    const struct search *s = arg;
    return delta_at(s->composed, false, epsilon).hi <= s->delta;
}

/* The lower law still exceeds delta below the value this finds. */
static bool lower_gone(double epsilon, const void *arg)
{
    const struct search *s = arg;
    return !(delta_at(s->composed, true, epsilon).lo > s->delta);
}

static struct interval epsilon_at(const struct composed *c, double delta, double high)
{
    const struct search s = {c, delta};
    struct interval out = {0, 0};
    if (!upper_holds(0, &s))
        out.hi = upper_holds(high, &s) ? bisect_up(0x1p-60 * high, high, upper_holds, &s) : INFINITY;
    if (!lower_gone(0, &s)) {
        double gone = lower_gone(high, &s) ? bisect_up(0x1p-60 * high, high, lower_gone, &s) : high;
        out.lo = gone * (1 - 0x1p-48);
        if (lower_gone(out.lo, &s))
            out.lo = 0;
    }
    return out;
}

static sotto_status one_direction(struct interval *out, struct ball_law *law, const struct ball_window *w,
                                  arb_srcptr p, arb_srcptr q, slong first, size_t length, double spacing,
                                  bool swapped, size_t count, double delta)
{
    sotto_status status = SOTTO_OK;
    struct composed c = {.bits = law->bits, .spacing = spacing};
    struct ball_pair pair = {.mass = NULL};
    TRY(ball_pair_make(&pair, p, q, first, length, spacing, swapped, law->bits));
    double size = (w->end - w->start) / spacing;
    while (c.depth < MOST_DEPTH && (double)((size_t)1 << c.depth) < size + 2)
        c.depth++;
    c.start = (slong)floor(w->start / spacing - (double)count * (double)pair.first);
    TRY(compose(&c, &pair, w, count, (slong)(45 + c.depth - log2(delta))));
    *out = epsilon_at(&c, delta, fmax(w->end, 1e-9));
done:
    if (c.frequency)
        composed_clear(&c);
    if (pair.mass)
        ball_pair_clear(&pair);
    return status;
}

static double choose_spacing(const struct ball_window w[2], double grid)
{
    double range = w[0].high - w[0].low, wide = fmax(w[0].end - w[0].start, w[1].end - w[1].start);
    double table = (double)((size_t)1 << MOST_DEPTH) - 4;
    double spacing = isnan(grid) ? fmin(1e-4, range / 4096) : grid;
    return fmax(spacing, fmax(range / (table / 2), wide / table));
}

/* Absolute accuracy that delta needs, plus what is lost: 1/h in the masses, the sums of the transform, the
 * power. */
static slong choose_bits(double delta, double count)
{
    double bits = 36 - log2(delta) + log2(count) + 2 * MOST_DEPTH + 14;
    return bits <= 128 ? 128 : 64 * (slong)ceil(bits / 64);
}

sotto_status ball_compose_epsilon(struct interval *epsilon, const struct ball_step *step, size_t count,
                                  double delta, double grid)
{
    sotto_status status = SOTTO_OK;
    struct ball_law law;
    struct ball_window w[2];
    struct interval each[2] = {{0, 0}, {0, 0}};
    size_t length = 0;
    arb_ptr p = NULL, q = NULL;
    ball_law_init(&law, step, choose_bits(delta, (double)count));
    int directions = step->sample_rate < 1 ? 2 : 1; /* symmetric noise: without sampling both are the same */
    for (int i = 0; i < directions; i++)
        TRY(ball_window_find(&w[i], &law, (double)count, ldexp(delta, -32), i));
    if (directions == 1)
        w[1] = w[0];
    double spacing = choose_spacing(w, grid);
    slong first = (slong)floor(w[0].low / spacing);
    length = (size_t)(ceil(w[0].high / spacing) - (double)first) + 2;
    p = ball_numbers(length);
    q = ball_numbers(length);
    if (!p || !q)
        FAIL(SOTTO_ENOMEM, "out of memory (a privacy-loss grid of %zu points)", length);
    ball_tails(p, q, &law, first, length, spacing);
    for (int i = 0; i < directions; i++)
        TRY(one_direction(&each[i], &law, &w[i], p, q, first, length, spacing, i, count, delta));
    *epsilon = iv_max(each[0], each[1]);
done:
    ball_numbers_free(p, length);
    ball_numbers_free(q, length);
    ball_law_clear(&law);
    return status;
}
