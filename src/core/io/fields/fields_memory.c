#include "io/fields/fields_memory.h"

#include <string.h>

struct fields_block {
    struct fields_block *next;
    _Alignas(max_align_t) unsigned char bytes[];
};

void *fields_take(struct fields_memory *memory, size_t count, size_t size)
{
    size_t bytes;
    if (!size_multiply(&bytes, count, size) || !size_add(&bytes, bytes, sizeof(struct fields_block)))
        return NULL;
    struct fields_block *b = base_alloc(1, bytes);
    if (!b)
        return NULL;
    b->next = memory->first;
    memory->first = b;
    return b->bytes;
}

const char *fields_keep_text(struct fields_memory *memory, const char *text)
{
    char *copy = text ? fields_take(memory, strlen(text) + 1, 1) : NULL;
    return copy ? strcpy(copy, text) : NULL;
}

void fields_memory_join(struct fields_memory *into, struct fields_memory *from)
{
    struct fields_block **last = &into->first;
    while (*last)
        last = &(*last)->next;
    *last = from->first;
    from->first = NULL;
}

void fields_memory_free(struct fields_memory *memory)
{
    for (struct fields_block *b = memory->first, *next; b; b = next) {
        next = b->next;
        base_free(b);
    }
    memory->first = NULL;
}
