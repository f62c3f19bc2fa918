#include "nn/loop/example_sums.h"

#include "base/sha256.h"
#include "nn/loop/example_part.h"
#include "nn/model/model.h"
#include "par/par.h"

#include <math.h>
#include <string.h>

enum {
    LONGEST_CHAIN = 64,
    IMAGE_PART = 64,  /* rows of plans whose work is in convolutions */
    DENSE_PART = 160, /* three groups: the mean of a full one is 48 */
    CHUNK = 8192
};

struct worker {
    struct example_part part;
    int64_t *labels; /* (part * views) */
    double *sum;     /* (parameters) the first worker's: the caller's; of others: all zeros between calls */
    size_t below;
};

struct example_sums {
    struct example_sums_config config;
    size_t parameters, chained; /* chained: parameters that are added by chains */
    size_t part, chain, group;  /* group: record numbers that share chains */
    struct worker *workers;
    size_t worker_count;
    uint32_t *end;      /* (slots) ends of chains, counted from the beginning of their part */
    size_t *first;      /* (parts + 1) first example of a part */
    size_t *first_end;  /* (parts + 1) its first chain */
    size_t parts, ends; /* of the running step */
    size_t own;         /* the first of this rank's parts */
    char kernels[SHA256_HEX];
    const struct nn_clip *clip;
    uint64_t step;
};

/* ---- planning ---- */

/* Multiply-adds of a forward pass, and weights that are each used once in it. */
static void count_work(double *work, size_t *chained, const struct nn_model *m, size_t views)
{
    *work = 0;
    *chained = 0;
    for (size_t i = 0; i < m->row_count; i++) {
        const struct layer_spec *row = &m->rows[i];
        const size_t positions = row->shape.height * row->shape.width;
        size_t weights = 0;
        if (row->layer != &layer_conv && row->layer != &layer_dense)
            continue;
        for (size_t k = m->first_parameter[i]; k < m->first_parameter[i + 1]; k++)
            weights += m->parameters[k].count;
        *work += (double)weights * (double)positions;
        *chained += positions * views == 1 && !row->frozen ? weights : 0;
    }
}

/* Mean number of records in a group of which more than k are there with probability 1 %: of a Poisson law. */
static double mean_of_group(size_t k)
{
    return k == 64 ? 48 : k == 32 ? 21 : k == 16 ? 8.9 : k == 8 ? 3.5 : 1;
}

static size_t round_up(double x, size_t multiple)
{
    return ((size_t)ceil(x) + multiple - 1) / multiple * multiple;
}

/* By public numbers alone, and not by the number of threads. */
static void example_sums_choose(struct example_sums *s, double work)
{
    const struct example_sums_config *c = &s->config;
    const double mean = c->rate * (double)c->slots;
    const bool dense = (double)s->chained > work / 32; /* else cutting each record costs little */
    const size_t most = round_up(mean + 3 * sqrt(mean) + 1, dense ? 16 : 1);
    size_t part = dense ? DENSE_PART : IMAGE_PART / c->views;
    part = part < most ? part : most;
    part = part < c->slots ? part : c->slots;
    s->part = c->part ? c->part : part ? part : 1;
    s->chain = 1;
    for (size_t k = LONGEST_CHAIN; dense && s->chain == 1 && k >= 8; k /= 2)
        if (k <= s->part)
            s->chain = k;
    const double group = fmin(mean_of_group(s->chain) / c->rate, 16384.0 * (double)s->chain);
    s->group = group > (double)s->chain ? (size_t)group : s->chain;
}

static sotto_status open_worker(struct worker *w, const struct example_sums *s, struct nn_model *m)
{
    sotto_status status = SOTTO_OK;
    const struct example_sums_config *c = &s->config;
    const struct nn_plan_config plan = {.batch = s->part * c->views,
                                        .dtype = c->dtype,
                                        .backend = c->backend,
                                        .training = 1,
                                        .views = c->views,
                                        .ctx = c->ctx};
    w->part = (struct example_part){.model = m,
                                    .backend = c->backend,
                                    .size = s->part,
                                    .views = c->views,
                                    .classes = nn_model_output_width(m)};
    TRY(nn_plan_create(&w->part.plan, m, &plan));
    NEW(w->labels, s->part * c->views);
    if (w != s->workers)
        NEW(w->sum, s->parameters);
done:
    return status;
}

sotto_status example_sums_create(struct example_sums **out, struct nn_model *m,
                                 const struct example_sums_config *config)
{
    sotto_status status = SOTTO_OK;
    struct example_sums *s = NULL;
    const int pool = par_set_threads(1);
    double work;
    NEW(s, 1);
    s->config = *config;
    s->parameters = nn_model_trained_count(m);
    count_work(&work, &s->chained, m, config->views);
    example_sums_choose(s, work);
    s->worker_count = config->threads > 1 ? (size_t)config->threads : 1;
    NEW(s->workers, s->worker_count);
    for (size_t i = 0; i < s->worker_count; i++)
        TRY(open_worker(&s->workers[i], s, m));
    TRY(example_part_check(&s->workers[0].part, s->kernels, config->ctx));
    NEW(s->end, config->slots);
    NEW(s->first, config->slots + 1);
    NEW(s->first_end, config->slots + 1);
    *out = s;
    s = NULL;
done:
    par_set_threads(pool);
    example_sums_free(s);
    return status;
}

void example_sums_free(struct example_sums *s)
{
    if (!s)
        return;
    for (size_t i = 0; s->workers && i < s->worker_count; i++) {
        nn_plan_free(s->workers[i].part.plan);
        base_free(s->workers[i].labels);
        if (i > 0)
            base_free(s->workers[i].sum);
    }
    base_free(s->workers);
    base_free(s->end);
    base_free(s->first);
    base_free(s->first_end);
    base_free(s);
}

