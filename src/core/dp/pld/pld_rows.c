/* The rows of a person seen through Poisson sampling. Of M rows k are in a step with probability w_k = Bin(M, q)(k), and then the sum
 * moves by at most k t. With F the law of the noise, x = e^eps >= 1, and p, n weights of numbers of rows, every direction asks for
 *
 *   max_c  sum_i p_i F(c + i t) - x sum_j n_j F(c - j t),                                                                   (2)
 *
 * remove: p = w, n = 1 at 0; add: p = 1 at 0, n = w; replace: both are w. What stands at 0 on both sides is taken off first.
 * Below: any c. Above: let pi_ij and nu_ij share out p_i and x n_j among couples (i, j); then (2) is at most
 *
 *   sum_ij pi_ij delta_((i+j) t)(ln(nu_ij / pi_ij)),
 *
 * which is (2) if at its best c each couple has the same share of p_i f(c + i t) and of x n_j f(c - j t). Few couples do: those of a
 * walk from corner to corner. Rows that are close in number stand together. docs/derivations/person.md, section 3. */
#include "dp/pld/pld.h"

enum { MOST_COUPLES = 2 * ROWS_NODES };
static const double farthest = 700;          /* e^that is a double */
static const double least_weight = 0x1p-110; /* beside that of the commonest number */
static const double shares_round = 0x1p-44;  /* more than all roundings of the shares */

/* ---- weights ---- */

/* Of the binomial weights, relative to that of its mode, upwards and downwards from it. */
struct walk {
    double rows, at;              /* M, k */
    struct interval odds, weight; /* q / (1 - q) */
};

static struct interval walk_factor(const struct walk *w, bool up)
{
    return up ? iv_mul(iv_div(iv(w->rows - w->at), iv(w->at + 1)), w->odds)
              : iv_div(iv_div(iv(w->at), iv(w->rows - w->at + 1)), w->odds);
}

/* false: there is none, or it and all behind it weigh nearly nothing, *tail at most. */
static bool walk_on(struct walk *w, bool up, double *tail)
{
    if (up ? w->at >= w->rows : w->at <= 0)
        return false;
    const struct interval factor = walk_factor(w, up), next = iv_mul(w->weight, factor);
    if (next.hi < least_weight && factor.hi < 1) { /* factors fall further */
        *tail = iv_div(next, iv_sub(iv(1), iv(factor.hi))).hi;
        return false;
    }
    w->weight = next;
    w->at += up ? 1 : -1;
    return true;
}

struct sums {
    struct interval group[ROWS_NODES];
    double first, width, last; /* numbers of rows first .. last, so many a group, of which 0 is none */
    double low_tail, high_tail;
};

static size_t group_of(const struct sums *s, double rows)
{
    return (size_t)((rows - fmax(s->first, 1)) / s->width);
}

static void add_up(struct sums *s, struct interval *zero, struct walk w)
{
    double tail;
    for (int up = 1; up >= 0; up--) {
        struct walk at = w;
        if (!up && !walk_on(&at, false, &tail))
            break;
        do {
            struct interval *sum = at.at == 0 ? zero : &s->group[group_of(s, at.at)];
            *sum = iv_add(*sum, at.weight);
        } while (walk_on(&at, up, &tail));
    }
}

