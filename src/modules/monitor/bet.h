/* bet.h - what a p-value wins, and when the wins are an alarm. */
#ifndef MONITOR_BET_H
#define MONITOR_BET_H

#include <stddef.h>

/** ln f(p), p in (0, 1]: f(p) = (1 - p + p ln p) / (p ln(p)^2), f(1) = 1/2. It is the mean over k uniform in (0, 1) of
 *  the bets k p^(k-1), falls in p, and has integral 1 over (0, 1). Relative error of f about 1e-14.
 *  Source: the mixture martingale of Vovk, Nouretdinov and Gammerman 2003, section 5. */
double bet_log(double p);

/** A wealth of stake 1, of which the share 1 / (s (s + 1)) is bet from block s on and kept aside before: a long benign past
 *  costs a factor of about the number of its blocks, not one that grows with every block (page.md). {0}. */
struct wealth {
    double log_bet; /* of the shares that are bet */
    size_t blocks;
};
/** One more block. Returns the logarithm of the whole wealth. */
double wealth_bet(struct wealth *w, double p);
/** Blocks until a wealth reaches e^log_threshold, if each block beats all `calibration` and earlier blocks. */
size_t bet_fewest(size_t calibration, double log_threshold);

#endif
