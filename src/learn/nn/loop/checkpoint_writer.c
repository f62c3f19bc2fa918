#include "nn/loop/checkpoint_writer.h"

#include "base/status.h"
#include "nn/loop/checkpoint_seal.h"

#include <signal.h>
#include <string.h>

enum { LARGE = 1 << 22 /* bytes that take longer than starting a thread, whatever the disk */ };

static sotto_status seal_and_write(struct checkpoint_writer *w)
{
    checkpoint_seal_fill(&w->file);
    return safetensors_finish(&w->file);
}

static void *write_file(void *arg)
{
    struct checkpoint_writer *w = arg;
    w->status = seal_and_write(w);
    if (w->status != SOTTO_OK)
        status_get(&w->failure);
    atomic_store(&w->done, true);
    return NULL;
}

/* Signals are for the thread that works. */
static bool start_thread(struct checkpoint_writer *w)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_create(&w->thread, NULL, write_file, w) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static size_t bytes_of(const struct sotto_tensors *t)
{
    size_t bytes = 0;
    for (size_t i = 0; i < t->count; i++)
        bytes += t->items[i].array.count * sizeof(float); /* about */
    return bytes;
}

sotto_status checkpoint_writer_begin(struct checkpoint_writer *w, const char *path,
                                     struct sotto_tensors *tensors)
{
    sotto_status status = SOTTO_OK;
    TRY(checkpoint_writer_wait(w));
    w->tensors = *tensors;
    *tensors = (struct sotto_tensors){0};
    TRY(checkpoint_seal_add(&w->tensors));
    TRY(safetensors_begin(&w->file, path, &w->tensors));
    atomic_store(&w->done, false);
    w->busy = bytes_of(&w->tensors) >= LARGE && start_thread(w);
    if (!w->busy)
        TRY(seal_and_write(w));
done:
    sotto_tensors_clear(tensors);
    if (!w->busy)
        sotto_tensors_clear(&w->tensors);
    return status;
}

sotto_status checkpoint_writer_wait(struct checkpoint_writer *w)
{
    if (!w->busy)
        return SOTTO_OK;
    pthread_join(w->thread, NULL);
    w->busy = false;
    sotto_tensors_clear(&w->tensors);
    if (w->status != SOTTO_OK)
        status_set(&w->failure);
    return w->status;
}

sotto_status checkpoint_writer_look(struct checkpoint_writer *w)
{
    return w->busy && atomic_load(&w->done) ? checkpoint_writer_wait(w) : SOTTO_OK;
}
