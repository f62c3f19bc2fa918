/* A head as a file that PyTorch can read: the tensors of nn.Sequential(Linear, ReLU, Linear, ...); its
 * linear layers have even numbers. Metadata carries what a tensor cannot say; docs/FORMATS.md lists
 * it. */
#include "head/model/head_model.h"
#include "io/array/safetensors.h"
#include "io/array/tensors.h"
#include "io/provenance/statement.h"
#include "sotto/lab/head.h"
#include "sotto/private/io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char format_key[] = "format", format_name[] = "sotto.head/1", checksum_key[] = "training_sha256";

static sotto_status set_known(struct sotto_tensors *t, const char *key, const char *value)
{
    return value[0] ? tensors_set_metadata(t, key, value) : SOTTO_OK;
}

void head_checksum(char out[SHA256_HEX], const struct sotto_head *h)
{
    char text[512];
    struct sha256 sum;
    int length =
        snprintf(text, sizeof text, "sotto head 1: recipe %s, records %zu, data %s, encoder %s, values %zu\n",
                 h->recipe_hash, h->records, h->data_sha256, h->encoder, h->count);
    sha256_init(&sum);
    sha256_update(&sum, text, (size_t)length);
    sha256_update(&sum, h->parameters, h->count * sizeof *h->parameters);
    sha256_hex(&sum, out);
}

static sotto_status set_metadata(struct sotto_tensors *t, const struct sotto_head *h)
{
    sotto_status status = SOTTO_OK;
    char recipe[HEAD_RECIPE_TEXT] = "", records[32] = "", classes[32] = "", checksum[SHA256_HEX] = "";
    if (h->classes_by[0])
        snprintf(classes, sizeof classes, "%zu", sotto_head_classes(h));
    if (h->bound)
        head_checksum(checksum, h);
    if (h->records)
        snprintf(records, sizeof records, "%zu", h->records);
    if (h->has_recipe)
        head_recipe_text(recipe, &h->recipe, sotto_head_inputs(h), sotto_head_classes(h));
    TRY(set_known(t, format_key, format_name));
    TRY(set_known(t, "recipe", recipe));
    TRY(set_known(t, "recipe_hash", h->recipe_hash));
    TRY(set_known(t, "data_fingerprint", h->data_sha256));
    TRY(set_known(t, "encoder_sha256", h->encoder));
    TRY(set_known(t, "encoding", h->encoding ? h->encoding : ""));
    TRY(set_known(t, "records", records));
    TRY(set_known(t, "classes", classes));
    TRY(set_known(t, "classes_given_by", h->classes_by));
    TRY(set_known(t, checksum_key, checksum));
    TRY(set_known(t, "isa", h->isa));
    TRY(set_known(t, STATEMENT_KEY, h->no_statement ? STATEMENT_NONE : ""));
    TRY(set_known(t, RELEASED_ENTRY_KEY, h->released.entry));
    TRY(set_known(t, RELEASED_TEXT_KEY, h->released.text));
    TRY(set_known(t, "threads", h->isa[0] ? "1" : "")); /* a head trains on one thread, whatever the pool */
done:
    return status;
}

static sotto_status head_tensors(struct sotto_tensors *t, const struct sotto_head *h)
{
    sotto_status status = SOTTO_OK;
    for (size_t l = 0; l < h->layers; l++) {
        char name[32];
        size_t shape[2] = {h->width[l + 1], h->width[l]};
        const float *weights = h->parameters + head_offset(h, l);
        snprintf(name, sizeof name, "%zu.weight", 2 * l);
        TRY(tensors_add(t, name, SOTTO_F4, 2, shape, weights));
        snprintf(name, sizeof name, "%zu.bias", 2 * l);
        TRY(tensors_add(t, name, SOTTO_F4, 1, shape, weights + shape[0] * shape[1]));
    }
    TRY(set_metadata(t, h));
done:
    return status;
}

sotto_status sotto_head_save(const char *path, const struct sotto_head *h)
{
    REQUIRE_GIVEN(path, h);
    struct sotto_tensors t = {0};
    sotto_status status = head_tensors(&t, h);
    if (status == SOTTO_OK)
        status = safetensors_save(path, &t);
    sotto_tensors_clear(&t);
    return status;
}

sotto_status sotto_head_save_bytes(void **bytes, size_t *size, const struct sotto_head *h)
{
    REQUIRE_GIVEN(bytes, size, h);
    struct sotto_tensors t = {0};
    sotto_status status = head_tensors(&t, h);
    if (status == SOTTO_OK)
        status = safetensors_save_bytes(bytes, size, &t);
    sotto_tensors_clear(&t);
    return status;
}

static struct sotto_array *layer_tensor(const struct sotto_tensors *t, size_t l, const char *part,
                                        char name[32])
{
    snprintf(name, 32, "%zu.%s", 2 * l, part);
    return tensors_find(t, name);
}

