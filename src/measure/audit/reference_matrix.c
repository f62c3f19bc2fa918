#include "audit/audit_references.h"
#include "audit/score/posterior.h"
#include "io/array/npy_rows.h"
#include "par/par.h"

#include <math.h>
#include <string.h>

enum { BLOCK_VALUES = 1 << 16 };

static size_t rows_of_block(size_t models)
{
    return models < BLOCK_VALUES ? BLOCK_VALUES / models : 1;
}

/* A mask comes as numbers, for which there is room where the signals will be. */
static sotto_status read_mask(const struct matrix_part *p, size_t models, double *room, uint8_t *trained,
                              size_t first, size_t count)
{
    sotto_status status = SOTTO_OK;
    if (p->trained)
        memcpy(trained, p->trained + first * models, count * models);
    else if (!p->trained_rows)
        memset(trained, 0, count * models);
    else {
        TRY(npy_rows_read(room, p->trained_rows, first, count));
        for (size_t i = 0; i < count * models; i++)
            trained[i] = room[i] != 0;
    }
done:
    return status;
}

static sotto_status read_part(const struct reference_matrix *m, const struct matrix_part *p, double *signals,
                              uint8_t *trained, size_t first, size_t count)
{
    sotto_status status = SOTTO_OK;
    TRY(read_mask(p, m->models, signals, trained, first, count));
    if (p->signal_rows)
        TRY(npy_rows_read(signals, p->signal_rows, first, count));
    else
        memcpy(signals, p->signals + first * m->models, count * m->models * sizeof *signals);
    for (size_t i = 0; m->losses && i < count * m->models; i++)
        signals[i] = signal_of_loss(signals[i]);
    for (size_t i = 0; m->step > 0 && i < count * m->models; i++)
        signals[i] = signal_of_rounded(signals[i], m->step);
done:
    return status;
}

sotto_status reference_matrix_read(const void *self, double *signals, uint8_t *trained, size_t first,
                                   size_t count)
{
    sotto_status status = SOTTO_OK;
    const struct reference_matrix *m = self;
    const size_t members = m->part[0].n;
    const size_t here = first >= members ? 0 : members - first < count ? members - first : count;
    if (here)
        TRY(read_part(m, &m->part[0], signals, trained, first, here));
    if (here < count)
        TRY(read_part(m, &m->part[1], signals + here * m->models, trained + here * m->models,
                      first + here - members, count - here));
done:
    return status;
}

/* ---- what files hold ---- */

static sotto_status check_shape(const struct sotto_rows *r, size_t n, size_t models)
{
    size_t rows, columns;
    enum sotto_dtype dtype;
    if (!r)
        return SOTTO_OK;
    sotto_rows_shape(&rows, &columns, &dtype, r);
    if (rows == n && columns == models)
        return SOTTO_OK;
    return status_fail(SOTTO_EINVAL, "%s is (%zu, %zu); expected (%zu, %zu): records by reference models",
                       npy_rows_name(r), rows, columns, n, models);
}

struct scan {
    const struct sotto_rows *rows;
    size_t n, models, block;
    bool mask;
};

static bool is_bad(double x, bool mask)
{
    return mask ? !(x == 0 || x == 1) : !isfinite(x);
}

/* The first bad value of a file is shown, with how many rows of its block hold one. */
static sotto_status bad_value(const struct scan *s, const double *x, size_t first, size_t at)
{
    const size_t row = first + at / s->models, column = at % s->models;
    if (s->mask)
        return status_fail(SOTTO_EINVAL, "%s: row %zu, column %zu is %g; a training mask holds 0 and 1",
                           npy_rows_name(s->rows), row, column, x[at]);
    return status_fail(SOTTO_EINVAL, "%s: row %zu, column %zu is %s; reference signals must be finite",
                       npy_rows_name(s->rows), row, column, isnan(x[at]) ? "NaN" : "an infinity");
}

static sotto_status scan_block(void *arg, size_t block, int thread)
{
    (void)thread;
    sotto_status status = SOTTO_OK;
    const struct scan *s = arg;
    const size_t first = block * s->block, count = s->n - first < s->block ? s->n - first : s->block;
    double *x = NULL;
    NEW_ROWS(x, count, s->models);
    TRY(npy_rows_read(x, s->rows, first, count));
    for (size_t i = 0; i < count * s->models; i++)
        if (is_bad(x[i], s->mask))
            TRY(bad_value(s, x, first, i));
done:
    base_free(x);
    return status;
}

static sotto_status check_values(const struct sotto_rows *r, size_t n, size_t models, bool mask,
                                 const struct sotto_context *ctx)
{
    if (!r)
        return SOTTO_OK;
    struct scan s = {r, n, models, rows_of_block(models), mask};
    return par_each((n + s.block - 1) / s.block, ctx, scan_block, &s);
}

sotto_status reference_matrix_check(const struct reference_matrix *m, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    for (int k = 0; k < 2; k++) {
        const struct matrix_part *p = &m->part[k];
        TRY(check_shape(p->signal_rows, p->n, m->models));
        TRY(check_shape(p->trained_rows, p->n, m->models));
        TRY(check_values(p->signal_rows, p->n, m->models, false, ctx));
        TRY(check_values(p->trained_rows, p->n, m->models, true, ctx));
    }
done:
    return status;
}

/* Ends as soon as both are known, which is in the first rows as a rule. */
sotto_status reference_matrix_masks(bool *seen, bool *unseen, const struct reference_matrix *m)
{
    sotto_status status = SOTTO_OK;
    const size_t block = rows_of_block(m->models);
    double *room = NULL;
    uint8_t *trained = NULL;
    if (!m->part[0].trained && !m->part[0].trained_rows) {
        *unseen = true;
        return SOTTO_OK;
    }
    NEW_ROWS(room, block, m->models);
    NEW_ROWS(trained, block, m->models);
    for (int k = 0; k < 2; k++)
        for (size_t first = 0; first < m->part[k].n && !(*seen && *unseen); first += block) {
            const size_t left = m->part[k].n - first, count = left < block ? left : block;
            TRY(read_mask(&m->part[k], m->models, room, trained, first, count));
            for (size_t i = 0; i < count * m->models; i++)
                *(trained[i] ? seen : unseen) = true;
        }
done:
    base_free(room);
    base_free(trained);
    return status;
}
