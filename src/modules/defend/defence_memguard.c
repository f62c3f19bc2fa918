/* MemGuard (Jia et al. 2019). Phase I: with the defender's classifier g = sigmoid(h) of sorted posteriors and
 * s = softmax(z), l = argmax z, move the logits by normalised gradient steps down
 *
 *     |h(softmax(z'))| + c2 max(max_{j != l} z'_j - z'_l, 0) + c3 |softmax(z') - s|_1
 *
 * until h changes sign and l is still first; while that succeeds, again with ten times c3, and keep the last.
 * Phase II: r = softmax(z') - s is added with probability min(budget / |r|_1, 1), or never if it brings g no
 * closer to one half. The expected L1 distance stays within the budget and the label never changes: a vector
 * counts only if its label survives rounding to single precision. The coin is tossed once for a row
 * (defence_coin()).
 *
 * The authors' code feeds h the posteriors in the order of the undefended row; here they are sorted anew at
 * every step, as an attacker that sorts will do. */
#include "defend/defence_net.h"
#include "sotto/lab/head.h"

#include "defend/defence.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { STEPS, STEP, C2, C3, MOST_C3, EPOCHS, RATE, BATCH };
static const struct parameter params[] = {
    {"steps", "gradient steps of one search", 300, 1, 1e6, true},
    {"step", "step length, in logits", 0.1, 1e-6, 10, false},
    {"c2", "weight of keeping the label", 10, 0, 1e6, false},
    {"c3", "initial weight of the distance", 0.1, 1e-9, 1e6, false},
    {"most-c3", "largest weight of the distance", 1e5, 1e-9, 1e12, false},
    {"epochs", "epochs of the defender's classifier", 400, 1, 1e6, true},
    {"lr", "learning rate of the defender's classifier (SGD)", 1e-3, 1e-9, 10, false},
    {"batch", "records per step of the defender's classifier", 64, 1, 1e6, true},
    {0}};

struct model {
    struct defence_net net;
    double budget, args[DEFENCE_PARAMS];
    uint64_t key;
};

/* One row on its way: all (K) but what is said. */
struct search {
    const struct model *m;
    struct defence_look look;
    size_t k, label;
    const float *p;    /* the row */
    double *z, *start; /* logits, and those of the row */
    double *s, *sorted, *diff_s, *diff_z;
    float *shown, *best; /* s in single precision: what would be answered */
    size_t *place;       /* class of each sorted value */
    double *memory;
};

static sotto_status search_make(struct search *out, const struct model *m, size_t k)
{
    sotto_status status = SOTTO_OK;
    struct search q = {.m = m, .k = k};
    NEW(q.memory, 9 * k);
    double *next = q.memory;
    q.z = next, q.start = next + k, q.s = next + 2 * k, q.sorted = next + 3 * k;
    q.diff_s = next + 4 * k, q.diff_z = next + 5 * k;
    q.shown = (float *)(next + 6 * k), q.best = (float *)(next + 7 * k);
    q.place = (size_t *)(next + 8 * k);
    TRY(defence_look_make(&q.look, &m->net));
    *out = q;
    q.memory = NULL;
done:
    base_free(q.memory);
    return status;
}

static void search_clear(struct search *q)
{
    defence_look_clear(&q->look);
    base_free(q->memory);
}

/* Falling; insertion sort, as a step changes little and `place` remembers the last order. */
static void sort_falling(double *sorted, size_t *place, const double *s, size_t k)
{
    for (size_t i = 0; i < k; i++) {
        size_t class = place[i], j = i;
        for (; j > 0 && s[place[j - 1]] < s[class]; j--)
            place[j] = place[j - 1];
        place[j] = class;
    }
    for (size_t i = 0; i < k; i++)
        sorted[i] = s[place[i]];
}

/* h of posteriors s: the logit of membership. */
static double defence_memguard_judge(struct search *q, const double *s)
{
    sort_falling(q->sorted, q->place, s, q->k);
    const double *logits = defence_net_forward(&q->m->net, &q->look, q->sorted);
    return logits[1] - logits[0];
}

static void defence_memguard_softmax(double *s, const double *z, size_t k)
{
    double top = z[0], sum = 0;
    for (size_t i = 1; i < k; i++)
        top = fmax(top, z[i]);
    for (size_t i = 0; i < k; i++)
        sum += s[i] = exp(z[i] - top);
    for (size_t i = 0; i < k; i++)
        s[i] /= sum;
}

/* s, shown and h of the logits z. */
static double defence_memguard_look(struct search *q)
{
    defence_memguard_softmax(q->s, q->z, q->k);
    for (size_t i = 0; i < q->k; i++)
        q->shown[i] = (float)q->s[i];
    return defence_memguard_judge(q, q->s);
}

static double defence_memguard_sign(double x)
{
    return x > 0 ? 1 : x < 0 ? -1 : 0;
}

/* diff_z: gradient of the loss at z; h was just computed there. */
static void defence_memguard_gradient(struct search *q, double h, double c3)
{
    const double weight[2] = {-defence_memguard_sign(h), defence_memguard_sign(h)};
    const double *by_sorted = defence_net_backward(&q->m->net, &q->look, weight);
    size_t rival = q->label == 0 ? 1 : 0;
    double mean = 0;
    for (size_t i = 0; i < q->k; i++)
        q->diff_s[q->place[i]] = by_sorted[i];
    for (size_t i = 0; i < q->k; i++) {
        q->diff_s[i] += c3 * defence_memguard_sign(q->s[i] - (double)q->p[i]);
        mean += q->s[i] * q->diff_s[i];
        rival = i != q->label && q->z[i] > q->z[rival] ? i : rival;
    }
    for (size_t i = 0; i < q->k; i++)
        q->diff_z[i] = q->s[i] * (q->diff_s[i] - mean);
    if (q->z[rival] > q->z[q->label]) {
        q->diff_z[rival] += q->m->args[C2];
        q->diff_z[q->label] -= q->m->args[C2];
    }
}

