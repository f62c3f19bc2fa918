#include "attack/query/query_reference.h"

static sotto_status run(double *scores, struct query_result *result, const struct query_input *in)
{
    return query_reference_run(scores, result, in, "lira-offline", true);
}

const struct query_attack query_lira_offline = {
    .name = "lira-offline",
    .title = "LiRA, offline, shadows trained on the attacker's records",
    .source = "Carlini et al. 2022",
    .needs = QUERY_OFFLINE_NEEDS,
    .default_shadows = QUERY_REFERENCES,
    .run = run};