void pair_rows_make(struct pair_rows *out, const struct pair_sampled *one, size_t rows, bool above)
{
    const double M = (double)rows, q = one->rate, mode = fmin(M, floor((M + 1) * q));
    const struct walk start = {M, mode, iv_div(iv(q), iv_sub(iv(1), iv(q))), iv(1)};
    struct walk low = start, high = start;
    struct sums s = {.width = 1};
    struct interval zero = iv(0), all = iv(0);
    *out = (struct pair_rows){.of = *one, .above = above, .count = 1};
    if (q == 1) {
        out->rows[1] = M;
        out->weight[1] = out->some = iv(1);
        out->count = 2;
        return;
    }
    while (walk_on(&low, false, &s.low_tail))
        ;
    while (walk_on(&high, true, &s.high_tail))
        ;
    s.first = low.at;
    s.last = high.at;
    const double first = fmax(s.first, 1);
    s.width = ceil((s.last - first + 1) / (ROWS_NODES - 2));
    s.width = fmax(s.width, 1);
    add_up(&s, &zero, start);
    const size_t groups = s.last >= 1 ? group_of(&s, s.last) + 1 : 0;
    /* What is left out moves up above the pair, and down below it. */
    struct interval *const low_end = above && groups > 0 ? &s.group[0] : &zero;
    *low_end = iv_add(*low_end, (struct interval){0, s.low_tail});
    for (size_t g = 0; g < groups; g++) {
        const double begin = first + (double)g * s.width;
        out->rows[out->count] = above ? fmin(begin + s.width - 1, s.last) : begin;
        out->weight[out->count++] = s.group[g];
    }
    if (s.high_tail > 0) {
        if (above)
            out->rows[out->count++] = M;
        out->weight[out->count - 1] = iv_add(out->weight[out->count - 1], (struct interval){0, s.high_tail});
    }
    out->weight[0] = iv_add(out->weight[0], zero);
    for (size_t i = 1; i < out->count; i++)
        out->some = iv_add(out->some, out->weight[i]);
    all = iv_add(out->weight[0], out->some);
    for (size_t i = 0; i < out->count; i++)
        out->weight[i] = iv_div(out->weight[i], all);
    out->some = iv_div(out->some, all);
}

/* ---- the two sides of (2) ---- */

struct side {
    size_t count;
    double rows[ROWS_NODES];
    struct interval weight[ROWS_NODES]; /* x among those of the second */
    double log_weight[ROWS_NODES];
};
struct sides {
    const struct mechanism *m;
    double t;
    struct interval at_0; /* what both have at 0, and was taken off */
    struct side first, second;
};

/* `counts`: the end of the weight by which it stands there. Above the pair, what may weigh nothing is left out of the second side. */
static void side_put(struct side *s, double rows, struct interval weight, double counts)
{
    if (!(counts > 0))
        return;
    s->rows[s->count] = rows;
    s->log_weight[s->count] = log(counts);
    s->weight[s->count++] = weight;
}

/* Is the mixture on that side? Else the rows are not there. */
static void make_sides(struct sides *s, const struct pair_rows *p, bool first, bool second, double epsilon)
{
    const struct interval x = iv_exp(iv(epsilon)), more = iv_expm1(iv(epsilon)), none = p->weight[0];
    /* of x n_0 - p_0, without cancellation where it is small */
    const struct interval rest = first && second ? iv_mul(none, more)
                                 : first         ? iv_add(more, p->some)
                                                 : iv_sub(iv_mul(none, more), p->some);
    s->m = p->of.mechanism;
    s->t = p->of.shift;
    s->first.count = s->second.count = 0;
    s->at_0 = iv_min(first ? none : iv(1), iv_mul(x, second ? none : iv(1)));
    const struct interval more_first = iv_max(iv_neg(rest), iv(0)), more_second = iv_max(rest, iv(0));
    side_put(&s->first, 0, more_first, more_first.hi);
    side_put(&s->second, 0, more_second, p->above ? more_second.lo : more_second.hi);
    for (size_t i = 1; i < p->count; i++) {
        const struct interval w = p->weight[i], times_x = iv_mul(x, w);
        if (first)
            side_put(&s->first, p->rows[i], w, w.hi);
        if (second)
            side_put(&s->second, p->rows[i], times_x, p->above ? times_x.lo : times_x.hi);
    }
}

/* Logarithms of the densities at the threshold and of their sum. */
static double log_densities(double *out, const struct sides *s, const struct side *of, double c, double sign)
{
    double most = -INFINITY, sum = 0;
    for (size_t i = 0; i < of->count; i++) {
        out[i] = of->log_weight[i] + s->m->log_density(c + sign * of->rows[i] * s->t);
        most = fmax(most, out[i]);
    }
    for (size_t i = 0; i < of->count; i++)
        sum += exp(out[i] - most);
    return most + log(sum);
}

