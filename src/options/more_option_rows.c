/* Options of imports, splits, monitors, experiments and self-tests; and those of no struct. */
#include "sotto/data.h"
#include "sotto/monitor.h"
#include "sotto/run.h"
#include "sotto/selftest.h"

#define OPTIONS_OF struct sotto_split_options
#include "options/option_row.h"

static const struct sotto_option split_rows[] = {
    {"seed", ANY_SEED(seed), .value = "1", .group = "Split",
     .help = "seed of the assignment of records to parts"},
    {"schema", TEXT(schema, "FILE"), .group = "Tables",
     .help = "schema.yaml with columns, bounds, categories and classes; makes the encoding independent of "
             "the records (import, split)"},
    {"one-hot", FLAG(one_hot), .value = "0", .group = "Tables",
     .help = "one-hot categories and scaled numbers, fitted by a schema, by public rows (--fit-on, "
             "--fit-table), by --private-fit, or else on all rows, which makes every epsilon conditional "
             "(split)"},
    {"fit-on", TEXT(fit_part, "PART"), .group = "Tables",
     .help = "public part to which the encoding is fitted (split)"},
    {"fit-table", TEXT(fit_table, "TABLE"), .group = "Tables",
     .help = "public table to which the encoding is fitted (split)"},
    {"dataset-id", TEXT(dataset_id, "ID"), .group = "Identity and privacy",
     .help = "identity of the private data set, which selects its ledger (import, default: NAME-<random "
             "digits>; split: for --private-fit on a set without identity)"},
    {"private-fit", REAL(private_epsilon, "EPSILON"), .group = "Identity and privacy",
     .help = "epsilon of private releases that narrow the schema's bounds (split; needs --dataset-id)"},
    {"ledger", TEXT(ledger, "FILE"), .group = "Identity and privacy",
     .help = "ledger of --private-fit (default: $XDG_DATA_HOME/sotto/ledger/ID.jsonl)"},
    OPTIONS_END};

const struct sotto_option *sotto_split_option_table(void)
{
    return split_rows;
}

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_monitor_options

static const struct sotto_option monitor_rows[] = {
    {"alpha", REAL(alpha, "P"), .value = "0.001", .range = "(0,1)", .group = "Detector",
     .help = "probability of any false alarm in the life of a client with blocks exchangeable with the "
             "calibration's, "
             "at most; drifting or bursty clients raise alarms; an attack that asks each candidate once is "
             "not found, "
             "and patience (many accounts, few queries each) defeats the monitor"},
    {"block", COUNT(block, "ROWS"), .value = "50", .range = "[2,100000]", .group = "Detector",
     .help = "rows of a client that are judged together"},
    {"service", FLAG(service), .value = "0", .group = "Detector",
     .help = "one more wealth, of all clients' rows in the order of their arrival; halves alpha for both"},
    {"clients", COUNT(clients, "N"), .value = "1000", .range = "[1,inf)", .group = "Detector",
     .help = "maximum number of clients"},
    OPTIONS_END};

const struct sotto_option *sotto_monitor_option_table(void)
{
    return monitor_rows;
}

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_monitor_input
#define BENIGN "Benign queries"

static const struct sotto_option monitor_input_rows[] = {
    {"calibration", INPUT(calibration, "X.npy"), .group = BENIGN,
     .help = "queries of honest clients (N, columns) in the order in which they were asked; not training "
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
     .help =
         "public encoder (.safetensors): distances are between its embeddings of the rows, which are images "
         "with pixels in [0, 1] (--image)"},
    {"image", INPUT(channels, "C,H,W"), .group = BENIGN, .help = "image shape of a row, for --encoder"},
    {"training", INPUT(training, "X.npy"), .group = BENIGN,
     .help = "training records of the model, only to refuse calibration and bank rows that are among them; "
             "no statistic looks records up, as an alarm that depends on membership would itself tell who is "
             "a member"},
    OPTIONS_END};

const struct sotto_option *sotto_monitor_input_table(void)
{
    return monitor_input_rows;
}

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_monitor_service
#define SERVICE "Service (-- COMMAND)"

static const struct sotto_option service_rows[] = {
    {"log", TEXT(log, "FILE"), .group = SERVICE,
     .help = "log of all queries and answers, which is the state that survives a restart: it is read first, "
             "and every exchange is written before its answer leaves; as private as the queries"},
    {"client", TEXT(client, "NAME"), .group = SERVICE,
     .help = "name of the only client (default: as the client lines in the input say; they are believed)"},
    {"on-alarm", CHOICE(on_alarm, "WHAT", "log|stop|withhold"), .value = "log", .group = SERVICE,
     .help = "what an alarm does: log (a warning on stderr), stop (the service ends and withholds the "
             "answer) or withhold (from that answer on the client gets equal posteriors, or class 0); the "
             "last two show the client that it was found"},
    OPTIONS_END};

const struct sotto_option *sotto_monitor_service_table(void)
{
    return service_rows;
}

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_selftest_options

