/* The order of an ask: everything that is public is checked, the header of the table too, then the charge, then its rows, then the
 * noise. */
#include "sotto/lab/ask.h"

#include "ask/ask_answers.h"
#include "ask/ask_choice.h"
#include "ask/ask_forecast.h"
#include "ask/ask_table.h"
#include "ask/ask_texts.h"
#include "base/sha256.h"
#include "dp/ledger/ledger_account.h"
#include "dp/release/charge_hint.h"
#include "dp/release/release.h"
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

/* Whose privacy is spent. */
struct unit {
    const char *person; /* a column; NULL: records */
    size_t most;        /* rows of each that count */
};

/* As the schema states it, or else as it is asked for. */
static sotto_status find_unit(struct unit *unit, const struct sotto_ask *ask,
                              const struct sotto_table_encoding *e)
{
    sotto_status status = SOTTO_OK;
    const bool none = ask->person && strcmp(ask->person, "none") == 0;
    const size_t most = ask->rows_per_person;
    if (ask->person && !none && (!e->person || strcmp(ask->person, e->person) != 0))
        FAIL(SOTTO_EUSAGE, "ask: %s does not describe column '%s' as the person's; expected 'type: person'",
             ask->schema, ask->person);
    if (e->rows_per_person && (none || (most && most != e->rows_per_person)))
        FAIL(SOTTO_EUSAGE,
             "ask: %s states the unit of privacy: a person of column '%s', of whom %zu rows count; omit "
             "{person} "
             "and {rows_per_person}",
             ask->schema, e->person, e->rows_per_person);
    if (e->person && !none && !most && !e->rows_per_person)
        FAIL(SOTTO_EUSAGE,
             "ask: %s declares the persons of column '%s', but not how many rows of each count; give "
             "{rows_per_person=M}, or {person=none}",
             ask->schema, e->person);
    if (most && (none || !e->person))
        FAIL(SOTTO_EUSAGE,
             "ask: {rows_per_person} needs a person; expected 'type: person' in %s, and no "
             "{person=none}",
             ask->schema);
    if (e->person && !none)
        *unit = (struct unit){e->person, most ? most : e->rows_per_person};
done:
    return status;
}

static sotto_status check_ask(const struct sotto_ask *ask)
{
    sotto_status status = SOTTO_OK;
    const double delta = ask->target.delta;
    if (!ask->max_error && !(ask->target.epsilon > 0))
        FAIL(SOTTO_EUSAGE, "ask: no {epsilon} is given; expected a number above 0");
    if (ask->max_error && ask->target.epsilon != 0)
        FAIL(SOTTO_EUSAGE, "ask: {max_error} finds epsilon; omit {epsilon}");
    if (ask->weights < SOTTO_ASK_EQUAL || ask->weights > SOTTO_ASK_LARGEST)
        FAIL(SOTTO_EUSAGE, "ask: weights %d; expected one of enum sotto_ask_weights", ask->weights);
    if (!(delta >= 0 && delta < 1))
        FAIL(SOTTO_EUSAGE, "ask: {delta} is %g; expected 0 or a small number below 1", delta);
done:
    return status;
}

/* Queries of persons need to know who they are. Rows of one person are no sample. */
static sotto_status check_persons(const struct ask_plan *plan, const struct sotto_ask *ask)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = 0; i < plan->count; i++)
        if ((plan->queries[i].persons || plan->queries[i].per_person) && !plan->most)
            FAIL(SOTTO_EUSAGE, "ask: '%.60s' is of persons; give {person=COLUMN} and {rows_per_person=M}",
                 plan->queries[i].text);
    for (size_t i = 0; i < plan->count && ask->population && plan->most; i++)
        if (plan->queries[i].parts > 0 && !plan->queries[i].persons && !plan->queries[i].per_person)
            FAIL(SOTTO_EUSAGE,
                 "ask: '%.60s' is of rows, and {population} takes the persons as a sample; expected 'per "
                 "person' "
                 "behind a mean, variance or covariance, or 'count persons'",
                 plan->queries[i].text);
    if (ask_is_per_person(plan) && ask->table && file_is_pipe(ask->table))
        FAIL(SOTTO_EUSAGE, "ask: 'per person' reads the table twice, and %s is a pipe; give a file",
             ask->table);
done:
    return status;
}

/* What the queries are asked of. */
static sotto_status read_plan(struct sotto_table_encoding **e, struct ask_plan *plan, struct unit *unit,
                              const struct sotto_ask *ask)
{
    sotto_status status = SOTTO_OK;
    struct ask_texts t = {0};
    TRY(ask_texts_read(&t, ask));
    TRY(encoding_read_columns(e, ask->schema));
    if ((*e)->how != SOTTO_ENCODING_DECLARED)
        FAIL(SOTTO_EUSAGE,
             "ask: %s lists columns under from_rows, so their bounds were read off the rows; state them from "
             "other knowledge, and take them off that list",
             ask->schema);
    TRY(find_unit(unit, ask, *e));
    TRY(ask_parse(plan, t.texts, t.count, *e, last_part(ask->schema)));
    plan->most = unit->most;
    TRY(check_persons(plan, ask));
done:
    ask_texts_clear(&t);
    return status;
}

