/* Copies of one row are asked together and never beside those of another, so that no answer depends on its neighbours. */
#include "options/module_tables.h"
#include "smoothing/smoothing_private.h"

#include "attack/target/target.h"
#include "base/sha256.h"
#include "num/binomial.h"
#include "par/par.h"
#include "rng/input_noise.h"
#include "rng/noise.h"
#include "sotto/option.h"
#include "train/network/network.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 16, MOST_COPIES = 1024, FEWEST_COPIES = 64, BLOCK_NUMBERS = 1 << 20 };

struct smoother {
    struct sotto_target *target;
    const struct sotto_smoothing_options *o;
    const struct sotto_context *ctx;
    size_t block;   /* copies asked at a time */
    float *copies;  /* (block, inputs) */
    int64_t *label; /* (block) */
    size_t *votes;  /* (classes) */
};

/* Copies of a row for one purpose. */
struct draw {
    float *copies;
    const float *row;
    size_t inputs, first, count;
    uint64_t seed, key;
    enum rng_purpose purpose;
    const struct sotto_smoothing_options *o;
};

static sotto_status draw_chunk(void *arg, size_t chunk, int thread)
{
    (void)thread;
    static const enum input_noise laws[] = {[SOTTO_SMOOTHING_GAUSSIAN] = INPUT_NOISE_GAUSSIAN,
                                            [SOTTO_SMOOTHING_LAPLACE] = INPUT_NOISE_LAPLACE,
                                            [SOTTO_SMOOTHING_LOGISTIC] = INPUT_NOISE_LOGISTIC};
    const struct draw *d = arg;
    for (size_t i = chunk * CHUNK; i < d->count && i < (chunk + 1) * CHUNK; i++) {
        struct rng r = rng_stream(d->seed, d->purpose, d->key, d->first + i);
        input_noise_add(d->copies + i * d->inputs, d->row, d->inputs, laws[d->o->noise], d->o->sigma, &r);
    }
    return SOTTO_OK;
}

/* A row's streams follow from what it holds, wherever it stands. */
static uint64_t row_key(const float *row, size_t inputs)
{
    unsigned char digest[DIGEST_BYTES];
    uint64_t key;
    digest_of(digest, &(struct digest_part){row, inputs * sizeof *row}, 1);
    memcpy(&key, digest, sizeof key);
    return key;
}

/* s->votes: of n copies, which come from streams of this purpose alone. */
static sotto_status smoothing_vote(struct smoother *s, const float *row, size_t n, enum rng_purpose purpose)
{
    sotto_status status = SOTTO_OK;
    struct sotto_target *t = s->target;
    struct draw d = {
        s->copies,          row,      t->inputs, .seed = s->o->seed, .key = row_key(row, t->inputs),
        .purpose = purpose, .o = s->o};
    struct rng own = rng_stream(d.seed, purpose, d.key, n);
    memset(s->votes, 0, t->classes * sizeof *s->votes);
    if (t->reseed)
        t->reseed(t, rng_u64(&own));
    for (d.first = 0; d.first < n; d.first += d.count) {
        d.count = n - d.first < s->block ? n - d.first : s->block;
        TRY(par_each((d.count + CHUNK - 1) / CHUNK, s->ctx, draw_chunk, &d));
        TRY(target_labels(t, s->label, s->copies, d.count));
        for (size_t i = 0; i < d.count; i++)
            s->votes[s->label[i]]++;
    }
done:
    return status;
}

/* Ties go to the lower class. */
static size_t most_votes(const size_t *votes, size_t classes, size_t except)
{
    size_t best = except == 0;
    for (size_t c = 0; c < classes; c++)
        if (c != except && votes[c] > votes[best])
            best = c;
    return best;
}

static sotto_status smoothing_predict(struct sotto_smoothing_row *out, struct smoother *s, const float *row)
{
    sotto_status status = SOTTO_OK;
    size_t classes = s->target->classes, first, second;
    TRY(smoothing_vote(s, row, s->o->n, RNG_SMOOTHING_PREDICT));
    first = most_votes(s->votes, classes, SIZE_MAX);
    second = most_votes(s->votes, classes, first);
    out->answer = (int64_t)first;
    out->votes = s->votes[first];
    out->abstained = fair_coin_p_value(s->votes[first], s->votes[first] + s->votes[second]) > s->o->alpha;
    out->p_lower = out->radius = out->pixeldp = NAN;
done:
    return status;
}

