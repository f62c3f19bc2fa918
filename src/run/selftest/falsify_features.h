/* falsify_features.h - one number per output, for events of the form "feature below, above or equal to c". */
#ifndef SELFTEST_FALSIFY_FEATURES_H
#define SELFTEST_FALSIFY_FEATURES_H

#include "selftest/falsify.h"

/** A linear score of the standardised coordinates, their sizes and their bounded values (what logistic noise
 * asks for), learned to tell the worlds apart. */
struct falsify_score {
    double mean[FALSIFY_WIDTH], deviation[FALSIFY_WIDTH], weight[FALSIFY_WIDTH][3];
};
/** Logistic regression on the first `train` outputs of each world. */
void falsify_learn(struct falsify_score *score, const struct falsify_outputs *o, size_t train);

/** Features of outputs of that width: coordinates, lowest set bits, and (width > 1) sums and the score. */
int falsify_feature_count(int width);
const char *falsify_feature_name(int feature, int width);
double falsify_feature(int feature, const double *y, int width, const struct falsify_score *score);

#endif
