/* An encoder's file is one .safetensors: the weights under PyTorch-mappable names, without the projector, and
 * metadata that say which network they belong to and how they were made. Nothing in it depends on the clock,
 * so equal runs give equal bytes. */
#include "ssl/encoder.h"

#include "data/augment/augment.h"
#include "io/array/safetensors.h"
#include "io/array/tensors.h"
#include "io/provenance/statement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char schema[] = "sotto.encoder/1", network_schema[] = "sotto.model/1";

sotto_status encoder_input(struct nn_shape *out, const struct sotto_dataset *data)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(data->images, "data set '%s' contains features; an encoder needs images", data->name);
    REQUIRE(data->channels == 1 || data->channels == 3,
            "data set '%s': images have %zu channels; expected 1 (grey) or 3 (RGB)", data->name,
            data->channels);
    *out = (struct nn_shape){3, augment_fitted(data->height), augment_fitted(data->width)};
done:
    return status;
}

sotto_status encoder_check_rows(const struct sotto_dataset *data, const int64_t *rows, size_t n)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(n > 0, "data set '%s': no rows were given; expected at least one", data->name);
    REQUIRE(rows || n <= data->n, "data set '%s' has %zu records; expected at least %zu", data->name, data->n,
            n);
    for (size_t i = 0; rows && i < n; i++)
        REQUIRE(rows[i] >= 0 && (uint64_t)rows[i] < data->n,
                "row index %lld (at position %zu) is outside data set '%s' "
                "with %zu records",
                (long long)rows[i], i, data->name, data->n);
done:
    return status;
}

sotto_status encoder_wrap(struct sotto_encoder **out, struct nn_model *model, const char *name)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors tensors = {0};
    struct sotto_encoder *e = base_alloc(1, sizeof *e);
    if (!e) {
        nn_model_free(model);
        FAIL(SOTTO_ENOMEM, "encoder: out of memory");
    }
    e->model = model;
    snprintf(e->name, sizeof e->name, "%s", name);
    REQUIRE(nn_model_parameter_count(model, 0) > 0,
            "network '%s' has no layers below its head; expected an encoder", name);
    TRY(nn_model_export(&tensors, model, "", 0));
    TRY(nn_tensors_sha256(e->weights_sha256, &tensors, "encoder"));
    *out = e;
    e = NULL;
done:
    sotto_tensors_clear(&tensors);
    sotto_encoder_free(e);
    return status;
}

sotto_status encoder_add_fact(struct sotto_encoder *e, const char *key, const char *value)
{
    sotto_status status = SOTTO_OK;
    char *key_copy = NULL, *value_copy = NULL;
    if (e->fact_count == ENCODER_FACTS)
        FAIL(SOTTO_EINTERNAL, "encoder: too many facts");
    NEW_TEXT(key_copy, key);
    NEW_TEXT(value_copy, value);
    e->facts[2 * e->fact_count] = key_copy;
    e->facts[2 * e->fact_count + 1] = value_copy;
    e->fact_count++;
    key_copy = value_copy = NULL;
done:
    base_free(key_copy);
    base_free(value_copy);
    return status;
}

void sotto_encoder_free(struct sotto_encoder *e)
{
    if (!e)
        return;
    for (size_t i = 0; i < 2 * e->fact_count; i++)
        base_free(e->facts[i]);
    nn_model_free(e->model);
    base_free(e);
}

const char *encoder_fact(const struct sotto_encoder *e, const char *key)
{
    for (size_t i = 0; i < e->fact_count; i++)
        if (strcmp(e->facts[2 * i], key) == 0)
            return e->facts[2 * i + 1];
    return NULL;
}

const char *sotto_encoder_statement(const struct sotto_encoder *e)
{
    GIVEN_OR(NULL, e);
    const char *text = encoder_fact(e, STATEMENT_KEY);
    return text ? text : "";
}

size_t sotto_encoder_width(const struct sotto_encoder *e)
{
    GIVEN_OR(0, e);
    return nn_model_embedding_width(e->model);
}

const char *sotto_encoder_sha256(const struct sotto_encoder *e)
{
    GIVEN_OR(NULL, e);
    return e->weights_sha256;
}

