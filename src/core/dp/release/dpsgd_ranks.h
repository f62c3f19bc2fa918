/* dpsgd_ranks.h - a reservation that the ranks of a team use up together: charged once, sampled once, and every coordinate
 * gets its noise once.
 *
 * Rank 0 alone has the ledger, the account, the samples and the certificate. Noise may be drawn on any rank, once rank 0 has
 * told it that the entry is on disk. The coordinates of a step are cut into one run for each rank; a rank adds what all
 * others have summed there, draws the noise of these coordinates from its own operating system (seeded: by the position in
 * the whole vector, so that the number of ranks changes no bit), and then all get all.
 *
 * Team NULL, everywhere: one process, by the functions of sotto/release.h. Each function is an agreement (par/ranks.h): it fails on
 * all ranks or on none. */
#ifndef DP_RELEASE_DPSGD_RANKS_H
#define DP_RELEASE_DPSGD_RANKS_H

#include "par/ranks.h"
#include "sotto/release.h"

/** sotto_dp_reserve() on rank 0, and a session for what it says on the others. on_lattice must be set. ctx: without a team. */
sotto_status dpsgd_ranks_reserve(struct sotto_dpsgd_session **out, const struct sotto_dpsgd_request *r,
                                 const struct sotto_team *team, const struct sotto_context *ctx);
/** sotto_dp_sample() on rank 0, told to all. The list is as secret as the noise. */
sotto_status dpsgd_ranks_sample(struct sotto_dpsgd_session *s, uint32_t *rows, size_t *count, size_t n);
/** sotto_dp_step_lattice() of the sum over all ranks.
 *  In:   sum  (dimension) what this rank adds, whole numbers; all ranks agreed that they have it
 *  Out:  sum  the same on all ranks, with noise; after a failure zeros
 *  Errors: EINTERNAL: the ranks' coordinates are not the vector, each once: no noise was drawn */
sotto_status dpsgd_ranks_step(struct sotto_dpsgd_session *s, double *sum);

#endif
