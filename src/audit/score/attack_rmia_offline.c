#include "audit/score/rmia.h"

static const struct parameter params[] = {
    {"a", "how P(x | IN) follows from P(x | OUT): a P_out + 1 - a", 0.3, 0, 1, false}, {0}};

static sotto_status run(struct attack_output *out, const struct attack_input *in, const double *args)
{
    return rmia_run(out, in, true, args[0]);
}

const struct score_attack attack_rmia_offline = {.name = "rmia-offline",
                                                 .title = "RMIA, offline, a = 0.3",
                                                 .source = "Zarifzadeh, Liu and Shokri 2024",
                                                 .needs = NEED_LOSSES | NEED_OUT,
                                                 .params = params,
                                                 .run = run};
