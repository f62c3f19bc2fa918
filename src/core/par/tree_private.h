/* tree_private.h - how whole nodes of neighbouring leaves become larger ones, for the sums of workers and of ranks. */
#ifndef PAR_TREE_PRIVATE_H
#define PAR_TREE_PRIVATE_H

#include "par/tree.h"

struct tree_node {
    size_t first, end; /* leaves */
    size_t place;      /* of its sum, by the caller's numbers */
};
enum { TREE_NODES = 2 * 64 /* of a run of leaves, and one more for each level */ };
/** Whole nodes, one beside the other. */
struct tree_stack {
    struct tree_node node[TREE_NODES];
    size_t count;
};
/** The sum in place `to` becomes to + from. */
struct tree_join {
    size_t to, from;
};
/** Puts a node behind those on the stack. Two that are siblings become one, in the place of the left one, which appends to
 * joins (NULL: no list) what is then to be added. */
void tree_stack_push(struct tree_stack *s, const struct tree_node *n, size_t leaves, struct tree_join *joins,
                     size_t *join_count);
/** The largest whole nodes of leaves first .. end - 1; returns how many places it takes to add them up leaf by leaf. A node's
 * place is its position. */
size_t tree_stack_run(struct tree_stack *s, size_t first, size_t end, size_t leaves);

/** After tree_sums_join(): (width), the sum of node i of this rank's leaves. Node 0 lies in the total. */
const float *tree_sums_node(const struct tree_sums *s, size_t i);
size_t tree_sums_width(const struct tree_sums *s);

#endif
