/* Only OUT models: how far above its OUT signals a record lies. One-sided as in the paper; a record far BELOW
 * them is no member. The normal distribution function would saturate at 1 and tie the most exposed records,
 * so the score is its argument. */
#include "attack/posterior.h"
#include "attack/reference.h"

#include <math.h>

static sotto_status run(double *scores, const struct attack_input *in)
{
    sotto_status status = SOTTO_OK;
    struct reference_stats stats = {0};
    TRY(reference_stats_make(&stats, in, false));
    for (size_t i = 0; i < in->n; i++) {
        const struct reference_side *out = &stats.record[i].out;
        scores[i] =
            (posterior_signal(in, i) - out->mean) / sqrt(reference_variance(out, stats.out_variance, 4));
    }
done:
    reference_stats_clear(&stats);
    return status;
}

const struct attack attack_lira_offline = {.name = "lira-offline",
                                           .title = "LiRA, offline, one-sided",
                                           .source = "Carlini et al. 2022",
                                           .needs = NEED_LOSSES | NEED_OUT,
                                           .run = run};
