/* Everything works on sorted distinct scores with cumulative counts, so ties cannot be mishandled twice. */
#include "audit/measure/metrics.h"

#include "audit/measure/sorted.h"
#include "num/beta.h"

#include <math.h>
#include <string.h>

/* Both sides sorted, then merged from the top. */
static void metrics_merge(struct roc *c, const double *member, const double *nonmember)
{
    size_t m = c->n_member, n = c->n_nonmember; /* how many are left */
    while (m > 0 || n > 0) {
        double top = n == 0 || (m > 0 && member[m - 1] > nonmember[n - 1]) ? member[m - 1] : nonmember[n - 1];
        while (m > 0 && member[m - 1] == top)
            m--;
        while (n > 0 && nonmember[n - 1] == top)
            n--;
        c->score[c->points] = top;
        c->true_positives[c->points] = c->n_member - m;
        c->false_flags[c->points++] = c->n_nonmember - n;
    }
}

sotto_status roc_room_make(struct roc_room *out, size_t capacity)
{
    sotto_status status = SOTTO_OK;
    struct roc_room room = {.capacity = capacity};
    NEW(room.sorted, capacity);
    NEW(room.scratch, capacity);
    NEW(room.score, capacity);
    NEW(room.true_positives, capacity);
    NEW(room.false_flags, capacity);
    *out = room;
done:
    if (status != SOTTO_OK)
        roc_room_clear(&room);
    return status;
}

void roc_room_clear(struct roc_room *room)
{
    base_free(room->sorted);
    base_free(room->scratch);
    base_free(room->score);
    base_free(room->true_positives);
    base_free(room->false_flags);
    *room = (struct roc_room){0};
}

void roc_fill(struct roc *out, struct roc_room *room, const double *member, size_t n_member,
              const double *nonmember, size_t n_nonmember)
{
    double *sorted = room->sorted;
    *out = (struct roc){.n_member = n_member,
                        .n_nonmember = n_nonmember,
                        .score = room->score,
                        .true_positives = room->true_positives,
                        .false_flags = room->false_flags};
    memcpy(sorted, member, n_member * sizeof *sorted);
    memcpy(sorted + n_member, nonmember, n_nonmember * sizeof *sorted);
    sort_rising(sorted, n_member, room->scratch);
    sort_rising(sorted + n_member, n_nonmember, room->scratch);
    metrics_merge(out, sorted, sorted + n_member);
}

sotto_status roc_make(struct roc *out, const double *member, size_t n_member, const double *nonmember,
                      size_t n_nonmember)
{
    sotto_status status = SOTTO_OK;
    struct roc_room room = {0};
    TRY(roc_room_make(&room, n_member + n_nonmember));
    roc_fill(out, &room, member, n_member, nonmember, n_nonmember);
    room.score = NULL, room.true_positives = room.false_flags = NULL; /* the curve's own */
done:
    roc_room_clear(&room);
    return status;
}

void roc_clear(struct roc *c)
{
    base_free(c->score);
    base_free(c->true_positives);
    base_free(c->false_flags);
    *c = (struct roc){0};
}

struct roc roc_swapped(const struct roc *c)
{
    return (struct roc){.points = c->points,
                        .n_member = c->n_nonmember,
                        .n_nonmember = c->n_member,
                        .score = c->score,
                        .true_positives = c->false_flags,
                        .false_flags = c->true_positives};
}

static double tpr_of(const struct roc *c, size_t i)
{
    return (double)c->true_positives[i] / (double)c->n_member;
}

static double fpr_of(const struct roc *c, size_t i)
{
    return (double)c->false_flags[i] / (double)c->n_nonmember;
}

/* A threshold between point i and the next lower score: it flags exactly the records of points 0 .. i. */
static double threshold_below(const struct roc *c, size_t i)
{
    if (i + 1 == c->points)
        return -INFINITY;
    double high = c->score[i], low = c->score[i + 1], middle = low + (high - low) / 2;
    return middle < high ? middle : low;
}

