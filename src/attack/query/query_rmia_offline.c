#include "attack/query/query_reference.h"

static sotto_status run(double *scores, struct model_result *result, const struct model_input *in)
{
    return model_reference_run(scores, result, in, "rmia-offline", true);
}

const struct model_attack model_rmia_offline = {
    .name = "rmia-offline",
    .title = "RMIA, offline, shadows trained on the attacker's records",
    .source = "Zarifzadeh, Liu and Shokri 2024",
    .needs = MODEL_OFFLINE_NEEDS,
    .default_shadows = MODEL_REFERENCES,
    .run = run};
