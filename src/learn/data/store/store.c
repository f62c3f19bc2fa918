/* The files of an imported set. dataset.json (schema sotto.dataset/1, docs/FORMATS.md) is written last, so a
 * folder that has one is whole. */
#include "data/store/store.h"
#include "sotto/private/io.h"

#include "base/file.h"
#include "base/sha256.h"
#include "io/array/npy.h"
#include "io/json/json.h"

#include <stdio.h>
#include <string.h>

enum { STREAM_BLOCK = 512 }; /* images */

static const char schema[] = "sotto.dataset/1", person_schema[] = "sotto.dataset/2";

static struct json *describe_shape(const struct sotto_dataset *s)
{
    struct json *shape = json_make_object();
    if (s->channels > 0) {
        json_put_integer(&shape, "channels", (int64_t)s->channels);
        json_put_integer(&shape, "height", (int64_t)s->height);
        json_put_integer(&shape, "width", (int64_t)s->width);
    } else {
        json_put_integer(&shape, "columns", (int64_t)s->columns);
    }
    return shape;
}

static struct json *row_range(size_t from, size_t to)
{
    const size_t range[2] = {from, to};
    return json_make_counts(range, 2);
}

static struct json *describe_names(const char *const *names, size_t count)
{
    struct json *list = names ? json_make_array() : json_make_null();
    for (size_t k = 0; names && k < count; k++)
        json_push(&list, json_make_text(names[k]));
    return list;
}

struct json *store_column_json(const struct dataset *d, size_t j)
{
    const struct table_column *c = &d->columns[j];
    struct json *one = json_make_object();
    json_put_text(&one, "name", c->name);
    json_put_text(&one, "kind", c->category ? "category" : "number");
    if (c->category)
        json_put(&one, "codes", describe_names((const char *const *)c->codes, c->code_count));
    if (c->form != NUMBER_POINT)
        json_put_text(&one, "form", c->form == NUMBER_DATE ? "date" : "comma");
    if (d->table.separator) {
        json_put_integer(&one, "missing", (int64_t)c->missing);
        json_put_integer(&one, "unforeseen", (int64_t)c->unforeseen);
    }
    return one;
}

static struct json *columns_json(const struct dataset *d)
{
    struct json *list = json_make_array();
    for (size_t j = 0; j < d->column_count; j++)
        json_push(&list, store_column_json(d, j));
    return list;
}

struct json *store_table_json(const struct dataset *d)
{
    const char separator[2] = {d->table.separator};
    struct json *one = json_make_object();
    json_put_text(&one, "separator", separator);
    json_put_boolean(&one, "header", d->table.header);
    json_put_integer(&one, "left_out", (int64_t)d->table.left_out);
    if (d->table.missing)
        json_put_text(&one, "missing", d->table.missing);
    if (d->table.text != TEXT_UTF8)
        json_put_text(&one, "text", text_encodings[d->table.text]);
    return one;
}

/* NULL: not enough memory, since the text was written by json_dump(). */
static struct json *encoding_of(const struct dataset *d)
{
    struct json *doc = NULL;
    return json_parse(&doc, d->encoding, strlen(d->encoding), d->set.name) == SOTTO_OK ? doc : NULL;
}

