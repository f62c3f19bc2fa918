/* sotto ledger init | plan | show | overlap: what the officer of a data set does with its ledger. */
#include "options/options.h"
#include "verbs/page_file.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct option_row rows[] = {
    OPTION_TABLE("spend", "dataset-id|ledger"),
    OPTION_GROUP("New ledger (init)"),
    {"budget", OPTION_TEXT, "E[,DELTA]", NULL,
     "privacy budget: largest epsilon and delta of all releases together, such as 2 or 2,1e-6; trainers "
     "cannot raise it"},
    {"column", OPTION_LIST, "E:D:SHARE", NULL,
     "room for kinds of releases, fixed for good (repeatable); pure epsilons get E and failures get D in "
     "all, and Gaussian noise gets the rest of this share of DELTA; default: one of pure epsilon and "
     "0:DELTA/10:1, which a first release that needs the whole budget may replace"},
    {"contact", OPTION_TEXT, "TEXT", NULL,
     "person or office responsible for the data set, recorded in the ledger"},
    {"curator", OPTION_TEXT, "TEXT", NULL,
     "who holds the records and releases from them; certificates name it"},
    {"use", OPTION_TEXT, "TEXT", NULL, "what the releases are for"},
    {"region", OPTION_TEXT, "TEXT", NULL, "where the people live"},
    {"sector", OPTION_TEXT, "TEXT", NULL, "such as health or education"},
    {"rationale", OPTION_TEXT, "TEXT", NULL, "why this epsilon and this delta"},
    OPTION_GROUP("Plan of several releases (plan)"),
    OPTION_TABLE("release", "delta"),
    OPTION_TABLE("spend", "rows-per-person|purpose|read-from-data"),
    OPTION_TABLE("source", "same-people-as"),
    OPTION_GROUP("Page for a privacy officer (show)"),
    {"html", OPTION_FLAG, NULL, NULL,
     "one page of HTML: budget, releases in time, and who may be told what; it is as private as the ledger"},
    {"output", OPTION_TEXT, "FILE", NULL, "file for the page (default: standard output)", "o"},
    OPTION_END};

static sotto_status read_budget(struct sotto_dp *out, const char *text, const char *action)
{
    char *end;
    *out = (struct sotto_dp){strtod(text, &end), 0};
    bool good = end != text && (*end == ',' || *end == '\0');
    if (good && *end == ',') {
        const char *second = end + 1;
        out->delta = strtod(second, &end);
        good = end != second && *end == '\0';
    }
    return good ? SOTTO_OK
                : cli_fail(SOTTO_EUSAGE,
                           "ledger %s: --budget: '%s' is not a budget; expected EPSILON or EPSILON,DELTA",
                           action, text);
}

