/* The lowest level of all ranks. oneDNN takes a limit only before its first use, so this comes before any computation. */
#include "base/cpu.h"
#include "base/memory.h"
#include "par/ranks.h"

#include <stdlib.h>

/* What a rank says of itself. */
struct level {
    int isa, common;
};

static sotto_status gather(struct level **all, const struct sotto_team *team, int common)
{
    sotto_status status = SOTTO_OK;
    const size_t size = sotto_team_size(team), rank = sotto_team_rank(team);
    size_t *firsts = NULL;
    NEW(*all, size);
    NEW(firsts, size + 1);
    for (size_t r = 0; r <= size; r++)
        firsts[r] = r;
    (*all)[rank] = (struct level){(int)cpu_best_isa(), common != 0};
done:
    status = team_agree(team, status);
    if (status == SOTTO_OK)
        status = team_gather(team, *all, sizeof **all, firsts);
    base_free(firsts);
    return status;
}

sotto_status sotto_team_common_isa(const struct sotto_team *team, int common)
{
    sotto_status status = SOTTO_OK;
    struct level *all = NULL;
    int lowest = (int)cpu_best_isa();
    if (sotto_team_size(team) == 1)
        goto done;
    TRY(gather(&all, team, common));
    for (size_t r = 0; r < sotto_team_size(team); r++) {
        lowest = all[r].isa < lowest ? all[r].isa : lowest;
        if (all[r].common != all[0].common)
            FAIL(SOTTO_EUSAGE,
                 "rank %zu %s the lowest instruction set of all ranks, but rank 0 %s; start all ranks with "
                 "the "
                 "same --isa",
                 r, all[r].common ? "uses" : "does not use", all[0].common ? "does" : "does not");
    }
    if (common && setenv("SOTTO_ISA", cpu_isa_name((enum cpu_isa)lowest), 1) != 0)
        FAIL(SOTTO_ENOMEM, "out of memory for an environment variable");
done:
    base_free(all);
    return status;
}
