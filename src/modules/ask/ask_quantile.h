/* ask_quantile.h - quantiles from counts of a tree: public edges, halved again and again. Each level is a histogram of its own. */
#ifndef ASK_ASK_QUANTILE_H
#define ASK_ASK_QUANTILE_H

#include "ask/ask_query.h"

/** The edges of a number column: whole numbers from bound to bound where these are whole and at most 1024 apart, or halves of them, or
 * quarters, until there are at least 64 steps; else 1024 even steps. Leaf i of the tree holds values above edge i - 1, up to edge i. */
struct ask_tree {
    double low, step; /* edge i: low + i step */
    size_t edges, levels;
};
struct ask_tree ask_tree_of(const struct encoding_column *c);
/** The same with another number than 1024. */
struct ask_tree ask_edges_of(const struct encoding_column *c, size_t steps);
/** The leaf that x lies in. */
size_t ask_tree_leaf(const struct ask_tree *t, double x);
/** Nodes of all levels: 2, then 4, then 8. */
size_t ask_tree_nodes(const struct ask_tree *t);
/** Adds mass to the node of each level that x lies in; nodes (ask_tree_nodes()). */
void ask_tree_add(int64_t *nodes, const struct ask_tree *t, double x, int64_t mass);
/** Counts of the leaves, of least squares from noisy counts of all nodes.
 *  In:      nodes   (ask_tree_nodes()), used up
 *           total   of all leaves; NAN: not known
 *  Out:     leaves  (2^levels) */
void ask_tree_solve(double *leaves, double *nodes, const struct ask_tree *t, double total);
/** The first edge up to which at least `share` of all lie. Sums that fall, as noisy ones may, count as the largest before. */
double ask_tree_quantile(const double *leaves, const struct ask_tree *t, double share);

/** Edges between which that quantile lies.
 *  In:      total     of all leaves; NAN: not known
 *           noise     half of an interval for one node
 *           sampling  half of one for how many of the rows lie below the quantile of their population; 0: of the noise alone
 *  Out:     ends      the first and the last of them */
void ask_tree_interval(double ends[2], const double *leaves, const struct ask_tree *t, double share,
                       double total, double noise, double sampling);

#endif
