/* Heads on slices of the private part, and their sampled sensitivity. Slices are disjoint, so that releases
 * of different cases concern different people. */
#include "base/cpu.h"
#include "head/model/head_model.h"
#include "head/sensitivity/paper_norms.h"
#include "options/option_tables.h"
#include "options/option_values.h"
#include "run/stages/run_stages.h"
#include "sotto/lab/head.h"
#include "sotto/lab/provenance.h"

#include <stdio.h>

size_t run_case_first(const struct run *r, size_t index)
{
    size_t first = 0;
    if (r->config.cases[index].protection_count == 0)
        return 0;
    for (size_t i = 0; i < index; i++)
        if (r->config.cases[i].protection_count > 0)
            first += r->config.cases[i].records;
    return first;
}

void run_model_name(struct run_model *m, const struct run *r, size_t index, long protection)
{
    *m = (struct run_model){.index = index, .protection = protection};
    if (protection < 0)
        snprintf(m->name, sizeof m->name, "%s", r->config.cases[index].name);
    else
        snprintf(m->name, sizeof m->name, "%s-p%ld", r->config.cases[index].name, protection + 1);
}

bool run_is_trained(const struct run *r, const struct run_model *m)
{
    return m->protection >= 0 && r->config.cases[m->index].protections[m->protection].trained;
}

void run_model_file(char out[RUN_PATH], const struct run_model *m)
{
    snprintf(out, RUN_PATH, "%s/%s.safetensors", m->protection < 0 ? "models" : "protected", m->name);
}

const struct json *run_result(const struct run *r, const char *stage)
{
    const struct json *stages = json_member(r->folder.document, "stages");
    const struct json *entry = stages ? json_member(stages, stage) : NULL;
    return entry ? json_member(entry, "result") : NULL;
}

/* A head's bits depend on the instruction set but neither on threads nor on anything else that runs. */
struct json *run_head_key(const struct run *r, size_t index)
{
    const struct run_case *c = &r->config.cases[index];
    struct json *key = json_make_object();
    json_put_text(&key, "isa", cpu_isa_name(cpu_best_isa()));
    json_put_text(&key, "embed", run_stage_hash(&r->folder, "embed"));
    json_put_integer(&key, "first", (int64_t)run_case_first(r, index));
    json_put_integer(&key, "records", (int64_t)c->records);
    json_put_text(&key, "trainer", c->recipe.trainer);
    json_put(&key, "hidden", json_make_counts(c->recipe.hidden, c->recipe.hidden_count));
    json_put_integer(&key, "epochs", (int64_t)c->recipe.epochs);
    json_put_integer(&key, "batch", (int64_t)c->recipe.batch);
    json_put_real(&key, "lr", c->recipe.lr);
    json_put_integer(&key, "seed", (int64_t)c->recipe.seed);
    if (run_is_convex(c)) {
        json_put_real(&key, "clip", c->recipe.clip);
        json_put_real(&key, "bias", c->recipe.bias);
        json_put_real(&key, "lambda", c->recipe.lambda);
        json_put_integer(&key, "steps", (int64_t)c->recipe.steps);
        if (c->recipe.step_size > 0)
            json_put_real(&key, "step_size", c->recipe.step_size);
    }
    return key;
}

struct sotto_head_recipe run_stated_recipe(const struct run_case *c)
{
    struct sotto_head_recipe recipe = c->recipe;
    options_state(&recipe, options_head_recipe);
    return recipe;
}

const float *run_case_x(const struct run *r, size_t index)
{
    return (const float *)r->private_x.data + run_case_first(r, index) * r->width;
}

const int64_t *run_case_y(const struct run *r, size_t index)
{
    return (const int64_t *)r->private_y.data + run_case_first(r, index);
}

