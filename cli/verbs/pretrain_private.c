/* sotto pretrain --dp-sgd: a network that learns by how much a private image was turned, which serves as an encoder. */
#include "verbs/pretrain_private.h"

#include "inputs/private_set.h"
#include "sotto/lab/ssl.h"
#include "sotto/lab/train.h"

#include <stdio.h>
#include <string.h>

#define TRAINING                                                                                             \
    "clipping|quantile|max-grad-norm|noise|noise-multiplier|steps|ema|micro-batch|adjacency|sampling|unit|"  \
    "rows-per-step"
#define GUARANTEE "epsilon|max-tpr|max-advantage|delta|reserve-steps"

const struct option_row pretrain_private_rows[] = {OPTION_GROUP("DP-SGD"),
                                                   {"dp-sgd", OPTION_FLAG, NULL, NULL,
                                                    "private training by DP-SGD on private images, by "
                                                    "rotation alone, with a certificate beside the encoder"},
                                                   OPTION_TABLE("train_privacy", TRAINING),
                                                   OPTION_GROUP("Guarantee (DP-SGD)"),
                                                   OPTION_TABLE("train_privacy", GUARANTEE),
                                                   OPTION_ROWS(private_set_rows),
                                                   OPTION_END};

/* The first option of a list "a|b" that was given; or NULL. */
static const char *first_given(const struct options *o, const char *list)
{
    static char name[32];
    for (size_t length; *list; list += length + (list[length] == '|')) {
        length = strcspn(list, "|");
        snprintf(name, sizeof name, "%.*s", (int)length, list);
        if (option_given(o, name))
            return name;
    }
    return NULL;
}

sotto_status pretrain_private_check(const struct options *o)
{
    const bool private = option_flag(o, "dp-sgd");
    const char *other =
        private ? first_given(o, "temperature|loss|augmentation|min-area|brightness|jitter|vertical-flip|"
                                 "grey|blur|order|leaf|"
                                 "norm-scope|metrics|plan|isa")
                : first_given(
                      o, TRAINING
                      "|" GUARANTEE "|dataset-id|ledger|budget-epsilon|budget-delta|purpose|planned|"
                      "insecure-noise-seed|same-people-as|ledger-move|rows-per-person|read-from-data|sign");
    if (other && private)
        return cli_fail(SOTTO_EUSAGE,
                        "pretrain: --%s makes no difference to --dp-sgd, which trains by rotation; omit it",
                        other);
    if (other)
        return cli_fail(
            SOTTO_EUSAGE,
            "pretrain: --%s needs --dp-sgd; plain pre-training is for public images and makes no certificate",
            other);
    if (private && option_given(o, "method") && strcmp(option_text(o, "method"), "rotation") != 0)
        return cli_fail(SOTTO_EUSAGE,
                        "pretrain: --dp-sgd with --method %s is not supported; expected rotation",
                        option_text(o, "method"));
    if (private && option_given(o, "steps") && option_given(o, "epochs"))
        return cli_fail(SOTTO_EUSAGE, "pretrain: give --steps or --epochs, not both");
    if (private && sotto_dataset_is_path(option_text(o, "data") ? option_text(o, "data") : ""))
        return cli_fail(
            SOTTO_EUSAGE,
            "pretrain: --dp-sgd needs an imported data set, as errors while reading %s could reveal its "
            "records; run 'sotto data import %s --name NAME' first",
            option_text(o, "data"), option_text(o, "data"));
    return private ? private_set_noise_once(o, "pretrain", "noise-multiplier") : SOTTO_OK;
}

/* As sotto_pretrain() takes it, for a network. */
static sotto_status read_network(struct sotto_train_options *t, const char *checkpoint,
                                 const struct options *o)
{
    struct sotto_pretrain_options of;
    sotto_pretrain_defaults(&of);
    TRY_OR_RETURN(option_members(&of, sotto_option_table("pretrain"), o));
    sotto_train_defaults(t);
    t->model = of.encoder;
    if (strncmp(of.encoder, "resnet", 6) == 0) /* the networks that have a norm to choose */
        t->norm = "group";
    t->epochs = of.epochs, t->batch = of.batch;
    t->lr = of.lr, t->schedule = of.schedule, t->seed = of.seed;
    t->dtype = of.dtype, t->backend = of.backend;
    t->checkpoint = checkpoint;
    return SOTTO_OK;
}

sotto_status pretrain_private(const struct options *o, const struct sotto_dataset *data,
                              const char *checkpoint, const struct sotto_context *ctx, int json)
{
    struct sotto_train_options network;
    struct sotto_train_release_request request = {.data = data,
                                                  .options = &network,
                                                  .fresh = option_flag(o, "fresh"),
                                                  .keep_checkpoint = option_given(o, "checkpoint")};
    struct sotto_train_release_result made = {0};
    struct sotto_array chosen = {0};
    struct sotto_provenance whose = {0};
    struct private_set charged = {0};
    sotto_status status = SOTTO_OK;
    TRY(read_network(&network, checkpoint, o));
    TRY(image_rows(&chosen, data, o));
    sotto_train_privacy_defaults(&request.privacy);
    TRY(option_members(&request.privacy, sotto_option_table("train_privacy"), o));
    TRY(option_adjacency(&request.privacy.adjacency, o, request.privacy.sampling == SOTTO_SAMPLING_FIXED));
    TRY(sotto_provenance_of_rows(&whose, data, chosen.data, chosen.count));
    TRY(private_set_identify(&charged, o, &whose, "pretrain", data->name));
    request.rows = chosen.data, request.n = chosen.count;
    request.privacy.objective = "rotation";
    request.privacy.spend = charged.spend;
    request.privacy.output = option_text(o, "output");
    TRY(sotto_train_release(&made, &request, ctx));
    TRY(private_set_print(&charged, made.certificate, request.privacy.output, json));
done:
    sotto_certificate_free(made.certificate);
    sotto_network_free(made.network);
    sotto_array_clear(&chosen);
    private_set_clear(&charged);
    sotto_provenance_clear(&whose);
    return status;
}
