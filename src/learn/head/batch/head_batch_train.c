#include "head/batch/head_batch_train.h"

#include "par/par.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

struct shift {
    struct head_batch *batch_train;
    const struct head_job *job;
    atomic_size_t finished;
};

size_t head_parameter_count(const struct sotto_head_recipe *recipe, size_t inputs, size_t classes)
{
    size_t count = 0;
    for (size_t l = 0; l <= recipe->hidden_count; l++) {
        size_t outputs = l < recipe->hidden_count ? recipe->hidden[l] : classes;
        count += (inputs + 1) * outputs;
        inputs = outputs;
    }
    return count;
}

static sotto_status head_batch_train_job(struct head_worker *w, const struct head_batch *c,
                                         const struct head_job *job, size_t first, size_t count)
{
    sotto_status status = SOTTO_OK;
    struct head_subset subset = {job->member ? job->member + first : NULL, job->stride};
    if (c->kind == HEAD_BATCH_BLOCKS) {
        TRY(head_block_run(&w->block, w->slots, &subset, count, c->ctx));
        for (size_t h = 0; h < count; h++)
            head_block_export(&w->block, h, w->parameters + h * c->parameters);
        goto done;
    }
    for (size_t h = 0; h < count; h++) {
        float *parameters = w->parameters + h * c->parameters;
        if (c->kind == HEAD_BATCH_CONVEX) {
            TRY(head_convex_run(&w->convex, &w->slots[h], &subset, c->ctx, NULL));
            head_convex_export(&w->convex, parameters);
        } else {
            TRY(head_plain_run(&w->trainer, &w->slots[h], &subset, c->ctx, NULL));
            head_plain_export(&w->trainer, parameters);
        }
        subset.member += job->member != NULL;
    }
done:
    return status;
}

static sotto_status run_chunk(void *arg, size_t chunk, int thread)
{
    struct shift *s = arg;
    const struct head_batch *c = s->batch_train;
    const struct head_job *job = s->job;
    struct head_worker *w = &c->workers[thread];
    size_t first = chunk * c->chunk, count = c->heads - first < c->chunk ? c->heads - first : c->chunk;
    for (size_t h = 0; h < count; h++) {
        w->slots[h] = (struct head_slots){SIZE_MAX, SIZE_MAX, 0};
        if (job->slots)
            job->slots(job->arg, &w->slots[h], first + h);
    }
    sotto_status status = head_batch_train_job(w, c, job, first, count);
    if (status != SOTTO_OK)
        return status;
    status = job->take(job->arg, first, count, w->parameters);
    if (status != SOTTO_OK)
        return status;
    size_t finished = atomic_fetch_add(&s->finished, count) + count;
    if (thread != 0) /* one reporter: a context need not be thread-safe */
        return SOTTO_OK;
    context_progress(c->ctx, job->stage, finished / job->together, c->heads / job->together, job->unit);
    if (job->note)
        job->note(job->arg, finished / job->together);
    return SOTTO_OK;
}

/* Linear heads: as many vectors of heads a block as the cache allows, but a block for every thread. */
static size_t choose_groups(const struct head_batch *c)
{
    size_t groups = head_block_groups(c->data);
    while (groups > 1 && c->heads <= c->threads * (groups - 1) * HEAD_PAD)
        groups--;
    return groups;
}

static sotto_status head_batch_train_plan(struct head_batch *c, size_t together)
{
    sotto_status status = SOTTO_OK;
    size_t groups = choose_groups(c);
    c->kind = head_recipe_convex(c->recipe)                             ? HEAD_BATCH_CONVEX
              : c->recipe->hidden_count || c->recipe->augment_noise > 0 ? HEAD_BATCH_ONES
                                                                        : HEAD_BATCH_BLOCKS;
    c->chunk = c->kind == HEAD_BATCH_BLOCKS ? groups * HEAD_PAD : together;
    assert(c->chunk % together == 0);
    size_t chunks = (c->heads + c->chunk - 1) / c->chunk;
    c->threads = c->threads < chunks ? c->threads : chunks;
    NEW(c->workers, c->threads);
    for (size_t t = 0; t < c->threads; t++) {
        struct head_worker *w = &c->workers[t];
        if (c->kind == HEAD_BATCH_CONVEX)
            TRY(head_convex_plan(&w->convex, c->data, c->recipe));
        else if (c->kind == HEAD_BATCH_ONES)
            TRY(head_plain_plan(&w->trainer, c->data, c->recipe));
        else
            TRY(head_block_plan(&w->block, c->data, c->recipe, groups));
        NEW(w->slots, c->chunk);
        NEW_ROWS(w->parameters, c->chunk, c->parameters);
    }
done:
    return status;
}

static void head_batch_train_clear(struct head_batch *c)
{
    for (size_t t = 0; c->workers && t < c->threads; t++) {
        struct head_worker *w = &c->workers[t];
        head_plain_clear(&w->trainer);
        head_convex_clear(&w->convex);
        head_block_clear(&w->block);
        base_free(w->slots);
        base_free(w->parameters);
    }
    base_free(c->workers);
}

sotto_status head_batch_train(const struct head_data *data, const struct sotto_head_recipe *recipe,
                              size_t heads, const struct head_job *job, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct head_batch c = {.data = data,
                           .recipe = recipe,
                           .ctx = ctx,
                           .heads = heads,
                           .parameters = head_parameter_count(recipe, data->d, data->classes),
                           .threads = (size_t)par_threads(ctx)};
    struct shift s = {.batch_train = &c, .job = job};
    TRY(head_batch_train_plan(&c, job->together));
    TRY(par_chunks((heads + c.chunk - 1) / c.chunk, (int)c.threads, run_chunk, &s));
    context_progress(ctx, job->stage, heads / job->together, heads / job->together, job->unit);
done:
    head_batch_train_clear(&c);
    return status;
}

struct many {
    float *parameters;
    size_t count; /* of one head */
};

static sotto_status head_batch_train_keep(void *arg, size_t first, size_t count, const float *parameters)
{
    const struct many *m = arg;
    memcpy(m->parameters + first * m->count, parameters, count * m->count * sizeof *parameters);
    return SOTTO_OK;
}

sotto_status head_many_train(float *parameters, const struct head_data *data,
                             const struct sotto_head_recipe *recipe, const uint8_t *member, size_t heads,
                             const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_head_recipe r = *recipe;
    struct many m = {parameters, head_parameter_count(recipe, data->d, data->classes)};
    struct head_job job = {.stage = "heads",
                           .unit = "heads",
                           .together = 1,
                           .member = member,
                           .stride = heads,
                           .take = head_batch_train_keep,
                           .arg = &m};
    TRY(head_recipe_check_open(&r));
    TRY(head_data_check(data, head_recipe_convex(&r), ctx));
    for (size_t h = 0; h < heads; h++) {
        size_t records = 0;
        for (size_t i = 0; i < data->n && records == 0; i++)
            records += member[i * heads + h] != 0;
        REQUIRE(records > 0, "head %zu of %zu has no training record; expected at least 1", h, heads);
    }
    TRY(head_batch_train(data, &r, heads, &job, ctx));
done:
    return status;
}
