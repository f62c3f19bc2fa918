#include "audit/score/class_threshold.h"

#include "audit/measure/metrics.h"

#include <math.h>

const struct parameter class_threshold_params[] = {
    {"least", "smallest number of shadow members and of non-members for a threshold of the class",
     CLASS_THRESHOLD_LEAST, 1, 1e9, false},
    {0}};

struct attack_input shadow_input(const struct attack_input *in)
{
    return (struct attack_input){.outputs = in->shadow_outputs,
                                 .probabilities = in->probabilities,
                                 .step = in->step,
                                 .labels = in->shadow_labels,
                                 .n = in->shadow_n,
                                 .classes = in->classes};
}

/* Scores of the shadow's records of one class (`everybody`: of all), its own first; counts[1] of those,
 * counts[0] of the others. */
static void class_threshold_gather(double *own, double *others, size_t counts[2],
                                   const struct attack_input *in, const double *scores, size_t class,
                                   bool everybody)
{
    counts[0] = counts[1] = 0;
    for (size_t i = 0; i < in->shadow_n; i++)
        if (everybody || (size_t)in->shadow_labels[i] == class) {
            bool trained = in->shadow_trained[i];
            (trained ? own : others)[counts[trained]++] = scores[i];
        }
}

/* Never infinite: above all scores of shadow records where no record is flagged, below all where every
 * record is. */
static sotto_status class_threshold_choose(double *threshold, const double *own, const double *others,
                                           const size_t counts[2])
{
    struct roc c = {0};
    sotto_status status = roc_make(&c, own, counts[1], others, counts[0]);
    if (status != SOTTO_OK)
        return status;
    double t = roc_threshold_balanced(&c);
    if (!isfinite(t))
        t = t > 0 ? c.score[0] : nextafter(c.score[c.points - 1], -INFINITY);
    *threshold = t;
    roc_clear(&c);
    return SOTTO_OK;
}

sotto_status class_thresholds(double *thresholds, uint8_t *fallback, const struct score_attack *metric,
                              const struct attack_input *in, double least)
{
    sotto_status status = SOTTO_OK;
    struct attack_input shadow = shadow_input(in);
    size_t counts[2];
    double *scores = NULL, *own = NULL, *others = NULL;
    NEW(scores, in->shadow_n);
    NEW(own, in->shadow_n);
    NEW(others, in->shadow_n);
    TRY(attack_run(scores, metric, &shadow));
    class_threshold_gather(own, others, counts, in, scores, 0, true);
    TRY(class_threshold_choose(&thresholds[in->classes], own, others, counts));
    for (size_t k = 0; k < in->classes; k++) {
        class_threshold_gather(own, others, counts, in, scores, k, false);
        fallback[k] = (double)counts[0] < least || (double)counts[1] < least;
        thresholds[k] = thresholds[in->classes];
        if (!fallback[k])
            TRY(class_threshold_choose(&thresholds[k], own, others, counts));
    }
done:
    base_free(scores);
    base_free(own);
    base_free(others);
    return status;
}

sotto_status class_threshold_run(struct attack_output *out, const struct score_attack *metric,
                                 const struct attack_input *in, double least)
{
    sotto_status status = SOTTO_OK;
    double *thresholds = NULL;
    uint8_t *fallback = NULL;
    NEW(thresholds, in->classes + 1);
    NEW(fallback, in->classes);
    TRY(class_thresholds(thresholds, fallback, metric, in, least));
    TRY(attack_run(out->scores, metric, in));
    for (size_t i = 0; i < in->n; i++) {
        out->scores[i] -= thresholds[in->labels[i]];
        out->fallback[i] = fallback[in->labels[i]];
    }
    out->threshold = 0;
done:
    base_free(thresholds);
    base_free(fallback);
    return status;
}
