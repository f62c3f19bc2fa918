/* Local sensitivity of a head: every record, or some of them, leaves its slot or gives it to another record. */
#include "base/memory.h"
#include "head/batch/head_batch_train.h"
#include "sotto/lab/local.h"

#include <math.h>
#include <string.h>

struct change {
    double l1, l2, linf;
};
struct search {
    const int64_t *row; /* (tried) the records that are changed */
    size_t n, parameters;
    uint64_t seed;
    float *all;             /* (parameters): the head of all records */
    struct change *changes; /* (2 tried): left out, replaced */
};

/* Head 2 k: record row[k] leaves its slot empty. Head 2 k + 1: another record takes it. */
static void slots_of(void *arg, struct head_slots *out, size_t head)
{
    const struct search *s = arg;
    const size_t i = (size_t)s->row[head / 2];
    struct rng r = rng_stream(s->seed, RNG_PAIRS, 1, i);
    size_t j = (size_t)rng_below(&r, s->n - 1);
    j += j >= i;
    *out = head % 2 ? (struct head_slots){.left_out = SIZE_MAX, .replacement_slot = i, .replacement = j}
                    : (struct head_slots){.left_out = i, .replacement_slot = SIZE_MAX};
}

static sotto_status take_all(void *arg, size_t first, size_t count, const float *parameters)
{
    const struct search *s = arg;
    (void)first, (void)count; /* 0, 1 */
    memcpy(s->all, parameters, s->parameters * sizeof *parameters);
    return SOTTO_OK;
}

static sotto_status take_changes(void *arg, size_t first, size_t count, const float *parameters)
{
    const struct search *s = arg;
    for (size_t h = 0; h < count; h++) {
        struct change c = {0};
        for (size_t p = 0; p < s->parameters; p++) {
            const double gap = fabs((double)parameters[h * s->parameters + p] - (double)s->all[p]);
            c.l1 += gap;
            c.l2 += gap * gap;
            c.linf = fmax(c.linf, gap);
        }
        c.l2 = sqrt(c.l2);
        s->changes[first + h] = c;
    }
    return SOTTO_OK;
}

static void sensitivity_local_fold(struct sotto_local_sensitivity *out, const struct search *s, size_t tried)
{
    for (size_t k = 0; k < tried; k++) {
        const struct change *left_out = &s->changes[2 * k], *replaced = left_out + 1;
        out->left_out_l1 = fmax(out->left_out_l1, left_out->l1);
        out->left_out_l2 = fmax(out->left_out_l2, left_out->l2);
        out->left_out_linf = fmax(out->left_out_linf, left_out->linf);
        out->replaced_l1 = fmax(out->replaced_l1, replaced->l1);
        out->replaced_l2 = fmax(out->replaced_l2, replaced->l2);
        out->replaced_linf = fmax(out->replaced_linf, replaced->linf);
    }
}

/* A head trained alone would differ by rounding from those of a block: all are trained the same way. */
static sotto_status sensitivity_local_train(struct search *s, const struct head_data *data,
                                            const struct sotto_head_recipe *r, size_t tried,
                                            const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct head_job job = {
        .stage = "local sensitivity", .unit = "records", .together = 1, .take = take_all, .arg = s};
    struct sotto_context silent = ctx ? *ctx : (struct sotto_context){0};
    silent.progress = NULL;
    TRY(head_batch_train(data, r, 1, &job, &silent));
    job.together = 2;
    job.slots = slots_of;
    job.take = take_changes;
    TRY(head_batch_train(data, r, 2 * tried, &job, ctx));
done:
    return status;
}

sotto_status sotto_sensitivity_local(struct sotto_local_sensitivity *out, const float *x, const int64_t *y,
                                     size_t n, size_t d, size_t classes,
                                     const struct sotto_head_recipe *recipe, size_t sample,
                                     const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, !n || x, !n || y);
    sotto_status status = SOTTO_OK;
    const struct head_data data = {x, y, n, d, classes};
    const size_t tried = sample ? sample : n;
    struct sotto_head_recipe r;
    struct search s = {.n = n};
    int64_t *order = NULL;
    struct sotto_local_sensitivity made = {.records = n, .tried = tried};
    TRY(head_recipe_resolve(&r, recipe));
    TRY(head_recipe_check_open(&r));
    TRY(head_data_check(&data, head_recipe_convex(&r), ctx));
    REQUIRE(n >= 2, "local sensitivity: %zu record; expected at least 2", n);
    REQUIRE(tried <= n, "local sensitivity: a sample of %zu of %zu records; expected at most all of them",
            tried, n);
    s.seed = r.seed;
    s.parameters = head_parameter_count(&r, d, classes);
    NEW(order, n);
    NEW(s.all, s.parameters);
    NEW_ROWS(s.changes, tried, 2);
    for (size_t i = 0; i < n; i++)
        order[i] = (int64_t)i;
    struct rng random = rng_stream(r.seed, RNG_PAIRS, 2, 0);
    if (sample)
        rng_shuffle(&random, order, n);
    s.row = order;
    TRY(sensitivity_local_train(&s, &data, &r, tried, ctx));
    sensitivity_local_fold(&made, &s, tried);
    head_recipe_hash(made.recipe_hash, &r, d, classes);
    *out = made;
done:
    base_free(order);
    base_free(s.all);
    base_free(s.changes);
    return status;
}
