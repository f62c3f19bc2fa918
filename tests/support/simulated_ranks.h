/* simulated_ranks.h - a transport whose ranks are threads of one process, for sanitizers and tests without MPI. Every pair of ranks
 * has one mailbox each way; a rank that sends waits until its message was taken. */
#ifndef SUPPORT_SIMULATED_RANKS_H
#define SUPPORT_SIMULATED_RANKS_H

#include "par/ranks.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { SIMULATED_MOST = 64 };

struct mailbox {
    const void *data; /* NULL: empty */
    size_t bytes;
};
/* What all ranks share. */
struct simulation {
    size_t size;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct mailbox box[SIMULATED_MOST][SIMULATED_MOST]; /* from, to */
    size_t gathers;                                     /* of each rank that succeed; 0: all */
};
struct simulated_link {
    struct simulation *all;
    size_t rank, gathers;
};

/* start() has no argument for it, so a test runs one simulation at a time. */
static struct simulation *simulated;

static int simulated_start(void *link, size_t *rank, size_t *size, const int *communicator, char *why)
{
    (void)why;
    struct simulated_link *l = link;
    l->all = simulated;
    l->rank = (size_t)*communicator;
    *rank = l->rank;
    *size = simulated->size;
    return 0;
}

static void simulated_put(struct simulation *s, size_t from, size_t to, const void *data, size_t bytes)
{
    pthread_mutex_lock(&s->lock);
    while (s->box[from][to].data)
        pthread_cond_wait(&s->changed, &s->lock);
    s->box[from][to] = (struct mailbox){data ? data : "", bytes};
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static int simulated_take(struct simulation *s, size_t from, size_t to, void *data, size_t bytes)
{
    pthread_mutex_lock(&s->lock);
    struct mailbox *b = &s->box[from][to];
    while (!b->data)
        pthread_cond_wait(&s->changed, &s->lock);
    const int good = b->bytes == bytes;
    if (good && bytes)
        memcpy(data, b->data, bytes);
    b->data = NULL;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return good ? 0 : -1;
}

/* The sender's memory is its own again once this is over. */
static void simulated_taken(struct simulation *s, size_t from, size_t to)
{
    pthread_mutex_lock(&s->lock);
    while (s->box[from][to].data)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

static int simulated_exchange(void *link, const void *send, size_t send_bytes, size_t to, void *receive,
                              size_t receive_bytes, size_t from, char *why)
{
    struct simulated_link *l = link;
    simulated_put(l->all, l->rank, to, send, send_bytes);
    const int result = simulated_take(l->all, from, l->rank, receive, receive_bytes);
    simulated_taken(l->all, l->rank, to);
    if (result)
        strcpy(why, "a message has another size than was expected");
    return result;
}

static int simulated_broadcast(void *link, void *data, size_t bytes, size_t from, char *why)
{
    struct simulated_link *l = link;
    int result = 0;
    if (l->rank != from)
        result = simulated_take(l->all, from, l->rank, data, bytes);
    for (size_t r = 0; r < l->all->size && l->rank == from; r++)
        if (r != from)
            simulated_put(l->all, from, r, data, bytes);
    for (size_t r = 0; r < l->all->size && l->rank == from; r++)
        if (r != from)
            simulated_taken(l->all, from, r);
    if (result)
        strcpy(why, "a broadcast has another size than was expected");
    return result;
}

static int simulated_gather(void *link, void *all, const size_t *counts, const size_t *firsts, char *why)
{
    struct simulated_link *l = link;
    int result = 0;
    if (l->all->gathers && l->gathers++ == l->all->gathers) {
        strcpy(why, "the cable is cut");
        return -1;
    }
    for (size_t r = 0; r < l->all->size; r++)
        result |= simulated_broadcast(link, (char *)all + firsts[r], counts[r], r, why);
    return result;
}

static void simulated_abandon(void *link, int exit_code)
{
    (void)link, (void)exit_code;
}

static void simulated_stop(void *link)
{
    (void)link;
}

static const struct transport simulated_transport = {.abi = TRANSPORT_ABI,
                                                     .link_bytes = sizeof(struct simulated_link),
                                                     .name = "simulated",
                                                     .start = simulated_start,
                                                     .exchange = simulated_exchange,
                                                     .gather = simulated_gather,
                                                     .broadcast = simulated_broadcast,
                                                     .abandon = simulated_abandon,
                                                     .stop = simulated_stop};

/* Work of one rank. cmocka's assertions belong to the main thread, so it returns what was wrong, or NULL. */
typedef const char *simulated_body(const struct sotto_team *team, void *state);
struct simulated_thread {
    pthread_t thread;
    int rank;
    simulated_body *body;
    void *state;
    bool good;
    char wrong[256];
};

static void *simulated_run(void *arg)
{
    struct simulated_thread *t = arg;
    struct sotto_team *team = NULL;
    const char *wrong = team_start(&team, &simulated_transport, &t->rank) == SOTTO_OK
                            ? t->body(team, t->state)
                            : sotto_error_text();
    t->good = !wrong;
    snprintf(t->wrong, sizeof t->wrong, "%s", wrong ? wrong : "");
    sotto_team_close(team);
    return NULL;
}

/* Runs it on all ranks, of which each gathers so often before the transport fails (0: it never does); asserts that none found
 * anything wrong. */
static void simulated_ranks(size_t ranks, size_t gathers, simulated_body *body, void *state)
{
    struct simulated_thread threads[SIMULATED_MOST];
    static struct simulation s;
    memset(&s, 0, sizeof s);
    s.size = ranks;
    s.gathers = gathers;
    pthread_mutex_init(&s.lock, NULL);
    pthread_cond_init(&s.changed, NULL);
    simulated = &s;
    for (size_t r = 0; r < ranks; r++) {
        threads[r] = (struct simulated_thread){.rank = (int)r, .body = body, .state = state};
        assert_int_equal(pthread_create(&threads[r].thread, NULL, simulated_run, &threads[r]), 0);
    }
    for (size_t r = 0; r < ranks; r++)
        pthread_join(threads[r].thread, NULL);
    for (size_t r = 0; r < ranks; r++)
        if (!threads[r].good)
            fail_msg("rank %zu of %zu: %s", r, ranks, threads[r].wrong);
    pthread_mutex_destroy(&s.lock);
    pthread_cond_destroy(&s.changed);
}

#endif
