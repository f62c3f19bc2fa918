/* The attacker's models of one case. They are trained once; noise is added when they are asked, so that the
 * same models serve every protection setting. */
#include "dp/release/noise_simulate.h"
#include "io/array/safetensors.h"
#include "io/array/tensors.h"
#include "run/stages/run_shadow.h"

#include "base/cpu.h"
#include "sotto/lab/head.h"
#include "sotto/private/io.h"

#include <stdio.h>
#include <string.h>

static void file_names(char heads[RUN_PATH], char own[RUN_PATH], const struct run *r, size_t index)
{
    const char *name = r->config.cases[index].name;
    snprintf(heads, RUN_PATH, "shadow/%s.safetensors", name);
    snprintf(own, RUN_PATH, "shadow/%s-own.safetensors", name);
}

bool run_has_shadow(const struct run *r, size_t index)
{
    /* A fine-tuned case has no frozen embeddings to train shadow heads on. */
    return !r->config.cases[index].fine_tune && (r->config.cases[index].references > 0 || r->shadow_x.data);
}

/* As many records of the shadow part as make a shadow head like the target, half of them its own. */
static size_t own_records(const struct run *r, size_t index)
{
    size_t all = r->shadow_x.data ? r->shadow_x.shape[0] : 0, wanted = 2 * r->config.cases[index].records;
    return (all < wanted ? all : wanted) / 2 * 2;
}

static sotto_status make_pool(struct run_shadow *s, const struct run *r, const struct run_answers *a)
{
    sotto_status status = SOTTO_OK;
    size_t n = a->n_member + a->n_nonmember;
    NEW(s->pool_x, n * a->width);
    NEW(s->pool_y, n);
    memcpy(s->pool_x, a->member_x, a->n_member * a->width * sizeof *s->pool_x);
    memcpy(s->pool_x + a->n_member * a->width, a->nonmember_x, a->n_nonmember * a->width * sizeof *s->pool_x);
    memcpy(s->pool_y, a->member_y, a->n_member * sizeof *s->pool_y);
    memcpy(s->pool_y + a->n_member, a->nonmember_y, a->n_nonmember * sizeof *s->pool_y);
    s->pool = (struct head_data){s->pool_x, s->pool_y, n, a->width, r->classes};
done:
    return status;
}

/* (records, models) of what the plan says by model. */
static sotto_status stage_shadow_turn(uint8_t **out, const uint8_t *use, size_t records, size_t models)
{
    sotto_status status = SOTTO_OK;
    NEW_ROWS(*out, records, models);
    for (size_t m = 0; m < models; m++)
        for (size_t i = 0; i < records; i++)
            (*out)[i * models + m] = use[m * records + i] == SHADOW_IN;
done:
    return status;
}

static sotto_status save_heads(const char *path, const struct run_shadow *s)
{
    sotto_status status = SOTTO_OK;
    const struct shadow_pool *h = &s->heads;
    struct sotto_tensors t = {0};
    TRY(tensors_add(&t, "weights", SOTTO_F4, 2, (size_t[]){h->models, h->parameters}, h->weights));
    TRY(tensors_add(&t, "trained", SOTTO_U1, 2, (size_t[]){s->pool.n, h->models}, s->trained));
    TRY(safetensors_save(path, &t));
done:
    sotto_tensors_clear(&t);
    return status;
}

static void put_plan(struct json **out, const struct shadow_pool *s, const struct shadow_plan *p)
{
    struct json *hours = json_make_object();
    json_put_integer(out, "missing", (int64_t)s->missing);
    json_put_real(out, "seconds_each", s->seconds);
    json_put_real(out, "bytes", s->bytes);
    json_put_real(&hours, "1", shadow_pool_hours(s, p, 1));
    json_put_real(&hours, "8", shadow_pool_hours(s, p, 8));
    json_put_real(&hours, "64", shadow_pool_hours(s, p, 64));
    json_put(out, "hours", hours);
}

/* Heads on halves of members and non-members; shadow.known_start: started as the target was, the worst case.
 * tasks: the folder that processes share, or "". path NULL: a worker, which saves no file of all; *missing: how many the
 * others still have to train. */
