#include "options/option_row.h"
#include "options/option_tables.h"
#include "sotto/lab/selftest.h"

#define OPTIONS_OF struct sotto_selftest_options

const struct sotto_option options_selftest[] = {
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
