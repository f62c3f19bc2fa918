/* Algorithm 2 of the additive-logistic-mechanism paper, with the slots aligned (papers.md B.7 item 4).
 *
 * Pair k is a function of (seed, k) alone, so more pairs extend a sample instead of replacing it. Each thread
 * owns one trainer and runs the two heads of a pair one after the other; results are kept per pair and folded
 * in pair order. */
#include "head/head_trainer.h"
#include "head/sensitivity_gamma.h"

#include "par/par.h"
#include "rng/rng.h"

#include <math.h>
#include <stdatomic.h>

static const double confidence = 0.99;

struct worker {
    struct head_trainer trainer;
    float *first, *second; /* parameters of the two heads */
};
struct pair_change {
    double l1, l2, linf;
};
struct sampler {
    const struct sotto_context *ctx;
    struct worker *workers;
    struct pair_change *changes;
    size_t n, parameters, pairs;
    uint64_t seed;
    atomic_size_t finished;
};

static void draw_pair(size_t *i, size_t *j, uint64_t seed, size_t k, size_t n)
{
    struct rng r = rng_stream(seed, RNG_PAIRS, 0, k);
    *i = (size_t)rng_below(&r, n);
    *j = (size_t)rng_below(&r, n - 1);
    *j += *j >= *i;
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

static sotto_status run_pair(void *arg, size_t k, int thread)
{
    sotto_status status = SOTTO_OK;
    struct sampler *s = arg;
    struct worker *w = &s->workers[thread];
    size_t i, j;
    draw_pair(&i, &j, s->seed, k, s->n);
    struct head_slots slots = {.hole = j, .rival_slot = i, .rival = i};
    TRY(head_trainer_run(&w->trainer, &slots, s->ctx, NULL));
    head_trainer_export(&w->trainer, w->first);
    slots.rival = j;
    TRY(head_trainer_run(&w->trainer, &slots, s->ctx, NULL));
    head_trainer_export(&w->trainer, w->second);
    s->changes[k] = difference(w->first, w->second, s->parameters);
    size_t finished = atomic_fetch_add(&s->finished, 1) + 1;
    if (thread == 0) /* one reporter: a context need not be thread-safe */
        context_progress(s->ctx, "sensitivity", finished, s->pairs, "pairs");
done:
    return status;
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
    size_t threads = 0, inputs = d;
    struct sampler s = {.ctx = ctx, .n = n, .pairs = pairs, .seed = r.seed};
    TRY(head_recipe_check(&r));
    TRY(head_data_check(&data, ctx));
    TRY(check_pairs(pairs, n));
    for (size_t l = 0; l <= r.hidden_count; l++) {
        size_t outputs = l < r.hidden_count ? r.hidden[l] : classes;
        s.parameters += (inputs + 1) * outputs;
        inputs = outputs;
    }
    threads = (size_t)par_threads(ctx);
    threads = threads < pairs ? threads : pairs;
    s.workers = base_alloc(threads, sizeof *s.workers);
    s.changes = base_alloc(pairs, sizeof *s.changes);
    if (!s.workers || !s.changes)
        FAIL(SOTTO_ENOMEM, "sensitivity: cannot allocate %zu pairs", pairs);
    for (size_t t = 0; t < threads; t++) {
        struct worker *w = &s.workers[t];
        TRY(head_trainer_plan(&w->trainer, &data, &r));
        w->first = base_alloc(s.parameters, sizeof *w->first);
        w->second = base_alloc(s.parameters, sizeof *w->second);
        if (!w->first || !w->second)
            FAIL(SOTTO_ENOMEM, "sensitivity: cannot allocate %zu parameters", s.parameters);
    }
    TRY(par_chunks(pairs, (int)threads, run_pair, &s));
    context_progress(ctx, "sensitivity", pairs, pairs, "pairs");
    fold(out, &s);
    head_recipe_hash(out->recipe_hash, &r, d, classes);
    head_data_fingerprint(out->fingerprint, &data);
done:
    for (size_t t = 0; s.workers && t < threads; t++) {
        head_trainer_clear(&s.workers[t].trainer);
        base_free(s.workers[t].first);
        base_free(s.workers[t].second);
    }
    base_free(s.workers);
    base_free(s.changes);
    return status;
}