sotto_status sotto_encoder_random(struct sotto_encoder **out, const struct sotto_dataset *data,
                                  const char *encoder, uint64_t seed)
{
    REQUIRE_GIVEN(out, data);
    sotto_status status = SOTTO_OK;
    struct nn_model_config config = {.name = encoder ? encoder : "keras-simclr"};
    struct nn_model *model = NULL;
    struct sotto_encoder *e = NULL;
    char text[32];
    TRY(encoder_input(&config.input, data));
    TRY(nn_model_create(&model, &config, seed));
    TRY(encoder_wrap(&e, model, config.name));
    snprintf(text, sizeof text, "%llu", (unsigned long long)seed);
    TRY(encoder_add_fact(e, "method", "random"));
    TRY(encoder_add_fact(e, "seed", text));
    *out = e;
    e = NULL;
done:
    sotto_encoder_free(e);
    return status;
}

static sotto_status encoder_tensors(struct sotto_tensors *tensors, const struct sotto_encoder *e)
{
    sotto_status status = SOTTO_OK;
    struct nn_shape in = nn_model_input(e->model);
    char input[80];
    snprintf(input, sizeof input, "%zux%zux%zu", in.channels, in.height, in.width);
    TRY(nn_model_export(tensors, e->model, "", 0));
    TRY(tensors_set_metadata(tensors, "schema", schema));
    TRY(tensors_set_metadata(tensors, "encoder", e->name));
    TRY(tensors_set_metadata(tensors, "input", input));
    TRY(tensors_set_metadata(tensors, "weights_sha256", e->weights_sha256));
    for (size_t i = 0; i < e->fact_count; i++)
        TRY(tensors_set_metadata(tensors, e->facts[2 * i], e->facts[2 * i + 1]));
done:
    return status;
}

sotto_status sotto_encoder_save(const char *path, const struct sotto_encoder *e)
{
    REQUIRE_GIVEN(path, e);
    struct sotto_tensors t = {0};
    sotto_status status = encoder_tensors(&t, e);
    if (status == SOTTO_OK)
        status = safetensors_save(path, &t);
    sotto_tensors_clear(&t);
    return status;
}

sotto_status sotto_encoder_save_bytes(void **bytes, size_t *size, const struct sotto_encoder *e)
{
    REQUIRE_GIVEN(bytes, size, e);
    struct sotto_tensors t = {0};
    sotto_status status = encoder_tensors(&t, e);
    if (status == SOTTO_OK)
        status = safetensors_save_bytes(bytes, size, &t);
    sotto_tensors_clear(&t);
    return status;
}

static sotto_status read_input(struct nn_shape *out, const char *text, const char *path)
{
    sotto_status status = SOTTO_OK;
    size_t sizes[3] = {0};
    const char *at = text;
    for (int i = 0; i < 3; i++) {
        char *end;
        unsigned long value = *at >= '0' && *at <= '9' ? strtoul(at, &end, 10) : 0;
        if (value == 0 || value > 1 << 14 || *end != (i < 2 ? 'x' : '\0'))
            FAIL(SOTTO_EFORMAT,
                 "%s: metadata 'input' is '%s'; expected channels x height x width such as 3x32x32", path,
                 text);
        sizes[i] = value;
        at = end + 1;
    }
    *out = (struct nn_shape){sizes[0], sizes[1], sizes[2]};
    if (out->channels != 3 || out->height < augment_fitted(1) || out->width < augment_fitted(1))
        FAIL(SOTTO_EFORMAT, "%s: metadata 'input' is '%s'; expected 3 channels and at least %zux%zu pixels",
             path, text, augment_fitted(1), augment_fitted(1));
done:
    return status;
}

static sotto_status require_metadata(const char **out, const struct sotto_tensors *tensors, const char *key,
                                     const char *path)
{
    *out = tensors_metadata(tensors, key);
    if (*out)
        return SOTTO_OK;
    sotto_status status =
        status_fail(SOTTO_EFORMAT, "%s: metadata '%s' is missing; expected an encoder file", path, key);
    status_hint("an encoder made by another program needs the metadata schema %s, encoder (such as "
                "keras-simclr) and input (such as 3x32x32)",
                schema);
    return status;
}

static sotto_status keep_facts(struct sotto_encoder *e, const struct sotto_tensors *tensors)
{
    static const char *const own[] = {"schema", "encoder", "input", "weights_sha256"};
    sotto_status status = SOTTO_OK;
    for (size_t i = 0; i < tensors->metadata_count && e->fact_count < ENCODER_FACTS; i++) {
        const char *key = tensors->metadata[2 * i];
        int skip = 0;
        for (size_t k = 0; k < sizeof own / sizeof *own; k++)
            skip |= strcmp(key, own[k]) == 0;
        if (!skip)
            TRY(encoder_add_fact(e, key, tensors->metadata[2 * i + 1]));
    }
done:
    return status;
}

/* An encoder's own file, or a whole network of `sotto train`, of which everything below the last layer is
 * one. */