sotto_status run_stage_head(struct run *r, size_t index)
{
    sotto_status status = SOTTO_OK;
    const struct run_case *c = &r->config.cases[index];
    struct run_stage stage;
    struct sotto_head *head = NULL;
    struct sotto_provenance whose = {0};
    struct run_model model;
    char name[RUN_PATH], path[RUN_PATH], hash[SHA256_HEX], stage_name[RUN_NAME + 16];
    run_model_name(&model, r, index, -1);
    run_model_file(name, &model);
    snprintf(stage_name, sizeof stage_name, "head/%s", c->name);
    TRY(run_stage_share(&stage, &r->folder, stage_name, run_head_key(r, index), false));
    if (stage.reused || stage.busy)
        goto done;
    const struct sotto_head_recipe recipe = run_stated_recipe(c);
    /* Its warnings are about the records, which what a release prints must not be. */
    struct sotto_context quiet = r->ctx ? *r->ctx : (struct sotto_context){0};
    quiet.log = NULL;
    TRY(sotto_head_train(&head, run_case_x(r, index), run_case_y(r, index), c->records, r->width, r->classes,
                         &recipe, c->protection_count > 0 ? &quiet : r->ctx));
    TRY(run_folder_path(path, &r->folder, "models/encoder.safetensors"));
    TRY(sha256_file_asking(hash, path, r->ctx));
    TRY(head_set_encoder(head, hash));
    TRY(run_folder_path(path, &r->folder, name));
    TRY(sotto_head_save(path, head));
    TRY(sotto_provenance_of_rows(&whose, r->data, r->split.rows[SPLIT_PRIVATE] + run_case_first(r, index),
                                 c->records));
    TRY(run_encoder_shape(&whose, r));
    TRY(sotto_provenance_save(path, &whose));
    double train, held;
    size_t parameters;
    (void)sotto_head_parameters(head, &parameters);
    TRY(sotto_head_accuracy(&train, head, run_case_x(r, index), run_case_y(r, index), c->records, r->width,
                            r->ctx));
    TRY(sotto_head_accuracy(&held, head, r->heldout_x.data, r->heldout_y.data, r->heldout_x.shape[0],
                            r->width, r->ctx));
    struct json *result = json_make_object();
    json_put_real(&result, "train_accuracy", train);
    json_put_real(&result, "heldout_accuracy", held);
    json_put_integer(&result, "parameters", (int64_t)parameters);
    TRY(run_stage_end(&stage, &r->folder, (const char *const[]){name, NULL}, result));
done:
    sotto_provenance_clear(&whose);
    sotto_head_free(head);
    return status;
}

/* Together with other processes, where there are any; *sample is filled by a merging run. */
static sotto_status sample_pairs(struct sotto_sensitivity_sample *sample, size_t *missing,
                                 const struct run *r, size_t index)
{
    sotto_status status = SOTTO_OK;
    const struct run_case *c = &r->config.cases[index];
    const struct sotto_head_recipe recipe = run_stated_recipe(c);
    char tasks[RUN_PATH], cache[RUN_PATH];
    *missing = 0;
    if (!run_folder_tasks(tasks, &r->folder)) {
        TRY(sotto_sensitivity_run(sample, run_case_x(r, index), run_case_y(r, index), c->records, r->width,
                                  r->classes, &recipe, c->pairs, r->ctx));
        goto done;
    }
    TRY(path_join(cache, sizeof cache, tasks, "pairs"));
    const struct sotto_sensitivity_options share = {.cache = cache, .worker = sample == NULL};
    TRY(sotto_sensitivity_share(sample, missing, run_case_x(r, index), run_case_y(r, index), c->records,
                                r->width, r->classes, &recipe, c->pairs, &share, r->ctx));
done:
    return status;
}

/* Proved where the trainer has a proof, else sampled; a proof may have a sample beside it, to show its
 * slack. */
static sotto_status find_sensitivity(struct sotto_sensitivity_sample *out, struct json **result,
                                     const struct run *r, size_t index)
{
    sotto_status status = SOTTO_OK;
    const struct run_case *c = &r->config.cases[index];
    struct sotto_sensitivity_sample sample;
    struct sotto_head *head = NULL;
    struct run_model model;
    char name[RUN_PATH], path[RUN_PATH];
    size_t missing; /* 0: it waits for the others */
    if (c->pairs > 0)
        TRY(sample_pairs(&sample, &missing, r, index));
    if (run_is_convex(c)) {
        run_model_name(&model, r, index, -1);
        run_model_file(name, &model);
        TRY(run_folder_path(path, &r->folder, name));
        TRY(sotto_head_load(&head, path));
        TRY(sotto_sensitivity_prove(out, head));
        if (c->pairs > 0) {
            json_put_real(result, "sampled_l1", sample.l1);
            json_put_real(result, "sampled_l2", sample.l2);
        }
    } else {
        *out = sample;
    }
done:
    sotto_head_free(head);
    return status;
}

