#include "audit_inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option_row rows[] = {
    AUDIT_INPUT_ROWS,
    {"attack", OPTION_LIST, "NAME", NULL, "run only this attack; may be repeated (default: all that fit)",
     NULL},
    {"fpr", OPTION_TEXT, "RATES", "0.01,0.001", "false-positive rates to report, fractions", NULL},
    {"confidence", OPTION_REAL, "C", "0.95", "of every interval, a fraction", NULL},
    {"delta", OPTION_REAL, "D", "0", "for the lower bound on epsilon", NULL},
    {"seed", OPTION_COUNT, "S", "1", "of the random halves that choose and score thresholds", NULL},
    {"title", OPTION_TEXT, "TEXT", NULL, "headline of the report", NULL},
    {"output", OPTION_TEXT, "DIR", NULL, "folder for result.json, report.json and report.html", NULL},
    {NULL, OPTION_FLAG, NULL, NULL, NULL, NULL}};

enum { MAX_RATES = 8 };

static sotto_status read_rates(double out[MAX_RATES], size_t *count, const struct options *o)
{
    const char *text = option_text(o, "fpr");
    for (*count = 0; *text;) {
        char *end;
        double x = strtod(text, &end);
        if (end == text || (*end && *end != ',') || (*end && !end[1]) || !(x > 0 && x < 1))
            return cli_fail(SOTTO_EUSAGE, "--fpr: '%s' is not a list of fractions like 0.01,0.001",
                            option_text(o, "fpr"));
        if (*count == MAX_RATES)
            return cli_fail(SOTTO_EUSAGE, "--fpr: more than %d rates", MAX_RATES);
        out[(*count)++] = x;
        text = *end ? end + 1 : end;
    }
    return SOTTO_OK;
}

static sotto_status run(const struct options *o, const struct sotto_context *ctx, int json)
{
    struct audit_inputs in = {0};
    double rates[MAX_RATES];
    char *text = NULL, *summary = NULL;
    const char *const *names = option_list(o, "attack");
    struct sotto_audit_options options = {.names = names[0] ? names : NULL,
                                          .fpr = rates,
                                          .confidence = option_real(o, "confidence"),
                                          .delta = option_real(o, "delta"),
                                          .seed = option_count(o, "seed")};
    sotto_status status = read_rates(rates, &options.fpr_count, o);
    if (status == SOTTO_OK && !(options.confidence > 0 && options.confidence < 1))
        status = cli_fail(SOTTO_EUSAGE, "audit: confidence must be between 0 and 1 (got %s)",
                          option_text(o, "confidence"));
    if (status == SOTTO_OK && !(options.delta >= 0 && options.delta < 1))
        status =
            cli_fail(SOTTO_EUSAGE, "audit: delta must be >= 0 and < 1 (got %s)", option_text(o, "delta"));
    if (status == SOTTO_OK)
        status = audit_inputs_load(&in, o);
    if (status == SOTTO_OK)
        status = sotto_audit(&text, &in.input, &options, ctx);
    struct sotto_audit_facts facts = {option_text(o, "title"), in.files, in.file_count};
    const char *folder = option_text(o, "output");
    if (status == SOTTO_OK && folder)
        status = sotto_report_audit(folder, text, &facts);
    if (status == SOTTO_OK && json)
        printf("%s\n", text);
    if (status == SOTTO_OK && !json && (status = sotto_audit_summary(&summary, text)) == SOTTO_OK) {
        fputs(summary, stdout);
        if (folder)
            printf("\nreport: %s/report.html\n", folder);
    }
    sotto_text_free(text);
    sotto_text_free(summary);
    audit_inputs_clear(&in);
    return status;
}

const struct verb verb_audit = {
    .name = "audit",
    .summary = "membership attacks on arrays of any origin, with intervals and a report",
    .arguments = "",
    .examples = "  sotto audit --member-logits m.npy --nonmember-logits n.npy --member-labels ym.npy "
                "--nonmember-labels yn.npy -o audit1\n"
                "  sotto audit --member-losses m.csv --nonmember-losses n.csv --fpr 0.01 --json\n"
                "  sotto audit --scores s.npz:scores --membership s.npz:member -o audit2",
    .options = rows,
    .run = run};
