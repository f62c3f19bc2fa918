/* Forms without overflow: everything over e^t. */
#include "dp/pure_pair.h"

#include "dp/composition.h"

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

struct interval pure_pair_composed(struct interval t, double k, double delta)
{
    return (struct interval){randomised_response_composed(t.lo, k, delta).lo,
                             randomised_response_composed(t.hi, k, delta).hi};
}
