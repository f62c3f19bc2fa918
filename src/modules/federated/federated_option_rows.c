#include "options/option_row.h"
#include "options/module_tables.h"
#include "sotto/lab/federated.h"

#define OPTIONS_OF struct sotto_federated_options

const struct sotto_option options_federated[] = {
    {"participants", COUNT(participants, "P"), .value = "4", .range = "[2,10000]", .group = "Federation",
     .help = "number of participants"},
    {"rounds", COUNT(rounds, "R"), .value = "100", .range = "[1,9999]", .group = "Federation",
     .help = "rounds: local training, upload, mean weighted by records"},
    {"records", COUNT(records, "N"), .value = "auto", .range = "[0,inf)", .group = "Federation",
     .help = "records drawn for each participant, without --owners (default: rows / (participants + 1))"},
    {"seed", SEED(seed), .value = "1", .group = "Federation", .help = "seed of weights, orders and draws"},
    {"noise-multiplier", REAL(noise_multiplier, "M"), .range = "[0,1e6]", .group = "Federation",
     .help = "simulated noise of participants that train by DP-SGD: scale / clipping norm (default: none)"},
    {"max-grad-norm", REAL(max_grad_norm, "C"), .value = "1", .range = "[1e-6,1e6]", .group = "Federation",
     .help = "L2 norm to which they clip the gradient of each record"},
    {"target", COUNT(target, "P"), .value = "0", .group = "Attackers",
     .help = "participant under attack, from 0; the next one is the local attacker"},
    {"outsiders", COUNT(outsiders, "N"), .value = "auto", .range = "[0,inf)", .group = "Attackers",
     .help = "most records of no participant to compare with (default: as many as the target's)"},
    {"observed", COUNT(observed, "T"), .value = "5", .range = "[1,1000]", .group = "Attackers",
     .help = "number of last rounds that the attackers see"},
    {"ascend", COUNT(ascend, "N"), .value = "20", .range = "[1,inf)", .group = "Attackers",
     .help = "records in one round of which an active attacker raises the loss, in turns"},
    {"strength", REAL(strength, "G"), .value = "1", .range = "[0,1e6]", .group = "Attackers",
     .help = "length of that step, in lengths of the model's last change"},
    {"learnt", FLAG(learnt), .value = "0", .group = "Attackers",
     .help = "scores by a network that knows half of the records; results are of the other half"},
    {"control", FLAG(control), .value = "0", .group = "Attackers",
     .help = "negative control: records of no participant in place of members, which no attacker may find"},
    {"rounds-folder", TEXT(folder, "DIR"), .group = "Files",
     .help = "folder for the common model of each round, round-NNNN.safetensors"},
    {"keep-uploads", FLAG(keep_uploads), .value = "0", .group = "Files",
     .help = "each participant's upload in that folder too"},
    OPTIONS_END};

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_head_recipe

/* The recipe of a participant, where it differs from that of a head: the other members keep those defaults. */
const struct sotto_option options_federated_recipe[] = {
    {"local-epochs", COUNT(epochs, "N"), .value = "1", .range = "[1,4294967295]", .group = "Federation",
     .help = "passes over its records that a participant makes in a round"},
    {"trainer", TEXT(trainer, "NAME"), .value = "sgd", .group = "Head", .help = "trainer: sgd or adam"},
    {"hidden", SIZES(hidden, hidden_count, SOTTO_MAX_HIDDEN), .value = "128", .range = "[0,1048576]",
     .group = "Head",
     .help = "widths of the hidden ReLU layers, such as 512 or 512,128; 0: none, a linear head"},
    {"batch", COUNT(batch, "N"), .value = "32", .range = "[1,inf)", .group = "Head",
     .help = "records per step"},
    {"lr", REAL(lr, "RATE"), .value = "0.1", .range = "(0,1000]", .group = "Head", .help = "learning rate"},
    OPTIONS_END};