static const struct sotto_option selftest_rows[] = {
    {"falsify", FLAG(falsify), .value = "0", .group = "Falsifier",
     .help = "black-box attacks on every mechanism, on copies with historical bugs, and on this program with "
             "neighbouring files (takes minutes)"},
    {"draws", COUNT(draws, "N"), .value = "1000000", .range = "[1000,67108864]", .group = "Falsifier",
     .help = "number of draws for each input and mechanism"},
    {"runs", COUNT(runs, "N"), .value = "200", .range = "[20,1000000]", .group = "Falsifier",
     .help = "number of runs of this program on each of two neighbouring files"},
    {"only", TEXT(only, "TEXT"), .group = "Falsifier",
     .help = "part of the names of the attacks to run (default: all)"},
    {"shard", INPUT(shard, "I/N"), .group = "Falsifier",
     .help = "part I of N of the attacks to run, such as 2/6: every sixth of them, from the second on "
             "(default: all)"},
    {"shards", COUNT(shards, "N"), .value = "1", .range = "[1,inf)", .group = "Falsifier",
     .help = "parts in which the attacks are run"},
    OPTIONS_END};

const struct sotto_option *sotto_selftest_option_table(void)
{
    return selftest_rows;
}

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_import_options
#define CSV_TABLES "Tables of text"

static const struct sotto_option import_rows[] = {
    {"size", INPUT(height, "HxW"), .group = "Import and fetch",
     .help = "size in pixels to which images are resized: image folders and STL-10 (default: the most common "
             "size)"},
    {"label", TEXT(label, "COLUMN"), .group = "Import and fetch",
     .help = "label column of a table: first, last or a name (default: detected); CIFAR-100: fine (default) "
             "or coarse"},
    {"attribute", TEXT(attribute, "COLUMN"), .group = "Import and fetch",
     .help = "attribute of images: a column of CelebA (A+B: both combined) or of labels.csv; UTKFace: race, "
             "gender or age"},
    {"part", TEXT(part, "PART"), .group = "Import and fetch",
     .help = "part of STL-10: labelled (default) or unlabelled (import)"},
    {"separator", TEXT(separator, "WORD"), .group = CSV_TABLES,
     .help = "between the cells of a table: comma, semicolon, tab or pipe (import; default: found)"},
    {"missing", TEXT(missing, "TEXTS"), .group = CSV_TABLES,
     .help = "cells that stand for no value, such as 'NA,?,none', beside the empty one (import; default: "
             "?,NA,N/A,n/a,NaN,nan,null,NULL)"},
    {"types", TEXT(types, "COLUMN=TYPE,..."), .group = CSV_TABLES,
     .help = "number or category for single columns (import; default: a column of numbers has nothing else)"},
    {"drop", TEXT(drop, "COLUMNS"), .group = CSV_TABLES,
     .help = "columns to leave out, such as identifiers (import)"},
    {"no-header", FLAG(no_header), .value = "0", .group = CSV_TABLES,
     .help = "the first row is a record, not a row of names (import; default: found)"},
    {"drop-bad-rows", FLAG(drop_bad_rows), .value = "0", .group = CSV_TABLES,
     .help =
         "leave out rows of another number of cells, without a label or without a number where --types "
         "expects one, instead of refusing the table; each depends on its own row only, but the number of "
         "records that remain is public (import)"},
    {"loci", TEXT(loci, "FILE"), .group = "Import and fetch",
     .help = "public list of the loci of genotypes: CSV with id, allele, frequency and maybe other (import)"},
    {"person", TEXT(person, "COLUMN"), .group = "Import and fetch",
     .help = "column of a table that names the person of each row, the unit of privacy then, and is no "
             "feature; none: one record is the unit (import)"},
    {"rows-per-person", COUNT(rows_per_person, "M"), .value = "0", .range = "[0,1048576]",
     .group = "Import and fetch",
     .help = "rows that are kept of each person, the first ones (import; with --person)"},
    {"absent", TEXT(absent, "WORD"), .group = "Import and fetch",
     .help = "genotypes at loci of --loci that the file has no line for: none (no copy of the listed allele) "
             "or frequency (unknown) (import; default: refused)"},
    {"labels-from", COUNT(labels_from, "N"), .value = "0", .range = "[0,1]", .group = "Import and fetch",
     .help = "number of the first class in labels of arrays, 0 or 1"},
    OPTIONS_END};

const struct sotto_option *sotto_import_option_table(void)
{
    return import_rows;
}

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_fetch_options

static const struct sotto_option fetch_rows[] = {
    {"url", TEXT(url, "URL"), .group = "Import and fetch",
     .help = "https address of the download (fetch; default: the official one)"},
    {"sha256", TEXT(sha256, "HEX"), .group = "Import and fetch",
     .help = "SHA-256 of the file at --url, for files unknown to sotto (fetch)"},
    {"keep", FLAG(keep), .value = "0", .group = "Import and fetch",
     .help = "downloaded file kept after the import (fetch)"},
    OPTIONS_END};

