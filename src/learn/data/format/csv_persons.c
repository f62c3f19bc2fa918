/* The unit of privacy of a table: of each person the first rows are kept, before a label, a category or a class is looked
 * at. Which rows stay depends on nothing but whose rows there are, so one person decides about no other's
 * (docs/derivations/person.md). */
#include "data/format/csv_table.h"

#include "io/text/number.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Who a row is of. 7, 007 and 7.0 are one person: whoever is taken for one has M rows together, which is the safe side. */
struct owner {
    const char *text; /* NULL: a number */
    double number;
    size_t row;
};

static int by_person(const struct owner *a, const struct owner *b)
{
    if (!a->text != !b->text)
        return a->text ? 1 : -1;
    if (a->text)
        return strcmp(a->text, b->text);
    return (a->number > b->number) - (a->number < b->number);
}

static int by_person_and_row(const void *x, const void *y)
{
    const struct owner *a = x, *b = y;
    const int order = by_person(a, b);
    return order ? order : (a->row > b->row) - (a->row < b->row);
}

bool table_names_nobody(const char *text)
{
    static const char *const words[] = {"", "?", "na", "n/a", "nan", "null", "none"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(text, words[i]) == 0)
            return true;
    return false;
}

/* All rows, by person and then by row. `missing`: a row without a person, or t->rows. */
static sotto_status read_owners(struct owner **out, size_t *missing, const struct table *t, size_t column)
{
    sotto_status status = SOTTO_OK;
    struct owner *owners = NULL;
    *missing = t->rows;
    NEW(owners, t->rows);
    for (size_t i = t->rows; i-- > 0;) {
        const char *text = table_cell(t, i, column);
        bool number = number_real(&owners[i].number, text, strlen(text)) && isfinite(owners[i].number);
        TRY(table_go_on(t, i));
        owners[i].text = number ? NULL : text;
        owners[i].row = i;
        if (table_names_nobody(text))
            *missing = i;
    }
    qsort(owners, t->rows, sizeof *owners, by_person_and_row);
    *out = owners;
    owners = NULL;
done:
    base_free(owners);
    return status;
}

/* first[row]: the first row of its person; (size_t)-1: the row goes, as its person has `most` before it. */
static void csv_persons_cap(size_t *first, const struct owner *owners, size_t n, size_t most)
{
    for (size_t i = 0, start = 0; i < n; i++) {
        if (by_person(&owners[i], &owners[start]) != 0)
            start = i;
        first[owners[i].row] = i - start < most ? owners[start].row : (size_t)-1;
    }
}

/* Persons by number, in the order of their first rows. Returns: how many rows stay. */
static size_t number_persons(int64_t *persons, size_t *first, size_t n)
{
    size_t kept = 0;
    int64_t next = 0;
    for (size_t i = 0; i < n; i++) {
        if (first[i] == (size_t)-1)
            continue;
        /* a first row comes before the others of its person, and by then first[] says where it stands now */
        persons[kept] = first[i] == i ? next++ : persons[first[first[i]]];
        first[i] = kept++;
    }
    return kept;
}

/* Rows that go, and the column (none: t->columns) of persons, are taken out in place. */
static void keep_rows(struct table *t, const size_t *first, size_t dropped)
{
    size_t row = 0;
    for (size_t p = 0; p < t->count; p++) {
        struct csv *c = &t->parts[p];
        const size_t rows = c->rows, columns = c->columns;
        size_t kept = 0, at = 0;
        for (size_t r = 0; r < rows; r++) {
            if (r >= t->skip[p] && first[row++] == (size_t)-1)
                continue;
            for (size_t j = 0; j < columns; j++)
                if (j != dropped)
                    c->cells[at++] = c->cells[r * columns + j];
            c->lines[kept++] = c->lines[r];
        }
        c->rows = kept;
        c->columns = columns - (dropped < columns);
    }
    t->columns = t->parts[0].columns;
    t->rows = table_part_rows(t, 0) + (t->count > 1 ? table_part_rows(t, 1) : 0);
}

static sotto_status cap_rows(struct dataset *d, struct table *t, size_t column, size_t most, bool drop)
{
    sotto_status status = SOTTO_OK;
    struct owner *owners = NULL;
    size_t *first = NULL, missing, before = t->rows;
    TRY(read_owners(&owners, &missing, t, column));
    if (missing < t->rows) {
        size_t r, p = table_locate(&r, t, missing);
        FAIL(SOTTO_EFORMAT, "%s:%zu: column '%s' names no person ('%.20s'); expected one in every row",
             t->where[p], t->parts[p].lines[r], d->person, table_cell(t, missing, column));
    }
    NEW(first, t->rows);
    NEW(d->persons, t->rows);
    csv_persons_cap(first, owners, t->rows, most);
    number_persons(d->persons, first, t->rows);
    keep_rows(t, first, drop ? column : t->columns);
    d->rows_per_person = most;
    if (t->columns < 2)
        FAIL(SOTTO_EFORMAT, "%s: has one column beside '%s'; expected a label and at least one feature",
             t->where[0], d->person);
    context_log(t->ctx, SOTTO_LOG_INFO,
                "unit of privacy: one person (column %s); %zu of %zu rows kept, at most %zu each", d->person,
                t->rows, before, most);
done:
    base_free(owners);
    base_free(first);
    return status;
}

