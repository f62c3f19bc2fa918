#include "options/option_row.h"
#include "options/option_tables.h"
#include "sotto/lab/train.h"

#define OPTIONS_OF struct sotto_train_privacy

const struct sotto_option options_train_privacy[] = {
    {"noise", TEXT(noise, "NAME"), .value = "gaussian", .group = "DP-SGD",
     .help = "noise: gaussian or logistic"},
    {"noise-multiplier", REAL(noise_multiplier, "M"), .range = "(0,inf)", .group = "DP-SGD",
     .help = "noise scale / clipping norm, instead of --epsilon", .aliases = "sigma"},
    {"max-grad-norm", REAL(max_grad_norm, "C"), .value = "1", .range = "(0,inf)", .group = "DP-SGD",
     .help = "L2 norm to which the gradient of each record is clipped", .aliases = "clip-norm"},
    {"clipping", TEXT(clipping, "NAME"), .value = "flat", .group = "DP-SGD",
     .help = "gradient clipping: flat, automatic, layers (per layer) or quantile (norm adapted to a quantile "
             "of the gradient norms)"},
    {"quantile", REAL(quantile, "Q"), .value = "0.5", .range = "(0,1)", .group = "DP-SGD",
     .help = "target share of unclipped gradients in quantile clipping, in (0, 1)"},
    {"views", COUNT(views, "N"), .value = "1", .range = "[1,256]", .group = "DP-SGD",
     .help = "number of augmented views of each record, gradients averaged before clipping"},
    {"steps", COUNT(steps, "N"), .group = "DP-SGD",
     .help = "number of steps (default: --epochs x records / --batch, rounded up)"},
    {"ema", REAL(average, "DECAY"), .value = "0", .range = "[0,1)", .group = "DP-SGD",
     .help = "decay of the exponential moving average of the weights, such as 0.999; the average becomes the "
             "model; 0: none"},
    {"micro-batch", COUNT(part, "N"), .range = "[0,1048576]", .group = "DP-SGD",
     .help = "records processed at a time; changes speed and memory only (default: chosen)"},
    {"adjacency", CHOICE(adjacency, "NAME", "replace-one|add-remove|zero-out"), .value = "replace-one",
     .group = "DP-SGD",
     .help = "adjacency: replace-one, or zero-out (one record has no effect; alias add-remove)"},
    {"sampling", CHOICE(sampling, "NAME", "poisson|fixed"), .value = "poisson", .group = "DP-SGD",
     .help = "batches: poisson, or fixed: constant batch size without replacement (replace-one adjacency)"},
    {"unit", CHOICE(unit, "NAME", "auto|record|person"), .value = "auto", .group = "DP-SGD",
     .help = "what steps sample and clip as one: records, or persons with all of their rows, at the epsilon "
             "of one "
             "record (auto: persons where the import names them)"},
    {"rows-per-step", COUNT(rows_per_step, "K"), .value = "0", .range = "[0,1024]", .group = "DP-SGD",
     .help =
         "with --unit person: so many rows of each person, drawn anew for every step, are in a step; 0: all"},
    {"epsilon", REAL(target.epsilon, "E"), .value = "auto", .range = "(0,inf)",
     .group = "Guarantee (DP-SGD, certified inputs)", .help = "target epsilon, met with the smallest noise",
     .aliases = "eps", .old_names = "target-epsilon"},
    {"max-tpr", TEXT(risk.max_tpr, "TPR@FPR"), .group = "Guarantee (DP-SGD, certified inputs)",
     .help = "instead of an epsilon, such as 0.02@0.01: no test of membership has a higher true-positive "
             "rate at that false-positive rate; the smallest noise for it is found"},
    {"max-advantage", REAL(risk.max_advantage, "A"), .range = "(0,1)",
     .group = "Guarantee (DP-SGD, certified inputs)",
     .help = "instead of an epsilon: no test of membership has a true-positive rate more than A above its "
             "false-positive rate; the smallest noise for it is found"},
    {"delta", REAL(target.delta, "D"), .value = "auto", .group = "Guarantee (DP-SGD, certified inputs)",
     .help = "delta of (epsilon, delta)-DP (default: 1 / (10 x records), rounded down to a power of ten)"},
    {"label-epsilon", REAL(label_epsilon, "E"), .value = "0", .group = "Guarantee (DP-SGD, certified inputs)",
     .help = "epsilon of randomised response on the labels, once for each record (--certify-inputs); 0: "
             "labels count as public"},
    {"encoder-by", TEXT(encoder_by, "WHO"), .group = "Guarantee (DP-SGD, certified inputs)",
     .help = "source of the statement that the encoder of --from (and the rows of --standardise) are public, "
             "for the certificate (default: the caller; needed where no FILE.provenance.json says which "
             "records they are)"},
    {"reserve-steps", COUNT(reserve, "N"), .group = "Guarantee (DP-SGD, certified inputs)",
     .help = "steps (--certify-inputs: epochs) charged to the ledger at a time; smaller values waste less "
             "budget when a run is stopped (default: all)"},
    OPTIONS_END};
