#include "verbs/autotune_output.h"
#include "inputs/image_inputs.h"
#include "inputs/private_set.h"
#include "verbs/train_privacy.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct option_row rows[] = {
    {"data", OPTION_TEXT, "SET", NULL,
     "labelled records: a registered name or a path (see 'sotto data list')", NULL},
    {"indices", OPTION_TEXT, "rows.npy", NULL, "the rows to train on (integers)", NULL},
    {"split", OPTION_TEXT, "PART", "all", "train, test or all rows of the set", NULL},
    {"image", OPTION_TEXT, "C,H,W", NULL, "a table's rows are images of this shape, e.g. 3,32,32", NULL},
    {"model", OPTION_TEXT, "NAME", "cnn",
     "network: cnn, deep-sets, keras-simclr, mlp, resnet8, resnet18, resnet20, resnet50, mobilenetv2, "
     "tanh-cnn or "
     "tanh-small; "
     "resnet18-imagenet, resnet50-imagenet and mobilenetv2-imagenet for 64 pixels and more",
     NULL},
    {"hidden", OPTION_TEXT, "WIDTHS", NULL,
     "mlp: ReLU widths; cnn: of the convolutions, then of the dense layer (default 32,64,128); tanh-cnn: of "
     "pairs of convolutions, then of the dense layer (default 32,64,128,128)",
     NULL},
    {"norm", OPTION_TEXT, "NAME", "batch", "resnets: batch or group", NULL},
    {"optimizer", OPTION_TEXT, "NAME", "adam", "adam or sgd", NULL},
    {"lr", OPTION_REAL, "RATE", "0.001", "learning rate", NULL},
    {"momentum", OPTION_REAL, "M", "0", "of sgd, in [0, 1)", NULL},
    {"weight-decay", OPTION_REAL, "W", "0", "L2: added to the gradient times the weight", NULL},
    {"schedule", OPTION_TEXT, "NAME", "constant",
     "constant; step: /10 after a half, /100 after three quarters; cosine to 0 after a 5 % warm-up", NULL},
    {"epochs", OPTION_COUNT, "N", "20", "passes over the records", NULL},
    {"batch", OPTION_COUNT, "N", "64", "records per step; an epoch's last, incomplete batch is dropped",
     NULL},
    {"flip", OPTION_FLAG, NULL, NULL, "mirror images at random", NULL},
    {"crop", OPTION_COUNT, "PIXELS", "0", "shift images at random by up to this many pixels each way", NULL},
    {"seed", OPTION_COUNT, "N", "1", "initial weights, order and augmentation", NULL},
    {"dtype", OPTION_TEXT, "TYPE", "auto",
     "f32, bf16, or auto: measured to be the fastest here for this network (for results that no measurement "
     "decides, give f32 and --backend dnnl)",
     NULL},
    {"backend", OPTION_TEXT, "NAME", "auto",
     "dnnl (oneDNN), winograd (oneDNN, 3x3 kernels by minimal filtering), ref (readable kernels), or auto: "
     "measured together with the dtype; f32 on dnnl is left only for a gain of 10 %",
     NULL},
    {"checkpoint", OPTION_TEXT, "FILE", NULL,
     "state to continue from (default OUTPUT.checkpoint; removed at the end)", NULL},
    {"fresh", OPTION_FLAG, NULL, NULL, "ignore an existing checkpoint and start over", NULL},
    {"metrics", OPTION_TEXT, "FILE", NULL, "metrics.jsonl to append one line per epoch to", NULL},
    {"residual-perturbation", OPTION_TEXT, "KIND", NULL,
     "resnet8, resnet20: noise in every block, additive or multiplicative, in training and in answers", NULL},
    {"gamma", OPTION_REAL, "G", "0", "residual perturbation: deviation of the noise", NULL},
    {"relative", OPTION_FLAG, NULL, NULL,
     "additive: gamma counts in standard deviations of the block's result over the batch", NULL},
    {"floor", OPTION_REAL, "ETA", "0", "multiplicative: activations count as at least this large", NULL},
    {"input-noise", OPTION_REAL, "PI", NULL,
     "resnet8, resnet20: deviation of noise on the input (default: half of gamma with additive noise that is "
     "not "
     "--relative, as in the paper; else, and with --certify-inputs, none)",
     NULL},
    {"radius", OPTION_REAL, "R", "0", "resnet8, resnet20: clip inputs to this L2 norm (0: not)", NULL},
    {"certify-inputs", OPTION_FLAG, NULL, NULL,
     "release every input with noise once an epoch: ledger, certificate; needs --radius; labels count as "
     "public unless --label-epsilon",
     NULL},
    {"label-epsilon", OPTION_REAL, "E", "0",
     "certify-inputs: release labels too, by randomised response of this epsilon, once a record (0: labels "
     "count as public)",
     NULL},
    {"no-skip", OPTION_FLAG, NULL, NULL, "resnet8, resnet20: without skip connections", NULL},
    {"ensemble", OPTION_COUNT, "E", "1",
     "resnet8, resnet20: members trained together on the mean of their logits", NULL},
    {"average", OPTION_TEXT, "NAME", "logits",
     "ensemble: the mean is of logits or of softmax, in loss and answers", NULL},
    {"members", OPTION_TEXT, "HOW", "joint",
     "ensemble: joint: one loss of the mean; independent: each trained by itself on its own", NULL},
    {"separate-inputs", OPTION_FLAG, NULL, NULL, "every member draws its own noise on the input", NULL},
    {"dp-sgd", OPTION_FLAG, NULL, NULL,
     "private: clipped gradients of Poisson samples, noise in every step, a certificate beside the model",
     NULL},
    {"classes", OPTION_TEXT, "K|FILE", NULL,
     "dp-sgd, certify-inputs: public classes, or a file with one name a line (default: those of a registered "
     "set)",
     NULL},
    {"noise", OPTION_TEXT, "NAME", "gaussian", "dp-sgd: gaussian or logistic", NULL},
    {"noise-mode", OPTION_TEXT, "MODE", "exact",
     "dp-sgd, certify-inputs: exact, or fast: a hundred times faster, without defence against floating-point "
     "attacks",
     NULL},
    {"noise-multiplier", OPTION_REAL, "M", NULL, "dp-sgd: noise scale / C (sigma / C, s / C)", NULL},
    {"target-epsilon", OPTION_REAL, "E", NULL,
     "dp-sgd, certify-inputs: instead of a noise: the smallest that keeps E", NULL},
    {"delta", OPTION_REAL, "D", NULL,
     "dp-sgd, certify-inputs: delta of the guarantee (default: 1 / (10 records), rounded down to a power of "
     "ten)",
     NULL},
    {"adjacency", OPTION_TEXT, "NAME", "replace-one",
     "dp-sgd: replace-one, or zero-out: one record counts as nothing (also: add-remove)", NULL},
    {"max-grad-norm", OPTION_REAL, "C", "1",
     "dp-sgd: a record's gradient of a larger L2 norm is scaled to it", "clip-norm"},
    {"clipping", OPTION_TEXT, "NAME", "flat",
     "dp-sgd: flat, automatic, layers, or quantile: C follows the norms", NULL},
    {"quantile", OPTION_REAL, "Q", "0.5", "dp-sgd: share of records that clipping by quantile leaves alone",
     NULL},
    {"views", OPTION_COUNT, "N", "1", "dp-sgd: augmented views of a record, averaged before clipping", NULL},
    {"steps", OPTION_COUNT, "N", NULL, "dp-sgd: instead of epochs * records / batch", NULL},
    {"ema", OPTION_REAL, "DECAY", "0", "dp-sgd: the model is the moving average of the weights, e.g. 0.999",
     NULL},
    {"sampling", OPTION_TEXT, "NAME", "poisson",
     "dp-sgd: poisson: every record with probability batch / records; fixed: batch records every time, "
     "accounted for a replaced record",
     NULL},
    {"reserve-steps", OPTION_COUNT, "N", NULL,
     "dp-sgd: steps (certify-inputs: epochs) charged at a time (default all): short blocks lose less when a "
     "run is stopped",
     NULL},
    {"micro-batch", OPTION_COUNT, "N", NULL, "dp-sgd: records worked on at a time, for speed and memory",
     NULL},
    {"dataset-id", OPTION_TEXT, "NAME", NULL,
     "dp-sgd, certify-inputs: identity of the private data set, for data that carry none", NULL},
    {"ledger", OPTION_TEXT, "FILE", NULL,
     "dp-sgd, certify-inputs: default: $XDG_DATA_HOME/sotto/ledger/ID.jsonl", NULL},
    PRIVATE_SET_ROWS("dp-sgd, certify-inputs: "),
    {"budget-epsilon", OPTION_REAL, "E", NULL,
     "dp-sgd, certify-inputs: refuse if the ledger would add up to more (exit 77)", NULL},
    {"budget-delta", OPTION_REAL, "D", NULL, "delta of that budget (default: the guarantee's)", NULL},
    {"purpose", OPTION_TEXT, "TEXT", NULL, "dp-sgd, certify-inputs: recorded in the ledger", NULL},
    {"insecure-noise-seed", OPTION_COUNT, "N", NULL,
     "dp-sgd, certify-inputs: NO PRIVACY: seeded noise for tests and papers; stamps every output", NULL},
    {"output", OPTION_TEXT, "FILE", NULL, "model.safetensors to write", NULL},
    {NULL, OPTION_FLAG, NULL, NULL, NULL, NULL}};

