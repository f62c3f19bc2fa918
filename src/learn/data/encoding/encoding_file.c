/* sotto.encoding/1: the encoding as a document, beside the arrays it made and inside released heads. */
#include "data/encoding/encoding.h"

#include "base/file.h"
#include "io/json/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char schema[] = "sotto.encoding/1";

static struct json *texts_json(const struct text_list *list)
{
    struct json *out = json_make_array();
    for (size_t i = 0; i < list->count; i++)
        json_push(&out, json_make_text(list->texts[i]));
    return out;
}

static struct json *column_json(const struct encoding_column *c)
{
    struct json *out = json_make_object();
    json_put_text(&out, "name", c->name);
    json_put_text(&out, "kind", column_kinds[c->kind]);
    if (c->kind == COLUMN_NUMBER) {
        const double bounds[2] = {c->low, c->high};
        json_put(&out, "bounds", isfinite(c->low) ? json_make_reals(bounds, 2) : json_make_null());
        json_put_real(&out, "centre", c->centre);
        json_put_real(&out, "scale", c->scale);
        json_put_real(&out, "missing", c->missing);
        if (c->form != NUMBER_POINT)
            json_put_text(&out, "form", number_forms[c->form]);
        if (c->was_missing)
            json_put_boolean(&out, "was_missing", true);
    } else if (c->kind == COLUMN_CATEGORY) {
        json_put(&out, "categories", texts_json(&c->categories));
        if (c->prefix)
            json_put_integer(&out, "prefix", (int64_t)c->prefix);
        if (c->other < c->categories.count)
            json_put_text(&out, "other", c->categories.texts[c->other]);
    }
    return out;
}

static struct json *encoding_json(const struct sotto_table_encoding *e)
{
    struct json *doc = json_make_object(), *columns = json_make_array(), *label = json_make_object();
    json_put_text(&doc, "schema", schema);
    json_put_text(&doc, "encoding", sotto_encoding_name(e->how));
    json_put_text(&doc, "by", e->by);
    json_put_boolean(&doc, "header", e->header);
    if (e->text != TEXT_UTF8)
        json_put_text(&doc, "text", text_encodings[e->text]);
    json_put(&doc, "missing", texts_json(&e->missing));
    for (size_t j = 0; j < e->count; j++)
        json_push(&columns, column_json(&e->columns[j]));
    json_put(&doc, "columns", columns);
    json_put_text(&label, "name", e->label);
    json_put_integer(&label, "position", (int64_t)e->label_at);
    json_put(&label, "class_names", texts_json(&e->classes));
    json_put_text(&label, "other", e->classes.texts[e->other_class]);
    json_put(&doc, "label", label);
    json_put_integer(&doc, "width", (int64_t)sotto_table_encoding_width(e));
    return doc;
}

static sotto_status copy_text(char **out, const struct json *doc, const char *name, const char *path)
{
    sotto_status status = SOTTO_OK;
    const char *text;
    TRY(json_get_text(&text, doc, name, path));
    NEW_TEXT(*out, text);
done:
    return status;
}

static sotto_status read_texts(struct text_list *out, const struct json *doc, const char *name,
                               const char *path)
{
    sotto_status status = SOTTO_OK;
    const struct json *list;
    TRY(json_get_array(&list, doc, name, path));
    for (size_t i = 0; i < json_count(list); i++) {
        const char *text = json_text(json_at(list, i));
        if (!text)
            FAIL(SOTTO_EFORMAT, "%s: '%s[%zu]' is not a text", name, path, i);
        TRY(text_list_add(out, text));
    }
done:
    return status;
}

/* Which text of the list a member names; list->count where there is none. */
static sotto_status read_other(size_t *out, const struct text_list *list, const struct json *doc,
                               const char *name, const char *path)
{
    sotto_status status = SOTTO_OK;
    const char *text;
    *out = list->count;
    if (!json_find(doc, path))
        goto done;
    TRY(json_get_text(&text, doc, name, path));
    *out = text_list_find(list, (struct cell){text, NAN, 0});
    if (*out == list->count)
        FAIL(SOTTO_EFORMAT, "%s: '%s' is '%.40s', which is not one of the listed values", name, path, text);
done:
    return status;
}

