/* Loss trajectories (Liu et al. 2022): how the loss of a record falls while a student learns from the model's answers on other
 * records. A student of the target, and students of shadows whose records are known, are stopped after 1, 2, 4, ... epochs; a
 * network learns from the shadows what trajectories of members look like.
 *
 * SeqMIA (Li et al. 2024) looks at five metrics of the answers at every stop instead of the loss alone. Its authors read the
 * sequence by a recurrent network with attention; here the same dense network reads it as one row.
 *
 * A third of the attacker's records teaches the students, the rest trains the shadows. A student learns from labels that are drawn
 * from the answers, COPIES times for each record.
 *
 * Who has the models that the target's own training went through (options->snapshots) needs no students: trajectories are then
 * over those, of shadows over theirs, and all records of the attacker are for the shadows. */
#include "attack/query/answer_metrics.h"
#include "attack/query/attack_net.h"
#include "attack/query/snapshots.h"
#include "attack/target/target.h"
#include "rng/rng.h"
#include "sotto/lab/head.h"

#include <string.h>

enum { COPIES = 4, STOPS = 7, ORDER_STREAM = 7, LABEL_STREAM = 8 };

static struct sotto_head_recipe student_recipe(size_t stop)
{
    struct sotto_head_recipe r;
    sotto_head_defaults(&r);
    r.hidden_count = 1, r.hidden[0] = 128;
    r.batch = 100;
    r.epochs = (size_t)1 << stop;
    return r;
}

struct students {
    struct sotto_head *stop[STOPS];
};

static void students_clear(struct students *s)
{
    for (size_t t = 0; t < STOPS; t++)
        sotto_head_free(s->stop[t]);
}

/* The records (n) of `lesson`, each several times with a label drawn from the teacher's answers (n, classes). */
static sotto_status students_train(struct students *out, const struct head_data *lesson, const float *answers,
                                   uint64_t seed, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const size_t n = lesson->n, d = lesson->d, k = lesson->classes;
    const struct sotto_context quiet = context_quiet(ctx, par_threads(ctx));
    float *x = NULL;
    int64_t *y = NULL;
    NEW_ROWS(x, COPIES * n, d);
    NEW(y, COPIES * n);
    for (size_t i = 0; i < COPIES * n; i++) {
        struct rng r = rng_stream(seed, RNG_SPLIT, LABEL_STREAM, i);
        const float *p = answers + i % n * k;
        double left = rng_unit(&r);
        while ((size_t)y[i] + 1 < k && (left -= (double)p[y[i]]) >= 0)
            y[i]++;
        memcpy(x + i * d, lesson->x + i % n * d, d * sizeof *x);
    }
    for (size_t t = 0; t < STOPS; t++) {
        const struct sotto_head_recipe recipe = student_recipe(t);
        TRY(sotto_head_train(&out->stop[t], x, y, COPIES * n, d, k, &recipe, &quiet));
    }
done:
    base_free(x);
    base_free(y);
    return status;
}

/* What is seen of one answer: p (classes), with label y. */
struct metrics {
    size_t count;
    void (*put)(float *out, const float *p, int64_t y, size_t classes);
};

static void put_loss(float *out, const float *p, int64_t y, size_t classes)
{
    (void)classes;
    out[0] = answer_nats(p[y]);
}

static const struct metrics loss_alone = {1, put_loss};

static const struct metrics five = {ANSWER_METRICS, answer_metrics};

/* The models that stand before one in its trajectory: its students, or those that its training went through. */
struct course {
    size_t models;
    struct students students;
    struct snapshots snapshots; /* count 0: students */
};

static sotto_status course_ask(float *p, const struct course *c, size_t t, const struct head_data *data,
                               const struct sotto_context *ctx)
{
    if (c->snapshots.count)
        return snapshots_ask(p, &c->snapshots, t, data, ctx);
    return sotto_head_predict(p, c->students.stop[t], data->x, data->n, data->d, 0, ctx);
}

static sotto_status course_of_snapshots(struct course *out, const char *folder,
                                        const struct sotto_network *last)
{
    *out = (struct course){0};
    sotto_status status = snapshots_open(&out->snapshots, folder, last);
    out->models = out->snapshots.count;
    return status;
}

static size_t width_of(const struct metrics *m, size_t models)
{
    return (models + 1) * m->count;
}

static void put_answers(float *rows, size_t width, const float *answers, const struct head_data *data,
                        const struct metrics *m)
{
    for (size_t i = 0; i < data->n; i++)
        m->put(rows + i * width, answers + i * data->classes, data->y[i], data->classes);
}

/* rows (n, width): metrics under the models before the last, then under the last, of which answers (n, classes) are given. */
static sotto_status query_trajectory_trajectories(float *rows, const struct head_data *data,
                                                  const float *answers, const struct course *c,
                                                  const struct metrics *m, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const size_t width = width_of(m, c->models);
    float *p = NULL;
    NEW_ROWS(p, data->n, data->classes);
    for (size_t t = 0; t < c->models; t++) {
        TRY(course_ask(p, c, t, data, ctx));
        put_answers(rows + t * m->count, width, p, data, m);
    }
    put_answers(rows + c->models * m->count, width, answers, data, m);
done:
    base_free(p);
    return status;
}

