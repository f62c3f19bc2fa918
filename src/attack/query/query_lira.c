#include "attack/query/query_reference.h"

static sotto_status run(double *scores, struct model_result *result, const struct model_input *in)
{
    return model_reference_run(scores, result, in, "lira", false);
}

const struct model_attack model_lira = {.name = "lira",
                                        .title = "LiRA, online, shadows trained on halves of the records",
                                        .source = "Carlini et al. 2022",
                                        .needs = MODEL_REFERENCE_NEEDS,
                                        .default_shadows = MODEL_REFERENCES,
                                        .run = run};
