/* Algorithm 2 of the additive-logistic-mechanism paper, with the slots aligned: both heads of a pair see
 * their common records in the same batches. Deleting a row instead would shift every later record into
 * another batch, and the difference would measure the shuffle.
 *
 * Pair k is a function of (seed, k) alone, so more pairs extend a sample instead of replacing it. Heads 2k
 * and 2k + 1 are trained by the crew in whatever company; the changes are kept per pair and folded in pair
 * order. */
#include "head/head_crew.h"
#include "head/sensitivity_gamma.h"

#include <math.h>

static const double confidence = 0.99;

struct pair_change {
    double l1, l2, linf;
};
struct sampler {
    struct pair_change *changes; /* (pairs) */
    size_t pairs, n, parameters;
    uint64_t seed;
};

/* Both heads of a pair leave slot j empty; slot i holds record i in one head and record j in the other. */
static void pair_slots(void *arg, struct head_slots *out, size_t head)
{
    const struct sampler *s = arg;
    struct rng r = rng_stream(s->seed, RNG_PAIRS, 0, head / 2);
    size_t i = (size_t)rng_below(&r, s->n), j = (size_t)rng_below(&r, s->n - 1);
    j += j >= i;
    *out = (struct head_slots){.hole = j, .rival_slot = i, .rival = head % 2 ? j : i};
}

static struct pair_change difference(const float *a, const float *b, size_t count)
{
    struct pair_change change = {0};
    for (size_t p = 0; p < count; p++) {
        double gap = fabs((double)a[p] - (double)b[p]);
        change.l1 += gap;
        change.l2 += gap * gap;
        change.linf = gap > change.linf ? gap : change.linf;
    }
    change.l2 = sqrt(change.l2);
    return change;
}

static void take_pairs(void *arg, size_t first, size_t count, const float *parameters)
{
    const struct sampler *s = arg;
    for (size_t h = 0; h < count; h += 2)
        s->changes[(first + h) / 2] =
            difference(parameters + h * s->parameters, parameters + (h + 1) * s->parameters, s->parameters);
}

static void fold(struct sotto_sensitivity_sample *out, const struct sampler *s)
{
    *out = (struct sotto_sensitivity_sample){.pairs = s->pairs, .confidence = confidence};
    for (size_t k = 0; k < s->pairs; k++) {
        const struct pair_change *c = &s->changes[k];
        out->l1 = c->l1 > out->l1 ? c->l1 : out->l1;
        out->l2 = c->l2 > out->l2 ? c->l2 : out->l2;
        out->linf = c->linf > out->linf ? c->linf : out->linf;
        out->mean_l1 += c->l1 / (double)s->pairs;
        out->mean_l2 += c->l2 / (double)s->pairs;
    }
    out->gamma_dkw = gamma_dkw(s->pairs);
    out->gamma_exchangeable = gamma_exchangeable(s->pairs);
    out->gamma_tolerance = gamma_tolerance(s->pairs, confidence);
}

static sotto_status check_pairs(size_t pairs, size_t n)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(pairs >= 1, "pairs must be at least 1 (got 0)");
    size_t half = n % 2 ? n : n / 2, other = n % 2 ? (n - 1) / 2 : n - 1, distinct;
    if (size_multiply(&distinct, half, other))
        REQUIRE(pairs <= distinct, "%zu pairs of %zu records: only %zu distinct pairs exist", pairs, n,
                distinct);
done:
    return status;
}

sotto_status sotto_sensitivity_run(struct sotto_sensitivity_sample *out, const float *x, const int64_t *y,
                                   size_t n, size_t d, size_t classes, const struct sotto_head_recipe *recipe,
                                   size_t pairs, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct head_data data = {x, y, n, d, classes};
    struct sotto_head_recipe r = *recipe;
    struct sampler s = {.pairs = pairs, .n = n, .seed = r.seed};
    struct head_job job = {.stage = "sensitivity",
                           .unit = "pairs",
                           .together = 2,
                           .slots = pair_slots,
                           .take = take_pairs,
                           .arg = &s};
    TRY(head_recipe_check(&r));
    TRY(head_data_check(&data, head_recipe_convex(&r), ctx));
    TRY(check_pairs(pairs, n));
    s.parameters = head_parameter_count(&r, d, classes);
    s.changes = base_alloc(pairs, sizeof *s.changes);
    if (!s.changes)
        FAIL(SOTTO_ENOMEM, "sensitivity: cannot allocate %zu pairs", pairs);
    TRY(head_crew_run(&data, &r, 2 * pairs, &job, ctx));
    fold(out, &s);
    head_recipe_text(out->recipe, &r, d, classes);
    head_recipe_hash(out->recipe_hash, &r, d, classes);
    head_data_fingerprint(out->fingerprint, &data);
done:
    base_free(s.changes);
    return status;
}
