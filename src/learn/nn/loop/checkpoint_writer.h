/* checkpoint_writer.h - writes a copy of a run's state while the run goes on, as the disk takes longer than a step (notes/speed.md). */
#ifndef NN_LOOP_CHECKPOINT_WRITER_H
#define NN_LOOP_CHECKPOINT_WRITER_H

#include "io/array/safetensors.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/** One file at a time. Start with {0}; end with checkpoint_writer_wait(). Used from one thread. */
struct checkpoint_writer {
    bool busy; /* the thread was started and not waited for */
    pthread_t thread;
    atomic_bool done; /* the thread has ended */
    struct sotto_tensors tensors;
    struct safetensors_file file;
    sotto_status status; /* of the thread, with its text */
    struct status_record failure;
};
/** Waits for the file before, then begins this one: on a thread of its own if it is large, at once if it is small or there is no
 *  thread. A checksum stands at its end (checkpoint_seal.h). Takes the tensors over, whatever becomes of it.
 *  Returns: a failure of the file before; errors of creating this one, or of writing it if that was at once */
sotto_status checkpoint_writer_begin(struct checkpoint_writer *w, const char *path,
                                     struct sotto_tensors *tensors);
/** Waits until the last file is in its place; harmless where there is none. Returns its failure, once. */
sotto_status checkpoint_writer_wait(struct checkpoint_writer *w);
/** The same, if that needs no waiting. */
sotto_status checkpoint_writer_look(struct checkpoint_writer *w);

#endif
