/* safetensors.h - what the readers of .npz and .safetensors share. */
#ifndef IO_ARRAY_SAFETENSORS_H
#define IO_ARRAY_SAFETENSORS_H

#include "io/text/source.h"
#include "sotto/io.h"

/** The strict reader behind sotto_safetensors_load(). */
sotto_status safetensors_read(struct sotto_tensors *out, const struct source *s);
/** sotto_safetensors_load() that asks ctx every few megabytes. ESTOPPED. */
sotto_status safetensors_load_asking(struct sotto_tensors *out, const char *path,
                                     const struct sotto_context *ctx);
/* tensors.c: moves *array into *t under a copy of `name`, without asking whether the name is taken. */
sotto_status tensors_push(struct sotto_tensors *t, const char *name, struct sotto_array *array);

#endif
