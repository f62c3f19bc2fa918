/* Options of releases, of sampled steps, of what they are charged to, and of residual perturbation. */
#include "sotto/dp.h"
#include "sotto/residual.h"

#define OPTIONS_OF struct sotto_release
#include "options/option_row.h"

/* Of scales, norms and epsilons: their products and squares are normal numbers. */
#define POSITIVE "[1e-100,1e100]"

static const struct sotto_option release_rows[] = {
    {"records", COUNT(records, "N"), .group = "What is released",
     .help = "number of records in the private data set; a warning is printed if delta >= 1/N"},
    {"mechanism", TEXT(mechanism, "NAME"), .group = "Mechanism",
     .help = "mechanism: logistic, laplace, gaussian or knorm; discrete-laplace or discrete-gaussian (whole "
             "numbers); exponential or permute-and-flip (scores in, one index out; --choices); "
             "randomised-response (labels); smooth-median "
             "(records in, one median out); only in "
             "'sotto account': gaussian-classical"},
    {"scale", REAL(scale, "S"), .range = POSITIVE, .group = "Mechanism",
     .help = "noise scale (s, b or sigma), in units of the values", .aliases = "sigma"},
    {"epsilon", REAL(target.epsilon, "E"), .range = POSITIVE, .group = "Mechanism",
     .help = "target epsilon instead of --scale (DP-SGD: --noise-multiplier); the smallest noise that meets "
             "it is found",
     .old_names = "target-epsilon"},
    {"max-tpr", TEXT(risk.max_tpr, "TPR@FPR"), .group = "Mechanism",
     .help = "instead of an epsilon, such as 0.02@0.01: no test of membership has a higher true-positive "
             "rate at that false-positive rate; the smallest noise for it is found"},
    {"max-advantage", REAL(risk.max_advantage, "A"), .range = "(0,1)", .group = "Mechanism",
     .help = "instead of an epsilon: no test of membership has a true-positive rate more than A above its "
             "false-positive rate; the smallest noise for it is found"},
    {"delta", REAL(target.delta, "D"), .value = "0", .range = "[0,1)", .group = "Mechanism",
     .help = "delta of (epsilon, delta)-DP; 0: pure epsilon-DP, which needs the L1 sensitivity"},
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

const struct sotto_option *sotto_release_option_table(void)
{
    return release_rows;
}

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_sampled

static const struct sotto_option sampled_rows[] = {
    {"mechanism", TEXT(mechanism, "NAME"), .group = "DP-SGD",
     .help = "noise: gaussian or logistic; laplace with gradients clipped by L1"},
    {"noise-multiplier", REAL(noise_multiplier, "M"), .range = POSITIVE, .group = "DP-SGD",
     .help = "noise scale / clipping norm", .aliases = "sigma"},
    {"sample-rate", REAL(sample_rate, "Q"), .range = "[1e-100,1]", .group = "DP-SGD",
     .help = "sampling rate: probability that a record is in a step, in (0, 1]", .aliases = "sampling-rate",
     .old_names = "sampling_rate"},
    {"sampling", CHOICE(sampling, "NAME", "poisson|fixed"), .value = "poisson", .group = "DP-SGD",
     .help = "batches: poisson, or fixed: constant batch size without replacement (replace-one adjacency)"},
    {"rows-per-person", COUNT(rows_per_person, "M"), .value = "0", .range = "[0,1048576]", .group = "DP-SGD",
     .help = "unit of privacy: a person with at most M records, in Poisson batches; 0: one record"},
    {"steps", COUNT(steps, "N"), .range = "[1,1099511627776]", .group = "DP-SGD", .help = "number of steps"},
    {"delta", REAL(delta, "D"), .range = "(0,1)", .group = "DP-SGD",
     .help = "delta of (epsilon, delta)-DP for all steps together"},
    {"clipping", CHOICE(clipping, "NORM", "l2|l1"), .value = "l2", .group = "DP-SGD",
     .help = "norm of gradient clipping: l1 or l2 (laplace: l1)"},
    {"adjacency", CHOICE(adjacency, "NAME", "replace-one|add-remove"), .group = "Mechanism",
     .help = "adjacency: replace-one (default) or add-remove (default for Poisson batches)"},
    OPTIONS_END};

const struct sotto_option *sotto_sampled_option_table(void)
{
    return sampled_rows;
}

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_spend

static const struct sotto_option spend_rows[] = {
    {"dataset-id", TEXT(dataset_id, "ID"), .group = "Ledger",
     .help = "identity of the private data set, where the input records none ('sotto data info NAME' shows "
             "it)"},
    {"rows-per-person", COUNT(rows_per_person, "M"), .value = "0", .range = "[0,1048576]", .group = "Ledger",
     .help =
         "unit of privacy: a person with at most M records, as stated and not checked, where no import has "
         "capped them ('sotto data import --person'); 0: one record, or what the import says"},
    {"ledger", TEXT(ledger, "FILE"), .group = "Ledger",
     .help = "ledger file (default: $XDG_DATA_HOME/sotto/ledger/ID.jsonl)"},
    {"budget-epsilon", REAL(budget.epsilon, "E"), .range = POSITIVE, .group = "Ledger",
     .help = "privacy budget: largest epsilon of all ledger entries together; a release beyond it is refused "
             "(exit 77)"},
    {"budget-delta", REAL(budget.delta, "D"), .value = "auto", .range = "[0,1)", .group = "Ledger",
     .help = "delta of the privacy budget (default: delta of the release)"},
    {"purpose", TEXT(purpose, "TEXT"), .group = "Ledger",
     .help = "purpose of the release, recorded in ledger and certificate"},
    {"read-from-data", LIST(read_from_data, "NAME"),
     .help = "option, such as l2, clipping or max-grad-norm, with a value that was read from the private "
             "data; epsilon is then conditional on it and nothing is proved (repeatable)"},
    {"planned", TEXT(planned, "ID:K"), .group = "Ledger",
     .help = "slot K of the plan ID of 'sotto ledger plan': the release, or the run of private training, is "
             "made as planned and costs nothing more"},
    {"insecure-noise-seed", ANY_SEED(insecure_seed), .group = "Ledger",
     .help = "seed of the noise, for tests and papers only: NO PRIVACY; recorded in every output"},
    OPTIONS_END};

const struct sotto_option *sotto_spend_option_table(void)
{
    return spend_rows;
}

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_source_records

static const struct sotto_option source_rows[] = {
    {"same-people-as", LIST(same_people, "ID"), .group = "Ledger",
     .help = "identity of another data set about the same people; its ledger is charged too (repeatable)"},
    {"ledger-move", FLAG(move_ledger), .value = "0", .group = "Ledger",
     .help = "permission to move the data set's ledger to --ledger"},
    OPTIONS_END};

const struct sotto_option *sotto_source_option_table(void)
{
    return source_rows;
}

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_protect

static const struct sotto_option protect_rows[] = {
    {"statistic", TEXT(statistic, "NAME"), .group = "What is released",
     .help = "statistic of each column of --table: mean (with --range), chi-square-genotypes or "
             "chi-square-alleles (with --cases), or median (one column, with --range and --mechanism "
             "smooth-median), or most-frequent (labels, with --classes and --mechanism propose-test-release: "
             "one label, or -1 for nothing)"},
    {"range", INPUT(range, "LOW,HIGH"), .group = "What is released",
     .help = "range to which the values of --table are clipped, such as 0,1 (mean)"},
    {"blocks", COUNT(blocks, "K"), .value = "0", .group = "What is released",
     .help = "number of disjoint blocks of records; the median is that of their means; 0: of the records "
             "(median)"},
    {"choices", COUNT(choices, "K"), .value = "1", .range = "[1,512]", .group = "What is released",
     .help = "number of indices to choose, of columns of --table or of scores (permute-and-flip)"},
    {"cases", TEXT(cases, "FILE"), .group = "What is released",
     .help = "case (1) or control (0) for each record of --table, public, as many of each (chi-square)"},
    {"labels-from", COUNT(labels_from, "N"), .value = "0", .range = "[0,1]", .group = "What is released",
     .help = "number of the first class in labels, 0 or 1; released labels count from 0"},
    {"classes", COUNT(classes, "K"), .value = "0", .group = "Mechanism",
     .help = "number of classes, with labels 0 to K - 1 (randomised-response)"},
    {"sensitivity", INPUT(sensitivity_file, "FILE"), .group = "Sensitivity",
     .help = "sensitivity.json of 'sotto sensitivity', sampled or proved"},
    {"output", TEXT(output, "FILE"), .group = "Output",
     .help = "protected file to write; FILE.certificate.json is written beside it"},
    OPTIONS_END};

const struct sotto_option *sotto_protect_option_table(void)
{
    return protect_rows;
}

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_protect_records

static const struct sotto_option protect_records_rows[] = {
    {"records", INPUT(input, "X.npy|N"), .group = "What is released",
     .help = "records (n, ...) as .npy: each row is clipped to --clip and released with noise, once; with "
             "--head, --vector or --table: the number of records in the private data set (a warning is "
             "printed if delta "
             ">= 1/N)"},
    {"clip", REAL(clip, "R"), .range = "[1e-9,1e9]", .group = "What is released",
     .help = "norm to which every row of --records is clipped"},
    {"norm", CHOICE(norm, "NORM", "l2|l1"), .value = "l2", .group = "What is released",
     .help = "that norm: l2 (default noise gaussian) or l1 (laplace)"},
    {"labels", TEXT(labels, "y.npy"), .group = "What is released",
     .help = "labels of --records, released by randomised response (default: labels are public); with "
             "--mechanism "
             "randomised-response: labels alone, one a record"},
    {"label-epsilon", REAL(label_epsilon, "E"), .value = "0", .range = "[0,1e6]", .group = "What is released",
     .help = "epsilon of the labels, a part of --epsilon"},
    {"labels-output", TEXT(labels_output, "FILE"), .group = "Output",
     .help = "released labels to write (default: --output with .labels.npy for .npy)"},
    OPTIONS_END};

const struct sotto_option *sotto_protect_records_table(void)
{
    return protect_records_rows;
}

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_residual_input

static const struct sotto_option residual_input_rows[] = {
    {"radius", REAL(radius, "R"), .range = "(0,inf)", .group = "Additive residual perturbation",
     .help = "L2 norm to which every input is clipped"},
    {"input-noise", REAL(noise, "PI"), .range = "(0,inf)", .group = "Additive residual perturbation",
     .help = "standard deviation of the noise on inputs"},
    {"uses", COUNT(uses, "E"), .range = "[1,inf)", .group = "Additive residual perturbation",
     .help = "uses of each record in training (epochs)"},
    {"copies", COUNT(copies, "N"), .value = "1", .range = "[1,inf)",
     .group = "Additive residual perturbation",
     .help = "independent noisy copies in each use (networks of an ensemble with separate inputs)"},
    {"label-epsilon", REAL(label_epsilon, "E"), .value = "0", .range = "[0,inf)",
     .group = "Additive residual perturbation",
     .help = "epsilon of randomised response on labels; 0: labels are public"},
    {"delta", REAL(delta, "D"), .range = "(0,1)", .group = "Additive residual perturbation",
     .help = "delta of (epsilon, delta)-DP"},
    OPTIONS_END};

const struct sotto_option *sotto_residual_input_table(void)
{
    return residual_input_rows;
}

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_residual_answers

static const struct sotto_option residual_answers_rows[] = {
    {"gamma", REAL(gamma, "G"), .range = "(0,inf)", .group = "Residual perturbation",
     .help = "standard deviation of the noise in every block"},
    {"mappings", COUNT(mappings, "M"), .value = "3", .range = "[1,inf)", .group = "Residual perturbation",
     .help = "number of residual blocks"},
    {"branch-bound", REAL(branch_bound, "B"), .range = "(0,inf)",
     .group = "Multiplicative residual perturbation", .help = "L2 norm to which every branch is clipped"},
    {"floor", REAL(floor, "ETA"), .value = "0", .range = "[0,inf)",
     .group = "Multiplicative residual perturbation",
     .help = "lower limit of the absolute activations that scale the noise"},
    {"weight-bound", REAL(weight_bound, "A"), .range = "(0,inf)",
     .group = "Multiplicative residual perturbation", .help = "L1 norm of the output weights"},
    {"output-noise", REAL(output, "PI"), .range = "(0,inf)", .group = "Multiplicative residual perturbation",
     .help = "standard deviation of the output noise, relative to the largest activation"},
    {"queries", COUNT(queries, "K"), .value = "1", .range = "[1,inf)",
     .group = "Multiplicative residual perturbation", .help = "number of answers to one adversary"},
    {"delta", REAL(delta, "D"), .range = "(0,1)", .group = "Multiplicative residual perturbation",
     .help = "delta of (epsilon, delta)-DP"},
    OPTIONS_END};

const struct sotto_option *sotto_residual_answers_table(void)
{
    return residual_answers_rows;
}

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_residual_theorem1

static const struct sotto_option theorem1_rows[] = {
    {"mapping-bound", REAL(mapping_bound, "G"), .range = "(0,inf)", .group = "Additive residual perturbation",
     .help = "bound on the expected output of a residual block, for the published, unproved epsilon"},
    OPTIONS_END};

const struct sotto_option *sotto_residual_theorem1_table(void)
{
    return theorem1_rows;
}
