/* audit_memory.h - what a struct sotto_audit_result owns: blocks that are freed together, and the parts of its document
 * that have no struct (audit_document.h). */
#ifndef AUDIT_AUDIT_MEMORY_H
#define AUDIT_AUDIT_MEMORY_H

#include "io/fields/fields_memory.h"
#include "sotto/audit.h"

struct json;
struct sotto_audit_memory {
    struct fields_memory blocks;
    struct json *more; /* an object; NULL: nothing */
    void (*free_more)(struct json *);
};
/* Zeroed count * size bytes, owned by *memory, which is made where it is NULL. NULL: out of memory. */
void *audit_take(struct sotto_audit_memory **memory, size_t count, size_t size);
/* A copy of a text; NULL stays NULL, and so does want of memory. */
const char *audit_keep_text(struct sotto_audit_memory **memory, const char *text);
/* The blocks of *from belong to *into; *from is NULL then. ENOMEM: it is not. */
sotto_status audit_memory_join(struct sotto_audit_memory **into, struct sotto_audit_memory **from);
void audit_memory_free(struct sotto_audit_memory **memory);
/* One more warning. ENOMEM. */
sotto_status audit_add_warning(struct sotto_audit_result *r, const char *text);

/* p = n zeroed elements of *memory, in a function with a `done:` label. */
#define TAKE(memory, p, n)                                                                                   \
    do {                                                                                                     \
        size_t take_count = (n);                                                                             \
        (p) = audit_take((memory), take_count, sizeof *(p));                                                 \
        if (!(p))                                                                                            \
            FAIL(SOTTO_ENOMEM, "audit: out of memory for %zu x %zu bytes (" #p ")", take_count,              \
                 sizeof *(p));                                                                               \
    } while (0)

#endif
