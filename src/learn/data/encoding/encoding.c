/* The encoding itself: cells in, numbers out. */
#include "data/encoding/encoding.h"

#include "data/encoding/date.h"
#include "io/text/number.h"
#include "io/text/utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Beyond this a value says no more, and squares of it would leave the range of a float. */
static const double largest = 1e6;

const char *const column_kinds[COLUMN_KINDS] = {"number", "category", "ignore"};

struct cell cell_of_text(const char *text)
{
    struct cell c = {text, NAN, 0};
    double x;
    if (number_real(&x, text, strlen(text)))
        c.number = (double)(float)x;
    return c;
}

/* Room for one more; the blocks double. */
static sotto_status encoding_grow(struct text_list *list)
{
    sotto_status status = SOTTO_OK;
    size_t n = list->count, capacity = n ? 2 * n : 1;
    if (n & (n - 1))
        goto done;
    REGROW(list->texts, n, capacity);
    REGROW(list->numbers, n, capacity);
done:
    return status;
}

sotto_status text_list_add(struct text_list *list, const char *text)
{
    sotto_status status = SOTTO_OK;
    TRY(encoding_grow(list));
    NEW_TEXT(list->texts[list->count], text);
    list->numbers[list->count++] = cell_of_text(text).number;
done:
    return status;
}

size_t text_list_find(const struct text_list *list, struct cell c)
{
    for (size_t i = 0; c.text && i < list->count; i++)
        if (c.length ? strncmp(list->texts[i], c.text, c.length) == 0 && !list->texts[i][c.length]
                     : strcmp(list->texts[i], c.text) == 0)
            return i;
    for (size_t i = 0; !isnan(c.number) && i < list->count; i++)
        if (list->numbers[i] == c.number)
            return i;
    return list->count;
}

void text_list_clear(struct text_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        base_free(list->texts[i]);
    base_free(list->texts);
    base_free(list->numbers);
    *list = (struct text_list){0};
}

bool text_next_word(char out[256], const char **list)
{
    if (!*list)
        return false;
    size_t length = strcspn(*list, ",");
    snprintf(out, 256, "%.*s", (int)(length < 255 ? length : 255), *list);
    *list = (*list)[length] ? *list + length + 1 : NULL;
    return true;
}

sotto_status text_list_missing(struct text_list *out, const char *texts)
{
    sotto_status status = SOTTO_OK;
    static const char usual[] = "?,NA,N/A,n/a,NaN,nan,null,NULL";
    const char *list = texts ? texts : usual;
    char word[256];
    TRY(text_list_add(out, ""));
    while (text_next_word(word, &list))
        if (word[0])
            TRY(text_list_add(out, word));
done:
    return status;
}

sotto_status encoding_create(struct sotto_table_encoding **out, size_t count)
{
    sotto_status status = SOTTO_OK;
    struct sotto_table_encoding *e = NULL;
    NEW(e, 1);
    NEW(e->columns, count);
    e->count = count;
    for (size_t j = 0; j < count; j++)
        e->columns[j] = (struct encoding_column){.low = -INFINITY, .high = INFINITY, .scale = 1};
    *out = e;
    e = NULL;
done:
    base_free(e);
    return status;
}

void sotto_table_encoding_free(struct sotto_table_encoding *e)
{
    if (!e)
        return;
    for (size_t j = 0; j < e->count; j++) {
        base_free(e->columns[j].name);
        text_list_clear(&e->columns[j].categories);
    }
    base_free(e->columns);
    base_free(e->label);
    base_free(e->person);
    text_list_clear(&e->missing);
    text_list_clear(&e->classes);
    sotto_provenance_clear(&e->shaped);
    base_free(e);
}

static sotto_status check_list(const struct text_list *list, sotto_status code, const char *where,
                               const char *column)
{
    for (size_t i = 0; i < list->count; i++) {
        size_t first = text_list_find(list, (struct cell){list->texts[i], list->numbers[i], 0});
        for (size_t k = 0; k < i && first == i; k++)
            if (list->numbers[k] == list->numbers[i])
                first = k;
        if (first < i)
            return status_fail(
                code, "%s: column '%.80s': '%.40s' and '%.40s' are the same value; expected each once", where,
                column, list->texts[first], list->texts[i]);
    }
    return SOTTO_OK;
}

static sotto_status check_column(const struct encoding_column *c, sotto_status code, const char *where)
{
    sotto_status status = SOTTO_OK;
    if (c->kind == COLUMN_NUMBER &&
        !(c->low < c->high && isfinite(c->low) == isfinite(c->high) && isfinite(c->centre) &&
          isfinite(c->scale) && isfinite(c->missing) && c->missing >= c->low && c->missing <= c->high))
        FAIL(code,
             "%s: column '%.80s': expected finite numbers with low < high, a scale, and missing within the "
             "bounds",
             where, c->name);
    if (c->kind == COLUMN_CATEGORY && c->categories.count == 0)
        FAIL(code, "%s: column '%.80s' has no categories; expected at least one", where, c->name);
    TRY(check_list(&c->categories, code, where, c->name));
done:
    return status;
}

