/* A recipe's canonical text is what its hash is taken of, so its form is fixed: sorted keys, no blanks,
 * shortest numbers that read back exactly. A change of form is a change of every recipe hash: bump
 * "recipe". */
#include "head/model/head_trainer.h"
#include "sotto/lab/head.h"

#include "options/option_tables.h"
#include "options/option_values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sotto_head_defaults(struct sotto_head_recipe *r)
{
    GIVEN_OR(, r);
    *r = (struct sotto_head_recipe){0};
    options_defaults(r, options_head_recipe);
}

sotto_status head_recipe_resolve(struct sotto_head_recipe *out, const struct sotto_head_recipe *given)
{
    sotto_status status = SOTTO_OK;
    TRY(sotto_options_resolve(out, given, options_head_recipe));
    if (given &&
        head_recipe_moments(out)) { /* their own default of noise, and a lambda that follows the noise */
        out->noise = given->noise;
        out->lambda = given->lambda == 0 ? 0 : out->lambda;
    }
done:
    return status;
}

void head_take_recipe(struct sotto_head *h, const struct sotto_head_recipe *r)
{
    h->has_recipe = true;
    h->recipe = h->stated = *r;
    options_state(&h->stated, options_head_recipe);
}

sotto_status head_recipe_check(struct sotto_head_recipe *r)
{
    sotto_status status = SOTTO_OK;
    const char *asked = r->trainer ? r->trainer : "adam";
    TRY(sotto_head_trainer_check(asked));
    const struct head_trainer *t = head_trainer_find(asked);
    r->trainer = t->name; /* static text */
    REQUIRE(!(r->augment_noise > 0) || strcmp(t->name, "adam") == 0 || strcmp(t->name, "sgd") == 0,
            "augment_noise needs trainer adam or sgd; trainer %s takes records as they are", t->name);
    REQUIRE(r->balance_count == 0 || t->balances,
            "balance cannot be given for trainer %s; expected adam, sgd, dp-sgd, dp-adam or dp-gd", t->name);
    REQUIRE(r->balance_count <= SOTTO_MAX_BALANCE, "balance has %zu weights; expected at most %d",
            r->balance_count, SOTTO_MAX_BALANCE);
    for (size_t k = 0; k < r->balance_count; k++)
        REQUIRE(r->balance[k] >= 1 && r->balance[k] <= 1000000,
                "balance has a weight of %zu; expected 1 to 1000000", r->balance[k]);
    status = t->check(r);
done:
    return status;
}

sotto_status head_recipe_fits(const struct sotto_head_recipe *r, size_t classes)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(r->balance_count == 0 || r->balance_count == classes,
            "balance has %zu weights; expected one for each of the %zu classes", r->balance_count, classes);
done:
    return status;
}

void head_recipe_balance(float *out, const struct sotto_head_recipe *r, size_t classes)
{
    double sum = 0;
    for (size_t k = 0; k < r->balance_count; k++)
        sum += (double)r->balance[k];
    for (size_t k = 0; k < classes; k++)
        out[k] = r->balance_count > 0 ? (float)((double)r->balance[k] * (double)classes / sum) : 1;
}

sotto_status head_recipe_check_open(struct sotto_head_recipe *r)
{
    if (r->trainer && head_recipe_private(r))
        return status_fail(SOTTO_EINVAL,
                           "trainer %s adds private noise, so its runs differ and each is charged; expected "
                           "a repeatable trainer, such as adam or convex",
                           r->trainer);
    return head_recipe_check(r);
}

void head_recipe_text(char out[HEAD_RECIPE_TEXT], const struct sotto_head_recipe *r, size_t inputs,
                      size_t classes)
{
    head_trainer_of(r)->text(out, r, inputs, classes);
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
    h->bound = true;
    h->records = head_recipe_convex(r) ? data->n : 0; /* enters the proof */
    head_take_recipe(h, r);
    head_recipe_hash(h->recipe_hash, r, data->d, data->classes);
    if (!head_recipe_private(r)) /* a hash of the records could be found by trying them all */
        head_data_sha256(h->data_sha256, data);
    snprintf(h->isa, sizeof h->isa, "%s", isa);
}
