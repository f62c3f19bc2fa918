/* What shaped the columns: a short list, in which nothing stands twice. */
#include "io/provenance/shaping.h"
#include "io/json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void shapings_free(struct sotto_provenance *p)
{
    for (size_t i = 0; i < p->shapings; i++)
        base_free(p->shaped_by[i].rows);
    base_free(p->shaped_by);
    p->shaped_by = NULL;
    p->shapings = 0;
}

static bool shaping_is(const struct sotto_shaping *a, const struct sotto_shaping *b)
{
    return strcmp(a->what, b->what) == 0 && strcmp(a->name, b->name) == 0 &&
           strcmp(a->dataset_id, b->dataset_id) == 0 && strcmp(a->set, b->set) == 0 && a->n == b->n &&
           a->is_public == b->is_public && !a->rows == !b->rows &&
           (!a->rows || memcmp(a->rows, b->rows, a->n * sizeof *a->rows) == 0);
}

static bool is_said(const struct sotto_provenance *p, const struct sotto_shaping *s)
{
    for (size_t i = 0; i < p->shapings; i++)
        if (shaping_is(&p->shaped_by[i], s))
            return true;
    return false;
}

/* A copy of *s; *s has no rows that are not ascending. */
static sotto_status shaping_add(struct sotto_provenance *p, const struct sotto_shaping *s)
{
    sotto_status status = SOTTO_OK;
    struct sotto_shaping *grown = NULL;
    int64_t *rows = NULL;
    if (is_said(p, s))
        goto done;
    if (s->rows) {
        NEW(rows, s->n);
        memcpy(rows, s->rows, s->n * sizeof *rows);
    }
    NEW(grown, p->shapings + 1);
    if (p->shapings)
        memcpy(grown, p->shaped_by, p->shapings * sizeof *grown);
    grown[p->shapings] = *s;
    grown[p->shapings].rows = rows;
    base_free(p->shaped_by);
    p->shaped_by = grown;
    p->shapings++;
    rows = NULL;
done:
    base_free(rows);
    return status;
}