/* One of two words: 0 or 1. */
static sotto_status read_choice(int *second, const struct options *o, const char *name, const char *no,
                                const char *yes)
{
    const char *text = option_text(o, name);
    *second = strcmp(text, yes) == 0;
    if (!*second && strcmp(text, no) != 0)
        return cli_fail(SOTTO_EUSAGE, "train: --%s '%s'; expected %s or %s", name, text, no, yes);
    return SOTTO_OK;
}

/* As in the paper, unless a certificate counts on it: then it is asked for, or found. */
static double input_noise(const struct options *o)
{
    const char *kind = option_text(o, "residual-perturbation");
    double gamma = option_real(o, "gamma");
    if (option_given(o, "input-noise"))
        return option_real(o, "input-noise");
    return kind && strcmp(kind, "additive") == 0 && gamma > 0 && !option_flag(o, "relative") &&
                   !option_flag(o, "certify-inputs")
               ? gamma / 2
               : 0;
}

static sotto_status read_options(struct sotto_train_options *t, const struct options *o)
{
    size_t shape[3];
    sotto_train_defaults(t);
    t->model = option_text(o, "model");
    t->norm = option_text(o, "norm");
    t->optimizer = option_text(o, "optimizer");
    t->lr = option_real(o, "lr");
    t->momentum = option_real(o, "momentum");
    t->weight_decay = option_real(o, "weight-decay");
    t->schedule = option_text(o, "schedule");
    t->epochs = (size_t)option_count(o, "epochs");
    t->batch = (size_t)option_count(o, "batch");
    t->flip = option_flag(o, "flip");
    t->crop = (size_t)option_count(o, "crop");
    t->seed = option_count(o, "seed");
    t->dtype = option_text(o, "dtype");
    t->backend = option_text(o, "backend");
    t->metrics = option_text(o, "metrics");
    t->residual = (struct sotto_residual_noise){.kind = option_text(o, "residual-perturbation"),
                                                .gamma = option_real(o, "gamma"),
                                                .floor = option_real(o, "floor"),
                                                .input_noise = input_noise(o),
                                                .radius = option_real(o, "radius"),
                                                .no_skip = option_flag(o, "no-skip"),
                                                .members = (size_t)option_count(o, "ensemble"),
                                                .separate_inputs = option_flag(o, "separate-inputs"),
                                                .relative = option_flag(o, "relative")};
    sotto_status status = read_choice(&t->residual.average_softmax, o, "average", "logits", "softmax");
    if (status == SOTTO_OK)
        status = read_choice(&t->residual.independent, o, "members", "joint", "independent");
    if (status != SOTTO_OK)
        return status;
    if (option_count(o, "ensemble") == 0)
        return cli_fail(SOTTO_EUSAGE, "train: --ensemble 0; expected at least 1 member");
    status = image_shape(shape, o);
    if (status != SOTTO_OK)
        return status;
    t->channels = shape[0], t->height = shape[1], t->width = shape[2];
    if (!option_given(o, "hidden"))
        return SOTTO_OK;
    return option_sizes(t->hidden, SOTTO_TRAIN_HIDDEN, &t->hidden_count, o, "hidden");
}

