/* Renyi divergence of one Poisson-sampled step, A = E_Q[((1-q) + q P/Q)^alpha], R = ln A / (alpha - 1).
 *
 * Integer alpha >= 2: A = sum_k C(alpha, k) (1-q)^(alpha-k) q^k exp(k (k-1) / (d m^2)), all terms positive,
 * with d = 2 for the Gaussian (Mironov, Talwar, Zhang 2019, section 3.3) and d = 6 for logistic noise
 * (docs/derivations/logistic.md, section 8).
 *
 * Other alpha > 1, Gaussian: the binomial series on both sides of z0 = 1/2 + sigma^2 ln(1/q - 1), where both
 * parts of the mixture are equal (section 3.3 there). Its terms alternate once i > alpha, and their sizes are
 * moments of a positive measure on [0, 1]: |C(alpha, i)| is a multiple of the integral of u^(i-alpha-1)
 * (1-u)^alpha, and the rest is x^i under a positive law of x <= 1. So the tail is summed by the weights of
 * Cohen, Rodriguez Villegas and Zagier (2000, proposition 1): the error is at most the first term over
 * d = T_20(3) = 1.02e15: every order converges, with a proved remainder.
 * With the Mills ratio M and phi the normal density, a term is C(alpha, i) times (1-q)^alpha phi(z0 / sigma)
 * times M(distance to z0): nothing overflows before the sum itself does.
 *
 * Other alpha, logistic: ln A is convex in alpha (Hoelder) and 0 at 1, so the chord between the neighbouring
 * integers lies above it.
 *
 * The other adjacency direction is no larger (theorem 5 there). */
#include "dp/account/sampled_renyi.h"

#include "dp/account/accountant.h"
#include "num/special.h"

enum { WEIGHTS = 20, LARGE = 500 /* ln A near the limit of doubles: scale the sum */ };

/* Numerators of the weights; over `whole` they fall from 1 to 0. tests/known recompute them. */
static const double weights[WEIGHTS] = {
    1023286908188736, 1023286908187936, 1023286908081536, 1023286902463616, 1023286745563136,
    1023284067794944, 1023253638610944, 1023010205138944, 1021586119327744, 1015331311058944,
    994328323293184,  939775108317184,  829482738909184,  655729836949504,  443365178998784,
    244181775679488,  103628970917888,  31473520345088,   6047313952768,    549755813888};
static const double whole = 1023286908188737;

/* q up to here: A - 1 is summed instead of A, because it is tiny; the binomial series of 1 converges. */
static const double small_rate = 0.25;

/* --- plain doubles, to aim the search ------------------------------------------------------------------- */

struct law { /* of one step */
    bool fractional;
    double q, variance; /* of the Gaussian that bounds it, in units of the clipping norm */
};

static double near_integer(const struct law *l, int alpha)
{
    double log_choose = 0, log_odds = log(l->q) - log1p(-l->q), rest = alpha * log1p(-l->q), peak = 0,
           sum = 0;
    for (int k = 2; k <= alpha; k++) {
        log_choose += log((alpha - k + 1.0) * (k == 2 ? alpha : 1) / k);
        double gain = k * (k - 1.0) / (2 * l->variance), weight = rest + log_choose + k * log_odds;
        if (weight + gain - peak > 600) { /* keep the sum in range */
            sum *= exp(peak - weight - gain);
            peak = weight + gain;
        }
        sum += gain < 30 ? exp(weight - peak) * expm1(gain) : exp(weight + gain - peak);
    }
    return peak > 0 ? peak + log(sum) : log1p(sum);
}

static double near_mills(double x)
{
    double y = 1 / (x * x);
    return x < 12 ? 1.2533141373155003 * erfc(x * 0.7071067811865476) * exp(x * x / 2)
                  : (1 - y * (1 - 3 * y * (1 - 5 * y * (1 - 7 * y)))) / x;
}

/* `power` is the logarithm of what the normal distribution function of x multiplies, base + ... */
static double near_part(double x, double power, double base)
{
    return x >= 0 ? exp(power) - exp(base) * near_mills(x) : exp(base) * near_mills(-x);
}

static double near_fractional(const struct law *l, double alpha)
{
    double log_q = log(l->q), log_rest = log1p(-l->q), sigma = sqrt(l->variance);
    double z0 = 0.5 + l->variance * (log_rest - log_q);
    double base = alpha * log_rest - z0 * z0 / (2 * l->variance) - 0.9189385332046727, choose = 1, sum = 0;
    int direct = (int)floor(alpha) + 1;
    for (int i = 0; i < direct + WEIGHTS; i++) {
        double j = alpha - i, gain = i * (i - 1.0) / (2 * l->variance), x = (z0 - i) / sigma;
        double weight = j * log_rest + i * log_q, term;
        if (l->q > small_rate)
            term = near_part(x, weight + gain, base);
        else if (x >= 0 && gain < 30)
            term = exp(weight) * expm1(gain) - exp(base) * near_mills(x);
        else
            term = near_part(x, weight + gain, base) - exp(weight);
        term += near_part((j - z0) / sigma, i * log_rest + j * log_q + j * (j - 1) / (2 * l->variance), base);
        sum += choose * term * (i < direct ? 1 : weights[i - direct] / whole);
        choose *= j / (i + 1);
    }
    return l->q > small_rate ? log(sum) : log1p(sum);
}

