/* Attack P: the share of known non-members whose loss is higher; ties count half. The score is one minus a
 * p-value, so flagging above 1 - a has a false-positive rate of a on people like the population. */
#include "audit/score/posterior.h"
#include "audit/measure/sorted.h"

static sotto_status attack_population_run(struct attack_output *out, const struct attack_input *in,
                                          const double *args)
{
    (void)args;
    sotto_status status = SOTTO_OK;
    const struct attack_input *z = in->population;
    double *sorted = NULL, *scratch = NULL;
    NEW(sorted, z->n);
    NEW(scratch, z->n);
    for (size_t i = 0; i < z->n; i++)
        sorted[i] = posterior_signal(z, i);
    sort_rising(sorted, z->n, scratch);
    for (size_t i = 0; i < in->n; i++) {
        double signal = posterior_signal(in, i);
        size_t below = count_below(sorted, z->n, signal), upto = count_upto(sorted, z->n, signal);
        out->scores[i] = ((double)below + (double)upto) / 2 / (double)z->n;
    }
done:
    base_free(sorted);
    base_free(scratch);
    return status;
}

const struct score_attack attack_population = {.name = "population",
                                               .title = "Share of known non-members with a higher loss",
                                               .source = "Ye et al. 2022 (Attack P)",
                                               .needs = NEED_LOSSES | NEED_POPULATION,
                                               .run = attack_population_run};
