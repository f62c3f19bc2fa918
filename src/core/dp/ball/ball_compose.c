/* k-fold composition of a pair of discrete laws. Losses on a grid add as indices, so the k-fold law is a
 * k-fold cyclic convolution of length N = 2^depth: transform once (upper and lower law as real and imaginary
 * part), raise to the power k. The result is never transformed back: with C_f the powers and S_f the
 * transform of the weights (1 - e^(epsilon - loss))+, a geometric series,
 *
 *     delta(epsilon) = (1/N) sum_f C_f S_f,
 *
 * and after many steps nearly all C_f are too small to matter, which their balls show.
 *
 * The table holds losses of index A .. A+N-1. What lies outside (bounded by Chernoff, in balls) is folded
 * onto some place inside: the upper law adds the part above to delta, the lower law subtracts all of it. */
#include "dp/ball/ball_window.h"
#include "num/special.h"

#include <limits.h>

/* SPARE_BITS: what is left out may change delta by 2^-SPARE_BITS of it */
enum { MOST_DEPTH = 18, SPARE_BITS = 32 };
static const size_t MOST_STEPS = (size_t)1 << 32; /* indices stay exact in doubles */

struct composed {
    slong bits;
    int depth;
    slong start[2]; /* A, of upper and lower */
    double spacing;
    arb_t base[2];    /* loss of index 0, of upper and lower */
    arb_t outside[2]; /* see above, and the frequencies left out */
    /* either: frequencies 0 <= f <= N/2 that matter */
    size_t kept;
    uint32_t *frequency;
    acb_ptr powers[2];
    /* or: sums over indices A+j and above of the masses, and of the masses times e^(-h j) */
    arb_ptr above[2], weighted[2];
};

static size_t remainder_of(slong i, size_t n)
{
    slong r = i % (slong)n;
    return (size_t)(r < 0 ? r + (slong)n : r);
}

static size_t ball_compose_reversed(size_t f, int depth)
{
    size_t r = 0;
    for (int i = 0; i < depth; i++)
        r |= ((f >> i) & 1) << (depth - 1 - i);
    return r;
}

/* Mass of the composition at indices >= from (sign 1) or <= from (sign -1): M(t)^k e^(-t h from). */
static void ball_compose_outside(arb_t out, const struct ball_pair *pair, bool lower, size_t count,
                                 double tilt, int sign, double from)
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
        ball_compose_outside(c->outside[lower], pair, lower, count, w->tilt_right, 1,
                             (double)c->start[lower] + size);
        if (lower) {
            ball_compose_outside(left, pair, true, count, w->tilt_left, -1, (double)c->start[1] - 1);
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
static void ball_compose_unpack(acb_t upper, acb_t lower, acb_srcptr v, size_t f, const struct composed *c)
{
    size_t n = (size_t)1 << c->depth;
    acb_srcptr here = v + ball_compose_reversed(f, c->depth),
               there = v + ball_compose_reversed((n - f) % n, c->depth);
    acb_conj(upper, there);
    acb_sub(lower, here, upper, c->bits);
    acb_add(upper, here, upper, c->bits);
    acb_mul_2exp_si(upper, upper, -1);
    acb_mul_2exp_si(lower, lower, -1);
    acb_div_onei(lower, lower);
}

/* |z|^k > 2^-quiet, as far as the ball knows. */
static bool ball_compose_matters(const acb_t z, size_t count, slong quiet)
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
        ball_numbers_free(c->above[i], ((size_t)1 << c->depth) + 1);
        ball_numbers_free(c->weighted[i], ((size_t)1 << c->depth) + 1);
        arb_clear(c->base[i]);
        arb_clear(c->outside[i]);
    }
    ball_give(c->frequency);
}

/* Few frequencies: keep their powers. */
static void keep_powers(struct composed *c, acb_srcptr v, size_t count)
{
    for (int i = 0; i < 2; i++)
        c->powers[i] = ball_complexes(c->kept);
    for (size_t i = 0; i < c->kept; i++) {
        ball_compose_unpack(c->powers[0] + i, c->powers[1] + i, v, c->frequency[i], c);
        acb_pow_ui(c->powers[0] + i, c->powers[0] + i, count, c->bits);
        acb_pow_ui(c->powers[1] + i, c->powers[1] + i, count, c->bits);
    }
}

