/* The optimizer's memory as named tensors, so that a resumed run takes bit for bit the steps of an
 * uninterrupted one: PREFIXsteps (1) i8 and PREFIXSTATE.TENSOR (count) f4, STATE being torch.optim's name
 * ("exp_avg"). */
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
    TRY(sotto_tensors_add(out, name, SOTTO_I8, 1, &one, &steps));
    for (size_t t = 0; t < o->tensor_count; t++)
        for (size_t s = 0; s < o->kind->states; s++) {
            TRY(state_name(name, o, prefix, t, s));
            TRY(sotto_tensors_add(out, name, SOTTO_F4, 1, &o->counts[t],
                                  o->states[t * OPTIMIZER_STATES_MAX + s]));
        }
done:
    return status;
}

static sotto_status find(const struct sotto_array **out, const struct sotto_tensors *in, const char *name,
                         enum sotto_dtype dtype, size_t count)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_array *a = sotto_tensors_find(in, name);
    if (!a)
        FAIL(SOTTO_EFORMAT, "optimizer state: tensor '%s' is missing", name);
    if (a->dtype != dtype || a->ndim != 1 || a->count != count)
        FAIL(SOTTO_EFORMAT, "optimizer state: tensor '%s' has %zu values of type %s; expected %zu of type %s",
             name, a->count, sotto_dtype_name(a->dtype), count, sotto_dtype_name(dtype));
    *out = a;
done:
    return status;
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
    TRY(find(&a, in, name, SOTTO_I8, 1));
    memcpy(&steps, a->data, sizeof steps);
    if (steps < 0)
        FAIL(SOTTO_EFORMAT, "optimizer state: '%s' is %lld; expected >= 0", name, (long long)steps);
    for (int copy = 0; copy <= 1; copy++)
        for (size_t t = 0; t < o->tensor_count; t++)
            for (size_t s = 0; s < o->kind->states; s++) {
                TRY(state_name(name, o, prefix, t, s));
                TRY(find(&a, in, name, SOTTO_F4, o->counts[t]));
                if (copy)
                    memcpy(o->states[t * OPTIMIZER_STATES_MAX + s], a->data, a->count * sizeof(float));
            }
    o->steps = (uint64_t)steps;
done:
    return status;
}

sotto_status nn_optimizer_share(struct nn_optimizer *o, const struct sotto_team *team)
{
    sotto_status status = SOTTO_OK;
    TRY(team_broadcast(team, &o->steps, sizeof o->steps));
    for (size_t t = 0; t < o->tensor_count; t++)
        for (size_t s = 0; s < o->kind->states; s++)
            TRY(team_broadcast(team, o->states[t * OPTIMIZER_STATES_MAX + s], o->counts[t] * sizeof(float)));
done:
    return status;
}

void optimizer_copy(struct nn_optimizer *to, const struct nn_optimizer *from)
{
    to->steps = from->steps;
    for (size_t t = 0; t < from->tensor_count; t++)
        for (size_t s = 0; s < from->kind->states; s++)
            memcpy(to->states[t * OPTIMIZER_STATES_MAX + s], from->states[t * OPTIMIZER_STATES_MAX + s],
                   from->counts[t] * sizeof(float));
}
