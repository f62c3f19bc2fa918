/* number_interval.h - an interval written as in mathematics: "[1,inf)" includes 1, "(0,1)" excludes both. */
#ifndef IO_TEXT_NUMBER_INTERVAL_H
#define IO_TEXT_NUMBER_INTERVAL_H

#include <stdbool.h>

struct interval {
    double low, high;
    bool low_open, high_open;
};

/** In: a text of a table, never of a user; NULL: all numbers. */
struct interval interval_read(const char *text);
bool interval_holds(const struct interval *r, double x);

#endif
