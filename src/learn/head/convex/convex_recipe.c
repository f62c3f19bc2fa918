/* The recipes of the convex trainers, and their rows in the table of trainers. */
#include "head/convex/head_convex.h"
#include "head/model/head_trainer.h"
#include "io/json/json.h"

#include <stdio.h>
#include <string.h>

static sotto_status check_step(struct sotto_head_recipe *r)
{
    sotto_status status = SOTTO_OK;
    double largest = convex_largest_step(r);
    r->step_size = r->step_size == 0 ? largest : r->step_size;
    REQUIRE(r->step_size > 0 && r->step_size <= largest,
            "step size %g is out of range; expected above 0 and at most 2 / (beta + lambda) = %.17g, as the "
            "proof needs",
            r->step_size, largest);
done:
    return status;
}

static sotto_status convex_recipe_check(struct sotto_head_recipe *r)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(r->hidden_count == 0, "trainer %s supports linear heads only (got %zu hidden layers)", r->trainer,
            r->hidden_count);
    TRY(head_recipe_check_ranges(r, "clip|bias"));
    REQUIRE(r->lambda >= 1e-9 && r->lambda <= 1e9, "lambda must be between 1e-9 and 1e9 (got %g)", r->lambda);
    bool batches = strcmp(r->trainer, "convex-sgd") == 0, lbfgs = strcmp(r->trainer, "convex-lbfgs") == 0;
    /* A member without influence gets one fixed value. */
    head_recipe_clear_noise(r);
    r->cross = 0;
    r->refuse_larger = 0;
    r->lr = 0;
    if (!batches) {
        r->epochs = r->batch = 0;
        r->seed = 0;
    }
    if (batches || lbfgs)
        r->steps = 0;
    if (lbfgs) {
        r->step_size = 0;
        TRY(head_recipe_check_ranges(r, "tolerance"));
        goto done;
    }
    r->tolerance = 0;
    TRY(check_step(r));
    if (batches) {
        TRY(head_recipe_check_epochs(r));
    } else {
        r->steps = r->steps ? r->steps : HEAD_FULL_STEPS;
        TRY(head_recipe_check_ranges(r, "steps"));
    }
done:
    return status;
}

static void convex_recipe_text(char out[HEAD_RECIPE_TEXT], const struct sotto_head_recipe *r, size_t inputs,
                               size_t classes)
{
    char bias[32], clip[32], lambda[32], last[32], solver[96], batch[48] = "", epochs[48] = "";
    head_recipe_shortest(bias, r->bias);
    head_recipe_shortest(clip, r->clip);
    head_recipe_shortest(lambda, r->lambda);
    head_recipe_shortest(last, r->tolerance > 0 ? r->tolerance : r->step_size);
    if (r->epochs) {
        snprintf(batch, sizeof batch, "\"batch\":%zu,", r->batch);
        snprintf(epochs, sizeof epochs, "\"epochs\":%zu,", r->epochs);
        snprintf(solver, sizeof solver, "\"seed\":%llu,\"step_size\":%s", (unsigned long long)r->seed, last);
    } else if (r->steps) {
        snprintf(solver, sizeof solver, "\"step_size\":%s,\"steps\":%zu", last, r->steps);
    } else {
        snprintf(solver, sizeof solver, "\"tolerance\":%s", last);
    }
    snprintf(out, HEAD_RECIPE_TEXT,
             "{%s\"bias\":%s,\"classes\":%zu,\"clip\":%s,%s\"inputs\":%zu,\"lambda\":%s,\"recipe\":1,%s,"
             "\"trainer\":\"%s\"}",
             batch, bias, classes, clip, epochs, inputs, lambda, solver, r->trainer);
}

static sotto_status convex_recipe_parse(struct sotto_head_recipe *r, const struct json *doc, const char *name)
{
    sotto_status status = SOTTO_OK;
    TRY(json_get_real(&r->clip, doc, name, "clip"));
    TRY(json_get_real(&r->bias, doc, name, "bias"));
    TRY(json_get_real(&r->lambda, doc, name, "lambda"));
    if (strcmp(r->trainer, "convex-lbfgs") == 0) {
        TRY(json_get_real(&r->tolerance, doc, name, "tolerance"));
        goto done;
    }
    TRY(json_get_real(&r->step_size, doc, name, "step_size"));
    if (strcmp(r->trainer, "convex-sgd") == 0) {
        size_t seed = 0;
        TRY(json_get_size(&r->epochs, doc, name, "epochs"));
        TRY(json_get_size(&r->batch, doc, name, "batch"));
        TRY(json_get_size(&seed, doc, name, "seed"));
        r->seed = seed;
    } else {
        TRY(json_get_size(&r->steps, doc, name, "steps"));
    }
done:
    return status;
}

static double convex_recipe_radius(const struct sotto_head_recipe *r)
{
    return r->clip;
}

static sotto_status convex_recipe_train(struct sotto_head *h, const char **isa, const struct head_data *data,
                                        const struct sotto_head_recipe *r, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct head_convex trainer = {0};
    TRY(head_convex_plan(&trainer, data, r));
    TRY(head_convex_run(&trainer, NULL, NULL, ctx, "head"));
    head_convex_export(&trainer, h->parameters);
    *isa = cpu_isa_name(cpu_best_isa());
done:
    head_convex_clear(&trainer);
    return status;
}

const struct head_trainer head_trainer_convex = {.name = "convex",
                                                 .convex = true,
                                                 .check = convex_recipe_check,
                                                 .text = convex_recipe_text,
                                                 .parse = convex_recipe_parse,
                                                 .radius = convex_recipe_radius,
                                                 .train = convex_recipe_train};

const struct head_trainer head_trainer_convex_sgd = {.name = "convex-sgd",
                                                     .convex = true,
                                                     .check = convex_recipe_check,
                                                     .text = convex_recipe_text,
                                                     .parse = convex_recipe_parse,
                                                     .radius = convex_recipe_radius,
                                                     .train = convex_recipe_train};

const struct head_trainer head_trainer_convex_lbfgs = {.name = "convex-lbfgs",
                                                       .convex = true,
                                                       .check = convex_recipe_check,
                                                       .text = convex_recipe_text,
                                                       .parse = convex_recipe_parse,
                                                       .radius = convex_recipe_radius,
                                                       .train = convex_recipe_train};
