/* What leaves say to each other: which rank has which, and what goes between ranks in a step besides gradients, which the tree
 * joins (par/tree.c). Each exchange comes after an agreement (par/ranks.h). */
#include "nn/plan/leaves_private.h"

#include "par/tree.h"

#include <string.h>

sotto_status leaves_deal(struct leaves *l)
{
    sotto_status status = SOTTO_OK;
    const struct leaves_config *c = &l->config;
    const size_t ranks = sotto_team_size(c->team), rank = sotto_team_rank(c->team);
    if (ranks > 1 && leaves_fast(l))
        FAIL(SOTTO_ENOTSUP, "order fast cannot run on several ranks; give order exact");
    REQUIRE(ranks <= l->count,
            "a batch of %zu in leaves of %zu makes %zu %s; %zu ranks were started, but at most %zu can work",
            c->records, c->order.leaf, l->count, l->count == 1 ? "leaf" : "leaves", ranks, l->count);
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
                 mine = l->end - l->first, threads = l->config.threads > 1 ? (size_t)l->config.threads : 1;
    return (double)((mine + threads - 1) / threads) / (double)((most + threads - 1) / threads);
}
