/* Renyi divergences of different releases together. Two steps of a group chain by Mironov (2017), corollary 4:
 *
 *     R_alpha(P, R) <= (alpha - 1/2)/(alpha - 1) R_(2 alpha)(P, Q) + R_(2 alpha - 1)(Q, R). */
#include "dp/account/account_pld.h"
#include "dp/account/event_part.h"
#include "dp/account/sampled_renyi.h"
#include "dp/mechanism/pure_pair.h"
#include "num/special.h"
#include "par/par.h"

struct total {
    const struct part *parts;
    size_t n;
    double delta;
    struct par_stop *stop;
};

enum { PARTS = 16 }; /* between two questions whether to go on */

/* Samples of a fixed size, docs/derivations/pld.md, 3.2: e^((alpha-1) R) <= 1 + k (A - 1), where A is that of
 * Poisson sampling with twice the shift, k = 2 where a scalar curve holds, else 4. */
static struct interval fixed_renyi(const struct part *p, double alpha)
{
    const struct sotto_sampled *s = &p->sampled;
    double more = scalar_curve_holds(p->m, s->clipping) ? 1 : 3, order = alpha - 1; /* k - 1 */
    struct interval one = sampled_renyi(p->m, s->noise_multiplier / 2, s->sample_rate, alpha);
    if (s->sample_rate == 1)
        return one;
    struct interval log_a = iv_scale(one, order), rest = iv_neg(iv_expm1(iv_neg(log_a)));
    return iv_div(iv_add(log_a, iv_log1p(iv_scale(rest, more))), iv(order));
}

static double fixed_near(const struct part *p, double alpha)
{
    const struct sotto_sampled *s = &p->sampled;
    double more = scalar_curve_holds(p->m, s->clipping) ? 1 : 3;
    double one = sampled_renyi_near(p->m, s->noise_multiplier / 2, s->sample_rate, alpha);
    return s->sample_rate == 1 ? one : one + log1p(-more * expm1(-one * (alpha - 1))) / (alpha - 1);
}

static struct interval chain_renyi(const struct part *p, double alpha, int doublings)
{
    if (!p->m->by_l2 && !p->m->renyi_ball)
        return (struct interval){0, INFINITY};
    if (doublings == 0 && p->sampled.sampling == SOTTO_SAMPLING_FIXED)
        return fixed_renyi(p, alpha);
    if (doublings == 0)
        return sampled_renyi(p->m, p->sampled.noise_multiplier, p->sampled.sample_rate, alpha);
    struct interval a = iv(alpha);
    struct interval factor = iv_div(iv_sub(a, iv(0.5)), iv_sub(a, iv(1)));
    return iv_add(iv_mul(factor, chain_renyi(p, 2 * alpha, doublings - 1)),
                  chain_renyi(p, 2 * alpha - 1, doublings - 1));
}

/* Of a person by all rows at once, or as a group. */
static struct interval part_renyi(const struct part *p, double alpha)
{
    if (p->kind == PART_STATED)
        return pure_pair_renyi(p->pure, alpha);
    if (p->kind == PART_NOISE)
        return account_renyi(p->m, &p->shifts, alpha);
    struct interval all = {0, INFINITY};
    if (p->rows > 1) {
        const struct part person = part_of_person(p);
        all = chain_renyi(&person, alpha, person.doublings);
    }
    return p->doublings < 0 ? all : iv_min(all, chain_renyi(p, alpha, p->doublings));
}

static double chain_near(const struct part *p, double alpha, int doublings)
{
    if (!p->m->by_l2 && !p->m->renyi_ball)
        return INFINITY;
    if (doublings == 0 && p->sampled.sampling == SOTTO_SAMPLING_FIXED)
        return fixed_near(p, alpha);
    if (doublings == 0)
        return sampled_renyi_near(p->m, p->sampled.noise_multiplier, p->sampled.sample_rate, alpha);
    return (alpha - 0.5) / (alpha - 1) * chain_near(p, 2 * alpha, doublings - 1) +
           chain_near(p, 2 * alpha - 1, doublings - 1);
}

