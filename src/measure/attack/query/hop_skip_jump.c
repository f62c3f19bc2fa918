/* A record is a small machine that says what it wants to ask next and is told the labels:
 *
 *   OWN      is the record itself classified otherwise? Then the distance is 0.
 *   START    uniform points (then rows of the attacker) until one has another label
 *   BISECT   to the boundary, on the segment from the record to that point
 *   SLOPE    B probes around the boundary point: the mean of u signed by "adversarial or not", centred, is
 *            the direction of the gradient
 *   STEP     dist / sqrt(t + 1) along it, halved until the point is adversarial (at most 50 times); BISECT
 *            again. The third SLOPE in a row without a step ends the search
 *
 * The driver gathers what a wave of records wants into one block of rows, asks once, and hands the labels
 * back. The sums of SLOPE run over the probes in their order, wherever a block was cut, and every draw is
 * keyed by record and probe: batching changes no bit. All points are clipped to the range; distances are
 * those of the points that were asked. */
#include "attack/query/hop_skip_jump.h"
#include "par/par.h"
#include "rng/rng.h"

#include <math.h>
#include <string.h>

enum {
    WAVE = 64,
    BLOCK_ROWS = 8192,
    STARTS = 100,
    START_ROWS = 10,
    HALVINGS = 50,
    PROBES = 100,
    PROBES_MOST = 10000,
    STUCK = 3
};
enum { WORTH_THREADS = 1 << 18 }; /* numbers in a block; waking threads costs more than making fewer */
static const double START_WIDTH = 1e-3,
                    STEP_WIDTH = 0.01; /* of bisection; the second is divided by sqrt(d) */

enum phase { OWN, START, BISECT, SLOPE, STEP, DONE };

struct hop {
    enum phase phase;
    size_t record, d, used, t;
    const float *x;
    int64_t y;
    float *point;     /* (d) the adversarial point at hand */
    float *best;      /* (d) the nearest one so far */
    double *up, *all; /* (d) sums of s u and of u over the probes of a SLOPE */
    double best_distance;
    double low, high, width; /* BISECT: fractions of the way from x to anchor */
    float *anchor;           /* (d) where BISECT started */
    double dist, delta, length;
    double signs;
    size_t probes, asked, tries, halvings, stuck; /* of this phase */
    size_t first, count;                          /* rows of the block */
};

struct driver {
    const struct hop_settings *set;
    struct sotto_target *target;
    double range; /* widest coordinate */
    struct hop *hops;
    size_t wave;
    float *memory_f;
    double *memory_d;
    float *rows;     /* (capacity, d) */
    int64_t *labels; /* (capacity) */
    size_t capacity, used;
};

void hop_defaults(struct hop_settings *s)
{
    *s = (struct hop_settings){.queries = 2500, .seed = 1};
}

static double hop_skip_jump_distance(const float *a, const float *b, size_t d)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++) {
        double gap = (double)a[j] - (double)b[j];
        sum += gap * gap;
    }
    return sqrt(sum);
}

static float hop_skip_jump_clip(double value, float low, float high)
{
    return value < (double)low ? low : value > (double)high ? high : (float)value;
}

/* Sums of four uniform bytes: independent, symmetric, nearly Gaussian (excess kurtosis -0.3), and ten times
 * cheaper than normals, which would cost more than the target's answers. They are normalised afterwards,
 * so they need no scale. */
static void hop_skip_jump_scatter(float *out, size_t d, struct rng *r)
{
    for (size_t j = 0; j < d; j++) {
        uint32_t v = rng_u32(r), pairs = (v & 0x00ff00ff) + (v >> 8 & 0x00ff00ff);
        out[j] = (float)((int32_t)((pairs & 0xffff) + (pairs >> 16)) - 510);
    }
}

/* ---- what a record asks next ---- */

static void hop_skip_jump_segment(float *out, const struct hop *h, double fraction)
{
    for (size_t j = 0; j < h->d; j++)
        out[j] = (float)((double)h->x[j] + fraction * ((double)h->anchor[j] - (double)h->x[j]));
}

