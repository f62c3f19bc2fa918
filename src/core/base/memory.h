/* memory.h - the only place that allocates: checked sizes, a plain heap, and the plan-once arena. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include "base/status.h"

#include <stdbool.h>

/** *out = a * b; false on overflow (out untouched). */
bool size_multiply(size_t *out, size_t a, size_t b);
bool size_add(size_t *out, size_t a, size_t b);

/** Zeroed heap block of count * size bytes, 64-byte aligned; NULL on overflow or when memory is out.
 *  A zero size gives a valid unique pointer. Free with base_free(). */
void *base_alloc(size_t count, size_t size);
void base_free(void *block);
/** p = n zeroed elements, in a function with a `done:` label; ENOMEM. */
#define NEW(p, n)                                                                                            \
    do {                                                                                                     \
        size_t new_count = (n);                                                                              \
        (p) = base_alloc(new_count, sizeof *(p));                                                            \
        if (!(p))                                                                                            \
            FAIL(SOTTO_ENOMEM, "out of memory for %zu x %zu bytes (" #p ")", new_count, sizeof *(p));        \
    } while (0)
/** The same of rows * width elements. */
void *base_alloc_rows(size_t rows, size_t width, size_t size);
/** p = rows x width zeroed elements, likewise. */
#define NEW_ROWS(p, rows, width)                                                                             \
    do {                                                                                                     \
        size_t new_rows = (rows), new_width = (width);                                                       \
        (p) = base_alloc_rows(new_rows, new_width, sizeof *(p));                                             \
        if (!(p))                                                                                            \
            FAIL(SOTTO_ENOMEM, "out of memory for %zu x %zu x %zu bytes (" #p ")", new_rows, new_width,      \
                 sizeof *(p));                                                                               \
    } while (0)
/** Grows a base_alloc block: new zeroed block, old contents copied, old block freed. NULL leaves the old one
 * alone. */
void *base_regrow(void *block, size_t old_count, size_t new_count, size_t size);
/** p grows from `old` to `n` elements, likewise; on ENOMEM it stays as it is. */
#define REGROW(p, old, n)                                                                                    \
    do {                                                                                                     \
        size_t new_count = (n);                                                                              \
        void *new_block = base_regrow((p), (old), new_count, sizeof *(p));                                   \
        if (!new_block)                                                                                      \
            FAIL(SOTTO_ENOMEM, "out of memory for %zu x %zu bytes (" #p ")", new_count, sizeof *(p));        \
        (p) = new_block;                                                                                     \
    } while (0)
char *base_strdup(const char *text);
/** p = a copy of a text, likewise. */
#define NEW_TEXT(p, text)                                                                                    \
    do {                                                                                                     \
        (p) = base_strdup(text);                                                                             \
        if (!(p))                                                                                            \
            FAIL(SOTTO_ENOMEM, "out of memory for a text (" #p ")");                                         \
    } while (0)
/** Hands memory that is free back to the system, where the C library would keep it for later (glibc). After a
 * stage that needed much and before a long one. */
void base_trim(void);
/** Overwrites with zeros in a way that the compiler keeps. */
void base_wipe(void *block, size_t bytes);

/** Test hook: the next `n` allocations succeed, every later one fails. Negative: off. Thread-unsafe, tests
 * only. */
void base_alloc_fail_after(long n);
/** For allocators that hand out parts of a base_alloc block: counts as one allocation; true: it is to
 * fail. */
bool base_alloc_refused(void);
/** Allocations made since start; a training step must not change it. */
uint64_t base_alloc_count(void);

/* An arena is one block handed out front to back. Layout functions run twice on it: while it is empty
 * arena_take() only measures and returns NULL; arena_reserve() then allocates once; the same calls in the
 * same order now return pointers. So sizes and pointers cannot drift apart. */
struct arena {
    unsigned char *base;
    size_t capacity, used, peak;
    bool overflow; /* a size overflowed while measuring; arena_reserve refuses */
};
/** 64-byte aligned zeroed span of count * size bytes; NULL while measuring or when the arena is full. */
void *arena_take(struct arena *a, size_t count, size_t size);
/** Allocates what was measured (huge pages advised from 2 MiB on) and rewinds. ENOMEM names `what`. */
sotto_status arena_reserve(struct arena *a, const char *what);
/** The same, for gigabytes: asks ctx every 32 MiB. ESTOPPED. */
sotto_status arena_reserve_asking(struct arena *a, const char *what, const struct sotto_context *ctx);
static inline size_t arena_mark(const struct arena *a)
{
    return a->used;
}
void arena_rewind(struct arena *a, size_t mark);
void arena_clear(struct arena *a);

#endif
