/* Sixteen lanes at every level, so that sums have the same bits. */
#include "audit/score/reference_kernel.h"
#include "audit/score/posterior.h"
#include "base/simd.h"

#include <math.h>

enum { LANES = REFERENCE_LANES };

/* Every lane but `skip`, which stays as it was; -1: every lane. */
INLINE void add(double sum[LANES], double x, int skip)
{
    double kept = skip < 0 ? 0 : sum[skip];
    for (int t = 0; t < LANES; t++)
        sum[t] += x;
    if (skip >= 0)
        sum[skip] = kept;
}

INLINE void add_square(double sum[LANES], double x, const double mean[LANES], int skip)
{
    double kept = skip < 0 ? 0 : sum[skip];
    for (int t = 0; t < LANES; t++)
        sum[t] += (x - mean[t]) * (x - mean[t]);
    if (skip >= 0)
        sum[skip] = kept;
}

INLINE void lift(double top[LANES], double x, int skip)
{
    double kept = skip < 0 ? 0 : top[skip];
    for (int t = 0; t < LANES; t++)
        top[t] = x > top[t] ? x : top[t];
    if (skip >= 0)
        top[skip] = kept;
}

INLINE void rank(double below[LANES], double x, const double target[LANES], int skip)
{
    double kept = skip < 0 ? 0 : below[skip];
    for (int t = 0; t < LANES; t++)
        below[t] += (x < target[t] ? 0.5 : 0) + (x <= target[t] ? 0.5 : 0);
    if (skip >= 0)
        below[skip] = kept;
}

/* Models in their order, each with the lane that leaves it out. */
struct walk {
    size_t side;
    double x;
    int skip, next;
};
INLINE void visit(struct walk *w, const struct reference_row *r, size_t m)
{
    w->side = r->trained && r->trained[m];
    w->x = r->signals[m];
    w->skip = w->next < LANES && r->left_out[w->next] == m ? w->next++ : -1;
}

INLINE void add_moments(struct reference_sums *s, const struct reference_row *r)
{
    uint32_t count[2] = {0, 0};
    struct walk w = {0};
    for (size_t m = 0; m < r->models; m++) {
        visit(&w, r, m);
        add(s->mean[w.side], w.x, w.skip);
        count[w.side]++;
        if (w.skip >= 0)
            s->count[w.side][w.skip] = UINT32_MAX; /* -1 */
    }
    for (int side = 0; side < 2; side++)
        for (int t = 0; t < LANES; t++)
            s->count[side][t] += count[side];
    for (int side = 0; side < 2; side++)
        for (int t = 0; t < LANES; t++)
            s->mean[side][t] = s->count[side][t] ? s->mean[side][t] / s->count[side][t] : 0;
    w = (struct walk){0};
    for (size_t m = 0; m < r->models; m++) {
        visit(&w, r, m);
        add_square(s->squares[w.side], w.x, s->mean[w.side], w.skip);
    }
}

INLINE void add_probabilities(struct reference_sums *s, const struct reference_row *r)
{
    struct walk w = {0};
    for (int t = 0; t < LANES; t++)
        s->top[t] = -INFINITY;
    for (size_t m = 0; m < r->models; m++) {
        visit(&w, r, m);
        const double p = probability_of_signal(w.x);
        add(s->probability[w.side], p, w.skip);
        lift(s->top, w.x, w.skip);
    }
}

INLINE void add_ranks(struct reference_sums *s, const struct reference_row *r)
{
    struct walk w = {0};
    for (size_t m = 0; m < r->models; m++) {
        visit(&w, r, m);
        if (w.side == 0)
            rank(s->below, w.x, r->target, w.skip);
    }
}

reference_kernel ISA_NAME(reference_kernel);
void ISA_NAME(reference_kernel)(struct reference_sums *out, const struct reference_row *r)
{
    struct reference_sums s = {0};
    add_moments(&s, r);
    if (r->probabilities)
        add_probabilities(&s, r);
    if (r->target)
        add_ranks(&s, r);
    *out = s;
}
