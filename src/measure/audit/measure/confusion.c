#include "audit/measure/confusion.h"

#include "audit/measure/bootstrap.h"
#include "num/beta.h"

#include <math.h>

struct cell {
    size_t truth, guess, count;
};
struct table {
    struct cell *cell; /* the cells that are not empty */
    size_t cells, classes, n;
    double *recall, *rows, *columns; /* (classes): scratch */
};

static sotto_status table_make(struct table *t, const int64_t *truth, const int64_t *guess, size_t n,
                               size_t classes)
{
    sotto_status status = SOTTO_OK;
    size_t all = classes * classes, *count = NULL;
    NEW_ROWS(count, classes, classes);
    t->classes = classes, t->n = n;
    for (size_t i = 0; i < n; i++)
        t->cells += count[(size_t)truth[i] * classes + (size_t)guess[i]]++ == 0;
    NEW(t->cell, t->cells);
    NEW_ROWS(t->recall, classes, 3);
    t->rows = t->recall + classes, t->columns = t->rows + classes;
    for (size_t i = 0, k = 0; i < all; i++)
        if (count[i])
            t->cell[k++] = (struct cell){i / classes, i % classes, count[i]};
done:
    base_free(count);
    return status;
}

static void table_clear(struct table *t)
{
    base_free(t->cell);
    base_free(t->recall);
}

enum { ACCURACY, BALANCED, MACRO_F1, SCORES };

/* counts (cells) in the cells' order. A class that is neither there nor guessed has no say in F1. */
static void confusion_table_scores(double out[SCORES], struct table *t, const size_t *counts)
{
    double right = 0, recalls = 0, f1 = 0, present = 0, named = 0;
    for (size_t k = 0; k < t->classes; k++)
        t->recall[k] = t->rows[k] = t->columns[k] = 0;
    for (size_t i = 0; i < t->cells; i++) {
        double c = (double)counts[i];
        t->rows[t->cell[i].truth] += c;
        t->columns[t->cell[i].guess] += c;
        if (t->cell[i].truth == t->cell[i].guess)
            t->recall[t->cell[i].truth] = c, right += c;
    }
    for (size_t k = 0; k < t->classes; k++) {
        if (t->rows[k] > 0)
            recalls += t->recall[k] / t->rows[k], present++;
        if (t->rows[k] + t->columns[k] > 0)
            f1 += 2 * t->recall[k] / (t->rows[k] + t->columns[k]), named++;
    }
    out[ACCURACY] = right / (double)t->n;
    out[BALANCED] = recalls / present;
    out[MACRO_F1] = f1 / named;
}

/* Multinomial: each cell takes its binomial share of what is left. */
static void draw_counts(size_t *counts, const struct table *t, struct rng *r)
{
    size_t left = t->n, rest = t->n;
    for (size_t i = 0; i < t->cells; i++) {
        counts[i] =
            i + 1 == t->cells ? left : bootstrap_binomial(left, (double)t->cell[i].count / (double)rest, r);
        left -= counts[i];
        rest -= t->cell[i].count;
    }
}

sotto_status confusion_measure(struct confusion_scores *out, const int64_t *truth, const int64_t *guess,
                               size_t n, size_t classes, size_t draws, double confidence, uint64_t seed,
                               uint64_t stream)
{
    sotto_status status = SOTTO_OK;
    struct table t = {0};
    double *x = NULL, one[SCORES];
    size_t *counts = NULL;
    struct sotto_estimate *into[SCORES] = {&out->accuracy, &out->balanced, &out->macro_f1};
    TRY(table_make(&t, truth, guess, n, classes));
    NEW_ROWS(x, draws, SCORES + 1);
    NEW(counts, t.cells);
    for (size_t i = 0; i < t.cells; i++)
        counts[i] = t.cell[i].count;
    confusion_table_scores(one, &t, counts);
    for (int k = 0; k < SCORES; k++)
        into[k]->estimate = one[k];
    const double accuracy = one[ACCURACY];
    for (size_t i = 0; i < draws; i++) {
        struct rng r = rng_stream(seed, RNG_BOOTSTRAP, stream, i);
        draw_counts(counts, &t, &r);
        confusion_table_scores(one, &t, counts);
        for (size_t k = 0; k < SCORES; k++)
            x[k * draws + i] = one[k];
    }
    for (size_t k = 0; k < SCORES; k++)
        bootstrap_percentiles(into[k], x + k * draws, draws, x + SCORES * draws, confidence);
    /* Percentiles of a share near 0 or 1 cover far less than they say; this one has an exact interval. */
    clopper_pearson(&out->accuracy.lower, &out->accuracy.upper, accuracy * (double)n, (double)n, confidence);
done:
    table_clear(&t);
    base_free(x);
    base_free(counts);
    return status;
}

sotto_status confusion_gain(struct sotto_estimate *out, const int64_t *truth, const int64_t *guess,
                            const int64_t *other, size_t n, size_t draws, double confidence, uint64_t seed,
                            uint64_t stream)
{
    sotto_status status = SOTTO_OK;
    size_t better = 0, worse = 0;
    double *x = NULL;
    NEW_ROWS(x, draws, 2);
    for (size_t i = 0; i < n; i++) {
        better += guess[i] == truth[i] && other[i] != truth[i];
        worse += guess[i] != truth[i] && other[i] == truth[i];
    }
    out->estimate = ((double)better - (double)worse) / (double)n;
    for (size_t i = 0; i < draws; i++) {
        struct rng r = rng_stream(seed, RNG_BOOTSTRAP, stream, i);
        size_t b = bootstrap_binomial(n, (double)better / (double)n, &r);
        size_t w = better == n ? 0 : bootstrap_binomial(n - b, (double)worse / (double)(n - better), &r);
        x[i] = ((double)b - (double)w) / (double)n;
    }
    bootstrap_percentiles(out, x, draws, x + draws, confidence);
done:
    base_free(x);
    return status;
}
