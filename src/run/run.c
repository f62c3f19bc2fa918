/* An experiment is a list of stages. Each one looks for its own finished work first, so running again
 * continues. */
#include "data/set/split.h"
#include "par/par.h"
#include "run/stages/run_canaries.h"
#include "run/stages/run_protect.h"
#include "run/stages/run_shadow.h"
#include "sotto/lab/run.h"
#include "sotto/private/io.h"

#include <stdio.h>
#include <string.h>

extern const char run_demo_yaml[];

const char *sotto_demo_config(void)
{
    return run_demo_yaml;
}

/* All processes of a folder work on one experiment. */
static sotto_status check_config(const struct run *r, const char *resolved)
{
    sotto_status status = SOTTO_OK;
    char path[RUN_PATH];
    unsigned char *there = NULL;
    size_t size;
    TRY(run_folder_path(path, &r->folder, "config.resolved.yaml"));
    TRY(file_write_once(path, resolved, strlen(resolved)));
    TRY(file_read(&there, &size, path, 1 << 20));
    if (strcmp((const char *)there, resolved) != 0)
        FAIL(SOTTO_ECONFIG,
             "%s: states another experiment than this configuration; give all workers the same file and "
             "options, "
             "or another {output}",
             path);
done:
    base_free(there);
    return status;
}

/* runs/NAME, or with --fresh the first of runs/NAME-2, runs/NAME-3, ... that does not exist. */
static sotto_status choose_folder(char out[RUN_PATH], const struct run_config *config,
                                  const struct sotto_run_options *options)
{
    sotto_status status = SOTTO_OK;
    char base[RUN_PATH];
    TRY(path_join(base, sizeof base, "runs", config->name));
    const char *name = options->folder ? options->folder : base;
    if (snprintf(out, RUN_PATH, "%s", name) >= RUN_PATH)
        FAIL(SOTTO_EINVAL, "%s: path is too long", name);
    for (unsigned i = 2; options->fresh && file_exists(out); i++)
        if (snprintf(out, RUN_PATH, "%s-%u", name, i) >= RUN_PATH)
            FAIL(SOTTO_EINVAL, "%s: path is too long", name);
done:
    return status;
}

static sotto_status keep_config(struct run *r, const char *path, const char *text, const char *resolved)
{
    sotto_status status = SOTTO_OK;
    char out[RUN_PATH];
    unsigned char *given = NULL;
    size_t size = 0;
    if (path)
        TRY(file_read(&given, &size, path, 1 << 20));
    TRY(run_folder_path(out, &r->folder, "config.yaml"));
    TRY(file_write(out, given ? (const char *)given : text, given ? size : strlen(text)));
    TRY(run_folder_path(out, &r->folder, "config.resolved.yaml"));
    TRY(file_write(out, resolved, strlen(resolved)));
    json_put_text(&r->folder.document, "name", r->config.name);
    json_put_text(&r->folder.document, "version", sotto_version());
    json_put_text(&r->folder.document, "build", sotto_version_line());
    json_put_integer(&r->folder.document, "seed", (int64_t)r->config.seed);
    json_put_integer(&r->folder.document, "threads", par_threads(r->ctx));
    if (r->options->command_line)
        json_put_text(&r->folder.document, "command", r->options->command_line);
    TRY(run_folder_save(&r->folder));
done:
    base_free(given);
    return status;
}

static sotto_status check_sizes(const struct run *r)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = 0; i < r->config.case_count; i++)
        if (r->config.cases[i].records < r->classes)
            FAIL(SOTTO_EINVAL, "%s: %zu records for %zu classes; expected at least one record per class",
                 r->config.cases[i].name, r->config.cases[i].records, r->classes);
done:
    return status;
}

/* ---- measurements beside a release ---- */

/* Of what is measured on the records of a release no warning is given: labels that do not occur, answers that are all alike. The
 * report has them. */
struct reticent {
    struct run *run;
    const struct sotto_context *caller; /* the caller's */
    struct sotto_context own;
};

static void log_but_warnings(void *user, enum sotto_log_level level, const char *text)
{
    const struct reticent *q = user;
    if (level != SOTTO_LOG_WARNING)
        context_log(q->caller, level, "%s", text);
}

static void pass_progress(void *user, const char *stage, uint64_t done, uint64_t total, const char *unit)
{
    const struct reticent *q = user;
    context_progress(q->caller, stage, done, total, unit);
}