static int by_row(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Takes the last shapings off again. */
static void shaping_shorten(struct sotto_provenance *p, size_t count)
{
    while (p->shapings > count)
        base_free(p->shaped_by[--p->shapings].rows);
    if (count == 0)
        shapings_free(p);
}

sotto_status sotto_provenance_shape(struct sotto_provenance *p, const char *what, const char *name,
                                    const struct sotto_provenance *by, int is_public)
{
    REQUIRE_GIVEN(p);
    sotto_status status = SOTTO_OK;
    const size_t before = p->shapings;
    struct sotto_shaping s = {.is_public = is_public != 0};
    if (what) {
        const char *last = name ? strrchr(name, '/') : NULL;
        snprintf(s.what, sizeof s.what, "%s", what);
        snprintf(s.name, sizeof s.name, "%.*s", (int)sizeof s.name - 1, last ? last + 1 : name ? name : "");
        if (by && (by->dataset_id[0] || is_public)) {
            memcpy(s.dataset_id, by->dataset_id, sizeof s.dataset_id);
            memcpy(s.set, by->set, sizeof s.set);
            s.n = by->n;
        }
        if (by && by->dataset_id[0] && by->rows && by->n) {
            NEW(s.rows, by->n);
            memcpy(s.rows, by->rows, by->n * sizeof *s.rows);
            qsort(s.rows, s.n, sizeof *s.rows, by_row);
        }
        TRY(shaping_add(p, &s));
    }
    for (size_t i = 0; by && i < by->shapings; i++)
        TRY(shaping_add(p, &by->shaped_by[i]));
done:
    base_free(s.rows);
    if (status != SOTTO_OK)
        shaping_shorten(p, before);
    return status;
}

/* ---- rows as runs: "0-63,70" ---- */

static char *spell_rows(const int64_t *rows, size_t n)
{
    const size_t capacity = 42 * n + 1;
    char *text = base_alloc(capacity, 1);
    size_t length = 0;
    for (size_t i = 0, end; text && i < n; i = end) {
        for (end = i + 1; end < n && rows[end] == rows[end - 1] + 1;)
            end++;
        length += (size_t)snprintf(text + length, capacity - length, "%s%" PRId64, i ? "," : "", rows[i]);
        if (end > i + 1)
            length += (size_t)snprintf(text + length, capacity - length, "-%" PRId64, rows[end - 1]);
    }
    return text;
}

/* A row number, of at most 18 digits; NULL: there is none. */
static const char *read_row(int64_t *row, const char *text)
{
    size_t digits = strspn(text, "0123456789");
    *row = digits > 0 && digits <= 18 ? strtoll(text, NULL, 10) : 0;
    return digits > 0 && digits <= 18 ? text + digits : NULL;
}

enum { MAX_ROWS = 1 << 27 };

/* Exactly s->n rows, ascending. */
static sotto_status read_rows(struct sotto_shaping *s, const char *text, const char *where)
{
    sotto_status status = SOTTO_OK;
    size_t count = 0;
    int64_t next = 0, first, last;
    REQUIRE(s->n <= MAX_ROWS, "%s: 'shaped_by' has %zu rows; expected at most %d", where, s->n, MAX_ROWS);
    NEW(s->rows, s->n);
    for (const char *at = text; at;) {
        at = read_row(&first, at);
        last = first;
        if (at && *at == '-')
            at = read_row(&last, at + 1);
        if (!at || first < next || last < first || (uint64_t)(last - first) >= s->n - count ||
            (*at != ',' && *at != '\0'))
            break;
        for (int64_t row = first; row <= last; row++)
            s->rows[count++] = row;
        next = last + 1;
        if (*at == '\0' && count == s->n)
            goto done;
        at = *at == ',' ? at + 1 : NULL;
        if (count == s->n)
            break;
    }
    FAIL(SOTTO_EFORMAT,
         "%s: 'shaped_by' has 'rows' that are no ascending list of %zu row numbers such as 0-63,70", where,
         s->n);
done:
    return status;
}

/* ---- the list ---- */

struct json *shapings_describe(const struct sotto_provenance *p)
{
    struct json *list = json_make_array();
    for (size_t i = 0; i < p->shapings; i++) {
        const struct sotto_shaping *s = &p->shaped_by[i];
        struct json *entry = json_make_object();
        json_put_text(&entry, "what", s->what);
        json_put_text(&entry, "name", s->name);
        json_put_text(&entry, "dataset_id", s->dataset_id);
        json_put_text(&entry, "set", s->set);
        json_put_boolean(&entry, "public", s->is_public);
        json_put_integer(&entry, "records", (int64_t)s->n);
        if (s->rows) {
            char *rows = spell_rows(s->rows, s->n);
            json_put_text(&entry, "rows", rows);
            if (!rows) { /* out of memory: the document must not say less */
                json_free(entry);
                entry = NULL;
            }
            base_free(rows);
        }
        json_push(&list, entry);
    }
    return list;
}

static sotto_status read_one(struct sotto_provenance *p, const struct json *entry, const char *where)
{
    sotto_status status = SOTTO_OK;
    struct sotto_shaping s = {0};
    bool is_public;
    TRY(json_get_text_into(s.what, sizeof s.what, entry, where, "what"));
    TRY(json_get_text_into(s.name, sizeof s.name, entry, where, "name"));
    TRY(json_get_text_into(s.dataset_id, sizeof s.dataset_id, entry, where, "dataset_id"));
    TRY(json_get_text_into(s.set, sizeof s.set, entry, where, "set"));
    TRY(json_get_boolean(&is_public, entry, where, "public"));
    TRY(json_get_size(&s.n, entry, where, "records"));
    s.is_public = is_public;
    if (json_find(entry, "rows")) {
        const char *rows;
        TRY(json_get_text(&rows, entry, where, "rows"));
        TRY(read_rows(&s, rows, where));
    }
    TRY(shaping_add(p, &s));
done:
    base_free(s.rows);
    return status;
}

sotto_status shapings_read(struct sotto_provenance *p, const struct json *list, const char *where)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = 0; i < json_count(list); i++)
        TRY(read_one(p, json_at(list, i), where));
done:
    return status;
}

sotto_status shapings_text(char **out, const struct sotto_provenance *p)
{
    struct json *list = shapings_describe(p);
    sotto_status status = json_dump(out, list, JSON_LINE);
    json_free(list);
    return status;
}

sotto_status shapings_parse(struct sotto_provenance *p, const char *text, const char *where)
{
    sotto_status status = SOTTO_OK;
    struct json *list = NULL;
    TRY(json_parse(&list, text, strlen(text), where));
    if (json_kind(list) != JSON_KIND_ARRAY)
        FAIL(SOTTO_EFORMAT, "%s: 'shaped_by' is no list", where);
    TRY(shapings_read(p, list, where));
done:
    json_free(list);
    return status;
}
