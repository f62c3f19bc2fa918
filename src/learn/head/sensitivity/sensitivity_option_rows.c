#include "options/option_row.h"
#include "options/option_tables.h"
#include "sotto/lab/sensitivity.h"

#define OPTIONS_OF struct sotto_sensitivity_options

const struct sotto_option options_sensitivity[] = {
    {"cache", TEXT(cache, "DIR"), .group = "Sampling",
     .help =
         "folder of finished blocks of 64 pairs, which several processes share; as private as the records"},
    {"worker", FLAG(worker), .value = "0", .group = "Sampling",
     .help = "worker: sample the blocks in --cache that no other process has claimed, then exit; it writes "
             "no output; start any number of workers, then run the command once without --worker"},
    {"plan", FLAG(plan), .value = "0", .group = "Sampling",
     .help =
         "print how many blocks of pairs are missing in --cache, and the hours they take with 1, 8 and 64 "
         "workers; one is sampled to tell, if none is there, and nothing is written"},
    {"shard", INPUT(shard, "I/N"), .group = "Sampling",
     .help = "part I of N of the blocks (needs --cache); auto: by the scheduler's job array or the rank; "
             "auto/N: of N, for PBS"},
    {"shards", COUNT(shards, "N"), .value = "1", .range = "[1,inf)", .group = "Sampling",
     .help = "parts in which the blocks are sampled"},
    OPTIONS_END};

/* Arguments of calls that stand in no struct. */
const struct sotto_option options_local_sensitivity[] = {
    {"sample", "sample", SOTTO_OPTION_COUNT, .unit = "M", .value = "0",
     .help = "number of records that --local tries; 0: all, which is exact"},
    {.name = NULL}};
