#include "run/config/config_network.h"

#include "options/option_tables.h"
#include "train/network/network.h"
#include "train/plain/pretrained.h"
#include "train/private/dp_sgd.h"

#include <stdio.h>
#include <string.h>

/* Keys that heads do not have, and all that a network reads, by the struct that they belong to. */
static const struct config_members own_training = {
    .section = "protect[].",
    .table = options_train,
    .keys = "model|from|freeze|warm_up|weight_decay|schedule|flip|crop",
    .optional = true};
static const struct config_members own_privacy = {.section = "protect[].",
                                                  .table = options_train_privacy,
                                                  .keys = "clipping|quantile|views|ema|sampling",
                                                  .optional = true};
static const char training_keys[] =
    "hidden|epochs|batch|lr|momentum|model|from|freeze|warm_up|weight_decay|schedule|flip|crop";
static const char privacy_keys[] = "noise|max_grad_norm|clipping|quantile|views|ema|sampling";

void config_network_rows(struct config_rows *out, const char *prefix)
{
    config_rows_add_members(out, prefix, &own_training);
    config_rows_add_members(out, prefix, &own_privacy);
}

bool config_is_network(const struct config *c, const char *prefix, const char *section)
{
    return config_given(c, "%s%smodel", prefix, section) || config_given(c, "%s%sfrom", prefix, section);
}

sotto_status config_refuse_keys(const struct config *c, const char *prefix, const char *section,
                                const char *const *keys, size_t count, const char *why)
{
    sotto_status status = SOTTO_OK;
    char path[128];
    for (size_t k = 0; k < count; k++) {
        snprintf(path, sizeof path, "%s%s%s", prefix, section, keys[k]);
        if (config_given(c, "%s", path))
            TRY(config_fail(c, path, "%s %s", path, why));
    }
done:
    return status;
}

sotto_status config_network_refuse(const struct config *c, const char *prefix, const char *section,
                                   const char *why)
{
    static const char *const keys[] = {"model",    "from",    "freeze",  "warm_up",  "weight_decay",
                                       "schedule", "flip",    "crop",    "clipping", "quantile",
                                       "views",    "average", "sampling"};
    return config_refuse_keys(c, prefix, section, keys, sizeof keys / sizeof *keys, why);
}

/* What the names contradict: a network stands on one of the two. */
static sotto_status check_start(const struct run_network *n, const struct config *c,
                                const struct config_network_place *at)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_train_options *o = &n->training;
    char path[128];
    snprintf(path, sizeof path, "%s%sfrom", at->prefix, at->section);
    if (o->from && strcmp(o->from, "encoder") != 0)
        TRY(config_fail(c, path, "%s is '%s'; expected 'encoder', the one that this experiment pre-trains",
                        path, o->from));
    if (o->from && o->model)
        TRY(config_fail(c, path, "%s: an encoder decides its model; expected 'model' or 'from', not both",
                        path));
    snprintf(path, sizeof path, "%s%strainer", at->prefix, at->section);
    if (strcmp(at->trainer, "dp-sgd") != 0 && strcmp(at->trainer, "dp-adam") != 0)
        TRY(config_fail(c, path,
                        "%s is '%s', which trains heads only; expected dp-sgd or dp-adam for a network", path,
                        at->trainer));
done:
    return status;
}

/* The training's own checks, on copies: calls resolve what they are given. */
static sotto_status config_network_check(const struct run_network *n, size_t records)
{
    sotto_status status = SOTTO_OK;
    struct sotto_train_options o;
    struct sotto_train_privacy p;
    TRY(train_options_resolve(&o, &n->training));
    TRY(train_options_check(&o));
    TRY(pretrained_check(&o));
    TRY(train_privacy_resolve(&p, &n->privacy));
    p.noise_multiplier = 1; /* stands for the one that will be found */
    TRY(dp_sgd_resolve(&p, &o, records, NULL));
done:
    return status;
}

sotto_status config_network_read(struct run_network *out, const struct config *c,
                                 const struct config_network_place *at)
{
    sotto_status status = SOTTO_OK;
    static const char *const of_heads[] = {"clip", "bias", "lambda", "cross"};
    struct config_members training = own_training, privacy = own_privacy;
    char path[128], why[256];
    training.section = privacy.section = at->section;
    training.keys = training_keys, privacy.keys = privacy_keys;
    TRY(config_refuse_keys(c, at->prefix, at->section, of_heads, sizeof of_heads / sizeof *of_heads,
                           "is of a head; expected it without 'model' and 'from'"));
    *out = (struct run_network){.training = {.seed = sotto_given_seed(at->seed), .dtype = "f32"}};
    TRY(config_members_read(&out->training, out->texts, c, at->prefix, &training));
    TRY(config_members_read(&out->privacy, out->texts + 4, c, at->prefix, &privacy));
    TRY(check_start(out, c, at));
    out->training.optimizer = strcmp(at->trainer, "dp-adam") == 0 ? "adam" : "sgd";
    if (out->training.model && strncmp(out->training.model, "resnet", 6) == 0)
        out->training.norm = "group"; /* batch norm mixes records */
    if (config_network_check(out, at->records) != SOTTO_OK) {
        snprintf(why, sizeof why, "%s", sotto_error_text());
        snprintf(path, sizeof path, "%s%strainer", at->prefix, at->section);
        TRY(config_fail(c, path, "%s%.*s: %s", at->prefix, (int)strlen(at->section) - 1, at->section, why));
    }
done:
    return status;
}
