#include "attack/query/query_reference.h"

static sotto_status run(double *scores, struct model_result *result, const struct model_input *in)
{
    return model_reference_run(scores, result, in, "lira-offline", true);
}

const struct model_attack model_lira_offline = {
    .name = "lira-offline",
    .title = "LiRA, offline, shadows trained on the attacker's records",
    .source = "Carlini et al. 2022",
    .needs = MODEL_OFFLINE_NEEDS,
    .default_shadows = MODEL_REFERENCES,
    .run = run};
