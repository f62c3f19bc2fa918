/* public_metadata.h - which facts in a file's metadata may stand beside released values. */
#ifndef DP_RELEASE_PUBLIC_METADATA_H
#define DP_RELEASE_PUBLIC_METADATA_H

#include "sotto/private/io.h"

/** Drops all metadata but recipe, shape and classes, which are public: a hash, a loss or a note of another
 * program may be a function of the private records. */
void public_metadata_keep(struct sotto_tensors *t);

#endif
