/* The lowest level of all ranks. oneDNN takes a limit only before its first use, so this comes before any computation. */
#include "base/cpu.h"
#include "base/memory.h"
#include "par/ranks.h"

#include <stdlib.h>

/* What a rank says of itself. */
struct level {
    int isa, common;
};

sotto_status sotto_team_common_isa(const struct sotto_team *team, int common)
{
    sotto_status status = SOTTO_OK;
    const struct level mine = {(int)cpu_best_isa(), common != 0};
    struct level *all = NULL;
    int lowest = mine.isa;
    if (sotto_team_size(team) == 1)
        goto done;
    TRY(team_gather_each(team, &all, &mine, sizeof mine));
    for (size_t r = 0; r < sotto_team_size(team); r++) {
        lowest = all[r].isa < lowest ? all[r].isa : lowest;
        if (all[r].common != all[0].common)
            FAIL(SOTTO_EUSAGE,
                 "rank %zu %s the lowest instruction set of all ranks, but rank 0 %s; start all ranks with "
                 "the "
                 "same {isa}",
                 r, all[r].common ? "uses" : "does not use", all[0].common ? "does" : "does not");
    }
    if (common && setenv("SOTTO_ISA", cpu_isa_name((enum cpu_isa)lowest), 1) != 0)
        FAIL(SOTTO_ENOMEM, "out of memory for an environment variable");
done:
    base_free(all);
    return status;
}
