#include "verbs/autotune_output.h"
#include "verbs/pretrain_plan.h"
#include "inputs/image_inputs.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct option_row rows[] = {
    OPTION_GROUP("Images"),
    DATA_ROW,
    INDICES_ROW,
    SPLIT_ROW,
    OPTION_TABLE("pretrain", NULL),
    OPTION_GROUP("Talos: training against a classifier of an attribute (no guarantee)"),
    {"talos", OPTION_FLAG, NULL, NULL, "adversarial training against a classifier of the images' attribute"},
    OPTION_TABLE("talos", NULL),
    OPTION_DEFAULT("lambda", "1"),
    OPTION_GROUP("Speed"),
    {"plan", OPTION_FLAG, NULL, NULL,
     "estimate of the time here and on several ranks, from a few timed steps; nothing is trained"},
    OPTION_GROUP("Ranks (mpirun, srun)"),
    {"isa", OPTION_TEXT, "common", NULL,
     "common: the lowest instruction set of all ranks, on machines of several kinds (default: refuse ranks "
     "that "
     "compute other bits)"},
    OPTION_GROUP("Files"),
    FRESH_ROW,
    {"output", OPTION_TEXT, "FILE", NULL, "encoder.safetensors to write"},
    OPTION_END};

/* The attribute of every row of the set; stays empty without --attribute. */
static sotto_status read_attribute(struct sotto_array *out, const struct sotto_dataset *data,
                                   const struct options *o)
{
    const char *path = option_text(o, "attribute");
    struct sotto_array a = {0};
    if (!path)
        return SOTTO_OK;
    sotto_status status = sotto_array_load(&a, path, 0, cli_context());
    if (status == SOTTO_OK && a.ndim == 2 && a.shape[1] == 1)
        a.ndim = 1; /* of a table */
    if (status == SOTTO_OK && (a.ndim != 1 || a.count != data->n))
        status = cli_fail(
            SOTTO_EINVAL,
            "%s: %zu values in %d dimensions; data set '%s' has %zu rows, and one value for each is expected",
            path, a.count, a.ndim, data->name, data->n);
    if (status == SOTTO_OK && sotto_array_convert(&a, SOTTO_I8) != SOTTO_OK)
        status = cli_fail(SOTTO_EINVAL, "%s: contains fractions; an attribute must be whole numbers", path);
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
            return cli_fail(SOTTO_EUSAGE, "pretrain: --%s needs --talos", own[i]);
    return SOTTO_OK;
}

static sotto_status check_augmentation(const struct options *o)
{
    static const char *const own[] = {"vertical-flip", "grey", "blur"};
    int simclr = strcmp(option_text(o, "augmentation"), "simclr") == 0;
    for (size_t i = 0; i < sizeof own / sizeof *own && !simclr; i++)
        if (option_given(o, own[i]))
            return cli_fail(SOTTO_EUSAGE, "pretrain: --%s needs --augmentation simclr", own[i]);
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
        printf("classifier of the attribute: loss %.4f nats and accuracy %.4f over the last epoch; 'sotto "
               "audit --features --attribute' measures what a newly trained attacker can infer\n",
               r->adversary_loss, r->adversary_accuracy);
}

static sotto_status verb_pretrain_train(const struct options *o, const struct sotto_dataset *data,
                                        const char *checkpoint, const struct sotto_context *ctx, int json)
{
    struct sotto_pretrain_options options;
    struct sotto_pretrain_result result;
    struct sotto_array chosen = {0}, attribute = {0};
    struct sotto_talos talos = {0};
    struct sotto_encoder *encoder = NULL;
    const char *output = option_text(o, "output");
    struct sotto_context together = *ctx;
    together.team = cli_team();
    const bool writes = cli_writes();
    sotto_pretrain_defaults(&options);
    sotto_status status = option_members(&options, sotto_option_table("pretrain"), o);
    if (status == SOTTO_OK)
        status = option_members(&talos, sotto_option_table("talos"), o);
    if (status == SOTTO_OK)
        status = image_rows(&chosen, data, o);
    options.checkpoint = checkpoint;
    if (status == SOTTO_OK)
        status = read_attribute(&attribute, data, o);
    talos.attribute = attribute.data;
    options.talos = option_flag(o, "talos") ? &talos : NULL;
    if (option_flag(o, "plan")) {
        if (status == SOTTO_OK)
            status = pretrain_plan_print(data, &chosen, &options, ctx, json);
        goto done;
    }
    if (status == SOTTO_OK && option_flag(o, "fresh") && writes)
        status = sotto_train_discard(checkpoint);
    if (status == SOTTO_OK)
        status = sotto_pretrain(&encoder, &result, data, chosen.data, chosen.count, &options, &together);
    if (status == SOTTO_OK && writes)
        status = sotto_encoder_save(output, encoder);
    if (status == SOTTO_OK && writes)
        status = image_provenance_save(output, data, &chosen);
    if (status == SOTTO_OK && writes) {
        if (!option_given(o, "checkpoint"))
            unlink(checkpoint);
        print_result(&result, encoder, output, options.method, json);
    }
done:
    sotto_encoder_free(encoder);
    sotto_array_clear(&chosen);
    sotto_array_clear(&attribute);
    return status;
}

static sotto_status verb_pretrain_run(const struct options *o, const struct sotto_context *ctx, int json)
{
    sotto_status status = check_talos(o);
    if (status == SOTTO_OK)
        status = check_augmentation(o);
    if (status == SOTTO_OK && option_flag(o, "plan"))
        status = pretrain_plan_check(o);
    return status == SOTTO_OK ? image_training(o, NULL, ctx, json, verb_pretrain_train) : status;
}

const struct verb verb_pretrain = {
    .name = "pretrain",
    .summary =
        "pre-train a self-supervised encoder on PUBLIC images; the same command continues an interrupted run",
    .arguments = "",
    .examples = "  sotto pretrain --data fashion-mnist --split train --epochs 10 -o encoder.safetensors\n"
                "  sotto pretrain --data cifar10 --indices public.npy --method simclr --batch 256 --seed 1 "
                "-o encoder.safetensors\n"
                "  sotto pretrain --data cifar10 --method rotation --epochs 20 -o encoder.safetensors\n"
                "  sotto pretrain --data synthetic-faces --talos --bounded --lambda 2 --epochs 20 -o "
                "encoder.safetensors",
    .floor = FLOOR_LEARN,
    .ranks = TOGETHER,
    .own = "talos|plan|isa",
    .options = rows,
    .most_used =
        "data|indices|split|method|encoder|epochs|batch|lr|augmentation|seed|dtype|plan|fresh|metrics|output",
    .run = verb_pretrain_run};
