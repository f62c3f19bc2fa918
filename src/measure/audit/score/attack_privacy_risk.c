/* Song and Mittal's privacy risk score: the share of members among the shadow's records of the same class
 * whose modified entropy falls into the same bin. A probability at a prior of one half, so the decision is at
 * one half. */
#include "audit/score/class_threshold.h"
#include "audit/score/posterior.h"

#include <math.h>

enum { MOST_BINS = 1000 };

static const struct parameter params[] = {
    {"bins", "bins of a class, evenly spaced in the logarithm of the modified entropy", 15, 2, MOST_BINS,
     false},
    {"least", "smallest number of shadow members and of non-members for a histogram of the class",
     CLASS_THRESHOLD_LEAST, 1, 1e9, false},
    {0}};

struct histogram {
    double low, width; /* of log values; width 0: one bin */
    size_t bins, count[2][MOST_BINS], total[2];
};

static double attack_privacy_risk_position(const struct attack_input *in, size_t row)
{
    return log(fmax(posterior_modified_entropy(in, row), 1e-30));
}

static size_t bin_of(const struct histogram *h, double x)
{
    double place = h->width > 0 ? (x - h->low) / h->width : 0;
    return place < 0 ? 0 : place >= (double)h->bins ? h->bins - 1 : (size_t)place;
}

/* class == classes: everybody. */
static void attack_privacy_risk_fill(struct histogram *h, const struct attack_input *shadow,
                                     const uint8_t *trained, size_t class, size_t bins)
{
    double low = INFINITY, high = -INFINITY;
    *h = (struct histogram){.bins = bins};
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < shadow->n; i++) {
            if (class < shadow->classes && (size_t)shadow->labels[i] != class)
                continue;
            double x = attack_privacy_risk_position(shadow, i);
            if (pass == 0) {
                low = fmin(low, x), high = fmax(high, x);
            } else {
                h->count[trained[i]][bin_of(h, x)]++;
                h->total[trained[i]]++;
            }
        }
        h->low = low;
        h->width = high > low ? (high - low) / (double)bins : 0;
    }
}

/* An empty bin asks the nearest one that is not; of two as near, the lower. */
static double attack_privacy_risk_at(const struct histogram *h, double x)
{
    size_t bin = bin_of(h, x);
    for (size_t step = 0; step < h->bins; step++)
        for (int side = 0; side < 2; side++) {
            size_t b = side == 0 ? bin - step : bin + step;
            if ((side == 0 && step > bin) || b >= h->bins || h->count[0][b] + h->count[1][b] == 0)
                continue;
            double in = (double)h->count[1][b] / (double)h->total[1],
                   out = (double)h->count[0][b] / (double)h->total[0];
            return (in + 1e-10) / (in + out + 2e-10);
        }
    return 0.5;
}

static sotto_status attack_privacy_risk_run(struct attack_output *out, const struct attack_input *in,
                                            const double *args)
{
    sotto_status status = SOTTO_OK;
    struct attack_input shadow = shadow_input(in);
    struct histogram *all = NULL;
    NEW(all, 2);
    struct histogram *own = all + 1;
    attack_privacy_risk_fill(all, &shadow, in->shadow_trained, in->classes, (size_t)args[0]);
    for (size_t k = 0; k < in->classes; k++) {
        attack_privacy_risk_fill(own, &shadow, in->shadow_trained, k, (size_t)args[0]);
        bool enough = (double)own->total[0] >= args[1] && (double)own->total[1] >= args[1];
        for (size_t i = 0; i < in->n; i++)
            if ((size_t)in->labels[i] == k) {
                out->scores[i] =
                    attack_privacy_risk_at(enough ? own : all, attack_privacy_risk_position(in, i));
                out->fallback[i] = !enough;
            }
    }
    out->threshold = 0.5;
done:
    base_free(all);
    return status;
}

const struct score_attack attack_privacy_risk = {.name = "privacy-risk",
                                                 .title = "Privacy risk score",
                                                 .source = "Song and Mittal 2021",
                                                 .needs = NEED_OUTPUTS | NEED_LABELS | NEED_SHADOW,
                                                 .params = params,
                                                 .run = attack_privacy_risk_run};
