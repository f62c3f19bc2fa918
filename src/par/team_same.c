/* Ranks that make different calls would wait for each other for ever, or take one's numbers for another's. */
#include "base/memory.h"
#include "par/ranks.h"

#include <stdio.h>
#include <string.h>

enum { VALUE = 100 };
/* What a rank says of itself. */
struct said {
    char host[TEAM_HOST], value[VALUE + 1];
};

static sotto_status gather(struct said **all, const struct sotto_team *team, const char *value)
{
    sotto_status status = SOTTO_OK;
    const size_t size = sotto_team_size(team), rank = sotto_team_rank(team);
    size_t *firsts = NULL;
    NEW(*all, size);
    NEW(firsts, size + 1);
    for (size_t r = 0; r <= size; r++)
        firsts[r] = r;
    snprintf((*all)[rank].host, TEAM_HOST, "%s", team_host(team));
    snprintf((*all)[rank].value, sizeof(*all)[rank].value, "%s", value);
done:
    status = team_agree(team, status);
    if (status == SOTTO_OK)
        status = team_gather(team, *all, sizeof **all, firsts);
    base_free(firsts);
    return status;
}

sotto_status sotto_team_same(const struct sotto_team *team, const char *what, const char *value)
{
    sotto_status status = SOTTO_OK;
    struct said *all = NULL;
    if (sotto_team_size(team) == 1)
        goto done;
    TRY(gather(&all, team, value));
    for (size_t r = 1; r < sotto_team_size(team); r++)
        if (strcmp(all[r].value, all[0].value) != 0)
            FAIL(SOTTO_EUSAGE,
                 "rank %zu (%s): %.100s is %s, but %s on rank 0; start all ranks with the same command", r,
                 all[r].host, what, all[r].value, all[0].value);
done:
    base_free(all);
    return status;
}
