/* The stage hash covers the key that the stage gives (its part of the config, input hashes, seed, dtype,
 * instruction set, threads), the stage's name and RUN_FORMAT, not the build: a rebuilt program reuses what it
 * did before. */
#include "run/run_folder/run_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One process at a time: the lock lives as long as the descriptor. */
static sotto_status run_folder_lock(int *fd, const char *path)
{
    sotto_status status = SOTTO_OK;
    char name[RUN_PATH];
    *fd = -1;
    TRY(path_join(name, sizeof name, path, ".lock"));
    *fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (*fd < 0)
        FAIL(SOTTO_ECREATE, "%s: %s", name, strerror(errno));
    if (flock(*fd, LOCK_EX | LOCK_NB) != 0) {
        close(*fd);
        *fd = -1;
        FAIL(SOTTO_EAGAIN,
             "%s: another 'sotto run' is using this folder; wait for it, or give another {output}", path);
    }
done:
    return status;
}

static sotto_status open_folder(struct run_folder *f, const char *path, bool worker,
                                const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    char file[RUN_PATH];
    *f = (struct run_folder){.lock = -1, .worker = worker, .ctx = ctx};
    if (snprintf(f->path, sizeof f->path, "%s", path) >= (int)sizeof f->path - 256)
        FAIL(SOTTO_EINVAL, "%.40s...: path is too long", path);
    TRY(folder_make(path));
    if (!worker)
        TRY(run_folder_lock(&f->lock, path));
    if (worker)
        TRY(run_folder_path(file, f, "tasks/shadow/x"));
    TRY(run_folder_path(file, f, "run.json"));
    if (file_exists(file)) {
        const char *schema;
        TRY(json_read_file(&f->document, file));
        TRY(json_get_text(&schema, f->document, file, "schema"));
        if (strcmp(schema, "sotto.run/1") != 0)
            FAIL(SOTTO_EFORMAT, "%s: schema is '%s'; expected 'sotto.run/1'", file, schema);
    } else {
        f->document = json_make_object();
        json_put_text(&f->document, "schema", "sotto.run/1");
        json_put(&f->document, "stages", json_make_object());
    }
done:
    if (status != SOTTO_OK)
        run_folder_close(f);
    return status;
}

sotto_status run_folder_open(struct run_folder *f, const char *path, const struct sotto_context *ctx)
{
    return open_folder(f, path, false, ctx);
}

sotto_status run_folder_join(struct run_folder *f, const char *path, const struct sotto_context *ctx)
{
    return open_folder(f, path, true, ctx);
}

bool run_folder_tasks(char out[RUN_PATH], const struct run_folder *f)
{
    return path_join(out, RUN_PATH, f->path, "tasks") == SOTTO_OK && file_is_folder(out);
}

void run_folder_tidy(const struct run_folder *f)
{
    static const struct {
        const char *name, *ending;
    } tasks[] = {{"tasks", ".json"}, {"tasks/shadow", ".json"}, {"tasks/pairs", ".safetensors"}};
    char folder[RUN_PATH];
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        if (path_join(folder, sizeof folder, f->path, tasks[i].name) == SOTTO_OK)
            claims_tidy(folder, tasks[i].ending);
}

void run_folder_close(struct run_folder *f)
{
    claims_close(f->claims);
    f->claims = NULL;
    json_free(f->survey);
    f->survey = NULL;
    json_free(f->document);
    f->document = NULL;
    if (f->lock >= 0)
        close(f->lock);
    f->lock = -1;
}

sotto_status run_folder_path(char out[RUN_PATH], const struct run_folder *f, const char *name)
{
    sotto_status status = SOTTO_OK;
    TRY(path_join(out, RUN_PATH, f->path, name));
    char *slash = strrchr(out, '/');
    *slash = '\0';
    status = folder_make(out);
    *slash = '/';
done:
    return status;
}

sotto_status run_folder_save(struct run_folder *f)
{
    sotto_status status = SOTTO_OK;
    char file[RUN_PATH];
    TRY(run_folder_path(file, f, "run.json"));
    TRY(json_write_file(file, f->document, JSON_PRETTY));
done:
    return status;
}

