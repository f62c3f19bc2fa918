/* Texts and what a language model says of them: one row a text, sorted by --membership. */
#include "inputs/audit_inputs.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static sotto_status check_alone(const struct audit_inputs *in, const struct options *o)
{
    if (!option_given(o, "membership"))
        return cli_fail(SOTTO_EUSAGE, "audit: --token-logprobs needs --membership");
    if (option_given(o, "scores") || in->input.member_f8 || in->input.member_losses)
        return cli_fail(SOTTO_EUSAGE, "audit: --token-logprobs cannot be combined with outputs, losses or "
                                      "scores; give only one of them");
    return SOTTO_OK;
}

/* (n, ...) of `dtype`; NaN is allowed, and checked by the library. */
static sotto_status audit_token_inputs_load(struct sotto_array **out, struct audit_inputs *in,
                                            const struct options *o, const char *option, int dimensions,
                                            enum sotto_dtype dtype, size_t n)
{
    struct sotto_array *a = NULL;
    const char *path = option_text(o, option);
    sotto_status status = audit_inputs_open(&a, in, o, option, option, "arrays of texts", dimensions,
                                            dimensions == 2 ? "2 (texts, columns)" : "1 (texts)");
    if (status != SOTTO_OK || !a)
        return status;
    if (n && a->shape[0] != n)
        return cli_fail(SOTTO_EINVAL, "%s has %zu rows but %s has %zu; expected one for each text", path,
                        a->shape[0], option_text(o, "token-logprobs"), n);
    *out = a;
    status = sotto_array_convert(a, dtype);
    return status == SOTTO_EINVAL
               ? cli_fail(SOTTO_EINVAL, "%s: contains fractions; --%s needs whole numbers", path, option)
               : status;
}

/* Rows of members first, each side in its order. */
static sotto_status sort_rows(struct sotto_array *a, const int64_t *member, size_t members)
{
    const size_t n = a->shape[0], bytes = n ? a->count / n * sotto_dtype_size(a->dtype) : 0;
    size_t placed[2] = {members, 0};
    char *copy = malloc(n * bytes + 1);
    if (!copy)
        return cli_fail(SOTTO_ENOMEM, "audit: out of memory for %zu texts", n);
    for (size_t i = 0; i < n; i++)
        memcpy(copy + placed[member[i]]++ * bytes, (const char *)a->data + i * bytes, bytes);
    memcpy(a->data, copy, n * bytes);
    free(copy);
    return SOTTO_OK;
}

/* Lengths become NaN behind a text's end. */
static sotto_status audit_token_inputs_cut(struct sotto_array *logprobs, const struct sotto_array *lengths,
                                           const char *path)
{
    float *x = logprobs->data;
    const size_t width = logprobs->shape[1];
    for (size_t i = 0; i < logprobs->shape[0]; i++) {
        const int64_t tokens = ((const int64_t *)lengths->data)[i];
        if (tokens < 1 || (uint64_t)tokens > width)
            return cli_fail(SOTTO_EINVAL, "%s: row %zu is %lld; expected 1 to %zu tokens", path, i,
                            (long long)tokens, width);
        for (size_t t = (size_t)tokens; t < width; t++)
            x[i * width + t] = NAN;
    }
    return SOTTO_OK;
}

static sotto_status read_membership(size_t *members, const struct sotto_array *a, const char *path)
{
    const int64_t *member = a->data;
    *members = 0;
    for (size_t i = 0; i < a->count; i++) {
        if (member[i] != 0 && member[i] != 1)
            return cli_fail(SOTTO_EINVAL, "%s: row %zu is %lld; expected 1 for members and 0 for others",
                            path, i, (long long)member[i]);
        *members += (size_t)member[i];
    }
    return SOTTO_OK;
}

static sotto_status same_width(const struct sotto_array *a, const struct sotto_array *logprobs,
                               const struct options *o, const char *option)
{
    if (!a || a->shape[1] == logprobs->shape[1])
        return SOTTO_OK;
    return cli_fail(SOTTO_EINVAL, "%s has %zu columns but %s has %zu; expected one for each token",
                    option_text(o, option), a->shape[1], option_text(o, "token-logprobs"),
                    logprobs->shape[1]);
}

sotto_status audit_inputs_load_tokens(struct audit_inputs *in, const struct options *o)
{
    enum { LOGPROBS, MEAN, DEVIATION, REFERENCE, LOWERCASE, BYTES, NEIGHBOURS, TABLES };
    static const char *const names[TABLES] = {
        "token-logprobs",           "token-mean",       "token-deviation", "reference-token-logprobs",
        "lowercase-token-logprobs", "compressed-bytes", "neighbour-losses"};
    struct sotto_array *table[TABLES] = {0}, *lengths = NULL, *membership = NULL;
    size_t members = 0, n = 0;
    sotto_status status = check_alone(in, o);
    for (int k = 0; status == SOTTO_OK && k < TABLES; k++) {
        status = audit_token_inputs_load(&table[k], in, o, names[k], k == BYTES ? 1 : 2,
                                         k == BYTES ? SOTTO_F8 : SOTTO_F4, n);
        n = table[LOGPROBS] ? table[LOGPROBS]->shape[0] : 0;
    }
    if (status == SOTTO_OK)
        status = audit_token_inputs_load(&lengths, in, o, "token-lengths", 1, SOTTO_I8, n);
    if (status == SOTTO_OK)
        status = audit_token_inputs_load(&membership, in, o, "membership", 1, SOTTO_I8, n);
    if (status == SOTTO_OK && lengths)
        status = audit_token_inputs_cut(table[LOGPROBS], lengths, option_text(o, "token-lengths"));
    if (status == SOTTO_OK)
        status = same_width(table[MEAN], table[LOGPROBS], o, names[MEAN]);
    if (status == SOTTO_OK)
        status = same_width(table[DEVIATION], table[LOGPROBS], o, names[DEVIATION]);
    if (status == SOTTO_OK)
        status = read_membership(&members, membership, option_text(o, "membership"));
    for (int k = 0; status == SOTTO_OK && k < TABLES; k++)
        if (table[k])
            status = sort_rows(table[k], membership->data, members);
    if (status != SOTTO_OK)
        return status;
    in->tokens =
        (struct sotto_token_input){.logprobs = table[LOGPROBS]->data, .length = table[LOGPROBS]->shape[1]};
    if (table[MEAN])
        in->tokens.mean = table[MEAN]->data;
    if (table[DEVIATION])
        in->tokens.deviation = table[DEVIATION]->data;
    if (table[REFERENCE])
        in->tokens.reference = table[REFERENCE]->data,
        in->tokens.reference_length = table[REFERENCE]->shape[1];
    if (table[LOWERCASE])
        in->tokens.lowercase = table[LOWERCASE]->data,
        in->tokens.lowercase_length = table[LOWERCASE]->shape[1];
    if (table[BYTES])
        in->tokens.bytes = table[BYTES]->data;
    if (table[NEIGHBOURS])
        in->tokens.neighbour_losses = table[NEIGHBOURS]->data,
        in->tokens.neighbours = table[NEIGHBOURS]->shape[1];
    in->input.tokens = &in->tokens;
    in->input.n_member = members, in->input.n_nonmember = n - members;
    return SOTTO_OK;
}
