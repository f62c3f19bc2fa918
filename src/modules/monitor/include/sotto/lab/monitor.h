/* monitor.h - does a stream of queries look like an attack? A conformal detector in front of a model.
 *
 * Start at sotto_monitor_make(). The detector cuts the rows of each client into blocks, and compares three statistics of a
 * block with those of blocks of benign queries (the calibration) and of the client's own earlier blocks:
 *
 *     near    mean of -ln(d + 1e-6), d: L2 distance of a row to the nearest other row of the block
 *     off     mean of ln(d + 1e-6), d: L2 distance of a row to the nearest row of the bank
 *     margin  mean of -ln(p1 - p2 + 1e-6), p1 and p2: the two largest posteriors of the answer
 *
 * A block's rank is a p-value; the p-values of a statistic are bets, and its wealth is what the bets have won, of a stake of
 * which the share 1/(s(s+1)) is bet from block s on. A client raises an alarm when one wealth reaches (statistics)/alpha.
 *
 * What holds: if the blocks of a client are exchangeable with the calibration blocks, each wealth is at most a non-negative
 * martingale of mean 1 in the history of its own ranks, and by Ville's inequality and the union bound over the statistics
 * the probability that the client ever raises an alarm is at most alpha. No distribution is assumed, but exchangeability
 * is: traffic that drifts or comes in bursts, and a new kind of honest client, raise alarms.
 * What does not: an attack with queries distributed as benign ones (one query for each candidate) is not found. Only
 * answers can protect there: private training, fewer digits. Patience defeats it: many accounts, each with few queries (with
 * options.service they are judged together too), few queries of an attack among many benign ones. A benign past of n blocks
 * costs an attacker's wealth a factor of n (n + 1), not more: an attack that starts late is found a few blocks later.
 * An alarm must never depend on who is a member: no statistic looks up training records, and the encoder must be public.
 *
 * Source: conformal test martingales, Vovk, Nouretdinov and Gammerman 2003; Ville 1939; page.md. */
#ifndef SOTTO_LAB_MONITOR_H
#define SOTTO_LAB_MONITOR_H

#include "sotto/lab/provenance.h"
#include "sotto/lab/query.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sotto_encoder;

enum sotto_monitor_statistic { SOTTO_NEAR, SOTTO_OFF, SOTTO_MARGIN, SOTTO_MONITOR_STATISTICS };

/** {0} or NULL: all defaults. */
struct sotto_monitor_options {
    /** [.001] probability of any false alarm in the life of an exchangeable client, at most. */
    double alpha;
    /** [50] rows of a block. */
    size_t block;
    /** [0] 1: a wealth of all clients' rows in the order of their arrival too; alpha is halved between the client and the
     *  service. */
    int service;
    /** [1000] names of clients, at most. */
    size_t clients;
};

/** What benign queries look like. Arrays are read by sotto_monitor_make() only. */
struct sotto_monitor_input {
    /** (calibration_rows, columns) benign queries in the order in which they were asked, none of them in the bank. */
    const float *calibration;
    size_t calibration_rows, columns;
    /** (calibration_rows) the client that asked; blocks are then cut from rows of one client. NULL: one stream. */
    const int64_t *calibration_clients;
    /** (calibration_rows, classes) answers to them, as they leave the service. NULL: there is no margin statistic. */
    const float *calibration_answers;
    size_t classes;
    /** (bank_rows, columns) more benign rows. */
    const float *bank;
    size_t bank_rows;
    /** (training_rows, columns) training records of the model, only to refuse calibration and bank rows that are among
     *  them. NULL: not checked, and the result says so. */
    const float *training;
    size_t training_rows;
    /** Sources of the three; NULL or {0}: unknown. Records of one set with the same row number are refused. */
    const struct sotto_provenance *calibration_source, *bank_source, *training_source;
    /** A public encoder: distances are between its embeddings of the rows. It must outlive the monitor. NULL: between the
     *  rows themselves. */
    const struct sotto_encoder *encoder;
    /** With an encoder: what image a row is, its pixels in [0, 1] (rounded to 1/255). Not read without one. */
    size_t channels, height, width;
};

