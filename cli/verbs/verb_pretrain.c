#include "verbs/autotune_output.h"
#include "verbs/pretrain_plan.h"
#include "verbs/pretrain_private.h"
#include "verbs/pretrain_run.h"

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
    OPTION_ROWS(pretrain_private_rows),
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

sotto_status pretrain_train(const struct options *o, const struct sotto_dataset *data, const char *checkpoint,
                            const char *part, const void *part_options, const struct sotto_context *ctx,
                            int json)
{
    struct sotto_pretrain_options options;
    struct sotto_pretrain_result result;
    struct sotto_array chosen = {0};
    struct sotto_encoder *encoder = NULL;
    const char *output = option_text(o, "output");
    struct sotto_context together = *ctx;
    together.team = cli_team();
    const bool writes = cli_writes();
    sotto_pretrain_defaults(&options);
    sotto_status status = SOTTO_OK;
    TRY(option_members(&options, sotto_option_table("pretrain"), o));
    TRY(image_rows(&chosen, data, o));
    options.checkpoint = checkpoint;
    options.part = part;
    options.part_options = part_options;
    if (option_flag(o, "plan")) {
        status = pretrain_plan_print(data, &chosen, &options, ctx, json);
        goto done;
    }
    if (option_flag(o, "fresh") && writes)
        TRY(sotto_train_discard(checkpoint));
    TRY(sotto_pretrain(&encoder, &result, data, chosen.data, chosen.count, &options, &together));
    if (!writes)
        goto done;
    TRY(sotto_encoder_save(output, encoder));
    TRY(image_provenance_save(output, data, &chosen));
    if (!option_given(o, "checkpoint"))
        unlink(checkpoint);
    print_result(&result, encoder, output, options.method, json);
done:
    sotto_encoder_free(encoder);
    sotto_array_clear(&chosen);
    return status;
}

sotto_status pretrain_run(const struct options *o, const struct sotto_context *ctx, int json,
                          image_trainer *train)
{
    TRY_OR_RETURN(check_augmentation(o));
    if (option_flag(o, "plan"))
        TRY_OR_RETURN(pretrain_plan_check(o));
    return image_training(o, NULL, ctx, json, train);
}

static sotto_status verb_pretrain_train(const struct options *o, const struct sotto_dataset *data,
                                        const char *checkpoint, const struct sotto_context *ctx, int json)
{
    return pretrain_train(o, data, checkpoint, NULL, NULL, ctx, json);
}

static sotto_status verb_pretrain_run(const struct options *o, const struct sotto_context *ctx, int json)
{
    TRY_OR_RETURN(pretrain_private_check(o));
    return option_flag(o, "dp-sgd") ? image_training(o, NULL, ctx, json, pretrain_private)
                                    : pretrain_run(o, ctx, json, verb_pretrain_train);
}

const struct verb verb_pretrain = {
    .name = "pretrain",
    .summary = "pre-train a self-supervised encoder on public images, or privately; the same command "
               "continues an interrupted run",
    .arguments = "",
    .examples = "  sotto pretrain --data fashion-mnist --split train --epochs 10 -o encoder.safetensors\n"
                "  sotto pretrain --data cifar10 --indices public.npy --method simclr --batch 256 --seed 1 "
                "-o encoder.safetensors\n"
                "  sotto pretrain --data cifar10 --method rotation --epochs 20 -o encoder.safetensors\n"
                "  sotto pretrain --data scans --dp-sgd --encoder resnet8 --epsilon 3 --batch 1000 -o "
                "encoder.safetensors",
    .floor = FLOOR_LEARN,
    .ranks = TOGETHER,
    .own = "plan|isa|dp-sgd|sign",
    .options = rows,
    .most_used = "data|indices|split|method|encoder|epochs|batch|lr|augmentation|seed|plan|fresh|dp-sgd|"
                 "epsilon|output",
    .run = verb_pretrain_run};
