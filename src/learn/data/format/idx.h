/* idx.h - MNIST's array files: big-endian header (00 00 type ndim, then ndim sizes), then the values.
 * Source: Y. LeCun, C. Cortes, C. Burges, "The MNIST database", file format section. */
#ifndef DATA_FORMAT_IDX_H
#define DATA_FORMAT_IDX_H

#include "data/dataset.h"
#include "data/files/bundle.h"

/** A view into the file's bytes. */
struct idx {
    int ndim;        /* 1 (labels) or 3 (images) */
    size_t shape[3]; /* N, H, W */
    const uint8_t *data;
};
/** Unsigned bytes only. EFORMAT: wrong magic, type, dimensions, or a length that differs from the header. */
sotto_status idx_from_memory(struct idx *out, const unsigned char *data, size_t size);

/** A pair of image and label files. Label count must equal image count. */
struct idx_pair {
    size_t images, labels; /* entries of the bundle */
};
/** Pools one training pair and perhaps a test pair into a set. Labels give the class count (largest + 1). */
sotto_status idx_read_pairs(struct dataset *d, const struct bundle *b, const struct idx_pair *pairs,
                            size_t count);
/** Finds MNIST-style names: "train" or "t10k"/"test", "images"/"labels", "idx3"/"idx1", perhaps ".gz".
 *  Returns the number of pairs (0: not this format), training first. EFORMAT: a half pair or two
 *  candidates. */
sotto_status idx_find_pairs(struct idx_pair pairs[2], size_t *count, const struct bundle *b);

#endif
