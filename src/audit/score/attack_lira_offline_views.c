/* LiRA on several views, OUT models only. */
#include "audit/score/views.h"

static sotto_status run(struct attack_output *out, const struct attack_input *in, const double *args)
{
    return view_lira(out, in, false, (struct lira_settings){args[0], args[1], false});
}

const struct score_attack attack_lira_offline_views = {.name = "lira-offline-views",
                                                       .title = "LiRA, offline, several views",
                                                       .source = "Carlini et al. 2022, section VI-D",
                                                       .needs = NEED_VIEWS | NEED_OUT,
                                                       .params = lira_offline_params,
                                                       .run = run};
