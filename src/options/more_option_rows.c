/* Options of splits and self-tests. */
#include "sotto/data.h"
#include "sotto/selftest.h"

#define OPTIONS_OF struct sotto_split_options
#include "options/option_row.h"

static const struct sotto_option split_rows[] = {
    {"one-hot", FLAG(one_hot), .value = "0", .group = "Encoding",
     .help = "tables as numbers: categories become bits, numbers are scaled"},
    {"seed", ANY_SEED(seed), .value = "1", .group = "Parts", .help = "seed of the random split"},
    {"schema", TEXT(schema, "FILE"), .group = "Encoding", .help = "sotto.schema/1 of the table"},
    {"fit-part", TEXT(fit_part, "NAME"), .group = "Encoding", .help = "part that is public"},
    {"fit-table", TEXT(fit_table, "SET"), .group = "Encoding", .help = "another, public table"},
    {"private-epsilon", REAL(private_epsilon, "E"), .value = "0", .group = "Encoding",
     .help = "epsilon of bounds by the exponential mechanism; 0: none"},
    OPTIONS_END};

const struct sotto_option *sotto_split_option_table(void)
{
    return split_rows;
}

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_selftest_options

static const struct sotto_option selftest_rows[] = {
    {"falsify", FLAG(falsify), .value = "0", .group = "Falsifier",
     .help = "black-box attacks on every mechanism"},
    {"draws", COUNT(draws, "N"), .value = "1000000", .range = "[1000,inf)", .group = "Falsifier",
     .help = "draws per input and mechanism"},
    {"runs", COUNT(runs, "N"), .value = "200", .range = "[20,inf)", .group = "Falsifier",
     .help = "runs of the program on each of two neighbouring files"},
    OPTIONS_END};

const struct sotto_option *sotto_selftest_option_table(void)
{
    return selftest_rows;
}
