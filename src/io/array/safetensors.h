/* safetensors.h - what the readers of .npz and .safetensors share. */
#ifndef IO_ARRAY_SAFETENSORS_H
#define IO_ARRAY_SAFETENSORS_H

#include "sotto/io.h"

/* tensors.c: moves *array into *t under a copy of `name`, without asking whether the name is taken. */
sotto_status tensors_push(struct sotto_tensors *t, const char *name, struct sotto_array *array);

#endif
