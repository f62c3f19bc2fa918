/* How a network was trained privately, as lines "key=value" in its file and in its checkpoints. */
#include "sotto/lab/account.h"
#include "sotto/ledger.h"
#include "train/private/dp_sgd.h"

#include "base/status.h"
#include "canary/canaries.h"
#include "io/text/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

sotto_status dp_sgd_describe(char out[DP_SGD_TEXT], const struct sotto_train_privacy *p)
{
    int length =
        snprintf(out, DP_SGD_TEXT,
                 "trainer=dp-sgd\nsums=exact\nsampling=%s\nnoise=%s\nnoise_multiplier=%.17g\n"
                 "max_grad_norm=%.17g\nclipping=%s\nquantile=%.17g\nviews=%zu\nsteps=%zu\naverage=%.17g\n"
                 "delta=%.17g\ninsecure=%d\n",
                 sotto_sampling_name(p->sampling), p->noise, p->noise_multiplier, p->max_grad_norm,
                 p->clipping, dp_sgd_follows_quantile(p) ? p->quantile : 0.0, p->views, p->steps, p->average,
                 p->target.delta, p->spend.insecure != 0);
    if (length > 0 && length < DP_SGD_TEXT && p->objective)
        length += snprintf(out + length, DP_SGD_TEXT - (size_t)length, "objective=%s\n", p->objective);
    if (length > 0 && length < DP_SGD_TEXT && p->persons)
        length +=
            snprintf(out + length, DP_SGD_TEXT - (size_t)length, "rows_per_step=%zu\n", p->rows_per_step);
    return length > 0 && length < DP_SGD_TEXT ? SOTTO_OK
                                              : status_fail(SOTTO_EINVAL, "the recipe is too long");
}

bool dp_sgd_sums_exactly(const char *text)
{
    return strstr(text, "\nsums=exact\n") != NULL;
}

/* ---- reading ---- */

struct lines {
    const char *text, *where;
};

static sotto_status dp_sgd_recipe_find(const char **value, size_t *length, const struct lines *l,
                                       const char *key)
{
    size_t own = strlen(key);
    for (const char *at = l->text; at && *at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, key, own) == 0 && at[own] == '=') {
            *value = at + own + 1;
            *length = strcspn(*value, "\n");
            return SOTTO_OK;
        }
    }
    return status_fail(SOTTO_EFORMAT, "%s: private_recipe has no '%s'", l->where, key);
}

enum { WORD = 24 };
static sotto_status read_word(char out[WORD], const struct lines *l, const char *key)
{
    const char *value;
    size_t length;
    sotto_status status = dp_sgd_recipe_find(&value, &length, l, key);
    if (status == SOTTO_OK)
        snprintf(out, WORD, "%.*s", length < WORD ? (int)length : WORD - 1, value);
    return status;
}

static sotto_status read_real(double *out, const struct lines *l, const char *key)
{
    sotto_status status = SOTTO_OK;
    const char *value;
    size_t length;
    TRY(dp_sgd_recipe_find(&value, &length, l, key));
    if (!number_real(out, value, length))
        FAIL(SOTTO_EFORMAT, "%s: private_recipe: %s=%.*s is not a number", l->where, key,
             (int)fmin((double)length, 40), value);
done:
    return status;
}

static sotto_status read_size(size_t *out, const struct lines *l, const char *key)
{
    sotto_status status = SOTTO_OK;
    const char *value;
    size_t length;
    int64_t whole;
    TRY(dp_sgd_recipe_find(&value, &length, l, key));
    if (!number_whole(&whole, value, length))
        FAIL(SOTTO_EFORMAT, "%s: private_recipe: %s=%.*s is not a whole number", l->where, key,
             (int)fmin((double)length, 40), value);
    *out = (size_t)whole;
done:
    return status;
}

sotto_status dp_sgd_parse(struct sotto_train_privacy *out, const char *text, const char *where,
                          const struct sotto_train_options *o)
{
    sotto_status status = SOTTO_OK;
    const struct lines l = {text, where};
    struct sotto_train_privacy p;
    char trainer[WORD], sampling[WORD], noise[WORD], clipping[WORD], objective[WORD] = "";
    sotto_train_privacy_defaults(&p);
    TRY(read_word(trainer, &l, "trainer"));
    if (strcmp(trainer, "dp-sgd") != 0)
        FAIL(SOTTO_EFORMAT, "%s: private_recipe: trainer '%s' is unknown; expected dp-sgd", where, trainer);
    TRY(read_word(sampling, &l, "sampling"));
    TRY(read_word(noise, &l, "noise"));
    TRY(read_word(clipping, &l, "clipping"));
    TRY(read_real(&p.noise_multiplier, &l, "noise_multiplier"));
    TRY(read_real(&p.max_grad_norm, &l, "max_grad_norm"));
    TRY(read_real(&p.target.delta, &l, "delta"));
    TRY(read_real(&p.average, &l, "average"));
    TRY(read_size(&p.views, &l, "views"));
    TRY(read_size(&p.steps, &l, "steps"));
    if (strstr(text, "\nobjective="))
        TRY(read_word(objective, &l, "objective"));
    p.objective = objective[0] ? objective : NULL;
    p.noise = noise;
    p.clipping = clipping;
    if (strcmp(clipping, "quantile") == 0)
        TRY(read_real(&p.quantile, &l, "quantile"));
    status = sotto_sampling_find(&p.sampling, sampling);
    if (status == SOTTO_OK)
        status = dp_sgd_resolve(&p, o, o->batch, NULL); /* also replaces the borrowed texts by static ones */
    if (status != SOTTO_OK) {
        status_prefix(where);
        status = SOTTO_EFORMAT;
        goto done;
    }
    *out = p;
done:
    return status;
}

sotto_status dp_sgd_describe_charge(char out[SAME_RUN_RECIPE], const char *recipe,
                                    const struct sotto_train_privacy *p)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_spend *s = &p->spend;
    const int length = snprintf(
        out, SAME_RUN_RECIPE,
        "%sreserve_steps=%zu\nmicro_batch=%zu\nclasses=%zu\nadjacency=%s\nnoise_seed=%llu\n"
        "dataset_id=%.200s\nledger=%.400s\nbudget=%.17g,%.17g\nrows_per_person=%zu\ncondition=%.200s\n"
        "canaries=%s\n",
        recipe, p->reserve, p->part, p->classes, sotto_adjacency_name(p->adjacency),
        (unsigned long long)(s->insecure ? s->insecure_seed : 0), s->dataset_id ? s->dataset_id : "",
        s->ledger ? s->ledger : "", s->budget.epsilon, s->budget.delta, s->rows_per_person,
        s->condition ? s->condition : "", p->canaries ? p->canaries->commitment : "none");
    REQUIRE(length > 0 && length < SAME_RUN_RECIPE, "the recipe is too long");
done:
    return status;
}
