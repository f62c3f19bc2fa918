#include "options/option_row.h"
#include "options/option_tables.h"
#include "sotto/lab/data.h"

#define OPTIONS_OF struct sotto_split_options

const struct sotto_option options_split[] = {
    {"seed", ANY_SEED(seed), .value = "1", .group = "Split",
     .help = "seed of the assignment of records to parts"},
    {"schema", TEXT(schema, "FILE"), .group = "Tables",
     .help = "schema.yaml with columns, bounds, categories and classes; it makes the encoding independent of "
             "the records (import, split)"},
    {"one-hot", FLAG(one_hot), .value = "0", .group = "Tables",
     .help = "one-hot categories and scaled numbers, fitted on all rows, which makes every epsilon "
             "conditional, unless a schema, --fit-on, --fit-table or --private-fit is given (split)"},
    {"fit-on", TEXT(fit_part, "PART"), .group = "Tables",
     .help = "public part to which the encoding is fitted; split"},
    {"fit-table", TEXT(fit_table, "TABLE"), .group = "Tables",
     .help = "public table to which the encoding is fitted; split"},
    {"dataset-id", TEXT(dataset_id, "ID"), .group = "Identity and privacy",
     .help = "identity of the private data set, which selects its ledger (default: NAME-<random digits>); "
             "split needs it for --private-fit on a set without identity"},
    {"private-fit", REAL(private_epsilon, "EPSILON"), .group = "Identity and privacy",
     .help = "epsilon of private releases that narrow the schema's bounds; split with --dataset-id"},
    {"ledger", TEXT(ledger, "FILE"), .group = "Identity and privacy",
     .help = "ledger of --private-fit (default: $XDG_DATA_HOME/sotto/ledger/ID.jsonl)"},
    OPTIONS_END};