static struct json *store_describe(const struct dataset *d, const struct store_source *source)
{
    const struct sotto_dataset *s = &d->set;
    struct json *doc = json_make_object(), *splits = json_make_object(), *from = json_make_object(),
                *attribute = json_make_object();
    json_put_text(&doc, "schema", d->rows_per_person ? person_schema : schema);
    json_put_text(&doc, "name", s->name);
    json_put_text(&doc, "dataset_id", s->dataset_id);
    json_put_text(&doc, "title", s->title);
    json_put_text(&doc, "origin", s->origin);
    json_put_text(&doc, "licence", d->licence[0] ? d->licence : "unknown; see the origin");
    json_put_text(&doc, "sha256", s->sha256);
    json_put_boolean(&doc, "synthetic", s->synthetic);
    json_put_integer(&doc, "n", (int64_t)s->n);
    json_put(&doc, s->channels > 0 ? "images" : "features", describe_shape(s));
    json_put(&splits, "train", row_range(0, s->n_train));
    json_put(&splits, "test", row_range(s->n_train, s->n));
    json_put(&doc, "splits", splits);
    json_put_integer(&doc, "classes", (int64_t)s->classes);
    json_put(&doc, "class_names", describe_names(s->class_names, s->classes));
    if (s->attribute) {
        json_put_text(&attribute, "name", s->attribute_name);
        json_put_integer(&attribute, "values", (int64_t)s->values);
        json_put(&attribute, "value_names", describe_names(s->value_names, s->values));
        json_put(&doc, "attribute", attribute);
    } else {
        json_free(attribute);
    }
    if (d->columns)
        json_put(&doc, "columns", columns_json(d));
    if (d->table.separator)
        json_put(&doc, "table", store_table_json(d));
    if (d->label_column[0])
        json_put_text(&doc, "label_column", d->label_column);
    if (d->encoding)
        json_put(&doc, "encoding", encoding_of(d));
    if (d->person[0]) {
        struct json *person = json_make_object();
        json_put_text(&person, "column", d->person);
        json_put_integer(&person, "rows", (int64_t)d->rows_per_person);
        json_put(&doc, "person", person);
    }
    json_put_text(&from, "file", source->file);
    json_put_text(&from, "format", source->format);
    json_put_text(&from, "sha256", source->sha256);
    if (source->url)
        json_put_text(&from, "url", source->url);
    json_put(&doc, "source", from);
    return doc;
}

/* Images on their way into images.npy, hashed as dataset_hash() would hash them. */
static sotto_status write_stream(struct dataset *d, struct sha256 *sha, const char *path,
                                 const struct sotto_array *shape, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct atomic_file f = {0};
    unsigned char header[NPY_HEADER_LIMIT];
    size_t image = d->set.channels * d->set.height * d->set.width, count;
    uint8_t *block = NULL;
    NEW_ROWS(block, STREAM_BLOCK, image);
    TRY(atomic_open(&f, path));
    atomic_write(&f, header, npy_header(header, shape));
    for (size_t row = 0; row < d->set.n; row += count) {
        count = d->set.n - row < STREAM_BLOCK ? d->set.n - row : STREAM_BLOCK;
        TRY(d->stream->read(d->stream, block, count, ctx));
        atomic_write(&f, block, count * image);
        sha256_update(sha, block, count * image);
        context_progress(ctx, "write images", row + count, d->set.n, "images");
        if (context_stopped(ctx))
            FAIL(SOTTO_ESTOPPED, "import stopped; nothing was written");
    }
    TRY(atomic_commit(&f));
done:
    atomic_discard(&f);
    base_free(block);
    return status;
}

static sotto_status write_column(const char *folder, const char *name, int64_t *column, size_t n)
{
    sotto_status status = SOTTO_OK;
    struct sotto_array a = {.dtype = SOTTO_I8, .ndim = 1, .shape = {n}, .count = n, .data = column};
    char path[4096];
    TRY(path_join(path, sizeof path, folder, name));
    TRY(sotto_npy_save(path, &a));
done:
    return status;
}

sotto_status store_write(const char *folder, struct dataset *d, const struct store_source *source,
                         const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_dataset *s = &d->set;
    struct json *doc = NULL;
    struct sha256 sha;
    char path[4096];
    struct sotto_array values = {
        .dtype = SOTTO_U1, .ndim = 4, .shape = {s->n, s->channels, s->height, s->width}};
    if (s->channels > 0) {
        values.count = s->n * s->channels * s->height * s->width;
        values.data = d->images;
    } else {
        values = (struct sotto_array){.dtype = SOTTO_F4, .ndim = 2, .shape = {s->n, s->columns}};
        values.count = s->n * s->columns;
        values.data = d->features;
    }
    TRY(path_join(path, sizeof path, folder, s->channels > 0 ? "images.npy" : "features.npy"));
    if (d->stream) {
        sha256_init(&sha);
        TRY(write_stream(d, &sha, path, &values, ctx));
        if (s->labels)
            sha256_update(&sha, s->labels, s->n * sizeof *s->labels);
        if (s->attribute)
            sha256_update(&sha, s->attribute, s->n * sizeof *s->attribute);
        sha256_hex(&sha, s->sha256);
    } else {
        TRY(npy_save_asking(path, &values, ctx));
        TRY(sotto_provenance_save(path, &d->provenance));
    }
    if (s->labels)
        TRY(write_column(folder, "labels.npy", d->labels, s->n));
    if (s->attribute)
        TRY(write_column(folder, "attribute.npy", d->attribute, s->n));
    if (d->persons)
        TRY(write_column(folder, "persons.npy", d->persons, s->n));
    doc = store_describe(d, source);
    TRY(path_join(path, sizeof path, folder, "dataset.json"));
    TRY(json_write_file(path, doc, JSON_PRETTY));
done:
    json_free(doc);
    return status;
}