/* The chord between whole orders: never below, and close enough to scale a sum by. */
static double near_chord(const struct law *l, double alpha)
{
    double below = floor(alpha), low = below < 2 ? 0 : near_integer(l, (int)below);
    return alpha == below ? low : low + (alpha - below) * (near_integer(l, (int)below + 1) - low);
}

static double near_log_moment(const struct law *l, double alpha)
{
    double chord = near_chord(l, alpha);
    return l->fractional && alpha != floor(alpha) && chord < LARGE ? near_fractional(l, alpha) : chord;
}

/* --- intervals ------------------------------------------------------------------------------------------ */

/* ln A is near 0 for small q, so A - 1 is summed with expm1 of the exponents: the binomial weights add up to
 * 1, and k = 0, 1 contribute nothing. With a shift > 0 it is A e^-shift that is summed. */
static struct interval integer_log_moment(double q, struct interval variance, int alpha, double shift)
{
    struct interval log_q = iv_log(iv(q)), log_rest = iv_log1p(iv(-q)), log_choose = iv(-shift), sum = iv(0);
    struct interval exponent = iv_div(iv(0.5), variance);
    for (int k = 0; k <= alpha; k++) {
        struct interval weight =
            iv_add(log_choose, iv_add(iv_scale(log_q, k), iv_scale(log_rest, alpha - k)));
        struct interval gain = iv_scale(exponent, k * (k - 1.0)), term;
        if (shift == 0 && gain.hi < 30)
            term = iv_mul(iv_exp(weight), iv_expm1(gain));
        else /* e^gain - 1 <= e^gain, and e^gain (1 - e^-30) <= e^gain - 1 */
            term = iv_mul(iv_exp(iv_add(weight, gain)), (struct interval){1 - 1e-13, 1});
        sum = iv_add(sum, term);
        log_choose = iv_add(log_choose, iv_sub(iv_log(iv(alpha - k)), iv_log(iv(k + 1.0))));
    }
    return shift == 0 ? iv_log1p(sum) : iv_add(iv_log(sum), iv(shift));
}

/* e^power Phi(x), where e^power phi(x) = base. */
static struct interval sampled_renyi_part(struct interval x, struct interval power, struct interval base)
{
    if (x.lo >= 0)
        return iv_sub(iv_exp(power), iv_mul(base, mills_ratio(x)));
    if (x.hi <= -1)
        return iv_mul(base, mills_ratio(iv_neg(x)));
    return iv_mul(iv_exp(power), normal_cdf(x));
}

struct series {
    struct interval log_q, log_rest, variance, sigma, z0, base;
    double shift; /* the sum is scaled by e^-shift */
    bool excess;  /* A - 1 is summed */
};

static void sampled_renyi_start(struct series *s, double q, struct interval variance, double alpha,
                                double shift)
{
    *s = (struct series){.log_q = iv_log(iv(q)),
                         .log_rest = iv_log1p(iv(-q)),
                         .variance = variance,
                         .sigma = iv_sqrt(variance),
                         .shift = shift,
                         .excess = q <= small_rate && shift == 0};
    s->z0 = iv_add(iv(0.5), iv_mul(variance, iv_sub(s->log_rest, s->log_q)));
    struct interval middle = normal_density(iv_div(s->z0, s->sigma));
    s->base = iv_mul(iv_exp(iv_sub(iv_scale(s->log_rest, alpha), iv(shift))), middle);
}

/* A term without its binomial coefficient, and a bound of what it is made of: at most the first side, the
 * second side and the term of the series of 1, added up. */
struct term {
    struct interval value, size;
};

static struct term term_at(const struct series *s, double alpha, int i)
{
    struct interval j = iv_sub(iv(alpha), iv(i)), twice = iv_scale(s->variance, 2);
    struct interval gain = iv_div(iv(i * (i - 1.0)), twice);
    struct interval gain_j = iv_div(iv_mul(j, iv_sub(j, iv(1))), twice);
    struct interval power = iv_sub(iv_add(iv_mul(j, s->log_rest), iv_scale(s->log_q, i)), iv(s->shift));
    struct interval power_j = iv_sub(iv_add(iv_scale(s->log_rest, i), iv_mul(j, s->log_q)), iv(s->shift));
    struct interval x = iv_div(iv_sub(s->z0, iv(i)), s->sigma);
    struct interval right =
        sampled_renyi_part(iv_div(iv_sub(j, s->z0), s->sigma), iv_add(power_j, gain_j), s->base);
    struct interval weight = s->excess ? iv_exp(power) : iv(0), left, size;
    if (s->excess && x.lo >= 0 && gain.hi < 30) { /* e^power (e^gain Phi(x) - 1) without cancellation */
        left = iv_sub(iv_mul(weight, iv_expm1(gain)), iv_mul(s->base, mills_ratio(x)));
        size = iv_exp(iv_add(power, gain));
    } else {
        size = sampled_renyi_part(x, iv_add(power, gain), s->base);
        left = iv_sub(size, weight);
    }
    return (struct term){iv_add(left, right), iv_add(iv_add(size, weight), right)};
}