/* Falls with c. */
static double side_imbalance(const struct sides *s, double c)
{
    double terms[ROWS_NODES];
    return log_densities(terms, s, &s->first, c, 1) - log_densities(terms, s, &s->second, c, -1);
}

static double most_rows(const struct sides *s)
{
    return fmax(s->first.rows[s->first.count - 1], s->second.rows[s->second.count - 1]);
}

/* Near the best threshold, which no bound rests on. */
static double find_threshold(const struct sides *s, double near)
{
    const double end = most_rows(s) * s->t + 45 * (s->m->pure ? 16 : 1);
    double low = fmin(fmax(near, -end), end), high = low, step = 0.125, at_low = side_imbalance(s, low),
           at_high = at_low;
    for (; at_low < 0 && low > -end; step *= 4) {
        high = low;
        at_high = at_low;
        low = fmax(low - step, -end);
        at_low = side_imbalance(s, low);
    }
    for (step = 0.125; at_high > 0 && high < end; step *= 4) {
        low = high;
        at_low = at_high;
        high = fmin(high + step, end);
        at_high = side_imbalance(s, high);
    }
    if (!(at_low > 0))
        return low;
    if (!(at_high < 0))
        return high;
    double c = low;
    for (int i = 0, kept = 0; i < 100 && high - low > 1e-15 * fmax(1, fabs(low)); i++) { /* Illinois */
        c = (low * at_high - high * at_low) / (at_high - at_low);
        if (!(c > low && c < high))
            c = low + (high - low) / 2;
        const double at = side_imbalance(s, c);
        if (fabs(at) < 1e-13)
            break;
        if (at > 0) {
            low = c;
            at_low = at;
            at_high = kept > 0 ? at_high / 2 : at_high;
            kept = 1;
        } else {
            high = c;
            at_high = at;
            at_low = kept < 0 ? at_low / 2 : at_low;
            kept = -1;
        }
    }
    return c;
}

/* ---- above ---- */

/* Shares of what stands at the threshold, from a corner of the table of couples to the other one. */
struct couples {
    size_t count;
    struct {
        size_t first, second;
        double share;
    } of[MOST_COUPLES];
    double first_sum[ROWS_NODES], second_sum[ROWS_NODES];
};

static void add_couple(struct couples *c, size_t first, size_t second, double share)
{
    c->of[c->count].first = first;
    c->of[c->count].second = second;
    c->of[c->count++].share = share;
    c->first_sum[first] += share;
    c->second_sum[second] += share;
}

/* All is shared out, but for roundings. Shares rise to a middle and fall again, so there is a walk from each end to the middle: what is
 * left of a share is then rounded no more coarsely than the share. */
static void make_couples(struct couples *c, const struct sides *s, double threshold)
{
    const double least = 1e-300;
    double a[ROWS_NODES], b[ROWS_NODES], shared = 0;
    const double all_a = log_densities(a, s, &s->first, threshold, 1),
                 all_b = log_densities(b, s, &s->second, threshold, -1);
    size_t i = 0, j = 0, last_i = s->first.count - 1, last_j = s->second.count - 1;
    *c = (struct couples){0};
    for (size_t k = 0; k <= last_i; k++)
        a[k] = fmax(exp(a[k] - all_a), least);
    for (size_t k = 0; k <= last_j; k++)
        b[k] = fmax(exp(b[k] - all_b), least);
    while (shared < 0.5 && (i < last_i || j < last_j)) {
        const bool up = j == last_j || (i < last_i && a[i] < b[j]);
        const double share = up ? a[i] : b[j];
        add_couple(c, i, j, share);
        shared += share;
        a[i] = fmax(a[i] - share, least);
        b[j] = fmax(b[j] - share, least);
        i += up;
        j += !up;
    }
    while (last_i > i || last_j > j) {
        const bool down = last_j == j || (last_i > i && a[last_i] < b[last_j]);
        const double share = down ? a[last_i] : b[last_j];
        add_couple(c, last_i, last_j, share);
        a[last_i] = fmax(a[last_i] - share, least);
        b[last_j] = fmax(b[last_j] - share, least);
        last_i -= down;
        last_j -= !down;
    }
    add_couple(c, i, j, fmin(a[i], b[j]));
}

