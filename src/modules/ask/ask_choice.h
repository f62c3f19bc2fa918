/* ask_choice.h - a few quantiles of a column one by one: of each an edge, by the exponential mechanism over ranks. */
#ifndef ASK_ASK_CHOICE_H
#define ASK_ASK_CHOICE_H

#include "ask/ask_quantile.h"
#include "dp/release/release_vector.h"

/** Candidates: as for a tree, but up to 8192 steps. */
struct ask_tree ask_choice_edges(const struct encoding_column *c);
/** The scale of a choice of that query, in ranks, which noise of this scale on a cell of its mass dominates. */
double ask_choice_scale(const struct ask_query *q, double scale, bool gaussian);
/** How many ranks an edge is off at most, but for a probability `rare`. */
double ask_choice_within(const struct ask_query *q, const struct ask_plan *plan, double scale, double rare,
                         bool gaussian);
/** How many ranks each edge is off, in parts of 2^-30: one row moves that by at most one rank, and one edge is off by none.
 *  In:      counts  (t->edges) of rows, up to each edge from the one before
 *  Out:     gap     (t->edges) */
void ask_choice_gaps(uint128 *gap, const int64_t *counts, const struct ask_tree *t, double share);
/** Chooses the edges of all queries that are answered so.
 *  In:      sums  (plan->sums)
 *  Out:     out   (plan->cells + plan->block + plan->choices), those behind the cells
 *  Returns: ENOMEM */
sotto_status ask_choices_draw(double *out, const struct ask_plan *plan, const int64_t *sums,
                              struct vector_release *v, bool gaussian);

#endif
