#include "options/option_row.h"
#include "options/option_tables.h"
#include "sotto/audit.h"

#define OPTIONS_OF struct sotto_audit_options

const struct sotto_option options_audit[] = {
    {"attack", LIST(names, "NAME"), .group = "Attacks",
     .help = "attack to run (repeatable; default: all attacks that the inputs allow)"},
    {"set", LIST(settings, "ATTACK.NAME=V"), .group = "Attacks",
     .help = "parameter of an attack, such as lira.monotone=1 (repeatable)"},
    {"fpr", REALS(fpr, fpr_count, "RATES"), .value = "0.01,0.001", .range = "(0,1)", .group = "Statistics",
     .help = "false-positive rates to report, fractions"},
    {"confidence", REAL(confidence, "C"), .value = "0.95", .range = "(0,1)", .group = "Statistics",
     .help = "confidence of every interval, a fraction"},
    {"delta", REAL(delta, "D"), .value = "0", .range = "[0,1)", .group = "Statistics",
     .help = "delta of the lower bound on epsilon"},
    {"seed", ANY_SEED(seed), .value = "1", .group = "Statistics",
     .help = "seed of the split into calibration and evaluation halves, and of all draws"},
    {"bootstrap", COUNT(draws, "N"), .value = "2000", .range = "[100,1000000]", .group = "Statistics",
     .help = "bootstrap draws for the interval of the TPR at a fixed FPR"},
    {"one-run", COUNT(one_run_guesses, "K"), .value = "0", .group = "Statistics",
     .help =
         "guesses on each side for the one-run bound on epsilon, which needs membership by independent fair "
         "coins; 0: no bound"},
    {"group-size", COUNT(group_size, "K"), .value = "0", .group = "Statistics",
     .help =
         "size of the inserted group, where each score is of a training run with or without that group of "
         "records; 0: scores of single records"},
    {"odds-ratio", FLAG(odds_ratio), .value = "0", .group = "Statistics",
     .help = "exact interval of the odds ratio (logistic noise)"},
    {"claim-epsilon", REAL(claim_epsilon, "E"), .value = "0", .range = "[0,inf)", .group = "Verdict",
     .help = "epsilon of --claim"},
    {"claim-delta", REAL(claim_delta, "D"), .value = "0", .range = "[0,1)", .group = "Verdict",
     .help = "delta of --claim"},
    {"claim", INPUT(claim_epsilon, "CLAIM"), .group = "Verdict",
     .help = "claim to test, such as eps=3,delta=1e-5 (exit 1 if contradicted)"},
    {"most-vulnerable", COUNT(most_vulnerable, "N"), .value = "10", .group = "Output",
     .help = "number of most vulnerable members to list", .old_names = "exposed"},
    {"memorisation", FLAG(memorisation), .value = "0", .group = "Output",
     .help = "memorisation of single records by the reference models (8 or more on each side); with "
             "--output, all values "
             "in memorisation.npy, members first"},
    {"include-indices", FLAG(include_indices), .value = "0", .group = "Output",
     .help = "row numbers of the most vulnerable members in the report; of a generative model of images also "
             "pictures of the "
             "members nearest to a sample"},
    OPTIONS_END};
