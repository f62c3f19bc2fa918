#include "options/option_row.h"
#include "options/option_tables.h"
#include "sotto/release.h"

#define OPTIONS_OF struct sotto_canary_options

const struct sotto_option options_canary[] = {
    {"canaries", COUNT(count, "K"), .value = "0", .range = "[0,1000000]", .group = "Canaries",
     .help = "canaries in the training set, each by a secret coin flip, to audit this run; the operating "
             "system's generator flips the coins; they go to OUTPUT.coins.json, sealed until 'sotto audit "
             "--one-run --coin-file'"},
    {"canary-kind", CHOICE(kind, "KIND", "mislabelled|random|dirac|clipbkd|in-distribution"),
     .value = "mislabelled", .group = "Canaries",
     .help = "canaries: mislabelled or in-distribution records of the set (in the place of those), random "
             "records, dirac (a clipped gradient at one weight, DP-SGD), or clipbkd (along the directions of "
             "least "
             "variance of --canary-public)"},
    OPTIONS_END};
