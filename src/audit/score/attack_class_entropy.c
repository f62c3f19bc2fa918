#include "audit/score/class_threshold.h"

extern const struct score_attack attack_entropy;

static sotto_status run(struct attack_output *out, const struct attack_input *in, const double *args)
{
    return class_threshold_run(out, &attack_entropy, in, args[0]);
}

const struct score_attack attack_class_entropy = {.name = "class-entropy",
                                                  .title = "Entropy, threshold of the class",
                                                  .source = "Song and Mittal 2021",
                                                  .needs = NEED_OUTPUTS | NEED_LABELS | NEED_SHADOW,
                                                  .params = class_threshold_params,
                                                  .run = run};
