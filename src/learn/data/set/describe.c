/* What the verbs print: the list of sets, the facts on one, and whether its contents still are what was
 * recorded. */
#include "base/file.h"
#include "data/format/format.h"
#include "data/set/summary.h"
#include "data/store/store.h"
#include "io/json/json.h"
#include "sotto/private/print.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* One line of the list. */
struct listed {
    const char *name, *title, *state, *licence;
    char where[4096];
    const char *obtain, *options;
    size_t n; /* 0: not known without opening it */
};
typedef sotto_status (*list_visitor)(void *arg, const struct listed *line);

static sotto_status visit_registered(list_visitor visit, void *arg)
{
    sotto_status status = SOTTO_OK;
    for (const struct dataset_source *const *s = dataset_sources; *s; s++) {
        struct listed line = {
            .name = (*s)->name, .title = (*s)->title, .licence = (*s)->licence, .state = "missing"};
        struct store_summary summary;
        bool imported = store_find(line.where, sizeof line.where, (*s)->name);
        if (!imported)
            line.where[0] = '\0';
        if ((*s)->synthetic) {
            line.state = "generated";
            line.options = (*s)->options;
        } else if (imported) {
            line.state = store_summarise(&summary, line.where) == SOTTO_OK ? "imported" : "damaged";
            line.n = strcmp(line.state, "imported") == 0 ? summary.n : 0;
        } else if ((*s)->locate) {
            (*s)->locate(line.where, sizeof line.where);
            line.state = line.where[0] ? "found" : "missing";
        }
        if (strcmp(line.state, "missing") == 0)
            line.obtain = (*s)->obtain;
        TRY(visit(arg, &line));
    }
done:
    return status;
}

static sotto_status visit_imported(list_visitor visit, void *arg)
{
    sotto_status status = SOTTO_OK;
    char **names = NULL;
    size_t count = 0;
    TRY(store_names(&names, &count));
    for (size_t i = 0; i < count; i++) {
        struct listed line = {.name = names[i], .title = "", .licence = "", .state = "imported"};
        struct store_summary summary;
        if (dataset_source_find(names[i]))
            continue; /* listed above */
        if (store_find(line.where, sizeof line.where, names[i]) &&
            store_summarise(&summary, line.where) == SOTTO_OK) {
            line.title = summary.title;
            line.n = summary.n;
        } else {
            line.state = "damaged";
        }
        TRY(visit(arg, &line));
    }
done:
    store_names_free(names, count);
    return status;
}

static sotto_status put_line(void *arg, const struct listed *line)
{
    struct json **sets = arg, *one = json_make_object();
    json_put_text(&one, "name", line->name);
    json_put_text(&one, "title", line->title);
    json_put_text(&one, "state", line->state);
    json_put_text(&one, "where", line->where[0] ? line->where : NULL);
    json_put_text(&one, "obtain", line->obtain);
    json_put_text(&one, "options", line->options);
    json_put_text(&one, "licence", line->licence);
    json_put(&one, "n", line->n ? json_make_integer((int64_t)line->n) : json_make_null());
    json_push(sets, one);
    return SOTTO_OK;
}

sotto_status sotto_data_list(char **json)
{
    REQUIRE_GIVEN(json);
    sotto_status status = SOTTO_OK;
    struct json *doc = json_make_object(), *sets = json_make_array(), *formats = json_make_array();
    char folder[4096];
    TRY(store_folder(folder, sizeof folder));
    TRY(visit_registered(put_line, &sets));
    TRY(visit_imported(put_line, &sets));
    for (const struct dataset_format *const *f = dataset_formats; *f; f++) {
        struct json *one = json_make_object();
        json_put_text(&one, "name", (*f)->name);
        json_put_text(&one, "layout", (*f)->layout);
        json_push(&formats, one);
    }
    json_put_text(&doc, "schema", "sotto.data-list/1");
    json_put_text(&doc, "folder", folder);
    json_put(&doc, "sets", sets);
    json_put(&doc, "formats", formats);
    sets = formats = NULL;
    TRY(json_dump(json, doc, JSON_PRETTY));
done:
    json_free(sets);
    json_free(formats);
    json_free(doc);
    return status;
}

struct text {
    char *data;
    size_t used, capacity;
};