static void start_row(float *out, const struct hop *h, const struct driver *v, size_t k)
{
    const struct hop_settings *s = v->set;
    struct rng r = rng_stream(s->seed, RNG_PROBE, h->record, k);
    if (k >= STARTS) {
        memcpy(out, s->starts + rng_below(&r, s->start_count) * h->d, h->d * sizeof *out);
        return;
    }
    for (size_t j = 0; j < h->d; j++)
        out[j] = hop_skip_jump_clip((double)s->low[j] +
                                        (double)rng_unit_f(&r) * ((double)s->high[j] - (double)s->low[j]),
                                    s->low[j], s->high[j]);
}

/* A unit direction away from the point; clipping may turn it, so tell_slope() reads it back from the row. */
static void probe_row(float *out, const struct hop *h, const struct driver *v, size_t number)
{
    struct rng r = rng_stream(v->set->seed, RNG_PROBE, h->record, number);
    double norm = 0;
    hop_skip_jump_scatter(out, h->d, &r);
    for (size_t j = 0; j < h->d; j++)
        norm += (double)out[j] * (double)out[j];
    double scale = norm > 0 ? h->delta / sqrt(norm) : 0;
    for (size_t j = 0; j < h->d; j++)
        out[j] =
            hop_skip_jump_clip((double)h->point[j] + scale * (double)out[j], v->set->low[j], v->set->high[j]);
}

static void step_row(float *out, const struct hop *h, const struct driver *v)
{
    for (size_t j = 0; j < h->d; j++)
        out[j] =
            hop_skip_jump_clip((double)h->point[j] + h->length * h->up[j], v->set->low[j], v->set->high[j]);
}

static size_t hop_skip_jump_smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many rows it wants, within its budget. */
static size_t hop_skip_jump_wanted(const struct hop *h, const struct driver *v)
{
    size_t left = v->set->queries - h->used, most = STARTS + (v->set->start_count > 0 ? STARTS : 0);
    switch (h->phase) {
    case START:
        return hop_skip_jump_smaller(left, hop_skip_jump_smaller(START_ROWS, most - h->tries));
    case SLOPE:
        return hop_skip_jump_smaller(left, h->probes - h->asked);
    case OWN:
    case BISECT:
    case STEP:
        return hop_skip_jump_smaller(left, 1);
    default:
        return 0;
    }
}

static void hop_skip_jump_fill(const struct hop *h, const struct driver *v)
{
    for (size_t i = 0; i < h->count; i++) {
        float *row = v->rows + (h->first + i) * h->d;
        switch (h->phase) {
        case OWN:
            memcpy(row, h->x, h->d * sizeof *row);
            break;
        case START:
            start_row(row, h, v, h->tries + i);
            break;
        case BISECT:
            hop_skip_jump_segment(row, h, (h->low + h->high) / 2);
            break;
        case SLOPE:
            probe_row(row, h, v, h->used + i + 2 * STARTS);
            break;
        default:
            step_row(row, h, v);
        }
    }
}

/* ---- what it makes of the labels ---- */

static void hop_skip_jump_finish(struct hop *h)
{
    h->phase = DONE;
}

static void keep_best(struct hop *h)
{
    h->dist = hop_skip_jump_distance(h->x, h->point, h->d);
    if (h->dist < h->best_distance) {
        h->best_distance = h->dist;
        memcpy(h->best, h->point, h->d * sizeof *h->best);
    }
}

static void enter_bisect(struct hop *h, double width)
{
    memcpy(h->anchor, h->point, h->d * sizeof *h->anchor);
    keep_best(h);
    h->low = 0;
    h->high = 1;
    h->width = width;
    h->phase = BISECT;
}

static void enter_slope(struct hop *h, const struct driver *v)
{
    double root = sqrt((double)h->t + 1);
    keep_best(h);
    if (h->dist == 0) { /* as near as floats get */
        hop_skip_jump_finish(h);
        return;
    }
    h->delta = h->t == 0 ? 0.1 * v->range : STEP_WIDTH * h->dist;
    h->probes = hop_skip_jump_smaller((size_t)(PROBES * root), PROBES_MOST);
    h->asked = 0;
    h->signs = 0;
    memset(h->up, 0, h->d * sizeof *h->up);
    memset(h->all, 0, h->d * sizeof *h->all);
    h->phase = SLOPE;
}

static void tell_slope(struct hop *h, const float *row, bool adversarial)
{
    double s = adversarial ? 1 : -1;
    for (size_t j = 0; j < h->d; j++) {
        double u = ((double)row[j] - (double)h->point[j]) / h->delta;
        h->up[j] += s * u;
        h->all[j] += u;
    }
    h->signs += s;
    h->asked++;
}