/* Everything behind the charge. */
static sotto_status answer_queries(struct sotto_certificate **certificate, struct vector_release *v,
                                   struct ask_table *t, const struct sotto_ask *ask)
{
    sotto_status status = SOTTO_OK;
    struct ask_release r = {.scale = vector_release_scale(v),
                            .gaussian = ask->target.delta > 0,
                            .raw = ask->raw != 0,
                            .at_once = ask->simultaneous ? ask_noisy_answers(t->plan) : 0,
                            .population = ask->population != 0,
                            .seeded = ask->spend.insecure != 0};
    const struct ask_plan *plan = t->plan;
    struct ask_agreed agreed = {0};
    int64_t *sums = NULL;
    double *cells = NULL;
    NEW(sums, plan->sums);
    NEW(cells, plan->cells + plan->block + plan->choices);
    TRY(ask_table_sum(sums, &r.rows, &r.persons, t));
    ledger_warn_about_delta(r.rows, ask->target.delta, t->ctx);
    if (plan->block)
        TRY(vector_release_cube(cells + plan->cells, sums + plan->cells, plan->block,
                                ask_block_scale(plan, r.scale), v));
    TRY(ask_choices_draw(cells, plan, sums, v, r.gaussian));
    TRY(vector_release_draw(certificate, cells, sums, v));
    r.cells = cells;
    TRY(ask_agree(&agreed, plan, &r));
    r.agreed = &agreed;
    TRY(ask_answers_write(ask->output, plan, &r));
done:
    ask_agreed_clear(&agreed);
    if (sums)
        base_wipe(sums, plan->sums * sizeof *sums);
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

/* All that is fixed before the table is read. */
struct asked {
    struct sotto_table_encoding *schema;
    struct ask_plan plan;
    struct certificate_query *queries; /* (count) */
    size_t count;
    struct unit unit;
    struct sotto_provenance whose; /* that unit, for the ledger */
    struct sotto_release release;  /* borrows the others */
};

static void asked_clear(struct asked *a)
{
    base_free(a->queries);
    ask_plan_clear(&a->plan);
    sotto_table_encoding_free(a->schema);
}

static sotto_status asked_prepare(struct asked *a, const struct sotto_ask *ask)
{
    sotto_status status = SOTTO_OK;
    const bool gaussian = ask->target.delta > 0;
    TRY(check_ask(ask));
    TRY(read_plan(&a->schema, &a->plan, &a->unit, ask));
    ask_share(&a->plan, gaussian, ask->weights);
    NEW(a->queries, ASK_LEVELS * a->plan.count);
    ask_list_queries(a->queries, &a->count, &a->plan, 1, gaussian);
    a->whose.rows_per_person = a->unit.most;
    if (a->unit.person)
        snprintf(a->whose.person, sizeof a->whose.person, "%s", a->unit.person);
    a->release = (struct sotto_release){
        .mechanism = gaussian ? "gaussian" : "laplace", .target = ask->target, .spend = ask->spend};
    if (ask->max_error)
        TRY(ask_forecast_scale(&a->release.scale, &a->plan, ask->max_error, gaussian,
                               ask->simultaneous != 0));
    statistic_of_queries(&a->release.sensitivity, a->queries, a->count, a->plan.most);
    a->release.spend.provenance = &a->whose;
    a->release.spend.rows_per_person = 0;
done:
    return status;
}

sotto_status sotto_ask_forecast(char **text, const struct sotto_ask *ask, int json,
                                const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(text, ask);
    REQUIRE_GIVEN(ask->schema, !ask->count || ask->queries);
    sotto_status status = SOTTO_OK;
    struct asked a = {0};
    struct release_plan p;
    TRY(asked_prepare(&a, ask));
    if (!a.release.spend.dataset_id)
        a.release.spend.dataset_id = "any"; /* nothing is charged */
    TRY(release_plan(&p, &a.release, a.plan.cells + a.plan.block + a.plan.choices, 1u << RELEASE_LATTICE,
                     ctx));
    TRY(ask_forecast_write(text, &a.plan, p.account.scale,
                           (struct sotto_dp){p.account.epsilon.upper, ask->target.delta},
                           ask->simultaneous != 0, json != 0));
done:
    asked_clear(&a);
    return status;
}

sotto_status sotto_ask(struct sotto_certificate **certificate, const struct sotto_ask *ask,
                       const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(certificate, ask);
    REQUIRE_GIVEN(ask->table, ask->schema, ask->output, !ask->count || ask->queries);
    sotto_status status = SOTTO_OK;
    struct asked a = {0};
    struct vector_release *v = NULL;
    struct sotto_certificate *made = NULL;
    struct held_file held = {0};
    struct ask_table table = {.plan = &a.plan, .path = ask->table, .ctx = ctx};
    if (!file_exists(ask->table))
        FAIL(SOTTO_ENOENT, "%s: no such file; expected a table as CSV", ask->table);
    TRY(asked_prepare(&a, ask));
    table.person = a.unit.person;
    table.most = a.unit.most;
    TRY(file_hold(&held, ask->output, 1 << 16));
    TRY(ask_table_open(&table));
    TRY(vector_release_open(&v, &a.release, a.plan.cells, a.plan.block + a.plan.choices, ctx));
    TRY(answer_queries(&made, v, &table, ask));
    ask_list_queries(a.queries, &a.count, &a.plan, vector_release_scale(v), ask->target.delta > 0);
    TRY(certificate_add_queries(made, a.queries, a.count));
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
    ask_table_close(&table);
    asked_clear(&a);
    return status;
}
