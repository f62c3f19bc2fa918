/* tree_ranks.h - sums over the leaves of all ranks (par/tree.h), of which each rank gets one segment.
 *
 * A vector is cut into chunks of 16,384 elements, and rank r has chunks floor(n r / R) .. floor(n (r + 1) / R) - 1 of n. What is
 * to be done with the sum, a step of an optimizer for instance, each rank does to its segment, and then all get all segments:
 * so a step sends what a sum for all ranks would. Ranks get the bits that one process gets (par/tree.h). */
#ifndef PAR_TREE_RANKS_H
#define PAR_TREE_RANKS_H

#include "par/tree.h"

/** Rank r has elements borders[r] .. borders[r + 1] - 1 of a vector. Out: borders (ranks + 1) */
void tree_segments(size_t *borders, size_t width, size_t ranks);

/** Sums that lie one behind the other in one vector, as those of a step's phases do. */
struct tree_part {
    size_t first; /* where it begins in the vector */
    const struct tree_sums *sums;
};
struct rank_sums;
/** In:  vector        where all parts have their total, in ascending order, without gaps
 *       first, width  of what is summed over ranks: elements first .. first + width - 1 of the vector are cut into segments
 *       team          of two ranks or more, and of at most `leaves`; as that of the parts
 *  Returns: ENOMEM */
sotto_status rank_sums_create(struct rank_sums **out, float *vector, size_t first, size_t width,
                              const struct tree_part *parts, size_t part_count, size_t leaves,
                              const struct sotto_team *team);
void rank_sums_free(struct rank_sums *s);
size_t rank_sums_bytes(const struct rank_sums *s);
/** All ranks agreed that the parts from element `from` of the vector on were joined: from there on the vector holds the sum over
 * all ranks' leaves in this rank's segment; elsewhere it holds nothing of use. Errors of the team's transport. NULL: nothing, as
 * there is one rank. */
sotto_status rank_sums_join(struct rank_sums *s, size_t from, int threads);

#endif
