/* Tables of the tensors first, as they say which part of the state is this process's; then that. A step of a team: each rank
 * moves its segment of the values, and gets those of the others. Nothing of a step looks across elements (no optimizer here has
 * norms of a layer), so neither threads nor ranks change a bit. */
#include "nn/optimizer/optimizer_private.h"

#include "base/cpu.h"
#include "par/par.h"
#include "par/tree_ranks.h"
#include "base/choice.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { CHUNK = 16384 }; /* elements: value, gradient and two states of a chunk fit in 256 KiB of L2 */

ISA_TABLE(const struct optimizer_kernels, optimizer_kernels, optimizer_kernels_best);

static size_t optimizer_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t optimizer_most(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* What this process has of tensor t: elements first .. end - 1, perhaps none. */
static size_t own_first(const struct nn_optimizer *o, size_t t)
{
    return optimizer_least(optimizer_most(o->first, o->starts[t]) - o->starts[t], o->counts[t]);
}

static size_t own_end(const struct nn_optimizer *o, size_t t)
{
    return optimizer_least(optimizer_most(o->end, o->starts[t]) - o->starts[t], o->counts[t]);
}

/* Of the tensors. Those of a team lie in one span, as ranks tell each other parts of it. */
static void layout_tables(struct arena *a, struct nn_optimizer *o)
{
    o->names = arena_take(a, o->tensor_count, sizeof *o->names);
    o->counts = arena_take(a, o->tensor_count, sizeof *o->counts);
    o->starts = arena_take(a, o->tensor_count, sizeof *o->starts);
    o->borders = arena_take(a, sotto_team_size(o->team) + 1, sizeof *o->borders);
}

static void fill_tables(struct nn_optimizer *o, const struct tensor_list *tensors)
{
    const size_t rank = sotto_team_rank(o->team);
    for (size_t t = 0; t < tensors->count; t++) {
        const struct tensor *tensor = &tensors->items[t];
        strcpy(o->names[t], tensor->name); /* length checked by optimizer_create */
        o->counts[t] = tensor->count;
        o->starts[t] =
            o->team ? (size_t)(tensor->value - tensors->items[0].value) : (o->width + 15) & ~(size_t)15;
        o->width = o->starts[t] + tensor->count;
    }
    tree_segments(o->borders, o->width, sotto_team_size(o->team));
    o->first = o->borders[rank];
    o->end = o->borders[rank + 1];
}

static size_t count_chunks(const struct nn_optimizer *o)
{
    size_t chunks = 0;
    for (size_t t = 0; t < o->tensor_count; t++)
        chunks += (own_end(o, t) - own_first(o, t) + CHUNK - 1) / CHUNK;
    return chunks;
}

static void layout_states(struct arena *a, struct nn_optimizer *o)
{
    o->chunks = arena_take(a, o->chunk_count, sizeof *o->chunks);
    for (size_t s = 0; s < o->kind->states; s++) {
        o->own[s] = arena_take(a, o->end - o->first, sizeof(float));
        o->whole[s] = o->team ? NULL : o->own[s];
    }
}

static void fill_chunks(struct nn_optimizer *o)
{
    size_t next = 0;
    for (size_t t = 0; t < o->tensor_count; t++)
        for (size_t offset = own_first(o, t); offset < own_end(o, t); offset += CHUNK)
            o->chunks[next++] =
                (struct optimizer_chunk){t, offset, optimizer_least(own_end(o, t) - offset, CHUNK)};
}

static sotto_status find_kind(const struct optimizer **out, const char *name)
{
    for (size_t i = 0; optimizer_table[i]; i++)
        if (strcmp(optimizer_table[i]->name, name) == 0) {
            *out = optimizer_table[i];
            return SOTTO_OK;
        }
    return choice_unknown(SOTTO_EINVAL, "optimizer", name, "adam or sgd");
}

static sotto_status make_tables(struct nn_optimizer *o, const struct tensor_list *tensors)
{
    sotto_status status = SOTTO_OK;
    for (size_t t = 0; t < tensors->count; t++)
        REQUIRE(strlen(tensors->items[t].name) < sizeof *o->names, "optimizer: tensor name '%s' is too long",
                tensors->items[t].name);
    layout_tables(&o->tables, o);
    TRY(arena_reserve(&o->tables, "optimizer's tensors"));
    layout_tables(&o->tables, o);
    fill_tables(o, tensors);
done:
    return status;
}

static sotto_status make_states(struct nn_optimizer *o)
{
    sotto_status status = SOTTO_OK;
    o->chunk_count = count_chunks(o);
    layout_states(&o->states, o);
    TRY(arena_reserve(&o->states, "optimizer state"));
    layout_states(&o->states, o);
    fill_chunks(o);
done:
    return status;
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
    o->team = sotto_team_size(c->team) > 1 ? c->team : NULL;
    o->kernels = optimizer_kernels_best();
    o->tensor_count = tensors->count;
    TRY(make_tables(o, tensors));
    TRY(make_states(o));
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
    arena_clear(&o->tables);
    arena_clear(&o->states);
    arena_clear(&o->gathered);
    base_free(o);
}

size_t nn_optimizer_bytes(const struct nn_optimizer *o)
{
    return o->kind->states * (o->end - o->first) * sizeof(float);
}

void nn_optimizer_restart(struct nn_optimizer *o)
{
    o->steps = 0;
    for (size_t s = 0; s < o->kind->states; s++)
        memset(o->own[s], 0, (o->end - o->first) * sizeof(float));
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
        states[s] = o->own[s] + (o->starts[c.tensor] + c.offset - o->first);
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
    assert(status == SOTTO_OK);    /* no update can fail */
    if (o->team && tensors->count) /* the next agreement says if it failed */
        status = team_gather(o->team, tensors->items[0].value, sizeof(float), o->borders);
    (void)status;
}
