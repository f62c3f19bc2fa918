#include "audit/score/sample_distances.h"

#include <math.h>
#include <string.h>

ISA_TABLE(sample_kernel, sample_kernel, sample_kernel_best);

enum { BLOCK_BYTES = 256 << 10, KEPT = 8 };

/* What is done with the distances between one record and samples first .. first + count. */
typedef void visit(void *arg, size_t record, size_t first, const float *squared, size_t count);

static sotto_status sample_distances_walk(const struct sample_pairs *p, visit *to, void *arg)
{
    sotto_status status = SOTTO_OK;
    sample_kernel *kernel = sample_kernel_best();
    size_t block = BLOCK_BYTES / sizeof(float) / p->width;
    float *squared = NULL;
    block = block < 1 ? 1 : block < p->k ? block : p->k;
    NEW_ROWS(squared, block, SAMPLE_GROUP);
    for (size_t first = 0; first < p->k; first += block) {
        size_t count = p->k - first < block ? p->k - first : block;
        for (size_t i = 0; i < p->n; i += SAMPLE_GROUP) {
            const float *group[SAMPLE_GROUP];
            for (size_t r = 0; r < SAMPLE_GROUP; r++)
                group[r] = p->records + (i + r < p->n ? i + r : i) * p->width;
            kernel(squared, group, p->samples + first * p->width, count, p->width);
            for (size_t r = 0; r < SAMPLE_GROUP && i + r < p->n; r++)
                to(arg, i + r, first, squared + r * count, count);
        }
        TRY(context_check(p->ctx, "audit: stopped while distances to samples were computed"));
    }
done:
    base_free(squared);
    return status;
}

static double sample_distances_between(const struct sample_pairs *p, size_t record, size_t sample)
{
    const float *x = p->records + record * p->width, *g = p->samples + sample * p->width;
    double sum = 0;
    for (size_t c = 0; c < p->width; c++)
        sum += ((double)x[c] - (double)g[c]) * ((double)x[c] - (double)g[c]);
    return sqrt(sum);
}

/* ---- nearest ---- */

struct kept {
    float squared[KEPT]; /* ascending */
    size_t sample[KEPT], count;
};

static void sample_distances_keep(void *arg, size_t record, size_t first, const float *squared, size_t count)
{
    struct kept *k = (struct kept *)arg + record;
    for (size_t j = 0; j < count; j++) {
        if (k->count == KEPT && !(squared[j] < k->squared[KEPT - 1]))
            continue;
        size_t at = k->count < KEPT ? k->count++ : KEPT - 1;
        for (; at > 0 && k->squared[at - 1] > squared[j]; at--)
            k->squared[at] = k->squared[at - 1], k->sample[at] = k->sample[at - 1];
        k->squared[at] = squared[j], k->sample[at] = first + j;
    }
}

sotto_status sample_nearest(double *nearest, size_t *which, const struct sample_pairs *p)
{
    sotto_status status = SOTTO_OK;
    struct kept *kept = NULL;
    NEW(kept, p->n);
    TRY(sample_distances_walk(p, sample_distances_keep, kept));
    for (size_t i = 0; i < p->n; i++) {
        size_t best = kept[i].sample[0];
        nearest[i] = sample_distances_between(p, i, best);
        for (size_t j = 1; j < kept[i].count; j++) {
            double d = sample_distances_between(p, i, kept[i].sample[j]);
            if (d < nearest[i] || (d == nearest[i] && kept[i].sample[j] < best))
                nearest[i] = d, best = kept[i].sample[j];
        }
        if (which)
            which[i] = best;
    }
done:
    base_free(kept);
    return status;
}

/* ---- within a radius ---- */

struct within {
    const struct sample_pairs *pairs;
    double radius;
    float inside, outside; /* squared distances below and above are certain; between, doubles decide */
    double *share, *closeness;
};

static void count_within(void *arg, size_t record, size_t first, const float *squared, size_t count)
{
    const struct within *w = arg;
    for (size_t j = 0; j < count; j++) {
        if (squared[j] > w->outside || (!w->closeness && squared[j] < w->inside)) {
            if (w->share)
                w->share[record] += squared[j] < w->inside;
            continue;
        }
        double d = sample_distances_between(w->pairs, record, first + j);
        if (!(d <= w->radius))
            continue;
        if (w->share)
            w->share[record] += 1;
        if (w->closeness)
            w->closeness[record] += log((w->radius + 1e-12) / (d + 1e-12));
    }
}

sotto_status sample_within(double *share, double *closeness, double radius, const struct sample_pairs *p)
{
    sotto_status status = SOTTO_OK;
    /* a sum of `width` squares in 16 chains, each operation within 2^-24 of its result */
    const size_t operations = p->width / 16 + 32;
    double slack = (double)operations * 0x1p-23, square = radius * radius;
    struct within w = {.pairs = p,
                       .radius = radius,
                       .inside = (float)(square * (1 - slack)),
                       .outside = (float)(square * (1 + slack) + 1e-37),
                       .share = share,
                       .closeness = closeness};
    for (size_t i = 0; i < p->n; i++) {
        if (share)
            share[i] = 0;
        if (closeness)
            closeness[i] = 0;
    }
    TRY(sample_distances_walk(p, count_within, &w));
    for (size_t i = 0; i < p->n; i++) {
        if (share)
            share[i] /= (double)p->k;
        if (closeness)
            closeness[i] /= (double)p->k;
    }
done:
    return status;
}

/* ---- a quantile of all distances: the bits of a float >= 0 are in its order, so two rounds of counting find it ---- */

enum { HIGH = 1 << 16 };
struct ranks {
    size_t count[HIGH];
    uint32_t high; /* the upper half that is looked at; HIGH: all, by their upper halves */
};

static void count_ranks(void *arg, size_t record, size_t first, const float *squared, size_t count)
{
    (void)record;
    (void)first;
    struct ranks *r = arg;
    for (size_t j = 0; j < count; j++) {
        uint32_t bits;
        memcpy(&bits, &squared[j], sizeof bits);
        if (r->high == HIGH)
            r->count[bits >> 16]++;
        else if (bits >> 16 == r->high)
            r->count[bits & (HIGH - 1)]++;
    }
}

/* The bucket that holds element `rank`, which becomes its rank inside. */
static uint32_t bucket_of(const struct ranks *r, size_t *rank)
{
    uint32_t at = 0;
    for (; at < HIGH - 1 && *rank >= r->count[at]; at++)
        *rank -= r->count[at];
    return at;
}

sotto_status sample_quantile(double *out, double q, const struct sample_pairs *p)
{
    sotto_status status = SOTTO_OK;
    struct ranks *r = NULL;
    double at = ceil(q * (double)p->n * (double)p->k) - 1;
    size_t rank = at > 0 ? (size_t)at : 0;
    NEW(r, 1);
    r->high = HIGH;
    TRY(sample_distances_walk(p, count_ranks, r));
    uint32_t high = bucket_of(r, &rank);
    memset(r->count, 0, sizeof r->count);
    r->high = high;
    TRY(sample_distances_walk(p, count_ranks, r));
    uint32_t bits = high << 16 | bucket_of(r, &rank);
    float squared;
    memcpy(&squared, &bits, sizeof squared);
    *out = sqrt((double)squared);
done:
    base_free(r);
    return status;
}
