#include "audit/score/views.h"
#include "audit/score/posterior.h"
#include "audit/score/rmia.h"
#include "audit/measure/sorted.h"

#include <math.h>
#include <string.h>

struct attack_input view_input(const struct attack_input *in, size_t view)
{
    struct attack_input one = *in;
    one.outputs = one.losses = one.scores = NULL;
    one.signals = in->view_signals + view * in->n;
    one.reference = in->view_reference + view * in->n * in->models;
    one.summary = NULL; /* is of the first signals */
    one.views = 0;
    return one;
}

sotto_status view_lira(struct attack_output *out, const struct attack_input *in, bool online,
                       struct lira_settings how)
{
    sotto_status status = SOTTO_OK;
    double share = online ? 1 / (double)in->views : 1 / sqrt((double)in->views);
    struct attack_output one = {.threshold = NAN};
    NEW(one.scores, in->n);
    NEW(one.fallback, in->n);
    for (size_t i = 0; i < in->n; i++)
        out->scores[i] = 0;
    for (size_t v = 0; v < in->views; v++) {
        struct attack_input view = view_input(in, v);
        TRY(online ? lira_online(&one, &view, how) : lira_offline(&one, &view, how));
        for (size_t i = 0; i < in->n; i++) {
            out->scores[i] += share * one.scores[i];
            out->fallback[i] |= one.fallback[i];
        }
    }
done:
    base_free(one.scores);
    base_free(one.fallback);
    return status;
}

/* ---- votes ---- */

struct vote {
    const struct attack_input *in, *others;
    size_t views, z, stride; /* z others: records 0, stride, 2 stride, ... */
    bool same;               /* the others are the records themselves */
    double *gain;            /* (views, n) */
    double *sorted;          /* (views, z) */
    double *work;            /* (2, z) */
    uint16_t *rank;          /* (views, z): how many of the view's others lie below */
};

static sotto_status vote_make(struct vote *out, const struct attack_input *in)
{
    sotto_status status = SOTTO_OK;
    bool same = !in->population || !in->population->view_reference;
    struct vote v = {.in = in, .others = same ? in : in->population, .views = in->views, .same = same};
    v.stride = (v.others->n + VIEW_OTHERS - 1) / VIEW_OTHERS;
    v.z = (v.others->n + v.stride - 1) / v.stride;
    NEW_ROWS(v.gain, in->n, v.views);
    NEW_ROWS(v.sorted, v.z, v.views);
    NEW_ROWS(v.work, v.z, 2);
    NEW_ROWS(v.rank, v.z, v.views);
done:
    *out = v;
    return status;
}

static void vote_clear(struct vote *v)
{
    base_free(v->gain);
    base_free(v->sorted);
    base_free(v->work);
    base_free(v->rank);
}

/* g of one view: of the records, and of the others with their order. */
static void views_weigh(struct vote *v, size_t view, bool offline, double a, uint8_t *fallback)
{
    struct attack_input own = view_input(v->in, view), other = view_input(v->others, view);
    double *gain = v->gain + view * v->in->n, *sorted = v->sorted + view * v->z, *theirs = v->work,
           *scratch = v->work + v->z;
    for (size_t i = 0; i < v->in->n; i++) {
        bool stands_in;
        gain[i] = rmia_gain(&stands_in, &own, i, offline, a);
        fallback[i] |= stands_in;
    }
    for (size_t i = 0; i < v->z; i++) {
        bool ignored;
        theirs[i] = v->same ? gain[i * v->stride] : rmia_gain(&ignored, &other, i * v->stride, offline, a);
    }
    memcpy(sorted, theirs, v->z * sizeof *sorted);
    sort_rising(sorted, v->z, scratch);
    for (size_t i = 0; i < v->z; i++)
        v->rank[view * v->z + i] = (uint16_t)count_below(sorted, v->z, theirs[i]);
}

enum { BLOCK = 4096 };