static sotto_status text_add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static sotto_status text_add(struct text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (t->used + (size_t)length + 1 > t->capacity) {
        size_t capacity = 2 * (t->used + (size_t)length + 1);
        char *grown = base_regrow(t->data, t->used, capacity, 1);
        if (!grown)
            return status_fail(SOTTO_ENOMEM, "data list: out of memory");
        t->data = grown;
        t->capacity = capacity;
    }
    va_start(args, format);
    vsnprintf(t->data + t->used, t->capacity - t->used, format, args);
    va_end(args);
    t->used += (size_t)length;
    return SOTTO_OK;
}

static sotto_status print_line(void *arg, const struct listed *line)
{
    sotto_status status = SOTTO_OK;
    char count[32] = "";
    if (line->n)
        snprintf(count, sizeof count, "%zu records, ", line->n);
    TRY(text_add(arg, "%-18s %-10s %s\n", line->name, line->state, line->title));
    if (line->where[0])
        TRY(text_add(arg, "%30s%s%s\n", "", count, line->where));
    if (line->options)
        TRY(text_add(arg, "%30soptions: %s\n", "", line->options));
    if (line->obtain)
        TRY(text_add(arg, "%30sto get it: %s\n", "", line->obtain));
done:
    return status;
}

sotto_status sotto_data_table(char **text)
{
    REQUIRE_GIVEN(text);
    sotto_status status = SOTTO_OK;
    struct text t = {0};
    char folder[4096];
    TRY(store_folder(folder, sizeof folder));
    TRY(visit_registered(print_line, &t));
    TRY(visit_imported(print_line, &t));
    TRY(text_add(&t, "\nImported sets live in %s. A set is also named by a path in one of these layouts:\n\n",
                 folder));
    for (const struct dataset_format *const *f = dataset_formats; *f; f++)
        TRY(text_add(&t, "  %-14s %s\n", (*f)->name, (*f)->layout));
    *text = t.data;
    t.data = NULL;
done:
    base_free(t.data);
    return status;
}

static struct json *count_values(const int64_t *column, size_t n, size_t values)
{
    size_t *counts = base_alloc(values, sizeof *counts);
    struct json *list = NULL;
    for (size_t i = 0; counts && i < n; i++)
        counts[column[i]]++;
    if (counts)
        list = json_make_counts(counts, values);
    base_free(counts);
    return list;
}

static struct json *list_names(const char *const *names, size_t count)
{
    struct json *list = names ? json_make_array() : json_make_null();
    for (size_t k = 0; names && k < count; k++)
        json_push(&list, json_make_text(names[k]));
    return list;
}

static struct json *dataset_describe_json(const struct sotto_dataset *s, const struct dataset *d)
{
    struct json *doc = json_make_object();
    json_put_text(&doc, "schema", "sotto.data-info/1");
    json_put_text(&doc, "name", s->name);
    json_put_text(&doc, "dataset_id", s->dataset_id[0] ? s->dataset_id : NULL);
    json_put_text(&doc, "title", s->title);
    json_put_text(&doc, "origin", s->origin);
    json_put_text(&doc, "licence", d->licence[0] ? d->licence : "unknown; see the origin");
    json_put_text(&doc, "sha256", s->sha256);
    json_put_boolean(&doc, "synthetic", s->synthetic);
    json_put_integer(&doc, "n", (int64_t)s->n);
    json_put_integer(&doc, "n_train", (int64_t)s->n_train);
    if (s->images) {
        json_put_text(&doc, "kind", "images");
        json_put_integer(&doc, "channels", (int64_t)s->channels);
        json_put_integer(&doc, "height", (int64_t)s->height);
        json_put_integer(&doc, "width", (int64_t)s->width);
    } else {
        json_put_text(&doc, "kind", "features");
        json_put_integer(&doc, "columns", (int64_t)s->columns);
    }
    json_put_integer(&doc, "classes", (int64_t)s->classes);
    json_put(&doc, "class_names", list_names(s->class_names, s->classes));
    if (s->labels)
        json_put(&doc, "class_counts", count_values(s->labels, s->n, s->classes));
    if (s->attribute) {
        struct json *attribute = json_make_object();
        json_put_text(&attribute, "name", s->attribute_name);
        json_put_integer(&attribute, "values", (int64_t)s->values);
        json_put(&attribute, "value_names", list_names(s->value_names, s->values));
        json_put(&attribute, "counts", count_values(s->attribute, s->n, s->values));
        json_put(&doc, "attribute", attribute);
    }
    if (d->table.separator)
        json_put(&doc, "table", store_table_json(d));
    return doc;
}

