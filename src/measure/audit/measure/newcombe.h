/* newcombe.h - the difference of two proportions. */
#ifndef AUDIT_MEASURE_NEWCOMBE_H
#define AUDIT_MEASURE_NEWCOMBE_H

#include "sotto/base.h"

/* right[0] / n[0] - right[1] / n[1] with Newcombe's interval (1998, method 10: Wilson's intervals of both, squared and added);
 * n > 0. z: quantile of the normal law, 1.96 for 95 %. At 95 % it covers so
 * often on the average of a grid of proportions; at worst 88 % with n of 8, and 94 % with 32. */
struct sotto_estimate newcombe(const size_t right[2], const size_t n[2], double z);

#endif