static sotto_status train_heads(size_t *missing, struct json **plan_of, const char *path, const char *tasks,
                                const struct run *r, size_t index)
{
    sotto_status status = SOTTO_OK;
    const struct run_case *c = &r->config.cases[index];
    struct sotto_head_recipe recipe = c->recipe;
    struct run_answers a = {0};
    struct run_shadow s = {0};
    uint8_t *use = NULL;
    TRY(run_answers_make(&a, r, index));
    TRY(make_pool(&s, r, &a));
    TRY(head_recipe_check_open(&recipe));
    NEW_ROWS(use, c->references, s.pool.n);
    TRY(shadow_split_halves(use, c->references, s.pool.n, r->config.seed));
    struct shadow_plan plan = {.data = &s.pool,
                               .use = use,
                               .models = c->references,
                               .recipe = &recipe,
                               .known_start = c->known_start,
                               .shard = path ? 0 : r->options->shard,
                               .shards = path || r->options->shards == 0 ? 1 : r->options->shards,
                               .cache = tasks[0] ? tasks : NULL,
                               .worker = !path,
                               .survey = plan_of != NULL,
                               .seed = r->config.seed,
                               .ctx = r->ctx};
    TRY(shadow_pool_make(&s.heads, &plan));
    *missing = s.heads.missing;
    if (plan_of)
        put_plan(plan_of, &s.heads, &plan);
    if (!path)
        goto done;
    TRY(stage_shadow_turn(&s.trained, use, s.pool.n, c->references));
    TRY(save_heads(path, &s));
done:
    base_free(use);
    run_shadow_clear(&s);
    run_answers_clear(&a);
    return status;
}

sotto_status run_stage_shadow(struct run *r, size_t index)
{
    sotto_status status = SOTTO_OK;
    const struct run_case *c = &r->config.cases[index];
    struct run_stage stage;
    struct sotto_head *own = NULL;
    struct json *key = NULL, *survey = json_make_object();
    char heads_name[RUN_PATH], own_name[RUN_PATH], path[RUN_PATH], stage_name[RUN_NAME + 16], tasks[RUN_PATH];
    const char *outputs[3] = {NULL};
    size_t count = 0, missing = 0;
    file_names(heads_name, own_name, r, index);
    snprintf(stage_name, sizeof stage_name, "shadow/%s", c->name);
    key = run_head_key(r, index);
    json_put_integer(&key, "references", (int64_t)c->references);
    json_put_text(&key, "engine", "pool"); /* stages of before trained on other halves */
    json_put_text(&key, "start", c->known_start ? "target" : "own"); /* before: always the target's */
    json_put_integer(&key, "own", (int64_t)own_records(r, index));
    if (!run_folder_tasks(path, &r->folder) || path_join(tasks, RUN_PATH, path, "shadow") != SOTTO_OK)
        tasks[0] = 0;
    TRY(run_stage_find(&stage, &r->folder, stage_name, json_clone(key)));
    if (!stage.reused && r->folder.worker && c->references > 0)
        TRY(train_heads(&missing, r->folder.looks ? &survey : NULL, NULL, tasks, r, index));
    if (r->folder.looks && c->references > 0) {
        json_put_text(&survey, "stage", stage_name);
        json_put_boolean(&survey, "done", stage.reused);
        json_put_integer(&survey, "tasks", (int64_t)c->references);
        json_push(&r->folder.survey, survey);
        survey = NULL;
        r->folder.busy += !stage.reused;
        goto done;
    }
    if (missing > 0) {
        r->folder.busy++;
        goto done;
    }
    if (!stage.reused) {
        struct json *consumed = key;
        key = NULL;
        TRY(run_stage_share(&stage, &r->folder, stage_name, consumed, false));
    }
    if (stage.reused || stage.busy)
        goto done;
    if (c->references > 0) {
        TRY(run_folder_path(path, &r->folder, heads_name));
        TRY(train_heads(&missing, NULL, path, tasks, r, index));
        outputs[count++] = heads_name;
    }
    if (own_records(r, index) > 0) {
        TRY(run_folder_path(path, &r->folder, own_name));
        const struct sotto_head_recipe recipe = run_stated_recipe(c);
        TRY(sotto_head_train(&own, r->shadow_x.data, r->shadow_y.data, own_records(r, index) / 2, r->width,
                             r->classes, &recipe, r->ctx));
        TRY(sotto_head_save(path, own));
        outputs[count++] = own_name;
    }
    TRY(run_stage_end(&stage, &r->folder, outputs, NULL));
done:
    json_free(key);
    json_free(survey);
    sotto_head_free(own);
    return status;
}

