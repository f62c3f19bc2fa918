/* Options of audits, attacks and defences. */
#include "sotto/defend.h"
#include "sotto/query.h"

#define OPTIONS_OF struct sotto_audit_options
#include "options/option_row.h"

static const struct sotto_option audit_rows[] = {
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
    {"seed", ANY_SEED(seed), .value = "0", .group = "Statistics",
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
    {"most-vulnerable", COUNT(most_vulnerable, "N"), .value = "0", .group = "Output",
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

const struct sotto_option *sotto_audit_option_table(void)
{
    return audit_rows;
}

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_attack_options
#define DISGUISE "Disguise from a monitor (--target-command)"

static const struct sotto_option attack_rows[] = {
    {"repeats", COUNT(repeats, "N"), .value = "1", .range = "[1,inf)", .group = "Target",
     .help = "answers averaged for each record, for models with noise (target and shadow models)"},
    {"snapshots", TEXT(snapshots, "DIR"), .group = "Target",
     .help =
         "folder of the target's own intermediate models ('sotto train --snapshot-every'), for "
         "loss-trajectory and metric-trajectory; shadow models keep theirs in --cache (default: the target "
         "is distilled)"},
    {"layers", COUNT(layers, "N"), .value = "3", .range = "[1,16]", .group = "Records",
     .help = "last dense and convolution layers that white-box and stolen-memories-layers read"},
    {"explain", COUNT(explain, "K"), .value = "0", .range = "[0,100]", .group = "Records",
     .help = "records that stolen-memories-layers is surest of to explain: the unit that remembers each, "
             "with pictures of the record in the report"},
    {"views", COUNT(views, "N"), .value = "1", .range = "[1,18]", .group = "Records",
     .help = "views of each image in lira and rmia, online and offline: 1, 2 (and mirrored) or 18 (and "
             "shifted by 2 pixels)"},
    {"image", INPUT(channels, "C,H,W"), .group = "Records",
     .help = "image shape of a row, for augmentation, and for shadow networks of --target-command"},
    {"queries", COUNT(queries, "N"), .group = "Records",
     .help = "queries for one record in label-only attacks (default: depends on the attack)"},
    {"shadows", COUNT(shadows, "K"), .group = "Shadow models",
     .help = "number of shadow models (default: depends on the attack)"},
    {"shadow-records", COUNT(shadow_records, "N"), .group = "Shadow models",
     .help = "training records of a shadow model (default: half of the attacker's; lira, rmia: always half "
             "of all)"},
    {"disjoint", FLAG(disjoint), .value = "0", .group = "Shadow models",
     .help = "disjoint training sets for the shadow models (default: independent draws)"},
    {"shadow-data", CHOICE(data, "KIND", "real|synthesis|marginals|class-marginals|noisy"), .value = "real",
     .group = "Shadow models",
     .help = "source of the shadow models' records: real, synthesis, marginals, class-marginals or noisy"},
    {"synthetic-records", COUNT(synthetic_records, "N"), .value = "10000", .group = "Shadow models",
     .help = "number of synthetic records (synthesis, marginals, class-marginals)"},
    {"flip", REAL(flip, "P"), .value = "0.1", .range = "[0,1]", .group = "Shadow models",
     .help = "share of features redrawn in each record, in [0, 1] (noisy)"},
    {"mismatch", FLAG(mismatch), .value = "0", .group = "Shadow models",
     .help = "permission for shadow models trained differently from the target"},
    {"plain-shadows", FLAG(plain_shadows), .value = "0", .group = "Shadow models",
     .help = "shadow networks without the target's residual perturbation (an attacker unaware of it)"},
    {"known-start", FLAG(known_start), .value = "0", .group = "Shadow models",
     .help =
         "lira, rmia: shadow models with the target's own seed, the worst case (default: independent seeds)"},
    {"poison", COUNT(poison, "COPIES"), .value = "0", .range = "[0,1000]", .group = "Shadow models",
     .help = "lira, rmia: copies of each record to judge, with a wrong label, that the attacker put into the "
             "training of target "
             "and shadow models: the worst neighbours (default: 0; 'sotto attack poison' makes the target's "
             "set)"},
    {"cache", TEXT(cache, "DIR"), .group = "Shadow models",
     .help = "folder in which shadow models are kept and reused"},
    {"shard", INPUT(shard, "I/N"), .group = "Shadow models",
     .help = "part I of N of the shadow models to train (needs --cache); auto: by the scheduler's job array "
             "or the rank; "
             "auto/N: of N, for PBS"},
    {"worker", FLAG(worker), .value = "0", .group = "Shadow models",
     .help = "train shadow models of --cache that no other process works on, until none is open, and write "
             "no report; any "
             "number of these at any time, then the same command without it"},
    {"shards", COUNT(shards, "N"), .value = "1", .range = "[1,inf)", .group = "Shadow models",
     .help = "parts in which the shadow models are trained"},
    {"plan", FLAG(plan), .value = "0", .group = "Shadow models",
     .help = "print how many shadow models are missing in --cache, and the hours they take with 1, 8 and 64 "
             "workers; one is "
             "trained if none is there to tell"},
    {"shuffle", FLAG(shuffle), .value = "0", .group = DISGUISE,
     .help = "records asked about in a random order, not members first; how much an attack gets before an "
             "alarm ends the answers then does not depend on the order of the files"},
    {"seed", ANY_SEED(seed), .value = "1", .group = "Statistics",
     .help = "seed of shadow models, attack networks, random splits and disguises"},
    OPTIONS_END};

const struct sotto_option *sotto_attack_option_table(void)
{
    return attack_rows;
}

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_shadow_recipe

static const struct sotto_option shadow_rows[] = {
    {"model", TEXT(model, "NAME"), .group = "Shadow models",
     .help = "whole networks as shadow models: cnn, mlp, resnet8, ... (default of --model to --lr: as in the "
             "target)"},
    {"trainer", TEXT(trainer, "NAME"), .group = "Shadow models",
     .help = "heads as shadow models, with this trainer: adam, sgd, convex, ..."},
    {"hidden", SIZES(hidden, hidden_count, SOTTO_TRAIN_HIDDEN), .range = "[0,inf)", .group = "Shadow models",
     .help = "widths of the hidden ReLU layers, such as 128; 0: none (networks: their default widths)"},
    {"epochs", COUNT(epochs, "N"), .value = "auto", .range = "[1,inf)", .group = "Shadow models",
     .help = "passes over the records"},
    {"batch", COUNT(batch, "N"), .value = "auto", .range = "[1,inf)", .group = "Shadow models",
     .help = "records per step"},
    {"lr", REAL(lr, "RATE"), .value = "auto", .range = "(0,1000]", .group = "Shadow models",
     .help = "learning rate"},
    {"from", TEXT(from, "FILE"), .group = "Shadow models",
     .help = "pre-trained encoder that shadow networks start from; needed where the target was fine-tuned "
             "from it"},
    {"standardise", TEXT(standardise, "P.npy"), .group = "Shadow models",
     .help = "public embeddings by that encoder, as the target was trained with"},
    OPTIONS_END};

const struct sotto_option *sotto_shadow_option_table(void)
{
    return shadow_rows;
}

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_encoder_attack_input

#define ENCODER_ARRAY(member) INPUT(member, "ARRAY"), .group = "Attack on an encoder (sotto attack encoder)"
#define ENCODER_INPUT(member)                                                                                \
    INPUT(member, "rows.npy"), .group = "Attack on an encoder (sotto attack encoder)"

static const struct sotto_option encoder_rows[] = {
    {"member-indices", ENCODER_INPUT(member), .help = "rows that pre-trained the encoder"},
    {"nonmember-indices", ENCODER_INPUT(nonmember), .help = "rows that did not pre-train the encoder"},
    {"shadow-member-indices", ENCODER_INPUT(shadow_member),
     .help = "rows that pre-trained the shadow encoder"},
    {"shadow-nonmember-indices", ENCODER_INPUT(shadow_nonmember),
     .help = "rows that did not pre-train the shadow encoder"},
    {"bank-indices", ENCODER_INPUT(bank),
     .help = "rows in neither training set, used as negatives; without them the contrastive-loss attack is "
             "skipped"},
    {"member-views", ENCODER_ARRAY(member.views),
     .help =
         "embeddings of random views of the members by any encoder (n, views, d), instead of encoders and "
         "rows; so are the next nine"},
    {"nonmember-views", ENCODER_ARRAY(nonmember.views), .help = "those of the non-members (m, views, d)"},
    {"shadow-member-views", ENCODER_ARRAY(shadow_member.views),
     .help = "those of the shadow encoder's members, by the shadow encoder (s, views, e)"},
    {"shadow-nonmember-views", ENCODER_ARRAY(shadow_nonmember.views),
     .help = "those of its non-members (t, views, e)"},
    {"member-plain", ENCODER_ARRAY(member.plain), .help = "embeddings of the members as they are (n, d)"},
    {"nonmember-plain", ENCODER_ARRAY(nonmember.plain), .help = "those of the non-members (m, d)"},
    {"shadow-member-plain", ENCODER_ARRAY(shadow_member.plain),
     .help = "those of the shadow encoder's members (s, e)"},
    {"shadow-nonmember-plain", ENCODER_ARRAY(shadow_nonmember.plain),
     .help = "those of its non-members (t, e)"},
    {"bank-plain", ENCODER_ARRAY(bank),
     .help = "embeddings of records in neither training set, by the encoder (b, d)"},
    {"shadow-bank-plain", ENCODER_ARRAY(shadow_bank),
     .help = "the same records, by the shadow encoder (b, e)"},
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
     .help = "time limit for one frame of the command, including its start, in seconds"},
    {"query-batch", COUNT(batch, "ROWS"), .value = "1024", .range = "[1,inf)", .group = "Target",
     .help = "maximum number of rows in a frame of the command"},
    OPTIONS_END};

const struct sotto_option *sotto_command_option_table(void)
{
    return command_rows;
}

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_disguise_options

static const struct sotto_option disguise_rows[] = {
    {"spread", COUNT(spread, "CLIENTS"), .value = "1", .range = "[1,100000]", .group = DISGUISE,
     .help = "clients that the queries are dealt to, in turn, under the names account-1 and so on; the "
             "command must read client lines, as sotto monitor does"},
    {"dilute", REAL(dilute, "SHARE"), .value = "1", .range = "[0.001,1]", .group = DISGUISE,
     .help = "share of the rows sent that are the attack's; the others are rows of --cover at random places"},
    {"decoys", COUNT(decoys, "N"), .value = "0", .range = "[0,1000]", .group = DISGUISE,
     .help = "rows of --cover sent after each row of the attack, so that rows near each other stand in "
             "different blocks"},
    OPTIONS_END};

const struct sotto_option *sotto_disguise_option_table(void)
{
    return disguise_rows;
}

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_defence_options

static const struct sotto_option defence_rows[] = {
    {"budget", REAL(budget, "B"), .value = "auto", .range = "[0,inf)", .group = "Defence",
     .help = "budget of the defence, in its own unit (default and unit: see --list)"},
    {"seed", ANY_SEED(seed), .value = "1", .group = "Defence",
     .help = "seed of training, for defender and attacker"},
    {"set", LIST(settings, "NAME=VALUE"), .group = "Defence",
     .help = "parameter of the defence, see --list (repeatable)"},
    {"key", ANY_SEED(key), .value = "0", .group = "Defence",
     .help = "key of the defence's random choices; keep it secret in real use"},
    OPTIONS_END};

const struct sotto_option *sotto_defence_option_table(void)
{
    return defence_rows;
}