static struct interval fractional_log_moment(double q, struct interval variance, double alpha, double shift)
{
    struct series s;
    sampled_renyi_start(&s, q, variance, alpha, shift);
    struct interval choose = iv(1), sum = iv(0), both = {-1, 1};
    int direct = (int)floor(alpha) + 1;
    for (int i = 0; i < direct + WEIGHTS; i++) {
        struct term term = term_at(&s, alpha, i);
        struct interval weight = i < direct ? iv(1) : iv_div(iv(weights[i - direct]), iv(whole));
        sum = iv_add(sum, iv_mul(iv_mul(choose, term.value), weight));
        if (i == direct)
            sum = iv_add(sum, iv_mul(both, iv_div(iv_mul(choose, term.size), iv(whole))));
        choose = iv_mul(choose, iv_div(iv_sub(iv(alpha), iv(i)), iv(i + 1.0)));
    }
    return iv_max(s.excess ? iv_log1p(sum) : iv_add(iv_log(sum), iv(shift)), iv(0)); /* A >= 1 by Jensen */
}

static struct interval log_moment(const struct mechanism *m, struct interval variance, double q, double alpha)
{
    const struct law law = {m->by_l2, q, variance.hi};
    double below = floor(alpha), chord = near_chord(&law, alpha), shift = chord < LARGE ? 0 : chord;
    if (alpha != below && m->by_l2)
        return fractional_log_moment(q, variance, alpha, shift);
    struct interval low = below < 2 ? iv(0) : integer_log_moment(q, variance, (int)below, shift);
    if (alpha == below)
        return low;
    struct interval high = integer_log_moment(q, variance, (int)below + 1, shift),
                    at = iv_sub(iv(alpha), iv(below));
    return iv_add(iv_mul(iv_sub(iv(1), at), low), iv_mul(at, high));
}

struct interval sampled_renyi(const struct mechanism *m, double noise_multiplier, double q, double alpha)
{
    struct interval variance = iv_scale(iv_square(iv(noise_multiplier)), m->zcdp_divisor / 2);
    if (q == 1)
        return iv_div(iv(alpha), iv_scale(variance, 2));
    return iv_div(log_moment(m, variance, q, alpha), iv_sub(iv(alpha), iv(1)));
}

/* --- the best order ------------------------------------------------------------------------------------- */

double sampled_renyi_near(const struct mechanism *m, double noise_multiplier, double q, double alpha)
{
    const struct law law = {m->by_l2, q, noise_multiplier * noise_multiplier * m->zcdp_divisor / 2};
    return q == 1 ? alpha / (2 * law.variance) : near_log_moment(&law, alpha) / (alpha - 1);
}

struct objective {
    struct law law;
    double steps, log_delta;
};

static double near_epsilon(double alpha, const void *arg)
{
    const struct objective *o = arg;
    double moment =
        o->law.q == 1 ? alpha * (alpha - 1) / (2 * o->law.variance) : near_log_moment(&o->law, alpha);
    double epsilon = (moment * o->steps - o->log_delta - log(alpha)) / (alpha - 1) + log1p(-1 / alpha);
    return epsilon < 1e300 ? epsilon : 1e300 * alpha; /* beyond doubles: go down */
}

/* epsilon falls, then rises with the order: walk up until it rises, then narrow down between the
 * neighbours. */
static double best_order(const struct objective *o)
{
    double before = 1 + 1e-9, best = 2, at_best = near_epsilon(2, o), after = 3;
    for (;;) {
        double epsilon = near_epsilon(after, o);
        if (!(epsilon < at_best))
            break;
        before = best;
        best = after;
        at_best = epsilon;
        after = ceil(after * 1.3);
        if (after > SAMPLED_RENYI_ORDERS)
            return best;
    }
    if (before < 2) /* the best order may lie very close to 1 */
        before = 1 + 1e-9;
    double narrow = minimise_log(before, after, 1, near_epsilon, o);
    return near_epsilon(narrow, o) < at_best ? narrow : best;
}

double sampled_renyi_epsilon(const struct mechanism *m, double noise_multiplier, double q, double steps,
                             double delta)
{
    struct objective o = {
        {m->by_l2, q, noise_multiplier * noise_multiplier * m->zcdp_divisor / 2}, steps, log(delta)};
    double alpha = best_order(&o);
    return renyi_to_epsilon(iv_scale(sampled_renyi(m, noise_multiplier, q, alpha), steps), alpha, delta).hi;
}
