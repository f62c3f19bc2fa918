/* Sixteen lanes at every level, so that sums have the same bits. */
#include "audit/score/reference_kernel.h"
#include "audit/score/posterior.h"
#include "base/simd.h"

#include <math.h>
#include <string.h>

enum { LANES = REFERENCE_LANES };

enum { CHUNK = 256 /* models */, HALVES = 2, HALF = LANES / HALVES };

/* A side's signals in the models' order, each with the lane that leaves it out (LANES: none does). */
struct column {
    double x[CHUNK];
    int skip[CHUNK];
    size_t count;
};

INLINE void reference_kernel_divide(struct column side[2], size_t *next, const struct reference_row *r,
                                    size_t first)
{
    const size_t end = r->models - first < CHUNK ? r->models : first + CHUNK;
    side[0].count = side[1].count = 0;
    for (size_t m = first; m < end; m++) {
        struct column *c = &side[r->trained && r->trained[m]];
        const bool skipped = *next < LANES && r->left_out[*next] == m;
        c->x[c->count] = r->signals[m];
        c->skip[c->count++] = skipped ? (int)*next : LANES;
        *next += skipped;
    }
}

/* All bits of the lanes that a model counts for: those of skip + 1 .. skip + LANES here, read from an odd place. */
static const uint64_t counts[2 * LANES + 1] = {
    [0 ... LANES - 1] = ~(uint64_t)0, [LANES] = 0, [LANES + 1 ... 2 * LANES] = ~(uint64_t)0};
typedef u64x8 stored_u64x8 __attribute__((aligned(8)));
typedef f64x8 stored_f64x8 __attribute__((aligned(8), may_alias));

INLINE u64x8 counts_for(int skip, int half)
{
    return *(const stored_u64x8 *)(counts + LANES - skip + half * HALF);
}

/* Where the mask is 0, a: x elsewhere. */
INLINE f64x8 reference_kernel_choose(u64x8 mask, f64x8 x, f64x8 a)
{
    return (f64x8)(((u64x8)x & mask) | ((u64x8)a & ~mask));
}

INLINE f64x8 reference_kernel_all(double x)
{
    return x - (f64x8){0}; /* x - 0 keeps -0 */
}

INLINE f64x8 reference_kernel_load(const double *x, int half)
{
    return *(const stored_f64x8 *)(x + half * HALF);
}

INLINE void reference_kernel_store(double *x, int half, f64x8 v)
{
    *(stored_f64x8 *)(x + half * HALF) = v;
}

/* A lane adds the models in their order. Adding 0 for the one that it leaves out keeps its bits: a sum that started at 0 is
 * never -0. */
INLINE void add_signals(struct reference_sums *s, const struct column *c, int side, int half)
{
    f64x8 sum = reference_kernel_load(s->mean[side], half);
    for (size_t i = 0; i < c->count; i++)
        sum += reference_kernel_choose(counts_for(c->skip[i], half), reference_kernel_all(c->x[i]),
                                       reference_kernel_all(0));
    reference_kernel_store(s->mean[side], half, sum);
}

INLINE void add_squares(struct reference_sums *s, const struct column *c, int side, int half)
{
    const f64x8 mean = reference_kernel_load(s->mean[side], half);
    f64x8 sum = reference_kernel_load(s->squares[side], half);
    for (size_t i = 0; i < c->count; i++) {
        const f64x8 away = reference_kernel_choose(
            counts_for(c->skip[i], half), reference_kernel_all(c->x[i]) - mean, reference_kernel_all(0));
        sum += away * away;
    }
    reference_kernel_store(s->squares[side], half, sum);
}

INLINE void add_probabilities(struct reference_sums *s, const struct column *c, const double *p, int side,
                              int half)
{
    f64x8 sum = reference_kernel_load(s->probability[side], half), top = reference_kernel_load(s->top, half);
    for (size_t i = 0; i < c->count; i++) {
        const u64x8 mask = counts_for(c->skip[i], half);
        const f64x8 x =
            reference_kernel_choose(mask, reference_kernel_all(c->x[i]), reference_kernel_all(-INFINITY));
        sum += reference_kernel_choose(mask, reference_kernel_all(p[i]), reference_kernel_all(0));
        top = reference_kernel_choose((u64x8)(x > top), x, top);
    }
    reference_kernel_store(s->probability[side], half, sum);
    reference_kernel_store(s->top, half, top);
}

INLINE void add_ranks(struct reference_sums *s, const struct column *c, const double *target, int half)
{
    const f64x8 mine = reference_kernel_load(target, half);
    f64x8 below = reference_kernel_load(s->below, half);
    for (size_t i = 0; i < c->count; i++) {
        const u64x8 mask = counts_for(c->skip[i], half);
        const f64x8 x = reference_kernel_all(c->x[i]);
        below += reference_kernel_choose(mask & (u64x8)(x < mine), reference_kernel_all(0.5),
                                         reference_kernel_all(0)) +
                 reference_kernel_choose(mask & (u64x8)(x <= mine), reference_kernel_all(0.5),
                                         reference_kernel_all(0));
    }
    reference_kernel_store(s->below, half, below);
}

INLINE void add_counts(struct reference_sums *s, const struct column *c, int side)
{
    for (int t = 0; t < LANES; t++)
        s->count[side][t] += (uint32_t)c->count;
    for (size_t i = 0; i < c->count; i++)
        if (c->skip[i] < LANES)
            s->count[side][c->skip[i]]--;
}

INLINE void add_side(struct reference_sums *s, const struct reference_row *r, const struct column *c,
                     int side)
{
    double p[CHUNK];
    add_counts(s, c, side);
    for (size_t i = 0; r->probabilities && i < c->count; i++)
        p[i] = probability_of_signal(c->x[i]);
    for (int half = 0; half < HALVES; half++) {
        add_signals(s, c, side, half);
        if (r->probabilities)
            add_probabilities(s, c, p, side, half);
        if (r->target && side == 0)
            add_ranks(s, c, r->target, half);
    }
}

reference_kernel ISA_NAME(reference_kernel);
void ISA_NAME(reference_kernel)(struct reference_sums *out, const struct reference_row *r)
{
    struct reference_sums s = {0};
    struct column side[2];
    size_t next = 0;
    for (int t = 0; t < LANES; t++)
        s.top[t] = r->probabilities ? -INFINITY : 0;
    for (size_t first = 0; first < r->models; first += CHUNK) {
        reference_kernel_divide(side, &next, r, first);
        for (int k = 0; k < 2; k++)
            add_side(&s, r, &side[k], k);
    }
    for (int k = 0; k < 2; k++)
        for (int t = 0; t < LANES; t++)
            s.mean[k][t] = s.count[k][t] ? s.mean[k][t] / s.count[k][t] : 0;
    next = 0;
    for (size_t first = 0; first < r->models; first += CHUNK) {
        if (r->models > CHUNK)
            reference_kernel_divide(side, &next, r, first);
        for (int k = 0; k < 2; k++)
            for (int half = 0; half < HALVES; half++)
                add_squares(&s, &side[k], k, half);
    }
    *out = s;
}
