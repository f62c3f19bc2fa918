/* tree.h - sums over the leaves of a batch, in an order that depends on the number of leaves alone.
 *
 * A leaf is a fixed group of neighbouring records (nn/plan/leaves.h). Node (j, i) of the tree covers leaves i 2^j to (i + 1) 2^j,
 * cut at their number; its value is left + right, or left where right is empty. An addition of floats gives the same bits in
 * either direction, so it does not matter who adds, only what: threads and processes that own runs of neighbouring leaves add
 * as far as the tree goes within their runs, and what is left is joined at the end. Nothing else may add across leaves, but
 * sums of whole numbers, which any order gives alike. */
#ifndef PAR_TREE_H
#define PAR_TREE_H

#include "base/memory.h"
#include "par/ranks.h"

/** x[0] = the sum of x (leaves), at least one, which are overwritten; returns it. */
double tree_sum(double *x, size_t leaves);

/** The same for (leaves, width) numbers, where `merge` makes one node of two: to = to and from. */
typedef void tree_merge_rows(double *to, const double *from, size_t width);
void tree_merge(double *x, size_t leaves, size_t width, tree_merge_rows *merge);
/** One that adds. */
tree_merge_rows tree_merge_sums;

/** Are the sums over leaves first .. middle - 1 and middle .. end - 1 the two sides of a node? */
bool tree_siblings(size_t first, size_t middle, size_t end, size_t leaves);

/** Sums of vectors by several workers, each with a run of neighbouring leaves. */
struct tree_sums;
/** Worker w of `workers` has leaves tree_first(w, ...) to tree_first(w + 1, ...) - 1. Ranks of a team cut all leaves, and the
 * workers of a rank its leaves. */
size_t tree_first(size_t worker, size_t workers, size_t leaves);
/** In:  total (width)  where the sum over all leaves will be; its values are overwritten
 *       workers        of this rank
 *       team           of at most `leaves` ranks; NULL: alone. Then the sums are of this rank's leaves, and par/tree_ranks.h
 *                      makes one of all ranks'
 *       room           memory for what does not outlast tree_sums_join(), shared by sums of which only one is at work at a time;
 *                      grows to what the largest needs, stays the caller's. NULL: it has memory of its own
 *  Returns: ENOMEM */
sotto_status tree_sums_create(struct tree_sums **out, float *total, size_t width, size_t leaves,
                              size_t workers, const struct sotto_team *team, struct arena *room);
void tree_sums_free(struct tree_sums *s);
/** Without the room. */
size_t tree_sums_bytes(const struct tree_sums *s);
/** Before a worker's first leaf. */
void tree_sums_begin(struct tree_sums *s, size_t worker);
/** (width) where the worker writes the vector of its next leaf, all of it. */
float *tree_sums_next(struct tree_sums *s, size_t worker);
/** It has written it. */
void tree_sums_add(struct tree_sums *s, size_t worker);
/** All workers of this rank have added all their leaves: total is there, or on ranks the nodes of this rank's leaves are. Any
 * number of threads gives the same bits. */
void tree_sums_join(struct tree_sums *s, int threads);

#endif
