/* Two passes: every record's own statistics, then what stands in for records that have none. */
#include "audit/score/reference.h"

#include <math.h>

struct mean {
    double sum;
    size_t count;
};

static void add_mean(struct mean *mean, double x)
{
    mean->sum += x;
    mean->count++;
}

/* Two passes over the record's signals, which stay in cache: a running mean would wait for a quotient each. */
static void summarise(struct reference_record *r, const struct attack_input *in, size_t row)
{
    const double *x = in->reference + row * in->models;
    const uint8_t *trained = in->trained ? in->trained + row * in->models : NULL;
    double sum[2] = {0, 0}, squares[2] = {0, 0}, mean[2] = {0, 0};
    size_t count[2] = {0, 0};
    for (size_t m = 0; m < in->models; m++)
        if (attack_compares(in, m)) {
            size_t side = trained && trained[m];
            sum[side] += x[m];
            count[side]++;
        }
    for (size_t side = 0; side < 2; side++)
        mean[side] = count[side] ? sum[side] / (double)count[side] : 0;
    for (size_t m = 0; m < in->models; m++)
        if (attack_compares(in, m)) {
            size_t side = trained && trained[m];
            squares[side] += (x[m] - mean[side]) * (x[m] - mean[side]);
        }
    r->out = (struct reference_side){.count = count[0], .mean = mean[0], .squares = squares[0]};
    r->in = (struct reference_side){.count = count[1], .mean = mean[1], .squares = squares[1]};
}

static struct reference_side *side_of(struct reference_record *r, bool in)
{
    return in ? &r->in : &r->out;
}

/* Fills in one side's pooled variance and fallbacks. by_class: (classes + 1), the last for everybody. */
static sotto_status pool(double *variance, struct reference_stats *s, const struct attack_input *in,
                         bool is_in, struct mean *by_class)
{
    sotto_status status = SOTTO_OK;
    double squares = 0;
    size_t freedom = 0, everybody = in->labels ? in->classes : 0;
    for (size_t k = 0; k <= everybody; k++)
        by_class[k] = (struct mean){0, 0};
    for (size_t i = 0; i < in->n; i++) {
        const struct reference_side *side = side_of(&s->record[i], is_in);
        if (side->count < 2)
            continue;
        squares += side->squares;
        freedom += side->count - 1;
        add_mean(&by_class[everybody], side->mean);
        if (in->labels)
            add_mean(&by_class[in->labels[i]], side->mean);
    }
    REQUIRE(freedom > 0, "references: no record has 2 models that were %s on it; expected at least 2",
            is_in ? "trained" : "not trained");
    *variance = squares / (double)freedom;
    for (size_t i = 0; i < in->n; i++) {
        struct reference_side *side = side_of(&s->record[i], is_in);
        if (side->count >= 2)
            continue;
        const struct mean *mean = &by_class[in->labels ? (size_t)in->labels[i] : everybody];
        if (mean->count == 0)
            mean = &by_class[everybody];
        *side = (struct reference_side){.mean = mean->sum / (double)mean->count, .fallback = true};
    }
done:
    return status;
}

sotto_status reference_stats_make(struct reference_stats *out, const struct attack_input *in, bool online)
{
    sotto_status status = SOTTO_OK;
    struct reference_stats s = {0};
    struct mean *by_class = NULL;
    NEW(s.record, in->n);
    NEW(by_class, (in->labels ? in->classes : 0) + 1);
    for (size_t i = 0; i < in->n; i++)
        summarise(&s.record[i], in, i);
    TRY(pool(&s.out_variance, &s, in, false, by_class));
    if (online)
        TRY(pool(&s.in_variance, &s, in, true, by_class));
    *out = s;
done:
    base_free(by_class);
    if (status != SOTTO_OK)
        reference_stats_clear(&s);
    return status;
}

void reference_stats_clear(struct reference_stats *s)
{
    base_free(s->record);
    *s = (struct reference_stats){0};
}

double reference_variance(const struct reference_side *side, double pooled, double prior)
{
    static const double smallest = 1e-24; /* constant signals: a spread of 1e-12 nats */
    double variance = pooled;
    if (isfinite(prior) && side->count >= 2)
        variance = (prior * pooled + side->squares) / (prior + (double)side->count - 1);
    return fmax(variance, smallest);
}
