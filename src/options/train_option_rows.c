#include "sotto/train.h"

#define OPTIONS_OF struct sotto_train_options
#include "options/option_row.h"

static const struct sotto_option rows[] = {
    {"model", TEXT(model, "NAME"), .value = "cnn", .group = "Network",
     .help =
         "network: cnn, deep-sets, keras-simclr, mlp, resnet8, resnet18, resnet20, resnet50, mobilenetv2, "
         "tanh-cnn or tanh-small; for 64 pixels and more resnet18-imagenet, resnet50-imagenet or "
         "mobilenetv2-imagenet"},
    {"hidden", SIZES(hidden, hidden_count, SOTTO_TRAIN_HIDDEN), .group = "Network",
     .help =
         "widths: of the ReLU layers (mlp); of the convolutions, then of the dense layer (cnn, default "
         "32,64,128); of pairs of convolutions, then of the dense layer (tanh-cnn, default 32,64,128,128)"},
    {"norm", TEXT(norm, "NAME"), .value = "batch", .group = "Network",
     .help = "normalisation of the resnets: batch or group"},
    {"optimizer", TEXT(optimizer, "NAME"), .value = "adam", .group = "Training",
     .help = "optimizer: adam or sgd"},
    {"lr", REAL(lr, "RATE"), .value = "0.001", .range = "(0,inf)", .group = "Training",
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
    {"flip", FLAG(flip), .value = "0", .group = "Training", .help = "random mirroring of images"},
    {"crop", COUNT(crop, "PIXELS"), .value = "0", .range = "[0,256]", .group = "Training",
     .help = "largest random shift of images, in pixels each way"},
    {"seed", SEED(seed), .value = "1", .group = "Training",
     .help = "seed of initial weights, order and augmentation"},
    {"dtype", TEXT(dtype, "TYPE"), .value = "auto", .group = "Speed",
     .help = "arithmetic: f32, bf16, or auto: the fastest by measurement on this machine (results that no "
             "measurement decides: f32 and --backend dnnl)"},
    {"backend", TEXT(backend, "NAME"), .value = "auto", .group = "Speed",
     .help =
         "kernels: dnnl (oneDNN), winograd (oneDNN, 3x3 kernels by minimal filtering), ref (readable "
         "kernels), or auto: measured together with the dtype; f32 on dnnl is left only for a gain of 10 %"},
    {"checkpoint", TEXT(checkpoint, "FILE"), .group = "Files",
     .help = "state to continue from (default: OUTPUT.checkpoint; removed at the end)"},
    {"metrics", TEXT(metrics, "FILE"), .group = "Files",
     .help = "metrics.jsonl, to which one line per epoch is appended"},
    {"residual-perturbation", TEXT(residual.kind, "KIND"),
     .group = "Residual perturbation (resnet8, resnet20)",
     .help = "noise in every block, in training and in answers: additive or multiplicative (default: none)"},
    {"gamma", REAL(residual.gamma, "G"), .value = "0", .group = "Residual perturbation (resnet8, resnet20)",
     .help = "standard deviation of the noise in every block"},
    {"relative", FLAG(residual.relative), .value = "0", .group = "Residual perturbation (resnet8, resnet20)",
     .help = "unit of --gamma: standard deviations of the block's result over the batch (additive)"},
    {"floor", REAL(residual.floor, "ETA"), .value = "0", .group = "Residual perturbation (resnet8, resnet20)",
     .help = "smallest absolute activation that multiplicative noise counts with"},
    {"input-noise", REAL(residual.input_noise, "PI"), .group = "Residual perturbation (resnet8, resnet20)",
     .help =
         "standard deviation of noise on the input (default: half of --gamma with additive noise that is not "
         "--relative; otherwise, and with --certify-inputs, none)"},
    {"radius", REAL(residual.radius, "R"), .value = "0", .group = "Residual perturbation (resnet8, resnet20)",
     .help = "L2 norm to which inputs are clipped; 0: no clipping"},
    {"no-skip", FLAG(residual.no_skip), .value = "0", .group = "Residual perturbation (resnet8, resnet20)",
     .help = "network without skip connections"},
    {"ensemble", COUNT(residual.members, "N"), .value = "1",
     .group = "Residual perturbation (resnet8, resnet20)",
     .help = "networks in the ensemble; their answers are averaged"},
    {"separate-inputs", FLAG(residual.separate_inputs), .value = "0",
     .group = "Residual perturbation (resnet8, resnet20)",
     .help = "noise on the input drawn by every network of the ensemble for itself"},
    {.name = NULL}};

const struct sotto_option *sotto_train_option_table(void)
{
    return rows;
}

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_train_privacy

static const struct sotto_option privacy_rows[] = {
    {"noise", TEXT(noise, "NAME"), .value = "gaussian", .group = "DP-SGD",
     .help = "noise: gaussian or logistic"},
    {"noise-multiplier", REAL(noise_multiplier, "M"), .range = "(0,inf)", .group = "DP-SGD",
     .help = "noise scale / clipping norm; --epsilon finds it instead", .aliases = "sigma"},
    {"max-grad-norm", REAL(max_grad_norm, "C"), .value = "1", .range = "(0,inf)", .group = "DP-SGD",
     .help = "L2 norm to which the gradient of each record is clipped", .aliases = "clip-norm"},
    {"clipping", TEXT(clipping, "NAME"), .value = "flat", .group = "DP-SGD",
     .help = "clipping: flat, automatic, layers, or quantile (the clipping norm follows a quantile of the "
             "gradient norms)"},
    {"quantile", REAL(quantile, "Q"), .value = "0.5", .range = "(0,1)", .group = "DP-SGD",
     .help = "share of records that clipping by quantile does not scale, in (0, 1)"},
    {"views", COUNT(views, "N"), .value = "1", .range = "[1,256]", .group = "DP-SGD",
     .help = "augmented views of each record; their gradients are averaged before clipping"},
    {"steps", COUNT(steps, "N"), .group = "DP-SGD",
     .help = "steps (default: --epochs x records / --batch, rounded up)"},
    {"ema", REAL(average, "DECAY"), .value = "0", .range = "[0,1)", .group = "DP-SGD",
     .help = "decay of the moving average of the weights, which is then the model, such as 0.999; 0: none"},
    {"micro-batch", COUNT(part, "N"), .range = "[0,1048576]", .group = "DP-SGD",
     .help = "records worked on at a time, for speed and memory (default: chosen)"},
    {"epsilon", REAL(target.epsilon, "E"), .value = "nan", .group = "Guarantee (DP-SGD, certified inputs)",
     .help = "target epsilon: the smallest noise that keeps it is found", .old_names = "target-epsilon"},
    {"delta", REAL(target.delta, "D"), .value = "nan", .group = "Guarantee (DP-SGD, certified inputs)",
     .help = "delta of (epsilon, delta)-DP (default: 1 / (10 x records), rounded down to a power of ten)"},
    {"label-epsilon", REAL(label_epsilon, "E"), .value = "0", .group = "Guarantee (DP-SGD, certified inputs)",
     .help = "epsilon of the randomised response that releases labels once a record (--certify-inputs); 0: "
             "labels "
             "count as public"},
    {"reserve-steps", COUNT(reserve, "N"), .group = "Guarantee (DP-SGD, certified inputs)",
     .help =
         "steps (--certify-inputs: epochs) charged at a time; short blocks lose less when a run is stopped "
         "(default: all)"},
    {.name = NULL}};

const struct sotto_option *sotto_train_privacy_options(void)
{
    return privacy_rows;
}
