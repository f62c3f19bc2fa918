#include "verbs/autotune_output.h"
#include "inputs/canary_inputs.h"
#include "inputs/head_inputs.h"
#include "inputs/image_inputs.h"
#include "inputs/private_set.h"
#include "verbs/train_privacy.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct option_row rows[] = {
    OPTION_GROUP("Records"),
    DATA_ROW,
    INDICES_ROW,
    SPLIT_ROW,
    OPTION_LABELS_FROM_ROW,
    {"classes", OPTION_TEXT, "K|FILE", NULL,
     "public number of classes, or a file with one class name a line; training with a certificate needs it, "
     "unless the registered set states its classes"},
    OPTION_TABLE("train", NULL),
    OPTION_GROUP("DP-SGD"),
    {"dp-sgd", OPTION_FLAG, NULL, NULL,
     "private training by DP-SGD, with a certificate beside the model; the gradients of random batches are "
     "clipped, and every step adds noise"},
    OPTION_TABLE("train_privacy", NULL),
    OPTION_GROUP("Guarantee (DP-SGD, certified inputs)"),
    {"certify-inputs", OPTION_FLAG, NULL, NULL,
     "private release of all inputs, with noise, once an epoch; needs --radius; labels count as public "
     "without --label-epsilon"},
    OPTION_ROWS(private_set_rows),
    OPTION_ROWS(canary_rows),
    OPTION_GROUP("Ranks (mpirun, srun)"),
    {"isa", OPTION_TEXT, "common", NULL,
     "common: the lowest instruction set of all ranks, on machines of several kinds (default: refuse ranks "
     "that "
     "compute other bits)"},
    OPTION_GROUP("Files"),
    FRESH_ROW,
    {"output", OPTION_TEXT, "FILE", NULL, "model.safetensors to write"},
    OPTION_END};

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
    TRY_OR_RETURN(option_members(t, sotto_option_table("train"), o));
    t->residual.input_noise = input_noise(o);
    if (option_count(o, "ensemble") == 0)
        return cli_fail(SOTTO_EUSAGE, "train: --ensemble 0; expected at least 1 member");
    TRY_OR_RETURN(image_shape(shape, o));
    t->channels = shape[0], t->height = shape[1], t->width = shape[2];
    return SOTTO_OK;
}

static void print_result(const struct sotto_train_result *r, const struct sotto_network *n, const char *path,
                         const struct majority *frequent, const char *model, int json)
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
        printf("%s: %s of %zu parameters, %llu steps, loss %.4f nats and accuracy %.4f over the last epoch "
               "(who always answers class %zu: %.4f), %.1f s, %.0f records/s\n%s\n",
               path, model, sotto_network_parameters(n), (unsigned long long)r->steps, r->loss, r->accuracy,
               frequent->label, frequent->share, r->seconds, r->records_per_second, choice);
}

static sotto_status verb_train_answers(float *logits, const void *network,
                                       const struct sotto_dataset *records, const struct sotto_context *ctx)
{
    return sotto_network_predict_data(logits, network, records, NULL, records->n, 1, ctx);
}

static sotto_status refuse_canaries(const struct options *o)
{
    static const char *const others[] = {"from", "certify-inputs", "residual-perturbation"};
    for (size_t i = 0; option_given(o, "canaries") && i < sizeof others / sizeof *others; i++)
        if (option_given(o, others[i]))
            return cli_fail(SOTTO_EUSAGE, "train: --canaries cannot be combined with --%s; omit one of them",
                            others[i]);
    return SOTTO_OK;
}

/* The network is the release: nothing else that depends on the records is printed. Of several ranks the first alone charges,
 * writes and prints. */
