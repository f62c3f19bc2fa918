/* safetensors.h - what the readers of .npz and .safetensors share. */
#ifndef IO_ARRAY_SAFETENSORS_H
#define IO_ARRAY_SAFETENSORS_H

#include "sotto/io.h"

/** sotto_safetensors_load() that asks ctx every few megabytes. ESTOPPED. */
sotto_status safetensors_load_asking(struct sotto_tensors *out, const char *path,
                                     const struct sotto_context *ctx);
/* tensors.c: moves *array into *t under a copy of `name`, without asking whether the name is taken. */
sotto_status tensors_push(struct sotto_tensors *t, const char *name, struct sotto_array *array);

#endif
