/* Only OUT models: how far above its OUT signals a record lies. One-sided as in the paper; a record far BELOW
 * them is no member. The normal distribution function would saturate at 1 and tie the most exposed records,
 * so the score is its argument. */
#include "audit/score/lira.h"

static sotto_status run(struct attack_output *out, const struct attack_input *in, const double *args)
{
    return lira_offline(out, in, (struct lira_settings){args[0], args[1], false});
}

const struct score_attack attack_lira_offline = {.name = "lira-offline",
                                                 .title = "LiRA, offline, one-sided",
                                                 .source = "Carlini et al. 2022",
                                                 .needs = NEED_LOSSES | NEED_OUT,
                                                 .params = lira_offline_params,
                                                 .run = run};