/* Widths from the weights, chained: each layer takes what the one before gives. */
static sotto_status read_widths(size_t *layers, size_t width[HEAD_MAX_LAYERS + 1],
                                const struct sotto_tensors *t, const char *path)
{
    sotto_status status = SOTTO_OK;
    char name[32];
    size_t l = 0;
    for (; l < HEAD_MAX_LAYERS; l++) {
        const struct sotto_array *w = layer_tensor(t, l, "weight", name);
        if (!w)
            break;
        if (w->ndim != 2 || w->shape[0] == 0 || w->shape[1] == 0)
            FAIL(SOTTO_EFORMAT, "%s: tensor '%s' has %d dimensions or an empty one; expected shape (out, in)",
                 path, name, w->ndim);
        if (l > 0 && w->shape[1] != width[l])
            FAIL(SOTTO_EFORMAT,
                 "%s: tensor '%s' takes %zu inputs; expected %zu, the outputs of the layer before", path,
                 name, w->shape[1], width[l]);
        width[l] = w->shape[1];
        width[l + 1] = w->shape[0];
        const struct sotto_array *b = layer_tensor(t, l, "bias", name);
        if (!b || b->ndim != 1 || b->shape[0] != width[l + 1])
            FAIL(SOTTO_EFORMAT, "%s: tensor '%s' is %s; expected shape (%zu)", path, name,
                 b ? "of another shape" : "missing", width[l + 1]);
    }
    if (l == 0)
        FAIL(SOTTO_EFORMAT,
             "%s: tensor '0.weight' is missing; expected the tensors of a head: 0.weight, 0.bias, 2.weight, "
             "...",
             path);
    for (size_t i = 0; i < t->count && t->count != 2 * l; i++) {
        bool known = false;
        for (size_t k = 0; k < l && !known; k++)
            known = layer_tensor(t, k, "weight", name) == &t->items[i].array ||
                    layer_tensor(t, k, "bias", name) == &t->items[i].array;
        if (!known)
            FAIL(SOTTO_EFORMAT, "%s: tensor '%.64s' does not belong to a head of %zu linear layers", path,
                 t->items[i].name, l);
    }
    if (width[l] < 2)
        FAIL(SOTTO_EFORMAT, "%s: the last layer has %zu output; expected at least 2 classes", path, width[l]);
    *layers = l;
done:
    return status;
}

static sotto_status copy_tensor(float *out, struct sotto_array *a, const char *path, const char *name)
{
    sotto_status status = SOTTO_OK;
    if (a->dtype != SOTTO_F2 && a->dtype != SOTTO_F4 && a->dtype != SOTTO_F8)
        FAIL(SOTTO_EFORMAT, "%s: tensor '%s' is of type %s; expected floats", path, name,
             sotto_dtype_name(a->dtype));
    TRY(sotto_array_convert(a, SOTTO_F4));
    const float *values = a->data;
    for (size_t i = 0; i < a->count; i++)
        if (!isfinite(values[i]))
            FAIL(SOTTO_EFORMAT, "%s: tensor '%s' is not finite at index %zu; weights must be finite", path,
                 name, i);
    memcpy(out, values, a->count * sizeof *values);
done:
    return status;
}

static sotto_status copy_hash(char out[SHA256_HEX], const struct sotto_tensors *t, const char *key,
                              const char *path)
{
    const char *text = tensors_metadata(t, key);
    if (!text)
        return SOTTO_OK;
    if (strlen(text) != 64 || strspn(text, "0123456789abcdef") != 64)
        return status_fail(SOTTO_EFORMAT,
                           "%s: metadata '%s' is not a SHA-256 in lower-case hexadecimal digits", path, key);
    memcpy(out, text, SHA256_HEX);
    return SOTTO_OK;
}

static sotto_status copy_text(char *out, size_t capacity, const struct sotto_tensors *t, const char *key,
                              const char *path)
{
    const char *text = tensors_metadata(t, key);
    if (!text)
        return SOTTO_OK;
    if (strlen(text) >= capacity)
        return status_fail(SOTTO_EFORMAT, "%s: metadata '%s' has %zu bytes; expected at most %zu", path, key,
                           strlen(text), capacity - 1);
    memcpy(out, text, strlen(text) + 1);
    return SOTTO_OK;
}

