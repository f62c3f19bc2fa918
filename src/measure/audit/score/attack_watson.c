/* Difficulty calibration: a record that every model finds easy proves nothing. */
#include "audit/score/posterior.h"
#include "audit/score/reference.h"

static sotto_status attack_watson_run(struct attack_output *out, const struct attack_input *in,
                                      const double *args)
{
    (void)args;
    sotto_status status = SOTTO_OK;
    struct reference_stats stats = {0};
    TRY(reference_stats_make(&stats, in, false));
    for (size_t i = 0; i < in->n; i++) {
        const struct reference_side side = reference_record_of(&stats, i).out;
        out->scores[i] = posterior_signal(in, i) - side.mean;
        out->fallback[i] = side.fallback;
    }
done:
    reference_stats_clear(&stats);
    return status;
}

const struct score_attack attack_watson = {.name = "watson",
                                           .title = "Signal above the record's OUT mean",
                                           .source = "Watson et al. 2022",
                                           .needs = NEED_LOSSES | NEED_OUT | NEED_SEVERAL,
                                           .run = attack_watson_run};
