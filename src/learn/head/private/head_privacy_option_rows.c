#include "options/option_row.h"
#include "options/option_tables.h"
#include "sotto/head.h"

#define OPTIONS_OF struct sotto_head_privacy

const struct sotto_option options_head_privacy[] = {
    {"epsilon", REAL(target.epsilon, "E"), .value = "auto", .range = "(0,inf)",
     .group = "Noise and guarantee", .help = "target epsilon, met with the smallest noise", .aliases = "eps",
     .old_names = "target-epsilon"},
    {"max-tpr", TEXT(risk.max_tpr, "TPR@FPR"), .group = "Noise and guarantee",
     .help = "instead of an epsilon, such as 0.02@0.01: no test of membership has a higher true-positive "
             "rate at that false-positive rate; the smallest noise for it is found"},
    {"max-advantage", REAL(risk.max_advantage, "A"), .range = "(0,1)", .group = "Noise and guarantee",
     .help = "instead of an epsilon: no test of membership has a true-positive rate more than A above its "
             "false-positive rate; the smallest noise for it is found"},
    {"delta", REAL(target.delta, "D"), .value = "auto", .range = "[0,1)", .group = "Noise and guarantee",
     .help = "delta of (epsilon, delta)-DP (default: 1 / (10 x records), rounded down to a power of ten; "
             "objective, and laplace noise on second moments: 0)"},
    {"adjacency", CHOICE(adjacency, "NAME", "replace-one|add-remove|zero-out"), .value = "replace-one",
     .group = "Noise and guarantee",
     .help =
         "adjacency of dp-sgd, dp-adam and dp-gd: replace-one, or zero-out (one record has no effect; alias "
         "add-remove)"},
    {"sampling", CHOICE(sampling, "NAME", "poisson|fixed"), .value = "poisson",
     .group = "Noise and guarantee",
     .help = "batches of dp-sgd and dp-adam: poisson, or fixed: constant batch size without replacement "
             "(replace-one adjacency)"},
    {"unit", CHOICE(unit, "NAME", "auto|record|person"), .value = "auto", .group = "Noise and guarantee",
     .help =
         "what dp-sgd and dp-adam sample and clip as one: records, or persons with all of their rows, at the "
         "epsilon of one record (auto: persons where the import or --persons names them)"},
    OPTIONS_END};
