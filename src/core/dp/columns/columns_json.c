/* JSON of columns and of what they were charged. Numbers are written so that they are read as the same doubles. */
#include "dp/columns/columns_json.h"
#include "io/json/json.h"

#include <math.h>

enum { MEMBERS = 3 };

void any_order_prune(struct any_order *a)
{
    struct any_order kept = {.columns = a->columns};
    unsigned char place[ADAPTIVE_OFFERS + 1];
    for (size_t i = 0; i < a->offers; i++) {
        bool taken = false;
        for (size_t j = 0; j < a->columns; j++)
            taken = taken || a->took[j] == i;
        place[i] = (unsigned char)kept.offers;
        if (taken)
            kept.offer[kept.offers++] = a->offer[i];
    }
    place[a->offers] = (unsigned char)kept.offers;
    for (size_t j = 0; j < a->columns; j++)
        kept.took[j] = place[a->took[j]];
    *a = kept;
}

static struct json *make_box(const struct adaptive *box)
{
    return json_make_reals((const double[MEMBERS]){box->pure, box->square, box->failure}, MEMBERS);
}

static bool get_number(double *out, const struct json *j)
{
    const enum json_kind kind = j ? json_kind(j) : JSON_KIND_NULL;
    *out = kind == JSON_KIND_REAL || kind == JSON_KIND_INTEGER ? json_number(j) : NAN;
    return *out >= 0 && *out < INFINITY;
}

static bool get_box(struct adaptive *out, const struct json *j)
{
    return j && json_kind(j) == JSON_KIND_ARRAY && json_count(j) == MEMBERS &&
           get_number(&out->pure, json_at(j, 0)) && get_number(&out->square, json_at(j, 1)) &&
           get_number(&out->failure, json_at(j, 2)) && out->failure <= 1;
}

void columns_put(struct json **line, const struct opened_columns *c)
{
    struct json *member = json_make_object(), *columns = json_make_array();
    json_put_real(&member, "epsilon", c->epsilon);
    json_put_real(&member, "delta", c->delta);
    for (size_t j = 0; j < c->columns.count; j++) {
        const struct adaptive_column *of = &c->columns.column[j];
        const struct adaptive spent = adaptive_column_spent(of);
        struct json *column = json_make_object();
        json_put_real(&column, "level", of->level);
        json_put(&column, "box", make_box(&of->box));
        json_put(&column, "spent", of->dead ? json_make_null() : make_box(&spent));
        json_push(&columns, column);
    }
    json_put(&member, "boxes", columns);
    json_put(line, "columns", member);
}

void admission_put(struct json **line, const struct admission *admission)
{
    const struct any_order *a = &admission->any_order;
    struct json *member = json_make_object(), *offers = json_make_array(), *took = json_make_array();
    for (size_t i = 0; i < a->offers; i++)
        json_push(&offers, make_box(&a->offer[i]));
    for (size_t j = 0; j < a->columns; j++)
        json_push(&took, a->took[j] < a->offers ? json_make_integer(a->took[j]) : json_make_null());
    json_put(&member, "offers", offers);
    json_put(&member, "took", took);
    if (admission->opens)
        columns_put(&member, &admission->opened);
    json_put(line, "any_order", member);
}

static bool get_took(unsigned char *out, size_t offers, const struct json *j)
{
    const enum json_kind kind = json_kind(j);
    const int64_t index = json_whole(j);
    const bool taken = kind == JSON_KIND_INTEGER && index >= 0 && index < (int64_t)offers;
    *out = (unsigned char)(taken ? index : (int64_t)offers);
    return taken || kind == JSON_KIND_NULL;
}

/* A column without "spent" is dead. */
static bool get_column(struct adaptive_column *out, const struct json *j)
{
    struct adaptive spent = {0, 0, 0};
    const struct json *box = json_find(j, "box"), *had = json_find(j, "spent");
    if (!get_number(&out->level, json_find(j, "level")) || !get_box(&out->box, box) || !had)
        return false;
    out->dead = json_kind(had) == JSON_KIND_NULL;
    if (!out->dead && !get_box(&spent, had))
        return false;
    adaptive_column_start(out, &spent);
    return true;
}

