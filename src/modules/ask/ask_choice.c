/* docs/derivations/ask.md has why a choice counts as a noisy cell. */
#include "ask/ask_choice.h"

#include "base/memory.h"
#include "dp/release/statistic.h"

#include <math.h>

enum { STEPS = 8192 };
static const double rank = 0x1p30; /* scores are whole parts of it */

struct ask_tree ask_choice_edges(const struct encoding_column *c)
{
    return ask_edges_of(c, STEPS);
}

/* The coin of a gap is e^(-gap / divisor). Rounded up, by more than all roundings. */
static double divisor_of(const struct ask_query *q, double scale, bool gaussian)
{
    const double least = statistic_choice_scale(gaussian ? "gaussian" : "laplace", scale, q->mass);
    return ceil(least * (1 + 0x1p-50) * 2 * rank);
}

double ask_choice_scale(const struct ask_query *q, double scale, bool gaussian)
{
    return divisor_of(q, scale, gaussian) / (2 * rank);
}

/* Each edge that is x ranks off is chosen with probability e^(-x / (2 scale)) at most, and one of them is off by none. */
double ask_choice_within(const struct ask_query *q, const struct ask_plan *plan, double scale, double rare,
                         bool gaussian)
{
    const struct ask_tree t = ask_choice_edges(&plan->schema->columns[q->columns[0]]);
    const double least = statistic_choice_scale(gaussian ? "gaussian" : "laplace", scale, q->mass);
    return 2 * least * log((double)t.edges / rare);
}

/* An edge is right if the share of all rows lies behind the edge before and up to this one, and else off by as many ranks. One is
 * right, the first up to which so many rows lie. */
void ask_choice_gaps(uint128 *gap, const int64_t *counts, const struct ask_tree *t, double share)
{
    const int64_t one = (int64_t)rank, part = (int64_t)nearbyint(share * rank);
    int128 before = 0; /* rows up to the edge before, less that share of all */
    for (size_t i = 0; i < t->edges; i++)
        before -= (int128)part * counts[i];
    for (size_t i = 0; i < t->edges; i++) {
        const int128 upto = before + (int128)one * counts[i];
        gap[i] = (uint128)(upto < 0 ? -upto : before > 0 ? before : 0);
        before = upto;
    }
}

static sotto_status choose_edges(double *out, const struct ask_plan *plan, const struct ask_query *q,
                                 const int64_t *counts, uint64_t divisor, struct vector_release *v)
{
    sotto_status status = SOTTO_OK;
    const struct ask_tree t = ask_choice_edges(&plan->schema->columns[q->columns[0]]);
    uint128 *gap = NULL;
    size_t *left = NULL;
    NEW(gap, t.edges);
    NEW(left, t.edges);
    for (size_t i = 0; i < t.edges; i++)
        left[i] = i;
    for (size_t g = 0; g < q->groups; g++)
        for (size_t k = 0; k < q->share_count; k++) {
            ask_choice_gaps(gap, counts + g * t.edges, &t, q->shares[k]);
            const size_t chosen = vector_release_choose(gap, left, t.edges, divisor, v);
            out[g * q->share_count + k] = t.low + (double)chosen * t.step;
        }
done:
    if (gap)
        base_wipe(gap, t.edges * sizeof *gap);
    base_free(gap);
    base_free(left);
    return status;
}

sotto_status ask_choices_draw(double *out, const struct ask_plan *plan, const int64_t *sums,
                              struct vector_release *v, bool gaussian)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = 0; i < plan->count; i++) {
        const struct ask_query *q = &plan->queries[i];
        if (q->one_by_one && !q->again)
            TRY(choose_edges(out + q->chosen, plan, q, sums + q->first,
                             (uint64_t)divisor_of(q, vector_release_scale(v), gaussian), v));
    }
done:
    return status;
}
