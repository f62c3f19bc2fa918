/* Defaults and checks of pre-training options, and the text that identifies a run. */
#include "base/memory.h"
#include "options/option_tables.h"
#include "options/option_values.h"
#include "ssl/pretrain.h"

#include "par/par.h"
#include "par/ranks.h"
#include "base/choice.h"
#include "sotto/option.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void sotto_pretrain_defaults(struct sotto_pretrain_options *o)
{
    GIVEN_OR(, o);
    *o = (struct sotto_pretrain_options){0};
    options_defaults(o, options_pretrain);
}

static sotto_status resolve_schedule(struct schedule *out, const struct sotto_pretrain_options *o,
                                     uint64_t steps)
{
    if (strcmp(o->schedule, "constant") == 0)
        *out = (struct schedule){.kind = SCHEDULE_CONSTANT, .lr = o->lr};
    else if (strcmp(o->schedule, "cosine") == 0)
        *out = (struct schedule){
            .kind = SCHEDULE_COSINE, .lr = o->lr, .warmup_steps = steps / 20, .total_steps = steps};
    else
        return choice_unknown(SOTTO_EINVAL, "schedule", o->schedule, "constant or cosine");
    return SOTTO_OK;
}

static sotto_status check_numbers(const struct sotto_pretrain_options *o, const struct objective *objective,
                                  size_t n)
{
    sotto_status status = SOTTO_OK;
    TRY(sotto_options_check(o, options_pretrain, "epochs|batch|lr|temperature"));
    REQUIRE(o->batch >= objective->smallest_batch, "batch must be at least %zu (got %zu): %s",
            objective->smallest_batch, o->batch, objective->why_smallest);
    REQUIRE(o->batch <= n, "batch %zu is larger than the %zu images to train on", o->batch, n);
done:
    return status;
}

static void pretrain_options_describe(struct pretrain_setup *s, const struct sotto_dataset *data,
                                      const int64_t *rows)
{
    const struct sotto_pretrain_options *o = &s->options;
    char chosen[SHA256_HEX];
    sha256_of(chosen, rows, s->images * sizeof *rows);
    snprintf(s->recipe, sizeof s->recipe,
             "method=%s\nencoder=%s\nloss=%s\nseed=%llu\nepochs=%zu\nbatch=%zu\nlr=%.17g\nschedule=%s\n"
             "temperature=%.17g\nmin_area=%.17g\nbrightness=%.17g\njitter=%.17g\ndtype=%s\ndata=%s\nimages=%"
             "zu\nrows=%s\n",
             o->method, o->encoder, o->loss, (unsigned long long)o->seed, o->epochs, o->batch, o->lr,
             o->schedule, o->temperature, o->min_area, o->brightness, o->jitter, s->choice.dtype,
             data->sha256, s->images, chosen);
    size_t used = strlen(s->recipe);
    if (s->augmentation == AUGMENT_SIMCLR)
        snprintf(s->recipe + used, sizeof s->recipe - used,
                 "augmentation=simclr\nvertical_flip=%d\ngrey=%.17g\nblur=%.17g\n", o->vertical_flip != 0,
                 o->grey, o->blur);
    used = strlen(s->recipe);
    if (s->part)
        s->part->recipe(s->recipe + used, sizeof s->recipe - used, s->part_setup);
    leaf_order_text(s->recipe + strlen(s->recipe), &s->order);
}

size_t pretrain_inputs(const struct pretrain_setup *s)
{
    return s->objective->views + (s->part ? s->part->inputs(s->part_setup) : 0);
}

void pretrain_clear(struct pretrain_setup *s)
{
    base_free(s->part_setup);
    s->part_setup = NULL;
}

struct nn_model_config pretrain_model(const struct pretrain_setup *s)
{
    struct nn_model_config config = {
        .name = s->options.encoder, .input = s->input, .projector_count = s->objective->projector_count};
    if (s->part)
        config.adversary = s->part->branch(s->part_setup);
    memcpy(config.projector, s->objective->projector, sizeof config.projector);
    return config;
}

static sotto_status pretrain_options_choose(struct pretrain_setup *s, const struct sotto_context *ctx)
{
    const struct nn_model_config model = pretrain_model(s);
    sotto_status status = SOTTO_OK;
    const struct sotto_pretrain_options *o = &s->options;
    TRY(leaf_order_on_ranks(&s->order, s->team, leaf_order_asked(o->order, o->norm_scope), o->leaf, &model,
                            o->batch, pretrain_inputs(s)));
    TRY(leaf_order_norms(&s->order, o->norm_scope, o->leaf, &model, o->batch, s->objective->views));
    REQUIRE(!s->order.leaf_norms || !s->part, "norm_scope leaf cannot be combined with %s; omit one of them",
            s->part->name);
    /* what one thread does at a time, so that the choice does not depend on threads either */
    const struct autotune_request request = {.dtype = s->options.dtype,
                                             .backend = s->options.backend,
                                             .model = &model,
                                             .batch = pretrain_inputs(s) * s->order.leaf,
                                             .records = s->order.leaf,
                                             .steps = s->steps,
                                             .threads = s->order.exact ? 1 : s->threads,
                                             .checkpoint = s->options.checkpoint};
    if (sotto_team_rank(s->team) == 0)
        status = autotune(&s->choice, &request, ctx);
    TRY(team_agree(s->team, status));
    TRY(team_broadcast(s->team, &s->choice, sizeof s->choice));
done:
    return status;
}

sotto_status pretrain_resolve(struct pretrain_setup *out, const struct sotto_dataset *data,
                              const int64_t *rows, size_t n, const struct sotto_pretrain_options *options,
                              const struct sotto_team *team, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct pretrain_setup s = {.images = n, .team = team};
    TRY(sotto_options_resolve(&s.options, options, options_pretrain));
    TRY(encoder_input(&s.input, data));
    TRY(encoder_check_rows(data, rows, n));
    TRY(objective_find(&s.objective, s.options.method));
    TRY(augment_recipe_find(&s.augmentation, s.options.augmentation));
    TRY(check_numbers(&s.options, s.objective, n));
    TRY(pretrain_part_find(&s.part, s.options.part));
    REQUIRE(!s.part || strcmp(s.objective->name, s.part->method) == 0, "%s needs method %s (got '%s')",
            s.part->name, s.part->method, s.objective->name);
    if (s.part)
        TRY(s.part->resolve(&s.part_setup, s.options.part_options, data, rows, n));
    s.threads = par_threads(ctx);
    s.steps_per_pass = n / s.options.batch; /* the last, incomplete batch of a pass is dropped */
    s.steps_per_epoch = s.steps_per_pass * (s.part ? s.part->passes(s.part_setup) : 1);
    s.steps = (uint64_t)s.steps_per_epoch * s.options.epochs;
    TRY(resolve_schedule(&s.schedule, &s.options, s.steps));
    TRY(pretrain_options_choose(&s, ctx));
    pretrain_options_describe(&s, data, rows);
    *out = s;
done:
    if (status != SOTTO_OK)
        pretrain_clear(&s);
    return status;
}
