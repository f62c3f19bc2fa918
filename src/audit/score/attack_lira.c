/* Variances shrink towards the pooled one, so the same attack serves 8 models and 256. */
#include "audit/score/lira.h"

static sotto_status run(struct attack_output *out, const struct attack_input *in, const double *args)
{
    return lira_online(out, in, (struct lira_settings){args[0], args[1], args[2] != 0});
}

const struct score_attack attack_lira = {.name = "lira",
                                         .title = "LiRA, online, shrunk variances",
                                         .source = "Carlini et al. 2022",
                                         .needs = NEED_LOSSES | NEED_OUT | NEED_IN,
                                         .params = lira_params,
                                         .run = run};
