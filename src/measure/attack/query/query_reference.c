/* Attacks that compare the target with shadows: the pool is trained here, the scores are those of the attacks
 * on arrays, of one view of each record or of several. */
#include "attack/query_attack.h"
#include "sotto/attack.h"

#include "attack/target/target.h"
#include "audit/score/posterior.h"
#include "audit/score/resolution.h"
#include "attack/shadow/shadow_set.h"
#include "train/network/record_input.h"

#include <stdio.h>
#include <string.h>

enum {
    QUERY_REFERENCE_NEEDS = QUERY_POSTERIORS | QUERY_LABELS | QUERY_SHADOWS,
    QUERY_OFFLINE_NEEDS = QUERY_REFERENCE_NEEDS | QUERY_ATTACKER,
    QUERY_REFERENCES = 64
};
enum { SHIFT = 2, MIRRORED = 2, SHIFTED = 18 }; /* how many views there may be */

/* (n, models): 1 where a shadow trained on the record. Online, the pool starts with the n records. */
static void mark_trained(uint8_t *trained, const struct shadow_set *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t m = 0; m < a->pool.models; m++)
            trained[i * a->pool.models + m] = a->use[m * a->data.n + i] == SHADOW_IN;
}

/* The record itself, its mirror image, and both shifted by -2, 0 and 2 pixels in each direction. */
static struct record_view view_of(size_t number)
{
    static const int shift[3] = {0, -SHIFT, SHIFT};
    size_t at = number / 2;
    return (struct record_view){shift[at / 3], shift[at % 3], number % 2 == 1};
}

static sotto_status check_views(struct nn_shape *shape, const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_attack_options *o = in->options;
    size_t views = o->views, count;
    *shape = (struct nn_shape){o->channels, o->height, o->width};
    REQUIRE(views <= 1 || views == MIRRORED || views == SHIFTED,
            "attack: %zu views; expected 1, %d (mirrored) or %d (mirrored and shifted)", views, MIRRORED,
            SHIFTED);
    if (views > 1 && o->channels == 0)
        FAIL(SOTTO_EUSAGE, "attack: several views need image shapes; give {channels|image=C,H,W}");
    REQUIRE(views <= 1 || (size_multiply(&count, o->channels, o->height) &&
                           size_multiply(&count, count, o->width) && count == in->records.d),
            "attack: images of %zux%zux%zu do not match rows of %zu numbers; give the right "
            "{channels|image=C,H,W}",
            o->channels, o->height, o->width, in->records.d);
done:
    return status;
}

/* Signals of the target on records x: its posteriors' log odds of the true class. */
static sotto_status ask_target(double *signals, const struct query_input *in, const float *x, float *answers,
                               double step)
{
    sotto_status status = SOTTO_OK;
    size_t n = in->records.n, k = in->records.classes;
    double *row = NULL;
    NEW(row, k);
    TRY(target_query(in->target, answers, x, n));
    for (size_t i = 0; i < n; i++) {
        struct attack_input one = {.outputs = row,
                                   .probabilities = true,
                                   .step = step,
                                   .labels = in->records.y + i,
                                   .n = 1,
                                   .classes = k};
        for (size_t j = 0; j < k; j++)
            row[j] = (double)answers[i * k + j];
        signals[i] = posterior_signal(&one, 0);
    }
done:
    base_free(row);
    return status;
}

/* Of the shadows, as the target would have rounded them. */
static sotto_status reference_signals(double *signals, const struct shadow_set *a,
                                      const struct head_data *data, double step,
                                      const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    TRY(shadow_pool_signals(signals, &a->pool, data, NULL, ctx));
    for (size_t i = 0; i < data->n * a->pool.models; i++)
        signals[i] = signal_of_rounded(signals[i], step);
done:
    return status;
}

static double step_of(const struct query_input *in)
{
    struct resolution r = resolution_start();
    resolution_see(&r, in->posteriors, in->records.n * in->records.classes);
    return resolution_step(&r);
}

