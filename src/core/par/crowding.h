/* crowding.h - do the ranks of a machine have more threads than cores? */
#ifndef PAR_CROWDING_H
#define PAR_CROWDING_H

#include "base/cpu_set.h"
#include "par/ranks.h"

#include <stdbool.h>

/** What a rank says of where it runs. */
struct rank_place {
    char host[TEAM_HOST];
    uint32_t threads, installed;  /* installed: CPUs of its machine */
    uint64_t cpus[CPU_SET_WORDS]; /* that it may use */
};
/** The first machine with more threads, of all its ranks, than CPUs that they may use. */
struct crowd {
    const char *host; /* in the first of `places` that is on it */
    size_t ranks, threads, cores, installed;
};
/** False: there is none. Ranks that know no CPUs count for nothing. */
bool crowd_find(struct crowd *out, const struct rank_place *places, size_t ranks);
/** One line: what is crowded, and with which line to start instead. */
enum { CROWD_TEXT = 400 };
void crowd_text(char out[CROWD_TEXT], const struct crowd *c);

/** Before the first step, by all ranks: they learn each other's machines (team_host_of()), and rank 0 warns of the first machine that
 * is crowded. Team NULL: nothing. Errors of the transport; ENOMEM. */
sotto_status crowding_check(const struct sotto_team *t, const char *stage, int threads,
                            const struct sotto_context *ctx);

#endif
