/* The side file of an array. It is bound to the array's bytes, so that a file which outlived its array is
 * refused instead of lending its identity to other records. */
#include "base/file.h"
#include "base/sha256.h"
#include "io/json/json.h"
#include "io/provenance/shaping.h"
#include "io/provenance/statement.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char schema[] = "sotto.provenance/1", person_schema[] = "sotto.provenance/2",
                  shaped_schema[] = "sotto.provenance/3";
static const char *const encodings[] = {
    [SOTTO_ENCODING_NONE] = "none",         [SOTTO_ENCODING_PUBLIC] = "public",
    [SOTTO_ENCODING_DECLARED] = "declared", [SOTTO_ENCODING_RELEASED] = "released",
    [SOTTO_ENCODING_FITTED] = "fitted",
};
enum { ENCODINGS = sizeof encodings / sizeof *encodings, MAX_CLASSES = 1 << 20 };

const char *sotto_encoding_name(enum sotto_encoding encoding)
{
    return (size_t)encoding < ENCODINGS ? encodings[encoding] : "unknown";
}

const char *provenance_condition(const struct sotto_provenance *p)
{
    return p && p->encoding == SOTTO_ENCODING_FITTED
               ? "the encoding of the table was fitted on these records, which no epsilon here accounts for; "
                 "it "
                 "holds if the encoding had been fixed without looking at them"
               : NULL;
}

void sotto_provenance_clear(struct sotto_provenance *p)
{
    GIVEN_OR(, p);
    for (size_t k = 0; p->class_names && k < p->classes; k++)
        base_free(p->class_names[k]);
    base_free(p->class_names);
    base_free(p->rows);
    shapings_free(p);
    *p = (struct sotto_provenance){0};
}

sotto_status sotto_provenance_copy(struct sotto_provenance *out, const struct sotto_provenance *p)
{
    REQUIRE_GIVEN(out, p);
    sotto_status status = SOTTO_OK;
    struct sotto_provenance copy = *p;
    copy.rows = NULL;
    copy.class_names = NULL;
    copy.shaped_by = NULL;
    copy.shapings = 0;
    if (p->rows)
        NEW(copy.rows, p->n);
    if (p->rows)
        memcpy(copy.rows, p->rows, p->n * sizeof *p->rows);
    if (p->class_names)
        NEW(copy.class_names, p->classes);
    for (size_t k = 0; p->class_names && k < p->classes; k++)
        NEW_TEXT(copy.class_names[k], p->class_names[k]);
    TRY(sotto_provenance_shape(&copy, NULL, NULL, p, 0));
    *out = copy;
    copy = (struct sotto_provenance){0};
done:
    sotto_provenance_clear(&copy);
    return status;
}

sotto_status sotto_provenance_select(struct sotto_provenance *p, const int64_t *chosen, size_t count)
{
    REQUIRE_GIVEN(p, !count || chosen);
    sotto_status status = SOTTO_OK;
    int64_t *rows = NULL;
    for (size_t i = 0; i < count; i++)
        REQUIRE(chosen[i] >= 0 && (uint64_t)chosen[i] < p->n,
                "provenance: position %zu is for record %lld, but there are only %zu records", i,
                (long long)chosen[i], p->n);
    if (p->rows) {
        NEW(rows, count);
        for (size_t i = 0; i < count; i++)
            rows[i] = p->rows[chosen[i]];
        base_free(p->rows);
        p->rows = rows;
    }
    p->n = count;
done:
    return status;
}

static char *side_path(const char *path)
{
    size_t capacity = strlen(path) + 32;
    char *side = base_alloc(capacity, 1);
    if (side)
        snprintf(side, capacity, "%s.provenance.json", path);
    return side;
}

/* A reader that knows neither persons nor what shaped the columns must not take a file for less than it says. */
static const char *schema_of(bool person, bool shaped)
{
    return shaped ? shaped_schema : person ? person_schema : schema;
}

