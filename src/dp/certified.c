/* The account again, in ball arithmetic: the same inputs, checked by the same code, but every bound comes
 * from dp/ball, which rests on FLINT alone and not on the accuracy of the C library. */
#include "dp/accountant.h"
#include "dp/ball/ball.h"

#include <stdio.h>
#include <string.h>

static void only_bound(struct sotto_account *a, const char *name, struct interval epsilon)
{
    a->bound_count = 1;
    snprintf(a->bounds[0].name, sizeof a->bounds[0].name, "%s", name);
    snprintf(a->accountant, sizeof a->accountant, "%s", name);
    a->bounds[0].epsilon = epsilon.hi;
    a->epsilon = (struct sotto_interval){epsilon.lo, epsilon.hi};
}

sotto_status sotto_account_sampled_certified(struct sotto_account *out, const struct sotto_sampled *sampled)
{
    sotto_status status = SOTTO_OK;
    struct sotto_account a;
    struct interval epsilon;
    TRY(sotto_account_sampled(&a, sampled));
    if (strcmp(a.mechanism, "gaussian") != 0)
        FAIL(SOTTO_ENOTSUP, "mechanism '%s': sampled iterations are certified for gaussian only",
             a.mechanism);
    struct ball_step step = {BALL_GAUSSIAN, 1, sampled->noise_multiplier, sampled->sample_rate};
    TRY(ball_compose_epsilon(&epsilon, &step, sampled->steps, sampled->delta, NAN));
    only_bound(&a, "pld, ball arithmetic", epsilon);
    *out = a;
done:
    return status;
}
