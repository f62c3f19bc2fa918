#include "attack/query/query_reference.h"

static sotto_status run(double *scores, struct query_result *result, const struct query_input *in)
{
    return query_reference_run(scores, result, in, "rmia", false);
}

const struct query_attack query_rmia = {.name = "rmia",
                                        .title = "RMIA, online, shadows trained on halves of the records",
                                        .source = "Zarifzadeh, Liu and Shokri 2024",
                                        .needs = QUERY_REFERENCE_NEEDS,
                                        .default_shadows = QUERY_REFERENCES,
                                        .run = run};
