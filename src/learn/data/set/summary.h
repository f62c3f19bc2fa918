/* summary.h - what the columns of a table of text held. */
#ifndef DATA_SET_SUMMARY_H
#define DATA_SET_SUMMARY_H

#include "data/dataset.h"

/** Over the values that are not missing. */
struct number_range {
    double low, high, mean;
    size_t n;
};
struct number_range summary_range(const struct sotto_dataset *s, size_t column);
/** counts: of each code, zeroed before. Values that a schema does not list are not counted. */
void summary_count_codes(size_t *counts, const struct sotto_dataset *s, size_t column);

#endif
