/* clip_row.h - the bound on what one record can change where its values themselves are released. */
#ifndef DP_RELEASE_CLIP_ROW_H
#define DP_RELEASE_CLIP_ROW_H

#include "sotto/account.h"

/** The smallest radius: below it the rounding of floats near zero could lift the norm over it. */
#define CLIP_ROW_LEAST 1e-9

/** x (d): scaled down to the norm `radius` where it is above it. A row that is not finite becomes zeros, in silence. */
void clip_row(float *x, size_t d, double radius, enum sotto_norm norm);

#endif
