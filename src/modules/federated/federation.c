#include "federated/federation.h"

#include "par/par.h"

#include <string.h>

sotto_status federation_owners(int64_t *owner, size_t n, size_t participants, size_t records, uint64_t seed)
{
    sotto_status status = SOTTO_OK;
    struct rng draw = rng_stream(seed, RNG_SPLIT, 0, 0);
    int64_t *order = NULL;
    size_t all;
    REQUIRE(size_multiply(&all, participants, records) && all < n,
            "federated: %zu participants with %zu records each need more than the %zu records given; reduce "
            "the records of each",
            participants, records, n);
    NEW(order, n);
    for (size_t i = 0; i < n; i++)
        order[i] = (int64_t)i;
    rng_shuffle(&draw, order, n);
    for (size_t i = 0; i < n; i++)
        owner[order[i]] = i < all ? (int64_t)(i / records) : -1;
done:
    base_free(order);
    return status;
}

/* Records in their order, sorted by owner. */
static sotto_status sort_by_owner(struct federation *f, const int64_t *owner)
{
    sotto_status status = SOTTO_OK;
    size_t n = f->data->n, at = 0;
    for (size_t i = 0; i < n; i++)
        REQUIRE(owner[i] >= -1 && owner[i] < (int64_t)f->participants,
                "federated: record %zu has owner %lld; expected -1 (no participant) or 0 to %zu", i,
                (long long)owner[i], f->participants - 1);
    for (size_t p = 0; p <= f->participants; p++) {
        f->first[p] = at;
        for (size_t i = 0; i < n; i++)
            if (owner[i] == (p < f->participants ? (int64_t)p : -1))
                f->record[at++] = i;
        REQUIRE(p == f->participants || at > f->first[p],
                "federated: participant %zu has no record; expected at least one", p);
    }
    f->first[f->participants + 1] = at;
done:
    return status;
}

static sotto_status start_weights(struct federation *f, const struct sotto_head_recipe *recipe)
{
    sotto_status status = SOTTO_OK;
    size_t width[HEAD_MAX_LAYERS + 1] = {f->data->d};
    memcpy(width + 1, recipe->hidden, recipe->hidden_count * sizeof *width);
    width[recipe->hidden_count + 1] = f->data->classes;
    TRY(head_create(&f->shape, recipe->hidden_count + 1, width));
    f->parameters = f->shape->count;
    for (size_t l = 0; l < f->shape->layers; l++) {
        struct head_initial draw = head_initial_start(f->seed, l, width[l + 1], width[l]);
        float *w = f->shape->parameters + head_offset(f->shape, l);
        for (size_t i = 0; i < width[l] * width[l + 1]; i++)
            w[i] = head_initial_next(&draw);
    }
done:
    return status;
}

sotto_status federation_make(struct federation *out, const struct head_data *data, const int64_t *owner,
                             size_t participants, const struct sotto_head_recipe *recipe, uint64_t seed)
{
    sotto_status status = SOTTO_OK;
    struct federation f = {.data = data, .seed = seed, .participants = participants};
    NEW(f.record, data->n);
    NEW(f.first, participants + 2);
    NEW(f.part, participants);
    NEW(f.trainer, participants);
    NEW(f.recipe, participants);
    TRY(sort_by_owner(&f, owner));
    TRY(start_weights(&f, recipe));
    NEW_ROWS(f.upload, participants, f.parameters);
    TRY(head_bits_make(&f.bits, data->x, data->n, data->d));
    for (size_t p = 0; p < participants; p++) {
        f.recipe[p] = *recipe;
        f.part[p] = (struct head_part){
            .data = data, .record = f.record + f.first[p], .n = f.first[p + 1] - f.first[p], .bits = f.bits};
        TRY(head_plain_plan_part(&f.trainer[p], &f.part[p], &f.recipe[p]));
    }
    *out = f;
done:
    if (status != SOTTO_OK)
        federation_clear(&f);
    return status;
}

void federation_clear(struct federation *f)
{
    for (size_t p = 0; f->trainer && p < f->participants; p++)
        head_plain_clear(&f->trainer[p]);
    base_free(f->record);
    base_free(f->first);
    base_free(f->part);
    base_free(f->trainer);
    base_free(f->recipe);
    sotto_head_free(f->shape);
    base_free(f->upload);
    base_free(f->bits);
    *f = (struct federation){0};
}

struct federated_round {
    struct federation *f;
    size_t from, round;
    const float *sent;
    const struct sotto_context *quiet;
};

static sotto_status train_one(void *arg, size_t chunk, int thread)
{
    (void)thread;
    sotto_status status = SOTTO_OK;
    struct federated_round *r = arg;
    struct federation *f = r->f;
    size_t p = r->from + chunk;
    struct rng draw = rng_stream(f->seed, RNG_ORDER, r->round, p);
    if (f->noise > 0)
        return federation_train_noisy(f->upload + p * f->parameters, f, p, r->sent, r->round, r->quiet);
    f->recipe[p].seed = rng_u64(&draw) >> 1;
    f->trainer[p].start = r->sent;
    TRY(head_plain_run(&f->trainer[p], NULL, NULL, r->quiet, NULL));
    head_plain_export(&f->trainer[p], f->upload + p * f->parameters);
done:
    return status;
}

sotto_status federation_round(struct federation *f, size_t from, size_t to, const float *sent, size_t round,
                              const struct sotto_context *ctx)
{
    const struct sotto_context quiet = context_quiet(ctx, 0);
    struct federated_round r = {f, from, round, sent, &quiet};
    return par_each(to - from, ctx, train_one, &r);
}

void federation_average(float *out, const struct federation *f)
{
    double all = (double)f->first[f->participants];
    for (size_t j = 0; j < f->parameters; j++) {
        double sum = 0;
        for (size_t p = 0; p < f->participants; p++)
            sum += (double)f->part[p].n / all * (double)f->upload[p * f->parameters + j];
        out[j] = (float)sum;
    }
}
