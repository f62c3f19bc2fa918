/* Membership of texts from what a language model says of their tokens. All sums run over a text's own tokens. */
#include "audit/score/tokens.h"
#include "audit/measure/sorted.h"
#include "sotto/audit.h"

#include <math.h>

size_t tokens_of(const float *row, size_t length)
{
    size_t t = 0;
    while (t < length && !isnan(row[t]))
        t++;
    return t;
}

/* ---- checks ---- */

/* Rows of logarithms of probabilities, each with at least one token and nothing behind its end. */
static sotto_status check_logprobs(const float *x, size_t n, size_t length, const char *what)
{
    sotto_status status = SOTTO_OK;
    if (!x)
        return SOTTO_OK;
    REQUIRE(length > 0, "audit: %s have no columns; expected at least one token", what);
    for (size_t i = 0; i < n; i++) {
        const float *row = x + i * length;
        const size_t end = tokens_of(row, length);
        REQUIRE(
            end > 0,
            "audit: %s: row %zu has no token (NaN in column 0); omit texts without tokens, and the column of "
            "first tokens if the model gives these no probability",
            what, i);
        for (size_t t = 0; t < end; t++)
            REQUIRE(
                isfinite(row[t]) && row[t] <= 1e-4F,
                "audit: %s: row %zu, column %zu is %g; expected the logarithm of a probability, at most 0",
                what, i, t, (double)row[t]);
        for (size_t t = end; t < length; t++)
            REQUIRE(isnan(row[t]),
                    "audit: %s: row %zu has a value in column %zu behind its first NaN; expected "
                    "NaN to the end of the row",
                    what, i, t);
    }
done:
    return status;
}

/* Values that a text must have at each of its tokens. */
static sotto_status check_moments(const float *x, const struct sotto_token_input *t, size_t n, bool deviation,
                                  const char *what)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < tokens_of(t->logprobs + i * t->length, t->length); k++) {
            const float value = x[i * t->length + k];
            if (!isfinite(value) || (deviation && value < 0))
                return status_fail(SOTTO_EINVAL, "audit: %s: row %zu, column %zu is %g; expected %s", what, i,
                                   k, (double)value,
                                   deviation ? "a number of at least 0" : "a finite number");
        }
    return SOTTO_OK;
}

sotto_status tokens_check(const struct sotto_token_input *t, size_t n)
{
    sotto_status status = SOTTO_OK;
    if (!t->logprobs)
        FAIL(SOTTO_EUSAGE, "audit: texts need the log-probabilities of their tokens");
    if (!t->mean != !t->deviation)
        FAIL(SOTTO_EUSAGE, "audit: mean and deviation of log-probabilities must be given together");
    TRY(check_logprobs(t->logprobs, n, t->length, "token log-probabilities"));
    TRY(check_logprobs(t->reference, n, t->reference_length,
                       "token log-probabilities of the reference model"));
    TRY(check_logprobs(t->lowercase, n, t->lowercase_length, "token log-probabilities of lower-cased texts"));
    if (t->mean) {
        TRY(check_moments(t->mean, t, n, false, "means of log-probabilities"));
        TRY(check_moments(t->deviation, t, n, true, "deviations of log-probabilities"));
    }
    for (size_t i = 0; t->bytes && i < n; i++)
        REQUIRE(isfinite(t->bytes[i]) && t->bytes[i] > 0,
                "audit: compressed bytes: row %zu is %g; expected more than 0", i, t->bytes[i]);
    REQUIRE(!t->neighbour_losses || t->neighbours > 0, "audit: no neighbours; expected at least 1 column");
    for (size_t i = 0; t->neighbour_losses && i < n * t->neighbours; i++)
        REQUIRE(isfinite(t->neighbour_losses[i]),
                "audit: losses of neighbours: row %zu, column %zu is not finite", i / t->neighbours,
                i % t->neighbours);
done:
    return status;
}

unsigned tokens_needs(const struct sotto_token_input *t)
{
    return !t ? 0
              : NEED_TOKENS | (t->mean ? NEED_TOKEN_MOMENTS : 0u) | (t->bytes ? NEED_BYTES : 0u) |
                    (t->reference ? NEED_TOKEN_REFERENCE : 0u) | (t->lowercase ? NEED_LOWERCASE : 0u) |
                    (t->neighbour_losses ? NEED_NEIGHBOURS : 0u);
}

/* ---- scores ---- */

struct text {
    double sum, mean;
    size_t tokens;
};

static struct text text_of(const float *x, size_t length, size_t i)
{
    const float *row = x + i * length;
    struct text t = {.tokens = tokens_of(row, length)};
    for (size_t k = 0; k < t.tokens; k++)
        t.sum += row[k];
    t.mean = t.sum / (double)t.tokens;
    return t;
}

static struct text tokens_own(const struct attack_input *in, size_t i)
{
    return text_of(in->tokens->logprobs, in->tokens->length, i);
}

/* Of sums that are negative but for a text that the model is certain of. */
static double tokens_ratio(double above, double below)
{
    return above / fmin(below, -1e-12);
}

static sotto_status run_token_loss(struct attack_output *out, const struct attack_input *in,
                                   const double *args)
{
    (void)args;
    for (size_t i = 0; i < in->n; i++)
        out->scores[i] = tokens_own(in, i).mean;
    return SOTTO_OK;
}

const struct score_attack attack_token_loss = {.name = "token-loss",
                                               .title = "Mean log-probability of the tokens",
                                               .source = "Yeom et al. 2018",
                                               .needs = NEED_TOKENS,
                                               .run = run_token_loss};

