#include "attack/rmia.h"

static sotto_status run(double *scores, const struct attack_input *in)
{
    return rmia_run(scores, in, false, 0);
}

const struct attack attack_rmia = {.name = "rmia",
                                   .title = "RMIA, online",
                                   .source = "Zarifzadeh, Liu and Shokri 2024",
                                   .needs = NEED_LOSSES | NEED_OUT | NEED_IN,
                                   .run = run};
