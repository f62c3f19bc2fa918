/* RMIA on several views of each record, by majority vote. */
#include "audit/score/views.h"

static const struct parameter params[] = {
    {"gamma", "how many times likelier than another record", 2, 1, 1e6, false}, {0}};

static sotto_status run(struct attack_output *out, const struct attack_input *in, const double *args)
{
    return view_rmia(out, in, false, 0, args[0]);
}

const struct score_attack attack_rmia_views = {.name = "rmia-views",
                                               .title = "RMIA, online, several views",
                                               .source = "Zarifzadeh, Liu and Shokri 2024",
                                               .needs = NEED_VIEWS | NEED_OUT | NEED_IN,
                                               .params = params,
                                               .run = run};
