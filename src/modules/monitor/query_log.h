/* query_log.h - a log of queries: the state of a monitor, which survives its process (page.md, "Logs of queries"). */
#ifndef MONITOR_QUERY_LOG_H
#define MONITOR_QUERY_LOG_H

#include "io/text/source.h"
#include "monitor/message.h"
#include "sotto/lab/monitor.h"

/* One question and its answer. */
struct exchange {
    char client[CLIENT_NAME];         /* "": not named */
    struct sotto_array rows, answers; /* owned */
};
struct log_reader {
    const struct source *source;
    size_t at, whole;        /* read so far; the end of the last complete exchange */
    size_t columns, classes; /* expected: of rows, and of answers; 0: answers of any kind */
    char client[CLIENT_NAME];
};
/* Clears *x first. *more false: there is none; bytes from l->whole on are the start of one. EFORMAT, EIO, ENOMEM. */
sotto_status log_next(struct exchange *x, bool *more, struct log_reader *l);
void exchange_clear(struct exchange *x);
/* Rows are (n, columns) f4; answers are (n, classes) of a float type, or, where classes is 0, (n) whole numbers too.
 * what: "query.log", "the client". EFORMAT. */
sotto_status check_rows_frame(const struct sotto_array *a, size_t columns, const char *what);
sotto_status check_answers_frame(const struct sotto_array *a, size_t n, size_t classes, const char *what);
/* To the monitor. Converts the answers. */
sotto_status exchange_feed(struct sotto_monitor *m, struct exchange *x);

/* A log that is written to. */
struct query_log {
    const char *path; /* borrowed */
    int fd;
    size_t size;
};
/* Makes the file (mode 0600) or goes on with it, alone. EAGAIN: another process uses it; ECREATE. */
sotto_status query_log_open(struct query_log *l, const char *path);
/* Cuts off what is not whole. EIO. */
sotto_status query_log_cut(struct query_log *l, size_t size);
/* The file, on the disk, has the whole exchange or nothing of it. EIO. */
sotto_status query_log_append(struct query_log *l, const struct exchange *x);
void query_log_close(struct query_log *l);

#endif