static struct json *provenance_describe(const struct sotto_provenance *p, const char *sha256)
{
    struct json *doc = json_make_object(), *rows = p->rows ? json_make_array() : NULL,
                *names = p->class_names ? json_make_array() : NULL;
    json_put_text(&doc, "schema", schema_of(p->rows_per_person > 0, p->shapings > 0));
    json_put_text(&doc, "sha256", sha256);
    json_put_text(&doc, "dataset_id", p->dataset_id);
    json_put_text(&doc, "set", p->set);
    json_put_integer(&doc, "records", (int64_t)p->n);
    json_put_text(&doc, "encoding", sotto_encoding_name(p->encoding));
    json_put_integer(&doc, "classes", (int64_t)p->classes);
    json_put_text(&doc, "classes_by", p->classes_by);
    if (p->rows_per_person) {
        json_put_text(&doc, "person", p->person);
        json_put_integer(&doc, "rows_per_person", (int64_t)p->rows_per_person);
    }
    for (size_t k = 0; p->class_names && k < p->classes; k++)
        json_push(&names, json_make_text(p->class_names[k]));
    for (size_t i = 0; p->rows && i < p->n; i++)
        json_push(&rows, json_make_integer(p->rows[i]));
    if (p->class_names)
        json_put(&doc, "class_names", names);
    if (p->rows)
        json_put(&doc, "rows", rows);
    if (p->shapings)
        json_put(&doc, "shaped_by", shapings_describe(p));
    return doc;
}

static bool says_nothing(const struct sotto_provenance *p)
{
    return !p->dataset_id[0] && !p->set[0] && !p->rows && p->classes == 0 &&
           p->encoding == SOTTO_ENCODING_NONE && p->rows_per_person == 0 && p->shapings == 0;
}

sotto_status sotto_provenance_save(const char *path, const struct sotto_provenance *p)
{
    REQUIRE_GIVEN(path, p);
    sotto_status status = SOTTO_OK;
    struct json *doc = NULL;
    char sha256[SHA256_HEX], *side = side_path(path);
    if (!side)
        FAIL(SOTTO_ENOMEM, "%s: out of memory", path);
    if (says_nothing(p)) {
        if (unlink(side) != 0 && errno != ENOENT)
            FAIL(SOTTO_EIO, "%s: cannot remove: %s", side, strerror(errno));
        goto done;
    }
    TRY(sha256_file(sha256, path));
    doc = provenance_describe(p, sha256);
    TRY(json_write_file(side, doc, JSON_LINE));
done:
    json_free(doc);
    base_free(side);
    return status;
}

static bool same_records(const struct sotto_provenance *a, const struct sotto_provenance *b)
{
    return strcmp(a->dataset_id, b->dataset_id) == 0 && strcmp(a->set, b->set) == 0 && a->n == b->n &&
           a->rows_per_person == b->rows_per_person && strcmp(a->person, b->person) == 0 &&
           !a->rows == !b->rows && (!a->rows || memcmp(a->rows, b->rows, a->n * sizeof *a->rows) == 0);
}

sotto_status sotto_provenance_load_pair(struct sotto_provenance *out, const char *features,
                                        const char *labels)
{
    REQUIRE_GIVEN(out, features);
    sotto_status status = SOTTO_OK;
    struct sotto_provenance x = {0}, y = {0}, *wanted = &x;
    TRY(sotto_provenance_load(&x, features));
    if (labels)
        TRY(sotto_provenance_load(&y, labels));
    REQUIRE(!x.dataset_id[0] || !y.dataset_id[0] || same_records(&x, &y),
            "%s and %s contain different records (see %s.provenance.json); expected features and labels of "
            "the same records",
            features, labels, labels);
    if (!x.dataset_id[0] && y.dataset_id[0]) {
        y.encoding = x.encoding; /* of the features */
        wanted = &y;
    }
    TRY(sotto_provenance_shape(wanted, NULL, NULL, wanted == &x ? &y : &x, 0));
    *out = *wanted;
    *wanted = (struct sotto_provenance){0};
done:
    sotto_provenance_clear(&x);
    sotto_provenance_clear(&y);
    return status;
}

static sotto_status read_encoding(enum sotto_encoding *out, const struct json *doc, const char *side)
{
    sotto_status status = SOTTO_OK;
    const char *name;
    int found = 0;
    TRY(json_get_text(&name, doc, side, "encoding"));
    while (found < ENCODINGS && strcmp(encodings[found], name) != 0)
        found++;
    if (found == ENCODINGS)
        FAIL(SOTTO_EFORMAT, "%s: 'encoding' is '%.40s'; expected none, public, declared, released or fitted",
             side, name);
    *out = (enum sotto_encoding)found;
done:
    return status;
}

