#include "audit/audit_memory.h"

static struct sotto_audit_memory *memory_of(struct sotto_audit_memory **memory)
{
    if (!*memory)
        *memory = base_alloc(1, sizeof **memory);
    return *memory;
}

void *audit_take(struct sotto_audit_memory **memory, size_t count, size_t size)
{
    struct sotto_audit_memory *m = memory_of(memory);
    return m ? fields_take(&m->blocks, count, size) : NULL;
}

const char *audit_keep_text(struct sotto_audit_memory **memory, const char *text)
{
    struct sotto_audit_memory *m = memory_of(memory);
    return m ? fields_keep_text(&m->blocks, text) : NULL;
}

sotto_status audit_memory_join(struct sotto_audit_memory **into, struct sotto_audit_memory **from)
{
    if (!*from)
        return SOTTO_OK;
    struct sotto_audit_memory *m = memory_of(into);
    if (!m)
        return status_fail(SOTTO_ENOMEM, "audit: out of memory");
    fields_memory_join(&m->blocks, &(*from)->blocks);
    base_free(*from);
    *from = NULL;
    return SOTTO_OK;
}

void audit_memory_free(struct sotto_audit_memory **memory)
{
    struct sotto_audit_memory *m = *memory;
    if (!m)
        return;
    fields_memory_free(&m->blocks);
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
