#include "verbs/autotune_output.h"
#include "inputs/image_inputs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct option_row rows[] = {
    {"data", OPTION_TEXT, "SET", NULL, "public images: a registered name or a path (see 'sotto data list')",
     NULL},
    {"indices", OPTION_TEXT, "FILE", NULL, "rows.npy: the rows to train on (integers)", NULL},
    {"split", OPTION_TEXT, "PART", "all", "train, test or all rows of the set", NULL},
    {"method", OPTION_TEXT, "NAME", "simclr", "simclr, or rotation (predict quarter turns)", NULL},
    {"encoder", OPTION_TEXT, "NAME", "keras-simclr",
     "network: keras-simclr, resnet8, resnet18, resnet50 or "
     "mobilenetv2; resnet18-imagenet, resnet50-imagenet and mobilenetv2-imagenet for 64 pixels and more",
     NULL},
    {"epochs", OPTION_COUNT, "N", "10", "passes over the images", NULL},
    {"batch", OPTION_COUNT, "N", "256", "images per step; an epoch's last, incomplete batch is dropped",
     NULL},
    {"seed", OPTION_COUNT, "N", "0", "initialisation, order and augmentation", NULL},
    {"dtype", OPTION_TEXT, "TYPE", "auto",
     "f32, bf16, or auto: measured to be the fastest here for this network (for results that no measurement "
     "decides, give f32 and --backend dnnl)",
     NULL},
    {"backend", OPTION_TEXT, "NAME", "auto",
     "dnnl (oneDNN), winograd (oneDNN, 3x3 kernels by minimal filtering), ref (readable kernels), or auto: "
     "measured together with the dtype; f32 on dnnl is left only for a gain of 10 %",
     NULL},
    {"loss", OPTION_TEXT, "FORM", "keras", "simclr's negatives: keras (other view only) or simclr (all 2N-2)",
     NULL},
    {"lr", OPTION_REAL, "RATE", "0.001", "learning rate of Adam", NULL},
    {"schedule", OPTION_TEXT, "NAME", "constant", "constant, or cosine to 0 after a 5 % warm-up", NULL},
    {"temperature", OPTION_REAL, "T", "0.1", "of the contrastive loss", NULL},
    {"augmentation", OPTION_TEXT, "RECIPE", "keras",
     "views: keras (shift, zoom, brightness, mixed colours) or simclr (crop, colour jitter, grey, blur)",
     NULL},
    {"min-area", OPTION_REAL, "A", "0.25", "smallest share of the image that a view shows, in (0, 1]", NULL},
    {"brightness", OPTION_REAL, "B", "0.6",
     "views are brightened by 1 +- B, in [0, 1]; simclr: contrast and saturation too", NULL},
    {"jitter", OPTION_REAL, "J", "0.2",
     "colour channels are mixed by +- J, in [0, 1]; simclr: hue turns by +- J of the circle", NULL},
    {"vertical-flip", OPTION_FLAG, NULL, NULL, "simclr: half of the views stand on their heads", NULL},
    {"grey", OPTION_REAL, "P", "0.2", "simclr: share of views without colour", NULL},
    {"blur", OPTION_REAL, "P", "0.5", "simclr: share of blurred views", NULL},
    {"talos", OPTION_FLAG, NULL, NULL,
     "train the encoder against a classifier of the images' attribute (no guarantee); odd epochs teach the "
     "classifier, even ones the encoder",
     NULL},
    {"lambda", OPTION_REAL, "L", "1", "talos: the encoder's loss is contrastive - L x classifier's; >= 0",
     NULL},
    {"attribute", OPTION_TEXT, "FILE", NULL,
     "talos: a.npy, one value for each row of the set (whole numbers); default: the set's own", NULL},
    {"bounded", OPTION_FLAG, NULL, NULL,
     "talos: a record counts against the encoder only until the classifier knows no more of it than how "
     "often "
     "its value occurs (as published: without end, which large L do not survive)",
     NULL},
    {"alternation", OPTION_TEXT, "RULE", "odd-even",
     "talos: odd-even; two-pass: every epoch teaches the encoder, then the classifier; joint: every step "
     "both",
     NULL},
    {"adversary-steps", OPTION_COUNT, "N", "1", "talos: steps of the classifier on each batch of its turn",
     NULL},
    {"adversary-reads", OPTION_TEXT, "WHAT", "views",
     "talos: views; images: as they are, as embeddings will be (half again as much work); views-of-three: "
     "views, with "
     "the images beside them in the batch",
     NULL},
    {"relu-logits", OPTION_FLAG, NULL, NULL,
     "talos: ReLU on the classifier's logits too, as in the authors' code", NULL},
    {"checkpoint", OPTION_TEXT, "FILE", NULL,
     "state to continue from (default OUTPUT.checkpoint; removed at the end)", NULL},
    {"fresh", OPTION_FLAG, NULL, NULL, "ignore an existing checkpoint and start over", NULL},
    {"metrics", OPTION_TEXT, "FILE", NULL, "metrics.jsonl to append one line per epoch to", NULL},
    {"output", OPTION_TEXT, "FILE", NULL, "encoder.safetensors to write", NULL},
    {NULL, OPTION_FLAG, NULL, NULL, NULL, NULL}};

