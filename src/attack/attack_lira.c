/* Variances shrink towards the pooled one, so the same attack serves 8 models and 256. */
#include "attack/lira.h"

static sotto_status run(double *scores, const struct attack_input *in)
{
    return lira_online(scores, in, 4);
}

const struct attack attack_lira = {.name = "lira",
                                   .title = "LiRA, online, shrunk variances",
                                   .source = "Carlini et al. 2022",
                                   .needs = NEED_LOSSES | NEED_OUT | NEED_IN,
                                   .run = run};