/* Every view of every record, asked of the target and of the shadows. */
struct view_table {
    size_t views;
    double step;                 /* that the target's answers were rounded to; 0: they were not */
    double *signals, *reference; /* (views, n), (views, n, models) */
    float *moved, *planar, *answers;
};

static void view_table_clear(struct view_table *t)
{
    base_free(t->signals);
    base_free(t->reference);
    base_free(t->moved);
    base_free(t->planar);
    base_free(t->answers);
}

/* From (H, W, C) back to rows (C, H, W). */
static void to_planes(float *out, const float *pixels, size_t n, struct nn_shape s)
{
    size_t plane = s.height * s.width;
    for (size_t i = 0; i < n; i++, out += plane * s.channels, pixels += plane * s.channels)
        for (size_t p = 0; p < plane; p++)
            for (size_t c = 0; c < s.channels; c++)
                out[c * plane + p] = pixels[p * s.channels + c];
}

static sotto_status view_table_make(struct view_table *t, const struct query_input *in, struct nn_shape shape,
                                    const struct shadow_set *a)
{
    sotto_status status = SOTTO_OK;
    size_t n = in->records.n, d = in->records.d, cells;
    struct sotto_dataset set = {.features = in->records.x};
    struct record_input source;
    struct record_view *views = NULL;
    int64_t *rows = NULL;
    if (!size_multiply(&cells, t->views * a->pool.models, n))
        FAIL(SOTTO_EINVAL, "attack: %zu views of %zu records do not fit in memory", t->views, n);
    NEW(views, n);
    NEW(rows, n);
    NEW_ROWS(t->signals, t->views, n);
    NEW(t->reference, cells);
    NEW_ROWS(t->moved, n, d);
    NEW_ROWS(t->planar, n, d);
    NEW_ROWS(t->answers, n, in->records.classes);
    record_input_make(&source, &set, shape, shape, par_threads(in->ctx));
    for (size_t v = 0; v < t->views; v++) {
        struct head_data moved = in->records;
        for (size_t i = 0; i < n; i++) {
            views[i] = view_of(v);
            rows[i] = (int64_t)i;
        }
        record_input_fill(t->moved, &source, rows, n, views);
        to_planes(t->planar, t->moved, n, shape);
        moved.x = t->planar;
        TRY(ask_target(t->signals + v * n, in, t->planar, t->answers, t->step));
        TRY(reference_signals(t->reference + v * n * a->pool.models, a, &moved, t->step, in->ctx));
    }
done:
    base_free(views);
    base_free(rows);
    return status;
}

/* *own: signals of the records as they are, (n, models), for the caller; NULL after several views. */
static sotto_status query_reference_judge(double *scores, double **own, const struct query_input *in,
                                          const char *name, const struct shadow_set *shadows,
                                          const uint8_t *trained, struct nn_shape shape)
{
    sotto_status status = SOTTO_OK;
    struct view_table table = {.views = in->options->views, .step = step_of(in)};
    double *signals = NULL;
    char key[64];
    size_t n = in->records.n;
    bool several = table.views > 1;
    snprintf(key, sizeof key, "%s%s", name, several ? "-views" : "");
    struct attack_input arrays = {.outputs = in->posteriors,
                                  .probabilities = true,
                                  .step = table.step,
                                  .labels = in->records.y,
                                  .trained = trained,
                                  .n = n,
                                  .classes = in->records.classes,
                                  .models = shadows->pool.models};
    if (several) {
        TRY(view_table_make(&table, in, shape, shadows));
        arrays.views = table.views;
        arrays.view_signals = table.signals;
        arrays.view_reference = table.reference;
        arrays.reference = table.reference;
    } else {
        NEW_ROWS(signals, n, shadows->pool.models);
        TRY(reference_signals(signals, shadows, &in->records, table.step, in->ctx));
        arrays.reference = signals;
    }
    TRY(attack_run(scores, attack_find(key), &arrays));
    *own = signals;
    signals = NULL;
done:
    view_table_clear(&table);
    base_free(signals);
    return status;
}