/* The texts of a list that is `count` long, borrowed from the document; *out stays NULL where there is
 * none. */
static sotto_status read_names(const char ***out, const struct json *list, size_t count, const char *what,
                               const char *path)
{
    sotto_status status = SOTTO_OK;
    const char **names = NULL;
    if (json_kind(list) != JSON_KIND_ARRAY)
        goto done;
    if (json_count(list) != count)
        FAIL(SOTTO_EFORMAT, "%s: has %zu %s names; expected %zu", path, json_count(list), what, count);
    NEW(names, count);
    for (size_t k = 0; k < count; k++) {
        names[k] = json_text(json_at(list, k));
        if (!names[k])
            FAIL(SOTTO_EFORMAT, "%s: %s_names[%zu] is not a text", path, what, k);
    }
    *out = names;
    names = NULL;
done:
    base_free((void *)names);
    return status;
}

static sotto_status read_class_names(struct dataset *d, const struct json *doc, const char *path)
{
    sotto_status status = SOTTO_OK;
    const char **names = NULL;
    size_t classes;
    TRY(json_get_size(&classes, doc, path, "classes"));
    TRY(read_names(&names, json_find(doc, "class_names"), classes, "class", path));
    TRY(dataset_set_classes(d, classes, names));
done:
    base_free((void *)names);
    return status;
}

/* Takes the array's memory over when its shape is what dataset.json says. */
static sotto_status read_array(void **data, const struct dataset *d, const char *folder, const char *name,
                               enum sotto_dtype dtype, int ndim, const size_t *shape)
{
    sotto_status status = SOTTO_OK;
    struct sotto_array a = {0};
    char path[4096];
    TRY(path_join(path, sizeof path, folder, name));
    TRY(npy_load_asking(&a, path, d->ctx));
    if (a.dtype != dtype || a.ndim != ndim || memcmp(a.shape, shape, (size_t)ndim * sizeof *shape) != 0)
        FAIL(SOTTO_EFORMAT, "%s: shape or type differs from dataset.json; import the set again", path);
    *data = a.data;
    a.data = NULL;
done:
    sotto_array_clear(&a);
    return status;
}

/* Images stay in their file, however many there are; read whole where the file system maps none. */
static sotto_status read_images(struct dataset *d, const char *folder)
{
    sotto_status status = SOTTO_OK;
    struct sotto_array a;
    char path[4096];
    const size_t shape[4] = {d->set.n, d->set.channels, d->set.height, d->set.width};
    TRY(path_join(path, sizeof path, folder, "images.npy"));
    status = npy_map(&a, &d->map, path);
    if (status == SOTTO_EIO) {
        void *data;
        TRY(read_array(&data, d, folder, "images.npy", SOTTO_U1, 4, shape));
        d->images = data;
        goto done;
    }
    TRY(status);
    if (a.ndim != 4 || memcmp(a.shape, shape, sizeof shape) != 0)
        FAIL(SOTTO_EFORMAT, "%s: shape differs from dataset.json; import the set again", path);
    d->images = a.data;
done:
    d->set.images = d->images;
    return status;
}

/* Its codes, borrowed from the document; *codes stays NULL where the column has none. */
static sotto_status read_column(struct dataset *d, size_t j, const struct json *column, const char *path)
{
    sotto_status status = SOTTO_OK;
    const struct json *list = json_find(column, "codes");
    const char *name = json_text(json_find(column, "name")), **codes = NULL;
    bool fits = name != NULL;
    if (list)
        NEW(codes, json_count(list));
    for (size_t k = 0; k < json_count(list); k++)
        fits = (codes[k] = json_text(json_at(list, k))) != NULL && fits;
    if (!fits)
        FAIL(SOTTO_EFORMAT, "%s: 'columns[%zu]' lacks a name, or its codes are not texts", path, j);
    TRY(dataset_set_column(d, j, name, codes, json_count(list)));
    const char *form = json_text(json_find(column, "form"));
    d->columns[j].form = !form ? NUMBER_POINT : strcmp(form, "date") == 0 ? NUMBER_DATE : NUMBER_COMMA;
    if (json_find(column, "missing"))
        TRY(json_get_size(&d->columns[j].missing, column, path, "missing"));
    if (json_find(column, "unforeseen"))
        TRY(json_get_size(&d->columns[j].unforeseen, column, path, "unforeseen"));
done:
    base_free((void *)codes);
    return status;
}