/* Many: powers in place, both laws packed again. */
static void raise_all(struct composed *c, acb_ptr v, size_t count)
{
    size_t n = (size_t)1 << c->depth, next = 0;
    acb_t upper, lower;
    acb_init(upper);
    acb_init(lower);
    for (size_t f = 0; f <= n / 2; f++) {
        acb_ptr here = v + ball_compose_reversed(f, c->depth),
                there = v + ball_compose_reversed((n - f) % n, c->depth);
        ball_compose_unpack(upper, lower, v, f, c);
        if (next < c->kept && c->frequency[next] == f) {
            next++;
            acb_pow_ui(upper, upper, count, c->bits);
            acb_pow_ui(lower, lower, count, c->bits);
        } else {
            acb_zero(upper);
            acb_zero(lower);
        }
        acb_mul_onei(lower, lower);
        acb_add(here, upper, lower, c->bits);
        if (here != there) { /* conj(upper) + i conj(lower) = conj(upper - i lower) */
            acb_sub(there, upper, lower, c->bits);
            acb_conj(there, there);
        }
    }
    acb_clear(upper);
    acb_clear(lower);
}

static void sum_masses(struct composed *c, acb_ptr v, size_t count)
{
    size_t n = (size_t)1 << c->depth;
    arb_t weight, step;
    arb_init(weight);
    arb_init(step);
    raise_all(c, v, count);
    ball_transform(v, c->depth, true, c->bits);
    for (int i = 0; i < 2; i++) {
        c->above[i] = ball_numbers(n + 1);
        c->weighted[i] = ball_numbers(n + 1);
    }
    arb_set_d(step, c->spacing);
    arb_mul_ui(weight, step, n, c->bits);
    arb_neg(weight, weight);
    arb_exp(weight, weight, c->bits);
    arb_exp(step, step, c->bits);
    for (size_t j = n; j-- > 0;) {
        arb_mul(weight, weight, step, c->bits);
        for (int i = 0; i < 2; i++) {
            acb_srcptr mass = v + remainder_of(c->start[i] + (slong)j, n);
            arb_srcptr part = i ? acb_imagref(mass) : acb_realref(mass);
            arb_add(c->above[i] + j, c->above[i] + j + 1, part, c->bits);
            arb_set(c->weighted[i] + j, c->weighted[i] + j + 1);
            arb_addmul(c->weighted[i] + j, part, weight, c->bits);
        }
    }
    arb_clear(weight);
    arb_clear(step);
}

/* Frequencies with |C_f| <= 2^-quiet are left out: all of them together change delta by at most 2^-quiet N,
 * since |S_f| <= N. */
static void ball_compose_pair(struct composed *c, const struct ball_pair *pair, const struct ball_window *w,
                              size_t count, slong quiet)
{
    size_t n = (size_t)1 << c->depth;
    acb_t upper, lower;
    arb_t left_out;
    acb_ptr v = ball_complexes(n);
    for (int i = 0; i < 2; i++) {
        arb_init(c->base[i]);
        arb_init(c->outside[i]);
    }
    acb_init(upper);
    acb_init(lower);
    arb_init(left_out);
    c->frequency = ball_take((n / 2 + 1) * sizeof *c->frequency);
    for (size_t i = 0; i < pair->length; i++)
        acb_add(v + i % n, v + i % n, pair->mass + i, c->bits);
    ball_transform(v, c->depth, false, c->bits);
    for (size_t f = 0; f <= n / 2; f++) {
        ball_compose_unpack(upper, lower, v, f, c);
        if (ball_compose_matters(upper, count, quiet) || ball_compose_matters(lower, count, quiet))
            c->frequency[c->kept++] = (uint32_t)f;
    }
    /* delta is evaluated some 60 times: 60 sums over the kept frequencies against one more transform */
    if (c->kept <= n / 64)
        keep_powers(c, v, count);
    else
        sum_masses(c, v, count);
    bound_outside(c, pair, w, count);
    arb_one(left_out);
    arb_mul_2exp_si(left_out, left_out, c->depth - quiet);
    for (int i = 0; i < 2; i++)
        arb_add(c->outside[i], c->outside[i], left_out, c->bits);
    acb_clear(upper);
    acb_clear(lower);
    arb_clear(left_out);
    ball_complexes_free(v, n);
}

/* sum over j = from .. A+N-1 of (1 - gap e^(-h (j-from))) zeta^j, zeta = e^(-2 pi i f / N): two geometric
 * series, each (1 - last) / (1 - ratio). */
