#include "train/plain/pretrained.h"

#include "base/memory.h"
#include "nn/model/model.h"

#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

static bool has_noise(const struct sotto_residual_noise *r)
{
    return r->kind || r->input_noise != 0 || r->radius != 0 || r->no_skip || r->members > 1;
}

static sotto_status check_options(const struct sotto_train_options *o)
{
    sotto_status status = SOTTO_OK;
    if (!o->from) {
        REQUIRE(!o->freeze, "freeze '%s' needs a pre-trained encoder; give its file (from)", o->freeze);
        REQUIRE(!o->warm_up, "warm_up needs a pre-trained encoder; give its file (from)");
        goto done;
    }
    REQUIRE(!has_noise(&o->residual), "a pre-trained encoder cannot be combined with residual perturbation, "
                                      "noisy inputs or ensembles; omit one of them");
    REQUIRE(o->hidden_count == 0, "hidden widths are those of the pre-trained encoder; omit them");
    REQUIRE(o->warm_up == 0 || o->weight_decay == 0,
            "warm_up leaves the encoder as it is, but weight decay would move it; omit one of them");
done:
    return status;
}

sotto_status pretrained_open(struct sotto_encoder **out, struct sotto_train_options *o,
                             const struct sotto_dataset *data)
{
    sotto_status status = SOTTO_OK;
    struct sotto_encoder *e = NULL;
    const char *model;
    TRY(check_options(o));
    if (!o->from)
        goto done;
    TRY(sotto_encoder_load(&e, o->from));
    TRY(encoder_check_size(e, data));
    TRY(nn_model_find(&model, NULL, e->name));
    REQUIRE(strcmp(o->model, "cnn") == 0 || strcmp(o->model, model) == 0, /* the default stands for any */
            "model %s is not that of encoder %s, which is %s; omit the model", o->model, o->from, model);
    o->model = model;
    o->norm = e->group_norm ? "group" : "batch";
    *out = e;
    e = NULL;
done:
    sotto_encoder_free(e);
    return status;
}

/* ---- the network ---- */

struct nn_freeze pretrained_freeze(const char *freeze)
{
    return (struct nn_freeze){.encoder = strcmp(freeze, "all") == 0,
                              .blocks = (size_t)strtoul(freeze, NULL, 10), /* of a word: 0 */
                              .norms = strcmp(freeze, "none") != 0};
}

void pretrained_config(struct nn_model_config *config, const struct sotto_encoder *e,
                       const struct sotto_train_options *o)
{
    config->input = nn_model_input(e->model);
    config->zero_classifier = 1;
    config->freeze = pretrained_freeze(o->freeze);
}

sotto_status pretrained_import(struct nn_model *m, const struct sotto_encoder *e)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors weights = {0};
    TRY(nn_model_export(&weights, e->model, "", 0));
    TRY(nn_model_import(m, &weights, "", 0));
done:
    sotto_tensors_clear(&weights);
    return status;
}

sotto_status pretrained_trained(char **names, const struct nn_model *m)
{
    sotto_status status = SOTTO_OK;
    const struct tensor_list *trained = nn_model_tensors(m);
    size_t length = 1;
    char *text = NULL, *at;
    for (size_t i = 0; i < trained->count; i++)
        length += strlen(trained->items[i].name) + 2;
    NEW(text, length);
    at = text;
    for (size_t i = 0; i < trained->count; i++) {
        at = stpcpy(at, i ? ", " : "");
        at = stpcpy(at, trained->items[i].name);
    }
    *names = text;
done:
    return status;
}
