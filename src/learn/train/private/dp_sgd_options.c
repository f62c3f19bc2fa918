/* Options of private training: defaults, checks, calibration. */
#include "dp/noise/fixed_sample.h"
#include "options/option_tables.h"
#include "options/option_values.h"
#include "train/private/dp_sgd.h"

#include "sotto/option.h"
#include "base/status.h"
#include "dp/account/risk.h"
#include "dp/ledger/spend.h"
#include "dp/mechanism/require.h"
#include "base/choice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void sotto_train_privacy_defaults(struct sotto_train_privacy *p)
{
    GIVEN_OR(, p);
    *p = (struct sotto_train_privacy){0};
    options_defaults(p, options_train_privacy);
}

sotto_status train_privacy_resolve(struct sotto_train_privacy *out, const struct sotto_train_privacy *given)
{
    sotto_status status = sotto_options_resolve(out, given, options_train_privacy);
    if (status == SOTTO_OK && given)
        out->target = given->target; /* its zeros have a rule of their own (sotto/account.h) */
    return status;
}

static const char *const clippings[] = {"flat", "automatic", "layers", "quantile"};
static const char *const noises[] = {"gaussian", "logistic"};

static sotto_status one_of(const char **text, const char *what, const char *const *known, size_t count,
                           const char *expected)
{
    for (size_t i = 0; i < count; i++)
        if (!*text || strcmp(*text, known[i]) == 0) {
            *text = known[i];
            return SOTTO_OK;
        }
    return choice_unknown(SOTTO_EINVAL, what, *text, expected);
}

enum nn_clipping dp_sgd_clipping(const struct sotto_train_privacy *p)
{
    return p->clipping == clippings[1]   ? NN_CLIP_AUTOMATIC
           : p->clipping == clippings[2] ? NN_CLIP_LAYERS
                                         : NN_CLIP_FLAT;
}

int dp_sgd_follows_quantile(const struct sotto_train_privacy *p)
{
    return p->clipping == clippings[3];
}

size_t dp_sgd_turns(const struct sotto_train_privacy *p)
{
    return p->objective ? 4 : 1;
}

/* The smallest noise for the target; sums are on the lattice, and what the account rounds is below the last 1e-9. */
static sotto_status dp_sgd_options_calibrate(struct sotto_train_privacy *p, double rate,
                                             const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_sampled sampled = {.mechanism = p->noise,
                                          .sample_rate = rate,
                                          .steps = p->steps,
                                          .delta = p->target.delta,
                                          .adjacency = p->adjacency,
                                          .rows_per_person = p->persons ? 0 : spend_rows(&p->spend),
                                          .sampling = p->sampling};
    TRY(calibrate_sampled_for(&p->noise_multiplier, &sampled, p->target.epsilon, &p->risk, ctx));
    p->noise_multiplier *= 1 + 1e-9;
done:
    return status;
}

sotto_status dp_sgd_resolve(struct sotto_train_privacy *p, const struct sotto_train_options *o, size_t n,
                            const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    TRY(one_of(&p->noise, "noise", noises, 2, "gaussian or logistic"));
    TRY(one_of(&p->clipping, "clipping", clippings, 4, "flat, automatic, layers or quantile"));
    if (p->objective && strcmp(p->objective, "rotation") != 0)
        TRY(choice_unknown(SOTTO_EINVAL, "objective", p->objective, "rotation"));
    p->objective = p->objective ? "rotation" : NULL; /* static text */
    TRY(spend_require_adjacency(p->adjacency));
    REQUIRE((unsigned)p->sampling <= SOTTO_SAMPLING_FIXED,
            "sampling %d is unknown; expected SOTTO_SAMPLING_POISSON or SOTTO_SAMPLING_FIXED",
            (int)p->sampling);
    TRY(sotto_options_check(p, options_train_privacy, "max_grad_norm|quantile|views|average|part"));
    REQUIRE(p->max_grad_norm >= DP_SGD_SMALLEST_CLIP && p->max_grad_norm <= DP_SGD_LARGEST_CLIP,
            "max_grad_norm must be from %g to %g (got %g)", DP_SGD_SMALLEST_CLIP, DP_SGD_LARGEST_CLIP,
            p->max_grad_norm);
    REQUIRE(p->views == 1 || o->flip || o->crop,
            "views: %zu views without flip or crop are all the same; give flip or crop, or 1 view", p->views);
    REQUIRE(o->batch <= n, "batch %zu, the expected size of a sample, is larger than the %zu %s", o->batch, n,
            p->persons ? "persons" : "records");
    REQUIRE(n <= UINT32_MAX, "%zu records are too many; expected at most %u", n, UINT32_MAX);
    REQUIRE(!o->metrics, "metrics: private training writes no losses and accuracies, which would reveal "
                         "records; omit metrics");
    REQUIRE(
        !o->snapshot_every,
        "snapshot_every: the certificate of DP-SGD is for the file of the last model; omit snapshot_every");
    p->target.delta = spend_delta(p->target.delta, sotto_default_delta(n));
    if (!p->steps)
        p->steps = (size_t)ceil((double)o->epochs * (double)n / (double)o->batch);
    REQUIRE(p->reserve <= p->steps, "reserve: %zu steps at a time are more than the %zu steps of the run",
            p->reserve, p->steps);
    if (!p->reserve)
        p->reserve = p->steps;
    REQUIRE(!p->spend.planned || p->reserve == p->steps,
            "reserve: a slot of a plan is a whole run, which is not reserved in blocks; omit reserve");
    TRY(risk_require_alone(&p->risk, spend_given(p->target.epsilon) || spend_given(p->noise_multiplier)));
    if (spend_given(p->target.epsilon) || risk_given(&p->risk))
        TRY(dp_sgd_options_calibrate(p, sampling_rate(p->sampling, o->batch, n), ctx));
    TRY(sotto_options_check(p, options_train_privacy, "noise_multiplier"));
done:
    return status;
}

struct dp_sgd_shares dp_sgd_shares_of(double noise_multiplier, size_t batch)
{
    double count = 10 * noise_multiplier / (double)batch;
    if (!(count < 0.3))
        count = 0.3;
    return (struct dp_sgd_shares){sqrt(1 - count * count), count};
}

double dp_sgd_next_clip(double clip, double noisy, double count, size_t batch, double quantile)
{
    double share = noisy / (2 * count * (double)batch) + 0.5;
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    return fmax(fmin(clip * exp(-0.2 * (share - quantile)), DP_SGD_LARGEST_CLIP), DP_SGD_SMALLEST_CLIP);
}
