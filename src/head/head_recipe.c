/* A recipe's canonical text is what its hash is taken of, so its form is fixed: sorted keys, no blanks,
 * shortest numbers that read back exactly. A change of form is a change of every recipe hash: bump "recipe".
 */
#include "head/head_model.h"
#include "io/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sotto_head_defaults(struct sotto_head_recipe *r)
{
    *r = (struct sotto_head_recipe){.trainer = "adam", .epochs = 20, .batch = 25, .lr = 1e-3, .seed = 1};
}

sotto_status head_recipe_check(struct sotto_head_recipe *r)
{
    sotto_status status = SOTTO_OK;
    const char *trainer = r->trainer ? r->trainer : "adam";
    REQUIRE(strcmp(trainer, "adam") == 0 || strcmp(trainer, "sgd") == 0,
            "trainer '%s' is not known; expected adam or sgd", trainer);
    r->trainer = strcmp(trainer, "adam") == 0 ? "adam" : "sgd";
    REQUIRE(r->hidden_count <= SOTTO_MAX_HIDDEN, "%zu hidden layers; at most %d are supported",
            r->hidden_count, SOTTO_MAX_HIDDEN);
    for (size_t i = 0; i < r->hidden_count; i++)
        REQUIRE(r->hidden[i] >= 1 && r->hidden[i] <= 1u << 20,
                "hidden width %zu is out of range; expected 1 to %u", r->hidden[i], 1u << 20);
    REQUIRE(r->epochs >= 1 && r->epochs <= UINT32_MAX, "epochs must be at least 1 (got %zu)", r->epochs);
    REQUIRE(r->batch >= 1, "batch must be at least 1 (got %zu)", r->batch);
    REQUIRE(isfinite(r->lr) && r->lr > 0, "lr must be finite and > 0 (got %g)", r->lr);
    REQUIRE(r->seed <= INT64_MAX, "seed %llu is too large; expected less than 2^63",
            (unsigned long long)r->seed);
done:
    return status;
}

/* Shortest decimal that reads back as the same double. */
static void shortest(char out[32], double x)
{
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(out, 32, "%.*g", digits, x);
        if (strtod(out, NULL) == x)
            return;
    }
}

void head_recipe_text(char out[HEAD_RECIPE_TEXT], const struct sotto_head_recipe *r, size_t inputs,
                      size_t classes)
{
    char lr[32], hidden[SOTTO_MAX_HIDDEN * 24 + 1] = "";
    size_t used = 0;
    shortest(lr, r->lr);
    for (size_t i = 0; i < r->hidden_count; i++)
        used += (size_t)snprintf(hidden + used, sizeof hidden - used, "%s%zu", i ? "," : "", r->hidden[i]);
    bool adam = strcmp(r->trainer, "adam") == 0;
    snprintf(out, HEAD_RECIPE_TEXT,
             "{\"batch\":%zu,%s\"classes\":%zu,\"epochs\":%zu,%s\"hidden\":[%s],\"init\":\"glorot-uniform\","
             "\"inputs\":%zu,\"lr\":%s,\"recipe\":1,\"seed\":%llu,\"trainer\":\"%s\"}",
             r->batch, adam ? "\"beta1\":0.9,\"beta2\":0.999," : "", classes, r->epochs,
             adam ? "\"epsilon\":1e-07," : "", hidden, inputs, lr, (unsigned long long)r->seed, r->trainer);
}

void head_recipe_hash(char out[SHA256_HEX], const struct sotto_head_recipe *r, size_t inputs, size_t classes)
{
    char text[HEAD_RECIPE_TEXT];
    head_recipe_text(text, r, inputs, classes);
    sha256_of(out, text, strlen(text));
}

void head_describe(struct sotto_head *h, const struct head_data *data, const struct sotto_head_recipe *r,
                   const char *isa)
{
    h->has_recipe = true;
    h->recipe = *r;
    head_recipe_hash(h->recipe_hash, r, data->d, data->classes);
    head_data_fingerprint(h->fingerprint, data);
    snprintf(h->isa, sizeof h->isa, "%s", isa);
}

static sotto_status read_hidden(struct sotto_head_recipe *r, const struct json *doc, const char *name)
{
    sotto_status status = SOTTO_OK;
    const struct json *list;
    TRY(json_get_array(&list, doc, name, "hidden"));
    r->hidden_count = json_count(list);
    if (r->hidden_count > SOTTO_MAX_HIDDEN)
        FAIL(SOTTO_EFORMAT, "%s: 'hidden' lists %zu layers; at most %d are supported", name, r->hidden_count,
             SOTTO_MAX_HIDDEN);
    for (size_t i = 0; i < r->hidden_count; i++) {
        int64_t width = json_whole(json_at(list, i));
        if (width < 1)
            FAIL(SOTTO_EFORMAT, "%s: 'hidden[%zu]' is not a width; expected a whole number of at least 1",
                 name, i);
        r->hidden[i] = (size_t)width;
    }
done:
    return status;
}

sotto_status head_recipe_parse(struct sotto_head_recipe *out, const char *text, const char *where)
{
    sotto_status status = SOTTO_OK;
    struct json *doc = NULL;
    struct sotto_head_recipe r = {0};
    char name[512];
    size_t seed = 0;
    snprintf(name, sizeof name, "%s: recipe", where);
    TRY(json_parse(&doc, text, strlen(text), name));
    TRY(json_get_text(&r.trainer, doc, name, "trainer"));
    TRY(json_get_size(&r.epochs, doc, name, "epochs"));
    TRY(json_get_size(&r.batch, doc, name, "batch"));
    TRY(json_get_real(&r.lr, doc, name, "lr"));
    TRY(json_get_size(&seed, doc, name, "seed"));
    r.seed = seed;
    TRY(read_hidden(&r, doc, name));
    if (head_recipe_check(&r) != SOTTO_OK) { /* also replaces the borrowed trainer by static text */
        status_prefix(name);
        status = SOTTO_EFORMAT;
        goto done;
    }
    *out = r;
done:
    json_free(doc);
    return status;
}
