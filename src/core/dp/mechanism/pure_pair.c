/* Forms without overflow: everything over e^t. */
#include "dp/mechanism/pure_pair.h"

struct interval pure_pair_delta(struct interval t, double epsilon)
{
    struct interval gap = iv_max(iv_sub(t, iv(epsilon)), iv(0)); /* none left: delta is 0 */
    struct interval d = iv_div(iv_neg(iv_expm1(iv_neg(gap))), iv_add(iv(1), iv_exp(iv_neg(t))));
    return (struct interval){fmax(0, d.lo), fmin(1, d.hi)};
}

struct interval pure_pair_epsilon(struct interval t, double delta)
{
    struct interval lost = iv_scale(iv_add(iv(1), iv_exp(iv_neg(t))), delta);
    return iv_max(iv_min(iv_add(t, iv_log1p(iv_neg(lost))), t), iv(0));
}

/* The sum is e^((alpha-1) t) (1 - (1 - e^(-2 (alpha-1) t)) / (1 + e^t)). */
struct interval pure_pair_renyi(struct interval t, double alpha)
{
    struct interval less = iv_sub(iv(alpha), iv(1));
    struct interval fall = iv_expm1(iv_scale(iv_mul(less, t), -2));
    struct interval ratio = iv_div(iv_mul(fall, iv_exp(iv_neg(t))), iv_add(iv(1), iv_exp(iv_neg(t))));
    struct interval sum = iv_add(t, iv_div(iv_log1p(ratio), less));
    struct interval square = iv_scale(iv_mul(iv(alpha), iv_square(t)), 0.5);
    return iv_max(iv_min(iv_min(sum, t), square), iv(0));
}

/* Losses of k responses are (k - 2l) eps with weight w_l = C(k, l) p^(k-l) (1-p)^l, p = e^eps / (1 + e^eps), so
 *
 *     delta(e) = sum_l w_l (1 - e^(e - (k - 2l) eps))_+  =  max over i of  U_i - e^(e - loss_i) V_i,
 *     U_i = sum_{l <= i} w_l,  V_i = sum_{l <= i} w_l e^(-2 (i - l) eps)
 *
 * (leaving out or adding terms below 0 never helps). So the smallest e is the largest loss_i + ln((U_i -
 * delta) / V_i): no search, and no case to decide wrongly. Weights are products of ratios, kept in range by a
 * common factor. */
struct interval randomised_response_composed(double epsilon, double k, double delta)
{
    struct interval e = iv(epsilon), fall = iv_exp(iv_neg(e)), twice = iv_exp(iv_scale(e, -2));
    struct interval factor = iv_scale(iv_log1p(fall), -k); /* ln p^k: sums are taken without it */
    struct interval weight = iv(1), sum = iv(0), shifted = iv(0), best = iv(0);
    struct interval log_delta = delta > 0 ? iv_log(iv(delta)) : iv(-INFINITY);
    for (double l = 0; l <= k; l++) {
        struct interval loss = iv_scale(e, k - 2 * l);
        if (loss.hi <= best.lo)
            break;
        sum = iv_add(sum, weight);
        shifted = iv_add(iv_mul(shifted, twice), weight);
        if (sum.hi > 1e200) {
            sum = iv_scale(sum, 0x1p-600);
            shifted = iv_scale(shifted, 0x1p-600);
            weight = iv_scale(weight, 0x1p-600);
            factor = iv_add(factor, iv_scale(iv_log(iv(2)), 600));
        }
        struct interval part = iv_exp(iv_sub(log_delta, iv_add(iv_log(sum), factor))); /* delta / U_i */
        if (part.lo < 1)
            best = iv_max(best, iv_add(loss, iv_add(iv_log(iv_div(sum, shifted)), iv_log1p(iv_neg(part)))));
        weight = iv_mul(weight, iv_mul(fall, iv_div(iv(k - l), iv(l + 1))));
    }
    return best;
}

struct interval pure_pair_composed(struct interval t, double k, double delta)
{
    return (struct interval){randomised_response_composed(t.lo, k, delta).lo,
                             randomised_response_composed(t.hi, k, delta).hi};
}
