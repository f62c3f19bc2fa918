#include "options/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option_row rows[] = {
    OPTION_GROUP("Models"),
    {"model", OPTION_LIST, "NAME=FILES", NULL,
     "model name and its result.json files of 'sotto audit' and 'sotto attack', separated by commas; the "
     "first --model is the baseline (repeatable)"},
    {"certificate", OPTION_LIST, "NAME=FILE", NULL,
     "certificate of a model or its released file, and after a comma its ledger (repeatable); it is "
     "verified, and its proved epsilon stands beside what was measured"},
    OPTION_GROUP("Output"),
    TITLE_ROW,
    OPTION_FORCE_ROW,
    {"output", OPTION_TEXT, "DIR", NULL, "folder for compare.json, compare.csv and report.html"},
    OPTION_END};

enum { FILES_MAX = 16 };

/* One --model taken apart. */
struct model {
    char *name;
    const char *files[FILES_MAX];
    size_t count;
};

static void verb_compare_clear(struct model *models, size_t count)
{
    for (size_t i = 0; models && i < count; i++)
        free(models[i].name); /* the files' names lie in it too */
    free(models);
}

static sotto_status read_model(struct model *m, const char *text)
{
    char *equals;
    m->name = strdup(text);
    if (!m->name)
        return cli_fail(SOTTO_ENOMEM, "compare: out of memory");
    equals = strchr(m->name, '=');
    if (!equals || equals == m->name || !equals[1])
        return cli_fail(
            SOTTO_EUSAGE,
            "--model: '%s' is not NAME=FILES; expected for example talos=membership.json,attribute.json",
            text);
    *equals = '\0';
    for (char *file = equals + 1; file; m->count++) {
        char *comma = strchr(file, ',');
        if (comma)
            *comma++ = '\0';
        if (m->count == FILES_MAX)
            return cli_fail(SOTTO_EUSAGE, "--model: '%s' has more than %d files", m->name, FILES_MAX);
        m->files[m->count] = file;
        file = comma;
    }
    return SOTTO_OK;
}

/* One --certificate taken apart: it belongs to a model that was given. */
static sotto_status read_certificate(struct sotto_compared *compared, size_t count, char *text)
{
    char *equals = strchr(text, '='), *comma = equals ? strchr(equals, ',') : NULL;
    size_t i = 0;
    if (!equals || equals == text || !equals[1])
        return cli_fail(SOTTO_EUSAGE,
                        "--certificate: '%s' is not NAME=FILE; expected for example "
                        "private=private.safetensors,ledger.jsonl",
                        text);
    *equals = '\0';
    if (comma)
        *comma++ = '\0';
    while (i < count && strcmp(compared[i].name, text) != 0)
        i++;
    if (i == count)
        return cli_fail(SOTTO_EUSAGE,
                        "--certificate: no --model is called '%s'; expected the name of a model", text);
    if (compared[i].certificate)
        return cli_fail(SOTTO_EUSAGE, "--certificate: '%s' has two; expected one for each model", text);
    compared[i].certificate = equals + 1;
    compared[i].ledger = comma;
    return SOTTO_OK;
}

/* The texts of all --certificate, which the models borrow. */
static sotto_status read_certificates(char **texts, size_t *read, struct sotto_compared *compared,
                                      size_t count, const char *const *given)
{
    for (; given && given[*read] && *read < FILES_MAX; ++*read) {
        texts[*read] = strdup(given[*read]);
        TRY_OR_RETURN(texts[*read] ? read_certificate(compared, count, texts[*read])
                                   : cli_fail(SOTTO_ENOMEM, "compare: out of memory"));
    }
    if (given && given[*read])
        return cli_fail(SOTTO_EUSAGE, "--certificate: more than %d were given", FILES_MAX);
    return SOTTO_OK;
}

static sotto_status verb_compare_run(const struct options *o, const struct sotto_context *ctx, int json)
{
    const char *const *given = option_list(o, "model");
    size_t count = 0;
    struct model *models = NULL;
    struct sotto_compared *compared = NULL;
    struct sotto_compare_result result = {0};
    char *text = NULL, *certificates[FILES_MAX];
    size_t certificate_count = 0;
    (void)ctx;
    while (given[count])
        count++;
    if (count < 2)
        return cli_fail(SOTTO_EUSAGE, "compare: --model is given %zu times; expected at least two models",
                        count);
    models = calloc(count, sizeof *models);
    compared = calloc(count, sizeof *compared);
    sotto_status status = SOTTO_OK;
    TRY(models && compared ? option_check_report(o)
                           : cli_fail(SOTTO_ENOMEM, "compare: out of memory for %zu models", count));
    for (size_t i = 0; i < count; i++) {
        TRY(read_model(&models[i], given[i]));
        compared[i] = (struct sotto_compared){
            .name = models[i].name, .files = models[i].files, .file_count = models[i].count};
    }
    TRY(read_certificates(certificates, &certificate_count, compared, count, option_list(o, "certificate")));
    TRY(sotto_compare(&result, compared, count, option_text(o, "title")));
    if (option_given(o, "output"))
        TRY(sotto_compare_write(option_text(o, "output"), &result));
    TRY(json ? sotto_compare_encode(&text, &result) : sotto_compare_summary(&text, &result));
    printf(json ? "%s\n" : "%s", text);
    if (!json && option_given(o, "output"))
        printf("\nreport: %s/report.html\n", option_text(o, "output"));
done:
    sotto_text_free(text);
    sotto_compare_result_free(&result);
    for (size_t i = 0; i < certificate_count; i++)
        free(certificates[i]);
    verb_compare_clear(models, count);
    free(compared);
    return status;
}

const struct verb verb_compare = {
    .name = "compare",
    .summary = "compare models side by side: utility, measured leakage and proved epsilon",
    .arguments = "",
    .examples = "  sotto compare --model original=o/result.json,oa/result.json --model "
                "talos=t/result.json,ta/result.json -o joint",
    .floor = FLOOR_MEASURE,
    .ranks = RANK_0,
    .own = "model|certificate",
    .options = rows,
    .most_used = "model|certificate|title|force|output|json",
    .run = verb_compare_run};