/* ---- tables that say nothing of persons ---- */

static bool sounds_like_persons(const char *name)
{
    static const char *const words[] = {"id",      "person",      "patient",    "user",      "customer",
                                        "subject", "client",      "employee",   "student",   "member",
                                        "visitor", "participant", "respondent", "individual"};
    char word[32];
    size_t length = 0;
    for (const char *c = name;; c++) {
        bool letter = isalpha((unsigned char)*c);
        bool begins = letter && isupper((unsigned char)*c) && c > name && islower((unsigned char)c[-1]);
        if ((!letter || begins) && length > 0) { /* a word ended */
            word[length] = '\0';
            for (size_t i = 0; i < sizeof words / sizeof *words; i++)
                if (strcmp(word, words[i]) == 0)
                    return true;
            length = 0;
        }
        if (*c == '\0')
            return false;
        if (letter && length + 1 < sizeof word)
            word[length++] = (char)tolower((unsigned char)*c);
    }
}

/* Values that come again; and so many of them that they are no categories, or under a name that says it. */
sotto_status table_names_persons(bool *yes, const struct table *t, size_t column)
{
    enum { MANY = 100, ROWS_EACH = 20 };
    sotto_status status = SOTTO_OK;
    struct owner *owners = NULL;
    size_t missing, values = 0;
    double number;
    char name[128];
    table_column_name(name, sizeof name, t, column);
    const bool named = sounds_like_persons(name);
    const char *text = t->rows > 0 ? table_cell(t, 0, column) : "";
    *yes = false;
    for (int form = 0; !named && form < NUMBER_FORMS; form++)
        if (number_of_form(&number, text, (enum number_form)form))
            goto done;
    TRY(read_owners(&owners, &missing, t, column));
    for (size_t i = 0; i < t->rows; i++)
        values += i == 0 || by_person(&owners[i], &owners[i - 1]) != 0;
    *yes = values > 1 && values < t->rows && (named || (values >= MANY && values * ROWS_EACH > t->rows));
done:
    base_free(owners);
    return status;
}

static sotto_status csv_persons_ask(const struct table *t)
{
    sotto_status status = SOTTO_OK;
    bool yes = false;
    char name[128];
    for (size_t j = 0; j < t->columns && !yes; j++) {
        table_column_name(name, sizeof name, t, j);
        TRY(table_names_persons(&yes, t, j));
    }
    if (yes)
        context_log(t->ctx, SOTTO_LOG_WARNING,
                    "%s: column '%s' looks as if it named persons with several rows each, and the unit of "
                    "privacy is one "
                    "record; read it with {person=COLUMN} {rows_per_person=M} to protect persons, or state "
                    "{person=none}",
                    t->where[0], name);
done:
    return status;
}

sotto_status table_cap_persons(struct dataset *d, struct table *t, const struct sotto_import_options *o)
{
    sotto_status status = SOTTO_OK;
    const char *declared = t->schema ? t->schema->person : NULL;
    const bool stated =
        declared && !o->person && t->schema->rows_per_person > 0; /* by the schema, the unit too */
    const char *person = stated ? declared : o->person;
    const size_t most = stated ? t->schema->rows_per_person : o->rows_per_person;
    size_t column = declared ? t->schema->person_at : 0;
    if (!person && declared)
        FAIL(SOTTO_EUSAGE,
             "%s: the schema declares the persons of column '%s', but not their unit of privacy; give "
             "{person=%s} "
             "{rows_per_person=M}, or {person=none}",
             t->where[0], declared, declared);
    if (!person) {
        if (d->asks_persons && t->rows > 0)
            TRY(csv_persons_ask(t));
        goto done;
    }
    snprintf(d->person, sizeof d->person, "%s", person);
    if (strcmp(person, "none") == 0)
        goto done;
    if (most == 0)
        FAIL(SOTTO_EUSAGE, "%s: at most 0 rows of a person; expected rows per person of at least 1",
             t->where[0]);
    if (t->schema && (!declared || strcmp(declared, person) != 0))
        FAIL(SOTTO_EUSAGE,
             "%s: the schema does not describe column '%s' as the person's; expected 'type: person'",
             t->where[0], person);
    if ((!t->schema || t->schema->header) && !table_find_column(&column, t, person))
        FAIL(SOTTO_EINVAL, "%s: has no column '%s'", t->where[0], person);
    if (column >= t->columns)
        FAIL(SOTTO_EFORMAT, "%s: has %zu columns; column '%s' is missing", t->where[0], t->columns, person);
    TRY(cap_rows(d, t, column, most, !t->schema));
done:
    return status;
}
