/* Canaries that are gradients, and an observer of all steps. The noisy sums leave the training anyway, so what is seen of
 * them costs nothing; the sample of a step is not seen, as the account counts on that.
 *
 * Where canary i is in a step with probability q, it adds `amount` to its own weight. With the noise's density f and u = what
 * is seen there, in amounts, less what other records add on average, its score is the log-likelihood ratio
 *
 *     sum over steps  log((1 - q) f(u) + q f(u - 1)) - log f(u)
 *
 * (one of two: less the same of f(u + 1)), the best of all tests of one canary (Neyman and Pearson), where the sum of <update,
 * canary> (Nasr et al. 2023) is best for q = 1 alone. Records beside it make u wider than the noise: the width at a
 * weight is that of the last steps there, and never below the noise's. */
#include "base/file.h"
#include "canary/canaries.h"
#include "io/array/safetensors.h"
#include "io/array/tensors.h"
#include "rng/rng.h"
#include "sotto/private/io.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum { KEEP_SECONDS = 5, MEMORY = 50 /* steps */ };
#define LOGISTIC_VARIANCE 3.2898681336964529 /* pi^2 / 3 */

bool canary_is_gradient(const struct sotto_canaries *c)
{
    return c && c->kind == SOTTO_CANARY_DIRAC;
}

sotto_status canary_require_records(const struct sotto_canaries *c, const char *what)
{
    return canary_is_gradient(c)
               ? status_fail(
                     SOTTO_EINVAL,
                     "canaries of kind dirac are gradients, and %s has no steps that clip them; give another "
                     "{canaries.kind|canary-kind}, or train by DP-SGD",
                     what)
               : SOTTO_OK;
}

/* Different weights, in the order of the canaries: the first `count` of a shuffle. */
static sotto_status choose_weights(struct sotto_canaries *c, size_t dimension)
{
    sotto_status status = SOTTO_OK;
    struct rng r = rng_stream(c->seed, RNG_SPLIT, 'c', 1);
    uint32_t *all = NULL;
    NEW(all, dimension);
    for (size_t i = 0; i < dimension; i++)
        all[i] = (uint32_t)i;
    for (size_t i = 0; i < c->coins.count; i++) {
        const size_t k = i + rng_below(&r, dimension - i);
        c->coordinate[i] = all[k];
        all[k] = all[i];
    }
done:
    base_free(all);
    return status;
}

/* What was seen of the interrupted run: its steps were charged, those that are made anew too. */
static sotto_status load_state(struct sotto_canaries *c)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors t = {0};
    char path[CANARY_PATH];
    TRY(canary_path(path, c->output, CANARY_STATE));
    if (!file_exists(path))
        goto done;
    TRY(safetensors_load(&t, path));
    const char *commitment = tensors_metadata(&t, "commitment");
    const struct sotto_array *a = tensors_find(&t, "white_box");
    if (!commitment || strcmp(commitment, c->commitment) != 0 || !a || a->dtype != SOTTO_F8 ||
        a->count != c->coins.count)
        FAIL(SOTTO_EFORMAT, "%s: is not what was seen of these canaries; give {fresh} to start again", path);
    memcpy(c->white_box, a->data, a->count * sizeof *c->white_box);
done:
    sotto_tensors_clear(&t);
    return status;
}

sotto_status canary_keep(const struct sotto_canaries *c)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors t = {0};
    char path[CANARY_PATH];
    if (!c || !c->white_box)
        return SOTTO_OK;
    TRY(canary_path(path, c->output, CANARY_STATE));
    TRY(tensors_set_metadata(&t, "commitment", c->commitment));
    TRY(tensors_add(&t, "white_box", SOTTO_F8, 1, &c->coins.count, c->white_box));
    TRY(safetensors_save(path, &t));
done:
    sotto_tensors_clear(&t);
    return status;
}

