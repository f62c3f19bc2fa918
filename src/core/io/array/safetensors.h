/* safetensors.h - what the readers of .npz and .safetensors share. */
#ifndef IO_ARRAY_SAFETENSORS_H
#define IO_ARRAY_SAFETENSORS_H

#include "base/file.h"
#include "io/text/source.h"
#include "sotto/private/io.h"

/** The strict reader behind safetensors_load(). */
sotto_status safetensors_read(struct sotto_tensors *out, const struct source *s);
/** safetensors_load() that asks ctx every few megabytes. ESTOPPED. */
sotto_status safetensors_load_asking(struct sotto_tensors *out, const char *path,
                                     const struct sotto_context *ctx);
/** safetensors_save() in two halves: the first takes all memory that it needs and creates the file, the second writes it, on any
 * thread. The tensors are borrowed in between. Initialise with {0}. */
struct safetensors_file {
    struct atomic_file file;
    unsigned char *header;
    size_t size;
    const struct sotto_tensors *tensors;
};
sotto_status safetensors_begin(struct safetensors_file *f, const char *path, const struct sotto_tensors *t);
/** Releases it, too. */
sotto_status safetensors_finish(struct safetensors_file *f);
/** Drops what was begun; harmless on {0}. */
void safetensors_drop(struct safetensors_file *f);
/* tensors.c: moves *array into *t under a copy of `name`, without asking whether the name is taken. */
sotto_status tensors_push(struct sotto_tensors *t, const char *name, struct sotto_array *array);
/** Reads .safetensors. Numbers of type BF16 are widened to F4.
 *  Returns: ENOENT, EIO
 *           EFORMAT  lengths that do not match the file, duplicate keys, bytes of no tensor or of two
 *           ENOMEM */
sotto_status safetensors_load(struct sotto_tensors *out, const char *path);
/** Writes tensors in the order given and metadata sorted by key: same contents, same bytes.
 *  Returns: ECREATE, EIO, ENOMEM */
sotto_status safetensors_save(const char *path, const struct sotto_tensors *t);
/** The bytes of such a file, from memory and to memory.
 *  In:      bytes (size): borrowed during the call
 *           name: stands in error texts where a file's path would
 *  Out:     *bytes (*size): free with sotto_bytes_free()
 *  Returns: EFORMAT, ENOMEM  as above */
sotto_status safetensors_load_bytes(struct sotto_tensors *out, const void *bytes, size_t size,
                                    const char *name);
sotto_status safetensors_save_bytes(void **bytes, size_t *size, const struct sotto_tensors *t);

#endif
