/* Two data sets that differ in a person are the ends of a chain, each member of which differs from the next in one of her rows. Runs are
 * composed for one link first. The rule of groups then holds on the whole curve:
 *
 *     delta(M y) <= (1 + e^y + ... + e^((M - 1) y)) delta_record(y)    for all y >= 0. */
#include "dp/account/row_by_row.h"
#include "base/memory.h"
#include "dp/account/adaptive.h"
#include "dp/account/composition.h"

#include <math.h>

enum { TRIALS = 8 };

/* The first share of delta is a guess, the next ones are what the last epsilon leaves. */
sotto_status epsilon_row_by_row(double *out, size_t rows, double delta, record_epsilon *record,
                                const void *arg)
{
    sotto_status status = SOTTO_OK;
    double found = INFINITY, share = delta / (double)rows;
    for (int i = 0; i < TRIALS && isinf(found) && share >= 0x1p-900; i++) {
        double epsilon;
        TRY(record(&epsilon, share, arg));
        if (!(epsilon * (double)rows < 600))
            break;
        const double all = group_delta(iv(epsilon), share, (double)rows).hi;
        if (all <= delta)
            found = iv_scale(iv(epsilon), (double)rows).hi;
        share *= 0.99 * delta / all;
    }
    *out = found;
done:
    return status;
}

/* ---- curves ---- */

static size_t most_rows(const struct part *runs, size_t count)
{
    size_t most = 1;
    for (size_t i = 0; i < count; i++)
        most = runs[i].rows > most ? runs[i].rows : most;
    return most;
}

static void items_of(struct composed_release *out, const struct part *runs, size_t count, bool person)
{
    for (size_t i = 0; i < count; i++) {
        const struct part one = person ? part_of_person(&runs[i]) : runs[i];
        out[i] = part_item(&one);
    }
}

/* All rows at once have the norm of all of them, at the rate at which one of them is there. Where that is far above the rate of a row,
 * the bound is far above the other, and takes long. */
static bool try_at_once(const struct part *runs, size_t count)
{
    bool close = true;
    for (size_t i = 0; i < count; i++)
        close = close && part_of_person(&runs[i]).sampled.sample_rate <= 1.5 * runs[i].sampled.sample_rate;
    return close;
}

static sotto_status deltas_row_by_row(double *delta, const double *x, size_t n,
                                      const struct composed_release *items, size_t count, size_t rows,
                                      const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    double *near = NULL, *record = NULL;
    NEW(near, n);
    NEW(record, n);
    for (size_t i = 0; i < n; i++)
        near[i] = fmax(iv_div(iv(x[i]), iv((double)rows)).lo, 0); /* rows * near[i] <= x[i] */
    TRY(account_pld_deltas(record, near, n, items, count, ctx));
    for (size_t i = 0; i < n; i++)
        delta[i] = fmin(delta[i], group_delta(iv(near[i]), record[i], (double)rows).hi);
done:
    base_free(near);
    base_free(record);
    return status;
}

sotto_status runs_deltas(double *delta, const double *x, size_t n, const struct part *runs, size_t count,
                         const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const size_t rows = most_rows(runs, count);
    struct composed_release *items = NULL;
    NEW(items, count);
    for (size_t i = 0; i < n; i++)
        delta[i] = 1;
    items_of(items, runs, count, true);
    if (try_at_once(runs, count))
        TRY(account_pld_deltas(delta, x, n, items, count, ctx));
    if (rows > 1) {
        items_of(items, runs, count, false);
        TRY(deltas_row_by_row(delta, x, n, items, count, rows, ctx));
        TRY(adaptive_hull(delta, x, n));
    }
done:
    base_free(items);
    return status;
}

struct chain {
    const struct composed_release *items;
    size_t count;
    const struct sotto_context *ctx;
};

static sotto_status end_of_record(double *out, double delta, const void *arg)
{
    const struct chain *c = arg;
    return account_pld_end(out, c->items, c->count, delta, c->ctx);
}

sotto_status runs_end(double *end, const struct part *runs, size_t count, double delta,
                      const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const size_t rows = most_rows(runs, count);
    struct composed_release *items = NULL;
    double at_once = INFINITY, by_rows = INFINITY;
    NEW(items, count);
    items_of(items, runs, count, true);
    if (try_at_once(runs, count))
        TRY(account_pld_end(&at_once, items, count, delta, ctx));
    if (rows > 1) {
        items_of(items, runs, count, false);
        TRY(epsilon_row_by_row(&by_rows, rows, delta, end_of_record, &(struct chain){items, count, ctx}));
    }
    *end = fmin(at_once, by_rows);
done:
    base_free(items);
    return status;
}