static sotto_status describe_values(struct json **to, const struct sotto_dataset *s, size_t j)
{
    sotto_status status = SOTTO_OK;
    const struct table_column *c = &dataset_behind(s)->columns[j];
    size_t *counts = NULL;
    if (c->category) {
        NEW(counts, c->code_count);
        summary_count_codes(counts, s, j);
        json_put(to, "counts", json_make_counts(counts, c->code_count));
    } else {
        struct number_range r = summary_range(s, j);
        json_put(to, "low", r.n ? json_make_real(r.low) : json_make_null());
        json_put(to, "high", r.n ? json_make_real(r.high) : json_make_null());
        json_put(to, "mean", r.n ? json_make_real(r.mean) : json_make_null());
    }
done:
    base_free(counts);
    return status;
}

static sotto_status describe_columns(struct json **doc, const struct sotto_dataset *s,
                                     const struct dataset *d)
{
    sotto_status status = SOTTO_OK;
    struct json *list = json_make_array();
    for (size_t j = 0; j < d->column_count; j++) {
        struct json *one = store_column_json(d, j);
        status = s->columns == d->column_count && s->features ? describe_values(&one, s, j) : SOTTO_OK;
        json_push(&list, one);
        TRY(status);
    }
    json_put(doc, "column_codes", list);
    list = NULL;
done:
    json_free(list);
    return status;
}

sotto_status sotto_data_info(char **json, const char *name_or_path, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(json, name_or_path);
    sotto_status status = SOTTO_OK;
    struct sotto_dataset *s = NULL;
    struct json *doc = NULL;
    TRY(sotto_dataset_open(&s, name_or_path, ctx));
    doc = dataset_describe_json(s, dataset_behind(s));
    if (dataset_behind(s)->columns)
        TRY(describe_columns(&doc, s, dataset_behind(s)));
    TRY(json_dump(json, doc, JSON_PRETTY));
done:
    json_free(doc);
    sotto_dataset_free(s);
    return status;
}

/* Compares with what was recorded: published sums, the sum of a generated set, or dataset.json. */
static sotto_status dataset_describe_check(const char **against, char hex[65], const char *name,
                                           const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_dataset *s = NULL;
    const struct dataset_source *source = dataset_source_find(name);
    char folder[4096];
    bool imported = dataset_name_is_valid(name) && store_find(folder, sizeof folder, name);
    bool generated = source && source->synthetic;
    if (!imported && !generated && source && source->verify)
        TRY(source->verify());
    TRY(sotto_dataset_open(&s, name, ctx));
    TRY(dataset_hash(hex, s, ctx));
    if (generated) {
        const bool summed = source->sha256 && strcmp(name, source->name) == 0;
        *against = summed ? "the sum recorded in sotto" : "nothing (generated; no sum on record)";
        if (summed && strcmp(hex, source->sha256) != 0)
            FAIL(SOTTO_EGATE, "%s: contents have SHA-256 %s; expected %s", name, hex, source->sha256);
    } else if (dataset_behind(s)->recorded) {
        *against = "dataset.json";
        if (strcmp(hex, s->sha256) != 0)
            FAIL(SOTTO_EGATE, "%s: contents have SHA-256 %s but dataset.json states %s; import the set again",
                 name, hex, s->sha256);
    } else if (source && source->verify) {
        *against = "the published sums of the unpacked files";
    } else {
        status = status_fail(SOTTO_EUSAGE, "%s: no SHA-256 is recorded for this path", name);
        status_hint("run 'sotto data import %s --name NAME', which records one", name);
    }
done:
    sotto_dataset_free(s);
    return status;
}

sotto_status sotto_data_verify(char **json, const char *name_or_path, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(json, name_or_path);
    sotto_status status = SOTTO_OK;
    struct json *doc = NULL;
    const char *against = "";
    char hex[65];
    REQUIRE(name_or_path && name_or_path[0], "data set: the name is empty");
    TRY(dataset_describe_check(&against, hex, name_or_path, ctx));
    doc = json_make_object();
    json_put_text(&doc, "schema", "sotto.data-verify/1");
    json_put_text(&doc, "name", name_or_path);
    json_put_boolean(&doc, "ok", true);
    json_put_text(&doc, "sha256", hex);
    json_put_text(&doc, "compared_with", against);
    TRY(json_dump(json, doc, JSON_PRETTY));
done:
    json_free(doc);
    return status;
}
