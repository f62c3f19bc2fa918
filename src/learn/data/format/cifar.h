/* cifar.h - CIFAR in its binary form: records of one (CIFAR-10) or two (CIFAR-100) label bytes and 3 x 32 x
 * 32 planar RGB bytes. Source: A. Krizhevsky, "Learning multiple layers of features from tiny images", 2009,
 * and the data page's README. */
#ifndef DATA_FORMAT_CIFAR_H
#define DATA_FORMAT_CIFAR_H

#include "data/dataset.h"
#include "data/files/bundle.h"

enum { CIFAR_PIXELS = 3 * 32 * 32, CIFAR_FILES = 6 };

/** What differs between the two sets. */
struct cifar_layout {
    size_t labels;                  /* label bytes before the pixels: 1 or 2 */
    unsigned classes[2];            /* per label byte */
    const char *what[2];            /* "label", or "coarse label" and "fine label" */
    const char *files[CIFAR_FILES]; /* training files in their order, then the test file last; NULL: fewer */
};
extern const struct cifar_layout cifar10_layout, cifar100_layout;

/** Checks a whole file; *records of layout->labels + CIFAR_PIXELS bytes each. EFORMAT: cut, empty, or a label
 *  out of range. */
sotto_status cifar_from_memory(size_t *records, const struct cifar_layout *layout, const unsigned char *data,
                               size_t size);
bool cifar_recognise(const struct bundle *b, const struct cifar_layout *layout);
/** Pools the files of a bundle; label byte number `label` becomes the label, the other one, where there are
 * two, the attribute. Names by label byte. */
sotto_status cifar_pool(struct dataset *d, const struct bundle *b, const struct cifar_layout *layout,
                        size_t label, const char *const *const names[2]);

#endif