sotto_status canary_begin(struct sotto_canaries *c, size_t dimension)
{
    sotto_status status = SOTTO_OK;
    if (!canary_is_gradient(c))
        return SOTTO_OK;
    REQUIRE(c->coins.count <= dimension,
            "%zu canaries of kind dirac for %zu weights; expected at most one for each weight",
            c->coins.count, dimension);
    NEW(c->white_box, c->coins.count);
    NEW(c->coordinate, c->coins.count);
    NEW(c->sampled, c->coins.count);
    NEW(c->variance, c->coins.count);
    TRY(choose_weights(c, dimension));
    TRY(load_state(c));
    c->saved = time(NULL);
done:
    return status;
}

void canary_note(struct sotto_canaries *c, const uint32_t *rows, size_t n)
{
    if (!canary_is_gradient(c))
        return;
    c->sampled_count = 0;
    for (size_t i = 0; i < n; i++)
        if (rows[i] >= c->first)
            c->sampled[c->sampled_count++] = rows[i] - (uint32_t)c->first;
}

void canary_add(const struct sotto_canaries *c, double *sum, double amount)
{
    if (!canary_is_gradient(c))
        return;
    for (size_t k = 0; k < c->sampled_count; k++) {
        const uint32_t i = c->sampled[k];
        if (c->coins.heads[i] == '1')
            sum[c->coordinate[i]] += amount;
        else if (c->relation == SOTTO_CANARY_ONE_OF_TWO)
            sum[c->coordinate[i]] -= amount;
    }
}

size_t canary_own_sample(uint32_t *rows, const struct sotto_canaries *c, double rate, uint64_t step)
{
    struct rng r = rng_stream(c->seed, RNG_EVALUATE, step, 'c');
    size_t n = 0;
    for (size_t i = 0; i < c->first; i++)
        if (rng_unit(&r) < rate && c->labels[2][i] >= 0)
            rows[n++] = (uint32_t)i;
    return n;
}

/* The width at weight i before this step, in amounts; then the step joins the mean of the last ones. */
static double width_of(struct sotto_canaries *c, size_t i, double u, const struct canary_step *s)
{
    const double scale = s->scale / s->amount, standard = s->logistic ? LOGISTIC_VARIANCE : 1,
                 width = sqrt(fmax(scale * scale, c->variance[i] / standard));
    c->variance[i] += (u * u - c->variance[i]) / (double)(c->seen < MEMORY ? c->seen : MEMORY);
    return width;
}

/* log f(u - shift) - log f(u) at scale s. */
static double log_ratio(double u, double shift, double s, bool logistic)
{
    if (!logistic)
        return (2 * u * shift - shift * shift) / (2 * s * s);
    const double a = fabs(u / s), b = fabs((u - shift) / s);
    return a - b + 2 * (log1p(exp(-a)) - log1p(exp(-b)));
}

static double log_mixture(double rate, double log_ratio)
{
    return log_ratio > 0 ? log_ratio + log(rate + (1 - rate) * exp(-log_ratio))
                         : log1p(rate * expm1(log_ratio));
}

void canary_observe(struct sotto_canaries *c, const double *noisy, const double *reference,
                    const struct canary_step *s)
{
    if (!canary_is_gradient(c))
        return;
    c->seen++;
    for (size_t i = 0; i < c->coins.count; i++) {
        const size_t j = c->coordinate[i];
        const double u = (noisy[j] - reference[j] * s->unit) / s->amount, width = width_of(c, i, u, s);
        c->white_box[i] += log_mixture(s->rate, log_ratio(u, 1, width, s->logistic));
        if (c->relation == SOTTO_CANARY_ONE_OF_TWO)
            c->white_box[i] -= log_mixture(s->rate, log_ratio(u, -1, width, s->logistic));
    }
    if (time(NULL) - c->saved < KEEP_SECONDS)
        return;
    c->saved = time(NULL);
    if (canary_keep(c) != SOTTO_OK) /* kept again at the end, where a failure counts */
        c->saved += KEEP_SECONDS;
}