static double most_by_couples(const struct sides *s, double threshold)
{
    struct couples couples;
    struct interval sum = iv(0);
    make_couples(&couples, s, threshold);
    for (size_t k = 0; k < couples.count; k++) {
        const size_t i = couples.of[k].first, j = couples.of[k].second;
        const struct interval share = iv(couples.of[k].share), p = iv(s->first.weight[i].hi),
                              n = iv(s->second.weight[j].lo),
                              of = iv_mul(p, iv_div(share, iv(couples.first_sum[i])));
        struct interval y = iv_sub(iv_log(n), iv_log(p));
        y = iv_add(y, iv_log(iv_div(iv(couples.first_sum[i]), iv(couples.second_sum[j]))));
        const double rows = s->first.rows[i] + s->second.rows[j];
        const struct tails t = pair_tails_at(s->m, iv_scale(iv(s->t), rows).hi, y.lo - 2 * shares_round);
        sum = iv_add(sum, iv_scale(iv_mul(of, t.delta), 1 + shares_round));
    }
    return sum.hi;
}

/* ---- below ---- */

static struct interval side_probability(const struct sides *s, const struct side *of, double threshold,
                                        double sign)
{
    struct interval sum = iv(0);
    for (size_t i = 0; i < of->count; i++)
        sum = iv_add(sum, iv_mul(of->weight[i],
                                 s->m->below(iv_add(iv(threshold), iv_scale(iv(s->t), sign * of->rows[i])))));
    return sum;
}

/* ---- points ---- */

static struct pair_point rows_point(const struct pair_rows *p, double epsilon, double *threshold)
{
    const bool replace = p->of.direction == PLD_REPLACE, turned = epsilon < 0;
    const bool first = replace || (p->of.direction == PLD_REMOVE) != turned, second = replace || !first;
    const struct interval x = iv_exp(iv(epsilon));
    struct sides s;
    struct interval value = {0, 0}, slope = {0, 0};
    make_sides(&s, p, first, second, fmin(fabs(epsilon), farthest));
    if (s.first.count == 0 ||
        s.second.count == 0) { /* no event tells more, or none less, than everything does */
        for (size_t i = 0; i < s.first.count && p->above; i++)
            value = iv_add(value, iv(s.first.weight[i].hi));
        return (struct pair_point){turned ? iv_mul(x, value) : value, slope};
    }
    *threshold = find_threshold(&s, *threshold);
    if (p->above) {
        value = iv(fmin(most_by_couples(&s, *threshold), 1)); /* its upper end alone holds */
    } else {
        const struct interval P = side_probability(&s, &s.first, *threshold, 1),
                              Q = side_probability(&s, &s.second, *threshold, -1);
        value = (struct interval){fabs(epsilon) > farthest ? 0 : fmax(iv_sub(P, Q).lo, 0), 1};
        slope = iv_add(turned ? P : Q, iv_mul(s.at_0, s.m->below(iv(*threshold))));
    }
    return turned ? (struct pair_point){iv_mul(x, value), iv_mul(x, slope)}
                  : (struct pair_point){value, slope};
}

static void rows_points(struct pair_point *out, const void *arg, const double *epsilon, size_t n)
{
    double threshold = 0;
    for (size_t i = 0; i < n; i++)
        out[i] = rows_point(arg, epsilon[i], &threshold);
}

struct pair pair_of_rows(const struct pair_rows *arg)
{
    return (struct pair){rows_points, arg};
}
