#include "audit/score/rmia.h"

static sotto_status run(struct attack_output *out, const struct attack_input *in, const double *args)
{
    (void)args;
    return rmia_run(out, in, false, 0);
}

const struct score_attack attack_rmia = {.name = "rmia",
                                         .title = "RMIA, online",
                                         .source = "Zarifzadeh, Liu and Shokri 2024",
                                         .needs = NEED_LOSSES | NEED_OUT | NEED_IN,
                                         .run = run};
