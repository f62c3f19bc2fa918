/* Algorithm 2 of the additive-logistic-mechanism paper, with the slots aligned: both heads of a pair see
 * their common records in the same batches. Deleting a row instead would shift every later record into
 * another batch, and the difference would measure the shuffle.
 *
 * Pair k is a function of (seed, k) alone, so more pairs extend a sample instead of replacing it. Heads 2k
 * and 2k + 1 are trained together with any other heads; the changes are kept per pair and folded in pair
 * order. */
#include "head/sensitivity/sensitivity_sample.h"

#include "head/sensitivity/paper_norms.h"
#include "head/sensitivity/sensitivity_gamma.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

static const double confidence = 0.99;

struct sampler {
    struct pair_change *changes; /* (pairs) */
    size_t pairs, n, parameters, layers;
    size_t before; /* number of the first pair */
    size_t width[HEAD_MAX_LAYERS + 1];
    uint64_t seed;
    float *first; /* (parameters): head 0, trained apart */
    const struct sotto_context *ctx;
    atomic_uint_fast64_t l1, l2; /* largest so far, as bits: those of positive doubles are in their order */
    size_t noted;                /* pairs at the last note */
};

/* Both heads of a pair leave slot j empty; slot i holds record i in one head and record j in the other. */
static void pair_slots(void *arg, struct head_slots *out, size_t head)
{
    const struct sampler *s = arg;
    struct rng r = rng_stream(s->seed, RNG_PAIRS, 0, s->before + head / 2);
    size_t i = (size_t)rng_below(&r, s->n), j = (size_t)rng_below(&r, s->n - 1);
    j += j >= i;
    *out = (struct head_slots){.left_out = j, .replacement_slot = i, .replacement = head % 2 ? j : i};
}

static struct pair_change sensitivity_sample_difference(const float *a, const float *b, size_t count)
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

static void sensitivity_sample_grow(atomic_uint_fast64_t *largest, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint_fast64_t seen = atomic_load(largest);
    while (bits > seen && !atomic_compare_exchange_weak(largest, &seen, bits)) {
    }
}

static double as_number(atomic_uint_fast64_t *largest)
{
    uint64_t bits = atomic_load(largest);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Head 0 came from the same function of the same data twice, in other company and maybe on another thread. */
static sotto_status sensitivity_sample_compare(const struct sampler *s, const float *again)
{
    size_t differ = 0;
    for (size_t p = 0; p < s->parameters; p++)
        differ += memcmp(&s->first[p], &again[p], sizeof *again) != 0;
    if (differ == 0)
        return SOTTO_OK;
    return status_fail(SOTTO_EINVAL,
                       "sensitivity: the trainer is not deterministic (the same head trained twice differs "
                       "in %zu of %zu weights); expected a deterministic trainer",
                       differ, s->parameters);
}

static sotto_status take_first(void *arg, size_t first, size_t count, const float *parameters)
{
    const struct sampler *s = arg;
    (void)first, (void)count; /* 0, 1 */
    memcpy(s->first, parameters, s->parameters * sizeof *parameters);
    return SOTTO_OK;
}

static sotto_status take_pairs(void *arg, size_t first, size_t count, const float *parameters)
{
    sotto_status status = SOTTO_OK;
    struct sampler *s = arg;
    if (s->before + first == 0)
        TRY(sensitivity_sample_compare(s, parameters));
    for (size_t h = 0; h < count; h += 2) {
        const float *a = parameters + h * s->parameters, *b = a + s->parameters;
        struct pair_change change = sensitivity_sample_difference(a, b, s->parameters);
        TRY(paper_norms_find(change.paper, a, b, s->layers, s->width));
        s->changes[(first + h) / 2] = change;
        sensitivity_sample_grow(&s->l1, change.l1);
        sensitivity_sample_grow(&s->l2, change.l2);
    }
done:
    return status;
}

/* What is known so far, each time the number of pairs has doubled. */
static void sensitivity_sample_note(void *arg, size_t finished)
{
    struct sampler *s = arg;
    if (finished < 16 || finished < 2 * s->noted || finished >= s->pairs)
        return;
    s->noted = finished;
    context_log(s->ctx, SOTTO_LOG_INFO,
                "sensitivity: %zu of %zu pairs: L1 %.4g, L2 %.4g; share of pairs above that: %.3g on "
                "average, at most "
                "%.3g with %.0f %% confidence (as published: %.3g)",
                finished, s->pairs, as_number(&s->l1), as_number(&s->l2), gamma_exchangeable(finished),
                gamma_tolerance(finished, confidence), 100 * confidence, gamma_dkw(finished));
}

void sensitivity_fold(struct sotto_sensitivity_sample *out, const struct pair_change *changes, size_t pairs,
                      const struct head_data *data, const struct sotto_head_recipe *r)
{
    *out = (struct sotto_sensitivity_sample){.pairs = pairs, .confidence = confidence};
    for (size_t k = 0; k < pairs; k++) {
        const struct pair_change *c = &changes[k];
        out->l1 = c->l1 > out->l1 ? c->l1 : out->l1;
        out->l2 = c->l2 > out->l2 ? c->l2 : out->l2;
        out->linf = c->linf > out->linf ? c->linf : out->linf;
        out->mean_l1 += c->l1 / (double)pairs;
        out->mean_l2 += c->l2 / (double)pairs;
        for (int i = 0; i < SOTTO_PAPER_NORMS; i++) {
            out->paper[i].one = fmax(out->paper[i].one, c->paper[i].one);
            out->paper[i].two = fmax(out->paper[i].two, c->paper[i].two);
        }
    }
    out->gamma_dkw = gamma_dkw(pairs);
    out->gamma_exchangeable = gamma_exchangeable(pairs);
    out->gamma_tolerance = gamma_tolerance(pairs, confidence);
    head_recipe_text(out->recipe, r, data->d, data->classes);
    head_recipe_hash(out->recipe_hash, r, data->d, data->classes);
    head_data_sha256(out->data_sha256, data);
}

sotto_status sensitivity_check_pairs(size_t pairs, size_t n)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(pairs >= 1, "pairs must be at least 1 (got 0)");
    size_t half = n % 2 ? n : n / 2, other = n % 2 ? (n - 1) / 2 : n - 1, distinct;
    if (size_multiply(&distinct, half, other))
        REQUIRE(pairs <= distinct, "%zu pairs of %zu records are too many; only %zu distinct pairs exist",
                pairs, n, distinct);
done:
    return status;
}

