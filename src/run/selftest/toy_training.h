/* toy_training.h - one step of private training on data sets of a record or two, done right and done
 * wrong. */
#ifndef SELFTEST_TOY_TRAINING_H
#define SELFTEST_TOY_TRAINING_H

#include "selftest/toys.h"

/** The i-th correct step; false after the last. */
bool toy_training(struct toy *out, size_t i);
/** The i-th wrong one; false after the last. */
bool toy_training_planted(struct toy *out, size_t i);

#endif
