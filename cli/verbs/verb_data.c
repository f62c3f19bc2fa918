/* sotto data list | info NAME | import PATH --name NAME | fetch NAME | verify NAME | split NAME ... */
#include "inputs/head_inputs.h"
#include "inputs/image_inputs.h"
#include "options/class_list.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Help starts with the actions that an option belongs to. */
static const struct option_row rows[] = {
    OPTION_GROUP("Import and fetch"),
    {"name", OPTION_TEXT, "NAME", NULL,
     "name of the new set, of a-z 0-9 . _ -; import prints a summary of a table, which describes private "
     "rows and is for their owner only"},
    OPTION_TABLE("import", NULL),
    OPTION_TABLE("fetch", NULL),
    {"yes", OPTION_FLAG, NULL, NULL, "download without confirmation; fetch"},
    OPTION_GROUP("Split"),
    {"parts", OPTION_TEXT, "NAME=N,...", NULL,
     "parts and their numbers of records, such as member=1200,nonmember=1200, or shares, such as train=0.8"},
    OPTION_TABLE("split", "seed"),
    {"output", OPTION_TEXT, "DIR", NULL,
     "folder of the parts (split), or file to write (schema, loci); split writes PART-features.npy, "
     "PART-labels.npy, PART-attribute.npy, PART-rows.npy and encoding.json; schema writes a draft, in which "
     "everything is taken from the rows until you state it; loci writes the loci and frequencies of a public "
     "reference set of genotypes, for --loci"},
    OPTION_TABLE("split", "schema|one-hot|fit-on|fit-table|dataset-id|private-fit|ledger"),
    OPTION_GROUP("Check, for the owner of private records"),
    {"features", OPTION_TEXT, "X.npy", NULL, "records (N, D), as 'sotto head' reads them"},
    {"labels", OPTION_TEXT, "y.npy", NULL, "their labels (N)"},
    {"indices", OPTION_TEXT, "rows.npy", NULL, "rows of both to look at"},
    {"classes", OPTION_TEXT, "K|FILE", NULL,
     "public number of classes, or a file with one class name a line"},
    OPTION_END};

static sotto_status run_list(const struct options *o, const struct sotto_context *ctx, int json)
{
    char *text;
    (void)o, (void)ctx;
    TRY_OR_RETURN(json ? sotto_data_list(&text) : sotto_data_table(&text));
    printf("%s%s", text, json ? "\n" : "");
    sotto_text_free(text);
    return SOTTO_OK;
}

/* One line for each value of a column, the first one titled. */
static sotto_status print_counts(const char *title, const int64_t *column, size_t n, size_t values,
                                 const char *const *names)
{
    size_t *counts = calloc(values + 1, sizeof *counts);
    if (!counts)
        return cli_fail(SOTTO_ENOMEM, "data info: out of memory");
    for (size_t i = 0; i < n; i++)
        counts[column[i]]++;
    for (size_t k = 0; k < values; k++) {
        char number[24];
        snprintf(number, sizeof number, "%zu", k);
        printf("%-10s %s%s%s: %zu\n", k == 0 ? title : "", number, names ? " " : "", names ? names[k] : "",
               counts[k]);
    }
    free(counts);
    return SOTTO_OK;
}

static sotto_status print_unit(const struct sotto_dataset *d)
{
    struct sotto_provenance p = {0};
    sotto_status status = sotto_provenance_of_rows(&p, d, NULL, d->n);
    if (status == SOTTO_OK && p.rows_per_person)
        printf("privacy    of one person (column %s, at most %zu rows each)\n", p.person, p.rows_per_person);
    sotto_provenance_clear(&p);
    return status;
}

