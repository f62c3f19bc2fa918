#include "audit/audit_reference_look.h"
#include "num/beta.h"

#include <math.h>

enum { MODELS = 16, SIDE = 8192, LEAST = 5 };

struct look {
    const struct audit_arrays *arrays;
    size_t count[2], n, kept; /* records of each side and of both; models with a column */
    double *columns;          /* (kept, n) */
    uint8_t *trained;         /* (kept, n) */
    size_t *same, inner;      /* (models): records with the target's signal, of `inner` that tell */
    double lowest, highest;   /* of the target's signals */
};

/* The record's row in the arrays: both sides are looked at from their beginning. */
static size_t row_of(const struct look *l, size_t i)
{
    return i < l->count[0] ? i : l->arrays->member.n + (i - l->count[0]);
}

/* A signal at an end may be a clamped one, which models share that have nothing else in common. */
static bool audit_reference_look_informs(const struct look *l, double target)
{
    return target > l->lowest && target < l->highest;
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-4 * (1 + fabs(b));
}

static void take_row(struct reference_look *out, struct look *l, const double *signals,
                     const uint8_t *trained, size_t i)
{
    const double target = l->arrays->all.signals[row_of(l, i)];
    const bool counts = audit_reference_look_informs(l, target);
    l->inner += counts;
    out->target_negative |= target < 0;
    for (size_t m = 0; m < l->arrays->all.models; m++) {
        out->none_negative &= signals[m] >= 0;
        l->same[m] += counts && is_near(signals[m], target);
        if (m < l->kept)
            l->columns[m * l->n + i] = signals[m], l->trained[m * l->n + i] = trained[m];
    }
}

static sotto_status read_side(struct reference_look *out, struct look *l, int side)
{
    sotto_status status = SOTTO_OK;
    const struct reference_source *source = &l->arrays->references;
    const size_t models = source->models, first = side ? l->count[0] : 0, last = first + l->count[side],
                 most = models < 1 << 16 ? (1 << 16) / models : 1;
    double *signals = NULL;
    uint8_t *trained = NULL;
    NEW_ROWS(signals, most, models);
    NEW_ROWS(trained, most, models);
    for (size_t at = first; at < last; at += most) {
        const size_t count = last - at < most ? last - at : most;
        TRY(source->read(source->self, signals, trained, row_of(l, at), count));
        for (size_t i = 0; i < count; i++)
            take_row(out, l, signals + i * models, trained + i * models, at + i);
    }
done:
    base_free(signals);
    base_free(trained);
    return status;
}

/* Adds one model's area and standard deviation; false: too few records on a side. */
static sotto_status add_area(bool *added, double *area, double *deviation, const double *signals,
                             const uint8_t *trained, size_t n)
{
    sotto_status status = SOTTO_OK;
    struct roc c = {0};
    double *split = NULL, here;
    size_t in = 0;
    NEW(split, n);
    for (size_t i = 0; i < n; i++) {
        split[trained[i] ? in : n - 1 - (i - in)] = signals[i];
        in += trained[i] != 0;
    }
    *added = in >= LEAST && n - in >= LEAST;
    if (!*added)
        goto done;
    TRY(roc_make(&c, split, in, split + in, n - in));
    *deviation += sqrt(roc_auc_variance(&c, &here));
    *area += here;
done:
    roc_clear(&c);
    base_free(split);
    return status;
}

/* The mean of the areas; its deviation is at most the mean of theirs. */
static sotto_status mean_area(struct sotto_estimate *out, const struct look *l, double confidence)
{
    sotto_status status = SOTTO_OK;
    double area = 0, deviation = 0, count = 0;
    *out = (struct sotto_estimate){NAN, NAN, NAN};
    for (size_t m = 0; m < l->kept; m++) {
        bool added = false;
        TRY(add_area(&added, &area, &deviation, l->columns + m * l->n, l->trained + m * l->n, l->n));
        count += added;
    }
    if (!(count > 0))
        goto done;
    const double reach = student_quantile(1 - (1 - confidence) / 2, 1e12) * deviation / count;
    *out = (struct sotto_estimate){area / count, area / count - reach, area / count + reach};
done:
    return status;
}

static sotto_status target_area(struct sotto_estimate *out, const struct look *l, double confidence)
{
    sotto_status status = SOTTO_OK;
    const double *signals = l->arrays->all.signals;
    struct roc c = {0};
    bool exact;
    TRY(roc_make(&c, signals, l->count[0], signals + l->arrays->member.n, l->count[1]));
    *out = roc_auc(&c, confidence, &exact);
done:
    roc_clear(&c);
    return status;
}

static struct look look_at(const struct audit_arrays *arrays)
{
    struct look l = {.arrays = arrays,
                     .count = {arrays->member.n < SIDE ? arrays->member.n : SIDE,
                               arrays->nonmember.n < SIDE ? arrays->nonmember.n : SIDE},
                     .kept = arrays->all.models < MODELS ? arrays->all.models : MODELS,
                     .lowest = INFINITY,
                     .highest = -INFINITY};
    l.n = l.count[0] + l.count[1];
    for (size_t i = 0; i < l.n; i++) {
        l.lowest = fmin(l.lowest, arrays->all.signals[row_of(&l, i)]);
        l.highest = fmax(l.highest, arrays->all.signals[row_of(&l, i)]);
    }
    return l;
}

sotto_status audit_reference_look(struct reference_look *out, const struct audit_arrays *arrays,
                                  double confidence)
{
    sotto_status status = SOTTO_OK;
    struct reference_look r = {.none_negative = true};
    struct look l = look_at(arrays);
    NEW_ROWS(l.columns, l.kept, l.n);
    NEW_ROWS(l.trained, l.kept, l.n);
    NEW(l.same, arrays->all.models);
    for (int side = 0; side < 2; side++)
        TRY(read_side(&r, &l, side));
    r.records = l.inner;
    for (size_t m = 0; m < arrays->all.models; m++)
        if (l.inner >= 10 && (double)l.same[m] >= 0.99 * (double)l.inner && l.same[m] > r.same_records)
            r.same = m + 1, r.same_records = l.same[m];
    TRY(mean_area(&r.own, &l, confidence));
    TRY(target_area(&r.target, &l, confidence));
    *out = r;
done:
    base_free(l.columns);
    base_free(l.trained);
    base_free(l.same);
    return status;
}
