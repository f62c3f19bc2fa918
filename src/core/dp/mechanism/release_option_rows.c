#include "dp/mechanism/require.h"
#include "options/option_row.h"
#include "options/option_tables.h"
#include "sotto/release.h"

#define OPTIONS_OF struct sotto_release

const char mechanism_help[] =
    "mechanism: logistic, laplace, gaussian, knorm and others; discrete-laplace or discrete-gaussian for "
    "whole numbers; exponential or permute-and-flip choose indices by their scores (--choices); "
    "randomised-response for labels; smooth-median for one median; only in 'sotto account': "
    "gaussian-classical";

const struct sotto_option options_release[] = {
    {"records", COUNT(records, "N"), .group = "What is released",
     .help = "number of records in the private data set; a warning is printed if delta >= 1/N"},
    {"mechanism", TEXT(mechanism, "NAME"), .group = "Mechanism", .help = mechanism_help},
    {"scale", REAL(scale, "S"), .range = POSITIVE, .group = "Mechanism",
     .help = "noise scale (s, b or sigma), in units of the values", .aliases = "sigma"},
    {"epsilon", REAL(target.epsilon, "E"), .range = POSITIVE, .group = "Mechanism",
     .help = "target epsilon, met with the smallest noise; instead of --scale (DP-SGD: --noise-multiplier)",
     .aliases = "eps", .old_names = "target-epsilon"},
    {"max-tpr", TEXT(risk.max_tpr, "TPR@FPR"), .group = "Mechanism",
     .help = "instead of an epsilon, such as 0.02@0.01: no test of membership has a higher true-positive "
             "rate at that false-positive rate; the smallest noise for it is found"},
    {"max-advantage", REAL(risk.max_advantage, "A"), .range = "(0,1)", .group = "Mechanism",
     .help = "instead of an epsilon: no test of membership has a true-positive rate more than A above its "
             "false-positive rate; the smallest noise for it is found"},
    {"delta", REAL(target.delta, "D"), .value = "0", .range = "[0,1)", .group = "Mechanism",
     .help = "delta of (epsilon, delta)-DP; 0 gives pure epsilon-DP, which needs the L1 sensitivity"},
    {"flat-doubt", FLAG(flat_doubt), .value = "0", .group = "Mechanism",
     .help = "exact noise; which draws are slow tells next to nothing about its size (logistic, laplace, "
             "gaussian, discrete-laplace)"},
    {"value-step", REAL(sensitivity.value_step, "R"), .range = "[0,inf)", .group = "Mechanism",
     .help = "step of the grid that all values lie on, a power of two; 1: integers (default: no grid; 'sotto "
             "protect' with a discrete mechanism: 1)"},
    {"l1", REAL(sensitivity.l1, "D1"), .range = POSITIVE, .group = "Sensitivity",
     .help = "L1 sensitivity, stated by the caller and not checked"},
    {"l2", REAL(sensitivity.l2, "D2"), .range = POSITIVE, .group = "Sensitivity",
     .help = "L2 sensitivity, stated by the caller and not checked"},
    {"dimension", COUNT(sensitivity.dimension, "N"), .group = "Sensitivity",
     .help = "number of released values; tightens bounds from --l2 (default: unknown)"},
    OPTIONS_END};
