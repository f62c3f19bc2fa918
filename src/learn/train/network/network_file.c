/* A network's file is one .safetensors: every weight and running statistic under PyTorch-mappable names, and
 * metadata that say which network they belong to and how they were made. Nothing in it depends on the clock,
 * so equal runs give equal bytes. */
#include "io/array/safetensors.h"
#include "io/array/tensors.h"
#include "train/network/network.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char schema[] = "sotto.model/1";
static const char *const own_keys[] = {"schema",  "model",          "hidden", "norm",     "input",
                                       "classes", "weights_sha256", "recipe", "residual", "network_input"};

bool network_is(const struct sotto_tensors *t)
{
    const char *found = tensors_metadata(t, "schema");
    return found && strncmp(found, "sotto.model/", strlen("sotto.model/")) == 0;
}

/* ---- writing ---- */

static sotto_status set_architecture(struct sotto_tensors *t, const struct sotto_network *n)
{
    sotto_status status = SOTTO_OK;
    char input[80], classes[24], hidden[SOTTO_TRAIN_HIDDEN * 24 + 1] = "", residual[TRAIN_RESIDUAL_TEXT];
    struct nn_shape usual;
    size_t used = 0;
    snprintf(input, sizeof input, "%zux%zux%zu", n->record.channels, n->record.height, n->record.width);
    snprintf(classes, sizeof classes, "%zu", n->config.classes);
    for (size_t i = 0; i < n->config.hidden_count; i++)
        used +=
            (size_t)snprintf(hidden + used, sizeof hidden - used, "%s%zu", i ? "," : "", n->config.hidden[i]);
    TRY(tensors_set_metadata(t, "schema", schema));
    TRY(tensors_set_metadata(t, "model", n->config.name));
    TRY(tensors_set_metadata(t, "input", input));
    TRY(tensors_set_metadata(t, "classes", classes));
    if (n->config.hidden_count)
        TRY(tensors_set_metadata(t, "hidden", hidden));
    if (strncmp(n->config.name, "resnet", 6) == 0)
        TRY(tensors_set_metadata(t, "norm", n->config.norm));
    TRY(record_padding(&usual, n->config.name, n->record));
    if (memcmp(&usual, &n->config.input, sizeof usual) != 0) { /* an encoder's */
        snprintf(input, sizeof input, "%zux%zux%zu", n->config.input.channels, n->config.input.height,
                 n->config.input.width);
        TRY(tensors_set_metadata(t, "network_input", input));
    }
    struct sotto_residual_noise noise = train_residual_of(&n->config);
    TRY(train_residual_text(residual, &noise));
    if (residual[0])
        TRY(tensors_set_metadata(t, "residual", residual));
    TRY(tensors_set_metadata(t, "weights_sha256", n->weights_sha256));
done:
    return status;
}

static sotto_status network_tensors(struct sotto_tensors *t, const struct sotto_network *n)
{
    sotto_status status = SOTTO_OK;
    char recipe[TRAIN_RECIPE_TEXT];
    TRY(nn_model_export(t, n->model, "", 1));
    TRY(set_architecture(t, n));
    if (n->has_recipe) {
        TRY(train_recipe_text(recipe, &n->recipe));
        TRY(tensors_set_metadata(t, "recipe", recipe));
    }
    for (size_t i = 0; i < n->fact_count; i++)
        TRY(tensors_set_metadata(t, n->facts[2 * i], n->facts[2 * i + 1]));
done:
    return status;
}

sotto_status network_snapshot_path(char *out, size_t capacity, const char *folder, size_t epoch)
{
    char name[48];
    snprintf(name, sizeof name, "epoch-%06zu.safetensors", epoch);
    return path_join(out, capacity, folder, name);
}

sotto_status sotto_network_save(const char *path, const struct sotto_network *n)
{
    REQUIRE_GIVEN(path, n);
    struct sotto_tensors t = {0};
    sotto_status status = network_tensors(&t, n);
    if (status == SOTTO_OK)
        status = safetensors_save(path, &t);
    sotto_tensors_clear(&t);
    return status;
}

sotto_status sotto_network_save_bytes(void **bytes, size_t *size, const struct sotto_network *n)
{
    REQUIRE_GIVEN(bytes, size, n);
    struct sotto_tensors t = {0};
    sotto_status status = network_tensors(&t, n);
    if (status == SOTTO_OK)
        status = safetensors_save_bytes(bytes, size, &t);
    sotto_tensors_clear(&t);
    return status;
}

/* ---- reading ---- */

