/* LiRA with what a few models leave unknown: a record's signals are normal with a mean and a variance of its
 * own, which are drawn from a normal-inverse-gamma law. What the target's signal then follows is Student's t,
 * under IN models and under OUT models; the score is the logarithm of their ratio. The law's mean and variance,
 * and how far records' means lie apart, come from all records together. */
#include "audit/score/posterior.h"
#include "audit/score/reference.h"

#include <math.h>

/* What records have in common on one side, IN or OUT. */
struct common {
    double mean, variance;
    double mean_weight, weight; /* for how many values of a record the common mean and variance count */
};

/* The common mean counts for as many values as the variance within records is times that between their means,
 * from which chance is taken off first. */
static struct common common_make(const struct reference_stats *stats, size_t n, int side, double weight)
{
    static const double most = 1e9; /* means that differ by chance only */
    struct common c = {.variance =
                           fmax(side == REFERENCE_IN ? stats->in_variance : stats->out_variance, 1e-24),
                       .weight = weight};
    double sum = 0, squares = 0, chance = 0, count = 0;
    for (size_t i = 0; i < n; i++) {
        const struct reference_summary *r = &stats->summary[i];
        if (r->count[side] < 2)
            continue;
        sum += r->mean[side];
        chance += c.variance / (double)r->count[side];
        count++;
    }
    c.mean = sum / count;
    for (size_t i = 0; i < n; i++) {
        const struct reference_summary *r = &stats->summary[i];
        if (r->count[side] >= 2)
            squares += (r->mean[side] - c.mean) * (r->mean[side] - c.mean);
    }
    double between = count > 1 ? squares / (count - 1) - chance / count : 0;
    c.mean_weight = between > c.variance / most ? c.variance / between : most;
    return c;
}

/* ln of the density of a value yet to come, after what a side has seen (Gelman et al., Bayesian Data Analysis,
 * section 3.3). A side with fewer than 2 values has its class's mean and the common variance. */
static double log_density(double signal, const struct reference_side *side, const struct common *c)
{
    double n = (double)side->count, weight = c->mean_weight + n, off = side->mean - c->mean;
    double mean = side->mean, freedom = c->weight, scale = c->variance;
    if (!side->fallback) {
        mean = (c->mean_weight * c->mean + n * side->mean) / weight;
        freedom = c->weight + n;
        scale = (c->weight * c->variance + side->squares + c->mean_weight * n * off * off / weight) /
                freedom * (1 + 1 / weight);
    }
    double z = (signal - mean) * (signal - mean) / scale;
    return lgamma((freedom + 1) / 2) - lgamma(freedom / 2) - log(freedom * scale) / 2 -
           (freedom + 1) / 2 * log1p(z / freedom);
}

static sotto_status attack_lira_student_run(struct attack_output *out, const struct attack_input *in,
                                            const double *args)
{
    sotto_status status = SOTTO_OK;
    struct reference_stats stats = {0};
    TRY(reference_stats_make(&stats, in, true));
    struct common of_in = common_make(&stats, in->n, REFERENCE_IN, args[0]),
                  of_out = common_make(&stats, in->n, REFERENCE_OUT, args[0]);
    for (size_t i = 0; i < in->n; i++) {
        const struct reference_record r = reference_record_of(&stats, i);
        double signal = posterior_signal(in, i);
        out->scores[i] = log_density(signal, &r.in, &of_in) - log_density(signal, &r.out, &of_out);
        out->fallback[i] = r.in.fallback || r.out.fallback;
    }
done:
    reference_stats_clear(&stats);
    return status;
}

static const struct parameter params[] = {
    {"prior", "weight of the pooled variance, in values", 8, 0.1, 1e9, false}, {0}};

const struct score_attack attack_lira_student = {.name = "lira-student",
                                                 .title = "LiRA, online, Student's t of few models",
                                                 .source = "Carlini et al. 2022, with a conjugate prior",
                                                 .needs = NEED_LOSSES | NEED_OUT | NEED_IN | NEED_SEVERAL,
                                                 .params = params,
                                                 .run = attack_lira_student_run};
