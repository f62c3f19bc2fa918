#include "head/model/head_model.h"
#include "sotto/lab/head.h"

#include <string.h>

sotto_status head_create(struct sotto_head **out, size_t layers, const size_t *width)
{
    sotto_status status = SOTTO_OK;
    struct sotto_head *h = NULL;
    size_t count = 0;
    for (size_t l = 0; l < layers; l++) {
        size_t inputs, weights;
        REQUIRE(width[l] > 0 && width[l + 1] > 0,
                "head: layer %zu is %zu x %zu; every width must be at least 1", l, width[l + 1], width[l]);
        REQUIRE(size_add(&inputs, width[l], 1) && size_multiply(&weights, inputs, width[l + 1]) &&
                    size_add(&count, count, weights),
                "head: layer %zu is %zu x %zu; its size does not fit in memory", l, width[l + 1], width[l]);
    }
    NEW(h, 1);
    NEW(h->parameters, count);
    h->layers = layers;
    memcpy(h->width, width, (layers + 1) * sizeof *width);
    h->count = count;
    *out = h;
    h = NULL;
done:
    sotto_head_free(h);
    return status;
}

void sotto_head_free(struct sotto_head *h)
{
    if (!h)
        return;
    if (h->parameters)
        base_wipe(h->parameters, h->count * sizeof *h->parameters); /* weights of a private model */
    base_free(h->parameters);
    base_free(h->encoding);
    base_free(h);
}

sotto_status sotto_head_copy(struct sotto_head **out, const struct sotto_head *h)
{
    REQUIRE_GIVEN(out, h);
    struct sotto_head *copy = NULL;
    sotto_status status = head_create(&copy, h->layers, h->width);
    if (status != SOTTO_OK)
        return status;
    float *parameters = copy->parameters;
    memcpy(parameters, h->parameters, h->count * sizeof *parameters);
    *copy = *h;
    copy->parameters = parameters;
    copy->encoding = NULL;
    status = h->encoding ? head_set_encoding(copy, h->encoding) : SOTTO_OK;
    if (status != SOTTO_OK) {
        sotto_head_free(copy);
        return status;
    }
    *out = copy;
    return SOTTO_OK;
}

size_t head_offset(const struct sotto_head *h, size_t l)
{
    size_t offset = 0;
    for (size_t i = 0; i < l; i++)
        offset += (h->width[i] + 1) * h->width[i + 1];
    return offset;
}

size_t sotto_head_inputs(const struct sotto_head *h)
{
    GIVEN_OR(0, h);
    return h->width[0];
}

size_t sotto_head_classes(const struct sotto_head *h)
{
    GIVEN_OR(0, h);
    return h->width[h->layers];
}

float *sotto_head_parameters(struct sotto_head *h, size_t *count)
{
    GIVEN_OR(NULL, h, count);
    *count = h->count;
    return h->parameters;
}

const char *sotto_head_data_sha256(const struct sotto_head *h)
{
    GIVEN_OR(NULL, h);
    return h->data_sha256;
}

const char *sotto_head_recipe_hash(const struct sotto_head *h)
{
    GIVEN_OR(NULL, h);
    return h->recipe_hash;
}

size_t sotto_head_records(const struct sotto_head *h)
{
    GIVEN_OR(0, h);
    return h->records;
}

const struct sotto_head_recipe *sotto_head_get_recipe(const struct sotto_head *h)
{
    GIVEN_OR(NULL, h);
    return h->has_recipe ? &h->stated : NULL;
}

const char *sotto_head_encoder(const struct sotto_head *h)
{
    GIVEN_OR(NULL, h);
    return h->encoder;
}

sotto_status head_set_encoder(struct sotto_head *h, const char *sha256)
{
    REQUIRE_GIVEN(h, sha256);
    sotto_status status = SOTTO_OK;
    size_t length = strlen(sha256);
    REQUIRE(length == 0 || (length == 64 && strspn(sha256, "0123456789abcdef") == 64),
            "encoder hash '%s': expected 64 lower-case hexadecimal digits", sha256);
    memcpy(h->encoder, sha256, length + 1);
done:
    return status;
}

sotto_status sotto_head_set_classes_by(struct sotto_head *h, const char *classes_by)
{
    REQUIRE_GIVEN(h, classes_by);
    sotto_status status = SOTTO_OK;
    REQUIRE(strlen(classes_by) < sizeof h->classes_by, "classes_by has %zu bytes; expected less than %zu",
            strlen(classes_by), sizeof h->classes_by);
    strcpy(h->classes_by, classes_by);
done:
    return status;
}

const char *sotto_head_encoding(const struct sotto_head *h)
{
    GIVEN_OR(NULL, h);
    return h->encoding;
}

sotto_status head_set_encoding(struct sotto_head *h, const char *json)
{
    REQUIRE_GIVEN(h, json);
    sotto_status status = SOTTO_OK;
    char *copy = NULL;
    NEW_TEXT(copy, json);
    base_free(h->encoding);
    h->encoding = copy;
done:
    return status;
}