/* A text that is easy for anyone compresses well. */
static sotto_status run_zlib(struct attack_output *out, const struct attack_input *in, const double *args)
{
    (void)args;
    for (size_t i = 0; i < in->n; i++)
        out->scores[i] = tokens_own(in, i).sum / in->tokens->bytes[i];
    return SOTTO_OK;
}

const struct score_attack attack_zlib = {.name = "zlib",
                                         .title = "Log-probability per byte as zlib compresses the text",
                                         .source = "Carlini et al. 2021",
                                         .needs = NEED_TOKENS | NEED_BYTES,
                                         .run = run_zlib};

static sotto_status run_reference_ratio(struct attack_output *out, const struct attack_input *in,
                                        const double *args)
{
    (void)args;
    for (size_t i = 0; i < in->n; i++)
        out->scores[i] = -tokens_ratio(tokens_own(in, i).sum,
                                       text_of(in->tokens->reference, in->tokens->reference_length, i).sum);
    return SOTTO_OK;
}

const struct score_attack attack_reference_ratio = {.name = "reference-ratio",
                                                    .title =
                                                        "Log-probability relative to a reference model's",
                                                    .source = "Carlini et al. 2021",
                                                    .needs = NEED_TOKENS | NEED_TOKEN_REFERENCE,
                                                    .run = run_reference_ratio};

static sotto_status run_reference_difference(struct attack_output *out, const struct attack_input *in,
                                             const double *args)
{
    (void)args;
    for (size_t i = 0; i < in->n; i++)
        out->scores[i] =
            tokens_own(in, i).mean - text_of(in->tokens->reference, in->tokens->reference_length, i).mean;
    return SOTTO_OK;
}

const struct score_attack attack_reference_difference = {.name = "reference-difference",
                                                         .title =
                                                             "Mean log-probability less a reference model's",
                                                         .source = "Watson et al. 2022, on texts",
                                                         .needs = NEED_TOKENS | NEED_TOKEN_REFERENCE,
                                                         .run = run_reference_difference};

static sotto_status run_lowercase(struct attack_output *out, const struct attack_input *in,
                                  const double *args)
{
    (void)args;
    for (size_t i = 0; i < in->n; i++)
        out->scores[i] = tokens_ratio(text_of(in->tokens->lowercase, in->tokens->lowercase_length, i).mean,
                                      tokens_own(in, i).mean);
    return SOTTO_OK;
}

const struct score_attack attack_lowercase = {.name = "lowercase",
                                              .title =
                                                  "Log-probability in lower case relative to the text's own",
                                              .source = "Carlini et al. 2021",
                                              .needs = NEED_TOKENS | NEED_LOWERCASE,
                                              .run = run_lowercase};

static sotto_status run_neighbourhood(struct attack_output *out, const struct attack_input *in,
                                      const double *args)
{
    (void)args;
    const struct sotto_token_input *t = in->tokens;
    for (size_t i = 0; i < in->n; i++) {
        double sum = 0;
        for (size_t k = 0; k < t->neighbours; k++)
            sum += t->neighbour_losses[i * t->neighbours + k];
        out->scores[i] = sum / (double)t->neighbours + tokens_own(in, i).mean;
    }
    return SOTTO_OK;
}

const struct score_attack attack_neighbourhood = {.name = "neighbourhood",
                                                  .title =
                                                      "Mean loss of neighbouring texts less the text's own",
                                                  .source = "Mattern et al. 2023",
                                                  .needs = NEED_TOKENS | NEED_NEIGHBOURS,
                                                  .run = run_neighbourhood};

/* ---- the least likely tokens ---- */

static const struct parameter min_k_params[] = {
    {"k", "share of a text's tokens that count, the least likely", 0.2, 1e-6, 1, false}, {0}};

/* .1 of 70 tokens are 7, whatever the product is in doubles. */
static size_t least_tokens(double share, size_t tokens)
{
    const double k = ceil(share * (double)tokens - 1e-9);
    return k < 1 ? 1 : (size_t)k;
}

/* The mean of the least of a text's tokens; `standard`: in deviations from what the model expects at each. */
static sotto_status tokens_least(struct attack_output *out, const struct attack_input *in, double share,
                                 bool standard)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_token_input *t = in->tokens;
    double *value = NULL;
    NEW_ROWS(value, t->length, 2);
    for (size_t i = 0; i < in->n; i++) {
        const size_t at = i * t->length, tokens = tokens_of(t->logprobs + at, t->length),
                     count = least_tokens(share, tokens);
        double sum = 0;
        for (size_t k = 0; k < tokens; k++) {
            value[k] = t->logprobs[at + k];
            if (standard)
                value[k] = (value[k] - t->mean[at + k]) / fmax(t->deviation[at + k], 1e-6);
        }
        sort_rising(value, tokens, value + t->length);
        for (size_t k = 0; k < count; k++)
            sum += value[k];
        out->scores[i] = sum / (double)count;
    }
done:
    base_free(value);
    return status;
}

static sotto_status run_min_k(struct attack_output *out, const struct attack_input *in, const double *args)
{
    return tokens_least(out, in, args[0], false);
}

const struct score_attack attack_min_k = {.name = "min-k",
                                          .title = "Mean log-probability of the least likely tokens",
                                          .source = "Shi et al. 2024",
                                          .needs = NEED_TOKENS,
                                          .params = min_k_params,
                                          .run = run_min_k};

static sotto_status run_min_k_plus(struct attack_output *out, const struct attack_input *in,
                                   const double *args)
{
    return tokens_least(out, in, args[0], true);
}

const struct score_attack attack_min_k_plus = {
    .name = "min-k-plus",
    .title = "The same, each token in deviations from what the model expects",
    .source = "Zhang et al. 2025",
    .needs = NEED_TOKENS | NEED_TOKEN_MOMENTS,
    .params = min_k_params,
    .run = run_min_k_plus};