/* Trains the pool (or finds it in the cache) and runs the attack on arrays of that name ("NAME-views" when
 * options ask for several). Online: shadows trained on half of the records to judge each. Offline: on half of
 * the attacker's records each, so that none saw a record to judge. */
static sotto_status query_reference_run(double *scores, struct query_result *result,
                                        const struct query_input *in, const char *name, bool offline)
{
    sotto_status status = SOTTO_OK;
    struct shadow_set shadows = {0};
    struct nn_shape shape;
    uint8_t *trained = NULL;
    double *signals = NULL;
    TRY(check_views(&shape, in));
    if (offline)
        TRY(shadow_set_make(&shadows, in, QUERY_REFERENCES, NULL));
    else
        TRY(shadow_set_halves(&shadows, in, QUERY_REFERENCES));
    shadow_set_report(result, &shadows);
    if (result->pending)
        goto done;
    NEW_ROWS(trained, in->records.n, shadows.pool.models);
    if (!offline)
        mark_trained(trained, &shadows, in->records.n);
    TRY(query_reference_judge(scores, &signals, in, name, &shadows, trained, shape));
    if (in->options->audit.memorisation && !offline && signals) {
        result->signals = signals, result->trained = trained, result->models = shadows.pool.models;
        signals = NULL, trained = NULL;
    }
    if (in->options->poison)
        fact_count(&result->facts, "poison", in->options->poison);
    fact_count(&result->facts, "views", in->options->views > 1 ? in->options->views : 1);
done:
    base_free(signals);
    base_free(trained);
    shadow_set_clear(&shadows);
    return status;
}

/* ---- the attacks ---- */

static sotto_status run_lira(double *scores, struct query_result *result, const struct query_input *in)
{
    return query_reference_run(scores, result, in, "lira", false);
}

const struct query_attack query_lira = {.name = "lira",
                                        .title =
                                            "LiRA, online, shadow models trained on halves of the records",
                                        .source = "Carlini et al. 2022",
                                        .needs = QUERY_REFERENCE_NEEDS | QUERY_HALVES,
                                        .default_shadows = QUERY_REFERENCES,
                                        .run = run_lira};

static sotto_status run_lira_offline(double *scores, struct query_result *result,
                                     const struct query_input *in)
{
    return query_reference_run(scores, result, in, "lira-offline", true);
}

const struct query_attack query_lira_offline = {
    .name = "lira-offline",
    .title = "LiRA, offline, shadow models trained on the attacker's records",
    .source = "Carlini et al. 2022",
    .needs = QUERY_OFFLINE_NEEDS,
    .default_shadows = QUERY_REFERENCES,
    .run = run_lira_offline};

static sotto_status run_rmia(double *scores, struct query_result *result, const struct query_input *in)
{
    return query_reference_run(scores, result, in, "rmia", false);
}

const struct query_attack query_rmia = {.name = "rmia",
                                        .title =
                                            "RMIA, online, shadow models trained on halves of the records",
                                        .source = "Zarifzadeh, Liu and Shokri 2024",
                                        .needs = QUERY_REFERENCE_NEEDS | QUERY_HALVES,
                                        .default_shadows = QUERY_REFERENCES,
                                        .run = run_rmia};

static sotto_status run_rmia_offline(double *scores, struct query_result *result,
                                     const struct query_input *in)
{
    return query_reference_run(scores, result, in, "rmia-offline", true);
}

const struct query_attack query_rmia_offline = {
    .name = "rmia-offline",
    .title = "RMIA, offline, shadow models trained on the attacker's records",
    .source = "Zarifzadeh, Liu and Shokri 2024",
    .needs = QUERY_OFFLINE_NEEDS,
    .default_shadows = QUERY_REFERENCES,
    .run = run_rmia_offline};
