/* The trainers of head_private.c: what they take, and how their recipes are written. */
#include "head/private/head_private.h"
#include "head/private/private_recipe.h"
#include "base/choice.h"

#include <stdio.h>
#include <string.h>

static sotto_status trainer_dp_sgd_check(struct sotto_head_recipe *r)
{
    sotto_status status = SOTTO_OK;
    bool logistic = r->noise && strcmp(r->noise, "logistic") == 0;
    if (!logistic && r->noise && strcmp(r->noise, "gaussian") != 0)
        TRY(choice_unknown(SOTTO_EINVAL, "noise", r->noise, "gaussian or logistic"));
    r->noise = logistic ? "logistic" : "gaussian"; /* static text */
    TRY(head_recipe_check_ranges(r, "max_grad_norm|noise_multiplier|momentum|average|rows_per_step"));
    REQUIRE(r->momentum == 0 || strcmp(r->trainer, "dp-sgd") == 0,
            "momentum cannot be given for trainer %s; expected trainer dp-sgd", r->trainer);
    const size_t steps = r->steps;
    if (steps)
        TRY(head_recipe_check_ranges(r, "steps"));
    status = head_recipe_check_batches(r);
    r->steps = steps;
done:
    return status;
}

static void trainer_dp_sgd_text(char out[HEAD_RECIPE_TEXT], const struct sotto_head_recipe *r, size_t inputs,
                                size_t classes)
{
    char norm[32], momentum[32], multiplier[32], noise[HEAD_RECIPE_TEXT / 2];
    head_recipe_shortest(norm, r->max_grad_norm);
    head_recipe_shortest(momentum, r->momentum);
    head_recipe_shortest(multiplier, r->noise_multiplier);
    snprintf(noise, sizeof noise,
             "\"max_grad_norm\":%s,\"momentum\":%s,\"noise\":\"%s\",\"noise_multiplier\":%s,", norm, momentum,
             r->noise, multiplier);
    head_recipe_text_batches(out, r, inputs, classes, noise);
}

static double trainer_dp_sgd_radius(const struct sotto_head_recipe *r)
{
    (void)r;
    return 0;
}

const struct head_trainer head_trainer_dp_sgd = {.name = "dp-sgd",
                                                 .balances = true,
                                                 .check = trainer_dp_sgd_check,
                                                 .text = trainer_dp_sgd_text,
                                                 .parse = head_private_parse,
                                                 .radius = trainer_dp_sgd_radius,
                                                 .train_private = head_private_train,
                                                 .as_event = head_private_event};

const struct head_trainer head_trainer_dp_adam = {.name = "dp-adam",
                                                  .balances = true,
                                                  .check = trainer_dp_sgd_check,
                                                  .text = trainer_dp_sgd_text,
                                                  .parse = head_private_parse,
                                                  .radius = trainer_dp_sgd_radius,
                                                  .train_private = head_private_train,
                                                  .as_event = head_private_event};

static sotto_status check_descent(struct sotto_head_recipe *r)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(!r->noise || strcmp(r->noise, "gaussian") == 0,
            "noise '%s' cannot be given for trainer dp-gd; expected gaussian", r->noise);
    r->noise = "gaussian";
    REQUIRE(r->hidden_count == 0, "trainer dp-gd supports linear heads only (got %zu hidden layers)",
            r->hidden_count);
    r->steps = r->steps ? r->steps : HEAD_FULL_STEPS;
    TRY(head_recipe_check_ranges(r, "clip|steps|step_size|max_grad_norm|noise_multiplier"));
    REQUIRE(r->steps >= 4, "steps must be at least 4 for trainer dp-gd (got %zu)", r->steps);
    r->bias = r->lambda = r->tolerance = r->cross = r->lr = r->momentum = 0;
    r->epochs = r->batch = 0;
    r->refuse_larger = 0;
    r->seed = 0;
done:
    return status;
}

static void text_descent(char out[HEAD_RECIPE_TEXT], const struct sotto_head_recipe *r, size_t inputs,
                         size_t classes)
{
    char clip[32], norm[32], multiplier[32], size[32], balance[HEAD_BALANCE_TEXT];
    head_recipe_text_balance(balance, r);
    head_recipe_shortest(clip, r->clip);
    head_recipe_shortest(norm, r->max_grad_norm);
    head_recipe_shortest(multiplier, r->noise_multiplier);
    head_recipe_shortest(size, r->step_size);
    snprintf(out, HEAD_RECIPE_TEXT,
             "{%s\"classes\":%zu,\"clip\":%s,\"inputs\":%zu,\"max_grad_norm\":%s,\"noise\":\"%s\","
             "\"noise_multiplier\":%s,\"recipe\":1,\"step_size\":%s,\"steps\":%zu,\"trainer\":\"%s\"}",
             balance, classes, clip, inputs, norm, r->noise, multiplier, size, r->steps, r->trainer);
}

static double radius_descent(const struct sotto_head_recipe *r)
{
    return r->clip;
}

const struct head_trainer head_trainer_dp_gd = {.name = "dp-gd",
                                                .balances = true,
                                                .check = check_descent,
                                                .text = text_descent,
                                                .parse = head_descent_parse,
                                                .radius = radius_descent,
                                                .train_private = head_private_train,
                                                .as_event = head_private_event};
