/* --plan: what is left of an experiment, and how long it takes by so many workers. */
#include "base/file.h"
#include "par/par.h"
#include "run/stages/run_stages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const workers[] = {"1", "8", "64"};
enum { WORKERS = 3 };

void run_plan_shadows(struct run *r, size_t index)
{
    const struct run_case *c = &r->config.cases[index];
    char name[RUN_NAME + 16];
    struct json *one = json_make_object();
    if (c->references == 0) {
        json_free(one);
        return;
    }
    snprintf(name, sizeof name, "shadow/%s", c->name);
    json_put_text(&one, "stage", name);
    json_put_boolean(&one, "done", false);
    json_put_integer(&one, "tasks", (int64_t)c->references);
    json_push(&r->folder.survey, one);
}

/* One line; its hours are added up. *unknown: it is not done, and no time is known. */
static void print_stage(FILE *f, const struct json *one, double hours[WORKERS], bool *unknown)
{
    const struct json *tasks = json_member(one, "tasks"), *by = json_member(one, "hours");
    const double each = json_number(json_member(one, tasks ? "seconds_each" : "seconds"));
    const double count = tasks ? json_number(tasks) : 1;
    bool done = false;
    (void)json_get_boolean(&done, one, "plan", "done"); /* always there */
    const double missing = done ? 0 : by ? json_number(json_member(one, "missing")) : count;
    char seconds[32] = "?";
    if (isfinite(each))
        snprintf(seconds, sizeof seconds, "%.3g", each);
    fprintf(f, "  %-40s %8.0f %8.0f %14s\n", json_text(json_member(one, "stage")), count, count - missing,
            seconds);
    *unknown |= missing > 0 && !(by && isfinite(each));
    for (size_t i = 0; missing > 0 && by && isfinite(each) && i < WORKERS; i++)
        hours[i] += json_number(json_member(by, workers[i]));
}

static sotto_status print_text(char **out, const struct run *r)
{
    sotto_status status = SOTTO_OK;
    char *lines = NULL, *kept = NULL;
    size_t size;
    double hours[WORKERS] = {0}, bytes = 0;
    bool unknown = false;
    FILE *f = open_memstream(&lines, &size);
    if (!f)
        FAIL(SOTTO_ENOMEM, "run: out of memory for the plan");
    fprintf(f, "%s, workers of %d threads\n  %-40s %8s %8s %14s\n", r->folder.path, par_threads(r->ctx),
            "stage", "tasks", "done", "seconds each");
    for (size_t i = 0; i < json_count(r->folder.survey); i++) {
        const struct json *one = json_at(r->folder.survey, i);
        const double b = json_number(json_member(one, "bytes"));
        print_stage(f, one, hours, &unknown);
        bytes += isfinite(b) ? b : 0;
    }
    if (bytes > 0)
        fprintf(f,
                "missing shadow models and pairs: %.3g h with 1 worker, %.3g h with 8, %.3g h with 64 "
                "(predicted); all "
                "%.3g "
                "MB on disk\n",
                hours[0], hours[1], hours[2], bytes / 1e6);
    if (unknown)
        fprintf(f, "hours are predicted when embeddings and heads are done\n");
    if (fclose(f) != 0)
        FAIL(SOTTO_ENOMEM, "run: out of memory for the plan");
    NEW_TEXT(kept, lines);
    *out = kept;
done:
    free(lines);
    return status;
}

sotto_status run_plan_encode(char **json, char **text, const struct run *r)
{
    sotto_status status = SOTTO_OK;
    struct json *doc = json_make_object();
    char *lines = NULL;
    json_put_text(&doc, "schema", "sotto.plan/1");
    json_put_text(&doc, "folder", r->folder.path);
    json_put_integer(&doc, "threads", par_threads(r->ctx));
    json_put(&doc, "stages", json_clone(r->folder.survey));
    TRY(print_text(&lines, r));
    TRY(json_dump(json, doc, JSON_LINE));
    *text = lines;
    lines = NULL;
done:
    base_free(lines);
    json_free(doc);
    return status;
}
