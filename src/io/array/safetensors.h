/* safetensors.h - .safetensors from memory. Format: huggingface/safetensors README, "Format". */
#ifndef IO_ARRAY_SAFETENSORS_H
#define IO_ARRAY_SAFETENSORS_H

#include "io/text/source.h"
#include "sotto/io.h"

/** The strict reader behind sotto_safetensors_load(). */
sotto_status safetensors_read(struct sotto_tensors *out, const struct source *s);
sotto_status safetensors_from_memory(struct sotto_tensors *out, const void *data, size_t size,
                                     const char *name);

/* tensors.c: moves *array into *t under a copy of `name`, without asking whether the name is taken. */
sotto_status tensors_push(struct sotto_tensors *t, const char *name, struct sotto_array *array);

#endif
