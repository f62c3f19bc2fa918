#include "par/par.h"

#include "base/cpu.h"

#ifdef _OPENMP
#include <omp.h>
#endif

int par_threads(const struct sotto_context *ctx)
{
    return ctx && ctx->threads > 0 ? ctx->threads : cpu_count();
}

void par_set_threads(int threads)
{
#ifdef _OPENMP
    omp_set_num_threads(threads > 0 ? threads : 1);
#else
    (void)threads;
#endif
}

int par_pool_threads(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
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

sotto_status par_chunks(size_t chunks, int threads, par_body body, void *arg)
{
    sotto_status first = SOTTO_OK;
    size_t first_chunk = chunks;
    struct status_record record;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads > 0 ? threads : 1)
#endif
    for (size_t chunk = 0; chunk < chunks; chunk++) {
        int skip;
#ifdef _OPENMP
#pragma omp critical(par_first_error)
#endif
        skip = first != SOTTO_OK && chunk > first_chunk;
        if (skip)
            continue;
#ifdef _OPENMP
        int thread = omp_get_thread_num();
#else
        int thread = 0;
#endif
        sotto_status status = body(arg, chunk, thread);
        if (status == SOTTO_OK)
            continue;
#ifdef _OPENMP
#pragma omp critical(par_first_error)
#endif
        if (chunk < first_chunk) {
            first = status;
            first_chunk = chunk;
            status_get(&record);
        }
    }
    if (first != SOTTO_OK)
        status_set(&record);
    return first;
}