static bool is_of_init(const char *name)
{
    static const char *const names[] = {"contact", "column", "curator",  "use",
                                        "region",  "sector", "rationale"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Of another action. */
static sotto_status refuse_options(const struct options *o, const char *action, const char *const *names)
{
    for (; *names; names++)
        if (option_given(o, *names))
            return cli_fail(
                SOTTO_EUSAGE, "ledger %s: --%s is an option of 'ledger %s'; omit it", action, *names,
                is_of_init(*names)                                               ? "init"
                : strcmp(*names, "html") == 0 || strcmp(*names, "output") == 0   ? "show"
                : strcmp(*names, "ledger") == 0 || strcmp(*names, "budget") == 0 ? "init' and 'ledger plan"
                                                                                 : "plan");
    return SOTTO_OK;
}

enum { MOST_COLUMNS = 15 };

static bool read_column(struct sotto_ledger_column *out, const char *text)
{
    double *const members[] = {&out->pure, &out->failure, &out->share};
    char *end = NULL;
    for (int i = 0; i < 3; i++, text = end + 1) {
        *members[i] = strtod(text, &end);
        if (end == text || *end != (i < 2 ? ':' : '\0'))
            return false;
    }
    return true;
}

static sotto_status read_columns(struct sotto_ledger_column out[MOST_COLUMNS], size_t *n,
                                 const struct options *o)
{
    const char *const *texts = option_list(o, "column");
    for (*n = 0; texts && texts[*n]; ++*n) {
        if (*n == MOST_COLUMNS)
            return cli_fail(SOTTO_EUSAGE, "ledger init: --column is given more than %d times", MOST_COLUMNS);
        if (!read_column(&out[*n], texts[*n]))
            return cli_fail(SOTTO_EUSAGE,
                            "ledger init: --column: '%s' is no column; expected E:D:SHARE such as 0.6:1e-7:1",
                            texts[*n]);
    }
    return SOTTO_OK;
}

static sotto_status run_init(const struct options *o, const struct sotto_context *ctx, int json)
{
    struct sotto_dp budget;
    struct sotto_ledger_column columns[MOST_COLUMNS];
    size_t n = 0;
    char *path;
    const char *id = option_text(o, "dataset-id");
    static const char *const others[] = {"delta",           "purpose", "read-from-data", "same-people-as",
                                         "rows-per-person", "html",    "output",         NULL};
    sotto_status status = option_require(o, "dataset-id");
    if (status == SOTTO_OK)
        status = refuse_options(o, "init", others);
    if (status == SOTTO_OK)
        status = option_require(o, "budget");
    if (status == SOTTO_OK && option_argument_count(o) > 1)
        status = cli_fail(SOTTO_EUSAGE, "ledger init: unexpected argument '%s'", option_argument(o, 1));
    if (status == SOTTO_OK)
        status = read_budget(&budget, option_text(o, "budget"), "init");
    if (status == SOTTO_OK)
        status = read_columns(columns, &n, o);
    if (status != SOTTO_OK)
        return status;
    const struct sotto_source_records source = {.public_set = sotto_dataset_is_public(id)};
    const struct sotto_ledger_card card = {.contact = option_text(o, "contact"),
                                           .curator = option_text(o, "curator"),
                                           .use = option_text(o, "use"),
                                           .region = option_text(o, "region"),
                                           .sector = option_text(o, "sector"),
                                           .rationale = option_text(o, "rationale")};
    status =
        sotto_ledger_init_card(&path, id, option_text(o, "ledger"), budget, columns, n, &card, &source, ctx);
    if (status != SOTTO_OK)
        return status;
    char *text = NULL;
    if (json)
        status = sotto_ledger_show(&text, path, ctx);
    if (status == SOTTO_OK && json)
        printf("%s\n", text);
    else if (status == SOTTO_OK)
        printf("%s: the ledger of data set '%s', with a budget of epsilon %g, delta %g\n", path, id,
               budget.epsilon, budget.delta);
    sotto_text_free(text);
    sotto_text_free(path);
    return status;
}

/* A budget that comes with it is recorded as one that comes with a release. */
static sotto_status run_plan(const struct options *o, const struct sotto_context *ctx, int json)
{
    struct sotto_spend spend = {0};
    struct sotto_source_records source = {0};
    char *text = NULL;
    static const char *const others[] = {"contact", "column",    "curator", "use",    "region",
                                         "sector",  "rationale", "html",    "output", NULL};
    sotto_status status = option_require(o, "dataset-id");
    if (status == SOTTO_OK)
        status = refuse_options(o, "plan", others);
    if (status == SOTTO_OK && option_argument_count(o) != 2)
        status =
            cli_fail(SOTTO_EUSAGE,
                     "ledger plan: expected one file of events (schema sotto.events/1, as of 'sotto account "
                     "--events')");
    if (status == SOTTO_OK)
        status = option_members(&spend, sotto_option_table("spend"), o);
    if (status == SOTTO_OK)
        status = option_members(&source, sotto_option_table("source"), o);
    if (status == SOTTO_OK && option_given(o, "budget")) {
        status = read_budget(&spend.budget, option_text(o, "budget"), "plan");
        if (spend.budget.delta == 0)
            spend.budget.delta = strchr(option_text(o, "budget"), ',') ? SOTTO_DELTA_PURE : 0;
    }
    if (status != SOTTO_OK)
        return status;
    source.public_set = sotto_dataset_is_public(spend.dataset_id);
    spend.source = &source;
    status = sotto_ledger_plan(json ? &text : NULL, json ? NULL : &text, option_argument(o, 1),
                               option_given(o, "delta") ? option_real(o, "delta") : 0, &spend, ctx);
    if (status == SOTTO_OK)
        printf("%s%s", text, json ? "\n" : "");
    sotto_text_free(text);
    return status;
}

static sotto_status run_show(const struct options *o, const struct sotto_context *ctx, int json)
{
    const char *file = option_argument_count(o) > 1 ? option_argument(o, 1) : NULL,
               *id = option_text(o, "dataset-id");
    const bool html = option_flag(o, "html");
    char *path = NULL, *text = NULL;
    static const char *const others[] = {
        "ledger",  "budget",         "column",         "contact",         "delta",
        "purpose", "read-from-data", "same-people-as", "rows-per-person", "curator",
        "use",     "region",         "sector",         "rationale",       NULL};
    if (refuse_options(o, "show", others) != SOTTO_OK)
        return SOTTO_EUSAGE;
    if ((file != NULL) == (id != NULL))
        return cli_fail(SOTTO_EUSAGE, "ledger show: give exactly one of FILE and --dataset-id");
    if (html && json)
        return cli_fail(SOTTO_EUSAGE, "ledger show: the page has no JSON form; omit --html or --json");
    if (!html && option_given(o, "output"))
        return cli_fail(SOTTO_EUSAGE, "ledger show: --output is for the page; add --html");
    sotto_status status = id ? sotto_ledger_find(&path, id) : SOTTO_OK;
    if (status == SOTTO_OK)
        status = (html   ? sotto_ledger_page
                  : json ? sotto_ledger_show
                         : sotto_ledger_table)(&text, id ? path : file, ctx);
    if (status == SOTTO_OK && html)
        status = page_file_write(option_text(o, "output"), text);
    else if (status == SOTTO_OK)
        printf("%s%s", text, json ? "\n" : "");
    sotto_text_free(text);
    sotto_text_free(path);
    return status;
}

/* Of two sets, or of a set and the ledger of an identity: asked by whoever owns both. */
static sotto_status count_shared(size_t *shared, const struct sotto_dataset *a, const char *b,
                                 const struct sotto_context *ctx)
{
    struct sotto_dataset *other = NULL;
    char *ledger = NULL;
    sotto_status status = sotto_dataset_open(&other, b, ctx);
    if (status == SOTTO_OK)
        status = sotto_dataset_overlap(shared, a, other, ctx);
    else if (sotto_ledger_find(&ledger, b) == SOTTO_OK && access(ledger, F_OK) == 0) {
        unsigned char(*digests)[SOTTO_DIGEST] = calloc(a->n, sizeof *digests);
        status = digests ? sotto_dataset_digests(digests, a, NULL, a->n, ctx)
                         : cli_fail(SOTTO_ENOMEM, "out of memory for %zu records", a->n);
        if (status == SOTTO_OK)
            status = sotto_ledger_overlap(shared, b, (const unsigned char(*)[SOTTO_DIGEST])digests, a->n);
        free(digests);
    } else
        status = cli_fail(SOTTO_ENOENT,
                          "ledger overlap: '%s' is neither a data set nor an identity with a ledger", b);
    sotto_text_free(ledger);
    sotto_dataset_free(other);
    return status;
}

static sotto_status run_overlap(const struct options *o, const struct sotto_context *ctx, int json)
{
    struct sotto_dataset *a = NULL;
    size_t shared = 0;
    if (option_argument_count(o) != 3)
        return cli_fail(SOTTO_EUSAGE,
                        "ledger overlap: give exactly two data sets (names, paths, or for the second one "
                        "the identity of a ledger)");
    const char *first = option_argument(o, 1), *second = option_argument(o, 2);
    sotto_status status = sotto_dataset_open(&a, first, ctx);
    if (status == SOTTO_OK)
        status = count_shared(&shared, a, second, ctx);
    if (status == SOTTO_OK && json)
        printf("{\"schema\": \"sotto.overlap/1\", \"records\": %zu, \"shared\": %zu}\n", a->n, shared);
    else if (status == SOTTO_OK && !shared)
        printf("no record of %s is a record of %s\n", first, second);
    if (status == SOTTO_OK && shared)
        status = cli_fail(
            SOTTO_EGATE,
            "ledger overlap: %zu of %zu records of %s are records of %s too; give both the same identity, or "
            "charge both by --same-people-as",
            shared, a->n, first, second);
    sotto_dataset_free(a);
    return status;
}

static sotto_status verb_ledger_run(const struct options *o, const struct sotto_context *ctx, int json)
{
    const char *action = option_argument(o, 0);
    if (strcmp(action, "init") == 0)
        return run_init(o, ctx, json);
    if (strcmp(action, "plan") == 0)
        return run_plan(o, ctx, json);
    if (strcmp(action, "show") == 0)
        return run_show(o, ctx, json);
    if (strcmp(action, "overlap") == 0)
        return run_overlap(o, ctx, json);
    return cli_unknown_action("ledger", action, "init, plan, show or overlap");
}

static const struct subcommand subcommands[] = {
    {"init", "--dataset-id ID --budget E[,DELTA]", "start the ledger of a data set with its privacy budget",
     "dataset-id|budget|contact|curator|use|region|sector|rationale|ledger|column|json"},
    {"plan", "EVENTS --dataset-id ID",
     "charge several later releases at once, at the price of their composition",
     "dataset-id|delta|budget|purpose|ledger|rows-per-person|same-people-as|read-from-data|json"},
    {"show", "[FILE]", "show the releases of a ledger, its total and what is left of the budget",
     "dataset-id|html|output|json"},
    {"overlap", "A B", "count the records that two data sets share; exit 1 if there are any", "json"},
    {NULL}};

const struct verb verb_ledger = {
    .name = "ledger",
    .summary = "start, plan and show the ledger that charges all private releases to one budget",
    .arguments = "init --dataset-id ID --budget E[,DELTA] | plan EVENTS --dataset-id ID | show [FILE] | "
                 "overlap A B",
    .min_arguments = 1,
    .max_arguments = 3,
    .examples =
        "  sotto ledger init --dataset-id survey-2026 --budget 2,1e-6 --contact 'privacy@example.org'\n"
        "  sotto ledger plan events.yaml --dataset-id survey-2026 --delta 1e-6\n"
        "  sotto ledger show --dataset-id survey-2026\n"
        "  sotto ledger show ledger.jsonl --json\n"
        "  sotto ledger show ledger.jsonl --html -o ledger.html\n"
        "  sotto ledger overlap people twin",
    .floor = FLOOR_CORE,
    .ranks = RANK_0,
    .own = "budget|column|contact|curator|use|region|sector|rationale|html",
    .options = rows,
    .subcommands = subcommands,
    .run = verb_ledger_run};
