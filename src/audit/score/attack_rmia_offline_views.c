/* RMIA on several views, OUT models only. */
#include "audit/score/views.h"

static const struct parameter params[] = {
    {"gamma", "how many times likelier than another record", 2, 1, 1e6, false},
    {"a", "how P(x | IN) follows from P(x | OUT): a P_out + 1 - a", 0.3, 0, 1, false},
    {0}};

static sotto_status run(struct attack_output *out, const struct attack_input *in, const double *args)
{
    return view_rmia(out, in, true, args[1], args[0]);
}

const struct score_attack attack_rmia_offline_views = {.name = "rmia-offline-views",
                                                       .title = "RMIA, offline, several views",
                                                       .source = "Zarifzadeh, Liu and Shokri 2024",
                                                       .needs = NEED_VIEWS | NEED_OUT,
                                                       .params = params,
                                                       .run = run};
