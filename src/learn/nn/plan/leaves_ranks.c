/* What leaves say to each other: which rank has which, the trees of their gradients, and what else goes between ranks in a step.
 * Each exchange comes after an agreement (par/ranks.h). */
#include "nn/plan/leaves_private.h"

#include "par/tree_ranks.h"

#include <string.h>

sotto_status leaves_deal(struct leaves *l)
{
    sotto_status status = SOTTO_OK;
    const struct leaves_config *c = &l->config;
    const size_t ranks = sotto_team_size(c->team), rank = sotto_team_rank(c->team);
    if (ranks > 1 && leaves_fast(l))
        FAIL(SOTTO_ENOTSUP, "order fast cannot run on several ranks; give order exact");
    if (ranks > l->count) {
        status = status_fail(
            SOTTO_EINVAL,
            "a batch of %zu in leaves of %zu makes %zu %s; %zu ranks were started, but at most %zu can work",
            c->records, c->order.leaf, l->count, l->count == 1 ? "leaf" : "leaves", ranks, l->count);
        status_hint("give a larger {batch}, a smaller {leaf} or fewer ranks");
        goto done;
    }
    NEW(l->leaf_borders, ranks + 1);
    NEW(l->record_borders, ranks + 1);
    for (size_t r = 0; r <= ranks; r++) {
        const size_t leaf = tree_first(r, ranks, l->count), record = leaf * c->order.leaf;
        l->leaf_borders[r] = leaf;
        l->record_borders[r] = record < c->records ? record : c->records;
    }
    l->first = l->leaf_borders[rank];
    l->end = l->leaf_borders[rank + 1];
done:
    return status;
}

sotto_status leaves_merge_gathered(struct leaves *l, size_t k, bool forward)
{
    sotto_status status = SOTTO_OK;
    struct layer_run *run = &l->plans[0]->runs[l->crossing[k].row];
    const struct layer_cross *cross = l->crossing[k].cross;
    const size_t width = cross->width(run);
    TRY(team_gather(l->config.team, l->gathered, width * sizeof *l->gathered, l->leaf_borders));
    tree_merge(l->gathered, l->count, width, forward ? cross->merge_forward : cross->merge_backward);
    memcpy(l->crossed, l->gathered, width * sizeof *l->crossed);
    if (forward && cross->remember)
        cross->remember(run, l->crossed);
done:
    return status;
}

sotto_status leaves_gather_outputs(struct leaves *l)
{
    sotto_status status = SOTTO_OK;
    for (size_t v = 0; v < l->config.views; v++)
        TRY(team_gather(l->config.team, l->output + v * l->config.records * l->width,
                        l->width * sizeof *l->output, l->record_borders));
done:
    return status;
}

double leaves_sum(struct leaves *l, leaf_value *of, void *state)
{
    for (size_t i = l->first; i < l->end; i++) {
        const struct leaf leaf = leaf_at(l, i, 0);
        l->values[i] = of(state, &leaf);
    }
    (void)team_gather(l->config.team, l->values, sizeof *l->values,
                      l->leaf_borders); /* the next agreement says if it failed */
    return tree_sum(l->values, l->count);
}

double leaves_share(const struct leaves *l)
{
    const size_t ranks = sotto_team_size(l->config.team), most = (l->count + ranks - 1) / ranks,
                 mine = l->end - l->first, threads = l->config.threads > 1 ? (size_t)l->config.threads : 1,
                 rounds = (mine + threads - 1) / threads, most_rounds = (most + threads - 1) / threads;
    return (double)rounds / (double)most_rounds;
}

/* ---- gradients ---- */

/* Where the trained values of the rows from this one on begin. */
static size_t value_of_row(const struct nn_model *m, size_t row)
{
    for (size_t i = 0; i < m->parameter_count; i++)
        if (!m->parameters[i].statistic && (size_t)m->parameters[i].row >= row)
            return (size_t)(m->parameters[i].value - m->values);
    return m->trainable;
}

/* A layer that crosses leaves writes gradients in its first half, one with noise that does in the second. */
size_t leaves_first_value(const struct leaves *l, size_t phase)
{
    if (phase == 0 || phase > l->crossings)
        return phase == 0 ? 0 : l->model->trainable;
    const struct crossing *c = &l->crossing[phase - 1];
    return value_of_row(l->model, c->row + (crosses_at_noise(c) ? 1 : 0));
}

/* Over ranks, of an optimizer's tensors: it cuts them into the same segments. */
static sotto_status make_rank_sums(struct rank_sums **out, const struct leaves *l, struct tensor_list tensors,
                                   const struct tree_part *parts, size_t count)
{
    if (sotto_team_size(l->config.team) == 1 || tensors.count == 0)
        return SOTTO_OK;
    return rank_sums_create(out, l->model->diffs, (size_t)(tensors.items[0].value - l->model->values),
                            tensor_list_width(&tensors), parts, count, l->count, l->config.team);
}

static sotto_status make_task_sums(struct leaves *l)
{
    sotto_status status = SOTTO_OK;
    struct tree_part *parts = NULL;
    size_t count = 0;
    NEW(l->sums, l->crossings + 1);
    NEW(parts, l->crossings + 1);
    for (size_t k = 0; k <= l->crossings; k++) {
        const size_t first = leaves_first_value(l, k), width = leaves_first_value(l, k + 1) - first;
        if (!width)
            continue;
        TRY(tree_sums_create(&l->sums[k], l->model->diffs + first, width, l->count, l->workers,
                             l->config.team, &l->sums_room));
        parts[count++] = (struct tree_part){first, l->sums[k]};
    }
    TRY(make_rank_sums(&l->ranks_task, l,
                       l->model->adversary_rows ? model_task_tensors(l->model) : *nn_model_tensors(l->model),
                       parts, count));
done:
    base_free(parts);
    return status;
}

sotto_status leaves_make_sums(struct leaves *l)
{
    sotto_status status = SOTTO_OK;
    TRY(make_task_sums(l));
    if (!l->model->adversary_rows)
        goto done;
    l->adversary_first = value_of_row(l->model, (size_t)model_output_row(l->model) + 1);
    TRY(tree_sums_create(&l->adversary_sums, l->model->diffs + l->adversary_first,
                         l->model->trainable - l->adversary_first, l->count, l->workers, l->config.team,
                         &l->sums_room));
    TRY(make_rank_sums(&l->ranks_adversary, l, model_adversary_tensors(l->model),
                       &(struct tree_part){l->adversary_first, l->adversary_sums}, 1));
done:
    return status;
}

void leaves_free_sums(struct leaves *l)
{
    for (size_t k = 0; l->sums && k <= l->crossings; k++)
        tree_sums_free(l->sums[k]);
    base_free(l->sums);
    tree_sums_free(l->adversary_sums);
    arena_clear(&l->sums_room);
    rank_sums_free(l->ranks_task);
    rank_sums_free(l->ranks_adversary);
}

size_t leaves_sums_bytes(const struct leaves *l)
{
    size_t bytes = l->sums_room.capacity;
    for (size_t k = 0; k <= l->crossings; k++)
        bytes += l->sums[k] ? tree_sums_bytes(l->sums[k]) : 0;
    bytes += l->adversary_sums ? tree_sums_bytes(l->adversary_sums) : 0;
    bytes += l->ranks_task ? rank_sums_bytes(l->ranks_task) : 0;
    return bytes + (l->ranks_adversary ? rank_sums_bytes(l->ranks_adversary) : 0);
}
