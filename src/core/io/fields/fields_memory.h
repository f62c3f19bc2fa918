/* fields_memory.h - blocks that are freed together. */
#ifndef IO_FIELDS_FIELDS_MEMORY_H
#define IO_FIELDS_FIELDS_MEMORY_H

#include "base/memory.h"

struct fields_block;
/* {0}: nothing yet. */
struct fields_memory {
    struct fields_block *first;
};
/* Zeroed count * size bytes. NULL: out of memory. */
void *fields_take(struct fields_memory *memory, size_t count, size_t size);
/* A copy of a text; NULL stays NULL, and so does want of memory. */
const char *fields_keep_text(struct fields_memory *memory, const char *text);
/* The blocks of *from belong to *into. */
void fields_memory_join(struct fields_memory *into, struct fields_memory *from);
void fields_memory_free(struct fields_memory *memory);

#endif
