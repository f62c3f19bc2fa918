/* monitor_state.h - what a monitor holds. */
#ifndef MONITOR_MONITOR_STATE_H
#define MONITOR_MONITOR_STATE_H

#include "monitor/stream.h"

struct sotto_monitor {
    struct sotto_monitor_result result; /* its streams are those below */
    struct sotto_monitor_stream *seen;  /* (result.clients) as result.client shows them */
    struct stream *clients;             /* (room) */
    size_t room, latest;                /* latest: the client that was fed last */
    struct stream service;
    struct block_shape shape;
    const struct sotto_encoder *encoder; /* borrowed, or NULL: distances are between rows */
    size_t channels, height, width;
    int threads;
    struct calibration calibration, service_calibration;
    double log_threshold;
    float *bank; /* (bank_rows, shape.columns) */
};

/* embedded_rows.c: out (n, shape.columns): embeddings of rows (n, result.columns); free with base_free(). */
sotto_status monitor_embed(float **out, const struct sotto_monitor *m, const float *rows, size_t n,
                           const struct sotto_context *ctx);
/* row_values.c: off (n): L2 distances of rows (n, shape.columns) to the bank. */
void monitor_off(double *off, const struct sotto_monitor *m, const float *rows, size_t n);
/* p1 - p2 of an answer (classes). */
double monitor_margin(const float *answer, size_t classes);
/* EINVAL: "what: row 3, column 2 is nan; ... must be finite". */
sotto_status monitor_finite(const float *x, size_t rows, size_t columns, const char *what);
/* monitor_calibrate.c: checks the input and fills in the calibration. Of m: shape, bank and result.options. */
sotto_status monitor_calibrate(struct sotto_monitor *m, const struct sotto_monitor_input *in,
                               const struct sotto_context *ctx);
/** Judges queries, once they are answered.
 *
 *  In:      client   its name, 1 to 64 bytes of UTF-8 without control characters; NULL: "anonymous". The monitor believes
 *                    it: names must come from a gateway that knows who asks.
 *           rows     (n, columns)
 *           answers  (n, classes) as they leave; NULL if the monitor has no margin statistic
 *  Returns: EINVAL   a value that is not finite, or a bad name; nothing was counted
 *           EBUDGET  more clients than options.clients
 *           ENOMEM */
sotto_status monitor_feed(struct sotto_monitor *m, const char *client, const float *rows,
                          const float *answers, size_t n);

#endif
