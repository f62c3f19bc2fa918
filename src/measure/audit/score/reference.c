/* Two passes: every record's own statistics, then what stands in for records that have none. */
#include "audit/score/reference.h"
#include "audit/score/posterior.h"
#include "audit/score/reference_kernel.h"

#include <math.h>

ISA_TABLE(reference_kernel, reference_kernel, reference_kernel_best);

/* Logarithm of the mean of the sides' means; a side without models has no say. */
static double log_mean_of(const double sum[2], const uint32_t count[2])
{
    double means = 0, sides = 0;
    for (int side = 0; side < 2; side++)
        if (count[side])
            means += sum[side] / count[side], sides++;
    return log(means / sides);
}

/* Where probabilities themselves would vanish, relative to the largest. */
static double log_mean_of_tiny(const struct reference_row *r, size_t left_out, double top,
                               const uint32_t count[2])
{
    const double log_top = log_probability_of_signal(top);
    double sum[2] = {0, 0};
    for (size_t m = 0; m < r->models; m++)
        if (m != left_out)
            sum[r->trained && r->trained[m]] += exp(log_probability_of_signal(r->signals[m]) - log_top);
    return log_top + log_mean_of(sum, count);
}

struct reference_summary reference_summary_lane(const struct reference_sums *s, const struct reference_row *r,
                                                int lane)
{
    static const double tiny = -600;
    struct reference_summary out = {.below = s->below[lane]};
    for (int side = 0; side < 2; side++) {
        out.mean[side] = s->mean[side][lane];
        out.squares[side] = s->squares[side][lane];
        out.probability[side] = s->probability[side][lane];
        out.count[side] = s->count[side][lane];
    }
    if (r->probabilities)
        out.log_mean = s->top[lane] < tiny ? log_mean_of_tiny(r, r->left_out[lane], s->top[lane], out.count)
                                           : log_mean_of(out.probability, out.count);
    return out;
}

const struct reference_summary *
reference_summary_of(struct reference_summary *own, const struct attack_input *in, size_t row, unsigned parts)
{
    if (in->summary)
        return &in->summary[row];
    struct reference_sums sums;
    double target[REFERENCE_LANES] = {0};
    struct reference_row r = {.signals = in->reference + row * in->models,
                              .trained = in->trained ? in->trained + row * in->models : NULL,
                              .models = in->models,
                              .probabilities = parts & REFERENCE_PROBABILITIES};
    for (int t = 0; t < REFERENCE_LANES; t++)
        r.left_out[t] = SIZE_MAX;
    r.left_out[0] = in->target_model - 1; /* SIZE_MAX: none */
    if (parts & REFERENCE_RANK) {
        target[0] = posterior_signal(in, row);
        r.target = target;
    }
    reference_kernel_best()(&sums, &r);
    *own = reference_summary_lane(&sums, &r, 0);
    return own;
}

static void add_mean(struct reference_mean *mean, double x)
{
    mean->sum += x;
    mean->count++;
}

/* One side's pooled variance, and what stands in for records without models there. */
static sotto_status reference_pool(double *variance, struct reference_stats *s, int side)
{
    sotto_status status = SOTTO_OK;
    const struct attack_input *in = s->input;
    double squares = 0;
    size_t freedom = 0, everybody = in->labels ? in->classes : 0;
    NEW(s->by_class[side], everybody + 1);
    for (size_t i = 0; i < in->n; i++) {
        const struct reference_summary *r = &s->summary[i];
        if (r->count[side] < 2)
            continue;
        squares += r->squares[side];
        freedom += r->count[side] - 1;
        add_mean(&s->by_class[side][everybody], r->mean[side]);
        if (in->labels)
            add_mean(&s->by_class[side][in->labels[i]], r->mean[side]);
    }
    REQUIRE(freedom > 0, "references: no record has 2 models that were %s on it; expected at least 2",
            side == REFERENCE_IN ? "trained" : "not trained");
    *variance = squares / (double)freedom;
done:
    return status;
}

static sotto_status summaries_make(struct reference_stats *s)
{
    sotto_status status = SOTTO_OK;
    s->summary = s->input->summary;
    if (s->summary)
        return SOTTO_OK;
    NEW(s->own, s->input->n);
    for (size_t i = 0; i < s->input->n; i++)
        reference_summary_of(&s->own[i], s->input, i, REFERENCE_MOMENTS);
    s->summary = s->own;
done:
    return status;
}

sotto_status reference_stats_make(struct reference_stats *out, const struct attack_input *in, bool online)
{
    sotto_status status = SOTTO_OK;
    struct reference_stats s = {.input = in};
    TRY(summaries_make(&s));
    TRY(reference_pool(&s.out_variance, &s, REFERENCE_OUT));
    if (online)
        TRY(reference_pool(&s.in_variance, &s, REFERENCE_IN));
    *out = s;
done:
    if (status != SOTTO_OK)
        reference_stats_clear(&s);
    return status;
}

void reference_stats_clear(struct reference_stats *s)
{
    base_free(s->own);
    base_free(s->by_class[REFERENCE_OUT]);
    base_free(s->by_class[REFERENCE_IN]);
    *s = (struct reference_stats){0};
}

static struct reference_side side_of(const struct reference_stats *s, size_t row, int side)
{
    const struct attack_input *in = s->input;
    const struct reference_summary *r = &s->summary[row];
    const struct reference_mean *by_class = s->by_class[side];
    size_t everybody = in->labels ? in->classes : 0;
    if (r->count[side] >= 2 || !by_class)
        return (struct reference_side){r->count[side], r->mean[side], r->squares[side], false};
    const struct reference_mean *mean = &by_class[in->labels ? (size_t)in->labels[row] : everybody];
    if (mean->count == 0)
        mean = &by_class[everybody];
    return (struct reference_side){.mean = mean->sum / (double)mean->count, .fallback = true};
}

struct reference_record reference_record_of(const struct reference_stats *s, size_t row)
{
    return (struct reference_record){.in = side_of(s, row, REFERENCE_IN),
                                     .out = side_of(s, row, REFERENCE_OUT)};
}

double reference_variance(const struct reference_side *side, double pooled, double prior)
{
    static const double smallest = 1e-24; /* constant signals: a spread of 1e-12 nats */
    double variance = pooled;
    if (isfinite(prior) && side->count >= 2)
        variance = (prior * pooled + side->squares) / (prior + (double)side->count - 1);
    return fmax(variance, smallest);
}
