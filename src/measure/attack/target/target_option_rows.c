#include "options/option_row.h"
#include "options/option_tables.h"
#include "sotto/lab/query.h"

#define OPTIONS_OF struct sotto_command_options

const struct sotto_option options_command[] = {
    {"timeout", REAL(timeout, "S"), .value = "60", .range = "(0,inf)", .group = "Target",
     .help = "time limit for one frame of the command, including its start, in seconds"},
    {"query-batch", COUNT(batch, "ROWS"), .value = "1024", .range = "[1,inf)", .group = "Target",
     .help = "maximum number of rows in a frame of the command"},
    OPTIONS_END};

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_disguise_options

#define DISGUISE "Disguise from a monitor (--target-command)"

const struct sotto_option options_disguise[] = {
    {"spread", COUNT(spread, "CLIENTS"), .value = "1", .range = "[1,100000]", .group = DISGUISE,
     .help = "clients that the queries are dealt to, in turn, under the names account-1 and so on; the "
             "command must read client lines, as a monitor does"},
    {"dilute", REAL(dilute, "SHARE"), .value = "1", .range = "[0.001,1]", .group = DISGUISE,
     .help = "share of the rows sent that are the attack's; the others are rows of --cover at random places"},
    {"decoys", COUNT(decoys, "N"), .value = "0", .range = "[0,1000]", .group = DISGUISE,
     .help = "rows of --cover sent after each row of the attack, so that rows near each other stand in "
             "different blocks"},
    OPTIONS_END};