static void describe_widths(struct sampler *s, const struct head_data *data,
                            const struct sotto_head_recipe *r)
{
    s->layers = r->hidden_count + 1;
    s->width[0] = data->d;
    memcpy(s->width + 1, r->hidden, r->hidden_count * sizeof *s->width);
    s->width[s->layers] = data->classes;
    s->parameters = head_parameter_count(r, data->d, data->classes);
}

sotto_status sensitivity_changes(struct pair_change *changes, size_t first, size_t count,
                                 const struct head_data *data, const struct sotto_head_recipe *r, bool tells,
                                 head_maker make, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sampler s = {
        .changes = changes, .pairs = count, .before = first, .n = data->n, .seed = r->seed, .ctx = ctx};
    struct head_job job = {.stage = "sensitivity", .unit = "pairs", .slots = pair_slots, .arg = &s};
    struct sotto_context silent = ctx ? *ctx : (struct sotto_context){0};
    silent.progress = NULL;
    describe_widths(&s, data, r);
    if (first == 0) {
        NEW(s.first, s.parameters);
        job.together = 1;
        job.take = take_first;
        TRY(make(data, r, 1, &job, &silent));
    }
    job.together = 2;
    job.take = take_pairs;
    job.note = tells ? sensitivity_sample_note : NULL;
    TRY(make(data, r, 2 * count, &job, ctx));
done:
    base_free(s.first);
    return status;
}

sotto_status sensitivity_sample(struct sotto_sensitivity_sample *out, const struct head_data *data,
                                const struct sotto_head_recipe *recipe, size_t pairs, head_maker make,
                                const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_head_recipe r = *recipe;
    struct pair_change *changes = NULL;
    TRY(head_recipe_check_open(&r));
    TRY(head_data_check(data, head_recipe_convex(&r), ctx));
    TRY(sensitivity_check_pairs(pairs, data->n));
    NEW(changes, pairs);
    TRY(sensitivity_changes(changes, 0, pairs, data, &r, true, make, ctx));
    sensitivity_fold(out, changes, pairs, data, &r);
done:
    base_free(changes);
    return status;
}

sotto_status sotto_sensitivity_run(struct sotto_sensitivity_sample *out, const float *x, const int64_t *y,
                                   size_t n, size_t d, size_t classes, const struct sotto_head_recipe *recipe,
                                   size_t pairs, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, !n || x, !n || y);
    sotto_status status = SOTTO_OK;
    struct head_data data = {x, y, n, d, classes};
    struct sotto_head_recipe r;
    TRY(head_recipe_resolve(&r, recipe));
    status = sensitivity_sample(out, &data, &r, pairs, head_batch_train, ctx);
done:
    return status;
}
