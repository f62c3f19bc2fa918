/* Memory of numbers in ball arithmetic. FLINT and GMP end the process when they get no memory, but they ask
 * for it through functions that can be replaced. Ours never return without memory: they jump back to
 * ball_run(), which drops the pool that everything came from, so nothing needs to be undone step by step.
 *
 * The replacement is one for the process (that is how FLINT and GMP offer it) and is made once; where no run
 * is on in the calling thread it passes every call on to what was there before. A run starts and ends with
 * flint_cleanup(): what FLINT keeps for later (constants, spare integers) is neither taken over from the
 * caller nor left behind in a pool that is gone; it may also be half-written after a jump. For the same
 * reason a run keeps FLINT to one thread.
 *
 * Blocks have sizes 2^n and are kept for reuse by size; chunks grow, so that there are few. */
#include "base/memory.h"
#include "dp/ball/ball_private.h"

#include <pthread.h>
#include <setjmp.h>
#include <string.h>

enum { CLASSES = 48, FIRST_CHUNK = 1 << 15, MOST_CHUNK = 1 << 24 };
enum { NO_MEMORY = 1, STOPPED }; /* why a run was left */

/* In front of what its user sees, which stays aligned to 16 bytes. */
struct block {
    size_t class; /* bytes with this header: 2^class */
    struct block *next;
};

struct chunk {
    _Alignas(16) struct chunk *next;
};

struct ball_pool {
    jmp_buf out;
    struct chunk *chunks;
    unsigned char *at, *end; /* what is left of one of them */
    size_t next_size, live;
    struct block *idle[CLASSES];
    const struct sotto_context *ctx;
};

static _Thread_local struct ball_pool *ball_pool; /* of the run that is on in this thread */

void ball_ask(void)
{
    if (context_stopped(ball_pool->ctx))
        longjmp(ball_pool->out, STOPPED);
}

/* A chunk for `bytes` or more. */
static unsigned char *add_chunk(size_t bytes)
{
    struct chunk *chunk = base_alloc(bytes + sizeof *chunk, 1);
    if (!chunk)
        longjmp(ball_pool->out, NO_MEMORY);
    chunk->next = ball_pool->chunks;
    ball_pool->chunks = chunk;
    return (unsigned char *)(chunk + 1);
}

static void *ball_memory_carve(size_t bytes)
{
    if (bytes > ball_pool->next_size / 4) /* a chunk of its own */
        return add_chunk(bytes);
    if ((size_t)(ball_pool->end - ball_pool->at) < bytes) {
        ball_pool->at = add_chunk(ball_pool->next_size);
        ball_pool->end = ball_pool->at + ball_pool->next_size;
        if (ball_pool->next_size < MOST_CHUNK)
            ball_pool->next_size *= 2;
    }
    void *piece = ball_pool->at;
    ball_pool->at += bytes;
    return piece;
}

void *ball_take(size_t bytes)
{
    size_t class = 5;
    while (class < CLASSES && ((size_t)1 << class) - sizeof(struct block) < bytes)
        class ++;
    if (class == CLASSES || base_alloc_refused())
        longjmp(ball_pool->out, NO_MEMORY);
    struct block *b = ball_pool->idle[class];
    if (b)
        ball_pool->idle[class] = b->next;
    else
        b = ball_memory_carve((size_t)1 << class);
    b->class = class;
    ball_pool->live++;
    ball_ask();
    return b + 1;
}

void ball_give(void *block)
{
    if (!block)
        return;
    struct block *b = (struct block *)block - 1;
    b->next = ball_pool->idle[b->class];
    ball_pool->idle[b->class] = b;
    ball_pool->live--;
}

static void *ball_memory_resize(void *block, size_t bytes)
{
    size_t held = ((size_t)1 << ((struct block *)block - 1)->class) - sizeof(struct block);
    if (bytes <= held)
        return block;
    void *grown = ball_take(bytes);
    memcpy(grown, block, held);
    ball_give(block);
    return grown;
}

size_t ball_live(void)
{
    return ball_pool->live;
}

/* --- what FLINT and GMP call */

static struct {
    void *(*allocate)(size_t), *(*zeroed)(size_t, size_t), *(*resize)(void *, size_t);
    void (*release)(void *);
    void *(*gmp_allocate)(size_t), *(*gmp_resize)(void *, size_t, size_t);
    void (*gmp_release)(void *, size_t);
} ball_before; /* written once, before it is read */

static void *flint_allocate(size_t bytes)
{
    return ball_pool ? ball_take(bytes) : ball_before.allocate(bytes);
}

static void *flint_zeroed(size_t count, size_t size)
{
    size_t bytes;
    if (!ball_pool)
        return ball_before.zeroed(count, size);
    if (!size_multiply(&bytes, count, size))
        bytes = SIZE_MAX;
    return memset(ball_take(bytes), 0, bytes);
}

static void *flint_resize(void *block, size_t bytes)
{
    return ball_pool ? ball_memory_resize(block, bytes) : ball_before.resize(block, bytes);
}

static void flint_release(void *block)
{
    if (ball_pool)
        ball_give(block);
    else
        ball_before.release(block);
}

static void *gmp_allocate(size_t bytes)
{
    return ball_pool ? ball_take(bytes) : ball_before.gmp_allocate(bytes);
}

static void *gmp_resize(void *block, size_t old, size_t bytes)
{
    return ball_pool ? ball_memory_resize(block, bytes) : ball_before.gmp_resize(block, old, bytes);
}

static void gmp_release(void *block, size_t bytes)
{
    if (ball_pool)
        ball_give(block);
    else
        ball_before.gmp_release(block, bytes);
}

static void ball_memory_install(void)
{
    flint_cleanup();
    mp_get_memory_functions(&ball_before.gmp_allocate, &ball_before.gmp_resize, &ball_before.gmp_release);
    mp_set_memory_functions(gmp_allocate, gmp_resize, gmp_release);
    __flint_get_memory_functions(&ball_before.allocate, &ball_before.zeroed, &ball_before.resize,
                                 &ball_before.release);
    __flint_set_memory_functions(flint_allocate, flint_zeroed, flint_resize, flint_release);
}

/* --- runs */

static pthread_once_t ball_once = PTHREAD_ONCE_INIT;

static sotto_status ball_memory_guarded(sotto_status (*body)(void *arg), void *arg)
{
    switch (setjmp(ball_pool->out)) {
    case 0:
        return body(arg);
    case STOPPED:
        return context_check(ball_pool->ctx, "account: stopped (ball arithmetic)");
    default:
        return status_fail(SOTTO_ENOMEM, "out of memory (ball arithmetic)");
    }
}

sotto_status ball_run(sotto_status (*body)(void *arg), void *arg, const struct sotto_context *ctx)
{
    if (ball_pool)
        return body(arg);
    sotto_status status = context_check(ctx, "account: stopped");
    if (status != SOTTO_OK)
        return status;
    struct ball_pool *pool = base_alloc(1, sizeof *pool);
    if (!pool)
        return status_fail(SOTTO_ENOMEM, "out of memory (ball arithmetic)");
    pool->next_size = FIRST_CHUNK;
    pool->ctx = ctx;
    pthread_once(&ball_once, ball_memory_install);
    flint_cleanup();
    int workers = flint_set_num_workers(0);
    ball_pool = pool;
    status = ball_memory_guarded(body, arg);
    flint_cleanup();
    ball_pool = NULL;
    flint_reset_num_workers(workers);
    for (struct chunk *chunk = pool->chunks; chunk;) {
        struct chunk *next = chunk->next;
        base_free(chunk);
        chunk = next;
    }
    base_free(pool);
    return status;
}