/* up becomes the unit direction to walk in; probes that all agree say only where their mean lies. */
static void leave_slope(struct hop *h)
{
    double mean = h->signs / (double)h->asked, norm = 0;
    bool agree = fabs(h->signs) == (double)h->asked;
    for (size_t j = 0; j < h->d; j++) {
        h->up[j] -= agree ? 0 : mean * h->all[j];
        norm += h->up[j] * h->up[j];
    }
    norm = sqrt(norm);
    if (!(norm > 0)) {
        hop_skip_jump_finish(h);
        return;
    }
    for (size_t j = 0; j < h->d; j++)
        h->up[j] /= norm;
    h->length = h->dist / sqrt((double)h->t + 1);
    h->halvings = 0;
    h->phase = STEP;
}

static void leave_bisect(struct hop *h, const struct driver *v)
{
    hop_skip_jump_segment(h->point, h, h->high);
    enter_slope(h, v);
}

/* A direction along which nothing is adversarial, or only steps that rounding swallows, was a bad estimate:
 * it is made anew with more probes, but not for ever. */
static void tell_step(struct hop *h, const struct driver *v, const float *row, bool adversarial)
{
    bool moved = memcmp(row, h->point, h->d * sizeof *row) != 0;
    if (adversarial && moved) {
        memcpy(h->point, row, h->d * sizeof *row);
        h->stuck = 0;
        h->t++;
        enter_bisect(h, STEP_WIDTH / sqrt((double)h->d));
    } else if (moved && ++h->halvings <= HALVINGS) {
        h->length /= 2;
    } else if (++h->stuck < STUCK) {
        h->t++;
        enter_slope(h, v);
    } else {
        hop_skip_jump_finish(h);
    }
}

static void tell_row(struct hop *h, const struct driver *v, const float *row, bool adversarial)
{
    switch (h->phase) {
    case OWN:
        if (adversarial) {
            h->best_distance = 0;
            hop_skip_jump_finish(h);
        } else {
            h->phase = START;
        }
        break;
    case START:
        h->tries++;
        if (adversarial) {
            memcpy(h->point, row, h->d * sizeof *row);
            enter_bisect(h, START_WIDTH);
        }
        break;
    case BISECT:
        *(adversarial ? &h->high : &h->low) = (h->low + h->high) / 2;
        if (h->high - h->low <= h->width)
            leave_bisect(h, v);
        break;
    case SLOPE:
        tell_slope(h, row, adversarial);
        if (h->asked == h->probes)
            leave_slope(h);
        break;
    case STEP:
        tell_step(h, v, row, adversarial);
        break;
    default:
        break;
    }
}

/* The labels of all rows of this record; whatever phase the first ones lead to, the rest belong to the phase
 * that asked. */
static void hop_skip_jump_receive(struct hop *h, const struct driver *v)
{
    enum phase asked_in = h->phase;
    size_t tries = STARTS + (v->set->start_count > 0 ? STARTS : 0);
    h->used += h->count;
    for (size_t i = 0; i < h->count && h->phase == asked_in; i++)
        tell_row(h, v, v->rows + (h->first + i) * h->d, v->labels[h->first + i] != h->y);
    if (h->phase == START && h->tries == tries)
        hop_skip_jump_finish(h);
    if (h->phase != DONE && h->used == v->set->queries) {
        if (h->phase == BISECT) {
            hop_skip_jump_segment(h->point, h, h->high); /* adversarial: it was asked, or is the anchor */
            keep_best(h);
        }
        hop_skip_jump_finish(h);
    }
}

/* ---- all records ---- */

static void hop_skip_jump_begin(struct hop *h, const struct driver *v, const float *x, const int64_t *y,
                                size_t record)
{
    h->record = record;
    h->x = x + record * h->d;
    h->y = y[record];
    h->phase = v->set->queries > 0 ? OWN : DONE;
    h->used = h->t = h->tries = h->stuck = 0;
    h->best_distance = INFINITY;
    memcpy(h->best, h->x, h->d * sizeof *h->best);
}

