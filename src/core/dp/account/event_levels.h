/* event_levels.h - many noise levels of one kind, between few of them. */
#ifndef DP_ACCOUNT_EVENT_LEVELS_H
#define DP_ACCOUNT_EVENT_LEVELS_H

#include "dp/pld/pld_plan.h"

/** A part whose pairs are scalar ones. */
struct level {
    const struct pair_sampled *upper, *lower;
    const struct pld_part *part;
};
/** Parts that stand for levels. */
struct level_nodes {
    struct pld_part *parts; /* (count) */
    size_t count;
    struct pair_sampled *pairs; /* what the parts point to */
    struct pld_blend *blends;
};
/** Are so many levels of one kind put between nodes? */
enum { LEVELS_MANY = 64 };
/** Sorts the levels. Kinds (mechanism, rate, direction) with more than LEVELS_MANY levels become few parts, each between two shifts;
 * the others stay as they are. ENOMEM. */
sotto_status levels_between_nodes(struct level_nodes *out, struct level *levels, size_t n);
void level_nodes_free(struct level_nodes *nodes);
/** The share of the larger shift of two, with which the mixture of their pairs lies above the pair of a shift between them. */
double level_weight(const struct pair_sampled *p, double smaller, double larger);

#endif
