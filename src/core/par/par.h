/* par.h - the only user of OpenMP: fixed chunks, first error by chunk number.
 *
 * Work is cut into chunks with borders that never depend on the thread count; a reduction writes one partial
 * result per chunk and adds them in chunk order, so the thread count never changes bits. */
#ifndef PAR_PAR_H
#define PAR_PAR_H

#include "base/status.h"

#include <stdatomic.h>
#include <stdbool.h>

/** Threads that `ctx` asks for: ctx->threads, or the CPUs of this process. */
int par_threads(const struct sotto_context *ctx);
/** Sets the OpenMP pool (also used by oneDNN) for the calling thread's next regions. Returns its former size, which a
 * public function sets again before it returns. */
int par_set_threads(int threads);
/** Size of that pool. */
int par_pool_threads(void);
/** Name of the OpenMP runtime, for version lines. */
const char *par_runtime(void);

/** Body of a parallel loop. `thread` is in [0, threads): index of per-thread scratch. */
typedef sotto_status (*par_body)(void *arg, size_t chunk, int thread);
/** Runs body for chunk = 0 .. chunks-1 on up to `threads` threads, handed out dynamically. After a failure no
 * new chunk starts; the error returned (text included) is that of the lowest failing chunk that ran. */
sotto_status par_chunks(size_t chunks, int threads, par_body body, void *arg);
/** par_chunks() on the threads of `ctx`, which is asked before each chunk whether to go on. ESTOPPED. */
sotto_status par_each(size_t chunks, const struct sotto_context *ctx, par_body body, void *arg);

/** A stop that is remembered, for work without a status: it asks between its pieces and, from the first yes on, leaves the
 * rest undone. The caller checks afterwards, and drops what was made. NULL in its place: the work goes on. */
struct par_stop {
    const struct sotto_context *ctx;
    atomic_bool stopped;
};
/** From now on: asks ctx; nothing was stopped. */
void par_stop_set(struct par_stop *s, const struct sotto_context *ctx);
bool par_stopped(struct par_stop *s);
/** Asks too. ESTOPPED with this text. */
sotto_status par_check(struct par_stop *s, const char *text);

/** The same as par_chunks(), but every thread gets one run of neighbouring chunks, always the same one: for equal chunks of
 * tensors, so that a thread finds in its cache what it left there in the layer before. oneDNN cuts a batch
 * the same way. Asks `stop` before each chunk; once it is stopped, chunks are left out, which is no failure. */
sotto_status par_shares(size_t chunks, int threads, struct par_stop *stop, par_body body, void *arg);

#endif