/* For --plan. */
static sotto_status plan_pairs(struct json **out, const struct run *r, size_t index)
{
    sotto_status status = SOTTO_OK;
    const struct run_case *c = &r->config.cases[index];
    const struct sotto_head_recipe recipe = run_stated_recipe(c);
    struct sotto_sensitivity_plan p;
    struct json *hours = json_make_object();
    char tasks[RUN_PATH], cache[RUN_PATH];
    const bool shared = run_folder_tasks(tasks, &r->folder);
    if (shared)
        TRY(path_join(cache, sizeof cache, tasks, "pairs"));
    const struct sotto_sensitivity_options share = {.cache = shared ? cache : NULL};
    TRY(sotto_sensitivity_plan(&p, run_case_x(r, index), run_case_y(r, index), c->records, r->width,
                               r->classes, &recipe, c->pairs, &share, r->ctx));
    json_put_integer(out, "missing", (int64_t)p.missing);
    json_put_real(out, "seconds_each", p.seconds_each);
    json_put_real(out, "bytes", p.bytes);
    json_put_real(&hours, "1", sotto_sensitivity_plan_hours(&p, 1));
    json_put_real(&hours, "8", sotto_sensitivity_plan_hours(&p, 8));
    json_put_real(&hours, "64", sotto_sensitivity_plan_hours(&p, 64));
    json_put(out, "hours", hours);
    hours = NULL;
done:
    json_free(hours);
    return status;
}

static sotto_status note_pairs(struct run *r, size_t index, const struct run_stage *stage)
{
    sotto_status status = SOTTO_OK;
    struct json *one = json_make_object();
    json_put_text(&one, "stage", stage->name);
    json_put_boolean(&one, "done", stage->reused);
    json_put_integer(&one, "tasks",
                     (int64_t)((r->config.cases[index].pairs + SOTTO_PAIRS_BLOCK - 1) / SOTTO_PAIRS_BLOCK));
    if (!stage->reused)
        TRY(plan_pairs(&one, r, index));
    json_push(&r->folder.survey, one);
    one = NULL;
    r->folder.busy += !stage->reused;
done:
    json_free(one);
    return status;
}

sotto_status run_stage_sensitivity(struct run *r, size_t index)
{
    sotto_status status = SOTTO_OK;
    const struct run_case *c = &r->config.cases[index];
    struct run_stage stage;
    struct sotto_sensitivity_sample found;
    struct json *result = json_make_object();
    char name[RUN_PATH], path[RUN_PATH], stage_name[RUN_NAME + 16];
    snprintf(name, sizeof name, "models/%s.sensitivity.json", c->name);
    snprintf(stage_name, sizeof stage_name, "sensitivity/%s", c->name);
    size_t missing = 0;
    struct json *key = run_head_key(r, index), *again;
    json_put_integer(&key, "pairs", (int64_t)c->pairs);
    again = json_clone(key);
    TRY(run_stage_find(&stage, &r->folder, stage_name, key));
    if (r->folder.looks && c->pairs > 0) {
        TRY(note_pairs(r, index, &stage));
        goto done;
    }
    if (!stage.reused && r->folder.worker && c->pairs > 0)
        TRY(sample_pairs(NULL, &missing, r, index));
    if (missing > 0) {
        r->folder.busy++;
        goto done;
    }
    key = again;
    again = NULL;
    TRY(run_stage_share(&stage, &r->folder, stage_name, key, false));
    if (stage.reused || stage.busy)
        goto done;
    TRY(find_sensitivity(&found, &result, r, index));
    TRY(run_folder_path(path, &r->folder, name));
    TRY(sotto_sensitivity_save(path, &found));
    struct json *paper = json_make_object();
    for (size_t i = 0; !found.proved && i < SOTTO_PAPER_NORMS; i++)
        json_put(&paper, paper_norm_name((enum sotto_paper_norm)i),
                 json_make_reals((double[]){found.paper[i].one, found.paper[i].two}, 2));
    json_put(&result, "paper_norms", paper);
    json_put_real(&result, "mean_l1", found.mean_l1);
    json_put_real(&result, "mean_l2", found.mean_l2);
    json_put_real(&result, "l1", found.l1);
    json_put_real(&result, "l2", found.l2);
    json_put_integer(&result, "pairs", (int64_t)c->pairs);
    json_put_boolean(&result, "proved", found.proved);
    if (!found.proved)
        json_put_real(&result, "gamma_exchangeable", found.gamma_exchangeable);
    struct json *kept = result;
    result = NULL;
    TRY(run_stage_end(&stage, &r->folder, (const char *const[]){name, NULL}, kept));
done:
    json_free(again);
    json_free(result);
    return status;
}
