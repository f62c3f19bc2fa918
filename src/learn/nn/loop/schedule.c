/* Learning rates as pure functions of the step, so that a resumed run needs no state.
 *
 * step:   lr * factor^(milestones passed); a milestone counts from its own step on.
 * cosine: linear warm-up to lr over warmup_steps (step 0 already takes lr / warmup_steps), then
 *         lr * (factor + (1 - factor) (1 + cos(pi t)) / 2), t from 0 to 1 at total_steps; `factor` is the
 *         final share of lr (0: down to nothing). Loshchilov and Hutter 2017, Eq. 5, without restarts. */
#include "nn/nn.h"

#include <math.h>

static double schedule_cosine(const struct schedule *s, uint64_t step)
{
    const double pi = 3.14159265358979323846;
    if (step < s->warmup_steps)
        return s->lr * (double)(step + 1) / (double)s->warmup_steps;
    if (step >= s->total_steps)
        return s->lr * s->factor;
    double t = (double)(step - s->warmup_steps) / (double)(s->total_steps - s->warmup_steps);
    return s->lr * (s->factor + (1 - s->factor) * 0.5 * (1 + cos(pi * t)));
}

double schedule_at(const struct schedule *s, uint64_t step)
{
    double lr = s->lr;
    switch (s->kind) {
    case SCHEDULE_COSINE:
        return schedule_cosine(s, step);
    case SCHEDULE_STEP:
        for (size_t i = 0; i < s->milestone_count; i++)
            if (step >= s->milestones[i])
                lr *= s->factor;
        return lr;
    default:
        return lr;
    }
}