static sotto_status train_private(const struct options *o, const struct sotto_dataset *opened,
                                  const struct sotto_array *chosen, const struct sotto_train_options *options,
                                  const struct sotto_context *ctx, int json)
{
    struct sotto_train_release_request request = {.rows = chosen->data,
                                                  .n = chosen->count,
                                                  .options = options,
                                                  .noisy_inputs = option_flag(o, "certify-inputs"),
                                                  .fresh = option_flag(o, "fresh"),
                                                  .keep_checkpoint = option_given(o, "checkpoint")};
    struct sotto_train_release_result made = {0};
    struct sotto_dataset data;
    struct sotto_array labels = {0}, public_rows = {0};
    struct sotto_provenance whose = {0};
    struct private_set charged = {0};
    sotto_status status = SOTTO_OK;
    TRY(request.noisy_inputs ? train_privacy_of_inputs(&request.privacy, o)
                             : train_privacy_of_sgd(&request.privacy, o));
    TRY(train_privacy_classes(&data, &labels, &request.privacy, opened, o));
    TRY(sotto_provenance_of_rows(&whose, opened, chosen->data, chosen->count));
    TRY(shape_by_rows(&whose, "canaries", option_text(o, "canary-public")));
    TRY(private_set_identify(&charged, o, &whose, "train", opened->name));
    TRY(canary_inputs_read(&request.canaries, &public_rows, opened, o));
    request.data = &data;
    request.privacy.spend = charged.spend;
    request.privacy.output = option_text(o, "output");
    request.public_rows = public_rows.data;
    request.public_n = public_rows.data ? public_rows.shape[0] : 0;
    TRY(sotto_train_release(&made, &request, ctx));
    if (cli_writes())
        TRY(private_set_print(&charged, made.certificate, request.privacy.output, json));
done:
    sotto_certificate_free(made.certificate);
    sotto_network_free(made.network);
    sotto_array_clear(&labels);
    sotto_array_clear(&public_rows);
    private_set_clear(&charged);
    sotto_provenance_clear(&whose);
    return status;
}

/* Of a set that is two files, whose certificate may cover both. What an encoder was trained on is not known. */
static sotto_status note_release(struct sotto_network *n, const struct options *o,
                                 const struct sotto_context *ctx)
{
    const char *data = option_text(o, "data"), *colon = strrchr(data, ':');
    struct sotto_released_inputs released = {0};
    char features[4096];
    if (!colon || option_given(o, "from") || !sotto_dataset_is_path(data) ||
        (size_t)(colon - data) >= sizeof features)
        return SOTTO_OK;
    snprintf(features, sizeof features, "%.*s", (int)(colon - data), data);
    TRY_OR_RETURN(sotto_released_inputs(&released, features, colon + 1, ctx));
    return sotto_network_set_released_inputs(n, &released);
}

/* OUTPUT.snapshots unless --snapshots says another folder. */
static sotto_status name_snapshots(struct sotto_train_options *t, char standard[4096],
                                   const struct options *o)
{
    if (!t->snapshot_every || t->snapshots)
        return SOTTO_OK;
    t->snapshots = standard;
    return snprintf(standard, 4096, "%s.snapshots", option_text(o, "output")) < 4096
               ? SOTTO_OK
               : cli_fail(SOTTO_EUSAGE, "the path of --output is too long");
}

/* Intermediate models say which records trained them, as the last one does. */
static sotto_status save_snapshot_provenance(const struct sotto_train_options *t,
                                             const struct sotto_dataset *data,
                                             const struct sotto_array *chosen)
{
    char path[4200];
    for (size_t epoch = t->snapshot_every; epoch && epoch < t->epochs; epoch += t->snapshot_every) {
        snprintf(path, sizeof path, "%.4095s/epoch-%06zu.safetensors", t->snapshots, epoch);
        TRY_OR_RETURN(image_provenance_save(path, data, chosen));
    }
    return SOTTO_OK;
}

/* The network, and which records trained it and its intermediate models. */
static sotto_status verb_train_save(struct sotto_network *network, const struct options *o,
                                    const struct sotto_train_options *t, const struct sotto_dataset *data,
                                    const struct sotto_array *chosen, const struct sotto_context *ctx)
{
    const char *output = option_text(o, "output");
    TRY_OR_RETURN(note_release(network, o, ctx));
    TRY_OR_RETURN(sotto_network_save(output, network));
    TRY_OR_RETURN(image_provenance_save(output, data, chosen));
    return save_snapshot_provenance(t, data, chosen);
}

