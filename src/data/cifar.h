/* cifar.h - CIFAR-10 in its binary form: records of one label byte and 3 x 32 x 32 planar RGB bytes.
 * Source: A. Krizhevsky, "Learning multiple layers of features from tiny images", 2009, and the data page's
 * README. */
#ifndef DATA_CIFAR_H
#define DATA_CIFAR_H

#include "base/status.h"

enum { CIFAR_PIXELS = 3 * 32 * 32, CIFAR_RECORD = 1 + CIFAR_PIXELS, CIFAR_CLASSES = 10 };

/** Checks a whole file; *records of CIFAR_RECORD bytes each. EFORMAT: cut, empty, or a label above 9. */
sotto_status cifar_from_memory(size_t *records, const unsigned char *data, size_t size);

#endif