sotto_status encoding_check_columns(const struct sotto_table_encoding *e, sotto_status code,
                                    const char *where)
{
    sotto_status status = SOTTO_OK;
    for (size_t j = 0; j < e->count; j++) {
        const struct encoding_column *c = &e->columns[j];
        if (!c->name || encoding_find(e, c->name) < j || (e->label && strcmp(c->name, e->label) == 0))
            FAIL(code, "%s: column %zu is called '%.80s' like another column; expected different names",
                 where, j + 1, c->name ? c->name : "");
        TRY(check_column(c, code, where));
    }
    if (encoding_used(e) == 0)
        FAIL(code, "%s: has no column of kind number or category; expected at least one", where);
done:
    return status;
}

sotto_status encoding_check(const struct sotto_table_encoding *e, sotto_status code, const char *where)
{
    sotto_status status = SOTTO_OK;
    if (!e->label)
        FAIL(code, "%s: no column is the label; expected exactly one", where);
    TRY(encoding_check_columns(e, code, where));
    if (e->classes.count < 2)
        FAIL(code, "%s: label '%.80s' has %zu classes; expected at least 2", where, e->label,
             e->classes.count);
    TRY(check_list(&e->classes, code, where, e->label));
done:
    return status;
}

size_t encoding_find(const struct sotto_table_encoding *e, const char *name)
{
    size_t j = 0;
    while (j < e->count && (!e->columns[j].name || strcmp(e->columns[j].name, name) != 0))
        j++;
    return j;
}

size_t encoding_used(const struct sotto_table_encoding *e)
{
    size_t used = 0;
    for (size_t j = 0; j < e->count; j++)
        used += e->columns[j].kind != COLUMN_IGNORED;
    return used;
}

void encoding_scale_by_bounds(struct encoding_column *c)
{
    c->centre = c->low / 2 + c->high / 2;
    c->scale = 1 / (c->high / 2 - c->low / 2);
}

struct cell encoding_cell(const struct encoding_column *c, const char *text)
{
    struct cell cell = cell_of_text(text);
    if (c->kind == COLUMN_NUMBER && c->form != NUMBER_POINT && !number_of_form(&cell.number, text, c->form))
        cell.number = NAN;
    if (c->kind == COLUMN_CATEGORY && c->prefix) {
        for (size_t k = 0; k < c->prefix && text[cell.length]; k++) {
            const size_t step = utf8_next(text + cell.length, strlen(text + cell.length));
            cell.length += step ? step : 1;
        }
        cell.number = NAN;
    }
    return cell;
}

bool encoding_missing(const struct sotto_table_encoding *e, const char *text)
{
    return text_list_find(&e->missing, cell_of_text(text)) < e->missing.count;
}

static bool holds_number(const struct sotto_table_encoding *e, const struct encoding_column *c,
                         struct cell cell)
{
    return !isnan(cell.number) && text_list_find(&e->missing, cell) == e->missing.count &&
           !(isinf(cell.number) && isinf(c->high));
}

double encoding_number(const struct sotto_table_encoding *e, const struct encoding_column *c,
                       struct cell cell)
{
    return holds_number(e, c, cell) ? fmin(fmax(cell.number, c->low), c->high) : c->missing;
}

size_t encoding_category(const struct encoding_column *c, struct cell cell)
{
    size_t k = text_list_find(&c->categories, cell);
    return k < c->categories.count ? k : c->other;
}

size_t encoding_class(const struct sotto_table_encoding *e, struct cell label)
{
    size_t k = text_list_find(&e->classes, label);
    return k < e->classes.count ? k : e->other_class;
}

size_t encoding_width(const struct encoding_column *c)
{
    if (c->kind == COLUMN_NUMBER)
        return (size_t)(c->form == NUMBER_DATE ? 3 : 1) + c->was_missing;
    return c->kind == COLUMN_CATEGORY ? c->categories.count : 0;
}

static float scale_number(double x, const struct encoding_column *c)
{
    return (float)fmin(fmax((x - c->centre) * c->scale, -largest), largest);
}

float *encoding_write(float *out, const struct sotto_table_encoding *e, const struct encoding_column *c,
                      struct cell cell)
{
    size_t width = encoding_width(c);
    if (c->kind == COLUMN_NUMBER) {
        const double x = encoding_number(e, c, cell);
        out[0] = scale_number(x, c);
        if (c->form == NUMBER_DATE) { /* its year, by the first day, and its month */
            const struct date d = date_of_days(x);
            out[1] = scale_number(days_of_date((struct date){d.year, 1, 1}), c);
            out[2] = (float)(d.month - 6.5) / 5.5F;
        }
        if (c->was_missing)
            out[width - 1] = holds_number(e, c, cell) ? 0 : 1;
    } else if (c->kind == COLUMN_CATEGORY) {
        size_t k = encoding_category(c, cell);
        memset(out, 0, width * sizeof *out);
        if (k < width)
            out[k] = 1;
    }
    return out + width;
}

size_t sotto_table_encoding_width(const struct sotto_table_encoding *e)
{
    GIVEN_OR(0, e);
    size_t width = 0;
    for (size_t j = 0; j < e->count; j++)
        width += encoding_width(&e->columns[j]);
    return width;
}

enum sotto_encoding sotto_table_encoding_how(const struct sotto_table_encoding *e)
{
    GIVEN_OR(SOTTO_ENCODING_NONE, e);
    return e->how;
}

size_t sotto_table_encoding_classes(const struct sotto_table_encoding *e)
{
    GIVEN_OR(0, e);
    return e->classes.count;
}
