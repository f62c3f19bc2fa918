/* A generative model and its file: both networks as "maker." and "reader." tensors under PyTorch's names, and metadata that
 * say which they are and how they were made. Nothing in it depends on the clock. */
#include "generate/generator.h"

#include "io/provenance/statement.h"
#include "rng/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char schema[] = "sotto.generator/1";

sotto_status generator_make(struct sotto_generator **out, const struct generator_kind *kind, size_t channels,
                            size_t width, uint64_t seed)
{
    sotto_status status = SOTTO_OK;
    struct sotto_generator *g = NULL;
    struct nn_model_config maker = {.name = kind->name,
                                    .kind = kind->maker,
                                    .input = {kind->latent, 1, 1},
                                    .hidden_count = 2},
                           reader = {.name = kind->name,
                                     .kind = kind->reader,
                                     .input = {channels, GENERATOR_SIDE, GENERATOR_SIDE},
                                     .hidden_count = 2};
    NEW(g, 1);
    g->kind = kind, g->channels = channels, g->width = width;
    kind->widths(maker.hidden, reader.hidden, width, channels);
    TRY(nn_model_create(&g->maker, &maker, seed));
    TRY(nn_model_create(&g->reader, &reader, seed + 1));
    *out = g;
    g = NULL;
done:
    sotto_generator_free(g);
    return status;
}

void sotto_generator_free(struct sotto_generator *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < 2 * g->fact_count; i++)
        base_free(g->facts[i]);
    nn_model_free(g->maker);
    nn_model_free(g->reader);
    base_free(g);
}

sotto_status generator_add_fact(struct sotto_generator *g, const char *key, const char *value)
{
    sotto_status status = SOTTO_OK;
    char *key_copy = NULL, *value_copy = NULL;
    if (g->fact_count == GENERATOR_FACTS)
        FAIL(SOTTO_EINTERNAL, "generator: too many facts");
    NEW_TEXT(key_copy, key);
    NEW_TEXT(value_copy, value);
    g->facts[2 * g->fact_count] = key_copy, g->facts[2 * g->fact_count + 1] = value_copy;
    g->fact_count++;
    key_copy = value_copy = NULL;
done:
    base_free(key_copy);
    base_free(value_copy);
    return status;
}

void sotto_generator_shape(size_t shape[3], size_t *latent, const char **model,
                           const struct sotto_generator *g)
{
    shape[0] = g->channels, shape[1] = shape[2] = GENERATOR_SIDE;
    if (latent)
        *latent = g->kind->latent;
    if (model)
        *model = g->kind->name;
}

/* ---- images ---- */

sotto_status generator_check_rows(size_t channels, const struct sotto_dataset *data, const int64_t *rows,
                                  size_t n)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(data->images, "data set '%s' contains features; a generative model needs images", data->name);
    REQUIRE(data->channels == channels && (channels == 1 || channels == 3),
            "data set '%s': images have %zu channels; expected %zu", data->name, data->channels,
            channels == 1 || channels == 3 ? channels : 3);
    REQUIRE(data->height <= GENERATOR_SIDE && data->width <= GENERATOR_SIDE,
            "data set '%s': images have %zux%zu pixels; expected at most %dx%d", data->name, data->height,
            data->width, GENERATOR_SIDE, GENERATOR_SIDE);
    REQUIRE(n > 0, "data set '%s': no rows were given; expected at least one", data->name);
    for (size_t i = 0; i < n; i++)
        REQUIRE(rows[i] >= 0 && (uint64_t)rows[i] < data->n,
                "row index %lld (at position %zu) is outside data set '%s' with %zu records",
                (long long)rows[i], i, data->name, data->n);
done:
    return status;
}

void generator_image(float *out, const struct sotto_dataset *data, int64_t row)
{
    size_t channels = data->channels, top = (GENERATOR_SIDE - data->height) / 2,
           left = (GENERATOR_SIDE - data->width) / 2, plane = data->height * data->width;
    const uint8_t *image = data->images + (size_t)row * channels * plane;
    for (size_t i = 0; i < GENERATOR_SIDE * GENERATOR_SIDE * channels; i++)
        out[i] = -1;
    for (size_t y = 0; y < data->height; y++)
        for (size_t x = 0; x < data->width; x++)
            for (size_t c = 0; c < channels; c++)
                out[((y + top) * GENERATOR_SIDE + x + left) * channels + c] =
                    (float)image[c * plane + y * data->width + x] / 127.5F - 1;
}

void generator_to_planes(float *out, const float *image, size_t channels)
{
    const size_t pixels = GENERATOR_SIDE * GENERATOR_SIDE;
    for (size_t i = 0; i < pixels; i++)
        for (size_t c = 0; c < channels; c++)
            out[c * pixels + i] = image[i * channels + c];
}

