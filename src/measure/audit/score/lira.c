#include "audit/score/lira.h"
#include "audit/score/posterior.h"
#include "audit/score/reference.h"

#include <math.h>

const struct parameter lira_params[] = {
    {"prior", "weight of the pooled variance, in values", 8, 0, 1e9, false},
    {"per-record", "number of IN and of OUT models from which the record's own variances are used alone", 32,
     2, 1e9, false},
    {"monotone", "1: signals above the record's IN mean are not evidence against membership", 0, 0, 1, false},
    {0}};

const struct parameter lira_offline_params[] = {
    {"prior", "weight of the pooled variance, in values", 8, 0, 1e9, false},
    {"per-record", "number of OUT models from which the record's own variance is used alone", 32, 2, 1e9,
     false},
    {0}};

double lira_ratio(double signal, double in_mean, double in_variance, double out_mean, double out_variance,
                  bool monotone)
{
    double from_in = signal - in_mean, from_out = signal - out_mean;
    if (monotone && from_in > 0 && in_mean > out_mean)
        from_in = 0;
    return 0.5 * (log(out_variance / in_variance) + from_out * from_out / out_variance -
                  from_in * from_in / in_variance);
}

sotto_status lira_online(struct attack_output *out, const struct attack_input *in, struct lira_settings how)
{
    sotto_status status = SOTTO_OK;
    struct reference_stats stats = {0};
    TRY(reference_stats_make(&stats, in, true));
    for (size_t i = 0; i < in->n; i++) {
        const struct reference_record r = reference_record_of(&stats, i);
        double models = (double)(r.in.count < r.out.count ? r.in.count : r.out.count);
        double prior = models >= how.per_record ? 0 : how.prior;
        out->scores[i] = lira_ratio(posterior_signal(in, i), r.in.mean,
                                    reference_variance(&r.in, stats.in_variance, prior), r.out.mean,
                                    reference_variance(&r.out, stats.out_variance, prior), how.monotone);
        out->fallback[i] = r.in.fallback || r.out.fallback;
    }
done:
    reference_stats_clear(&stats);
    return status;
}

sotto_status lira_offline(struct attack_output *out, const struct attack_input *in, struct lira_settings how)
{
    sotto_status status = SOTTO_OK;
    struct reference_stats stats = {0};
    TRY(reference_stats_make(&stats, in, false));
    for (size_t i = 0; i < in->n; i++) {
        const struct reference_side side = reference_record_of(&stats, i).out;
        double prior = (double)side.count >= how.per_record ? 0 : how.prior;
        out->scores[i] = (posterior_signal(in, i) - side.mean) /
                         sqrt(reference_variance(&side, stats.out_variance, prior));
        out->fallback[i] = side.fallback;
    }
done:
    reference_stats_clear(&stats);
    return status;
}

/* ---- the attacks ---- */

/* Variances shrink towards the pooled one, so the same attack serves 8 models and 256. */
static sotto_status run_lira(struct attack_output *out, const struct attack_input *in, const double *args)
{
    return lira_online(out, in, (struct lira_settings){args[0], args[1], args[2] != 0});
}

const struct score_attack attack_lira = {.name = "lira",
                                         .title = "LiRA, online, shrunk variances",
                                         .source = "Carlini et al. 2022",
                                         .needs = NEED_LOSSES | NEED_OUT | NEED_IN | NEED_SEVERAL,
                                         .params = lira_params,
                                         .run = run_lira};

/* One variance for all records' IN models and one for their OUT models, each about the records' own means. */
static const struct parameter pooled_params[] = {
    {"monotone", "1: signals above the record's IN mean are not evidence against membership", 0, 0, 1, false},
    {0}};

static sotto_status run_lira_pooled(struct attack_output *out, const struct attack_input *in,
                                    const double *args)
{
    return lira_online(out, in, (struct lira_settings){INFINITY, INFINITY, args[0] != 0});
}

const struct score_attack attack_lira_pooled = {.name = "lira-pooled",
                                                .title = "LiRA, online, pooled variances",
                                                .source = "Carlini et al. 2022, section VI-B",
                                                .needs = NEED_LOSSES | NEED_OUT | NEED_IN | NEED_SEVERAL,
                                                .params = pooled_params,
                                                .run = run_lira_pooled};

/* Only OUT models: how far above its OUT signals a record lies. One-sided as in the paper; a record far BELOW
 * them is no member. The normal distribution function would saturate at 1 and tie the most vulnerable records,
 * so the score is its argument. */
static sotto_status run_lira_offline(struct attack_output *out, const struct attack_input *in,
                                     const double *args)
{
    return lira_offline(out, in, (struct lira_settings){args[0], args[1], false});
}

const struct score_attack attack_lira_offline = {.name = "lira-offline",
                                                 .title = "LiRA, offline, one-sided",
                                                 .source = "Carlini et al. 2022",
                                                 .needs = NEED_LOSSES | NEED_OUT | NEED_SEVERAL,
                                                 .params = lira_offline_params,
                                                 .run = run_lira_offline};
