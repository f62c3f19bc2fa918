/* hop_skip_jump.h - how far a record lies from the decision boundary, found with labels alone.
 *
 * Chen, Jordan and Wainwright 2020, "HopSkipJumpAttack: a query-efficient decision-based attack", L2,
 * untargeted. Records go forward side by side, so that one call to the target carries the probes of all of
 * them. */
#ifndef ATTACK_QUERY_HOP_SKIP_JUMP_H
#define ATTACK_QUERY_HOP_SKIP_JUMP_H

#include "attack/target/target.h"
#include "sotto/attack.h"

struct hop_settings {
    const float *low, *high; /* (inputs): what a coordinate may be; finite, low <= high */
    /* (count, inputs): rows to start from when none of the uniform ones is adversarial; NULL: none. */
    const float *starts;
    size_t start_count;
    size_t queries; /* [2500] of the target, per record; never exceeded */
    uint64_t seed;
};
struct hop_result {
    double distance; /* L2, to the nearest point found with another label than the record's class; 0: the
                        record itself has another label; INFINITY: no such point was found */
    size_t queries, steps;
};

void hop_defaults(struct hop_settings *s);
/** out (n) for records x (n, inputs) of classes y (n). nearest (n, inputs): the points found (x itself where
 * there is none); may be NULL. A record's result depends on its own row, its index and the seed, not on the
 * others. Errors of the target; ENOMEM; ESTOPPED. */
sotto_status hop_skip_jump(struct hop_result *out, float *nearest, struct sotto_target *t, const float *x,
                           const int64_t *y, size_t n, const struct hop_settings *s,
                           const struct sotto_context *ctx);

#endif