/* False: there is no way down. */
static bool defence_memguard_step(struct search *q)
{
    double norm = 0;
    for (size_t i = 0; i < q->k; i++)
        norm += q->diff_z[i] * q->diff_z[i];
    norm = sqrt(norm);
    if (!(norm > DBL_MIN))
        return false;
    for (size_t i = 0; i < q->k; i++)
        q->z[i] -= q->m->args[STEP] / norm * q->diff_z[i];
    return true;
}

/* Phase I at one c3, from the row itself; success leaves the answer in `shown`. */
static bool search_once(struct search *q, double h0, double c3)
{
    double h = h0;
    memcpy(q->z, q->start, q->k * sizeof *q->z);
    defence_memguard_look(q);
    for (size_t i = 0; i < (size_t)q->m->args[STEPS]; i++) {
        defence_memguard_gradient(q, h, c3);
        if (!defence_memguard_step(q))
            return false;
        h = defence_memguard_look(q);
        if (h * h0 <= 0 && defence_top(q->shown, q->k) == q->label)
            return true;
    }
    return false;
}

static double defence_memguard_certainty(double h)
{
    return fabs(1 / (1 + exp(-h)) - 0.5);
}

/* What the row would be replaced by goes to `best`. False: it should stay as it is. */
static bool defence_memguard_find(struct search *q, const float *row)
{
    bool found = false;
    q->p = row;
    q->label = defence_top(row, q->k);
    for (size_t i = 0; i < q->k; i++) {
        q->place[i] = i;
        q->s[i] = (double)row[i];
        q->start[i] = log(fmax((double)row[i], 1e-30));
    }
    double h0 = defence_memguard_judge(q, q->s);
    if (defence_memguard_certainty(h0) <= 1e-5)
        return false;
    for (double c3 = q->m->args[C3]; c3 <= q->m->args[MOST_C3] && search_once(q, h0, c3); c3 *= 10) {
        memcpy(q->best, q->shown, q->k * sizeof *q->best);
        found = true;
    }
    if (!found)
        return false;
    for (size_t i = 0; i < q->k; i++)
        q->s[i] = (double)q->best[i];
    return defence_memguard_certainty(defence_memguard_judge(q, q->s)) < defence_memguard_certainty(h0);
}

static void defence_memguard_defend(float *out, double *cost, struct search *q, const float *row)
{
    memcpy(out, defence_memguard_find(q, row) ? q->best : row, q->k * sizeof *out);
    *cost = budget_mix(out, row, q->k, q->m->budget, q->m->key);
}

static sotto_status defence_memguard_apply(float *out, double *cost, const void *model, const float *x,
                                           size_t n, size_t d)
{
    sotto_status status = SOTTO_OK;
    struct search q = {0};
    TRY(search_make(&q, model, d));
    for (size_t i = 0; i < n; i++)
        defence_memguard_defend(out + i * d, cost + i, &q, x + i * d);
done:
    search_clear(&q);
    return status;
}

static sotto_status defence_memguard_train(struct model *m, const struct defence_fit *in)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_defence_known *known = in->known;
    size_t k = known->d, *place = NULL;
    double *s = NULL;
    float *x = NULL;
    struct sotto_head_recipe recipe;
    sotto_head_defaults(&recipe);
    recipe.hidden_count = 3;
    recipe.hidden[0] = 256, recipe.hidden[1] = 128, recipe.hidden[2] = 64;
    recipe.trainer = "sgd";
    recipe.epochs = (size_t)in->args[EPOCHS];
    recipe.batch = (size_t)in->args[BATCH];
    recipe.lr = in->args[RATE];
    recipe.seed = sotto_given_seed(in->seed & INT64_MAX);
    NEW(place, k);
    NEW(s, 2 * k);
    NEW(x, known->n * k);
    for (size_t i = 0; i < known->n; i++) {
        for (size_t j = 0; j < k; j++)
            s[j] = (double)known->x[i * k + j], place[j] = j;
        sort_falling(s + k, place, s, k);
        for (size_t j = 0; j < k; j++)
            x[i * k + j] = (float)s[k + j];
    }
    struct head_data data = {x, known->protected_label, known->n, k, 2};
    TRY(defence_net_train(&m->net, &data, &recipe, false, in->ctx));
done:
    base_free(place);
    base_free(s);
    base_free(x);
    return status;
}

static sotto_status defence_memguard_fit(void **model, const struct defence_fit *in)
{
    sotto_status status = SOTTO_OK;
    struct model *m = NULL;
    NEW(m, 1);
    *m = (struct model){.budget = in->budget, .key = in->key};
    memcpy(m->args, in->args, sizeof m->args);
    *model = m;
    TRY(defence_memguard_train(m, in));
done:
    return status;
}

static void defence_memguard_release(void *model)
{
    struct model *m = model;
    defence_net_clear(&m->net);
    base_free(m);
}

const struct defence defence_memguard = {.name = "memguard",
                                         .title = "posteriors changed until a membership classifier is at "
                                                  "chance, with random application to meet the budget",
                                         .source = "Jia et al. 2019",
                                         .unit =
                                             "expected L1 distance of a row from its posteriors, at most 2",
                                         .usual_budget = 1,
                                         .needs = DEFENCE_POSTERIORS | DEFENCE_SECRETS | DEFENCE_MEMBERSHIP,
                                         .params = params,
                                         .fit = defence_memguard_fit,
                                         .apply = defence_memguard_apply,
                                         .release = defence_memguard_release};
