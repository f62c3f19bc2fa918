/* neighbours.h - small private files and their neighbours: the same but for one record. */
#ifndef SELFTEST_NEIGHBOURS_H
#define SELFTEST_NEIGHBOURS_H

#include "base/status.h"

/** What lies in a world's folder. The first two variants are the pair with noisy values to compare; what
 * the later ones hold in their last record tests what is printed. */
enum neighbours {
    NEIGHBOURS_RECORDS,   /* X.npy (24, 3), y.npy (24): all records alike; also Xr.npy, yr.npy: backwards;
                           X0.npy, y0.npy: of the first variant; twice.npy */
    NEIGHBOURS_VECTOR,    /* v.npy (3) f8, around 1e9 */
    NEIGHBOURS_FLOATS,    /* the same in f4, around 1000 */
    NEIGHBOURS_WHOLE,     /* v.npy (3): counts */
    NEIGHBOURS_SCORES,    /* v.npy (4): one score moves by 1 */
    NEIGHBOURS_LABELS,    /* v.npy (4) i8: labels 0 to 2 */
    NEIGHBOURS_IMAGES,    /* folder `set`: images.npy (24, 1, 8, 8) u1, labels.npy; twice.npy;
                           first.npy, last.npy: rows of either half */
    NEIGHBOURS_TABLE,     /* people.csv with 24 rows, schema.yaml, public.csv; people0.csv: of the first
                           variant; probe.csv: others and the last row of the second variant */
    NEIGHBOURS_PERSONS,   /* people.csv with 12 persons of 2 rows each, schema.yaml: one person differs */
    NEIGHBOURS_EXPERIMENT /* folders `set` (32 images, labels) and `pub` (2 images), run.yaml */
};
/** How many variants there are; at least 2. */
int neighbours_count(enum neighbours kind);
/** Writes variant `variant` into `folder`, which is made. EIO, ENOMEM. */
sotto_status neighbours_write(enum neighbours kind, int variant, const char *folder);

#endif
