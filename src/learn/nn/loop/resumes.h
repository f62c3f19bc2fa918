/* resumes.h - stops a run that is resumed again and again and never gets anywhere: a scheduler that requeues it at once, for
 * instance, or a limit of memory or time that no step fits in. Private training is charged anew at each resume.
 *
 * CHECKPOINT.resumes holds how many resumes in a row ended, however they did, before one finished a step. It knows nothing else,
 * of no record for instance. */
#ifndef NN_LOOP_RESUMES_H
#define NN_LOOP_RESUMES_H

#include "base/memory.h"

enum { RESUMES_MOST = 3 };
/** At a resume, before anything is charged: one more. Returns: ESTUCK: there were RESUMES_MOST, and it stays at that;
 *  EFORMAT: the file is no count; errors of writing. */
sotto_status resumes_count(const char *checkpoint);
/** A step was finished, or this is a fresh start: none. EIO: the file cannot be removed. */
sotto_status resumes_forget(const char *checkpoint);

#endif