static sotto_status read_recipe(struct sotto_head *h, const struct sotto_tensors *t, const char *path)
{
    sotto_status status = SOTTO_OK;
    const char *text = tensors_metadata(t, "recipe");
    char hash[SHA256_HEX], canonical[HEAD_RECIPE_TEXT];
    if (!text)
        goto done;
    size_t inputs, classes;
    struct sotto_head_recipe read;
    TRY(head_recipe_parse(&read, &inputs, &classes, text, path));
    head_take_recipe(h, &read);
    head_recipe_text(canonical, &h->recipe, sotto_head_inputs(h), sotto_head_classes(h));
    sha256_of(hash, canonical, strlen(canonical));
    bool fits = h->recipe.hidden_count + 1 == h->layers;
    for (size_t l = 1; fits && l < h->layers; l++)
        fits = h->recipe.hidden[l - 1] == h->width[l];
    if (!fits || strcmp(hash, h->recipe_hash) != 0 || strcmp(canonical, text) != 0)
        FAIL(SOTTO_EFORMAT, "%s: the recipe in the metadata does not match the tensors or its hash", path);
done:
    return status;
}

static sotto_status read_records(struct sotto_head *h, const struct sotto_tensors *t, const char *path)
{
    sotto_status status = SOTTO_OK;
    const char *text = tensors_metadata(t, "records");
    if (!text)
        goto done;
    char *end;
    unsigned long long n = strtoull(text, &end, 10);
    if (text[0] < '1' || text[0] > '9' || *end || n > INT64_MAX)
        FAIL(SOTTO_EFORMAT, "%s: metadata 'records' is '%.32s'; expected a whole number of at least 1", path,
             text);
    h->records = (size_t)n;
done:
    return status;
}

static sotto_status check_binding(struct sotto_head *h, const struct sotto_tensors *t, const char *path)
{
    char checksum[SHA256_HEX];
    const char *found = tensors_metadata(t, checksum_key);
    if (!found)
        return SOTTO_OK;
    head_checksum(checksum, h);
    if (strcmp(found, checksum) != 0)
        return status_fail(SOTTO_EFORMAT,
                           "%s: weights, recipe, records, data or encoder were changed after training (their "
                           "checksum '%s' does not match)",
                           path, checksum_key);
    h->bound = true;
    return SOTTO_OK;
}

sotto_status head_from_tensors(struct sotto_head **out, struct sotto_tensors *t, const char *path)
{
    sotto_status status = SOTTO_OK;
    struct sotto_head *h = NULL;
    size_t layers = 0, width[HEAD_MAX_LAYERS + 1];
    const char *format = tensors_metadata(t, format_key);
    /* PyTorch's own writer says "pt" here. */
    if (format && strncmp(format, "sotto.", 6) == 0 && strcmp(format, format_name) != 0)
        FAIL(SOTTO_EFORMAT, "%s: the format is %.64s; expected %s", path, format, format_name);
    TRY(read_widths(&layers, width, t, path));
    TRY(head_create(&h, layers, width));
    for (size_t l = 0; l < layers; l++) {
        char name[32];
        float *weights = h->parameters + head_offset(h, l);
        struct sotto_array *w = layer_tensor(t, l, "weight", name);
        TRY(copy_tensor(weights, w, path, name));
        struct sotto_array *b = layer_tensor(t, l, "bias", name);
        TRY(copy_tensor(weights + w->count, b, path, name));
    }
    TRY(copy_hash(h->recipe_hash, t, "recipe_hash", path));
    TRY(copy_hash(h->data_sha256, t, "data_fingerprint", path));
    TRY(copy_hash(h->encoder, t, "encoder_sha256", path));
    TRY(read_recipe(h, t, path));
    TRY(read_records(h, t, path));
    TRY(check_binding(h, t, path));
    const char *encoding = tensors_metadata(t, "encoding");
    if (encoding)
        TRY(head_set_encoding(h, encoding));
    h->no_statement = statement_is_none(t);
    TRY(copy_text(h->classes_by, sizeof h->classes_by, t, "classes_given_by", path));
    TRY(copy_text(h->isa, sizeof h->isa, t, "isa", path));
    TRY(copy_hash(h->released.entry, t, RELEASED_ENTRY_KEY, path));
    TRY(copy_text(h->released.text, sizeof h->released.text, t, RELEASED_TEXT_KEY, path));
    *out = h;
    h = NULL;
done:
    sotto_head_free(h);
    return status;
}

sotto_status sotto_head_load(struct sotto_head **out, const char *path)
{
    REQUIRE_GIVEN(out, path);
    struct sotto_tensors t = {0};
    sotto_status status = safetensors_load(&t, path);
    if (status == SOTTO_OK)
        status = head_from_tensors(out, &t, path);
    sotto_tensors_clear(&t);
    return status;
}

sotto_status sotto_head_load_bytes(struct sotto_head **out, const void *bytes, size_t size)
{
    REQUIRE_GIVEN(out, !size || bytes);
    static const char name[] = "head in memory";
    struct sotto_tensors t = {0};
    sotto_status status = safetensors_load_bytes(&t, bytes, size, name);
    if (status == SOTTO_OK)
        status = head_from_tensors(out, &t, name);
    sotto_tensors_clear(&t);
    return status;
}