static sotto_status read_form(enum number_form *out, const struct json *doc, const char *name)
{
    sotto_status status = SOTTO_OK;
    const char *text;
    int k = 0;
    if (!json_find(doc, "form"))
        goto done;
    TRY(json_get_text(&text, doc, name, "form"));
    while (k < NUMBER_FORMS && strcmp(text, number_forms[k]) != 0)
        k++;
    if (k == NUMBER_FORMS)
        FAIL(SOTTO_EFORMAT, "%s: 'form' is '%.40s'; expected point, comma or date", name, text);
    *out = (enum number_form)k;
done:
    return status;
}

static sotto_status read_number(struct encoding_column *c, const struct json *doc, const char *name)
{
    sotto_status status = SOTTO_OK;
    const struct json *bounds = json_find(doc, "bounds");
    TRY(read_form(&c->form, doc, name));
    if (json_find(doc, "was_missing"))
        TRY(json_get_boolean(&c->was_missing, doc, name, "was_missing"));
    TRY(json_get_real(&c->centre, doc, name, "centre"));
    TRY(json_get_real(&c->scale, doc, name, "scale"));
    TRY(json_get_real(&c->missing, doc, name, "missing"));
    if (json_kind(bounds) == JSON_KIND_NULL)
        goto done;
    if (json_kind(bounds) != JSON_KIND_ARRAY || json_count(bounds) != 2)
        FAIL(SOTTO_EFORMAT, "%s: 'bounds' of column '%.80s' are not [low, high] or null", name, c->name);
    c->low = json_number(json_at(bounds, 0));
    c->high = json_number(json_at(bounds, 1));
done:
    return status;
}

static sotto_status read_column(struct encoding_column *c, const struct json *doc, const char *name)
{
    sotto_status status = SOTTO_OK;
    const char *kind;
    int k = 0;
    TRY(copy_text(&c->name, doc, name, "name"));
    TRY(json_get_text(&kind, doc, name, "kind"));
    while (k < COLUMN_KINDS && strcmp(kind, column_kinds[k]) != 0)
        k++;
    if (k == COLUMN_KINDS)
        FAIL(SOTTO_EFORMAT, "%s: column '%.80s' is of kind '%.40s'; expected number, category or ignore",
             name, c->name, kind);
    c->kind = (enum column_kind)k;
    if (c->kind == COLUMN_NUMBER)
        TRY(read_number(c, doc, name));
    if (c->kind == COLUMN_CATEGORY) {
        TRY(read_texts(&c->categories, doc, name, "categories"));
        if (json_find(doc, "prefix"))
            TRY(json_get_size(&c->prefix, doc, name, "prefix"));
        TRY(read_other(&c->other, &c->categories, doc, name, "other"));
    }
done:
    return status;
}

static sotto_status read_how(enum sotto_encoding *out, const struct json *doc, const char *name)
{
    sotto_status status = SOTTO_OK;
    const char *how;
    TRY(json_get_text(&how, doc, name, "encoding"));
    for (int k = SOTTO_ENCODING_PUBLIC; k <= SOTTO_ENCODING_FITTED; k++)
        if (strcmp(how, sotto_encoding_name((enum sotto_encoding)k)) == 0) {
            *out = (enum sotto_encoding)k;
            goto done;
        }
    FAIL(SOTTO_EFORMAT, "%s: 'encoding' is '%.40s'; expected public, declared, released or fitted", name,
         how);
done:
    return status;
}

static sotto_status read_label(struct sotto_table_encoding *e, const struct json *doc, const char *name)
{
    sotto_status status = SOTTO_OK;
    TRY(copy_text(&e->label, doc, name, "label.name"));
    TRY(json_get_size(&e->label_at, doc, name, "label.position"));
    TRY(read_texts(&e->classes, doc, name, "label.class_names"));
    TRY(read_other(&e->other_class, &e->classes, doc, name, "label.other"));
    if (e->other_class == e->classes.count)
        e->other_class = 0;
    if (e->label_at > e->count)
        FAIL(SOTTO_EFORMAT, "%s: 'label.position' is %zu; expected at most %zu", name, e->label_at, e->count);
done:
    return status;
}

