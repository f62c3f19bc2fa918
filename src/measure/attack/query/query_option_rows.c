#include "options/option_row.h"
#include "options/option_tables.h"
#include "sotto/attack.h"

#define OPTIONS_OF struct sotto_attack_options
#define DISGUISE "Disguise from a monitor (--target-command)"

const struct sotto_option options_attack[] = {
    {"repeats", COUNT(repeats, "N"), .value = "1", .range = "[1,inf)", .group = "Target",
     .help = "answers averaged for each record, for models with noise (target and shadow models)"},
    {"snapshots", TEXT(snapshots, "DIR"), .group = "Target",
     .help = "folder of the target's own intermediate models, by 'sotto train --snapshot-every'; "
             "loss-trajectory and metric-trajectory use them, and shadow models keep theirs in --cache "
             "(default: the target is distilled)"},
    {"layers", COUNT(layers, "N"), .value = "3", .range = "[1,16]", .group = "Records",
     .help = "number of last dense and convolution layers to read; for white-box and stolen-memories-layers"},
    {"explain", COUNT(explain, "K"), .value = "0", .range = "[0,100]", .group = "Records",
     .help = "number of records to explain, of those that the attack is surest of; the report shows the unit "
             "that remembers each record, with pictures (stolen-memories-layers)"},
    {"views", COUNT(views, "N"), .value = "1", .range = "[1,18]", .group = "Records",
     .help = "views of each image: 1, 2 (with the mirror image) or 18 (also shifted by 2 pixels); for lira "
             "and rmia, online and offline"},
    {"image", INPUT(channels, "C,H,W"), .group = "Records",
     .help = "shape of a row that is an image; augmentation needs it, and so do shadow networks of "
             "--target-command"},
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
     .help = "copies of each record to judge, with a wrong label, in the target's training set; lira and "
             "rmia then train shadow models on such copies too, as of the worst neighbours; 'sotto attack "
             "poison' writes the target's training set"},
    {"cache", TEXT(cache, "DIR"), .group = "Shadow models",
     .help = "folder in which shadow models are kept and reused"},
    {"shard", INPUT(shard, "I/N"), .group = "Shadow models",
     .help = "part I of N of the shadow models to train (needs --cache); auto: by the scheduler's job array "
             "or the rank; "
             "auto/N: of N, for PBS"},
    {"worker", FLAG(worker), .value = "0", .group = "Shadow models",
     .help = "worker: train the shadow models in --cache that no other process has claimed, then exit; it "
             "writes no report; start any number of workers, then run the command once without --worker"},
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

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_attack_input

const struct sotto_option options_attack_input[] = {
    {"target", INPUT(target, "FILE"), .group = "Target",
     .help = "model under attack: a head, MLP or whole network (.safetensors)"},
    {"target-command", INPUT(target, "COMMAND"), .group = "Target",
     .help = "command that answers as the target, with .npy frames on stdin and stdout; such commands are "
             "sotto-serve-torch, sotto-serve-onnx, sotto-serve-sklearn and examples/serve_numpy.py"},
    {"member-features", INPUT(member.x, "ARRAY"), .group = "Records",
     .help = "records that trained the target (n, D), or images (n, C, H, W); bytes become 0 to 1"},
    {"member-labels", INPUT(member.y, "ARRAY"), .group = "Records",
     .help = "classes of the members, from 0 (n)"},
    {"nonmember-features", INPUT(nonmember.x, "ARRAY"), .group = "Records",
     .help = "records that did not train the target (m, D)"},
    {"nonmember-labels", INPUT(nonmember.y, "ARRAY"), .group = "Records",
     .help = "classes of the non-members, from 0 (m)"},
    {"attacker-features", INPUT(attacker.x, "ARRAY"), .group = "Records",
     .help = "records known to the attacker (a, D)"},
    {"attacker-labels", INPUT(attacker.y, "ARRAY"), .group = "Records",
     .help = "classes of the attacker's records, from 0 (a)"},
    {"known-member-features", INPUT(known_member.x, "ARRAY"), .group = "Records",
     .help = "members that the attacker knows (k, D); for white-box, and none of them is judged"},
    {"known-member-labels", INPUT(known_member.y, "ARRAY"), .group = "Records",
     .help = "classes of the known members, from 0 (k)"},
    {"known-nonmember-features", INPUT(known_nonmember.x, "ARRAY"), .group = "Records",
     .help = "non-members that the attacker knows (l, D); for white-box, and none of them is judged"},
    {"known-nonmember-labels", INPUT(known_nonmember.y, "ARRAY"), .group = "Records",
     .help = "classes of the known non-members, from 0 (l)"},
    {"other-features", INPUT(other.x, "ARRAY"), .group = "Records",
     .help =
         "records of another set (b, D'), for data transfer; poison: other training records of the target"},
    {"other-labels", INPUT(other.y, "ARRAY"), .group = "Records",
     .help = "classes of the other set, from 0 (b)"},
    OPTIONS_END};

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_shadow_recipe

const struct sotto_option options_shadow[] = {
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
