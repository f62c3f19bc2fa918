/* tensors.h - named tensors and their metadata, one by one. */
#ifndef IO_ARRAY_TENSORS_H
#define IO_ARRAY_TENSORS_H

#include "sotto/private/io.h"

/** In:      data: copied; NULL: zeros
 *  Returns: EINVAL  the name is taken
 *           ENOMEM */
sotto_status tensors_add(struct sotto_tensors *t, const char *name, enum sotto_dtype dtype, int ndim,
                         const size_t *shape, const void *data);
/** Borrowed. Returns: NULL: there is no such tensor. */
struct sotto_array *tensors_find(const struct sotto_tensors *t, const char *name);
/** Sets or replaces one text.
 *  Returns: ENOMEM */
sotto_status tensors_set_metadata(struct sotto_tensors *t, const char *key, const char *value);
/** Borrowed. Returns: NULL: there is no such key. */
const char *tensors_metadata(const struct sotto_tensors *t, const char *key);

#endif
