#include "audit/audit_memory.h"

#include <string.h>

struct audit_block {
    struct audit_block *next;
    _Alignas(max_align_t) unsigned char bytes[];
};

static struct sotto_audit_memory *memory_of(struct sotto_audit_memory **memory)
{
    if (!*memory)
        *memory = base_alloc(1, sizeof **memory);
    return *memory;
}

void *audit_take(struct sotto_audit_memory **memory, size_t count, size_t size)
{
    struct sotto_audit_memory *m = memory_of(memory);
    size_t bytes;
    if (!m || !size_multiply(&bytes, count, size) || !size_add(&bytes, bytes, sizeof(struct audit_block)))
        return NULL;
    struct audit_block *b = base_alloc(1, bytes);
    if (!b)
        return NULL;
    b->next = m->first;
    m->first = b;
    return b->bytes;
}

const char *audit_keep_text(struct sotto_audit_memory **memory, const char *text)
{
    char *copy = text ? audit_take(memory, strlen(text) + 1, 1) : NULL;
    return copy ? strcpy(copy, text) : NULL;
}

sotto_status audit_memory_join(struct sotto_audit_memory **into, struct sotto_audit_memory **from)
{
    if (!*from)
        return SOTTO_OK;
    struct sotto_audit_memory *m = memory_of(into);
    if (!m)
        return status_fail(SOTTO_ENOMEM, "audit: out of memory");
    struct audit_block **last = &m->first;
    while (*last)
        last = &(*last)->next;
    *last = (*from)->first;
    base_free(*from);
    *from = NULL;
    return SOTTO_OK;
}

void audit_memory_free(struct sotto_audit_memory **memory)
{
    struct sotto_audit_memory *m = *memory;
    if (!m)
        return;
    for (struct audit_block *b = m->first, *next; b; b = next) {
        next = b->next;
        base_free(b);
    }
    if (m->more)
        m->free_more(m->more);
    base_free(m);
    *memory = NULL;
}

void sotto_audit_result_free(struct sotto_audit_result *r)
{
    if (!r)
        return;
    audit_memory_free(&r->memory);
    *r = (struct sotto_audit_result){0};
}

sotto_status audit_add_warning(struct sotto_audit_result *r, const char *text)
{
    sotto_status status = SOTTO_OK;
    const char **grown, *copy = audit_keep_text(&r->memory, text);
    TAKE(&r->memory, grown, r->warning_count + 1);
    if (!copy)
        FAIL(SOTTO_ENOMEM, "audit: out of memory for a warning");
    for (size_t i = 0; i < r->warning_count; i++)
        grown[i] = r->warnings[i];
    grown[r->warning_count++] = copy;
    r->warnings = grown;
done:
    return status;
}