static sotto_status read_kind(struct nn_model_config *config, bool *network,
                              const struct sotto_tensors *tensors, const char *path)
{
    sotto_status status = SOTTO_OK;
    const char *found, *input;
    TRY(require_metadata(&found, tensors, "schema", path));
    *network = strcmp(found, network_schema) == 0;
    if (!*network && strcmp(found, schema) != 0)
        FAIL(SOTTO_EFORMAT, "%s: schema is '%s'; expected '%s'", path, found, schema);
    TRY(require_metadata(&config->name, tensors, *network ? "model" : "encoder", path));
    if (*network && (tensors_metadata(tensors, "residual") || tensors_metadata(tensors, "hidden")))
        FAIL(SOTTO_EFORMAT,
             "%s: network '%s' has noise, ensemble members or its own widths; expected an encoder", path,
             config->name);
    config->normalised = nn_tensors_normalised(tensors);
    config->norm = *network ? tensors_metadata(tensors, "norm") : NULL;
    TRY(require_metadata(&input, tensors, "input", path));
    if (*network && tensors_metadata(tensors, "network_input")) /* of one that began as an encoder */
        input = tensors_metadata(tensors, "network_input");
    TRY(read_input(&config->input, input, path));
done:
    return status;
}

/* Checksums cover the tensors of the file: of a network, the last layer too. */
static sotto_status check_weights(const struct sotto_encoder *e, bool network,
                                  const struct sotto_tensors *tensors, const char *path)
{
    sotto_status status = SOTTO_OK;
    const char *recorded = tensors_metadata(tensors, "weights_sha256"), *found = e->weights_sha256;
    char whole[SHA256_HEX];
    if (network) {
        TRY(nn_tensors_sha256(whole, tensors, path));
        found = whole;
    }
    if (recorded && strcmp(recorded, found) != 0)
        FAIL(SOTTO_EFORMAT, "%s: the weights do not match their checksum, so the file was changed", path);
done:
    return status;
}

/* The values must be there before memory for an encoder of the described size is asked for. */
static sotto_status check_size(const struct nn_model_config *config, const struct sotto_tensors *tensors)
{
    sotto_status status = SOTTO_OK;
    size_t needed = 0, found = 0;
    TRY(nn_model_size(&needed, NULL, config));
    for (size_t i = 0; i < tensors->count; i++)
        found += tensors->items[i].array.count;
    if (found < needed)
        FAIL(SOTTO_EFORMAT, "holds %zu values; encoder %s as described has %zu", found, config->name, needed);
done:
    return status;
}

static sotto_status encoder_from_tensors(struct sotto_encoder **out, const struct sotto_tensors *tensors,
                                         const char *path)
{
    sotto_status status = SOTTO_OK;
    struct nn_model_config config = {0};
    struct nn_model *model = NULL;
    struct sotto_encoder *e = NULL;
    bool network;
    TRY(read_kind(&config, &network, tensors, path));
    status = check_size(&config, tensors);
    if (status == SOTTO_OK)
        status = nn_model_create_blank(&model, &config);
    if (status == SOTTO_OK)
        status = nn_model_import(model, tensors, "", 0);
    if (status == SOTTO_OK) {
        struct nn_model *taken = model;
        model = NULL;
        status = encoder_wrap(&e, taken, config.name);
    }
    if (status != SOTTO_OK) {
        status_prefix(path);
        goto done;
    }
    e->group_norm = config.norm && strcmp(config.norm, "group") == 0;
    TRY(check_weights(e, network, tensors, path));
    TRY(keep_facts(e, tensors));
    *out = e;
    e = NULL;
done:
    nn_model_free(model);
    sotto_encoder_free(e);
    return status;
}

sotto_status sotto_encoder_load(struct sotto_encoder **out, const char *path)
{
    REQUIRE_GIVEN(out, path);
    struct sotto_tensors t = {0};
    sotto_status status = safetensors_load(&t, path);
    if (status == SOTTO_OK)
        status = encoder_from_tensors(out, &t, path);
    sotto_tensors_clear(&t);
    return status;
}

sotto_status sotto_encoder_load_bytes(struct sotto_encoder **out, const void *bytes, size_t size)
{
    REQUIRE_GIVEN(out, !size || bytes);
    static const char name[] = "encoder in memory";
    struct sotto_tensors t = {0};
    sotto_status status = safetensors_load_bytes(&t, bytes, size, name);
    if (status == SOTTO_OK)
        status = encoder_from_tensors(out, &t, name);
    sotto_tensors_clear(&t);
    return status;
}
