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
    struct sotto_verification v = {0};
    char *text = NULL;
    sotto_status status = sotto_verify(&v, file, released, ledger, ctx), told;
    if (status != SOTTO_OK && status != SOTTO_EGATE)
        return status;
    told = json ? sotto_verification_encode(&text, &v) : sotto_verification_text(&text, &v);
    if (told == SOTTO_OK)
        printf(json ? "%s\n" : "%s", text);
    sotto_text_free(text);
    sotto_verification_clear(&v);
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
