/* array_pair.h - "X:Y": features and labels as two arrays, each as sotto_array_load() takes it. */
#ifndef DATA_FORMAT_ARRAY_PAIR_H
#define DATA_FORMAT_ARRAY_PAIR_H

#include <stddef.h>

/** Where the colon between them stands; 0: the text is no pair. Of several colons ("x.npz:x:y.csv") the one with a file or pipe on
 * both sides; without files, one with the ending of an array behind it, so that an error can name what is missing. */
size_t array_pair_colon(const char *text);

#endif
