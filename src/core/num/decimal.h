/* decimal.h - sums of numbers that people write down: ten times 0.1 is 1.
 *
 * A double that is a decimal of at most 15 digits (and no further than 22 places behind the point) stands for that decimal: no
 * other decimal so short is read as this double. Any other double stands for itself. Sums carry 106 bits and are
 * rounded up, so that their error stays far below the 2^-80 that comparisons leave out. Numbers are at least 0; INFINITY stays. */
#ifndef NUM_DECIMAL_H
#define NUM_DECIMAL_H

/** high + low, |low| at most half a unit in the last place of high. {0, 0} is 0. */
struct decimal {
    double high, low;
};

/** What x stands for. NAN: INFINITY. */
struct decimal decimal_of(double x);
/** The sum, rounded up. */
struct decimal decimal_add(struct decimal a, struct decimal b);
/** The smallest double that stands for at least d, but for 2^-80 of it. */
double decimal_up(struct decimal d);

#endif
