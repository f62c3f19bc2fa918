/* bundle_plain.h - bundles where libarchive is missing: plain files are read, what is packed is refused. */
#ifndef DATA_FILES_BUNDLE_PLAIN_H
#define DATA_FILES_BUNDLE_PLAIN_H

#include "data/files/bundle.h"

/** ENOTSUP. */
sotto_status plain_refuse(const char *name);
/** bundle_from_memory(), or ENOTSUP. */
sotto_status plain_from_memory(struct bundle *out, const char *name, const void *data, size_t size,
                               const struct bundle_limits *limits);
/** bundle_from_archive(), or ENOTSUP. */
sotto_status plain_from_file(struct bundle *out, const char *path, const struct bundle_limits *limits,
                             const struct sotto_context *ctx);

#endif
