/* sotto verify: a certificate against its file, its recipe and its ledger. */
#include "options/options.h"
#include "verbs/verify_print.h"

#include <stdio.h>

static const struct option_row rows[] = {
    OPTION_GROUP("Files"),
    {"ledger", OPTION_TEXT, "FILE", NULL,
     "ledger that was charged; without it the charge is reported as not checked"},
    {"released", OPTION_TEXT, "FILE", NULL, "released file (default: the one beside the certificate)",
     "output"},
    OPTION_END};

sotto_status verify_print(const char *file, const char *released, const char *ledger,
                          const struct sotto_context *ctx, int json)
{
    char *report = NULL, *text = NULL;
    sotto_status status = sotto_verify(&report, file, released, ledger, ctx), told = SOTTO_OK;
    if (report && json)
        printf("%s\n", report);
    else if (report)
        told = sotto_verify_text(&text, report);
    if (text)
        fputs(text, stdout);
    sotto_text_free(text);
    sotto_text_free(report);
    return told == SOTTO_OK ? status : told;
}

static sotto_status run(const struct options *o, const struct sotto_context *ctx, int json)
{
    return verify_print(option_argument(o, 0), option_text(o, "released"), option_text(o, "ledger"), ctx,
                        json);
}

const struct verb verb_verify = {.name = "verify",
                                 .summary =
                                     "check a certificate: its claims, what was checked, and what was not",
                                 .arguments = "FILE",
                                 .min_arguments = 1,
                                 .max_arguments = 1,
                                 .examples = "  sotto verify protected.safetensors --ledger ledger.jsonl\n"
                                             "  sotto verify protected.safetensors.certificate.json --json",
                                 .options = rows,
                                 .run = run};