/* How the text was read; early versions did not write it. */
static sotto_status read_table_facts(struct dataset *d, const struct json *doc, const char *path)
{
    sotto_status status = SOTTO_OK;
    const struct json *table = json_find(doc, "table");
    const char *separator, *missing = json_text(json_find(table, "missing"));
    if (!table)
        goto done;
    base_free(d->table.missing);
    d->table = (struct table_facts){0};
    TRY(json_get_text(&separator, table, path, "separator"));
    TRY(json_get_boolean(&d->table.header, table, path, "header"));
    TRY(json_get_size(&d->table.left_out, table, path, "left_out"));
    d->table.separator = separator[0];
    if (missing)
        NEW_TEXT(d->table.missing, missing);
    if (json_find(table, "text"))
        text_encoding_named(&d->table.text, json_text(json_find(table, "text")));
done:
    return status;
}

/* What a table's columns are; sets that are no tables, or of older versions, lack some of it. */
static sotto_status read_columns(struct dataset *d, const struct json *doc, const char *path)
{
    sotto_status status = SOTTO_OK;
    const struct json *columns = json_find(doc, "columns"), *encoding = json_find(doc, "encoding");
    if (columns)
        TRY(dataset_reserve_columns(d, json_count(columns)));
    for (size_t j = 0; j < d->column_count; j++)
        TRY(read_column(d, j, json_at(columns, j), path));
    TRY(read_table_facts(d, doc, path));
    base_free(d->encoding);
    d->encoding = NULL;
    const char *how = json_text(json_find(encoding, "encoding"));
    d->drafted = how && strcmp(how, sotto_encoding_name(SOTTO_ENCODING_FITTED)) == 0;
    if (encoding)
        TRY(json_dump(&d->encoding, encoding, JSON_LINE));
    if (json_find(doc, "label_column"))
        TRY(json_get_text_into(d->label_column, sizeof d->label_column, doc, path, "label_column"));
done:
    return status;
}

static sotto_status read_facts(struct dataset *d, const struct json *doc, const char *path)
{
    sotto_status status = SOTTO_OK;
    struct sotto_dataset *s = &d->set;
    const char *text;
    bool synthetic;
    TRY(json_get_text(&text, doc, path, "schema"));
    if (strcmp(text, json_whole(json_find(doc, "person.rows")) > 0 ? person_schema : schema) != 0)
        FAIL(SOTTO_EFORMAT, "%s: schema is '%.40s'; expected '%s', or '%s' of persons", path, text, schema,
             person_schema);
    TRY(json_get_text_into(s->name, sizeof s->name, doc, path, "name"));
    if (json_find(doc, "dataset_id")) /* version 1 has none */
        TRY(json_get_text_into(s->dataset_id, sizeof s->dataset_id, doc, path, "dataset_id"));
    TRY(json_get_text_into(s->title, sizeof s->title, doc, path, "title"));
    TRY(json_get_text_into(s->origin, sizeof s->origin, doc, path, "origin"));
    TRY(json_get_text_into(s->sha256, sizeof s->sha256, doc, path, "sha256"));
    TRY(json_get_text_into(d->licence, sizeof d->licence, doc, path, "licence"));
    TRY(json_get_boolean(&synthetic, doc, path, "synthetic"));
    TRY(json_get_size(&s->n, doc, path, "n"));
    const struct json *train = json_find(doc, "splits.train");
    TRY(read_class_names(d, doc, path));
    dataset_describe_classes(d, s->name);
    s->synthetic = synthetic;
    d->recorded = true;
    int64_t last =
        json_kind(train) == JSON_KIND_ARRAY && json_count(train) == 2 ? json_whole(json_at(train, 1)) : -1;
    if (last < 0 || (uint64_t)last > s->n || s->n == 0)
        FAIL(SOTTO_EFORMAT, "%s: 'splits.train' does not fit %zu records", path, s->n);
    s->n_train = (size_t)last;
    TRY(read_columns(d, doc, path));
done:
    return status;
}