static struct sotto_pretrain_options read_options(const struct options *o)
{
    struct sotto_pretrain_options p;
    sotto_pretrain_defaults(&p);
    p.method = option_text(o, "method");
    p.encoder = option_text(o, "encoder");
    p.epochs = option_count(o, "epochs");
    p.batch = option_count(o, "batch");
    p.seed = option_count(o, "seed");
    p.dtype = option_text(o, "dtype");
    p.backend = option_text(o, "backend");
    p.loss = option_text(o, "loss");
    p.lr = option_real(o, "lr");
    p.schedule = option_text(o, "schedule");
    p.temperature = option_real(o, "temperature");
    p.min_area = option_real(o, "min-area");
    p.brightness = option_real(o, "brightness");
    p.jitter = option_real(o, "jitter");
    p.augmentation = option_text(o, "augmentation");
    p.vertical_flip = option_flag(o, "vertical-flip");
    p.grey = option_real(o, "grey");
    p.blur = option_real(o, "blur");
    p.metrics = option_text(o, "metrics");
    return p;
}

/* The attribute of every row of the set; stays empty without --attribute. */
static sotto_status read_attribute(struct sotto_array *out, const struct sotto_dataset *data,
                                   const struct options *o)
{
    const char *path = option_text(o, "attribute");
    struct sotto_array a = {0};
    if (!path)
        return SOTTO_OK;
    sotto_status status = sotto_npy_load(&a, path);
    if (status == SOTTO_OK && (a.ndim != 1 || a.count != data->n))
        status =
            cli_fail(SOTTO_EINVAL,
                     "%s: %zu values in %d dimensions; data set '%s' has %zu rows and needs one for each",
                     path, a.count, a.ndim, data->name, data->n);
    if (status == SOTTO_OK && sotto_array_convert(&a, SOTTO_I8) != SOTTO_OK)
        status = cli_fail(SOTTO_EINVAL,
                          "%s: holds numbers that are not whole; an attribute must be whole numbers", path);
    if (status == SOTTO_OK)
        *out = a;
    else
        sotto_array_clear(&a);
    return status;
}

static sotto_status check_talos(const struct options *o)
{
    static const char *const own[] = {"lambda",          "attribute",       "alternation", "bounded",
                                      "adversary-steps", "adversary-reads", "relu-logits"};
    for (size_t i = 0; i < sizeof own / sizeof *own && !option_flag(o, "talos"); i++)
        if (option_given(o, own[i]))
            return cli_fail(SOTTO_EUSAGE, "pretrain: --%s belongs to --talos", own[i]);
    return SOTTO_OK;
}

static sotto_status check_augmentation(const struct options *o)
{
    static const char *const own[] = {"vertical-flip", "grey", "blur"};
    int simclr = strcmp(option_text(o, "augmentation"), "simclr") == 0;
    for (size_t i = 0; i < sizeof own / sizeof *own && !simclr; i++)
        if (option_given(o, own[i]))
            return cli_fail(SOTTO_EUSAGE, "pretrain: --%s belongs to --augmentation simclr", own[i]);
    return SOTTO_OK;
}

