#include "nn/model/epoch_moments.h"

#include "io/array/tensors.h"
#include "nn/model/model.h"

#include <string.h>

static const double MOMENTUM = 0.1; /* as of a batch norm over the batch */
static const char name[] = "moments.sums";

/* By multiplications alone, which give the same bits everywhere. */
static double epoch_moments_power(double x, size_t n)
{
    double result = 1;
    for (; n > 0; n /= 2, x *= x)
        result *= n % 2 ? x : 1;
    return result;
}

sotto_status epoch_moments_create(struct epoch_moments **out, struct nn_model *m, size_t steps,
                                  const struct sotto_team *team)
{
    sotto_status status = SOTTO_OK;
    const size_t ranks = sotto_team_size(team);
    struct epoch_moments *e = NULL;
    NEW(e, 1);
    *e = (struct epoch_moments){.model = m, .team = team, .steps = steps, .count = m->statistic_count};
    NEW(e->sums, e->count);
    NEW_ROWS(e->room, ranks, e->count);
    NEW(e->borders, ranks + 1);
    for (size_t r = 0; r <= ranks; r++)
        e->borders[r] = r;
    *out = e;
    e = NULL;
done:
    epoch_moments_free(e);
    return status;
}

void epoch_moments_free(struct epoch_moments *e)
{
    if (!e)
        return;
    base_free(e->sums);
    base_free(e->room);
    base_free(e->borders);
    base_free(e);
}

double epoch_moments_weight(const struct epoch_moments *e, uint64_t step, size_t records, size_t of)
{
    return MOMENTUM * epoch_moments_power(1 - MOMENTUM, e->steps - 1 - (size_t)(step % e->steps)) *
           (double)records / (double)of;
}

/* All ranks have the sums of all. */
static sotto_status add_ranks(struct epoch_moments *e)
{
    sotto_status status = SOTTO_OK;
    const size_t ranks = sotto_team_size(e->team), rank = sotto_team_rank(e->team);
    if (ranks == 1)
        goto done;
    memcpy(e->room + rank * e->count, e->sums, e->count * sizeof *e->sums);
    TRY(team_gather(e->team, e->room, e->count * sizeof *e->room, e->borders));
    memset(e->sums, 0, e->count * sizeof *e->sums);
    for (size_t i = 0; i < ranks * e->count; i++)
        any_order_join(&e->sums[i % e->count], e->room[i]);
done:
    return status;
}

sotto_status epoch_moments_collect(struct epoch_moments *e)
{
    sotto_status status = SOTTO_OK;
    TRY(add_ranks(e));
    if (sotto_team_rank(e->team) > 0)
        memset(e->sums, 0, e->count * sizeof *e->sums);
done:
    return status;
}

sotto_status epoch_moments_finish(struct epoch_moments *e)
{
    sotto_status status = SOTTO_OK;
    const struct nn_model *m = e->model;
    const double left = epoch_moments_power(1 - MOMENTUM, e->steps);
    TRY(add_ranks(e));
    for (size_t i = 0; i < m->parameter_count; i++) {
        const struct nn_parameter *p = &m->parameters[i];
        for (size_t k = 0; p->statistic && !p->frozen && k < p->count; k++)
            p->value[k] = (float)(left * (double)p->value[k] +
                                  any_order_value(e->sums[(size_t)(p->value - m->statistics) + k]));
    }
    memset(e->sums, 0, e->count * sizeof *e->sums);
done:
    return status;
}

sotto_status epoch_moments_export(struct sotto_tensors *out, const struct epoch_moments *e)
{
    const size_t count = 2 * e->count;
    return tensors_add(out, name, SOTTO_I8, 1, &count, e->sums);
}

sotto_status epoch_moments_import(struct epoch_moments *e, const struct sotto_tensors *in)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_array *a = tensors_find(in, name);
    if (!a || a->dtype != SOTTO_I8 || a->count != 2 * e->count)
        FAIL(SOTTO_EFORMAT, "tensor '%s' is missing or has another shape; expected %zu whole numbers", name,
             2 * e->count);
    memcpy(e->sums, a->data, e->count * sizeof *e->sums);
    for (size_t i = 0; i < e->count; i++)
        if (e->sums[i].part < 0 || e->sums[i].part >> 48)
            FAIL(SOTTO_EFORMAT, "tensor '%s' is damaged", name);
done:
    return status;
}
