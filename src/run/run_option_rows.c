#include "options/option_row.h"
#include "options/option_tables.h"
#include "sotto/run.h"

#define OPTIONS_OF struct sotto_run_options

const struct sotto_option options_run[] = {
    {"output", TEXT(folder, "DIR"), .group = "Run",
     .help = "run folder (default: runs/NAME; the same command continues a run)"},
    {"set", LIST(overrides, "KEY=VALUE"), .group = "Run",
     .help = "value that replaces one of the experiment file, such as pretrain.epochs=2 (repeatable)"},
    {"fresh", FLAG(fresh), .value = "0", .group = "Run", .help = "new run folder instead of continuing"},
    {"insecure-noise-seed", ANY_SEED(insecure_seed), .group = "Run",
     .help = "seed of the noise, for tests only: NO PRIVACY; recorded in every output"},
    {"worker", FLAG(worker), .value = "0", .group = "Run",
     .help =
         "worker: do the work of the experiment that no other process has claimed, then exit; it makes no "
         "release and no report; start any number of workers, then run the command once without --worker"},
    {"shard", INPUT(shard, "I/N"), .group = "Run",
     .help = "a worker that trains only part I of N of the shadow models; auto: by the scheduler's job array "
             "or the rank; "
             "auto/N: of N, for PBS"},
    {"plan", FLAG(plan), .value = "0", .group = "Run",
     .help = "print stages and shadow models that are done and missing, and the hours they take with 1, 8 "
             "and 64 workers; one shadow "
             "model is trained if none is there to tell"},
    OPTIONS_END};
