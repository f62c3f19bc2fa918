#include "attack/lira.h"
#include "attack/posterior.h"
#include "attack/reference.h"

#include <math.h>

sotto_status lira_online(double *scores, const struct attack_input *in, double prior)
{
    sotto_status status = SOTTO_OK;
    struct reference_stats stats = {0};
    TRY(reference_stats_make(&stats, in, true));
    for (size_t i = 0; i < in->n; i++) {
        const struct reference_record *r = &stats.record[i];
        double signal = posterior_signal(in, i);
        double in_variance = reference_variance(&r->in, stats.in_variance, prior);
        double out_variance = reference_variance(&r->out, stats.out_variance, prior);
        double from_in = signal - r->in.mean, from_out = signal - r->out.mean;
        scores[i] = 0.5 * (log(out_variance / in_variance) + from_out * from_out / out_variance -
                           from_in * from_in / in_variance);
    }
done:
    reference_stats_clear(&stats);
    return status;
}
