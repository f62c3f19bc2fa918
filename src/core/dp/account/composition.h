/* composition.h - parts shared by the composition rules. */
#ifndef DP_ACCOUNT_COMPOSITION_H
#define DP_ACCOUNT_COMPOSITION_H

#include "dp/account/accountant.h"
#include "dp/mechanism/pure_pair.h"
#include "sotto/lab/compose.h"

/** EINVAL: no parts, epsilon outside [0, 1e100], delta outside [0, 1), adjacency that is not one of two. */
sotto_status composition_check(const struct sotto_dp *parts, size_t n, enum sotto_adjacency adjacency);
/** composition_check() for k equal parts, and 0 <= delta < 1. */
sotto_status composition_check_each(struct sotto_dp each, size_t k, double delta,
                                    enum sotto_adjacency adjacency);
void composition_set(struct sotto_composed *out, const char *rule, enum sotto_adjacency adjacency,
                     struct interval epsilon, struct interval delta, const char *reason);
/** What is left of `delta` once k deltas `each` are paid: 1 - (1 - delta) / (1 - each)^k; below 0: too
 * little. */
struct interval composition_slack(double each, double k, double delta);
/** Of g neighbours in a row, each of which is (e, delta) private: at epsilon g e. */
struct interval group_delta(struct interval e, double delta, double g);
enum { COMPOSITION_OPTIMAL_MOST = 1 << 20 };
/** Replace-one from add-remove: a replacement removes one record and adds one, a group of two. */
sotto_status compose_replace_one(struct sotto_composed *out, struct sotto_dp each);

#endif
