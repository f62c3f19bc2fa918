/* cauchy.h - exact Cauchy noise, for scales that are as secret as the data. */
#ifndef DP_NOISE_CAUCHY_H
#define DP_NOISE_CAUCHY_H

#include "dp/ball/ball_draw.h"
#include "rng/noise.h"

/** k[0 .. n): floor(m h), h standard Cauchy, m >= 1 taken as exact; beyond +-2^BALL_DRAW_BITS that end. In ball arithmetic,
 * from the stream: as many bits as decide. ENOMEM. */
sotto_status cauchy_draw(int128 *k, size_t n, double m, struct noise *s);

#endif