static sotto_status read_text_encoding(enum text_encoding *out, const struct json *doc, const char *name)
{
    sotto_status status = SOTTO_OK;
    const char *text;
    if (!json_find(doc, "text"))
        goto done;
    TRY(json_get_text(&text, doc, name, "text"));
    if (!text_encoding_named(out, text))
        FAIL(SOTTO_EFORMAT, "%s: 'text' is '%.40s'; expected utf-8, latin-1 or windows-1252", name, text);
done:
    return status;
}

static sotto_status encoding_parse(struct sotto_table_encoding **out, const struct json *doc,
                                   const char *name)
{
    sotto_status status = SOTTO_OK;
    struct sotto_table_encoding *e = NULL;
    const struct json *columns;
    const char *text;
    size_t width;
    TRY(json_get_text(&text, doc, name, "schema"));
    if (strcmp(text, schema) != 0)
        FAIL(SOTTO_EFORMAT, "%s: 'schema' is '%.40s'; expected %s", name, text, schema);
    TRY(json_get_array(&columns, doc, name, "columns"));
    TRY(encoding_create(&e, json_count(columns)));
    TRY(read_how(&e->how, doc, name));
    TRY(json_get_text_into(e->by, sizeof e->by, doc, name, "by"));
    TRY(json_get_boolean(&e->header, doc, name, "header"));
    TRY(read_text_encoding(&e->text, doc, name));
    TRY(read_texts(&e->missing, doc, name, "missing"));
    for (size_t j = 0; j < e->count; j++)
        TRY(read_column(&e->columns[j], json_at(columns, j), name));
    TRY(read_label(e, doc, name));
    TRY(encoding_check(e, SOTTO_EFORMAT, name));
    TRY(json_get_size(&width, doc, name, "width"));
    if (width != sotto_table_encoding_width(e))
        FAIL(SOTTO_EFORMAT, "%s: 'width' is %zu; the columns add up to %zu", name, width,
             sotto_table_encoding_width(e));
    *out = e;
    e = NULL;
done:
    sotto_table_encoding_free(e);
    return status;
}

sotto_status sotto_table_encoding_load(struct sotto_table_encoding **out, const char *path)
{
    REQUIRE_GIVEN(out, path);
    sotto_status status = SOTTO_OK;
    struct json *doc = NULL;
    TRY(json_read_file(&doc, path));
    TRY(encoding_parse(out, doc, path));
done:
    json_free(doc);
    return status;
}

sotto_status sotto_table_encoding_parse(struct sotto_table_encoding **out, const char *text, const char *name)
{
    REQUIRE_GIVEN(out, text, name);
    sotto_status status = SOTTO_OK;
    struct json *doc = NULL;
    TRY(json_parse(&doc, text, strlen(text), name));
    TRY(encoding_parse(out, doc, name));
done:
    json_free(doc);
    return status;
}

sotto_status encoding_text(char **json, const struct sotto_table_encoding *e)
{
    REQUIRE_GIVEN(json, e);
    struct json *doc = encoding_json(e);
    sotto_status status = json_dump(json, doc, JSON_LINE);
    json_free(doc);
    return status;
}

sotto_status encoding_save(const char *path, const struct sotto_table_encoding *e)
{
    struct json *doc = encoding_json(e);
    sotto_status status = json_write_file(path, doc, JSON_PRETTY);
    json_free(doc);
    return status;
}

sotto_status encoding_beside(struct sotto_table_encoding **out, const char *features)
{
    REQUIRE_GIVEN(out, features);
    sotto_status status = SOTTO_OK;
    struct sotto_provenance p = {0};
    struct sotto_table_encoding *e = NULL;
    char path[4096];
    const char *slash = strrchr(features, '/');
    int length = slash ? (int)(slash - features) + 1 : 0;
    if (snprintf(path, sizeof path, "%.*sencoding.json", length, features) >= (int)sizeof path)
        FAIL(SOTTO_EINVAL, "%s: path is too long", features);
    TRY(sotto_provenance_load(&p, features));
    bool travels = p.encoding != SOTTO_ENCODING_NONE && p.encoding != SOTTO_ENCODING_FITTED;
    if (travels && file_exists(path))
        TRY(sotto_table_encoding_load(&e, path));
    if (e && e->how == p.encoding) {
        *out = e;
        e = NULL;
    }
done:
    sotto_table_encoding_free(e);
    sotto_provenance_clear(&p);
    return status;
}