static sotto_status require_metadata(const char **out, const struct sotto_tensors *t, const char *key,
                                     const char *path)
{
    *out = tensors_metadata(t, key);
    if (*out)
        return SOTTO_OK;
    sotto_status status =
        status_fail(SOTTO_EFORMAT, "%s: metadata '%s' is missing; expected the file of a network", path, key);
    status_hint("a network made by another program needs the metadata schema %s, model (such as resnet8), "
                "input (such as 3x32x32) and classes",
                schema);
    return status;
}

/* Whole numbers of 1 to `most`, `separator` between them. */
static sotto_status read_sizes(size_t *out, size_t *count, size_t capacity, size_t most, const char *text,
                               char separator)
{
    const char *at = text;
    for (*count = 0;;) {
        char *end;
        unsigned long value = *at >= '1' && *at <= '9' ? strtoul(at, &end, 10) : 0;
        if (value == 0 || value > most || *count == capacity || (*end && *end != separator))
            return SOTTO_EFORMAT;
        out[(*count)++] = value;
        if (!*end)
            return SOTTO_OK;
        at = end + 1;
    }
}

static sotto_status read_architecture(struct sotto_train_options *o, struct nn_shape *record, size_t *classes,
                                      const struct sotto_tensors *t, const char *path)
{
    sotto_status status = SOTTO_OK;
    const char *input, *count, *hidden = tensors_metadata(t, "hidden");
    size_t sizes[3], found;
    sotto_train_defaults(o);
    TRY(require_metadata(&o->model, t, "model", path));
    TRY(require_metadata(&input, t, "input", path));
    TRY(require_metadata(&count, t, "classes", path));
    if (read_sizes(sizes, &found, 3, 1 << 24, input, 'x') != SOTTO_OK || found != 3)
        FAIL(SOTTO_EFORMAT,
             "%s: metadata 'input' is '%.64s'; expected channels x height x width such as 3x32x32", path,
             input);
    *record = (struct nn_shape){sizes[0], sizes[1], sizes[2]};
    if (read_sizes(classes, &found, 1, 1 << 20, count, ',') != SOTTO_OK || *classes < 2)
        FAIL(SOTTO_EFORMAT, "%s: metadata 'classes' is '%.64s'; expected a whole number of at least 2", path,
             count);
    if (hidden &&
        read_sizes(o->hidden, &o->hidden_count, SOTTO_TRAIN_HIDDEN, 1 << 16, hidden, ',') != SOTTO_OK)
        FAIL(SOTTO_EFORMAT, "%s: metadata 'hidden' is '%.64s'; expected widths such as 32,64,128", path,
             hidden);
    if (tensors_metadata(t, "norm"))
        o->norm = tensors_metadata(t, "norm");
    if (tensors_metadata(t, "residual"))
        TRY(train_residual_parse(&o->residual, tensors_metadata(t, "residual"), path));
    if (train_options_check(o) != SOTTO_OK) {
        status_prefix(path);
        status = SOTTO_EFORMAT;
    }
done:
    return status;
}

/* Of a network that began as an encoder: padded images, and grey ones in three channels. */
static sotto_status read_input(struct nn_model_config *config, struct nn_shape record,
                               const struct sotto_tensors *t)
{
    sotto_status status = SOTTO_OK;
    const char *text = tensors_metadata(t, "network_input");
    size_t sizes[3], found;
    config->normalised = nn_tensors_normalised(t);
    if (!text)
        goto done;
    REQUIRE(read_sizes(sizes, &found, 3, 1 << 14, text, 'x') == SOTTO_OK && found == 3 &&
                (sizes[0] == record.channels || record.channels == 1) && sizes[1] >= record.height &&
                sizes[2] >= record.width,
            "metadata 'network_input' is '%.64s'; expected channels x height x width of the input or more",
            text);
    config->input = (struct nn_shape){sizes[0], sizes[1], sizes[2]};
done:
    return status;
}

/* The values must be there before memory for a network of the claimed size is asked for. */
static sotto_status check_size(const struct nn_model_config *config, const struct sotto_tensors *t)
{
    sotto_status status = SOTTO_OK;
    size_t expected = 0, found = 0;
    TRY(nn_model_size(&expected, NULL, config));
    for (size_t i = 0; i < t->count; i++)
        found += t->items[i].array.count;
    REQUIRE(found == expected, "contains %zu values, but model %s as described has %zu", found, config->name,
            expected);
done:
    return status;
}

/* The backend that its metadata names, as a static name; NULL: it names none. */
static const char *backend_of(const struct sotto_tensors *t)
{
    char title[128];
    const char *machine = tensors_metadata(t, "machine"),
               *line = machine ? strstr(machine, "backend=") : NULL;
    if (!line)
        return NULL;
    line += strlen("backend=");
    snprintf(title, sizeof title, "%.*s", (int)strcspn(line, "\n"), line);
    const char *name = nn_backend_of_title(title);
    return name[0] ? name : NULL;
}

