#include "options/option_row.h"
#include "options/module_tables.h"
#include "sotto/lab/defend.h"

#define OPTIONS_OF struct sotto_defence_options

const struct sotto_option options_defence[] = {
    {"budget", REAL(budget, "B"), .value = "auto", .range = "[0,inf)", .group = "Defence",
     .help = "budget of the defence, in its own unit (default and unit: see --list)"},
    {"seed", ANY_SEED(seed), .value = "1", .group = "Defence",
     .help = "seed of training, for defender and attacker"},
    {"set", LIST(settings, "NAME=VALUE"), .group = "Defence",
     .help = "parameter of the defence, see --list (repeatable)"},
    {"key", ANY_SEED(key), .value = "0", .group = "Defence",
     .help = "key of the defence's random choices; keep it secret in real use"},
    OPTIONS_END};
