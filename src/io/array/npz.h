/* npz.h - .npz from memory: a zip archive of .npy files (libarchive behind it). */
#ifndef IO_ARRAY_NPZ_H
#define IO_ARRAY_NPZ_H

#include "sotto/io.h"

sotto_status npz_from_memory(struct sotto_tensors *out, const void *data, size_t size, const char *name);

#endif