static sotto_status print_facts(const struct sotto_dataset *d)
{
    sotto_status status = SOTTO_OK;
    printf("%s\n", d->title);
    printf("origin     %s%s\n", d->origin, d->synthetic ? " (synthetic)" : "");
    printf("records    %zu (%zu training, %zu test)\n", d->n, d->n_train, d->n - d->n_train);
    if (d->images)
        printf("images     %zu x %zu x %zu (channels, height, width), bytes\n", d->channels, d->height,
               d->width);
    else
        printf("features   %zu columns\n", d->columns);
    if (!d->labels)
        printf("labels     none\n");
    if (d->labels)
        TRY(print_counts("classes", d->labels, d->n, d->classes, d->class_names));
    if (d->attribute) {
        printf("attribute  %s\n", d->attribute_name);
        TRY(print_counts("values", d->attribute, d->n, d->values, d->value_names));
    }
    TRY(print_unit(d));
done:
    printf("identity   %s\n", d->dataset_id[0] ? d->dataset_id : "none (a path, or imported by version 1)");
    printf("sha256     %s\n", d->sha256);
    return status;
}

/* Of tables of text: what their columns hold. */
static sotto_status print_summary(const struct sotto_dataset *d)
{
    char *text;
    TRY_OR_RETURN(sotto_dataset_summary(&text, d));
    printf("%s", text);
    sotto_text_free(text);
    return SOTTO_OK;
}

static sotto_status run_info(const struct options *o, const struct sotto_context *ctx, int json)
{
    const char *name = option_argument(o, 1);
    struct sotto_dataset *d;
    char *text;
    sotto_status status = SOTTO_OK;
    if (json) {
        TRY_OR_RETURN(sotto_data_info(&text, name, ctx));
        printf("%s\n", text);
        sotto_text_free(text);
        return SOTTO_OK;
    }
    TRY_OR_RETURN(sotto_dataset_open(&d, name, ctx));
    TRY(print_facts(d));
    TRY(print_summary(d));
done:
    sotto_dataset_free(d);
    return status;
}

static sotto_status read_import_options(struct sotto_import_options *out, const struct options *o)
{
    *out = (struct sotto_import_options){.dataset_id = option_text(o, "dataset-id"),
                                         .schema = option_text(o, "schema")};
    TRY_OR_RETURN(option_members(out, sotto_option_table("import"), o));
    return image_size(&out->height, &out->width, o);
}

/* What an import or a fetch ends with. */
static sotto_status verb_data_announce(const char *name, const struct sotto_context *ctx, int json)
{
    struct sotto_dataset *d;
    char *text;
    if (!json) {
        printf("imported %s; 'sotto data info %s' shows it\n", name, name);
        TRY_OR_RETURN(sotto_dataset_open(&d, name, ctx));
        const sotto_status status = print_summary(d);
        sotto_dataset_free(d);
        return status;
    }
    TRY_OR_RETURN(sotto_data_info(&text, name, ctx));
    printf("%s\n", text);
    sotto_text_free(text);
    return SOTTO_OK;
}

static sotto_status run_import(const struct options *o, const struct sotto_context *ctx, int json)
{
    struct sotto_import_options options;
    const char *name = option_text(o, "name");
    TRY_OR_RETURN(option_require(o, "name"));
    TRY_OR_RETURN(read_import_options(&options, o));
    TRY_OR_RETURN(sotto_data_import(option_argument(o, 1), name, &options, ctx));
    return verb_data_announce(name, ctx, json);
}