static sotto_status read_rows(struct sotto_provenance *p, const struct json *doc, const char *side)
{
    sotto_status status = SOTTO_OK;
    const struct json *rows;
    if (!json_find(doc, "rows"))
        goto done;
    TRY(json_get_array(&rows, doc, side, "rows"));
    if (json_count(rows) != p->n)
        FAIL(SOTTO_EFORMAT, "%s: 'rows' has %zu entries; expected one for each of %zu records", side,
             json_count(rows), p->n);
    NEW(p->rows, p->n);
    for (size_t i = 0; i < p->n; i++) {
        const struct json *row = json_at(rows, i);
        p->rows[i] = json_whole(row);
        if (json_kind(row) != JSON_KIND_INTEGER || p->rows[i] < 0)
            FAIL(SOTTO_EFORMAT, "%s: 'rows[%zu]' is not a row number; expected a whole number >= 0", side, i);
    }
done:
    return status;
}

static sotto_status read_names(struct sotto_provenance *p, const struct json *doc, const char *side)
{
    sotto_status status = SOTTO_OK;
    const struct json *names;
    if (!json_find(doc, "class_names"))
        goto done;
    TRY(json_get_array(&names, doc, side, "class_names"));
    if (json_count(names) != p->classes)
        FAIL(SOTTO_EFORMAT, "%s: 'class_names' has %zu entries; expected %zu", side, json_count(names),
             p->classes);
    NEW(p->class_names, p->classes);
    for (size_t k = 0; k < p->classes; k++) {
        const char *name = json_text(json_at(names, k));
        if (!name)
            FAIL(SOTTO_EFORMAT, "%s: 'class_names[%zu]' is not a text", side, k);
        NEW_TEXT(p->class_names[k], name);
    }
done:
    return status;
}

static sotto_status read_document(struct sotto_provenance *p, const struct json *doc, const char *side,
                                  const char *path)
{
    sotto_status status = SOTTO_OK;
    const char *text;
    char sha256[SHA256_HEX];
    TRY(json_get_text(&text, doc, side, "schema"));
    const char *expected = schema_of(json_find(doc, "person") != NULL, json_find(doc, "shaped_by") != NULL);
    if (strcmp(text, expected) != 0)
        FAIL(SOTTO_EFORMAT, "%s: 'schema' is '%.40s'; expected %s by its members", side, text, expected);
    TRY(json_get_text(&text, doc, side, "sha256"));
    TRY(sha256_file(sha256, path));
    if (strcmp(text, sha256) != 0)
        FAIL(SOTTO_EFORMAT,
             "%s: does not match %s, which was overwritten; make the array again, or remove the side file "
             "and give {dataset_id||dataset}",
             side, path);
    TRY(json_get_text_into(p->dataset_id, sizeof p->dataset_id, doc, side, "dataset_id"));
    TRY(json_get_text_into(p->set, sizeof p->set, doc, side, "set"));
    TRY(json_get_text_into(p->classes_by, sizeof p->classes_by, doc, side, "classes_by"));
    TRY(json_get_size(&p->n, doc, side, "records"));
    TRY(json_get_size(&p->classes, doc, side, "classes"));
    if (p->classes > MAX_CLASSES)
        FAIL(SOTTO_EFORMAT, "%s: 'classes' is %zu; expected at most %d", side, p->classes, MAX_CLASSES);
    if (json_find(doc, "person")) {
        TRY(json_get_text_into(p->person, sizeof p->person, doc, side, "person"));
        TRY(json_get_size(&p->rows_per_person, doc, side, "rows_per_person"));
        if (!p->person[0] || p->rows_per_person == 0)
            FAIL(SOTTO_EFORMAT, "%s: 'person' is empty or 'rows_per_person' is 0; expected both or neither",
                 side);
    }
    TRY(read_encoding(&p->encoding, doc, side));
    TRY(read_rows(p, doc, side));
    TRY(read_names(p, doc, side));
    if (json_find(doc, "shaped_by")) {
        const struct json *list;
        TRY(json_get_array(&list, doc, side, "shaped_by"));
        TRY(shapings_read(p, list, side));
    }
done:
    return status;
}

sotto_status sotto_provenance_load(struct sotto_provenance *out, const char *path)
{
    REQUIRE_GIVEN(out, path);
    sotto_status status = SOTTO_OK;
    struct sotto_provenance p = {0};
    struct json *doc = NULL;
    char *side = side_path(path);
    if (!side)
        FAIL(SOTTO_ENOMEM, "%s: out of memory", path);
    if (file_exists(side)) {
        TRY(json_read_file(&doc, side));
        TRY(read_document(&p, doc, side, path));
    }
    *out = p;
    p = (struct sotto_provenance){0};
done:
    sotto_provenance_clear(&p);
    json_free(doc);
    base_free(side);
    return status;
}