static sotto_status make_driver(struct driver *v, size_t n)
{
    sotto_status status = SOTTO_OK;
    size_t d = v->target->inputs, wave = hop_skip_jump_smaller(n, WAVE);
    v->wave = wave;
    v->capacity = BLOCK_ROWS;
    while (v->capacity > 4 * WAVE && v->capacity * d > (size_t)1 << 24)
        v->capacity /= 2;
    for (size_t j = 0; j < d; j++) {
        double width = (double)v->set->high[j] - (double)v->set->low[j];
        REQUIRE(width >= 0 && isfinite(width),
                "hop-skip-jump: the range of column %zu is [%g, %g]; expected finite ends in order", j,
                (double)v->set->low[j], (double)v->set->high[j]);
        v->range = width > v->range ? width : v->range;
    }
    NEW(v->hops, wave);
    NEW_ROWS(v->memory_f, wave * 3, d);
    NEW_ROWS(v->memory_d, wave * 2, d);
    NEW_ROWS(v->rows, v->capacity, d);
    NEW(v->labels, v->capacity);
    for (size_t i = 0; i < wave; i++)
        v->hops[i] = (struct hop){.phase = DONE,
                                  .record = SIZE_MAX,
                                  .d = d,
                                  .point = v->memory_f + 3 * i * d,
                                  .best = v->memory_f + (3 * i + 1) * d,
                                  .anchor = v->memory_f + (3 * i + 2) * d,
                                  .up = v->memory_d + 2 * i * d,
                                  .all = v->memory_d + (2 * i + 1) * d};
done:
    return status;
}

static void clear_driver(struct driver *v)
{
    base_free(v->hops);
    base_free(v->memory_f);
    base_free(v->memory_d);
    base_free(v->rows);
    base_free(v->labels);
}

static sotto_status fill_chunk(void *arg, size_t i, int thread)
{
    (void)thread;
    const struct driver *v = arg;
    hop_skip_jump_fill(&v->hops[i], v);
    return SOTTO_OK;
}

static sotto_status tell_chunk(void *arg, size_t i, int thread)
{
    (void)thread;
    const struct driver *v = arg;
    if (v->hops[i].count > 0)
        hop_skip_jump_receive(&v->hops[i], v);
    return SOTTO_OK;
}

/* One call to the target: what every record of the wave wants, as far as it fits. */
static sotto_status round_trip(struct driver *v, int threads)
{
    sotto_status status = SOTTO_OK;
    v->used = 0;
    for (size_t i = 0; i < v->wave; i++) {
        struct hop *h = &v->hops[i];
        size_t rows = hop_skip_jump_wanted(h, v), room = v->capacity - v->used;
        h->first = v->used;
        /* Only a SLOPE may be cut: a START asks all of its rows or waits, so that its cost does not depend on
         * the others. */
        h->count = rows <= room ? rows : h->phase == SLOPE ? room : 0;
        v->used += h->count;
    }
    if (v->used * v->target->inputs < WORTH_THREADS)
        threads = 1;
    TRY(par_chunks(v->wave, threads, fill_chunk, v));
    TRY(target_labels(v->target, v->labels, v->rows, v->used));
    TRY(par_chunks(v->wave, threads, tell_chunk, v));
done:
    return status;
}

sotto_status hop_skip_jump(struct hop_result *out, float *nearest, struct sotto_target *t, const float *x,
                           const int64_t *y, size_t n, const struct hop_settings *s,
                           const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct driver v = {.set = s, .target = t};
    size_t next = 0, finished = 0, d = t->inputs;
    if (n == 0)
        return SOTTO_OK;
    TRY(make_driver(&v, n));
    while (finished < n) {
        for (size_t i = 0; i < v.wave; i++) {
            struct hop *h = &v.hops[i];
            if (h->phase != DONE)
                continue;
            if (h->record != SIZE_MAX) {
                out[h->record] = (struct hop_result){h->best_distance, h->used, h->t};
                if (nearest)
                    memcpy(nearest + h->record * d, h->best, d * sizeof *nearest);
                h->record = SIZE_MAX;
                finished++;
            }
            if (next < n)
                hop_skip_jump_begin(h, &v, x, y, next++);
        }
        if (context_stopped(ctx))
            FAIL(SOTTO_ESTOPPED, "hop-skip-jump: stopped after %zu of %zu records", finished, n);
        context_progress(ctx, "boundary distances", finished, n, "records");
        if (finished < n)
            TRY(round_trip(&v, par_threads(ctx)));
    }
done:
    clear_driver(&v);
    return status;
}
