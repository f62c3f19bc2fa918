#include "train/plain/pretrained.h"
#include "io/provenance/shaping.h"

#include "base/memory.h"
#include "nn/model/model.h"
#include "ssl/standardise.h"

#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

static bool has_noise(const struct sotto_residual_noise *r)
{
    return r->kind || r->input_noise != 0 || r->radius != 0 || r->no_skip || r->members > 1;
}

sotto_status pretrained_check(const struct sotto_train_options *o)
{
    sotto_status status = SOTTO_OK;
    if (!o->from) {
        REQUIRE(!o->freeze, "freeze '%s' needs a pre-trained encoder; give its file (from)", o->freeze);
        REQUIRE(!o->warm_up, "warm_up needs a pre-trained encoder; give its file (from)");
        REQUIRE(!o->standardise, "standardise needs a pre-trained encoder; give its file (from)");
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
                             const struct sotto_dataset *data, struct nn_shape record)
{
    sotto_status status = SOTTO_OK;
    struct sotto_encoder *e = NULL;
    const char *model;
    TRY(pretrained_check(o));
    if (!o->from)
        goto done;
    TRY(sotto_encoder_load(&e, o->from));
    REQUIRE(record.height > 1,
            "data set '%s' contains rows of numbers, but an encoder needs images; give their shape "
            "({channels|image})",
            data->name);
    TRY(encoder_check_image(e, data->name, record));
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
    config->normalised = nn_model_normalised(e->model);
    config->zero_classifier = 1;
    config->freeze = pretrained_freeze(o->freeze);
    config->standardise = o->standardise != NULL;
}

sotto_status pretrained_moments(double **out, const struct sotto_encoder *e,
                                const struct sotto_train_options *o)
{
    sotto_status status = SOTTO_OK;
    struct sotto_array x = {0};
    const size_t width = sotto_encoder_width(e);
    double *mean = NULL;
    if (!o->standardise)
        goto done;
    TRY(sotto_array_load(&x, o->standardise, 0, NULL));
    REQUIRE(x.ndim == 2 && x.shape[1] == width,
            "standardise: %s does not have shape (N, %zu); expected embeddings by the encoder of from",
            o->standardise, width);
    TRY(sotto_array_convert(&x, SOTTO_F4));
    NEW_ROWS(mean, width, 2);
    TRY(standardise_find(mean, mean + width, x.data, x.shape[0], width));
    *out = mean;
    mean = NULL;
done:
    base_free(mean);
    sotto_array_clear(&x);
    return status;
}

sotto_status pretrained_shape(struct sotto_provenance *out, const struct sotto_encoder *e,
                              const struct sotto_train_options *o, bool own)
{
    sotto_status status = SOTTO_OK;
    struct sotto_provenance p = {0}, rows = {0};
    const char *before = encoder_fact(e, SHAPED_KEY);
    if (own)
        TRY(sotto_encoder_shape(&p, e, o->from));
    else if (before)
        TRY(shapings_parse(&p, before, o->from));
    if (o->standardise) {
        TRY(sotto_provenance_load(&rows, o->standardise));
        TRY(sotto_provenance_shape(&p, "moments", o->standardise, &rows,
                                   sotto_dataset_is_public(rows.dataset_id)));
    }
    *out = p;
    p = (struct sotto_provenance){0};
done:
    sotto_provenance_clear(&p);
    sotto_provenance_clear(&rows);
    return status;
}

void pretrained_moments_sha256(char hex[SHA256_HEX], const struct nn_model *m)
{
    struct sha256 s;
    sha256_init(&s);
    for (size_t i = 0; i < m->parameter_count; i++)
        if (strncmp(m->parameters[i].name, "standardise.", strlen("standardise.")) == 0)
            sha256_update(&s, m->parameters[i].value, m->parameters[i].count * sizeof(float));
    sha256_hex(&s, hex);
}

sotto_status pretrained_import(struct nn_model *m, const struct sotto_encoder *e, const double *moments)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors weights = {0};
    TRY(nn_model_export(&weights, e->model, "", 0));
    TRY(nn_model_import(m, &weights, "", 0));
    if (moments)
        nn_model_set_standardise(m, moments, moments + nn_model_embedding_width(m));
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
