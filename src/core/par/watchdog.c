#include "par/watchdog.h"

#include "base/memory.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const double FEWEST_SECONDS = 300, TIMES = 20;
enum { EXIT_AGAIN = 75 };

struct watchdog {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool ends, waits;
    double least, longest; /* seconds: the limit's least; this rank's longest work so far */
    double since;          /* when it began to wait, or to work */
    double worked;         /* seconds, before `since` */
    size_t rank;
    const char *host;
};

static double watchdog_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double watchdog_limit(const struct watchdog *w)
{
    return w->least > TIMES * w->longest ? w->least : TIMES * w->longest;
}

static void *watchdog_watch(void *arg)
{
    struct watchdog *w = arg;
    pthread_mutex_lock(&w->lock);
    while (!w->ends) {
        if (w->waits && watchdog_now() - w->since > watchdog_limit(w)) {
            fprintf(
                stderr,
                "sotto: error: rank %zu (%s): no word from the other ranks for %.0f s; this process "
                "ends, and the same command continues from the checkpoint; what was charged stays charged\n",
                w->rank, w->host, watchdog_limit(w));
            _exit(EXIT_AGAIN);
        }
        struct timespec look;
        clock_gettime(CLOCK_REALTIME, &look);
        look.tv_sec++;
        pthread_cond_timedwait(&w->changed, &w->lock, &look);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* Signals are for the thread that works. */
static int start_thread(struct watchdog *w)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = pthread_create(&w->thread, NULL, watchdog_watch, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

sotto_status watchdog_start(struct watchdog **out, size_t rank, const char *host)
{
    sotto_status status = SOTTO_OK;
    struct watchdog *w = NULL;
    const char *stated = getenv("SOTTO_WATCHDOG_SECONDS");
    char *end = NULL;
    NEW(w, 1);
    w->least = stated && *stated ? strtod(stated, &end) : FEWEST_SECONDS;
    if (end && !(!*end && w->least >= 1 && w->least <= 1e9))
        FAIL(SOTTO_EUSAGE,
             "environment variable SOTTO_WATCHDOG_SECONDS is '%s'; expected a number from 1 to 1e9", stated);
    w->rank = rank;
    w->host = host;
    w->since = watchdog_now();
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    if (start_thread(w))
        FAIL(SOTTO_EAGAIN, "rank %zu (%s): no thread for the watchdog", rank, host);
    *out = w;
    w = NULL;
done:
    base_free(w);
    return status;
}

void watchdog_stop(struct watchdog *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->ends = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->changed);
    base_free(w);
}

void watchdog_wait(struct watchdog *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    const double at = watchdog_now(), worked = at - w->since;
    w->longest = worked > w->longest ? worked : w->longest;
    w->worked += worked;
    w->since = at;
    w->waits = true;
    pthread_mutex_unlock(&w->lock);
}

void watchdog_go(struct watchdog *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->since = watchdog_now();
    w->waits = false;
    pthread_mutex_unlock(&w->lock);
}

double watchdog_worked(struct watchdog *w)
{
    if (!w)
        return 0;
    pthread_mutex_lock(&w->lock);
    const double worked = w->worked + (w->waits ? 0 : watchdog_now() - w->since);
    pthread_mutex_unlock(&w->lock);
    return worked;
}