static const struct json *run_folder_finished(const struct run_folder *f, const char *name)
{
    const struct json *stages = json_member(f->document, "stages");
    return stages ? json_member(stages, name) : NULL;
}

/* A finished stage counts only while all its files are as it left them. */
static sotto_status check_files(bool *intact, const struct run_folder *f, const struct json *stage)
{
    sotto_status status = SOTTO_OK;
    const struct json *outputs = json_member(stage, "outputs");
    for (const char *name = json_first_key(outputs); name; name = json_next_key(outputs, name)) {
        char path[RUN_PATH], hex[SHA256_HEX];
        const char *expected = json_text(json_member(outputs, name));
        *intact = false;
        if (path_join(path, sizeof path, f->path, name) != SOTTO_OK)
            goto done;
        sotto_status read = sha256_file_asking(hex, path, f->ctx);
        if (read == SOTTO_ESTOPPED)
            TRY(read);
        if (read != SOTTO_OK || !expected || strcmp(hex, expected) != 0)
            goto done;
    }
    *intact = true;
done:
    return status;
}

sotto_status run_stage_begin(struct run_stage *stage, struct run_folder *f, const char *name,
                             struct json *key)
{
    sotto_status status = SOTTO_OK;
    char *text = NULL;
    bool intact = false;
    *stage = (struct run_stage){.name = name, .started = seconds_now()};
    TRY(context_check(f->ctx, "run: stopped before stage '%s'; the same command continues", name));
    json_put_text(&key, "stage", name);
    json_put_integer(&key, "format", RUN_FORMAT);
    TRY(json_dump(&text, key, JSON_LINE | JSON_SORTED));
    sha256_of(stage->hash, text, strlen(text));
    const struct json *old = run_folder_finished(f, name);
    const char *old_hash = old ? json_text(json_member(old, "hash")) : NULL;
    if (old_hash && strcmp(old_hash, stage->hash) == 0)
        TRY(check_files(&intact, f, old));
    if (intact) {
        stage->reused = true;
        stage->result = json_member(old, "result");
    }
done:
    sotto_text_free(text);
    json_free(key);
    return status;
}

static void task_name(char out[CLAIM_NAME], const struct run_stage *stage)
{
    snprintf(out, CLAIM_NAME, "%.32s", stage->hash);
}

static sotto_status task_file(char out[RUN_PATH], const struct run_folder *f, const struct run_stage *stage)
{
    char name[CLAIM_NAME + 16], short_hash[CLAIM_NAME];
    task_name(short_hash, stage);
    snprintf(name, sizeof name, "tasks/%s.json", short_hash);
    return path_join(out, RUN_PATH, f->path, name);
}

static void put_stage(struct run_folder *f, const char *name, struct json *entry)
{
    struct json *stages = json_clone(json_member(f->document, "stages"));
    json_put(&stages, name, entry);
    json_put(&f->document, "stages", stages);
}

/* What a worker left of this stage, if its files are still as it left them. */
static sotto_status run_folder_adopt(struct run_stage *stage, struct run_folder *f)
{
    sotto_status status = SOTTO_OK;
    struct json *entry = NULL;
    char path[RUN_PATH];
    bool intact = false;
    const char *hash;
    TRY(task_file(path, f, stage));
    if (stage->reused || !file_exists(path))
        goto done;
    TRY(json_read_file(&entry, path));
    TRY(json_get_text(&hash, entry, path, "hash"));
    if (strcmp(hash, stage->hash) != 0)
        FAIL(SOTTO_EFORMAT, "%s: 'hash' does not match the name of the file; remove the file", path);
    TRY(check_files(&intact, f, entry));
    if (!intact)
        goto done;
    put_stage(f, stage->name, entry);
    entry = NULL;
    if (!f->worker)
        TRY(run_folder_save(f));
    stage->reused = true;
    stage->result = json_member(run_folder_finished(f, stage->name), "result");
done:
    json_free(entry);
    return status;
}

sotto_status run_stage_find(struct run_stage *stage, struct run_folder *f, const char *name, struct json *key)
{
    sotto_status status = run_stage_begin(stage, f, name, key);
    return status == SOTTO_OK ? run_folder_adopt(stage, f) : status;
}

