/* k-fold composition of anything that is (eps, delta)-private is never worse than k randomised responses that
 * each fail with probability delta (Kairouz, Oh, Viswanath 2015, theorem 3.3). */
#include "dp/account/composition.h"

sotto_status sotto_compose_optimal(struct sotto_composed *out, struct sotto_dp each, size_t k, double delta,
                                   enum sotto_adjacency adjacency)
{
    REQUIRE_GIVEN(out);
    sotto_status status = SOTTO_OK;
    TRY(composition_check_each(each, k, delta, adjacency));
    REQUIRE(k <= COMPOSITION_OPTIMAL_MOST,
            "optimal composition: %zu releases are too many; expected at most %d", k,
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
