#include "ask/ask_table.h"

#include "data/format/csv_table.h"

#include <stdio.h>

/* Where the columns of the plan stand. */
static sotto_status place_columns(size_t *where, const struct ask_plan *plan, const struct csv *c,
                                  size_t skip, const char *path)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_table_encoding *e = plan->schema;
    size_t *label = &where[e->count];
    TRY(encoding_place(where, label, e, skip ? (const char *const *)c->cells : NULL, c->columns, path));
    if (plan->used[e->count] && *label == c->columns)
        FAIL(SOTTO_EFORMAT, "%s: column '%.80s' is missing; a query needs it", path, e->label);
done:
    return status;
}

/* Persons are capped as at an import. */
static sotto_status cap_persons(struct csv *c, const struct ask_plan *plan, const char *path,
                                const char *person, size_t most, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_import_options options = {.person = person, .rows_per_person = most};
    const size_t skip = plan->schema->header;
    struct dataset d = {0};
    struct table t = {.parts = {*c},
                      .skip = {skip},
                      .count = 1,
                      .rows = c->rows - skip,
                      .columns = c->columns,
                      .schema = plan->schema,
                      .options = &options,
                      .ctx = ctx};
    snprintf(t.where[0], sizeof t.where[0], "%s", path);
    status = table_cap_persons(&d, &t, &options);
    *c = t.parts[0];
    base_free(d.persons);
    return status;
}

sotto_status ask_table_sum(int64_t *sums, size_t *rows, const struct ask_plan *plan, const char *path,
                           const char *person, size_t most, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_table_encoding *e = plan->schema;
    const struct csv_style style = {.detect = true, .ctx = ctx};
    const size_t skip = e->header;
    struct csv c = {0};
    size_t *where = NULL;
    struct ask_value *values = NULL;
    NEW(where, e->count + 1);
    NEW(values, e->count + 1);
    TRY(csv_read_file(&c, path, &style));
    if (person)
        TRY(cap_persons(&c, plan, path, person, most, ctx));
    TRY(place_columns(where, plan, &c, skip, path));
    for (size_t i = skip; i < c.rows; i++) {
        if (i % 4096 == 0)
            TRY(context_check(ctx, "ask: stopped"));
        for (size_t j = 0; j <= e->count; j++)
            if (plan->used[j])
                values[j] = ask_value_of(e, j, cell_of_text(csv_cell(&c, i, where[j])));
        ask_add_row(sums, plan, values);
    }
    *rows = c.rows - skip;
done:
    csv_clear(&c);
    base_free(where);
    base_free(values);
    return status;
}
