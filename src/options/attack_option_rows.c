/* Options of audits, attacks and defences. */
#include "sotto/defend.h"
#include "sotto/query.h"

#define OPTIONS_OF struct sotto_audit_options
#include "options/option_row.h"

static const struct sotto_option audit_rows[] = {
    {"confidence", REAL(confidence, "C"), .value = "0.95", .range = "(0,1)", .group = "Statistics",
     .help = "confidence of every interval, a fraction"},
    {"delta", REAL(delta, "D"), .value = "0", .range = "[0,1)", .group = "Statistics",
     .help = "delta of the lower bound on epsilon"},
    {"seed", ANY_SEED(seed), .value = "0", .group = "Statistics",
     .help = "seed of the random halves that choose and score thresholds"},
    {"bootstrap", COUNT(draws, "N"), .value = "2000", .range = "[100,1000000]", .group = "Statistics",
     .help = "draws of the bootstrap of the TPR at a chosen FPR"},
    {"one-run", COUNT(one_run_guesses, "K"), .value = "0", .group = "Statistics",
     .help = "guesses on each side for a bound on epsilon from one run"},
    {"group-size", COUNT(group_size, "K"), .value = "0", .group = "Statistics",
     .help = "records in which neighbouring training sets differ"},
    {"odds-ratio", FLAG(odds_ratio), .value = "0", .group = "Statistics",
     .help = "exact interval of the odds ratio (logistic noise)"},
    {"exposed", COUNT(exposed, "N"), .value = "0", .group = "Output",
     .help = "number of most vulnerable members to list"},
    {"include-indices", FLAG(include_indices), .value = "0", .group = "Output",
     .help = "row numbers of the most vulnerable members"},
    OPTIONS_END};

const struct sotto_option *sotto_audit_option_table(void)
{
    return audit_rows;
}

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_attack_options

static const struct sotto_option attack_rows[] = {
    {"mismatch", FLAG(mismatch), .value = "0", .group = "Shadow models",
     .help = "permission for shadows trained in another way than the target"},
    {"shadows", COUNT(shadows, "K"), .group = "Shadow models", .help = "shadow models"},
    {"shadow-records", COUNT(shadow_records, "N"), .group = "Shadow models",
     .help = "records that a shadow trains on"},
    {"disjoint", FLAG(disjoint), .value = "0", .group = "Shadow models",
     .help = "shadows without common records"},
    {"shards", COUNT(shards, "N"), .value = "1", .range = "[1,inf)", .group = "Shadow models",
     .help = "parts in which the shadows are trained"},
    {"cache", TEXT(cache, "DIR"), .group = "Shadow models",
     .help = "folder in which shadows are kept and found again"},
    {"synthetic-records", COUNT(synthetic_records, "N"), .value = "10000", .group = "Shadow models",
     .help = "records made by synthesis or marginals"},
    {"flip", REAL(flip, "P"), .value = "0.1", .range = "[0,1]", .group = "Shadow models",
     .help = "share of the features that are drawn again (noisy)"},
    {"queries", COUNT(queries, "N"), .group = "Records",
     .help = "queries of label-only attacks for one record"},
    {"views", COUNT(views, "N"), .value = "1", .range = "[1,18]", .group = "Records",
     .help = "views of each image: 1, 2 or 18"},
    {"repeats", COUNT(repeats, "N"), .value = "1", .range = "[1,inf)", .group = "Target",
     .help = "answers for each record that are averaged"},
    {"plain-shadows", FLAG(plain_shadows), .value = "0", .group = "Shadow models",
     .help = "shadow networks without the target's residual perturbation"},
    {"seed", ANY_SEED(seed), .value = "1", .group = "Statistics",
     .help = "seed of shadows, attack networks and random halves"},
    OPTIONS_END};

const struct sotto_option *sotto_attack_option_table(void)
{
    return attack_rows;
}

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_encoder_attack_input

static const struct sotto_option encoder_rows[] = {
    {"temperature", REAL(temperature, "T"), .value = "0.1", .range = "(0,inf)",
     .group = "Attack on an encoder (sotto attack encoder)", .help = "temperature of the contrastive loss"},
    OPTIONS_END};

const struct sotto_option *sotto_encoder_attack_option_table(void)
{
    return encoder_rows;
}

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_command_options

static const struct sotto_option command_rows[] = {
    {"timeout", REAL(timeout, "S"), .value = "60", .range = "(0,inf)", .group = "Target",
     .help = "longest time for one frame of the command, its start included, seconds"},
    {"query-batch", COUNT(batch, "ROWS"), .value = "1024", .range = "[1,inf)", .group = "Target",
     .help = "most rows in a frame of the command"},
    OPTIONS_END};

const struct sotto_option *sotto_command_option_table(void)
{
    return command_rows;
}

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_defence_options

static const struct sotto_option defence_rows[] = {{"budget", REAL(budget, "B"), .value = "auto",
                                                    .range = "[0,inf)", .group = "Defence",
                                                    .help = "cost that the defence may have"},
                                                   {"seed", ANY_SEED(seed), .value = "1", .group = "Defence",
                                                    .help = "seed of the training of the defender"},
                                                   OPTIONS_END};

const struct sotto_option *sotto_defence_option_table(void)
{
    return defence_rows;
}
