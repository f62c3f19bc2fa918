/* Loss trajectories (Liu et al. 2022): how the loss of a record falls while a student learns from the model's answers on other
 * records. A student of the target, and students of shadows whose records are known, are stopped after 1, 2, 4, ... epochs; a
 * network learns from the shadows what trajectories of members look like.
 *
 * SeqMIA (Li et al. 2024) looks at five metrics of the answers at every stop instead of the loss alone. Its authors read the
 * sequence by a recurrent network with attention; here the same dense network reads it as one row.
 *
 * A third of the attacker's records teaches the students, the rest trains the shadows. A student learns from labels that are drawn
 * from the answers, COPIES times for each record. */
#include "attack/query/answer_metrics.h"
#include "attack/query/attack_net.h"
#include "rng/rng.h"

#include <string.h>

enum {
    COPIES = 4,
    STOPS = 7,
    MOMENTS = STOPS + 1 /* the stops and the teacher */,
    ORDER_STREAM = 7,
    LABEL_STREAM = 8
};

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

static size_t width_of(const struct metrics *m)
{
    return MOMENTS * m->count;
}

static void put_answers(float *rows, size_t moment, const float *answers, const struct head_data *data,
                        const struct metrics *m)
{
    for (size_t i = 0; i < data->n; i++)
        m->put(rows + i * width_of(m) + moment * m->count, answers + i * data->classes, data->y[i],
               data->classes);
}

/* rows (n, width): metrics under the students, then under their teacher, whose answers (n, classes) are given. */
static sotto_status trajectories(float *rows, const struct head_data *data, const float *answers,
                                 const struct students *s, const struct metrics *m,
                                 const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    float *p = NULL;
    NEW_ROWS(p, data->n, data->classes);
    for (size_t t = 0; t < STOPS; t++) {
        TRY(sotto_head_predict(p, s->stop[t], data->x, data->n, data->d, 0, ctx));
        put_answers(rows, t, p, data, m);
    }
    put_answers(rows, STOPS, answers, data, m);
done:
    base_free(p);
    return status;
}

/* Trajectories of one shadow's records, behind the rows that are there. */
static sotto_status add_shadow(struct output_table *t, const struct shadow_set *a, size_t model,
                               const struct head_data *lesson, const struct metrics *m,
                               const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    struct students s = {0};
    struct head_data side[2] = {{0}};
    float *answers = NULL, *p = NULL, *x[2] = {NULL, NULL};
    int64_t *y[2] = {NULL, NULL};
    const size_t d = lesson->d, k = lesson->classes, width = width_of(m);
    NEW_ROWS(answers, lesson->n, k);
    TRY(shadow_pool_ask(answers, &a->pool, model, lesson->x, lesson->n, d, 0, in->ctx));
    TRY(students_train(&s, lesson, answers, in->options->seed + 1 + model, in->ctx));
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
        TRY(trajectories(t->x + before * width, &side[member], p, &s, m, in->ctx));
        for (size_t i = 0; i < n; i++)
            t->label[before + i] = y[member][i], t->member[before + i] = member;
        t->n = before + n;
    }
done:
    students_clear(&s);
    base_free(answers), base_free(p);
    base_free(x[0]), base_free(x[1]), base_free(y[0]), base_free(y[1]);
    return status;
}

/* The attacker's records in random order. */
static sotto_status shuffled(float **x, int64_t **y, const struct query_input *in)
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

static sotto_status judge(double *scores, const struct output_table *table, const struct head_data *lesson,
                          const struct metrics *m, const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    const size_t n = in->records.n, k = in->records.classes;
    struct students s = {0};
    float *answers = NULL, *own = NULL, *rows = NULL;
    NEW_ROWS(answers, lesson->n, k);
    NEW_ROWS(own, n, k);
    NEW_ROWS(rows, n, width_of(m));
    for (size_t i = 0; i < n * k; i++)
        own[i] = (float)in->posteriors[i];
    TRY(sotto_target_query(in->target, answers, lesson->x, lesson->n));
    TRY(students_train(&s, lesson, answers, in->options->seed, in->ctx));
    TRY(trajectories(rows, &in->records, own, &s, m, in->ctx));
    TRY(attack_net_scores(scores, table, rows, n, in->options->seed, in->ctx));
done:
    students_clear(&s);
    base_free(answers), base_free(own), base_free(rows);
    return status;
}

static sotto_status watch(double *scores, struct query_result *result, const struct query_input *in,
                          const struct metrics *m, const char *name)
{
    sotto_status status = SOTTO_OK;
    struct shadow_set shadows = {0};
    struct output_table table = {.width = width_of(m)};
    float *x = NULL;
    int64_t *y = NULL;
    const size_t d = in->attacker.d, third = in->attacker.n / 3;
    REQUIRE(third >= 10, "attack: %s: %zu records of the attacker; expected at least 30", name,
            in->attacker.n);
    TRY(shuffled(&x, &y, in));
    const struct head_data lesson = {x, y, third, d, in->attacker.classes},
                           rest = {x + third * d, y + third, in->attacker.n - third, d, in->attacker.classes};
    TRY(shadow_set_make_on(&shadows, in, &rest, 1, NULL));
    shadow_set_report(result, &shadows);
    if (result->pending)
        goto done;
    for (size_t k = 0; k < shadows.pool.models; k++)
        TRY(add_shadow(&table, &shadows, k, &lesson, m, in));
    TRY(judge(scores, &table, &lesson, m, in));
    result->threshold = 0; /* posterior of "in" above one half */
    fact_count(&result->facts, "stops", STOPS);
done:
    output_table_clear(&table);
    shadow_set_clear(&shadows);
    base_free(x);
    base_free(y);
    return status;
}

static sotto_status run_loss(double *scores, struct query_result *result, const struct query_input *in)
{
    return watch(scores, result, in, &loss_alone, "loss-trajectory");
}

static sotto_status run_five(double *scores, struct query_result *result, const struct query_input *in)
{
    return watch(scores, result, in, &five, "metric-trajectory");
}

const struct query_attack query_trajectory = {
    .name = "loss-trajectory",
    .title = "Losses of a record while students learn from the model",
    .source = "Liu et al. 2022",
    .needs = QUERY_POSTERIORS | QUERY_LABELS | QUERY_ATTACKER | QUERY_SHADOWS | QUERY_QUERIES,
    .default_shadows = 1,
    .run = run_loss};

const struct query_attack query_metric_trajectory = {
    .name = "metric-trajectory",
    .title = "Five metrics of a record while students learn from the model",
    .source = "Li et al. 2024 (SeqMIA), with a dense network",
    .needs = QUERY_POSTERIORS | QUERY_LABELS | QUERY_ATTACKER | QUERY_SHADOWS | QUERY_QUERIES,
    .default_shadows = 1,
    .run = run_five};
