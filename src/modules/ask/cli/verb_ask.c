/* sotto ask: private statistics of a table by the names of its columns. */
#include "inputs/private_set.h"
#include "sotto/lab/ask.h"

#include <stdio.h>

static const struct option_row rows[] = {
    OPTION_TABLE("ask", NULL),
    OPTION_GROUP("Output"),
    {"dry-run", OPTION_FLAG, NULL, NULL,
     "say how far the noise may move each answer: reads the schema alone, charges and writes nothing"},
    OPTION_ROWS(private_set_rows),
    OPTION_END};

enum { QUERIES = 30 };

static sotto_status fill_ask(struct sotto_ask *ask, const char *queries[QUERIES], const struct options *o)
{
    sotto_status status = SOTTO_OK;
    TRY(option_require(o, "schema"));
    if (!option_given(o, "max-error"))
        TRY(option_require(o, "epsilon"));
    if (!option_flag(o, "dry-run"))
        TRY(option_require(o, "output"));
    TRY(option_members(ask, sotto_option_table("ask"), o));
    ask->table = option_argument(o, 0);
    ask->count = option_argument_count(o) - 1;
    for (size_t i = 0; i < ask->count; i++)
        queries[i] = option_argument(o, i + 1);
    ask->queries = queries;
    ask->rows_per_person = option_given(o, "rows-per-person") ? option_count(o, "rows-per-person") : 0;
    if (option_given(o, "planned"))
        return cli_fail(SOTTO_EUSAGE, "ask: --planned is for one release by 'sotto protect'; omit it");
done:
    return status;
}

static sotto_status print_forecast(const struct sotto_ask *ask, int json, const struct sotto_context *ctx)
{
    char *text;
    TRY_OR_RETURN(sotto_ask_forecast(&text, ask, json, ctx));
    printf(json ? "%s\n" : "%s", text);
    sotto_text_free(text);
    return SOTTO_OK;
}

static sotto_status verb_ask_run(const struct options *o, const struct sotto_context *ctx, int json)
{
    struct sotto_ask ask = {0};
    const char *queries[QUERIES];
    const struct sotto_provenance whose = {0};
    struct private_set set = {0};
    struct sotto_certificate *certificate = NULL;
    sotto_status status = SOTTO_OK;
    TRY(fill_ask(&ask, queries, o));
    if (option_flag(o, "dry-run"))
        return print_forecast(&ask, json, ctx);
    TRY(private_set_identify(&set, o, &whose, "ask", ask.table));
    ask.spend = set.spend;
    TRY(sotto_ask(&certificate, &ask, ctx));
    TRY(private_set_print(&set, certificate, ask.output, json));
done:
    sotto_certificate_free(certificate);
    private_set_clear(&set);
    return status;
}

const struct verb verb_ask = {
    .name = "ask",
    .summary = "release statistics of a table, asked for by the names of its columns",
    .arguments = "TABLE.csv [QUERY ...]",
    .min_arguments = 1,
    .max_arguments = QUERIES + 1,
    .examples =
        "  sotto ask patients.csv 'mean crp by ward; count where age >= 65' --schema patients.yaml --epsilon "
        "1 "
        "--dataset-id patients -o answers.csv\n"
        "  sotto ask patients.csv 'histogram age 0:110:10' 'crosstab sex x outcome' --schema patients.yaml "
        "--epsilon 1 --delta 1e-6 --dataset-id patients -o tables.csv\n"
        "  sotto ask visits.csv 'sum cost by ward' --schema visits.yaml --person patient --rows-per-person 3 "
        "--epsilon 1 --dataset-id visits -o costs.csv",
    .floor = FLOOR_MODULES,
    .ranks = REFUSED,
    .own = "sign|dry-run",
    .options = rows,
    .most_used = "queries|schema|person|rows-per-person|epsilon|delta|weights|max-error|dataset-id|ledger|"
                 "budget-epsilon|"
                 "budget-delta|raw|dry-run|output",
    .run = verb_ask_run};