/* Of a shadow. */
static sotto_status course_of_shadow(struct course *out, const struct shadow_set *a, size_t model,
                                     const struct head_data *lesson, const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    float *answers = NULL;
    if (a->pool.snapshots)
        return course_of_snapshots(out, a->pool.snapshots[model], a->pool.networks[model]);
    *out = (struct course){.models = STOPS};
    NEW_ROWS(answers, lesson->n, lesson->classes);
    TRY(shadow_pool_ask(answers, &a->pool, model, lesson->x, lesson->n, lesson->d, 0, in->ctx));
    TRY(students_train(&out->students, lesson, answers, in->options->seed + 1 + model, in->ctx));
done:
    base_free(answers);
    return status;
}

/* Trajectories of one shadow's records, behind the rows that are there. */
static sotto_status add_shadow(struct output_table *t, const struct shadow_set *a, size_t model,
                               const struct head_data *lesson, const struct metrics *m,
                               const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    struct course c = {0};
    struct head_data side[2] = {{0}};
    float *p = NULL, *x[2] = {NULL, NULL};
    int64_t *y[2] = {NULL, NULL};
    const size_t d = a->data.d, k = a->data.classes, width = t->width;
    TRY(course_of_shadow(&c, a, model, lesson, in));
    for (int member = 0; member < 2; member++) {
        TRY(shadow_records(&x[member], &y[member], &side[member], &a->plan, model,
                           member ? SHADOW_IN : SHADOW_OUT));
        const size_t n = side[member].n, before = t->n;
        base_free(p), p = NULL;
        NEW_ROWS(p, n, k);
        TRY(shadow_pool_ask(p, &a->pool, model, x[member], n, d, 0, in->ctx));
        REGROW(t->x, before * width, (before + n) * width);
        REGROW(t->label, before, before + n);
        REGROW(t->member, before, before + n);
        TRY(query_trajectory_trajectories(t->x + before * width, &side[member], p, &c, m, in->ctx));
        for (size_t i = 0; i < n; i++)
            t->label[before + i] = y[member][i], t->member[before + i] = member;
        t->n = before + n;
    }
done:
    students_clear(&c.students);
    base_free(p);
    base_free(x[0]), base_free(x[1]), base_free(y[0]), base_free(y[1]);
    return status;
}

/* The attacker's records in random order. */
static sotto_status query_trajectory_shuffled(float **x, int64_t **y, const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    const struct head_data *own = &in->attacker;
    int64_t *order = NULL;
    struct rng r = rng_stream(in->options->seed, RNG_SPLIT, ORDER_STREAM, 0);
    NEW(order, own->n);
    NEW_ROWS(*x, own->n, own->d);
    NEW(*y, own->n);
    for (size_t i = 0; i < own->n; i++)
        order[i] = (int64_t)i;
    rng_shuffle(&r, order, own->n);
    for (size_t i = 0; i < own->n; i++) {
        memcpy(*x + i * own->d, own->x + (size_t)order[i] * own->d, own->d * sizeof **x);
        (*y)[i] = own->y[order[i]];
    }
done:
    base_free(order);
    return status;
}

/* rows (n, width) of the records to judge. */
static sotto_status own_trajectories(float **rows, const struct course *c, const struct metrics *m,
                                     const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    const size_t n = in->records.n, k = in->records.classes;
    float *answers = NULL;
    NEW_ROWS(answers, n, k);
    NEW_ROWS(*rows, n, width_of(m, c->models));
    for (size_t i = 0; i < n * k; i++)
        answers[i] = (float)in->posteriors[i];
    TRY(query_trajectory_trajectories(*rows, &in->records, answers, c, m, in->ctx));
done:
    base_free(answers);
    return status;
}

/* What the network learns from, and then says of the target's rows. */
static sotto_status query_trajectory_judge(double *scores, struct query_result *result, float *rows,
                                           const struct course *c, const struct shadow_set *shadows,
                                           const struct head_data *lesson, const struct metrics *m,
                                           const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    struct output_table table = {.width = width_of(m, c->models)};
    for (size_t k = 0; k < shadows->pool.models; k++)
        TRY(add_shadow(&table, shadows, k, lesson, m, in));
    TRY(attack_net_scores(scores, &table, rows, in->records.n, in->options->seed, in->ctx));
    result->threshold = 0; /* posterior of "in" above one half */
done:
    output_table_clear(&table);
    return status;
}

