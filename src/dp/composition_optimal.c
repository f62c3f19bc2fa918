/* k-fold composition of anything that is (eps, delta)-private is never worse than k randomised responses that
 * each fail with probability delta (Kairouz, Oh, Viswanath 2015, theorem 3.3). Losses of k responses are
 * (k - 2l) eps with weight w_l = C(k, l) p^(k-l) (1-p)^l, p = e^eps / (1 + e^eps), so
 *   delta(e) = sum_l w_l (1 - e^(e - (k - 2l) eps))_+  =  max over i of  U_i - e^(e - loss_i) V_i,
 *   U_i = sum_{l <= i} w_l,  V_i = sum_{l <= i} w_l e^(-2 (i - l) eps)
 * (leaving out or adding terms below 0 never helps). So the smallest e is the largest loss_i + ln((U_i -
 * delta) / V_i): no search, and no case to decide wrongly. Weights are products of ratios, kept in range by a
 * common factor. */
#include "dp/composition.h"

struct interval composition_slack(double each, double k, double delta)
{
    /* 1 - e^(ln(1-delta) - k ln(1-each)) */
    struct interval log_rest = iv_sub(iv_log1p(iv(-delta)), iv_scale(iv_log1p(iv(-each)), k));
    return each == 0 ? iv(delta) : iv_neg(iv_expm1(log_rest));
}

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

sotto_status sotto_compose_optimal(struct sotto_composed *out, struct sotto_dp each, size_t k, double delta,
                                   enum sotto_adjacency adjacency)
{
    sotto_status status = SOTTO_OK;
    TRY(composition_check_each(each, k, delta, adjacency));
    REQUIRE(k <= COMPOSITION_OPTIMAL_MOST, "optimal composition of %zu releases; expected at most %d", k,
            COMPOSITION_OPTIMAL_MOST);
    struct interval slack = composition_slack(each.delta, (double)k, delta), total = {0, INFINITY};
    if (slack.lo >= 0) {
        total = randomised_response_composed(each.epsilon, (double)k, slack.lo);
        total.lo = randomised_response_composed(each.epsilon, (double)k, slack.hi).lo;
    }
    composition_set(out, "optimal", adjacency, total, iv(delta),
                    "the best for every mechanism with these parameters, reached by randomised response");
done:
    return status;
}
