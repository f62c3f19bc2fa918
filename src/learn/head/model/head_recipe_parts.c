/* What the recipes of several trainers have in common. */
#include "head/model/head_trainer.h"

#include "options/option_tables.h"
#include "sotto/option.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By Adam, the usual one. A step of dp-sgd is at most the rate times C, whatever the features are: half a unit was near the best of five
 * rates on each toy of notes/results.md, where the rate of Adam stayed at the first weights. */
static const double STEP = 0.001, DP_SGD_STEP = 0.5;

double head_recipe_rate(const struct sotto_head_recipe *r)
{
    if (r->lr > 0)
        return r->lr;
    return strcmp(r->trainer, "dp-sgd") == 0 ? DP_SGD_STEP * (1 - r->momentum) / r->max_grad_norm : STEP;
}

sotto_status head_recipe_check_ranges(const struct sotto_head_recipe *r, const char *members)
{
    return sotto_options_check(r, options_head_recipe, members);
}

sotto_status head_recipe_check_epochs(const struct sotto_head_recipe *r)
{
    return head_recipe_check_ranges(r, "epochs|batch|seed");
}

sotto_status head_recipe_check_batches(struct sotto_head_recipe *r)
{
    sotto_status status = SOTTO_OK;
    r->cross = r->clip = r->bias = r->lambda = r->step_size = r->tolerance = 0;
    r->refuse_larger = 0;
    r->steps = 0;
    REQUIRE(r->hidden_count <= SOTTO_MAX_HIDDEN, "%zu hidden layers are too many; expected at most %d",
            r->hidden_count, SOTTO_MAX_HIDDEN);
    for (size_t i = 0; i < r->hidden_count; i++)
        REQUIRE(r->hidden[i] >= 1 && r->hidden[i] <= 1u << 20,
                "hidden width %zu is out of range; expected 1 to %u", r->hidden[i], 1u << 20);
    TRY(head_recipe_check_epochs(r));
    TRY(head_recipe_check_ranges(r, "lr|augment_noise"));
    r->lr = head_recipe_rate(r);
done:
    return status;
}

void head_recipe_clear_noise(struct sotto_head_recipe *r)
{
    r->noise = NULL;
    r->max_grad_norm = r->noise_multiplier = r->momentum = 0;
    r->rows_per_step = 0;
    r->average = 0;
}

void head_recipe_shortest(char out[32], double x)
{
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(out, 32, "%.*g", digits, x);
        if (strtod(out, NULL) == x)
            return;
    }
}

void head_recipe_text_balance(char out[HEAD_BALANCE_TEXT], const struct sotto_head_recipe *r)
{
    size_t used = 0;
    out[0] = 0; /* older recipes have none */
    for (size_t k = 0; k < r->balance_count; k++)
        used += (size_t)snprintf(out + used, HEAD_BALANCE_TEXT - used, "%s%zu", k ? "," : "\"balance\":[",
                                 r->balance[k]);
    if (r->balance_count > 0)
        snprintf(out + used, HEAD_BALANCE_TEXT - used, "],");
}

void head_recipe_text_batches(char out[HEAD_RECIPE_TEXT], const struct sotto_head_recipe *r, size_t inputs,
                              size_t classes, const char *noise)
{
    char lr[32], hidden[SOTTO_MAX_HIDDEN * 24 + 1] = "", sigma[32], augment[56] = "", rows[40] = "",
                                                decay[32], average[48] = "", steps[32] = "",
                                                balance[HEAD_BALANCE_TEXT];
    size_t used = 0;
    head_recipe_shortest(lr, head_recipe_rate(r));
    head_recipe_shortest(sigma, r->augment_noise);
    head_recipe_text_balance(balance, r);
    if (r->average > 0) { /* older recipes have none of these */
        head_recipe_shortest(decay, r->average);
        snprintf(average, sizeof average, "\"average\":%s,", decay);
    }
    if (r->augment_noise > 0)
        snprintf(augment, sizeof augment, "\"augment_noise\":%s,", sigma);
    for (size_t i = 0; i < r->hidden_count; i++)
        used += (size_t)snprintf(hidden + used, sizeof hidden - used, "%s%zu", i ? "," : "", r->hidden[i]);
    bool adam = strcmp(r->trainer, "adam") == 0 || strcmp(r->trainer, "dp-adam") == 0;
    if (r->steps)
        snprintf(steps, sizeof steps, "\"steps\":%zu,", r->steps);
    if (r->rows_per_step)
        snprintf(rows, sizeof rows, "\"rows_per_step\":%zu,", r->rows_per_step);
    snprintf(
        out, HEAD_RECIPE_TEXT,
        "{%s%s%s\"batch\":%zu,%s\"classes\":%zu,\"epochs\":%zu,%s\"hidden\":[%s],\"init\":\"glorot-uniform\","
        "\"inputs\":%zu,\"lr\":%s,%s\"recipe\":1,%s\"seed\":%llu,%s\"trainer\":\"%s\"}",
        augment, average, balance, r->batch, adam ? "\"beta1\":0.9,\"beta2\":0.999," : "", classes, r->epochs,
        adam ? "\"epsilon\":1e-07," : "", hidden, inputs, lr, noise, rows, (unsigned long long)r->seed, steps,
        r->trainer);
}