static void print_result(const struct sotto_train_result *r, const struct sotto_network *n, const char *path,
                         const char *model, int json)
{
    char choice[AUTOTUNE_OUTPUT];
    autotune_output(choice, &r->choice, "records", json);
    if (json)
        printf("{\"schema\": \"sotto.train/1\", \"model\": \"%s\", \"parameters\": %zu, \"classes\": %zu, "
               "\"steps\": %llu, \"loss\": %.9g, \"accuracy\": %.9g, \"seconds\": %.3f, "
               "\"records_per_second\": %.1f, \"dtype\": \"%s\", \"backend\": \"%s\", %s, "
               "\"weights_sha256\": \"%s\"}\n",
               model, sotto_network_parameters(n), sotto_network_classes(n), (unsigned long long)r->steps,
               r->loss, r->accuracy, r->seconds, r->records_per_second, r->dtype, r->backend, choice,
               sotto_network_sha256(n));
    else
        printf("%s: %s of %zu parameters, %llu steps, loss %.4f nats and accuracy %.4f over the last epoch, "
               "%.1f s, %.0f records/s\n%s\n",
               path, model, sotto_network_parameters(n), (unsigned long long)r->steps, r->loss, r->accuracy,
               r->seconds, r->records_per_second, choice);
}

/* The network is the release: nothing else that depends on the records is printed. */
static sotto_status train_private(const struct options *o, const struct sotto_dataset *opened,
                                  const struct sotto_array *chosen, const struct sotto_train_options *options,
                                  const struct sotto_context *ctx, int json)
{
    const char *output = option_text(o, "output");
    struct sotto_train_privacy privacy;
    struct sotto_dataset data;
    struct sotto_array labels = {0};
    struct sotto_provenance whose = {0};
    struct private_set charged = {0};
    struct sotto_network *network = NULL;
    char *certificate = NULL, *line = NULL;
    bool inputs = option_flag(o, "certify-inputs");
    sotto_status status = inputs ? train_privacy_of_inputs(&privacy, o) : train_privacy_of_sgd(&privacy, o);
    privacy.output = output;
    if (status == SOTTO_OK)
        status = train_privacy_classes(&data, &labels, &privacy, opened, o);
    if (status == SOTTO_OK)
        status = sotto_provenance_of_rows(&whose, opened, chosen->data, chosen->count);
    if (status == SOTTO_OK)
        status = private_set_identify(&charged, o, &whose, "train", opened->name);
    if (status == SOTTO_OK)
        status = private_set_of_rows(&charged, opened, chosen->data, chosen->count, ctx);
    privacy.fingerprint = charged.dataset_id;
    privacy.provenance = &whose;
    privacy.source = &charged.source;
    if (status == SOTTO_OK)
        status = (inputs ? sotto_train_noisy_inputs : sotto_train_private)(
            &network, &certificate, NULL, &data, chosen->data, chosen->count, options, &privacy, ctx);
    if (status == SOTTO_OK)
        status = sotto_network_save_private(output, network, certificate);
    if (status == SOTTO_OK)
        status = sotto_certificate_summary(&line, certificate);
    if (status == SOTTO_OK && json)
        fputs(certificate, stdout);
    else if (status == SOTTO_OK)
        printf("%s: %s\ncertificate: %s.certificate.json\n", output, line, output);
    sotto_text_free(certificate);
    sotto_text_free(line);
    sotto_network_free(network);
    sotto_array_clear(&labels);
    private_set_clear(&charged);
    sotto_provenance_clear(&whose);
    return status;
}