static void ball_compose_weights(acb_t out, const struct composed *c, uint32_t f, slong from, ulong terms,
                                 const arb_t gap, const arb_t shrink, const arb_t shrunk)
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
    arb_set_si(angle, -2 * (slong)((ulong)f * remainder_of(from, (size_t)n) % (ulong)n));
    arb_mul_2exp_si(angle, angle, -c->depth);
    arb_sin_cos_pi(acb_imagref(last), acb_realref(last), angle, bits);
    acb_mul(out, out, last, bits);
    acb_clear(zeta);
    acb_clear(last);
    acb_clear(part);
    arb_clear(angle);
}

/* First index with a loss of epsilon or more, within the table (its end: none); epsilon - loss there. */
static slong first_above(arb_t gap, const struct composed *c, bool lower, double epsilon)
{
    slong begin = c->start[lower], end = begin + ((slong)1 << c->depth);
    arb_t loss;
    arb_init(loss);
    /* start before it by more than this estimate can be off: leaving out terms would not be an upper bound */
    double base = arf_get_d(arb_midref(c->base[lower]), ARF_RND_NEAR) / c->spacing,
           near = epsilon / c->spacing - base;
    double early = floor(near - 2 - (fabs(near) + fabs(base)) * 0x1p-49);
    slong from = (slong)fmin(fmax(early, (double)begin), (double)end);
    for (; from < end; from++) {
        arb_set_d(loss, c->spacing);
        arb_mul_si(loss, loss, from, c->bits);
        arb_add(loss, loss, c->base[lower], c->bits);
        arb_set_d(gap, epsilon);
        arb_sub(gap, gap, loss, c->bits);
        if (arb_is_nonpositive(gap))
            break;
    }
    arb_clear(loss);
    return from;
}

static void sum_frequencies(arb_t sum, const struct composed *c, bool lower, slong from, const arb_t gap)
{
    slong bits = c->bits, size = (slong)1 << c->depth;
    ulong terms = (ulong)(c->start[lower] + size - from);
    arb_t shrink, shrunk;
    acb_t s;
    arb_init(shrink);
    arb_init(shrunk);
    acb_init(s);
    arb_set_d(shrink, -c->spacing);
    arb_mul_ui(shrunk, shrink, terms, bits);
    arb_exp(shrunk, shrunk, bits);
    arb_exp(shrink, shrink, bits);
    arb_zero(sum);
    for (size_t i = 0; terms > 0 && i < c->kept; i++) {
        uint32_t f = c->frequency[i];
        ball_compose_weights(s, c, f, from, terms, gap, shrink, shrunk);
        acb_mul(s, s, c->powers[lower] + i, bits);
        if (f > 0 && (slong)f < size / 2) /* N - f is its conjugate */
            arb_mul_2exp_si(acb_realref(s), acb_realref(s), 1);
        arb_add(sum, sum, acb_realref(s), bits);
    }
    arb_mul_2exp_si(sum, sum, -c->depth);
    arb_clear(shrink);
    arb_clear(shrunk);
    acb_clear(s);
}

/* delta of the upper (lower) law at epsilon, what is outside included: a bound in that direction. */
static struct interval delta_at(const struct composed *c, bool lower, double epsilon)
{
    arb_t gap, sum;
    arb_init(gap);
    arb_init(sum);
    slong from = first_above(gap, c, lower, epsilon), j = from - c->start[lower];
    if (c->above[0]) { /* epsilon - loss at A+j, seen from A: add h j */
        arb_set_d(sum, c->spacing);
        arb_mul_si(sum, sum, j, c->bits);
        arb_add(gap, gap, sum, c->bits);
        arb_exp(gap, gap, c->bits);
        arb_set(sum, c->above[lower] + j);
        arb_submul(sum, gap, c->weighted[lower] + j, c->bits);
    } else {
        arb_exp(gap, gap, c->bits);
        sum_frequencies(sum, c, lower, from, gap);
    }
    if (lower)
        arb_sub(sum, sum, c->outside[1], c->bits);
    else
        arb_add(sum, sum, c->outside[0], c->bits);
    struct interval out = ball_enclosure(sum);
    arb_clear(gap);
    arb_clear(sum);
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
        double below = gone * (1 - 0x1p-48);
        out.lo = lower_gone(below, &s) ? 0 : below;
    }
    return out;
}

