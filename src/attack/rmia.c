#include "attack/rmia.h"
#include "attack/posterior.h"

#include <math.h>

static double probability_of_signal(double signal)
{
    return signal > 0 ? 1 / (1 + exp(-signal)) : exp(signal) / (1 + exp(signal));
}

static double log_probability_of_signal(double signal)
{
    return signal > 0 ? -log1p(exp(-signal)) : signal - log1p(exp(signal));
}

sotto_status rmia_run(double *scores, const struct attack_input *in, bool offline, double a)
{
    static const double smallest = 1e-30;
    for (size_t i = 0; i < in->n; i++) {
        double sum[2] = {0, 0};
        size_t count[2] = {0, 0};
        for (size_t m = 0; m < in->models; m++) {
            size_t trained = in->trained && in->trained[i * in->models + m];
            sum[trained] += probability_of_signal(in->reference[i * in->models + m]);
            count[trained]++;
        }
        double mean[2] = {count[0] ? sum[0] / (double)count[0] : NAN,
                          count[1] ? sum[1] / (double)count[1] : NAN};
        double all;
        if (offline && count[0])
            all = ((1 + a) * mean[0] + (1 - a)) / 2;
        else if (count[0] && count[1])
            all = (mean[0] + mean[1]) / 2;
        else
            all = count[0] ? mean[0] : mean[1];
        scores[i] = log_probability_of_signal(posterior_signal(in, i)) - log(fmax(all, smallest));
    }
    return SOTTO_OK;
}