double roc_area(const struct roc *c)
{
    double m = (double)c->n_member, n = (double)c->n_nonmember, wins = 0, t0 = 0, f0 = 0;
    for (size_t i = 0; i < c->points; i++) {
        const double t1 = (double)c->true_positives[i], f1 = (double)c->false_flags[i];
        wins += (t1 - t0) * (n - (f0 + f1) / 2); /* the sum is exact: halves of integers below 2^53 */
        t0 = t1, f0 = f1;
    }
    return wins / (m * n);
}

/* Placements: for each record the share of the other side that it beats, ties counting half. DeLong's
 * variance is the variance of the mean of the members' placements plus that of the non-members'. */
static void metrics_placements(const struct roc *c, double *area, double *of_members, double *of_nonmembers)
{
    double m = (double)c->n_member, n = (double)c->n_nonmember, a = roc_area(c), squares_m = 0, squares_n = 0;
    for (size_t i = 0; i < c->points; i++) {
        double f0 = i ? (double)c->false_flags[i - 1] : 0, t0 = i ? (double)c->true_positives[i - 1] : 0;
        double f1 = (double)c->false_flags[i], t1 = (double)c->true_positives[i];
        double v10 = 1 - (f0 + f1) / (2 * n) - a, v01 = (t0 + t1) / (2 * m) - a;
        squares_m += (t1 - t0) * v10 * v10;
        squares_n += (f1 - f0) * v01 * v01;
    }
    *area = a;
    *of_members = m > 1 ? squares_m / (m - 1) / m : INFINITY;
    *of_nonmembers = n > 1 ? squares_n / (n - 1) / n : INFINITY;
}

struct sotto_estimate roc_auc(const struct roc *c, double confidence, bool *exact)
{
    double a, vm, vn;
    metrics_placements(c, &a, &vm, &vn);
    struct sotto_estimate out = {.estimate = a};
    double variance = vm + vn;
    *exact = !(variance > 0 && isfinite(variance) && a > 0 && a < 1);
    if (*exact) {
        double pairs = (double)(c->n_member < c->n_nonmember ? c->n_member : c->n_nonmember);
        clopper_pearson(&out.lower, &out.upper, a * pairs, pairs, confidence);
        return out;
    }
    double degrees =
        variance * variance / (vm * vm / ((double)c->n_member - 1) + vn * vn / ((double)c->n_nonmember - 1));
    double reach = student_quantile(1 - (1 - confidence) / 2, degrees) * sqrt(variance) / (a * (1 - a));
    double logit = log(a / (1 - a));
    out.lower = 1 / (1 + exp(-(logit - reach)));
    out.upper = 1 / (1 + exp(-(logit + reach)));
    return out;
}

double roc_auc_variance(const struct roc *c, double *area)
{
    double vm, vn;
    metrics_placements(c, area, &vm, &vn);
    return vm + vn;
}

double roc_advantage(const struct roc *c)
{
    double best = 0;
    for (size_t i = 0; i < c->points; i++)
        best = fmax(best, tpr_of(c, i) - fpr_of(c, i));
    return best;
}

/* Half of the points are spaced evenly in log FPR, half in FPR; between two grid values the highest vertex
 * stands. */
size_t roc_thin(size_t *out, size_t limit, const struct roc *c)
{
    size_t kept = 0;
    if (c->points <= limit) {
        for (; kept < c->points; kept++)
            out[kept] = kept;
        return kept;
    }
    size_t half = (limit - 2) / 2, log_next = 0, linear_next = 0;
    double n = (double)c->n_nonmember, floor_rate = 1 / (2 * n);
    for (size_t i = 0; i < c->points && kept + 1 < limit; i++) {
        double after = i + 1 < c->points ? fpr_of(c, i + 1) : 2;
        /* Vertex i stands for every grid value from its own FPR up to the next vertex's. */
        bool wanted = false;
        for (; log_next < half; log_next++) {
            double grid = floor_rate * pow(1 / floor_rate, (double)log_next / (double)half);
            if (grid >= after)
                break;
            wanted = true;
        }
        for (; linear_next < half; linear_next++) {
            if ((double)linear_next / (double)half >= after)
                break;
            wanted = true;
        }
        if (wanted && i + 1 < c->points)
            out[kept++] = i;
    }
    out[kept++] = c->points - 1;
    return kept;
}