struct task {
    struct interval epsilon;
    const struct ball_step *step;
    size_t count;
    double delta, grid;
};

static struct interval one_direction(const struct task *t, struct ball_law *law, arb_srcptr p, arb_srcptr q,
                                     slong first, size_t length, double spacing, bool swapped)
{
    struct composed c = {.bits = law->bits, .spacing = spacing};
    struct ball_pair pair;
    struct ball_window w;
    ball_pair_make(&pair, p, q, first, length, spacing, swapped, law);
    ball_window_of(&w, &pair, (double)t->count, ldexp(t->delta, -SPARE_BITS));
    while (c.depth < MOST_DEPTH && (double)((size_t)1 << c.depth) < (w.end - w.start) / spacing + 4)
        c.depth++;
    for (int lower = 0; lower < 2; lower++)
        c.start[lower] =
            (slong)floor(w.start / spacing - (double)t->count * ((double)pair.first + 0.5 * lower)) - 1;
    ball_compose_pair(&c, &pair, &w, t->count, (slong)(SPARE_BITS + 8 + c.depth - log2(t->delta)));
    struct interval out = epsilon_at(&c, t->delta, fmax(w.end, 1e-9));
    composed_clear(&c);
    ball_pair_clear(&pair);
    return out;
}

/* Laplace losses have atoms at +-t: there a midpoint between two grid points must lie, just inside, or the
 * lower law would lose half a step of them. */
static double choose_spacing(struct ball_range r, double wide, const struct ball_step *step, double grid)
{
    double range = r.high - r.low;
    double table = (double)((size_t)1 << MOST_DEPTH) - 8;
    double spacing = isnan(grid) ? fmin(1e-4, range / 4096) : grid;
    spacing = fmax(spacing, fmax(range / (table / 2), wide / table));
    double t = step->shift / step->scale;
    if (step->noise == BALL_LAPLACE && step->sample_rate == 1 && t > spacing)
        spacing = t / (floor(t / spacing - 0.5) + 0.5) * (1 - 0x1p-50);
    return spacing;
}

/* Absolute accuracy that delta needs, plus what is lost: 1/h in the masses, the sums of the transform, the
 * power. */
static slong choose_bits(double delta, double count)
{
    double bits = 36 - log2(delta) + log2(count) + 2 * MOST_DEPTH + 14;
    return bits <= 128 ? 128 : 64 * (slong)ceil(bits / 64);
}

static sotto_status grid_epsilon(void *arg)
{
    sotto_status status = SOTTO_OK;
    struct task *t = arg;
    struct ball_law law;
    struct ball_range range;
    struct ball_window w;
    double wide = 0;
    ball_law_init(&law, t->step, choose_bits(t->delta, (double)t->count));
    /* symmetric noise: both are the same unless records come and go with a sample */
    int directions = t->step->sample_rate < 1 && !t->step->replaced ? 2 : 1;
    for (int i = 0; i < directions; i++) {
        TRY(ball_window_find(&range, &w, &law, (double)t->count, ldexp(t->delta, -SPARE_BITS), i));
        wide = fmax(wide, w.end - w.start);
    }
    double spacing = choose_spacing(range, wide, t->step, t->grid);
    slong first = (slong)floor(range.low / spacing);
    size_t length = (size_t)(ceil(range.high / spacing) - (double)first) + 2;
    arb_ptr p = ball_numbers(length), q = ball_numbers(length);
    ball_tails(p, q, &law, first, length, spacing);
    for (int i = 0; i < directions; i++)
        t->epsilon = iv_max(t->epsilon, one_direction(t, &law, p, q, first, length, spacing, i));
    ball_numbers_free(p, length);
    ball_numbers_free(q, length);
done:
    ball_law_clear(&law);
    return status;
}

sotto_status ball_compose_epsilon(struct interval *epsilon, const struct ball_step *step, size_t count,
                                  double delta, double grid)
{
    sotto_status status = SOTTO_OK;
    struct task task = {{0, 0}, step, count, delta, grid};
    if (count > MOST_STEPS)
        FAIL(SOTTO_EDOMAIN, "%zu steps are too many for a privacy-loss grid; expected at most 2^32", count);
    TRY(ball_run(grid_epsilon, &task, NULL));
    *epsilon = task.epsilon;
done:
    return status;
}
