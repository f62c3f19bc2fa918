/* The optimizer's memory as named tensors, so that a resumed run takes bit for bit the steps of an
 * uninterrupted one: PREFIXsteps (1) i8 and PREFIXSTATE.TENSOR (count) f4, STATE being torch.optim's name
 * ("exp_avg"). */
#include "io/array/tensors.h"
#include "nn/optimizer/optimizer_private.h"

#include "par/ranks.h"

#include <stdio.h>
#include <string.h>

enum { NAME_MAX_LENGTH = 256 };

static sotto_status state_name(char out[NAME_MAX_LENGTH], const struct nn_optimizer *o, const char *prefix,
                               size_t tensor, size_t state)
{
    int length =
        snprintf(out, NAME_MAX_LENGTH, "%s%s.%s", prefix, o->kind->state_names[state], o->names[tensor]);
    if (length < 0 || length >= NAME_MAX_LENGTH)
        return status_fail(SOTTO_EINVAL, "optimizer: the name '%s%s.%s' is too long", prefix,
                           o->kind->state_names[state], o->names[tensor]);
    return SOTTO_OK;
}

sotto_status nn_optimizer_export(struct sotto_tensors *out, const struct nn_optimizer *o, const char *prefix)
{
    sotto_status status = SOTTO_OK;
    char name[NAME_MAX_LENGTH];
    int64_t steps = (int64_t)o->steps;
    size_t one = 1;
    REQUIRE(snprintf(name, sizeof name, "%ssteps", prefix) < (int)sizeof name,
            "optimizer: the prefix is too long");
    TRY(tensors_add(out, name, SOTTO_I8, 1, &one, &steps));
    if (o->steps > 0 && o->team && !o->gathered.base)
        FAIL(SOTTO_EINTERNAL,
             "optimizer state: only this rank's segment is here; gather those of all ranks first");
    for (size_t t = 0; t < o->tensor_count; t++)
        for (size_t s = 0; s < o->kind->states; s++) {
            TRY(state_name(name, o, prefix, t, s));
            TRY(tensors_add(out, name, SOTTO_F4, 1, &o->counts[t],
                            o->whole[s] ? o->whole[s] + o->starts[t] : NULL)); /* zeros */
        }
done:
    return status;
}

static sotto_status optimizer_state_find(const struct sotto_array **out, const struct sotto_tensors *in,
                                         const char *name, enum sotto_dtype dtype, size_t count)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_array *a = tensors_find(in, name);
    if (!a)
        FAIL(SOTTO_EFORMAT, "optimizer state: tensor '%s' is missing", name);
    if (a->dtype != dtype || a->ndim != 1 || a->count != count)
        FAIL(SOTTO_EFORMAT, "optimizer state: tensor '%s' has %zu values of type %s; expected %zu of type %s",
             name, a->count, sotto_dtype_name(a->dtype), count, sotto_dtype_name(dtype));
    *out = a;
done:
    return status;
}

static void layout_whole(struct arena *a, struct nn_optimizer *o)
{
    for (size_t s = 0; s < o->kind->states; s++)
        o->whole[s] = arena_take(a, o->width, sizeof(float));
}

/* Of a team: memory for the state of all ranks. */
static sotto_status make_whole(struct nn_optimizer *o)
{
    sotto_status status = SOTTO_OK;
    if (!o->team || o->gathered.base)
        goto done;
    layout_whole(&o->gathered, o);
    TRY(arena_reserve(&o->gathered, "optimizer state of all ranks"));
    layout_whole(&o->gathered, o);
done:
    return status;
}

void nn_optimizer_drop(struct nn_optimizer *o)
{
    if (!o->team)
        return;
    arena_clear(&o->gathered);
    memset(o->whole, 0, sizeof o->whole);
}

/* First pass checks everything, second copies: a bad file leaves the optimizer as it was. */
sotto_status nn_optimizer_import(struct nn_optimizer *o, const struct sotto_tensors *in, const char *prefix)
{
    sotto_status status = SOTTO_OK;
    char name[NAME_MAX_LENGTH];
    const struct sotto_array *a;
    int64_t steps;
    REQUIRE(snprintf(name, sizeof name, "%ssteps", prefix) < (int)sizeof name,
            "optimizer: the prefix is too long");
    TRY(optimizer_state_find(&a, in, name, SOTTO_I8, 1));
    memcpy(&steps, a->data, sizeof steps);
    if (steps < 0)
        FAIL(SOTTO_EFORMAT, "optimizer state: '%s' is %lld; expected >= 0", name, (long long)steps);
    TRY(make_whole(o));
    for (int copy = 0; copy <= 1; copy++)
        for (size_t t = 0; t < o->tensor_count; t++)
            for (size_t s = 0; s < o->kind->states; s++) {
                TRY(state_name(name, o, prefix, t, s));
                TRY(optimizer_state_find(&a, in, name, SOTTO_F4, o->counts[t]));
                if (copy)
                    memcpy(o->whole[s] + o->starts[t], a->data, a->count * sizeof(float));
            }
    o->steps = (uint64_t)steps;
done:
    return status;
}

/* ---- ranks ---- */

/* Parts of a state between rank 0, where the whole is, and the rank that has them. */
enum direction { GATHER, SCATTER };
static sotto_status move_state(struct nn_optimizer *o, size_t s, enum direction direction)
{
    sotto_status status = SOTTO_OK;
    const size_t rank = sotto_team_rank(o->team), own = (o->end - o->first) * sizeof(float);
    float *whole = o->whole[s], *mine = o->own[s];
    if (rank > 0) {
        TRY(team_exchange(o->team, mine, direction == GATHER ? own : 0, 0, mine,
                          direction == GATHER ? 0 : own, 0));
        goto done;
    }
    memcpy(direction == GATHER ? whole : mine, direction == GATHER ? mine : whole, own);
    for (size_t r = 1; r < sotto_team_size(o->team); r++) {
        float *place = whole + o->borders[r];
        const size_t bytes = (o->borders[r + 1] - o->borders[r]) * sizeof(float);
        TRY(team_exchange(o->team, place, direction == GATHER ? 0 : bytes, r, place,
                          direction == GATHER ? bytes : 0, r));
    }
done:
    return status;
}

static sotto_status move_states(struct nn_optimizer *o, enum direction direction)
{
    sotto_status status = SOTTO_OK;
    for (size_t s = 0; s < o->kind->states; s++)
        TRY(move_state(o, s, direction));
done:
    return status;
}

sotto_status nn_optimizer_gather(struct nn_optimizer *o)
{
    sotto_status status = SOTTO_OK;
    if (!o->team)
        goto done;
    TRY(team_agree(o->team, sotto_team_rank(o->team) == 0 ? make_whole(o) : SOTTO_OK));
    TRY(move_states(o, GATHER));
done:
    return status;
}

sotto_status nn_optimizer_share(struct nn_optimizer *o, const struct sotto_team *team)
{
    sotto_status status = SOTTO_OK;
    TRY(team_broadcast(team, &o->steps, sizeof o->steps));
    if (o->team) {
        TRY(move_states(o, SCATTER));
        nn_optimizer_drop(o);
        goto done;
    }
    for (size_t s = 0; s < o->kind->states; s++)
        TRY(team_broadcast(team, o->own[s], o->width * sizeof(float)));
done:
    return status;
}

void optimizer_copy(struct nn_optimizer *to, const struct nn_optimizer *from)
{
    to->steps = from->steps;
    for (size_t s = 0; s < from->kind->states; s++)
        memcpy(to->own[s], from->own[s], (from->end - from->first) * sizeof(float));
}
