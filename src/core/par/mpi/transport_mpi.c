/* The plug-in libsotto_mpi.so, the only file that sees mpi.h. Point-to-point calls, Allgatherv and Bcast on bytes, and a barrier; never an MPI_Op:
 * its order is the library's choice. */
#include "par/transport.h"

#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

struct link {
    MPI_Comm all;
    int size;
    int started_here; /* by us, so that it is ours to end */
};

static int transport_mpi_failed(char why[TRANSPORT_TEXT], const char *what, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (code == MPI_SUCCESS)
        return 0;
    MPI_Error_string(code, text, &length);
    snprintf(why, TRANSPORT_TEXT, "%s: %.200s", what, text);
    return -1;
}

static int too_large(char why[TRANSPORT_TEXT], size_t bytes)
{
    if (bytes <= INT_MAX)
        return 0;
    snprintf(why, TRANSPORT_TEXT, "a message of %zu bytes is too large for MPI; at most %d", bytes, INT_MAX);
    return -1;
}

/* The thread that calls MPI is the one that started it, so FUNNELED is enough. */
static int transport_mpi_begin(struct link *l, char why[TRANSPORT_TEXT])
{
    int running = 0, ended = 0, level = MPI_THREAD_SINGLE;
    MPI_Initialized(&running);
    MPI_Finalized(&ended);
    if (ended) {
        snprintf(why, TRANSPORT_TEXT, "MPI was ended before in this process");
        return -1;
    }
    if (running)
        MPI_Query_thread(&level);
    else if (transport_mpi_failed(why, "MPI_Init_thread",
                                  MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level)))
        return -1;
    l->started_here = !running;
    if (level >= MPI_THREAD_FUNNELED)
        return 0;
    snprintf(why, TRANSPORT_TEXT, "this MPI library allows no threads; MPI_THREAD_FUNNELED is needed");
    return -1;
}

static int transport_mpi_start(void *link, size_t *rank, size_t *size, const int *communicator,
                               char why[TRANSPORT_TEXT])
{
    struct link *l = link;
    int own;
    if (transport_mpi_begin(l, why))
        return -1;
    /* a communicator of our own: no message of the program can be taken for one of ours */
    if (transport_mpi_failed(
            why, "MPI_Comm_dup",
            MPI_Comm_dup(communicator ? MPI_Comm_f2c(*communicator) : MPI_COMM_WORLD, &l->all)))
        return -1;
    MPI_Comm_set_errhandler(l->all, MPI_ERRORS_RETURN);
    MPI_Comm_rank(l->all, &own);
    MPI_Comm_size(l->all, &l->size);
    *rank = (size_t)own;
    *size = (size_t)l->size;
    return 0;
}

/* Until others have come. MPI itself spins, and where there are more ranks than cores, or other programs, it takes the core of a rank
 * that works. So this sleeps, for an eighth of the time that it has waited: it ends that much later at most. */
static int transport_mpi_await(MPI_Request *requests, int count, char why[TRANSPORT_TEXT])
{
    static const double spin = 4e-4, longest = 1e-3;
    const double began = MPI_Wtime();
    for (;;) {
        int there = 0;
        if (transport_mpi_failed(why, "MPI_Testall",
                                 MPI_Testall(count, requests, &there, MPI_STATUSES_IGNORE)))
            return -1;
        const double waited = MPI_Wtime() - began;
        if (there)
            return 0;
        if (waited < spin)
            continue;
        const double rest = waited / 8 < longest ? waited / 8 : longest;
        nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * rest)}, NULL);
    }
}

/* So much goes with the waiting. More would go slowly between sleeps: it goes at once when all who take part have come. */
enum { SMALL = 32768 };

struct message {
    void *data;
    size_t bytes;
    int rank, sends;
};
enum { DATA, WORD }; /* tags */

static int transport_mpi_post(MPI_Request *out, const struct link *l, const struct message *m, int tag,
                              char why[TRANSPORT_TEXT])
{
    const int bytes = (int)m->bytes;
    return m->sends ? transport_mpi_failed(why, "MPI_Isend",
                                           MPI_Isend(m->data, bytes, MPI_BYTE, m->rank, tag, l->all, out))
                    : transport_mpi_failed(why, "MPI_Irecv",
                                           MPI_Irecv(m->data, bytes, MPI_BYTE, m->rank, tag, l->all, out));
}

