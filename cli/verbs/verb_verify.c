/* sotto verify: a certificate against its file, its recipe and its ledger. */
#include "options/options.h"
#include "verbs/verify_print.h"

#include <stdio.h>
#include <string.h>

static const struct option_row rows[] = {
    OPTION_GROUP("Files"),
    {"ledger", OPTION_TEXT, "FILE", NULL,
     "ledger that was charged; without it the charge is reported as not checked"},
    {"released", OPTION_TEXT, "FILE", NULL, "released file (default: the one beside the certificate)",
     "output"},
    {"trust", OPTION_LIST, "KEY", NULL,
     "public key that must have signed the certificate; a file of 'sotto key new' or 64 digits (repeatable)"},
    OPTION_END};

/* EGATE: none of the trusted keys has signed. */
static sotto_status check_trust(const char *const *trust, const struct sotto_verification *v)
{
    if (!v->signed_by)
        return cli_fail(SOTTO_EGATE, "%s: is not signed; --trust needs a signature", v->certificate);
    for (size_t i = 0; trust[i]; i++) {
        char key[SOTTO_KEY_TEXT];
        const int digits = strlen(trust[i]) == SOTTO_KEY_TEXT - 1 &&
                           strspn(trust[i], "0123456789abcdef") == SOTTO_KEY_TEXT - 1;
        if (digits)
            strcpy(key, trust[i]);
        else {
            sotto_status status = sotto_key_public(key, NULL, trust[i]);
            if (status != SOTTO_OK)
                return status;
        }
        if (strcmp(key, v->signed_by) == 0)
            return SOTTO_OK;
    }
    return cli_fail(SOTTO_EGATE, "%s: is signed by key %s, which --trust does not name", v->certificate,
                    v->signed_by);
}

sotto_status verify_print(const char *file, const char *released, const char *ledger,
                          const char *const *trust, const struct sotto_context *ctx, int json)
{
    struct sotto_verification v = {0};
    char *text = NULL;
    char refusal[160];
    sotto_status status = sotto_verify(&v, file, released, ledger, ctx), printed;
    if (status == SOTTO_OK && trust && trust[0]) {
        status = check_trust(trust, &v);
        snprintf(refusal, sizeof refusal, "signature: %s%s%s", v.signed_by ? "by key " : "there is none",
                 v.signed_by ? v.signed_by : "",
                 v.signed_by ? ", which --trust does not name" : "; --trust needs one");
        v.failed = status == SOTTO_EGATE
                       ? refusal
                       : NULL; /* nothing is called consistent that the reader does not trust */
    }
    if (status != SOTTO_OK && status != SOTTO_EGATE && status != SOTTO_EUNDECIDED) {
        sotto_verification_clear(&v);
        return status;
    }
    printed = json ? sotto_verification_encode(&text, &v) : sotto_verification_text(&text, &v);
    if (printed == SOTTO_OK)
        printf(json ? "%s\n" : "%s", text);
    sotto_text_free(text);
    sotto_verification_clear(&v);
    return printed == SOTTO_OK ? status : printed;
}

static sotto_status verb_verify_run(const struct options *o, const struct sotto_context *ctx, int json)
{
    return verify_print(option_argument(o, 0), option_text(o, "released"), option_text(o, "ledger"),
                        option_list(o, "trust"), ctx, json);
}

const struct verb verb_verify = {.name = "verify",
                                 .summary = "check a certificate, and say what was checked and what was not",
                                 .arguments = "FILE",
                                 .min_arguments = 1,
                                 .max_arguments = 1,
                                 .examples = "  sotto verify protected.safetensors --ledger ledger.jsonl\n"
                                             "  sotto verify protected.safetensors --trust office.key.pub\n"
                                             "  sotto verify protected.safetensors.certificate.json --json",
                                 .floor = FLOOR_CORE,
                                 .ranks = RANK_0,
                                 .own = "ledger|released|trust",
                                 .options = rows,
                                 .most_used = "ledger|released|trust|json",
                                 .run = verb_verify_run};