static sotto_status load_heads(struct run_shadow *s, const char *path, const struct sotto_head *target)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors t = {0};
    struct shadow_pool *h = &s->heads;
    TRY(safetensors_load(&t, path));
    TRY(sotto_head_copy(&h->shape, target));
    struct sotto_array *weights = tensors_find(&t, "weights"), *trained = tensors_find(&t, "trained");
    if (!weights || !trained || weights->dtype != SOTTO_F4 || trained->dtype != SOTTO_U1 ||
        weights->ndim != 2 || trained->ndim != 2 || weights->shape[1] != h->shape->count ||
        trained->shape[0] != s->pool.n || trained->shape[1] != weights->shape[0])
        FAIL(SOTTO_EFORMAT, "%s: does not contain the shadow heads of this case", path);
    h->models = weights->shape[0];
    h->parameters = weights->shape[1];
    h->weights = weights->data; /* moved */
    s->trained = trained->data;
    weights->data = trained->data = NULL;
done:
    sotto_tensors_clear(&t);
    return status;
}

sotto_status run_shadow_load(struct run_shadow *s, const struct run *r, size_t index,
                             const struct run_answers *a)
{
    sotto_status status = SOTTO_OK;
    const struct run_case *c = &r->config.cases[index];
    struct sotto_head *target = NULL;
    struct run_model model;
    char heads_name[RUN_PATH], own_name[RUN_PATH], path[RUN_PATH], name[RUN_PATH];
    *s = (struct run_shadow){0};
    file_names(heads_name, own_name, r, index);
    if (c->references > 0) {
        run_model_name(&model, r, index, -1);
        run_model_file(name, &model);
        TRY(run_folder_path(path, &r->folder, name));
        TRY(sotto_head_load(&target, path));
        TRY(make_pool(s, r, a));
        TRY(run_folder_path(path, &r->folder, heads_name));
        TRY(load_heads(s, path, target));
        NEW(s->signals, s->pool.n * s->heads.models);
    }
    s->own_n = own_records(r, index);
    if (s->own_n > 0) {
        TRY(run_folder_path(path, &r->folder, own_name));
        TRY(sotto_head_load(&s->own, path));
        s->own_x = r->shadow_x.data;
        s->own_y = r->shadow_y.data;
        NEW(s->own_logits, s->own_n * r->classes);
        NEW(s->own_outputs, s->own_n * r->classes);
        NEW(s->own_trained, s->own_n);
        for (size_t i = 0; i < s->own_n; i++)
            s->own_trained[i] = i < s->own_n / 2;
    }
done:
    sotto_head_free(target);
    return status;
}

sotto_status run_shadow_ask(struct run_shadow *s, const struct run *r, const char *mechanism, double scale,
                            uint64_t draw)
{
    sotto_status status = SOTTO_OK;
    struct sotto_head *noisy = NULL;
    enum { ATTACKER = 1 << 20 }; /* draws of the attacker's noise, apart from those of the target's */
    struct shadow_noise noise = {mechanism, scale, r->config.seed + ATTACKER + draw};
    if (s->signals)
        TRY(shadow_pool_signals(s->signals, &s->heads, &s->pool, mechanism ? &noise : NULL, r->ctx));
    if (s->own) {
        size_t count;
        TRY(sotto_head_copy(&noisy, s->own));
        float *parameters = sotto_head_parameters(noisy, &count);
        if (mechanism)
            TRY(noise_simulate(parameters, count, mechanism, scale, r->config.seed, ATTACKER + draw));
        TRY(sotto_head_predict(s->own_logits, noisy, s->own_x, s->own_n, r->width, 1, r->ctx));
        for (size_t i = 0; i < s->own_n * r->classes; i++)
            s->own_outputs[i] = s->own_logits[i];
    }
done:
    sotto_head_free(noisy);
    return status;
}

void run_shadow_clear(struct run_shadow *s)
{
    shadow_pool_clear(&s->heads);
    base_free(s->trained);
    base_free(s->pool_x);
    base_free(s->pool_y);
    base_free(s->signals);
    sotto_head_free(s->own);
    base_free(s->own_logits);
    base_free(s->own_outputs);
    base_free(s->own_trained);
    *s = (struct run_shadow){0};
}
