/* threads.h - how many threads a call has that was not told: for the program and the Python package. */
#ifndef SOTTO_PRIVATE_THREADS_H
#define SOTTO_PRIVATE_THREADS_H

#include "sotto/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** In:      cpus  where the environment says nothing: so many threads; 0: the CPUs this process may use, by its affinity and by the
 *                 quota of its control group
 *  Returns: SOTTO_NUM_THREADS, else the first number of OMP_NUM_THREADS, else as `cpus` says. A variable that holds no number from
 *           1 to 4096 says nothing. */
SOTTO_API int sotto_default_threads(int cpus);

#ifdef __cplusplus
}
#endif
#endif
