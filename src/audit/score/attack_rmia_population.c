/* The published form of RMIA: the share of a population that the record dominates. It orders records as
 * rmia-offline does and adds ties, but the number means something by itself: "beats 99 % of the population".
 */
#include "audit/score/rmia.h"

static const struct parameter params[] = {
    {"gamma", "how many times likelier than a population record", 2, 1, 1e6, false},
    {"a", "how P(x | IN) follows from P(x | OUT): a P_out + 1 - a", 0.3, 0, 1, false},
    {0}};

static sotto_status run(struct attack_output *out, const struct attack_input *in, const double *args)
{
    sotto_status status = SOTTO_OK;
    double *gain = base_alloc(in->n, sizeof *gain);
    struct attack_output raw = {.scores = gain, .fallback = out->fallback};
    if (!gain)
        FAIL(SOTTO_ENOMEM, "rmia: out of memory for %zu records", in->n);
    TRY(rmia_run(&raw, in, true, args[1]));
    TRY(rmia_population(out->scores, in, gain, args[1], args[0]));
done:
    base_free(gain);
    return status;
}

const struct score_attack attack_rmia_population = {.name = "rmia-population",
                                                    .title = "RMIA, offline, share of the population beaten",
                                                    .source = "Zarifzadeh, Liu and Shokri 2024",
                                                    .needs = NEED_LOSSES | NEED_OUT | NEED_POPULATION |
                                                             NEED_POPULATION_REFERENCE,
                                                    .params = params,
                                                    .run = run};