static sotto_status save_provenance(const char *output, const struct sotto_dataset *data,
                                    const struct sotto_array *chosen)
{
    struct sotto_provenance whose = {0};
    sotto_status status = sotto_provenance_of_rows(&whose, data, chosen->data, chosen->count);
    if (status == SOTTO_OK)
        status = sotto_provenance_save(output, &whose);
    sotto_provenance_clear(&whose);
    return status;
}

static sotto_status train(const struct options *o, const struct sotto_dataset *data, const char *checkpoint,
                          const struct sotto_context *ctx, int json)
{
    struct sotto_train_options options;
    struct sotto_train_result result;
    struct sotto_array chosen = {0};
    struct sotto_network *network = NULL;
    const char *output = option_text(o, "output");
    sotto_status status = read_options(&options, o);
    options.checkpoint = checkpoint;
    if (status == SOTTO_OK)
        status = image_rows(&chosen, data, o);
    if (status == SOTTO_OK && option_flag(o, "fresh"))
        sotto_train_forget(checkpoint);
    if (status == SOTTO_OK && (option_flag(o, "dp-sgd") || option_flag(o, "certify-inputs"))) {
        status = train_private(o, data, &chosen, &options, ctx, json);
        if (status == SOTTO_OK && !option_given(o, "checkpoint"))
            sotto_train_forget(checkpoint);
        goto done;
    }
    if (status == SOTTO_OK)
        status = train_privacy_refuse(o);
    if (status == SOTTO_OK)
        status = sotto_train(&network, &result, data, chosen.data, chosen.count, &options, ctx);
    if (status == SOTTO_OK)
        status = sotto_network_save(output, network);
    if (status == SOTTO_OK)
        status = save_provenance(output, data, &chosen);
    if (status == SOTTO_OK) {
        if (!option_given(o, "checkpoint"))
            sotto_train_forget(checkpoint);
        print_result(&result, network, output, options.model, json);
    }
done:
    sotto_network_free(network);
    sotto_array_clear(&chosen);
    return status;
}

