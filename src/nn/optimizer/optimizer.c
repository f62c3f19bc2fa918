/* All state lives in one arena, laid out tensor by tensor; the chunk table is made once. */
#include "nn/optimizer/optimizer_private.h"

#include "base/cpu.h"
#include "par/par.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { CHUNK = 16384 }; /* elements: value, gradient and two states of a chunk fit in 256 KiB of L2 */

ISA_TABLE(const struct optimizer_kernels, optimizer_kernels, optimizer_kernels_best);

static size_t chunks_of(size_t count)
{
    return count / CHUNK + (count % CHUNK != 0);
}

static void layout(struct arena *a, struct nn_optimizer *o, const struct tensor_list *tensors)
{
    o->names = arena_take(a, o->tensor_count, sizeof *o->names);
    o->counts = arena_take(a, o->tensor_count, sizeof *o->counts);
    o->states = arena_take(a, o->tensor_count * OPTIMIZER_STATES_MAX, sizeof *o->states);
    o->chunks = arena_take(a, o->chunk_count, sizeof *o->chunks);
    for (size_t t = 0; t < tensors->count; t++)
        for (size_t s = 0; s < o->kind->states; s++) {
            float *state = arena_take(a, tensors->items[t].count, sizeof(float));
            if (o->states)
                o->states[t * OPTIMIZER_STATES_MAX + s] = state;
        }
}

static void fill_tables(struct nn_optimizer *o, const struct tensor_list *tensors)
{
    size_t next = 0;
    for (size_t t = 0; t < tensors->count; t++) {
        const struct tensor *tensor = &tensors->items[t];
        strcpy(o->names[t], tensor->name); /* length checked by optimizer_create */
        o->counts[t] = tensor->count;
        for (size_t offset = 0; offset < tensor->count; offset += CHUNK) {
            size_t left = tensor->count - offset;
            o->chunks[next++] = (struct optimizer_chunk){t, offset, left < CHUNK ? left : CHUNK};
        }
    }
}

static sotto_status find_kind(const struct optimizer **out, const char *name)
{
    for (size_t i = 0; optimizer_table[i]; i++)
        if (strcmp(optimizer_table[i]->name, name) == 0) {
            *out = optimizer_table[i];
            return SOTTO_OK;
        }
    return status_fail(SOTTO_EINVAL, "optimizer '%s' is unknown; expected adam or sgd", name);
}

sotto_status optimizer_create(struct nn_optimizer **out, const struct tensor_list *tensors,
                              const struct nn_optimizer_config *c)
{
    sotto_status status = SOTTO_OK;
    struct nn_optimizer *o = NULL;
    NEW(o, 1);
    TRY(find_kind(&o->kind, c->name));
    TRY(o->kind->check(c));
    REQUIRE(c->weight_decay >= 0 && isfinite(c->weight_decay), "%s: weight_decay must be >= 0 (got %g)",
            c->name, c->weight_decay);
    o->config = *c;
    o->config.name = o->kind->name; /* the caller's string may go away */
    o->kernels = optimizer_kernels_best();
    o->tensor_count = tensors->count;
    for (size_t t = 0; t < tensors->count; t++) {
        REQUIRE(strlen(tensors->items[t].name) < sizeof *o->names, "optimizer: tensor name '%s' is too long",
                tensors->items[t].name);
        o->chunk_count += chunks_of(tensors->items[t].count);
    }
    layout(&o->arena, o, tensors);
    TRY(arena_reserve(&o->arena, "optimizer state"));
    layout(&o->arena, o, tensors);
    fill_tables(o, tensors);
    *out = o;
done:
    if (status != SOTTO_OK)
        nn_optimizer_free(o);
    return status;
}

void nn_optimizer_free(struct nn_optimizer *o)
{
    if (!o)
        return;
    arena_clear(&o->arena);
    base_free(o);
}

void nn_optimizer_restart(struct nn_optimizer *o)
{
    o->steps = 0;
    for (size_t t = 0; t < o->tensor_count; t++)
        for (size_t s = 0; s < o->kind->states; s++)
            memset(o->states[t * OPTIMIZER_STATES_MAX + s], 0, o->counts[t] * sizeof(float));
}

struct pass {
    struct nn_optimizer *o;
    const struct tensor_list *tensors;
    struct optimizer_step step;
};

static sotto_status update_chunk(void *arg, size_t chunk, int thread)
{
    (void)thread;
    struct pass *pass = arg;
    struct nn_optimizer *o = pass->o;
    struct optimizer_chunk c = o->chunks[chunk];
    const struct tensor *tensor = &pass->tensors->items[c.tensor];
    float *states[OPTIMIZER_STATES_MAX] = {0};
    for (size_t s = 0; s < o->kind->states; s++)
        states[s] = o->states[c.tensor * OPTIMIZER_STATES_MAX + s] + c.offset;
    o->kind->update(o->kernels, tensor->value + c.offset, states, tensor->grad + c.offset, c.count,
                    &pass->step);
    return SOTTO_OK;
}

void optimizer_step(struct nn_optimizer *o, const struct tensor_list *tensors, double lr)
{
    assert(tensors->count == o->tensor_count);
    o->steps++;
    struct pass pass = {o, tensors, o->kind->prepare(&o->config, lr, o->steps)};
    sotto_status status = par_shares(o->chunk_count, par_pool_threads(), NULL, update_chunk, &pass);
    assert(status == SOTTO_OK); /* no update can fail */
    (void)status;
}