void example_sums_train_top(struct example_sums *s, int top_only)
{
    for (size_t i = 0; i < s->worker_count; i++)
        nn_plan_train_top(s->workers[i].part.plan, top_only);
}

size_t example_sums_part(const struct example_sums *s)
{
    return s->part;
}

const char *example_sums_kernels(const struct example_sums *s)
{
    return s->kernels;
}

size_t example_sums_chain(const struct example_sums *s)
{
    return s->chain;
}

size_t example_sums_bytes(const struct example_sums *s)
{
    return s->worker_count * nn_plan_bytes(s->workers[0].part.plan);
}

/* Between neighbours one group differs. Two chains of k and k - 1 records err by k (k + 3) / 2 + (k - 1) (k + 2) / 2
 * half units of the last place, of a sum of k bounds, and each coordinate is cut once; a chain of k beside k + 1
 * records cut one by one errs by no more, and by k + 2 cuts. 2^-20 covers factors and products in float. */
double example_sums_bound(const struct example_sums *s, double steps)
{
    const double k = (double)s->chain, cuts = s->chain > 1 ? (k + 3) * sqrt((double)s->chained) : 0,
                 chains = s->chain > 1 ? k * (k + 2) * 0x1p-24 * (1 + 0x1p-10) : 0;
    return fmax(0, (steps - cuts) / (1 + chains + 0x1p-20) * (1 - 0x1p-40));
}

/* ---- a step ---- */

struct cutter {
    struct example_sums *s;
    size_t used; /* examples of the part that is being filled */
};

/* `count` examples that stay together, as one chain. */
static void add_chain(struct cutter *c, size_t first, size_t count)
{
    struct example_sums *s = c->s;
    if (s->parts == 0 || c->used + count > s->part) {
        s->first[s->parts] = first;
        s->first_end[s->parts++] = s->ends;
        c->used = 0;
    }
    c->used += count;
    s->end[s->ends++] = (uint32_t)c->used;
}

/* A group goes into one part as one chain; a group of more than k records record by record. */
static void cut_sample(struct example_sums *s, const uint32_t *slot, size_t n)
{
    struct cutter c = {s, 0};
    s->parts = s->ends = 0;
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && s->chain > 1 && slot[next] / s->group == slot[i] / s->group;)
            next++;
        if (next - i <= s->chain)
            add_chain(&c, i, next - i);
        else
            for (size_t k = i; k < next; k++)
                add_chain(&c, k, 1);
    }
    s->first[s->parts] = n;
    s->first_end[s->parts] = s->ends;
}

static sotto_status sum_part(void *arg, size_t own_part, int thread)
{
    struct example_sums *s = arg;
    const size_t part = s->own + own_part;
    struct worker *w = &s->workers[thread];
    const struct example_sums_config *c = &s->config;
    const size_t first = s->first[part], count = s->first[part + 1] - first;
    const struct nn_chains chains = {s->end + s->first_end[part],
                                     s->first_end[part + 1] - s->first_end[part]};
    sotto_status status = SOTTO_OK;
    size_t whole;
    /* no number: how many records a step has is private */
    TRY(context_check(c->ctx, "train: stopped within a step"));
    c->fill(nn_plan_input(w->part.plan), w->labels, c->state, first, count, s->step);
    TRY(example_part_add(w->sum, &whole, &w->part, w->labels, count, &chains, s->clip, s->step));
    w->below += whole;
done:
    return status;
}

static sotto_status example_sums_collect(void *arg, size_t chunk, int thread)
{
    (void)thread;
    const struct example_sums *s = arg;
    const size_t first = chunk * CHUNK, left = s->parameters - first, count = left < CHUNK ? left : CHUNK;
    double *restrict to = s->workers[0].sum + first;
    for (size_t w = 1; w < s->worker_count; w++) {
        double *restrict from = s->workers[w].sum + first;
        for (size_t i = 0; i < count; i++) {
            to[i] += from[i];
            from[i] = 0;
        }
    }
    return SOTTO_OK;
}

/* What a part adds is a function of its records alone, so any rank may work on it. */
static size_t part_of_rank(const struct example_sums *s, size_t rank)
{
    const size_t ranks = s->config.ranks ? s->config.ranks : 1;
    return s->parts * rank / ranks;
}

sotto_status example_sums_take(double *sum, struct example_counts *counts, struct example_sums *s,
                               const uint32_t *slot, size_t n, const struct nn_clip *clip, uint64_t step)
{
    const int pool = par_set_threads(1), threads = (int)s->worker_count;
    s->clip = clip;
    s->step = step;
    s->workers[0].sum = sum;
    memset(sum, 0, s->parameters * sizeof *sum);
    cut_sample(s, slot, n);
    const size_t end = part_of_rank(s, s->config.rank + 1), parts = end - part_of_rank(s, s->config.rank);
    s->own = end - parts;
    const sotto_status status = par_chunks(parts, parts > 1 ? threads : 1, sum_part, s);
    (void)par_shares((s->parameters + CHUNK - 1) / CHUNK, threads, NULL, example_sums_collect,
                     s); /* cannot fail; empties workers */
    *counts = (struct example_counts){.examples = s->first[end] - s->first[s->own]};
    for (size_t i = 0; i < s->worker_count; i++) {
        counts->below += s->workers[i].below;
        s->workers[i].below = 0;
    }
    par_set_threads(pool);
    return status;
}
