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

static struct interval part_renyi(const struct part *p, double alpha, int doublings)
{
    if (p->kind == PART_STATED)
        return pure_pair_renyi(p->pure, alpha);
    if (p->kind == PART_NOISE)
        return account_renyi(p->m, &p->shifts, alpha);
    if (!p->m->by_l2 && !p->m->renyi_ball)
        return (struct interval){0, INFINITY};
    if (doublings == 0 && p->sampled.sampling == SOTTO_SAMPLING_FIXED)
        return fixed_renyi(p, alpha);
    if (doublings == 0)
        return sampled_renyi(p->m, p->sampled.noise_multiplier, p->sampled.sample_rate, alpha);
    struct interval a = iv(alpha);
    struct interval factor = iv_div(iv_sub(a, iv(0.5)), iv_sub(a, iv(1)));
    return iv_add(iv_mul(factor, part_renyi(p, 2 * alpha, doublings - 1)),
                  part_renyi(p, 2 * alpha - 1, doublings - 1));
}

static double part_near(const struct part *p, double alpha, int doublings)
{
    if (p->kind != PART_SAMPLED)
        return part_renyi(p, alpha, 0).hi;
    if (!p->m->by_l2 && !p->m->renyi_ball)
        return INFINITY;
    if (doublings == 0 && p->sampled.sampling == SOTTO_SAMPLING_FIXED)
        return fixed_near(p, alpha);
    if (doublings == 0)
        return sampled_renyi_near(p->m, p->sampled.noise_multiplier, p->sampled.sample_rate, alpha);
    return (alpha - 0.5) / (alpha - 1) * part_near(p, 2 * alpha, doublings - 1) +
           part_near(p, 2 * alpha - 1, doublings - 1);
}

static double near_epsilon(double alpha, const void *arg)
{
    const struct total *t = arg;
    double sum = 0;
    for (size_t i = 0; i < t->n && (i % PARTS || !par_stopped(t->stop)); i++)
        sum += t->parts[i].count * part_near(&t->parts[i], alpha, t->parts[i].doublings);
    double epsilon = sum + log1p(-1 / alpha) - (log(t->delta) + log(alpha)) / (alpha - 1);
    return epsilon < 1e300 ? epsilon : 1e300 * alpha;
}

double parts_renyi(const struct part *parts, size_t n, double delta, const struct sotto_context *ctx)
{
    struct par_stop stop;
    const struct total total = {parts, n, delta, &stop}, *t = &total;
    int doublings = -1;
    par_stop_set(&stop, ctx);
    for (size_t i = 0; i < t->n; i++)
        if (t->parts[i].kind == PART_SAMPLED && t->parts[i].doublings > doublings)
            doublings = t->parts[i].doublings;
    double highest = doublings < 0 ? 1e15 : ldexp(SAMPLED_RENYI_ORDERS, -doublings);
    double alpha = minimise_log(1 + 1e-7, highest, 1, near_epsilon, t);
    struct interval sum = iv(0);
    for (size_t i = 0; i < t->n && (i % PARTS || !par_stopped(t->stop)); i++)
        sum =
            iv_add(sum, iv_scale(part_renyi(&t->parts[i], alpha, t->parts[i].doublings), t->parts[i].count));
    return renyi_to_epsilon(sum, alpha, t->delta).hi;
}
