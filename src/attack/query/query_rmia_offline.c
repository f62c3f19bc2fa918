#include "attack/query/query_reference.h"

static sotto_status run(double *scores, struct query_result *result, const struct query_input *in)
{
    return query_reference_run(scores, result, in, "rmia-offline", true);
}

const struct query_attack query_rmia_offline = {
    .name = "rmia-offline",
    .title = "RMIA, offline, shadows trained on the attacker's records",
    .source = "Zarifzadeh, Liu and Shokri 2024",
    .needs = QUERY_OFFLINE_NEEDS,
    .default_shadows = QUERY_REFERENCES,
    .run = run};