void generator_latent(float *z, size_t count, uint64_t seed, uint64_t step, uint64_t index)
{
    struct rng r = rng_stream(seed, RNG_LATENT, step, index);
    for (size_t k = 0; k < count; k++)
        z[k] = (float)rng_normal(&r);
}

sotto_status sotto_generator_records(float *records, const struct sotto_generator *g,
                                     const struct sotto_dataset *data, const int64_t *rows, size_t n)
{
    sotto_status status = SOTTO_OK;
    float *image = NULL;
    size_t pixels = GENERATOR_SIDE * GENERATOR_SIDE * g->channels;
    TRY(generator_check_rows(g->channels, data, rows, n));
    NEW(image, pixels);
    for (size_t i = 0; i < n; i++) {
        generator_image(image, data, rows[i]);
        generator_to_planes(records + i * pixels, image, g->channels);
    }
done:
    base_free(image);
    return status;
}

/* ---- files ---- */

static sotto_status export_networks(struct sotto_tensors *t, const struct sotto_generator *g)
{
    sotto_status status = SOTTO_OK;
    TRY(nn_model_export(t, g->maker, "maker.", 1));
    TRY(nn_model_export(t, g->reader, "reader.", 1));
done:
    return status;
}

sotto_status sotto_generator_save(const char *path, const struct sotto_generator *g)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors t = {0};
    char channels[32], width[32], hash[SHA256_HEX];
    snprintf(channels, sizeof channels, "%zu", g->channels);
    snprintf(width, sizeof width, "%zu", g->width);
    TRY(export_networks(&t, g));
    TRY(nn_tensors_sha256(hash, &t, "generator"));
    TRY(sotto_tensors_set_metadata(&t, "schema", schema));
    TRY(sotto_tensors_set_metadata(&t, "model", g->kind->name));
    TRY(sotto_tensors_set_metadata(&t, "channels", channels));
    TRY(sotto_tensors_set_metadata(&t, "width", width));
    TRY(sotto_tensors_set_metadata(&t, "weights_sha256", hash));
    TRY(sotto_tensors_set_metadata(&t, STATEMENT_KEY, STATEMENT_NONE_GENERATOR));
    for (size_t i = 0; i < g->fact_count; i++)
        TRY(sotto_tensors_set_metadata(&t, g->facts[2 * i], g->facts[2 * i + 1]));
    TRY(sotto_safetensors_save(path, &t));
done:
    sotto_tensors_clear(&t);
    return status;
}

/* A whole number from 1 to `most` of the metadata. */
static sotto_status read_count(size_t *out, const struct sotto_tensors *t, const char *key, size_t most,
                               const char *path)
{
    const char *text = sotto_tensors_metadata(t, key);
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

sotto_status sotto_generator_load(struct sotto_generator **out, const char *path)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors t = {0};
    struct sotto_generator *g = NULL;
    const struct generator_kind *kind = NULL;
    size_t channels, width, found = 0, needed = 0;
    char hash[SHA256_HEX];
    TRY(sotto_safetensors_load(&t, path));
    const char *said = sotto_tensors_metadata(&t, "schema"), *model = sotto_tensors_metadata(&t, "model"),
               *recorded = sotto_tensors_metadata(&t, "weights_sha256");
    if (!said || strcmp(said, schema) != 0 || !model)
        FAIL(SOTTO_EFORMAT, "%s: not a generative model of 'sotto generate train'; expected schema %s", path,
             schema);
    status = generator_kind_find(&kind, model);
    if (status != SOTTO_OK)
        FAIL(SOTTO_EFORMAT, "%s: model is '%.40s'; expected dcgan, wgan-gp or vae", path, model);
    TRY(read_count(&channels, &t, "channels", 3, path));
    TRY(read_count(&width, &t, "width", 256, path));
    TRY(generator_make(&g, kind, channels, width, 0));
    for (size_t i = 0; i < t.count; i++)
        found += t.items[i].array.count;
    for (size_t i = 0; i < g->maker->parameter_count; i++)
        needed += g->maker->parameters[i].count;
    for (size_t i = 0; i < g->reader->parameter_count; i++)
        needed += g->reader->parameters[i].count;
    if (found != needed)
        FAIL(SOTTO_EFORMAT, "%s: holds %zu values; a %s of this width has %zu", path, found, model, needed);
    status = nn_model_import(g->maker, &t, "maker.", 1);
    if (status == SOTTO_OK)
        status = nn_model_import(g->reader, &t, "reader.", 1);
    if (status != SOTTO_OK) {
        status_prefix(path);
        goto done;
    }
    TRY(nn_tensors_sha256(hash, &t, path));
    if (!recorded || strcmp(recorded, hash) != 0)
        FAIL(SOTTO_EFORMAT, "%s: the weights do not match their checksum, so the file was changed", path);
    TRY(keep_facts(g, &t));
    *out = g;
    g = NULL;
done:
    sotto_tensors_clear(&t);
    sotto_generator_free(g);
    return status;
}
