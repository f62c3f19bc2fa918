/* npz.h - .npz: a zip archive of .npy files. */
#ifndef IO_ARRAY_NPZ_H
#define IO_ARRAY_NPZ_H

#include "io/text/source.h"
#include "sotto/private/io.h"

/** The strict reader behind sotto_npz_load(). */
sotto_status npz_read(struct sotto_tensors *out, const struct source *s);
/** One array; the others are not unpacked. name NULL: the only one. EFORMAT, with the names that there are. */
sotto_status npz_read_member(struct sotto_array *out, const struct source *s, const char *name);
sotto_status npz_from_memory(struct sotto_tensors *out, const void *data, size_t size, const char *name);

/** sotto_npz_load() that asks ctx every few megabytes. ESTOPPED. */
sotto_status npz_load_asking(struct sotto_tensors *out, const char *path, const struct sotto_context *ctx);
sotto_status npz_save(const char *path, const struct sotto_tensors *t);

#endif
