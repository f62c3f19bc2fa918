#include "par/par.h"

#include "base/cpu.h"

#ifdef _OPENMP
#include <omp.h>
#endif

int par_threads(const struct sotto_context *ctx)
{
    return ctx && ctx->threads > 0 ? ctx->threads : cpu_count();
}

int par_pool_threads(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

int par_set_threads(int threads)
{
    int before = par_pool_threads();
#ifdef _OPENMP
    omp_set_num_threads(threads > 0 ? threads : 1);
#else
    (void)threads;
#endif
    return before;
}

const char *par_runtime(void)
{
#if defined(_OPENMP) && defined(__clang__)
    return "libomp";
#elif defined(_OPENMP)
    return "libgomp";
#else
    return "none";
#endif
}

/* A running loop. */
struct loop {
    par_body body;
    void *arg;
    sotto_status first; /* error of the lowest failing chunk */
    atomic_size_t first_chunk;
    struct status_record record;
#ifdef _OPENMP
    omp_lock_t lock; /* to write the three above; `omp critical` would export a symbol of its own */
#endif
};

static void loop_begin(struct loop *l, size_t chunks, par_body body, void *arg)
{
    *l = (struct loop){.body = body, .arg = arg, .first = SOTTO_OK};
    atomic_init(&l->first_chunk, chunks);
#ifdef _OPENMP
    omp_init_lock(&l->lock);
#endif
}

static void loop_lock(struct loop *l)
{
#ifdef _OPENMP
    omp_set_lock(&l->lock);
#else
    (void)l;
#endif
}

static void loop_unlock(struct loop *l)
{
#ifdef _OPENMP
    omp_unset_lock(&l->lock);
#else
    (void)l;
#endif
}

static void run_chunk(struct loop *l, size_t chunk)
{
    int thread = 0;
#ifdef _OPENMP
    thread = omp_get_thread_num();
#endif
    if (chunk >
        atomic_load_explicit(&l->first_chunk, memory_order_relaxed)) /* no lock: chunks may be short */
        return;
    sotto_status status = l->body(l->arg, chunk, thread);
    if (status == SOTTO_OK)
        return;
    loop_lock(l);
    if (chunk < l->first_chunk) {
        l->first = status;
        l->first_chunk = chunk;
        status_get(&l->record);
    }
    loop_unlock(l);
}

static sotto_status loop_end(struct loop *l)
{
#ifdef _OPENMP
    omp_destroy_lock(&l->lock);
#endif
    if (l->first != SOTTO_OK)
        status_set(&l->record);
    return l->first;
}

/* One thread: no parallel region around the loop, not even of one thread. Regions in the body would be
 * nested, and libgomp starts the threads of nested regions anew every time. The pool is the caller's again
 * afterwards, as behind a region. */
static sotto_status run_alone(size_t chunks, par_body body, void *arg)
{
    sotto_status status = SOTTO_OK;
    int pool = par_pool_threads();
    for (size_t chunk = 0; chunk < chunks && status == SOTTO_OK; chunk++)
        status = body(arg, chunk, 0);
    par_set_threads(pool);
    return status;
}

sotto_status par_chunks(size_t chunks, int threads, par_body body, void *arg)
{
    struct loop l;
    if (threads <= 1)
        return run_alone(chunks, body, arg);
    loop_begin(&l, chunks, body, arg);
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
#endif
    for (size_t chunk = 0; chunk < chunks; chunk++)
        run_chunk(&l, chunk);
    return loop_end(&l);
}

struct asking {
    const struct sotto_context *ctx;
    par_body body;
    void *arg;
};

static sotto_status ask_and_run(void *arg, size_t chunk, int thread)
{
    const struct asking *a = arg;
    sotto_status status = context_check(a->ctx, "stopped");
    return status == SOTTO_OK ? a->body(a->arg, chunk, thread) : status;
}

sotto_status par_each(size_t chunks, const struct sotto_context *ctx, par_body body, void *arg)
{
    struct asking a = {ctx, body, arg};
    return par_chunks(chunks, par_threads(ctx), ask_and_run, &a);
}

void par_stop_set(struct par_stop *s, const struct sotto_context *ctx)
{
    s->ctx = ctx;
    atomic_store(&s->stopped, false);
}

bool par_stopped(struct par_stop *s)
{
    if (!s || atomic_load_explicit(&s->stopped, memory_order_relaxed))
        return s;
    if (context_stopped(s->ctx))
        atomic_store_explicit(&s->stopped, true, memory_order_relaxed);
    return atomic_load_explicit(&s->stopped, memory_order_relaxed);
}

sotto_status par_check(struct par_stop *s, const char *text)
{
    if (atomic_load(&s->stopped))
        return status_fail(SOTTO_ESTOPPED, "%s", text);
    sotto_status status = context_check(s->ctx, "%s", text);
    if (status == SOTTO_ESTOPPED)
        atomic_store(&s->stopped, true);
    return status;
}

struct share {
    struct par_stop *stop;
    par_body body;
    void *arg;
};

static sotto_status run_unless_stopped(void *arg, size_t chunk, int thread)
{
    const struct share *s = arg;
    return par_stopped(s->stop) ? SOTTO_OK : s->body(s->arg, chunk, thread);
}

sotto_status par_shares(size_t chunks, int threads, struct par_stop *stop, par_body body, void *arg)
{
    struct share s = {stop, body, arg};
    struct loop l;
    if (threads <= 1 ||
        chunks <= 1) /* what starting a thread takes is more than many a single piece of work */
        return run_alone(chunks, run_unless_stopped, &s);
    loop_begin(&l, chunks, run_unless_stopped, &s);
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(threads)
#endif
    for (size_t chunk = 0; chunk < chunks; chunk++)
        run_chunk(&l, chunk);
    return loop_end(&l);
}
