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

sotto_status sotto_team_same(const struct sotto_team *team, const char *what, const char *value)
{
    REQUIRE_GIVEN(what, value);
    sotto_status status = SOTTO_OK;
    struct said mine = {0}, *all = NULL;
    if (sotto_team_size(team) == 1)
        goto done;
    snprintf(mine.host, sizeof mine.host, "%s", team_host(team));
    snprintf(mine.value, sizeof mine.value, "%s", value);
    TRY(team_gather_each(team, &all, &mine, sizeof mine));
    for (size_t r = 1; r < sotto_team_size(team); r++)
        if (strcmp(all[r].value, all[0].value) != 0)
            FAIL(SOTTO_EUSAGE,
                 "rank %zu (%s): %.100s is %s, but %s on rank 0; start all ranks with the same command", r,
                 all[r].host, what, all[r].value, all[0].value);
done:
    base_free(all);
    return status;
}