static sotto_status run(const struct options *o, const struct sotto_context *ctx, int json)
{
    const char *data = option_text(o, "data");
    if (data && (option_flag(o, "dp-sgd") || option_flag(o, "certify-inputs")) && sotto_dataset_is_path(data))
        return cli_fail(
            SOTTO_EUSAGE,
            "train: --dp-sgd and --certify-inputs take a set that was imported, as reading %s may "
            "speak of its records; 'sotto data import %s --name NAME' first",
            data, data);
    return image_training(o, ctx, json, train);
}

const struct verb verb_train = {
    .name = "train",
    .summary = "a whole network on labelled records, plain or by DP-SGD; the same command continues an "
               "interrupted run",
    .arguments = "",
    .examples =
        "  sotto train --data cifar10 --indices rows.npy --model cnn --epochs 15 -o model.safetensors\n"
        "  sotto train --data fashion-mnist --split train --model resnet8 --optimizer sgd --lr 0.1 "
        "--momentum "
        "0.9 --schedule cosine --flip --crop 4 -o model.safetensors\n"
        "  sotto train --data x.npy:y.npy --model mlp --hidden 128 -o model.safetensors\n"
        "  sotto train --data fashion-mnist --split train --model cnn --hidden 16,32,64 --dp-sgd "
        "--noise-mode "
        "fast --target-epsilon 3 --batch 2048 --optimizer sgd --lr 4 --momentum 0.9 --max-grad-norm 0.1 "
        "-o model.safetensors",
    .options = rows,
    .run = run};
