/* Algorithm 2 of the additive-logistic-mechanism paper, with the slots aligned (papers.md B.7 item 4).
 *
 * Pair k is a function of (seed, k) alone, so more pairs extend a sample instead of replacing it. Each thread
 * owns one worker: linear heads train in blocks, others one after the other. Results are kept per pair and
 * folded in pair order. */
#include "head/head_block.h"
#include "head/sensitivity_gamma.h"

#include "par/par.h"

#include <math.h>
#include <stdatomic.h>

static const double confidence = 0.99;

struct worker {
    struct head_block block;     /* linear heads */
    struct head_trainer trainer; /* others */
    struct head_slots *slots;    /* (2 * pairs of a chunk) */
    float *first, *second;       /* parameters of the two heads of a pair */
};
struct pair_change {
    double l1, l2, linf;
};
struct sampler {
    const struct sotto_context *ctx;
    const struct head_data *data;
    const struct sotto_head_recipe *recipe;
    struct worker *workers;
    struct pair_change *changes;
    size_t threads, parameters, pairs, chunk; /* chunk: pairs that a worker trains at a time */
    atomic_size_t finished;
};

static void draw_pair(struct head_slots slots[2], uint64_t seed, size_t k, size_t n)
{
    struct rng r = rng_stream(seed, RNG_PAIRS, 0, k);
    size_t i = (size_t)rng_below(&r, n), j = (size_t)rng_below(&r, n - 1);
    j += j >= i;
    slots[0] = (struct head_slots){.hole = j, .rival_slot = i, .rival = i};
    slots[1] = (struct head_slots){.hole = j, .rival_slot = i, .rival = j};
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

static sotto_status run_block(const struct sampler *s, struct worker *w, size_t first, size_t pairs)
{
    sotto_status status = SOTTO_OK;
    TRY(head_block_run(&w->block, w->slots, 2 * pairs, s->ctx));
    for (size_t k = 0; k < pairs; k++) {
        head_block_export(&w->block, 2 * k, w->first);
        head_block_export(&w->block, 2 * k + 1, w->second);
        s->changes[first + k] = difference(w->first, w->second, s->parameters);
    }
done:
    return status;
}

static sotto_status run_pair(const struct sampler *s, struct worker *w, size_t k)
{
    sotto_status status = SOTTO_OK;
    TRY(head_trainer_run(&w->trainer, &w->slots[0], s->ctx, NULL));
    head_trainer_export(&w->trainer, w->first);
    TRY(head_trainer_run(&w->trainer, &w->slots[1], s->ctx, NULL));
    head_trainer_export(&w->trainer, w->second);
    s->changes[k] = difference(w->first, w->second, s->parameters);
done:
    return status;
}

static sotto_status run_chunk(void *arg, size_t chunk, int thread)
{
    struct sampler *s = arg;
    struct worker *w = &s->workers[thread];
    size_t first = chunk * s->chunk, pairs = s->pairs - first < s->chunk ? s->pairs - first : s->chunk;
    for (size_t k = 0; k < pairs; k++)
        draw_pair(w->slots + 2 * k, s->recipe->seed, first + k, s->data->n);
    sotto_status status = s->recipe->hidden_count ? run_pair(s, w, first) : run_block(s, w, first, pairs);
    if (status != SOTTO_OK)
        return status;
    size_t finished = atomic_fetch_add(&s->finished, pairs) + pairs;
    if (thread == 0) /* one reporter: a context need not be thread-safe */
        context_progress(s->ctx, "sensitivity", finished, s->pairs, "pairs");
    return SOTTO_OK;
}

/* Linear heads: blocks of at most `groups` vectors of heads, but a block for every thread as long as there
 * are pairs for one. The choice changes speed only. */
static size_t choose_groups(const struct sampler *s)
{
    size_t groups = head_block_groups(s->data);
    while (groups > 1 && s->pairs <= s->threads * (groups - 1) * HEAD_PAD / 2)
        groups--;
    return groups;
}

static sotto_status plan(struct sampler *s)
{
    sotto_status status = SOTTO_OK;
    size_t groups = choose_groups(s);
    s->chunk = s->recipe->hidden_count ? 1 : groups * HEAD_PAD / 2;
    s->changes = base_alloc(s->pairs, sizeof *s->changes);
    s->workers = base_alloc(s->threads, sizeof *s->workers);
    if (!s->workers || !s->changes)
        FAIL(SOTTO_ENOMEM, "sensitivity: cannot allocate %zu pairs", s->pairs);
    for (size_t t = 0; t < s->threads; t++) {
        struct worker *w = &s->workers[t];
        if (s->recipe->hidden_count)
            TRY(head_trainer_plan(&w->trainer, s->data, s->recipe));
        else
            TRY(head_block_plan(&w->block, s->data, s->recipe, groups));
        w->slots = base_alloc(2 * s->chunk, sizeof *w->slots);
        w->first = base_alloc(s->parameters, sizeof *w->first);
        w->second = base_alloc(s->parameters, sizeof *w->second);
        if (!w->slots || !w->first || !w->second)
            FAIL(SOTTO_ENOMEM, "sensitivity: cannot allocate %zu parameters", s->parameters);
    }
done:
    return status;
}

static void clear(struct sampler *s)
{
    for (size_t t = 0; s->workers && t < s->threads; t++) {
        struct worker *w = &s->workers[t];
        head_trainer_clear(&w->trainer);
        head_block_clear(&w->block);
        base_free(w->slots);
        base_free(w->first);
        base_free(w->second);
    }
    base_free(s->workers);
    base_free(s->changes);
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
    head_recipe_hash(out->recipe_hash, s->recipe, s->data->d, s->data->classes);
    head_data_fingerprint(out->fingerprint, s->data);
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
    struct sampler s = {
        .ctx = ctx, .data = &data, .recipe = &r, .pairs = pairs, .threads = (size_t)par_threads(ctx)};
    size_t inputs = d;
    TRY(head_recipe_check(&r));
    TRY(head_data_check(&data, ctx));
    TRY(check_pairs(pairs, n));
    for (size_t l = 0; l <= r.hidden_count; l++) {
        size_t outputs = l < r.hidden_count ? r.hidden[l] : classes;
        s.parameters += (inputs + 1) * outputs;
        inputs = outputs;
    }
    TRY(plan(&s));
    TRY(par_chunks((pairs + s.chunk - 1) / s.chunk, (int)s.threads, run_chunk, &s));
    context_progress(ctx, "sensitivity", pairs, pairs, "pairs");
    fold(out, &s);
done:
    clear(&s);
    return status;
}
