/* verify_json.h - the report of a verification as the program prints it, for tests that look for words in it. */
#ifndef TESTS_VERIFY_JSON_H
#define TESTS_VERIFY_JSON_H

#include "sotto/verify.h"

/* *report: also on EGATE; free with sotto_text_free(). */
static inline sotto_status verification_json(char **report, struct sotto_verification *v, sotto_status status)
{
    sotto_status encoded = SOTTO_OK;
    if (status == SOTTO_OK || status == SOTTO_EGATE)
        encoded = sotto_verification_encode(report, v);
    sotto_verification_clear(v);
    return encoded == SOTTO_OK ? status : encoded;
}

static inline sotto_status verify_json(char **report, const char *file, const char *released,
                                       const char *ledger, const struct sotto_context *ctx)
{
    struct sotto_verification v = {0};
    sotto_status status = sotto_verify(&v, file, released, ledger, ctx);
    return verification_json(report, &v, status);
}

#endif