double roc_threshold_at_fpr(const struct roc *c, double fpr)
{
    double threshold = INFINITY;
    /* Stops at the first point that flags too many: the records there are not flagged, ties included. */
    for (size_t i = 0; i < c->points; i++) {
        if (fpr_of(c, i) > fpr * (1 + 1e-12))
            return c->score[i];
        threshold = threshold_below(c, i);
    }
    return threshold;
}

double roc_threshold_balanced(const struct roc *c)
{
    double best = 0, threshold = INFINITY;
    for (size_t i = 0; i < c->points; i++) {
        double gain = tpr_of(c, i) - fpr_of(c, i);
        if (gain > best) {
            best = gain;
            threshold = threshold_below(c, i);
        }
    }
    return threshold;
}

/* Members and others above the threshold. */
static void metrics_flagged(size_t *t, size_t *f, const struct roc *c, double threshold)
{
    size_t low = 0, high = c->points; /* points 0 .. low-1 lie above the threshold */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->score[middle] > threshold)
            low = middle + 1;
        else
            high = middle;
    }
    *t = low ? c->true_positives[low - 1] : 0;
    *f = low ? c->false_flags[low - 1] : 0;
}

double roc_threshold_epsilon(const struct roc *c, double delta, double confidence)
{
    enum { CANDIDATES = 100 };
    size_t candidates[CANDIDATES], count = roc_thin(candidates, CANDIDATES, c);
    /* The best of many noisy bounds sits at an extreme threshold with a handful of records and fails on the
     * other half. Asking each candidate for the error of one among all picks thresholds that hold up. */
    double stricter = 1 - (1 - confidence) / CANDIDATES;
    double best = 0, threshold = INFINITY;
    for (size_t i = 0; i < count; i++) {
        const double t = threshold_below(c, candidates[i]), tpr = tpr_of(c, candidates[i]),
                     fpr = fpr_of(c, candidates[i]);
        const struct rates certain = {.tpr = {tpr, tpr, tpr}, .fpr = {fpr, fpr, fpr}};
        /* No interval of these rates can do better, and most candidates end here. At a TPR of 1 one of the bounds is
         * infinite. */
        if (tpr < 1 && !(rates_epsilon(&certain, delta) > best))
            continue;
        size_t found, wrong;
        metrics_flagged(&found, &wrong, c, t);
        /* A bound takes two of the four ends. */
        const struct rates ends = {
            .tpr.lower = clopper_pearson_lower((double)found, (double)c->n_member, stricter),
            .fpr.upper = clopper_pearson_upper((double)wrong, (double)c->n_nonmember, stricter)};
        const double bound = rates_epsilon(&ends, delta);
        if (bound > best) {
            best = bound;
            threshold = t;
        }
    }
    return threshold;
}

static struct sotto_estimate metrics_rate(size_t k, size_t n, double confidence)
{
    struct sotto_estimate e = {.estimate = (double)k / (double)n};
    clopper_pearson(&e.lower, &e.upper, (double)k, (double)n, confidence);
    return e;
}

struct rates roc_rates(const struct roc *c, double threshold, double confidence)
{
    size_t t, f;
    metrics_flagged(&t, &f, c, threshold);
    return (struct rates){metrics_rate(t, c->n_member, confidence),
                          metrics_rate(f, c->n_nonmember, confidence), c->n_member, c->n_nonmember};
}

double rates_epsilon(const struct rates *r, double delta)
{
    double miss = 1 - r->tpr.lower, hit = r->tpr.lower - delta, reject = 1 - r->fpr.upper - delta;
    double bound = 0;
    if (hit > 0)
        bound = fmax(bound, log(hit / r->fpr.upper));
    if (reject > 0 && miss > 0)
        bound = fmax(bound, log(reject / miss));
    return bound;
}

struct sotto_estimate roc_balanced(const struct roc *c, double threshold, double confidence)
{
    struct rates r = roc_rates(c, threshold, 1 - (1 - confidence) / 2);
    return (struct sotto_estimate){(r.tpr.estimate + 1 - r.fpr.estimate) / 2,
                                   (r.tpr.lower + 1 - r.fpr.upper) / 2, (r.tpr.upper + 1 - r.fpr.lower) / 2};
}