/* Someone at a terminal is shown what will come over the line, and asked; a script is not. */
static sotto_status verb_data_ask(const struct options *o, const char *name,
                                  const struct sotto_fetch_options *options)
{
    char *text, answer[16] = "";
    TRY_OR_RETURN(sotto_data_fetch_plan(&text, name, options));
    if (!option_flag(o, "quiet"))
        fprintf(stderr, "%s", text);
    sotto_text_free(text);
    if (option_flag(o, "yes") || !isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        return SOTTO_OK;
    fprintf(stderr, "Download and import? [y/N] ");
    if (!fgets(answer, sizeof answer, stdin) || (answer[0] != 'y' && answer[0] != 'Y'))
        return cli_fail(SOTTO_ESTOPPED, "data fetch: not confirmed, so nothing was downloaded; give --yes to "
                                        "download without the question");
    return SOTTO_OK;
}

static sotto_status run_fetch(const struct options *o, const struct sotto_context *ctx, int json)
{
    const char *name = option_argument(o, 1);
    struct sotto_fetch_options options = {0};
    TRY_OR_RETURN(option_members(&options, sotto_option_table("fetch"), o));
    TRY_OR_RETURN(read_import_options(&options.import, o));
    TRY_OR_RETURN(verb_data_ask(o, name, &options));
    TRY_OR_RETURN(sotto_data_fetch(name, &options, ctx));
    return verb_data_announce(name, ctx, json);
}

static sotto_status run_verify(const struct options *o, const struct sotto_context *ctx, int json)
{
    const char *name = option_argument(o, 1);
    char *text;
    TRY_OR_RETURN(sotto_data_verify(&text, name, ctx));
    if (json)
        printf("%s\n", text);
    else
        printf("%s: ok\n", name);
    sotto_text_free(text);
    return SOTTO_OK;
}

enum { MAX_PARTS = 16 };

/* "member=1200,nonmember=1200", or "train=0.8,test=0.2"; the names stay in `text`, whose commas and signs become ends. */
static sotto_status read_parts(struct sotto_data_part parts[MAX_PARTS], size_t *count, char *text)
{
    for (*count = 0; text; (*count)++) {
        char *sign = strchr(text, '='), *end = NULL;
        const bool number = sign && ((sign[1] >= '0' && sign[1] <= '9') || sign[1] == '.');
        const size_t n = number ? (size_t)strtoull(sign + 1, &end, 10) : 0;
        const double share = number && *end == '.' ? strtod(sign + 1, &end) : 0;
        if (!end || (*end && *end != ',') || *count == MAX_PARTS)
            return cli_fail(SOTTO_EUSAGE,
                            "--parts: '%s' is not a list of at most %d parts; expected for example "
                            "member=1200,other=500, or train=0.8,test=0.2",
                            text, MAX_PARTS);
        *sign = '\0';
        parts[*count] = (struct sotto_data_part){text, share > 0 ? 0 : n, share};
        text = *end ? end + 1 : NULL;
    }
    return SOTTO_OK;
}

/* What the columns became; the encoding was just written. */
static sotto_status print_encoding(const char *folder, const struct options *o)
{
    struct sotto_table_encoding *e;
    char path[4096];
    snprintf(path, sizeof path, "%.4000s/encoding.json", folder);
    TRY_OR_RETURN(sotto_table_encoding_load(&e, path));
    printf("%s: %zu columns, %zu classes, encoding ", path, sotto_table_encoding_width(e),
           sotto_table_encoding_classes(e));
    if (option_given(o, "fit-on"))
        printf("fitted on the rows of part %s: public for other rows alone\n", option_text(o, "fit-on"));
    else if (option_given(o, "fit-table"))
        printf("fitted on the rows of %s: public for other rows alone\n", option_text(o, "fit-table"));
    else
        printf("%s\n", sotto_encoding_name(sotto_table_encoding_how(e)));
    sotto_table_encoding_free(e);
    return SOTTO_OK;
}

static sotto_status run_split(const struct options *o, const struct sotto_context *ctx, int json)
{
    struct sotto_data_part parts[MAX_PARTS];
    const char *name = option_argument(o, 1), *folder = option_text(o, "output");
    struct sotto_split_options options = {0};
    char *text = NULL;
    size_t count = 0;
    sotto_status status = SOTTO_OK;
    TRY(option_require(o, "output"));
    TRY(option_require(o, "parts"));
    TRY(option_members(&options, sotto_option_table("split"), o));
    if (!(text = strdup(option_text(o, "parts"))))
        TRY(cli_fail(SOTTO_ENOMEM, "data split: out of memory"));
    TRY(read_parts(parts, &count, text));
    TRY(sotto_data_split(folder, name, parts, count, &options, ctx));
    if (json)
        printf("{\"schema\": \"sotto.split/1\", \"parts\": %zu}\n", count);
    else
        printf("%s: %zu parts of %s\n", folder, count, name);
    if (!json && options.one_hot)
        TRY(print_encoding(folder, o));
done:
    free(text);
    return status;
}

static sotto_status run_schema(const struct options *o, const struct sotto_context *ctx, int json)
{
    struct sotto_import_options options;
    const char *path = option_text(o, "output");
    size_t unstated;
    TRY_OR_RETURN(option_require(o, "output"));
    TRY_OR_RETURN(read_import_options(&options, o));
    TRY_OR_RETURN(sotto_data_schema(path, option_argument(o, 1), &options, ctx));
    TRY_OR_RETURN(sotto_data_schema_unstated(&unstated, path));
    if (json)
        printf("{\"schema\": \"sotto.schema-draft/1\", \"unstated\": %zu}\n", unstated);
    else if (unstated == 0)
        printf("%s: a schema; you stated all of its columns\n", path);
    else
        printf("%s: a draft; state its columns, by --state or by taking them off from_rows, or every epsilon "
               "stays conditional\n",
               path);
    return SOTTO_OK;
}

static void print_check(const struct sotto_records_check *c, size_t classes)
{
    printf("%zu of %zu records would count as nothing in private training\n"
           "  features that are not finite numbers: %zu\n"
           "  labels that are none of 0 to %zu: %zu (labels run from %lld to %lld)\n"
           "  classes without a record: %zu\n"
           "These numbers describe private records. They are for their owner: this is no release, and "
           "nothing is charged.\n",
           c->nothing, c->n, c->not_finite, classes - 1, c->no_class, (long long)c->least, (long long)c->most,
           c->empty);
    if (c->no_class && c->least == 1 && c->most == (int64_t)classes)
        printf("Labels that run from 1 need --labels-from 1.\n");
}

/* Of arrays, as head --features reads them. */
static sotto_status check_arrays(struct sotto_records_check *c, size_t *classes, const struct options *o)
{
    struct head_inputs in = {0};
    sotto_status status = SOTTO_OK;
    TRY(option_require(o, "classes"));
    TRY(head_inputs_load(&in, o, 1));
    TRY(sotto_head_check_records(c, in.x.data, in.y.data, in.n, in.d, in.classes));
done:
    *classes = in.classes;
    head_inputs_clear(&in);
    return status;
}

/* Of a set, as train --data reads it. */
static sotto_status check_set(struct sotto_records_check *c, size_t *classes, const struct options *o,
                              const struct sotto_context *ctx)
{
    struct sotto_dataset *d = NULL;
    struct class_list given = {0};
    int64_t *labels = NULL;
    sotto_status status = SOTTO_OK;
    TRY(sotto_dataset_open(&d, option_argument(o, 1), ctx));
    if (!d->labels)
        TRY(cli_fail(SOTTO_EINVAL, "data check: data set '%s' has no labels", d->name));
    TRY(class_list_read(&given, o));
    if (!(labels = calloc(d->n, sizeof *labels)))
        TRY(cli_fail(SOTTO_ENOMEM, "data check: out of memory"));
    memcpy(labels, d->labels, d->n * sizeof *labels);
    if (given.names && d->class_names)
        class_list_translate(labels, d->n, d->class_names, d->classes, &given);
    *classes = given.count ? given.count : d->classes;
    TRY(sotto_head_check_records(c, d->features, labels, d->n, d->columns, *classes));
done:
    free(labels);
    class_list_clear(&given);
    sotto_dataset_free(d);
    return status;
}

static sotto_status run_check(const struct options *o, const struct sotto_context *ctx, int json)
{
    struct sotto_records_check c;
    size_t classes = 0;
    const bool set = option_argument_count(o) > 1;
    if (set && (option_given(o, "features") || option_given(o, "labels") || option_given(o, "indices")))
        return cli_fail(SOTTO_EUSAGE, "data check: give a data set, or --features and --labels, not both");
    TRY_OR_RETURN(set ? check_set(&c, &classes, o, ctx) : check_arrays(&c, &classes, o));
    if (json)
        printf("{\"schema\": \"sotto.records-check/1\", \"records\": %zu, \"nothing\": %zu, \"not_finite\": "
               "%zu, \"no_class\": %zu, "
               "\"classes\": %zu, \"empty_classes\": %zu, \"least_label\": %lld, \"largest_label\": %lld}\n",
               c.n, c.nothing, c.not_finite, c.no_class, classes, c.empty, (long long)c.least,
               (long long)c.most);
    else
        print_check(&c, classes);
    return SOTTO_OK;
}

static sotto_status run_loci(const struct options *o, const struct sotto_context *ctx, int json)
{
    const char *path = option_text(o, "output");
    TRY_OR_RETURN(option_require(o, "output"));
    TRY_OR_RETURN(sotto_data_loci(path, option_argument(o, 1), ctx));
    if (json)
        printf("{\"schema\": \"sotto.loci/1\"}\n");
    else
        printf("%s\n", path);
    return SOTTO_OK;
}

static const struct action {
    const char *name, *argument; /* argument: NULL for none */
    sotto_status (*run)(const struct options *o, const struct sotto_context *ctx, int json);
    const char *options[24]; /* that mean something to it */
} actions[] = {
    {"list", NULL, run_list, {NULL}},
    {"info", "NAME", run_info, {NULL}},
    {"import", "PATH", run_import, {"name",           "size",          "label",      "labels-from",
                                    "attribute",      "part",          "dataset-id", "schema",
                                    "loci",           "absent",        "separator",  "encoding",
                                    "decimal",        "missing",       "types",      "drop",
                                    "no-header",      "drop-bad-rows", "person",     "rows-per-person",
                                    "drop-bad-images"}},
    {"fetch", "NAME", run_fetch, {"size", "label", "attribute", "url", "sha256", "keep", "yes"}},
    {"verify", "NAME", run_verify, {NULL}},
    {"loci", "NAME", run_loci, {"output"}},
    {"check", "[NAME]", run_check, {"features", "labels", "labels-from", "indices", "classes"}},
    {"schema",
     "TABLE",
     run_schema,
     {"output", "state", "label", "separator", "encoding", "decimal", "missing", "types", "drop", "no-header",
      "drop-bad-rows", "person", "rows-per-person"}},
    {"split",
     "NAME",
     run_split,
     {"parts", "seed", "output", "schema", "one-hot", "fit-on", "fit-table", "dataset-id", "private-fit",
      "ledger"}}};
enum { ACTIONS = sizeof actions / sizeof *actions };

static bool verb_data_has(const struct action *action, const char *option)
{
    for (size_t i = 0; action->options[i]; i++)
        if (strcmp(action->options[i], option) == 0)
            return true;
    return false;
}

/* EUSAGE for an option of another action. */
static sotto_status check_options(const struct options *o, const struct action *action)
{
    for (size_t i = 0; i < ACTIONS; i++)
        for (const char *const *option = actions[i].options; *option; option++)
            if (option_given(o, *option) && !verb_data_has(action, *option))
                return cli_fail(SOTTO_EUSAGE, "data %s: --%s is only an option of 'data %s'", action->name,
                                *option, actions[i].name);
    return SOTTO_OK;
}

static sotto_status verb_data_run(const struct options *o, const struct sotto_context *ctx, int json)
{
    const char *name = option_argument(o, 0);
    const struct action *action = NULL;
    for (size_t i = 0; i < ACTIONS; i++)
        if (strcmp(actions[i].name, name) == 0)
            action = &actions[i];
    if (!action)
        return cli_unknown_action("data", name,
                                  "list, info, import, schema, fetch, verify, loci, check or split");
    const bool optional = action->argument && action->argument[0] == '[';
    size_t wanted = action->argument ? 2 : 1;
    if (option_argument_count(o) < wanted && !optional)
        return cli_fail(SOTTO_EUSAGE, "data %s: expects %s; see 'sotto data --help'", name, action->argument);
    if (option_argument_count(o) > wanted)
        return cli_fail(SOTTO_EUSAGE, "data %s: unexpected argument '%s'", name, option_argument(o, wanted));
    if (check_options(o, action) != SOTTO_OK)
        return SOTTO_EUSAGE;
    return action->run(o, ctx, json);
}

static const struct subcommand subcommands[] = {
    {"list", "", "list the data sets that are installed, and those known by name", "json"},
    {"info", "NAME", "show records, classes and identity of a data set", "json"},
    {"import", "PATH --name NAME", "import a table, an archive or a folder of images as a data set",
     "name|label|schema|missing|types|drop|separator|encoding|decimal|no-header|drop-bad-rows|person|"
     "rows-per-person|size|dataset-id"},
    {"schema", "TABLE -o FILE", "draft the schema of a table: columns, bounds and categories",
     "output|state|label|missing|types|drop|separator|encoding|decimal|no-header|drop-bad-rows|person|"
     "rows-per-person"},
    {"fetch", "NAME", "download and import a data set that is known by name",
     "size|label|attribute|url|sha256|keep|yes"},
    {"verify", "NAME", "check the checksums of an imported data set", "json"},
    {"loci", "NAME -o FILE", "write loci and allele frequencies of a public reference set of genotypes",
     "output"},
    {"check", "[NAME] --classes K", "look for mistakes in records and labels before a private training",
     "features|labels|labels-from|indices|classes|json"},
    {"split", "NAME --parts P=N,... -o DIR", "draw disjoint parts of a data set, as arrays",
     "parts|seed|one-hot|schema|fit-on|fit-table|private-fit|dataset-id|ledger|output"},
    {NULL}};

const struct verb verb_data = {
    .name = "data",
    .summary = "list, import, fetch, describe, check and split data sets",
    .arguments =
        "list | info NAME | import PATH --name NAME | schema TABLE -o FILE | fetch NAME | verify NAME | "
        "loci NAME -o FILE | check [NAME | --features X.npy --labels y.npy] --classes K | split NAME --parts "
        "P=N,... "
        "-o DIR",
    .min_arguments = 1,
    .max_arguments = 3,
    .examples = "  sotto data import people.csv --name people --label ill --missing 'NA,none' --drop id\n"
                "  sotto data split location --parts member=1200,nonmember=1200,attacker=2600 -o location\n"
                "  sotto data check --features x.npy --labels y.npy --classes 10\n"
                "  sotto data list\n"
                "  sotto data import cifar10-jpeg.tar.xz --name cifar10\n"
                "  sotto data import location.csv --name location --label first\n"
                "  sotto data import photos/ --name photos --size 96x96\n"
                "  sotto data fetch cifar100\n"
                "  sotto data loci reference -o reference-loci.csv\n"
                "  sotto data fetch stl10 --size 32x32\n"
                "  sotto data import adult.data --name adult --schema adult-schema.yaml\n"
                "  sotto data schema people.csv --label ill --state age=0:110 -o people-schema.yaml\n"
                "  sotto data import cohort.vcf.gz --name cohort --loci reference-loci.csv\n"
                "  sotto data info fashion-mnist --json\n"
                "  sotto data verify fashion-mnist\n"
                "  sotto data split adult --parts train=20000,test=5000 --one-hot -o adult",
    .floor = FLOOR_LEARN,
    .ranks = RANK_0,
    .own = "name|yes|parts|features|labels|classes",
    .options = rows,
    .subcommands = subcommands,
    .run = verb_data_run};
