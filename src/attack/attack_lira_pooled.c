/* One variance for all records' IN models and one for their OUT models, each about the records' own means. */
#include "attack/lira.h"

#include <math.h>

static sotto_status run(double *scores, const struct attack_input *in)
{
    return lira_online(scores, in, INFINITY);
}

const struct attack attack_lira_pooled = {.name = "lira-pooled",
                                          .title = "LiRA, online, pooled variances",
                                          .source = "Carlini et al. 2022, section VI-B",
                                          .needs = NEED_LOSSES | NEED_OUT | NEED_IN,
                                          .run = run};
