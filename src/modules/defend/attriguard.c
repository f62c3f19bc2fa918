#include "defend/attriguard.h"
#include "sotto/lab/head.h"

#include "defend/attriguard_sample.h"

#include <math.h>
#include <string.h>

enum { HIDDEN = 64 }; /* as the adversary of Talos: two layers below the logits */

static sotto_status attriguard_train(struct attriguard *a, const struct defence_fit *in)
{
    struct sotto_head_recipe recipe;
    struct head_data data = {in->known->x, in->known->protected_label, in->known->n, in->known->d,
                             in->values};
    sotto_head_defaults(&recipe);
    recipe.hidden_count = 2;
    recipe.hidden[0] = recipe.hidden[1] = HIDDEN;
    recipe.epochs = (size_t)in->args[ATTRIGUARD_EPOCHS];
    recipe.batch = 64;
    recipe.lr = in->args[ATTRIGUARD_RATE];
    recipe.seed = sotto_given_seed(in->seed & INT64_MAX);
    return defence_net_train(&a->net, &data, &recipe, true, in->ctx);
}

sotto_status attriguard_fit(void **model, const struct defence_fit *in, attriguard_search search)
{
    sotto_status status = SOTTO_OK;
    struct attriguard *a = NULL;
    NEW(a, 1);
    *a = (struct attriguard){.values = in->values, .budget = in->budget, .key = in->key, .search = search};
    memcpy(a->args, in->args, sizeof a->args);
    *model = a;
    NEW(a->prior, a->values);
    for (size_t i = 0; i < in->known->n; i++)
        a->prior[in->known->protected_label[i]] += 1 / (double)in->known->n;
    for (size_t v = 0; in->args[ATTRIGUARD_PRIOR] == 0 && v < a->values; v++)
        a->prior[v] = 1 / (double)a->values;
    TRY(attriguard_train(a, in));
done:
    return status;
}

void attriguard_release(void *model)
{
    struct attriguard *a = model;
    defence_net_clear(&a->net);
    base_free(a->prior);
    base_free(a);
}

static sotto_status look_make(struct attriguard_look *out, const struct attriguard *a, size_t d)
{
    sotto_status status = SOTTO_OK;
    size_t values = a->values;
    struct attriguard_look look = {.a = a, .d = d};
    NEW(look.memory, 5 * d + values * (d + 3));
    double *next = look.memory;
    look.x = next, look.change = next + d, look.best = next + 2 * d, look.mean = next + 3 * d;
    look.square = next + 4 * d, next += 5 * d;
    look.cost = next, look.prior = next + values, look.q = next + 2 * values;
    look.moved = (float *)(next + 3 * values);
    TRY(defence_look_make(&look.net, &a->net));
    *out = look;
    look.memory = NULL;
done:
    base_free(look.memory);
    return status;
}

static void look_clear(struct attriguard_look *look)
{
    defence_look_clear(&look->net);
    base_free(look->memory);
}

size_t attriguard_answer(struct attriguard_look *look)
{
    const double *logits = defence_net_forward(&look->a->net, &look->net, look->x);
    size_t top = 0;
    for (size_t v = 1; v < look->a->values; v++)
        top = logits[v] > logits[top] ? v : top;
    return top;
}

const double *attriguard_pull(struct attriguard_look *look, size_t value)
{
    const double *logits = look->net.value[look->a->net.layers];
    double *weight = look->q; /* free while changes are sought */
    size_t rival = value == 0 ? 1 : 0;
    for (size_t v = 0; v < look->a->values; v++) {
        rival = v != value && logits[v] > logits[rival] ? v : rival;
        weight[v] = 0;
    }
    weight[rival] = 1, weight[value] = -1;
    return defence_net_backward(&look->a->net, &look->net, weight);
}

/* Phase I: a row and a cost for every value. */
static void find_changes(struct attriguard_look *look)
{
    size_t answered;
    for (size_t j = 0; j < look->d; j++)
        look->x[j] = (double)look->row[j];
    answered = attriguard_answer(look);
    for (size_t v = 0; v < look->a->values; v++) {
        float *moved = look->moved + v * look->d;
        memcpy(moved, look->row, look->d * sizeof *moved);
        look->cost[v] = v == answered           ? 0
                        : look->a->prior[v] > 0 ? look->a->search(moved, look, v)
                                                : INFINITY;
    }
}

/* A value that no change leads to is left out, and the others share its prior. */
static void spread_prior(struct attriguard_look *look)
{
    double sum = 0;
    for (size_t v = 0; v < look->a->values; v++)
        sum += look->prior[v] = isfinite(look->cost[v]) ? look->a->prior[v] : 0;
    for (size_t v = 0; v < look->a->values; v++) {
        look->prior[v] = sum > 0 ? look->prior[v] / sum : 0;
        look->cost[v] = isfinite(look->cost[v]) ? look->cost[v] : 0; /* its q is 0 */
    }
}

static void attriguard_defend(float *out, double *cost, struct attriguard_look *look)
{
    const struct attriguard *a = look->a;
    double coin = defence_coin(a->key, look->row, look->d), passed = 0, expected = 0;
    size_t chosen = a->values;
    memcpy(out, look->row, look->d * sizeof *out);
    *cost = 0;
    find_changes(look);
    spread_prior(look);
    if (!attriguard_sample(look->q, look->prior, look->cost, a->values, a->budget))
        return;
    for (size_t v = 0; v < a->values; v++) {
        expected += look->q[v] * look->cost[v];
        passed += look->q[v];
        if (chosen == a->values && look->q[v] > 0 && coin < passed)
            chosen = v;
    }
    if (chosen < a->values)
        memcpy(out, look->moved + chosen * look->d, look->d * sizeof *out);
    *cost = fmin(expected, a->budget);
}

sotto_status attriguard_apply(float *out, double *cost, const void *model, const float *x, size_t n, size_t d)
{
    sotto_status status = SOTTO_OK;
    struct attriguard_look look = {0};
    TRY(look_make(&look, model, d));
    for (size_t i = 0; i < n; i++) {
        look.row = x + i * d;
        attriguard_defend(out + i * d, cost + i, &look);
    }
done:
    look_clear(&look);
    return status;
}