static sotto_status watch_students(double *scores, struct query_result *result, const struct query_input *in,
                                   const struct metrics *m, const char *name)
{
    sotto_status status = SOTTO_OK;
    struct shadow_set shadows = {0};
    struct course c = {.models = STOPS};
    float *x = NULL, *answers = NULL, *rows = NULL;
    int64_t *y = NULL;
    const size_t d = in->attacker.d, third = in->attacker.n / 3;
    REQUIRE(third >= 10, "attack: %s: %zu records of the attacker; expected at least 30", name,
            in->attacker.n);
    TRY(query_trajectory_shuffled(&x, &y, in));
    const struct head_data lesson = {x, y, third, d, in->attacker.classes},
                           rest = {x + third * d, y + third, in->attacker.n - third, d, in->attacker.classes};
    TRY(shadow_set_make_on(&shadows, in, &rest, 1, NULL));
    shadow_set_report(result, &shadows);
    if (result->pending)
        goto done;
    NEW_ROWS(answers, third, lesson.classes);
    TRY(target_query(in->target, answers, lesson.x, third));
    TRY(students_train(&c.students, &lesson, answers, in->options->seed, in->ctx));
    TRY(own_trajectories(&rows, &c, m, in));
    TRY(query_trajectory_judge(scores, result, rows, &c, &shadows, &lesson, m, in));
    fact_count(&result->facts, "stops", STOPS);
done:
    students_clear(&c.students);
    shadow_set_clear(&shadows);
    base_free(x), base_free(y), base_free(answers), base_free(rows);
    return status;
}

/* Intermediate models are known of whole networks that were trained without noise. */
static sotto_status check_snapshots(const struct query_input *in, const char *name)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_network *n = in->target->network;
    if (!n || !n->has_recipe)
        FAIL(SOTTO_EUSAGE,
             "attack: %s with {snapshots} needs a network of 'sotto train' as {target=FILE} "
             "('{shadow.model=mlp}' is "
             "the network of a head with hidden layers)",
             name);
    if (!in->network || in->privacy)
        FAIL(SOTTO_EUSAGE, "attack: {snapshots} needs shadows that are networks of plain training");
    REQUIRE(
        in->network->epochs == n->recipe.epochs,
        "attack: shadows of %zu epochs, but the target was trained for %zu; trajectories over {snapshots} "
        "need as many",
        in->network->epochs, n->recipe.epochs);
    if (!in->options->cache)
        FAIL(SOTTO_EUSAGE,
             "attack: {snapshots} needs {cache}, the folder in which shadows keep their intermediate models");
done:
    return status;
}

static sotto_status watch_snapshots(double *scores, struct query_result *result, const struct query_input *in,
                                    const struct metrics *m, const char *name)
{
    sotto_status status = SOTTO_OK;
    struct shadow_set shadows = {0};
    struct course c = {0};
    float *rows = NULL;
    TRY(check_snapshots(in, name));
    TRY(course_of_snapshots(&c, in->options->snapshots, in->target->network));
    TRY(own_trajectories(&rows, &c, m, in)); /* a wrong file is seen before shadows are trained */
    struct sotto_train_options network = *in->network;
    network.snapshot_every = c.snapshots.every;
    TRY(shadow_set_make_networks(&shadows, in, 1, &network));
    shadow_set_report(result, &shadows);
    if (result->pending)
        goto done;
    TRY(query_trajectory_judge(scores, result, rows, &c, &shadows, NULL, m, in));
    fact_count(&result->facts, "snapshots", c.models);
    fact_count(&result->facts, "snapshot_every", c.snapshots.every);
done:
    shadow_set_clear(&shadows);
    base_free(rows);
    return status;
}

static sotto_status query_trajectory_watch(double *scores, struct query_result *result,
                                           const struct query_input *in, const struct metrics *m,
                                           const char *name)
{
    return (in->options->snapshots ? watch_snapshots : watch_students)(scores, result, in, m, name);
}

static sotto_status run_loss(double *scores, struct query_result *result, const struct query_input *in)
{
    return query_trajectory_watch(scores, result, in, &loss_alone, "loss-trajectory");
}

static sotto_status run_five(double *scores, struct query_result *result, const struct query_input *in)
{
    return query_trajectory_watch(scores, result, in, &five, "metric-trajectory");
}

const struct query_attack query_trajectory = {
    .name = "loss-trajectory",
    .title = "Losses of a record while students learn from the model",
    .source = "Liu et al. 2022",
    .needs = QUERY_POSTERIORS | QUERY_LABELS | QUERY_ATTACKER | QUERY_SHADOWS | QUERY_QUERIES,
    .default_shadows = 1,
    .snapshots = "Losses of a record while the model was trained, by its own intermediate models",
    .run = run_loss};

const struct query_attack query_metric_trajectory = {
    .name = "metric-trajectory",
    .title = "Five metrics of a record while students learn from the model",
    .source = "Li et al. 2024 (SeqMIA), with a dense network",
    .needs = QUERY_POSTERIORS | QUERY_LABELS | QUERY_ATTACKER | QUERY_SHADOWS | QUERY_QUERIES,
    .default_shadows = 1,
    .snapshots = "Five metrics of a record while the model was trained, by its own intermediate models",
    .run = run_five};
