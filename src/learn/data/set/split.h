/* split.h - random parts of one pool of records. */
#ifndef DATA_SET_SPLIT_H
#define DATA_SET_SPLIT_H

#include "sotto/base.h"

enum split_part { SPLIT_PUBLIC, SPLIT_PRIVATE, SPLIT_HELDOUT, SPLIT_SHADOW, SPLIT_PARTS };
/** Disjoint uniformly random parts of one pool, as row numbers in random order. Free with split_clear(). */
struct data_split {
    size_t n[SPLIT_PARTS];
    int64_t *rows[SPLIT_PARTS]; /**< (n[part]), owned */
};

/** Returns: EINVAL  the sizes add up to more than `pool`
 *           ENOMEM */
sotto_status split_make(struct data_split *out, size_t pool, const size_t sizes[SPLIT_PARTS], uint64_t seed);
void split_clear(struct data_split *s);
const char *part_name(enum split_part part);

#endif
