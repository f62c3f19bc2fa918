#include "monitor/stream.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double FLOOR = 1e-6; /* of a distance: equal rows have a logarithm */

sotto_status stream_begin(struct stream *s, const char *name, const struct block_shape *shape)
{
    sotto_status status = SOTTO_OK;
    snprintf(s->seen.name, sizeof s->seen.name, "%s", name);
    NEW_ROWS(s->rows, shape->rows, shape->columns);
    NEW(s->near, shape->rows);
    NEW(s->gap, shape->rows);
done:
    return status;
}

void stream_clear(struct stream *s)
{
    for (int k = 0; k < SOTTO_MONITOR_STATISTICS; k++)
        base_free(s->history[k]);
    base_free((void *)(uintptr_t)s->seen.block);
    base_free(s->rows);
    base_free(s->near);
    base_free(s->gap);
    *s = (struct stream){0};
}

static sotto_status make_room(struct stream *s)
{
    sotto_status status = SOTTO_OK;
    struct sotto_monitor_block *block = (struct sotto_monitor_block *)(uintptr_t)s->seen.block;
    size_t room = s->room ? 2 * s->room : 16;
    if (s->seen.blocks < s->room)
        goto done;
    for (int k = 0; k < SOTTO_MONITOR_STATISTICS; k++)
        REGROW(s->history[k], s->room, room);
    REGROW(block, s->room, room);
    s->seen.block = block;
    s->room = room;
done:
    return status;
}

/* Values below v: rising x (n). */
static size_t stream_below(const double *x, size_t n, double v)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (x[middle] < v)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void stream_insert(double *x, size_t n, double v)
{
    size_t at = stream_below(x, n, v);
    memmove(x + at + 1, x + at, (n - at) * sizeof *x);
    x[at] = v;
}

/* The values that are as extreme or more; equal ones count against an alarm. */
static double p_value(const struct stream *s, const struct calibration *c, int k, double v)
{
    size_t n = s->seen.blocks, larger = c->blocks - stream_below(c->value[k], c->blocks, v) + n -
                                        stream_below(s->history[k], n, v);
    return (1 + (double)larger) / (1 + (double)c->blocks + (double)n);
}

static void stream_bet(struct stream *s, struct sotto_monitor_block *b, int k, const struct calibration *c,
                       double log_threshold)
{
    b->p[k] = p_value(s, c, k, b->value[k]);
    b->log_wealth[k] = wealth_bet(&s->wealth[k], b->p[k]);
    if (b->log_wealth[k] >= log_threshold && s->seen.reached[k] == 0)
        s->seen.reached[k] = s->seen.rows;
    if (s->seen.reached[k] && s->seen.alarm == 0)
        s->seen.alarm = s->seen.rows;
}

static void close_block(struct stream *s, const struct block_shape *shape, const struct calibration *c,
                        double log_threshold)
{
    struct sotto_monitor_block *b = (struct sotto_monitor_block *)(uintptr_t)s->seen.block + s->seen.blocks;
    for (size_t i = 0; i < shape->rows; i++)
        s->sum[SOTTO_NEAR] -= log(sqrt((double)s->near[i]) + FLOOR);
    for (int k = 0; k < SOTTO_MONITOR_STATISTICS; k++) {
        b->value[k] = shape->used[k] ? s->sum[k] / (double)shape->rows : NAN;
        b->p[k] = b->log_wealth[k] = NAN;
        s->sum[k] = 0;
        if (shape->used[k] && c)
            stream_bet(s, b, k, c, log_threshold);
        if (shape->used[k])
            stream_insert(s->history[k], s->seen.blocks, b->value[k]);
    }
    s->seen.blocks++;
    s->filled = 0;
}

sotto_status stream_add(struct stream *s, const float *row, double off, double margin,
                        const struct block_shape *shape, const struct calibration *c, double log_threshold)
{
    sotto_status status = SOTTO_OK;
    size_t i = s->filled;
    TRY(make_room(s));
    shape->distances(s->gap, row, s->rows, i, shape->columns);
    memcpy(s->rows + i * shape->columns, row, shape->columns * sizeof *row);
    s->near[i] = INFINITY;
    for (size_t j = 0; j < i; j++) {
        s->near[i] = fminf(s->near[i], s->gap[j]);
        s->near[j] = fminf(s->near[j], s->gap[j]);
    }
    s->sum[SOTTO_OFF] += log(off + FLOOR);
    s->sum[SOTTO_MARGIN] -= log(margin + FLOOR);
    s->filled++;
    s->seen.rows++;
    if (s->filled == shape->rows)
        close_block(s, shape, c, log_threshold);
done:
    return status;
}
