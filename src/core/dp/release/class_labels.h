/* class_labels.h - private labels as the classes that are released. */
#ifndef DP_RELEASE_CLASS_LABELS_H
#define DP_RELEASE_CLASS_LABELS_H

#include "sotto/lab/array.h"

/** Labels of any type become i8, classes 0 to classes - 1. What is none of them becomes `other`, and nothing is said of it.
 *  In: first: the number of the first class, 0 or 1 */
sotto_status class_labels(struct sotto_array *a, size_t classes, size_t first, int64_t other);
/** That the type is one of labels: integers, or the doubles in rows and columns that a table is read as. EINVAL. */
sotto_status class_labels_check(const struct sotto_array *a, const char *path);

#endif
