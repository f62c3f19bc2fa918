#include "attack/query/attack_net.h"
#include "sotto/lab/head.h"

#include "par/par.h"

#include <math.h>
#include <string.h>

struct sotto_head_recipe attack_net_recipe(uint64_t seed)
{
    struct sotto_head_recipe r;
    sotto_head_defaults(&r);
    r.hidden_count = 1;
    r.hidden[0] = 64;
    r.epochs = 50;
    r.batch = 100;
    r.seed = sotto_given_seed(seed & INT64_MAX);
    return r;
}

static sotto_status attack_net_judge(double *scores, const struct sotto_head *net, const float *rows,
                                     size_t n, size_t width, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    float *logits = NULL;
    NEW(logits, 2 * n);
    if (n)
        TRY(sotto_head_predict(logits, net, rows, n, width, 1, ctx));
    for (size_t i = 0; i < n; i++)
        scores[i] = (double)logits[2 * i + 1] - (double)logits[2 * i];
done:
    base_free(logits);
    return status;
}

sotto_status attack_net_scores(double *scores, const struct output_table *train, const float *rows, size_t n,
                               uint64_t seed, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_head_recipe r = attack_net_recipe(seed);
    struct sotto_head *net = NULL;
    TRY(sotto_head_train(&net, train->x, train->member, train->n, train->width, 2, &r, ctx));
    TRY(attack_net_judge(scores, net, rows, n, train->width, ctx));
done:
    sotto_head_free(net);
    return status;
}

/* Mean cross-entropy of membership from log-odds, which it takes. */
static double loss_of(const double *odds, const int64_t *member, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double z = member[i] ? odds[i] : -odds[i];
        sum += z > 0 ? log1p(exp(-z)) : log1p(exp(z)) - z;
    }
    return sum / (double)n;
}

sotto_status attack_net_scores_best(double *scores, double *chosen, const struct output_table *train,
                                    const float *rows, size_t n, const double *rates, size_t rate_count,
                                    uint64_t seed, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_head_recipe r = attack_net_recipe(seed);
    struct sotto_head *net = NULL;
    double *known = NULL, best = INFINITY;
    NEW(known, train->n);
    for (size_t i = 0; i < rate_count; i++) {
        r.lr = rates[i];
        TRY(sotto_head_train(&net, train->x, train->member, train->n, train->width, 2, &r, ctx));
        TRY(attack_net_judge(known, net, train->x, train->n, train->width, ctx));
        double loss = loss_of(known, train->member, train->n);
        if (i == 0 || loss < best) {
            best = loss;
            *chosen = rates[i];
            TRY(attack_net_judge(scores, net, rows, n, train->width, ctx));
        }
        sotto_head_free(net);
        net = NULL;
    }
done:
    sotto_head_free(net);
    base_free(known);
    return status;
}

/* Networks of the classes, one a chunk. */
struct bench {
    double *scores;
    const struct output_table *train;
    const float *rows;
    const int64_t *labels;
    size_t n;
    uint64_t seed;
    uint8_t *without; /* (classes): no network of its own */
    const struct sotto_context *quiet;
};

/* The rows of one class, copied out; *where (count) their places, if wanted. */
static sotto_status attack_net_pick(float **x, int64_t **y, size_t **where, size_t *count, const float *rows,
                                    size_t width, const int64_t *labels, const int64_t *values, size_t n,
                                    size_t class)
{
    sotto_status status = SOTTO_OK;
    size_t c = 0;
    for (size_t i = 0; i < n; i++)
        c += (size_t)labels[i] == class;
    *count = c;
    NEW_ROWS(*x, c, width);
    if (values)
        NEW(*y, c);
    NEW(*where, c);
    c = 0;
    for (size_t i = 0; i < n; i++)
        if ((size_t)labels[i] == class) {
            memcpy(*x + c * width, rows + i * width, width * sizeof **x);
            if (values)
                (*y)[c] = values[i];
            (*where)[c++] = i;
        }
done:
    return status;
}

static sotto_status train_class(void *arg, size_t class, int thread)
{
    (void)thread;
    sotto_status status = SOTTO_OK;
    struct bench *b = arg;
    const struct output_table *t = b->train;
    float *known = NULL, *asked = NULL;
    int64_t *member = NULL, *none = NULL;
    size_t *places = NULL, *where = NULL, rows, count, in = 0;
    double *scores = NULL;
    TRY(attack_net_pick(&known, &member, &places, &rows, t->x, t->width, t->label, t->member, t->n, class));
    TRY(attack_net_pick(&asked, &none, &where, &count, b->rows, t->width, b->labels, NULL, b->n, class));
    for (size_t i = 0; i < rows; i++)
        in += member[i] == 1;
    bool same = true; /* a network cannot be trained on rows without any difference */
    for (size_t i = t->width; same && i < rows * t->width; i++)
        same = known[i] == known[i % t->width];
    b->without[class] = in == 0 || in == rows || same;
    if (b->without[class] || count == 0)
        goto done;
    struct output_table own = {rows, t->width, known, NULL, member};
    NEW(scores, count);
    TRY(attack_net_scores(scores, &own, asked, count, b->seed + class, b->quiet));
    for (size_t i = 0; i < count; i++)
        b->scores[where[i]] = scores[i];
done:
    base_free(known);
    base_free(asked);
    base_free(member);
    base_free(none);
    base_free(places);
    base_free(where);
    base_free(scores);
    return status;
}

sotto_status attack_net_scores_by_class(double *scores, size_t *fallback, const struct output_table *train,
                                        const float *rows, const int64_t *labels, size_t n, size_t classes,
                                        uint64_t seed, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_context quiet = context_quiet(ctx, 0);
    struct bench b = {scores, train, rows, labels, n, seed, NULL, &quiet};
    double *global = NULL;
    size_t needed = 0;
    NEW(b.without, classes);
    TRY(par_each(classes, ctx, train_class, &b));
    *fallback = 0;
    for (size_t k = 0; k < classes; k++)
        *fallback += b.without[k];
    for (size_t i = 0; i < n; i++)
        needed += b.without[labels[i]];
    if (needed > 0) {
        NEW(global, n);
        TRY(attack_net_scores(global, train, rows, n, seed + classes, ctx));
        for (size_t i = 0; i < n; i++)
            if (b.without[labels[i]])
                scores[i] = global[i];
    }
done:
    base_free(b.without);
    base_free(global);
    return status;
}
