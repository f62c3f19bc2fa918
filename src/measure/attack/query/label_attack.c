#include "attack/query/label_attack.h"
#include "attack/query/hop_skip_jump.h"
#include "par/par.h"

#include <math.h>
#include <string.h>

static sotto_status measure_spread(struct label_setting *s)
{
    sotto_status status = SOTTO_OK;
    const struct head_data *k = &s->known;
    NEW(s->spread, k->d);
    for (size_t j = 0; j < k->d; j++) {
        double mean = 0, squares = 0; /* Welford */
        for (size_t i = 0; i < k->n; i++) {
            double x = (double)k->x[i * k->d + j], gap = x - mean;
            mean += gap / (double)(i + 1);
            squares += gap * (x - mean);
        }
        s->spread[j] = sqrt(squares / (double)k->n);
    }
done:
    return status;
}

/* What the target's budget leaves for one record. */
static sotto_status share_out(size_t *queries, const struct query_input *in, size_t reserved)
{
    const struct sotto_target *t = in->target;
    uint64_t left = t->budget - (t->used < t->budget ? t->used : t->budget);
    if (t->budget == UINT64_MAX)
        return SOTTO_OK;
    uint64_t each = left > reserved ? (left - reserved) / in->records.n : 0;
    if (each == 0)
        return status_fail(SOTTO_EBUDGET,
                           "%s: %llu queries are left for %zu records; expected at least one for each",
                           t->name, (unsigned long long)left, in->records.n);
    *queries = each < *queries ? (size_t)each : *queries;
    return SOTTO_OK;
}

sotto_status label_setting_make(struct label_setting *out, const struct query_input *in, size_t queries,
                                size_t reserved)
{
    sotto_status status = SOTTO_OK;
    *out = (struct label_setting){.known = in->attacker.n ? in->attacker : in->records,
                                  .queries = in->options->queries ? in->options->queries : queries,
                                  .seed = in->options->seed,
                                  .ctx = in->ctx};
    TRY(share_out(&out->queries, in, reserved));
    TRY(feature_space_make(&out->space, &out->known));
    TRY(measure_spread(out));
done:
    return status;
}

void label_setting_clear(struct label_setting *s)
{
    feature_space_clear(&s->space);
    base_free(s->spread);
    s->spread = NULL;
}

/* ---- distance to the boundary ---- */

sotto_status label_boundary(double *scores, struct sotto_target *t, const struct head_data *records,
                            double unused, void *setting)
{
    (void)unused;
    sotto_status status = SOTTO_OK;
    struct label_setting *s = setting;
    struct hop_settings hop;
    struct hop_result *found = NULL;
    double diagonal = 0;
    NEW(found, records->n);
    hop_defaults(&hop);
    hop.low = s->space.low;
    hop.high = s->space.high;
    hop.starts = s->known.x;
    hop.start_count = s->known.n;
    hop.queries = s->queries;
    hop.seed = s->seed;
    TRY(hop_skip_jump(found, NULL, t, records->x, records->y, records->n, &hop, s->ctx));
    for (size_t j = 0; j < records->d; j++)
        diagonal += pow((double)hop.high[j] - (double)hop.low[j], 2);
    for (size_t i = 0; i < records->n; i++) {
        bool none = isinf(found[i].distance);
        s->unreachable += none;
        scores[i] = none ? sqrt(diagonal) : found[i].distance; /* no point of the box is further */
    }
done:
    base_free(found);
    return status;
}

/* ---- robustness to noise ---- */

static const double flips[LABEL_LEVELS] = {0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3};
static const double sigmas[LABEL_LEVELS] = {0.1, 0.2, 0.5, 1, 1.5, 2, 3};

double label_flip(size_t level)
{
    return flips[level];
}

double label_sigma(size_t level)
{
    return sigmas[level];
}

/* One block of noisy copies: row b is copy (first + b) % copies of record (first + b) / copies. */
struct noisy {
    float *rows;
    const struct head_data *records;
    const struct label_setting *setting;
    size_t level, copies, first, count;
};
enum { NOISY_CHUNK = 256, NOISY_BLOCK = 16 * NOISY_CHUNK, WORTH_THREADS = 1 << 18 };

/* Both deviates of Box-Muller, in float: a share of hundreds of copies needs no more. */
static void normal_pair(float out[2], struct rng *r)
{
    float radius = sqrtf(-2 * logf(1 - rng_unit_f(r))), angle = 6.2831853f * rng_unit_f(r);
    out[0] = radius * cosf(angle);
    out[1] = radius * sinf(angle);
}

static void label_attack_disturb(float *out, const float *x, const struct noisy *q, size_t record,
                                 size_t copy)
{
    const struct label_setting *s = q->setting;
    struct rng r = rng_stream(s->seed, RNG_PROBE, record, copy);
    float spare[2];
    size_t left = 0;
    for (size_t j = 0; j < q->records->d; j++) {
        if (s->space.bit[j]) {
            out[j] = (double)rng_unit_f(&r) < flips[q->level] ? 1 - x[j] : x[j];
            continue;
        }
        if (left == 0) {
            normal_pair(spare, &r);
            left = 2;
        }
        out[j] = x[j] + (float)(sigmas[q->level] * s->spread[j]) * spare[--left];
    }
}

static sotto_status disturb_chunk(void *arg, size_t chunk, int thread)
{
    (void)thread;
    const struct noisy *q = arg;
    size_t d = q->records->d, end = (chunk + 1) * NOISY_CHUNK;
    for (size_t b = chunk * NOISY_CHUNK; b < end && b < q->count; b++) {
        size_t record = (q->first + b) / q->copies, copy = (q->first + b) % q->copies;
        const float *x = q->records->x + record * d;
        if (copy == 0) /* the record itself */
            memcpy(q->rows + b * d, x, d * sizeof *x);
        else
            label_attack_disturb(q->rows + b * d, x, q, record, copy);
    }
    return SOTTO_OK;
}

sotto_status label_noise(double *scores, struct sotto_target *t, const struct head_data *records,
                         double level, void *setting)
{
    sotto_status status = SOTTO_OK;
    struct label_setting *s = setting;
    struct noisy q = {.records = records, .setting = s, .level = (size_t)level, .copies = s->queries};
    size_t all;
    int64_t *label = NULL;
    if (!size_multiply(&all, records->n, q.copies))
        FAIL(SOTTO_ENOMEM, "attack: %zu noisy copies of %zu records are too many", q.copies, records->n);
    NEW(label, NOISY_BLOCK);
    NEW_ROWS(q.rows, NOISY_BLOCK, records->d);
    memset(scores, 0, records->n * sizeof *scores);
    for (q.first = 0; q.first < all; q.first += q.count) {
        q.count = all - q.first < NOISY_BLOCK ? all - q.first : NOISY_BLOCK;
        if (context_stopped(s->ctx))
            FAIL(SOTTO_ESTOPPED, "attack: stopped after %zu of %zu queries", q.first, all);
        context_progress(s->ctx, "noisy copies", q.first, all, "queries");
        int threads = q.count * records->d < WORTH_THREADS ? 1 : par_threads(s->ctx);
        TRY(par_chunks((q.count + NOISY_CHUNK - 1) / NOISY_CHUNK, threads, disturb_chunk, &q));
        TRY(target_labels(t, label, q.rows, q.count));
        for (size_t b = 0; b < q.count; b++) {
            size_t record = (q.first + b) / q.copies;
            scores[record] += (label[b] == records->y[record]) / (double)q.copies;
        }
    }
done:
    base_free(label);
    base_free(q.rows);
    return status;
}
