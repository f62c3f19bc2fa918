/* safetensors.h - what the readers of .npz and .safetensors share. */
#ifndef IO_ARRAY_SAFETENSORS_H
#define IO_ARRAY_SAFETENSORS_H

#include "base/file.h"
#include "io/text/source.h"
#include "sotto/private/io.h"

/** The strict reader behind sotto_safetensors_load(). */
sotto_status safetensors_read(struct sotto_tensors *out, const struct source *s);
/** sotto_safetensors_load() that asks ctx every few megabytes. ESTOPPED. */
sotto_status safetensors_load_asking(struct sotto_tensors *out, const char *path,
                                     const struct sotto_context *ctx);
/** sotto_safetensors_save() in two halves: the first takes all memory that it needs and creates the file, the second writes it, on any
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

#endif
