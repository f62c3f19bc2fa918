/* audit_text.h - audits and attacks as their documents, for tests that look at those. */
#ifndef TESTS_AUDIT_TEXT_H
#define TESTS_AUDIT_TEXT_H

#include "sotto/private/all.h"

/* *json is set where the result was there and could be written. */
static inline sotto_status result_text(char **json, sotto_status status, struct sotto_audit_result *r)
{
    if (status == SOTTO_OK)
        status = sotto_audit_encode(json, r);
    sotto_audit_result_free(r);
    return status;
}

static inline sotto_status audit_text(char **json, const struct sotto_audit_input *in,
                                      const struct sotto_audit_options *options,
                                      const struct sotto_context *ctx)
{
    struct sotto_audit_result r = {0};
    const sotto_status status = sotto_audit(&r, in, options, ctx);
    return result_text(json, status, &r);
}

static inline sotto_status attack_text(char **json, double *scores, int *finished,
                                       const struct sotto_attack_input *in,
                                       const struct sotto_attack_options *options,
                                       const struct sotto_context *ctx)
{
    struct sotto_audit_result r = {0};
    const sotto_status status = sotto_attack(&r, scores, finished, in, options, ctx);
    return result_text(json, status, &r);
}

static inline sotto_status encoder_attack_text(char **json, double *scores,
                                               const struct sotto_encoder_attack_input *in,
                                               const struct sotto_audit_options *options,
                                               const struct sotto_context *ctx)
{
    struct sotto_audit_result r = {0};
    const sotto_status status = sotto_encoder_attack(&r, scores, in, options, ctx);
    return result_text(json, status, &r);
}

#endif
