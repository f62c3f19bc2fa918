/* Only OUT models: how far above its OUT signals a record lies. One-sided as in the paper; a record far BELOW
 * them is no member. The normal distribution function would saturate at 1 and tie the most exposed records,
 * so the score is its argument. */
#include "attack/posterior.h"
#include "attack/reference.h"

#include <math.h>

static const struct attack_param params[] = {
    {"prior", "values that the pooled variance counts for", 8, 0, 1e9},
    {"per-record", "OUT models from which a record's own variance stands alone", 32, 2, 1e9},
    {NULL, NULL, 0, 0, 0}};

static sotto_status run(struct attack_output *out, const struct attack_input *in, const double *args)
{
    sotto_status status = SOTTO_OK;
    struct reference_stats stats = {0};
    TRY(reference_stats_make(&stats, in, false));
    for (size_t i = 0; i < in->n; i++) {
        const struct reference_side *side = &stats.record[i].out;
        double prior = (double)side->count >= args[1] ? 0 : args[0];
        out->scores[i] = (posterior_signal(in, i) - side->mean) /
                         sqrt(reference_variance(side, stats.out_variance, prior));
        out->fallback[i] = side->fallback;
    }
done:
    reference_stats_clear(&stats);
    return status;
}

const struct attack attack_lira_offline = {.name = "lira-offline",
                                           .title = "LiRA, offline, one-sided",
                                           .source = "Carlini et al. 2022",
                                           .needs = NEED_LOSSES | NEED_OUT,
                                           .params = params,
                                           .run = run};