static void print_result(const struct sotto_pretrain_result *r, const struct sotto_encoder *e,
                         const char *path, const char *method, int json)
{
    char adversary[96] = "";
    if (r->adversary_loss > 0)
        snprintf(adversary, sizeof adversary, ", \"adversary\": {\"loss\": %.9g, \"accuracy\": %.9g}",
                 r->adversary_loss, r->adversary_accuracy);
    char choice[AUTOTUNE_OUTPUT];
    autotune_output(choice, &r->choice, "images", json);
    if (json)
        printf("{\"schema\": \"sotto.pretrain/1\", \"method\": \"%s\", \"steps\": %llu, \"loss\": %.9g, "
               "\"accuracy\": %.9g, \"seconds\": %.3f, \"images_per_second\": %.1f, \"planned_bytes\": %zu, "
               "\"dtype\": \"%s\", \"backend\": \"%s\", %s, \"width\": %zu, \"weights_sha256\": \"%s\"%s}\n",
               method, (unsigned long long)r->steps, r->loss, r->accuracy, r->seconds, r->images_per_second,
               r->planned_bytes, r->dtype, r->backend, choice, sotto_encoder_width(e),
               sotto_encoder_sha256(e), adversary);
    else
        printf("%s: %llu steps of %s, loss %.4f nats and accuracy %.4f over the last epoch, %.1f s, %.0f "
               "images/s\n%s\n",
               path, (unsigned long long)r->steps, method, r->loss, r->accuracy, r->seconds,
               r->images_per_second, choice);
    if (!json && r->adversary_loss > 0)
        printf("the classifier of the attribute: loss %.4f nats and accuracy %.4f over the last epoch; how "
               "much is "
               "left to an attacker of his own training says 'sotto audit --features --attribute'\n",
               r->adversary_loss, r->adversary_accuracy);
}

static sotto_status train(const struct options *o, const struct sotto_dataset *data, const char *checkpoint,
                          const struct sotto_context *ctx, int json)
{
    struct sotto_pretrain_options options = read_options(o);
    struct sotto_pretrain_result result;
    struct sotto_array chosen = {0}, attribute = {0};
    struct sotto_talos talos = {.lambda = option_real(o, "lambda"),
                                .alternation = option_text(o, "alternation"),
                                .bounded = option_flag(o, "bounded"),
                                .adversary_steps = option_count(o, "adversary-steps"),
                                .relu_logits = option_flag(o, "relu-logits"),
                                .reads = option_text(o, "adversary-reads")};
    struct sotto_encoder *encoder = NULL;
    const char *output = option_text(o, "output");
    sotto_status status = image_rows(&chosen, data, o);
    options.checkpoint = checkpoint;
    if (status == SOTTO_OK)
        status = read_attribute(&attribute, data, o);
    talos.attribute = attribute.data;
    options.talos = option_flag(o, "talos") ? &talos : NULL;
    if (status == SOTTO_OK && option_flag(o, "fresh"))
        unlink(checkpoint);
    if (status == SOTTO_OK)
        status = sotto_pretrain(&encoder, &result, data, chosen.data, chosen.count, &options, ctx);
    if (status == SOTTO_OK)
        status = sotto_encoder_save(output, encoder);
    if (status == SOTTO_OK) {
        if (!option_given(o, "checkpoint"))
            unlink(checkpoint);
        print_result(&result, encoder, output, options.method, json);
    }
    sotto_encoder_free(encoder);
    sotto_array_clear(&chosen);
    sotto_array_clear(&attribute);
    return status;
}

static sotto_status run(const struct options *o, const struct sotto_context *ctx, int json)
{
    sotto_status status = check_talos(o);
    if (status == SOTTO_OK)
        status = check_augmentation(o);
    return status == SOTTO_OK ? image_training(o, ctx, json, train) : status;
}

const struct verb verb_pretrain = {
    .name = "pretrain",
    .summary = "self-supervised encoder on PUBLIC images; the same command continues an interrupted run",
    .arguments = "",
    .examples = "  sotto pretrain --data fashion-mnist --split train --epochs 10 -o encoder.safetensors\n"
                "  sotto pretrain --data cifar10 --indices public.npy --method simclr --batch 256 --seed 1 "
                "-o encoder.safetensors\n"
                "  sotto pretrain --data cifar10 --method rotation --epochs 20 -o encoder.safetensors\n"
                "  sotto pretrain --data synthetic-faces --talos --bounded --lambda 2 --epochs 20 -o "
                "encoder.safetensors",
    .options = rows,
    .run = run};
