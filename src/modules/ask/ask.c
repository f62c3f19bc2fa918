/* The order of an ask: everything that is public is checked, then the charge, then the table, then the noise. */
#include "sotto/lab/ask.h"

#include "ask/ask_answers.h"
#include "ask/ask_table.h"
#include "base/sha256.h"
#include "dp/ledger/ledger_account.h"
#include "dp/release/charge_hint.h"
#include "dp/release/release_vector.h"
#include "dp/release/statistic.h"
#include "sotto/lab/provenance.h"

#include <stdio.h>
#include <string.h>

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The person column that is asked for; NULL: records. */
static const char *person_of(const struct sotto_ask *ask)
{
    return ask->person && strcmp(ask->person, "none") == 0 ? NULL : ask->person;
}

static sotto_status check_person(const struct sotto_ask *ask, const struct sotto_table_encoding *e)
{
    sotto_status status = SOTTO_OK;
    const char *person = person_of(ask);
    if (e->person && !ask->person)
        FAIL(SOTTO_EUSAGE,
             "ask: %s declares the persons of column '%s', but not their unit of privacy; give {person=%s} "
             "{rows_per_person=M}, or {person=none}",
             ask->schema, e->person, e->person);
    if (person && (!e->person || strcmp(person, e->person) != 0))
        FAIL(SOTTO_EUSAGE, "ask: %s does not describe column '%s' as the person's; expected 'type: person'",
             ask->schema, person);
    if (!person != !ask->rows_per_person)
        FAIL(SOTTO_EUSAGE,
             "ask: {person=COLUMN} and {rows_per_person=M}, M at least 1, belong together; give "
             "both or none");
done:
    return status;
}

static sotto_status check_ask(const struct sotto_ask *ask)
{
    sotto_status status = SOTTO_OK;
    const double delta = ask->target.delta;
    if (!(ask->target.epsilon > 0))
        FAIL(SOTTO_EUSAGE, "ask: no {epsilon} is given; expected a number above 0");
    if (!(delta >= 0 && delta < 1))
        FAIL(SOTTO_EUSAGE, "ask: {delta} is %g; expected 0 or a small number below 1", delta);
    if (!file_exists(ask->table))
        FAIL(SOTTO_ENOENT, "%s: no such file; expected a table as CSV", ask->table);
done:
    return status;
}

/* What the queries are asked of. */
static sotto_status read_plan(struct sotto_table_encoding **e, struct ask_plan *plan,
                              const struct sotto_ask *ask)
{
    sotto_status status = SOTTO_OK;
    TRY(encoding_read_schema(e, ask->schema));
    if ((*e)->how != SOTTO_ENCODING_DECLARED)
        FAIL(SOTTO_EUSAGE,
             "ask: %s lists columns under from_rows, so their bounds were read off the rows; state them from "
             "other knowledge, and take them off that list",
             ask->schema);
    TRY(check_person(ask, *e));
    TRY(ask_parse(plan, ask->queries, ask->count, *e, last_part(ask->schema)));
done:
    return status;
}

/* Everything behind the charge. */
static sotto_status answer_queries(struct sotto_certificate **certificate, struct vector_release *v,
                                   const struct ask_plan *plan, const struct sotto_ask *ask,
                                   const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct ask_release r = {.scale = vector_release_scale(v),
                            .gaussian = ask->target.delta > 0,
                            .raw = ask->raw != 0,
                            .seeded = ask->spend.insecure != 0};
    int64_t *sums = NULL;
    double *cells = NULL;
    NEW(sums, plan->cells);
    NEW(cells, plan->cells);
    TRY(ask_table_sum(sums, &r.rows, plan, ask->table, person_of(ask), ask->rows_per_person, ctx));
    ledger_warn_about_delta(r.rows, ask->target.delta, ctx);
    TRY(vector_release_draw(certificate, cells, sums, v));
    r.cells = cells;
    TRY(ask_answers_write(ask->output, plan, &r));
done:
    if (sums)
        base_wipe(sums, plan->cells * sizeof *sums);
    base_free(sums);
    base_free(cells);
    return status;
}

static sotto_status save_certificate(struct sotto_certificate *made, const char *output)
{
    sotto_status status = SOTTO_OK;
    char *beside = NULL, sha256[SHA256_HEX];
    const size_t capacity = strlen(output) + 32;
    NEW(beside, capacity);
    snprintf(beside, capacity, "%s.certificate.json", output);
    TRY(sotto_provenance_save(output, &(struct sotto_provenance){0})); /* of a file that lay there before */
    TRY(sha256_file(sha256, output));
    TRY(sotto_certificate_save(beside, made, sha256));
done:
    base_free(beside);
    return status;
}

/* Whose privacy is spent: a person, if rows are capped. */
static struct sotto_provenance unit_of(const struct sotto_ask *ask)
{
    struct sotto_provenance p = {.rows_per_person = person_of(ask) ? ask->rows_per_person : 0};
    snprintf(p.person, sizeof p.person, "%s", person_of(ask) ? person_of(ask) : "");
    return p;
}

sotto_status sotto_ask(struct sotto_certificate **certificate, const struct sotto_ask *ask,
                       const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(certificate, ask);
    REQUIRE_GIVEN(ask->table, ask->schema, ask->output, !ask->count || ask->queries);
    sotto_status status = SOTTO_OK;
    struct sotto_table_encoding *e = NULL;
    struct ask_plan plan = {0};
    struct vector_release *v = NULL;
    struct sotto_certificate *made = NULL;
    struct held_file held = {0};
    struct certificate_query *queries = NULL;
    size_t count;
    const bool gaussian = ask->target.delta > 0;
    const struct sotto_provenance unit = unit_of(ask);
    struct sotto_release r = {
        .mechanism = gaussian ? "gaussian" : "laplace", .target = ask->target, .spend = ask->spend};
    TRY(check_ask(ask));
    TRY(read_plan(&e, &plan, ask));
    ask_share(&plan, gaussian);
    NEW(queries, ASK_LEVELS * plan.count);
    ask_list_queries(queries, &count, &plan);
    statistic_of_queries(&r.sensitivity, queries, count);
    r.spend.provenance = &unit;
    r.spend.rows_per_person = 0;
    TRY(file_hold(&held, ask->output, 1 << 16));
    TRY(vector_release_open(&v, &r, plan.cells, ctx));
    TRY(answer_queries(&made, v, &plan, ask, ctx));
    TRY(certificate_add_queries(made, queries, count));
    file_release(&held);
    TRY(save_certificate(made, ask->output));
    *certificate = made;
    made = NULL;
done:
    if (status != SOTTO_OK)
        vector_release_name_charge(v);
    if (made)
        charge_name_certificate(made, "what was released is lost; a new release is charged again");
    file_release(&held);
    sotto_certificate_free(made);
    vector_release_close(v);
    base_free(queries);
    ask_plan_clear(&plan);
    sotto_table_encoding_free(e);
    return status;
}