/* The ranks of a large message send each other an empty one first. */
static int transport_mpi_exchange(void *link, const void *send, size_t send_bytes, size_t to, void *receive,
                                  size_t receive_bytes, size_t from, char why[TRANSPORT_TEXT])
{
    const struct link *l = link;
    const struct message both[] = {{(void *)(uintptr_t)send, send_bytes, (int)to, 1},
                                   {receive, receive_bytes, (int)from, 0}};
    MPI_Request early[4], late[2];
    int first = 0, then = 0;
    if (too_large(why, send_bytes) || too_large(why, receive_bytes))
        return -1;
    for (int i = 0; i < 2; i++) {
        const struct message *m = &both[i];
        if (m->bytes <= SMALL && transport_mpi_post(&early[first++], l, m, DATA, why))
            return -1;
        for (int sends = 0; m->bytes > SMALL && sends < 2; sends++)
            if (transport_mpi_post(&early[first++], l, &(struct message){NULL, 0, m->rank, sends}, WORD, why))
                return -1;
    }
    if (transport_mpi_await(early, first, why))
        return -1;
    for (int i = 0; i < 2; i++)
        if (both[i].bytes > SMALL && transport_mpi_post(&late[then++], l, &both[i], DATA, why))
            return -1;
    return transport_mpi_failed(why, "MPI_Waitall", MPI_Waitall(then, late, MPI_STATUSES_IGNORE));
}

/* All ranks are in the same call. */
static int transport_mpi_meet(const struct link *l, char why[TRANSPORT_TEXT])
{
    MPI_Request all;
    return transport_mpi_failed(why, "MPI_Ibarrier", MPI_Ibarrier(l->all, &all))
               ? -1
               : transport_mpi_await(&all, 1, why);
}

enum { MOST_RANKS = 4096 };

static int transport_mpi_gather(void *link, void *all, const size_t *counts, const size_t *firsts,
                                char why[TRANSPORT_TEXT])
{
    const struct link *l = link;
    int count[MOST_RANKS], first[MOST_RANKS];
    if (l->size > MOST_RANKS) {
        snprintf(why, TRANSPORT_TEXT, "%d ranks; at most %d", l->size, MOST_RANKS);
        return -1;
    }
    size_t bytes = 0;
    for (int r = 0; r < l->size; r++) {
        if (too_large(why, firsts[r] + counts[r]))
            return -1;
        count[r] = (int)counts[r];
        first[r] = (int)firsts[r];
        bytes += counts[r];
    }
    MPI_Request done;
    if (bytes <= SMALL)
        return transport_mpi_failed(why, "MPI_Iallgatherv",
                                    MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, count, first,
                                                    MPI_BYTE, l->all, &done))
                   ? -1
                   : transport_mpi_await(&done, 1, why);
    if (transport_mpi_meet(l, why))
        return -1;
    return transport_mpi_failed(
        why, "MPI_Allgatherv",
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, count, first, MPI_BYTE, l->all));
}

static int transport_mpi_broadcast(void *link, void *data, size_t bytes, size_t from,
                                   char why[TRANSPORT_TEXT])
{
    const struct link *l = link;
    MPI_Request done;
    if (too_large(why, bytes))
        return -1;
    if (bytes <= SMALL)
        return transport_mpi_failed(why, "MPI_Ibcast",
                                    MPI_Ibcast(data, (int)bytes, MPI_BYTE, (int)from, l->all, &done))
                   ? -1
                   : transport_mpi_await(&done, 1, why);
    if (transport_mpi_meet(l, why))
        return -1;
    return transport_mpi_failed(why, "MPI_Bcast", MPI_Bcast(data, (int)bytes, MPI_BYTE, (int)from, l->all));
}

static void transport_mpi_abandon(void *link, int exit_code)
{
    const struct link *l = link;
    MPI_Abort(l->all, exit_code);
}

static void transport_mpi_stop(void *link)
{
    struct link *l = link;
    MPI_Comm_free(&l->all);
    if (l->started_here)
        MPI_Finalize();
}

extern const struct transport sotto_mpi_transport;
__attribute__((visibility("default"))) const struct transport sotto_mpi_transport = {
    .abi = TRANSPORT_ABI,
    .link_bytes = sizeof(struct link),
    .name = "MPI",
    .start = transport_mpi_start,
    .exchange = transport_mpi_exchange,
    .gather = transport_mpi_gather,
    .broadcast = transport_mpi_broadcast,
    .abandon = transport_mpi_abandon,
    .stop = transport_mpi_stop,
};
