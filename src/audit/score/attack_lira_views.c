/* LiRA on several views of each record: views.h says how they are joined. */
#include "audit/score/views.h"

static sotto_status run(struct attack_output *out, const struct attack_input *in, const double *args)
{
    return view_lira(out, in, true, (struct lira_settings){args[0], args[1], args[2] != 0});
}

const struct score_attack attack_lira_views = {.name = "lira-views",
                                               .title = "LiRA, online, several views",
                                               .source = "Carlini et al. 2022, section VI-D",
                                               .needs = NEED_VIEWS | NEED_OUT | NEED_IN,
                                               .params = lira_params,
                                               .run = run};
