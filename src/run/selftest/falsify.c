/* Choosing events on one half of the outputs and testing them on the other. */
#include "selftest/falsify.h"

#include "base/memory.h"
#include "num/beta.h"
#include "selftest/falsify_features.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CANDIDATES = 4096, CELLS = 2 * CANDIDATES + 1 };
enum side { BELOW, ABOVE, EQUAL };

struct event {
    int feature;
    enum side side;
    bool or_equal;
    double bound;
    int world;    /* where it is more likely */
    double score; /* on the training half: how far it seems to break the claim */
};
/* One event per test: FALSIFY_EPSILONS times two worlds, then the odds ratio in two worlds. */
struct search {
    const struct falsify_outputs *o;
    const struct falsify_claim *claim;
    struct falsify_score score;
    struct event best[FALSIFY_TESTS];
    size_t train;
    double candidates[CANDIDATES];
    int candidate_count;
    double cells[2]
                [CELLS]; /* training outputs: even cells lie between candidates, odd ones are equal to them */
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double falsify_value(const struct search *s, int feature, int world, size_t i)
{
    return falsify_feature(feature, s->o->world[world] + i * (size_t)s->o->width, s->o->width, &s->score);
}

/* Distinct values of a sample of both worlds, sorted. */
static void choose_candidates(struct search *s, int feature)
{
    size_t each = s->train < CANDIDATES / 2 ? s->train : CANDIDATES / 2, step = s->train / each;
    int n = 0, kept = 0;
    for (int w = 0; w < 2; w++)
        for (size_t i = 0; i < each; i++)
            s->candidates[n++] = falsify_value(s, feature, w, i * step);
    qsort(s->candidates, (size_t)n, sizeof *s->candidates, by_value);
    for (int i = 0; i < n; i++)
        if (kept == 0 || s->candidates[i] != s->candidates[kept - 1])
            s->candidates[kept++] = s->candidates[i];
    s->candidate_count = kept;
}

static int cell_of(const struct search *s, double x)
{
    int low = 0, high = s->candidate_count; /* first candidate >= x */
    while (low < high) {
        int middle = (low + high) / 2;
        if (s->candidates[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    return 2 * low + (low < s->candidate_count && s->candidates[low] == x);
}

static void count_cells(struct search *s, int feature)
{
    memset(s->cells, 0, sizeof s->cells);
    for (int w = 0; w < 2; w++)
        for (size_t i = 0; i < s->train; i++)
            s->cells[w][cell_of(s, falsify_value(s, feature, w, i))]++;
}

/* Half the width of a three-sigma interval for a share p of n. */
static double falsify_doubt(double p, double n)
{
    return 3 * sqrt((p * (1 - p) + 1 / n) / n);
}

static double falsify_logit(double p)
{
    return log(p) - log1p(-p);
}

/* How far the shares (p where the event is likelier) break test `t` of the claim. */
static double falsify_excess(const struct search *s, int t, double p, double q, double p_doubt,
                             double q_doubt)
{
    double high = fmax(0, p - p_doubt), low = fmin(1, q + q_doubt);
    if (t >= 2 * FALSIFY_EPSILONS)
        return high > 0 && low < 1 ? falsify_logit(high) - falsify_logit(low) - s->claim->log_odds
                                   : -INFINITY;
    return high - exp(s->claim->epsilon[t / 2]) * low - s->claim->delta[t / 2];
}

static int test_count(const struct falsify_claim *claim)
{
    return isnan(claim->log_odds) ? 2 * FALSIFY_EPSILONS : FALSIFY_TESTS;
}

static void try_event(struct search *s, struct event e, enum side side, bool or_equal, const double count[2])
{
    e.side = side;
    e.or_equal = or_equal;
    double n = (double)s->train, share[2] = {count[0] / n, count[1] / n};
    for (int t = 0; t < test_count(s->claim); t++) {
        int w = t % 2;
        if (share[w] <= share[1 - w])
            continue;
        e.score = falsify_excess(s, t, share[w], share[1 - w], falsify_doubt(share[w], n),
                                 falsify_doubt(share[1 - w], n));
        e.world = w;
        if (e.score > s->best[t].score)
            s->best[t] = e;
    }
}

static void falsify_sweep(struct search *s, int feature)
{
    double below[2] = {0, 0}, n = (double)s->train;
    choose_candidates(s, feature);
    count_cells(s, feature);
    for (int i = 0; i < s->candidate_count; i++) {
        double equal[2], above[2];
        struct event e = {.feature = feature, .bound = s->candidates[i]};
        for (int w = 0; w < 2; w++) {
            below[w] += s->cells[w][2 * i];
            equal[w] = s->cells[w][2 * i + 1];
            above[w] = n - below[w];
        }
        try_event(s, e, BELOW, false, below);
        try_event(s, e, ABOVE, true, above);
        try_event(s, e, EQUAL, true, equal);
        for (int w = 0; w < 2; w++) {
            below[w] += equal[w];
            above[w] -= equal[w];
        }
        try_event(s, e, BELOW, true, below);
        try_event(s, e, ABOVE, false, above);
    }
}

static bool falsify_happens(const struct event *e, double x)
{
    if (x == e->bound)
        return e->or_equal;
    return (e->side == BELOW && x < e->bound) || (e->side == ABOVE && x > e->bound);
}

/* The event on the other half, with proved bounds of both probabilities: the proved part of the excess. */
static double falsify_proved(const struct search *s, int t, double error)
{
    const struct event *e = &s->best[t];
    double n = (double)(s->o->draws - s->train), count[2] = {0, 0}, low, high, ignored;
    for (int w = 0; w < 2; w++)
        for (size_t i = s->train; i < s->o->draws; i++)
            count[w] += falsify_happens(e, falsify_value(s, e->feature, w, i));
    clopper_pearson(&low, &ignored, count[e->world], n, 1 - error); /* each end errs with error / 2 */
    clopper_pearson(&ignored, &high, count[1 - e->world], n, 1 - error);
    return falsify_excess(s, t, low, high, 0, 0);
}

static void falsify_describe(struct falsify_verdict *v, const struct event *e, int width)
{
    static const char *const signs[][2] = {{"<", "<="}, {">", ">="}, {"==", "=="}};
    snprintf(v->event, sizeof v->event, "%s %s %.6g", falsify_feature_name(e->feature, width),
             signs[e->side][e->or_equal], e->bound);
}

/* Reported is the worst violation or, where there is none, how much of delta(0) the attack can prove. */
static void falsify_judge(struct falsify_verdict *v, const struct search *s, double error)
{
    double worst = -INFINITY;
    *v = (struct falsify_verdict){.claimed = s->claim->delta[0]};
    for (int t = 0; t < test_count(s->claim); t++) {
        if (s->best[t].score == -INFINITY)
            continue; /* no event is likelier in that world */
        double over = falsify_proved(s, t, error);
        if (over <= fmax(worst, t < 2 ? -INFINITY : 0))
            continue;
        worst = over;
        v->caught = over > 0;
        bool odds = t >= 2 * FALSIFY_EPSILONS;
        v->epsilon = odds ? NAN : s->claim->epsilon[t / 2];
        v->claimed = odds ? s->claim->log_odds : s->claim->delta[t / 2];
        v->proved = fmax(0, over + v->claimed);
        falsify_describe(v, &s->best[t], s->o->width);
    }
}

sotto_status falsify(struct falsify_verdict *out, const struct falsify_outputs *o,
                     const struct falsify_claim *claim, double error)
{
    struct search *s = base_alloc(1, sizeof *s);
    if (!s)
        return status_fail(SOTTO_ENOMEM, "falsifier: out of memory");
    s->o = o;
    s->claim = claim;
    s->train = o->draws / 2;
    for (int t = 0; t < FALSIFY_TESTS; t++)
        s->best[t].score = -INFINITY;
    if (o->width > 1)
        falsify_learn(&s->score, o, s->train);
    for (int f = 0; f < falsify_feature_count(o->width); f++)
        falsify_sweep(s, f);
    falsify_judge(out, s, error);
    base_free(s);
    return SOTTO_OK;
}
