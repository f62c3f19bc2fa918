/* One variance for all records' IN models and one for their OUT models, each about the records' own means. */
#include "audit/score/lira.h"

#include <math.h>

static const struct parameter params[] = {
    {"monotone", "1: a signal above its IN mean is never evidence against membership", 0, 0, 1, false}, {0}};

static sotto_status run(struct attack_output *out, const struct attack_input *in, const double *args)
{
    return lira_online(out, in, (struct lira_settings){INFINITY, INFINITY, args[0] != 0});
}

const struct score_attack attack_lira_pooled = {.name = "lira-pooled",
                                                .title = "LiRA, online, pooled variances",
                                                .source = "Carlini et al. 2022, section VI-B",
                                                .needs = NEED_LOSSES | NEED_OUT | NEED_IN,
                                                .params = params,
                                                .run = run};
