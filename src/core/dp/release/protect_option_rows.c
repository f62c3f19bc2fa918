#include "dp/mechanism/require.h"
#include "options/option_row.h"
#include "options/option_tables.h"
#include "sotto/release.h"

#define OPTIONS_OF struct sotto_spend

const struct sotto_option options_spend[] = {
    {"dataset-id", TEXT(dataset_id, "ID"), .group = "Ledger",
     .help =
         "identity of the private data set, for input that records none; 'sotto data info NAME' shows it"},
    {"rows-per-person", COUNT(rows_per_person, "M"), .value = "0", .range = "[0,1048576]", .group = "Ledger",
     .help = "unit of privacy: a person with at most M records, as you state; this is checked only where "
             "'sotto data import --person' capped the records; 0: one record, or what the import says"},
    {"ledger", TEXT(ledger, "FILE"), .group = "Ledger",
     .help = "ledger file (default: $XDG_DATA_HOME/sotto/ledger/ID.jsonl)"},
    {"budget-epsilon", REAL(budget.epsilon, "E"), .range = POSITIVE, .group = "Ledger",
     .help = "privacy budget: largest epsilon of all ledger entries together; a release beyond it is refused "
             "(exit 77)"},
    {"budget-delta", REAL(budget.delta, "D"), .value = "auto", .range = "[0,1)", .group = "Ledger",
     .help = "delta of the privacy budget (default: delta of the release)"},
    {"purpose", TEXT(purpose, "TEXT"), .group = "Ledger",
     .help = "purpose of the release, recorded in ledger and certificate"},
    {"read-from-data", LIST(read_from_data, "NAME"),
     .help = "option with a value that was read from the private data, so nothing is proved; such as l2, "
             "clipping or max-grad-norm; epsilon is then conditional on it (repeatable)"},
    {"planned", TEXT(planned, "ID:K"), .group = "Ledger",
     .help = "slot K of the plan ID of 'sotto ledger plan': the release, or the run of private training, is "
             "made as planned and costs nothing more"},
    {"insecure-noise-seed", ANY_SEED(insecure_seed), .group = "Ledger",
     .help = "seed of the noise, for tests and papers only: NO PRIVACY; recorded in every output"},
    OPTIONS_END};

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_source_records

const struct sotto_option options_source[] = {
    {"same-people-as", LIST(same_people, "ID"), .group = "Ledger",
     .help = "identity of another data set about the same people; its ledger is charged too (repeatable)"},
    {"ledger-move", FLAG(move_ledger), .value = "0", .group = "Ledger",
     .help = "permission to move the data set's ledger to --ledger"},
    OPTIONS_END};

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_protect

const struct sotto_option options_protect[] = {
    {"statistic", TEXT(statistic, "NAME"), .group = "What is released",
     .help = "statistic of each column of --table: mean, chi-square-genotypes, chi-square-alleles, median or "
             "most-frequent; mean and median need --range, chi-square needs --cases; median takes one column "
             "and --mechanism smooth-median; most-frequent takes labels, --classes and --mechanism "
             "propose-test-release, and releases one label, or -1 for nothing"},
    {"range", INPUT(range, "LOW,HIGH"), .group = "What is released",
     .help = "range to which the values of --table are clipped, such as 0,1 (mean)"},
    {"blocks", COUNT(blocks, "K"), .value = "0", .group = "What is released",
     .help = "number of disjoint blocks of records; the median is that of their means; 0: of the records "
             "(median)"},
    {"mechanism", TEXT(release.mechanism, "NAME"), .value = "logistic", .group = "Mechanism",
     .help = mechanism_help},
    {"choices", COUNT(choices, "K"), .value = "1", .range = "[1,512]", .group = "What is released",
     .help = "number of indices to choose, of columns of --table or of scores (permute-and-flip)"},
    {"cases", TEXT(cases, "FILE"), .group = "What is released",
     .help = "case (1) or control (0) for each record of --table, public, as many of each (chi-square)"},
    {"labels-from", COUNT(labels_from, "N"), .value = "0", .range = "[0,1]", .group = "What is released",
     .help = "number of the first class in labels, 0 or 1; released labels count from 0"},
    {"classes", COUNT(classes, "K"), .value = "0", .group = "Mechanism",
     .help = "number of classes, with labels 0 to K - 1 (randomised-response)"},
    {"sensitivity", INPUT(sensitivity_file, "FILE"), .group = "Sensitivity",
     .help = "sensitivity.json of 'sotto sensitivity', sampled or proved"},
    {"output", TEXT(output, "FILE"), .group = "Output",
     .help = "protected file to write; FILE.certificate.json is written beside it"},
    OPTIONS_END};

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_protect_records

const struct sotto_option options_protect_records[] = {
    {"records", INPUT(input, "X.npy|N"), .group = "What is released",
     .help = "private records (n, ...) as .npy: each row is clipped to --clip and released once, with noise; "
             "with --head, --vector or --table: the number of records in the private data set (a warning is "
             "printed if delta >= 1/N)"},
    {"clip", REAL(clip, "R"), .range = "[1e-9,1e9]", .group = "What is released",
     .help = "norm to which every row of --records is clipped"},
    {"norm", CHOICE(norm, "NORM", "l2|l1"), .value = "l2", .group = "What is released",
     .help = "that norm: l2 (default noise gaussian) or l1 (laplace)"},
    {"labels", TEXT(labels, "y.npy"), .group = "What is released",
     .help = "labels of --records, released by randomised response (default: labels are public); with "
             "--mechanism "
             "randomised-response: labels alone, one a record"},
    {"label-epsilon", REAL(label_epsilon, "E"), .value = "0", .range = "[0,1e6]", .group = "What is released",
     .help = "epsilon of the labels, a part of --epsilon"},
    {"labels-output", TEXT(labels_output, "FILE"), .group = "Output",
     .help = "released labels to write (default: --output with .labels.npy for .npy)"},
    OPTIONS_END};
