#include "options/option_row.h"
#include "options/module_tables.h"
#include "sotto/lab/monitor.h"

#define OPTIONS_OF struct sotto_monitor_options

const struct sotto_option options_monitor[] = {
    {"alpha", REAL(alpha, "P"), .value = "0.001", .range = "(0,1)", .group = "Detector",
     .help =
         "largest probability of any false alarm in the life of a client with blocks exchangeable with the "
         "calibration's; drifting or bursty clients raise alarms; an attack that asks about each candidate "
         "once is not found, and patience (many accounts, few queries each) defeats the monitor"},
    {"block", COUNT(block, "ROWS"), .value = "50", .range = "[2,100000]", .group = "Detector",
     .help = "rows of a client that are judged together"},
    {"service", FLAG(service), .value = "0", .group = "Detector",
     .help = "one more wealth, of all clients' rows in the order of their arrival; halves alpha for both"},
    {"clients", COUNT(clients, "N"), .value = "1000", .range = "[1,inf)", .group = "Detector",
     .help = "maximum number of clients"},
    OPTIONS_END};

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_monitor_input
#define BENIGN "Benign queries"

const struct sotto_option options_monitor_input[] = {
    {"calibration", INPUT(calibration, "X.npy"), .group = BENIGN,
     .help = "queries of honest clients (N, columns), in the order in which they came; they are no training "
             "records of the model"},
    {"calibration-clients", INPUT(calibration_clients, "c.npy"), .group = BENIGN,
     .help = "client of each calibration row (N), whole numbers; blocks are then rows of one client "
             "(default: one stream)"},
    {"calibration-answers", INPUT(calibration_answers, "P.npy"), .group = BENIGN,
     .help = "posteriors of the calibration rows (N, classes), as they leave the service; adds the statistic "
             "'margin'"},
    {"bank", INPUT(bank, "X.npy"), .group = BENIGN,
     .help = "more queries of honest clients (about 1000), none of them in --calibration"},
    {"encoder", INPUT(encoder, "FILE"), .group = BENIGN,
     .help = "public encoder (.safetensors): distances are between embeddings; the rows are then images with "
             "pixels in [0, 1] (--image)"},
    {"image", INPUT(channels, "C,H,W"), .group = BENIGN, .help = "image shape of a row, for --encoder"},
    {"training", INPUT(training, "X.npy"), .group = BENIGN,
     .help = "training records of the model, only to refuse calibration and bank rows that are among them; "
             "no statistic looks records up, as an alarm that depends on membership would itself tell who is "
             "a member"},
    OPTIONS_END};

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_monitor_service
#define SERVICE "Service (-- COMMAND)"

const struct sotto_option options_monitor_service[] = {
    {"log", TEXT(log, "FILE"), .group = SERVICE,
     .help = "log of all queries and answers, which survives a restart; the monitor reads it first, and "
             "writes every exchange before its answer leaves; it is as private as the queries"},
    {"client", TEXT(client, "NAME"), .group = SERVICE,
     .help = "name of the only client (default: as the client lines in the input say; they are believed)"},
    {"on-alarm", CHOICE(on_alarm, "WHAT", "log|stop|withhold"), .value = "log", .group = SERVICE,
     .help = "action at an alarm: log, stop or withhold; log warns on stderr; stop ends the service and "
             "withholds the answer; withhold gives the client equal posteriors, or class 0, from that answer "
             "on; stop and withhold show the client that it was found"},
    OPTIONS_END};