/* From here on until tell_all(), in a case that releases something. */
static void tell_no_warnings(struct reticent *q, struct run *r, size_t index)
{
    *q = (struct reticent){.run = r, .caller = r->ctx};
    if (r->config.cases[index].protection_count == 0 || !r->ctx)
        return;
    q->own = *r->ctx;
    q->own.user = q;
    q->own.log = log_but_warnings;
    q->own.progress = pass_progress;
    r->ctx = &q->own;
}

static void tell_all(const struct reticent *q)
{
    q->run->ctx = q->caller;
}

/* What is measured before anything is released. */
static sotto_status measure_case(struct run *r, size_t index)
{
    sotto_status status = SOTTO_OK;
    TRY(r->config.cases[index].fine_tune ? run_stage_fine_tune(r, index) : run_stage_head(r, index));
    if (run_has_sensitivity(&r->config.cases[index]))
        TRY(run_stage_sensitivity(r, index));
    if (run_has_shadow(r, index))
        TRY(run_stage_shadow(r, index));
done:
    return status;
}

/* A release tells its own warnings, which know no record. */
static sotto_status protect_model(struct run *r, const struct run_model *m, struct reticent *quiet)
{
    tell_all(quiet);
    const sotto_status status = run_stage_protect(r, m);
    tell_no_warnings(quiet, r, m->index);
    return status;
}

/* Releases of all cases are planned together, so all heads come first. */
static sotto_status train_case(struct run *r, size_t index)
{
    struct reticent quiet;
    tell_no_warnings(&quiet, r, index);
    const sotto_status status = measure_case(r, index);
    tell_all(&quiet);
    return status;
}

static sotto_status run_case(struct run *r, size_t index)
{
    sotto_status status = SOTTO_OK;
    struct run_model m;
    struct reticent quiet;
    tell_no_warnings(&quiet, r, index);
    for (long p = -1; p < (long)r->config.cases[index].protection_count; p++) {
        run_model_name(&m, r, index, p);
        if (p >= 0)
            TRY(protect_model(r, &m, &quiet));
        TRY(run_stage_canaries(r, &m));
        TRY(run_stage_measure(r, &m));
    }
    TRY(run_stage_sweep(r, index));
done:
    tell_all(&quiet);
    return status;
}

/* What of a case is independent of releases. *blocked: something can be done only when other processes are ready. */
static sotto_status work_on_case(bool *blocked, struct run *r, size_t index)
{
    sotto_status status = SOTTO_OK;
    const struct run_case *c = &r->config.cases[index];
    const size_t before = r->folder.busy;
    struct run_model m;
    struct reticent quiet;
    tell_no_warnings(&quiet, r, index);
    TRY(c->fine_tune ? run_stage_fine_tune(r, index) : run_stage_head(r, index));
    if (r->folder.busy > before) {
        *blocked = true;
        goto done;
    }
    if (run_has_sensitivity(c))
        TRY(run_stage_sensitivity(r, index));
    if (run_has_shadow(r, index))
        TRY(run_stage_shadow(r, index));
    if (r->folder.busy > before) {
        *blocked |= r->options->shards < 2; /* a part is done with its own shadow models */
        goto done;
    }
    run_model_name(&m, r, index, -1);
    TRY(run_stage_measure(r, &m));
    if (r->folder.busy > before)
        *blocked |= r->options->shards < 2;
    else
        TRY(run_stage_sweep(r, index));
done:
    tell_all(&quiet);
    return status;
}

static sotto_status run_prepare(struct run *r)
{
    sotto_status status = SOTTO_OK;
    TRY(run_stage_split(r));
    TRY(check_sizes(r));
    TRY(run_check_networks(r));
    TRY(run_stage_pretrain(r));
    TRY(run_stage_embed(r));
done:
    return status;
}

static sotto_status run_work(struct run *r)
{
    sotto_status status = SOTTO_OK;
    TRY(run_prepare(r));
    for (unsigned turn = 0;; turn++) {
        bool blocked = false;
        if (r->config.evaluate_encoder)
            TRY(run_stage_encoder(r));
        for (size_t i = 0; i < r->config.case_count; i++)
            TRY(work_on_case(&blocked, r, i));
        if (!blocked)
            break;
        TRY(claim_wait(turn, r->ctx));
    }
done:
    return status;
}