static sotto_status smoothing_certify(struct sotto_smoothing_row *out, struct smoother *s, const float *row)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_smoothing_options *o = s->o;
    TRY(smoothing_vote(s, row, o->n0, RNG_SMOOTHING_SELECT));
    out->answer = (int64_t)most_votes(s->votes, s->target->classes, SIZE_MAX);
    TRY(smoothing_vote(s, row, o->n, RNG_SMOOTHING_ESTIMATE));
    out->votes = s->votes[out->answer];
    out->p_lower = binomial_lower_limit(out->votes, o->n, o->alpha);
    out->abstained = !(out->p_lower > 0.5);
    out->radius = smoothing_radius(o->noise, o->sigma, out->p_lower);
    out->pixeldp = o->compare ? smoothing_pixeldp(o->noise, o->sigma, out->p_lower) : NAN;
done:
    return status;
}

static sotto_status draw_seed(struct sotto_smoothing_options *o)
{
    sotto_status status = SOTTO_OK;
    struct noise *random = NULL;
    TRY(noise_open(&random));
    o->seed = noise_u64(random);
done:
    noise_close(random);
    return status;
}

/* The options in full. */
static sotto_status smoothing_check(struct sotto_smoothing_options *o, const struct sotto_target *t,
                                    const struct sotto_records *records,
                                    const struct sotto_smoothing_options *given)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_option *table = options_smoothing;
    REQUIRE(given && t && records && records->x && records->n > 0,
            "smoothing needs a model, at least one row and the scale of the noise");
    TRY(sotto_options_resolve(o, given, table));
    TRY(sotto_options_check(o, table, NULL));
    REQUIRE(isfinite(o->sigma), "smooth must be finite (got %g)", o->sigma);
    REQUIRE(!o->compare || o->certify, "compare adds a second radius to those of certify; set both");
    REQUIRE(o->radii || o->radius_count == 0, "radii must not be NULL");
    for (size_t i = 0; records->y && i < records->n; i++)
        REQUIRE(records->y[i] >= 0 && (uint64_t)records->y[i] < t->classes,
                "label %lld of row %zu is unknown; the model has classes 0 to %zu", (long long)records->y[i],
                i, t->classes - 1);
    for (size_t i = 0; i < records->n * t->inputs; i++)
        REQUIRE(isfinite(records->x[i]), "row %zu, column %zu is not finite; inputs must be finite",
                i / t->inputs, i % t->inputs);
    REQUIRE(!t->network || !t->network->config.noise.relative,
            "%s: its own noise depends on the batch that a row stands in; smoothing needs a model that "
            "answers each row by itself",
            t->name);
    if (given->seed == 0)
        TRY(draw_seed(o));
done:
    return status;
}

static sotto_status smoothing_make(struct smoother *s)
{
    sotto_status status = SOTTO_OK;
    size_t fit = BLOCK_NUMBERS / s->target->inputs, most = s->o->n > s->o->n0 ? s->o->n : s->o->n0;
    s->block = fit < FEWEST_COPIES ? FEWEST_COPIES : fit < MOST_COPIES ? fit : MOST_COPIES;
    s->block = s->block < most ? s->block : most;
    NEW_ROWS(s->copies, s->block, s->target->inputs);
    NEW(s->label, s->block);
    NEW(s->votes, s->target->classes);
done:
    return status;
}

static sotto_status smoothing_run(struct sotto_smoothing_result *r, struct smoother *s,
                                  const struct sotto_records *in)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = 0; i < in->n; i++) {
        struct sotto_smoothing_row *row = &r->rows[i];
        row->label = in->y ? in->y[i] : -1;
        TRY((s->o->certify ? smoothing_certify : smoothing_predict)(row, s, in->x + i * s->target->inputs));
        context_progress(s->ctx, "smoothing", i + 1, in->n, "rows");
    }
done:
    return status;
}

sotto_status sotto_smoothing(struct sotto_smoothing_result *out, struct sotto_target *target,
                             const struct sotto_records *records,
                             const struct sotto_smoothing_options *options, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, target, records);
    sotto_status status = SOTTO_OK;
    struct sotto_smoothing_options o;
    struct sotto_smoothing_result r = {0};
    struct smoother s = {.target = target, .o = &o, .ctx = ctx};
    TRY(smoothing_check(&o, target, records, options));
    target->ctx = ctx;
    TRY(smoothing_make(&s));
    r.inputs = target->inputs;
    r.classes = target->classes;
    r.row_count = records->n;
    NEW(r.rows, r.row_count);
    TRY(smoothing_run(&r, &s, records));
    r.seeded = options->seed != 0;
    TRY(smoothing_summarise(&r, &o, records->y != NULL));
    smoothing_state(&r, target->head != NULL);
    *out = r;
    r = (struct sotto_smoothing_result){0};
done:
    if (target)
        target->ctx = NULL;
    base_free(s.copies);
    base_free(s.label);
    base_free(s.votes);
    sotto_smoothing_result_free(&r);
    return status;
}

void sotto_smoothing_result_free(struct sotto_smoothing_result *r)
{
    if (!r)
        return;
    base_free(r->rows);
    base_free(r->curve);
    *r = (struct sotto_smoothing_result){0};
}
