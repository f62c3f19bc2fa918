#include "attack/query/query_reference.h"

static sotto_status run(double *scores, struct query_result *result, const struct query_input *in)
{
    return query_reference_run(scores, result, in, "lira", false);
}

const struct query_attack query_lira = {.name = "lira",
                                        .title = "LiRA, online, shadows trained on halves of the records",
                                        .source = "Carlini et al. 2022",
                                        .needs = QUERY_REFERENCE_NEEDS,
                                        .default_shadows = QUERY_REFERENCES,
                                        .run = run};