static void note_stage(struct run_stage *stage, struct run_folder *f)
{
    struct json *one = json_make_object();
    json_put_text(&one, "stage", stage->name);
    json_put_boolean(&one, "done", stage->reused);
    json_put_real(&one, "seconds",
                  stage->reused ? json_number(json_member(run_folder_finished(f, stage->name), "seconds"))
                                : NAN);
    json_push(&f->survey, one);
    stage->busy = !stage->reused;
    f->busy += stage->busy;
}

static void say_who(const struct run_stage *stage, const struct run_folder *f, const char *task)
{
    char owner[CLAIM_OWNER];
    claim_owner(owner, f->claims, task);
    context_log(
        f->ctx, SOTTO_LOG_INFO,
        "run: waiting for stage '%s', which another process does%s%s%s; one without a sign of life for 15 "
        "minutes is replaced",
        stage->name, owner[0] ? " (" : "", owner, owner[0] ? ")" : "");
}

/* Waits for the stage's end or for the claim on it. */
static sotto_status claim_stage(struct run_stage *stage, struct run_folder *f, bool wait)
{
    sotto_status status = SOTTO_OK;
    char folder[RUN_PATH], task[CLAIM_NAME];
    if (!run_folder_tasks(folder, f))
        goto done;
    if (!f->claims)
        TRY(claims_open(&f->claims, folder));
    task_name(task, stage);
    for (unsigned turn = 0;; turn++) {
        bool mine;
        TRY(claim_take(&mine, f->claims, task));
        TRY(run_folder_adopt(stage, f)); /* finished since the last look */
        if (mine && stage->reused)
            claim_drop(f->claims, task);
        if (mine || stage->reused)
            break;
        stage->busy = !wait && f->worker;
        f->busy += stage->busy;
        if (stage->busy)
            break;
        if (turn == 0)
            say_who(stage, f, task);
        TRY(claim_wait(turn, f->ctx));
    }
    if (!stage->reused && !stage->busy)
        stage->started = seconds_now();
done:
    return status;
}

sotto_status run_stage_share(struct run_stage *stage, struct run_folder *f, const char *name,
                             struct json *key, bool wait)
{
    sotto_status status = run_stage_find(stage, f, name, key);
    if (status != SOTTO_OK)
        return status;
    if (f->looks)
        note_stage(stage, f);
    else if (!stage->reused)
        status = claim_stage(stage, f, wait);
    return status;
}

sotto_status run_stage_end(struct run_stage *stage, struct run_folder *f, const char *const *outputs,
                           struct json *result)
{
    sotto_status status = SOTTO_OK;
    struct json *entry = json_make_object(), *files = json_make_object();
    char record[RUN_PATH], task[CLAIM_NAME];
    for (size_t i = 0; outputs && outputs[i]; i++) {
        char path[RUN_PATH], hex[SHA256_HEX];
        TRY(path_join(path, sizeof path, f->path, outputs[i]));
        TRY(sha256_file(hex, path)); /* not stopped: a release that is not recorded would be charged again */
        json_put_text(&files, outputs[i], hex);
    }
    json_put_text(&entry, "hash", stage->hash);
    json_put_real(&entry, "seconds", seconds_now() - stage->started);
    json_put(&entry, "outputs", files);
    files = NULL;
    json_put(&entry, "result", result ? result : json_make_object());
    result = NULL;
    if (f->worker) {
        TRY(task_file(record, f, stage));
        TRY(json_write_file(record, entry, JSON_PRETTY));
    }
    put_stage(f, stage->name, entry);
    entry = NULL;
    if (!f->worker)
        TRY(run_folder_save(f));
    task_name(task, stage);
    claim_drop(f->claims, task);
    stage->result = json_member(run_folder_finished(f, stage->name), "result");
done:
    json_free(result);
    json_free(files);
    json_free(entry);
    return status;
}

const char *run_stage_hash(const struct run_folder *f, const char *name)
{
    const struct json *stage = run_folder_finished(f, name);
    const char *hash = stage ? json_text(json_member(stage, "hash")) : NULL;
    return hash ? hash : "";
}
