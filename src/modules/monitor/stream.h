/* stream.h - the blocks of one client, of the service, or of the calibration: rows in, values and bets out. */
#ifndef MONITOR_STREAM_H
#define MONITOR_STREAM_H

#include "base/memory.h"
#include "monitor/bet.h"
#include "monitor/distances.h"
#include "sotto/lab/monitor.h"

/* What all streams of a monitor share. */
struct block_shape {
    size_t rows, columns;
    bool used[SOTTO_MONITOR_STATISTICS];
    monitor_distances *distances;
};
/* Values of the calibration blocks, rising; -inf for a statistic that is not used. */
struct calibration {
    double *value[SOTTO_MONITOR_STATISTICS]; /* (blocks) */
    size_t blocks;
};
struct stream {
    struct sotto_monitor_stream seen;          /* its blocks are owned here */
    size_t room;                               /* for blocks */
    double *history[SOTTO_MONITOR_STATISTICS]; /* (room) values of its own blocks, rising */
    struct wealth wealth[SOTTO_MONITOR_STATISTICS];
    /* The block that is being filled. */
    float *rows;                          /* (shape->rows, columns) */
    float *near;                          /* (shape->rows) squared distance to the nearest other row so far */
    float *gap;                           /* (shape->rows) scratch */
    double sum[SOTTO_MONITOR_STATISTICS]; /* of off and margin */
    size_t filled;
};

/* `s` is {0} or of an earlier failure. ENOMEM. */
sotto_status stream_begin(struct stream *s, const char *name, const struct block_shape *shape);
void stream_clear(struct stream *s);
/* One more row, with its off and margin. `c` NULL: values are kept, but no bet is made (calibration). ENOMEM, and the
 * row is not counted. */
sotto_status stream_add(struct stream *s, const float *row, double off, double margin,
                        const struct block_shape *shape, const struct calibration *c, double log_threshold);

#endif
