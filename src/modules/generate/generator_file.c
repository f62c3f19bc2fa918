/* The file of a generative model: both networks as "maker." and "reader." tensors under PyTorch's names, and metadata that say
 * which they are and how they were made. Nothing in it depends on the clock. */
#include "generate/generator.h"

#include "io/array/safetensors.h"
#include "io/array/tensors.h"
#include "io/provenance/statement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char schema[] = "sotto.generator/1";

static sotto_status export_networks(struct sotto_tensors *t, const struct sotto_generator *g)
{
    sotto_status status = SOTTO_OK;
    TRY(nn_model_export(t, g->maker, "maker.", 1));
    TRY(nn_model_export(t, g->reader, "reader.", 1));
done:
    return status;
}

/* The file's contents; clear t whatever comes back. */
static sotto_status to_tensors(struct sotto_tensors *t, const struct sotto_generator *g)
{
    sotto_status status = SOTTO_OK;
    char channels[32], width[32], hash[SHA256_HEX];
    snprintf(channels, sizeof channels, "%zu", g->channels);
    snprintf(width, sizeof width, "%zu", g->width);
    TRY(export_networks(t, g));
    TRY(nn_tensors_sha256(hash, t, "generator"));
    TRY(tensors_set_metadata(t, "schema", schema));
    TRY(tensors_set_metadata(t, "model", g->kind->name));
    TRY(tensors_set_metadata(t, "channels", channels));
    TRY(tensors_set_metadata(t, "width", width));
    TRY(tensors_set_metadata(t, "weights_sha256", hash));
    TRY(tensors_set_metadata(t, STATEMENT_KEY, STATEMENT_NONE_GENERATOR));
    for (size_t i = 0; i < g->fact_count; i++)
        TRY(tensors_set_metadata(t, g->facts[2 * i], g->facts[2 * i + 1]));
done:
    return status;
}

sotto_status sotto_generator_save(const char *path, const struct sotto_generator *g)
{
    REQUIRE_GIVEN(path, g);
    struct sotto_tensors t = {0};
    sotto_status status = to_tensors(&t, g);
    if (status == SOTTO_OK)
        status = safetensors_save(path, &t);
    sotto_tensors_clear(&t);
    return status;
}

sotto_status generator_save_bytes(void **bytes, size_t *size, const struct sotto_generator *g)
{
    REQUIRE_GIVEN(bytes, size, g);
    struct sotto_tensors t = {0};
    sotto_status status = to_tensors(&t, g);
    if (status == SOTTO_OK)
        status = safetensors_save_bytes(bytes, size, &t);
    sotto_tensors_clear(&t);
    return status;
}

/* A whole number from 1 to `most` of the metadata. */
static sotto_status read_count(size_t *out, const struct sotto_tensors *t, const char *key, size_t most,
                               const char *path)
{
    const char *text = tensors_metadata(t, key);
    char *end = NULL;
    unsigned long value = text && *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
    if (value < 1 || value > most || *end)
        return status_fail(SOTTO_EFORMAT, "%s: metadata '%s' is '%s'; expected a whole number from 1 to %zu",
                           path, key, text ? text : "missing", most);
    *out = value;
    return SOTTO_OK;
}

static sotto_status keep_facts(struct sotto_generator *g, const struct sotto_tensors *t)
{
    static const char *const own[] = {"schema", "model",          "channels",
                                      "width",  "weights_sha256", STATEMENT_KEY};
    sotto_status status = SOTTO_OK;
    for (size_t i = 0; i < t->metadata_count && g->fact_count < GENERATOR_FACTS; i++) {
        bool skip = false;
        for (size_t k = 0; k < sizeof own / sizeof *own; k++)
            skip = skip || strcmp(t->metadata[2 * i], own[k]) == 0;
        if (!skip)
            TRY(generator_add_fact(g, t->metadata[2 * i], t->metadata[2 * i + 1]));
    }
done:
    return status;
}

/* The values must be there before memory for networks of the claimed width is asked for. */
static sotto_status check_size(const struct generator_kind *kind, size_t channels, size_t width,
                               const struct sotto_tensors *t, const char *path)
{
    sotto_status status = SOTTO_OK;
    size_t found = 0, needed;
    TRY(generator_size(&needed, kind, channels, width));
    for (size_t i = 0; i < t->count; i++)
        found += t->items[i].array.count;
    if (found != needed)
        FAIL(SOTTO_EFORMAT, "%s: holds %zu values; a %s of this width has %zu", path, found, kind->name,
             needed);
done:
    return status;
}

static sotto_status from_tensors(struct sotto_generator **out, const struct sotto_tensors *t,
                                 const char *path)
{
    sotto_status status = SOTTO_OK;
    struct sotto_generator *g = NULL;
    const struct generator_kind *kind = NULL;
    size_t channels, width;
    char hash[SHA256_HEX];
    const char *said = tensors_metadata(t, "schema"), *model = tensors_metadata(t, "model"),
               *recorded = tensors_metadata(t, "weights_sha256");
    if (!said || strcmp(said, schema) != 0 || !model)
        FAIL(SOTTO_EFORMAT, "%s: not a generative model of 'sotto generate train'; expected schema %s", path,
             schema);
    status = generator_kind_find(&kind, model);
    if (status != SOTTO_OK)
        FAIL(SOTTO_EFORMAT, "%s: model is '%.40s'; expected dcgan, wgan-gp or vae", path, model);
    TRY(read_count(&channels, t, "channels", 3, path));
    TRY(read_count(&width, t, "width", 256, path));
    if (channels == 2)
        FAIL(SOTTO_EFORMAT, "%s: images have 2 channels; expected 1 or 3", path);
    TRY(check_size(kind, channels, width, t, path));
    TRY(generator_make(&g, kind, channels, width, 0));
    status = nn_model_import(g->maker, t, "maker.", 1);
    if (status == SOTTO_OK)
        status = nn_model_import(g->reader, t, "reader.", 1);
    if (status != SOTTO_OK) {
        status_prefix(path);
        goto done;
    }
    TRY(nn_tensors_sha256(hash, t, path));
    if (!recorded || strcmp(recorded, hash) != 0)
        FAIL(SOTTO_EFORMAT, "%s: the weights do not match their checksum, so the file was changed", path);
    TRY(keep_facts(g, t));
    *out = g;
    g = NULL;
done:
    sotto_generator_free(g);
    return status;
}

sotto_status sotto_generator_load(struct sotto_generator **out, const char *path)
{
    REQUIRE_GIVEN(out, path);
    struct sotto_tensors t = {0};
    sotto_status status = safetensors_load(&t, path);
    if (status == SOTTO_OK)
        status = from_tensors(out, &t, path);
    sotto_tensors_clear(&t);
    return status;
}

sotto_status generator_load_bytes(struct sotto_generator **out, const void *bytes, size_t size)
{
    REQUIRE_GIVEN(out, !size || bytes);
    static const char name[] = "generator in memory";
    struct sotto_tensors t = {0};
    sotto_status status = safetensors_load_bytes(&t, bytes, size, name);
    if (status == SOTTO_OK)
        status = from_tensors(out, &t, name);
    sotto_tensors_clear(&t);
    return status;
}
