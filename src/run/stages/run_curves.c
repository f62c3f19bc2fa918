/* Training curves for the report, from metrics.jsonl: one series per metric name, thinned to what a page can
 * draw. */
#include "run/stages/run_stages.h"

#include <math.h>
#include <string.h>

enum { CURVES = 8, CURVE_POINTS = 200 };

struct roc {
    char name[48];
    struct json *points;
    size_t seen;
};

static struct roc *find_curve(struct roc *curves, size_t *count, const char *name)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp(curves[i].name, name) == 0)
            return &curves[i];
    if (*count == CURVES)
        return NULL;
    struct roc *c = &curves[(*count)++];
    snprintf(c->name, sizeof c->name, "%s", name);
    c->points = json_make_array();
    return c;
}

static sotto_status add_line(struct roc *curves, size_t *count, const char *line, size_t length,
                             size_t stride)
{
    sotto_status status = SOTTO_OK;
    struct json *j = NULL;
    TRY(json_parse(&j, line, length, "metrics.jsonl"));
    const char *name = json_text(json_member(j, "name"));
    bool shown = name && (strcmp(name, "loss") == 0 || strcmp(name, "accuracy") == 0);
    struct roc *c = shown ? find_curve(curves, count, name) : NULL;
    if (!c || c->seen++ % stride != 0)
        goto done;
    double point[2] = {json_number(json_member(j, "step")), json_number(json_member(j, "value"))};
    if (isfinite(point[0]) && isfinite(point[1]))
        json_push(&c->points, json_make_reals(point, 2));
done:
    json_free(j);
    return status;
}

sotto_status run_training_curves(struct json **out, const struct run *r)
{
    sotto_status status = SOTTO_OK;
    char path[RUN_PATH];
    unsigned char *text = NULL;
    size_t size = 0, lines = 0, count = 0;
    struct roc curves[CURVES] = {{{0}, NULL, 0}};
    struct json *list = json_make_array();
    TRY(run_folder_path(path, &r->folder, "metrics.jsonl"));
    if (!file_exists(path)) {
        *out = list;
        return SOTTO_OK;
    }
    TRY(file_read(&text, &size, path, (size_t)1 << 30));
    for (size_t i = 0; i < size; i++)
        lines += text[i] == '\n';
    for (char *line = (char *)text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
        TRY(add_line(curves, &count, line, (size_t)(end - line), 1 + lines / (2 * CURVE_POINTS)));
    for (size_t i = 0; i < count; i++) {
        struct json *chart = json_make_object(), *all = json_make_array(), *series = json_make_object();
        char title[640];
        snprintf(title, sizeof title, "Pre-training: %s", curves[i].name);
        json_put_text(&chart, "title", title);
        json_put_text(&chart, "x", "step");
        json_put_text(&series, "name", curves[i].name);
        json_put(&series, "points", curves[i].points);
        curves[i].points = NULL;
        json_push(&all, series);
        json_put(&chart, "series", all);
        json_push(&list, chart);
    }
    *out = list;
    list = NULL;
done:
    for (size_t i = 0; i < count; i++)
        json_free(curves[i].points);
    base_free(text);
    json_free(list);
    return status;
}