static sotto_status read_recipe(struct sotto_network *n, const struct sotto_tensors *t, const char *path)
{
    sotto_status status = SOTTO_OK;
    const char *text = tensors_metadata(t, "recipe");
    char stated[TRAIN_RESIDUAL_TEXT], built[TRAIN_RESIDUAL_TEXT];
    if (!text)
        goto done;
    struct sotto_train_options recipe, *r = &recipe;
    TRY(train_recipe_parse(r, text, path));
    struct sotto_residual_noise noise = train_residual_of(&n->config);
    noise.independent = r->residual.independent; /* a matter of training alone */
    TRY(train_residual_text(stated, &r->residual));
    TRY(train_residual_text(built, &noise));
    if (strcmp(stated, built) != 0 || strcmp(r->model, n->config.name) != 0 ||
        strcmp(r->norm, n->config.norm) != 0 || r->hidden_count != n->config.hidden_count ||
        memcmp(r->hidden, n->config.hidden, r->hidden_count * sizeof *r->hidden) != 0)
        FAIL(SOTTO_EFORMAT,
             "%s: the recipe in the metadata describes another network than the other metadata", path);
    r->backend = backend_of(t);
    if (n->record.height > 1 || n->record.width > 1) {
        r->channels = n->record.channels;
        r->height = n->record.height;
        r->width = n->record.width;
    }
    network_take_recipe(n, r);
done:
    return status;
}

static sotto_status keep_facts(struct sotto_network *n, const struct sotto_tensors *t)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = 0; i < t->metadata_count && n->fact_count < NETWORK_FACTS; i++) {
        const char *key = t->metadata[2 * i];
        bool skip = false;
        for (size_t k = 0; k < sizeof own_keys / sizeof *own_keys; k++)
            skip |= strcmp(key, own_keys[k]) == 0;
        if (!skip)
            TRY(network_add_fact(n, key, t->metadata[2 * i + 1]));
    }
done:
    return status;
}

sotto_status network_from_tensors(struct sotto_network **out, const struct sotto_tensors *t, const char *path)
{
    sotto_status status = SOTTO_OK;
    struct sotto_train_options o;
    struct nn_model_config config;
    struct nn_shape record;
    struct nn_model *model = NULL;
    struct sotto_network *n = NULL;
    const char *found;
    size_t classes;
    TRY(require_metadata(&found, t, "schema", path));
    if (strcmp(found, schema) != 0)
        FAIL(SOTTO_EFORMAT, "%s: schema is '%.64s'; expected '%s'", path, found, schema);
    TRY(read_architecture(&o, &record, &classes, t, path));
    status = train_model_config(&config, &o, record, classes);
    if (status == SOTTO_OK)
        status = read_input(&config, record, t);
    config.standardise = tensors_metadata(t, TRAIN_STANDARDISE_KEY) != NULL;
    if (status == SOTTO_OK)
        status = check_size(&config, t);
    if (status == SOTTO_OK)
        status = nn_model_create_blank(&model, &config);
    if (status == SOTTO_OK)
        status = nn_model_import(model, t, "", 1);
    if (status == SOTTO_OK) {
        struct nn_model *taken = model;
        model = NULL;
        status = network_wrap(&n, taken, &config, record);
    }
    if (status != SOTTO_OK) {
        status_prefix(path);
        status = status == SOTTO_ENOMEM ? status : SOTTO_EFORMAT;
        goto done;
    }
    found = tensors_metadata(t, "weights_sha256");
    if (found && strcmp(found, n->weights_sha256) != 0)
        FAIL(SOTTO_EFORMAT, "%s: the weights do not match their checksum, so the file was changed", path);
    TRY(read_recipe(n, t, path));
    TRY(keep_facts(n, t));
    *out = n;
    n = NULL;
done:
    nn_model_free(model);
    sotto_network_free(n);
    return status;
}

sotto_status sotto_network_load(struct sotto_network **out, const char *path)
{
    REQUIRE_GIVEN(out, path);
    struct sotto_tensors t = {0};
    sotto_status status = safetensors_load(&t, path);
    if (status == SOTTO_OK)
        status = network_from_tensors(out, &t, path);
    sotto_tensors_clear(&t);
    return status;
}

sotto_status sotto_network_load_bytes(struct sotto_network **out, const void *bytes, size_t size)
{
    REQUIRE_GIVEN(out, !size || bytes);
    static const char name[] = "network in memory";
    struct sotto_tensors t = {0};
    sotto_status status = safetensors_load_bytes(&t, bytes, size, name);
    if (status == SOTTO_OK)
        status = network_from_tensors(out, &t, name);
    sotto_tensors_clear(&t);
    return status;
}