/** One block of a stream. Members of statistics that are not used are NAN. */
struct sotto_monitor_block {
    double value[SOTTO_MONITOR_STATISTICS], p[SOTTO_MONITOR_STATISTICS];
    double log_wealth[SOTTO_MONITOR_STATISTICS]; /**< after this block */
};
/** One client, or the service. */
struct sotto_monitor_stream {
    char name[65];                           /**< of a client; "" of the service */
    uint64_t rows;                           /**< asked so far */
    size_t blocks;                           /**< complete ones */
    const struct sotto_monitor_block *block; /**< (blocks), borrowed from the monitor */
    /** Rows asked when the wealth of a statistic first reached the threshold; 0: it never did. */
    uint64_t reached[SOTTO_MONITOR_STATISTICS];
    uint64_t alarm; /**< the least of these that is not 0; 0: no alarm */
};
struct sotto_monitor_result {
    struct sotto_monitor_options options; /**< as used */
    size_t statistics;                    /**< 2, or 3 with answers */
    double threshold;                     /**< of a wealth: statistics/alpha, twice that with the service */
    size_t calibration_blocks, service_calibration_blocks;
    size_t calibration_left_over; /**< rows that fill no block */
    /** Blocks until the earliest alarm, if every block is the most extreme so far. */
    size_t fewest_blocks;
    size_t columns, bank_rows, classes; /**< classes 0: answers are not used */
    int training_checked;               /**< 1: no calibration or bank row is a training record */
    size_t clients;
    const struct sotto_monitor_stream *client; /**< (clients) in the order of their first row */
    struct sotto_monitor_stream service;       /**< rows 0 without options.service */
};

/** A detector and the state of all its clients. Not for several threads at once. */
struct sotto_monitor;
/** Out:     *out  free with sotto_monitor_free()
 *  Returns: EINVAL  an option out of range; no complete calibration block; a value that is not finite; rows that stand in
 *                   two of calibration, bank and training, by value or by their sources; an encoder that private records
 *                   trained, or images of another size than its own
 *           ESTOPPED, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_monitor_make(struct sotto_monitor **out,
                                                           const struct sotto_monitor_input *in,
                                                           const struct sotto_monitor_options *options,
                                                           const struct sotto_context *ctx);
SOTTO_API void sotto_monitor_free(struct sotto_monitor *m);
/** Returns: what was found so far; borrowed, until the next call that feeds or frees the monitor. */
SOTTO_API const struct sotto_monitor_result *sotto_monitor_result(const struct sotto_monitor *m);

/** Feeds a log (page.md, "Logs of queries"): client lines, and for each question a frame of rows and one of answers.
 *
 *  Out:     *torn   bytes of an exchange that is not complete at the end of the file; may be NULL
 *  Returns: ENOENT, EIO
 *           EFORMAT  text that is no client line, frames of another shape or type
 *           ESTOPPED, and those of monitor_feed() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_monitor_replay(struct sotto_monitor *m, const char *path,
                                                             uint64_t *torn, const struct sotto_context *ctx);

/** What an alarm does. */
enum sotto_on_alarm {
    SOTTO_ALARM_LOG,  /**< a warning of the context's log, nothing else */
    SOTTO_ALARM_STOP, /**< the service ends (EGATE), and the answer that belongs to the alarm is not sent */
    SOTTO_ALARM_WITHHOLD /**< from that answer on the client gets answers without content: equal posteriors, or class 0 where
                            the command answers labels. After an alarm of the service, all clients do */
};
/** {0} but for the log: all defaults. */
struct sotto_monitor_service {
    const char *command; /**< the served model, as of sotto_target_open_command() */
    /** The state that survives a restart: what it holds is fed first, and every exchange is appended before its answer
     *  leaves. Must not be NULL. */
    const char *log;
    /** NULL: client lines in `input` name the client. Else all rows are this client's, and client lines are refused. */
    const char *client;
    /** [SOTTO_ALARM_LOG]; the client sees the two others. */
    enum sotto_on_alarm on_alarm;
    struct sotto_command_options how;
};
/** Stands between clients and a served model: reads client lines and frames of rows from `input`, asks the command, and
 *  writes its answers to `output` unchanged, but for those that an alarm withholds, until `input` ends. Alarms are warnings of
 *  the context's log, which holds what the command answered.
 *
 *  In:      input, output  file descriptors, blocking or not
 *  Returns: EGATE    an alarm ended the service
 *           EUSAGE   another process uses the log
 *           EFORMAT  what came in is neither a client line nor a frame of rows
 *           those of sotto_monitor_replay() and sotto_target_open_command() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_monitor_serve(struct sotto_monitor *m,
                                                            const struct sotto_monitor_service *s, int input,
                                                            int output, const struct sotto_context *ctx);

/** Writes the object below to a file.
 *  Returns: ECREATE, EIO, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_monitor_save(const char *path,
                                                           const struct sotto_monitor_result *r);
/** Out:     *json: one "sotto.monitor/1" object (page.md); *text: lines for the terminal. Free with
 *           sotto_text_free()
 *  Returns: ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_monitor_json(char **json, const struct sotto_monitor_result *r);
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_monitor_text(char **text, const struct sotto_monitor_result *r);

#ifdef __cplusplus
}
#endif
#endif