/* Once through all stages, of which none is done: what stands in r->folder.survey. */
static sotto_status run_look(struct run *r)
{
    sotto_status status = SOTTO_OK;
    bool blocked;
    TRY(run_prepare(r));
    if (r->folder.busy > 0) { /* there are no embeddings yet */
        for (size_t i = 0; i < r->config.case_count; i++)
            run_plan_shadows(r, i);
        goto done;
    }
    if (r->config.evaluate_encoder)
        TRY(run_stage_encoder(r));
    for (size_t i = 0; i < r->config.case_count; i++)
        TRY(work_on_case(&blocked, r, i));
done:
    return status;
}

static sotto_status run_stages(struct run *r)
{
    sotto_status status = SOTTO_OK;
    TRY(run_prepare(r));
    if (r->config.evaluate_encoder)
        TRY(run_stage_encoder(r));
    for (size_t i = 0; i < r->config.case_count; i++)
        TRY(train_case(r, i));
    TRY(run_plan_releases(r));
    for (size_t i = 0; i < r->config.case_count; i++)
        TRY(run_case(r, i));
    TRY(run_check_encoder(r));
    TRY(run_copy_ledgers(r));
    TRY(run_report(r));
done:
    return status;
}

/* Does the experiment; or, where plan_json is given, tells what is left. */
static sotto_status run_execute(char **folder, char **plan_json, char **plan_text, const char *config_path,
                                const char *config_text, const char *config_name,
                                const struct sotto_run_options *options, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    static const struct sotto_run_options none;
    options = options ? options : &none;
    struct run r = {.options = options, .ctx = ctx, .folder = {.lock = -1}};
    char *resolved = NULL, *kept = NULL;
    char path[RUN_PATH];
    const bool worker = options->worker || options->shards > 1 || plan_json;
    int pool = par_set_threads(par_threads(ctx));
    REQUIRE(options->shards == 0 || options->shard < options->shards,
            "run: shard %zu of %zu; expected 0 .. shards - 1", options->shard, options->shards);
    if (worker && options->fresh)
        FAIL(SOTTO_EUSAGE, "run: workers share one folder; omit {fresh}");
    TRY(run_config_read(&r.config, &resolved, config_path, config_text, config_name, options->overrides));
    TRY(choose_folder(path, &r.config, options));
    TRY(worker ? run_folder_join(&r.folder, path, ctx) : run_folder_open(&r.folder, path, ctx));
    if (!plan_json)
        TRY(worker ? check_config(&r, resolved) : keep_config(&r, config_path, config_text, resolved));
    context_log(ctx, SOTTO_LOG_INFO, "run folder: %s", path);
    if (plan_json) {
        r.folder.looks = true;
        r.folder.survey = json_make_array();
        TRY(run_look(&r));
        TRY(run_plan_encode(plan_json, plan_text, &r));
        goto done;
    }
    TRY(worker ? run_work(&r) : run_stages(&r));
    if (!worker)
        run_folder_tidy(&r.folder);
    NEW_TEXT(kept, path);
    *folder = kept;
done:
    par_set_threads(pool);
    sotto_text_free(resolved);
    run_slots_clear(&r);
    sotto_array_clear(&r.private_x);
    sotto_array_clear(&r.private_y);
    sotto_array_clear(&r.heldout_x);
    sotto_array_clear(&r.heldout_y);
    sotto_array_clear(&r.shadow_x);
    sotto_array_clear(&r.shadow_y);
    split_clear(&r.split);
    if (r.public_data != r.data)
        sotto_dataset_free(r.public_data);
    sotto_dataset_free(r.data);
    run_folder_close(&r.folder);
    return status;
}

sotto_status sotto_run(char **folder, const char *config_path, const char *config_text,
                       const char *config_name, const struct sotto_run_options *options,
                       const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(folder, config_path || config_text, config_path || config_name);
    return run_execute(folder, NULL, NULL, config_path, config_text, config_name, options, ctx);
}

sotto_status sotto_run_plan(char **json, char **text, const char *config_path, const char *config_text,
                            const char *config_name, const struct sotto_run_options *options,
                            const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(json, text, config_path || config_text, config_path || config_name);
    return run_execute(NULL, json, text, config_path, config_text, config_name, options, ctx);
}
