#include "attack/rmia.h"

static sotto_status run(double *scores, const struct attack_input *in)
{
    return rmia_run(scores, in, true, 0.3);
}

const struct attack attack_rmia_offline = {.name = "rmia-offline",
                                           .title = "RMIA, offline, a = 0.3",
                                           .source = "Zarifzadeh, Liu and Shokri 2024",
                                           .needs = NEED_LOSSES | NEED_OUT,
                                           .run = run};
