/* Canaries on ranks: all train on the same set, so all need the same coins. Rank 0 alone tosses them, or finds those of the
 * interrupted run, and alone has their file; it tells the others over their network, where sums without noise go as well. */
#include "base/memory.h"
#include "canary/canaries.h"
#include "par/ranks.h"

#include <stdio.h>
#include <string.h>

/* What a rank was asked for, all of it public. */
struct asked {
    char host[TEAM_HOST], canaries[96];
};

static void canary_ranks_describe(struct asked *a, const struct sotto_canary_request *r)
{
    const struct sotto_canary_options *o = &r->options;
    snprintf(a->host, sizeof a->host, "%s", team_host(r->team));
    if (o->count == 0)
        strcpy(a->canaries, "none");
    else
        snprintf(a->canaries, sizeof a->canaries, "%zu %s, %s", o->count, canary_kind_name(o->kind),
                 canary_relation_name(r->relation));
}

sotto_status canary_ranks_compare(const struct sotto_canary_request *request)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_team *team = request->team;
    const size_t ranks = sotto_team_size(team);
    struct asked mine = {0}, *all = NULL;
    if (!team)
        goto done;
    canary_ranks_describe(&mine, request);
    TRY(team_gather_each(team, &all, &mine, sizeof mine));
    for (size_t r = 1; r < ranks; r++)
        REQUIRE(strcmp(all[r].canaries, all[0].canaries) == 0,
                "rank %zu (%s): canaries is %s, but %s on rank 0; start all ranks with the same options", r,
                all[r].host, all[r].canaries, all[0].canaries);
done:
    base_free(all);
    return status;
}

static sotto_status make_room(struct canary_coins *c)
{
    sotto_status status = SOTTO_OK;
    NEW(c->heads, c->count + 1);
done:
    return status;
}

sotto_status canary_ranks_share(struct canary_coins *c, const struct sotto_team *team, sotto_status status)
{
    if (status == SOTTO_OK && sotto_team_rank(team) > 0)
        status = make_room(c);
    TRY(team_agree(team, status));
    TRY(team_broadcast(team, c->salt, sizeof c->salt));
    TRY(team_broadcast(team, &c->seeded, sizeof c->seeded));
    TRY(team_broadcast(team, c->heads, c->count + 1));
done:
    return status;
}
