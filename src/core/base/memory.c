/* Everything is 64-byte aligned for the kernels and zeroed so that no stale data can reach an output file. */
#include "base/memory.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

enum { ALIGNMENT = 64 };

static atomic_long fail_after = -1;
static atomic_uint_fast64_t allocations;

bool size_multiply(size_t *out, size_t a, size_t b)
{
    return !__builtin_mul_overflow(a, b, out);
}

bool size_add(size_t *out, size_t a, size_t b)
{
    return !__builtin_add_overflow(a, b, out);
}

bool base_alloc_refused(void)
{
    if (atomic_load(&fail_after) < 0 || atomic_fetch_sub(&fail_after, 1) > 0)
        return false;
    atomic_store(&fail_after, 0);
    return true;
}

void *base_alloc(size_t count, size_t size)
{
    size_t bytes, padded;
    if (!size_multiply(&bytes, count, size) || !size_add(&padded, bytes, ALIGNMENT - 1))
        return NULL;
    padded &= ~(size_t)(ALIGNMENT - 1);
    if (padded == 0)
        padded = ALIGNMENT;
    if (base_alloc_refused())
        return NULL;
    atomic_fetch_add(&allocations, 1);
    void *block = aligned_alloc(ALIGNMENT, padded);
    if (block)
        memset(block, 0, padded);
    return block;
}

void *base_alloc_rows(size_t rows, size_t width, size_t size)
{
    size_t bytes;
    return size_multiply(&bytes, width, size) ? base_alloc(rows, bytes) : NULL;
}

void base_free(void *block)
{
    free(block);
}

void *base_regrow(void *block, size_t old_count, size_t new_count, size_t size)
{
    void *grown = base_alloc(new_count, size);
    if (!grown)
        return NULL;
    if (block)
        memcpy(grown, block, (old_count < new_count ? old_count : new_count) * size);
    free(block);
    return grown;
}

char *base_strdup(const char *text)
{
    size_t length = strlen(text) + 1;
    char *copy = base_alloc(length, 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

void base_trim(void)
{
#if defined(__GLIBC__)
    (void)malloc_trim(0);
#endif
}

void base_wipe(void *block, size_t bytes)
{
    explicit_bzero(block, bytes);
}

void base_alloc_fail_after(long n)
{
    atomic_store(&fail_after, n);
}

uint64_t base_alloc_count(void)
{
    return atomic_load(&allocations);
}

void *arena_take(struct arena *a, size_t count, size_t size)
{
    size_t bytes, end;
    if (!size_multiply(&bytes, count, size) || !size_add(&end, a->used, bytes) ||
        !size_add(&end, end, ALIGNMENT - 1)) {
        a->overflow = true;
        return NULL;
    }
    size_t start = a->used;
    end &= ~(size_t)(ALIGNMENT - 1);
    if (a->base && end > a->capacity)
        return NULL;
    a->used = end;
    if (a->used > a->peak)
        a->peak = a->used;
    return a->base ? a->base + start : NULL;
}

sotto_status arena_reserve(struct arena *a, const char *what)
{
    return arena_reserve_asking(a, what, NULL);
}

sotto_status arena_reserve_asking(struct arena *a, const char *what, const struct sotto_context *ctx)
{
    enum { HUGE_PAGE = 2 << 20, PIECE = 32 << 20 };
    sotto_status status = SOTTO_OK;
    if (a->overflow)
        return status_fail(SOTTO_ENOMEM, "%s: its size does not fit in memory", what);
    size_t bytes = a->peak ? a->peak : ALIGNMENT;
    size_t alignment = bytes >= HUGE_PAGE ? HUGE_PAGE : ALIGNMENT;
    size_t padded = (bytes + alignment - 1) & ~(alignment - 1);
    if (padded < bytes)
        return status_fail(SOTTO_ENOMEM, "%s: its size does not fit in memory", what);
    if (base_alloc_refused())
        return status_fail(SOTTO_ENOMEM, "%s: cannot allocate %zu bytes", what, bytes);
    atomic_fetch_add(&allocations, 1);
    a->base = aligned_alloc(alignment, padded);
    if (!a->base)
        return status_fail(SOTTO_ENOMEM, "%s: cannot allocate %zu bytes", what, bytes);
    if (alignment == HUGE_PAGE)
        madvise(a->base, padded, MADV_HUGEPAGE); /* worth 17-23 % of a bf16 step; failing is harmless */
    a->capacity = bytes;
    a->used = 0;
    for (size_t at = 0; at < padded; at += PIECE) { /* the kernel hands out its pages here */
        TRY(context_check(ctx, "%s: stopped before its memory was ready", what));
        memset(a->base + at, 0, padded - at < PIECE ? padded - at : PIECE);
    }
done:
    return status;
}

void arena_rewind(struct arena *a, size_t mark)
{
    a->used = mark;
}

void arena_clear(struct arena *a)
{
    free(a->base);
    *a = (struct arena){0};
}