/* All at the budget's epsilon, else each at its level: do their curves add up to at most delta? */
static bool keeps_delta(const struct opened_columns *c)
{
    struct interval sum = iv(0);
    bool levels = true;
    for (size_t j = 0; j < c->columns.count; j++) {
        const struct adaptive_column *of = &c->columns.column[j];
        levels = levels && (isnan(c->epsilon) || of->level == c->epsilon);
        sum = iv_add(sum, adaptive_delta(&of->box, of->level));
    }
    return levels && sum.lo <= c->delta * (1 + 1e-9);
}

sotto_status columns_get(struct opened_columns *out, const struct json *line, const char *name)
{
    sotto_status status = SOTTO_OK;
    const struct json *columns;
    *out = (struct opened_columns){.epsilon = NAN};
    TRY(json_get_real_or_null(&out->epsilon, line, name, "columns.epsilon"));
    TRY(json_get_real(&out->delta, line, name, "columns.delta"));
    TRY(json_get_array(&columns, line, name, "columns.boxes"));
    const size_t count = json_count(columns);
    bool good = count > 0 && count <= ADAPTIVE_COLUMNS && out->delta >= 0 && out->delta < 1;
    for (size_t j = 0; good && j < count; j++)
        good = get_column(&out->columns.column[j], json_at(columns, j));
    if (!good)
        FAIL(SOTTO_EFORMAT,
             "%s: 'columns' is wrong; expected 1 to %d boxes {level, box, spent}, where box and spent are "
             "[pure, square, "
             "failure]",
             name, ADAPTIVE_COLUMNS);
    out->columns.count = count;
    if (!keeps_delta(out))
        FAIL(SOTTO_EFORMAT,
             "%s: 'columns' hold more than epsilon and delta that stand beside them, so the ledger was "
             "changed",
             name);
done:
    return status;
}

static sotto_status get_any_order(struct any_order *out, const struct json *member, const struct json *line,
                                  const char *name)
{
    sotto_status status = SOTTO_OK;
    const struct json *offers, *took;
    offers = json_member(member, "offers");
    took = json_member(member, "took");
    if (json_kind(offers) != JSON_KIND_ARRAY)
        TRY(json_get_array(&offers, line, name, "any_order.offers"));
    if (json_kind(took) != JSON_KIND_ARRAY)
        TRY(json_get_array(&took, line, name, "any_order.took"));
    const size_t n = json_count(offers), columns = json_count(took);
    bool good = n <= ADAPTIVE_OFFERS && columns <= ADAPTIVE_COLUMNS && columns > 0;
    for (size_t i = 0; good && i < n; i++)
        good = get_box(&out->offer[i], json_at(offers, i));
    for (size_t j = 0; good && j < columns; j++)
        good = get_took(&out->took[j], n, json_at(took, j));
    if (!good)
        FAIL(SOTTO_EFORMAT,
             "%s: 'any_order' is wrong; expected at most %d offers [pure, square, failure], and for each of "
             "at most "
             "%d columns "
             "the number of one of them or null",
             name, ADAPTIVE_OFFERS, ADAPTIVE_COLUMNS);
    out->offers = n;
    out->columns = columns;
done:
    return status;
}

sotto_status admission_get(struct admission *out, const struct json *line, const char *name)
{
    sotto_status status = SOTTO_OK;
    const struct json *member = json_member(line, "any_order");
    out->opens = member && json_member(member, "columns");
    out->any_order.offers = out->any_order.columns = 0;
    if (!member)
        goto done;
    TRY(get_any_order(&out->any_order, member, line, name));
    if (out->opens)
        TRY(columns_get(&out->opened, member, name));
done:
    return status;
}