/* How many others record i dominates. */
static size_t views_dominated(const struct vote *v, size_t i, double margin, uint8_t votes[BLOCK])
{
    size_t count = 0, own = v->same && i % v->stride == 0 ? i / v->stride : SIZE_MAX;
    uint16_t upto[VIEW_MOST];
    for (size_t w = 0; w < v->views; w++)
        upto[w] = (uint16_t)count_upto(v->sorted + w * v->z, v->z, v->gain[w * v->in->n + i] - margin);
    for (size_t first = 0; first < v->z; first += BLOCK) {
        size_t n = v->z - first < BLOCK ? v->z - first : BLOCK;
        for (size_t k = 0; k < n; k++)
            votes[k] = 0;
        for (size_t w = 0; w < v->views; w++) {
            const uint16_t *rank = v->rank + w * v->z + first, below = upto[w];
            for (size_t k = 0; k < n; k++)
                votes[k] += rank[k] < below;
        }
        for (size_t k = 0; k < n; k++)
            count += 2 * (size_t)votes[k] > v->views && first + k != own;
    }
    return count;
}

sotto_status view_rmia(struct attack_output *out, const struct attack_input *in, bool offline, double a,
                       double gamma)
{
    sotto_status status = SOTTO_OK;
    struct vote v = {0};
    uint8_t votes[BLOCK];
    TRY(vote_make(&v, in));
    for (size_t w = 0; w < v.views; w++)
        views_weigh(&v, w, offline, a, out->fallback);
    for (size_t i = 0; i < in->n; i++) {
        double mean = 0;
        for (size_t w = 0; w < v.views; w++)
            mean += v.gain[w * in->n + i] / (double)v.views;
        /* the last summand lies between 0 and 1: it orders ties and no others */
        out->scores[i] = ((double)views_dominated(&v, i, log(gamma), votes) + probability_of_signal(mean)) /
                         ((double)v.z + 1);
    }
done:
    vote_clear(&v);
    return status;
}

/* ---- the attacks ---- */

/* LiRA on several views of each record: views.h says how they are joined. */
static sotto_status run_lira_views(struct attack_output *out, const struct attack_input *in,
                                   const double *args)
{
    return view_lira(out, in, true, (struct lira_settings){args[0], args[1], args[2] != 0});
}

const struct score_attack attack_lira_views = {.name = "lira-views",
                                               .title = "LiRA, online, several views",
                                               .source = "Carlini et al. 2022, section VI-D",
                                               .needs = NEED_VIEWS | NEED_OUT | NEED_IN | NEED_SEVERAL,
                                               .params = lira_params,
                                               .run = run_lira_views};

/* LiRA on several views, OUT models only. */
static sotto_status run_lira_offline_views(struct attack_output *out, const struct attack_input *in,
                                           const double *args)
{
    return view_lira(out, in, false, (struct lira_settings){args[0], args[1], false});
}

const struct score_attack attack_lira_offline_views = {.name = "lira-offline-views",
                                                       .title = "LiRA, offline, several views",
                                                       .source = "Carlini et al. 2022, section VI-D",
                                                       .needs = NEED_VIEWS | NEED_OUT | NEED_SEVERAL,
                                                       .params = lira_offline_params,
                                                       .run = run_lira_offline_views};

/* RMIA on several views of each record, by majority vote. */
static const struct parameter rmia_views_params[] = {
    {"gamma", "likelihood ratio required against another record", 2, 1, 1e6, false}, {0}};

static sotto_status run_rmia_views(struct attack_output *out, const struct attack_input *in,
                                   const double *args)
{
    return view_rmia(out, in, false, 0, args[0]);
}

const struct score_attack attack_rmia_views = {.name = "rmia-views",
                                               .title = "RMIA, online, several views",
                                               .source = "Zarifzadeh, Liu and Shokri 2024",
                                               .needs = NEED_VIEWS | NEED_OUT | NEED_IN,
                                               .params = rmia_views_params,
                                               .run = run_rmia_views};

/* RMIA on several views, OUT models only. */
static const struct parameter rmia_offline_views_params[] = {
    {"gamma", "likelihood ratio required against another record", 2, 1, 1e6, false},
    {"a", "a in P(x | IN) = a P(x | OUT) + 1 - a", 0.3, 0, 1, false},
    {0}};

static sotto_status run_rmia_offline_views(struct attack_output *out, const struct attack_input *in,
                                           const double *args)
{
    return view_rmia(out, in, true, args[1], args[0]);
}

const struct score_attack attack_rmia_offline_views = {.name = "rmia-offline-views",
                                                       .title = "RMIA, offline, several views",
                                                       .source = "Zarifzadeh, Liu and Shokri 2024",
                                                       .needs = NEED_VIEWS | NEED_OUT,
                                                       .params = rmia_offline_views_params,
                                                       .run = run_rmia_offline_views};