/* Whose row is whose, where the rows of a person were capped. */
static sotto_status read_persons(struct dataset *d, const struct json *doc, const char *folder,
                                 const char *path)
{
    sotto_status status = SOTTO_OK;
    void *data;
    if (!json_find(doc, "person"))
        goto done;
    TRY(json_get_text_into(d->person, sizeof d->person, doc, path, "person.column"));
    TRY(json_get_size(&d->rows_per_person, doc, path, "person.rows"));
    if (d->rows_per_person == 0)
        goto done; /* records are the unit, as stated */
    TRY(read_array(&data, d, folder, "persons.npy", SOTTO_I8, 1, &d->set.n));
    d->persons = data;
    for (size_t i = 0; i < d->set.n; i++)
        if (d->persons[i] < 0 || (uint64_t)d->persons[i] >= d->set.n)
            FAIL(SOTTO_EFORMAT, "%s: 'persons.npy' holds %lld; import the set again", path,
                 (long long)d->persons[i]);
done:
    return status;
}

/* The second label, where the set has one. */
static sotto_status read_attribute(struct dataset *d, const struct json *doc, const char *folder,
                                   const char *path)
{
    sotto_status status = SOTTO_OK;
    const char **names = NULL, *name;
    void *data;
    size_t values;
    if (!json_find(doc, "attribute"))
        goto done;
    TRY(json_get_text(&name, doc, path, "attribute.name"));
    TRY(json_get_size(&values, doc, path, "attribute.values"));
    TRY(read_names(&names, json_find(doc, "attribute.value_names"), values, "value", path));
    TRY(read_array(&data, d, folder, "attribute.npy", SOTTO_I8, 1, &d->set.n));
    status = dataset_reserve_attribute(d, name, values, names);
    if (status == SOTTO_OK)
        memcpy(d->attribute, data, d->set.n * sizeof *d->attribute);
    base_free(data);
done:
    base_free((void *)names);
    return status;
}

sotto_status store_read(struct dataset *d, const char *folder)
{
    sotto_status status = SOTTO_OK;
    struct sotto_dataset *s = &d->set;
    struct json *doc = NULL;
    void *data;
    char path[4096];
    TRY(path_join(path, sizeof path, folder, "dataset.json"));
    TRY(json_read_file(&doc, path));
    TRY(read_facts(d, doc, path));
    if (json_find(doc, "images")) {
        TRY(json_get_size(&s->channels, doc, path, "images.channels"));
        TRY(json_get_size(&s->height, doc, path, "images.height"));
        TRY(json_get_size(&s->width, doc, path, "images.width"));
        TRY(read_images(d, folder));
    } else {
        TRY(json_get_size(&s->columns, doc, path, "features.columns"));
        const size_t shape[2] = {s->n, s->columns};
        TRY(read_array(&data, d, folder, "features.npy", SOTTO_F4, 2, shape));
        s->features = d->features = data;
    }
    if (s->classes > 0) {
        TRY(read_array(&data, d, folder, "labels.npy", SOTTO_I8, 1, &s->n));
        s->labels = d->labels = data;
    }
    TRY(read_attribute(d, doc, folder, path));
    TRY(read_persons(d, doc, folder, path));
    TRY(path_join(path, sizeof path, folder, s->images ? "images.npy" : "features.npy"));
    TRY(identity_of_arrays(d, path, NULL));
done:
    json_free(doc);
    return status;
}

sotto_status store_summarise(struct store_summary *out, const char *folder)
{
    sotto_status status = SOTTO_OK;
    struct json *doc = NULL;
    char path[4096];
    TRY(path_join(path, sizeof path, folder, "dataset.json"));
    TRY(json_read_file(&doc, path));
    TRY(json_get_text_into(out->title, sizeof out->title, doc, path, "title"));
    TRY(json_get_size(&out->n, doc, path, "n"));
    out->dataset_id[0] = '\0';
    if (json_find(doc, "dataset_id"))
        TRY(json_get_text_into(out->dataset_id, sizeof out->dataset_id, doc, path, "dataset_id"));
done:
    json_free(doc);
    return status;
}