static sotto_status verb_train_network(const struct options *o, const struct sotto_dataset *data,
                                       const char *checkpoint, const struct sotto_context *ctx, int json)
{
    struct sotto_train_options options;
    struct sotto_train_result result;
    struct sotto_array chosen = {0};
    struct sotto_network *network = NULL;
    struct sotto_canaries *canaries = NULL;
    struct majority frequent;
    const char *output = option_text(o, "output");
    char snapshots[4096];
    struct sotto_context together = *ctx;
    together.team = cli_team();
    const bool writes = cli_writes();
    sotto_status status = SOTTO_OK;
    TRY(read_options(&options, o));
    options.checkpoint = checkpoint;
    TRY(name_snapshots(&options, snapshots, o));
    TRY(refuse_canaries(o));
    TRY(image_rows(&chosen, data, o));
    if (option_flag(o, "dp-sgd") || option_flag(o, "certify-inputs")) {
        status = train_private(o, data, &chosen, &options, &together, json);
        goto done;
    }
    if (option_flag(o, "fresh") && writes)
        TRY(sotto_train_discard(checkpoint));
    TRY(train_privacy_refuse(o));
    TRY(labels_check_first(data->labels, data->labels ? data->n : 0, 0, option_text(o, "data"), o));
    TRY(canary_inputs_make(&canaries, data, chosen.data, chosen.count, options.seed, o));
    const struct sotto_dataset *set = canaries ? sotto_canaries_data(canaries) : data;
    TRY(sotto_train(&network, &result, set, canaries ? NULL : chosen.data, canaries ? set->n : chosen.count,
                    &options, &together));
    if (!writes)
        goto done;
    TRY(verb_train_save(network, o, &options, data, &chosen, ctx));
    if (canaries)
        TRY(sotto_canaries_ask(canaries, verb_train_answers, network, ctx));
    if (!option_given(o, "checkpoint"))
        sotto_train_forget(checkpoint);
    TRY(labels_majority(&frequent, data->labels, chosen.data, chosen.count, sotto_network_classes(network)));
    print_result(&result, network, output, &frequent, sotto_network_recipe(network)->model, json);
done:
    sotto_network_free(network);
    sotto_canaries_free(canaries);
    sotto_array_clear(&chosen);
    return status;
}

static sotto_status verb_train_run(const struct options *o, const struct sotto_context *ctx, int json)
{
    const char *data = option_text(o, "data");
    if (data && (option_flag(o, "dp-sgd") || option_flag(o, "certify-inputs")) && sotto_dataset_is_path(data))
        return cli_fail(SOTTO_EUSAGE,
                        "train: --dp-sgd and --certify-inputs need an imported data set, as errors while "
                        "reading %s could reveal its records; run 'sotto data import %s --name NAME' first",
                        data, data);
    int64_t first;
    TRY_OR_RETURN(option_labels_from(&first, o));
    const struct sotto_import_options files = {.labels_from = (size_t)first};
    return image_training(o, &files, ctx, json, verb_train_network);
}

const struct verb verb_train = {
    .name = "train",
    .summary = "train a network on labelled records, plain or with DP-SGD; the same command continues an "
               "interrupted run",
    .arguments = "",
    .examples =
        "  sotto train --data cifar10 --indices rows.npy --model cnn --epochs 15 -o model.safetensors\n"
        "  sotto train --data cifar10 --indices private.npy --from encoder.safetensors --freeze all "
        "--standardise public.npy --dp-sgd --epsilon 3 -o model.safetensors\n"
        "  sotto train --data x.npy:y.npy --model mlp --hidden 128 -o model.safetensors\n"
        "  sotto train --data fashion-mnist --split train --model resnet8 --optimizer sgd --lr 0.1 "
        "--momentum 0.9 --schedule cosine --flip --crop 4 -o model.safetensors\n"
        "  sotto data check cifar10 --classes 10\n"
        "  sotto train --data cifar10 --indices private.npy --from encoder.safetensors --freeze 2 --dp-sgd "
        "--epsilon 3 --batch 2048 --optimizer sgd --lr 2 --momentum 0.9 --max-grad-norm 0.1 --warm-up 50 -o "
        "model.safetensors\n"
        "  sotto train --data fashion-mnist --split train --model cnn --hidden 16,32,64 --dp-sgd --epsilon 3 "
        "--batch 2048 --optimizer sgd --lr 4 --momentum 0.9 --max-grad-norm 0.1 -o model.safetensors",
    .floor = FLOOR_LEARN,
    .ranks = TOGETHER,
    .own = "classes|dp-sgd|certify-inputs|sign|canary-public|isa",
    .options = rows,
    .most_used = "data|indices|classes|model|from|freeze|optimizer|lr|epochs|batch|dp-sgd|epsilon|max-grad-"
                 "norm|dataset-id|output",
    .run = verb_train_run};