static double part_near(const struct part *p, double alpha)
{
    if (p->kind != PART_SAMPLED)
        return part_renyi(p, alpha).hi;
    const struct part person = part_of_person(p);
    const double all = p->rows > 1 ? chain_near(&person, alpha, person.doublings) : INFINITY;
    return p->doublings < 0 ? all : fmin(all, chain_near(p, alpha, p->doublings));
}

static double near_epsilon(double alpha, const void *arg)
{
    const struct total *t = arg;
    double sum = 0;
    for (size_t i = 0; i < t->n && (i % PARTS || !par_stopped(t->stop)); i++)
        sum += t->parts[i].count * part_near(&t->parts[i], alpha);
    double epsilon = sum + log1p(-1 / alpha) - (log(t->delta) + log(alpha)) / (alpha - 1);
    return epsilon < 1e300 ? epsilon : 1e300 * alpha;
}

/* Doublings that orders must leave room for. */
static int doublings_of(const struct part *p, int least)
{
    const int own = p->doublings < 0 ? sampled_replaces(&p->sampled) : p->doublings;
    return own > least ? own : least;
}

double parts_renyi(const struct part *parts, size_t n, double delta, const struct sotto_context *ctx)
{
    struct par_stop stop;
    const struct total total = {parts, n, delta, &stop}, *t = &total;
    int doublings = -1;
    par_stop_set(&stop, ctx);
    for (size_t i = 0; i < t->n; i++)
        if (t->parts[i].kind == PART_SAMPLED)
            doublings = doublings_of(&t->parts[i], doublings);
    double highest = doublings < 0 ? 1e15 : ldexp(SAMPLED_RENYI_ORDERS, -doublings);
    double alpha = minimise_log(1 + 1e-7, highest, 1, near_epsilon, t);
    struct interval sum = iv(0);
    for (size_t i = 0; i < t->n && (i % PARTS || !par_stopped(t->stop)); i++)
        sum = iv_add(sum, iv_scale(part_renyi(&t->parts[i], alpha), t->parts[i].count));
    return renyi_to_epsilon(sum, alpha, t->delta).hi;
}

/* ---- from the best of a list of orders: Canonne, Kamath, Steinke (2020), proposition 12 ---- */

double part_renyi_orders(struct renyi_orders *out, const struct part *p, double delta,
                         const struct sotto_context *ctx)
{
    static const double first = 1e-2, ratio = 1.05; /* of orders - 1 */
    const int doublings = p->kind == PART_SAMPLED ? doublings_of(p, 0) : -1;
    const double highest = doublings < 0 ? 1e15 : ldexp(SAMPLED_RENYI_ORDERS, -doublings);
    double end = INFINITY, more = first;
    out->n = 0;
    for (; out->n < RENYI_ORDERS && more < highest && !context_stopped(ctx); more *= ratio) {
        const double alpha = 1 + more;
        const struct interval all = iv_scale(part_renyi(p, alpha), p->count);
        if (!(all.hi < INFINITY))
            break;
        out->alpha[out->n] = alpha;
        out->divergence[out->n++] = all;
        const double epsilon = renyi_to_epsilon(all, alpha, delta).hi;
        if (epsilon > end) /* smaller epsilons have their best orders before */
            break;
        end = epsilon;
    }
    return end;
}

void renyi_deltas(double *delta, const double *x, size_t n, const struct renyi_orders *orders)
{
    for (size_t i = 0; i < n; i++)
        delta[i] = 1;
    for (size_t k = 0; k < orders->n; k++) {
        const struct interval alpha = iv(orders->alpha[k]), less = iv_sub(alpha, iv(1)),
                              all = orders->divergence[k];
        /* delta = e^((a-1)(R - x)) (1 - 1/a)^a / (a - 1) */
        const struct interval rest =
            iv_sub(iv_mul(alpha, iv_log1p(iv_neg(iv_div(iv(1), alpha)))), iv_log(less));
        for (size_t i = 0; i < n; i++)
            delta[i] = fmin(delta[i], iv_exp(iv_add(iv_mul(less, iv_sub(all, iv(x[i]))), rest)).hi);
        /* at 0 the total variation, by Pinsker's inequality: at most sqrt(R / 2) */
        delta[0] = fmin(delta[0], iv_sqrt(iv_scale(all, 0.5)).hi);
    }
}
