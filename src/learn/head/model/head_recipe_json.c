/* Recipes back from their text. A recipe is written by hand (head_recipe_text_batches()), as its form is fixed. */
#include "head/model/head_trainer.h"
#include "io/json/json.h"

#include <stdio.h>
#include <string.h>

sotto_status head_recipe_parse_balance(struct sotto_head_recipe *r, const struct json *doc, const char *name)
{
    if (!json_find(doc, "balance"))
        return SOTTO_OK;
    return json_get_sizes(r->balance, &r->balance_count, SOTTO_MAX_BALANCE, doc, name, "balance");
}

sotto_status head_recipe_parse_batches(struct sotto_head_recipe *r, const struct json *doc, const char *name)
{
    sotto_status status = SOTTO_OK;
    size_t seed = 0;
    TRY(json_get_size(&r->epochs, doc, name, "epochs"));
    TRY(json_get_size(&r->batch, doc, name, "batch"));
    TRY(json_get_real(&r->lr, doc, name, "lr"));
    TRY(json_get_size(&seed, doc, name, "seed"));
    r->seed = seed;
    if (json_find(doc, "augment_noise"))
        TRY(json_get_real(&r->augment_noise, doc, name, "augment_noise"));
    TRY(json_get_sizes(r->hidden, &r->hidden_count, SOTTO_MAX_HIDDEN, doc, name, "hidden"));
    status = head_recipe_parse_balance(r, doc, name);
done:
    return status;
}

sotto_status head_recipe_parse(struct sotto_head_recipe *out, size_t *inputs, size_t *classes,
                               const char *text, const char *where)
{
    sotto_status status = SOTTO_OK;
    struct json *doc = NULL;
    struct sotto_head_recipe r = {0};
    const struct head_trainer *trainer;
    char name[512];
    size_t d, k;
    snprintf(name, sizeof name, "%s: recipe", where);
    TRY(json_parse(&doc, text, strlen(text), name));
    TRY(json_get_text(&r.trainer, doc, name, "trainer"));
    trainer = head_trainer_find(r.trainer);
    if (trainer)
        TRY(trainer->parse(&r, doc, name));
    TRY(json_get_size(&d, doc, name, "inputs"));
    TRY(json_get_size(&k, doc, name, "classes"));
    if (head_recipe_check(&r) != SOTTO_OK) { /* also replaces the borrowed trainer by static text */
        status_prefix(name);
        status = SOTTO_EFORMAT;
        goto done;
    }
    *out = r;
    *inputs = d;
    *classes = k;
done:
    json_free(doc);
    return status;
}
