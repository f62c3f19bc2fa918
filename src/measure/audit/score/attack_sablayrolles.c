/* A threshold of its own for every record: half way between its IN and its OUT signals. */
#include "audit/score/posterior.h"
#include "audit/score/reference.h"

static sotto_status attack_sablayrolles_run(struct attack_output *out, const struct attack_input *in,
                                            const double *args)
{
    (void)args;
    sotto_status status = SOTTO_OK;
    struct reference_stats stats = {0};
    TRY(reference_stats_make(&stats, in, true));
    for (size_t i = 0; i < in->n; i++) {
        const struct reference_record r = reference_record_of(&stats, i);
        out->scores[i] = posterior_signal(in, i) - (r.in.mean + r.out.mean) / 2;
        out->fallback[i] = r.in.fallback || r.out.fallback;
    }
done:
    reference_stats_clear(&stats);
    return status;
}

const struct score_attack attack_sablayrolles = {.name = "sablayrolles",
                                                 .title = "Per-record threshold between IN and OUT",
                                                 .source = "Sablayrolles et al. 2019",
                                                 .needs = NEED_LOSSES | NEED_OUT | NEED_IN | NEED_SEVERAL,
                                                 .run = attack_sablayrolles_run};