const struct sotto_option *sotto_fetch_option_table(void)
{
    return fetch_rows;
}

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_run_options

static const struct sotto_option run_rows[] = {
    {"output", TEXT(folder, "DIR"), .group = "Run",
     .help = "run folder (default: runs/NAME; the same command continues a run)"},
    {"set", LIST(overrides, "KEY=VALUE"), .group = "Run",
     .help = "value that replaces one of the experiment file, such as pretrain.epochs=2 (repeatable)"},
    {"fresh", FLAG(fresh), .value = "0", .group = "Run", .help = "new run folder instead of continuing"},
    {"insecure-noise-seed", ANY_SEED(insecure_seed), .group = "Run",
     .help = "seed of the noise, for tests only: NO PRIVACY; recorded in every output"},
    {"worker", FLAG(worker), .value = "0", .group = "Run",
     .help = "do what no other process does of the experiment, without its releases and its report; any "
             "number of these at any "
             "time, then the same command without it"},
    {"shard", INPUT(shard, "I/N"), .group = "Run",
     .help = "a worker that trains only part I of N of the shadow models; auto: by the scheduler's job array "
             "or the rank; "
             "auto/N: of N, for PBS"},
    {"plan", FLAG(plan), .value = "0", .group = "Run",
     .help = "print stages and shadow models that are done and missing, and the hours they take with 1, 8 "
             "and 64 workers; one shadow "
             "model is trained if none is there to tell"},
    OPTIONS_END};

const struct sotto_option *sotto_run_option_table(void)
{
    return run_rows;
}

/* What is in no struct: which records several verbs work on, and arguments of calls. */
static const struct sotto_option call_rows[] = {
    {"data", "data", SOTTO_OPTION_TEXT, .unit = "SET",
     .help = "data set: a registered name or a path (see 'sotto data list')"},
    {"indices", "indices", SOTTO_OPTION_TEXT, .unit = "rows.npy",
     .help = "rows of --data to use, in this order, whole numbers from 0"},
    {"split", "split", SOTTO_OPTION_TEXT, .unit = "PART", .value = "all",
     .help = "part of --data to use: train, test or all"},
    {"encoder", "encoder", SOTTO_OPTION_TEXT, .unit = "FILE",
     .help = "encoder.safetensors, or 'scattering' for fixed wavelet features without training"},
    {"random", "random", SOTTO_OPTION_TEXT, .unit = "NAME",
     .help = "untrained encoder of this name, such as keras-simclr, as a baseline"},
    {"seed", "seed", SOTTO_OPTION_SEED, .unit = "N", .value = "0",
     .help = "seed of --random and of the linear head of --evaluate"},
    {"fresh", "fresh", SOTTO_OPTION_FLAG, .value = "0",
     .help = "fresh start at step 0, although an interrupted run left a checkpoint"},
    {"title", "title", SOTTO_OPTION_TEXT, .unit = "TEXT", .help = "headline of the report"},
    {"sigma", "sigma", SOTTO_OPTION_REAL, .unit = "S", .range = "(0,inf)",
     .help = "alias of --scale; with --sample-rate, of --noise-multiplier"},
    {"compose", "compose", SOTTO_OPTION_COUNT, .unit = "K", .value = "1", .range = "[1,inf)",
     .help = "number of identical releases with independent noise"},
    {"choose", "choose", SOTTO_OPTION_FLAG, .value = "0",
     .help = "table of the noise that each mechanism needs for --epsilon, smallest first"},
    {"certified", "certified", SOTTO_OPTION_FLAG, .value = "0",
     .help = "bounds by ball arithmetic, valid under rounding (takes seconds)"},
    {"group", "group", SOTTO_OPTION_COUNT, .unit = "N",
     .help = "number of records in which the data sets differ (group)"},
    {"probabilities", "probabilities", SOTTO_OPTION_REALS, .unit = "LIST", .range = "(0,1)",
     .help = "probability of each part, such as 0.5,0.5 (mixture; default: unknown)"},
    {"exponent", "exponent", SOTTO_OPTION_REAL, .unit = "P", .value = "0.3333333333333333", .range = "(0,1]",
     .help = "exponent p of the read-out E[w x^p], in (0, 1]"},
    {"time", "time", SOTTO_OPTION_REAL, .unit = "T", .value = "1", .range = "(0,inf)",
     .help = "end of the dynamics dx = U x dt"},
    {"norm-bound", "norm-bound", SOTTO_OPTION_REAL, .unit = "C", .value = "1", .range = "(0,inf)",
     .help = "bound on the norms of U and w (with --points)"},
    {"draws", "draws", SOTTO_OPTION_COUNT, .unit = "N", .value = "100", .range = "[2,inf)",
     .help = "draws of signs (with --points)"},
    {"sample", "sample", SOTTO_OPTION_COUNT, .unit = "M", .value = "0",
     .help = "number of records that --local tries; 0: all, which is exact"},
    {.name = NULL}};

const struct sotto_option *sotto_call_option_table(void)
{
    return call_rows;
}
