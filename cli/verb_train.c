#include "image_inputs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct option_row rows[] = {
    {"data", OPTION_TEXT, "SET", NULL,
     "labelled records: a registered name or a path (see 'sotto data list')", NULL},
    {"indices", OPTION_TEXT, "rows.npy", NULL, "the rows to train on (integers)", NULL},
    {"split", OPTION_TEXT, "PART", "all", "train, test or all rows of the set", NULL},
    {"image", OPTION_TEXT, "C,H,W", NULL, "a table's rows are images of this shape, e.g. 3,32,32", NULL},
    {"model", OPTION_TEXT, "NAME", "cnn", "network: cnn, keras-simclr, mlp, resnet8 or resnet18", NULL},
    {"hidden", OPTION_TEXT, "WIDTHS", NULL,
     "mlp: ReLU widths; cnn: of the convolutions, then of the dense layer (default 32,64,128)", NULL},
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
    {"dtype", OPTION_TEXT, "TYPE", "auto", "bf16, f32, or auto: bf16 where this machine is fast at it", NULL},
    {"backend", OPTION_TEXT, "NAME", "auto", "dnnl (oneDNN), ref (readable kernels), or auto", NULL},
    {"checkpoint", OPTION_TEXT, "FILE", NULL,
     "state to continue from (default OUTPUT.checkpoint; removed at the end)", NULL},
    {"fresh", OPTION_FLAG, NULL, NULL, "ignore an existing checkpoint and start over", NULL},
    {"metrics", OPTION_TEXT, "FILE", NULL, "metrics.jsonl to append one line per epoch to", NULL},
    {"output", OPTION_TEXT, "FILE", NULL, "model.safetensors to write", NULL},
    {NULL, OPTION_FLAG, NULL, NULL, NULL, NULL}};

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
    sotto_status status = image_shape(shape, o);
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
    if (json)
        printf("{\"schema\": \"sotto.train/1\", \"model\": \"%s\", \"parameters\": %zu, \"classes\": %zu, "
               "\"steps\": %llu, \"loss\": %.9g, \"accuracy\": %.9g, \"seconds\": %.3f, "
               "\"records_per_second\": %.1f, \"dtype\": \"%s\", \"backend\": \"%s\", \"weights_sha256\": "
               "\"%s\"}\n",
               model, sotto_network_parameters(n), sotto_network_classes(n), (unsigned long long)r->steps,
               r->loss, r->accuracy, r->seconds, r->records_per_second, r->dtype, r->backend,
               sotto_network_sha256(n));
    else
        printf("%s: %s of %zu parameters, %llu steps, loss %.4f nats and accuracy %.4f over the last epoch, "
               "%.1f s, %.0f records/s\n",
               path, model, sotto_network_parameters(n), (unsigned long long)r->steps, r->loss, r->accuracy,
               r->seconds, r->records_per_second);
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
        unlink(checkpoint);
    if (status == SOTTO_OK)
        status = sotto_train(&network, &result, data, chosen.data, chosen.count, &options, ctx);
    if (status == SOTTO_OK)
        status = sotto_network_save(output, network);
    if (status == SOTTO_OK) {
        if (!option_given(o, "checkpoint"))
            unlink(checkpoint);
        print_result(&result, network, output, options.model, json);
    }
    sotto_network_free(network);
    sotto_array_clear(&chosen);
    return status;
}

static sotto_status run(const struct options *o, const struct sotto_context *ctx, int json)
{
    char standard[4096];
    struct sotto_dataset *data = NULL;
    sotto_status status = option_require(o, "data");
    if (status == SOTTO_OK)
        status = option_require(o, "output");
    if (status != SOTTO_OK)
        return status;
    int length = snprintf(standard, sizeof standard, "%s.checkpoint", option_text(o, "output"));
    if (length < 0 || (size_t)length >= sizeof standard)
        return cli_fail(SOTTO_EUSAGE, "--output: the path is too long");
    status = sotto_dataset_open(&data, option_text(o, "data"), ctx);
    if (status == SOTTO_OK)
        status = train(o, data, option_given(o, "checkpoint") ? option_text(o, "checkpoint") : standard, ctx,
                       json);
    sotto_dataset_free(data);
    return status;
}

const struct verb verb_train = {
    .name = "train",
    .summary = "a whole network on labelled records, without protection; the same command continues an "
               "interrupted run",
    .arguments = "",
    .examples =
        "  sotto train --data cifar10 --indices rows.npy --model cnn --epochs 15 -o model.safetensors\n"
        "  sotto train --data fashion-mnist --split train --model resnet8 --optimizer sgd --lr 0.1 "
        "--momentum "
        "0.9 --schedule cosine --flip --crop 4 -o model.safetensors\n"
        "  sotto train --data x.npy:y.npy --model mlp --hidden 128 -o model.safetensors",
    .options = rows,
    .run = run};
