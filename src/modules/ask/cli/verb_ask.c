/* sotto ask: private statistics of a table by the names of its columns. */
#include "inputs/private_set.h"
#include "sotto/lab/ask.h"
#include "verbs/page_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option_row rows[] = {
    OPTION_TABLE("ask", NULL),
    OPTION_GROUP("Output"),
    {"dry-run", OPTION_FLAG, NULL, NULL,
     "say how far the noise may move each answer: reads the schema alone, charges and writes nothing"},
    {"html", OPTION_FLAG, NULL, NULL,
     "also write OUT.html, one page with a card, bars and a table for each query; takes --output OUT.json"},
    OPTION_ROWS(private_set_rows),
    OPTION_END};

enum { QUERIES = 30 };

static bool ends_in_json(const char *path)
{
    const size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".json") == 0;
}

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
    if (option_flag(o, "html") && !(ask->output && ends_in_json(ask->output)))
        return cli_fail(SOTTO_EUSAGE, "ask: --html makes a page of OUT.json; give --output OUT.json");
    ask->rows_per_person = option_given(o, "rows-per-person") ? option_count(o, "rows-per-person") : 0;
    if (option_given(o, "planned"))
        return cli_fail(SOTTO_EUSAGE, "ask: --planned is for one release by 'sotto protect'; omit it");
done:
    return status;
}

/* All of it, which this program has just written. NULL: it cannot be read. */
static char *read_answers(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    const long size = f && fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    if (size >= 0 && fseek(f, 0, SEEK_SET) == 0)
        text = calloc((size_t)size + 1, 1);
    if (text && fread(text, 1, (size_t)size, f) != (size_t)size) {
        free(text);
        text = NULL;
    }
    if (f)
        fclose(f);
    return text;
}

/* The page of OUT.json is OUT.html. */
static sotto_status save_page(const char *output, const struct sotto_certificate *certificate, int json,
                              const struct sotto_context *ctx)
{
    char *page = NULL, path[4096], *answers = read_answers(output);
    sotto_status status = answers ? sotto_ask_page(&page, answers, certificate, ctx)
                                  : cli_fail(SOTTO_EIO, "%s: cannot be read again", output);
    snprintf(path, sizeof path, "%.*s.html", (int)strlen(output) - 5, output);
    if (status == SOTTO_OK)
        status = page_file_write(path, page);
    if (status == SOTTO_OK && !json)
        printf("page: %s\n", path);
    sotto_text_free(page);
    free(answers);
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
    if (option_flag(o, "html"))
        TRY(save_page(ask.output, certificate, json, ctx));
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
    .own = "sign|dry-run|html",
    .options = rows,
    .most_used = "queries|schema|person|rows-per-person|epsilon|delta|weights|max-error|dataset-id|ledger|"
                 "budget-epsilon|"
                 "budget-delta|dry-run|html|output",
    .run = verb_ask_run};
