/* metric_log.h - what a run measured: one JSON object per line while it runs, one tidy CSV at the end.
 *
 *     {"step":100,"split":"train","name":"loss","value":2.31,"wall_s":12.5}
 *
 * value is null for NaN and infinities. A resumed run appends: it repeats the steps since its checkpoint, so
 * a reader takes the LAST line of equal (step, split, name). A line cut by a crash is removed by the next
 * metric_log_open(). */
#ifndef IO_TABLE_METRIC_LOG_H
#define IO_TABLE_METRIC_LOG_H

#include "base/memory.h"

struct metric_log;
/** Opens for appending, mode 0600. ECREATE, EIO, ENOMEM. */
sotto_status metric_log_open(struct metric_log **out, const char *path);
/** Appends one line and hands it to the system. A NULL handle does nothing. */
sotto_status metric_log_write(struct metric_log *m, uint64_t step, const char *split, const char *name,
                              double value, double wall_s);
/** fsync, then close; accepts NULL. */
sotto_status metric_log_close(struct metric_log *m);
/** step,split,name,value,wall_s: the last line of each (step, split, name), in order of first appearance.
 * Atomic. EFORMAT "metrics.jsonl:17: ...". */
sotto_status metric_log_export(const char *csv_path, const char *jsonl_path);

#endif
