#include "options/option_row.h"
#include "options/option_tables.h"
#include "sotto/lab/train.h"

#define OPTIONS_OF struct sotto_train_options

const struct sotto_option options_train[] = {
    {"image", INPUT(channels, "C,H,W"), .group = "Records",
     .help = "image shape of the rows of a table, such as 3,32,32"},
    {"model", TEXT(model, "NAME"), .value = "cnn", .group = "Network",
     .help =
         "network: cnn, deep-sets, keras-simclr, mlp, resnet8, resnet18, resnet20, resnet50, mobilenetv2, "
         "tanh-cnn or tanh-small; for 64 pixels and more resnet18-imagenet, resnet50-imagenet or "
         "mobilenetv2-imagenet"},
    {"hidden", SIZES(hidden, hidden_count, SOTTO_TRAIN_HIDDEN), .group = "Network",
     .help = "layer widths: ReLU layers (mlp); convolutions, then the dense layer (cnn, default 32,64,128); "
             "pairs of convolutions, then the dense layer (tanh-cnn, default 32,64,128,128)"},
    {"norm", TEXT(norm, "NAME"), .value = "batch", .group = "Network",
     .help = "normalisation layers of the resnets: batch or group"},
    {"from", TEXT(from, "FILE"), .group = "Fine-tuning",
     .help =
         "pre-trained encoder, or a network of 'sotto train', to start from; it gets a new last layer, which "
         "begins at 0"},
    {"freeze", TEXT(freeze, "WHAT"), .group = "Fine-tuning",
     .help = "what stays as it is: none, norm (batch norm; default), N (norm and the first N blocks of the "
             "encoder) or all of the encoder"},
    {"warm-up", COUNT(warm_up, "N"), .value = "0", .range = "[0,inf)", .group = "Fine-tuning",
     .help = "number of first steps that train the last layer alone"},
    {"standardise", TEXT(standardise, "P.npy"), .group = "Fine-tuning",
     .help = "embeddings of PUBLIC images by that encoder ('sotto embed'); their column means and deviations "
             "standardise what the new last layer reads, as a fixed part of the network"},
    {"optimizer", TEXT(optimizer, "NAME"), .value = "adam", .group = "Training",
     .help = "optimizer: adam or sgd"},
    {"lr", REAL(lr, "RATE"), .value = "0.001", .range = "(0,1000]", .group = "Training",
     .help = "learning rate"},
    {"momentum", REAL(momentum, "M"), .value = "0", .range = "[0,1)", .group = "Training",
     .help = "momentum of sgd, in [0, 1)"},
    {"weight-decay", REAL(weight_decay, "W"), .value = "0", .range = "[0,inf)", .group = "Training",
     .help = "L2 weight decay, added to the gradient"},
    {"schedule", TEXT(schedule, "NAME"), .value = "constant", .group = "Training",
     .help = "learning-rate schedule: constant; step (a tenth after half, a hundredth after three quarters "
             "of the "
             "steps); cosine to 0 after a warm-up of 5 %"},
    {"epochs", COUNT(epochs, "N"), .value = "20", .range = "[1,1000000]", .group = "Training",
     .help = "passes over the records"},
    {"batch", COUNT(batch, "N"), .value = "64", .range = "[1,1048576]", .group = "Training",
     .help = "records per step; the last, incomplete batch of an epoch is dropped"},
    {"flip", FLAG(flip), .value = "0", .group = "Training", .help = "random horizontal flips of images"},
    {"crop", COUNT(crop, "PIXELS"), .value = "0", .range = "[0,256]", .group = "Training",
     .help = "maximum random shift of images in each direction, pixels"},
    {"augment-noise", REAL(augment_noise, "SIGMA"), .value = "0", .range = "[0,1e6]", .group = "Training",
     .help = "standard deviation of noise on every number of an input, new in every step (for "
             "randomised smoothing; no privacy noise)"},
    {"seed", SEED(seed), .value = "1", .group = "Training",
     .help = "seed of initial weights, order and augmentation"},
    {"dtype", TEXT(dtype, "TYPE"), .value = "auto", .group = "Speed",
     .help = "arithmetic: f32, bf16 or auto, the fastest measured on this machine; use f32 with --backend "
             "dnnl for results that do not depend on measured times"},
    {"backend", TEXT(backend, "NAME"), .value = "auto", .group = "Speed",
     .help =
         "kernels: dnnl (oneDNN), winograd (oneDNN with minimal filtering of 3x3 kernels), ref (readable "
         "kernels) or auto (measured with the dtype; another choice than f32 on dnnl must be 10 % faster)"},
    {"order", TEXT(order, "ORDER"), .value = "auto", .range = "auto|exact|fast", .group = "Speed",
     .help =
         "order of sums over a batch: exact (the same bits on any number of threads), fast (for this number "
         "only) or auto (exact where it costs little, which it does not with batch norm)"},
    {"leaf", COUNT(leaf, "N"), .range = "[0,1048576]", .group = "Speed",
     .help =
         "records that a thread takes at a time in order exact; decides the last bits (default: 32, fewer "
         "for small batches)"},
    {"norm-scope", TEXT(norm_scope, "SCOPE"), .value = "batch", .range = "batch|leaf", .group = "Speed",
     .help = "moments that batch norm uses in training: of the batch, or of the leaf (then threads and ranks "
             "do not "
             "wait for each other; order exact only; decides the result)"},
    {"checkpoint", TEXT(checkpoint, "FILE"), .group = "Files",
     .help = "state of an interrupted run to continue (default: OUTPUT.checkpoint; removed at the end)"},
    {"metrics", TEXT(metrics, "FILE"), .group = "Files",
     .help = "metrics.jsonl to append to, one line per epoch"},
    {"snapshot-every", COUNT(snapshot_every, "N"), .range = "[0,1000000]", .group = "Files",
     .help = "epochs from one intermediate model that is kept to the next, for 'sotto attack --snapshots'; "
             "plain training only (default: none is kept)"},
    {"snapshots", TEXT(snapshots, "DIR"), .group = "Files",
     .help = "folder of the intermediate models of --snapshot-every, epoch-000001.safetensors and so on "
             "(default: OUTPUT.snapshots)"},
    {"residual-perturbation", TEXT(residual.kind, "KIND"),
     .group = "Residual perturbation (resnet8, resnet20)",
     .help = "noise in every residual block, in training and in answers: additive or multiplicative "
             "(default: none)"},
    {"gamma", REAL(residual.gamma, "G"), .value = "0", .group = "Residual perturbation (resnet8, resnet20)",
     .help = "standard deviation of the noise in every block"},
    {"relative", FLAG(residual.relative), .value = "0", .group = "Residual perturbation (resnet8, resnet20)",
     .help = "--gamma in units of the standard deviation of the block's output over the batch (additive)"},
    {"floor", REAL(residual.floor, "ETA"), .value = "0", .group = "Residual perturbation (resnet8, resnet20)",
     .help = "lower limit of the absolute activations that scale multiplicative noise"},
    {"input-noise", REAL(residual.input_noise, "PI"), .group = "Noisy inputs",
     .help = "standard deviation of the noise on inputs, in training and in answers (default: half of "
             "--gamma for additive noise without "
             "--relative and --certify-inputs, otherwise 0)"},
    {"radius", REAL(residual.radius, "R"), .value = "0", .group = "Noisy inputs",
     .help = "L2 norm to which inputs are clipped; 0: no clipping"},
    {"no-skip", FLAG(residual.no_skip), .value = "0", .group = "Residual perturbation (resnet8, resnet20)",
     .help = "network without skip connections"},
    {"ensemble", COUNT(residual.members, "N"), .value = "1", .range = "[1,inf)",
     .group = "Residual perturbation (resnet8, resnet20)",
     .help = "number of networks in the ensemble, averaged in answers"},
    {"separate-inputs", FLAG(residual.separate_inputs), .value = "0",
     .group = "Residual perturbation (resnet8, resnet20)",
     .help = "independent input noise for each network of the ensemble"},
    {"average", CHOICE(residual.average_softmax, "NAME", "logits|softmax"), .value = "logits",
     .group = "Residual perturbation (resnet8, resnet20)",
     .help = "average over the ensemble, in loss and answers: of logits or of softmax"},
    {"members", CHOICE(residual.independent, "HOW", "joint|independent"), .value = "joint",
     .group = "Residual perturbation (resnet8, resnet20)",
     .help = "training of the ensemble: joint (one loss on the average) or independent (each network on its "
             "own loss)"},
    OPTIONS_END};

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_answer_options

const struct sotto_option options_answer[] = {
    {"repeats", COUNT(repeats, "N"), .value = "1", .range = "[1,inf)", .group = "Networks with noise",
     .help = "number of answers to average for each record"},
    {"average", CHOICE(average, "NAME", "logits|softmax"), .value = "logits", .group = "Networks with noise",
     .help = "average over --repeats: of logits or of softmax"},
    {"seed", ANY_SEED(seed), .value = "auto", .group = "Networks with noise",
     .help = "seed of the noise (default: a fresh one in each run)"},
    OPTIONS_END};
